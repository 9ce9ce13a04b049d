//! Signatures against AWS's published vectors, and what must not depend on the cache.

use proptest::prelude::*;

use super::*;

const EMPTY: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];
/// 2013-05-24T00:00:00Z.
const EXAMPLE_S: u64 = 1_369_353_600;
const HOST: &str = "examplebucket.s3.amazonaws.com";

/// The documentation's example: credentials, region and time.
fn example() -> (Signer, SystemTime) {
    let credentials = Credentials {
        access_key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
        secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
        session_token: None,
    };
    (Signer::new(credentials, "us-east-1".to_owned()), UNIX_EPOCH + Duration::from_secs(EXAMPLE_S))
}

fn authorization(
    method: &Method,
    path: &str,
    query: &str,
    extra: &[(&'static str, &'static str)],
    hash: [u8; 32],
) -> String {
    let (signer, now) = example();
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static(HOST));
    headers.insert("user-agent", HeaderValue::from_static("not signed"));
    for (name, value) in extra {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    signer.sign(method, path, query, &mut headers, PayloadHash::Sha256(hash), now);
    headers["authorization"].to_str().unwrap().to_owned()
}

/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>.
#[test]
fn published_header_examples() {
    let start =
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request";
    let get = authorization(&Method::GET, "/test.txt", "", &[("range", "bytes=0-9")], EMPTY);
    assert_eq!(
        get,
        format!(
            "{start}, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=\
             f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        )
    );
    let body = digest::digest(&digest::SHA256, b"Welcome to Amazon S3.");
    let mut path = String::from("/");
    encode_path("test$file.text", &mut path);
    let put = authorization(
        &Method::PUT,
        &path,
        "",
        &[("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
        body.as_ref().try_into().unwrap(),
    );
    assert_eq!(
        put,
        format!(
            "{start}, SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, \
             Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        )
    );
    let lifecycle = encode_query(&[("lifecycle", "")]);
    assert!(
        authorization(&Method::GET, "/", &lifecycle, &[], EMPTY)
            .ends_with("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    );
    let list = encode_query(&[("prefix", "J"), ("max-keys", "2")]);
    assert!(
        authorization(&Method::GET, "/", &list, &[], EMPTY)
            .ends_with("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    );
}

/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>.
#[test]
fn published_presigned_example() {
    let (signer, now) = example();
    let day = Duration::from_hours(24);
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static(HOST));
    let query = signer.presign(&Method::GET, "/test.txt", &[], &headers, day, now);
    assert_eq!(
        query,
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2F\
         us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&\
         X-Amz-SignedHeaders=host&X-Amz-Signature=\
         aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    );
}

#[test]
fn caches_follow_the_clock() {
    let (signer, now) = example();
    let sign_at = |signer: &Signer, now| {
        let mut headers = HeaderMap::new();
        headers.insert("host", HeaderValue::from_static(HOST));
        signer.sign(&Method::GET, "/", "", &mut headers, PayloadHash::Unsigned, now);
        headers
    };
    for seconds in [0, 1, 86_399, 86_400, 5, 86_400 * 300] {
        let now = now + Duration::from_secs(seconds);
        let fresh = sign_at(&example().0, now);
        assert_eq!(sign_at(&signer, now), fresh, "after {seconds} s");
        assert_eq!(fresh["x-amz-content-sha256"], UNSIGNED);
    }
}

#[test]
fn every_byte_is_encoded() {
    let key: String = (0_u8..128).map(char::from).chain("é漢😀".chars()).collect();
    let mut path = String::new();
    encode_path(&key, &mut path);
    assert!(
        path.contains("%00%01%02") && path.contains("%20%21%22%23%24%25%26%27%28%29%2A%2B%2C-./0")
    );
    assert!(path.ends_with("z%7B%7C%7D~%7F%C3%A9%E6%BC%A2%F0%9F%98%80"));
    assert_eq!(encode_query(&[("b", "/ +"), ("a", ""), ("a-b", "x")]), "a=&a-b=x&b=%2F%20%2B");
}

#[test]
fn blanks_in_values_do_not_change_the_signature() {
    let sign = |value| authorization(&Method::GET, "/", "", &[("x-amz-meta-a", value)], EMPTY);
    assert_eq!(sign("a  b \t c "), sign("a b c"));
    assert_ne!(sign("a b c"), sign("ab c"));
}

/// A request that both signers sign.
#[derive(Clone, Debug)]
struct Case {
    kind: &'static str,
    second: u64,
    region: String,
    token: String,
    key: String,
    body: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
}

fn cases() -> impl Strategy<Value = Case> {
    let odd = || proptest::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter);
    let header = ("x-amz-meta-[a-z0-9-]{1,8}", "[ -~\t]{0,12}");
    let fixed = ("(content-type|content-md5|range|x-amz-acl)", "[!-~]{1,12}");
    (
        prop_oneof![Just("signed"), Just("unsigned"), Just("presign")],
        0_u64..4_102_444_800,
        "[a-z]{2}-[a-z]{4}-[1-9]",
        "[A-Za-z0-9/+=]{0,9}",
        odd(),
        odd(),
        proptest::collection::vec((odd(), odd()), 0..4),
        proptest::collection::vec(prop_oneof![header, fixed], 0..5),
    )
        .prop_map(|(kind, second, region, token, key, body, query, mut headers)| {
            headers.sort();
            headers.dedup_by(|next, first| next.0 == first.0);
            Case { kind, second, region, token, key, body, query, headers }
        })
}

impl Case {
    /// A line for the other signer.
    fn line(&self) -> String {
        let (second, count) = (self.second.to_string(), self.query.len().to_string());
        let mut fields =
            vec![self.kind, &second, &self.region, &self.token, &self.key, &self.body, &count];
        for (name, value) in self.query.iter().chain(&self.headers) {
            fields.extend([name.as_str(), value.as_str()]);
        }
        let digit = |digit: u8| char::from(HEX[usize::from(digit)]);
        let hex = |field: &&str| {
            let digits = field.bytes().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
            digits.collect::<String>()
        };
        fields.iter().map(hex).collect::<Vec<_>>().join(" ")
    }

    /// `Authorization`, or the signature of the presigned URL.
    fn signed(&self) -> String {
        let credentials = Credentials {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: "secret/+key".to_owned(),
            session_token: Some(self.token.clone()).filter(|token| !token.is_empty()),
        };
        let signer = Signer::new(credentials, self.region.clone());
        let now = UNIX_EPOCH + Duration::from_secs(self.second);
        let (host, mut path) = ("bucket.example.com:9000", String::from("/"));
        encode_path(&self.key, &mut path);
        let mut headers = HeaderMap::new();
        headers.insert("host", HeaderValue::from_static(host));
        for (name, value) in &self.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.insert(name, HeaderValue::from_str(value).unwrap());
        }
        if self.kind == "presign" {
            let expires = Duration::from_secs(77);
            let query = signer.presign(&Method::PUT, &path, &[], &headers, expires, now);
            return query.rsplit_once('=').unwrap().1.to_owned();
        }
        let query: Vec<_> =
            self.query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let body = digest::digest(&digest::SHA256, self.body.as_bytes());
        let payload = match self.kind {
            "unsigned" => PayloadHash::Unsigned,
            _ => PayloadHash::Sha256(body.as_ref().try_into().unwrap()),
        };
        let query = encode_query(&query);
        signer.sign(&Method::PUT, &path, &query, &mut headers, payload, now);
        headers["authorization"].to_str().unwrap().to_owned()
    }
}

/// Compares with botocore on random requests.
#[test]
fn signatures_are_those_of_botocore() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use proptest::strategy::ValueTree as _;

    let has_botocore = Command::new("python3")
        .args(["-c", "import botocore.auth"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !has_botocore {
        eprintln!("SKIPPED: python3 cannot import botocore");
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::default();
    let cases: Vec<_> =
        (0..300).map(|_| cases().new_tree(&mut runner).unwrap().current()).collect();
    let mut python = Command::new("python3")
        .args(["-c", include_str!("oracle.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = cases.iter().map(|case| case.line() + "\n").collect();
    let mut stdin = python.stdin.take().unwrap();
    // From a thread, so that neither side waits for the other's pipe to be emptied.
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), cases.len());
    for (case, expected) in cases.iter().zip(answers.lines()) {
        assert_eq!(case.signed(), expected, "{case:?}");
    }
}

/// Time of a signature; run with `--ignored --nocapture` and optimization.
#[test]
#[ignore = "a measurement"]
fn time_of_a_signature() {
    let (signer, now) = example();
    let mut headers = HeaderMap::with_capacity(24);
    headers.insert("host", HeaderValue::from_static(HOST));
    headers.insert("content-type", HeaderValue::from_static("text/plain"));
    headers.insert("x-amz-checksum-crc64nvme", HeaderValue::from_static("AAAAAAAAAAA="));
    let times = (0..100).map(|_| {
        let start = std::time::Instant::now();
        for _ in 0..100 {
            let mut headers = headers.clone();
            let payload = PayloadHash::Unsigned;
            signer.sign(&Method::PUT, "/a/key", "", &mut headers, payload, now);
        }
        start.elapsed() / 100
    });
    println!("sign: {:?} a signature", times.min().unwrap());
}
