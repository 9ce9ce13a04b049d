//! Signatures checked as a server checks them, written plainly after the documentation:
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use aws_lc_rs::{digest, hmac};
use http::header::{HOST, HeaderName};
use http::{HeaderMap, HeaderValue, Method};

use super::key_codec::plain_encode;
use crate::sign::signature::{Credentials, PayloadHash, Signer, encode_path, encode_query};

const SECRET: &str = "secret/+key";
const ACCESS_KEY: &str = "AKIDEXAMPLE";
const REGION: &str = "eu-west-1";
const HOST_NAME: &str = "bucket.example.com:9000";

/// A request out of lines: second and session token, key, query, headers. Its signature is the
/// one that a server works out of what arrives; so is that of its presigned form.
///
/// # Panics
///
/// Where a server would refuse it.
pub fn signature(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let mut line = || String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let (first, key, query) = (line(), line(), line());
    let digits = first.bytes().take_while(u8::is_ascii_digit).count();
    let second = first[..digits].parse::<u64>().unwrap_or_default() % 253_402_300_799;
    let token = Some(first[digits..].to_owned()).filter(|token| !token.is_empty());
    let credentials = Credentials {
        access_key_id: ACCESS_KEY.to_owned(),
        secret_access_key: SECRET.to_owned(),
        session_token: token.clone(),
    };
    let signer = Signer::new(credentials, REGION.to_owned());
    let now = UNIX_EPOCH + Duration::from_secs(second);
    let mut path = String::from("/");
    encode_path(&key, &mut path);
    let pairs: Vec<_> =
        query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();

    let mut headers = headers_of(lines);
    headers.insert(HOST, HeaderValue::from_static(HOST_NAME));
    let payload = match second % 2 {
        0 => PayloadHash::Unsigned,
        _ => PayloadHash::Sha256([0x5a; 32]),
    };
    let encoded = encode_query(&pairs);
    signer.sign(&Method::PUT, &path, &encoded, &mut headers, payload, now);
    check_headers("PUT", &path, &encoded, &headers);

    let expires_in = Duration::from_secs(77);
    let mut host = HeaderMap::new();
    host.insert(HOST, HeaderValue::from_static(HOST_NAME));
    let presigned = signer.presign(&Method::GET, &path, &pairs, &host, expires_in, now);
    check_presigned(&path, &presigned);
}

fn headers_of<'a>(lines: impl Iterator<Item = &'a [u8]>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines.take(40) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&line[colon + 1..])) {
            headers.append(name, value);
        }
    }
    headers
}

/// What a server does with the headers that arrive.
fn check_headers(method: &str, path: &str, query: &str, headers: &HeaderMap) {
    let text = |name: &str| headers[name].to_str().expect("it was made of letters and digits");
    let authorization = text("authorization");
    let rest = authorization.strip_prefix("AWS4-HMAC-SHA256 Credential=").expect("the algorithm");
    let (credential, rest) = rest.split_once(", SignedHeaders=").expect("signed headers");
    let (signed, signature) = rest.split_once(", Signature=").expect("a signature");
    let names: Vec<_> = signed.split(';').collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{signed}");
    for name in headers.keys().map(HeaderName::as_str) {
        let must = name == "host" || name == "content-type" || name.starts_with("x-amz-");
        assert!(!must || names.contains(&name), "`{name}` is not signed");
    }
    let mut canonical = format!("{method}\n{}\n{}\n", canonical_path(path), canonical_query(query));
    for name in &names {
        let values: Vec<_> = headers.get_all(*name).iter().map(trimmed).collect();
        canonical += &[name, ":", &values.join(","), "\n"].concat();
    }
    canonical += &["\n", signed, "\n", text("x-amz-content-sha256")].concat();
    let canonical: Vec<u8> = bytes_of(&canonical);
    assert_eq!(signature, worked_out(credential, text("x-amz-date"), &canonical));
}

/// What a server does with a presigned URL.
fn check_presigned(path: &str, query: &str) {
    let (query, signature) = query.rsplit_once("&X-Amz-Signature=").expect("a signature");
    let pairs = decoded_pairs(query);
    let value = |name: &str| pairs.iter().rfind(|pair| pair.0 == name).map(|pair| pair.1.as_str());
    // A name that the request has itself may stand before or behind that of the signature.
    let is_once = |name: &str| pairs.iter().filter(|pair| pair.0 == name).count() == 1;
    if !(is_once("X-Amz-Credential") && is_once("X-Amz-Date")) {
        return;
    }
    let (path, query) = (canonical_path(path), canonical_query(query));
    let canonical = format!("GET\n{path}\n{query}\nhost:{HOST_NAME}\n\nhost\nUNSIGNED-PAYLOAD");
    let (credential, date) = (value("X-Amz-Credential"), value("X-Amz-Date"));
    let (credential, date) = (credential.expect("it is there"), date.expect("it is there"));
    assert_eq!(signature, worked_out(credential, date, canonical.as_bytes()));
}

/// The path as it is decoded and encoded again.
fn canonical_path(path: &str) -> String {
    plain_encode(&decode(path), "/")
}

/// The query as it is decoded, encoded again and sorted.
fn canonical_query(query: &str) -> String {
    let mut pairs: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (name, value) in decoded_pairs(query) {
        *pairs.entry((plain_encode(&name, ""), plain_encode(&value, ""))).or_default() += 1;
    }
    let mut texts = Vec::new();
    for ((name, value), count) in pairs {
        texts.extend(std::iter::repeat_n(format!("{name}={value}"), count));
    }
    texts.join("&")
}

fn decoded_pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').expect("a name and a value"));
    pairs.map(|(name, value)| (decode(name), decode(value))).collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        assert!(byte.is_ascii_graphic() && byte != b'+', "{text}");
        let mut digit = || {
            let digit = char::from(rest.next().expect("two digits"));
            assert!(!digit.is_ascii_lowercase(), "{text}");
            digit.to_digit(16).expect("a digit")
        };
        let byte = if byte == b'%' { digit() * 16 + digit() } else { u32::from(byte) };
        bytes.push(u8::try_from(byte).expect("two digits"));
    }
    String::from_utf8(bytes).expect("texts were encoded")
}

/// A header's value without outer blanks, inner runs of them as one; a byte is a character here.
fn trimmed(value: &HeaderValue) -> String {
    let text: String = value.as_bytes().iter().copied().map(char::from).collect();
    let words = text.split([' ', '\t']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(character).expect("a byte each")).collect()
}

fn worked_out(credential: &str, date: &str, canonical: &[u8]) -> String {
    let scope = credential.strip_prefix(&format!("{ACCESS_KEY}/")).expect("the access key");
    let fields: Vec<_> = scope.split('/').collect();
    assert_eq!((fields[1..].join("/"), fields.len()), (format!("{REGION}/s3/aws4_request"), 4));
    assert_eq!((date.len(), date.split('T').next()), (16, Some(fields[0])));
    let hash = digest::digest(&digest::SHA256, canonical);
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", hex(hash.as_ref()));
    let mut key = format!("AWS4{SECRET}").into_bytes();
    for step in fields.iter().copied().chain([text.as_str()]) {
        let step_key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        key = hmac::sign(&step_key, step.as_bytes()).as_ref().to_vec();
    }
    hex(&key)
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
