//! AWS Signature Version 4 as pure functions of a request and a time.
//!
//! A [`Signer`] holds what stays the same for many requests: the day's key, the scope and the
//! date strings of the current second. One signature then costs one SHA-256 of the canonical
//! request and one HMAC. Signed are `host`, `content-md5`, `content-type`, `date`, `range` and
//! all of `x-amz-*`: what proxies on the way add or change must not be.
//!
//! Source: <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html>.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::{digest, hmac};
use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderName};
use http::{HeaderMap, HeaderValue, Method};
use memchr::memchr2;

static X_AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");
static X_AMZ_CONTENT_SHA256: HeaderName = HeaderName::from_static("x-amz-content-sha256");
static X_AMZ_SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");

const UNSIGNED: &str = "UNSIGNED-PAYLOAD";
const UNSIGNED_TRAILER: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
const HEX: &[u8; 16] = b"0123456789abcdef";
const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// Credentials that sign. `Debug` never shows them.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: String,
    pub(crate) session_token: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(******)")
    }
}

/// The hash of the body that is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayloadHash {
    /// SHA-256 of the body.
    Sha256([u8; 32]),
    /// `UNSIGNED-PAYLOAD`, over TLS.
    Unsigned,
    /// The same with a checksum behind the body.
    UnsignedTrailer,
}

/// Signs requests with one set of credentials for one region; caches the day's key.
pub(crate) struct Signer {
    credentials: Credentials,
    region: String,
    token: Option<HeaderValue>,
    stamp: Mutex<Option<Stamp>>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").field("region", &self.region).finish_non_exhaustive()
    }
}

/// What all signatures of one second share.
#[derive(Clone)]
struct Stamp {
    second: u64,
    /// `20130524T000000Z`.
    time: HeaderValue,
    day: Arc<Day>,
}

impl Stamp {
    fn time(&self) -> &[u8] {
        self.time.as_bytes()
    }
}

/// What all signatures of one day share.
struct Day {
    key: hmac::Key,
    /// `20130524/us-east-1/s3/aws4_request`.
    scope: String,
    /// `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=`.
    authorization_start: String,
}

impl Signer {
    pub(crate) fn new(credentials: Credentials, region: String) -> Self {
        // A token that no header can carry is refused by the server as a missing one would be.
        let token = credentials.session_token.as_deref().map(|token| {
            let mut value =
                HeaderValue::from_str(token).unwrap_or_else(|_| HeaderValue::from_static(""));
            value.set_sensitive(true);
            value
        });
        Self { credentials, region, token, stamp: Mutex::new(None) }
    }

    /// Adds `x-amz-date`, `x-amz-content-sha256`, `x-amz-security-token` and `authorization`.
    /// `host` must be among the headers. `path` and `query` are already in canonical encoding,
    /// `query` sorted.
    pub(crate) fn sign(
        &self,
        method: &Method,
        path: &str,
        query: &str,
        headers: &mut HeaderMap,
        payload: PayloadHash,
        now: SystemTime,
    ) {
        debug_assert!(headers.contains_key(http::header::HOST), "a signature covers the host");
        let stamp = self.stamp(now);
        headers.insert(X_AMZ_DATE.clone(), stamp.time.clone());
        let digits;
        let hash = match payload {
            PayloadHash::Sha256(hash) => {
                digits = hex(&hash);
                &digits[..]
            }
            PayloadHash::Unsigned => UNSIGNED.as_bytes(),
            PayloadHash::UnsignedTrailer => UNSIGNED_TRAILER.as_bytes(),
        };
        let value = HeaderValue::from_bytes(hash).expect("digits and letters");
        headers.insert(X_AMZ_CONTENT_SHA256.clone(), value);
        if let Some(token) = &self.token {
            headers.insert(X_AMZ_SECURITY_TOKEN.clone(), token.clone());
        }
        let mut canonical = Vec::with_capacity(768 + path.len() + query.len());
        let signed =
            canonical_request(&mut canonical, [method.as_str(), path, query], headers, hash);
        let signature = stamp.signature(&mut canonical);
        let names = &canonical[signed];
        let start = stamp.day.authorization_start.as_bytes();
        let mut value = Vec::with_capacity(start.len() + names.len() + 12 + 64);
        value.extend_from_slice(start);
        value.extend_from_slice(names);
        value.extend_from_slice(b", Signature=");
        value.extend_from_slice(&hex(signature.as_ref()));
        let mut value = HeaderValue::from_maybe_shared(Bytes::from(value))
            .unwrap_or_else(|_| HeaderValue::from_static(""));
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }

