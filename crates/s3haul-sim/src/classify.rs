//! What a request asks for, from its first line and headers alone.
//!
//! The ledger, the weather and the gate need the operation's name before `s3s` has looked at the
//! request, and for requests that `s3s` never sees.

use std::borrow::Cow;

use http::{HeaderMap, Method, Uri};
use percent_encoding::percent_decode_str;

/// Name, bucket, key and listing position of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// S3's name of the operation; `Unknown` where there is none.
    pub(crate) operation: &'static str,
    /// Bucket, or empty.
    pub(crate) bucket: String,
    /// Key, or empty.
    pub(crate) key: String,
    /// A listing's `prefix`.
    pub(crate) prefix: String,
    /// A listing's `start-after`, `continuation-token`, `marker` or `key-marker`.
    pub(crate) position: String,
    /// Number of a part, or where a range ends (which stays, where an interrupted answer is
    /// continued).
    pub(crate) part: String,
}

/// The pairs of a query, decoded.
pub(crate) fn query_pairs(uri: &Uri) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    })
}

fn decode(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        let spaced = text.replace('+', " ");
        return Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned());
    }
    percent_decode_str(text).decode_utf8_lossy()
}

/// Reads a request's target.
pub(crate) fn classify(method: &Method, uri: &Uri, headers: &HeaderMap) -> Target {
    let path = percent_decode_str(uri.path()).decode_utf8_lossy();
    let path = path.strip_prefix('/').unwrap_or(&path);
    let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
    let copies = headers.contains_key("x-amz-copy-source");
    let operation = if bucket.is_empty() {
        if *method == Method::GET { "ListBuckets" } else { "Unknown" }
    } else if key.is_empty() {
        bucket_operation(method, uri)
    } else {
        object_operation(method, uri, copies)
    };
    let mut target =
        Target { operation, bucket: bucket.to_owned(), key: key.to_owned(), ..Target::default() };
    if operation.starts_with("List") {
        read_position(uri, &mut target);
    } else {
        target.part = part(uri, headers).unwrap_or_default();
    }
    target
}

fn part(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    if let Some(range) = headers.get(http::header::RANGE) {
        return range.to_str().ok()?.split_once('-').map(|(_, end)| end.to_owned());
    }
    uri.query()?;
    query_pairs(uri).find(|(name, _)| name == "partNumber").map(|(_, value)| value.into_owned())
}

fn read_position(uri: &Uri, target: &mut Target) {
    for (name, value) in query_pairs(uri) {
        match &*name {
            "prefix" => target.prefix = value.into_owned(),
            "start-after" if target.position.is_empty() => target.position = value.into_owned(),
            "continuation-token" | "marker" | "key-marker" | "part-number-marker" => {
                target.position = value.into_owned();
            }
            _ => {}
        }
    }
}

/// Whether a query has a name.
pub(crate) fn has(uri: &Uri, wanted: &str) -> bool {
    let query = uri.query().unwrap_or_default();
    query.split('&').any(|pair| pair.split('=').next() == Some(wanted))
}

fn first(uri: &Uri, names: &[(&str, &'static str)], otherwise: &'static str) -> &'static str {
    if uri.query().is_none() {
        return otherwise;
    }
    names.iter().find(|(name, _)| has(uri, name)).map_or(otherwise, |(_, operation)| operation)
}

fn bucket_operation(method: &Method, uri: &Uri) -> &'static str {
    match *method {
        Method::HEAD => "HeadBucket",
        Method::GET => first(
            uri,
            &[
                ("location", "GetBucketLocation"),
                ("versioning", "GetBucketVersioning"),
                ("website", "GetBucketWebsite"),
                ("uploads", "ListMultipartUploads"),
                ("versions", "ListObjectVersions"),
                ("list-type", "ListObjectsV2"),
                ("acl", "GetBucketAcl"),
                ("policy", "GetBucketPolicy"),
                ("tagging", "GetBucketTagging"),
                ("cors", "GetBucketCors"),
                ("lifecycle", "GetBucketLifecycleConfiguration"),
                ("encryption", "GetBucketEncryption"),
                ("object-lock", "GetObjectLockConfiguration"),
            ],
            "ListObjects",
        ),
        Method::PUT => first(
            uri,
            &[
                ("versioning", "PutBucketVersioning"),
                ("website", "PutBucketWebsite"),
                ("acl", "PutBucketAcl"),
                ("policy", "PutBucketPolicy"),
                ("tagging", "PutBucketTagging"),
                ("cors", "PutBucketCors"),
                ("lifecycle", "PutBucketLifecycleConfiguration"),
                ("encryption", "PutBucketEncryption"),
                ("object-lock", "PutObjectLockConfiguration"),
            ],
            "CreateBucket",
        ),
        Method::POST => first(uri, &[("delete", "DeleteObjects")], "Unknown"),
        Method::DELETE => first(
            uri,
            &[
                ("website", "DeleteBucketWebsite"),
                ("policy", "DeleteBucketPolicy"),
                ("tagging", "DeleteBucketTagging"),
            ],
            "DeleteBucket",
        ),
        _ => "Unknown",
    }
}

