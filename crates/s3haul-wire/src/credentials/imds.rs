//! Credentials of an EC2 instance's role and its region, from its metadata service: with a token of
//! a session, or without one where the service gives none, as in botocore.
//!
//! Source: <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html>.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, Uri};
use reqsign_aws_v4::Credential;
use reqsign_core::Context;
use reqsign_core::time::Timestamp;
use serde::Deserialize;

use super::profile::failed;
use crate::error::{Error, ErrorKind, Result};
use crate::net::fetch::SingleAttempt;
use crate::sign::redact::Secrets;

const IPV4: &str = "http://169.254.169.254";
const IPV6: &str = "http://[fd00:ec2::254]";
const ROLES: &str = "latest/meta-data/iam/security-credentials/";
const REGION: &str = "latest/meta-data/placement/region";
const TOKEN_LIFE: (&str, &str) = ("x-aws-ec2-metadata-token-ttl-seconds", "21600");
const TOKEN: &str = "x-aws-ec2-metadata-token";
/// Limit for a connection and for an answer, in seconds: an absent service is noticed quickly.
const PATIENCE_S: u32 = 1;
const ATTEMPTS: u32 = 1;
/// Credentials with less time left should have been replaced long ago: where the service cannot do
/// that, the AWS tools go on with them, for S3 may still take them.
const LATE: Duration = Duration::from_mins(1);
/// How long they are then used before the next request.
const EXTENSION: Duration = Duration::from_mins(10);

/// The service, as it is configured.
pub(super) struct Metadata<'c> {
    context: &'c Context,
    /// Without a slash at its end.
    base: String,
    patience: Duration,
    attempts: u32,
    needs_token: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    access_key_id: Option<String>,
    secret_access_key: Option<String>,
    token: Option<String>,
    expiration: Option<String>,
    code: Option<String>,
    message: Option<String>,
}

