//! What S3 checks before it looks at the signature: that there is one of a kind that ends and that
//! covers what it must, the clock, the region and the session token.
//!
//! `s3s` verifies signatures but knows neither our clock nor our regions. It would also take
//! signatures of version 2 in a header, which never grow old (those in a URL end, and old clients
//! make them), and ones that leave out headers.

use std::collections::HashMap;

use http::{HeaderMap, Uri};
use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Result, s3_error};

use crate::classify::{Target, query_pairs};
use crate::config::AccessKey;

/// Greatest difference between the clocks of client and server.
pub(crate) const SKEW_MS_MAX: i64 = 15 * 60 * 1000;
/// Longest life of a presigned URL.
const EXPIRES_S_MAX: i64 = 7 * 24 * 60 * 60;
/// How the value of `Authorization` begins.
const SCHEME: &str = "AWS4-HMAC-SHA256";

/// The keys that may sign.
#[derive(Clone)]
pub(crate) struct KeyRing {
    keys: HashMap<String, AccessKey>,
}

impl KeyRing {
    pub(crate) fn new(keys: &[AccessKey]) -> Self {
        Self { keys: keys.iter().map(|key| (key.id.clone(), key.clone())).collect() }
    }
}

#[async_trait::async_trait]
impl S3Auth for KeyRing {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        match self.keys.get(access_key) {
            Some(key) => Ok(SecretKey::from(key.secret.as_str())),
            None => Err(s3_error!(
                InvalidAccessKeyId,
                "The AWS Access Key Id you provided does not exist in our records."
            )),
        }
    }
}

/// What a request says about its signature.
#[derive(Default)]
struct Signature {
    access_key: String,
    region: String,
    date: String,
    /// Life of a presigned URL in seconds.
    expires: Option<i64>,
    token: Option<String>,
    service: String,
    /// Names of the headers that it covers, joined by `;`.
    signed_headers: String,
}

/// Access key id that a request names in its signature; empty if unsigned.
pub(crate) fn signer(headers: &HeaderMap) -> String {
    let header = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    let Some(signed) = header("authorization") else { return String::new() };
    let credential = signed.split_once("Credential=").map_or("", |(_, rest)| rest);
    let key = credential.split('/').next().unwrap_or_default();
    format!("{key} {}", header("x-amz-security-token").unwrap_or_default())
}

/// A refusal, ready to be answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// More elements of the error's XML.
    pub(crate) details: Vec<(&'static str, String)>,
    /// Region for `x-amz-bucket-region`.
    pub(crate) bucket_region: Option<String>,
}

impl Refusal {
    fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        let (details, bucket_region) = (Vec::new(), None);
        Self { status, code, message: message.into(), details, bucket_region }
    }
}

/// What the gate knows of the server and the request's bucket.
pub(crate) struct Surroundings<'a> {
    pub(crate) now_ms: i64,
    pub(crate) server_region: &'a str,
    /// Region of the request's bucket, where that exists.
    pub(crate) bucket_region: Option<&'a str>,
}

/// Checks a request; unsigned ones pass, for `s3s` to refuse.
pub(crate) fn check(
    headers: &HeaderMap,
    uri: &Uri,
    target: &Target,
    keys: &KeyRing,
    around: &Surroundings<'_>,
) -> Result<(), Refusal> {
    check_kind(headers, uri)?;
    let Some(signature) = read_signature(headers, uri) else { return Ok(()) };
    check_scope(&signature, headers)?;
    check_time(&signature, around.now_ms)?;
    check_region(&signature, target, around)?;
    check_token(&signature, keys)
}

/// Refuses signatures of other kinds, and two at once: which one counts would be a guess.
fn check_kind(headers: &HeaderMap, uri: &Uri) -> Result<(), Refusal> {
    let authorizations = headers.get_all(http::header::AUTHORIZATION).iter();
    let (mut others, mut ours) = (0, 0);
    for value in authorizations {
        let is_ours = value.as_bytes().starts_with(SCHEME.as_bytes());
        *(if is_ours { &mut ours } else { &mut others }) += 1;
    }
    for (name, _) in query_pairs(uri) {
        match &*name {
            "X-Amz-Signature" | "Signature" => ours += 1,
            _ => {}
        }
    }
    if others > 0 {
        let message = "The authorization mechanism you have provided is not supported. Please use \
                       AWS4-HMAC-SHA256.";
        return Err(Refusal::new(400, "InvalidRequest", message));
    }
    if ours > 1 {
        let message = "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter \
                       or the Authorization header should be specified";
        return Err(Refusal::new(400, "InvalidArgument", message));
    }
    Ok(())
}

