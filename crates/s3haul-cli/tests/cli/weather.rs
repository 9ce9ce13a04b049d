//! `serve --weather`: the real binary on both sides of a rough connection.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fmt::Write as _;

use crate::support::Bench;

/// Text of some length that differs from place to place.
fn text(lines: u64, seed: u64) -> String {
    (0..lines).fold(String::new(), |mut text, line| {
        writeln!(text, "{}", (line + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).unwrap();
        text
    })
}

/// Everything that passes, but for silence, which takes its time.
const ALL: &str = r#"{
    "latency": {"median_ms": 2, "sigma": 0.5, "tail_probability": 0.02, "tail_factor": 20},
    "bandwidth": {"connection_bytes_per_s": 20000000, "total_bytes_per_s": 80000000},
    "partitions": {"writes_per_s": 60, "reads_per_s": 90, "split_after_s": 0.3},
    "bursts": {"calm_s": 1, "rough_s": 0.2, "factor": 3},
    "listing": {"empty_page": 0.2, "short_page": 0.5, "repeated_key": 0.3},
    "idle_close_ms": 300,
    "clock_skew_ms": -3600000,
    "no_continue": 1,
    "faults": [
        {"fault": "slow_down", "probability": 0.03},
        {"fault": "internal_error", "probability": 0.03},
        {"fault": "reset_before", "probability": 0.03},
        {"fault": "reset_request", "requests": ["write"], "probability": 0.05, "bytes_max": 2000},
        {"fault": "lost_response", "requests": ["write", "delete"], "probability": 0.05},
        {"fault": "reset_body", "probability": 0.03, "bytes_max": 2000},
        {"fault": "truncate", "probability": 0.03, "bytes_max": 200},
        {"fault": "corrupt", "probability": 0.1, "bytes_max": 200},
        {"fault": "ok_with_error", "probability": 0.2},
        {"fault": "slow_first_byte", "probability": 0.03, "pause_ms_max": 100},
        {"fault": "pause_body", "probability": 0.03, "pause_ms_max": 100, "bytes_max": 200}
    ]
}"#;

#[test]
fn what_passes_is_survived_over_tcp() {
    let folder = tempfile::tempdir().unwrap();
    let weather = folder.path().join("weather.json");
    std::fs::write(&weather, ALL).unwrap();
    let bench = Bench::in_weather(weather.to_str().unwrap());
    for n in 0..100 {
        bench.file(&format!("in/{}/{n}", n % 7), &text(n * 3, n));
    }
    bench.ok("mb s3://box");
    bench.ok("cp --recursive --quiet in s3://box/x");
    bench.ok("cp --recursive --quiet s3://box/x s3://box/y");
    bench.ok("sync --quiet s3://box/y out");
    bench.ok("mv --recursive --quiet s3://box/y back");
    bench.ok("rm --recursive --quiet s3://box/x");
    assert_eq!(bench.ok("ls --recursive s3://box"), "");
    for n in 0..100 {
        for tree in ["out", "back"] {
            assert_eq!(bench.read(&format!("{tree}/{}/{n}", n % 7)), text(n * 3, n), "{n}");
        }
    }
    let ledger = bench.read("ledger");
    for fault in [
        "respond",
        "reset-before-response",
        "reset-in-request",
        "lost-response",
        "reset-after",
        "truncate",
        "corrupt-byte",
        "ok-with-error",
        "pause",
    ] {
        assert!(ledger.contains(&format!(r#""fault":"{fault}""#)), "no request meets {fault}");
    }
}

#[test]
fn a_tree_survives_a_rough_way_there_and_back() {
    let rough = concat!(env!("CARGO_MANIFEST_DIR"), "/../s3haul-sim/scenarios/rough.json");
    let bench = Bench::in_weather(rough);
    for n in 0..60 {
        bench.file(&format!("in/{n:02}/f"), &text(n * 5, n));
    }
    bench.file("in/large", &text(450_000, 7));
    let commands = [
        "mb s3://box",
        "cp --recursive --quiet in s3://box/x",
        "cp --recursive --quiet s3://box/x out",
    ];
    for command in commands {
        let output = bench.run(command);
        assert!(output.status.success(), "{command}: {output:?}");
    }
    for n in 0..60 {
        assert_eq!(bench.read(&format!("out/{n:02}/f")), text(n * 5, n), "{n}");
    }
    assert!(bench.read("out/large") == text(450_000, 7));
    let ledger = bench.read("ledger");
    let struck = ledger.lines().filter(|line| line.contains(r#""fault":""#)).count();
    assert!(struck > 5, "{struck} of {}", ledger.lines().count());
}

#[test]
fn a_scenario_that_makes_no_sense_is_refused_before_anything_listens() {
    let bench = Bench::new();
    bench.file("bad.json", r#"{"latency": {"median": 3}}"#);
    for (file, word) in [("bad.json", "unknown field `median`"), ("none.json", "cannot be read")] {
        let output = bench.run(&format!("serve --memory --address 127.0.0.1:0 --weather {file}"));
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(252), "{messages}");
        assert!(messages.contains(word) && messages.contains(file), "{messages}");
    }
}

/// Bytes that were damaged before a body broke were given out with status 0.
#[test]
fn what_is_continued_is_held_against_the_checksum_of_the_whole() {
    let scenario = r#"{"seed": 4, "in_a_row_max": 3, "faults": [
        {"fault": "corrupt", "probability": 0.3, "requests": ["GetObject"]},
        {"fault": "truncate", "probability": 0.5, "requests": ["GetObject"]}
    ]}"#;
    let weather = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(weather.path(), scenario).unwrap();
    let bench = Bench::in_weather(weather.path().to_str().unwrap());
    let text = text(100_000, 1);
    bench.file("f", &text);
    bench.ok("mb s3://box");
    bench.ok("cp f s3://box/f --quiet");
    let mut whole = 0;
    for _ in 0..30 {
        let output = bench.run("cat s3://box/f");
        assert!(!output.status.success() || output.stdout == text.as_bytes());
        whole += u32::from(output.status.success());
    }
    assert!(whole > 0, "some come through");
}

/// It gave up after five, though each answer had brought some of the object.
#[test]
fn an_object_whose_every_answer_is_cut_short_is_read_to_its_end() {
    let scenario = r#"{"seed": 4, "in_a_row_max": 1000, "faults": [
        {"fault": "truncate", "probability": 1, "bytes_max": 10000, "requests": ["GetObject"]}
    ]}"#;
    let weather = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(weather.path(), scenario).unwrap();
    let bench = Bench::in_weather(weather.path().to_str().unwrap());
    let text = text(100_000, 1);
    bench.file("f", &text);
    bench.ok("mb s3://box");
    bench.ok("cp f s3://box/f --quiet");
    assert!(bench.ok("cat s3://box/f") == text);
}
