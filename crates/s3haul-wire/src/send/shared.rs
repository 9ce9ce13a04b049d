//! What the clones of a client share, and what each request of theirs needs.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use http::HeaderValue;

use super::bucket_endpoint::{Site, Sites};
use super::counts::Counters;
use super::hedge::Hedging;
use crate::config::ClientConfig;
use crate::credentials::cache::CredentialsCache;
use crate::env::Env;
use crate::error::Result;
use crate::limit::limiter::Admission;
use crate::message::headers::SpareMaps;
use crate::net::pool::Pool;
use crate::sign::redact::Secrets;

/// What the clones of a client share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: ClientConfig,
    pub(crate) env: Env,
    pub(crate) pool: Pool,
    pub(crate) admission: Admission,
    pub(crate) credentials: CredentialsCache,
    pub(crate) sites: Sites,
    pub(crate) user_agent: HeaderValue,
    pub(crate) counters: Counters,
    /// Emptied maps of headers for the next requests.
    pub(crate) spare_maps: SpareMaps,
    /// When late requests are sent twice; none where they never are.
    pub(crate) hedging: Option<Hedging>,
    /// Set once a signed listing was answered: key and secret are right.
    pub(crate) has_listed: Arc<AtomicBool>,
    /// Whether a service was seen to take checksums behind a body.
    pub(crate) takes_trailers: OnceLock<bool>,
    /// What the server's clock is ahead of ours, once a request was refused for it.
    pub(crate) clock_offset_ms: AtomicI64,
}

impl Shared {
    /// The time, by the server's clock as far as it is known.
    pub(crate) fn now(&self) -> SystemTime {
        let now = self.env.clock.now();
        let offset_ms = self.clock_offset_ms.load(Ordering::Relaxed);
        let offset = Duration::from_millis(offset_ms.unsigned_abs());
        let shifted = if offset_ms < 0 { now.checked_sub(offset) } else { now.checked_add(offset) };
        shifted.unwrap_or(now)
    }

    /// Takes over the server's clock.
    pub(crate) fn set_clock(&self, server: SystemTime) {
        let now = self.env.clock.now();
        let offset_ms = match server.duration_since(now) {
            Ok(ahead) => i64::try_from(ahead.as_millis()).unwrap_or(0),
            Err(behind) => i64::try_from(behind.duration().as_millis()).map_or(0, |ms| -ms),
        };
        self.clock_offset_ms.store(offset_ms, Ordering::Relaxed);
    }

    /// What no message may show of the credentials that requests are signed with.
    pub(crate) fn secrets(&self) -> Secrets {
        self.credentials.held().map(|held| held.secrets()).unwrap_or_default()
    }

    pub(crate) fn site(&self, bucket: Option<&str>, region: Option<&str>) -> Result<Arc<Site>> {
        let site = self.sites.get(&self.config, &self.pool, bucket)?;
        match region {
            Some(region) if region != site.target.region => {
                Sites::resolve(&self.config, &self.pool, bucket, region)
            }
            _ => Ok(site),
        }
    }
}
