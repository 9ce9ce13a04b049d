//! What `serve` takes as signed. Signatures are made here by the book, not by our client.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html>

use std::fmt::Write as _;
use std::net::SocketAddr;

use aws_lc_rs::{digest, hmac};
use base64::Engine as _;

use super::hostile::Server;

pub(crate) const KEY: &str = "AKIDserve";
pub(crate) const SECRET: &str = "sErVeR+sEcReT/0123456789";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

/// `20260101T000000Z`, so many seconds from now.
fn date(shift_s: i64) -> String {
    let time = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(shift_s);
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// A request to be signed; what is changed before is signed, what is changed after is not.
#[derive(Clone)]
pub(crate) struct Signed {
    pub(crate) method: String,
    /// With the query, sorted and encoded.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    pub(crate) date: String,
    pub(crate) secret: String,
    pub(crate) payload: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// Names of headers that are left out of the signature.
    pub(crate) left_out: Vec<&'static str>,
}

impl Signed {
    pub(crate) fn new(address: SocketAddr, method: &str, path: &str, body: &[u8]) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            body: body.to_vec(),
            date: date(0),
            secret: SECRET.to_owned(),
            payload: sha256(body),
            headers: vec![("host".to_owned(), address.to_string())],
            left_out: Vec::new(),
        }
    }

    pub(crate) fn header(&mut self, name: &str, value: &str) {
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    fn scope(&self) -> String {
        format!("{}/us-east-1/s3/aws4_request", &self.date[..8])
    }

    fn signing_key(&self) -> Vec<u8> {
        let key = mac(format!("AWS4{}", self.secret).as_bytes(), &self.date[..8]);
        ["us-east-1", "s3", "aws4_request"].iter().fold(key, |key, text| mac(&key, text))
    }

    fn sign(&self, canonical: &str) -> String {
        let text = format!(
            "AWS4-HMAC-SHA256\n{}\n{}\n{}",
            self.date,
            self.scope(),
            sha256(canonical.as_bytes())
        );
        hex(&mac(&self.signing_key(), &text))
    }

    fn canonical(
        &self,
        query: &str,
        headers: &[(String, String)],
        payload: &str,
    ) -> (String, String) {
        let path = self.path.split('?').next().unwrap();
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
        let lines: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let (lines, names) = (lines.concat(), names.join(";"));
        (format!("{}\n{path}\n{query}\n{lines}\n{names}\n{payload}", self.method), names)
    }

    /// All headers, the last two of them the signature's; gives the signature, too.
    fn signed_headers(&self) -> (Vec<(String, String)>, String) {
        let mut all = self.headers.clone();
        all.push(("x-amz-content-sha256".to_owned(), self.payload.clone()));
        all.push(("x-amz-date".to_owned(), self.date.clone()));
        all.sort();
        let signed: Vec<_> = all
            .iter()
            .filter(|(name, _)| !self.left_out.contains(&name.as_str()))
            .cloned()
            .collect();
        let query = self.path.split_once('?').map_or("", |(_, query)| query);
        let (canonical, names) = self.canonical(query, &signed, &self.payload);
        let signature = self.sign(&canonical);
        let value = format!(
            "AWS4-HMAC-SHA256 Credential={KEY}/{}, SignedHeaders={names}, Signature={signature}",
            self.scope()
        );
        all.push(("authorization".to_owned(), value));
        (all, signature)
    }

    /// The request as bytes, on a connection of its own.
    pub(crate) fn request(&self) -> Vec<u8> {
        self.request_with(&self.signed_headers().0)
    }

    fn request_with(&self, headers: &[(String, String)]) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", self.method, self.path);
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        write!(head, "content-length: {}\r\n\r\n", self.body.len()).unwrap();
        [head.as_bytes(), &self.body].concat()
    }

    /// The same with the signature in the query.
    fn presigned(&self, expires_s: i64) -> Self {
        let credential = format!("{KEY}/{}", self.scope()).replace('/', "%2F");
        let query = format!(
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={credential}&X-Amz-Date={}&\
             X-Amz-Expires={expires_s}&X-Amz-SignedHeaders=host",
            self.date
        );
        let (canonical, _) = self.canonical(&query, &self.headers[..1], "UNSIGNED-PAYLOAD");
        let signature = self.sign(&canonical);
        Self { path: format!("{}?{query}&X-Amz-Signature={signature}", self.path), ..self.clone() }
    }

    fn presigned_request(&self) -> Vec<u8> {
        self.request_with(&self.headers)
    }
}

