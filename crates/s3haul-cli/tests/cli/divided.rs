//! Large objects whose parts are sent by several workers.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::shards::run_of;
use super::versions::a_second_between;
use crate::support::{Bench, stdout};

/// Bytes of a large object: eight parts, and some.
const SIZE: usize = (8 << 20) * 8 + 12_345;
/// So slow that one worker cannot send all before another looks.
const LATENCY: &str = "50ms";
/// Objects from 8 MiB are divided, in pieces of a part.
const START: &str = "--budget 0.5 --lease 2 --shards 4";
const WAIT_MAX: Duration = Duration::from_mins(1);

/// Bytes of which no part is like another.
fn bytes(seed: u8) -> Vec<u8> {
    let mut state = u32::from(seed) + 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()
    };
    std::iter::repeat_with(&mut next).take(SIZE.div_ceil(4)).flatten().take(SIZE).collect()
}

/// A server that takes its time, a large file, and small ones around it.
fn bench() -> Bench {
    let bench = Bench::in_memory_with(&["--latency", LATENCY, "--ledger", "ledger"]);
    bench.ok("mb s3://box");
    bench.ok("mb s3://ops");
    for name in ["a", "z"] {
        bench.file(&format!("in/{name}"), name);
    }
    std::fs::write(bench.path("in/large"), bytes(0)).unwrap();
    bench
}

fn start(bench: &Bench, command: &str, folder: &str) {
    let job = bench.ok(&format!("{command} --print-job"));
    bench.file("job.json", &job);
    let started = bench.run(&format!("job start job.json --at {folder} {START}"));
    assert!(started.status.success(), "{command}: {started:?}");
}

/// Has workers do a job; gives how many of them had a hand in a large object.
fn work(bench: &Bench, folder: &str, workers: usize) -> usize {
    // Half of a thread each, or the first does all before the others are there.
    let flags = "--max-concurrent-requests 1 --json";
    let spawn = |_| bench.spawn(&format!("worker --job {folder} {flags}"));
    let started: Vec<_> = (0..workers).map(spawn).collect();
    let has_parts = |worker: Child| {
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let lines = stdout(&output);
        let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.any(|line| line["event"] == "part")
    };
    started.into_iter().filter_map(|worker| has_parts(worker).then_some(())).count()
}

fn shown(bench: &Bench, folder: &str) -> Value {
    let lines = bench.lines(&format!("jobs show {folder} --json"));
    serde_json::from_str(&lines[0]).unwrap()
}

fn assert_is(bench: &Bench, url: &str, expected: &[u8]) {
    bench.ok(&format!("cp {url} found --no-progress --quiet"));
    assert!(std::fs::read(bench.path("found")).unwrap() == expected, "{url} is another object");
}

fn uploads(bench: &Bench) -> usize {
    bench.lines("uploads ls s3://box").len()
}

fn files_in(folder: &Path) -> usize {
    folder.read_dir().map_or(0, Iterator::count)
}

/// Requests of an operation so far.
fn requests(bench: &Bench, operation: &str) -> usize {
    bench.read("ledger").lines().filter(|line| line.contains(operation)).count()
}

