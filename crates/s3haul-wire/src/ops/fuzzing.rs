//! What must hold for any answer to an operation: its document and its headers.

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, StatusCode};

use super::acl::Acl;
use super::object::covered;
use super::{bucket, delete, multipart, tagging};
use crate::message::properties::ObjectHead;
use crate::ops::build::checksum_of;
use crate::send::failure::Failure;
use crate::sign::redact::Secrets;
use crate::units::ByteRange;
use crate::xml::document::Element;

/// Any document given to the reader of every operation: an error or an answer that holds no more
/// than the document does.
///
/// # Panics
///
/// Where a reader panics or makes more of it.
pub fn answers(data: &[u8]) {
    let Ok(root) = Element::parse(data) else { return };
    let mut buckets = Vec::new();
    if bucket::read_buckets(&root, &mut buckets).is_ok() {
        assert!(buckets.iter().map(|bucket| bucket.name.len()).sum::<usize>() <= data.len());
    }
    if let Ok(page) = multipart::read_parts(&root) {
        assert!(page.parts.iter().map(|part| part.etag.len()).sum::<usize>() <= data.len());
        let _ = multipart::multipart_etag(&page.parts);
    }
    if let Ok(page) = multipart::read_uploads(&root) {
        assert!(page.uploads.iter().map(|upload| upload.key.len()).sum::<usize>() <= data.len());
    }
    let refused: Vec<_> =
        root.all("Error").map(|entry| delete::read_refused(entry, &Secrets::default())).collect();
    assert!(refused.iter().map(|entry| entry.message.len()).sum::<usize>() <= data.len());
    let acl = Acl::read(&root);
    let grants = acl.as_grants();
    assert!(grants.iter().map(|grant| grant.grantees.len()).sum::<usize>() <= data.len() * 4);
    for name in ["private", "public-read", "public-read-write", "authenticated-read"] {
        let _ = acl.is_canned(name);
    }
    let _ = (tagging::read_tags(&root), checksum_of(&root));
}

/// Lines: status and asked range, then headers. What an answer is said to cover is what was asked
/// for, and lies in the object.
///
/// # Panics
///
/// Where it does not.
pub fn headers(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let mut numbers = first.split([' ', '-']).map(|text| text.parse::<u64>().ok());
    let status = numbers.next().flatten().and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or_default();
    let asked = match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(start), Some(end)) if start < end => Some(ByteRange { start, end }),
        _ => None,
    };
    let mut headers = HeaderMap::new();
    for line in lines.take(200) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&line[colon + 1..])) {
            headers.append(name, value);
        }
    }
    if let Ok(covered) = covered(status, &headers, asked) {
        assert!(!covered.range.is_empty() || covered.size == 0);
        assert!(covered.range.end <= covered.size);
        assert!(asked.is_none_or(|asked| asked.start == covered.range.start || asked.start == 0));
    }
    let head = ObjectHead::read(&headers, 7);
    let mut again = crate::message::headers::Headers::default();
    // Written again where headers can carry it.
    let _ = head.properties.write(&mut again);
    let failure = Failure::answered("GetObject", status, &headers, data);
    let _ = failure.error.to_string();
}
