//! A simulator's settings, one call each.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::AccessKey;
use crate::DEFAULT_SYNTHETIC_BUCKET;
use crate::Limits;
use crate::ListQuirks;
use crate::SimConfig;
use crate::StoreKind;
use crate::error::SimError;
use crate::listener::Listener;
use crate::scenario::Scenario;
use crate::server::RunningServer;
use crate::server::Sim;

/// Builds a simulator step by step.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct SimBuilder {
    config: SimConfig,
}

impl SimBuilder {
    /// Starts from a whole configuration.
    pub fn from_config(config: SimConfig) -> Self {
        Self { config }
    }

    /// Sets where objects live.
    pub fn store(mut self, store: StoreKind) -> Self {
        self.config.store = store;
        self
    }

    /// Keeps objects as files under a directory.
    pub fn disk(self, root: impl Into<PathBuf>) -> Self {
        self.store(StoreKind::Disk(root.into()))
    }

    /// Serves computed objects in the bucket `synthetic`.
    pub fn synthetic(self, spec: impl Into<String>) -> Self {
        let bucket = DEFAULT_SYNTHETIC_BUCKET.to_owned();
        self.store(StoreKind::Synthetic { spec: spec.into(), bucket })
    }

    /// Serves the keys of a file in the bucket `synthetic`.
    pub fn key_file(self, path: impl Into<PathBuf>) -> Self {
        let bucket = DEFAULT_SYNTHETIC_BUCKET.to_owned();
        self.store(StoreKind::KeyFile { path: path.into(), bucket })
    }

    /// Throws bytes away.
    pub fn null(self, hash: bool) -> Self {
        self.store(StoreKind::Null { hash })
    }

    /// Sets the server's region.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.config.region = region.into();
        self
    }

    /// Adds a key pair that may sign.
    pub fn access_key(mut self, id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.config.access_keys.push(AccessKey::new(id, secret));
        self
    }

    /// Serves unsigned requests too.
    pub fn allow_anonymous(mut self, allow: bool) -> Self {
        self.config.allow_anonymous = allow;
        self
    }

    /// Creates a bucket at the start.
    pub fn bucket(mut self, name: impl Into<String>) -> Self {
        self.config.buckets.push(name.into());
        self
    }

    /// Sets how far the server's clock is ahead.
    pub fn clock_offset_ms(mut self, offset_ms: i64) -> Self {
        self.config.clock_offset_ms = offset_ms;
        self
    }

    /// Lets the server's clock follow tokio's, which tests can pause.
    pub fn virtual_clock(mut self, follows_tokio: bool) -> Self {
        self.config.virtual_clock = follows_tokio;
        self
    }

    /// Sets how many records the ledger keeps.
    pub fn ledger_records(mut self, records: usize) -> Self {
        self.config.ledger_records = records;
        self
    }

    /// Writes every record to a file.
    pub fn ledger_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.ledger_file = Some(path.into());
        self
    }

    /// Sets the latency of every answer.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.config.latency = latency;
        self
    }

    /// Changes the limits.
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.config.limits);
        self
    }

    /// Lets listings differ from those of S3.
    pub fn list_quirks(mut self, change: impl FnOnce(&mut ListQuirks)) -> Self {
        change(&mut self.config.list_quirks);
        self
    }

    /// Sets random weather.
    pub fn scenario(mut self, scenario: Scenario) -> Self {
        self.config.scenario = Some(scenario);
        self
    }

    /// Makes a simulator that serves connections handed to it.
    pub fn build(self) -> Result<Sim, SimError> {
        Sim::new(self.config)
    }

    /// Makes a simulator and listens on an address.
    pub async fn bind(self, address: impl AsRef<str>) -> Result<RunningServer, SimError> {
        let has_own_keys = !self.config.access_keys.is_empty();
        // First of all: a start that fails here must not touch the files of a running server.
        let listener = Listener::bind(address.as_ref(), &self.config, has_own_keys).await?;
        Ok(self.build()?.listen(listener))
    }

    /// Makes a simulator and listens on a free port of the loopback address.
    pub async fn start(self) -> Result<RunningServer, SimError> {
        self.bind(SocketAddr::from(([127, 0, 0, 1], 0)).to_string()).await
    }
}
