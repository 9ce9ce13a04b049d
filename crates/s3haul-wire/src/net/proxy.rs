//! HTTP proxies: which one a host is reached through, and the CONNECT tunnel for https.
//!
//! Passwords travel in `Proxy-Authorization` only and are never shown.

use base64::Engine as _;
use http::HeaderValue;
use percent_encoding::percent_decode_str;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::no_proxy::is_exempt;
use crate::config::ProxyConfig;
use crate::endpoint::SplitUrl;
use crate::env::Io;
use crate::error::{Error, ErrorKind, Result};

/// Longest answer to CONNECT.
const ANSWER_MAX: usize = 16 * 1024;

/// A proxy.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ProxyTarget {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Value of `Proxy-Authorization`.
    pub(crate) authorization: Option<HeaderValue>,
}

impl std::fmt::Display for ProxyTarget {
    /// `host:port`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{open}{}{close}:{}", self.host, self.port)
    }
}

impl std::fmt::Debug for ProxyTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ProxyTarget({self})")
    }
}

/// The proxy for a host, if any.
pub(crate) fn for_host(
    config: &ProxyConfig,
    https: bool,
    host: &str,
    port: u16,
) -> Result<Option<ProxyTarget>> {
    let url = if https { &config.https } else { &config.http };
    let Some(url) = url.as_deref().filter(|url| !url.is_empty()) else { return Ok(None) };
    if config.no_proxy.as_deref().is_some_and(|list| is_exempt(list, host, port)) {
        return Ok(None);
    }
    parse(url).map(Some)
}

fn parse(url: &str) -> Result<ProxyTarget> {
    let with_scheme = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let invalid = || Error::new(ErrorKind::Config, "the proxy's URL is not valid");
    let split = SplitUrl::parse(&with_scheme).ok_or_else(invalid)?;
    if split.https {
        let message = format!("proxies that speak TLS are not supported: `{}`", split.host);
        return Err(Error::new(ErrorKind::Config, message));
    }
    let authorization = match &split.user_info {
        None => None,
        Some(user_info) => Some(basic(user_info).ok_or_else(invalid)?),
    };
    // Like the AWS tools, without a port: the scheme's default.
    Ok(ProxyTarget { host: split.host, port: split.port, authorization })
}

fn basic(user_info: &str) -> Option<HeaderValue> {
    let plain: Vec<u8> = percent_decode_str(user_info).collect();
    let encoded = base64::engine::general_purpose::STANDARD.encode(plain);
    let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Asks the proxy for a tunnel to `host:port`.
pub(crate) async fn tunnel(
    mut socket: Box<dyn Io>,
    proxy: &ProxyTarget,
    host: &str,
    port: u16,
) -> Result<Box<dyn Io>> {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let mut request =
        format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    if let Some(value) = &proxy.authorization {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    let failed = |error: std::io::Error| {
        let message = format!("Failed to connect to proxy URL: \"http://{proxy}\"");
        Error::new(ErrorKind::Transport, message).with_source(error)
    };
    socket.write_all(&request).await.map_err(failed)?;
    let head = read_head(&mut socket).await.map_err(failed)?;
    match status_of(&head) {
        Some(200..=299) => Ok(socket),
        Some(407) => Err(asks_for_password(proxy)),
        Some(code) => {
            // What the proxy does not allow it will not allow next time.
            let is_final = (400..500).contains(&code) && !matches!(code, 408 | 429);
            let kind = if is_final { ErrorKind::Config } else { ErrorKind::Transport };
            let message = format!("the proxy {proxy} refused the tunnel to {host}:{port}: {code}");
            Err(Error::new(kind, message))
        }
        None => {
            let message = format!("the proxy {proxy} does not speak HTTP");
            Err(Error::new(ErrorKind::Transport, message))
        }
    }
}

/// The error for a proxy that answered 407.
pub(crate) fn asks_for_password(proxy: &ProxyTarget) -> Error {
    let how = match proxy.authorization {
        Some(_) => "does not accept the user and password of its URL",
        None => "asks for a user and password: `http://user:password@host:port`",
    };
    Error::new(ErrorKind::Config, format!("the proxy {proxy} {how} (407)"))
}

/// Reads up to the empty line and not beyond: what follows belongs to the tunnel.
async fn read_head(socket: &mut Box<dyn Io>) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(256);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= ANSWER_MAX {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        head.push(socket.read_u8().await?);
    }
    Ok(head)
}

fn status_of(head: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(head.get(..12)?).ok()?;
    text.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_without_scheme_and_never_shown_with_password() {
        let config = ProxyConfig {
            http: Some("us%40er:p%25w@proxy.test:3128".to_owned()),
            https: None,
            no_proxy: None,
        };
        let proxy = for_host(&config, false, "a.test", 80).unwrap().unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.test", 3128));
        let expected = base64::engine::general_purpose::STANDARD.encode("us@er:p%w");
        assert_eq!(proxy.authorization.as_ref().unwrap(), &format!("Basic {expected}"));
        assert_eq!(format!("{proxy:?}"), "ProxyTarget(proxy.test:3128)");
        let shown = format!("{config:?}");
        assert!(shown.contains("proxy.test:3128") && !shown.contains("p%25w"), "{shown}");
        assert!(for_host(&config, true, "a.test", 443).unwrap().is_none());
    }

    #[tokio::test]
    async fn an_address_with_colons_is_asked_for_in_brackets() {
        let (near, mut far) = tokio::io::duplex(1024);
        let proxy = ProxyTarget { host: "proxy.test".to_owned(), port: 1, authorization: None };
        let answer = async {
            let mut text = vec![0; 31];
            far.read_exact(&mut text).await.unwrap();
            far.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            text
        };
        let (tunnel, text) = tokio::join!(tunnel(Box::new(near), &proxy, "::1", 443), answer);
        assert!(tunnel.is_ok());
        assert_eq!(text, b"CONNECT [::1]:443 HTTP/1.1\r\nHos");
    }
}
