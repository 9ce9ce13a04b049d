//! TLS and proxies against real sockets, with certificates made on the spot.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls_pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::client::Client;
use crate::config::{ClientConfig, EndpointConfig, ProxyConfig, RetryConfig, TlsConfig};
use crate::env::Env;
use crate::error::ErrorKind;
use crate::testing::{config, get, put};

struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    fn bundle(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Settings of a server that shows a certificate for a name.
    fn server(&self, name: &str) -> Arc<rustls::ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut server = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        Arc::new(server)
    }
}

/// Answers requests until the other side is tired; gives the first head it saw.
async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
    let mut first = String::new();
    loop {
        let head = read_head(&mut stream).await;
        if head.is_empty() {
            return first;
        }
        if first.is_empty() {
            first = head;
        }
        let reply =
            b"HTTP/1.1 200 OK\r\netag: e\r\nx-amz-request-id: 1\r\ncontent-length: 2\r\n\r\nok";
        if stream.write_all(reply).await.is_err() {
            return first;
        }
    }
}

async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return String::new(),
        }
    }
    String::from_utf8(head).unwrap()
}

async fn serve_tls(server: Arc<rustls::ServerConfig>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let acceptor = tokio_rustls::TlsAcceptor::from(server);
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(socket).await {
                    answer(stream).await;
                }
            });
        }
    });
    address
}

fn client(url: String, tls: TlsConfig, proxy: ProxyConfig) -> Client {
    let endpoint = EndpointConfig { url: Some(url), ..EndpointConfig::default() };
    let retry = RetryConfig { max_attempts: 2, ..RetryConfig::default() };
    let config = ClientConfig { endpoint, tls, proxy, retry, ..config() };
    Client::new(config, Env::system()).unwrap()
}

fn trusting(authority: &Authority) -> TlsConfig {
    TlsConfig { verify: true, ca_bundle: Some(authority.bundle()) }
}

#[tokio::test]
async fn certificates_are_verified_by_default() {
    let (authority, other) = (Authority::new(), Authority::new());
    let right = serve_tls(authority.server("localhost")).await;
    let wrong = serve_tls(authority.server("elsewhere.test")).await;
    let url = |address: SocketAddr| format!("https://localhost:{}", address.port());
    let call =
        async |address, tls| client(url(address), tls, ProxyConfig::default()).call(&get()).await;
    assert_eq!(&call(right, trusting(&authority)).await.unwrap().body[..], b"ok");
    for (address, authority) in [(wrong, &authority), (right, &other)] {
        let error = call(address, trusting(authority)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Certificate, "{error}");
        assert_eq!(error.effort().attempts, 1);
        let text = error.to_string();
        assert!(text.starts_with("SSL validation failed for https://localhost:"), "{text}");
        let blind = TlsConfig { verify: false, ca_bundle: None };
        assert_eq!(&call(address, blind).await.unwrap().body[..], b"ok");
    }
}

#[tokio::test]
async fn a_bundle_that_cannot_be_used_is_an_error_at_once() {
    let authority = Authority::new();
    let address = serve_tls(authority.server("localhost")).await;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let bundles = [
        (folder.path().join("none.pem"), "could not be read"),
        (at("empty.pem", ""), "holds no certificate"),
        (at("text.pem", "no certificate at all\n"), "holds no certificate"),
        (
            at("broken.pem", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"),
            "could not be read",
        ),
    ];
    for (path, expected) in bundles {
        let tls = TlsConfig { verify: true, ca_bundle: Some(path.clone()) };
        let url = format!("https://localhost:{}", address.port());
        let endpoint = |url: String| EndpointConfig { url: Some(url), ..EndpointConfig::default() };
        let with = |endpoint| ClientConfig { endpoint, tls: tls.clone(), ..config() };
        let error = Client::new(with(endpoint(url)), Env::system()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        let plain = endpoint("http://store.test".to_owned());
        assert!(Client::new(with(plain), Env::system()).is_ok(), "it is not needed");
        let text = error.to_string();
        assert!(text.starts_with(&format!("CA bundle `{}` {expected}", path.display())), "{text}");
    }
}

#[tokio::test]
async fn big_uploads_and_reuse_over_tls() {
    let authority = Authority::new();
    let address = serve_tls(authority.server("localhost")).await;
    let url = format!("https://localhost:{}", address.port());
    let client = client(url, trusting(&authority), ProxyConfig::default());
    for _ in 0..3 {
        client.call(&get()).await.unwrap();
    }
    assert_eq!(client.inner.pool.open_connections(), 1);
}

#[test]
fn a_client_may_outlive_its_runtime() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime();
    let listener = server.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        server.block_on(async {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(answer(socket));
            }
        });
    });
    let client = client(format!("http://{address}"), TlsConfig::default(), ProxyConfig::default());
    for _ in 0..3 {
        runtime().block_on(async {
            client.call(&get()).await.unwrap();
            client.call(&get()).await.unwrap();
        });
    }
    assert_eq!(client.inner.pool.open_connections(), 3);
}

