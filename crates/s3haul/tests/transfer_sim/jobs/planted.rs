//! Planted bugs: connections that change what a sound client sends into what a bad one would send.
//!
//! None is in the product. What stands between client and server reads the requests, leaves out
//! the signature (the server takes unsigned requests here) and every checksum that would give it
//! away at once, and damages requests as configured. Answers go back as they are.

#![expect(unreachable_pub, reason = "a test has no outside")]

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use s3haul_sim::Sim;
use s3haul_wire::env::{BoxFuture, Connector, Io};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};

/// Bytes that a pipe holds.
const PIPE_BYTES: usize = 256 << 10;

/// What a bad client would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// It does not say which state of an object it means.
    DropsIfMatch,
    /// It completes an upload without its last part.
    CompletesWithoutPart,
    /// `mv` removes the source as soon as it began to read it.
    DeletesBeforeArrival,
    /// A body that is sent again begins in the middle.
    RetriesFromTheMiddle,
    /// It holds what it reads against no checksum.
    IgnoresChecksums,
    /// An upload that failed stays open.
    ForgetsUploads,
}

/// All of them: how `S3HAUL_TEST_CANARY` names each, and what the model says of it.
pub const BUGS: [(Bug, &str, &str); 6] = [
    (Bug::DropsIfMatch, "if-match", "LOST"),
    (Bug::CompletesWithoutPart, "missing-part", "torn"),
    (Bug::DeletesBeforeArrival, "early-delete", "LOST"),
    (Bug::RetriesFromTheMiddle, "middle-retry", "torn"),
    (Bug::IgnoresChecksums, "no-checksums", "torn"),
    (Bug::ForgetsUploads, "open-uploads", "uploads are open"),
];

impl Bug {
    /// The bug of a name.
    pub fn of(name: &str) -> Self {
        let known = BUGS.iter().find(|(_, known, _)| *known == name);
        let names = BUGS.map(|(_, name, _)| name);
        known.unwrap_or_else(|| panic!("the planted bugs are {names:?}, not {name}")).0
    }
}

struct Spoiler {
    sim: Sim,
    bug: Option<Bug>,
    /// How often each request was sent.
    sent: Mutex<HashMap<String, u32>>,
}

/// Connections with a bug, or for comparison with none.
pub fn planted(sim: Sim, bug: Option<Bug>) -> Arc<dyn Connector> {
    Arc::new(Spoiled(Arc::new(Spoiler { sim, bug, sent: Mutex::default() })))
}

struct Spoiled(Arc<Spoiler>);

impl Connector for Spoiled {
    fn resolve<'a>(
        &'a self,
        _host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]) })
    }

    fn connect(&self, _address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Io>>> {
        let spoiler = Arc::clone(&self.0);
        Box::pin(async move {
            let (client, near) = tokio::io::duplex(PIPE_BYTES);
            let (far, server) = tokio::io::duplex(PIPE_BYTES);
            let sim = spoiler.sim.clone();
            tokio::spawn(async move { sim.serve_connection(server).await });
            let (from_client, mut to_client) = tokio::io::split(near);
            let (mut from_server, to_server) = tokio::io::split(far);
            // Whichever side ends first ends the other: no half of a connection stays.
            tokio::spawn(async move {
                tokio::select! {
                    () = spoiler.requests(from_client, to_server) => {}
                    _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
                }
            });
            Ok(Box::new(client) as Box<dyn Io>)
        })
    }
}

/// A request's head and body.
struct Message {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Message {
    /// The next request, unless the client is gone.
    async fn read(stream: &mut ReadHalf<DuplexStream>, bytes: &mut Vec<u8>) -> Option<Self> {
        let end = loop {
            if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if stream.read_buf(bytes).await.ok()? == 0 {
                return None;
            }
        };
        let head = String::from_utf8(bytes.drain(..end).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let line = lines.next().unwrap().to_owned();
        let pair = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        let headers: Vec<_> = lines.map(pair).collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.map_or(0, |(_, value)| value.parse().unwrap());
        while bytes.len() < length {
            if stream.read_buf(bytes).await.ok()? == 0 {
                return None;
            }
        }
        let body = bytes.drain(..length).collect();
        Some(Self { line, headers, body })
    }

    fn leave_out(&mut self, is_unwanted: impl Fn(&str) -> bool) {
        self.headers.retain(|(name, _)| !is_unwanted(name));
    }

    fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|(name, _)| name == header)
    }

