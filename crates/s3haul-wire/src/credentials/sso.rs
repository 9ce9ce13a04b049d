//! IAM Identity Center: the token that `aws sso login` left, renewed where it can be, and changed
//! for credentials of a role.
//!
//! Source: <https://docs.aws.amazon.com/singlesignon/latest/PortalAPIReference/API_GetRoleCredentials.html>.

use std::io;
use std::time::Duration;

use aws_lc_rs::digest;
use bytes::Bytes;
use http::{Method, Request};
use reqsign_aws_v4::Credential;
use reqsign_core::Context;
use reqsign_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::replace_file;
use super::profile::failed;
use crate::config::EndpointConfig;
use crate::credentials::profile::{ConfigFiles, Profile, text};
use crate::endpoint::service_host;
use crate::error::{Error, Result};
use crate::sign::signature::encode_query;
use crate::units::hex;

/// A token that ends sooner is renewed first.
const RENEW_BEFORE: Duration = Duration::from_mins(5);

/// What a profile says of its role.
struct Role<'f> {
    /// URL of the service that renews tokens, without a slash at its end.
    oidc: String,
    /// URL of the service that gives credentials, likewise.
    portal: String,
    account_id: &'f str,
    role_name: &'f str,
    /// What the cached token is filed under.
    cache_name: &'f str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    /// The file as it is.
    #[serde(skip)]
    file: Map<String, Value>,
    access_token: String,
    expires_at: String,
    client_id: Option<String>,
    client_secret: Option<String>,
    refresh_token: Option<String>,
}

impl Token {
    /// When it ends, if its file says so in a way that can be read.
    fn ends_at(&self) -> Option<Timestamp> {
        self.expires_at.replace("UTC", "Z").parse().ok()
    }

    fn lives(&self) -> bool {
        self.ends_at().is_none_or(|ends| Timestamp::now() < ends)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RenewRequest<'t> {
    client_id: &'t str,
    client_secret: &'t str,
    grant_type: &'static str,
    refresh_token: &'t str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Renewed {
    access_token: String,
    expires_in: Option<u32>,
    refresh_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    role_credentials: RoleCredentials,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoleCredentials {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    expiration: i64,
}

/// Whether a profile uses single sign-on.
pub(super) fn is_configured(profile: &Profile) -> bool {
    profile.get("sso_account_id").is_some() || profile.get("sso_session").is_some()
}

/// Credentials of the profile's role. `configured` are the endpoints of the services that renew
/// tokens and give credentials, where they are not Amazon's; `amazon` says which of Amazon's.
pub(super) async fn provide(
    context: &Context,
    files: &ConfigFiles,
    profile: &Profile,
    configured: [Option<String>; 2],
    amazon: &EndpointConfig,
) -> Result<Credential> {
    let role = role(files, profile, configured, amazon)?;
    let token = cached_token(context, &role).await?;
    let is_ending = token.ends_at().is_some_and(|ends| ends < Timestamp::now() + RENEW_BEFORE);
    let access_token = if is_ending {
        match renew(context, &role, &token).await {
            Ok(renewed) => renewed,
            Err(error) => {
                // Another process may have renewed it meanwhile.
                let latest = cached_token(context, &role).await.ok().filter(Token::lives);
                let Some(latest) = latest else { return Err(error) };
                tracing::warn!(%error, "the old SSO token is used while it lives");
                latest.access_token
            }
        }
    } else {
        token.access_token
    };
    exchange(context, &role, &access_token).await
}

fn role<'f>(
    files: &'f ConfigFiles,
    profile: &'f Profile,
    [oidc, portal]: [Option<String>; 2],
    amazon: &EndpointConfig,
) -> Result<Role<'f>> {
    let missing = |name: &str| failed(format!("the profile uses SSO but lacks `{name}`"));
    let session = match profile.get("sso_session") {
        None => None,
        Some(name) => Some((
            name,
            files.sso_session(name).ok_or_else(|| {
                failed(format!("The specified sso-session does not exist: \"{name}\""))
            })?,
        )),
    };
    let setting = |name: &str| {
        session.and_then(|(_, section)| text(section, name)).or_else(|| profile.get(name))
    };
    let start_url = setting("sso_start_url").ok_or_else(|| missing("sso_start_url"))?;
    let region = setting("sso_region").ok_or_else(|| missing("sso_region"))?;
    let address = |configured: Option<String>, name: &str| match configured {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("https://{}", service_host(amazon, name, region)),
    };
    Ok(Role {
        oidc: address(oidc, "oidc"),
        portal: address(portal, "portal.sso"),
        account_id: profile.get("sso_account_id").ok_or_else(|| missing("sso_account_id"))?,
        role_name: profile.get("sso_role_name").ok_or_else(|| missing("sso_role_name"))?,
        cache_name: session.map_or(start_url, |(name, _)| name),
    })
}

