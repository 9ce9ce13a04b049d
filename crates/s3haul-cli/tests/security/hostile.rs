//! `serve` and clients that mean no good. After each of them the server answers, and its memory is
//! what it was.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::signatures::{self, Signed};

/// Memory that a server may have taken in the end, in KiB: a debug build with all its limits used.
const MEMORY_MAX_KIB: u64 = 400 * 1024;

/// A server that runs by itself.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) folder: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_s3haul"))
            .args(["serve", "store", "--address", "127.0.0.1:0", "--stop-with-stdin", "--debug"])
            .env("S3HAUL_SERVE_ACCESS_KEY", signatures::KEY)
            .env("S3HAUL_SERVE_SECRET_KEY", signatures::SECRET)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let url =
            lines.find_map(|line| line.strip_prefix("export AWS_ENDPOINT_URL=").map(str::to_owned));
        let address = url.unwrap().strip_prefix("http://").unwrap().parse().unwrap();
        let server = Self { child, address, folder };
        server.assert_well("at the start");
        assert_eq!(server.signed("PUT", "/box", b"").0, 200);
        server
    }

    /// Status and body of what a signed request is answered.
    pub(crate) fn signed(&self, method: &str, path: &str, body: &[u8]) -> (u16, String) {
        self.send(&Signed::new(self.address, method, path, body).request())
    }

    /// The same of bytes as they are.
    pub(crate) fn send(&self, bytes: &[u8]) -> (u16, String) {
        let mut socket = self.connect();
        // The server may have hung up before the end: its answer is there all the same.
        _ = socket.write_all(bytes);
        answer(socket)
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
        socket
    }

    fn memory_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Asserts that it runs, answers soon, and has not grown too much.
    fn assert_well(&self, after: &str) {
        let start = Instant::now();
        let (status, body) = self.signed("GET", "/", b"");
        assert_eq!(status, 200, "{after}: {body}");
        assert!(start.elapsed() < Duration::from_secs(20), "{after}: {:?}", start.elapsed());
        let kib = self.memory_kib();
        assert!(kib < MEMORY_MAX_KIB, "{after}: {kib} KiB");
    }

    /// Nothing but the store is in its folder, and nothing of this machine was given away.
    fn assert_untouched(&self) {
        let mut names: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["log", "store"]);
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap();
        assert!(!log.contains("panicked") && !log.contains("internal error"), "{log}");
        assert!(!log.contains(signatures::SECRET) && !log.contains("Signature="), "{log}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let status = self.child.wait().unwrap();
        if !std::thread::panicking() {
            assert!(status.success(), "the server ended with {status}");
        }
    }
}

