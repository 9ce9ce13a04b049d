//! What S3 checks before it looks at the signature: the clock, the region and the session token.
//!
//! `s3s` verifies signatures but knows neither our clock nor our regions.

use std::collections::HashMap;

use http::{HeaderMap, Uri};
use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Result, s3_error};

use crate::classify::{Target, query_pairs};
use crate::config::AccessKey;

/// Greatest difference between the clocks of client and server.
pub(crate) const SKEW_MS_MAX: i64 = 15 * 60 * 1000;

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
#[derive(Debug, Default, PartialEq, Eq)]
struct Signature {
    access_key: String,
    region: String,
    date: String,
    /// Life of a presigned URL in seconds.
    expires: Option<i64>,
    token: Option<String>,
}

/// Whose credentials a request says it is signed with; empty for nobody's.
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
    let Some(signature) = read_signature(headers, uri) else { return Ok(()) };
    check_time(&signature, around.now_ms)?;
    check_region(&signature, target, around)?;
    check_token(&signature, keys)
}

fn read_signature(headers: &HeaderMap, uri: &Uri) -> Option<Signature> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let mut signature = Signature::default();
    let credential;
    if let Some(authorization) = header("authorization") {
        let rest = authorization.strip_prefix("AWS4-HMAC-SHA256")?;
        let found = rest.split([',', ' ']).find_map(|field| field.strip_prefix("Credential="));
        credential = found?.to_owned();
        header("x-amz-date").or_else(|| header("date"))?.clone_into(&mut signature.date);
        signature.token = header("x-amz-security-token").map(str::to_owned);
    } else {
        uri.query().filter(|query| query.contains("X-Amz-Signature"))?;
        let mut found = None;
        for (name, value) in query_pairs(uri) {
            match &*name {
                "X-Amz-Credential" => found = Some(value.into_owned()),
                "X-Amz-Date" => signature.date = value.into_owned(),
                "X-Amz-Expires" => signature.expires = value.parse().ok(),
                "X-Amz-Security-Token" => signature.token = Some(value.into_owned()),
                _ => {}
            }
        }
        credential = found?;
    }
    // From the end: an access key may hold a slash.
    let mut fields = credential.rsplit('/').skip(2);
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
    if signature.expires.is_some_and(|seconds| age_ms > seconds.saturating_mul(1000)) {
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
        headers.insert("x-amz-date", "20231114T221320Z".parse().unwrap());
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
