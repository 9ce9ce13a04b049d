//! What connections run over: TCP, bare or under TLS.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::error::SimError;

/// Where the certificate of a server that speaks TLS lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// PEM: the server's certificate, then those between it and the root.
    pub certificate: PathBuf,
    /// PEM: its private key.
    pub key: PathBuf,
}

impl TlsFiles {
    /// Reads the files; TLS 1.2 and 1.3, sessions resumed by tickets.
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, SimError> {
        let unread = |path: &PathBuf| {
            let path = path.display().to_string();
            move |error: pem::Error| SimError::Tls(format!("`{path}`: {error}"))
        };
        let unusable = |error: rustls::Error| {
            SimError::Tls(format!("`{}`: {error}", self.certificate.display()))
        };
        let chain: Vec<_> = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect)
            .map_err(unread(&self.certificate))?;
        if chain.is_empty() {
            let message = format!("`{}` holds no certificate", self.certificate.display());
            return Err(SimError::Tls(message));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(unread(&self.key))?;
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(unusable)?
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .map_err(unusable)?;
        config.ticketer = aws_lc_rs::Ticketer::new().map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config).into())
    }

    /// The URL of a server that listens here; certificates name `localhost` rather than
    /// 127.0.0.1.
    pub(crate) fn url(address: SocketAddr) -> String {
        if address.ip() == Ipv4Addr::LOCALHOST {
            format!("https://localhost:{}", address.port())
        } else {
            format!("https://{address}")
        }
    }
}

enum Stream {
    Bare(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A TCP stream that can be closed with a reset.
pub(crate) struct Socket {
    stream: Stream,
    reset: Arc<AtomicBool>,
}

impl Socket {
    /// Shakes hands within a time limit where there is TLS.
    pub(crate) async fn new(
        stream: TcpStream,
        tls: Option<TlsAcceptor>,
        time_limit: Duration,
        reset: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let stream = match tls {
            Some(tls) => {
                let session = tokio::time::timeout(time_limit, tls.accept(stream)).await;
                Stream::Tls(Box::new(session.map_err(|_| io::ErrorKind::TimedOut)??))
            }
            None => Stream::Bare(stream),
        };
        Ok(Self { stream, reset })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.reset.load(Ordering::Relaxed) {
            let _ = match &self.stream {
                Stream::Bare(stream) => stream.set_zero_linger(),
                Stream::Tls(stream) => stream.get_ref().0.set_zero_linger(),
            };
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Bare(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Bare(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Bare(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Bare(stream) => stream.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Bare(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Bare(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
