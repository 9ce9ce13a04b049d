//! CPU time of the client for one small request, over loopback.
//!
//! `cargo run --profile profiling --example request_cpu [PUT|GET|HEAD] [REQUESTS] [IN_FLIGHT]`
//! starts itself a second time as the server, so that the figure is the client's alone.

use std::io::{BufRead as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use s3haul::env::Env;
use s3haul::s3::ops::{GetObject, HeadObject, PutObject};
use s3haul::s3::{
    Client, ClientConfig, CredentialsConfig, EndpointConfig, ObjectProperties, Payload,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const BODY: &[u8] = &[b'x'; 4096];

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be built");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "serve") {
        runtime.block_on(serve());
        return;
    }
    let own = std::env::current_exe().expect("this program has a path");
    let mut server =
        Command::new(own).arg("serve").stdout(Stdio::piped()).spawn().expect("the server starts");
    let mut line = String::new();
    let output = server.stdout.take().expect("stdout is piped");
    std::io::BufReader::new(output).read_line(&mut line).expect("the server tells its port");
    runtime.block_on(measure(line.trim(), &arguments));
    server.kill().expect("the server ends");
    server.wait().expect("the server is gone");
}

async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    writeln!(std::io::stdout(), "{address}").expect("the parent listens");
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).expect("a socket");
        tokio::spawn(answer(stream));
    }
}

async fn answer(mut stream: TcpStream) {
    let mut buffer = vec![0; 64 * 1024];
    let mut filled = 0;
    let mut body = 4096;
    loop {
        match stream.read(&mut buffer[filled..]).await {
            Ok(read) if read > 0 => filled += read,
            _ => return,
        }
        let Some(end) = buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let method = buffer[0];
        body = if method == b'P' { body } else { 0 };
        if filled < end + 4 + body {
            continue;
        }
        filled = 0;
        body = 4096;
        let head = "HTTP/1.1 200 OK\r\nx-amz-request-id: 0123456789ABCDEF\r\n\
                    last-modified: Tue, 14 Nov 2023 23:13:20 GMT\r\netag: \"0123\"\r\n";
        let mut reply =
            format!("{head}content-length: {}\r\n\r\n", [0, 4096][usize::from(method != b'P')]);
        if method == b'G' {
            reply.push_str(std::str::from_utf8(BODY).expect("ASCII"));
        }
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn measure(address: &str, arguments: &[String]) {
    let method = arguments.first().map_or("PUT", String::as_str).to_owned();
    let number = |at: usize, default| {
        arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (requests, in_flight): (usize, usize) = (number(1, 100_000), number(2, 32));
    let config = ClientConfig {
        endpoint: EndpointConfig {
            url: Some(format!("http://{address}")),
            ..EndpointConfig::default()
        },
        credentials: CredentialsConfig::Static {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: "secret".to_owned(),
            session_token: None,
        },
        ..ClientConfig::default()
    };
    let client = Client::new(config, Env::system()).expect("the settings are sound");
    run(&client, &method, 2_000, in_flight).await;
    let before = cpu_us();
    let started = std::time::Instant::now();
    run(&client, &method, requests, in_flight).await;
    let (used, wall) = (cpu_us() - before, started.elapsed());
    let each = used / f64::from(u32::try_from(requests).unwrap_or(u32::MAX));
    writeln!(std::io::stdout(), "{method}: {each:.2} us CPU a request, {wall:.2?} in all")
        .expect("somebody reads");
}

async fn run(client: &Client, method: &str, requests: usize, in_flight: usize) {
    let left = Arc::new(AtomicUsize::new(requests));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..in_flight {
        let (client, left, method) = (client.clone(), Arc::clone(&left), method.to_owned());
        tasks.spawn(async move {
            let properties = ObjectProperties::default();
            let mut payload = Payload::from_bytes(Bytes::from_static(BODY));
            payload.digest(client.upload_digests(None));
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                .is_ok()
            {
                one(&client, &method, &payload, &properties).await;
            }
        });
    }
    tasks.join_all().await;
}

async fn one(client: &Client, method: &str, payload: &Payload, properties: &ObjectProperties) {
    let (bucket, key) = ("bucket", "some/folder/key-0001");
    match method {
        "GET" => {
            let input = GetObject { bucket, key, ..GetObject::default() };
            let mut got = client.get_object(input).await.expect("GET works");
            assert_eq!(got.body.collect(8192).await.expect("the body comes").len(), 4096);
        }
        "HEAD" => {
            let input = HeadObject { bucket, key, ..HeadObject::default() };
            client.head_object(input).await.expect("HEAD works");
        }
        _ => {
            let input = PutObject {
                bucket,
                key,
                payload: payload.clone(),
                properties,
                checksum: None,
                conditions: s3haul::s3::ops::Conditions::default(),
            };
            client.put_object(input).await.expect("PUT works");
        }
    }
}

/// User and system time of this process in microseconds.
fn cpu_us() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    let ns: f64 = text.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number");
    ns / 1_000.0
}
