//! Jobs that several workers do together.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{BINARY, Bench, send, stderr, stdout};

/// Files of a tree; half of them lie in one folder.
pub(crate) const FILES: usize = 600;
pub(crate) const WAIT_MAX: Duration = Duration::from_mins(1);
const LEASE_DEFAULT: Duration = Duration::from_secs(30);
/// So slow that workers meet, and are killed amid their shards.
pub(crate) const PACE: &str = "--max-requests-per-second 200";

/// A server with the buckets `box` and `ops`, and a folder of small files.
pub(crate) fn bench() -> Bench {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.ok("mb s3://ops");
    for n in 0..FILES {
        let folder = if n % 2 == 0 { "half".to_owned() } else { format!("{}", n % 9) };
        bench.file(&format!("in/{folder}/{n:04}"), &format!("this is {n}"));
    }
    bench
}

/// Begins the job of a command.
fn start(bench: &Bench, command: &str, folder: &str, flags: &str) {
    let job = bench.ok(&format!("{command} --print-job"));
    bench.file("job.json", &job);
    let started = bench.run(&format!("job start job.json --at {folder} {flags}"));
    assert!(started.status.success(), "{command}: {started:?}");
    let is_bucket = folder.starts_with("s3://");
    let folder = if is_bucket { folder.into() } else { bench.path(folder).display().to_string() };
    assert_eq!(stdout(&started), format!("s3haul worker --job {folder}\n"));
}

/// Has so many workers do a job; each ends well.
pub(crate) fn work(bench: &Bench, folder: &str, workers: usize, flags: &str) -> Vec<String> {
    let start = |index| {
        bench.spawn(&format!("worker --job {folder} --shard {index} --of {workers} {flags}"))
    };
    let started: Vec<_> = (0..workers).map(start).collect();
    let mut lines = Vec::new();
    for worker in started {
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        lines.extend(stdout(&output).lines().map(str::to_owned));
    }
    lines
}

/// The folder of the run of a job.
pub(crate) fn run_of(bench: &Bench, folder: &str) -> String {
    let job = if folder.starts_with("s3://") {
        bench.ok(&format!("cat {folder}/job.json"))
    } else {
        bench.read(&format!("{folder}/job.json"))
    };
    let job: Value = serde_json::from_str(&job).unwrap();
    format!("{folder}/{}", job["run"].as_str().unwrap())
}

/// What `jobs show` says of a job.
pub(crate) fn shown(bench: &Bench, folder: &str) -> Value {
    let lines = bench.lines(&format!("jobs show {folder} --json"));
    serde_json::from_str(&lines[0]).unwrap()
}

pub(crate) fn objects(bench: &Bench, prefix: &str) -> usize {
    let listed = bench.run(&format!("list {prefix} --format keys"));
    stdout(&listed).lines().count()
}

