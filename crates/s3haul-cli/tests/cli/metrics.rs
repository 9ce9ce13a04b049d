//! `--metrics-listen` and `--metrics-file`, asked as Prometheus asks, and by Prometheus itself.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Bench, stderr};

/// Longest time for anything that is waited for.
const WAIT_MAX: Duration = Duration::from_mins(1);
const FILES: usize = 40;
/// One is sent in parts.
const LARGE_BYTES: usize = 9 << 20;

/// A `run` that waits for its next line, whose metrics can be asked for.
struct Waiting {
    child: Child,
    lines: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    address: String,
    _notes: BufReader<ChildStderr>,
}

impl Waiting {
    fn start(bench: &Bench, flags: &str) -> Self {
        let mut command = bench.command(&format!("run - --metrics-listen 127.0.0.1:0 {flags}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (lines, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut notes = BufReader::new(child.stderr.take().unwrap());
        let address = address_in(&mut notes);
        Self { child, lines, output, address, _notes: notes }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.lines.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Has a job done; gives the bytes that it says it moved.
    fn job(&mut self, line: &str) -> usize {
        self.line(&format!("{line} --json"));
        loop {
            let mut event = String::new();
            assert_ne!(self.output.read_line(&mut event).unwrap(), 0, "there is no summary");
            let event: serde_json::Value = serde_json::from_str(&event).unwrap();
            if event["event"] == "summary" {
                return event["bytes"].to_string().parse().unwrap();
            }
        }
    }

    fn scrape(&self) -> String {
        let answer = get(&self.address, "/metrics");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains("text/plain; version=0.0.4"), "{head}");
        body.to_owned()
    }

    /// Scrapes until the metric has a value.
    fn scrape_until(&self, metric: &str, value: f64) -> String {
        let mut text = String::new();
        wait_until(|| {
            text = self.scrape();
            value_of(&text, metric) == Some(value)
        });
        text
    }

    fn end(mut self) -> i32 {
        drop(self.lines.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

/// The address that the note of a command has.
fn address_in(notes: &mut impl BufRead) -> String {
    let mut note = String::new();
    notes.read_line(&mut note).unwrap();
    let url = note.trim_end().strip_prefix("note: metrics are at http://").unwrap();
    url.strip_suffix("/metrics").unwrap().to_owned()
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < WAIT_MAX, "it was waited for too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The value of a line, which begins with name and labels.
fn value_of(text: &str, metric: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(&format!("{metric} ")))?;
    line.rsplit_once(' ')?.1.parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn number(value: usize) -> f64 {
    value as f64
}

/// Files of which one goes in parts; gives the bytes of all.
fn write_files(bench: &Bench) -> usize {
    let sizes = (0..FILES).map(|n| n * 100).chain([LARGE_BYTES]);
    sizes
        .enumerate()
        .map(|(n, size)| {
            bench.file(&format!("in/{n}"), &"x".repeat(size));
            size
        })
        .sum()
}

#[test]
fn a_watched_job_is_no_obstacle_to_scrapes() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    write_files(&bench);
    let (pace, journals) = ("--max-requests-per-second 1", bench.journals().display());
    let mut job =
        bench.spawn(&format!("cp --recursive in s3://box/x/ {pace} --journal {journals}"));
    let mut id = None;
    wait_until(|| {
        let jobs = bench.lines("jobs ls --json");
        let job = jobs.first().map(|job| serde_json::from_str::<serde_json::Value>(job).unwrap());
        id = job.and_then(|job| job["id"].as_str().map(str::to_owned));
        id.is_some()
    });
    let watch = format!("jobs watch {} --metrics-listen 127.0.0.1:0", id.unwrap());
    let mut command = bench.command(&watch);
    let mut watch = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let address = address_in(&mut BufReader::new(watch.stderr.take().unwrap()));
    assert!(get(&address, "/metrics").starts_with("HTTP/1.1 200"));
    for child in [&mut watch, &mut job] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn what_a_job_moved_is_scraped_and_written() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    let bytes = write_files(&bench);
    let mut run = Waiting::start(&bench, "--metrics-file m.prom --label job_name=nightly");
    run.line("cp --recursive --quiet in s3://box/x");
    let label = r#"job_name="nightly""#;
    let done = format!(r#"s3haul_objects_total{{{label},outcome="done"}}"#);
    let text = run.scrape_until(&done, number(FILES + 1));
    assert_eq!(value_of(&text, &format!("s3haul_moved_bytes{{{label}}}")), Some(number(bytes)));
    let sent = |name| {
        value_of(&text, &format!(r#"s3haul_sent_bytes_total{{{label},operation="{name}"}}"#))
    };
    let sent = sent("PutObject").unwrap() + sent("UploadPart").unwrap();
    assert_eq!(Some(sent), Some(number(bytes)));
    let put = format!(r#"{label},operation="PutObject""#);
    let puts = value_of(&text, &format!(r#"s3haul_requests_total{{{put},status="200"}}"#));
    assert_eq!(puts, Some(number(FILES)));
    let within =
        value_of(&text, &format!(r#"s3haul_request_duration_seconds_bucket{{{put},le="+Inf"}}"#));
    assert_eq!(within, puts);
    assert_eq!(value_of(&text, &format!("s3haul_requests_in_flight{{{label}}}")), Some(0.0));
    assert!(!text.contains("exit_status"), "{text}");

    assert!(get(&run.address, "/").starts_with("HTTP/1.1 404"));
    let mut stream = TcpStream::connect(&run.address).unwrap();
    stream.write_all(b"POST /metrics HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");

    assert_eq!(run.end(), 0);
    let text = bench.read("m.prom");
    assert_eq!(value_of(&text, &format!("s3haul_run_exit_status{{{label}}}")), Some(0.0));
    assert_eq!(value_of(&text, &format!("s3haul_moved_bytes{{{label}}}")), Some(number(bytes)));
    assert_eq!(bench.names().len(), 2, "nothing is left beside the file");
    // Node_exporter runs as another user.
    let mode = std::fs::metadata(bench.path("m.prom")).unwrap().permissions().mode();
    assert_eq!(mode & 0o444, 0o444, "{mode:o}");
}

#[test]
fn queries_and_failures_have_metrics_too() {
    let bench = Bench::with_objects(&["a", "b"]);
    for command in ["ls s3://box", "list s3://box", "summarize s3://box", "find s3://box --name a"]
    {
        bench.ok(&format!("{command} --metrics-file m.prom"));
        let text = bench.read("m.prom");
        let listed = r#"s3haul_requests_total{operation="ListObjectsV2",status="200"}"#;
        assert!(value_of(&text, listed) >= Some(1.0), "{command}: {text}");
        let word = command.split(' ').next().unwrap();
        assert!(text.contains(&format!(r#"s3haul_run_info{{command="{word}""#)), "{text}");
    }
    assert_eq!(bench.status("cp s3://box/none . --metrics-file m.prom"), 1);
    let text = bench.read("m.prom");
    assert_eq!(value_of(&text, "s3haul_run_exit_status"), Some(1.0));
    assert_eq!(
        value_of(&text, r#"s3haul_requests_total{operation="HeadObject",status="404"}"#),
        Some(1.0)
    );
    bench.ok("rm --recursive s3://box --metrics-file m.prom");
    let text = bench.read("m.prom");
    assert_eq!(value_of(&text, r#"s3haul_objects_total{outcome="done"}"#), Some(2.0));
    assert_eq!(
        value_of(&text, r#"s3haul_requests_total{operation="DeleteObjects",status="200"}"#),
        Some(1.0)
    );
}

#[test]
fn what_cannot_be_exported_ends_the_command_first() {
    let bench = Bench::with_objects(&["a"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    for (flags, status, why) in [
        (format!("--metrics-listen {taken}"), 255, "cannot listen on"),
        ("--metrics-file none/m.prom".to_owned(), 255, "cannot write the metrics"),
        ("--metrics-file /dev/null".to_owned(), 252, "is not a file"),
        ("--label a=b".to_owned(), 252, "--label is for metrics"),
        ("--metrics-file m.prom --label a".to_owned(), 252, "NAME=VALUE"),
    ] {
        let output = bench.run(&format!("rm s3://box/a {flags}"));
        assert_eq!(output.status.code(), Some(status), "{flags}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{flags}: {}", stderr(&output));
    }
    bench.file("lines", "ls s3://box --metrics-file m.prom\n");
    let output = bench.run("run lines");
    assert_eq!(output.status.code(), Some(252), "{}", stderr(&output));
    assert!(bench.ok("ls s3://box").ends_with("a\n"), "nothing was done");
}

/// What a command reads or writes itself is never overwritten by its metrics.
#[test]
fn metrics_overwrite_nothing_of_the_command() {
    let bench = Bench::with_objects(&["a"]);
    let data = "kept\n";
    for file in ["data", "dir/x", "list", "job.json", "lines"] {
        bench.file(file, data);
    }
    bench.file("empty", "");
    std::os::unix::fs::symlink("dir/x.prom", bench.path("link")).unwrap();
    bench.ok("list s3://box --metrics-file old.prom");
    let old = bench.read("old.prom");
    for (line, why) in [
        ("cp data s3://box/data --metrics-file data", "something else than metrics"),
        ("rm s3://box/ --from list --metrics-file list", "something else than metrics"),
        ("job run job.json --metrics-file ./job.json", "something else than metrics"),
        ("run lines --metrics-file lines", "something else than metrics"),
        ("cp old.prom s3://box/old --metrics-file ./old.prom", "has it in use"),
        ("cp s3://box/a new --metrics-file new", "has it in use"),
        ("cp empty s3://box/ --metrics-file empty", "has it in use"),
        ("list s3://box --output-file new --metrics-file ./new", "which the command writes"),
        ("summarize s3://box --html new --metrics-file new", "which the command writes"),
        ("cp s3://box/a down --report new --metrics-file new", "which the command writes"),
        ("run lines --report new --metrics-file new", "has in use"),
        ("sync dir s3://box/d/ --metrics-file dir/x.prom", "among the files"),
        ("cp --recursive dir s3://box/d/ --metrics-file dir/x.prom", "among the files"),
        ("sync s3://box dir --delete --metrics-file dir/x.prom", "among the files"),
        ("sync dir s3://box/d/ --metrics-file link", "among the files"),
        ("compare dir s3://box/d/ --metrics-file dir/x.prom", "would lie in `dir`"),
        ("verify s3://box/d/ dir --metrics-file link", "would lie in `dir`"),
        ("compare dir s3://box/d/ --output-file dir/x.prom", "would lie in `dir`"),
    ] {
        let before = bench.names();
        let output = bench.run(line);
        assert_eq!(output.status.code(), Some(252), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{line}: {}", stderr(&output));
        assert_eq!(bench.names(), before, "{line}");
        assert!(!bench.path("dir/x.prom").exists(), "{line}");
    }
    for file in ["data", "dir/x", "list", "job.json", "lines"] {
        assert_eq!(bench.read(file), data, "{file}");
    }
    assert_eq!(bench.read("empty"), "");
    let started = |text: &str| value_of(text, "s3haul_run_start_timestamp_seconds");
    assert!(started(&bench.read("old.prom")) > started(&old), "the last run failed");
    assert_eq!(bench.lines("list s3://box --format keys"), ["a"]);

    // Lines of `run` have no metrics of their own, but files.
    bench.file("lines", "sync dir s3://box/d/\n");
    let output = bench.run("run lines --metrics-file dir/x.prom");
    assert!(stderr(&output).contains("line 1: the metrics file"), "{}", stderr(&output));
    assert_eq!(bench.lines("list s3://box --format keys"), ["a"]);
}

/// A file that the command puts where its metrics were stays.
#[test]
fn metrics_do_not_replace_what_was_downloaded() {
    let bench = Bench::with_objects(&["m.prom"]);
    let output = bench.run("cp --recursive s3://box . --metrics-file m.prom");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("warning: cannot write the metrics"), "{}", stderr(&output));
    assert!(!bench.read("m.prom").contains("s3haul_"), "{}", bench.read("m.prom"));
}

/// A command that fails before it begins leaves no success of an earlier one.
#[test]
fn failures_before_the_beginning_have_an_end() {
    let bench = Bench::with_objects(&["a"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    bench.file("in/x", "x");
    for line in [
        "cp s3://box/a . --profile none".to_owned(),
        "cp in/x s3://box/ --prices none.json".to_owned(),
        "cp in/x out".to_owned(),
        "job run none.json".to_owned(),
        "apply none.plan".to_owned(),
        format!("ls s3://box --metrics-listen {taken}"),
    ] {
        bench.ok("ls s3://box --metrics-file m.prom");
        assert_eq!(value_of(&bench.read("m.prom"), "s3haul_run_exit_status"), Some(0.0));
        let output = bench.run(&format!("{line} --metrics-file m.prom"));
        let status = output.status.code().unwrap();
        assert_ne!(status, 0, "{line}");
        let text = bench.read("m.prom");
        assert_eq!(value_of(&text, "s3haul_run_exit_status"), Some(f64::from(status)), "{line}");
        assert!(value_of(&text, "s3haul_run_end_timestamp_seconds").is_some(), "{line}: {text}");
    }
    // The first run, too.
    let output = bench.run("cp s3://box/a . --profile none --metrics-file first.prom");
    let status = output.status.code().map(f64::from);
    assert_eq!(value_of(&bench.read("first.prom"), "s3haul_run_exit_status"), status);
}

#[test]
fn links_are_followed_and_errors_have_the_name_that_was_given() {
    let bench = Bench::with_objects(&["a"]);
    std::fs::create_dir(bench.path("there")).unwrap();
    std::os::unix::fs::symlink("there/m.prom", bench.path("link")).unwrap();
    for _ in 0..2 {
        bench.ok("ls s3://box --metrics-file link");
        assert!(std::fs::symlink_metadata(bench.path("link")).unwrap().is_symlink());
        let text = bench.read("there/m.prom");
        assert_eq!(value_of(&text, "s3haul_run_exit_status"), Some(0.0));
        std::fs::write(bench.path("there/m.prom"), "").unwrap();
    }
    let output = bench.run("ls s3://box --metrics-file none/m.prom");
    let message = "s3haul: error: cannot write the metrics to `none/m.prom`: \
                   No such file or directory (os error 2)\n";
    assert_eq!(stderr(&output), message);
}

/// A Prometheus that scrapes an address.
struct Prometheus {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    /// None where it is not installed.
    fn start(target: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("prometheus.yml");
        let text = format!(
            "global: {{scrape_interval: 100ms, scrape_timeout: 100ms}}\n\
             scrape_configs:\n\
             - job_name: s3haul\n  \
               static_configs: [{{targets: ['{target}']}}]\n"
        );
        std::fs::write(&config, text).unwrap();
        let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
        let spawned = Command::new("prometheus")
            .arg(flag("config.file", &config))
            .arg(flag("storage.tsdb.path", &folder.path().join("data")))
            .arg("--web.listen-address=127.0.0.1:0")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut child) = spawned else {
            println!("skipped: there is no prometheus");
            return None;
        };
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = log.find_map(|line| {
            let line = line.unwrap();
            let is_it = line.contains("msg=\"Listening on\"");
            is_it.then(|| line.split("address=").nth(1).unwrap().trim().to_owned())
        });
        // It ends where its log cannot be written.
        std::thread::spawn(move || log.for_each(drop));
        Some(Self { child, address: address.unwrap(), _folder: folder })
    }

    /// What a query gives.
    fn ask(&self, query: &str) -> serde_json::Value {
        let encoded = query.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
        let answer = get(&self.address, &format!("/api/v1/query?query={encoded}"));
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).unwrap_or_default()
    }

    /// Asks until a query gives a value.
    fn wait_for(&self, query: &str, value: f64) {
        let mut last = serde_json::Value::Null;
        let begun = Instant::now();
        while begun.elapsed() < WAIT_MAX {
            last = self.ask(query);
            let found = last["data"]["result"][0]["value"][1].as_str();
            if found.and_then(|found| found.parse().ok()) == Some(value) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{query} never was {value}: {last}");
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn a_prometheus_has_the_bytes_that_jobs_say_they_moved() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    let bytes = write_files(&bench);
    let mut run = Waiting::start(&bench, "--label job_name=test");
    let Some(prometheus) = Prometheus::start(&run.address) else { return };
    assert_eq!(run.job("cp --recursive in s3://box/x"), bytes);
    let sent = r#"sum(s3haul_sent_bytes_total{job_name="test",operation=~"PutObject|UploadPart"})"#;
    prometheus.wait_for(sent, number(bytes));
    prometheus.wait_for(r#"sum(s3haul_moved_bytes{job_name="test"})"#, number(bytes));
    assert_eq!(run.job("cp --recursive s3://box/x out"), bytes);
    let received = r#"sum(s3haul_received_bytes_total{job_name="test",operation="GetObject"})"#;
    prometheus.wait_for(received, number(bytes));
    prometheus.wait_for(r#"sum(s3haul_moved_bytes{job_name="test"})"#, number(2 * bytes));
    for expression in dashboard() {
        let query = expression.replace("$instance", ".*").replace("$__rate_interval", "1m");
        let answer = prometheus.ask(&query);
        assert_eq!(answer["status"], "success", "{query}: {answer}");
        // Nothing was refused, and perhaps nothing ran for long enough to be limited.
        let may_be_empty = query.contains("status!~") || query.contains("limited_seconds");
        let is_empty = answer["data"]["result"].as_array().is_none_or(Vec::is_empty);
        assert!(may_be_empty || !is_empty, "{query}: {answer}");
    }
    assert_eq!(run.end(), 0);
}

/// The queries of the dashboard.
fn dashboard() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana/s3haul.json");
    let text = std::fs::read_to_string(path).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

/// Of two jobs on one host one failed after it had succeeded, and one runs.
#[test]
fn queries_keep_jobs_of_one_host_apart() {
    let running = dashboard().pop().unwrap().replace("$instance", ".*");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let page = std::fs::read_to_string(page).unwrap();
    let row = page.lines().find(|line| line.contains("did it last succeed")).unwrap();
    let succeeded = row.split('`').nth(1).unwrap();
    let series = |name: &str, job: &str, values: &str| {
        let name = format!(r#"s3haul_run_{name}{{instance="h",job_name="{job}"}}"#);
        serde_json::json!({"series": name, "values": values})
    };
    let gives = |query: &str, job: &str, value: u32| {
        let labels = format!(r#"{{instance="h",job_name="{job}"}}"#);
        let sample = serde_json::json!({"labels": labels, "value": value});
        serde_json::json!({"expr": query, "eval_time": "20m", "exp_samples": [sample]})
    };
    let tests = serde_json::json!({"evaluation_interval": "1m", "tests": [{
        "interval": "1m",
        "input_series": [
            series("start_timestamp_seconds", "ended", "60x30"),
            series("end_timestamp_seconds", "ended", "120x10 660x20"),
            series("exit_status", "ended", "0x10 1x20"),
            series("start_timestamp_seconds", "runs", "300x30"),
        ],
        "promql_expr_test": [gives(succeeded, "ended", 1080), gives(&running, "runs", 900)],
    }]});
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tests.yml");
    std::fs::write(&file, tests.to_string()).unwrap();
    let Ok(output) = Command::new("promtool").args(["test", "rules"]).arg(&file).output() else {
        println!("skipped: there is no promtool");
        return;
    };
    assert!(output.status.success(), "{output:?}");
}

/// A slow service: the job can be watched for some time.
#[test]
fn requests_in_flight_and_limits_are_seen_while_it_runs() {
    let bench = Bench::slow("300ms");
    bench.ok("mb s3://box");
    write_files(&bench);
    let mut run = Waiting::start(&bench, "--max-concurrent-requests 4");
    run.line("cp --recursive --quiet in s3://box/x");
    let mut most: f64 = 0.0;
    wait_until(|| {
        let text = run.scrape();
        most = most.max(value_of(&text, "s3haul_requests_in_flight").unwrap_or(0.0));
        let limit = value_of(&text, r#"s3haul_requests_limit{class="write"}"#);
        assert!(limit.is_none_or(|limit| (1.0..=4.0).contains(&limit)), "{text}");
        value_of(&text, r#"s3haul_objects_total{outcome="done"}"#) == Some(number(FILES + 1))
    });
    assert!((2.0..=4.0).contains(&most), "{most}");
    assert_eq!(run.end(), 0);
}
