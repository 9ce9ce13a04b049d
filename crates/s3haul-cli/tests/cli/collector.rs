//! `--otlp-endpoint`, against a collector that keeps what it gets.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::support::{Bench, stderr};

const FILES: usize = 9;
/// One is sent in parts.
const LARGE_BYTES: usize = 9 << 20;
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

/// A request that came.
struct Received {
    path: String,
    head: String,
    document: Value,
}

/// Keeps all requests; its threads end with the test.
struct Collector {
    url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Collector {
    /// Answers with a status line, or never.
    fn start(answer: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/otlp", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || {
                    while take(stream.as_ref().unwrap(), answer, &kept).is_some() {}
                });
            }
        });
        Self { url, received }
    }

    /// All spans.
    fn spans(&self) -> Vec<Value> {
        let received = self.received.lock().unwrap();
        let traces = received.iter().filter(|request| request.path == "/otlp/v1/traces");
        let spans = traces.flat_map(|request| {
            request.document["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap()
        });
        spans.cloned().collect()
    }

    /// The points of a metric when it came last.
    fn points(&self, name: &str) -> Vec<Value> {
        let received = self.received.lock().unwrap();
        let mut all = received.iter().rev();
        let last = all.find(|request| request.path == "/otlp/v1/metrics").unwrap();
        let metrics = &last.document["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        let mut metrics = metrics.as_array().unwrap().iter();
        let metric = metrics.find(|metric| metric["name"] == name).unwrap();
        let data = ["sum", "gauge", "histogram"].into_iter().find_map(|kind| metric.get(kind));
        data.unwrap()["dataPoints"].as_array().unwrap().clone()
    }
}

/// Reads a request and answers it; gives nothing when no more come.
fn take(mut stream: &TcpStream, answer: Option<&str>, kept: &Mutex<Vec<Received>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let length = header(&head, "content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    let document = serde_json::from_slice(&body).ok()?;
    kept.lock().unwrap().push(Received { path, head, document });
    match answer {
        Some(status) => write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\n{{}}").ok(),
        // Until the other side gives up.
        None => stream.read(&mut [0]).ok().map(drop),
    }
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut pairs = head.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn attribute(of: &Value, key: &str) -> Option<String> {
    let mut all = of["attributes"].as_array().unwrap().iter();
    let value = &all.find(|attribute| attribute["key"] == key)?["value"];
    let text = value.get("stringValue").or(value.get("intValue"))?;
    text.as_str().map(str::to_owned)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers")]
fn sum(points: &[Value]) -> usize {
    points.iter().map(|point| point["asDouble"].as_f64().unwrap() as usize).sum()
}

#[test]
fn a_collector_gets_the_metrics_and_the_trace_of_a_job() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    for n in 0..FILES {
        bench.file(&format!("in/{n}"), &"x".repeat(n * 100));
    }
    bench.file("in/large", &"x".repeat(LARGE_BYTES));
    let collector = Collector::start(Some("200 OK"));
    let flags = format!("--otlp-endpoint {} --label job_name=nightly --debug", collector.url);
    let mut command = bench.command(&format!("cp --recursive in s3://box/x {flags}"));
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=very%20secret");
    command.env("TRACEPARENT", format!("00-{TRACE}-{SPAN}-01"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stderr(&output).contains("secret"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("warning"), "{}", stderr(&output));

    for request in &*collector.received.lock().unwrap() {
        assert_eq!(header(&request.head, "api-key"), Some("very secret"));
        assert_eq!(header(&request.head, "content-type"), Some("application/json"));
        let document = &request.document;
        let resource = document.get("resourceMetrics").or(document.get("resourceSpans")).unwrap();
        let resource = &resource[0]["resource"];
        assert_eq!(attribute(resource, "service.name").as_deref(), Some("s3haul"));
        assert_eq!(attribute(resource, "job_name").as_deref(), Some("nightly"));
        assert!(!document.to_string().contains("box"), "{document}");
    }
    let bytes = (0..FILES).map(|n| n * 100).sum::<usize>() + LARGE_BYTES;
    let is_data = |at: &Value| {
        matches!(attribute(at, "operation").as_deref(), Some("PutObject" | "UploadPart"))
    };
    let mut sent = collector.points("s3haul_sent_bytes_total");
    sent.retain(is_data);
    assert_eq!(sum(&sent), bytes);
    assert_eq!(sum(&collector.points("s3haul_run_exit_status")), 0);
    let objects = collector.points("s3haul_objects_total");
    let done = objects.iter().find(|at| attribute(at, "outcome").as_deref() == Some("done"));
    assert_eq!(sum(&[done.unwrap().clone()]), FILES + 1);

    let spans = collector.spans();
    let is_command = |span: &&Value| span["parentSpanId"] == SPAN;
    let [command] = &spans.iter().filter(is_command).collect::<Vec<_>>()[..] else {
        panic!("one span of the command: {spans:?}")
    };
    assert_eq!(command["name"], "s3haul cp");
    assert_eq!(attribute(command, "s3haul.moved_bytes"), Some(bytes.to_string()));
    assert_eq!(attribute(command, "s3haul.objects.done"), Some((FILES + 1).to_string()));
    let requests: Vec<_> = spans.iter().filter(|span| !is_command(span)).collect();
    assert_eq!(requests.len(), sum(&collector.points("s3haul_requests_total")));
    let puts = requests.iter().filter(|span| span["name"] == "S3/PutObject");
    assert_eq!(puts.count(), FILES);
    for span in requests {
        assert_eq!((&span["traceId"], &span["parentSpanId"]), (&TRACE.into(), &command["spanId"]));
        let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"), "{span}");
    }
}

/// Refuses names and values that the schema of OpenTelemetry does not have.
const BY_SCHEMA: &str = "\
import sys
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace
kinds = {
    'resourceMetrics': metrics.ExportMetricsServiceRequest,
    'resourceSpans': trace.ExportTraceServiceRequest,
}
for line in sys.stdin:
    [kind] = [kind for name, kind in kinds.items() if name in line]
    Parse(line, kind())
";

#[test]
fn documents_follow_the_schema() {
    let Some(python) = std::env::var_os("S3HAUL_TEST_PYTHON") else {
        return println!("skipped: S3HAUL_TEST_PYTHON is not set");
    };
    let bench = Bench::with_objects(&["a", "b"]);
    let collector = Collector::start(Some("200 OK"));
    let flags = format!("--otlp-endpoint {} --label job_name=test", collector.url);
    bench.ok(&format!("cp --recursive s3://box out {flags}"));
    assert_eq!(bench.status(&format!("cp s3://box/none . {flags}")), 1);
    let received = collector.received.lock().unwrap();
    assert!(received.len() >= 4);
    let lines = received.iter().map(|request| format!("{}\n", request.document));
    let mut parser = Command::new(python);
    parser.args(["-c", BY_SCHEMA]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut parser = parser.spawn().unwrap();
    let written = lines.collect::<String>();
    parser.stdin.take().unwrap().write_all(written.as_bytes()).unwrap();
    let output = parser.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_failure_is_an_error_of_its_spans() {
    let bench = Bench::with_objects(&["a"]);
    let collector = Collector::start(Some("202 Accepted"));
    assert_eq!(bench.status(&format!("cp s3://box/none . --otlp-endpoint {}", collector.url)), 1);
    let spans = collector.spans();
    let failed: Vec<_> = spans.iter().filter(|span| span["status"]["code"] == 2).collect();
    let names: Vec<_> = failed.iter().map(|span| &span["name"]).collect();
    assert_eq!(names, ["S3/HeadObject", "s3haul cp"]);
    assert_eq!(attribute(failed[0], "http.response.status_code").as_deref(), Some("404"));
    assert_eq!(attribute(failed[1], "process.exit.code").as_deref(), Some("1"));
    assert_eq!(sum(&collector.points("s3haul_run_exit_status")), 1);
}

/// Collectors come and go: a job neither fails nor waits long for one.
#[test]
fn a_job_is_done_whatever_its_collector_does() {
    let bench = Bench::with_objects(&["a"]);
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (refuses, silent) = (Collector::start(Some("401 No")), Collector::start(None));
    for (url, why) in [
        (refuses.url, "it answered /v1/metrics with 401"),
        (format!("http://{gone}"), "refused"),
        (silent.url, "no answer"),
    ] {
        let output = bench.run(&format!("ls s3://box --otlp-endpoint {url}"));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let warning = format!("warning: {url} did not get the last metrics and traces: ");
        let message = stderr(&output);
        let (_, found) = message.split_once(&warning).unwrap_or_else(|| panic!("{message}"));
        assert!(found.contains(why) && found.lines().count() == 1, "{message}");
    }
    let output = bench.run("ls s3://box --otlp-endpoint http://user:pass@127.0.0.1:4318");
    assert_eq!(output.status.code(), Some(252), "{}", stderr(&output));
    assert!(!stderr(&output).contains("pass@"), "{}", stderr(&output));
}

/// Signals are left out as the variables of OpenTelemetry say.
#[test]
fn signals_that_are_not_wanted_are_not_sent() {
    let bench = Bench::with_objects(&["a"]);
    for (variable, path) in
        [("OTEL_TRACES_EXPORTER", "/otlp/v1/metrics"), ("OTEL_METRICS_EXPORTER", "/otlp/v1/traces")]
    {
        let collector = Collector::start(Some("200 OK"));
        let mut command = bench.command(&format!("ls s3://box --otlp-endpoint {}", collector.url));
        assert!(command.env(variable, "none").status().unwrap().success());
        let received = collector.received.lock().unwrap();
        let paths: Vec<_> = received.iter().map(|request| &request.path).collect();
        assert_eq!(paths, [path]);
    }
}
