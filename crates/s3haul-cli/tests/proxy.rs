//! The real binary behind a proxy that wants a password, over real sockets.

#![expect(clippy::unwrap_used, reason = "helpers of tests: they may fail them")]

#[expect(dead_code, reason = "helpers that other tests use")]
mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use support::{Bench, stderr};

/// `us@er:pass word`, as `Proxy-Authorization` has it.
const AUTHORIZATION: &str = "Basic dXNAZXI6cGFzcyB3b3Jk";

/// A forwarding proxy; it notes the first line of each request.
struct Proxy {
    address: SocketAddr,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, lines) = (listener.local_addr().unwrap(), Arc::default());
        let noted = Arc::clone(&lines);
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let noted = Arc::clone(&noted);
                std::thread::spawn(move || forward(socket, &noted));
            }
        });
        Self { address, lines }
    }

    fn url(&self, user: &str) -> String {
        format!("http://{user}{}", self.address)
    }
}

/// Carries one request and its answer; the server closes after it.
fn forward(socket: TcpStream, lines: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(socket.try_clone().ok()?);
    let mut head = Vec::new();
    while head.last().is_none_or(|line: &String| line != "\r\n") {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        head.push(line);
    }
    lines.lock().unwrap().push(head[0].trim_end().to_owned());
    let mut near = socket;
    let named = format!("proxy-authorization: {AUTHORIZATION}\r\n");
    if !head.iter().any(|line| line.eq_ignore_ascii_case(&named)) {
        let refused = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
        return near.write_all(refused.as_bytes()).ok();
    }
    let (method, rest) = head[0].split_once(" http://")?;
    let (authority, path) = rest.split_once('/')?;
    let mut far = TcpStream::connect(authority).ok()?;
    let mut sent = format!("{method} /{path}connection: close\r\n");
    let kept = |line: &&String| !line.to_ascii_lowercase().starts_with("proxy-");
    sent.extend(head[1..].iter().filter(kept).map(String::as_str));
    far.write_all(sent.as_bytes()).ok()?;
    let mut up = far.try_clone().ok()?;
    std::thread::spawn(move || std::io::copy(&mut reader, &mut up));
    std::io::copy(&mut far, &mut near).ok()?;
    near.shutdown(Shutdown::Both).ok()
}

#[test]
fn a_tree_goes_through_a_proxy_with_a_password() {
    let (bench, proxy) = (Bench::new(), Proxy::start());
    bench.file("d/a b.txt", "1");
    bench.file("d/big", &"x".repeat(9 << 20));
    let url = proxy.url("us%40er:pass%20word@");
    let run = |args: &str| {
        let output = bench.command(args).env("HTTP_PROXY", &url).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let shown = format!("{}{}", support::stdout(&output), stderr(&output));
        assert!(!shown.contains("pass") && !shown.contains("dXNA"), "{shown}");
    };
    run("mb s3://box --debug");
    run("cp --recursive d s3://box/d --debug");
    run("cp --recursive s3://box/d back");
    assert_eq!(bench.read("back/a b.txt"), "1");
    assert_eq!(bench.read("back/big").len(), 9 << 20);
    let lines = proxy.lines.lock().unwrap().clone();
    let put = format!("PUT {}/box/d/a%20b.txt HTTP/1.1", bench.endpoint());
    assert!(lines.contains(&put), "{lines:?}");
}

#[test]
fn proxies_are_blamed_by_name_and_left_out_where_exempt() {
    let (bench, proxy) = (Bench::new(), Proxy::start());
    let told = |url: &str| {
        let output = bench.command("ls").env("http_proxy", url).output().unwrap();
        assert_ne!(output.status.code(), Some(0));
        stderr(&output)
    };
    let text = told(&proxy.url("us%40er:wrong@"));
    let refused = format!("the proxy {} does not accept the user and password", proxy.address);
    assert!(text.contains(&refused) && !text.contains("wrong"), "{text}");
    assert!(told(&proxy.url("")).contains("asks for a user and password"));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let text = told(&format!("http://user:secret@{closed}"));
    assert!(text.contains(&format!("through the proxy {closed}")), "{text}");
    assert!(!text.contains("secret"), "{text}");
    let mut exempt = bench.command("ls");
    exempt.env("http_proxy", format!("http://{closed}")).env("NO_PROXY", "10.0.0.1,127.0.0.0/8");
    assert!(exempt.output().unwrap().status.success());
}
