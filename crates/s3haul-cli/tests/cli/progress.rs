//! What a job says of itself while it runs: lines for logs, and what limits it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::process::{Command, Stdio};

use crate::support::{Bench, stderr, stdout};

/// A server in the weather of a scenario, with the bucket `box`.
fn in_weather(scenario: &str) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let weather = folder.path().join("weather.json");
    std::fs::write(&weather, scenario).unwrap();
    let bench = Bench::in_memory_with(&["--weather", weather.to_str().unwrap()]);
    bench.ok("mb s3://box");
    bench
}

/// Files of one size.
fn files(bench: &Bench, count: usize, size: usize) {
    for n in 0..count {
        bench.file(&format!("in/{n}"), &"x".repeat(size));
    }
}

/// What limited a command for most of the time.
fn limit_of(bench: &Bench, command: Command) -> String {
    let limits = limits_of(bench, command);
    let most = limits.iter().max_by(|(_, one), (_, other)| one.total_cmp(other));
    most.unwrap_or_else(|| panic!("nothing limited")).0.clone()
}

/// What limited a command, and for how many seconds, by its metrics.
fn limits_of(bench: &Bench, mut command: Command) -> Vec<(String, f64)> {
    command.args(["--quiet", "--metrics-file", "m.prom"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = bench.read("m.prom");
    let limits = text.lines().filter_map(|line| {
        let rest = line.strip_prefix(r#"s3haul_limited_seconds_total{limit=""#)?;
        let (word, seconds) = rest.split_once("\"} ")?;
        Some((word.to_owned(), seconds.parse::<f64>().unwrap()))
    });
    limits.collect()
}

const UP: &str = "cp --recursive in s3://box/x";

#[test]
fn a_slow_service_limits() {
    let bench = in_weather(r#"{"latency": {"median_ms": 1500}}"#);
    files(&bench, 300, 100);
    assert_eq!(limit_of(&bench, bench.command(UP)), "service");
}

#[test]
fn a_service_that_refuses_limits() {
    let bench = in_weather(r#"{"partitions": {"writes_per_s": 40, "split_after_s": 0}}"#);
    files(&bench, 200, 100);
    assert_eq!(limit_of(&bench, bench.command(UP)), "service");
}

#[test]
fn a_thin_network_limits_both_ways() {
    let bench = in_weather(r#"{"bandwidth": {"total_bytes_per_s": 4000000}}"#);
    files(&bench, 1, 20_000_000);
    assert_eq!(limit_of(&bench, bench.command(UP)), "network");
    let down = bench.command("cp --recursive s3://box/x out");
    assert_eq!(limit_of(&bench, down), "network");
}

/// Each read is delayed, as on an overloaded disk.
#[test]
fn a_slow_disk_limits() {
    let is_traced = Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).status();
    if !is_traced.is_ok_and(|status| status.success()) {
        println!("skipped: nothing can be traced here");
        return;
    }
    let bench = Bench::new();
    bench.ok("mb s3://box");
    files(&bench, 24, 300_000);
    let command = bench.command(UP);
    let mut traced = bench.program("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=read,pread64", "--seccomp-bpf"]);
    traced.args(["-e", "inject=read,pread64:delay_enter=400000", "-P"]);
    traced.arg(bench.path("in/0"));
    for n in 1..24 {
        traced.arg("-P").arg(bench.path(&format!("in/{n}")));
    }
    traced.arg(command.get_program()).args(command.get_args());
    assert_eq!(limit_of(&bench, traced), "disk");
}

/// Where other tests take the CPU from the server, that limits, too.
#[test]
fn a_cpu_limits() {
    let is_pinned = Command::new("taskset").args(["-c", "0", "true"]).status();
    if !is_pinned.is_ok_and(|status| status.success()) {
        println!("skipped: there is no taskset");
        return;
    }
    let bench = Bench::new();
    bench.ok("mb s3://box");
    files(&bench, 20_000, 1_000);
    let command = bench.command(UP);
    let mut pinned = bench.program("taskset");
    pinned.args(["-c", "0"]).arg(command.get_program()).args(command.get_args());
    let limits = limits_of(&bench, pinned);
    assert!(limits.iter().any(|(word, seconds)| word == "cpu" && *seconds > 0.0), "{limits:?}");
}

#[test]
fn flags_limit() {
    let bench = in_weather(r#"{"latency": {"median_ms": 60}}"#);
    files(&bench, 150, 40_000);
    for (flag, value) in [
        ("--max-concurrent-requests", "2"),
        ("--max-requests-per-second", "30"),
        ("--max-bandwidth", "1MB/s"),
    ] {
        let command = bench.command(&format!("{UP} {flag} {value}"));
        assert_eq!(limit_of(&bench, command), flag);
    }
}

/// A line every ten seconds, on standard error, and none where it was not asked for.
#[test]
fn plain_progress_is_lines_for_a_log() {
    let bench = in_weather(r#"{"latency": {"median_ms": 200}}"#);
    files(&bench, 56, 3_000);
    let slow = format!("{UP} --max-concurrent-requests 1");
    let output = bench.run(&format!("{slow} --progress plain"));
    let text = stderr(&output);
    assert!(!text.is_empty(), "no line");
    for line in text.lines() {
        assert!(line.starts_with("progress: "), "{line}");
        for part in [" of 164.1 KiB, ", "time left 00:", "--max-concurrent-requests", " done, "] {
            assert!(line.contains(part), "{line}");
        }
    }
    assert_eq!(stdout(&output).lines().count(), 56);
}

#[test]
fn progress_is_shown_where_it_was_asked_for_only() {
    let bench = Bench::with_objects(&["a"]);
    for flags in ["", "--progress auto", "--progress none", "--progress plain", "--no-progress"] {
        let output = bench.run(&format!("cp s3://box/a b {flags}"));
        assert_eq!(stderr(&output), "", "{flags}");
        assert_eq!(output.stdout, b"download: s3://box/a to ./b\n", "{flags}");
    }
    assert_eq!(bench.status("cp s3://box/a b --progress dots"), 252);
}

/// A reader of standard error that has gone, or that reads nothing, does not keep a job from its
/// end.
#[test]
fn progress_without_a_reader_does_not_keep_a_job() {
    let bench = in_weather(r#"{"latency": {"median_ms": 200}}"#);
    files(&bench, 56, 3_000);
    let mut command = bench.command(&format!("{UP} --quiet --max-concurrent-requests 1"));
    command.args(["--progress", "plain"]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
}
