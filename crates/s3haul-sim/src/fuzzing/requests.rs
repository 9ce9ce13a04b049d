//! What is read of a request before and beside `s3s`.

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Method, Uri};

use crate::classify::{classify, query_pairs};
use crate::config::{AccessKey, DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY};
use crate::gate::{self, KeyRing, Surroundings};
use crate::request_limits;
use crate::service::fuzzing::{read_headers, read_listing};
use crate::xml::url_encode;

/// Longest that an address may be; `http` takes no longer ones.
const URI_MAX: usize = 60_000;

/// Lines: method and address, then headers. Each reader gives an answer or a refusal.
///
/// # Panics
///
/// Where one does.
pub fn requests(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let (method, address) = first.split_once(' ').unwrap_or(("GET", &first));
    let method = Method::from_bytes(method.as_bytes()).unwrap_or_default();
    let headers = headers_of(lines);
    check_header_readers(&headers);
    if address.len() > URI_MAX {
        return;
    }
    let Ok(uri) = address.parse::<Uri>() else { return };
    let target = classify(&method, &uri, &headers);
    assert!(!target.bucket.contains('/') && !target.operation.is_empty());
    let _ = request_limits::check(&method, &uri, &headers, &target);
    let keys = KeyRing::new(&[AccessKey::new(DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY)]);
    for now_ms in [0, 1_700_000_000_000, i64::MAX / 2] {
        let around =
            Surroundings { now_ms, server_region: "us-east-1", bucket_region: Some("eu-west-1") };
        if let Err(refusal) = gate::check(&headers, &uri, &target, &keys, &around) {
            assert!((300..600).contains(&refusal.status));
        }
    }
    let _ = gate::signer(&headers);
    let bytes: usize = query_pairs(&uri).map(|(name, value)| name.len() + value.len()).sum();
    // A byte that is not UTF-8 becomes a character of three.
    assert!(bytes <= 3 * address.len());
    read_listing(&uri);
    let mut encoded = String::new();
    url_encode(&mut encoded, &target.key);
    assert!(encoded.is_ascii() && encoded.len() <= 3 * target.key.len());
}

fn headers_of<'a>(lines: impl Iterator<Item = &'a [u8]>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines.take(100) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        if let (Ok(name), Ok(value)) =
            (name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()))
        {
            headers.append(name, value);
        }
    }
    headers
}

fn check_header_readers(headers: &HeaderMap) {
    for value in headers.values() {
        let Ok(text) = value.to_str() else { continue };
        read_headers(text);
    }
}
