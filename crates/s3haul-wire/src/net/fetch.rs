//! A small HTTP client for what is not S3: sources of credentials, collectors of metrics.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response, StatusCode};
use tokio::time::timeout;

use super::body::BodyStream;
use super::connect::{Dialer, Route};
use super::connection::{Broken, Notice, SendBody};
use super::pool::Pool;
use super::proxy;
use super::tls::Tls;
use crate::config::{ClientConfig, ProxyConfig, TlsConfig};
use crate::env::{Env, Waits};
use crate::error::{Error, ErrorKind, Result};

/// Limit for metadata services on this machine or instance.
const NEAR_PATIENCE: Duration = Duration::from_secs(2);
/// Limit for connections to them.
const NEAR_CONNECT_PATIENCE: Duration = Duration::from_secs(1);
/// Limit for others, a connection and an answer each.
const FAR_PATIENCE: Duration = Duration::from_secs(10);
/// Attempts at a service.
const ATTEMPTS: u32 = 3;
/// Pause between them.
const PAUSE: Duration = Duration::from_millis(200);
/// Longest answer.
const ANSWER_MAX: usize = 1024 * 1024;
/// Connections at most.
const CONNECTIONS_MAX: usize = 8;

/// An extension of requests that are sent once, with a limit for a connection and for an answer.
#[derive(Clone, Copy)]
pub(crate) struct SingleAttempt {
    pub(crate) patience: Duration,
}

/// Sends requests over a few connections of its own, with the TLS and the proxies of a client.
///
/// There are ten seconds for a connection and for an answer, and three attempts.
#[derive(Debug)]
pub struct Fetcher {
    what: &'static str,
    /// For services that are here or nowhere.
    near: Option<Pool>,
    far: Pool,
    proxy: ProxyConfig,
    waits: Arc<Waits>,
}

impl Fetcher {
    /// For `what`, which messages about waiting name: `credentials`. Services of this machine or
    /// instance have one second for a connection and two for an answer: absent ones must be noticed
    /// quickly. Certificates are verified whatever is said of S3's: credentials are worth more than
    /// an object.
    pub(crate) fn new(what: &'static str, config: &ClientConfig, env: &Env) -> Self {
        let tls = TlsConfig { verify: true, ..config.tls.clone() };
        let config = &ClientConfig { tls, ..config.clone() };
        let near = Some(pool(config, env, NEAR_CONNECT_PATIENCE));
        Self { near, ..Self::patient(what, config, env) }
    }

    /// The same, with the same patience for all services.
    pub fn patient(what: &'static str, config: &ClientConfig, env: &Env) -> Self {
        let far = pool(config, env, FAR_PATIENCE);
        let (proxy, waits) = (config.proxy.clone(), Arc::clone(&env.waits));
        Self { what, near: None, far, proxy, waits }
    }

    /// What reports long waits.
    pub(crate) fn waits(&self) -> Arc<Waits> {
        Arc::clone(&self.waits)
    }

    async fn once(&self, request: &Request<Bytes>) -> Result<Response<Bytes>> {
        let invalid = || Error::new(ErrorKind::Config, format!("not a URL for {}", self.what));
        let uri = request.uri();
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid()),
        };
        let host = uri.host().ok_or_else(invalid)?.trim_matches(['[', ']']).to_owned();
        let port = uri.port_u16().unwrap_or(if https { 443 } else { 80 });
        let is_here = is_near(&host);
        let single = request.extensions().get::<SingleAttempt>();
        let (pool, patience) = match (single, &self.near) {
            (Some(single), _) => (&self.far, single.patience),
            (None, Some(near)) if is_here => (near, NEAR_PATIENCE),
            _ => (&self.far, FAR_PATIENCE),
        };
        let proxy = if is_here { None } else { proxy::for_host(&self.proxy, https, &host, port)? };
        let sent = to_send(request, proxy.as_ref().filter(|_| !https)).ok_or_else(invalid)?;
        let host = pool.host(Route { https, host, port, proxy });
        let connecting = pool.checkout(&host, true, None);
        let late = |_| Error::new(ErrorKind::Timeout, "the connection timed out");
        let mut lease = match single {
            Some(single) => timeout(single.patience, connecting).await.map_err(late)??,
            None => connecting.await?,
        };
        let endpoint = lease.shown();
        let say = |waited| self.waits.say(format_args!("{} of {endpoint}", self.what), waited);
        let notice = self.waits.first_notice(patience).map(|after| Notice { after, say: &say });
        let exchange = lease.connection.exchange(sent, patience, None, notice);
        let answered = exchange.await.map_err(|broken| {
            let kind = match broken {
                Broken::Lost(_) | Broken::Early => ErrorKind::Transport,
                Broken::Silent => ErrorKind::Timeout,
            };
            Error::new(kind, format!("no answer from {endpoint}"))
        })?;
        let (head, incoming) = answered.into_parts();
        let mut body = BodyStream::new(incoming, lease, &head.headers, patience);
        body.limit_time(patience);
        Ok(Response::from_parts(head, body.collect(ANSWER_MAX).await?))
    }

    /// Sends a request; gives the answer, whatever its status is.
    ///
    /// # Errors
    ///
    /// Fails if the address is not one of HTTP, or if no answer comes.
    pub async fn fetch(&self, request: &Request<Bytes>) -> Result<Response<Bytes>> {
        let is_single = request.extensions().get::<SingleAttempt>().is_some();
        let attempts = if is_single { 1 } else { ATTEMPTS };
        let mut attempt = 1;
        loop {
            let result = self.once(request).await;
            let is_passing = match &result {
                Ok(response) => {
                    let status = response.status();
                    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
                }
                Err(error) => matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout),
            };
            if !is_passing || attempt >= attempts {
                return result;
            }
            tokio::time::sleep(PAUSE * attempt).await;
            attempt += 1;
        }
    }
}

fn pool(config: &ClientConfig, env: &Env, connect_timeout: Duration) -> Pool {
    let tls = Tls::new(config.tls.clone());
    Pool::new(Dialer { env: env.clone(), tls, connect_timeout }, CONNECTIONS_MAX)
}

/// Metadata services of EC2
/// (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html>) and EKS,
/// beside link-local addresses.
const SERVICES: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
];

/// Metadata services: link-local addresses, this machine, and their IPv6 forms.
fn is_near(host: &str) -> bool {
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_link_local() || address.is_loopback(),
        Ok(IpAddr::V6(address)) => SERVICES.contains(&address) || address.is_loopback(),
        Err(_) => host == "localhost",
    }
}

fn to_send(
    request: &Request<Bytes>,
    proxy: Option<&proxy::ProxyTarget>,
) -> Option<Request<SendBody>> {
    let mut sent = Request::new(SendBody::from_bytes(request.body().clone()));
    *sent.method_mut() = request.method().clone();
    *sent.headers_mut() = request.headers().clone();
    let authority = request.uri().authority()?.as_str();
    sent.headers_mut().insert(HOST, HeaderValue::from_str(authority).ok()?);
    *sent.uri_mut() = match proxy {
        Some(_) => request.uri().clone(),
        None => request.uri().path_and_query().map_or("/", |path| path.as_str()).parse().ok()?,
    };
    if let Some(value) = proxy.and_then(|proxy| proxy.authorization.clone()) {
        sent.headers_mut().insert(http::header::PROXY_AUTHORIZATION, value);
    }
    Some(sent)
}
