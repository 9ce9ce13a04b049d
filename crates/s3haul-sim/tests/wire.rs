//! Faults, ledger, clock and stores, seen through a client that only knows HTTP.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io;
use std::time::Duration;

use s3haul_sim::{Effect, Fault, RunningServer, Sim, SimError, SimServer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// Everything that came back on one connection.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
    /// How the connection ended.
    end: io::Result<()>,
}

impl Answer {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

async fn ask(mut io: impl AsyncRead + AsyncWrite + Unpin, line: &str, body: &str) -> Answer {
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    io.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let end = io.read_to_end(&mut bytes).await.map(|_| ());
    let split = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(bytes.len());
    let head = String::from_utf8_lossy(&bytes[..split]).to_lowercase();
    let status = head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    let body = bytes.get(split + 4..).unwrap_or_default().to_vec();
    Answer { status, head, body, end }
}

async fn server() -> RunningServer {
    SimServer::builder().allow_anonymous(true).bucket("bbb").start().await.unwrap()
}

async fn over_tcp(server: &RunningServer, line: &str, body: &str) -> Answer {
    ask(TcpStream::connect(server.addr()).await.unwrap(), line, body).await
}

async fn over_pipe(sim: &Sim, line: &str, body: &str) -> Answer {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let sim = sim.clone();
    let serving = tokio::spawn(async move { sim.serve_connection(far).await });
    let answer = ask(near, line, body).await;
    serving.await.unwrap();
    answer
}

#[tokio::test]
async fn a_fault_strikes_as_often_as_set_and_is_in_the_ledger() {
    let server = server().await;
    let slow = Fault::new(Effect::slow_down()).operation("PutObject").key("k").times(2);
    server.weather().push(slow);
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(over_tcp(&server, "PUT /bbb/k", "body").await.status);
    }
    assert_eq!(statuses, [503, 503, 200]);
    assert_eq!(server.ledger().count("PutObject"), 3);
    assert_eq!(server.ledger().count_where(|record| record.status == 503), 2);
    let faults: Vec<_> = server.ledger().records().iter().map(|r| r.fault).collect();
    assert_eq!(faults, ["respond", "respond", ""]);
    assert_eq!(server.ledger().max_concurrency(), 1);
    server.shutdown().await;
}

