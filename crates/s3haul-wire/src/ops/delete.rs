//! Removing objects.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use http::Method;

use super::build::{delete, quick};
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::message::headers::{self, Headers};
use crate::message::payload::Payload;
use crate::message::request::{Expects, Request};
use crate::sign::redact::Secrets;
use crate::xml::document::{self, Element, Writer};

/// Input of `DeleteObject`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeleteObject<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Version to remove for good.
    pub version_id: Option<&'a str>,
    /// `If-Match`: only if the object still has this `ETag`.
    pub if_match: Option<&'a str>,
    /// Remove also what is locked in governance mode, where the caller may.
    pub bypass_governance: bool,
}

/// Input of `DeleteObjects`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeleteObjects<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Up to 1,000 objects or versions.
    pub objects: &'a [ObjectIdentifier],
    /// Remove also what is locked in governance mode, where the caller may.
    pub bypass_governance: bool,
}

/// One entry of `DeleteObjects`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectIdentifier {
    /// Key.
    pub key: String,
    /// Version.
    pub version_id: Option<String>,
    /// Only if the object still has this `ETag`.
    pub etag: Option<String>,
}

/// A key that `DeleteObjects` did not remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteRefused {
    /// Key.
    pub key: String,
    /// Version.
    pub version_id: Option<String>,
    /// Error code.
    pub code: String,
    /// Message.
    pub message: String,
}

/// Result of `DeleteObjects`: keys not named here are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOutcome {
    /// Keys that were refused after the retries.
    pub refused: Vec<DeleteRefused>,
}

impl ObjectIdentifier {
    /// Whether the XML of `DeleteObjects` can carry the key; [`Client::delete_objects`] removes
    /// keys with control characters one by one.
    pub fn fits_xml(&self) -> bool {
        document::fits(&self.key)
    }
}

/// Keys of one `DeleteObjects` request.
const KEYS_MAX: usize = 1000;
/// Times that `DeleteObjects` is sent again for entries that failed for a while.
const RETRIES_MAX: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

impl Client {
    /// Removes one object; succeeds also where there is none.
    pub async fn delete_object(&self, input: DeleteObject<'_>) -> Result<()> {
        let mut headers = Headers::default();
        headers.maybe(&http::header::IF_MATCH, input.if_match)?;
        bypass_governance(&mut headers, input.bypass_governance);
        let request = delete("DeleteObject", input.bucket, Some(input.key))
            .maybe("versionId", input.version_id)
            .headers(headers);
        self.call(&request).await.map(|answer| self.done(answer.headers))
    }

    /// Removes up to 1,000 objects with one request (quiet mode). Entries that fail with a
    /// throttle or server error are tried again inside.
    pub async fn delete_objects(&self, input: DeleteObjects<'_>) -> Result<DeleteOutcome> {
        let objects = input.objects;
        if objects.len() > KEYS_MAX {
            let message = format!("{} keys are more than one request may remove", objects.len());
            return Err(Error::new(ErrorKind::Config, message).with_operation("DeleteObjects"));
        }
        let (mut pending, odd): (Vec<_>, Vec<_>) =
            objects.iter().partition(|object| object.fits_xml());
        let mut outcome = DeleteOutcome::default();
        for object in odd {
            outcome.refused.extend(self.delete_odd(input, object).await?);
        }
        for attempt in 0.. {
            if pending.is_empty() {
                break;
            }
            let refused = self.delete_once(input, &pending).await?;
            let last = attempt == RETRIES_MAX;
            let (again, refused) = split(refused, &mut pending, last);
            outcome.refused.extend(refused);
            if !again {
                break;
            }
            let spread = 0.5 + self.inner.env.random_f64() / 2.0;
            tokio::time::sleep((FIRST_PAUSE * 2_u32.pow(attempt)).mul_f64(spread)).await;
        }
        Ok(outcome)
    }

    /// Removes an object whose key XML cannot carry.
    async fn delete_odd(
        &self,
        all: DeleteObjects<'_>,
        object: &ObjectIdentifier,
    ) -> Result<Option<DeleteRefused>> {
        let version_id = object.version_id.as_deref();
        let if_match = object.etag.as_deref();
        let DeleteObjects { bucket, bypass_governance, .. } = all;
        let key = object.key.as_str();
        let input = DeleteObject { bucket, key, version_id, if_match, bypass_governance };
        let Err(error) = self.delete_object(input).await else {
            return Ok(None);
        };
        let Some(service) = error.service_error() else { return Err(error) };
        Ok(Some(DeleteRefused {
            key: object.key.clone(),
            version_id: object.version_id.clone(),
            code: service.code.clone(),
            message: service.message.clone(),
        }))
    }

