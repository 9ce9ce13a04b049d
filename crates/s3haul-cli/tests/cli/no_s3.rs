//! Servers that are no S3: captive portals, wrong ports, proxies with a page of their own.
//!
//! A front stands before the real server and answers some of the requests in its place. What it
//! answered so is never reported as done, no file of ours goes or changes for it, nothing is
//! written to the server, and the message says what answered.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use s3haul_wire::ObjectProperties;
use s3haul_wire::ops::CreateMultipart;

use crate::beside::client;
use crate::support::{Bench, stderr, stdout};

/// Bytes of an answer without end.
const NOISE: u64 = 100 << 20;
/// What of these a client and the buffers between may take.
const NOISE_TAKEN_MAX: u64 = 16 << 20;

/// What the front answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Junk {
    Page,
    Empty,
    Nothing,
    Truncated,
    OtherDocument,
    Noise,
    /// What a server of files answers, also to a PUT (`WebDAV`).
    File,
    /// Conditions are refused by what stands before the server.
    Refused,
    NotModified,
    /// What an S3 answers that overlooks some of the request.
    Written,
}

const ALL: [Junk; 7] = [
    Junk::Page,
    Junk::Empty,
    Junk::Nothing,
    Junk::Truncated,
    Junk::OtherDocument,
    Junk::Noise,
    Junk::File,
];

impl Junk {
    /// Status, content type and body to a request whose proper answer has this root.
    fn answer(self, root: &str) -> (&'static str, &'static str, String) {
        let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
        let page = "<!DOCTYPE html><html><head><title>Hotel Wi-Fi: log in</title></head></html>";
        match self {
            Self::Page => ("200 OK", "text/html", page.to_owned()),
            Self::Empty => ("200 OK", "text/plain", String::new()),
            Self::Nothing => ("204 No Content", "text/plain", String::new()),
            Self::Truncated => {
                ("200 OK", "application/xml", format!("{xml}<{root}><ETag>&quot;0123"))
            }
            Self::OtherDocument => {
                let body = format!("{xml}<Retention><Mode>GOVERNANCE</Mode></Retention>");
                ("200 OK", "application/xml", body)
            }
            Self::Noise => ("200 OK", "application/octet-stream", String::new()),
            Self::File => {
                let status = "200 OK\r\netag: \"4-62\"\r\n\
                              last-modified: Sun, 22 Nov 2026 16:19:41 GMT";
                (status, "text/plain", String::new())
            }
            Self::Refused => ("412 Precondition Failed", "text/plain", String::new()),
            Self::NotModified => ("304 Not Modified", "text/plain", String::new()),
            Self::Written => ("200 OK\r\netag: \"e\"\r\nx-amz-request-id: 1", "a/b", String::new()),
        }
    }

    /// What a message about it must hold.
    fn told(self) -> &'static str {
        match self {
            Self::Nothing => "204 No Content",
            Self::Refused => "412 Precondition Failed",
            Self::NotModified => "304 Not Modified",
            _ => "200 OK",
        }
    }
}

/// Which requests the front answers itself: methods, and a word of the query or path.
type Which = (&'static str, &'static str);

/// A server before the server.
struct Front {
    address: SocketAddr,
    answered: AtomicUsize,
    noise_sent: AtomicU64,
}

