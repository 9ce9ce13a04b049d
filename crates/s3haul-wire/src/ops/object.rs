//! Reading, writing and copying single objects.

use http::{HeaderMap, Method, StatusCode, header};

use super::build::{quick, range_text, slow};
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::message::answer::Answer;
use crate::message::checksum::{Checksum, ChecksumAlgorithm, ChecksumMode};
use crate::message::headers::{self, Headers};
use crate::message::payload::{DigestPlan, Payload};
use crate::message::properties::{CustomerKey, ObjectHead, ObjectProperties, read_checksums};
use crate::message::request::{Expects, Request};
use crate::net::body::BodyStream;
use crate::units::{ByteRange, hex};

const MD5_OF_NOTHING: &str = "d41d8cd98f00b204e9800998ecf8427e";

/// Conditions on the object that is read or replaced.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions<'a> {
    /// `If-Match`: only this `ETag`.
    pub if_match: Option<&'a str>,
    /// `If-None-Match: *`: only where there is no object yet.
    pub if_absent: bool,
}

impl Conditions<'_> {
    /// Whether there are any.
    fn are_any(&self) -> bool {
        self.if_absent || self.if_match.is_some()
    }
}

/// Input of `HeadObject`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadObject<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Version.
    pub version_id: Option<&'a str>,
    /// SSE-C key of the object.
    pub customer_key: Option<&'a CustomerKey>,
    /// Ask for stored checksums (`x-amz-checksum-mode: ENABLED`).
    pub checksums: bool,
}

/// Input of `GetObject`.
#[derive(Clone, Copy, Debug, Default)]
pub struct GetObject<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Version.
    pub version_id: Option<&'a str>,
    /// Bytes; all where absent.
    pub range: Option<ByteRange>,
    /// Conditions.
    pub conditions: Conditions<'a>,
    /// `ETag` that a listing or an earlier answer gave, where that is no condition. An answer that
    /// has it needs no other proof that it is S3's.
    pub known_etag: Option<&'a str>,
    /// SSE-C key of the object.
    pub customer_key: Option<&'a CustomerKey>,
    /// Ask for stored checksums, and validate a whole body against them.
    pub checksums: bool,
}

/// Input of `PutObject`.
#[derive(Clone, Debug)]
pub struct PutObject<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Bytes, best with digests as [`Client::upload_digests`] plans them.
    pub payload: Payload,
    /// What the object carries.
    pub properties: &'a ObjectProperties,
    /// Checksum algorithm asked for by name.
    pub checksum: Option<ChecksumAlgorithm>,
    /// Conditions on what is replaced.
    pub conditions: Conditions<'a>,
}

/// Object to copy from.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopySource<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Version.
    pub version_id: Option<&'a str>,
    /// `x-amz-copy-source-if-match`.
    pub if_match: Option<&'a str>,
    /// SSE-C key of the source.
    pub customer_key: Option<&'a CustomerKey>,
}

/// Input of `CopyObject`.
#[derive(Clone, Copy, Debug)]
pub struct CopyObject<'a> {
    /// Target bucket.
    pub bucket: &'a str,
    /// Target key.
    pub key: &'a str,
    /// Source.
    pub source: CopySource<'a>,
    /// Properties of the target; content headers and metadata count only with
    /// `replace_metadata`.
    pub properties: &'a ObjectProperties,
    /// `x-amz-metadata-directive`: `Some(true)` REPLACE, `Some(false)` COPY, `None` not sent.
    pub replace_metadata: Option<bool>,
    /// `x-amz-tagging-directive`: likewise.
    pub replace_tagging: Option<bool>,
    /// Checksum algorithm that the server shall compute.
    pub checksum: Option<ChecksumAlgorithm>,
    /// Conditions on what is replaced.
    pub conditions: Conditions<'a>,
}

/// Result of a successful write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// `ETag` with its quotes.
    pub etag: String,
    /// Version id in a versioned bucket.
    pub version_id: Option<String>,
    /// Checksum, if the server returned one.
    pub checksum: Option<Checksum>,
}

/// A GET's answer.
#[derive(Debug)]
pub struct ObjectBody {
    /// Headers.
    pub head: ObjectHead,
    /// Range that the body covers.
    pub range: ByteRange,
    /// Bytes.
    pub body: BodyStream,
}

impl Client {
    /// Headers of an object.
    pub async fn head_object(&self, input: HeadObject<'_>) -> Result<ObjectHead> {
        self.head(input, None).await
    }

    /// Headers of one part of an object, counted from 1: the size is that of the part. A server
    /// that ignores the number returns the size of the object, and no number of parts.
    pub async fn head_part(&self, input: HeadObject<'_>, number: u32) -> Result<ObjectHead> {
        self.head(input, Some(&number.to_string())).await
    }

