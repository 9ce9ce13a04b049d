//! Multipart uploads and copies.

use std::fmt::Write as _;

use bytes::Bytes;
use http::{HeaderMap, Method, header};
use md5::{Digest as _, Md5};

use super::build::{delete, get, quick, range_text, slow};
use super::object::{Conditions, CopySource, Expected, HeadObject, Written, quoted_hex};
use crate::client::Client;
use crate::error::{Effort, Error, ErrorKind, Result};
use crate::message::answer::Answer;
use crate::message::checksum::{Checksum, ChecksumAlgorithm};
use crate::message::headers::{self, Headers};
use crate::message::payload::Payload;
use crate::message::properties::{
    CustomerKey, Encryption, FULL_OBJECT, ObjectProperties, Protection, read_checksums,
};
use crate::message::request::{Expects, Request};
use crate::message::streamed::Streamed;
use crate::ops::build::checksum_of;
use crate::quirks;
use crate::units::ByteRange;
use crate::xml::document::{Element, Writer, malformed, parse_time};
use crate::xml::list_reader::Decoder;

/// Input of `CreateMultipartUpload`.
#[derive(Clone, Copy, Debug)]
pub struct CreateMultipart<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// What the object will carry.
    pub properties: &'a ObjectProperties,
    /// Checksum algorithm of the parts, as [`Client::upload_digests`] plans it; CRCs are asked for
    /// as full-object checksums. `None` is none, as for parts that are copied: not every server
    /// computes checksums of those.
    pub checksum: Option<ChecksumAlgorithm>,
}

/// Input of `UploadPart`.
#[derive(Clone, Debug)]
pub struct UploadPart<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Upload id.
    pub upload_id: &'a str,
    /// 1 to 10,000.
    pub part_number: u32,
    /// Bytes of the part.
    pub payload: Payload,
    /// Checksum algorithm of the upload; it must be the one that the upload was begun with.
    pub checksum: Option<ChecksumAlgorithm>,
    /// Encryption that the upload was begun with, which the answer must confirm.
    pub encryption: Option<&'a Encryption>,
    /// SSE-C key of the upload.
    pub customer_key: Option<&'a CustomerKey>,
}

/// Input of `UploadPartCopy`.
#[derive(Clone, Copy, Debug)]
pub struct UploadPartCopy<'a> {
    /// Bucket of the upload.
    pub bucket: &'a str,
    /// Key of the upload.
    pub key: &'a str,
    /// Upload id.
    pub upload_id: &'a str,
    /// 1 to 10,000.
    pub part_number: u32,
    /// Object to copy from.
    pub source: CopySource<'a>,
    /// Bytes of the source.
    pub range: ByteRange,
    /// SSE-C key of the upload.
    pub customer_key: Option<&'a CustomerKey>,
}

/// A part that is there, for `CompleteMultipartUpload`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedPart {
    /// 1 to 10,000.
    pub part_number: u32,
    /// `ETag` with its quotes.
    pub etag: String,
    /// Checksum of the part, if one was sent or returned.
    pub checksum: Option<Checksum>,
    /// Size in bytes (returned by `ListParts`; 0 if unknown).
    pub size: u64,
}

/// Input of `CompleteMultipartUpload`.
#[derive(Clone, Copy, Debug)]
pub struct CompleteMultipart<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Upload id.
    pub upload_id: &'a str,
    /// All parts in ascending order.
    pub parts: &'a [CompletedPart],
    /// Checksum of the whole object, to be verified by the server.
    pub full_object_checksum: Option<&'a Checksum>,
    /// Size of the whole object (`x-amz-mp-object-size`), verified by the server.
    pub object_size: Option<u64>,
    /// Conditions on the target.
    pub conditions: Conditions<'a>,
    /// SSE-C key of the upload.
    pub customer_key: Option<&'a CustomerKey>,
    /// Encryption that the upload was begun with.
    pub encryption: Option<&'a Encryption>,
    /// Whether the answers to the parts showed that the server encrypts as it was asked.
    pub is_encrypted: bool,
}

