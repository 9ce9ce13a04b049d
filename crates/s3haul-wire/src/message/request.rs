//! The seam between operations and the client: what is to be sent, what came back.

use std::borrow::Cow;
use std::fmt;

use http::{HeaderName, HeaderValue, Method};

use super::checksum::ChecksumAlgorithm;
use super::headers::Headers;
use super::payload::Payload;
use crate::error::Error;

/// What the answer to an operation must bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expects {
    /// The `ETag` of what was written, no body, and a mark of S3.
    ETag,
    /// An object: 200 or 206, with `ETag` or `Last-Modified`, and a mark of S3. HTML needs an
    /// `ETag`.
    Object,
    /// A document with this root.
    Document(&'static str),
    /// One of these statuses, no body, and a mark of S3.
    Nothing(&'static [u16]),
    /// Whatever comes: the caller wants to know what that is.
    Anything,
}

/// What the retry loop and the timeouts must know of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    /// Name as the API has it, such as `PutObject`; also used in error messages.
    pub(crate) name: &'static str,
    /// The server may rightly be silent for minutes before the first byte.
    pub(crate) slow: bool,
    /// A 200 answer may carry an `<Error>` body.
    pub(crate) error_in_200: bool,
    /// What its answer must bring.
    pub(crate) expects: Expects,
}

impl Operation {
    /// Whether it leaves something behind when it is not even tried.
    pub(crate) fn is_cleanup(&self) -> bool {
        self.name == "AbortMultipartUpload"
    }

    /// Whether the service copies an object by itself: that may take long, but few bytes go through
    /// the connection.
    pub(crate) fn is_copy(&self) -> bool {
        self.name == "CopyObject"
    }

    /// Root of the document that answers; empty where none does.
    pub(crate) fn document(&self) -> &'static str {
        match self.expects {
            Expects::Document(root) => root,
            _ => "",
        }
    }

    /// A number below 16, different for each of the usual operations thanks to the factor 43.
    pub(crate) fn kind(&self) -> u8 {
        let mix = |sum: u32, byte| sum.wrapping_mul(43).wrapping_add(u32::from(byte));
        (self.name.bytes().fold(0, mix) >> 28) as u8
    }

    /// Whether it gives a page of a listing.
    pub(crate) fn is_listing(&self) -> bool {
        self.name.starts_with("List")
    }
}

/// One request, addressed by bucket and key; the client adds endpoint, signature, digests,
/// content length, host, user agent and request payer, anew for each attempt.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) operation: Operation,
    pub(crate) method: Method,
    pub(crate) bucket: Option<&'a str>,
    pub(crate) key: Option<&'a str>,
    /// Keys that it is about, which is what services count: 1 but for `DeleteObjects`.
    pub(crate) keys: u32,
    /// Unencoded names and values in any order; an empty value gives `name=`.
    pub(crate) query: Vec<(&'static str, Cow<'a, str>)>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) payload: Payload,
    /// Checksum header to send for the payload (computed if the payload lacks it).
    pub(crate) checksum: Option<ChecksumAlgorithm>,
    /// Send `Content-MD5`.
    pub(crate) md5: bool,
    /// Region to sign for, where it must not be the one found for the bucket.
    pub(crate) region_override: Option<&'a str>,
}

impl<'a> Request<'a> {
    /// A request without query, headers and body.
    pub(crate) fn new(
        operation: Operation,
        method: Method,
        bucket: &'a str,
        key: Option<&'a str>,
    ) -> Self {
        Self {
            operation,
            method,
            bucket: Some(bucket),
            key,
            keys: 1,
            query: Vec::new(),
            headers: Vec::new(),
            payload: Payload::empty(),
            checksum: None,
            md5: false,
            region_override: None,
        }
    }

    /// Asks where a bucket is: the cheapest question that every service answers in a document, be
    /// it an error.
    pub(crate) fn location(bucket: &'a str) -> Self {
        let expects = Expects::Document("LocationConstraint");
        let (slow, error_in_200) = (false, false);
        let operation = Operation { name: "GetBucketLocation", slow, error_in_200, expects };
        Self::new(operation, Method::GET, bucket, None).query("location", "")
    }

    /// Adds to the query.
    pub(crate) fn query(mut self, name: &'static str, value: impl Into<Cow<'a, str>>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    /// Adds to the query what is there.
    pub(crate) fn maybe(self, name: &'static str, value: Option<&'a str>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Sets the headers.
    pub(crate) fn headers(mut self, headers: Headers) -> Self {
        self.headers = headers.0;
        self
    }

    /// Sets the body, with the checksum that goes with it.
    pub(crate) fn payload(mut self, payload: Payload, checksum: Option<ChecksumAlgorithm>) -> Self {
        self.payload = payload;
        self.checksum = checksum;
        self
    }

    /// An error of this request, with the operation and what it was about.
    pub(crate) fn blamed(&self, error: Error) -> Error {
        let error = error.with_operation(self.operation.name);
        match (self.bucket, self.key) {
            (Some(bucket), Some(key)) => error.with_subject(format_args!("s3://{bucket}/{key}")),
            (Some(bucket), None) => error.with_subject(format_args!("s3://{bucket}")),
            _ => error,
        }
    }
}

/// The operation and what it is about: `GetObject s3://bucket/key`.
impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation.name)?;
        match (self.bucket, self.key) {
            (Some(bucket), Some(key)) => write!(f, " s3://{bucket}/{key}"),
            (Some(bucket), None) => write!(f, " s3://{bucket}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::operation;

    #[test]
    fn usual_operations_differ_in_kind() {
        let kind = |name| operation(name).kind();
        let reads = ["GetObject", "HeadObject", "GetObjectTagging", "GetObjectAcl"].map(kind);
        let writes = [
            "PutObject",
            "UploadPart",
            "CopyObject",
            "UploadPartCopy",
            "DeleteObject",
            "DeleteObjects",
            "PutObjectTagging",
            "CreateMultipartUpload",
            "CompleteMultipartUpload",
            "RestoreObject",
        ]
        .map(kind);
        for kinds in [&reads[..], &writes[..]] {
            let mut told = kinds.to_vec();
            told.sort_unstable();
            told.dedup();
            assert_eq!(told.len(), kinds.len());
        }
    }
}
