//! The listening socket of a server.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio_rustls::TlsAcceptor;

use crate::config::SimConfig;
use crate::error::SimError;
use crate::socket::TlsFiles;

/// Most connections that wait to be accepted. Where the queue is full, the system drops what a
/// client sends to connect, and the client tries again after a second. The system has a limit of
/// its own.
const BACKLOG: u32 = 4096;

/// A socket that listens; nothing is accepted yet.
pub(crate) struct Listener {
    pub(crate) tcp: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<TlsAcceptor>,
}

impl Listener {
    /// Listens on an address as a configuration wants it; port 0 takes a free one.
    pub(crate) async fn bind(
        address: &str,
        config: &SimConfig,
        has_own_keys: bool,
    ) -> Result<Self, SimError> {
        let tls = config.tls.as_ref().map(TlsFiles::acceptor).transpose()?;
        let failed = |source| SimError::Bind { address: address.to_owned(), source };
        let tcp = listen(address).await.map_err(failed)?;
        let local = tcp.local_addr().map_err(failed)?;
        if !local.ip().is_loopback() && !has_own_keys {
            return Err(SimError::OpenToTheWorld { address: address.to_owned() });
        }
        Ok(Self { tcp, address: local, tls })
    }
}

/// Listens on the first of a name's addresses that can be had.
async fn listen(address: &str) -> io::Result<TcpListener> {
    let mut failure = io::Error::new(io::ErrorKind::InvalidInput, "the name has no address");
    for address in lookup_host(address).await? {
        match listen_on(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // On Windows, two servers could then share a port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
