//! Credentials: fetched once, kept, refreshed before they end.
//!
//! `chain` knows the order of the AWS tools, `s3::profile` reads their files, `sso`, `imds` and
//! `process` are sources, `context` lets the library behind that of containers read files and
//! variables, and use the network through ours. Here: one lookup at a time, as a task of its own
//! that goes on when no request waits for it; at 80 % of their life one request has new ones looked
//! up, and waits for them for some seconds, while the others go on with the old; a lookup that
//! fails while the old ones live is only logged.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use reqsign_aws_v4::Credential;
use tokio::sync::{OwnedMutexGuard, oneshot};
use tokio::task::JoinSet;

use super::chain::Chain;
use super::context::system;
use super::process;
use super::profile::failed;
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
/// Credentials that were looked up since are not suspected to have expired: STS gives none for less
/// time.
const SUSPECT_AFTER: Duration = Duration::from_mins(15);
/// Longest that a request waits for a refresh while the old credentials live.
const REFRESH_PATIENCE: Duration = Duration::from_secs(15);

/// Credentials with a number that changes when they do.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) credentials: Credentials,
    pub(crate) generation: u64,
    life: Option<Life>,
    /// When they were looked up, or others last could not be.
    looked_up_at: SystemTime,
    /// What no message may show of them, once that was asked for.
    hidden: OnceLock<Secrets>,
}

impl Held {
    fn new(
        credentials: Credentials,
        generation: u64,
        life: Option<Life>,
        looked_up_at: SystemTime,
    ) -> Self {
        Self { credentials, generation, life, looked_up_at, hidden: OnceLock::new() }
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
    state: Arc<State>,
    /// Held by the lookup under way.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// The lookup under way.
    tasks: Mutex<JoinSet<()>>,
}

/// What lookups found.
struct State {
    clock: Arc<dyn Clock>,
    held: RwLock<Option<Arc<Held>>>,
    /// When the last lookup failed while there were no others, and how.
    failed: Mutex<Option<(SystemTime, Error)>>,
    generations: AtomicU64,
}

enum Source {
    Anonymous,
    Fixed,
    Looked(Arc<Lookup>),
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

fn chain(config: &ClientConfig, env: &Env, profile: Option<String>) -> Chain {
    let context = system(Fetcher::new("credentials", config, env));
    let chain = Chain::new(context, profile, config.endpoint.region.clone());
    chain.with_fips(config.endpoint.fips).asking(env.ask.clone())
}

/// The region of the instance that this process runs on, by its metadata service; `None` where
/// there is none, or where it is not to be asked. Takes as long as `AWS_METADATA_SERVICE_TIMEOUT`
/// and `AWS_METADATA_SERVICE_NUM_ATTEMPTS` allow.
pub async fn instance_region(config: &ClientConfig, env: &Env) -> Option<String> {
    let profile = match &config.credentials {
        CredentialsConfig::Profile(name) => Some(name.clone()),
        _ => None,
    };
    let found = chain(config, env, profile).region().await;
    let found = found.inspect_err(|error| tracing::debug!(%error, "no region of the instance"));
    found.ok().flatten().filter(|region| !region.is_empty())
}

impl CredentialsCache {
    pub(crate) fn new(config: &ClientConfig, env: &Env) -> Self {
        let chain = |profile: Option<String>| {
            Source::Looked(Arc::new(Lookup::Chain(chain(config, env, profile))))
        };
        let mut fixed = None;
        let source = match &config.credentials {
            CredentialsConfig::Anonymous => Source::Anonymous,
            CredentialsConfig::Function(function) => {
                Source::Looked(Arc::new(Lookup::Function(function.clone())))
            }
            CredentialsConfig::Chain => chain(None),
            CredentialsConfig::Profile(name) => chain(Some(name.clone())),
            CredentialsConfig::Static { access_key_id, secret_access_key, session_token } => {
                let credentials = Credentials {
                    access_key_id: access_key_id.clone(),
                    secret_access_key: secret_access_key.clone(),
                    session_token: session_token.clone(),
                };
                fixed = Some(Arc::new(Held::new(credentials, 0, None, env.clock.now())));
                Source::Fixed
            }
        };
        Self::with_source(source, fixed, env)
    }

    fn with_source(source: Source, fixed: Option<Arc<Held>>, env: &Env) -> Self {
        let state = State {
            clock: Arc::clone(&env.clock),
            held: RwLock::new(fixed),
            failed: Mutex::default(),
            generations: AtomicU64::new(0),
        };
        Self { source, state: Arc::new(state), turn: Arc::default(), tasks: Mutex::default() }
    }

    /// Those at hand.
    pub(crate) fn held(&self) -> Option<Arc<Held>> {
        self.state.held()
    }

    /// Credentials to sign with; `None` where requests are not signed.
    pub(crate) async fn get(&self) -> Result<Option<Arc<Held>>> {
        let lookup = match &self.source {
            Source::Anonymous => return Ok(None),
            Source::Fixed => return Ok(self.held()),
            Source::Looked(lookup) => lookup,
        };
        match self.held() {
            Some(held) if self.state.lives(&held) => Ok(Some(self.keep_fresh(lookup, held).await)),
            _ => self.fetch(lookup).await.map(Some),
        }
    }

