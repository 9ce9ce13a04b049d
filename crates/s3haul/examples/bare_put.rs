//! The bare limit of uploading: a loop that hashes, signs and sends, and does nothing else.
//!
//! No planning, no files, no checksums beside the signature's SHA-256, no retries, no output.
//! It shares no code with the library: hyper connections held one a slot, SigV4 by hand. The
//! bench compares the CPU time of `s3haul cp` with the CPU time of this process.
//!
//! `bare_put HOST:PORT BUCKET COUNT SIZE CONCURRENCY` with `AWS_ACCESS_KEY_ID` and
//! `AWS_SECRET_ACCESS_KEY` set; prints one JSON line.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use aws_lc_rs::{digest, hmac};
use bytes::Bytes;
use http::{Method, Request};
use hyper::client::conn::http1;

struct Job {
    host: String,
    bucket: String,
    size: usize,
    count: u64,
    next: AtomicU64,
    access_key_id: String,
    signing_key: hmac::Key,
    date: String,
    day: String,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [host, bucket, count, size, concurrency] = args.as_slice() else {
        panic!("usage: bare_put HOST:PORT BUCKET COUNT SIZE CONCURRENCY");
    };
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let (day, date) = now();
    let job = Arc::new(Job {
        host: host.clone(),
        bucket: bucket.clone(),
        size: usize::try_from(number(size)).expect("fits"),
        count: number(count),
        next: AtomicU64::new(0),
        access_key_id: std::env::var("AWS_ACCESS_KEY_ID").expect("AWS_ACCESS_KEY_ID"),
        signing_key: signing_key(
            &std::env::var("AWS_SECRET_ACCESS_KEY").expect("AWS_SECRET_ACCESS_KEY"),
            &day,
        ),
        date,
        day,
    });
    let begin = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("rt");
    runtime.block_on(async {
        let mut slots = tokio::task::JoinSet::new();
        for _ in 0..number(concurrency) {
            slots.spawn(slot(Arc::clone(&job)));
        }
        slots.join_all().await;
    });
    println!("{{\"count\":{},\"wall_s\":{:.3}}}", job.count, begin.elapsed().as_secs_f64());
}

async fn slot(job: Arc<Job>) {
    let stream = tokio::net::TcpStream::connect(&job.host).await.expect("connect");
    stream.set_nodelay(true).expect("nodelay");
    let (mut sender, connection) = http1::handshake(TokioIo(stream)).await.expect("handshake");
    tokio::spawn(connection);
    let body = Bytes::from(vec![b'x'; job.size]);
    loop {
        let number = job.next.fetch_add(1, Ordering::Relaxed);
        if number >= job.count {
            return;
        }
        sender.ready().await.expect("ready");
        let response = sender.send_request(request(&job, number, &body)).await.expect("send");
        assert!(response.status().is_success(), "status {}", response.status());
        let mut body = response.into_body();
        while let Some(frame) = next_frame(&mut body).await {
            frame.expect("frame");
        }
    }
}

async fn next_frame(
    body: &mut hyper::body::Incoming,
) -> Option<Result<http_body::Frame<Bytes>, hyper::Error>> {
    std::future::poll_fn(|cx| http_body::Body::poll_frame(std::pin::Pin::new(body), cx)).await
}

fn request(job: &Job, number: u64, body: &Bytes) -> Request<Full> {
    let path = format!("/{}/bare/{number:012}", job.bucket);
    let payload = hex(digest::digest(&digest::SHA256, body).as_ref());
    let names = "host;x-amz-content-sha256;x-amz-date";
    let canonical = format!(
        "PUT\n{path}\n\nhost:{}\nx-amz-content-sha256:{payload}\nx-amz-date:{}\n\n{names}\n{payload}",
        job.host, job.date
    );
    let scope = format!("{}/us-east-1/s3/aws4_request", job.day);
    let hashed = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
    let to_sign = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{hashed}", job.date);
    let signature = hex(hmac::sign(&job.signing_key, to_sign.as_bytes()).as_ref());
    Request::builder()
        .method(Method::PUT)
        .uri(path)
        .header("host", &job.host)
        .header("x-amz-date", &job.date)
        .header("x-amz-content-sha256", payload)
        .header(
            "authorization",
            format!(
                "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={signature}",
                job.access_key_id
            ),
        )
        .body(Full(Some(body.clone())))
        .expect("request")
}

fn signing_key(secret: &str, day: &str) -> hmac::Key {
    let step = |key: &[u8], text: &str| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
    };
    let key = step(format!("AWS4{secret}").as_bytes(), day);
    let key = step(&step(&step(&key, "us-east-1"), "s3"), "aws4_request");
    hmac::Key::new(hmac::HMAC_SHA256, &key)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Today as `YYYYMMDD` and now as `YYYYMMDDTHHMMSSZ`.
fn now() -> (String, String) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let stamp =
        jiff::Timestamp::from_second(i64::try_from(since).expect("fits")).expect("in range");
    (stamp.strftime("%Y%m%d").to_string(), stamp.strftime("%Y%m%dT%H%M%SZ").to_string())
}

/// A body of one piece.
struct Full(Option<Bytes>);

impl http_body::Body for Full {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        std::task::Poll::Ready(self.0.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Gives tokio's stream the traits that hyper asks for.
struct TokioIo(tokio::net::TcpStream);

impl hyper::rt::Read for TokioIo {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        mut cursor: hyper::rt::ReadBufCursor<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        let mut space = [0_u8; 8192];
        let limit = cursor.remaining().min(space.len());
        let mut buffer = tokio::io::ReadBuf::new(&mut space[..limit]);
        let stream = std::pin::Pin::new(&mut self.0);
        let polled = tokio::io::AsyncRead::poll_read(stream, cx, &mut buffer);
        cursor.put_slice(buffer.filled());
        polled
    }
}

impl hyper::rt::Write for TokioIo {
    fn poll_write(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        bytes: &[u8],
    ) -> std::task::Poll<std::io::Result<usize>> {
        tokio::io::AsyncWrite::poll_write(std::pin::Pin::new(&mut self.0), cx, bytes)
    }

    fn poll_flush(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        tokio::io::AsyncWrite::poll_flush(std::pin::Pin::new(&mut self.0), cx)
    }

    fn poll_shutdown(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        tokio::io::AsyncWrite::poll_shutdown(std::pin::Pin::new(&mut self.0), cx)
    }

    fn poll_write_vectored(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> std::task::Poll<std::io::Result<usize>> {
        tokio::io::AsyncWrite::poll_write_vectored(std::pin::Pin::new(&mut self.0), cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
