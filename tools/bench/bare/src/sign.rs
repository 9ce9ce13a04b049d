//! `SigV4` by hand: what a signature must cost, and no more.
//!
//! The time is that of the start, so a run may not last longer than the 15 minutes that S3 allows.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use aws_lc_rs::{digest, hmac};
use http::header::{AUTHORIZATION, HOST, HeaderName, HeaderValue};
use http::{Method, Request};

use crate::body::Body;
use crate::options::Options;

const CONTENT: HeaderName = HeaderName::from_static("x-amz-content-sha256");
const DATE: HeaderName = HeaderName::from_static("x-amz-date");
/// The header value of a body that is not signed.
pub(crate) const UNSIGNED: &str = "UNSIGNED-PAYLOAD";
/// SHA-256 of nothing.
pub(crate) const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Signs requests to one host.
pub(crate) struct Signer {
    host: String,
    key: hmac::Key,
    date: String,
    scope: String,
    /// `AWS4-HMAC-SHA256 Credential=…,SignedHeaders=`
    credential: String,
    host_value: HeaderValue,
    date_value: HeaderValue,
}

/// The headers that are signed.
const SIGNED: &str = "host;x-amz-content-sha256;x-amz-date";

/// What differs from request to request. `query` is in the canonical form.
pub(crate) struct Parts<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    /// SHA-256 of the body in hex, or [`UNSIGNED`].
    pub(crate) payload: String,
}

impl Signer {
    pub(crate) fn new(options: &Options, host: String) -> Result<Self> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        let (day, date) = stamps(since);
        let scope = format!("{day}/{}/s3/aws4_request", options.region);
        Ok(Self {
            key: signing_key(&options.secret_access_key, &day, &options.region),
            credential: format!(
                "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders=",
                options.access_key_id
            ),
            host_value: HeaderValue::try_from(&host)?,
            date_value: HeaderValue::try_from(&date)?,
            host,
            date,
            scope,
        })
    }

    /// A signed request.
    pub(crate) fn request(&self, parts: Parts<'_>, body: Body) -> Result<Request<Body>> {
        let authorization = self.authorization(&parts);
        let uri = if parts.query.is_empty() {
            parts.path.to_owned()
        } else {
            format!("{}?{}", parts.path, parts.query)
        };
        let mut request = Request::new(body);
        *request.method_mut() = parts.method;
        *request.uri_mut() = http::Uri::try_from(uri)?;
        let headers = request.headers_mut();
        headers.insert(HOST, self.host_value.clone());
        headers.insert(DATE, self.date_value.clone());
        headers.insert(CONTENT, HeaderValue::try_from(parts.payload)?);
        headers.insert(AUTHORIZATION, HeaderValue::try_from(authorization)?);
        Ok(request)
    }

    fn authorization(&self, parts: &Parts<'_>) -> String {
        let Parts { method, path, query, payload } = parts;
        let mut canonical = String::with_capacity(512);
        let _ = write!(canonical, "{method}\n{path}\n{query}\nhost:{}\n", self.host);
        let _ = writeln!(canonical, "x-amz-content-sha256:{payload}");
        let _ = write!(canonical, "x-amz-date:{}\n\n", self.date);
        let _ = write!(canonical, "{SIGNED}\n{payload}");
        let mut to_sign = String::with_capacity(160);
        let _ = write!(to_sign, "AWS4-HMAC-SHA256\n{}\n{}\n", self.date, self.scope);
        push_hex(&mut to_sign, digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let signature = hmac::sign(&self.key, to_sign.as_bytes());
        let mut value = String::with_capacity(320);
        value.push_str(&self.credential);
        value.push_str(SIGNED);
        value.push_str(",Signature=");
        push_hex(&mut value, signature.as_ref());
        value
    }
}

fn signing_key(secret: &str, day: &str, region: &str) -> hmac::Key {
    let step =
        |key: &[u8], text: &str| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_ref());
    let key = step(format!("AWS4{secret}").as_bytes(), day);
    let key =
        [region, "s3", "aws4_request"].into_iter().fold(key, |key, text| step(key.as_ref(), text));
    hmac::Key::new(hmac::HMAC_SHA256, key.as_ref())
}

/// SHA-256 in hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    push_hex(&mut text, bytes);
    text
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// The day as `YYYYMMDD` and the moment as `YYYYMMDDTHHMMSSZ`.
fn stamps(since_1970_s: u64) -> (String, String) {
    let (days, second) = (since_1970_s / 86_400, since_1970_s % 86_400);
    let (year, month, day) = date_of(days);
    let day = format!("{year:04}{month:02}{day:02}");
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    let moment = format!("{day}T{hour:02}{minute:02}{:02}Z", second % 60);
    (day, moment)
}

/// Year, month and day of a count of days since 1970-01-01, year by year.
fn date_of(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(stamps(0).1, "19700101T000000Z");
        assert_eq!(stamps(951_827_696).1, "20000229T123456Z");
        assert_eq!(stamps(1_735_689_599).1, "20241231T235959Z");
    }

    #[test]
    fn the_hash_of_nothing_is_right() {
        assert_eq!(sha256_hex(b""), EMPTY);
    }
}
