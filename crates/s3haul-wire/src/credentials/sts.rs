//! Temporary credentials of a role, by the Security Token Service.
//!
//! Source: <https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html> and
//! `API_AssumeRoleWithWebIdentity.html` beside it.

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request};
use reqsign_aws_v4::{Credential, RequestSigner, StaticCredentialProvider};
use reqsign_core::time::Timestamp;
use reqsign_core::{Context, Signer};

use super::profile::failed;
use crate::error::{Error, Result, ServiceError};
use crate::sign::signature::encode_query;
use crate::units::hex;
use crate::xml::document::{Element, parse_error};

const VERSION: &str = "2011-06-15";
const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";

/// Attempts while the service refuses because of too many requests.
const ATTEMPTS: u32 = 6;
/// Longest pause after the first attempt; each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(500);
/// Codes of refusals that pass, which have the status 400.
const PASSING_CODES: [&str; 8] = [
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestThrottled",
    "RequestThrottledException",
    "RequestLimitExceeded",
    "TooManyRequestsException",
    "IDPCommunicationError",
];

/// The service of a region.
pub(super) struct Sts<'c> {
    pub(super) context: &'c Context,
    pub(super) region: String,
    /// Where the service is.
    pub(super) endpoint: String,
}

impl Sts<'_> {
    /// Credentials of a role for the holder of others; `parameters` are those of the request.
    pub(super) async fn assume(
        &self,
        source: &Credential,
        parameters: &[(&str, &str)],
    ) -> Result<Credential> {
        let mut keys =
            StaticCredentialProvider::new(&source.access_key_id, &source.secret_access_key);
        if let Some(token) = &source.session_token {
            keys = keys.with_session_token(token);
        }
        let signer = RequestSigner::new("sts", &self.region);
        let signer = Signer::new(self.context.clone(), keys, signer);
        self.call("AssumeRole", parameters, Some(signer)).await
    }

    /// Credentials of a role for the holder of a token, such as a pod of Kubernetes has.
    pub(super) async fn assume_with_token(
        &self,
        parameters: &[(&str, &str)],
    ) -> Result<Credential> {
        self.call("AssumeRoleWithWebIdentity", parameters, None).await
    }

    async fn call(
        &self,
        action: &str,
        parameters: &[(&str, &str)],
        signer: Option<Signer<Credential>>,
    ) -> Result<Credential> {
        let could_not = |error: &dyn std::fmt::Display| {
            failed(format!("could not get the credentials of a role ({action}): {error}"))
        };
        let mut form = vec![("Action", action), ("Version", VERSION)];
        form.extend_from_slice(parameters);
        let body = encode_query(&form);
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.endpoint)
            .header(CONTENT_TYPE, FORM)
            .header("x-amz-content-sha256", hex(digest(&SHA256, body.as_bytes()).as_ref()))
            .body(());
        let (mut head, ()) = request.map_err(|error| could_not(&error))?.into_parts();
        if let Some(signer) = signer {
            signer.sign(&mut head, None).await.map_err(|error| could_not(&error))?;
        }
        let sent = Request::from_parts(head, Bytes::from(body));
        let mut attempt = 1;
        let answer = loop {
            let answer = self.context.http_send(sent.clone()).await;
            let answer = answer.map_err(|error| could_not(&error))?;
            if answer.status().is_success() {
                break answer;
            }
            let refused = refused(answer.status().as_u16(), answer.body());
            if attempt >= ATTEMPTS || !PASSING_CODES.contains(&refused.code.as_str()) {
                return Err(refusal(action, &refused));
            }
            tokio::time::sleep((PAUSE * (1 << (attempt - 1))).mul_f64(fastrand::f64())).await;
            attempt += 1;
        };
        let found = Element::parse(answer.body()).ok();
        let found = found.and_then(|root| credential(&root, &format!("{action}Result")));
        found.ok_or_else(|| could_not(&"the answer cannot be understood"))
    }
}

fn refused(status: u16, body: &[u8]) -> ServiceError {
    parse_error(body)
        .unwrap_or_else(|| ServiceError { code: status.to_string(), ..ServiceError::default() })
}

/// What the service says of a call that it refuses, in the words of the AWS tools.
fn refusal(action: &str, ServiceError { code, message, .. }: &ServiceError) -> Error {
    failed(format!("An error occurred ({code}) when calling the {action} operation: {message}"))
}

fn credential(root: &Element, result: &str) -> Option<Credential> {
    let found = root.child(result)?.child("Credentials")?;
    let expires: jiff::Timestamp = found.text_of("Expiration").trim().parse().ok()?;
    Some(Credential {
        access_key_id: found.filled("AccessKeyId")?,
        secret_access_key: found.filled("SecretAccessKey")?,
        session_token: Some(found.filled("SessionToken")?),
        expires_in: Some(Timestamp::from_millisecond(expires.as_millisecond()).ok()?),
    })
}
