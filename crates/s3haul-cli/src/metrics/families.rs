//! The metrics with their values, also in the text format of Prometheus:
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus::proto::{
    Bucket, Counter, Gauge, Histogram, LabelPair, Metric as Point, MetricFamily, MetricType,
};
use prometheus::{Encoder as _, TextEncoder};
use s3haul_wire::meter::{LATENCY_BOUNDS_US, OperationCounts};

use super::names::{self, Metric};
use crate::observe::{Limit, Observer, process_time};
use crate::progress::ENDS;

/// What is said of the run beside what the observer sees.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) command: &'static str,
    pub(super) labels: Vec<(String, String)>,
    pub(super) started: SystemTime,
}

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunEnd {
    pub(super) at: SystemTime,
    pub(super) status: u8,
}

/// All metrics as text.
pub(super) fn text(observer: &Observer, run: &Run, end: Option<RunEnd>) -> Vec<u8> {
    let mut text = Vec::new();
    let encoded = TextEncoder::new().encode(&families(observer, run, end), &mut text);
    encoded.expect("families have names and points, and memory takes what is written");
    text
}

/// All metrics.
pub(super) fn families(observer: &Observer, run: &Run, end: Option<RunEnd>) -> Vec<MetricFamily> {
    let mut families = Families { labels: &run.labels, all: Vec::new() };
    families.push_requests(&observer.meter().operations());
    families.push_load(observer);
    families.push_objects(observer);
    let limited = observer.limited();
    let limited = Limit::ALL.iter().zip(limited);
    let limited = limited.filter(|(_, time)| !time.is_zero());
    families.push(
        &names::LIMITED_SECONDS,
        limited.map(|(limit, time)| (vec![limit.word()], time.as_secs_f64())),
    );
    families.one(&names::CPU_SECONDS, process_time().as_secs_f64());
    let version = env!("CARGO_PKG_VERSION");
    families.push(&names::INFO, [(vec![run.command, version], 1.0)]);
    families.one(&names::STARTED, seconds_of(run.started));
    if let Some(end) = end {
        families.one(&names::ENDED, seconds_of(end.at));
        families.one(&names::EXIT_STATUS, f64::from(end.status));
    }
    families.all
}

/// The families so far.
struct Families<'r> {
    /// Of `--label`.
    labels: &'r [(String, String)],
    all: Vec<MetricFamily>,
}

impl Families<'_> {
    fn one(&mut self, metric: &Metric, value: f64) {
        self.push(metric, [(Vec::new(), value)]);
    }

    /// Adds a metric with its values; without any it is left out.
    fn push<'v>(&mut self, metric: &Metric, values: impl IntoIterator<Item = (Vec<&'v str>, f64)>) {
        let points = values.into_iter().map(|(labels, value)| {
            let mut point = Point::from_label(self.labels_of(metric, &labels));
            if metric.kind == MetricType::COUNTER {
                let mut counter = Counter::default();
                counter.set_value(value);
                point.set_counter(counter);
            } else {
                let mut gauge = Gauge::default();
                gauge.set_value(value);
                point.set_gauge(gauge);
            }
            point
        });
        let points: Vec<_> = points.collect();
        self.add(metric, points);
    }

    fn labels_of(&self, metric: &Metric, values: &[&str]) -> Vec<LabelPair> {
        debug_assert_eq!(metric.labels.len(), values.len());
        let own = metric.labels.iter().copied().zip(values.iter().copied());
        let given = self.labels.iter().map(|(name, value)| (&**name, &**value));
        let pair = |(name, value): (&str, &str)| {
            let mut pair = LabelPair::default();
            pair.set_name(name.to_owned());
            pair.set_value(value.to_owned());
            pair
        };
        given.chain(own).map(pair).collect()
    }

    fn add(&mut self, metric: &Metric, points: Vec<Point>) {
        if points.is_empty() {
            return;
        }
        let mut family = MetricFamily::default();
        family.set_name(metric.name.to_owned());
        family.set_help(metric.help.to_owned());
        family.set_field_type(metric.kind);
        family.set_metric(points);
        self.all.push(family);
    }

    fn push_requests(&mut self, operations: &[OperationCounts]) {
        let by_status = operations.iter().flat_map(|counts| {
            let of_status = counts.attempts.iter();
            of_status.map(|(status, count)| (vec![counts.operation, &**status], float(*count)))
        });
        self.push(&names::REQUESTS, by_status);
        let histograms = operations.iter().map(|counts| {
            let labels = self.labels_of(&names::REQUEST_SECONDS, &[counts.operation]);
            let mut point = Point::from_label(labels);
            point.set_histogram(histogram(counts));
            point
        });
        let histograms = histograms.collect();
        self.add(&names::REQUEST_SECONDS, histograms);
        let bytes = |of: fn(&OperationCounts) -> u64| {
            let moved = operations.iter().filter(move |counts| of(counts) > 0);
            moved.map(move |counts| (vec![counts.operation], float(of(counts))))
        };
        self.push(&names::SENT_BYTES, bytes(|counts| counts.sent_bytes));
        self.push(&names::RECEIVED_BYTES, bytes(|counts| counts.received_bytes));
    }

    fn push_load(&mut self, observer: &Observer) {
        let (totals, load) = (observer.meter().totals(), observer.admission());
        self.one(&names::IN_FLIGHT, float(totals.in_flight));
        let limits = [("read", load.read_limit), ("write", load.write_limit)];
        // Nothing is known of them before there is a client.
        let limits = limits.into_iter().filter(|(_, limit)| *limit > 0);
        let limits = limits.map(|(class, limit)| (vec![class], f64::from(limit)));
        self.push(&names::LIMIT, limits);
        let waiting = [
            ("room", load.waiting_for_room),
            ("rate", load.waiting_for_rate),
            ("backoff", load.resting),
        ];
        let waiting = waiting.map(|(reason, count)| (vec![reason], float(count as u64)));
        self.push(&names::WAITING, waiting);
        self.one(&names::REFUSALS, float(totals.refusals));
        self.one(&names::RETRIES, float(totals.retries));
        self.one(&names::HEDGES, float(totals.hedges));
    }

    fn push_objects(&mut self, observer: &Observer) {
        let snapshot = observer.totals().snapshot();
        self.one(&names::PLANNED_OBJECTS, float(snapshot.planned_objects));
        self.one(&names::PLANNED_BYTES, float(snapshot.planned_bytes));
        let ends = ENDS.into_iter().zip(observer.totals().ends());
        self.push(&names::OBJECTS, ends.map(|(end, count)| (vec![end], float(count))));
        self.one(&names::MOVED_BYTES, float(observer.totals().bytes()));
        let limits = observer.limits();
        self.one(&names::MEMORY_BYTES, float(limits.memory_bytes));
        self.one(&names::MEMORY_BYTES_MAX, float(limits.memory_bytes_max));
    }
}

fn histogram(counts: &OperationCounts) -> Histogram {
    let mut histogram = Histogram::default();
    let mut sum = 0;
    let bounds = LATENCY_BOUNDS_US.iter().zip(&counts.latencies);
    let buckets = bounds.map(|(bound, count)| {
        sum += count;
        let mut bucket = Bucket::default();
        bucket.set_upper_bound(f64::from(*bound) / 1e6);
        bucket.set_cumulative_count(sum);
        bucket
    });
    histogram.set_bucket(buckets.collect());
    histogram.set_sample_count(counts.latencies.iter().sum());
    histogram.set_sample_sum(counts.latency_sum_s);
    histogram
}

fn seconds_of(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "the format has numbers of this type only")]
fn float(value: u64) -> f64 {
    value as f64
}