/// Status (0 where there is none) and body.
fn answer(socket: TcpStream) -> (u16, String) {
    let mut reader = BufReader::new(socket);
    let mut status = 0;
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap_or(0) > 0 && line != "\r\n" {
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest[..3].parse().unwrap();
        }
        let lower = line.to_ascii_lowercase();
        if let Some(rest) = lower.strip_prefix("content-length:") {
            length = rest.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body).unwrap();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[test]
fn heads_without_end_or_measure_are_refused() {
    let server = Server::start();
    let long = "x".repeat(1 << 20);
    let many = "header: x\r\n".repeat(200_000);
    for (what, request) in [
        ("a long header", format!("GET / HTTP/1.1\r\nhost: x\r\nlong: {long}\r\n\r\n")),
        ("a long first line", format!("GET /{long} HTTP/1.1\r\nhost: x\r\n\r\n")),
        ("a long query", format!("GET /b?{long} HTTP/1.1\r\nhost: x\r\n\r\n")),
        ("a long method", format!("{long} / HTTP/1.1\r\nhost: x\r\n\r\n")),
        ("many headers", format!("GET / HTTP/1.1\r\nhost: x\r\n{many}\r\n")),
        ("no HTTP", format!("\x16\x03\x01{long}")),
        ("zeroes", "\0".repeat(1 << 20)),
    ] {
        let (status, body) = server.send(request.as_bytes());
        assert!(status == 0 || (400..500).contains(&status), "{what}: {status} {body}");
        server.assert_well(what);
    }
    server.assert_untouched();
}

/// 10 GB would take long: what counts is that the server stops to read long before.
#[test]
fn a_header_of_gigabytes_does_not_get_far() {
    let server = Server::start();
    let mut socket = server.connect();
    socket.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nlong: ").unwrap();
    let (chunk, mut sent) = (vec![b'x'; 1 << 20], 0_u64);
    while sent < 10 << 30 {
        match socket.write(&chunk) {
            Ok(written) => sent += written as u64,
            Err(_) => break,
        }
    }
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    server.assert_well("gigabytes");
    server.assert_untouched();
}

#[test]
fn lengths_that_make_no_sense_are_refused() {
    let server = Server::start();
    for lengths in [
        "content-length: -1",
        "content-length: 18446744073709551616",
        "content-length: 99999999999999999999999",
        "content-length: 1, 2",
        "content-length: +5",
        "content-length: 0x10",
        "content-length: 5\r\ncontent-length: 6",
        "transfer-encoding: gzip",
        "transfer-encoding: chunked, gzip",
        "transfer-encoding: xchunked",
    ] {
        let request = format!("PUT /box/k HTTP/1.1\r\nhost: x\r\n{lengths}\r\n\r\nhello");
        let (status, body) = server.send(request.as_bytes());
        assert!(status == 0 || (400..502).contains(&status), "{lengths}: {status} {body}");
    }
    for chunks in ["ffffffffffffffff\r\nx", "fffffffffffffffff\r\nx", "-1\r\nx", "zz\r\n", "5;"] {
        let head = "PUT /box/k HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n";
        let mut socket = server.connect();
        socket.write_all(format!("{head}\r\n{chunks}").as_bytes()).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        let (status, body) = answer(socket);
        assert!(status == 0 || (400..500).contains(&status), "{chunks}: {status} {body}");
    }
    // More than a server takes, said and not sent.
    let huge = Signed::new(server.address, "PUT", "/box/k", b"x");
    let request = String::from_utf8(huge.request()).unwrap();
    let request =
        request.replace("content-length: 1\r\n", "content-length: 9223372036854775807\r\n");
    let mut socket = server.connect();
    socket.write_all(request.as_bytes()).unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let (status, body) = answer(socket);
    assert!(status == 0 || (400..500).contains(&status), "{status} {body}");
    server.assert_well("lengths");
    assert_eq!(server.signed("GET", "/box/k", b"").0, 404);
    server.assert_untouched();
}

/// Two lengths: the second request hides in the body of the first, or is a request of its own for a
/// server that counts differently. It is refused like any other that is not signed.
#[test]
fn smuggled_requests_are_requests_like_others() {
    let server = Server::start();
    let inner = "DELETE /box HTTP/1.1\r\nhost: x\r\n\r\n";
    for (lengths, body) in [
        (format!("content-length: {}\r\ntransfer-encoding: chunked", inner.len() + 5), "0\r\n\r\n"),
        ("transfer-encoding: chunked\r\ncontent-length: 5".to_owned(), "0\r\n\r\n"),
        ("transfer-encoding: chunked\r\ntransfer-encoding: identity".to_owned(), "0\r\n\r\n"),
        ("transfer-encoding : chunked\r\ncontent-length: 5".to_owned(), "0\r\n\r\n"),
        ("content-length: 0".to_owned(), ""),
    ] {
        let request = format!("PUT /box/k HTTP/1.1\r\nhost: x\r\n{lengths}\r\n\r\n{body}{inner}");
        let (status, _) = server.send(request.as_bytes());
        assert!(status == 0 || status >= 400, "{lengths}: {status}");
        assert_eq!(server.signed("HEAD", "/box", b"").0, 200, "{lengths}: the bucket is gone");
    }
    server.assert_untouched();
}

#[test]
fn paths_lead_nowhere() {
    let server = Server::start();
    fs::write(server.folder.path().join("store/box/foreign"), "not an object").unwrap();
    std::os::unix::fs::symlink("/etc", server.folder.path().join("store/box/etc")).unwrap();
    for path in [
        "/../../etc/passwd",
        "/..",
        "/../box",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/.s3haul/buckets/box.json",
        "/.s3haul/",
        "/box%2f..%2f..",
        "/box%00/x",
        "/%00",
        "//etc/passwd",
    ] {
        for method in ["GET", "PUT", "DELETE"] {
            let (status, body) = server.signed(method, path, b"");
            let is_refused = (400..500).contains(&status);
            assert!(is_refused && !body.contains("root:"), "{method} {path}: {status} {body}");
        }
    }
    for key in
        ["../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "etc/passwd", "%2e%2e/x", "foreign"]
    {
        let path = format!("/box/{key}");
        let (status, body) = server.signed("GET", &path, b"");
        assert!((400..500).contains(&status) && !body.contains("root:"), "{key}: {status} {body}");
    }
    // Nor does a link that was put in the place of an object's file.
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join("outside");
    fs::write(&outside, "outer").unwrap();
    assert_eq!(server.signed("PUT", "/box/d/linked", b"inner").0, 200);
    let inside = server.folder.path().join("store/box/d/linked");
    assert_eq!(fs::read(&inside).unwrap(), b"inner");
    fs::remove_file(&inside).unwrap();
    std::os::unix::fs::symlink(&outside, &inside).unwrap();
    let (status, body) = server.signed("GET", "/box/d/linked", b"");
    assert!(status >= 400 && !body.contains("outer"), "{status} {body}");
    // Keys are only names: they may be anything, and come back.
    for key in ["../up", "..%2fup2", "%00", "a%00b", "etc/new", "%0d%0aset-cookie:%20x", "."] {
        let path = format!("/box/{key}");
        let (status, body) = server.signed("PUT", &path, b"kept");
        if status == 200 {
            let (status, body) = server.signed("GET", &path, b"");
            assert_eq!((status, body.as_str()), (200, "kept"), "{key}");
        } else {
            assert!((400..500).contains(&status), "{key}: {status} {body}");
        }
    }
    assert!(!std::path::Path::new("/etc/new").exists());
    // A copy reads no file either.
    for source in ["/../../etc/passwd", "box/../../../etc/passwd", "/box/etc/passwd", "/.s3haul/x"]
    {
        let mut request = Signed::new(server.address, "PUT", "/box/copied", b"");
        request.header("x-amz-copy-source", source);
        let (status, body) = server.send(&request.request());
        assert!((400..500).contains(&status), "{source}: {status} {body}");
    }
    server.assert_well("paths");
    server.assert_untouched();
}

#[test]
fn documents_that_grow_are_refused() {
    let server = Server::start();
    let laughs: Vec<String> = (1..10)
        .map(|level| format!("<!ENTITY l{level} \"{}\">", format!("&l{};", level - 1).repeat(10)))
        .collect();
    let laughs = laughs.concat();
    let bomb = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE d [<!ENTITY l0 \"lol\">{laughs}]>\
         <Delete><Object><Key>&l9;</Key></Object></Delete>"
    );
    let outside = "<?xml version=\"1.0\"?><!DOCTYPE d [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\
                   <Delete><Object><Key>&x;</Key></Object></Delete>";
    let deep = "<a>".repeat(1 << 20);
    let wide = format!("<Delete>{}</Delete>", "<Object><Key>k</Key></Object>".repeat(200_000));
    let parts = format!(
        "<CompleteMultipartUpload>{}</CompleteMultipartUpload>",
        "<Part><PartNumber>1</PartNumber><ETag>x</ETag></Part>".repeat(100_000)
    );
    for (what, body) in [
        ("laughs", bomb.as_str()),
        ("a file", outside),
        ("deep", &deep),
        ("wide", &wide),
        ("parts", &parts),
    ] {
        for (method, path) in [
            ("POST", "/box?delete="),
            ("POST", "/box/k?uploadId=none"),
            ("PUT", "/box/k?tagging="),
            ("PUT", "/new-bucket"),
        ] {
            let (status, answer) = server.signed(method, path, body.as_bytes());
            assert!(status == 0 || (200..502).contains(&status), "{what}: {status}");
            assert!(!answer.contains("root:"), "{what} at {path}: {answer}");
            // Without a signature they are not read at all.
            let length = body.len();
            let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}");
            let (status, answer) = server.send(format!("{head}\r\n\r\n{body}").as_bytes());
            assert!(matches!(status, 0 | 400 | 403), "{what} at {path}: {status} {answer}");
        }
        server.assert_well(what);
    }
    server.assert_untouched();
}

/// Many connections that say a little and wait: others are served meanwhile, and they are hung up
/// on in the end.
#[test]
fn a_flood_of_slow_clients_does_not_block_others() {
    let server = Server::start();
    let start = Instant::now();
    let head = format!("GET / HTTP/1.1\r\nhost: x\r\nlong: {}", "x".repeat(30_000));
    let mut slow: Vec<TcpStream> = (0..600).map(|_| server.connect()).collect();
    for socket in &mut slow {
        socket.write_all(head.as_bytes()).unwrap();
    }
    server.assert_well("the flood came");
    while !slow.is_empty() {
        slow.retain_mut(|socket| {
            socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            let waits = |error: &std::io::Error| {
                matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
            };
            let is_open = match socket.read(&mut [0; 64]) {
                Ok(read) => read > 0,
                Err(error) => waits(&error),
            };
            is_open && socket.write_all(b"x").is_ok()
        });
        assert!(start.elapsed() < Duration::from_secs(90), "{} are still there", slow.len());
        std::thread::sleep(Duration::from_millis(200));
        server.assert_well("the flood dribbles");
    }
    server.assert_untouched();
}

#[test]
fn addresses_that_others_reach_need_credentials() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "10.0.0.1:0"] {
        let output = Command::new(env!("CARGO_BIN_EXE_s3haul"))
            .args(["serve", "--memory", "--address", address])
            .env_remove("S3HAUL_SERVE_ACCESS_KEY")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(252), "{address}: {output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("can be reached from other machines"), "{text}");
    }
    let half = Command::new(env!("CARGO_BIN_EXE_s3haul"))
        .args(["serve", "--memory", "--address", "0.0.0.0:0", "--access-key", "a"])
        .output()
        .unwrap();
    assert_eq!(half.status.code(), Some(252), "{half:?}");
}

#[test]
fn a_folder_that_cannot_be_read_wholly_is_served_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let buckets = folder.path().join("store/.s3haul/buckets");
    fs::create_dir_all(&buckets).unwrap();
    fs::write(buckets.join("box.json"), "damaged").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_s3haul"))
        .args(["serve", "store", "--address", "127.0.0.1:0"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let notes: Vec<_> = lines.take_while(|line| !line.starts_with("serving")).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let warning = "warning: could not read 1 of the objects, versions and files of the folder \
                   `store`, which are not served; `--debug` names them";
    assert_eq!(notes, [warning]);
}
