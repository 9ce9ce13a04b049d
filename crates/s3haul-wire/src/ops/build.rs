//! Pieces that many operations need to build their requests.

use std::fmt::Write as _;

use http::{HeaderMap, Method};

use super::object::{Conditions, CopySource, HeadObject, Written};
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::message::answer::Answer;
use crate::message::answer::Doubt;
use crate::message::checksum::{Checksum, ChecksumAlgorithm};
use crate::message::headers::{self, Headers};
use crate::message::properties::{Protection, read_checksums};
use crate::message::request::{Expects, Operation, Request};
use crate::sign::signature::encode_path;
use crate::units::ByteRange;
use crate::xml::document::Element;

/// An operation that answers quickly and whose 200 is a 200.
pub(super) const fn quick(name: &'static str, expects: Expects) -> Operation {
    Operation { name, slow: false, error_in_200: false, expects }
}

/// An operation that may be silent for minutes and may say 200 before it fails.
pub(super) const fn slow(name: &'static str, root: &'static str) -> Operation {
    Operation { name, slow: true, error_in_200: true, expects: Expects::Document(root) }
}

/// A request for a document.
pub(super) fn get<'a>(
    name: &'static str,
    root: &'static str,
    bucket: &'a str,
    key: Option<&'a str>,
) -> Request<'a> {
    Request::new(quick(name, Expects::Document(root)), Method::GET, bucket, key)
}

/// A request that sets something; S3 wants a digest of its body.
pub(super) fn put<'a>(name: &'static str, bucket: &'a str, key: Option<&'a str>) -> Request<'a> {
    let operation = quick(name, Expects::Nothing(&[200, 204]));
    Request { md5: true, ..Request::new(operation, Method::PUT, bucket, key) }
}

/// A request that removes something.
pub(super) fn delete<'a>(name: &'static str, bucket: &'a str, key: Option<&'a str>) -> Request<'a> {
    Request::new(quick(name, Expects::Nothing(&[200, 204])), Method::DELETE, bucket, key)
}

impl Conditions<'_> {
    pub(super) fn write(&self, into: &mut Headers) -> Result<()> {
        into.maybe(&http::header::IF_MATCH, self.if_match)?;
        if self.if_absent {
            into.fixed(&http::header::IF_NONE_MATCH, "*");
        }
        Ok(())
    }
}

impl CopySource<'_> {
    pub(super) fn write(&self, into: &mut Headers) -> Result<()> {
        into.text(&headers::COPY_SOURCE, &self.encoded())?;
        into.maybe(&headers::COPY_SOURCE_IF_MATCH, self.if_match)?;
        into.source_customer_key(self.customer_key)
    }

    /// `bucket/key?versionId=…`, or `arn…/object/key` for an access point.
    fn encoded(&self) -> String {
        let mut text = String::with_capacity(self.bucket.len() + self.key.len() + 64);
        text.push_str(self.bucket);
        text.push_str(if self.bucket.starts_with("arn:") { "/object/" } else { "/" });
        encode_path(self.key, &mut text);
        if let Some(version) = self.version_id {
            text.push_str("?versionId=");
            encode_path(version, &mut text);
        }
        text
    }
}

/// `bytes=0-9` for a half-open range.
pub(super) fn range_text(range: ByteRange) -> Result<String> {
    if range.is_empty() {
        let message = format!("the range {}..{} holds no byte", range.start, range.end);
        return Err(Error::new(ErrorKind::Config, message));
    }
    let mut text = String::with_capacity(48);
    let _ = write!(text, "bytes={}-{}", range.start, range.end - 1);
    Ok(text)
}

impl Client {
    /// Root of an answer's document, which the operation names.
    pub(super) fn document(&self, request: &Request<'_>, answer: &Answer) -> Result<Element> {
        let name = request.operation.document();
        Element::parse_as(&answer.body, name).map_err(|_| self.damaged(request, answer))
    }

    /// The error for a document that is not whole, or not what it should be inside.
    pub(super) fn damaged(&self, request: &Request<'_>, answer: &Answer) -> Error {
        let doubt = Doubt::Malformed(request.operation.document());
        request.blamed(self.disbelieve(request, answer, doubt))
    }

    /// Result of a write from the document of its answer, which must name the `ETag`.
    pub(super) fn written_document(
        &self,
        request: &Request<'_>,
        answer: &Answer,
    ) -> Result<Written> {
        let root = self.document(request, answer)?;
        Ok(Written {
            etag: root.filled("ETag").ok_or_else(|| self.damaged(request, answer))?,
            version_id: headers::text(&answer.headers, &headers::VERSION_ID),
            checksum: checksum_of(&root),
        })
    }