#[test]
fn every_task_ends_as_it_does_in_one_process() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    let mut inputs = 0;
    let mut done = |command: &str, folder: &str| {
        inputs += 1;
        start(&bench, command, folder, "--shards 5 --budget 0.1 --lease 1");
        let lines = work(&bench, folder, 2, PACE);
        let job = shown(&bench, folder);
        assert_eq!(job["state"], "done", "{command}: {job}");
        assert!(lines.len() as u64 >= job["shards_done"].as_u64().unwrap(), "{lines:?}");
        assert!(job["shards_done"].as_u64().unwrap() > 1, "{command} was not cut: {job}");
        job["objects"].as_u64().unwrap()
    };
    let all = FILES as u64;
    assert_eq!(done("cp --recursive in s3://box/up/", "s3://ops/up"), all);
    assert_eq!(bench.status("compare in s3://box/up/"), 0);
    assert_eq!(done("cp --recursive s3://box/x/ down", "s3://ops/down"), all);
    assert_eq!(bench.status("compare s3://box/x/ down"), 0);
    assert_eq!(done("cp --recursive s3://box/x/ s3://box/copy/", "s3://ops/copy"), all);
    assert_eq!(bench.status("compare s3://box/x/ s3://box/copy/"), 0);
    assert_eq!(done("mv --recursive s3://box/copy/ s3://box/moved/", "s3://ops/mv"), all);
    assert_eq!(bench.status("compare s3://box/x/ s3://box/moved/"), 0);
    assert_eq!(objects(&bench, "s3://box/copy/"), 0);
    // A third is missing, and some has to go: also behind the last and before the first.
    bench.ok("rm --recursive s3://box/moved/ --include */*[147] --exclude */*[1] --quiet");
    for key in ["0", "half/9999", "zzz"] {
        bench.ok(&format!("cp in/half/0000 s3://box/moved/{key} --no-progress --quiet"));
    }
    done("sync --delete s3://box/x/ s3://box/moved/", "s3://ops/sync");
    assert_eq!(bench.status("compare s3://box/x/ s3://box/moved/"), 0);
    done("sync --delete in s3://box/moved/ --size-only", "ops/in-a-directory");
    assert_eq!(done("tag set --recursive s3://box/x/ --tags a=b", "s3://ops/tag"), all);
    let tags = bench.lines("tag get --recursive s3://box/x/");
    assert_eq!(tags.iter().filter(|line| line.ends_with("\ta=b")).count(), FILES);
    let names = bench.ok("list s3://box/x/ --format keys");
    bench.file("names.csv", &format!("key\n{names}"));
    let command = format!("rm s3://box/x/ --from {}", bench.path("names.csv").display());
    assert_eq!(done(&command, "s3://ops/from"), all);
    assert_eq!(objects(&bench, "s3://box/x/"), 0);
    assert_eq!(done("rm --recursive s3://box/moved/", "s3://ops/rm"), all);
    assert_eq!(objects(&bench, "s3://box/moved/"), 0);
}

#[test]
fn what_killed_workers_leave_is_done_by_others() {
    let bench = bench();
    let folder = "s3://ops/jobs/killed";
    start(&bench, "cp --recursive in s3://box/x/", folder, "--shards 4 --budget 0.3 --lease 0.5");
    for _ in 0..3 {
        let mut worker =
            bench.spawn(&format!("worker --job {folder} --max-requests-per-second 150"));
        let before = objects(&bench, "s3://box/x/");
        let begun = Instant::now();
        while objects(&bench, "s3://box/x/") < before + 40 && begun.elapsed() < WAIT_MAX {
            std::thread::sleep(Duration::from_millis(10));
        }
        worker.kill().unwrap();
        worker.wait().unwrap();
    }
    let job = shown(&bench, folder);
    assert_eq!(job["state"], "running", "{job}");
    let watch = bench.spawn(&format!("jobs watch {folder}"));
    assert_eq!(bench.run(&format!("jobs resume {folder}")).status.code(), Some(0));
    let watched = stdout(&watch.wait_with_output().unwrap());
    let last = watched.lines().last().unwrap();
    assert!(last.starts_with("done: 600 objects, ") && last.ends_with(" 0 left"), "{watched}");
    let job = shown(&bench, folder);
    assert_eq!((&job["state"], &job["shards_left"]), (&"done".into(), &0.into()), "{job}");
    assert_eq!(job["objects"], FILES as u64, "each counts once");
    assert_eq!(bench.status("compare in s3://box/x/"), 0);
    assert_eq!(objects(&bench, &format!("{}/claim/", run_of(&bench, folder))), 0);
}

#[test]
fn a_worker_that_has_nothing_to_do_gets_a_part_of_what_another_does() {
    let bench = bench();
    // More than a worker has in its queues.
    let more = 5_000;
    for n in 0..more {
        bench.file(&format!("in/more/{n:04}"), "more");
    }
    let folder = "s3://ops/jobs/alone";
    start(&bench, "cp --recursive in s3://box/x/", folder, "--shards 1 --budget 3600 --lease 2");
    // There is one shard for two workers.
    work(&bench, folder, 2, "--max-requests-per-second 600");
    let job = shown(&bench, folder);
    assert!(job["shards_done"].as_u64().unwrap() > 1, "it was not cut: {job}");
    assert_eq!(job["objects"], (FILES + more) as u64);
    assert_eq!(bench.status("compare in s3://box/x/"), 0);
}