    /// The headers of an object as they are, also where its size is not among them.
    pub(super) async fn head_answer(&self, input: HeadObject<'_>) -> Result<Answer> {
        self.call(&head_request(input, None)?).await
    }

    async fn head(&self, input: HeadObject<'_>, part: Option<&str>) -> Result<ObjectHead> {
        let request = head_request(input, part)?;
        let answer = self.call(&request).await?;
        let size = size_of(&answer.headers).ok_or_else(|| unknown_size(&request))?;
        let head = ObjectHead::read(&answer.headers, size);
        self.done(answer.headers);
        Ok(head)
    }

    /// Bytes of an object or a range of it. Retries happen up to the first byte of the body; what
    /// fails later the caller resumes with a range. The answer covers what was asked for, cut off
    /// at the end of the object; a server that answers with other bytes is an error.
    pub async fn get_object(&self, input: GetObject<'_>) -> Result<ObjectBody> {
        let when_supported = self.config().response_checksums == ChecksumMode::WhenSupported;
        let mut headers = Headers::with_capacity(8);
        if input.checksums || when_supported {
            headers.fixed(&headers::CHECKSUM_MODE, "ENABLED");
        }
        if let Some(range) = input.range {
            headers.text(&header::RANGE, &range_text(range)?)?;
        }
        input.conditions.write(&mut headers)?;
        headers.customer_key(input.customer_key)?;
        let request = Request::new(
            quick("GetObject", Expects::Object),
            Method::GET,
            input.bucket,
            Some(input.key),
        )
        .maybe("versionId", input.version_id)
        .headers(headers);
        let known_etag = input.conditions.if_match.or(input.known_etag);
        let answer = self.open(&request, known_etag).await?;
        let covered = covered(answer.status, &answer.headers, input.range)
            .map_err(|error| request.blamed(error))?;
        let head = ObjectHead::read(&answer.headers, covered.size);
        self.done(answer.headers);
        let mut body = answer.body;
        if let (StatusCode::OK, true) = (answer.status, head.checksum_is_full_object)
            && let Some(checksum) = head.checksums.first()
        {
            body.validate(checksum.clone());
        }
        Ok(ObjectBody { head, range: covered.range, body })
    }

    /// Writes an object.
    ///
    /// With [`Conditions`], an attempt whose answer was lost may have written the
    /// object, and the next one is refused because of it. That refusal is a success if the object
    /// that is there has the checksum or `ETag` of these bytes.
    pub async fn put_object(&self, input: PutObject<'_>) -> Result<Written> {
        let checksum = self.upload_digests(input.checksum).checksum;
        let mut headers = Headers::with_capacity(8);
        if let Some(algorithm) = checksum {
            headers.fixed(&headers::SDK_CHECKSUM_ALGORITHM, algorithm.name());
        }
        input.properties.write(&mut headers)?;
        input.conditions.write(&mut headers)?;
        let request = Request::new(
            quick("PutObject", Expects::ETag),
            Method::PUT,
            input.bucket,
            Some(input.key),
        )
        .headers(headers)
        .payload(input.payload, checksum);
        let protection = input.properties.protection();
        match self.call(&request).await {
            Ok(answer) => {
                let sent = request.payload.digests().checksum.as_ref();
                Self::check_stored(&request, sent, read_checksums(&answer.headers))?;
                self.confirm(&request, protection, &answer.headers).await?;
                Ok(self.written(answer))
            }
            Err(error) if input.conditions.are_any() && error.is_retried_refusal() => {
                let mut payload = request.payload.clone();
                let plan = DigestPlan { md5: true, checksum, ..DigestPlan::default() };
                payload.digest(plan);
                let expected = Expected {
                    etag: payload.digests().md5.map(|md5| quoted_hex(&md5)),
                    checksum: payload.digests().checksum.clone(),
                    size: Some(payload.len()),
                };
                let key = input.properties.customer_key.as_ref();
                let written = self.written_before(input.bucket, input.key, key, &expected);
                let written = Box::pin(written).await.ok_or(error)?;
                // The answer that would have confirmed it was lost.
                Box::pin(self.confirm(&request, protection, &HeaderMap::new())).await?;
                Ok(written)
            }
            Err(error) => Err(error),
        }
    }

