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
    /// Whether it is about a subresource that this server does not have.
    pub(crate) lacks_subresource: bool,
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
    let rows: &[Row] = if key.is_empty() { &AT_BUCKET } else { &AT_OBJECT };
    let lacks_subresource = lacks_subresource(method, uri, rows);
    let operation = match bucket {
        "" if *method == Method::GET => "ListBuckets",
        "" => "Unknown",
        _ if lacks_subresource => "Unknown",
        _ => find_operation(method, uri, rows, copies),
    };
    let (bucket, key) = (bucket.to_owned(), key.to_owned());
    let mut target = Target { operation, lacks_subresource, bucket, key, ..Target::default() };
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

/// A subresource, a method, and the operation that they make. Without a subresource: the operation
/// on the bucket or object itself.
type Row = (&'static str, Method, &'static str);

/// What is served at a bucket.
const AT_BUCKET: [Row; 18] = [
    ("location", Method::GET, "GetBucketLocation"),
    ("versioning", Method::GET, "GetBucketVersioning"),
    ("versioning", Method::PUT, "PutBucketVersioning"),
    ("website", Method::GET, "GetBucketWebsite"),
    ("website", Method::PUT, "PutBucketWebsite"),
    ("website", Method::DELETE, "DeleteBucketWebsite"),
    ("uploads", Method::GET, "ListMultipartUploads"),
    ("versions", Method::GET, "ListObjectVersions"),
    ("tagging", Method::GET, "GetBucketTagging"),
    ("tagging", Method::PUT, "PutBucketTagging"),
    ("tagging", Method::DELETE, "DeleteBucketTagging"),
    ("object-lock", Method::GET, "GetObjectLockConfiguration"),
    ("object-lock", Method::PUT, "PutObjectLockConfiguration"),
    ("delete", Method::POST, "DeleteObjects"),
    ("", Method::HEAD, "HeadBucket"),
    ("", Method::GET, "ListObjects"),
    ("", Method::PUT, "CreateBucket"),
    ("", Method::DELETE, "DeleteBucket"),
];

/// What is served at an object.
const AT_OBJECT: [Row; 20] = [
    ("attributes", Method::GET, "GetObjectAttributes"),
    ("acl", Method::GET, "GetObjectAcl"),
    ("acl", Method::PUT, "PutObjectAcl"),
    ("tagging", Method::GET, "GetObjectTagging"),
    ("tagging", Method::PUT, "PutObjectTagging"),
    ("tagging", Method::DELETE, "DeleteObjectTagging"),
    ("retention", Method::GET, "GetObjectRetention"),
    ("retention", Method::PUT, "PutObjectRetention"),
    ("legal-hold", Method::GET, "GetObjectLegalHold"),
    ("legal-hold", Method::PUT, "PutObjectLegalHold"),
    ("uploads", Method::POST, "CreateMultipartUpload"),
    ("uploadId", Method::GET, "ListParts"),
    ("uploadId", Method::PUT, "UploadPart"),
    ("uploadId", Method::POST, "CompleteMultipartUpload"),
    ("uploadId", Method::DELETE, "AbortMultipartUpload"),
    ("restore", Method::POST, "RestoreObject"),
    ("", Method::HEAD, "HeadObject"),
    ("", Method::GET, "GetObject"),
    ("", Method::PUT, "PutObject"),
    ("", Method::DELETE, "DeleteObject"),
];

/// Subresources that S3 has and this server does not.
const NOT_SERVED: [&str; 23] = [
    "accelerate",
    "analytics",
    "cors",
    "encryption",
    "intelligent-tiering",
    "inventory",
    "lifecycle",
    "logging",
    "metadataConfiguration",
    "metadataTable",
    "metrics",
    "notification",
    "ownershipControls",
    "policy",
    "policyStatus",
    "publicAccessBlock",
    "renameObject",
    "replication",
    "requestPayment",
    "select",
    "session",
    "torrent",
    "writeGetObjectResponse",
];

fn names(uri: &Uri) -> impl Iterator<Item = &str> {
    let pairs = uri.query().unwrap_or_default().split('&');
    pairs.filter_map(|pair| pair.split('=').next()).filter(|name| !name.is_empty())
}

/// Whether a request names a subresource that is not served with this method, or not there.
fn lacks_subresource(method: &Method, uri: &Uri, rows: &[Row]) -> bool {
    let is_known = |name| AT_BUCKET.iter().chain(&AT_OBJECT).any(|(known, ..)| *known == name);
    let is_served = |name| rows.iter().any(|(known, by, _)| *known == name && by == method);
    let lacks = |name| NOT_SERVED.contains(&name) || (is_known(name) && !is_served(name));
    *method != Method::HEAD && names(uri).any(lacks)
}

fn find_operation(method: &Method, uri: &Uri, rows: &[Row], copies: bool) -> &'static str {
    let is_asked = |name: &str| name.is_empty() || names(uri).any(|asked| asked == name);
    let found = rows.iter().find(|(name, by, _)| by == method && is_asked(name));
    match found.map(|(_, _, operation)| *operation) {
        Some("ListObjects") if names(uri).any(|name| name == "list-type") => "ListObjectsV2",
        Some("PutObject") if copies => "CopyObject",
        Some("UploadPart") if copies => "UploadPartCopy",
        Some(operation) => operation,
        None => "Unknown",
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