    /// Query string that presigns a request. `host` must be among the headers; those that a
    /// signature covers have to be sent along with the request.
    pub(crate) fn presign(
        &self,
        method: &Method,
        path: &str,
        query: &[(&str, &str)],
        headers: &HeaderMap,
        expires_in: Duration,
        now: SystemTime,
    ) -> String {
        let stamp = self.stamp(now);
        let credential = format!("{}/{}", self.credentials.access_key_id, stamp.day.scope);
        let expires = expires_in.as_secs().to_string();
        let mut names: Vec<&str> =
            headers.keys().map(HeaderName::as_str).filter(|name| is_signed(name)).collect();
        names.sort_unstable();
        let names = names.join(";");
        let mut all = query.to_vec();
        all.extend([
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", credential.as_str()),
            ("X-Amz-Date", stamp.time.to_str().unwrap_or_default()),
            ("X-Amz-Expires", expires.as_str()),
            ("X-Amz-SignedHeaders", names.as_str()),
        ]);
        if let Some(token) = &self.credentials.session_token {
            all.push(("X-Amz-Security-Token", token.as_str()));
        }
        let mut encoded = encode_query(&all);
        let mut canonical = Vec::new();
        let start = [method.as_str(), path, &encoded];
        canonical_request(&mut canonical, start, headers, UNSIGNED.as_bytes());
        let signature = stamp.signature(&mut canonical);
        encoded.push_str("&X-Amz-Signature=");
        encoded.extend(hex(signature.as_ref()).into_iter().map(char::from));
        encoded
    }

    fn stamp(&self, now: SystemTime) -> Stamp {
        let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut cached = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stamp) = cached.as_ref()
            && stamp.second == second
        {
            return stamp.clone();
        }
        let time = time_text(second);
        let date = time.split('T').next().unwrap_or_default();
        let day = match cached.as_ref() {
            Some(stamp) if stamp.day.scope.starts_with(date) => Arc::clone(&stamp.day),
            _ => Arc::new(self.day(date)),
        };
        let time = HeaderValue::from_str(&time).expect("digits and letters");
        let stamp = Stamp { second, time, day };
        *cached = Some(stamp.clone());
        stamp
    }

    fn day(&self, date: &str) -> Day {
        let secret = format!("AWS4{}", self.credentials.secret_access_key);
        let mut key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        for step in [date, &self.region, "s3", "aws4_request"] {
            let tag = hmac::sign(&key, step.as_bytes());
            key = hmac::Key::new(hmac::HMAC_SHA256, tag.as_ref());
        }
        let scope = format!("{date}/{}/s3/aws4_request", self.region);
        let id = &self.credentials.access_key_id;
        let authorization_start =
            format!("AWS4-HMAC-SHA256 Credential={id}/{scope}, SignedHeaders=");
        Day { key, scope, authorization_start }
    }
}

impl Stamp {
    /// Signs a canonical request; what is signed of it is written behind it.
    fn signature(&self, canonical: &mut Vec<u8>) -> hmac::Tag {
        let hash = digest::digest(&digest::SHA256, canonical);
        let begin = canonical.len();
        canonical.extend_from_slice(b"AWS4-HMAC-SHA256\n");
        canonical.extend_from_slice(self.time());
        canonical.push(b'\n');
        canonical.extend_from_slice(self.day.scope.as_bytes());
        canonical.push(b'\n');
        canonical.extend_from_slice(&hex(hash.as_ref()));
        hmac::sign(&self.day.key, &canonical[begin..])
    }
}