    /// Copies an object of at most 5 GB on the server. An error in a 200 answer is an error.
    pub async fn copy_object(&self, input: CopyObject<'_>) -> Result<Written> {
        let mut headers = Headers::with_capacity(16);
        input.source.write(&mut headers)?;
        input.properties.write(&mut headers)?;
        input.conditions.write(&mut headers)?;
        if let Some(replace) = input.replace_metadata {
            headers.fixed(&headers::METADATA_DIRECTIVE, directive(replace));
        }
        if let Some(replace) = input.replace_tagging {
            headers.fixed(&headers::TAGGING_DIRECTIVE, directive(replace));
        }
        if let Some(algorithm) = input.checksum {
            headers.fixed(&headers::CHECKSUM_ALGORITHM, algorithm.name());
        }
        let request = Request::new(
            slow("CopyObject", "CopyObjectResult"),
            Method::PUT,
            input.bucket,
            Some(input.key),
        )
        .headers(headers);
        let answer = self.call(&request).await?;
        let written = self.written_document(&request, &answer)?;
        self.confirm(&request, input.properties.protection(), &answer.headers).await?;
        self.done(answer.headers);
        Ok(written)
    }

    /// Looks whether the object that an attempt without answer should have written is there.
    pub(super) async fn written_before(
        &self,
        bucket: &str,
        key: &str,
        customer_key: Option<&CustomerKey>,
        expected: &Expected,
    ) -> Option<Written> {
        let input = HeadObject { bucket, key, version_id: None, customer_key, checksums: true };
        let head = self.head_object(input).await.ok()?;
        expected.is(&head).then(|| Written {
            etag: head.etag,
            version_id: head.version_id,
            checksum: head.checksums.into_iter().next(),
        })
    }
}

fn head_request<'a>(input: HeadObject<'a>, part: Option<&'a str>) -> Result<Request<'a>> {
    let operation = quick("HeadObject", Expects::Object);
    let mut headers = Headers::with_capacity(4);
    if input.checksums {
        headers.fixed(&headers::CHECKSUM_MODE, "ENABLED");
    }
    headers.customer_key(input.customer_key)?;
    Ok(Request::new(operation, Method::HEAD, input.bucket, Some(input.key))
        .maybe("partNumber", part)
        .maybe("versionId", input.version_id)
        .headers(headers))
}

/// The size that the answer to a HEAD says. Some services send no length of an empty object (Ceph,
/// <https://github.com/thephpleague/flysystem/issues/1910>), whose `ETag` shows that it is empty.
fn size_of(headers: &HeaderMap) -> Option<u64> {
    let etag = || headers::text(headers, &header::ETAG);
    headers::number(headers, &header::CONTENT_LENGTH)
        .or_else(|| (etag()?.trim_matches('"') == MD5_OF_NOTHING).then_some(0))
}

/// HTTP allows a HEAD without a length, and what compresses answers on their way leaves it out. A
/// guess could make an object shorter than it is.
fn unknown_size(request: &Request<'_>) -> Error {
    let message = format!(
        "the answer to {request} has no Content-Length, so its size is unknown: the server, or a \
         proxy before it, does not answer as S3 does"
    );
    request.blamed(Error::new(ErrorKind::NotS3, message))
}

/// What is known of an object that was to be written.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    pub(super) etag: Option<String>,
    pub(super) checksum: Option<Checksum>,
    pub(super) size: Option<u64>,
}

impl Expected {
    /// Whether an object is the expected one for sure: its checksum or `ETag` is, and its size.
    fn is(&self, head: &ObjectHead) -> bool {
        let same_etag = self.etag.as_ref().is_some_and(|etag| *etag == head.etag);
        let same_checksum =
            self.checksum.as_ref().is_some_and(|checksum| head.checksums.contains(checksum));
        self.size.is_none_or(|size| size == head.size) && (same_etag || same_checksum)
    }
}

/// Bytes as a quoted hexadecimal number, which is how an `ETag` shows an MD5.
pub(super) fn quoted_hex(bytes: &[u8]) -> String {
    format!("\"{}\"", hex(bytes))
}

fn directive(replace: bool) -> &'static str {
    if replace { "REPLACE" } else { "COPY" }
}

/// Bytes of the object that an answer carries, and the size of the whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Covered {
    pub(super) range: ByteRange,
    pub(super) size: u64,
}