/// Input of `ListParts`.
#[derive(Clone, Copy, Debug)]
pub struct ListParts<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Upload id.
    pub upload_id: &'a str,
    /// Parts after this number.
    pub part_number_marker: Option<u32>,
}

/// A page of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartPage {
    /// Parts in ascending order.
    pub parts: Vec<CompletedPart>,
    /// Marker for the next page.
    pub next_marker: Option<u32>,
}

/// An upload that was begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultipartUpload {
    /// Key.
    pub key: String,
    /// Upload id.
    pub upload_id: String,
    /// Begin in seconds since 1970.
    pub initiated_s: i64,
}

/// A page of uploads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadPage {
    /// Uploads.
    pub uploads: Vec<MultipartUpload>,
    /// Markers (key, upload id) for the next page.
    pub next_markers: Option<(String, String)>,
}

/// An upload that was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BegunUpload {
    /// Upload id.
    pub id: String,
    /// Requests before that were not answered: each may have begun an upload whose id is unknown.
    pub unanswered: u32,
}

impl Client {
    /// Begins a multipart upload; gives its id.
    pub async fn create_multipart(&self, input: CreateMultipart<'_>) -> Result<String> {
        Ok(self.begin_multipart(input).await?.id)
    }

    /// The same, with whether there may be others. Where it fails [`Error::effort`] says that.
    pub async fn begin_multipart(&self, input: CreateMultipart<'_>) -> Result<BegunUpload> {
        let mut headers = Headers::with_capacity(16);
        if let Some(algorithm) = input.checksum {
            headers.fixed(&headers::CHECKSUM_ALGORITHM, algorithm.name());
            if algorithm.is_combinable() {
                headers.fixed(&headers::CHECKSUM_TYPE, FULL_OBJECT);
            }
        }
        input.properties.write(&mut headers)?;
        let operation =
            quick("CreateMultipartUpload", Expects::Document("InitiateMultipartUploadResult"));
        let request = Request::new(operation, Method::POST, input.bucket, Some(input.key))
            .query("uploads", "")
            .headers(headers);
        let answer = self.call(&request).await?;
        let Answer { attempts, unanswered, .. } = answer;
        let id = self.document(&request, &answer).and_then(|root| {
            root.filled("UploadId").ok_or_else(|| self.damaged(&request, &answer))
        });
        // An upload was begun, whose id is lost.
        let effort = Effort { attempts, unanswered: unanswered + 1, ..Effort::default() };
        let id = id.map_err(|error| error.with_effort(effort))?;
        Ok(BegunUpload { id, unanswered })
    }

    /// Uploads one part. One that is read while it is sent ([`Payload::streamed`]) is sent again
    /// from memory where the service does not take a checksum behind a body: it refuses it, or its
    /// answer does not repeat the checksum, so that it may have stored the encoding with the bytes.
    pub async fn upload_part(&self, input: UploadPart<'_>) -> Result<CompletedPart> {
        match input.payload.as_streamed().cloned() {
            None => self.send_part(input).await,
            // Boxed: all others would have room for the second request.
            Some(streamed) => Box::pin(self.send_streamed(input, streamed)).await,
        }
    }

    async fn send_streamed(
        &self,
        input: UploadPart<'_>,
        streamed: Streamed,
    ) -> Result<CompletedPart> {
        let takes_trailers = &self.inner.takes_trailers;
        if takes_trailers.get() == Some(&false) {
            return self.send_from_memory(input).await;
        }
        match self.send_part(input.clone()).await {
            Ok(part) if part.checksum.is_some() && part.checksum == streamed.checksum() => {
                let _ = takes_trailers.set(true);
                return Ok(part);
            }
            Err(error) if takes_trailers.get() == Some(&true) || !may_mean_trailer(&error) => {
                return Err(error);
            }
            Ok(_) | Err(_) => {}
        }
        let part = self.send_from_memory(input).await?;
        if takes_trailers.set(false).is_ok() {
            tracing::debug!("the service takes no checksum behind a body");
        }
        Ok(part)
    }