fn expired() -> Error {
    failed(
        "The SSO session associated with this profile has expired or is otherwise invalid. To \
         refresh this SSO session run aws sso login with the corresponding profile.",
    )
}

fn cache_path(context: &Context, role: &Role<'_>) -> Result<String> {
    let hash = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, role.cache_name.as_bytes());
    let path = format!("~/.aws/sso/cache/{}.json", hex(hash.as_ref()));
    context.expand_home_dir(&path).ok_or_else(|| failed("no home folder to find the SSO token in"))
}

async fn cached_token(context: &Context, role: &Role<'_>) -> Result<Token> {
    let text = context
        .file_read(&cache_path(context, role)?)
        .await
        .map_err(|_| failed("Error loading SSO Token: no token was found; run aws sso login"))?;
    let token: Token = serde_json::from_slice(&text).map_err(|_| expired())?;
    let file = serde_json::from_slice(&text).map_err(|_| expired())?;
    Ok(Token { file, ..token })
}

/// Asks for a new token, and keeps it in the file of the old one as the AWS tools do: the old one
/// may not be renewed twice.
async fn renew(context: &Context, role: &Role<'_>, token: &Token) -> Result<String> {
    let (Some(client_id), Some(client_secret), Some(refresh_token)) =
        (&token.client_id, &token.client_secret, &token.refresh_token)
    else {
        return Err(expired());
    };
    let request =
        RenewRequest { client_id, client_secret, grant_type: "refresh_token", refresh_token };
    let body = serde_json::to_vec(&request).map_err(|_| expired())?;
    let sent = Request::builder()
        .method(Method::POST)
        .uri(format!("{}/token", role.oidc))
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(Bytes::from(body))
        .map_err(|_| expired())?;
    let failure = |why: String| failed(format!("the SSO token could not be renewed: {why}"));
    let answer = context.http_send(sent).await.map_err(|error| failure(error.to_string()))?;
    match answer.status().as_u16() {
        200..=299 => {}
        status @ (429 | 500..) => return Err(failure(format!("SSO answered {status}"))),
        _ => return Err(expired()),
    }
    let renewed: Renewed = serde_json::from_slice(answer.body()).map_err(|_| expired())?;
    let access_token = renewed.access_token.clone();
    let (path, file) = (cache_path(context, role)?, token.file.clone());
    let saved = tokio::task::spawn_blocking(move || save(&path, file, renewed)).await;
    if let Err(error) = saved.map_err(io::Error::other).flatten() {
        tracing::warn!(%error, "the renewed SSO token could not be kept");
    }
    Ok(access_token)
}

/// Replaces the file of a token. Blocks.
fn save(path: &str, mut file: Map<String, Value>, renewed: Renewed) -> io::Result<()> {
    let Some(life_s) = renewed.expires_in else { return Ok(()) };
    let ends = jiff::Timestamp::now() + Duration::from_secs(life_s.into());
    let ends = ends.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    file.insert("accessToken".to_owned(), renewed.access_token.into());
    file.insert("expiresAt".to_owned(), ends.into());
    if let Some(refresh_token) = renewed.refresh_token {
        file.insert("refreshToken".to_owned(), refresh_token.into());
    }
    replace_file(path, &serde_json::to_vec(&file)?)
}

async fn exchange(context: &Context, role: &Role<'_>, access_token: &str) -> Result<Credential> {
    let query = encode_query(&[("role_name", role.role_name), ("account_id", role.account_id)]);
    let url = format!("{}/federation/credentials?{query}", role.portal);
    let sent = Request::builder()
        .uri(url)
        .header("x-amz-sso_bearer_token", access_token)
        .body(Bytes::new())
        .map_err(|_| expired())?;
    let answer = context
        .http_send(sent)
        .await
        .map_err(|error| failed(format!("SSO credentials could not be fetched: {error}")))?;
    match answer.status().as_u16() {
        200 => {}
        401 => return Err(expired()),
        status => return Err(failed(format!("SSO answered {status} for this role"))),
    }
    let parsed: Answer = serde_json::from_slice(answer.body())
        .map_err(|_| failed("SSO's answer could not be read"))?;
    let role = parsed.role_credentials;
    Ok(Credential {
        access_key_id: role.access_key_id,
        secret_access_key: role.secret_access_key,
        session_token: Some(role.session_token),
        expires_in: Timestamp::from_millisecond(role.expiration).ok(),
    })
}