#[test]
fn a_large_object_is_sent_by_several_workers() {
    let bench = bench();
    let large = bytes(0);
    for (n, (command, url)) in [
        ("cp --recursive in s3://box/up/", "s3://box/up/large"),
        ("sync in s3://box/synced/", "s3://box/synced/large"),
        ("cp --recursive s3://box/up/ s3://box/copy/", "s3://box/copy/large"),
        ("cp --recursive --stream s3://box/up/ s3://box/relay/", "s3://box/relay/large"),
        ("mv --recursive s3://box/copy/ s3://box/moved/", "s3://box/moved/large"),
        ("cp s3://box/up/large s3://box/one", "s3://box/one"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = format!("jobs/{n}");
        start(&bench, command, &folder);
        let hands = work(&bench, &folder, 3);
        assert!(hands > 1, "{command}: {hands} workers had a hand in it");
        let job = shown(&bench, &folder);
        let objects = if command.starts_with("cp s3://box/up/large") { 1 } else { 3 };
        assert_eq!(
            (&job["state"], &job["objects"], &job["shards_left"]),
            (&"done".into(), &objects.into(), &0.into()),
            "{command}: {job}"
        );
        // Begun and ended once, and a file for each of the nine pieces.
        assert_eq!(files_in(&bench.path(&run_of(&bench, &folder)).join("part")), 11, "{command}");
        assert_eq!(files_in(&bench.path(&run_of(&bench, &folder)).join("claim")), 0, "{command}");
        assert_is(&bench, url, &large);
        assert_eq!(uploads(&bench), 0, "{command}");
    }
    assert_eq!(bench.run("ls s3://box/copy/").status.code(), Some(1), "nothing is left of a move");
}

#[test]
fn a_move_to_the_same_key_at_another_service_is_sent_by_several_workers() {
    let (bench, other) = (bench(), Bench::in_memory_with(&["--latency", LATENCY]));
    other.ok("mb s3://far");
    bench.ok("cp --recursive in s3://box/p/ --no-progress --quiet");
    // Two services that got an object within one second might be one.
    a_second_between();
    let url = other.endpoint();
    let command = format!("mv --recursive s3://box/p/ s3://far/p/ --target-endpoint-url {url}");
    start(&bench, &command, "jobs/a");
    let hands = work(&bench, "jobs/a", 3);
    assert!(hands > 1, "{hands} workers had a hand in it");
    let job = shown(&bench, "jobs/a");
    assert_eq!((&job["state"], &job["objects"]), (&"done".into(), &3.into()), "{job}");
    let part = bench.path(&run_of(&bench, "jobs/a")).join("part");
    assert_eq!(files_in(&part), 11, "begun, nine pieces and ended");
    assert_is(&other, "s3://far/p/large", &bytes(0));
    assert_eq!(other.lines("uploads ls s3://far").len(), 0);
    assert_eq!(bench.run("ls s3://box/p/").status.code(), Some(1), "nothing is left of a move");
}

#[test]
fn what_a_killed_worker_sent_of_an_object_is_not_sent_again() {
    let mut bench = bench();
    start(&bench, "cp --recursive in s3://box/x/", "jobs/a");
    let part = bench.path(&run_of(&bench, "jobs/a")).join("part");
    for pieces in [2, 5] {
        let mut worker = bench.spawn("worker --job jobs/a --max-concurrent-requests 1");
        let begun = Instant::now();
        while files_in(&part) < pieces && begun.elapsed() < WAIT_MAX {
            std::thread::sleep(Duration::from_millis(5));
        }
        worker.kill().unwrap();
        worker.wait().unwrap();
        assert_eq!(shown(&bench, "jobs/a")["state"], "running");
    }
    work(&bench, "jobs/a", 2);
    assert_is(&bench, "s3://box/x/large", &bytes(0));
    assert_eq!(uploads(&bench), 0);
    bench.end();
    // Nine parts, and those that the killed ones were at.
    let sent = requests(&bench, "\"UploadPart\"");
    assert!((9..=11).contains(&sent), "{sent} parts were sent");
    assert_eq!(requests(&bench, "\"CreateMultipartUpload\""), 1);
    assert_eq!(requests(&bench, "\"CompleteMultipartUpload\""), 1);
    assert_eq!(requests(&bench, "\"AbortMultipartUpload\""), 0, "it was completed");
}

#[test]
fn a_move_whose_end_was_not_written_is_no_failure() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/from/ --no-progress --quiet");
    for (folder, source) in [("jobs/file", "in"), ("jobs/object", "s3://box/from/")] {
        start(&bench, &format!("mv --recursive {source} s3://box/{folder}/"), folder);
        work(&bench, folder, 1);
        // As if the worker had died between the removal of the source and its commit.
        let part = bench.path(&run_of(&bench, folder)).join("part");
        let names = part.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let ended = |path: &std::path::PathBuf| path.to_string_lossy().ends_with("-end");
        std::fs::remove_file(names.into_iter().find(ended).unwrap()).unwrap();
        assert_eq!(shown(&bench, folder)["state"], "running");
        work(&bench, folder, 1);
        let job = shown(&bench, folder);
        assert_eq!((&job["state"], &job["failed"]), (&"done".into(), &0.into()), "{job}");
        assert_is(&bench, &format!("s3://box/{folder}/large"), &bytes(0));
    }
}