pub(super) fn covered(
    status: StatusCode,
    headers: &HeaderMap,
    asked: Option<ByteRange>,
) -> Result<Covered> {
    let shown = headers.get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let shown = shown.unwrap_or("an unknown number of bytes");
    let length: Option<u64> = headers::number(headers, &header::CONTENT_LENGTH);
    if status == StatusCode::PARTIAL_CONTENT {
        let Some(covered) = content_range(shown) else { return Err(other_bytes(asked, shown)) };
        let asked_range = asked.unwrap_or(ByteRange { start: 0, end: covered.size });
        let end = asked_range.end.min(covered.size);
        let sent = match length.filter(|length| *length != covered.range.len()) {
            _ if covered.range != (ByteRange { start: asked_range.start, end }) => shown.to_owned(),
            Some(length) => format!("{length} bytes as {shown}"),
            None => return Ok(covered),
        };
        return Err(other_bytes(asked, &sent));
    }
    let Some(size) = length else { return Err(other_bytes(asked, shown)) };
    // Servers may answer with the whole object to a range that covers it.
    match asked {
        Some(asked) if asked.start > 0 || asked.end < size => {
            Err(other_bytes(Some(asked), "the whole object"))
        }
        _ => Ok(Covered { range: ByteRange { start: 0, end: size }, size }),
    }
}

/// Reads `bytes 0-9/100`.
fn content_range(text: &str) -> Option<Covered> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let range =
        ByteRange { start: first.parse().ok()?, end: last.parse::<u64>().ok()?.checked_add(1)? };
    let size = size.parse().ok()?;
    (!range.is_empty() && range.end <= size).then_some(Covered { range, size })
}

fn other_bytes(asked: Option<ByteRange>, sent: &str) -> Error {
    let message = match asked {
        Some(ByteRange { start, end }) => {
            format!("expected bytes {start}-{}, but the server sent {sent}", end - 1)
        }
        None => format!("expected the whole object, but the server sent {sent}"),
    };
    Error::new(ErrorKind::Integrity, message)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn answer(
        status: u16,
        range: Option<&'static str>,
        length: u64,
        asked: Option<(u64, u64)>,
    ) -> Result<Covered> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        if let Some(range) = range {
            headers.insert(header::CONTENT_RANGE, HeaderValue::from_static(range));
        }
        let asked = asked.map(|(start, end)| ByteRange { start, end });
        covered(StatusCode::from_u16(status).unwrap(), &headers, asked)
    }

    #[test]
    fn answers_must_cover_what_was_asked() {
        let covered = |start, end, size| Covered { range: ByteRange { start, end }, size };
        assert_eq!(answer(200, None, 7, None).unwrap(), covered(0, 7, 7));
        assert_eq!(answer(206, Some("bytes 2-4/9"), 3, Some((2, 5))).unwrap(), covered(2, 5, 9));
        // Cut off at the end of the object.
        assert_eq!(answer(206, Some("bytes 2-8/9"), 7, Some((2, 50))).unwrap(), covered(2, 9, 9));
        // The range was ignored, which does no harm where it covers everything.
        assert_eq!(answer(200, None, 9, Some((0, 9))).unwrap(), covered(0, 9, 9));
        for (status, range, length, asked) in [
            (206, Some("bytes 2-3/9"), 2, (2, 5)),
            (206, Some("bytes 1-3/9"), 3, (2, 5)),
            (206, Some("bytes 2-4/9"), 2, (2, 5)),
            (206, Some("bytes 2-4/*"), 3, (2, 5)),
            (206, Some("bytes 4-2/9"), 3, (2, 5)),
            (206, Some("bytes 2-18446744073709551615/9"), 3, (2, 5)),
            (206, None, 3, (2, 5)),
            (200, None, 9, (2, 5)),
            (200, None, 9, (0, 5)),
        ] {
            let error = answer(status, range, length, Some(asked)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Integrity, "{status} {range:?}");
        }
        let error = answer(206, Some("bytes 2-4/9"), 2, Some((2, 5))).unwrap_err();
        let short = "expected bytes 2-4, but the server sent 2 bytes as bytes 2-4/9";
        assert_eq!(error.to_string(), short);
    }

    #[test]
    fn a_part_or_an_unknown_length_is_no_whole_object() {
        assert_eq!(answer(206, Some("bytes 0-8/9"), 9, None).unwrap().size, 9);
        let error = answer(206, Some("bytes 0-3/9"), 4, None).unwrap_err();
        assert!(
            error.to_string().ends_with("the whole object, but the server sent bytes 0-3/9"),
            "{error}"
        );
        assert!(covered(StatusCode::OK, &HeaderMap::new(), None).is_err());
    }

    #[test]
    fn an_object_is_the_expected_one_only_for_sure() {
        let head = ObjectHead { size: 3, etag: quoted_hex(&[0xab; 16]), ..ObjectHead::default() };
        let expected = Expected { etag: Some(head.etag.clone()), checksum: None, size: Some(3) };
        assert!(expected.is(&head));
        assert!(!Expected { size: Some(4), ..expected.clone() }.is(&head));
        assert!(!Expected { etag: None, ..expected }.is(&head));
    }
}
