//! `serve` with a certificate.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::support::{Bench, stderr};

/// A server with a certificate for `localhost`; the folder holds `ca.pem`.
fn start() -> (tempfile::TempDir, Bench) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let host = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = host.signed_by(&key, &authority).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, pem: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, pem).unwrap();
        path.into_os_string().into_string().unwrap()
    };
    let certificate = write("server.pem", certificate.pem());
    let key = write("key.pem", key.serialize_pem());
    let bench = Bench::in_memory_with(&["--tls-certificate", &certificate, "--tls-key", &key]);
    bench.file("ca.pem", &authority.pem());
    (folder, bench)
}

#[test]
fn files_go_up_and_down_over_tls() {
    let (_folder, bench) = start();
    assert!(bench.endpoint().starts_with("https://localhost:"), "{}", bench.endpoint());
    bench.ok("mb s3://box --ca-bundle ca.pem");
    bench.file("up", &"over TLS ".repeat(1_000_000));
    bench.ok("cp up s3://box/ --ca-bundle ca.pem --quiet");
    bench.ok("cp s3://box/up down --ca-bundle ca.pem --quiet");
    assert!(bench.read("up") == bench.read("down"), "other bytes came back");
}

#[test]
fn a_client_that_does_not_know_the_authority_sends_nothing() {
    let (_folder, bench) = start();
    bench.ok("mb s3://box --ca-bundle ca.pem");
    let output = bench.run("ls s3://box");
    assert_ne!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("certificate"), "{}", stderr(&output));
}

#[test]
fn plain_http_is_hung_up_on() {
    let (_folder, bench) = start();
    let port = bench.endpoint().rsplit_once(':').unwrap().1;
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // A reset is a way to hang up, too; waiting until the time limit is not.
    if let Err(error) = stream.read_to_end(&mut answer) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
    assert!(!answer.starts_with(b"HTTP/"), "{answer:?}");
}

#[test]
fn plain_http_to_a_tls_server_fails_at_once() {
    let (_folder, bench) = start();
    let endpoint = bench.endpoint().replace("https://", "http://");
    let begin = Instant::now();
    let output = bench.run(&format!("ls s3://box --endpoint-url {endpoint}"));
    let messages = stderr(&output);
    assert_eq!(output.status.code(), Some(255), "{messages}");
    assert!(messages.contains("speaks TLS: use https:// in the endpoint URL"), "{messages}");
    assert!(!messages.contains("attempts"), "{messages}");
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
}

#[test]
fn a_file_without_a_certificate_is_named() {
    let (folder, bench) = start();
    let key = folder.path().join("key.pem").into_os_string().into_string().unwrap();
    let output = bench.run(&format!(
        "serve --memory --address 127.0.0.1:0 --tls-certificate {key} --tls-key {key}"
    ));
    assert!(stderr(&output).contains("key.pem` holds no certificate"), "{}", stderr(&output));
}

#[test]
fn certificate_and_key_belong_together() {
    let bench = Bench::new();
    assert_eq!(bench.status("serve --memory --address 127.0.0.1:0 --tls-certificate a.pem"), 252);
    assert_eq!(bench.status("serve --memory --address 127.0.0.1:0 --tls-key a.pem"), 252);
    let output = bench
        .run("serve --memory --address 127.0.0.1:0 --tls-certificate ca.pem --tls-key nowhere.pem");
    assert!(stderr(&output).contains("ca.pem"), "{}", stderr(&output));
}
