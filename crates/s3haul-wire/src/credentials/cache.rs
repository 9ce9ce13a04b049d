//! Credentials: fetched once, kept, refreshed before they end.
//!
//! `chain` knows the order of the AWS tools, `s3::profile` reads their files, `sso` and `process`
//! are two of the sources, `context` lets the library behind the others read files, variables and
//! the network through ours. Here: one fetch at a time; at 80 % of their life one request fetches
//! new ones while the others go on with the old; a refresh that fails while the old ones live is
//! only logged.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use reqsign_aws_v4::Credential;

use super::chain::Chain;
use super::context::system;
use super::process;
use crate::config::{ClientConfig, CredentialsConfig, CredentialsFunction};
use crate::env::{Clock, Env};
use crate::error::{Error, Result};
use crate::net::fetch::Fetcher;
use crate::sign::redact::Secrets;
use crate::sign::signature::Credentials;

/// After a failed refresh or lookup, the next one is tried after this time: what failed may take
/// long, ask a user or cost money.
const REFRESH_PAUSE: Duration = Duration::from_secs(30);
/// Credentials that end sooner than this are as good as ended.
const MARGIN: Duration = Duration::from_secs(10);
/// Longest that a request waits for a refresh while the old credentials live.
const REFRESH_PATIENCE: Duration = Duration::from_secs(15);

/// Credentials with a number that changes when they do.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) credentials: Credentials,
    pub(crate) generation: u64,
    life: Option<Life>,
    /// What no message may show of them, once that was asked for.
    hidden: OnceLock<Secrets>,
}

impl Held {
    fn new(credentials: Credentials, generation: u64, life: Option<Life>) -> Self {
        Self { credentials, generation, life, hidden: OnceLock::new() }
    }

    /// What no message may show of them.
    pub(crate) fn secrets(&self) -> Secrets {
        self.hidden.get_or_init(|| Secrets::of_credentials(&self.credentials)).clone()
    }
}

#[derive(Clone, Copy, Debug)]
struct Life {
    refresh_at: SystemTime,
    ends_at: SystemTime,
}

/// Where a client gets its credentials.
pub(crate) struct CredentialsCache {
    source: Source,
    clock: Arc<dyn Clock>,
    held: RwLock<Option<Arc<Held>>>,
    /// When the last lookup failed, and how.
    failed: Mutex<Option<(SystemTime, Error)>>,
    turn: tokio::sync::Mutex<()>,
    generations: AtomicU64,
}

enum Source {
    Anonymous,
    Fixed,
    Looked(Lookup),
}

/// Where credentials are looked up that may end.
enum Lookup {
    Chain(Chain),
    Function(CredentialsFunction),
}

impl Lookup {
    async fn provide(&self) -> Result<Credential> {
        match self {
            Self::Chain(chain) => chain.provide().await,
            Self::Function(function) => process::call(function.clone()).await,
        }
    }
}

impl std::fmt::Debug for CredentialsCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CredentialsCache").finish_non_exhaustive()
    }
}

impl CredentialsCache {
    pub(crate) fn new(config: &ClientConfig, env: &Env) -> Self {
        let chain = |profile: Option<String>| {
            let region = config.endpoint.region.clone();
            Source::Looked(Lookup::Chain(Chain::new(
                system(Fetcher::new("credentials", config, env)),
                profile,
                region,
            )))
        };
        let mut fixed = None;
        let source = match &config.credentials {
            CredentialsConfig::Anonymous => Source::Anonymous,
            CredentialsConfig::Function(function) => {
                Source::Looked(Lookup::Function(function.clone()))
            }
            CredentialsConfig::Chain => chain(None),
            CredentialsConfig::Profile(name) => chain(Some(name.clone())),
            CredentialsConfig::Static { access_key_id, secret_access_key, session_token } => {
                let credentials = Credentials {
                    access_key_id: access_key_id.clone(),
                    secret_access_key: secret_access_key.clone(),
                    session_token: session_token.clone(),
                };
                fixed = Some(Arc::new(Held::new(credentials, 0, None)));
                Source::Fixed
            }
        };
        Self::with_source(source, fixed, env)
    }

