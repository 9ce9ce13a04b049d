//! A failed attempt: what the answer said, and what that asks for.

use std::time::{Duration, SystemTime};

use http::header::{DATE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderName, StatusCode};

use super::retry::{self, Verdict};
use crate::error::{Error, ServiceError};
use crate::sign::redact::Secrets;
use crate::xml::document;

const BUCKET_REGION: HeaderName = HeaderName::from_static("x-amz-bucket-region");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-amz-request-id");
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("x-amz-retry-after");

/// A failed attempt: the error and what else the answer said.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    pub(crate) verdict: Verdict,
    /// What the server asked to wait.
    pub(crate) asked: Option<Duration>,
    /// The server's clock.
    pub(crate) date: Option<SystemTime>,
    /// Where the server pointed to.
    pub(crate) location: Option<String>,
}

impl Failure {
    /// A failure without an answer.
    pub(crate) fn new(error: Error) -> Self {
        let verdict = retry::classify_kind(error.kind());
        Self { error, verdict, asked: None, date: None, location: None }
    }

    /// A server's error answer.
    pub(crate) fn answered(
        operation: &'static str,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        let service = service_error(status, headers, body);
        let verdict = retry::classify_service(service.status, &service.code);
        let kind = retry::service_kind(service.status, &service.code);
        Self {
            error: Error::service(kind, operation, service),
            verdict,
            asked: asked_delay(headers),
            date: text(headers, &DATE).and_then(|date| httpdate::parse_http_date(date).ok()),
            location: text(headers, &LOCATION).map(str::to_owned),
        }
    }

    /// The same without secrets: a server may repeat what it was sent.
    pub(crate) fn redacted(self, secrets: &Secrets) -> Self {
        Self { error: self.error.map_texts(|text| secrets.redact(text)), ..self }
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn service_error(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ServiceError {
    let mut service = document::parse_error(body).unwrap_or_default();
    service.status = status.as_u16();
    if service.code.is_empty() {
        // Without a body the AWS tools show the status as the code.
        status.as_str().clone_into(&mut service.code);
        status.canonical_reason().unwrap_or_default().clone_into(&mut service.message);
    }
    if let Some(id) = text(headers, &REQUEST_ID) {
        id.clone_into(&mut service.request_id);
    }
    if let Some(region) = text(headers, &BUCKET_REGION) {
        service.region = Some(region.to_owned());
    }
    service
}

/// `x-amz-retry-after` in milliseconds, or `Retry-After` in seconds.
fn asked_delay(headers: &HeaderMap) -> Option<Duration> {
    if let Some(ms) = text(headers, &RETRY_AFTER_MS).and_then(|ms| ms.trim().parse().ok()) {
        return Some(Duration::from_millis(ms));
    }
    text(headers, &RETRY_AFTER)?.trim().parse().ok().map(Duration::from_secs)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error)
    }
}