/// A signature is for S3 and covers the host and all `x-amz-*` headers, or those could be changed
/// on the way.
fn check_scope(signature: &Signature, headers: &HeaderMap) -> Result<(), Refusal> {
    if signature.service != "s3" {
        let message = "The authorization header is malformed; incorrect service. This endpoint \
                       belongs to \"s3\".";
        return Err(Refusal::new(400, "AuthorizationHeaderMalformed", message));
    }
    if signature.expires.is_some_and(|seconds| !(0..=EXPIRES_S_MAX).contains(&seconds)) {
        let message = "X-Amz-Expires must be between 0 and 604800 seconds";
        return Err(Refusal::new(400, "AuthorizationQueryParametersError", message));
    }
    let is_presigned = signature.expires.is_some();
    let must_be_signed = |name: &str| {
        // The hash of the body that comes with a presigned URL is checked by itself.
        let is_exempt = is_presigned && name == "x-amz-content-sha256";
        name == "host" || (name.starts_with("x-amz-") && !is_exempt)
    };
    let is_signed = |name: &str| signature.covers(name);
    let unsigned: Vec<_> = headers
        .keys()
        .map(http::HeaderName::as_str)
        .filter(|name| must_be_signed(name) && !is_signed(name))
        .collect();
    if unsigned.is_empty() && is_signed("host") {
        return Ok(());
    }
    let message = "There were headers present in the request which were not signed";
    let mut refusal = Refusal::new(403, "AccessDenied", message);
    refusal.details = vec![("HeadersNotSigned", unsigned.join(", "))];
    Err(refusal)
}

/// Whether a header is covered by the signature of its request.
pub(crate) fn is_signed(headers: &HeaderMap, uri: &Uri, name: &str) -> bool {
    read_signature(headers, uri).is_some_and(|signature| signature.covers(name))
}

impl Signature {
    fn covers(&self, name: &str) -> bool {
        self.signed_headers.split(';').any(|known| known == name)
    }
}

fn read_signature(headers: &HeaderMap, uri: &Uri) -> Option<Signature> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let mut signature = Signature::default();
    let credential;
    if let Some(authorization) = header("authorization") {
        let rest = authorization.strip_prefix(SCHEME)?;
        let field = |name| rest.split([',', ' ']).find_map(|field| field.strip_prefix(name));
        credential = field("Credential=")?.to_owned();
        field("SignedHeaders=").unwrap_or_default().clone_into(&mut signature.signed_headers);
        header("x-amz-date").or_else(|| header("date"))?.clone_into(&mut signature.date);
        signature.token = header("x-amz-security-token").map(str::to_owned);
    } else {
        uri.query()?;
        let (mut found, mut is_signed) = (None, false);
        for (name, value) in query_pairs(uri) {
            match &*name {
                "X-Amz-Credential" => found = Some(value.into_owned()),
                "X-Amz-Date" => signature.date = value.into_owned(),
                "X-Amz-Expires" => signature.expires = value.parse().ok(),
                "X-Amz-Security-Token" => signature.token = Some(value.into_owned()),
                "X-Amz-SignedHeaders" => signature.signed_headers = value.into_owned(),
                "X-Amz-Signature" => is_signed = true,
                _ => {}
            }
        }
        credential = found.filter(|_| is_signed)?;
    }
    // From the end: an access key may hold a slash.
    let mut fields = credential.rsplit('/').skip(1);
    fields.next()?.clone_into(&mut signature.service);
    fields.next()?.clone_into(&mut signature.region);
    fields.next()?;
    fields.next()?.clone_into(&mut signature.access_key);
    Some(signature)
}