    async fn send_from_memory(&self, input: UploadPart<'_>) -> Result<CompletedPart> {
        let payload = input.payload.clone().in_memory().await?;
        // Ours, where the service has none: it may not have looked.
        let checksum = payload.digests().checksum.clone();
        let part = self.send_part(UploadPart { payload, ..input }).await?;
        Ok(CompletedPart { checksum, ..part })
    }

    async fn send_part(&self, input: UploadPart<'_>) -> Result<CompletedPart> {
        let checksum = input.checksum;
        let mut headers = Headers::with_capacity(4);
        if let Some(algorithm) = checksum {
            headers.fixed(&headers::SDK_CHECKSUM_ALGORITHM, algorithm.name());
        }
        headers.customer_key(input.customer_key)?;
        let size = input.payload.len();
        let sent = input.payload.digests().checksum.clone();
        let request = Request::new(
            quick("UploadPart", Expects::ETag),
            Method::PUT,
            input.bucket,
            Some(input.key),
        )
        .query("partNumber", input.part_number.to_string())
        .query("uploadId", input.upload_id)
        .headers(headers)
        .payload(input.payload, checksum);
        let answer = self.call(&request).await?;
        let UploadPart { encryption, customer_key, .. } = input;
        let protection = Protection { encryption, customer_key };
        if protection.is_asked() && !protection.is_confirmed(&answer.headers) {
            let message = format!(
                "the server ignores the requested encryption ({protection}): the upload \
                 was not completed"
            );
            return Err(request.blamed(Error::new(ErrorKind::Server, message)));
        }
        let sent = sent.filter(|sent| Some(sent.algorithm) == checksum);
        Self::check_stored(&request, sent.as_ref(), read_checksums(&answer.headers))?;
        let told = self.written(answer);
        let checksum = told.checksum.or(sent);
        Ok(CompletedPart { part_number: input.part_number, etag: told.etag, checksum, size })
    }

    /// Copies a range of an object as one part.
    pub async fn upload_part_copy(&self, input: UploadPartCopy<'_>) -> Result<CompletedPart> {
        let mut headers = Headers::with_capacity(8);
        input.source.write(&mut headers)?;
        headers.text(&headers::COPY_SOURCE_RANGE, &range_text(input.range)?)?;
        headers.customer_key(input.customer_key)?;
        let operation = slow("UploadPartCopy", "CopyPartResult");
        let request = Request::new(operation, Method::PUT, input.bucket, Some(input.key))
            .query("partNumber", input.part_number.to_string())
            .query("uploadId", input.upload_id)
            .headers(headers);
        let answer = self.call(&request).await?;
        let Written { etag, checksum, .. } = self.written_document(&request, &answer)?;
        Ok(CompletedPart {
            part_number: input.part_number,
            etag,
            checksum,
            size: input.range.len(),
        })
    }