/// A server with the object `/box/k`.
fn server() -> Server {
    let server = Server::start();
    assert_eq!(server.signed("PUT", "/box/k", b"data").0, 200);
    server
}

#[track_caller]
fn refused(server: &Server, request: &[u8], code: &str) {
    let (status, body) = server.send(request);
    assert!((400..500).contains(&status), "{status} {body}");
    assert!(body.contains(&format!("<Code>{code}</Code>")), "{code} expected: {body}");
    assert!(!body.contains(SECRET), "{body}");
}

#[test]
fn unsigned_and_wrongly_signed_requests_are_refused() {
    let server = server();
    let good = Signed::new(server.address, "GET", "/box/k", b"");
    assert_eq!(server.send(&good.request()), (200, "data".to_owned()));
    refused(&server, &good.request_with(&good.headers), "AccessDenied");
    let wrong = Signed { secret: "wrong".to_owned(), ..good.clone() };
    refused(&server, &wrong.request(), "SignatureDoesNotMatch");
    for (name, change) in [
        ("another key", ("Credential=AKIDserve", "Credential=AKIDother")),
        ("no signature", ("Signature=", "Sign=")),
        ("an empty one", ("Signature=", "Signature=\r\nx: ")),
        ("a shorter scope", ("/s3/aws4_request", "/aws4_request")),
        ("another service", ("/s3/", "/sts/")),
        ("another region", ("/us-east-1/", "/eu-west-1/")),
        ("another algorithm", ("AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA1 ")),
    ] {
        let request = String::from_utf8(good.request()).unwrap().replacen(change.0, change.1, 1);
        let (status, body) = server.send(request.as_bytes());
        assert!((400..500).contains(&status), "{name}: {status} {body}");
    }
    // Of another kind, which never grows old.
    let old = format!("AWS {KEY}:{}", base64::engine::general_purpose::STANDARD.encode("x"));
    let mut second = good.headers.clone();
    second.push(("authorization".to_owned(), old));
    refused(&server, &good.request_with(&second), "InvalidRequest");
}

#[test]
fn a_signature_is_for_one_request_and_a_quarter_of_an_hour() {
    let server = server();
    let good = Signed::new(server.address, "GET", "/box/k", b"");
    for shift_s in [-16 * 60, 16 * 60, -86_400] {
        let late = Signed { date: date(shift_s), ..good.clone() };
        refused(&server, &late.request(), "RequestTimeTooSkewed");
    }
    assert_eq!(server.send(&Signed { date: date(-14 * 60), ..good.clone() }.request()).0, 200);
    // An old one with a new date.
    let late = Signed { date: date(-16 * 60), ..good.clone() };
    let replayed = String::from_utf8(late.request()).unwrap();
    let replayed = replayed
        .replace(&format!("x-amz-date: {}", late.date), &format!("x-amz-date: {}", good.date));
    refused(&server, replayed.as_bytes(), "SignatureDoesNotMatch");
    let (headers, _) = good.signed_headers();
    for (method, path) in [("DELETE", "/box/k"), ("GET", "/box/other"), ("GET", "/box/k?acl")] {
        let other = Signed { method: method.to_owned(), path: path.to_owned(), ..good.clone() };
        refused(&server, &other.request_with(&headers), "SignatureDoesNotMatch");
    }
    let changed = |name: &str, value: &str| {
        let mut headers = headers.clone();
        headers
            .iter_mut()
            .filter(|(known, _)| known == name)
            .for_each(|(_, old)| *old = value.into());
        good.request_with(&headers)
    };
    refused(&server, &changed("host", "other.test"), "SignatureDoesNotMatch");
    // Headers that came after the signature, and such that it never covered.
    let put = Signed::new(server.address, "PUT", "/box/new", b"data");
    let mut headers = put.signed_headers().0;
    headers.push(("x-amz-acl".to_owned(), "public-read".to_owned()));
    refused(&server, &put.request_with(&headers), "AccessDenied");
    let mut bare = put.clone();
    bare.header("x-amz-copy-source", "/box/k");
    bare.left_out = vec!["x-amz-copy-source"];
    refused(&server, &bare.request(), "AccessDenied");
    let hostless = Signed { left_out: vec!["host"], ..put };
    refused(&server, &hostless.request(), "AccessDenied");
    assert_eq!(server.signed("GET", "/box/k", b""), (200, "data".to_owned()));
    assert_eq!(server.signed("GET", "/box/new", b"").0, 404);
}