    fn starts(&self, method: &str) -> bool {
        self.line.starts_with(method)
    }

    fn text(mut self) -> Vec<u8> {
        self.leave_out(|name| name == "content-length" || name == "authorization");
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers = headers.collect::<String>();
        let length = self.body.len();
        let head = format!("{}\r\n{headers}content-length: {length}\r\n\r\n", self.line);
        [head.into_bytes(), self.body].concat()
    }
}

/// Headers that describe the body.
fn is_digest(name: &str) -> bool {
    name.starts_with("x-amz-checksum")
        || name.starts_with("x-amz-sdk-checksum")
        || ["x-amz-content-sha256", "x-amz-mp-object-size", "content-md5"].contains(&name)
}

impl Spoiler {
    async fn requests(
        &self,
        mut client: ReadHalf<DuplexStream>,
        mut server: WriteHalf<DuplexStream>,
    ) {
        let mut bytes = Vec::new();
        while let Some(mut message) = Message::read(&mut client, &mut bytes).await {
            let early = self.spoil(&mut message);
            if server.write_all(&message.text()).await.is_err() {
                return;
            }
            if let Some(line) = early {
                self.remove(&line).await;
            }
        }
    }

    /// Spoils a request; gives the path of what is to be removed as soon as it is on its way.
    fn spoil(&self, message: &mut Message) -> Option<String> {
        match self.bug? {
            Bug::DropsIfMatch => message.leave_out(|name| name.ends_with("if-match")),
            Bug::CompletesWithoutPart => {
                let body = String::from_utf8_lossy(&message.body).into_owned();
                if let Some(at) = body.rfind("<Part>").filter(|_| body.contains("</Complete")) {
                    let end = body.rfind("</Part>").unwrap() + "</Part>".len();
                    message.body = [&body[..at], &body[end..]].concat().into_bytes();
                    message.leave_out(is_digest);
                }
            }
            Bug::DeletesBeforeArrival => {
                let copies = message.headers.iter().find(|(name, _)| name == "x-amz-copy-source");
                if let Some((_, source)) = copies {
                    return Some(format!("/{}", source.trim_start_matches('/')));
                }
                let path = message.line.split(' ').nth(1)?;
                let reads = message.starts("GET /bucket/") && !path.contains('?');
                return reads.then(|| path.to_owned());
            }
            Bug::IgnoresChecksums => message.leave_out(|name| name == "x-amz-checksum-mode"),
            Bug::ForgetsUploads => {
                if message.starts("DELETE") && message.line.contains("uploadId=") {
                    "DELETE /bucket/nothing HTTP/1.1".clone_into(&mut message.line);
                }
            }
            Bug::RetriesFromTheMiddle => {
                let is_body = message.starts("PUT") && !message.has("x-amz-copy-source");
                let mut sent = self.sent.lock().unwrap();
                let times = sent.entry(message.line.clone()).or_default();
                *times += 1;
                if is_body && *times > 1 {
                    message.body.drain(..message.body.len() / 2);
                    message.leave_out(is_digest);
                }
            }
        }
        None
    }

    /// Removes an object over a connection of its own.
    async fn remove(&self, path: &str) {
        let (mut near, far) = tokio::io::duplex(PIPE_BYTES);
        let sim = self.sim.clone();
        tokio::spawn(async move { sim.serve_connection(far).await });
        let request = format!("DELETE {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        near.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        _ = near.read_to_end(&mut answer).await;
    }
}