    /// Makes the object of its parts. May take minutes; an error in a 200 answer is an error. A
    /// retry that finds the upload gone checks whether the object is there.
    pub async fn complete_multipart(&self, input: CompleteMultipart<'_>) -> Result<Written> {
        let mut headers = Headers::with_capacity(8);
        if let Some(checksum) = input.full_object_checksum {
            headers.text(checksum.algorithm.header(), &checksum.value)?;
            let kind = if checksum.is_composite() { "COMPOSITE" } else { FULL_OBJECT };
            headers.fixed(&headers::CHECKSUM_TYPE, kind);
        }
        if let Some(size) = input.object_size {
            headers.text(&headers::MP_OBJECT_SIZE, &size.to_string())?;
        }
        input.conditions.write(&mut headers)?;
        headers.customer_key(input.customer_key)?;
        let operation = slow("CompleteMultipartUpload", "CompleteMultipartUploadResult");
        let request = Request::new(operation, Method::POST, input.bucket, Some(input.key))
            .query("uploadId", input.upload_id)
            .headers(headers)
            .payload(Payload::from_bytes(complete_body(input.parts)), None);
        let CompleteMultipart { encryption, customer_key, .. } = input;
        let protection = Protection { encryption, customer_key };
        match self.call(&request).await {
            Ok(answer) => {
                let written = self.written_document(&request, &answer)?;
                if self.document(&request, &answer)?.text_of("ChecksumType") == FULL_OBJECT {
                    let stored = written.checksum.clone();
                    Self::check_stored(&request, input.full_object_checksum, stored)?;
                }
                if answer.attempts > 1 {
                    self.prove(&input, &written).await?;
                }
                if !input.is_encrypted {
                    self.confirm(&request, protection, &answer.headers).await?;
                }
                Ok(written)
            }
            Err(error) if is_completed_before(&error) => {
                let expected = Expected {
                    etag: multipart_etag(input.parts),
                    checksum: input.full_object_checksum.cloned(),
                    size: input.object_size,
                };
                let (bucket, key) = (input.bucket, input.key);
                let written = self.written_before(bucket, key, input.customer_key, &expected).await;
                let written = written.ok_or(error)?;
                if !input.is_encrypted {
                    self.confirm(&request, protection, &HeaderMap::new()).await?;
                }
                Ok(written)
            }
            Err(error) => Err(error),
        }
    }

    /// Looks whether an upload that was to be completed more than once made its object. A server
    /// that was stopped while it did so may take the traces for a completion that it has done
    /// (versitygw 1.8.0 does), and a move would then remove the only copy.
    async fn prove(&self, input: &CompleteMultipart<'_>, written: &Written) -> Result<()> {
        let CompleteMultipart { bucket, key, customer_key, .. } = *input;
        let head = HeadObject { bucket, key, version_id: None, customer_key, checksums: false };
        let etag =
            |answer: Answer| headers::text(&answer.headers, &header::ETAG).unwrap_or_default();
        match self.head_answer(head).await.map(etag) {
            // Ceph's documents hold it without its quotes.
            Ok(etag) if etag.trim_matches('"') == written.etag.trim_matches('"') => Ok(()),
            // The permission to write does not imply the permission to read.
            Err(error) if error.kind() == ErrorKind::AccessDenied => Ok(()),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => {
                let message = format!(
                    "the server says that `s3://{bucket}/{key}` is complete, but does not have it"
                );
                Err(Error::new(ErrorKind::Server, message))
            }
        }
    }

    /// Drops a multipart upload and its parts; succeeds also where it is gone.
    pub async fn abort_multipart(&self, bucket: &str, key: &str, upload_id: &str) -> Result<()> {
        let request =
            delete("AbortMultipartUpload", bucket, Some(key)).query("uploadId", upload_id);
        match self.call(&request).await {
            Err(error) if error.code() == "NoSuchUpload" => Ok(()),
            answer => answer.map(drop),
        }
    }

    /// One page of the parts of an upload.
    pub async fn list_parts(&self, input: ListParts<'_>) -> Result<PartPage> {
        let mut request = get("ListParts", "ListPartsResult", input.bucket, Some(input.key))
            .query("uploadId", input.upload_id);
        if let Some(marker) = input.part_number_marker {
            request = request.query("part-number-marker", marker.to_string());
        }
        let answer = self.call(&request).await?;
        let root = self.document(&request, &answer)?;
        read_parts(&root).map_err(|_| self.damaged(&request, &answer))
    }

    /// One page of the open uploads of a bucket.
    pub async fn list_multipart_uploads(
        &self,
        bucket: &str,
        prefix: &str,
        markers: Option<(&str, &str)>,
    ) -> Result<UploadPage> {
        let (mut page, by_key) = self.uploads_page(bucket, prefix, markers).await?;
        if by_key && !prefix.is_empty() && markers.is_none() {
            page.add_below(prefix, self.uploads_page(bucket, "", None).await?.0);
        }
        page.uploads.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(page)
    }