#[test]
fn what_fails_is_in_the_commits_and_the_exit_status() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    bench.file("down/half/0000/x", "a folder is in the way of a file");
    start(&bench, "cp --recursive s3://box/x/ down", "s3://ops/a", "--shards 3");
    let failed = bench.run("worker --job s3://ops/a");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert!(stderr(&failed).contains("note: 1 object failed: 1 file or folder"), "{failed:?}");
    assert!(stderr(&failed).contains("`s3haul jobs resume s3://ops/a/` tries them again"));
    let shown = bench.ok("jobs show s3://ops/a");
    assert!(shown.contains("state:      failed\n"), "{shown}");
    assert!(shown.contains("failed:     s3://box/x/half/0000: "), "{shown}");
    assert!(shown.contains("causes:     1 file or folder in the way\n"), "{shown}");
    assert!(shown.contains("task:       copy s3://box/x/ "), "{shown}");
    // It fails once more, and then it does not; all others stay as they are.
    assert_eq!(bench.status("jobs resume s3://ops/a"), 1);
    bench.remove("down/half/0000/x");
    std::fs::remove_dir(bench.path("down/half/0000")).unwrap();
    bench.remove("down/half/0002");
    let resumed = bench.lines("jobs resume s3://ops/a");
    assert!(resumed[0].starts_with("shard: 1 object, 9 bytes, 0 failed"), "{resumed:?}");
    assert!(!bench.path("down/half/0002").exists(), "what was done is not done again");
    let job = crate::shards::shown(&bench, "s3://ops/a");
    assert_eq!((&job["state"], &job["objects"]), (&"done".into(), &FILES.into()), "{job}");
}

#[test]
fn an_empty_range_is_no_empty_source() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    // All that is left of the source lies in the last shard.
    bench.file("few/zz/last", "left");
    for source in ["few", "s3://box/few/"] {
        if source != "few" {
            bench.ok("cp --recursive few s3://box/few/ --no-progress --quiet");
        }
        let target = format!("s3://box/of-{}/", source.len());
        bench.ok(&format!("cp --recursive s3://box/x/ {target} --no-progress --quiet"));
        let folder = format!("s3://ops/{}", source.len());
        start(&bench, &format!("sync --delete {source} {target}"), &folder, "");
        work(&bench, &folder, 1, "");
        assert_eq!(objects(&bench, &target), 1);
    }
    std::fs::create_dir(bench.path("empty")).unwrap();
    for source in ["empty", "s3://box/none/"] {
        let folder = format!("s3://ops/empty-{}", source.len());
        start(&bench, &format!("sync --delete {source} s3://box/x/"), &folder, "");
        let refused = bench.run(&format!("worker --job {folder}"));
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(stderr(&refused).contains("is empty"), "{refused:?}");
        assert_eq!(objects(&bench, "s3://box/x/"), FILES);
    }
}

/// Begins a job whose shards end after every page.
fn start_with_many_stops(bench: &Bench, command: &str, folder: &str, flags: &str) {
    start(bench, command, folder, &format!("--budget 0.1 {flags}"));
}

#[test]
fn versions_of_a_key_stay_together() {
    let bench = Bench::slow("60ms");
    bench.ok("mb s3://box --versioning");
    bench.ok("mb s3://ops");
    for text in ["first", "second", "third"] {
        for key in 0..8 {
            bench.file(&format!("in/{key}"), text);
        }
        bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    }
    for (task, flags, left) in [
        ("rm --recursive --noncurrent s3://box/x/", "--page-size 2", 8),
        ("rm --recursive --versions s3://box/x/", "--page-size 3", 0),
    ] {
        let folder = format!("jobs/{left}");
        start_with_many_stops(&bench, &format!("{task} {flags}"), &folder, "--shards 1");
        work(&bench, &folder, 1, "");
        assert!(
            shown(&bench, &folder)["shards_done"].as_u64().unwrap() > 1,
            "{task} never stopped"
        );
        let versions = bench.run("versions --recursive s3://box/x/ --format keys");
        assert_eq!(stdout(&versions).lines().count(), left, "{task}");
    }
}