impl Front {
    fn start(server: &str, which: Which, root: &'static str, junk: Junk) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (answered, noise_sent) = (AtomicUsize::new(0), AtomicU64::new(0));
        let front = Arc::new(Self { address, answered, noise_sent });
        let (serving, server) = (Arc::clone(&front), server.to_owned());
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let (front, server) = (Arc::clone(&serving), server.clone());
                std::thread::spawn(move || front.serve(socket, &server, which, root, junk));
            }
        });
        front
    }

    /// Answers one request, or passes it on.
    fn serve(
        &self,
        mut socket: TcpStream,
        server: &str,
        (method, word): Which,
        root: &str,
        junk: Junk,
    ) -> Option<()> {
        let (head, body) = request(&socket)?;
        let line = head.lines().next()?;
        let sent = line.split(' ').next()?;
        let is_meant = method.split('|').any(|method| matches!(method, "*") || method == sent);
        if !(is_meant && line.contains(word)) {
            let mut upstream = TcpStream::connect(server).ok()?;
            let head = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
            upstream.write_all(head.as_bytes()).ok()?;
            upstream.write_all(&body).ok()?;
            std::io::copy(&mut upstream, &mut socket).ok()?;
            return Some(());
        }
        self.answered.fetch_add(1, Ordering::SeqCst);
        let (status, kind, body) = junk.answer(root);
        let length = if junk == Junk::Noise { NOISE } else { body.len() as u64 };
        let head = format!(
            "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: {kind}\r\n\
             content-length: {length}\r\n\r\n"
        );
        socket.write_all(head.as_bytes()).ok()?;
        if line.starts_with("HEAD ") {
            return Some(());
        }
        socket.write_all(body.as_bytes()).ok()?;
        let piece = vec![b'x'; 64 * 1024];
        while junk == Junk::Noise && self.noise_sent.load(Ordering::SeqCst) < NOISE {
            socket.write_all(&piece).ok()?;
            self.noise_sent.fetch_add(piece.len() as u64, Ordering::SeqCst);
        }
        Some(())
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Head and body of a request.
fn request(socket: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(socket);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        if let Some(value) = head[start..].to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// A server with objects, an archived one, versions, a lock and an open upload; a folder of files.
fn bench() -> Bench {
    let bench = Bench::new();
    for args in ["mb s3://box", "mb s3://empty", "mb s3://ver", "mb s3://lock --object-lock"] {
        bench.ok(args);
    }
    // Copies in parts, too.
    bench.file("config", "[default]\ns3 =\n  multipart_threshold = 8MB\n");
    bench.file("f", "mine");
    bench.file("out", "mine");
    bench.file("tree/new", "mine");
    // Older than any object, or `sync` uploads it where both have the same second.
    let new = std::fs::File::options().write(true).open(bench.folder().join("tree/new")).unwrap();
    new.set_modified(UNIX_EPOCH + Duration::from_hours(24)).unwrap();
    bench.file("big", &"mine ".repeat(2 << 20));
    for target in [
        "box/k",
        "box/d/a",
        "box/d/b",
        "box/s/new",
        "box/s/a",
        "box/s/b",
        "lock/k",
        "box/ice --storage-class GLACIER",
    ] {
        bench.ok(&format!("cp f s3://{target} --quiet"));
    }
    bench.ok("cp big s3://box/big --quiet");
    bench.ok("tag set s3://box/k --tags t=1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = client(&bench);
    runtime.block_on(async {
        client.put_bucket_versioning("ver", true).await.unwrap();
        let properties = &ObjectProperties::default();
        let input = CreateMultipart { bucket: "box", key: "open", properties, checksum: None };
        client.create_multipart(input).await.unwrap();
    });
    bench.ok("cp f s3://ver/k --quiet");
    bench.ok("rm s3://ver/k");
    bench
}

/// Everything that a command could have changed.
fn state(bench: &Bench) -> (BTreeMap<String, Vec<u8>>, String) {
    let mut files = BTreeMap::new();
    let mut folders = vec![bench.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }
    let told = [
        "ls",
        "ls --recursive s3://box",
        "versions s3://ver",
        "tag get s3://box/k",
        "head s3://box/k --json",
        "head s3://lock/k --json",
        "restore s3://box/ice --status",
        "uploads ls s3://box",
    ];
    (files, told.map(|args| bench.ok(args)).concat())
}

fn run(bench: &Bench, front: &Front, args: &str) -> Output {
    let mut command = bench.command(args);
    command.env("AWS_ENDPOINT_URL", front.url()).env("AWS_CONFIG_FILE", "config");
    command.output().unwrap()
}

/// Command, the requests that are answered wrongly, and the root of their proper answer.
const WRITES: [(&str, Which, &str); 36] = [
    ("cp f s3://box/n", ("PUT", ""), "PutObjectResult"),
    ("mv f s3://box/n", ("PUT", ""), "PutObjectResult"),
    ("mv f s3://box/n --no-overwrite", ("PUT", ""), "PutObjectResult"),
    ("mv --recursive tree s3://box/t", ("PUT", ""), "PutObjectResult"),
    ("mv big s3://box/n", ("POST", "uploads="), "InitiateMultipartUploadResult"),
    ("mv big s3://box/n", ("PUT", "partNumber="), "PutObjectResult"),
    ("mv big s3://box/n", ("POST", "uploadId="), "CompleteMultipartUploadResult"),
    ("cp s3://box/k s3://box/n", ("PUT", ""), "CopyObjectResult"),
    ("mv s3://box/k s3://box/n", ("PUT", ""), "CopyObjectResult"),
    ("mv --recursive s3://box/d s3://box/n", ("PUT", ""), "CopyObjectResult"),
    ("mv s3://box/big s3://box/n", ("POST", "uploads="), "InitiateMultipartUploadResult"),
    ("mv s3://box/big s3://box/n", ("PUT", "partNumber="), "CopyPartResult"),
    ("mv s3://box/big s3://box/n", ("POST", "uploadId="), "CompleteMultipartUploadResult"),
    ("mv s3://box/k s3://box/n --stream", ("PUT", ""), "PutObjectResult"),
    ("mv s3://box/k out", ("GET", "/box/k"), "Object"),
    ("mv s3://box/k out", ("HEAD", "/box/k"), "Object"),
    ("mv s3://box/big out", ("GET", "/box/big"), "Object"),
    ("mv --recursive s3://box/d .", ("GET", "/box/d/"), "Object"),
    ("rm s3://box/k", ("DELETE", ""), "DeleteObjectResult"),
    ("rm --recursive s3://box/d", ("POST", "delete="), "DeleteResult"),
    ("rm --recursive s3://ver --versions --yes", ("POST", "delete="), "DeleteResult"),
    ("undelete s3://ver/k", ("*", "/ver"), "ListVersionsResult"),
    ("undelete s3://ver/k", ("POST|DELETE", ""), "DeleteResult"),
    ("tag set s3://box/k --tags a=1", ("PUT", "tagging="), "Tagging"),
    ("tag add s3://box/k --tags a=1", ("PUT", "tagging="), "Tagging"),
    ("tag remove s3://box/k --keys t", ("PUT|DELETE", "tagging="), "Tagging"),
    ("set s3://box/k --content-type a/b", ("PUT", ""), "CopyObjectResult"),
    ("set s3://box/k --acl public-read", ("PUT", "acl="), "AccessControlPolicy"),
    ("set s3://lock/k --legal-hold on", ("PUT", "legal-hold="), "LegalHold"),
    ("restore s3://box/ice --days 1", ("POST", "restore="), "RestoreResult"),
    ("mb s3://new", ("PUT", ""), "CreateBucket"),
    ("rb s3://empty", ("DELETE", ""), "DeleteBucketResult"),
    ("website s3://box --index-document i", ("PUT", "website="), "WebsiteConfiguration"),
    ("uploads abort --older-than 0s s3://box", ("DELETE", ""), "Abort"),
    ("sync --delete tree s3://box/s", ("POST|DELETE", ""), "DeleteResult"),
    ("sync tree s3://box/d", ("PUT", ""), "PutObjectResult"),
];

fn check(bench: &Bench, front: &Front, args: &str, junk: Junk) {
    let output = run(bench, front, args);
    let (errors, printed) = (stderr(&output), stdout(&output));
    let about = format!("{args}, {junk:?}: {:?} {printed} {errors}", output.status);
    assert!(output.status.code().is_some_and(|code| code > 0), "{about}");
    assert!(printed.is_empty(), "{about}");
    assert!(errors.contains("does not answer as S3 does"), "{about}");
    assert!(errors.contains(junk.told()), "{about}");
    assert!(errors.contains(&front.url()), "{about}");
    let noise = front.noise_sent.load(Ordering::SeqCst);
    let requests = front.answered.load(Ordering::SeqCst) as u64;
    assert!(noise < NOISE_TAKEN_MAX * requests && noise < NOISE, "{about}: {noise} bytes");
}

#[test]
fn what_no_s3_answers_is_never_done() {
    let bench = bench();
    let before = state(&bench);
    for (args, which, root) in WRITES {
        for junk in ALL {
            let server = bench.endpoint().strip_prefix("http://").unwrap();
            let front = Front::start(server, which, root, junk);
            check(&bench, &front, args, junk);
            // Once for each object, and not again.
            let answered = front.answered.load(Ordering::SeqCst);
            assert!((1..=2).contains(&answered), "{args}, {junk:?}: {answered} requests");
        }
        assert!(state(&bench) == before, "{args}: something changed");
    }
}

#[test]
fn a_server_that_is_no_s3_at_all_does_nothing() {
    let bench = bench();
    let before = state(&bench);
    let reads = ["ls s3://box", "ls", "cp s3://box/k out", "cat s3://box/k", "head s3://box/k"];
    let writes = WRITES.map(|(args, ..)| args);
    for args in reads.into_iter().chain(writes) {
        for junk in [Junk::Page, Junk::Empty, Junk::Nothing, Junk::File] {
            let front = Front::start("", ("*", ""), "Any", junk);
            check(&bench, &front, args, junk);
        }
    }
    assert!(state(&bench) == before);
}

/// A refusal that is none of S3's is no object that exists already: nothing is skipped for it.
#[test]
fn a_condition_that_no_s3_refuses_skips_nothing() {
    let bench = bench();
    let before = state(&bench);
    let server = bench.endpoint().strip_prefix("http://").unwrap();
    for args in [
        "cp f s3://box/n --no-overwrite",
        "mv f s3://box/n --no-overwrite",
        "cp s3://box/k s3://box/n --no-overwrite",
        "cp --recursive tree s3://box/t --no-overwrite",
        "cp s3://box/big got",
    ] {
        for junk in [Junk::Refused, Junk::NotModified] {
            let method = if args.contains("got") { "GET" } else { "PUT" };
            let front = Front::start(server, (method, ""), "", junk);
            check(&bench, &front, args, junk);
        }
    }
    assert!(state(&bench) == before);
}

/// A server that takes encryption for nothing leaves the object in the clear: the file stays.
#[test]
fn encryption_that_is_ignored_is_a_failure() {
    let bench = bench();
    let before = state(&bench);
    let server = bench.endpoint().strip_prefix("http://").unwrap();
    let key = "0123456789abcdefghijklmnopqrstuv";
    for flags in ["--sse AES256", "--sse aws:kms", &format!("--sse-c AES256 --sse-c-key {key}")] {
        let front = Front::start(server, ("PUT|HEAD", "/box/n"), "", Junk::Written);
        let output = run(&bench, &front, &format!("mv f s3://box/n {flags}"));
        let errors = stderr(&output);
        assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()), "{errors}");
        assert!(
            errors.contains("s3://box/n was written, but not with this encryption"),
            "{errors}"
        );
        assert!(!errors.contains(key), "{errors}");
    }
    // An upload in parts is dropped before there is an object.
    let front = Front::start(server, ("PUT", "partNumber="), "", Junk::Written);
    let output = run(&bench, &front, "mv big s3://box/n --sse AES256");
    let errors = stderr(&output);
    assert!(errors.contains("the upload was not completed"), "{output:?}");
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(state(&bench) == before);
}

#[test]
fn keys_of_the_wrong_length_are_refused_before_the_first_request() {
    let bench = Bench::new();
    bench.file("f", "mine");
    bench.file("key", "0123456789abcdefghijklmnopqrstuv\n");
    let front = Front::start("", ("*", ""), "", Junk::Page);
    for args in [
        "cp f s3://box/n --sse-c AES256 --sse-c-key short",
        "cp f s3://box/n --sse-c AES256 --sse-c-key fileb://key",
        "cp s3://box/f s3://box/n --sse-c-copy-source AES256 --sse-c-copy-source-key short",
    ] {
        let output = run(&bench, &front, args);
        assert_eq!(output.status.code(), Some(252), "{output:?}");
        assert!(stderr(&output).contains("a key for SSE-C has 32"), "{output:?}");
    }
    assert_eq!(front.answered.load(Ordering::SeqCst), 0);
}

/// A port of another protocol is named as that, at the first attempt.
#[test]
fn a_port_that_speaks_no_http_is_reported_once() {
    let bench = Bench::new();
    bench.file("f", "mine");
    for (greeting, is_first, words) in [
        ("SSH-2.0-OpenSSH_9.2p1\r\n", true, "SSH-2.0-OpenSSH_9.2p1"),
        ("-ERR unknown command 'PUT'\r\n", false, "-ERR unknown command 'PUT'"),
        ("220 mail ESMTP ready\r\n", true, "220 mail ESMTP ready"),
        ("\0\0\u{12}\u{4}\0\0", false, "does not speak HTTP"),
        ("HTTP/1.1 what?\r\n\r\n", false, "does not speak HTTP"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        std::thread::spawn(move || {
            for mut socket in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::SeqCst);
                let answered = is_first || request(&socket).is_some();
                _ = socket.write_all(greeting.as_bytes());
                // It waits for the next line, as these do.
                _ = answered && std::io::copy(&mut socket, &mut std::io::sink()).is_ok();
            }
        });
        let output = bench.command("mv f s3://box/n").env("AWS_ENDPOINT_URL", &url).output();
        let (output, seen) = (output.unwrap(), connections.load(Ordering::SeqCst));
        let errors = stderr(&output);
        assert_eq!((output.status.code(), seen), (Some(1), 1), "{greeting:?}: {errors}");
        let is_told = errors.contains("does not speak HTTP") && errors.contains(words);
        assert!(is_told && errors.contains(&url), "{greeting:?}: {errors}");
        assert_eq!(bench.read("f"), "mine");
    }
}
