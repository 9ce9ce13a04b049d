//! Jobs that are killed, interrupted or fail, and what `jobs` does about them.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::HashMap;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Bench, send, stderr, stdout};

pub(crate) const FILES: usize = 1_500;
/// Files that a sync removes.
const REMOVED: usize = 300;
/// So slow that a job outlives its first snapshots, and no slower.
pub(crate) const PACE: &str = "--max-requests-per-second 400 --no-progress --quiet";
pub(crate) const WAIT_MAX: Duration = Duration::from_mins(1);
/// Requests that one process may have in flight when it is killed.
pub(crate) const IN_FLIGHT_MAX: usize = 256;

/// A bucket, and a folder of small files.
pub(crate) fn bench() -> Bench {
    let bench = Bench::recorded();
    for n in 0..FILES {
        bench.file(&format!("in/{}/{n:04}", n % 7), &format!("this is {n}"));
    }
    bench
}

/// The jobs that have a journal.
pub(crate) fn jobs(bench: &Bench) -> Vec<Value> {
    let lines = bench.lines("jobs ls --json");
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits until the journal of a running job says that so many objects are done; gives its name.
pub(crate) fn wait_for(bench: &Bench, objects: u64, child: &mut Child) -> String {
    let begun = Instant::now();
    while begun.elapsed() < WAIT_MAX {
        assert!(child.try_wait().unwrap().is_none(), "the command ended too early");
        let is_there =
            |job: &&Value| job["state"] == "running" && job["objects"].as_u64().unwrap() >= objects;
        if let Some(job) = jobs(bench).iter().find(is_there) {
            return job["id"].as_str().unwrap().to_owned();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no journal of {objects} objects within {WAIT_MAX:?}");
}

/// Starts a command and kills it once so many objects are done; gives the name of its job.
pub(crate) fn kill_at(bench: &Bench, objects: u64, args: &str) -> String {
    let mut child = bench.spawn(args);
    let id = wait_for(bench, objects, &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    id
}

/// How often each object was written, by the server's ledger. Ends the server.
fn writes(bench: &mut Bench) -> HashMap<String, usize> {
    bench.end();
    let mut writes = HashMap::new();
    for line in bench.read("ledger").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if line["operation"] == "PutObject" && line["status"] == 200 {
            *writes.entry(line["key"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    writes
}

#[test]
fn a_killed_upload_is_resumed_and_nothing_that_was_done_is_done_again() {
    let mut bench = bench();
    let id = kill_at(&bench, 700, &format!("cp --recursive in s3://box/x/ {PACE}"));
    let shown = bench.ok(&format!("jobs show {id}"));
    assert!(shown.contains("state:      killed") && shown.contains("jobs resume"), "{shown}");
    assert_eq!(bench.ok(&format!("jobs resume {id} --max-requests-per-second 100000")), "");
    assert_eq!(bench.status("compare in s3://box/x/"), 0);
    let done = bench.run(&format!("jobs resume {id}"));
    assert!(stderr(&done).contains("is complete"), "{done:?}");
    assert_eq!(done.status.code(), Some(252));
    assert_eq!(jobs(&bench)[0]["objects"], FILES);
    let writes = writes(&mut bench);
    let twice = writes.values().filter(|count| **count > 1).count();
    assert_eq!(writes.len(), FILES);
    assert!(twice <= IN_FLIGHT_MAX, "{twice} objects were sent twice");
}

/// The disk may have gone since the job began: what it saw then is no proof, and what is left to do
/// is done once it is back.
#[test]
fn an_empty_source_empties_nothing_where_a_sync_is_resumed() {
    let bench = bench();
    for n in 0..REMOVED {
        bench.file(&format!("old/{n}"), "old");
    }
    bench.ok("cp --recursive old s3://box/x/zz/ --no-progress --quiet");
    // More than the queue holds, so that the removals are not planned when the job is killed.
    (0..3_000).for_each(|n| bench.file(&format!("in/8/{n}"), "text"));
    let pace = PACE.replace("--quiet", "--only-show-errors");
    let id = kill_at(&bench, 200, &format!("sync in s3://box/x/ --delete {pace}"));
    refuses_until_it_is_back(&bench, &id);
    assert_eq!(bench.status("compare in s3://box/x/"), 0);
}

/// Resumes a job twice while its source `in` is empty, and once when all is there again.
fn refuses_until_it_is_back(bench: &Bench, id: &str) {
    let count = || bench.lines("list s3://box/x/ --format keys").len();
    let before = count();
    std::fs::rename(bench.path("in"), bench.path("away")).unwrap();
    std::fs::create_dir(bench.path("in")).unwrap();
    let resume = format!("jobs resume {id} --max-requests-per-second 100000");
    for _ in 0..2 {
        let resumed = bench.run(&resume);
        assert_eq!(resumed.status.code(), Some(255), "{resumed:?}");
        assert!(stderr(&resumed).contains("source `in` any more"), "{resumed:?}");
    }
    assert_eq!(count(), before);
    std::fs::remove_dir(bench.path("in")).unwrap();
    std::fs::rename(bench.path("away"), bench.path("in")).unwrap();
    bench.ok(&resume);
}

#[test]
fn a_source_that_is_away_for_a_while_is_copied_whole() {
    for command in ["cp --recursive", "sync"] {
        let bench = bench();
        let pace = PACE.replace("--quiet", "--only-show-errors");
        let id = kill_at(&bench, 200, &format!("{command} in s3://box/x/ {pace}"));
        refuses_until_it_is_back(&bench, &id);
        assert_eq!(bench.status("compare in s3://box/x/"), 0, "{command}");
    }
}

#[test]
fn a_prefix_that_is_empty_for_a_while_is_copied_whole() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    let pace = PACE.replace("--quiet", "--only-show-errors");
    let id = kill_at(&bench, 200, &format!("sync s3://box/x/ s3://box/y/ {pace}"));
    bench.ok("rm --recursive s3://box/x/ --quiet");
    // An object that stands for a folder is nothing to copy.
    bench.file("empty", "");
    bench.ok("cp --quiet empty s3://box/x/ --to-key x/");
    assert_eq!(bench.lines("list s3://box/x/ --format keys"), ["x/"]);
    let resume = format!("jobs resume {id} --max-requests-per-second 100000");
    let resumed = bench.run(&resume);
    assert_eq!(resumed.status.code(), Some(255), "{resumed:?}");
    assert!(stderr(&resumed).contains("x/` any more"), "{resumed:?}");
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    bench.ok(&resume);
    assert_eq!(bench.status("compare s3://box/x/ s3://box/y/"), 0);
}

#[test]
fn what_was_refused_is_asked_for_again() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    for n in 0..REMOVED {
        bench.file(&format!("old/{n}"), "old");
    }
    bench.ok("cp --recursive old s3://box/x/3x/ --no-progress --quiet");
    let kept = format!("--no-progress --journal {}", bench.journals().display());
    let left = || bench.lines("list s3://box/x/3x/ --format keys").len();
    let sync = bench.run(&format!("sync in s3://box/x/ --delete --max-delete 5 {kept}"));
    let id = jobs(&bench)[0]["id"].as_str().unwrap().to_owned();
    for refused in [sync, bench.run(&format!("jobs resume {id}"))] {
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(stderr(&refused).contains("more than 5 names"), "{refused:?}");
        assert_eq!(left(), REMOVED - 5);
    }
    // Removals that a limit in percent holds until the end of the listing are no objects in work.
    bench.run(&format!("sync in s3://box/x/ --delete --max-delete 1% {kept}"));
    let id = jobs(&bench)[0]["id"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        let shown = bench.ok(&format!("jobs show {id}"));
        assert!(shown.contains("in work:    0 objects"), "{shown}");
        assert_eq!((bench.status(&format!("jobs resume {id}")), left()), (1, REMOVED - 5));
    }
    // An empty source, which is filled: the new file comes before all that was seen.
    std::fs::create_dir(bench.path("new")).unwrap();
    let refused = bench.run(&format!("sync new s3://box/x/ --delete {kept}"));
    assert!(stderr(&refused).contains("is empty"), "{refused:?}");
    bench.file("new/.first", "1");
    let id = jobs(&bench)[0]["id"].as_str().unwrap().to_owned();
    bench.ok(&format!("jobs resume {id}"));
    assert_eq!(bench.lines("list s3://box/x/ --format keys"), ["x/.first"]);
}

#[test]
fn a_sync_that_is_interrupted_twice_ends_with_resume() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    for n in 0..REMOVED {
        bench.file(&format!("down/3/{n}.old"), "old");
    }
    // Their files are not spelled like them, and come long before or after them in order.
    for key in ["0//-odd", "0/.odd", "./zodd"] {
        bench.ok(&format!("cp in/0/0000 s3://box/x/{key} --no-progress --quiet"));
    }
    let command = format!("sync s3://box/x/ down --delete {PACE}");
    let mut child = bench.spawn(&command);
    wait_for(&bench, 400, &mut child);
    send("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    // The same command resumes it.
    kill_at(&bench, 900, &format!("{command} --resume"));
    let last = bench.run("sync s3://box/x/ down --delete --no-progress --resume");
    assert!(last.status.success(), "{last:?}");
    // 900 were done, removals among them, and what was done is not done again.
    let (lines, left) = (stdout(&last).lines().count(), FILES + REMOVED + 3 - 900);
    assert!(lines <= left, "{lines} lines for {left} objects");
    let compared = bench.status("compare s3://box/x/ down --exclude *odd");
    assert_eq!(compared, 0, "what is gone was removed, too");
    for file in ["down/0/-odd", "down/0/.odd", "down/zodd"] {
        assert_eq!(bench.read(file), bench.read("in/0/0000"), "{file}");
    }
    let is_sync = |job: &Value| job["command"].as_str().unwrap().starts_with("s3haul sync ");
    let syncs: Vec<_> = jobs(&bench).into_iter().filter(is_sync).collect();
    assert_eq!(syncs.len(), 1, "it is one job: {syncs:?}");
}

#[test]
fn what_failed_is_tried_again() {
    let bench = bench();
    // A folder is in the way of a file.
    bench.file("down/3/0003/x", "in the way");
    bench.ok("cp --recursive in s3://box/x/ --quiet --no-progress");
    let failed = bench.run("cp --recursive s3://box/x/ down --no-progress");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let id = jobs(&bench)[0]["id"].as_str().unwrap().to_owned();
    let shown = bench.ok(&format!("jobs show {id}"));
    assert!(shown.contains("failed:     s3://box/x/3/0003: "), "{shown}");
    bench.remove("down/3/0003/x");
    std::fs::remove_dir(bench.folder().join("down/3/0003")).unwrap();
    let resumed = bench.lines(&format!("jobs resume {id} --no-progress"));
    assert_eq!(resumed, ["download: s3://box/x/3/0003 to down/3/0003"]);
    assert_eq!(jobs(&bench)[0]["state"], "done");
}

#[test]
fn what_was_the_same_by_its_bytes_is_not_looked_at_again() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --quiet --no-progress");
    bench.ok("cp --recursive s3://box/x/ down --quiet --no-progress");
    // A folder is in the way of a file.
    bench.remove("down/6/1490");
    bench.file("down/6/1490/x", "in the way");
    let failed = bench.run("sync --checksum s3://box/x/ down --no-progress --journal kept");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let job: Value = serde_json::from_str(&bench.ok("jobs ls --json --journal kept")).unwrap();
    let id = job["id"].as_str().unwrap();
    bench.remove("down/6/1490/x");
    std::fs::remove_dir(bench.folder().join("down/6/1490")).unwrap();
    for n in (0..FILES).filter(|n| n % 7 == 2) {
        bench.file(&format!("down/2/{n:04}"), &format!("what is {n}"));
    }
    let resumed = bench.lines(&format!("jobs resume {id} --no-progress --journal kept"));
    assert_eq!(resumed, ["download: s3://box/x/6/1490 to down/6/1490"]);
}

#[test]
fn a_job_is_run_by_one_process_at_a_time() {
    let bench = bench();
    let mut child = bench.spawn(&format!("cp --recursive in s3://box/x/ {PACE}"));
    let id = wait_for(&bench, 300, &mut child);
    let refused = bench.run(&format!("jobs resume {id}"));
    assert_eq!(refused.status.code(), Some(252));
    assert!(stderr(&refused).contains(&format!("({})", child.id())), "{refused:?}");
    let kept = bench.ok("jobs prune --all");
    assert_eq!(kept, "", "the journal of a running job stays");
    let watched = bench.lines(&format!("jobs watch {id}"));
    assert!(watched.last().unwrap().starts_with("done: 1500 objects"), "{watched:?}");
    assert!(child.wait().unwrap().success());
    assert_eq!(bench.ok("jobs prune --all"), format!("removed: {id}\n"));
    assert_eq!(std::fs::read_dir(bench.journals()).unwrap().count(), 0);
}
