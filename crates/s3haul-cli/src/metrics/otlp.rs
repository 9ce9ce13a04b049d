//! Metrics and traces as documents of OpenTelemetry, in the JSON encoding of its protocol:
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>. Pure.
//!
//! Metrics have the names and labels that they have for Prometheus. A trace has a span for the
//! command and one for each attempt of a request that was kept; nothing names buckets or keys.

use std::time::{SystemTime, UNIX_EPOCH};

use prometheus::proto::{Bucket, Histogram, Metric as Point, MetricFamily, MetricType};
use s3haul_wire::meter::EndedAttempt;
use serde_json::{Value, json};

use super::families::{Run, RunEnd};
use crate::progress::{ENDS, Totals};
use crate::settings::ParentSpan;

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`: values count from the start of the command.
const CUMULATIVE: u8 = 2;
/// `SPAN_KIND_INTERNAL`: a command.
const INTERNAL: u8 = 1;
/// `SPAN_KIND_CLIENT`: a request to a service.
const CLIENT: u8 = 3;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// Which run documents are of.
#[derive(Debug)]
pub(super) struct Identity {
    trace: String,
    span: String,
    parent: Option<String>,
}

impl Identity {
    /// A part of the trace of `parent`, or a trace of its own.
    pub(super) fn new(parent: Option<&ParentSpan>) -> Self {
        let trace = || format!("{:032x}", fastrand::u128(1..));
        Self {
            trace: parent.map_or_else(trace, |parent| parent.trace.clone()),
            span: span_id(),
            parent: parent.map(|parent| parent.span.clone()),
        }
    }

    fn resource(&self, run: &Run) -> Value {
        let own = [
            text("service.name", "s3haul"),
            text("service.version", env!("CARGO_PKG_VERSION")),
            // Two runs at a time are two series.
            text("service.instance.id", &self.span),
        ];
        let labels = run.labels.iter().map(|(name, value)| text(name, value));
        json!({"attributes": own.into_iter().chain(labels).collect::<Vec<_>>()})
    }

    /// The request for `/v1/metrics`.
    pub(super) fn metrics(&self, run: &Run, families: &[MetricFamily], now: SystemTime) -> Value {
        let times = (nanoseconds(run.started), nanoseconds(now));
        let metrics: Vec<_> = families.iter().map(|family| metric(family, &times)).collect();
        json!({"resourceMetrics": [{
            "resource": self.resource(run),
            "scopeMetrics": [{"scope": scope(), "metrics": metrics}],
        }]})
    }

    /// The request for `/v1/traces`; none without a span.
    pub(super) fn traces(
        &self,
        run: &Run,
        attempts: &[EndedAttempt],
        end: Option<(RunEnd, &Totals)>,
    ) -> Option<Value> {
        let mut spans: Vec<_> = attempts.iter().map(|attempt| self.request(attempt)).collect();
        spans.extend(end.map(|(end, totals)| self.command(run, end, totals)));
        (!spans.is_empty()).then(|| {
            json!({"resourceSpans": [{
                "resource": self.resource(run),
                "scopeSpans": [{"scope": scope(), "spans": spans}],
            }]})
        })
    }

    fn command(&self, run: &Run, end: RunEnd, totals: &Totals) -> Value {
        let mut attributes = vec![
            text("s3haul.command", run.command),
            whole("process.exit.code", end.status.into()),
            whole("s3haul.moved_bytes", totals.bytes()),
        ];
        let ends = ENDS.into_iter().zip(totals.ends()).filter(|(_, count)| *count > 0);
        attributes.extend(ends.map(|(end, count)| whole(&format!("s3haul.objects.{end}"), count)));
        let mut span = json!({
            "traceId": self.trace,
            "spanId": self.span,
            "name": format!("s3haul {}", run.command),
            "kind": INTERNAL,
            "startTimeUnixNano": nanoseconds(run.started),
            "endTimeUnixNano": nanoseconds(end.at),
            "attributes": attributes,
            "status": status(end.status != 0),
        });
        if let Some(parent) = &self.parent {
            span["parentSpanId"] = parent.as_str().into();
        }
        span
    }

    /// Names are those of
    /// <https://opentelemetry.io/docs/specs/semconv/cloud-providers/aws-sdk/>.
    fn request(&self, attempt: &EndedAttempt) -> Value {
        let mut attributes = vec![
            text("rpc.system", "aws-api"),
            text("rpc.service", "S3"),
            text("rpc.method", attempt.operation),
            whole("s3haul.sent_bytes", attempt.sent_bytes),
            whole("s3haul.received_bytes", attempt.received_bytes),
        ];
        let mut events = Vec::new();
        let begun = attempt.ended.checked_sub(attempt.whole).unwrap_or(UNIX_EPOCH);
        if let Some(status) = attempt.status {
            attributes.push(whole("http.response.status_code", status.into()));
            let at = nanoseconds(begun + attempt.head);
            events.push(json!({"timeUnixNano": at, "name": "head of the answer"}));
        }
        json!({
            "traceId": self.trace,
            "spanId": span_id(),
            "parentSpanId": self.span,
            "name": format!("S3/{}", attempt.operation),
            "kind": CLIENT,
            "startTimeUnixNano": nanoseconds(begun),
            "endTimeUnixNano": nanoseconds(attempt.ended),
            "attributes": attributes,
            "events": events,
            "status": status(attempt.is_failure()),
        })
    }
}

fn span_id() -> String {
    format!("{:016x}", fastrand::u64(1..))
}

fn scope() -> Value {
    json!({"name": "s3haul", "version": env!("CARGO_PKG_VERSION")})
}

fn status(is_failure: bool) -> Value {
    if is_failure { json!({"code": ERROR}) } else { json!({}) }
}

fn metric(family: &MetricFamily, times: &(String, String)) -> Value {
    let kind = family.get_field_type();
    let points = family.get_metric().iter().map(|of| point(of, kind, times));
    let points: Vec<_> = points.collect();
    let (name, data) = match kind {
        MetricType::COUNTER => {
            let sum = json!({
                "dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true,
            });
            ("sum", sum)
        }
        MetricType::HISTOGRAM => {
            ("histogram", json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE}))
        }
        _ => ("gauge", json!({"dataPoints": points})),
    };
    json!({"name": family.name(), "description": family.help(), name: data})
}

fn point(of: &Point, kind: MetricType, (started, now): &(String, String)) -> Value {
    let labels = of.get_label().iter().map(|label| text(label.name(), label.value()));
    let mut point = match kind {
        MetricType::COUNTER => json!({"asDouble": of.get_counter().get_value()}),
        MetricType::HISTOGRAM => histogram(of.get_histogram()),
        _ => json!({"asDouble": of.get_gauge().get_value()}),
    };
    point["attributes"] = labels.collect();
    point["startTimeUnixNano"] = started.as_str().into();
    point["timeUnixNano"] = now.as_str().into();
    point
}

/// Prometheus counts what is at most a bound, OpenTelemetry what is between two.
fn histogram(of: &Histogram) -> Value {
    let count = of.get_sample_count();
    let bounds: Vec<_> = of.get_bucket().iter().map(Bucket::upper_bound).collect();
    let up_to = of.get_bucket().iter().map(Bucket::cumulative_count).chain([count]);
    let mut before = 0;
    let counts = up_to.map(|up_to| {
        let between = up_to.saturating_sub(before);
        before = up_to;
        between.to_string()
    });
    let counts: Vec<_> = counts.collect();
    json!({
        "count": count.to_string(),
        "sum": of.get_sample_sum(),
        "bucketCounts": counts,
        "explicitBounds": bounds,
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Whole numbers of 64 bits are text in this encoding.
fn whole(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

fn nanoseconds(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn buckets_hold_what_is_between_their_bounds() {
        let bucket = |bound: f64, count| {
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(bound);
            bucket.set_cumulative_count(count);
            bucket
        };
        let mut of = Histogram::default();
        of.set_bucket(vec![bucket(0.5, 3), bucket(1.0, 7)]);
        of.set_sample_count(9);
        of.set_sample_sum(6.5);
        let document = json!({
            "count": "9", "sum": 6.5, "bucketCounts": ["3", "4", "2"], "explicitBounds": [0.5, 1.0],
        });
        assert_eq!(histogram(&of), document);
    }

    #[test]
    fn requests_are_spans_below_the_command() {
        let parent = ParentSpan { trace: "a".repeat(32), span: "b".repeat(16) };
        let identity = Identity::new(Some(&parent));
        let run = Run { command: "cp", labels: Vec::new(), started: UNIX_EPOCH };
        let attempt = EndedAttempt {
            operation: "PutObject",
            status: Some(503),
            ended: UNIX_EPOCH + Duration::from_secs(7),
            head: Duration::from_secs(1),
            whole: Duration::from_secs(2),
            sent_bytes: 0,
            received_bytes: 0,
        };
        let silent = EndedAttempt { status: None, ..attempt };
        let end = RunEnd { at: UNIX_EPOCH + Duration::from_secs(9), status: 1 };
        let totals = Totals::default();
        let document = identity.traces(&run, &[attempt, silent], Some((end, &totals))).unwrap();
        let spans = &document["resourceSpans"][0]["scopeSpans"][0]["spans"];
        let [refused, silent, command] = &spans.as_array().unwrap()[..] else { panic!("{spans}") };
        assert_eq!(refused["startTimeUnixNano"], "5000000000");
        assert_eq!(refused["endTimeUnixNano"], "7000000000");
        assert_eq!(refused["events"][0]["timeUnixNano"], "6000000000");
        assert_eq!(silent["events"], json!([]));
        for span in [refused, silent] {
            assert_eq!(span["parentSpanId"], command["spanId"]);
            assert_eq!(span["status"]["code"], ERROR);
        }
        for span in [refused, silent, command] {
            assert_eq!(span["traceId"], *parent.trace);
            assert_eq!(span["spanId"].as_str().unwrap().len(), 16);
        }
        assert_ne!(refused["spanId"], silent["spanId"]);
        assert_eq!(command["parentSpanId"], *parent.span);
        assert_eq!(command["name"], "s3haul cp");
        assert_eq!(identity.traces(&run, &[], None), None);
    }
}