    async fn keep_fresh(&self, lookup: &Arc<Lookup>, held: Arc<Held>) -> Arc<Held> {
        if held.life.is_none_or(|life| self.state.clock.now() < life.refresh_at) {
            return held;
        }
        let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() else { return held };
        let looked_up = match self.held() {
            Some(latest) if !Arc::ptr_eq(&latest, &held) => return latest,
            _ => self.begin(lookup, turn),
        };
        match tokio::time::timeout(REFRESH_PATIENCE, looked_up).await {
            Ok(Ok(Ok(latest))) => latest,
            _ => self.held().unwrap_or(held),
        }
    }

    /// Has credentials looked up, or waits for the lookup under way and shares its result, also a
    /// failure.
    async fn fetch(&self, lookup: &Arc<Lookup>) -> Result<Arc<Held>> {
        let before = self.held().map(|held| held.generation);
        let turn = Arc::clone(&self.turn).lock_owned().await;
        // What was looked up meanwhile is taken even if it is about to end.
        let is_new = |held: &Arc<Held>| Some(held.generation) != before || self.state.lives(held);
        if let Some(held) = self.held().filter(is_new) {
            return Ok(held);
        }
        if let Some(error) = self.state.known_failure() {
            return Err(error);
        }
        let looked_up = self.begin(lookup, turn).await;
        looked_up.unwrap_or_else(|_| Err(failed("the lookup ended early")))
    }

    /// Begins a lookup, which holds the turn until what it found can be had.
    fn begin(
        &self,
        lookup: &Arc<Lookup>,
        turn: OwnedMutexGuard<()>,
    ) -> oneshot::Receiver<Result<Arc<Held>>> {
        let (lookup, state) = (Arc::clone(lookup), Arc::clone(&self.state));
        let (sender, looked_up) = oneshot::channel();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let found = state.finish(lookup.provide().await);
            drop(turn);
            // A request that waits no longer has gone on with the old ones.
            _ = sender.send(found);
        });
        looked_up
    }

    /// Drops credentials that the server called expired; returns whether others can be had.
    pub(crate) fn expire(&self, generation: u64) -> bool {
        let Source::Looked(lookup) = &self.source else { return false };
        if let Some(held) = self.held().filter(|held| held.generation == generation) {
            if let Lookup::Chain(chain) = &**lookup {
                chain.refuse(&held.credentials.access_key_id);
            }
            self.state.hold(None);
        }
        true
    }

    /// Has others looked up for credentials that may have expired before their time; returns
    /// whether there are others. The old ones stay where there are none.
    pub(crate) async fn replace(&self, generation: u64) -> bool {
        let Source::Looked(lookup) = &self.source else { return false };
        let is_old = |held: &Arc<Held>| {
            let age = self.state.clock.now().duration_since(held.looked_up_at);
            held.generation == generation && age.is_ok_and(|age| age >= SUSPECT_AFTER)
        };
        if self.held().as_ref().is_some_and(is_old) {
            if let Ok(turn) = Arc::clone(&self.turn).try_lock_owned()
                && self.held().as_ref().is_some_and(is_old)
            {
                drop(self.begin(lookup, turn));
            }
            _ = tokio::time::timeout(REFRESH_PATIENCE, self.turn.lock()).await;
        }
        self.held().is_none_or(|held| held.generation != generation)
    }
}

impl State {
    fn held(&self) -> Option<Arc<Held>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hold(&self, held: Option<Arc<Held>>) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = held;
    }

    fn lives(&self, held: &Held) -> bool {
        held.life.is_none_or(|life| self.clock.now() + MARGIN < life.ends_at)
    }

    /// The failure of the last lookup, while another one is not worth it.
    fn known_failure(&self) -> Option<Error> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, error) = failed.as_ref()?;
        let is_recent = self.clock.now().duration_since(*at).is_ok_and(|age| age < REFRESH_PAUSE);
        is_recent.then(|| error.duplicate())
    }

    /// Keeps what a lookup found, or that it failed; gives what there is then.
    fn finish(&self, found: Result<Credential>) -> Result<Arc<Held>> {
        let now = self.clock.now();
        let error = match found {
            Ok(found) => return Ok(self.adopt(found, now)),
            Err(error) => error,
        };
        let Some(held) = self.held().filter(|held| self.lives(held)) else {
            let again = error.duplicate();
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, error));
            return Err(again);
        };
        tracing::warn!(%error, "credentials could not be refreshed; the old ones live");
        let life = held.life.map(|life| Life { refresh_at: now + REFRESH_PAUSE, ..life });
        let held = Held::new(held.credentials.clone(), held.generation, life, now);
        let held = Arc::new(held);
        self.hold(Some(Arc::clone(&held)));
        Ok(held)
    }

    fn adopt(&self, found: Credential, now: SystemTime) -> Arc<Held> {
        let life = found.expires_in.map(|ends| {
            let ends_at = ends.as_system_time();
            let left = ends_at.duration_since(now).unwrap_or_default();
            Life { refresh_at: now + left.mul_f64(0.8), ends_at }
        });
        let credentials = Credentials {
            access_key_id: found.access_key_id,
            secret_access_key: found.secret_access_key,
            session_token: found.session_token.filter(|token| !token.is_empty()),
        };
        // The same again are no others.
        let same = self.held().filter(|held| held.credentials == credentials);
        let next = || self.generations.fetch_add(1, Ordering::Relaxed) + 1;
        let generation = same.map_or_else(next, |held| held.generation);
        let held = Arc::new(Held::new(credentials, generation, life, now));
        self.hold(Some(Arc::clone(&held)));
        held
    }
}
