//! One attempt: from a request to what goes over the wire, and from an answer to a failure.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use http::header::{
    CONTENT_LENGTH, DATE, HOST, LOCATION, PROXY_AUTHORIZATION, RETRY_AFTER, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};

use super::retry::{self, Verdict};
use crate::credentials::cache::Held;
use crate::error::{Error, ErrorKind, Result, ServiceError};
use crate::message::payload::Payload;
use crate::message::request::Request;
use crate::net::connection::SendBody;
use crate::send::bucket_endpoint::Site;
use crate::send::shared::Shared;
use crate::sign::redact::Secrets;
use crate::sign::signature::{PayloadHash, encode_path, encode_query};
use crate::xml::document;

/// SHA-256 of nothing.
const EMPTY_SHA256: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];
/// Headers that a request has beside the operation's own, with room for a few of those.
const HEADERS_TYPICAL: usize = 10;

const BUCKET_REGION: HeaderName = HeaderName::from_static("x-amz-bucket-region");
const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-amz-request-id");
const REQUEST_PAYER: HeaderName = HeaderName::from_static("x-amz-request-payer");
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
}

impl Failure {
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

/// Puts a request into the form in which it is sent, signed for a site.
pub(crate) fn build(
    inner: &Shared,
    request: &Request<'_>,
    payload: &Payload,
    site: &Site,
    held: Option<&Held>,
) -> Result<http::Request<SendBody>> {
    let (target, path_length) = path_and_query(request, site);
    let mut headers = inner.spare_maps.take(HEADERS_TYPICAL + request.headers.len());
    headers.insert(HOST, site.host_header.clone());
    headers.insert(USER_AGENT, inner.user_agent.clone());
    for (name, value) in &request.headers {
        headers.append(name, value.clone());
    }
    add_payload_headers(request, payload, &mut headers);
    if inner.config.request_payer && request.bucket.is_some() {
        headers.insert(REQUEST_PAYER, HeaderValue::from_static("requester"));
    }
    if let Some(held) = held {
        let (path, query) = target.split_at(path_length);
        let hash = payload_hash(inner, payload, site);
        let query = query.strip_prefix('?').unwrap_or(query);
        let signer = site.signer(held);
        signer.sign(&request.method, path, query, &mut headers, hash, inner.now());
    }
    if let Some(value) = site.forwarder.as_ref().and_then(|proxy| proxy.authorization.as_ref()) {
        headers.insert(PROXY_AUTHORIZATION, value.clone());
    }
    let mut sent = http::Request::new(SendBody::new(payload));
    *sent.method_mut() = request.method.clone();
    *sent.uri_mut() = uri(target, site)?;
    *sent.headers_mut() = headers;
    Ok(sent)
}

/// The encoded path with the query, and the length of the path.
fn path_and_query(request: &Request<'_>, site: &Site) -> (String, usize) {
    let key_length = request.key.map_or(0, str::len);
    let mut target = String::with_capacity(site.target.path_prefix.len() + key_length + 64);
    target.push_str(&site.target.path_prefix);
    if let Some(key) = request.key {
        target.push('/');
        encode_path(key, &mut target);
    } else if target.is_empty() {
        target.push('/');
    }
    let path_length = target.len();
    if !request.query.is_empty() {
        let pairs: Vec<_> =
            request.query.iter().map(|(name, value)| (*name, value.as_ref())).collect();
        target.push('?');
        target.push_str(&encode_query(&pairs));
    }
    (target, path_length)
}

fn uri(target: String, site: &Site) -> Result<Uri> {
    let whole = match &site.absolute {
        Some(absolute) => format!("{absolute}{target}"),
        None => target,
    };
    Uri::from_maybe_shared(Bytes::from(whole)).map_err(|error| {
        Error::new(ErrorKind::Request, "the key does not fit into a URL").with_source(error)
    })
}

fn add_payload_headers(request: &Request<'_>, payload: &Payload, headers: &mut HeaderMap) {
    if request.method == Method::PUT || request.method == Method::POST || !payload.is_empty() {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(payload.len()));
    }
    let digests = payload.digests();
    if let (true, Some(md5)) = (request.md5, digests.md5)
        && let Ok(value) = HeaderValue::from_str(&BASE64.encode(md5))
    {
        headers.insert(CONTENT_MD5, value);
    }
    if let (Some(algorithm), Some(checksum)) = (request.checksum, &digests.checksum)
        && checksum.algorithm == algorithm
        && let Ok(value) = HeaderValue::from_str(&checksum.value)
    {
        headers.insert(algorithm.header(), value);
    }
}

/// Whether the signature must cover the body: always over plain http.
pub(crate) fn signs_payload(inner: &Shared, site: &Site) -> bool {
    !site.target.https || inner.config.payload_signing
}

fn payload_hash(inner: &Shared, payload: &Payload, site: &Site) -> PayloadHash {
    if payload.is_empty() {
        return PayloadHash::Sha256(EMPTY_SHA256);
    }
    match payload.digests().sha256 {
        Some(hash) if signs_payload(inner, site) => PayloadHash::Sha256(hash),
        _ => PayloadHash::Unsigned,
    }
}
