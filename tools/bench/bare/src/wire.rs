//! One connection: hyper on a socket or a TLS session, polled by the waiting task. Where
//! the server has ended it after an answer, as one without keep-alive does, the next request goes
//! out on a new one.

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::body::Body;
use crate::options::Options;
use crate::sign::Signer;

/// Where requests go, and how they are signed.
pub(crate) struct Server {
    addresses: Vec<SocketAddr>,
    tls: Option<(tokio_rustls::TlsConnector, ServerName<'static>)>,
    pub(crate) signer: Signer,
    pub(crate) bucket: String,
}

impl Server {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let uri: Uri = options.endpoint.parse().context("the endpoint is no URL")?;
        let authority = uri.authority().context("the endpoint has no host")?;
        let host = authority.host().trim_matches(['[', ']']);
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => bail!("the endpoint is neither http nor https"),
        };
        let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let addresses = std::net::ToSocketAddrs::to_socket_addrs(&(host, port))?.collect();
        let tls = if secure {
            let ca = options.ca.as_deref().context("https needs `ca`")?;
            Some((tls(ca)?, ServerName::try_from(host.to_owned())?))
        } else {
            None
        };
        let signer = Signer::new(options, authority.as_str().to_owned())?;
        Ok(Self { addresses, tls, signer, bucket: options.bucket.clone() })
    }

    /// Whether bodies go out unsigned, because TLS guards them.
    pub(crate) fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    pub(crate) async fn connect(self: &Arc<Self>) -> Result<Link> {
        let (sender, driver) = self.open().await?;
        Ok(Link { server: Arc::clone(self), sender, driver, requests: 0, bytes: 0 })
    }

    async fn open(&self) -> Result<(Sender, Driver)> {
        let stream = TcpStream::connect(&self.addresses[..]).await.context("could not connect")?;
        stream.set_nodelay(true)?;
        match &self.tls {
            Some((connector, name)) => {
                handshake(connector.connect(name.clone(), stream).await?).await
            }
            None => handshake(stream).await,
        }
    }
}

async fn handshake<S>(stream: S) -> Result<(Sender, Driver)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
    Ok((sender, Box::pin(driver)))
}

/// One configuration for all connections, so that they share its session cache.
fn tls(ca: &Path) -> Result<tokio_rustls::TlsConnector> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca).context("could not read `ca`")? {
        roots.add(certificate?)?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config).into())
}

type Sender = http1::SendRequest<Body>;
type Driver = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

/// A connection that takes one request at a time.
pub(crate) struct Link {
    server: Arc<Server>,
    sender: Sender,
    driver: Driver,
    /// Requests sent so far.
    pub(crate) requests: u64,
    /// Bytes of bodies sent and received so far.
    pub(crate) bytes: u64,
}

impl Link {
    /// Sends a request and returns the head of the answer, which must be a success.
    pub(crate) async fn send(&mut self, request: Request<Body>) -> Result<Response<Incoming>> {
        self.requests += 1;
        self.bytes += request.body().size_hint().lower();
        if !self.is_ready().await {
            (self.sender, self.driver) = self.server.open().await?;
        }
        let Self { sender, driver, .. } = self;
        let mut answer = pin!(sender.send_request(request));
        let answer = std::future::poll_fn(|cx| {
            let ended = drive(driver, cx);
            // What the driver does next wakes this task by the socket; no second way is needed.
            match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(answer) => Poll::Ready(answer.map_err(anyhow::Error::from)),
                Poll::Pending => ended.map(|()| Err(anyhow::anyhow!("the connection was lost"))),
            }
        })
        .await?;
        ensure!(answer.status().is_success(), "the server answered {}", answer.status());
        Ok(answer)
    }

    /// Waits until it takes a request; false once it takes none any more.
    async fn is_ready(&mut self) -> bool {
        let Self { sender, driver, .. } = self;
        std::future::poll_fn(|cx| match sender.poll_ready(cx) {
            Poll::Pending => drive(driver, cx).map(|()| false),
            Poll::Ready(ready) => Poll::Ready(ready.is_ok()),
        })
        .await
    }

    /// The next piece of a body.
    pub(crate) async fn piece(&mut self, body: &mut Incoming) -> Result<Option<Bytes>> {
        let driver = &mut self.driver;
        let frame = std::future::poll_fn(|cx| {
            let mut quiet = Context::from_waker(Waker::noop());
            if let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(&mut quiet) {
                return Poll::Ready(frame);
            }
            let ended = drive(driver, cx);
            match Pin::new(&mut *body).poll_frame(&mut quiet) {
                Poll::Pending => ended.map(|()| None),
                ready @ Poll::Ready(_) => ready,
            }
        })
        .await;
        let Some(frame) = frame else { return Ok(None) };
        let bytes = frame?.into_data().unwrap_or_default();
        self.bytes += bytes.len() as u64;
        Ok(Some(bytes))
    }

    /// Sends a request, reads its answer to the end and drops it.
    pub(crate) async fn exchange(&mut self, request: Request<Body>) -> Result<()> {
        let mut body = self.send(request).await?.into_body();
        while !body.is_end_stream() && self.piece(&mut body).await?.is_some() {}
        Ok(())
    }

    /// Sends a request and gives its whole answer.
    pub(crate) async fn text(&mut self, request: Request<Body>) -> Result<String> {
        let mut body = self.send(request).await?.into_body();
        let mut text = Vec::new();
        while let Some(piece) = self.piece(&mut body).await? {
            text.extend_from_slice(&piece);
        }
        Ok(String::from_utf8(text)?)
    }
}

/// Lets the connection work; ready once it has ended.
fn drive(driver: &mut Driver, cx: &mut Context<'_>) -> Poll<()> {
    driver.as_mut().poll(cx).map(|_| ())
}