/// Writes the canonical request; gives where in it the list of signed headers stands.
fn canonical_request(
    into: &mut Vec<u8>,
    start: [&str; 3],
    headers: &HeaderMap,
    hash: &[u8],
) -> std::ops::Range<usize> {
    for line in start {
        into.extend_from_slice(line.as_bytes());
        into.push(b'\n');
    }
    let mut signed: Vec<(&str, &HeaderValue)> = Vec::with_capacity(headers.len());
    signed.extend(
        headers
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .filter(|(name, _)| is_signed(name)),
    );
    // Stable, so that the values of one name keep their order.
    signed.sort_by_key(|(name, _)| *name);
    let mut last = "";
    for (name, value) in &signed {
        if *name == last {
            into.pop();
            into.push(b',');
        } else {
            into.extend_from_slice(name.as_bytes());
            into.push(b':');
        }
        push_trimmed(into, value.as_bytes());
        into.push(b'\n');
        last = name;
    }
    into.push(b'\n');
    let begin = into.len();
    signed.dedup_by_key(|(name, _)| *name);
    for (index, (name, _)) in signed.iter().enumerate() {
        if index > 0 {
            into.push(b';');
        }
        into.extend_from_slice(name.as_bytes());
    }
    let end = into.len();
    into.push(b'\n');
    into.extend_from_slice(hash);
    begin..end
}

fn is_signed(name: &str) -> bool {
    name.starts_with("x-amz-")
        || matches!(name, "host" | "content-md5" | "content-type" | "date" | "range")
}

/// Appends a header value without outer blanks and with inner runs of blanks as one.
fn push_trimmed(into: &mut Vec<u8>, value: &[u8]) {
    if memchr2(b' ', b'\t', value).is_none() {
        return into.extend_from_slice(value);
    }
    let mut words =
        value.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
    if let Some(word) = words.next() {
        into.extend_from_slice(word);
    }
    for word in words {
        into.push(b' ');
        into.extend_from_slice(word);
    }
}

/// A hash of 32 bytes in hexadecimal digits.
fn hex(hash: &[u8]) -> [u8; 64] {
    debug_assert_eq!(hash.len(), 32);
    let mut digits = [0; 64];
    // By index: an iterator over pairs costs a request 5,000 instructions without LTO.
    for (index, byte) in hash.iter().take(32).enumerate() {
        digits[2 * index] = HEX[usize::from(byte >> 4)];
        digits[2 * index + 1] = HEX[usize::from(byte & 15)];
    }
    digits
}

/// `20130524T000000Z` for seconds since 1970.
fn time_text(second: u64) -> String {
    let second = i64::try_from(second).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::MAX);
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Percent-encodes a key for a path: all but unreserved characters and `/`.
pub(crate) fn encode_path(key: &str, into: &mut String) {
    encode(key, into, true);
}

/// Percent-encodes and sorts a query.
pub(crate) fn encode_query(query: &[(&str, &str)]) -> String {
    let mut pairs: Vec<(String, String)> = query
        .iter()
        .map(|(name, value)| {
            let mut encoded =
                (String::with_capacity(name.len()), String::with_capacity(value.len()));
            encode(name, &mut encoded.0, false);
            encode(value, &mut encoded.1, false);
            encoded
        })
        .collect();
    pairs.sort();
    let length = pairs.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    let mut text = String::with_capacity(length);
    for (name, value) in pairs {
        if !text.is_empty() {
            text.push('&');
        }
        text.push_str(&name);
        text.push('=');
        text.push_str(&value);
    }
    text
}

/// Encodes a value as it stands in a query.
pub(crate) fn encode_query_value(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    encode(value, &mut encoded, false);
    encoded
}

fn encode(text: &str, into: &mut String, keep_slash: bool) {
    into.reserve(text.len());
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'.' | b'_' | b'~')
            || (keep_slash && byte == b'/')
    };
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !plain(byte)) {
        into.push_str(&rest[..at]);
        let character = rest[at..].chars().next().expect("a byte was found there");
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            into.push('%');
            into.push(char::from(HEX_UPPER[usize::from(byte >> 4)]));
            into.push(char::from(HEX_UPPER[usize::from(byte & 15)]));
        }
        rest = &rest[at + character.len_utf8()..];
    }
    into.push_str(rest);
}

#[cfg(test)]
mod tests;