#[test]
fn what_has_no_current_objects_is_cut() {
    let bench = Bench::new();
    bench.ok("mb s3://box --versioning");
    for n in 0..300 {
        bench.file(&format!("in/{n:03}"), "gone");
    }
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    bench.ok("rm --recursive s3://box/x/ --quiet");
    for (task, left) in
        [("undelete --recursive s3://box/x/", 300), ("rm --recursive --versions s3://box/x/", 0)]
    {
        let folder = format!("jobs/{left}");
        if left == 0 {
            bench.ok("rm --recursive s3://box/x/ --quiet");
        }
        start(&bench, task, &folder, "--shards 3");
        assert_eq!(shown(&bench, &folder)["shards_left"], 3, "{task}");
        work(&bench, &folder, 2, "");
        assert_eq!(objects(&bench, "s3://box/x/"), left, "{task}");
    }
    let versions = bench.run("versions --recursive s3://box/x/ --format keys");
    assert_eq!(stdout(&versions), "");
}

#[test]
fn removals_behind_the_last_name_of_the_source_come_to_their_end() {
    let bench = Bench::slow("60ms");
    bench.ok("mb s3://box");
    bench.ok("mb s3://ops");
    for n in 0..40 {
        bench.file(&format!("many/z{n:03}"), "gone");
    }
    bench.file("few/a", "stays");
    bench.ok("cp --recursive many s3://box/to/ --no-progress --quiet");
    bench.ok("cp --recursive few s3://box/from/ --no-progress --quiet");
    let command = "sync --delete s3://box/from/ s3://box/to/ --page-size 4";
    start_with_many_stops(&bench, command, "s3://ops/a", "--shards 1");
    work(&bench, "s3://ops/a", 1, "");
    assert!(shown(&bench, "s3://ops/a")["shards_done"].as_u64().unwrap() > 1, "it never stopped");
    assert_eq!(objects(&bench, "s3://box/to/"), 1);
}

#[test]
fn a_worker_that_reads_something_else_than_the_job_was_begun_with_commits_nothing() {
    let bench = bench();
    let refused = |folder: &str, said: &str| {
        let refused = bench.run(&format!("worker --job {folder}"));
        assert_ne!(refused.status.code(), Some(0), "{refused:?}");
        assert!(stderr(&refused).contains(said), "{refused:?}");
        assert_eq!(shown(&bench, folder)["shards_done"], 0);
    };
    start(&bench, "cp --recursive in s3://box/x/", "s3://ops/a", "");
    std::fs::rename(bench.path("in"), bench.path("away")).unwrap();
    std::fs::create_dir(bench.path("in")).unwrap();
    refused("s3://ops/a", "is its file system mounted");
    std::fs::remove_dir(bench.path("in")).unwrap();
    std::fs::rename(bench.path("away"), bench.path("in")).unwrap();
    work(&bench, "s3://ops/a", 1, "");
    // Rows are counted, and must stay where they are.
    let names = bench.ok("list s3://box/x/ --format keys");
    bench.file("names.csv", &format!("key\n{names}"));
    let from = bench.path("names.csv");
    let command = format!("cp s3://box/x/ s3://box/y/ --from {}", from.display());
    start(&bench, &command, "s3://ops/b", "");
    let fewer: Vec<_> = names.lines().skip(100).collect();
    bench.file("names.csv", &format!("key\n{}\n", fewer.join("\n")));
    refused("s3://ops/b", "has changed since the job was begun");
}

