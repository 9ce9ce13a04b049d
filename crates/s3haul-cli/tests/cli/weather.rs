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

/// The rough scenario without damaged bodies: that of a large object is found out at its end, and
/// the object fails.
fn rough() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../s3haul-sim/scenarios/rough.json");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.contains(r#""corrupt""#)).collect()
}

#[test]
fn a_tree_survives_a_rough_way_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let weather = folder.path().join("weather.json");
    std::fs::write(&weather, rough()).unwrap();
    let bench = Bench::in_weather(weather.to_str().unwrap());
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
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(252), "{told}");
        assert!(told.contains(word) && told.contains(file), "{told}");
    }
}
