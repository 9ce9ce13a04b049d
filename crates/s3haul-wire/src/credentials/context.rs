//! Files, variables, commands and HTTP for the credential sources.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response};
use reqsign_core::{
    CommandExecute, CommandOutput, Context, Error as SourceError, FileRead, HttpSend, OsEnv,
};

use super::program;
use crate::config::{ClientConfig, ProxyConfig};
use crate::env::{Env, Waits};
use crate::error::{Error, ErrorKind, Result};
use crate::net::connect::{Dialer, Route};
use crate::net::connection::{Broken, Notice, SendBody};
use crate::net::pool::Pool;
use crate::net::proxy;
use crate::net::tls::Tls;

/// Limits for services on this machine or instance: absent ones must be noticed quickly.
const NEAR_PATIENCE: Duration = Duration::from_secs(1);
/// Limit for others, a connection and an answer each.
const FAR_PATIENCE: Duration = Duration::from_secs(10);
/// Attempts at a distant service.
const ATTEMPTS: u32 = 3;
/// Pause between them.
const PAUSE: Duration = Duration::from_millis(200);
/// Limit for programs that print credentials. Some ask a user.
const PROGRAM_PATIENCE: Duration = Duration::from_mins(1);
/// Longest answer.
const ANSWER_MAX: usize = 1024 * 1024;
/// Connections at most.
const CONNECTIONS_MAX: usize = 8;

/// A context on the real environment with our HTTP.
pub(super) fn system(fetcher: Fetcher) -> Context {
    let waits = Arc::clone(&fetcher.waits);
    Context::new()
        .with_env(OsEnv)
        .with_file_read(Files)
        .with_command_execute(Commands { waits })
        .with_http_send(fetcher)
}

/// Reads files on a thread that may block.
#[derive(Debug)]
pub(super) struct Files;

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> reqsign_core::Result<Vec<u8>> {
        let path = path.to_owned();
        let failed = |message: String| SourceError::config_invalid(message);
        tokio::task::spawn_blocking(move || {
            std::fs::read(&path).map_err(|error| failed(format!("`{path}`: {error}")))
        })
        .await
        .map_err(|error| failed(error.to_string()))?
    }
}

/// Runs programs on a thread that may block; their stderr goes to the user's.
#[derive(Debug, Default)]
pub(super) struct Commands {
    waits: Arc<Waits>,
}

impl CommandExecute for Commands {
    async fn command_execute<'a>(
        &'a self,
        program: &'a str,
        arguments: &'a [&'a str],
    ) -> reqsign_core::Result<CommandOutput> {
        let mut command = std::process::Command::new(program);
        command.args(arguments).stdin(std::process::Stdio::null());
        let program = program.to_owned();
        let failed = |message: String| SourceError::config_invalid(message);
        let what = format!("credentials of the program `{program}`");
        let running = tokio::task::spawn_blocking(move || {
            program::output(command, PROGRAM_PATIENCE)
                .map_err(|error| failed(format!("`{program}`: {error}")))
        });
        let output = self
            .waits
            .during(PROGRAM_PATIENCE, || what.clone(), running)
            .await
            .map_err(|error| failed(error.to_string()))??;
        let status = output.status.code().unwrap_or(-1);
        Ok(CommandOutput { status, stdout: output.stdout, stderr: output.stderr })
    }
}

/// A small HTTP client on our own connections.
#[derive(Debug)]
pub(super) struct Fetcher {
    near: Pool,
    far: Pool,
    proxy: ProxyConfig,
    waits: Arc<Waits>,
}

impl Fetcher {
    pub(super) fn new(config: &ClientConfig, env: &Env) -> Self {
        let pool = |connect_timeout| {
            let tls = Tls::new(config.tls.clone());
            Pool::new(Dialer { env: env.clone(), tls, connect_timeout }, CONNECTIONS_MAX)
        };
        let (near, far) = (pool(NEAR_PATIENCE), pool(FAR_PATIENCE));
        Self { near, far, proxy: config.proxy.clone(), waits: Arc::clone(&env.waits) }
    }

    async fn once(&self, request: &Request<Bytes>) -> Result<Response<Bytes>> {
        let invalid = || Error::new(ErrorKind::Config, "not a URL for credentials");
        let uri = request.uri();
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid()),
        };
        let host = uri.host().ok_or_else(invalid)?.trim_matches(['[', ']']).to_owned();
        let port = uri.port_u16().unwrap_or(if https { 443 } else { 80 });
        let is_near = is_near(&host);
        let (pool, patience) =
            if is_near { (&self.near, NEAR_PATIENCE) } else { (&self.far, FAR_PATIENCE) };
        let proxy = if is_near { None } else { proxy::for_host(&self.proxy, https, &host, port)? };
        let sent = to_send(request, proxy.as_ref().filter(|_| !https)).ok_or_else(invalid)?;
        let host = pool.host(Route { https, host, port, proxy });
        let mut lease = pool.checkout(&host, true, None).await?;
        let endpoint = lease.shown();
        let say = |waited| self.waits.say(format_args!("credentials of {endpoint}"), waited);
        let notice = self.waits.first_notice(patience).map(|after| Notice { after, say: &say });
        let exchange = lease.connection.exchange(sent, patience, None, notice);
        let answered = exchange.await.map_err(|broken| {
            let kind = match broken {
                Broken::Lost(_) => ErrorKind::Transport,
                Broken::Silent => ErrorKind::Timeout,
            };
            Error::new(kind, format!("no answer from {endpoint}"))
        })?;
        let (head, incoming) = answered.into_parts();
        let mut body = crate::net::body::BodyStream::new(incoming, lease, &head.headers, patience);
        Ok(Response::from_parts(head, body.collect(ANSWER_MAX).await?))
    }

    async fn fetch(&self, request: &Request<Bytes>) -> Result<Response<Bytes>> {
        let attempts = if request.uri().host().is_some_and(is_near) { 1 } else { ATTEMPTS };
        let mut attempt = 1;
        loop {
            let result = self.once(request).await;
            let is_passing = match &result {
                Ok(response) => response.status().is_server_error(),
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

/// Metadata services: link-local addresses, this machine, and their IPv6 forms.
fn is_near(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost"
        || host.starts_with("169.254.")
        || host.starts_with("127.")
        || host == "::1"
        || host.eq_ignore_ascii_case("fd00:ec2::254")
        || host.eq_ignore_ascii_case("fd00:ec2::23")
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

impl HttpSend for Fetcher {
    async fn http_send(&self, request: Request<Bytes>) -> reqsign_core::Result<Response<Bytes>> {
        self.fetch(&request).await.map_err(|error| SourceError::unexpected(error.to_string()))
    }
}