/// A proxy that notes heads and asks for `us@er:secret`; it tunnels CONNECT to this machine,
/// refuses other tunnels, and answers all else itself.
async fn serve_proxy(heads: tokio::sync::mpsc::UnboundedSender<String>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let head = read_head(&mut socket).await;
            heads.send(head.clone()).unwrap();
            let is_allowed = head
                .to_ascii_lowercase()
                .contains("\r\nproxy-authorization: basic dxnazxi6c2vjcmv0\r\n");
            let status = match head.strip_prefix("CONNECT localhost:") {
                _ if !is_allowed => "407 Proxy Authentication Required",
                None if head.starts_with("CONNECT ") => "403 Forbidden",
                None => "200 OK",
                Some(rest) => {
                    let port: u16 = rest.split(' ').next().unwrap().parse().unwrap();
                    tunnel(socket, port).await;
                    continue;
                }
            };
            let reply = format!(
                "HTTP/1.1 {status}\r\netag: e\r\nx-amz-request-id: 1\r\ncontent-length: 0\r\n\r\n"
            );
            socket.write_all(reply.as_bytes()).await.unwrap();
        }
    });
    address
}

async fn tunnel(mut socket: TcpStream, port: u16) {
    let mut far = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    socket.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
    tokio::spawn(async move {
        tokio::io::copy_bidirectional(&mut socket, &mut far).await.ok();
    });
}

#[tokio::test]
async fn proxies_are_used_for_both_schemes() {
    let authority = Authority::new();
    let server = serve_tls(authority.server("localhost")).await;
    let (sender, mut heads) = tokio::sync::mpsc::unbounded_channel();
    let proxy = serve_proxy(sender).await;
    let url = format!("http://us%40er:secret@{proxy}");
    let config = ProxyConfig { http: Some(url.clone()), https: Some(url), no_proxy: None };
    let secure = format!("https://localhost:{}", server.port());
    client(secure, trusting(&authority), config.clone()).call(&get()).await.unwrap();
    let head = heads.recv().await.unwrap();
    assert!(head.starts_with(&format!("CONNECT localhost:{} HTTP/1.1\r\n", server.port())));
    assert!(head.contains("Proxy-Authorization: Basic dXNAZXI6c2VjcmV0\r\n"), "{head}");
    let plain = "http://store.test".to_owned();
    client(plain, TlsConfig::default(), config).call(&get()).await.unwrap();
    let head = heads.recv().await.unwrap();
    assert!(head.starts_with("GET http://store.test/bucket/key HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("proxy-authorization: Basic dXNAZXI6c2VjcmV0\r\n"), "{head}");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named_and_final() {
    let (sender, _heads) = tokio::sync::mpsc::unbounded_channel();
    let proxy = serve_proxy(sender).await;
    let through = |user: &str| {
        let url = Some(format!("http://{user}{proxy}"));
        ProxyConfig { http: url.clone(), https: url, no_proxy: None }
    };
    let asks = "asks for a user and password: `http://user:password@host:port` (407)";
    let wrong = "does not accept the user and password of its URL (407)";
    let table = [
        ("http://store.test", "", asks),
        ("https://store.test", "", asks),
        ("http://store.test", "us%40er:wrong@", wrong),
        ("https://store.test", "us%40er:wrong@", wrong),
        ("https://store.test", "us%40er:secret@", "refused the tunnel to store.test:443: 403"),
    ];
    for (url, user, expected) in table {
        let client = client(url.to_owned(), TlsConfig::default(), through(user));
        let error = client.call(&get()).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the proxy {proxy} {expected}"));
        assert_eq!((error.kind(), error.effort().attempts), (ErrorKind::Config, 1));
    }
}

/// An address that refuses connections for as long as the socket is kept: it has the port and does
/// not listen.
fn refusing_address() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

#[tokio::test]
async fn exempt_networks_are_reached_without_the_proxy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { answer(listener.accept().await.unwrap().0).await });
    let (_bound, closed) = refusing_address();
    let http = Some(format!("http://{closed}"));
    let no_proxy = Some("store.test,127.0.0.0/8".to_owned());
    let config = ProxyConfig { http, https: None, no_proxy };
    let answer = client(url, TlsConfig::default(), config).call(&get()).await.unwrap();
    assert_eq!(&answer.body[..], b"ok");
}

#[tokio::test]
async fn a_dead_proxy_is_named_without_its_password() {
    let (_bound, closed) = refusing_address();
    let url = format!("http://user:secret@{closed}");
    let config = ProxyConfig { https: Some(url), ..ProxyConfig::default() };
    let error = client("https://store.test".to_owned(), TlsConfig::default(), config)
        .call(&get())
        .await
        .unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains(&format!("through the proxy {closed}")), "{text}");
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn an_answer_in_the_middle_of_an_upload_is_read() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_head(&mut socket).await;
        let reply = b"HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        socket.write_all(reply).await.unwrap();
        socket.shutdown().await.unwrap();
        // Without reading on: the kernel resets once we drop it.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    });
    let url = format!("http://{address}");
    let client = client(url, TlsConfig::default(), ProxyConfig::default());
    let big: &'static [u8] = Box::leak(vec![7; 32 << 20].into_boxed_slice());
    let error = client.call(&put(big)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AccessDenied, "{error}");
}