/// What the command never came to is not in its report.
#[test]
fn a_job_that_starts_from_a_report_that_is_not_whole_warns() {
    let bench = bench();
    bench.file("f", "a");
    bench.ok("cp f s3://box/x/f --quiet");
    bench.ok("cp s3://box/x/f t --report whole.jsonl --quiet");
    let whole = bench.read("whole.jsonl");
    bench.file("cut.jsonl", &whole.replace("\"complete\"", "\"incomplete\""));
    for (name, warns) in [("whole", false), ("cut", true)] {
        let from = bench.path(&format!("{name}.jsonl"));
        let command = format!("cp s3://box/x/ s3://box/y/ --from {}", from.display());
        bench.file("job.json", &bench.ok(&format!("{command} --print-job")));
        let started = bench.run(&format!("job start job.json --at s3://ops/{name}"));
        assert!(started.status.success(), "{started:?}");
        assert_eq!(stderr(&started).contains("did not finish"), warns, "{started:?}");
    }
}

#[test]
fn a_worker_that_was_stopped_does_not_go_on_with_what_others_have_done() {
    let bench = bench();
    let folder = "s3://ops/stopped";
    start(&bench, "cp --recursive in s3://box/x/", folder, "--shards 1 --lease 0.5");
    let slow = bench.spawn(&format!("worker --job {folder} --max-requests-per-second 60"));
    let begun = Instant::now();
    while objects(&bench, "s3://box/x/") < 40 && begun.elapsed() < WAIT_MAX {
        std::thread::sleep(Duration::from_millis(10));
    }
    send("-STOP", &slow);
    work(&bench, folder, 1, "");
    bench.ok("rm --recursive s3://box/x/ --quiet");
    send("-CONT", &slow);
    let output = slow.wait_with_output().unwrap();
    assert!(stderr(&output).contains("was taken over by another worker"), "{output:?}");
    assert!(!stderr(&output).contains("cancelled"), "no signal ended it: {output:?}");
    // What was in flight may arrive.
    let late = objects(&bench, "s3://box/x/");
    assert!(late < FILES / 2, "{late} objects were written after the job had ended");
}

#[test]
fn what_was_skipped_with_a_warning_is_told_of() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("in/a", "warm");
    bench.ok("cp --recursive in s3://box/x/ --quiet");
    bench.ok("cp in/a s3://box/x/b --storage-class GLACIER --quiet");
    start(&bench, "cp --recursive s3://box/x/ down", "jobs/a", "--shards 1");
    let watch = bench.spawn("jobs watch jobs/a");
    let output = bench.run("worker --job jobs/a");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let line = "done: 1 object, 4 bytes, 0 failed, warnings: 1, 1 shard done, 0 left\n";
    assert!(stdout(&output).ends_with(line), "{output:?}");
    assert!(stdout(&watch.wait_with_output().unwrap()).ends_with(line));
    let shown = bench.ok("jobs show jobs/a --html job.html");
    assert!(shown.contains("warnings:   1\n"), "{shown}");
    assert!(bench.read("job.html").contains("warnings"));
}

#[test]
fn archived_objects_are_no_fault_of_the_machine() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("in/a", "cold");
    bench.ok("cp --recursive in s3://box/x/ --storage-class GLACIER --quiet");
    let command = "cp --recursive s3://box/x/ down --force-glacier-transfer";
    start(&bench, command, "jobs/a", "--shards 1");
    let output = bench.run("worker --job jobs/a");
    assert!(!stderr(&output).contains("left to other workers"), "{output:?}");
    let job = shown(&bench, "jobs/a");
    assert_eq!((&job["state"], &job["failed"]), (&"failed".into(), &1.into()), "{job}");
}

#[test]
fn a_worker_says_which_signal_ended_it() {
    let bench = bench();
    start(&bench, "cp --recursive in s3://box/x/", "s3://ops/a", "--shards 1");
    let worker = bench.spawn("worker --job s3://ops/a --max-requests-per-second 60");
    let begun = Instant::now();
    while objects(&bench, "s3://box/x/") == 0 && begun.elapsed() < WAIT_MAX {
        std::thread::sleep(Duration::from_millis(10));
    }
    send("-TERM", &worker);
    let output = worker.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("cancelled: terminated by a signal"), "{output:?}");
}