fn object_operation(method: &Method, uri: &Uri, copies: bool) -> &'static str {
    match *method {
        Method::HEAD => "HeadObject",
        Method::GET => first(
            uri,
            &[
                ("attributes", "GetObjectAttributes"),
                ("acl", "GetObjectAcl"),
                ("tagging", "GetObjectTagging"),
                ("retention", "GetObjectRetention"),
                ("legal-hold", "GetObjectLegalHold"),
                ("uploadId", "ListParts"),
            ],
            "GetObject",
        ),
        Method::PUT => {
            let part = if copies { "UploadPartCopy" } else { "UploadPart" };
            let whole = if copies { "CopyObject" } else { "PutObject" };
            let names = [
                ("acl", "PutObjectAcl"),
                ("tagging", "PutObjectTagging"),
                ("retention", "PutObjectRetention"),
                ("legal-hold", "PutObjectLegalHold"),
                ("uploadId", part),
            ];
            first(uri, &names, whole)
        }
        Method::POST => first(
            uri,
            &[
                ("uploads", "CreateMultipartUpload"),
                ("uploadId", "CompleteMultipartUpload"),
                ("restore", "RestoreObject"),
            ],
            "Unknown",
        ),
        Method::DELETE => first(
            uri,
            &[("tagging", "DeleteObjectTagging"), ("uploadId", "AbortMultipartUpload")],
            "DeleteObject",
        ),
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(method: &str, uri: &str) -> (Target, &'static str) {
        let method = method.parse().unwrap();
        let target = classify(&method, &uri.parse().unwrap(), &HeaderMap::new());
        let operation = target.operation;
        (target, operation)
    }

    #[test]
    fn operations_are_distinguished() {
        assert_eq!(name("GET", "/").1, "ListBuckets");
        assert_eq!(name("GET", "/b?list-type=2&prefix=a").1, "ListObjectsV2");
        assert_eq!(name("GET", "/b/?prefix=versions").1, "ListObjects");
        assert_eq!(name("PUT", "/b/k?partNumber=1&uploadId=x").1, "UploadPart");
        assert_eq!(name("POST", "/b?delete=").1, "DeleteObjects");
        assert_eq!(name("POST", "/b/k?uploads").1, "CreateMultipartUpload");
        assert_eq!(name("DELETE", "/b/k?uploadId=x").1, "AbortMultipartUpload");
    }

    #[test]
    fn parts_are_distinguished_and_a_range_keeps_its_end() {
        assert_eq!(name("PUT", "/b/k?partNumber=7&uploadId=x").0.part, "7");
        let part = |range: &'static str| {
            let headers = HeaderMap::from_iter([(
                http::header::RANGE,
                http::HeaderValue::from_static(range),
            )]);
            classify(&Method::GET, &Uri::from_static("/b/k"), &headers).part
        };
        assert_eq!(
            (part("bytes=5-9"), part("bytes=7-9"), part("bytes=7-")),
            ("9".to_owned(), "9".to_owned(), String::new())
        );
    }

    #[test]
    fn keys_and_positions_are_decoded() {
        let (target, _) = name("GET", "/b?list-type=2&prefix=a%2Fb&start-after=a%2Fb+c%2B");
        assert_eq!((target.prefix.as_str(), target.position.as_str()), ("a/b", "a/b c+"));
        assert_eq!(name("GET", "/b//x%2F%0A").0.key, "/x/\n");
    }
}