#[test]
fn an_object_that_changes_while_it_is_sent_becomes_one_state_of_it() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/from/ --no-progress --quiet");
    std::fs::write(bench.path("new"), &bytes(7)[..SIZE - 1000]).unwrap();
    // A file is read anew; of an object the state was listed that is copied, and it is tried again.
    for (folder, source, changed, failed) in [
        ("jobs/file", "in", "in/large", 0),
        ("jobs/object", "s3://box/from/", "s3://box/from/large", 1),
    ] {
        start(&bench, &format!("cp --recursive {source} s3://box/x/"), folder);
        let part = bench.path(&run_of(&bench, folder)).join("part");
        let mut worker = bench.spawn(&format!("worker --job {folder} --max-concurrent-requests 1"));
        let begun = Instant::now();
        while files_in(&part) < 3 && begun.elapsed() < WAIT_MAX {
            std::thread::sleep(Duration::from_millis(5));
        }
        worker.kill().unwrap();
        worker.wait().unwrap();
        if changed.starts_with("s3://") {
            bench.ok(&format!("cp new {changed} --no-progress --quiet"));
        } else {
            std::fs::copy(bench.path("new"), bench.path(changed)).unwrap();
        }
        assert_eq!(bench.status(&format!("worker --job {folder}")), failed, "{folder}");
        assert_eq!(shown(&bench, folder)["failed"], failed);
        assert_eq!(uploads(&bench), 0, "{folder}");
        bench.ok(&format!("jobs resume {folder}"));
        assert_is(&bench, "s3://box/x/large", &bytes(7)[..SIZE - 1000]);
        assert_eq!(uploads(&bench), 0, "{folder}");
        bench.ok("rm --recursive s3://box/x/ --quiet");
    }
}

#[test]
fn bytes_of_a_divided_object_count_once() {
    let bench = bench();
    for (folder, command) in [
        ("jobs/up", "cp --recursive in s3://box/up/"),
        ("jobs/copy", "cp --recursive s3://box/up/ s3://box/copy/"),
        ("jobs/relay", "cp --recursive --stream s3://box/up/ s3://box/relay/"),
    ] {
        start(&bench, command, folder);
        let worked = bench.run(&format!("worker --job {folder} --metrics-file metrics"));
        assert!(worked.status.success(), "{worked:?}");
        let metrics = bench.read("metrics");
        let moved = metrics.lines().find(|line| line.starts_with("s3haul_moved_bytes")).unwrap();
        assert!(moved.ends_with(&format!(" {}", SIZE + 2)), "{command}: {moved}");
    }
}

#[test]
fn an_object_that_a_file_names_twice_is_done_once() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/from/ --no-progress --quiet");
    let names = ["large", "a", "z", "a", "z", "large"].map(|name| format!("box,from/{name}\n"));
    bench.file("names.csv", &format!("bucket,key\n{}", names.concat()));
    let from = bench.path("names.csv");
    let command = format!("cp --recursive s3://box/from/ s3://box/to/ --from {}", from.display());
    start(&bench, &command, "jobs/a");
    let watch = bench.spawn("jobs watch jobs/a");
    work(&bench, "jobs/a", 1);
    let job = shown(&bench, "jobs/a");
    assert_eq!((&job["state"], &job["shards_left"]), (&"done".into(), &0.into()), "{job}");
    let watched = stdout(&watch.wait_with_output().unwrap());
    assert!(watched.lines().last().unwrap().starts_with("done: "), "{watched}");
    assert_is(&bench, "s3://box/to/large", &bytes(0));
}

/// Has a worker send pieces of the large object, and no more.
fn send_some(bench: &Bench, folder: &str) {
    let part = bench.path(&run_of(bench, folder)).join("part");
    while files_in(&part) < 3 {
        let once = bench.run(&format!("worker --job {folder} --once"));
        assert!(once.status.success(), "{once:?}");
    }
}

#[test]
fn nothing_is_left_of_an_object_whose_source_is_gone() {
    let bench = bench();
    start(&bench, "cp --recursive in s3://box/x/", "jobs/a");
    send_some(&bench, "jobs/a");
    assert_eq!(uploads(&bench), 1);
    bench.remove("in/large");
    assert_ne!(bench.status("worker --job jobs/a"), 0);
    assert_eq!(shown(&bench, "jobs/a")["shards_left"], 0);
    assert_eq!(uploads(&bench), 0);
}

#[test]
fn a_worker_whose_keys_are_refused_leaves_all_to_others() {
    let bench = bench();
    for (folder, pieces) in [("jobs/shards", false), ("jobs/pieces", true)] {
        start(&bench, &format!("cp --recursive in s3://box/{folder}/"), folder);
        if pieces {
            send_some(&bench, folder);
        }
        let before = shown(&bench, folder)["objects"].clone();
        let refused = bench
            .command(&format!("worker --job {folder}"))
            .env("AWS_SECRET_ACCESS_KEY", "another")
            .output()
            .unwrap();
        assert!(!refused.status.success(), "{refused:?}");
        let job = shown(&bench, folder);
        let (state, counts) = (&job["state"], (&job["objects"], &job["failed"]));
        assert_eq!((state, counts), (&"running".into(), (&before, &0.into())), "{refused:?}");
        work(&bench, folder, 1);
        assert_is(&bench, &format!("s3://box/{folder}/large"), &bytes(0));
    }
}