    /// Result of a write whose answer has no body.
    pub(super) fn written(&self, answer: Answer) -> Written {
        let found = Found::among(&answer.headers);
        let written = Written {
            etag: found.etag.map(headers::value_text).unwrap_or_default(),
            version_id: found.version_id.map(headers::value_text),
            checksum: read_checksums(&answer.headers).next(),
        };
        self.done(answer.headers);
        written
    }

    /// Holds the checksums in the answer to a write, where there is one of the algorithm, against
    /// the one that was sent.
    pub(super) fn check_stored(
        request: &Request<'_>,
        sent: Option<&Checksum>,
        answered: impl IntoIterator<Item = Checksum>,
    ) -> Result<()> {
        let Some(sent) = sent else { return Ok(()) };
        let is_other = |stored: &Checksum| {
            sent.algorithm == stored.algorithm
                && sent.is_composite() == stored.is_composite()
                && sent.value != stored.value
        };
        let Some(stored) = answered.into_iter().find(is_other) else { return Ok(()) };
        let message = format!(
            "the server stored different bytes from those sent: their {} is {} instead of {}",
            stored.algorithm.name(),
            stored.value,
            sent.value
        );
        Err(request.blamed(Error::new(ErrorKind::Integrity, message)))
    }

    /// Holds the answer to a write against the encryption that was asked for. Where it says
    /// nothing (MinIO does not, of copies) the object's own headers count.
    pub(super) async fn confirm(
        &self,
        request: &Request<'_>,
        protection: Protection<'_>,
        answer: &HeaderMap,
    ) -> Result<()> {
        if !protection.is_asked() || protection.is_confirmed(answer) {
            return Ok(());
        }
        let (Some(bucket), Some(key)) = (request.bucket, request.key) else { return Ok(()) };
        let version_id = headers::text(answer, &headers::VERSION_ID);
        let input = HeadObject {
            version_id: version_id.as_deref(),
            customer_key: protection.customer_key,
            ..HeadObject { bucket, key, ..HeadObject::default() }
        };
        let head = Box::pin(self.head_answer(input)).await;
        if head.as_ref().is_ok_and(|head| protection.is_confirmed(&head.headers)) {
            return Ok(());
        }
        let error = match head {
            Ok(_) => Error::new(
                ErrorKind::Server,
                format!(
                    "the server ignores the requested encryption ({protection}): \
                     s3://{bucket}/{key} was written, but not with this encryption"
                ),
            ),
            Err(cause) => {
                let message = format!(
                    "s3://{bucket}/{key} was written, but its encryption ({protection}) could not \
                     be confirmed"
                );
                Error::new(ErrorKind::Server, message).with_source(cause)
            }
        };
        Err(request.blamed(error))
    }

    /// Lets go of the headers of an answer.
    pub(super) fn done(&self, headers: HeaderMap) {
        self.inner.spare_maps.keep(headers);
    }
}

headers::find_headers! {
    /// What of the headers of a write's answer is read, beside checksums.
    Found {
        etag = "etag",
        version_id = "x-amz-version-id",
    }
}

/// Checksum elements of a part or an object.
pub(crate) fn checksum_of(element: &Element) -> Option<Checksum> {
    ChecksumAlgorithm::ALL.into_iter().find_map(|algorithm| {
        let value = element.filled(algorithm.element())?;
        Some(Checksum { algorithm, value })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_sources_are_encoded() {
        let source = CopySource {
            bucket: "b",
            key: "a b/ü+?.txt",
            version_id: Some("v/1="),
            ..CopySource::default()
        };
        assert_eq!(source.encoded(), "b/a%20b/%C3%BC%2B%3F.txt?versionId=v/1%3D");
        let bucket = "arn:aws:s3:eu-west-1:1:accesspoint/p";
        let source = CopySource { bucket, key: "k", ..CopySource::default() };
        assert_eq!(source.encoded(), "arn:aws:s3:eu-west-1:1:accesspoint/p/object/k");
    }

    #[test]
    fn ranges_are_inclusive_on_the_wire() {
        assert_eq!(range_text(ByteRange { start: 0, end: 1 }).unwrap(), "bytes=0-0");
        assert!(range_text(ByteRange { start: 3, end: 3 }).is_err());
    }
}