#[test]
fn a_body_is_what_was_signed() {
    let server = server();
    let put = Signed::new(server.address, "PUT", "/box/new", b"data");
    let other = Signed { body: b"evil".to_vec(), ..put.clone() };
    let (headers, _) = put.signed_headers();
    let (status, body) = server.send(&other.request_with(&headers));
    assert!((400..500).contains(&status), "{status} {body}");
    let longer = Signed { body: b"data and more".to_vec(), ..put.clone() };
    let (status, body) = server.send(&longer.request_with(&headers));
    assert!((400..500).contains(&status), "{status} {body}");
    assert_eq!(server.signed("GET", "/box/new", b"").0, 404);
    let none = Signed { payload: "not-a-hash".to_owned(), ..put };
    let (status, body) = server.send(&none.request());
    assert!((400..500).contains(&status), "{status} {body}");
    assert_eq!(server.signed("GET", "/box/new", b"").0, 404);
}

/// A body in chunks, each signed, as one request.
fn chunked(server: &Server, chunks: &[&[u8]], spoil: impl Fn(String) -> String) -> Vec<u8> {
    let length: usize = chunks.iter().map(|chunk| chunk.len()).sum();
    let mut put = Signed::new(server.address, "PUT", "/box/chunked", b"");
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD".clone_into(&mut put.payload);
    put.header("content-encoding", "aws-chunked");
    put.header("x-amz-decoded-content-length", &length.to_string());
    let (headers, mut previous) = put.signed_headers();
    let mut body = String::new();
    for chunk in chunks.iter().chain([&b"".as_slice()]) {
        let text = format!(
            "AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{previous}\n{}\n{}",
            put.date,
            put.scope(),
            sha256(b""),
            sha256(chunk)
        );
        previous = hex(&mac(&put.signing_key(), &text));
        let chunk = std::str::from_utf8(chunk).unwrap();
        write!(body, "{:x};chunk-signature={previous}\r\n{chunk}\r\n", chunk.len()).unwrap();
    }
    Signed { body: spoil(body).into_bytes(), ..put }.request_with(&headers)
}

#[test]
fn chunks_are_signed_one_by_one() {
    let server = server();
    let chunks: [&[u8]; 2] = [&[b'a'; 8192], b"the end"];
    let answered = server.send(&chunked(&server, &chunks, |body| body));
    assert_eq!(answered.0, 200, "{answered:?}");
    assert_eq!(server.signed("GET", "/box/chunked", b"").1.len(), 8199);
    assert_eq!(server.signed("DELETE", "/box/chunked", b"").0, 204);
    for (what, spoil) in [
        (
            "another byte",
            (|body: String| body.replace("the end", "the eND")) as fn(String) -> String,
        ),
        ("no signature", |body| body.replacen("chunk-signature=", "chunk-sign=", 2)),
        ("the end is missing", |body| body[..body.len() - 90].to_owned()),
        ("in another order", |body| {
            let at = body.find("7;").unwrap();
            format!("{}{}", &body[at..], &body[..at])
        }),
    ] {
        let (status, body) = server.send(&chunked(&server, &chunks, spoil));
        assert!(status == 0 || (400..501).contains(&status), "{what}: {status} {body}");
        assert_eq!(server.signed("GET", "/box/chunked", b"").0, 404, "{what}");
    }
}

/// Each chunk is whole and rightly signed, and the last ones are missing.
#[test]
fn a_body_that_ends_between_its_chunks_is_refused() {
    let server = server();
    let chunks: [&[u8]; 2] = [&[b'a'; 8192], b"the end"];
    for cut in [
        |body: String| body[..body.find("7;").unwrap()].to_owned(),
        |body: String| format!("{}\r\n", &body[..body.find("7;").unwrap()]),
        |_| String::new(),
    ] {
        refused(&server, &chunked(&server, &chunks, cut), "IncompleteBody");
        assert_eq!(server.signed("GET", "/box/chunked", b"").0, 404);
    }
}

