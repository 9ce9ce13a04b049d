//! Just enough HTTP to fetch a presigned URL from the demo's own server without any S3 client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};

const TIMEOUT: Duration = Duration::from_secs(30);

/// The body behind an `http://` URL. HTTP/1.0, so that the body is what follows until the end.
pub(super) fn get(url: &str) -> Result<Vec<u8>> {
    let (host, path) = split(url)?;
    let mut stream =
        TcpStream::connect(host).with_context(|| format!("could not connect to {host}"))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).context("could not read the answer")?;
    body_of(&answer)
}

fn split(url: &str) -> Result<(&str, String)> {
    let Some(rest) = url.strip_prefix("http://") else { bail!("`{url}` is no http:// URL") };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    Ok((host, format!("/{path}")))
}

fn body_of(answer: &[u8]) -> Result<Vec<u8>> {
    let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n") else {
        bail!("the answer has no end of headers");
    };
    let head = String::from_utf8_lossy(&answer[..end]);
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    if status != "200" {
        let body = String::from_utf8_lossy(&answer[end..]);
        bail!("the server answered {}: {}", head.lines().next().unwrap_or_default(), body.trim());
    }
    Ok(answer[end + 4..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split_and_answers_read() {
        let (host, path) = split("http://127.0.0.1:80/b/k?X-Amz-Date=1").unwrap();
        assert_eq!((host, path.as_str()), ("127.0.0.1:80", "/b/k?X-Amz-Date=1"));
        assert!(split("https://example.org/").is_err());
        assert_eq!(body_of(b"HTTP/1.0 200 OK\r\na: b\r\n\r\nbody").unwrap(), b"body");
        assert!(body_of(b"HTTP/1.0 403 Forbidden\r\n\r\n<Code>").is_err());
    }
}
