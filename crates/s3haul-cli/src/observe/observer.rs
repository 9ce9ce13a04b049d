//! Samples the process several times a second and keeps the samples of the last seconds.
//!
//! There is one observer for the process. A sample costs a lock of the limiter, a few clock reads
//! and a few files of `/proc`; requests only add to the counters of its meter.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use s3haul::fs::busy_threads;
use s3haul::job::{LimitsLoad, SharedLimits};
use s3haul_wire::controller::Bounds;
use s3haul_wire::meter::Meter;
use s3haul_wire::{Admission, AdmissionLoad};
use tokio::runtime::Handle;

use super::limiting::{Limit, Machine, Sample, WINDOW, limit};
use crate::progress::Totals;

/// Shortest time between two samples.
const SAMPLE_EVERY: Duration = Duration::from_millis(90);

/// Threads that are looked at.
const THREADS_MAX: usize = 64;

/// The observer of the process, if progress or metrics are enabled.
static OBSERVER: OnceLock<Arc<Observer>> = OnceLock::new();

/// Watches the requests and jobs of the process.
#[derive(Debug)]
pub(crate) struct Observer {
    began: Instant,
    cores: usize,
    meter: Arc<Meter>,
    totals: Arc<Totals>,
    requests: OnceLock<(Admission, Bounds)>,
    /// The threads that drive connections.
    runtime: OnceLock<Handle>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    samples: VecDeque<Sample>,
    /// Bounds of the job that runs.
    limits: Option<SharedLimits>,
    limit: Option<Limit>,
    /// How long each of [`Limit::ALL`] limited.
    limited: [Duration; Limit::ALL.len()],
}

/// What is shown of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct View {
    /// Requests in flight.
    pub(crate) in_flight: u64,
    /// Attempts that the service refused so far.
    pub(crate) refusals: u64,
    /// What limits now, if that is known.
    pub(crate) limit: Option<Limit>,
}

impl Observer {
    /// The observer of the process; from the first call on requests are counted. To be called
    /// before clients are made.
    pub(crate) fn begin() -> Arc<Self> {
        let new = || {
            Arc::new(Self {
                began: Instant::now(),
                cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
                meter: Arc::default(),
                totals: Arc::default(),
                requests: OnceLock::new(),
                runtime: OnceLock::new(),
                state: Mutex::default(),
            })
        };
        Arc::clone(OBSERVER.get_or_init(new))
    }

    /// The observer of the process, if progress or metrics are enabled.
    pub(crate) fn get() -> Option<&'static Arc<Self>> {
        OBSERVER.get()
    }

    /// What requests do.
    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// What became of the objects of all jobs.
    pub(crate) fn totals(&self) -> &Arc<Totals> {
        &self.totals
    }

    /// Looks at the bounds of requests of the process, and at the threads of this runtime.
    pub(crate) fn look_at_requests(&self, admission: &Admission, bounds: Bounds) {
        self.requests.get_or_init(|| (admission.clone(), bounds));
        if let Ok(runtime) = Handle::try_current() {
            self.runtime.get_or_init(|| runtime);
        }
    }

    /// Looks at the bounds of a job.
    pub(crate) fn look_at_limits(&self, limits: SharedLimits) {
        self.state().limits = Some(limits);
    }

    /// What holds requests now.
    pub(crate) fn admission(&self) -> AdmissionLoad {
        self.requests.get().map(|(admission, _)| admission.load()).unwrap_or_default()
    }

    /// How much of the bounds of a job is used.
    pub(crate) fn limits(&self) -> LimitsLoad {
        self.state().limits.as_ref().map(SharedLimits::load).unwrap_or_default()
    }

    /// Takes a sample, if the last one is not just taken.
    pub(crate) fn sample(&self) {
        let mut state = self.state();
        let at = self.began.elapsed();
        let last = state.samples.back().map(|sample| sample.at);
        if last.is_some_and(|last| at.saturating_sub(last) < SAMPLE_EVERY) {
            return;
        }
        let limits = state.limits.as_ref().map(SharedLimits::load).unwrap_or_default();
        let sample = Sample {
            at,
            cpu: process_time() + time_without_cpu(),
            busy: self.busy(),
            meter: self.meter.totals(),
            admission: self.admission(),
            limits,
            files: busy_threads(),
        };
        state.samples.push_back(sample);
        while state.samples.front().is_some_and(|first| at.saturating_sub(first.at) > WINDOW) {
            state.samples.pop_front();
        }
        state.limit = limit(&state.samples, &self.machine());
        if let (Some(limit), Some(last)) = (state.limit, last) {
            state.limited[limit as usize] += at.saturating_sub(last);
        }
    }

    /// What is shown of the process.
    pub(crate) fn view(&self) -> View {
        let totals = self.meter.totals();
        let (in_flight, refusals) = (totals.in_flight, totals.refusals);
        View { in_flight, refusals, limit: self.state().limit }
    }

    /// How long each of [`Limit::ALL`] limited.
    pub(crate) fn limited(&self) -> [Duration; Limit::ALL.len()] {
        self.state().limited
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn busy(&self) -> Duration {
        let Some(runtime) = self.runtime.get() else { return Duration::ZERO };
        let metrics = runtime.metrics();
        (0..metrics.num_workers()).map(|worker| metrics.worker_total_busy_duration(worker)).sum()
    }

    fn machine(&self) -> Machine {
        let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
        let workers = self.runtime.get().map_or(1, |runtime| runtime.metrics().num_workers());
        let bounds = self.requests.get().map(|(_, bounds)| *bounds).unwrap_or_default();
        Machine { cores: count(self.cores), workers: count(workers), bounds }
    }
}

/// Time for which threads were ready to run and had no CPU, where the system says so; of some
/// threads, where there are many.
fn time_without_cpu() -> Duration {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let waited = |thread: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    Duration::from_nanos(threads.take(THREADS_MAX).filter_map(waited).sum())
}

/// CPU time of the process.
pub(crate) fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}