#[test]
fn a_body_without_its_announced_checksum_is_refused() {
    let server = server();
    let mut put = Signed::new(server.address, "PUT", "/box/trailed", b"");
    "STREAMING-UNSIGNED-PAYLOAD-TRAILER".clone_into(&mut put.payload);
    put.header("content-encoding", "aws-chunked");
    put.header("x-amz-decoded-content-length", "4");
    put.header("x-amz-trailer", "x-amz-checksum-crc32");
    let send = |body: &str| Signed { body: body.as_bytes().to_vec(), ..put.clone() }.request();
    let whole = "4\r\ndata\r\n0\r\nx-amz-checksum-crc32:rfPzYw==\r\n\r\n";
    for (cut, code) in [
        (&whole[..whole.find("x-amz").unwrap()], "MalformedTrailerError"),
        (&whole[..whole.find("0\r\n").unwrap()], "MalformedTrailerError"),
        ("", "IncompleteBody"),
        ("0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", "IncompleteBody"),
        (&whole.replace("crc32", "sha1"), "MalformedTrailerError"),
    ] {
        refused(&server, &send(cut), code);
        assert_eq!(server.signed("GET", "/box/trailed", b"").0, 404, "{cut}");
    }
    assert_eq!(server.send(&send(whole)).0, 200);
    assert_eq!(server.signed("GET", "/box/trailed", b""), (200, "data".to_owned()));
}

#[test]
fn presigned_urls_end_and_cannot_be_changed() {
    let server = server();
    let get = Signed::new(server.address, "GET", "/box/k", b"");
    let good = get.presigned(60);
    assert_eq!(server.send(&good.presigned_request()), (200, "data".to_owned()));
    let ended = Signed { date: date(-120), ..get.clone() }.presigned(60);
    refused(&server, &ended.presigned_request(), "AccessDenied");
    let early = Signed { date: date(16 * 60), ..get.clone() }.presigned(60);
    refused(&server, &early.presigned_request(), "RequestTimeTooSkewed");
    let for_ever = get.presigned(8 * 86_400);
    refused(&server, &for_ever.presigned_request(), "AuthorizationQueryParametersError");
    for (from, to) in [
        ("/box/k?", "/box/other?"),
        ("X-Amz-Expires=60", "X-Amz-Expires=600"),
        ("X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders=range"),
        ("X-Amz-Algorithm=", "response-content-type=x&X-Amz-Algorithm="),
    ] {
        let changed = Signed { path: good.path.replacen(from, to, 1), ..good.clone() };
        let (status, body) = server.send(&changed.presigned_request());
        assert!((400..500).contains(&status), "{to}: {status} {body}");
    }
    let put = Signed { method: "PUT".to_owned(), ..good.clone() };
    refused(&server, &put.presigned_request(), "SignatureDoesNotMatch");
    // One that ended does not get better by a second signature.
    let mut both = ended.headers.clone();
    both.extend(get.signed_headers().0.into_iter().filter(|(name, _)| name != "host"));
    refused(&server, &ended.request_with(&both), "InvalidArgument");
    let mut acl = good.headers.clone();
    acl.push(("x-amz-acl".to_owned(), "public-read".to_owned()));
    refused(&server, &good.request_with(&acl), "AccessDenied");
}

/// What old clients make of a URL: version 2 of the signature.
fn presigned_of_old(path: &str, expires_s: i64) -> String {
    let ends = jiff::Timestamp::now().as_second() + expires_s;
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, SECRET.as_bytes());
    let tag = hmac::sign(&key, format!("GET\n\n\n{ends}\n{path}").as_bytes());
    let signature = base64::engine::general_purpose::STANDARD.encode(tag.as_ref());
    let signature = signature.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    format!("{path}?AWSAccessKeyId={KEY}&Expires={ends}&Signature={signature}")
}

#[test]
fn presigned_urls_of_old_clients_end_too() {
    let server = server();
    let get = Signed::new(server.address, "GET", "/box/k", b"");
    let ask = |path: String| Signed { path, ..get.clone() }.presigned_request();
    let good = presigned_of_old("/box/k", 60);
    assert_eq!(server.send(&ask(good.clone())), (200, "data".to_owned()));
    refused(&server, &ask(presigned_of_old("/box/k", -60)), "AccessDenied");
    let other = good.replacen("/box/k", "/box/other", 1);
    refused(&server, &ask(other), "SignatureDoesNotMatch");
    let longer = good.replacen("Expires=", "Expires=9", 1);
    refused(&server, &ask(longer), "SignatureDoesNotMatch");
    let both = Signed { path: good, ..get.clone() };
    refused(&server, &both.request(), "InvalidArgument");
}