    /// One page as it is answered, and whether a prefix is taken for a whole key.
    async fn uploads_page(
        &self,
        bucket: &str,
        prefix: &str,
        markers: Option<(&str, &str)>,
    ) -> Result<(UploadPage, bool)> {
        let mut request = get("ListMultipartUploads", "ListMultipartUploadsResult", bucket, None)
            .query("uploads", "")
            .query("encoding-type", "url")
            .maybe("key-marker", markers.map(|(key, _)| key))
            .maybe("upload-id-marker", markers.map(|(_, upload_id)| upload_id));
        if !prefix.is_empty() {
            request = request.query("prefix", prefix);
        }
        let answer = self.call(&request).await?;
        let root = self.document(&request, &answer)?;
        let page = read_uploads(&root).map_err(|_| self.damaged(&request, &answer))?;
        Ok((page, quirks::lists_uploads_by_key(&answer.headers)))
    }
}

impl UploadPage {
    /// Adds the uploads of longer keys than the one whose uploads these are.
    fn add_below(&mut self, key: &str, all: Self) {
        let is_below = |upload: &MultipartUpload| upload.key.starts_with(key) && upload.key != key;
        self.uploads.extend(all.uploads.into_iter().filter(is_below));
    }
}

/// Whether a service that knows no checksums behind a body may refuse one so.
fn may_mean_trailer(error: &Error) -> bool {
    let status = error.service_error().map_or(0, |service| service.status);
    // The file was slow.
    let is_late = error.code() == "RequestTimeout";
    !is_late && matches!(status, 400 | 403 | 405 | 411 | 415 | 500 | 501)
}

/// Whether a retry found the upload gone, or the object there, so that an attempt without answer
/// may have completed it.
fn is_completed_before(error: &Error) -> bool {
    let gone = error.code() == "NoSuchUpload" && error.effort().attempts > 1;
    gone || error.is_retried_refusal()
}

/// `ETag` that S3 gives to an object of these parts: the MD5 of their MD5s. `None` where the
/// parts' `ETag`s are none (SSE-KMS, SSE-C).
pub(super) fn multipart_etag(parts: &[CompletedPart]) -> Option<String> {
    let mut md5 = Md5::new();
    for part in parts {
        md5.update(md5_of_etag(&part.etag)?);
    }
    let mut etag = quoted_hex(&md5.finalize());
    etag.pop();
    let _ = write!(etag, "-{}\"", parts.len());
    Some(etag)
}

