//! The region of an instance, where nothing names one and a request has to.

#![expect(clippy::unwrap_used, reason = "helpers of tests: they may fail them")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::support::{Bench, stdout};

/// A metadata service that knows a region, and a proxy that reaches nothing; what they were asked.
fn service() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let lines = BufReader::new(socket.try_clone().unwrap()).lines();
            let mut head = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
            let first = head.next().unwrap_or_default();
            head.for_each(drop);
            let (status, text) = match first.as_str() {
                line if line.contains("/latest/api/token") => ("200 OK", "token"),
                line if line.contains("/placement/region") => ("200 OK", "eu-west-1"),
                _ => ("403 Forbidden", ""),
            };
            seen.lock().unwrap().push(first);
            let length = text.len();
            let head =
                format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}");
            // A client that has gone is not our business.
            _ = socket.write_all(format!("{head}\r\n\r\n{text}").as_bytes());
        }
    });
    (address, asked)
}

/// A command on an instance without a region and an endpoint.
fn on_instance(bench: &Bench, address: SocketAddr, args: &str) -> Command {
    let mut command = bench.command(args);
    for name in ["AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"] {
        command.env_remove(name);
    }
    command.env_remove("AWS_EC2_METADATA_DISABLED").env("AWS_MAX_ATTEMPTS", "1");
    command.env("AWS_EC2_METADATA_SERVICE_ENDPOINT", format!("http://{address}"));
    command.env("AWS_METADATA_SERVICE_TIMEOUT", "60");
    command.env("HTTPS_PROXY", format!("http://{address}"));
    command
}

#[test]
fn mb_and_presign_take_the_region_of_the_instance() {
    let bench = Bench::new();
    let (address, asked) = service();
    let taken = || std::mem::take(&mut *asked.lock().unwrap());
    let url = stdout(&on_instance(&bench, address, "presign s3://box/k").output().unwrap());
    assert!(url.starts_with("https://box.s3.eu-west-1.amazonaws.com/k?"), "{url}");
    assert!(url.contains("%2Feu-west-1%2Fs3%2F"), "{url}");
    let expected =
        ["PUT /latest/api/token HTTP/1.1", "GET /latest/meta-data/placement/region HTTP/1.1"];
    assert_eq!(taken(), expected);
    on_instance(&bench, address, "mb s3://box").output().unwrap();
    let last = taken().pop().unwrap();
    assert!(last.starts_with("CONNECT box.s3.eu-west-1.amazonaws.com:443 "), "{last}");

    // No other command waits for it.
    for (args, name, value, host) in [
        ("presign s3://box/k", "AWS_REGION", "eu-north-1", "box.s3.eu-north-1.amazonaws.com"),
        ("presign s3://box/k --region us-west-2", "LANG", "C", "box.s3.us-west-2.amazonaws.com"),
        ("presign s3://box/k", "AWS_ENDPOINT_URL", "https://store.test", "store.test/box"),
        (
            "presign s3://box/k",
            "AWS_EC2_METADATA_DISABLED",
            "true",
            "box.s3.us-east-1.amazonaws.com",
        ),
    ] {
        let output = on_instance(&bench, address, args).env(name, value).output().unwrap();
        assert!(stdout(&output).starts_with(&format!("https://{host}")), "{args}: {output:?}");
        assert!(taken().is_empty(), "{args}");
    }
    on_instance(&bench, address, "ls s3://box").output().unwrap();
    let asked = taken();
    assert!(!asked.is_empty() && asked.iter().all(|line| line.starts_with("CONNECT")), "{asked:?}");
}

/// Each line of `run` asked again.
#[test]
fn the_region_of_the_instance_is_asked_for_once_in_a_process() {
    let bench = Bench::new();
    let (address, asked) = service();
    bench.file("lines", "presign s3://box/a\npresign s3://box/b\n");
    let output = on_instance(&bench, address, "run lines").output().unwrap();
    assert_eq!(stdout(&output).matches("box.s3.eu-west-1.amazonaws.com").count(), 2, "{output:?}");
    assert_eq!(asked.lock().unwrap().len(), 2, "a token and the region");
}
