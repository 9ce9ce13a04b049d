//! The names of the metrics, which do not change: dashboards and alerts of others hold them.

use prometheus::proto::MetricType;

/// A metric.
#[derive(Debug)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) kind: MetricType,
    /// Labels of its own, beside those of `--label`.
    pub(super) labels: &'static [&'static str],
    pub(super) help: &'static str,
}

macro_rules! metrics {
    ($($constant:ident = $kind:ident $name:literal [$($label:literal),*] $help:literal;)*) => {
        $(
            #[doc = $help]
            pub(super) const $constant: Metric = Metric {
                name: concat!("s3haul_", $name),
                kind: MetricType::$kind,
                labels: &[$($label),*],
                help: $help,
            };
        )*

        /// All of them.
        #[cfg(test)]
        pub(super) const ALL: &[Metric] = &[$($constant),*];
    };
}

metrics! {
    REQUESTS = COUNTER "requests_total" ["operation", "status"]
        "Attempts of requests that ended, by S3 operation and HTTP status.";
    REQUEST_SECONDS = HISTOGRAM "request_duration_seconds" ["operation"]
        "Time from the beginning of an attempt to the first byte of its answer.";
    SENT_BYTES = COUNTER "sent_bytes_total" ["operation"]
        "Bytes of the bodies of requests that succeeded.";
    RECEIVED_BYTES = COUNTER "received_bytes_total" ["operation"]
        "Bytes of the bodies of answers that were read to their end.";
    IN_FLIGHT = GAUGE "requests_in_flight" []
        "Requests in flight, of all operations.";
    LIMIT = GAUGE "requests_limit" ["class"]
        "Reads and writes in flight at most, as the controller found it; listings do not count.";
    WAITING = GAUGE "requests_waiting" ["reason"]
        "Requests that wait to be sent, by what they wait for.";
    REFUSALS = COUNTER "refusals_total" []
        "Attempts that the service refused because there was too much to do (503, 429).";
    RETRIES = COUNTER "retries_total" []
        "Attempts that were made because an earlier one failed.";
    HEDGES = COUNTER "hedges_total" []
        "Second requests that were sent beside late ones.";
    PLANNED_OBJECTS = COUNTER "planned_objects_total" []
        "Objects that something was to be done to.";
    PLANNED_BYTES = COUNTER "planned_bytes_total" []
        "Bytes that were to be moved.";
    OBJECTS = COUNTER "objects_total" ["outcome"]
        "Objects that ended, by how they did.";
    MOVED_BYTES = GAUGE "moved_bytes" []
        "Bytes of objects that were moved; what has to be moved again is taken back.";
    MEMORY_BYTES = GAUGE "memory_bytes" []
        "Bytes of object data held in memory.";
    MEMORY_BYTES_MAX = GAUGE "memory_bytes_max" []
        "Bytes of object data held in memory at most.";
    CPU_SECONDS = COUNTER "cpu_seconds_total" []
        "CPU time of the process.";
    LIMITED_SECONDS = COUNTER "limited_seconds_total" ["limit"]
        "How long each of the things that can limit a job limited it.";
    INFO = GAUGE "run_info" ["command", "version"]
        "The command that runs, always 1.";
    STARTED = GAUGE "run_start_timestamp_seconds" []
        "When the command started, in seconds since 1970.";
    ENDED = GAUGE "run_end_timestamp_seconds" []
        "When the command ended, in seconds since 1970; absent before.";
    EXIT_STATUS = GAUGE "run_exit_status" []
        "The exit status of the command; absent before its end.";
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
