//! Requests as they stand, with whatever is answered: for finding out what a service does.
//!
//! Everything else here believes an answer only where it proves what was done. A probe wants the
//! refusals and the oddities themselves.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use percent_encoding::percent_decode_str;

use super::build::quick;
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::message::payload::Payload;
use crate::message::request::{Expects, Request};

/// Names in the query of a presigned URL.
const SIGNED_NAMES: [&str; 7] = [
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
];

/// A request that is signed and sent as it is.
#[derive(Clone, Debug)]
pub struct PlainRequest<'a> {
    /// Method.
    pub method: Method,
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: Option<&'a str>,
    /// Names and values, not yet encoded.
    pub query: &'a [(&'static str, &'a str)],
    /// Names and values.
    pub headers: &'a [(&'static str, &'a str)],
    /// Body.
    pub body: Bytes,
    /// Send the `Content-MD5` of the body.
    pub md5: bool,
}

/// What came back, also if it is a refusal.
#[derive(Clone, Debug)]
pub struct PlainAnswer {
    /// HTTP status.
    pub status: u16,
    /// Error code of a refusal, else empty.
    pub code: String,
    /// Headers; empty for a refusal.
    pub headers: HeaderMap,
    /// Body; empty for a refusal.
    pub body: Bytes,
}

impl PlainAnswer {
    /// Whether the request was carried out.
    pub fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header as text, empty where it is missing or no text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Client {
    /// Sends a request as it is. An error means that there was no answer.
    pub async fn send_plain(&self, input: PlainRequest<'_>) -> Result<PlainAnswer> {
        let operation = quick("PlainRequest", Expects::Anything);
        let mut request = Request::new(operation, input.method, input.bucket, input.key)
            .payload(Payload::from_bytes(input.body), None);
        request.md5 = input.md5;
        for (name, value) in input.query {
            request = request.query(name, *value);
        }
        for (name, value) in input.headers {
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|error| {
                let message = format!("`{name}` cannot be sent");
                Error::new(ErrorKind::Config, message).with_source(error)
            })?;
            request.headers.push((HeaderName::from_static(name), value));
        }
        self.answer_of(&request).await
    }

    /// Requests the object of a presigned URL, with nothing but what stands in the URL. The client
    /// has to be one that does not sign.
    pub async fn get_presigned(&self, bucket: &str, key: &str, url: &str) -> Result<PlainAnswer> {
        let operation = quick("PlainRequest", Expects::Anything);
        let mut request = Request::new(operation, Method::GET, bucket, Some(key));
        let query = url.split_once('?').map_or("", |(_, query)| query);
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let name = SIGNED_NAMES.into_iter().find(|known| *known == name).ok_or_else(|| {
                Error::new(ErrorKind::Config, format!("`{name}` does not belong to a signature"))
            })?;
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            request = request.query(name, value);
        }
        self.answer_of(&request).await
    }

    async fn answer_of(&self, request: &Request<'_>) -> Result<PlainAnswer> {
        match self.call(request).await {
            Ok(answer) => Ok(PlainAnswer {
                status: answer.status.as_u16(),
                code: String::new(),
                headers: answer.headers,
                body: answer.body,
            }),
            Err(error) => match error.service_error() {
                // No answer to what was asked.
                Some(_) if error.kind() == ErrorKind::Throttled => Err(error),
                Some(refusal) => Ok(PlainAnswer {
                    status: refusal.status,
                    code: refusal.code.clone(),
                    headers: HeaderMap::new(),
                    body: Bytes::new(),
                }),
                None => Err(error),
            },
        }
    }
}
