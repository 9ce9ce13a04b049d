//! Plans about versions and delete markers: what is on top when they are done counts.

use super::plan::plan;
use crate::support::{Bench, stderr, stdout};

/// The version that replaced it was removed for good in between.
#[test]
fn an_old_version_that_became_current_is_left_alone() {
    let bench = Bench::with_objects(&[]);
    bench.ok("versioning enable s3://box");
    for content in ["first", "second"] {
        bench.file("new", content);
        bench.ok("cp new s3://box/a --quiet");
    }
    plan(&bench, "rm --recursive --noncurrent s3://box");
    bench.ok("rm --recursive --versions s3://box --min-size 6 --quiet");
    assert_eq!(bench.ok("cat s3://box/a"), "first");
    let output = bench.run("apply p.parquet");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("the object has changed since this was planned"));
    assert_eq!(bench.ok("cat s3://box/a"), "first");
}

/// Its old marker was removed, which brought nothing back, and that was done with exit status 0.
#[test]
fn an_object_that_was_removed_again_is_not_brought_back_by_a_plan() {
    for (command, again) in [
        ("undelete s3://box/a", &["cp new s3://box/a --quiet", "rm s3://box/a"][..]),
        ("undelete s3://box/a", &["rm s3://box/a"]),
        ("undelete s3://box --recursive", &["rm s3://box/a"]),
        ("undelete s3://box --recursive", &["undelete s3://box/a", "rm s3://box/a"]),
    ] {
        let bench = Bench::with_objects(&["a", "b"]);
        bench.ok("versioning enable s3://box");
        bench.file("new", "new");
        bench.ok("rm s3://box/b --quiet");
        bench.ok("rm s3://box/a --quiet");
        bench.ok("rm s3://box/a --quiet");
        plan(&bench, command);
        for args in again {
            bench.ok(args);
        }
        let before = bench.lines("versions s3://box/a");
        let output = bench.run("apply p.parquet");
        assert_eq!(output.status.code(), Some(1), "{command} {again:?} {output:?}");
        let messages = stderr(&output);
        let changed = messages.matches("the object has changed since this was planned").count();
        assert_eq!(changed, 2, "{messages}");
        assert_eq!(bench.lines("versions s3://box/a"), before);
        let is_back = stdout(&output).contains("undelete: s3://box/b");
        assert_eq!(is_back, command.contains("--recursive"), "{output:?}");
    }
    let bench = Bench::with_objects(&["a", "b"]);
    bench.ok("versioning enable s3://box");
    for key in ["a", "a", "b"] {
        bench.ok(&format!("rm s3://box/{key} --quiet"));
    }
    plan(&bench, "undelete s3://box --recursive");
    assert_eq!(bench.ok("apply p.parquet").lines().count(), 3);
    assert_eq!(bench.ok("list s3://box --format keys"), "a\nb\n");
}

/// Rows are looked at 64 at a time: the first key of each batch was taken for one of the batch
/// before.
#[test]
fn every_key_of_a_long_plan_is_looked_at() {
    let bench = Bench::with_objects(&[]);
    bench.ok("versioning enable s3://box");
    for number in 0..130 {
        bench.file(&format!("in/k{number:03}"), "1");
    }
    bench.ok("cp in s3://box --recursive --quiet");
    bench.ok("rm s3://box --recursive --quiet");
    plan(&bench, "undelete s3://box --recursive");
    bench.ok("rm s3://box/k064 --quiet");
    let output = bench.run("apply p.parquet");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let messages = stderr(&output);
    assert_eq!(messages.matches("has changed since").count(), 1, "{messages}");
    assert!(messages.contains("s3://box/k064"), "{messages}");
    assert_eq!(bench.lines("list s3://box").len(), 129);
    assert_eq!(bench.lines("versions s3://box/k064").len(), 3);
}

#[test]
fn a_key_with_more_markers_than_are_looked_at_together_is_brought_back() {
    for is_removed_again in [false, true] {
        let bench = Bench::with_objects(&["a"]);
        bench.ok("versioning enable s3://box");
        bench.file("lines", &"rm s3://box/a\n".repeat(70));
        bench.ok("run lines");
        plan(&bench, "undelete s3://box --recursive");
        if is_removed_again {
            bench.ok("rm s3://box/a");
        }
        let output = bench.run("apply p.parquet");
        let changed = stderr(&output).matches("undelete failed: ").count();
        assert_eq!(changed, if is_removed_again { 70 } else { 0 }, "{output:?}");
        let left = bench.lines("versions s3://box/a").len();
        assert_eq!(left, if is_removed_again { 72 } else { 1 });
    }
}

/// All that is written while versioning is suspended is the version `null`.
#[test]
fn an_object_that_took_the_place_of_what_is_called_null_stays() {
    for command in [
        "undelete s3://box --recursive",
        "rm s3://box --recursive --delete-markers-only",
        "rm s3://box --recursive --versions",
    ] {
        let bench = Bench::with_objects(&["a", "b"]);
        bench.ok("versioning enable s3://box");
        bench.ok("versioning suspend s3://box");
        bench.ok("rm s3://box --recursive --quiet");
        plan(&bench, command);
        bench.file("new", "new");
        bench.file("empty", "");
        bench.ok("cp new s3://box/a --quiet");
        bench.ok("cp empty s3://box/b --quiet");
        let output = bench.run("apply p.parquet");
        assert_eq!(output.status.code(), Some(1), "{command} {output:?}");
        assert_eq!(stderr(&output).matches("has changed since").count(), 2, "{output:?}");
        assert_eq!(bench.ok("list s3://box --format keys --sort"), "a\nb\n", "{command}");
    }
    let bench = Bench::with_objects(&["a", "b"]);
    bench.ok("versioning enable s3://box");
    bench.ok("versioning suspend s3://box");
    plan(&bench, "rm s3://box --recursive --versions");
    bench.file("new", "new");
    bench.ok("cp new s3://box/a --quiet");
    let output = bench.run("apply p.parquet");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(bench.ok("list s3://box --format keys"), "a\n");
}
