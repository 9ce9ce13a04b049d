//! Bounds that several jobs of one process keep together.

use std::sync::{Arc, OnceLock};

use super::bandwidth::Bandwidth;
use super::settings::Tuning;
use crate::engine::limits::Limits;
use crate::plan::content_type::ContentTypes;

/// Requests in flight, memory and bandwidth of all jobs that hold a clone of it. The order in which
/// they are taken is the same within a job and between jobs, so that none waits for another
/// forever. The tables of media types are read by the first of them.
#[derive(Clone, Debug)]
pub struct SharedLimits {
    pub(crate) limits: Arc<Limits>,
    pub(crate) bandwidth: Arc<Bandwidth>,
    pub(crate) content_types: Arc<OnceLock<ContentTypes>>,
}

impl SharedLimits {
    /// Bounds as the settings say, for all jobs together.
    pub fn new(tuning: &Tuning) -> Self {
        let limits = Arc::new(Limits::new(tuning));
        let bandwidth = Arc::new(Bandwidth::new(tuning.max_bandwidth));
        Self { limits, bandwidth, content_types: Arc::default() }
    }

    /// Waits until `bytes` may be transferred: for transfers outside of a job.
    pub async fn before_bytes(&self, bytes: u64) {
        self.bandwidth.take(bytes).await;
    }

    /// Those of a job: what it shares, or its own.
    pub(crate) fn of_job(tuning: &Tuning) -> Self {
        tuning.shared.clone().unwrap_or_else(|| Self::new(tuning))
    }
}