/// Milliseconds since 1970 of `YYYYMMDDTHHMMSSZ`.
fn parse_date(date: &str) -> Option<i64> {
    let civil = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", date).ok()?;
    Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

fn check_time(signature: &Signature, now_ms: i64) -> Result<(), Refusal> {
    // What cannot be read here is left to the signature check.
    let Some(signed_ms) = parse_date(&signature.date) else { return Ok(()) };
    let age_ms = now_ms - signed_ms;
    let skewed = match signature.expires {
        None => age_ms.abs() > SKEW_MS_MAX,
        Some(_) => age_ms < -SKEW_MS_MAX,
    };
    if skewed {
        let message = "The difference between the request time and the current time is too large.";
        let mut refusal = Refusal::new(403, "RequestTimeTooSkewed", message);
        refusal.details = vec![
            ("RequestTime", signature.date.clone()),
            ("ServerTime", crate::xml::iso_time(now_ms)),
            ("MaxAllowedSkewMilliseconds", SKEW_MS_MAX.to_string()),
        ];
        return Err(refusal);
    }
    let has_expired = |seconds: i64| seconds == 0 || age_ms > seconds.saturating_mul(1000);
    if signature.expires.is_some_and(has_expired) {
        return Err(Refusal::new(403, "AccessDenied", "Request has expired"));
    }
    Ok(())
}

fn check_region(
    signature: &Signature,
    target: &Target,
    around: &Surroundings<'_>,
) -> Result<(), Refusal> {
    if target.operation == "CreateBucket" {
        return Ok(());
    }
    let expected = around.bucket_region.unwrap_or(around.server_region);
    if signature.region == expected {
        return Ok(());
    }
    if signature.region == around.server_region {
        if target.operation == "GetBucketLocation" {
            return Ok(());
        }
        let message = "The bucket you are attempting to access must be addressed using the \
                       specified endpoint. Please send all future requests to this endpoint.";
        let mut refusal = Refusal::new(301, "PermanentRedirect", message);
        refusal.details = vec![
            ("Endpoint", format!("s3.{expected}.amazonaws.com")),
            ("Bucket", target.bucket.clone()),
        ];
        refusal.bucket_region = Some(expected.to_owned());
        return Err(refusal);
    }
    let message = format!(
        "The authorization header is malformed; the region '{}' is wrong; expecting '{expected}'",
        signature.region
    );
    let mut refusal = Refusal::new(400, "AuthorizationHeaderMalformed", message);
    refusal.details = vec![("Region", expected.to_owned())];
    refusal.bucket_region = around.bucket_region.map(str::to_owned);
    Err(refusal)
}

fn check_token(signature: &Signature, keys: &KeyRing) -> Result<(), Refusal> {
    let Some(key) = keys.keys.get(&signature.access_key) else { return Ok(()) };
    if key.session_token.is_some() && key.session_token != signature.token {
        let message = "The provided token is malformed or otherwise invalid.";
        return Err(Refusal::new(400, "InvalidToken", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_700_000_000_000; // 2023-11-14T22:13:20Z

    fn outcome(operation: &'static str, region: &str, bucket_region: Option<&str>) -> String {
        let mut headers = HeaderMap::new();
        let credential = format!(
            "AWS4-HMAC-SHA256 Credential=AK/20231114/{region}/s3/aws4_request, \
             SignedHeaders=host, Signature=0"
        );
        headers.insert("authorization", credential.parse().unwrap());
        headers.insert("date", "20231114T221320Z".parse().unwrap());
        headers.insert("host", "h".parse().unwrap());
        let target = Target { operation, ..Target::default() };
        let around = Surroundings { now_ms: NOW_MS, server_region: "us-east-1", bucket_region };
        let uri = "/b/k".parse().unwrap();
        match check(&headers, &uri, &target, &KeyRing::new(&[]), &around) {
            Ok(()) => "ok".to_owned(),
            Err(refusal) => format!("{} {}", refusal.status, refusal.code),
        }
    }

    #[test]
    fn regions_are_checked_as_s3_does() {
        assert_eq!(outcome("GetObject", "us-east-1", None), "ok");
        assert_eq!(outcome("GetObject", "eu-west-1", None), "400 AuthorizationHeaderMalformed");
        assert_eq!(outcome("GetObject", "eu-west-1", Some("eu-west-1")), "ok");
        assert_eq!(outcome("GetObject", "us-east-1", Some("eu-west-1")), "301 PermanentRedirect");
        assert_eq!(outcome("GetBucketLocation", "us-east-1", Some("eu-west-1")), "ok");
    }

    fn kind(lines: &[(&'static str, &str)], uri: &str) -> String {
        let uri = uri.parse().unwrap();
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        headers.insert("date", "20231114T221320Z".parse().unwrap());
        let around =
            Surroundings { now_ms: NOW_MS, server_region: "us-east-1", bucket_region: None };
        let target = Target { operation: "GetObject", ..Target::default() };
        match check(&headers, &uri, &target, &KeyRing::new(&[]), &around) {
            Ok(()) => "ok".to_owned(),
            Err(refusal) => format!("{} {}", refusal.status, refusal.code),
        }
    }

    #[test]
    fn only_one_signature_that_ends_counts() {
        let own = "AWS4-HMAC-SHA256 Credential=AK/20231114/us-east-1/s3/aws4_request, \
                   SignedHeaders=host, Signature=0";
        let (host, signed) = (("host", "h"), ("authorization", own));
        assert_eq!(kind(&[host, signed], "/b/k"), "ok");
        assert_eq!(kind(&[host, ("authorization", "AWS AK:c2ln")], "/b/k"), "400 InvalidRequest");
        assert_eq!(kind(&[host], "/b/k?AWSAccessKeyId=AK&Expires=9&Signature=x"), "ok");
        assert_eq!(kind(&[host, signed], "/b/k?%53ignature=x"), "400 InvalidArgument");
        assert_eq!(
            kind(&[host], "/b/k?Signature=x&X-Amz-Signature=0"),
            "400 InvalidArgument",
            "which of the two counts would be a guess"
        );
        assert_eq!(kind(&[host, signed, signed], "/b/k"), "400 InvalidArgument");
        assert_eq!(kind(&[host, signed], "/b/k?X-Amz-Sign%61ture=0"), "400 InvalidArgument");
        let sts = own.replace("/s3/", "/sts/");
        let malformed = kind(&[host, ("authorization", &sts)], "/b/k");
        assert_eq!(malformed, "400 AuthorizationHeaderMalformed");
    }

    #[test]
    fn headers_that_s3_reads_are_signed() {
        let own = |signed: &str| {
            format!(
                "AWS4-HMAC-SHA256 Credential=AK/20231114/us-east-1/s3/aws4_request, \
                 SignedHeaders={signed}, Signature=0"
            )
        };
        let with = |signed: &str| {
            let own = own(signed);
            let copy = ("x-amz-copy-source", "/b/other");
            kind(&[("host", "h"), ("range", "bytes=0-1"), copy, ("authorization", &own)], "/b/k")
        };
        assert_eq!(with("host;x-amz-copy-source"), "ok");
        assert_eq!(with("host"), "403 AccessDenied");
        assert_eq!(with("x-amz-copy-source"), "403 AccessDenied");
        let query = |more: &str| {
            format!(
                "/b/k?X-Amz-Credential=AK%2F20231114%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=\
                 20231114T221300Z&X-Amz-SignedHeaders=host&X-Amz-Signature=0&{more}"
            )
        };
        let host = ("host", "h");
        assert_eq!(kind(&[host], &query("X-Amz-Expires=60")), "ok");
        let late = query("X-Amz-Expires=604801");
        assert_eq!(kind(&[host], &late), "400 AuthorizationQueryParametersError");
        let acl = ("x-amz-acl", "public-read");
        assert_eq!(kind(&[host, acl], &query("X-Amz-Expires=60")), "403 AccessDenied");
    }

    #[test]
    fn clocks_may_differ_by_a_quarter_of_an_hour() {
        let header = |date: &str| Signature { date: date.to_owned(), ..Signature::default() };
        let code = |signature: &Signature| check_time(signature, NOW_MS).err().map(|r| r.code);
        assert_eq!(code(&header("20231114T215900Z")), None);
        assert_eq!(code(&header("20231114T215800Z")), Some("RequestTimeTooSkewed"));
        let presigned = Signature { expires: Some(60), ..header("20231114T215800Z") };
        assert_eq!(code(&presigned), Some("AccessDenied"));
    }
}
