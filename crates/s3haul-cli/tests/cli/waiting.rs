//! What is said while a server or a program says nothing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::Output;
use std::time::{Duration, Instant};

use crate::support::{Bench, send, stderr, stdout};

/// Accepts connections, reads nothing and answers nothing.
fn silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for socket in listener.incoming() {
            kept.push(socket);
        }
    });
    address
}

/// Answers each request with a head and the beginning of a body.
fn stalling() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for mut socket in listener.incoming().map_while(Result::ok) {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && socket.read_exact(&mut byte).is_ok() {
                head.extend(byte);
            }
            let answer = "HTTP/1.1 200 OK\r\netag: \"e\"\r\nx-amz-request-id: 1\r\n\
                          content-length: 10\r\n\r\n<?x";
            _ = socket.write_all(answer.as_bytes());
            kept.push(socket);
        }
    });
    address
}

fn run(bench: &Bench, args: &str, address: SocketAddr) -> Output {
    let mut command = bench.command(&format!("{args} --cli-read-timeout 1"));
    command.env("AWS_ENDPOINT_URL", format!("http://{address}")).env("AWS_MAX_ATTEMPTS", "2");
    command.output().unwrap()
}

#[test]
fn a_silent_server_is_named_while_it_is_waited_for() {
    let (bench, address) = (Bench::new(), silent());
    bench.file("f", "x");
    for (args, what) in [
        ("cp f s3://box/k", "PutObject s3://box/k"),
        ("cp s3://box/k g", "HeadObject s3://box/k"),
        ("ls s3://box", "ListObjectsV2 s3://box"),
        ("rm s3://box/k", "DeleteObject s3://box/k"),
    ] {
        let output = run(&bench, args, address);
        let text = stderr(&output);
        for attempt in 1..=2 {
            let line = format!(
                "waiting for an answer of \"http://{address}/\" to {what} (attempt {attempt} of 2) \
                 for 0.5 s\n"
            );
            assert!(text.contains(&line), "{args}: {text}");
        }
        assert_eq!(stdout(&output), "", "{args}");
    }
}

#[test]
fn a_body_that_stalls_is_named_while_it_is_waited_for() {
    let (bench, address) = (Bench::new(), stalling());
    for (args, what) in
        [("cat s3://box/k", "GetObject s3://box/k"), ("ls s3://box", "ListObjectsV2 s3://box")]
    {
        let output = run(&bench, args, address);
        let text = stderr(&output);
        let line = format!(
            "waiting for the rest of an answer of \"http://{address}/\" to {what} (3 of 10 bytes \
             came) for 0.5 s\n"
        );
        assert!(text.contains(&line), "{args}: {text}");
    }
}

#[test]
fn many_requests_that_wait_say_it_once() {
    let (bench, address) = (Bench::new(), silent());
    for number in 0..50 {
        bench.file(&format!("t/{number}"), "x");
    }
    let text = stderr(&run(&bench, "cp --recursive t s3://box", address));
    let lines = text.lines().filter(|line| line.starts_with("waiting for an answer ")).count();
    assert!((1..50).contains(&lines), "{text}");
}

#[test]
fn nothing_is_said_where_silence_is_wanted() {
    let (bench, address) = (Bench::new(), silent());
    bench.file("f", "x");
    for flag in ["--quiet", "--only-show-errors"] {
        let output = run(&bench, &format!("cp f s3://box/k {flag}"), address);
        assert!(!stderr(&output).contains("waiting"), "{output:?}");
    }
}

/// It was waited for in silence, and 30 seconds beyond Ctrl-C.
#[test]
fn a_fifo_without_a_reader_is_named_and_does_not_delay_the_end() {
    let bench = Bench::with_objects(&["small"]);
    bench.file("large", &"x".repeat(9_000_000));
    bench.ok("cp large s3://box/large --quiet");
    std::process::Command::new("mkfifo").arg(bench.path("p")).status().unwrap();
    for (key, size) in [("small", 5), ("large", 9_000_000)] {
        for is_read in [false, true] {
            let mut copy = bench.command(&format!("cp s3://box/{key} p --no-journal"));
            let errors = File::create(bench.path("errors")).unwrap();
            let mut child = copy.stderr(errors).spawn().unwrap();
            let begun = Instant::now();
            while bench.read("errors").is_empty() && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(2));
            }
            let said = bench.read("errors");
            assert!(said.starts_with("warning: waiting for a reader of the FIFO `"), "{said}");
            if is_read {
                assert_eq!(std::fs::read(bench.path("p")).unwrap().len(), size);
            } else {
                send("-INT", &child);
            }
            let begun = Instant::now();
            while child.try_wait().unwrap().is_none() {
                assert!(begun.elapsed() < Duration::from_secs(20), "30 s for a thread: {key}");
                std::thread::sleep(Duration::from_millis(2));
            }
            assert_eq!(child.wait().unwrap().code(), Some(i32::from(!is_read)), "{key}");
        }
    }
}
