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

/// How much of the bounds is used at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsLoad {
    /// Bytes of object data held in memory.
    pub memory_bytes: u64,
    /// At most.
    pub memory_bytes_max: u64,
    /// The next byte would have to wait for `max_bandwidth`.
    pub is_bandwidth_used_up: bool,
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

    /// How much of the bounds is used now.
    pub fn load(&self) -> LimitsLoad {
        LimitsLoad {
            memory_bytes: self.limits.budget.taken_bytes(),
            memory_bytes_max: self.limits.budget.bytes(),
            is_bandwidth_used_up: self.bandwidth.is_used_up(),
        }
    }

    /// Those of a job: what it shares, or its own.
    pub(crate) fn of_job(tuning: &Tuning) -> Self {
        tuning.shared.clone().unwrap_or_else(|| Self::new(tuning))
    }
}
