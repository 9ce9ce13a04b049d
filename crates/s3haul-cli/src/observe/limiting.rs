//! What limits a job right now, from samples of the last seconds. Pure.
//!
//! The rule asks in this order: a rate that the user set; refusals; a bandwidth that the user set;
//! the CPU; threads that wait for the contents of files; a number of requests that the user set;
//! memory; and what is left is the network where time goes into bytes, else the service.

use std::collections::VecDeque;
use std::time::Duration;

use s3haul::job::LimitsLoad;
use s3haul_wire::AdmissionLoad;
use s3haul_wire::controller::Bounds;
use s3haul_wire::meter::MeterTotals;

/// Time that a verdict is about.
pub(super) const WINDOW: Duration = Duration::from_secs(5);
/// Time before the first verdict.
const WINDOW_MIN: f64 = 0.9;
/// Use of something that counts as all of it.
const USED_UP: f64 = 0.9;
/// The same of the CPU, which is never used up evenly.
const CPU_USED_UP: f64 = 0.85;
/// Share of refused attempts from which the service is what limits.
const REFUSED_MIN: f64 = 0.01;
/// Requests that wait for something, on average, from which it counts.
const WAITING_MIN: f64 = 0.5;
/// Bytes that take about as long as the rest of a request, as the controller has it.
const REQUEST_WORK_BYTES: f64 = 65_536.0;

/// What limits a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Limit {
    /// It refuses requests, or takes its time to answer them.
    Service,
    /// Bytes come and go no faster.
    Network,
    /// Files are read or written no faster.
    Disk,
    /// Signatures, digests and TLS.
    Cpu,
    /// `--max-concurrent-requests`, or its default.
    MaxConcurrentRequests,
    /// `--max-requests-per-second`.
    MaxRequestsPerSecond,
    /// `--max-bandwidth`.
    MaxBandwidth,
    /// `--max-memory`, or its default.
    MaxMemory,
}

impl Limit {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Service,
        Self::Network,
        Self::Disk,
        Self::Cpu,
        Self::MaxConcurrentRequests,
        Self::MaxRequestsPerSecond,
        Self::MaxBandwidth,
        Self::MaxMemory,
    ];

    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Network => "network",
            Self::Disk => "disk",
            Self::Cpu => "cpu",
            Self::MaxConcurrentRequests => "--max-concurrent-requests",
            Self::MaxRequestsPerSecond => "--max-requests-per-second",
            Self::MaxBandwidth => "--max-bandwidth",
            Self::MaxMemory => "--max-memory",
        }
    }
}

/// What there is at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    /// CPUs.
    pub(super) cores: f64,
    /// Threads that drive connections.
    pub(super) workers: f64,
    /// Bounds of requests.
    pub(super) bounds: Bounds,
}

/// The process at one moment. What only grows is counted from its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub(super) at: Duration,
    /// Time for which threads of the process had a CPU, or waited for one that others had.
    pub(super) cpu: Duration,
    /// Time that the threads which drive connections were busy, together.
    pub(super) busy: Duration,
    pub(super) meter: MeterTotals,
    pub(super) admission: AdmissionLoad,
    pub(super) limits: LimitsLoad,
    /// Threads that read or write contents of files.
    pub(super) files: usize,
}

/// Averages over the samples of a window.
#[derive(Clone, Copy, Debug, Default)]
struct Averages {
    cpu_cores: f64,
    cpu_share: f64,
    busy_share: f64,
    in_flight: f64,
    files: f64,
    attempts_per_second: f64,
    refused_share: f64,
    was_ever_refused: bool,
    resting: f64,
    waiting_for_rate: f64,
    found_limit: f64,
    memory_share: f64,
    bandwidth_share: f64,
    bytes_share: f64,
}

