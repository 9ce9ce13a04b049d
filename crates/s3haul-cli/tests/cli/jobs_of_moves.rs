//! Moves that are killed or interrupted: they remove only what they copied, and report it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::io::{BufRead as _, BufReader};

use crate::jobs::{FILES, PACE, bench, kill_at};
use crate::jobs_with_reports::done_in;
use crate::support::{Bench, send, stderr};

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

#[test]
fn what_an_interrupted_move_removed_is_reported() {
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
        let lines = first.len() + lines.count();
        let interrupted = child.wait_with_output().unwrap();
        assert_eq!(interrupted.status.code(), Some(1), "{interrupted:?}");
        let left = names_below(&bench, source);
        let removed: Vec<_> = before.into_iter().filter(|name| !left.contains(name)).collect();
        let root =
            if source == "in" { bench.path("in").display().to_string() } else { source.to_owned() };
        let done = done_in(&bench.read("r.jsonl"), &format!("{root}/"));
        assert!(done.iter().all(|name| removed.contains(name)), "{source}");
        assert!(lines == done.len() && lines < FILES, "{} rows", done.len());
        // On a machine that is busy an answer may come too late.
        let said = stderr(&interrupted);
        let is_reported = |name: &&String| done.contains(name) || said.contains(name.as_str());
        assert_eq!(removed.iter().find(|name| !is_reported(name)), None, "{source}: {said}");
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
