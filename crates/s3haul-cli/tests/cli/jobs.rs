//! Jobs that are killed, interrupted or fail, and what `jobs` does about them.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Bench, send, stderr, stdout};

pub(crate) const FILES: usize = 1_500;
/// Files that a sync removes.
const REMOVED: usize = 300;
/// So slow that a job outlives its first snapshots, and no slower.
const PACE: &str = "--max-requests-per-second 400 --no-progress --quiet";
pub(crate) const WAIT_MAX: Duration = Duration::from_mins(1);
/// Requests that one process may have in flight when it is killed.
const IN_FLIGHT_MAX: usize = 256;

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
fn wait_for(bench: &Bench, objects: u64, child: &mut Child) -> String {
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

/// What it has written is no change of others.
#[test]
fn a_plan_that_is_killed_at_once_is_gone_on_with() {
    let bench = Bench::recorded();
    for n in 0..200 {
        bench.file(&format!("in/{n:04}"), &format!("this is {n}"));
    }
    assert_eq!(bench.status("plan sync in s3://box/x/ --plan p.parquet"), 0);
    kill_at(&bench, 1, "apply p.parquet --max-requests-per-second 40 --no-progress");
    // From another folder, too.
    bench.file("other/x", "");
    let resume = "apply ../p.parquet --resume --max-requests-per-second 100000 --no-progress";
    let resumed = bench.command(resume).current_dir(bench.path("other")).output().unwrap();
    assert_eq!((resumed.status.code(), jobs(&bench).len()), (Some(0), 1), "{resumed:?}");
    assert_eq!(bench.status("compare in s3://box/x/"), 0);
    // However short it is.
    bench.file("in/0000", "another");
    assert_eq!(bench.status("plan sync in s3://box/x/ --plan q.parquet"), 0);
    let before = jobs(&bench).len();
    bench.ok("apply q.parquet --no-progress");
    assert_eq!(jobs(&bench).len(), before + 1);
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

#[test]
fn what_a_killed_apply_may_have_done_is_looked_at() {
    let bench = bench();
    let pace = PACE.replace("--quiet", "--only-show-errors");
    bench.run(&format!("plan mv --recursive in s3://box/x/ --plan p.parquet {pace}"));
    let id = kill_at(&bench, 700, "apply p.parquet");
    let names = (0..7).flat_map(|d| (d..FILES).step_by(7).map(move |n| format!("{d}/{n:04}")));
    // The first in order are in work: some of them arrived, and nobody heard of it.
    let left: Vec<_> = names.filter(|name| bench.path(&format!("in/{name}")).exists()).collect();
    let in_doubt = &left[..20];
    for name in in_doubt {
        bench.ok(&format!("cp in/{name} s3://box/x/{name} --no-progress --quiet"));
    }
    // One was written by another program and has the same length.
    let text = bench.read(&format!("in/{}", in_doubt[7]));
    bench.file("other", &text.replace("this", "that"));
    bench.ok(&format!("cp other s3://box/x/{} --no-progress --quiet", in_doubt[7]));
    let resumed = bench.run(&format!("jobs resume {id} --max-requests-per-second 100000"));
    assert_eq!(resumed.status.code(), Some(1), "{resumed:?}");
    assert_eq!(stderr(&resumed).matches("has changed since").count(), 1, "{resumed:?}");
    for name in left.iter().filter(|name| **name != in_doubt[7]) {
        assert!(!bench.path(&format!("in/{name}")).exists(), "{name} was not moved");
    }
    assert_eq!(bench.read(&format!("in/{}", in_doubt[7])), text);
    let objects = bench.lines("list s3://box/x/ --format keys");
    assert_eq!(objects.len(), FILES);
    assert_eq!(bench.ok(&format!("cat s3://box/x/{}", in_doubt[7])), text.replace("this", "that"));
}

#[test]
fn a_move_that_found_its_bytes_at_the_target_is_done_where_its_source_is_gone() {
    let bench = bench();
    for prefix in ["x", "y"] {
        bench.ok(&format!("cp --recursive in s3://box/{prefix}/ --no-progress --quiet"));
    }
    let pace = PACE.replace("--quiet", "--only-show-errors");
    bench.run(&format!("plan mv --recursive s3://box/x/ s3://box/y/ --plan p.parquet {pace}"));
    let id = kill_at(&bench, 700, "apply p.parquet");
    // The first in order are in work: the sources of some were removed, which was never reported.
    let left = bench.lines("list s3://box/x/ --format keys");
    for key in &left[..3] {
        bench.ok(&format!("rm s3://box/{key}"));
    }
    let resume = format!("jobs resume {id} --max-requests-per-second 100000");
    assert_eq!(bench.ok(&resume), "");
    assert_eq!(bench.status("list s3://box/x/ --format keys"), 1, "all was moved");
    assert_eq!(bench.lines("list s3://box/y/ --format keys").len(), FILES);
    assert_eq!(bench.status("compare in s3://box/y/"), 0);
}

/// Names below a folder of two levels, or below a prefix.
fn names_below(bench: &Bench, side: &str) -> Vec<String> {
    if let Some(prefix) = side.strip_prefix("s3://box/") {
        let keys = bench.lines(&format!("list {side}/ --format keys"));
        let name = |key: String| key.strip_prefix(prefix).unwrap().trim_matches('/').to_owned();
        return keys.into_iter().map(name).collect();
    }
    let files = |folder: String| {
        let names = bench.names_in(&format!("{side}/{folder}")).into_iter();
        names.map(move |name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    let mut names: Vec<_> = bench.names_in(side).into_iter().flat_map(files).collect();
    names.sort();
    names
}

fn text_of(bench: &Bench, side: &str, name: &str) -> String {
    let path = format!("{side}/{name}");
    if side.starts_with("s3:") { bench.ok(&format!("cat {path}")) } else { bench.read(&path) }
}

#[test]
fn what_a_killed_move_had_copied_is_moved_also_where_nothing_is_overwritten() {
    let ways = [("in", "s3://box/x"), ("s3://box/a", "s3://box/x"), ("s3://box/a", "x")];
    for (source, target) in ways {
        let bench = bench();
        if source != "in" {
            bench.ok(&format!("cp --recursive in {source} --no-progress --quiet"));
        }
        let pace = PACE.replace("--quiet", "--only-show-errors");
        let command = format!("mv --recursive --no-overwrite {source} {target} {pace}");
        let id = kill_at(&bench, 500, &command);
        // The first in order are in work: some were copied, and their sources are still there.
        let left = names_below(&bench, source);
        for name in &left[..20] {
            bench.ok(&format!("cp {source}/{name} {target}/{name} --no-progress --quiet"));
        }
        // One was written by another program and has the same length.
        let (other, text) = (&left[7], text_of(&bench, source, &left[7]));
        let others = text.replace("this", "that");
        if target == "x" {
            bench.file(&format!("x/{other}"), &others);
        } else {
            bench.file("other", &others);
            bench.ok(&format!("cp other {target}/{other} --no-progress --quiet"));
        }
        let resumed = bench.run(&format!("jobs resume {id} --max-requests-per-second 100000"));
        assert_eq!(resumed.status.code(), Some(0), "{resumed:?}");
        assert_eq!(names_below(&bench, source), [other.as_str()], "{source} to {target}");
        assert_eq!(names_below(&bench, target).len(), FILES, "{source} to {target}");
        assert_eq!(text_of(&bench, source, other), text);
        assert_eq!(text_of(&bench, target, other), others);
    }
}

/// Names below a source that a report has as done.
fn done_in(report: &str, source: &str) -> Vec<String> {
    let rows = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done = rows.filter(|row| row["event"] == "object" && row["outcome"] == "done");
    let name = |row: Value| row["source"].as_str()?.strip_prefix(source).map(str::to_owned);
    let mut names: Vec<_> = done.filter_map(name).collect();
    names.sort();
    names
}

#[test]
fn what_an_interrupted_move_removed_is_told() {
    let bench = Bench::slow("30ms");
    bench.ok("mb s3://box");
    for n in 0..FILES {
        bench.file(&format!("in/{}/{n:04}", n % 7), &format!("this is {n}"));
    }
    for prefix in ["a", "b"] {
        bench.ok(&format!("cp --recursive in s3://box/{prefix}/ --no-progress --quiet"));
    }
    for (source, target) in
        [("s3://box/a", "s3://box/x"), ("s3://box/b", "out"), ("in", "s3://box/y")]
    {
        let before = names_below(&bench, source);
        let line = format!("mv --recursive {source} {target} --report r.jsonl --no-progress");
        let mut child = bench.spawn(&line);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first: Vec<_> = lines.by_ref().take(100).collect();
        send("-INT", &child);
        let told = first.len() + lines.count();
        let interrupted = child.wait_with_output().unwrap();
        assert_eq!(interrupted.status.code(), Some(1), "{interrupted:?}");
        let left = names_below(&bench, source);
        let removed: Vec<_> = before.into_iter().filter(|name| !left.contains(name)).collect();
        let root =
            if source == "in" { bench.path("in").display().to_string() } else { source.to_owned() };
        let done = done_in(&bench.read("r.jsonl"), &format!("{root}/"));
        assert!(done.iter().all(|name| removed.contains(name)), "{source}");
        assert!(told == done.len() && told < FILES, "{} rows", done.len());
        // On a machine that is busy an answer may come too late.
        let said = stderr(&interrupted);
        let is_told = |name: &&String| done.contains(name) || said.contains(name.as_str());
        assert_eq!(removed.iter().find(|name| !is_told(name)), None, "{source}: {said}");
    }
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

/// Of what was queued when it was killed, a file keeps the source of an object with its bytes if it
/// is older than the job, that of another key, or a link.
#[test]
fn a_resumed_move_that_overwrites_nothing_removes_only_what_it_copied() {
    let bench = bench();
    let kept = ["link", "old", "plain//key"].map(|name| format!("3/z/{name}"));
    for name in &kept {
        bench.file("one", &format!("of {}", name.replace("//", "/")));
        bench.ok(&format!("cp one s3://box/a/{name} --no-progress --quiet"));
    }
    bench.ok("cp --recursive in s3://box/a --no-progress --quiet");
    // Its time of change stays where its folder is renamed.
    bench.file("z/old", "of 3/z/old");
    let pace = PACE.replace("--quiet", "--only-show-errors");
    let command = format!("mv --recursive --no-overwrite s3://box/a x {pace}");
    let id = kill_at(&bench, 300, &command);
    std::fs::create_dir_all(bench.path("x/3")).unwrap();
    std::fs::rename(bench.path("z"), bench.path("x/3/z")).unwrap();
    bench.file("x/3/z/plain/key", "of 3/z/plain/key");
    bench.file("other", "of 3/z/link");
    std::os::unix::fs::symlink(bench.path("other"), bench.path("x/3/z/link")).unwrap();
    let resumed = bench.run(&format!("jobs resume {id} --max-requests-per-second 100000"));
    assert_eq!(resumed.status.code(), Some(0), "{resumed:?}");
    assert_eq!(names_below(&bench, "s3://box/a"), kept);
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

#[test]
fn bytes_of_a_large_object_are_shown_while_it_is_under_way() {
    let bench = Bench::recorded();
    std::fs::write(bench.path("large"), vec![1; 64 << 20]).unwrap();
    let flags = "--max-bandwidth 8MB/s --no-progress";
    let mut child = bench.spawn(&format!("cp large s3://box/large {flags}"));
    let id = wait_for(&bench, 0, &mut child);
    let begun = Instant::now();
    let bytes = loop {
        let shown = bench.ok(&format!("jobs show {id}"));
        let done = shown.lines().find_map(|line| line.strip_prefix("done:       0 objects, "));
        let bytes = done.unwrap_or_else(|| panic!("{shown}")).strip_suffix(" bytes").unwrap();
        let bytes: u64 = bytes.parse().unwrap();
        if bytes > 0 || begun.elapsed() > WAIT_MAX {
            break bytes;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let lines =
        bench.ok(&format!("jobs show {id} --json --html page")) + &bench.ok("jobs ls --json");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!((1..64 << 20).contains(&bytes), "{bytes}");
    let jobs = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let jobs: Vec<_> = jobs.filter(|line| line["event"] == "job").collect();
    assert_eq!(jobs.len(), 2, "{lines}");
    assert!(jobs.iter().all(|job| job["bytes"].as_u64().unwrap() >= bytes), "{lines}");
    let page = bench.read("page");
    let fact = r#"{"name":"Bytes","unit":"bytes","value":"#;
    assert!(page.contains(fact) && !page.contains(&format!("{fact}0}}")), "{id}");
}

/// A `mv` of the folder that the journals are in moved them away, and removed them.
#[test]
fn a_job_leaves_its_journals_where_they_are() {
    let bench = bench();
    bench.ok(&format!("mv --recursive in s3://box/x/ --journal in/kept {PACE}"));
    assert_eq!(bench.lines("list s3://box/x/ --format keys").len(), FILES);
    bench.ok(&format!("sync s3://box/x/ in --delete --journal in/kept {PACE}"));
    let kept = bench.lines("jobs ls --json --journal in/kept");
    assert!(kept.len() == 2 && kept.iter().all(|job| job.contains("\"done\"")), "{kept:?}");
    assert_eq!(bench.status("compare in s3://box/x/ --exclude kept/*"), 0);
}

#[test]
fn journals_that_cannot_be_used_are_refused_or_done_without() {
    let bench = bench();
    let id = kill_at(&bench, 200, &format!("cp --recursive in s3://box/x/ {PACE}"));
    let other = bench.run(&format!("jobs resume {id} --region nowhere-9"));
    assert!(stderr(&other).contains("--region cannot be used with `jobs resume`"), "{other:?}");
    let path = bench.journals().join(format!("{id}.db"));
    let refusal = |args: &str| {
        let output = bench.run(args);
        assert!(!output.status.success(), "{output:?}");
        stderr(&output)
    };
    let unknown = refusal("jobs resume 20200101-000000-aaaaaaaa");
    assert!(unknown.contains("there is no job"), "{unknown}");
    assert!(refusal("jobs resume ../../etc/passwd").contains("is not the folder of a job"));
    // The version is at offset 60 of a database (https://www.sqlite.org/fileformat.html).
    let closed = bench.ok(&format!("jobs show {id}"));
    assert!(closed.contains("killed"), "{closed}");
    let bytes = std::fs::read(&path).unwrap();
    let mut newer = bytes.clone();
    newer[60..64].copy_from_slice(&9_u32.to_be_bytes());
    std::fs::write(&path, newer).unwrap();
    let newer = refusal(&format!("jobs resume {id}"));
    assert!(newer.contains("a newer s3haul is needed"), "{newer}");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refusal(&format!("jobs resume {id}")).contains("damaged"));
    std::fs::write(&path, "this is no journal").unwrap();
    assert!(refusal(&format!("jobs resume {id}")).contains("damaged"));
    assert!(refusal("jobs ls").contains("damaged"));
    assert_eq!(bench.ok(&format!("jobs prune {id}")), format!("removed: {id}\n"));
    bench.file("kept/20260101-000000-aaaaaaaa.db", "this is no journal");
    for name in ["accounts.db", "accounts.lock", "accounts.log.1", "2026-x.db"] {
        bench.file(&format!("kept/{name}"), "another program's");
    }
    assert_eq!(bench.status("jobs prune accounts --journal kept"), 1);
    assert_eq!(bench.ok("jobs prune --all --journal kept").lines().count(), 1);
    let mut left = bench.names_in("kept");
    left.sort();
    assert_eq!(left, ["2026-x.db", "accounts.db", "accounts.lock", "accounts.log.1"]);
    let none = bench.run("jobs ls --journal kept");
    assert!(none.status.success() && stderr(&none).contains("there are no jobs"), "{none:?}");
    // The job goes on where no journal can be written, and says so once.
    bench.file("file", "");
    let without =
        bench.run("cp --recursive in s3://box/y/ --no-progress --quiet --journal file/jobs");
    assert_eq!(without.status.code(), Some(0), "{without:?}");
    assert_eq!(bench.status("compare in s3://box/y/"), 0);
}

#[test]
fn what_keeps_no_journal_refuses_one() {
    let bench = bench();
    bench.ok("cp in/0/0000 s3://box/a --quiet");
    let key = "0123456789abcdef0123456789abcdef";
    for command in [
        "cp --recursive in s3://box/x/ --dryrun",
        "cp - s3://box/x/a",
        "cp s3://box/a -",
        "rm --from - s3://box/",
        "rm --from s3://box/rows.csv s3://box/",
        "cp --recursive in s3://box/x/ --retry-failed report.csv",
        "cp --recursive in s3://box/x/ --no-journal",
        "restore --recursive s3://box/ --days 1 --wait",
        "cp --recursive s3://box/ s3://box/y/ --to-key {key}.b",
        "mv --recursive s3://box/ gone --to-key {name}",
        "sync s3://box/ down --to-key {name}",
        "mv --recursive s3://box/ s3://box/y/",
        "mv --from keys s3://box/ s3://box/y/",
        "mv s3://box/x*.txt s3://box/x/",
        &format!("cp --recursive in s3://box/x/ --sse-c AES256 --sse-c-key {key}"),
    ] {
        for flag in ["--resume", "--journal jobs"] {
            if command.contains("--no-journal") && flag != "--resume" {
                continue;
            }
            let refused = bench.run(&format!("{command} {flag}"));
            let text = stderr(&refused);
            assert_eq!(refused.status.code(), Some(252), "{command} {flag}: {text}");
            assert!(text.contains("no journal is kept"), "{command} {flag}: {text}");
        }
    }
    assert!(!bench.names().contains(&"jobs".to_owned()));
    // What cannot be written down is done without a journal.
    let url = bench.endpoint().replace("http://", "http://user:pass@");
    let plain = bench.run(&format!("cp in/0/0000 s3://box/b --endpoint-url {url}"));
    assert_eq!(plain.status.code(), Some(0), "{plain:?}");
    let plain = bench.endpoint();
    for flags in [url.clone(), format!("{url} --target-endpoint-url {plain}")] {
        let line = format!("cp --recursive in s3://box/b --endpoint-url {flags} --resume");
        let text = stderr(&bench.run(&line));
        assert!(text.contains("holds a user or a password"), "{text}");
        assert!(!text.contains("user:pass"), "{text}");
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

/// A file that may not grow is what a full disk is to a journal; an upload writes no other.
#[test]
fn a_job_goes_on_where_its_journal_cannot_grow() {
    let bench = bench();
    // Too little for the database, and for the log.
    for (target, blocks) in [("y", 4), ("z", 64)] {
        let line = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {} cp --recursive in s3://box/{target}/ \
             --no-progress --only-show-errors --journal kept",
            crate::support::BINARY,
        );
        let output = bench.program("sh").args(["-c", &line]).output().unwrap();
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{printed}");
        assert_eq!(printed.matches("goes on without a journal").count(), 1, "{printed}");
        assert_eq!(bench.status(&format!("compare in s3://box/{target}/")), 0);
        // Nothing is left that says that something is left to be done.
        let kept = bench.run("jobs ls --json --journal kept");
        assert_eq!(stdout(&kept), "", "{kept:?}");
    }
}

/// The system calls that decide what a disk has when its power fails.
#[cfg(target_os = "linux")]
const TRACED: &str = "trace=renameat,syncfs,pwrite64";

/// The files that a run had finished, by a trace of it: those that are on the disk when the power
/// fails, and those that are not. The journal may be as it was written last; what was renamed since
/// the file system was synced before that is lost.
#[cfg(target_os = "linux")]
fn synced_and_lost(trace: &str) -> (Vec<String>, Vec<String>) {
    let (mut renamed, mut before_sync, mut is_synced, mut synced) = (Vec::new(), 0, 0, 0);
    for line in trace.lines() {
        if line.contains("renameat(") && line.contains(".s3haul-tmp") {
            let folder = line.split(['<', '>']).nth(1).unwrap();
            renamed.push(format!("{folder}/{}", line.rsplit('"').nth(1).unwrap()));
        } else if line.contains("syncfs(") {
            // What was renamed while it ran may or may not be on the disk.
            before_sync = renamed.len();
            if !line.contains("unfinished") {
                is_synced = before_sync;
            }
        } else if line.contains("syncfs resumed") {
            is_synced = before_sync;
        } else if line.contains("pwrite64(") && line.contains(".db-wal") {
            synced = is_synced;
        }
    }
    let lost = renamed.split_off(synced);
    (renamed, lost)
}

/// By a trace: a thread that names a file syncs the file before and the folder right after.
#[cfg(target_os = "linux")]
#[test]
fn a_moved_file_and_its_name_are_on_the_disk_before_its_object_is_removed() {
    let bench = bench();
    bench.ok("cp --recursive in/0 s3://box/x/ --no-progress --quiet");
    let probe = bench.program("strace").args(["-f", "-o", "trace", "true"]).output();
    if !probe.as_ref().is_ok_and(|output| output.status.success()) {
        return println!("skipped: strace may not trace here: {probe:?}");
    }
    let mut strace = bench.program("strace");
    let traced = "trace=renameat,fsync,fdatasync";
    strace.args(["-f", "-y", "-qq", "-o", "trace", "-e", traced, "-e", "signal=none"]);
    strace.arg(env!("CARGO_BIN_EXE_s3haul"));
    strace.args(["mv", "--recursive", "s3://box/x/", "down", "--no-progress", "--no-journal"]);
    let output = strace.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut calls: HashMap<String, Vec<String>> = HashMap::new();
    for line in bench.read("trace").lines().filter(|line| !line.contains("resumed>")) {
        let (thread, call) = line.split_once(' ').unwrap();
        calls.entry(thread.to_owned()).or_default().push(call.trim().to_owned());
    }
    let mut moved = 0;
    for calls in calls.values() {
        for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.starts_with("renameat"))
        {
            let folder = call.split(['<', '>']).nth(1).unwrap();
            let is_file = |call: &str| call.starts_with("fdatasync(") && call.contains(folder);
            assert!(at > 0 && is_file(&calls[at - 1]), "{calls:?}");
            let end = format!("<{folder}>");
            let is_folder = |call: &String| call.starts_with("fsync(") && call.contains(&end);
            assert!(calls.get(at + 1).is_some_and(is_folder), "{calls:?}");
            moved += 1;
        }
    }
    assert_eq!(moved, FILES.div_ceil(7));
    assert!(bench.lines("ls s3://box/").is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_power_cut_takes_nothing_that_the_journal_has() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    // On a busy machine it takes seconds to see how far the job is.
    let pace = PACE.replace("400", "100");
    let job = format!("cp --recursive s3://box/x/ down {pace}");
    let mut strace = bench.program("strace");
    strace.args(["-f", "-y", "-qq", "-s", "200", "-o", "trace", "-e", TRACED, "-e", "signal=none"]);
    strace.arg(env!("CARGO_BIN_EXE_s3haul")).args(job.split_whitespace());
    let Ok(mut child) = strace.spawn() else { return println!("skipped: there is no strace") };
    std::thread::sleep(Duration::from_millis(200));
    if child.try_wait().unwrap().is_some() {
        return println!("skipped: strace may not trace here");
    }
    let id = wait_for(&bench, 800, &mut child);
    let process = bench.read("trace").split_whitespace().next().unwrap().to_owned();
    let kill = std::process::Command::new("kill").args(["-9", &process]).status().unwrap();
    assert!(kill.success());
    child.wait().unwrap();
    // The power fails: what was not synced is not there, and the log is of another boot.
    let (mut synced, lost) = synced_and_lost(&bench.read("trace"));
    println!("{} files are on the disk, {} are not", synced.len(), lost.len());
    assert!(synced.len() > 200 && !lost.is_empty());
    // That what the journal has is not looked at again shows that the rest was lost to it, too.
    let held = synced.remove(0);
    for file in lost.iter().chain([&held]) {
        std::fs::remove_file(file).unwrap();
    }
    let mut logs = 0;
    for entry in bench.journals().read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains(".log.") {
            let mut bytes = std::fs::read(&path).unwrap();
            // The identity of the boot comes behind its length.
            bytes[4] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            logs += 1;
        }
    }
    assert!(logs > 0, "a job that runs has a log");
    let resumed = bench.run(&format!("jobs resume {id} --max-requests-per-second 100000"));
    assert!(resumed.status.success(), "{resumed:?}");
    let missing = bench.lines("sync s3://box/x/ down --dryrun");
    let name = held.rsplit('/').next().unwrap();
    assert!(missing.len() == 1 && missing[0].ends_with(name), "{held}: {missing:?}");
}
