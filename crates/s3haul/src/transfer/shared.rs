//! Bounds that several jobs of one process keep together.

use std::sync::Arc;

use super::bandwidth::Bandwidth;
use super::scheduler::Limits;
use super::settings::Tuning;

/// Requests in flight, memory and bandwidth of all jobs that hold a clone of it. The order in which
/// they are taken is the same within a job and between jobs, so that none waits for another
/// forever.
#[derive(Clone, Debug)]
pub struct SharedLimits {
    limits: Arc<Limits>,
    bandwidth: Arc<Bandwidth>,
}

impl SharedLimits {
    /// Bounds as the settings say, for all jobs together.
    pub fn new(tuning: &Tuning) -> Self {
        let limits = Arc::new(Limits::new(tuning));
        Self { limits, bandwidth: Arc::new(Bandwidth::new(tuning.max_bandwidth)) }
    }

    /// Those of a job: what it shares, or its own.
    pub(super) fn of_job(tuning: &Tuning) -> (Arc<Limits>, Arc<Bandwidth>) {
        let Self { limits, bandwidth } = tuning.shared.clone().unwrap_or_else(|| Self::new(tuning));
        (limits, bandwidth)
    }
}
