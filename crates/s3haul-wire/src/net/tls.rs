//! TLS: rustls with the system's roots, a given bundle, or no verification.
//!
//! Settings are built on the first use of https and kept, with the session cache, for the life of
//! the client.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig as RustlsConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::io::BufReader;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::connect::Route;
use crate::config::TlsConfig;
use crate::env::Io;
use crate::error::{Error, ErrorKind, Result};

/// Bytes that are read from a socket at a time, at most. rustls itself asks for 4 KiB, or for what
/// is missing of a record: six times for an object of 32 KiB, and four times as often for large
/// ones.
const READ_SIZE: usize = 64 * 1024;

/// An open session.
pub(crate) type TlsSession = TlsStream<BufReader<Box<dyn Io>>>;

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

    /// Shakes hands with the server of a route over an open socket.
    pub(crate) async fn handshake(&self, route: &Route, socket: Box<dyn Io>) -> Result<TlsSession> {
        let config = self.built.get_or_try_init(|| self.build()).await?;
        let name = ServerName::try_from(route.host.clone()).map_err(|error| {
            let message = format!("`{}` is not a host name", route.host);
            Error::new(ErrorKind::Config, message).with_source(error)
        })?;
        let connector = TlsConnector::from(Arc::clone(config));
        let connected = connector.connect(name, BufReader::with_capacity(READ_SIZE, socket)).await;
        connected.map_err(|error| handshake_error(route, &self.config, error))
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
        let verifier = verifier(config, &provider)?;
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    } else {
        let verifier = Arc::new(Verifier { accepts: Accepts::Any, provider });
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    };
    built.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(built))
}

/// What checks certificates: the bundle that was named, or the roots of the system.
fn verifier(
    config: &TlsConfig,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>> {
    let of_roots = |roots: RootCertStore| {
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| Error::new(ErrorKind::Config, "TLS").with_source(error))
    };
    let Some(path) = &config.ca_bundle else { return Ok(of_roots(system_roots()?)?) };
    let (roots, certificates) = bundle(path)?;
    let of_authorities = of_roots(roots)?;
    let accepts = Accepts::Bundle { of_authorities, certificates };
    Ok(Arc::new(Verifier { accepts, provider: Arc::clone(provider) }))
}

fn system_roots() -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if store.is_empty() {
        let message = "no trusted certificates were found; name a bundle (`--ca-bundle`)";
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok(store)
}

/// The certificates of a PEM file, as authorities and as they are.
fn bundle(path: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>)> {
    let wrong = |error: rustls_pki_types::pem::Error| {
        let message = format!("CA bundle `{}` could not be read", path.display());
        Error::new(ErrorKind::Config, message).with_source(error)
    };
    let certificates = CertificateDer::pem_file_iter(path).map_err(wrong)?;
    let certificates = certificates.collect::<std::result::Result<Vec<_>, _>>().map_err(wrong)?;
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(certificates.iter().cloned());
    if store.is_empty() {
        let message = format!("CA bundle `{}` holds no certificate", path.display());
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok((store, certificates))
}

/// A handshake that failed: a certificate that does not fit, or a connection that broke.
fn handshake_error(route: &Route, config: &TlsConfig, error: io::Error) -> Error {
    let url = route.url();
    let refused = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>())
        .is_some_and(|inner| matches!(inner, rustls::Error::InvalidCertificate(_)));
    let (kind, message) = if refused {
        let bundle = config.ca_bundle.as_ref().map(|path| format!(" with {}", path.display()));
        let bundle = bundle.unwrap_or_default();
        (ErrorKind::Certificate, format!("SSL validation failed for {url}{bundle}"))
    } else {
        (ErrorKind::Transport, format!("TLS handshake with {url} failed"))
    };
    Error::new(kind, message).with_source(error)
}

/// Checks certificates in another way than `webpki` does by itself, and the handshake's signatures
/// as it does.
#[derive(Debug)]
struct Verifier {
    accepts: Accepts,
    provider: Arc<CryptoProvider>,
}

/// Certificates that are accepted.
#[derive(Debug)]
enum Accepts {
    /// Any (`--no-verify-ssl`).
    Any,
    /// What the authorities of a bundle vouch for, and the certificates of the bundle themselves,
    /// for which the bundle is the proof: those that signed themselves (`openssl req -x509` marks
    /// them as authorities, which `webpki` accepts from no server), or whose authority is not in
    /// the bundle. Validity, name and the handshake's signature are checked of all.
    Bundle {
        /// Checks against the authorities.
        of_authorities: Arc<WebPkiServerVerifier>,
        /// The certificates themselves.
        certificates: Vec<CertificateDer<'static>>,
    },
}

/// Whether only the authority was found wanting. `webpki` looks at the validity before either of
/// these (`a_certificate_of_the_bundle_is_accepted_and_no_other` holds that).
fn lacks_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(error) = error else { return false };
    match error {
        CertificateError::UnknownIssuer => true,
        CertificateError::Other(other) => other
            .0
            .downcast_ref::<webpki::Error>()
            .is_some_and(|error| matches!(error, webpki::Error::CaUsedAsEndEntity)),
        _ => false,
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Accepts::Bundle { of_authorities, certificates } = &self.accepts else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified = of_authorities.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            Err(error) if lacks_authority(&error) && certificates.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
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

#[cfg(test)]
mod tests;
