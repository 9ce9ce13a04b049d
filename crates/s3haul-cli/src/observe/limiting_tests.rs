//! Simulated machines, services and flags: each has one thing that limits, and the word names it.

use super::*;

/// What a job does in each second, and what there is at most.
#[derive(Clone, Copy)]
struct Scenario {
    cpu_cores: f64,
    busy: f64,
    in_flight: u64,
    attempts: u64,
    refusals: u64,
    head_ms: u64,
    body_ms: u64,
    sent_bytes: u64,
    received_bytes: u64,
    admission: AdmissionLoad,
    limits: LimitsLoad,
    files: usize,
    bounds: Bounds,
}

/// A download of small objects whose answers take 20 ms: the service limits.
const SMALL: Scenario = Scenario {
    cpu_cores: 0.4,
    busy: 0.2,
    in_flight: 40,
    attempts: 2_000,
    refusals: 0,
    head_ms: 40_000,
    body_ms: 400,
    sent_bytes: 0,
    received_bytes: 2_000 * 4_096,
    admission: AdmissionLoad {
        read_limit: 48,
        write_limit: 16,
        waiting_for_room: 2,
        waiting_for_rate: 0,
        resting: 0,
    },
    limits: LimitsLoad {
        memory_bytes: 1 << 20,
        memory_bytes_max: 128 << 20,
        is_bandwidth_used_up: false,
    },
    files: 0,
    bounds: Bounds {
        max_concurrent_requests: 512,
        max_requests_per_second: None,
        is_adaptive: true,
    },
};

impl Scenario {
    fn limit_after(&self, ticks: u32) -> Option<Limit> {
        let machine = Machine { cores: 2.0, workers: 1.0, bounds: self.bounds };
        let part = |a_second: u64, tick: u32| a_second * u64::from(tick) / 10;
        let sample = |tick: u32| Sample {
            at: Duration::from_millis(100) * tick,
            cpu: Duration::from_secs_f64(self.cpu_cores * f64::from(tick) / 10.0),
            busy: Duration::from_secs_f64(self.busy * f64::from(tick) / 10.0),
            meter: MeterTotals {
                in_flight: self.in_flight,
                attempts: part(self.attempts, tick),
                refusals: part(self.refusals, tick),
                read_head: Duration::from_millis(part(self.head_ms, tick)),
                read_body: Duration::from_millis(part(self.body_ms, tick)),
                sent_bytes: part(self.sent_bytes, tick),
                received_bytes: part(self.received_bytes, tick),
                ..MeterTotals::default()
            },
            admission: self.admission,
            limits: self.limits,
            files: self.files,
        };
        limit(&(0..=ticks).map(sample).collect(), &machine)
    }

    fn limit(&self) -> Option<Limit> {
        self.limit_after(50)
    }
}

#[test]
fn a_service_limits_by_its_time_or_by_refusals() {
    assert_eq!(SMALL.limit(), Some(Limit::Service));
    let refusing = Scenario { refusals: 40, body_ms: 90_000, ..SMALL };
    assert_eq!(refusing.limit(), Some(Limit::Service));
    let resting = AdmissionLoad { resting: 4, ..SMALL.admission };
    assert_eq!(Scenario { admission: resting, ..SMALL }.limit(), Some(Limit::Service));
    let waiting = AdmissionLoad { waiting_for_rate: 9, ..SMALL.admission };
    assert_eq!(Scenario { admission: waiting, ..SMALL }.limit(), Some(Limit::Service));
    // Copies that the server makes move no bytes here.
    let copies = Scenario { received_bytes: 0, head_ms: 0, body_ms: 0, ..SMALL };
    assert_eq!(copies.limit(), Some(Limit::Service));
}