fn md5_of_etag(etag: &str) -> Option<[u8; 16]> {
    let digits = etag.trim_matches('"').as_bytes();
    let mut md5 = [0; 16];
    if digits.len() != 32 {
        return None;
    }
    for (byte, pair) in md5.iter_mut().zip(digits.chunks(2)) {
        let digit = |index: usize| char::from(pair[index]).to_digit(16);
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(md5)
}

fn complete_body(parts: &[CompletedPart]) -> Bytes {
    const ROOT: &str = "CompleteMultipartUpload";
    let mut writer = Writer::new(ROOT, parts.len() * 192);
    let mut number = String::new();
    for part in parts {
        number.clear();
        let _ = write!(number, "{}", part.part_number);
        writer.open("Part");
        writer.text("ETag", &part.etag);
        if let Some(checksum) = &part.checksum {
            writer.text(checksum.algorithm.element(), &checksum.value);
        }
        writer.text("PartNumber", &number);
        writer.close("Part");
    }
    writer.finish(ROOT)
}

pub(super) fn read_parts(root: &Element) -> Result<PartPage> {
    let part = |part: &Element| {
        Ok(CompletedPart {
            part_number: part.text_of("PartNumber").parse().map_err(|_| malformed())?,
            etag: part.text_of("ETag").to_owned(),
            checksum: checksum_of(part),
            size: part.text_of("Size").parse().map_err(|_| malformed())?,
        })
    };
    let parts = root.all("Part").map(part).collect::<Result<_>>()?;
    let next_marker = match root.text_of("IsTruncated") {
        "true" => Some(root.text_of("NextPartNumberMarker").parse().map_err(|_| malformed())?),
        _ => None,
    };
    Ok(PartPage { parts, next_marker })
}

pub(super) fn read_uploads(root: &Element) -> Result<UploadPage> {
    let decode = Decoder::of(root);
    let upload = |upload: &Element| {
        Ok(MultipartUpload {
            key: decode.text(upload.child("Key").ok_or_else(malformed)?)?,
            upload_id: upload.filled("UploadId").ok_or_else(malformed)?,
            initiated_s: parse_time(upload.text_of("Initiated").as_bytes())
                .ok_or_else(malformed)?,
        })
    };
    let uploads = root.all("Upload").map(upload).collect::<Result<_>>()?;
    let next_markers = match root.text_of("IsTruncated") {
        "true" => Some((
            decode.filled(root, "NextKeyMarker")?.ok_or_else(malformed)?,
            root.text_of("NextUploadIdMarker").to_owned(),
        )),
        _ => None,
    };
    Ok(UploadPage { uploads, next_markers })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(part_number: u32, etag: &str) -> CompletedPart {
        let checksum =
            Some(Checksum { algorithm: ChecksumAlgorithm::Crc32c, value: "AAAAAA==".to_owned() });
        CompletedPart { part_number, etag: etag.to_owned(), checksum, size: 0 }
    }

    #[test]
    fn the_body_names_parts_etags_and_checksums() {
        let body = complete_body(&[part(1, "\"a\""), part(12, "b")]);
        assert_eq!(
            body,
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
             <Part><ETag>&quot;a&quot;</ETag><ChecksumCRC32C>AAAAAA==</ChecksumCRC32C>\
             <PartNumber>1</PartNumber></Part>\
             <Part><ETag>b</ETag><ChecksumCRC32C>AAAAAA==</ChecksumCRC32C>\
             <PartNumber>12</PartNumber></Part></CompleteMultipartUpload>"
        );
    }

    #[test]
    fn the_etag_of_parts_is_the_md5_of_md5s() {
        // Two parts without bytes: md5(md5("") md5("")).
        let empty = "\"d41d8cd98f00b204e9800998ecf8427e\"";
        let etag = multipart_etag(&[part(1, empty), part(2, empty)]).unwrap();
        assert_eq!(etag, "\"5873dd45edd01f09c1ef2e7819369e8e-2\"");
        assert_eq!(multipart_etag(&[part(1, "\"not an md5\"")]), None);
    }

    #[test]
    fn reads_parts_and_uploads() {
        let parts = b"<ListPartsResult><IsTruncated>true</IsTruncated>\
            <NextPartNumberMarker>2</NextPartNumberMarker><Part><PartNumber>2</PartNumber>\
            <ETag>&quot;e&quot;</ETag><Size>7</Size><ChecksumSHA1>x=</ChecksumSHA1></Part>\
            </ListPartsResult>";
        let page = read_parts(&Element::parse(parts).unwrap()).unwrap();
        assert_eq!((page.next_marker, page.parts[0].size), (Some(2), 7));
        assert_eq!(page.parts[0].checksum.as_ref().unwrap().algorithm, ChecksumAlgorithm::Sha1);
        let uploads = b"<ListMultipartUploadsResult><EncodingType>url</EncodingType>\
            <Upload><Key>a+b%2F</Key><UploadId>u</UploadId>\
            <Initiated>1970-01-01T00:00:09.000Z</Initiated></Upload></ListMultipartUploadsResult>";
        let page = read_uploads(&Element::parse(uploads).unwrap()).unwrap();
        assert_eq!(page.next_markers, None);
        assert_eq!((page.uploads[0].key.as_str(), page.uploads[0].initiated_s), ("a b/", 9));
    }
}
