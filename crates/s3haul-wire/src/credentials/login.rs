//! Sessions of `aws login`: the credentials that it left, refreshed where they end within minutes.
//!
//! A refresh proves possession of the key in the same file (`DPoP`, RFC 9449).
//!
//! Source: <https://docs.aws.amazon.com/signin/latest/APIReference/API_CreateOAuth2Token.html>.

use std::io;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::{Method, Request};
use reqsign_aws_v4::Credential;
use reqsign_core::Context;
use reqsign_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::context::{read_cached, write_cached};
use super::profile::failed;
use crate::error::{Error, Result};
use crate::units::hex;

/// Credentials that end sooner are refreshed first, as in botocore.
const REFRESH_BEFORE: Duration = Duration::from_mins(5);
const EXPIRED: &str = "Your session has expired or credentials have changed. Please reauthenticate \
                       using 'aws login'.";
const FORBIDDEN: &str = "Unable to create or refresh login credentials due to insufficient \
                         permissions. You may be missing permission for the \
                         'signin:CreateOAuth2Token' action.";

/// Held while credentials are refreshed.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    /// The file as it is.
    #[serde(skip)]
    file: Map<String, Value>,
    access_token: Keys,
    client_id: String,
    refresh_token: String,
    dpop_key: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Keys {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    /// Only in the file.
    expires_at: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RefreshRequest<'t> {
    client_id: &'t str,
    refresh_token: &'t str,
    grant_type: &'static str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refreshed {
    access_token: Keys,
    expires_in: u32,
    refresh_token: String,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Token {
    fn credential(&self) -> Option<Credential> {
        let ends = self.access_token.expires_at.as_deref()?.parse().ok()?;
        Some(self.access_token.credential(ends))
    }
}

impl Keys {
    fn credential(&self, ends: Timestamp) -> Credential {
        Credential {
            access_key_id: self.access_key_id.clone(),
            secret_access_key: self.secret_access_key.clone(),
            session_token: Some(self.session_token.clone()),
            expires_in: Some(ends),
        }
    }
}

fn not_loaded(why: &str) -> Error {
    failed(format!("Error loading login session token: {why}"))
}

fn not_refreshed(why: &str) -> Error {
    failed(format!("the credentials of `aws login` could not be refreshed: {why}"))
}

fn lives(found: &Credential, left: Duration) -> bool {
    found.expires_in.is_some_and(|ends| Timestamp::now() + left < ends)
}

/// Credentials of a session; `endpoint` is the sign-in service.
pub(super) async fn provide(
    context: &Context,
    session: &str,
    folder: Option<&str>,
    endpoint: &str,
) -> Result<Credential> {
    let name = hex(digest(&SHA256, session.as_bytes()).as_ref());
    let path = format!("{}/{name}.json", folder.unwrap_or("~/.aws/login/cache"));
    let path = context
        .expand_home_dir(&path)
        .ok_or_else(|| failed("no home folder to find the session of `aws login` in"))?;
    let found = |token: &Token, left| token.credential().filter(|found| lives(found, left));
    if let Some(found) = found(&load(context, session, &path).await?, REFRESH_BEFORE) {
        return Ok(found);
    }
    let _turn = TURN.lock().await;
    let token = load(context, session, &path).await?;
    if let Some(found) = found(&token, REFRESH_BEFORE) {
        return Ok(found);
    }
    match refresh(context, &path, token, endpoint).await {
        Ok(found) => Ok(found),
        Err(error) => {
            // Another process may have refreshed them meanwhile.
            let latest = load(context, session, &path).await.ok();
            let latest = latest.and_then(|token| found(&token, Duration::ZERO));
            let Some(latest) = latest else { return Err(error) };
            tracing::warn!(%error, "the old credentials of `aws login` are used while they live");
            Ok(latest)
        }
    }
}

async fn load(context: &Context, session: &str, path: &str) -> Result<Token> {
    let text = read_cached(context, path).await.map_err(|_| {
        not_loaded(&format!(
            "Unable to load a existing login session for session {session}. Please \
             reauthenticate with 'aws login'."
        ))
    })?;
    // What the file holds is secret.
    let wrong = |_| {
        not_loaded(&format!(
            "`{path}` is no login session, or lacks something. Please reauthenticate with 'aws \
             login'."
        ))
    };
    let token: Token = serde_json::from_slice(&text).map_err(wrong)?;
    Ok(Token { file: serde_json::from_slice(&text).map_err(wrong)?, ..token })
}

/// Asks for new credentials, and keeps them in the file of the old ones as the AWS tools do.
async fn refresh(
    context: &Context,
    path: &str,
    token: Token,
    endpoint: &str,
) -> Result<Credential> {
    let url = format!("{}/v1/token", endpoint.trim_end_matches('/'));
    let Token { client_id, refresh_token, dpop_key, .. } = &token;
    let proof = proof(dpop_key, &url, Timestamp::now().as_second(), &random_id())
        .ok_or_else(|| not_loaded("Unable to load private key from cached token."))?;
    let request = RefreshRequest { client_id, refresh_token, grant_type: "refresh_token" };
    let failure = |error: &dyn std::fmt::Display| not_refreshed(&error.to_string());
    let body = serde_json::to_vec(&request).map_err(|error| failure(&error))?;
    let sent = Request::builder()
        .method(Method::POST)
        .uri(url)
        .header(http::header::CONTENT_TYPE, "application/json")
        .header("DPoP", proof)
        .body(Bytes::from(body))
        .map_err(|error| failure(&error))?;
    let answer = context.http_send(sent).await.map_err(|error| failure(&error))?;
    if !answer.status().is_success() {
        return Err(refused(answer.status().as_u16(), answer.body()));
    }
    let refreshed: Refreshed = serde_json::from_slice(answer.body())
        .map_err(|_| not_refreshed("the answer cannot be understood"))?;
    let ends = Timestamp::now() + Duration::from_secs(refreshed.expires_in.into());
    let found = refreshed.access_token.credential(ends);
    let (path, file) = (path.to_owned(), token.file);
    let save = move || write_cached(&path, renewed(file, refreshed, ends));
    let saved = tokio::task::spawn_blocking(save).await;
    if let Err(error) = saved.map_err(io::Error::other).flatten() {
        tracing::warn!(%error, "the refreshed credentials of `aws login` could not be kept");
    }
    Ok(found)
}

fn refused(status: u16, body: &[u8]) -> Error {
    let refusal = serde_json::from_slice::<Refusal>(body).ok();
    match refusal.as_ref().map(|refusal| refusal.error.as_str()) {
        Some("TOKEN_EXPIRED" | "USER_CREDENTIALS_CHANGED") => failed(EXPIRED),
        Some("INSUFFICIENT_PERMISSIONS") => failed(FORBIDDEN),
        _ => not_refreshed(&format!("the sign-in service answered {status}")),
    }
}

/// The file with what is new.
fn renewed(mut file: Map<String, Value>, new: Refreshed, ends: Timestamp) -> Vec<u8> {
    let account_id = file.get("accessToken").and_then(|old| old.get("accountId")).cloned();
    let keys = json!({
        "accessKeyId": new.access_token.access_key_id,
        "secretAccessKey": new.access_token.secret_access_key,
        "sessionToken": new.access_token.session_token,
        "accountId": account_id,
        "expiresAt": ends.format_rfc3339_zulu(),
    });
    file.insert("accessToken".to_owned(), keys);
    file.insert("refreshToken".to_owned(), new.refresh_token.into());
    Value::from(file).to_string().into_bytes()
}

/// Proof that we have a key, for one request: `pem` is the key, `id` has to be another each time.
/// `None` where the key cannot be read.
fn proof(pem: &str, url: &str, now_s: i64, id: &str) -> Option<String> {
    let der: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = STANDARD.decode(der.trim()).ok()?;
    let key = EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_FIXED_SIGNING, &der).ok()?;
    // Uncompressed: 4, x, y.
    let (x, y) = key.public_key().as_ref().get(1..)?.split_at_checked(32)?;
    let [x, y] = [x, y].map(|part| URL_SAFE_NO_PAD.encode(part));
    let jwk = format!(r#"{{"kty":"EC","x":"{x}","y":"{y}","crv":"P-256"}}"#);
    let head = format!(r#"{{"typ":"dpop+jwt","alg":"ES256","jwk":{jwk}}}"#);
    let url = Value::from(url);
    let claims = format!(r#"{{"htm":"POST","htu":{url},"iat":{now_s},"jti":"{id}"}}"#);
    let signed = [head, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let signature = key.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
    Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// A random UUID.
fn random_id() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) | (4 << 76);
    let digits = format!("{:032x}", bits & !(0b11 << 62) | (0b10 << 62));
    let (first, second) = (&digits[..8], &digits[8..12]);
    format!("{first}-{second}-{}-{}-{}", &digits[12..16], &digits[16..20], &digits[20..])
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    /// Made of the bytes `a key of tests and nothing else!`.
    const KEY: &str = "-----BEGIN EC PRIVATE KEY-----\n\
        MHcCAQEEIGEga2V5IG9mIHRlc3RzIGFuZCBub3RoaW5nIGVsc2UhoAoGCCqGSM49\n\
        AwEHoUQDQgAEkjy1xTL8P+UmbJPaZkE5u9iPdPUIcVfI/TLFTXmvym9FCbRbZPjw\n\
        zuWFU9cGR/yGUHsbpywJZHgk6SBX3RGWvA==\n\
        -----END EC PRIVATE KEY-----\n";
    const SIGNED: &str = "\
        eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6ImtqeTF4\
        VEw4UC1VbWJKUGFaa0U1dTlpUGRQVUljVmZJX1RMRlRYbXZ5bTgiLCJ5IjoiUlFtMFcyVDQ4TTdsaFZQ\
        WEJrZjhobEI3RzZjc0NXUjRKT2tnVjkwUmxydyIsImNydiI6IlAtMjU2In19.eyJodG0iOiJQT1NUIiw\
        iaHR1IjoiaHR0cHM6Ly9ldS13ZXN0LTEuc2lnbmluLmF3cy5hbWF6b24uY29tL3YxL3Rva2VuIiwiaWF\
        0IjoxNzAwMDAwMDAwLCJqdGkiOiJhbi1pZCJ9";

    #[test]
    fn ids_are_random_uuids() {
        let id = random_id();
        assert_eq!(id.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>(), [8, 13, 18, 23]);
        assert!(id.len() == 36 && &id[14..15] == "4" && "89ab".contains(&id[19..20]), "{id}");
        assert_ne!(id, random_id());
    }

    /// The parts before the signature are those that botocore makes of this key.
    #[test]
    fn proofs_are_those_of_botocore_and_hold() {
        let url = "https://eu-west-1.signin.aws.amazon.com/v1/token";
        let proof = proof(KEY, url, 1_700_000_000, "an-id").unwrap();
        let (signed, signature) = proof.rsplit_once('.').unwrap();
        assert_eq!(signed, SIGNED);
        let point = [&[4][..], &coordinate("x"), &coordinate("y")].concat();
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        key.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        assert_eq!(super::proof("", url, 0, ""), None);
    }

    fn coordinate(name: &str) -> Vec<u8> {
        let head = URL_SAFE_NO_PAD.decode(SIGNED.split('.').next().unwrap()).unwrap();
        let head: Value = serde_json::from_slice(&head).unwrap();
        URL_SAFE_NO_PAD.decode(head["jwk"][name].as_str().unwrap()).unwrap()
    }
}