#[test]
fn a_network_limits_where_time_goes_into_bytes() {
    let down = Scenario { head_ms: 2_000, body_ms: 38_000, received_bytes: 100 << 20, ..SMALL };
    assert_eq!(down.limit(), Some(Limit::Network));
    let up = Scenario { received_bytes: 0, attempts: 5, sent_bytes: 5 * (8 << 20), ..SMALL };
    assert_eq!(up.limit(), Some(Limit::Network));
}

#[test]
fn a_disk_limits_where_threads_wait_for_it() {
    let reading = Scenario { files: 12, in_flight: 3, cpu_cores: 0.2, ..SMALL };
    assert_eq!(reading.limit(), Some(Limit::Disk));
    let writing = Scenario { files: 30, ..SMALL };
    assert_eq!(writing.limit(), Some(Limit::Disk));
    let from_memory = Scenario { files: 1, in_flight: 3, cpu_cores: 1.2, ..SMALL };
    assert_ne!(from_memory.limit(), Some(Limit::Disk));
}

#[test]
fn a_cpu_limits_as_a_whole_or_where_connections_are_driven() {
    assert_eq!(Scenario { cpu_cores: 1.9, files: 2, ..SMALL }.limit(), Some(Limit::Cpu));
    assert_eq!(Scenario { cpu_cores: 1.1, busy: 0.97, ..SMALL }.limit(), Some(Limit::Cpu));
}

#[test]
fn flags_limit_where_they_are_used_up() {
    let bounds = Bounds { max_concurrent_requests: 8, ..SMALL.bounds };
    let found = AdmissionLoad { read_limit: 8, write_limit: 8, ..SMALL.admission };
    let few = Scenario { bounds, in_flight: 8, admission: found, ..SMALL };
    assert_eq!(few.limit(), Some(Limit::MaxConcurrentRequests));
    // Fewer were found to be as good.
    let found = AdmissionLoad { read_limit: 5, write_limit: 5, ..SMALL.admission };
    assert_eq!(Scenario { admission: found, ..few }.limit(), Some(Limit::Service));

    let rate = |max| Bounds { max_requests_per_second: Some(max), ..SMALL.bounds };
    let waiting = AdmissionLoad { waiting_for_rate: 9, ..SMALL.admission };
    let slow = Scenario { bounds: rate(2_100), admission: waiting, ..SMALL };
    assert_eq!(slow.limit(), Some(Limit::MaxRequestsPerSecond));
    assert_eq!(Scenario { bounds: rate(9_000), ..SMALL }.limit(), Some(Limit::Service));
    let ramping = Scenario { bounds: rate(9_000), ..slow };
    assert_eq!(ramping.limit(), Some(Limit::MaxRequestsPerSecond));
    let refused = Scenario { refusals: 1, ..ramping };
    assert_eq!(refused.limit(), Some(Limit::Service));

    let limits = LimitsLoad { is_bandwidth_used_up: true, ..SMALL.limits };
    assert_eq!(Scenario { limits, ..SMALL }.limit(), Some(Limit::MaxBandwidth));
    let limits = LimitsLoad { memory_bytes: 127 << 20, ..SMALL.limits };
    let full = Scenario { limits, in_flight: 9, ..SMALL };
    assert_eq!(full.limit(), Some(Limit::MaxMemory));
    // Read ahead for requests that are all in flight.
    assert_ne!(Scenario { in_flight: 46, ..full }.limit(), Some(Limit::MaxMemory));
}

#[test]
fn nothing_is_said_too_early_or_of_nothing() {
    assert_eq!(SMALL.limit_after(8), None);
    assert_eq!(SMALL.limit_after(9), Some(Limit::Service));
    // A pipe whose writer sends nothing.
    assert_eq!(Scenario { in_flight: 0, attempts: 0, ..SMALL }.limit(), None);
    assert_eq!(
        limit(&VecDeque::new(), &Machine { cores: 1.0, workers: 1.0, bounds: Bounds::default() }),
        None
    );
}

#[test]
fn words_differ() {
    let mut words = Limit::ALL.map(Limit::word).to_vec();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), Limit::ALL.len());
}