    fn with_source(source: Source, fixed: Option<Arc<Held>>, env: &Env) -> Self {
        Self {
            source,
            clock: Arc::clone(&env.clock),
            held: RwLock::new(fixed),
            failed: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            generations: AtomicU64::new(0),
        }
    }

    /// Those at hand.
    pub(crate) fn held(&self) -> Option<Arc<Held>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hold(&self, held: Option<Arc<Held>>) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = held;
    }

    /// Credentials to sign with; `None` where requests are not signed.
    pub(crate) async fn get(&self) -> Result<Option<Arc<Held>>> {
        let lookup = match &self.source {
            Source::Anonymous => return Ok(None),
            Source::Fixed => return Ok(self.held()),
            Source::Looked(lookup) => lookup,
        };
        match self.held() {
            Some(held) => match held.life {
                None => Ok(Some(held)),
                Some(life) => self.keep_fresh(lookup, held, life).await.map(Some),
            },
            None => self.fetch(lookup).await.map(Some),
        }
    }

    async fn keep_fresh(&self, lookup: &Lookup, held: Arc<Held>, life: Life) -> Result<Arc<Held>> {
        let now = self.clock.now();
        if now < life.refresh_at {
            return Ok(held);
        }
        if now + MARGIN >= life.ends_at {
            return self.fetch(lookup).await;
        }
        let Ok(_turn) = self.turn.try_lock() else { return Ok(held) };
        match tokio::time::timeout(REFRESH_PATIENCE, lookup.provide()).await {
            Ok(Ok(fetched)) => Ok(self.adopt(fetched)),
            failed => {
                tracing::warn!(
                    ?failed,
                    "credentials could not be refreshed; the old ones are still valid"
                );
                let life = Life { refresh_at: now + REFRESH_PAUSE, ..life };
                let (credentials, generation) = (held.credentials.clone(), held.generation);
                let held = Arc::new(Held::new(credentials, generation, Some(life)));
                self.hold(Some(Arc::clone(&held)));
                Ok(held)
            }
        }
    }

    /// Fetches, or waits for the fetch under way and shares its result, also a failure.
    async fn fetch(&self, lookup: &Lookup) -> Result<Arc<Held>> {
        let _turn = self.turn.lock().await;
        if let Some(held) = self.held() {
            let now = self.clock.now();
            if held.life.is_none_or(|life| now + MARGIN < life.ends_at) {
                return Ok(held);
            }
        }
        if let Some(error) = self.known_failure() {
            return Err(error);
        }
        match lookup.provide().await {
            Ok(fetched) => Ok(self.adopt(fetched)),
            Err(error) => {
                let again = error.duplicate();
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some((self.clock.now(), error));
                Err(again)
            }
        }
    }

    /// The failure of the last lookup, while another one is not worth it.
    fn known_failure(&self) -> Option<Error> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, error) = failed.as_ref()?;
        let is_recent = self.clock.now().duration_since(*at).is_ok_and(|age| age < REFRESH_PAUSE);
        is_recent.then(|| error.duplicate())
    }

    fn adopt(&self, fetched: Credential) -> Arc<Held> {
        let now = self.clock.now();
        let life = fetched.expires_in.map(|ends| {
            let ends_at = ends.as_system_time();
            let left = ends_at.duration_since(now).unwrap_or_default();
            Life { refresh_at: now + left.mul_f64(0.8), ends_at }
        });
        let credentials = Credentials {
            access_key_id: fetched.access_key_id,
            secret_access_key: fetched.secret_access_key,
            session_token: fetched.session_token.filter(|token| !token.is_empty()),
        };
        let generation = self.generations.fetch_add(1, Ordering::Relaxed) + 1;
        let held = Arc::new(Held::new(credentials, generation, life));
        self.hold(Some(Arc::clone(&held)));
        held
    }

    /// Drops credentials that the server called expired; returns whether others can be had.
    pub(crate) fn expire(&self, generation: u64) -> bool {
        if !matches!(self.source, Source::Looked(_)) {
            return false;
        }
        if self.held().is_some_and(|held| held.generation == generation) {
            self.hold(None);
        }
        true
    }
}
