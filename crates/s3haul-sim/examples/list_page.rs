//! What one page of a listing costs the server: `list_page KEY_FILE_OR_SPEC [PAGES]`.
//!
//! Asks over an in-memory pipe, so it is the server's own work without sockets, signatures and
//! the client: connection, routing, search, XML.

use std::time::Instant;

use s3haul_sim::SimServer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const PIPE_BYTES: usize = 1 << 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let keys = arguments.next().unwrap_or_else(|| "uuid:1_000_000_000".to_owned());
    let pages: u32 = arguments.next().map_or(Ok(1000), |pages| pages.parse())?;
    let builder = SimServer::builder().allow_anonymous(true);
    let builder = if keys.contains(':') { builder.synthetic(keys) } else { builder.key_file(keys) };
    let began = Instant::now();
    let sim = builder.build()?;
    let opened = began.elapsed();
    let (mut near, far) = tokio::io::duplex(PIPE_BYTES);
    let serving = tokio::spawn(async move { sim.serve_connection(far).await });
    let began = Instant::now();
    let (mut after, mut bytes) = (String::new(), 0);
    for _ in 0..pages {
        let page = ask(&mut near, &after).await?;
        bytes += page.len();
        match page.rsplit_once("<Key>").and_then(|(_, rest)| rest.split_once("</Key>")) {
            Some((last, _)) => last.clone_into(&mut after),
            None => after.clear(),
        }
    }
    let page_us = began.elapsed().as_secs_f64() * 1e6 / f64::from(pages);
    drop(near);
    serving.await?;
    #[expect(clippy::print_stdout, reason = "an example talks to its user")]
    {
        println!("opened in {opened:.1?}; {page_us:.0} µs a page, {bytes} bytes of pages");
    }
    Ok(())
}

/// Sends one request and reads its answer.
async fn ask(io: &mut tokio::io::DuplexStream, after: &str) -> std::io::Result<String> {
    let line = format!(
        "GET /synthetic?list-type=2&encoding-type=url&start-after={after} HTTP/1.1\r\n\
         host: x\r\n\r\n"
    );
    io.write_all(line.as_bytes()).await?;
    let mut answer = Vec::with_capacity(PIPE_BYTES);
    loop {
        io.read_buf(&mut answer).await?;
        if answer.ends_with(b"</ListBucketResult>") {
            return String::from_utf8(answer).map_err(std::io::Error::other);
        }
    }
}
