//! `plan show`: what a plan comes to, and its manifest for S3 Batch Operations.

use serde_json::Value;

use crate::plan::plan;
use crate::support::{Bench, stderr, stdout};

#[test]
fn a_plan_is_summed_up() {
    let bench = Bench::with_objects(&["x/a", "x/gone"]);
    bench.file("from/a", "longer than it was");
    bench.file("from/new", "12345");
    plan(&bench, "sync from s3://box/x --delete");
    let text = bench.ok("plan show p.parquet");
    for line in [
        "delete: 1 object,",
        "upload: 2 objects, 23 bytes",
        "because of `missing`: 1",
        "because of `size`: 1",
        "requests: 2 PUT/COPY/POST/LIST, 0 GET/HEAD and 1 DELETE requests",
        "largest: 18 bytes",
        "deleted in s3://box/x/: 1 object",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let line: Value = serde_json::from_str(&bench.ok("plan show p.parquet --json")).unwrap();
    assert_eq!(line["actions"]["upload"]["bytes"], 23);
    assert_eq!(line["deleted"][0]["name"], "s3://box/x/");
    // From another folder, too.
    bench.ok("apply p.parquet --report r.jsonl");
    let mut left = bench.lines("list s3://box --format keys");
    left.sort();
    assert_eq!(left, ["x/a", "x/new"]);
    assert_eq!(bench.read("r.jsonl").matches("\"outcome\":\"done\"").count(), 3);
}

#[test]
fn a_plan_is_printed_as_a_manifest_for_s3_batch_operations() {
    let bench = Bench::with_objects(&["x/a", "x/b"]);
    bench.ok("cp s3://box/x/b s3://box/x/ü,+=c --no-progress --quiet");
    plan(&bench, "cp --recursive s3://box/x/ s3://box/backup/x/");
    let manifest = bench.ok("plan show p.parquet --format s3-batch");
    assert_eq!(manifest, "box,x/a\nbox,x/b\nbox,x/%C3%BC%2C%2B%3Dc\n");
    plan(&bench, "tag set --recursive s3://box/x/ --tags a=b");
    assert_eq!(bench.lines("plan show p.parquet --format s3-batch").len(), 3);
    // What can be done there is printed, and the rest is said.
    bench.ok("cp s3://box/x/b s3://box/y/d --no-progress --quiet");
    plan(&bench, "sync s3://box/x s3://box/y --delete");
    let left_out = bench.run("plan show p.parquet --format s3-batch");
    assert_eq!(left_out.status.code(), Some(1), "{left_out:?}");
    let said = stderr(&left_out);
    assert!(said.contains("3 left out: S3 Batch Operations copy to the same key"), "{said}");
    assert!(said.contains("1 left out: S3 Batch Operations copy, tag and restore"), "{said}");
}

/// Their manifests were printed with exit status 0: sources stayed, other tags were lost, and
/// copies got other keys.
#[test]
fn what_s3_batch_operations_would_do_wrongly_is_no_manifest() {
    let bench = Bench::with_objects(&["x/a", "x/b"]);
    bench.ok("mb s3://other");
    for (command, why) in [
        ("mv --recursive s3://box/x/ s3://other/x/", "remove no source"),
        ("tag add --recursive s3://box/x/ --tags a=b", "replace all tags"),
        ("tag remove --recursive s3://box/x/ --keys a", "replace all tags"),
    ] {
        plan(&bench, command);
        let output = bench.run("plan show p.parquet --format s3-batch");
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(255), ""), "{command}");
        assert!(stderr(&output).contains(why), "{output:?}");
    }
    plan(&bench, "mv --recursive s3://box/x/ s3://other/x/");
    assert!(bench.ok("plan show p.parquet").contains("sources: each is removed"));
    assert!(bench.ok("plan show p.parquet --json").contains("\"removes_sources\":true"));
    plan(&bench, "cp --recursive s3://box/x/ s3://other/x/");
    assert!(!bench.ok("plan show p.parquet").contains("sources:"));
    for (template, lines, why) in [
        ("new-{key}", 0, "2 left out: S3 Batch Operations copy to the same key"),
        ("js:k=>(k.endsWith('a')?'a':'b')+'/x/'+k", 1, "behind one prefix of one bucket"),
    ] {
        let command = format!("cp --recursive s3://box/x/ s3://other --to-key {template}");
        plan(&bench, &command);
        let output = bench.run("plan show p.parquet --format s3-batch");
        let code = if lines == 0 { 1 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert_eq!(stdout(&output).lines().count(), lines, "{output:?}");
        assert!(stderr(&output).contains(why), "{output:?}");
    }
}
