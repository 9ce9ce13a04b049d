//! Reports of jobs that are resumed: one for each run, and together they have all that was done.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::jobs::{FILES, IN_FLIGHT_MAX, PACE, WAIT_MAX, bench, jobs, kill_at};
use crate::support::{send, stderr};

/// Names below a source that a report has as done.
pub(crate) fn done_in(report: &str, source: &str) -> Vec<String> {
    let rows = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done = rows.filter(|row| row["event"] == "object" && row["outcome"] == "done");
    let name = |row: Value| row["source"].as_str()?.strip_prefix(source).map(str::to_owned);
    let mut names: Vec<_> = done.filter_map(name).collect();
    names.sort();
    names
}

#[test]
fn what_a_killed_job_has_as_done_is_in_its_report() {
    for command in ["cp", "mv"] {
        let bench = bench();
        let pace = PACE.replace("--quiet", "--only-show-errors");
        let args = format!("{command} --recursive in s3://box/x/ --report r.jsonl {pace}");
        let id = kill_at(&bench, 500, &args);
        let noted = jobs(&bench)[0]["objects"].as_u64().unwrap();
        let source = format!("{}/", bench.path("in").display());
        let first = done_in(&bench.read("r.jsonl"), &source);
        assert!(first.len() as u64 >= noted, "{} rows of {noted} objects", first.len());
        let resumed = bench.run(&format!("jobs resume {id} --max-requests-per-second 100000"));
        assert_eq!(resumed.status.code(), Some(0), "{resumed:?}");
        let mut all = [first, done_in(&bench.read("r.2.jsonl"), &source)].concat();
        all.sort();
        all.dedup();
        // A file that was removed when the job was killed is not there for the second run.
        let unknown = if command == "mv" { IN_FLIGHT_MAX } else { 0 };
        assert!(all.len() >= FILES - unknown, "{} of {FILES} objects", all.len());
    }
}

#[test]
fn a_resumed_run_writes_a_report_of_its_own_and_names_the_folder_of_its_journal() {
    let bench = bench();
    let pace = PACE.replace("--quiet", "--only-show-errors");
    let command = format!("cp --recursive in s3://box/x/ --report r.csv --journal kept {pace}");
    let child = bench.spawn(&command);
    let begun = Instant::now();
    while bench.run("jobs ls --json --journal kept").stdout.is_empty() {
        assert!(begun.elapsed() < WAIT_MAX);
        std::thread::sleep(Duration::from_millis(20));
    }
    send("-INT", &child);
    let interrupted = child.wait_with_output().unwrap();
    let printed = stderr(&interrupted);
    let folder = bench.folder().join("kept");
    let (_, command) = printed.split_once("note: `s3haul ").unwrap();
    let (command, _) = command.split_once('`').unwrap();
    assert!(command.ends_with(&format!(" --journal {}", folder.display())), "{printed}");
    let first = bench.read("r.csv");
    // From another folder, which names that of the journal by a relative path.
    bench.file("other/x", "");
    let (id, _) = command.trim_start_matches("jobs resume ").split_once(' ').unwrap();
    let slow = format!("jobs resume {id} --journal ../kept --max-requests-per-second 100");
    let mut slow = bench.command(&slow);
    let child = slow.current_dir(bench.folder().join("other")).spawn().unwrap();
    while !bench.names().contains(&"r.2.csv".to_owned()) {
        assert!(begun.elapsed() < WAIT_MAX);
        std::thread::sleep(Duration::from_millis(20));
    }
    send("-INT", &child);
    let printed = stderr(&child.wait_with_output().unwrap());
    let named = bench.folder().join("other/../kept");
    assert!(printed.contains(&format!(" --journal {}", named.display())), "{printed}");
    let resumed = bench.run(&format!("{command} --max-requests-per-second 100000"));
    assert!(resumed.status.success(), "{resumed:?}");
    assert!(stderr(&resumed).contains("/r.3.csv`; that of the earlier run"), "{resumed:?}");
    assert_eq!(bench.read("r.csv"), first);
    let done = |text: &str| text.lines().filter(|line| line.contains(",done,")).count();
    let [second, third] = ["r.2.csv", "r.3.csv"].map(|name| done(&bench.read(name)));
    let first = done(&first);
    assert!(first + second + third >= FILES, "{first}, {second} and {third}");
}
