//! A proxy that changes requests and answers: one task a connection, one request after the other.

use std::net::SocketAddr;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A request or an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// The first line.
    pub(crate) line: String,
    /// Names in small letters, and values.
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub(crate) body: Vec<u8>,
}

/// What is done to a request; an answer ends it.
pub(crate) type Before = fn(&mut Message) -> Option<Message>;
/// What is done to the answer of a request.
pub(crate) type After = fn(&Message, &mut Message);

impl Message {
    /// An answer with an S3 error, or without a body for a status of success.
    pub(crate) fn refusal(status: u16, code: &str) -> Self {
        let body = match code {
            "" => Vec::new(),
            code => format!("<Error><Code>{code}</Code></Error>").into_bytes(),
        };
        let id = ("x-amz-request-id".to_owned(), b"1".to_vec());
        Self { line: format!("HTTP/1.1 {status} X"), headers: vec![id], body }
    }

    pub(crate) fn is(&self, method: &str) -> bool {
        self.line.split(' ').next() == Some(method)
    }

    /// Path and query.
    pub(crate) fn target(&self) -> &str {
        self.line.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn path(&self) -> &str {
        self.target().split('?').next().unwrap_or_default()
    }

    pub(crate) fn has_query(&self, name: &str) -> bool {
        let query = self.target().split_once('?').map_or("", |(_, query)| query);
        query.split('&').any(|pair| pair.split('=').next() == Some(name))
    }

    /// Whether it lists objects.
    pub(crate) fn lists(&self) -> bool {
        let others =
            ["uploads", "versions", "uploadId", "versioning", "tagging", "acl", "location"];
        let is_bucket = self.path().trim_matches('/').split('/').count() == 1;
        self.is("GET") && is_bucket && !others.iter().any(|name| self.has_query(name))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    pub(crate) fn drop_headers(&mut self, start: &str) {
        self.headers.retain(|(name, _)| !name.starts_with(start));
    }

    pub(crate) fn set_header(&mut self, name: &str, value: &[u8]) {
        for (known, old) in &mut self.headers {
            if known == name {
                *old = value.to_vec();
            }
        }
    }

    pub(crate) fn replace_in_line(&mut self, from: &str, to: &str) {
        self.line = self.line.replace(from, to);
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap_or_default()
    }

    pub(crate) fn set_text(&mut self, text: &str) {
        self.body = text.as_bytes().to_vec();
    }

    async fn read(stream: &mut BufReader<TcpStream>, no_body: bool) -> std::io::Result<Self> {
        let mut message = Self::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            if stream.read_until(b'\n', &mut line).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let text = line.trim_ascii_end();
            if text.is_empty() {
                break;
            }
            if message.line.is_empty() {
                message.line = String::from_utf8_lossy(text).into_owned();
            } else if let Some(at) = text.iter().position(|byte| *byte == b':') {
                let name = String::from_utf8_lossy(&text[..at]).to_ascii_lowercase();
                message.headers.push((name, text[at + 1..].trim_ascii().to_vec()));
            }
        }
        if let Some(length) = message.header("content-length").filter(|_| !no_body) {
            let length: usize = String::from_utf8_lossy(length).parse().unwrap();
            message.body = vec![0; length];
            stream.read_exact(&mut message.body).await?;
        } else if message.header("transfer-encoding").is_some() {
            message.read_chunks(stream).await?;
        }
        Ok(message)
    }

    async fn read_chunks(&mut self, stream: &mut BufReader<TcpStream>) -> std::io::Result<()> {
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await?;
            let size = usize::from_str_radix(line.trim(), 16).unwrap();
            let start = self.body.len();
            self.body.resize(start + size, 0);
            stream.read_exact(&mut self.body[start..]).await?;
            stream.read_line(&mut line).await?;
            if size == 0 {
                self.headers.retain(|(name, _)| name != "transfer-encoding");
                return Ok(());
            }
        }
    }

    async fn write(&self, stream: &mut BufReader<TcpStream>, no_body: bool) -> std::io::Result<()> {
        let mut bytes = format!("{}\r\n", self.line).into_bytes();
        for (name, value) in &self.headers {
            if name != "content-length" || no_body {
                bytes.extend_from_slice(format!("{name}: ").as_bytes());
                bytes.extend_from_slice(value);
                bytes.extend_from_slice(b"\r\n");
            }
        }
        if !no_body {
            bytes.extend_from_slice(format!("content-length: {}\r\n", self.body.len()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        if !no_body {
            bytes.extend_from_slice(&self.body);
        }
        stream.get_mut().write_all(&bytes).await
    }
}

/// A running proxy; it ends when it is dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Proxy {
    /// Listens on a free port.
    pub(crate) async fn start(server: SocketAddr, before: Before, after: After) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(async move {
                    // Either side may end it at any time.
                    _ = serve(stream, server, before, after).await;
                });
            }
        });
        Self { address, _tasks: tasks }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn serve(
    stream: TcpStream,
    server: SocketAddr,
    before: Before,
    after: After,
) -> std::io::Result<()> {
    let mut client = BufReader::new(stream);
    let mut upstream = BufReader::new(TcpStream::connect(server).await?);
    loop {
        let mut request = Message::read(&mut client, false).await?;
        let is_head = request.is("HEAD");
        let seen = request.clone();
        let mut answer = if let Some(answer) = before(&mut request) {
            answer
        } else {
            // What was signed may be changed, so that nothing is signed any more.
            let length = request.body.len();
            if !is_about_signature(&request) {
                request.drop_headers("authorization");
                request.drop_headers("x-amz-content-sha256");
                request.drop_headers("x-amz-date");
                without_signature(&mut request);
            }
            let is_bare = length == 0 && request.header("content-length").is_none();
            request.write(&mut upstream, is_bare).await?;
            let mut answer = Message::read(&mut upstream, is_head).await?;
            after(&seen, &mut answer);
            answer
        };
        let status = answer.line.split(' ').nth(1).unwrap_or_default();
        let is_bare = is_head || matches!(status, "204" | "304");
        if !is_bare {
            answer.drop_headers("content-length");
        }
        answer.write(&mut client, is_bare).await?;
    }
}

/// Whether a request asks whether its signature counts.
fn is_about_signature(request: &Message) -> bool {
    let is_signed = request.header("authorization").is_some_and(|value| !value.is_empty());
    is_signed && request.is("GET") && request.path().contains("/signature/")
}

/// Takes a presigned URL's signature out of it.
fn without_signature(request: &mut Message) {
    let Some((path, query)) = request.target().split_once('?') else { return };
    if !query.contains("X-Amz-Signature") {
        return;
    }
    let kept: Vec<_> = query.split('&').filter(|pair| !pair.starts_with("X-Amz-")).collect();
    let method = request.line.split(' ').next().unwrap_or_default();
    request.line = format!("{method} {path}?{} HTTP/1.1", kept.join("&"));
}