#[test]
fn rows_that_were_moved_are_no_failures_of_a_retry() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    let names = bench.ok("list s3://box/x/ --format keys");
    bench.file("names.csv", &format!("key\n{names}x/missing\n"));
    let from = bench.path("names.csv");
    let command = format!("mv s3://box/x/ s3://box/y/ --from {}", from.display());
    start(&bench, &command, "s3://ops/a", "--shards 2");
    for command in ["worker --job", "jobs resume"] {
        assert_eq!(bench.status(&format!("{command} s3://ops/a")), 1);
        let job = shown(&bench, "s3://ops/a");
        assert_eq!((&job["objects"], &job["failed"]), (&FILES.into(), &1.into()), "{job}");
    }
    bench.ok("cp in/half/0000 s3://box/x/missing --no-progress --quiet");
    assert_eq!(bench.status("jobs resume s3://ops/a"), 0);
}

#[test]
fn what_cannot_be_done_in_shards_is_refused_before_anything_is_written() {
    let bench = bench();
    let commands = [
        ("sync --delete s3://box/x/ down", "--delete"),
        ("sync --delete --max-delete 5 in s3://box/x/", "--max-delete"),
        ("cp --recursive --dryrun in s3://box/x/", "dry runs"),
        ("cp --recursive in s3://box/x/ --report r.csv", "reports"),
        ("cp --recursive s3://box/x/ down --case-conflict error", "--case-conflict"),
        ("cp - s3://box/x", "standard"),
        ("rm s3://box/x/ --from names.csv", "absolute path"),
        ("ls s3://box", "one by one"),
        ("mv s3://box/x/a s3://box/b", "moves one object"),
        ("mv --recursive s3://box/x/ s3://ops/y/ --to-key {name}", "the same one"),
        ("sync s3://box/x/ down --to-key {name}", "the same one"),
    ];
    bench.file("names.csv", "key\nx/a\n");
    for (command, reason) in commands {
        let job = bench.ok(&format!("{command} --print-job"));
        bench.file("job.json", &job);
        let refused = bench.run("job start job.json --at s3://ops/refused");
        assert_eq!(refused.status.code(), Some(252), "{command}: {refused:?}");
        assert!(stderr(&refused).contains(reason), "{command}: {refused:?}");
    }
    std::os::unix::fs::symlink("in", bench.path("link")).unwrap();
    let job = bench.ok("mv s3://ops/j*/* s3://box/x/ --print-job");
    bench.file("job.json", &job);
    assert_eq!(bench.status("job start job.json --at s3://ops/jobs"), 252);
    for (sides, folder) in [
        ("in s3://ops", "s3://ops/jobs"),
        ("s3://box/x/ s3://ops/jobs", "s3://ops/jobs/a/"),
        ("in s3://box/x/", "in/jobs"),
        ("in s3://box/x/", "link/jobs"),
    ] {
        let job = bench.ok(&format!("sync {sides} --print-job"));
        bench.file("job.json", &job);
        let refused = bench.run(&format!("job start job.json --at {folder}"));
        assert_eq!(refused.status.code(), Some(252), "{folder}: {refused:?}");
        assert!(stderr(&refused).contains("would find its files"), "{refused:?}");
    }
    assert_eq!(objects(&bench, "s3://ops/"), 0);
    start(&bench, "cp --recursive in s3://box/x/", "s3://ops/taken", "");
    let taken = bench.run("job start job.json --at s3://ops/taken");
    assert_eq!(taken.status.code(), Some(252));
    assert!(stderr(&taken).contains("is the folder of another job"), "{taken:?}");
    let again = bench.run("job start job.json --at s3://ops/taken --resume");
    assert!(again.status.success(), "{again:?}");
    assert!(stderr(&again).contains("note: goes on with the job in"), "{again:?}");
    let other = bench.ok("cp --recursive in s3://box/y/ --print-job");
    bench.file("job.json", &other);
    let taken = bench.run("job start job.json --at s3://ops/taken --resume");
    assert!(stderr(&taken).contains("is the folder of another job"), "{taken:?}");
    let missing = bench.run("worker --job s3://ops/missing");
    assert!(stderr(&missing).contains("has no job.json"), "{missing:?}");
    let last = bench.run("worker --job s3://ops/taken --shard 2 --of 2");
    assert!(stderr(&last).contains("of 2 workers the last has index 1"), "{last:?}");
}