    async fn delete_once(
        &self,
        input: DeleteObjects<'_>,
        objects: &[&ObjectIdentifier],
    ) -> Result<Vec<DeleteRefused>> {
        let mut headers = Headers::default();
        bypass_governance(&mut headers, input.bypass_governance);
        let mut request = Request::new(
            quick("DeleteObjects", Expects::Document("DeleteResult")),
            Method::POST,
            input.bucket,
            None,
        )
        .query("delete", "")
        .headers(headers)
        .payload(Payload::from_bytes(body(objects)), None);
        // S3 wants an MD5 or a checksum; the MD5 is what every service of this kind understands.
        request.md5 = true;
        request.operation.error_in_200 = true;
        request.keys = u32::try_from(objects.len()).unwrap_or(u32::MAX);
        let answer = self.call(&request).await?;
        let root = self.document(&request, &answer)?;
        let secrets = self.inner.secrets();
        Ok(root.all("Error").map(|entry| read_refused(entry, &secrets)).collect())
    }
}

fn bypass_governance(headers: &mut Headers, bypasses: bool) {
    if bypasses {
        headers.fixed(&headers::BYPASS_GOVERNANCE, "true");
    }
}

/// Sorts what was refused: `pending` keeps the entries to be sent again, the rest is final. Returns
/// whether any are pending, and the final ones.
fn split(
    refused: Vec<DeleteRefused>,
    pending: &mut Vec<&ObjectIdentifier>,
    last: bool,
) -> (bool, Vec<DeleteRefused>) {
    let (again, mut fatal): (Vec<_>, Vec<_>) =
        refused.into_iter().partition(|entry| !last && is_passing(&entry.code));
    let name = |entry: &DeleteRefused| (entry.key.clone(), entry.version_id.clone());
    let names: HashSet<_> = again.iter().map(name).collect();
    pending.retain(|object| names.contains(&(object.key.clone(), object.version_id.clone())));
    // An entry that was never sent cannot be sent again: it is reported as it is.
    let sent: HashSet<_> =
        pending.iter().map(|object| (object.key.clone(), object.version_id.clone())).collect();
    fatal.extend(again.into_iter().filter(|entry| !sent.contains(&name(entry))));
    (!pending.is_empty(), fatal)
}

fn is_passing(code: &str) -> bool {
    matches!(
        code,
        "InternalError"
            | "SlowDown"
            | "ServiceUnavailable"
            | "RequestTimeout"
            | "RequestTimeTooSkewed"
            | "Throttling"
            | "ThrottlingException"
            | "RequestLimitExceeded"
            | "OperationAborted"
            | "ConditionalRequestConflict"
    )
}

fn body(objects: &[&ObjectIdentifier]) -> Bytes {
    let capacity = objects.iter().map(|object| object.key.len() + 96).sum::<usize>() + 64;
    let mut writer = Writer::new("Delete", capacity);
    writer.text("Quiet", "true");
    for object in objects {
        writer.open("Object");
        writer.text("Key", &object.key);
        if let Some(version) = &object.version_id {
            writer.text("VersionId", version);
        }
        if let Some(etag) = &object.etag {
            writer.text("ETag", etag);
        }
        writer.close("Object");
    }
    writer.finish("Delete")
}

pub(super) fn read_refused(entry: &Element, secrets: &Secrets) -> DeleteRefused {
    DeleteRefused {
        key: entry.text_of("Key").to_owned(),
        version_id: entry.filled("VersionId"),
        code: entry.text_of("Code").to_owned(),
        message: secrets.redact(entry.text_of("Message")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(key: &str) -> ObjectIdentifier {
        ObjectIdentifier { key: key.to_owned(), ..ObjectIdentifier::default() }
    }

    fn refused(key: &str, code: &str) -> DeleteRefused {
        let (key, code) = (key.to_owned(), code.to_owned());
        DeleteRefused { key, code, version_id: None, message: String::new() }
    }

    #[test]
    fn the_body_carries_odd_keys() {
        let versioned = ObjectIdentifier {
            version_id: Some("v1".to_owned()),
            etag: Some("\"e\"".to_owned()),
            ..object("a&<\n>")
        };
        let body = body(&[&versioned]);
        let text = std::str::from_utf8(&body).unwrap();
        assert!(text.contains("<Key>a&amp;&lt;&#10;&gt;</Key><VersionId>v1</VersionId>"), "{text}");
        assert!(text.contains("<ETag>&quot;e&quot;</ETag>"), "{text}");
        assert!(!object("a\u{1}").fits_xml());
    }

    #[test]
    fn only_passing_failures_are_sent_again() {
        let objects = [object("a"), object("b"), object("c")];
        let mut pending: Vec<_> = objects.iter().collect();
        let answer = || {
            vec![refused("a", "AccessDenied"), refused("b", "SlowDown"), refused("x", "SlowDown")]
        };
        let (again, fatal) = split(answer(), &mut pending, false);
        assert!(again);
        assert_eq!(pending, [&objects[1]]);
        assert_eq!(fatal, [refused("a", "AccessDenied"), refused("x", "SlowDown")]);
        let (again, fatal) = split(vec![refused("b", "SlowDown")], &mut pending, true);
        assert!(!again && pending.is_empty());
        assert_eq!(fatal, [refused("b", "SlowDown")]);
    }
}