impl<'c> Metadata<'c> {
    /// `setting` returns the value of a variable, or of a setting of the profile.
    pub(super) fn new(
        context: &'c Context,
        setting: impl Fn(&str, &str) -> Option<String>,
    ) -> Result<Self> {
        let is_on =
            |value: Option<String>| value.is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let number = |variable: &str, name: &str, default: u32| {
            let number = setting(variable, name).and_then(|text| text.trim().parse().ok());
            number.unwrap_or(default).max(1)
        };
        let patience_s =
            number("AWS_METADATA_SERVICE_TIMEOUT", "metadata_service_timeout", PATIENCE_S);
        let (variable, name) =
            ("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "metadata_service_num_attempts");
        let needs_token =
            is_on(setting("AWS_EC2_METADATA_V1_DISABLED", "ec2_metadata_v1_disabled"));
        Ok(Self {
            context,
            base: base(&setting)?,
            patience: Duration::from_secs(patience_s.into()),
            attempts: number(variable, name, ATTEMPTS),
            needs_token,
        })
    }

    /// Credentials of the instance's role; `None` where there is no service.
    pub(super) async fn provide(&self) -> Result<Option<Credential>> {
        let token = self.token().await?;
        let Some(role) = self.get(ROLES, token.as_ref()).await? else { return Ok(None) };
        let role = String::from_utf8_lossy(&role);
        let path = format!("{ROLES}{}", role.trim());
        let Some(json) = self.get(&path, token.as_ref()).await? else { return Ok(None) };
        let mut secrets = Secrets::default();
        secrets.add(token.as_ref().map_or(&[], HeaderValue::as_bytes));
        credential(&json).map(Some).map_err(|error| error.map_texts(|text| secrets.redact(text)))
    }

    /// The region of the instance; `None` where there is no service.
    pub(super) async fn region(&self) -> Result<Option<String>> {
        let token = self.token().await?;
        let region = self.get(REGION, token.as_ref()).await?;
        Ok(region.map(|region| String::from_utf8_lossy(&region).trim().to_owned()))
    }

    /// The token of a session. Services without sessions refuse to give one, and where the answer
    /// needs more hops than it may take, it never arrives.
    async fn token(&self) -> Result<Option<HeaderValue>> {
        let token = self.ask_token().await?;
        if token.is_none() && self.needs_token {
            return Err(failed(
                "Unable to retrieve token for use in IMDSv2 call and IMDSv1 has been disabled",
            ));
        }
        Ok(token)
    }

    async fn ask_token(&self) -> Result<Option<HeaderValue>> {
        for _ in 0..self.attempts {
            let (name, value) = TOKEN_LIFE;
            let life = HeaderValue::from_static(value);
            let sent = self.send(Method::PUT, "latest/api/token", Some((name, &life)));
            let Ok(answer) = sent.await else { continue };
            match answer.status().as_u16() {
                200 => return Ok(HeaderValue::from_bytes(answer.body().trim_ascii()).ok()),
                400 => return Err(failed("instance metadata answered 400 to the token request")),
                403..=405 => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    /// What stands at a path; `None` where no answer comes.
    async fn get(&self, path: &str, token: Option<&HeaderValue>) -> Result<Option<Bytes>> {
        let mut status = None;
        for _ in 0..self.attempts {
            let header = token.map(|token| (TOKEN, token));
            let Ok(answer) = self.send(Method::GET, path, header).await else { continue };
            if answer.status().as_u16() == 200 && !answer.body().is_empty() {
                return Ok(Some(answer.into_body()));
            }
            status = Some(answer.status().as_u16());
        }
        match status {
            Some(status) => Err(failed(format!("instance metadata answered {status}"))),
            None => Ok(None),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        header: Option<(&str, &HeaderValue)>,
    ) -> Result<Response<Bytes>> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}/{path}", self.base))
            .extension(SingleAttempt { patience: self.patience });
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let unanswered = |error: &dyn std::fmt::Display| {
            tracing::debug!(%error, "no answer of instance metadata");
            failed("no answer of instance metadata")
        };
        let request = request.body(Bytes::new()).map_err(|error| unanswered(&error))?;
        self.context.http_send(request).await.map_err(|error| unanswered(&error))
    }
}

/// Where the service is.
fn base(setting: impl Fn(&str, &str) -> Option<String>) -> Result<String> {
    let wrong = |what: &str| Error::new(ErrorKind::Config, format!("Invalid {what}"));
    let mode =
        setting("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ec2_metadata_service_endpoint_mode");
    let is_ipv6 = match mode.map(|mode| mode.to_ascii_lowercase()).as_deref() {
        Some("ipv6") => true,
        Some("ipv4") => false,
        Some(mode) => {
            return Err(wrong(&format!("EC2 Instance Metadata endpoint mode: {mode}")));
        }
        None => setting("AWS_IMDS_USE_IPV6", "imds_use_ipv6")
            .is_some_and(|value| value.eq_ignore_ascii_case("true")),
    };
    let default = if is_ipv6 { IPV6 } else { IPV4 };
    let custom = setting("AWS_EC2_METADATA_SERVICE_ENDPOINT", "ec2_metadata_service_endpoint");
    let base = custom.as_deref().unwrap_or(default).trim_end_matches('/');
    if base.parse::<Uri>().is_ok_and(|uri| uri.scheme().is_some() && uri.host().is_some()) {
        return Ok(base.to_owned());
    }
    Err(wrong("endpoint of EC2 Instance Metadata"))
}

fn credential(json: &[u8]) -> Result<Credential> {
    let wrong = || failed("the answer of instance metadata cannot be understood");
    let answer: Answer = serde_json::from_slice(json).map_err(|_| wrong())?;
    let Answer {
        access_key_id: Some(access_key_id),
        secret_access_key: Some(secret_access_key),
        token: Some(token),
        expiration: Some(expiration),
        ..
    } = answer
    else {
        return Err(match (answer.code, answer.message) {
            (Some(code), Some(message)) => {
                failed(format!("instance metadata answered {code}: {message}"))
            }
            _ => wrong(),
        });
    };
    let ends = expiration.parse().map_err(|_| wrong())?;
    let now = Timestamp::now();
    let is_late = ends < now + LATE;
    if is_late {
        tracing::warn!(%expiration, "instance metadata gave expired credentials; they are used");
    }
    Ok(Credential {
        access_key_id,
        secret_access_key,
        session_token: Some(token),
        expires_in: Some(if is_late { now + EXTENSION } else { ends }),
    })
}
