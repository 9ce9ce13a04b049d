//! TLS: rustls with the system's roots, a given bundle, or no verification.
//!
//! Settings are built on the first use of https and kept, with the session cache, for the life of
//! the client.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig as RustlsConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::config::TlsConfig;
use crate::env::Io;
use crate::error::{Error, ErrorKind, Result};

/// Opens TLS sessions.
#[derive(Debug)]
pub(crate) struct Tls {
    config: TlsConfig,
    built: OnceCell<Arc<RustlsConfig>>,
}

impl Tls {
    pub(crate) fn new(config: TlsConfig) -> Self {
        Self { config, built: OnceCell::new() }
    }

    /// Finds out whether the bundle that was named can be used, before it is needed.
    pub(crate) fn check(config: &TlsConfig) -> Result<()> {
        match &config.ca_bundle {
            Some(path) if config.verify => bundle(path).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Shakes hands with the server `host` over an open socket.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        socket: Box<dyn Io>,
    ) -> Result<TlsStream<Box<dyn Io>>> {
        let config = self.built.get_or_try_init(|| self.build()).await?;
        let name = ServerName::try_from(host.to_owned()).map_err(|error| {
            Error::new(ErrorKind::Config, format!("`{host}` is no host name")).with_source(error)
        })?;
        let connector = TlsConnector::from(Arc::clone(config));
        connector.connect(name, socket).await.map_err(|error| handshake_error(host, error))
    }

    async fn build(&self) -> Result<Arc<RustlsConfig>> {
        let config = self.config.clone();
        tokio::task::spawn_blocking(move || build(&config)).await.map_err(|error| {
            Error::new(ErrorKind::Config, "TLS settings could not be read").with_source(error)
        })?
    }
}

fn build(config: &TlsConfig) -> Result<Arc<RustlsConfig>> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = RustlsConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::Config, "TLS").with_source(error))?;
    let mut built = if config.verify {
        builder.with_root_certificates(roots(config)?).with_no_client_auth()
    } else {
        let verifier = Arc::new(NoVerification { provider });
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    };
    built.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(built))
}

fn roots(config: &TlsConfig) -> Result<RootCertStore> {
    if let Some(path) = &config.ca_bundle {
        return bundle(path);
    }
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if store.is_empty() {
        let message = "no trusted certificates were found; name a bundle (`--ca-bundle`)";
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok(store)
}

/// The certificates of a PEM file.
fn bundle(path: &Path) -> Result<RootCertStore> {
    let wrong = |error: rustls_pki_types::pem::Error| {
        let message = format!("CA bundle `{}` could not be read", path.display());
        Error::new(ErrorKind::Config, message).with_source(error)
    };
    let certificates = CertificateDer::pem_file_iter(path).map_err(wrong)?;
    let certificates = certificates.collect::<std::result::Result<Vec<_>, _>>().map_err(wrong)?;
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates);
    if store.is_empty() {
        let message = format!("CA bundle `{}` holds no certificate", path.display());
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok(store)
}

/// A handshake that failed: a certificate that does not fit, or a connection that broke.
fn handshake_error(host: &str, error: io::Error) -> Error {
    let refused = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>())
        .is_some_and(|inner| matches!(inner, rustls::Error::InvalidCertificate(_)));
    let (kind, message) = if refused {
        (ErrorKind::Certificate, format!("SSL validation failed for https://{host}/"))
    } else {
        (ErrorKind::Transport, format!("TLS handshake with `{host}` failed"))
    };
    Error::new(kind, message).with_source(error)
}

/// Accepts any certificate (`--no-verify-ssl`), but still checks the handshake's signatures.
#[derive(Debug)]
struct NoVerification {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for NoVerification {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
