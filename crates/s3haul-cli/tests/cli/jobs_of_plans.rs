//! Plans that are killed while they are done: the rest is done, and what others changed stays.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use serde_json::Value;

use crate::jobs::{FILES, PACE, bench, jobs, kill_at};
use crate::jobs_with_reports::done_in;
use crate::support::{Bench, stderr, stdout};
use crate::versions::{Beside, a_second_between};

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

/// What was in work was found to be done, and stood neither in the counts nor in a report. Of a
/// plan of versions, what was done of the last rows that were looked at stood there twice.
#[test]
fn what_a_killed_apply_did_is_counted_and_reported() {
    for command in ["cp", "mv"] {
        let bench = bench();
        let names = (0..7).flat_map(|d| (d..FILES).step_by(7).map(move |n| format!("{d}/{n:04}")));
        let pace = PACE.replace("--quiet", "--only-show-errors");
        let plan = format!("plan {command} --recursive in s3://box/x/ --plan p.parquet {pace}");
        assert_eq!(bench.status(&plan), 0);
        let source = format!("{}/", bench.path("in").display());
        is_all_counted_once(&bench, command, (&source, &names.collect::<Vec<_>>()), 700);
    }
    let bench = Bench::recorded();
    Beside::versioned(&bench);
    // One batch of rows.
    let names: Vec<_> = (0..60).map(|n| format!("{n:02}")).collect();
    for name in &names {
        bench.file(&format!("in/{name}"), name);
    }
    bench.ok("cp --recursive in s3://box/in/ --no-progress --quiet");
    let at = a_second_between();
    let pace = "--max-requests-per-second 10 --no-progress --only-show-errors";
    let plan = format!("plan cp --recursive s3://box/in/ s3://box/x/ --as-of {at} {pace}");
    assert_eq!(bench.status(&format!("{plan} --plan p.parquet")), 0);
    is_all_counted_once(&bench, "cp", ("s3://box/in/", &names), 10);
}

/// Kills the apply of a plan and resumes it, after some of what was in work has arrived.
fn is_all_counted_once(
    bench: &Bench,
    command: &str,
    (source, names): (&str, &[String]),
    killed_at: u64,
) {
    let id = kill_at(bench, killed_at, "apply p.parquet --report r.jsonl");
    let noted = jobs(bench)[0]["objects"].as_u64().unwrap();
    let there = bench.lines("list s3://box/x/ --format keys");
    let left = names.iter().filter(|name| !there.contains(&format!("x/{name}")));
    // The first in order are in work: as though they had arrived, and no answer had.
    for name in left.take(20) {
        bench.ok(&format!("{command} in/{name} s3://box/x/{name} --no-progress --quiet"));
    }
    let resumed = bench.run(&format!("jobs resume {id} --max-requests-per-second 100000 --json"));
    assert_eq!(resumed.status.code(), Some(0), "{source}: {resumed:?}");
    let last = stdout(&resumed).lines().last().unwrap().to_owned();
    let summary: Value = serde_json::from_str(&last).unwrap();
    let all = names.len() as u64;
    assert_eq!(summary["done"].as_u64().unwrap() + noted, all, "{command} {source}: {summary}");
    assert_eq!(jobs(bench)[0]["objects"], all, "{command} {source}");
    let reports = ["r.jsonl", "r.2.jsonl"].map(|name| done_in(&bench.read(name), source));
    let mut reported = reports.concat();
    reported.sort();
    reported.dedup();
    assert_eq!(reported.len(), names.len(), "{command} {source}");
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