#[test]
fn one_shard_at_a_time_for_other_schedulers() {
    let bench = bench();
    start(&bench, "cp --recursive in s3://box/x/", "s3://ops/a", "--shards 3");
    let mut counted = 0;
    for _ in 0..3 {
        let lines = bench.lines("worker --job s3://ops/a --once --json");
        let shard: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!((&shard["event"], &shard["counts"]), (&"shard".into(), &true.into()));
        counted += shard["done"].as_u64().unwrap();
    }
    assert_eq!(counted, FILES as u64);
    let begun = Instant::now();
    assert_eq!(bench.lines("worker --job s3://ops/a --once --json"), Vec::<String>::new());
    assert!(begun.elapsed() < LEASE_DEFAULT, "a job that is done needs no wait");
}

#[test]
fn one_shard_at_a_time_takes_over_what_a_dead_worker_had() {
    let bench = bench();
    let folder = "s3://ops/a";
    start(&bench, "cp --recursive in s3://box/x/", folder, "--shards 1 --lease 1");
    let mut worker = bench.spawn(&format!("worker --job {folder} --max-requests-per-second 50"));
    let begun = Instant::now();
    while objects(&bench, "s3://box/x/") < 5 && begun.elapsed() < WAIT_MAX {
        std::thread::sleep(Duration::from_millis(10));
    }
    // It shows signs of life all the time that the other one looks.
    let lines = bench.lines(&format!("worker --job {folder} --once --json"));
    assert_eq!(lines, Vec::<String>::new());
    worker.kill().unwrap();
    worker.wait().unwrap();
    let lines = bench.lines(&format!("worker --job {folder} --once --json"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(shown(&bench, folder)["state"], "done");
}

/// The block of code below a heading of the documentation.
fn recipe(heading: &str) -> String {
    let text = include_str!("../../../../docs/cluster.md");
    let section = text.split_once(&format!("\n## {heading}\n")).unwrap().1;
    let (_, block) = section.split_once("```sh").unwrap();
    let (_, commands) = block.split_once('\n').unwrap();
    commands.split_once("```").unwrap().0.to_owned()
}

/// A program that finds the command as `s3haul`, and what stands for the scheduler's programs.
fn program(bench: &Bench, name: &str) -> std::process::Command {
    let folder = std::path::Path::new(BINARY).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{path}", bench.path("programs").display(), folder.display());
    let mut command = bench.program(name);
    command.env("PATH", path).env("JOB", "s3://ops/a");
    command
}

#[test]
fn the_recipe_for_slurm_runs_in_plain_processes() {
    let bench = bench();
    start(&bench, "cp --recursive in s3://box/x/", "s3://ops/a", "--shards 5");
    bench.file("workers.sh", &recipe("Slurm"));
    bench.file("programs/srun", "#!/bin/sh\nexec \"$@\"\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bench.path("programs/srun"), executable).unwrap();
    let start = |index: u32| {
        let mut bash = program(&bench, "bash");
        bash.arg("workers.sh").env("SLURM_ARRAY_TASK_ID", index.to_string());
        bash.env("SLURM_ARRAY_TASK_COUNT", "3").spawn().unwrap()
    };
    let started: Vec<_> = (0..3).map(start).collect();
    for worker in started {
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(bench.status("compare in s3://box/x/"), 0);
}

#[test]
fn the_recipe_for_gnu_parallel_runs_on_this_machine() {
    let bench = bench();
    if program(&bench, "parallel").arg("--version").output().is_err() {
        eprintln!("GNU parallel is not installed");
        return;
    }
    start(&bench, "cp --recursive in s3://box/x/", "s3://ops/a", "--shards 5");
    bench.file("hosts", ":\n");
    let output = program(&bench, "bash").args(["-c", &recipe("GNU parallel over ssh")]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stdout(&output).lines().filter(|line| line.starts_with("shard: ")).count(), 5);
    assert_eq!(bench.status("compare in s3://box/x/"), 0);
}

#[test]
fn a_worker_is_told_how_the_folder_is_reached() {
    let bench = bench();
    bench.file("job.json", &bench.ok("cp --recursive in s3://box/x/ --print-job"));
    bench.file("ca.pem", "");
    let flags = "--profile p --region eu-west-1 --no-verify-ssl --ca-bundle ca.pem";
    bench.file("config", "[profile p]\n");
    let command = format!("job start job.json --at {} {flags}", bench.path("jobs/a").display());
    let mut command = bench.command(&command);
    let started = command.env("AWS_CONFIG_FILE", bench.path("config")).output().unwrap();
    assert_eq!(
        stdout(&started),
        format!(
            "s3haul worker --job {} --profile p --region eu-west-1 --ca-bundle {} \
             --no-verify-ssl\n",
            bench.path("jobs/a").display(),
            bench.path("ca.pem").display()
        ),
        "{started:?}"
    );
}

#[test]
fn advice_reaches_the_folder_as_the_command_did() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    start(&bench, "cp --recursive s3://box/x/ out", "s3://ops/a", "--shards 1");
    bench.file("out/half", "in the way");
    let flags = "--region us-east-1 --no-verify-ssl";
    let failed = bench.run(&format!("worker --job s3://ops/a {flags}"));
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let resume = format!("s3haul jobs resume s3://ops/a/ {flags}");
    assert!(stderr(&failed).contains(&format!("`{resume}` tries them again")), "{failed:?}");
    let shown = bench.run(&format!("jobs show s3://ops/a {flags}"));
    let resume = format!("resume:     s3haul jobs resume s3://ops/a {flags}\n");
    assert!(stdout(&shown).contains(&resume), "{shown:?}");
}

#[test]
fn a_worker_whose_target_is_another_folder_writes_nothing() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    start(&bench, "cp --recursive s3://box/x/ mnt/new", "s3://ops/a", "");
    // As on a machine that has the mount point and not the file system.
    std::fs::rename(bench.path("mnt"), bench.path("elsewhere")).unwrap();
    std::fs::create_dir_all(bench.path("mnt/new")).unwrap();
    let refused = bench.run("worker --job s3://ops/a");
    assert_eq!(refused.status.code(), Some(255), "{refused:?}");
    assert!(stderr(&refused).contains("is not the folder that the job was begun with"));
    assert_eq!(std::fs::read_dir(bench.path("mnt/new")).unwrap().count(), 0);
    std::fs::remove_dir_all(bench.path("mnt")).unwrap();
    std::fs::rename(bench.path("elsewhere"), bench.path("mnt")).unwrap();
    work(&bench, "s3://ops/a", 1, "");
    assert_eq!(bench.status("compare s3://box/x/ mnt/new"), 0);
}

#[test]
fn a_machine_at_which_all_fails_leaves_the_job_to_others() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    start(&bench, "cp --recursive s3://box/x/ out", "s3://ops/a", "--shards 4");
    // Nothing can be written where a file is in the way of the folders.
    for name in std::iter::once("half".to_owned()).chain((0..9).map(|n| n.to_string())) {
        bench.file(&format!("out/{name}"), "in the way");
    }
    let failed = bench.run("worker --job s3://ops/a");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert!(stderr(&failed).contains("is left to other workers"), "{failed:?}");
    let job = shown(&bench, "s3://ops/a");
    assert_eq!((&job["failed"], &job["state"]), (&0.into(), &"running".into()), "{job}");
    for file in bench.names_in("out") {
        std::fs::remove_file(bench.path("out").join(file)).unwrap();
    }
    work(&bench, "s3://ops/a", 1, "");
    assert_eq!(bench.status("compare s3://box/x/ out"), 0);
}