#[tokio::test]
async fn a_reset_comes_before_and_a_lost_response_after_the_write() {
    let server = server().await;
    server.weather().push(Fault::new(Effect::ResetBeforeResponse).operation("PutObject"));
    let answer = over_tcp(&server, "PUT /bbb/a", "body").await;
    assert_eq!(answer.status, 0);
    assert_eq!(answer.end.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    server.weather().push(Fault::new(Effect::LostResponse).operation("PutObject"));
    assert_eq!(over_tcp(&server, "PUT /bbb/b", "body").await.status, 0);
    assert_eq!(over_tcp(&server, "GET /bbb/a", "").await.status, 404);
    assert_eq!(over_tcp(&server, "GET /bbb/b", "").await.body, b"body");
}

#[tokio::test]
async fn bodies_are_truncated_reset_and_corrupted() {
    let server = server().await;
    over_tcp(&server, "PUT /bbb/k", "0123456789").await;
    let faults = [
        (Effect::Truncate { bytes: 4 }, &b"0123"[..], true),
        (Effect::ResetAfter { bytes: 4 }, b"0123", false),
        (Effect::CorruptByte { offset: 2 }, b"0133456789", true),
        (Effect::Truncate { bytes: 10 }, b"0123456789", true),
    ];
    for (effect, expected, in_order) in faults {
        server.weather().push(Fault::new(effect.clone()).operation("GetObject"));
        let answer = over_tcp(&server, "GET /bbb/k", "").await;
        assert!(answer.head.contains("content-length: 10"), "{effect:?} {}", answer.head);
        assert_eq!(answer.end.is_ok(), in_order, "{effect:?}");
        // A reset may overtake bytes that were sent before it.
        if in_order {
            assert_eq!(answer.body, expected, "{effect:?}");
        }
    }
}

#[tokio::test]
async fn an_error_can_come_with_status_200() {
    let server = server().await;
    over_tcp(&server, "PUT /bbb/k", "x").await;
    server.weather().push(Fault::new(Effect::ok_with_error("InternalError")));
    let body = "<Delete><Object><Key>k</Key></Object></Delete>";
    let answer = over_tcp(&server, "POST /bbb?delete", body).await;
    let text = String::from_utf8(answer.body).unwrap();
    assert_eq!(answer.status, 200);
    assert!(text.contains("<Error><Code>InternalError</Code><Key>k</Key>"), "{text}");
    assert_eq!(over_tcp(&server, "HEAD /bbb/k", "").await.status, 200);
}

#[tokio::test]
async fn what_is_removed_on_conditions_that_are_not_heeded_stays() {
    let server = server().await;
    over_tcp(&server, "PUT /bbb/k", "x").await;
    for condition in
        ["<Size>9</Size>", "<LastModifiedTime>Sat, 01 Jan 2000 00:00:00 GMT</LastModifiedTime>"]
    {
        let body = format!("<Delete><Object><Key>k</Key>{condition}</Object></Delete>");
        let answer = over_tcp(&server, "POST /bbb?delete", &body).await;
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains("<Code>NotImplemented</Code>"), "{text}");
        assert_eq!(over_tcp(&server, "HEAD /bbb/k", "").await.status, 200);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pipe_needs_no_socket_and_time_is_simulated() {
    let sim = SimServer::builder()
        .allow_anonymous(true)
        .virtual_clock(true)
        .bucket("bbb")
        .latency(Duration::from_millis(20))
        .build()
        .unwrap();
    let start = tokio::time::Instant::now();
    let before_ms = sim.clock().now_ms();
    sim.weather().push(Fault::new(Effect::Delay(Duration::from_hours(1))));
    assert_eq!(over_pipe(&sim, "PUT /bbb/k", "x").await.status, 200);
    assert_eq!(start.elapsed().as_millis(), 3_600_020);
    assert_eq!(sim.clock().now_ms() - before_ms, 3_600_020);
    sim.weather().push(Fault::new(Effect::Stall).operation("GetObject"));
    let stalled = over_pipe(&sim, "GET /bbb/k", "");
    assert!(tokio::time::timeout(Duration::from_mins(10), stalled).await.is_err());
    assert_eq!(over_pipe(&sim, "GET /bbb/k", "").await.body, b"x");
    let record = &sim.ledger().of("PutObject")[0];
    assert_eq!((record.duration_us, record.request_bytes), (3_600_020_000, 1));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stops_arriving_is_given_up() {
    let sim = SimServer::builder().allow_anonymous(true).bucket("bbb").build().unwrap();
    let (mut near, far) = tokio::io::duplex(64 * 1024);
    let serving = tokio::spawn(async move { sim.serve_connection(far).await });
    let request = b"PUT /bbb/k HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12345";
    near.write_all(request).await.unwrap();
    let mut answer = String::new();
    near.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("<Code>RequestTimeout</Code>"), "{answer}");
    serving.await.unwrap();
}

#[tokio::test]
async fn only_a_loopback_address_goes_without_keys() {
    let refused = SimServer::builder().bind("0.0.0.0:0").await;
    assert!(matches!(refused, Err(SimError::OpenToTheWorld { .. })));
    let server = SimServer::builder().access_key("id", "secret").bind("0.0.0.0:0").await.unwrap();
    assert_eq!(over_tcp(&server, "GET /", "").await.status, 403);
}

/// The system answers for a server that has no time to accept: for more than the 128 connections of
/// its default. The test's one thread is the server's, too. A client that is not answered tries
/// again after a second, in vain.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_burst_of_connections_finds_room() {
    let server = server().await;
    let connect =
        |_| std::net::TcpStream::connect_timeout(&server.addr(), Duration::from_secs(10)).unwrap();
    let connections: Vec<_> = (0..300).map(connect).collect();
    assert_eq!(connections.len(), 300);
}

#[tokio::test]
async fn a_disk_store_survives_a_restart() {
    let root = tempfile::tempdir().unwrap();
    let keys = ["x", "x/y", "x/", "a//b", "%2E%2E/%2E%2E/up", "d%0A", ".hidden", "Z%25"];
    let start = || {
        let builder = SimServer::builder().allow_anonymous(true).disk(root.path());
        builder.bucket("bbb").start()
    };
    let server = start().await.unwrap();
    for key in keys {
        let put = over_tcp(&server, &format!("PUT /bbb/{key}"), "first").await;
        assert_eq!(put.status, 200, "{key}");
        over_tcp(&server, &format!("PUT /bbb/{key}"), key).await;
    }
    over_tcp(&server, "PUT /bbb/gone", "x").await;
    over_tcp(&server, "DELETE /bbb/gone", "").await;
    let created = over_tcp(&server, "POST /bbb/m?uploads", "").await;
    let text = String::from_utf8(created.body).unwrap();
    let id = text.split("<UploadId>").nth(1).unwrap().split('<').next().unwrap().to_owned();
    over_tcp(&server, &format!("PUT /bbb/m?partNumber=7&uploadId={id}"), "part").await;
    server.shutdown().await;

    let server = start().await.unwrap();
    for key in keys {
        let got = over_tcp(&server, &format!("GET /bbb/{key}"), "").await;
        assert_eq!(got.body, key.as_bytes(), "{key}");
    }
    let listed = over_tcp(&server, "GET /bbb?list-type=2", "").await;
    let text = String::from_utf8(listed.body).unwrap();
    assert!(text.contains("<KeyCount>8</KeyCount>"), "{text}");
    let parts = over_tcp(&server, &format!("GET /bbb/m?uploadId={id}"), "").await;
    let text = String::from_utf8(parts.body).unwrap();
    assert!(text.contains("<PartNumber>7</PartNumber>"), "{text}");
    assert_eq!(std::fs::read(root.path().join("bbb/x")).unwrap().len(), 1);
    assert!(!root.path().join("up").exists() && !root.path().join("bbb/gone").exists());
}

/// A start that fails changes nothing for the server that runs.
#[tokio::test]
async fn a_folder_and_an_address_have_one_server() {
    let root = tempfile::tempdir().unwrap();
    let (folder, ledger) = (root.path().join("store"), root.path().join("ledger"));
    let builder = || SimServer::builder().allow_anonymous(true).ledger_file(&ledger).bucket("bbb");
    let server = builder().disk(&folder).start().await.unwrap();
    assert_eq!(over_tcp(&server, "PUT /bbb/k", "body").await.status, 200);
    let arriving = folder.join(".s3haul/tmp/arriving");
    std::fs::write(&arriving, "half").unwrap();
    let kept = std::fs::read_to_string(&ledger).unwrap();
    assert!(kept.contains("PutObject"), "{kept}");

    let same_folder = builder().disk(&folder).start().await.err().unwrap();
    assert!(same_folder.to_string().contains(folder.to_str().unwrap()), "{same_folder}");
    let same_address = builder().bind(server.addr().to_string()).await.err().unwrap();
    assert!(matches!(same_address, SimError::Bind { .. }), "{same_address}");
    assert!(arriving.exists());
    assert_eq!(std::fs::read_to_string(&ledger).unwrap(), kept);

    server.shutdown().await;
    let server = builder().disk(&folder).start().await.unwrap();
    assert_eq!(over_tcp(&server, "GET /bbb/k", "").await.body, b"body");
    assert!(!arriving.exists());
}

#[tokio::test]
async fn synthetic_objects_are_listed_and_read_but_not_written() {
    let builder = SimServer::builder().allow_anonymous(true).synthetic("seq:2500:size=100");
    let server = builder.start().await.unwrap();
    let page = "GET /synthetic?list-type=2&start-after=key-000000001499";
    let text = String::from_utf8(over_tcp(&server, page, "").await.body).unwrap();
    assert!(text.contains("<KeyCount>1000</KeyCount>"), "{text}");
    assert!(text.contains("<Key>key-000000001500</Key>"), "{text}");
    let whole = over_tcp(&server, "GET /synthetic/key-000000000007", "").await;
    assert_eq!((whole.status, whole.body.len()), (200, 100));
    assert_eq!(over_tcp(&server, "GET /synthetic/key-7", "").await.status, 404);
    assert_eq!(over_tcp(&server, "PUT /synthetic/new", "x").await.status, 405);
}

#[tokio::test]
async fn the_null_store_keeps_sizes_only() {
    let builder = SimServer::builder().allow_anonymous(true).null(false).bucket("bbb");
    let server = builder.start().await.unwrap();
    let put = over_tcp(&server, "PUT /bbb/k", "12345").await;
    assert_eq!(put.status, 200);
    let got = over_tcp(&server, "GET /bbb/k", "").await;
    assert_eq!((got.body.len(), got.body == b"12345"), (5, false));
    let again = over_tcp(&server, "GET /bbb/k", "").await;
    assert_eq!(got.body, again.body);
    over_tcp(&server, "POST /bbb?delete", "<Delete><Object><Key>k</Key></Object></Delete>").await;
    assert_eq!(over_tcp(&server, "GET /bbb/k", "").await.status, 404);
}

/// Readers of an object that is overwritten see one of its states, never a mixture.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overwriting_never_shows_a_mixture() {
    let root = tempfile::tempdir().unwrap();
    let builder = || SimServer::builder().allow_anonymous(true).bucket("bbb");
    for builder in [builder(), builder().disk(root.path())] {
        let server = builder.start().await.unwrap();
        let body = |digit: usize| digit.to_string().repeat(1000 + digit * 100);
        over_tcp(&server, "PUT /bbb/a/k", &body(0)).await;
        let write = async {
            for round in 0..60 {
                let put = over_tcp(&server, "PUT /bbb/a/k", &body(round % 10)).await;
                assert_eq!(put.status, 200);
            }
        };
        let read = async {
            for _ in 0..120 {
                let got = over_tcp(&server, "GET /bbb/a/k", "").await;
                assert_eq!(got.status, 200);
                let digit = usize::from(got.body[0] - b'0');
                assert_eq!(got.body, body(digit).into_bytes());
            }
        };
        tokio::join!(write, read, async {
            for _ in 0..60 {
                let copy = over_tcp(&server, "HEAD /bbb/a/k", "").await;
                assert_eq!(copy.status, 200);
            }
        });
        server.shutdown().await;
    }
    // The last state lies at the key's own path, and nothing else is left.
    assert_eq!(std::fs::read(root.path().join("bbb/a/k")).unwrap().len(), 1900);
    assert_eq!(std::fs::read_dir(root.path().join(".s3haul/blobs")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(root.path().join(".s3haul/tmp")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_subresource_that_is_not_there_does_not_stand_for_the_object() {
    let server = server().await;
    assert_eq!(over_tcp(&server, "PUT /bbb/k", "data").await.status, 200);
    for line in ["DELETE /bbb/k?policy", "PUT /bbb/k?torrent", "DELETE /bbb?versions"] {
        let answer = over_tcp(&server, line, "").await;
        assert_eq!(answer.status, 501, "{line}");
        assert!(answer.text().contains("<Message>A header or query"), "{}", answer.text());
    }
    assert_eq!(over_tcp(&server, "GET /bbb/k", "").await.text(), "data");
}

#[tokio::test]
async fn headers_of_reads_that_cannot_be_read_are_ignored() {
    let server = server().await;
    over_tcp(&server, "PUT /bbb/k", "0123456789").await;
    over_tcp(&server, "PUT /bbb/empty", "").await;
    let table = [
        ("k", "range: bytes=2-3", 206, "23"),
        ("k", "range: bytes=0-1,4-5", 200, "0123456789"),
        ("k", "range: bytes=5-4", 200, "0123456789"),
        ("k", "range: lines=1-2", 200, "0123456789"),
        ("k", "range: bytes=-2", 206, "89"),
        ("k", "if-modified-since: yesterday", 200, "0123456789"),
        ("k", "if-unmodified-since: 1970", 200, "0123456789"),
        ("k", "if-unmodified-since: Thu, 01 Jan 1970 00:00:00 GMT", 412, "<"),
        ("empty", "range: bytes=-5", 416, "<"),
        ("empty", "range: bytes=0-", 416, "<"),
    ];
    for (key, header, status, start) in table {
        let line = format!("GET /bbb/{key} HTTP/1.1\r\n{header}\r\nx-rest:");
        let answer = over_tcp(&server, &line, "").await;
        assert_eq!(answer.status, status, "{header}: {answer:?}");
        assert!(answer.text().starts_with(start), "{header}: {answer:?}");
    }
}

#[tokio::test]
async fn errors_come_with_a_message() {
    let server = server().await;
    let region = "<CreateBucketConfiguration><LocationConstraint>../x</LocationConstraint>\
                  </CreateBucketConfiguration>";
    let table = [
        ("PUT /B", "", 400, "<Code>InvalidBucketName</Code><Message>The specified bucket"),
        ("POST /bbb?delete", "<Delete>", 400, "<Code>MalformedXML</Code><Message>The XML you"),
        ("DELETE /bbb/k?versionId=%00", "", 400, "<Code>InvalidArgument</Code><Message>"),
        ("PUT /ccc", region, 400, "<Code>InvalidLocationConstraint</Code><Message>"),
    ];
    for (line, body, status, expected) in table {
        let answer = over_tcp(&server, line, body).await;
        let text = answer.text();
        assert_eq!(answer.status, status, "{line}: {text}");
        assert!(text.contains(expected) && text.ends_with("</RequestId></Error>"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_complete_head_is_closed() {
    let sim = SimServer::builder().build().unwrap();
    let (mut near, far) = tokio::io::duplex(1024);
    let serving = tokio::spawn(async move { sim.serve_connection(far).await });
    let start = tokio::time::Instant::now();
    near.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n").await.unwrap();
    // Drops of a second keep nothing open.
    while near.write_all(b"a: b\r\n").await.is_ok() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(start.elapsed() < Duration::from_secs(30));
    }
    serving.await.unwrap();
}