impl Averages {
    fn of(samples: &VecDeque<Sample>, machine: &Machine) -> Option<Self> {
        let (first, last) = (samples.front()?, samples.back()?);
        let seconds = (last.at.saturating_sub(first.at)).as_secs_f64();
        if seconds < WINDOW_MIN {
            return None;
        }
        let mean = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / len(samples);
        let meter = last.meter.since(&first.meter);
        let cpu_cores = last.cpu.saturating_sub(first.cpu).as_secs_f64() / seconds;
        let busy = last.busy.saturating_sub(first.busy).as_secs_f64() / seconds;
        // Without an ended request in the window, all earlier ones count.
        let ended = if meter.attempts > 0 { meter } else { last.meter };
        Some(Self {
            cpu_cores,
            cpu_share: cpu_cores / machine.cores.max(1.0),
            busy_share: busy / machine.workers.max(1.0),
            in_flight: mean(|sample| float(sample.meter.in_flight)),
            files: mean(|sample| count(sample.files)),
            attempts_per_second: float(meter.attempts) / seconds,
            refused_share: float(meter.refusals) / float(meter.attempts).max(1.0),
            was_ever_refused: last.meter.refusals > 0,
            resting: mean(|sample| count(sample.admission.resting)),
            waiting_for_rate: mean(|sample| count(sample.admission.waiting_for_rate)),
            found_limit: mean(|sample| {
                f64::from(sample.admission.read_limit.max(sample.admission.write_limit))
            }),
            memory_share: mean(|sample| {
                float(sample.limits.memory_bytes) / float(sample.limits.memory_bytes_max).max(1.0)
            }),
            bandwidth_share: mean(|sample| f64::from(sample.limits.is_bandwidth_used_up)),
            bytes_share: bytes_share(&ended),
        })
    }

    /// Threads that wait for a disk, beyond those that copy from and to memory.
    fn waiting_for_files(&self) -> f64 {
        self.files - self.cpu_cores
    }
}

/// How much of the time of requests went into bytes: of reads it is known, of writes it is
/// estimated from their size.
fn bytes_share(meter: &MeterTotals) -> f64 {
    let (head, body) = (meter.read_head.as_secs_f64(), meter.read_body.as_secs_f64());
    if meter.received_bytes > meter.sent_bytes && head + body > 0.0 {
        return body / (head + body);
    }
    let bytes = float(meter.sent_bytes);
    bytes / (bytes + REQUEST_WORK_BYTES * float(meter.attempts)).max(1.0)
}

/// What limits, from the samples of a window; nothing while too little is known, and where nothing
/// is under way.
pub(super) fn limit(samples: &VecDeque<Sample>, machine: &Machine) -> Option<Limit> {
    let now = Averages::of(samples, machine)?;
    let bounds = &machine.bounds;
    let max_in_flight = f64::from(bounds.max_concurrent_requests);
    let rate_max = bounds.max_requests_per_second.map(f64::from);
    let is_waiting = now.waiting_for_rate >= WAITING_MIN;
    // Ranges of keys have a rate only after they were refused.
    let is_rate_used_up = |max: f64| {
        now.attempts_per_second >= USED_UP * max || (is_waiting && !now.was_ever_refused)
    };
    if rate_max.is_some_and(is_rate_used_up) {
        return Some(Limit::MaxRequestsPerSecond);
    }
    if now.refused_share >= REFUSED_MIN || now.resting >= WAITING_MIN || is_waiting {
        return Some(Limit::Service);
    }
    if now.bandwidth_share >= USED_UP {
        return Some(Limit::MaxBandwidth);
    }
    if now.cpu_share >= CPU_USED_UP || now.busy_share >= USED_UP {
        return Some(Limit::Cpu);
    }
    if now.waiting_for_files() >= 0.5 * now.in_flight.max(1.0) {
        return Some(Limit::Disk);
    }
    if now.in_flight >= USED_UP * max_in_flight && now.found_limit >= max_in_flight {
        return Some(Limit::MaxConcurrentRequests);
    }
    if now.in_flight < WAITING_MIN {
        return None;
    }
    if now.memory_share >= USED_UP && now.in_flight < 0.7 * now.found_limit {
        return Some(Limit::MaxMemory);
    }
    Some(if now.bytes_share >= 0.5 { Limit::Network } else { Limit::Service })
}

#[expect(clippy::cast_precision_loss, reason = "averages need no more precision")]
fn float(value: u64) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "averages need no more precision")]
fn count(value: usize) -> f64 {
    value as f64
}

fn len(samples: &VecDeque<Sample>) -> f64 {
    count(samples.len())
}

#[cfg(test)]
#[path = "limiting_tests.rs"]
mod tests;
