//! `set`: properties of many objects.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};

use serde_json::Value;

use crate::support::{Bench, stderr, stdout};

/// A server that writes down its requests, with the bucket `box` and objects that carry something.
fn bench(keys: &[&str]) -> Bench {
    let bench = Bench::in_memory_with(&["--ledger", "ledger"]);
    bench.ok("mb s3://box");
    for key in keys {
        let args = format!(
            "pipe s3://box/{key} --metadata a=1,b=2 --cache-control no-store --acl public-read \
             --storage-class STANDARD_IA"
        );
        assert!(bench.run_with_input(&args, key).status.success());
        bench.ok(&format!("tag set s3://box/{key} --tags t=1"));
    }
    bench
}

fn head(bench: &Bench, key: &str) -> Value {
    serde_json::from_str(&bench.ok(&format!("head s3://box/{key} --json"))).unwrap()
}

/// Requests of a kind in the ledger. It may lag behind, so that only what must be there, and what
/// was there before later requests, is looked at.
fn count(bench: &Bench, operation: &str) -> usize {
    let word = format!("\"{operation}\"");
    bench.read("ledger").lines().filter(|line| line.contains(&word)).count()
}

fn sorted(bench: &Bench, args: &str) -> Vec<String> {
    let mut lines = bench.lines(args);
    lines.sort();
    lines
}

#[test]
fn what_is_not_named_is_kept_and_what_is_so_is_left_alone() {
    let bench = bench(&["x/a", "x/b", "y"]);
    let all = "set --recursive s3://box/x --content-type image/png --add-metadata B=3,c=4";
    assert_eq!(sorted(&bench, all), ["set: s3://box/x/a", "set: s3://box/x/b"]);
    let found = head(&bench, "x/a");
    assert_eq!(found["content_type"], "image/png");
    assert_eq!(found["cache_control"], "no-store");
    assert_eq!(found["storage_class"], "STANDARD_IA");
    assert_eq!(found["metadata"], serde_json::json!({"a": "1", "b": "3", "c": "4"}));
    assert_eq!(bench.ok("tag get s3://box/x/a"), "s3://box/x/a\tt=1\n");
    assert_eq!(bench.ok("cat s3://box/x/a"), "x/a");
    assert_ne!(head(&bench, "y")["content_type"], "image/png");
    let copies = count(&bench, "CopyObject");
    assert_eq!(bench.ok(all), "");
    let class = "set --recursive s3://box --storage-class STANDARD_IA";
    let summary = bench.ok(&format!("{class} --json"));
    let summary: Value = serde_json::from_str(summary.lines().last().unwrap()).unwrap();
    assert_eq!((&summary["skipped"], &summary["requests"]["get_head"]), (&3.into(), &0.into()));
    assert_eq!(count(&bench, "CopyObject"), copies);
    let fewer = "set s3://box/y --remove-metadata A --cache-control=";
    assert_eq!(bench.ok(fewer), "set: s3://box/y\n");
    let found = head(&bench, "y");
    assert_eq!(found["metadata"], serde_json::json!({"b": "2"}));
    assert_eq!(found["cache_control"], Value::Null);
}

#[test]
fn nonsense_is_refused_before_the_first_request() {
    let bench = bench(&["k"]);
    let before = bench.read("ledger").lines().count();
    for (args, said) in [
        ("", "required arguments were not provided"),
        ("--content-type=", "needs a type"),
        ("--metadata a=1 --add-metadata b=1", "cannot be used with"),
        ("--add-metadata a=1 --remove-metadata A", "named twice"),
        ("--retention governance", "required arguments were not provided"),
        ("--retain-days 3", "required arguments were not provided"),
        ("--retention governance --retain-days 0", "0 is not in"),
        ("--retention governance --retain-until 2020-01-01", "is in the past"),
        ("--retention governance --retain-days 1 --retain-until 2099-01-01", "cannot be used"),
        ("--bypass-governance --acl private", "required arguments were not provided"),
        ("--legal-hold maybe", "invalid value"),
        ("--sse-kms-key-id k", "required arguments were not provided"),
        ("--sse --sse-kms-key-id k", "needs --sse aws:kms"),
        ("--acl private --keep-acl", "cannot be used with"),
        ("--legal-hold on --keep-acl", "resets the ACL"),
        ("--storage-class COLD", "invalid value"),
        ("--expires tomorrow", "Invalid timestamp"),
    ] {
        let output = bench.run(&format!("set s3://box/k {args}"));
        assert_eq!(output.status.code(), Some(252), "{args}: {output:?}");
        assert!(stderr(&output).contains(said), "{args}: {output:?}");
    }
    for path in ["k", "s3://box", "s3://"] {
        let output = bench.run(&format!("set {path} --acl private"));
        assert_eq!(output.status.code(), Some(252), "{output:?}");
    }
    assert_eq!(bench.read("ledger").lines().count(), before);
}

#[test]
fn failures_come_with_a_hint_and_are_retried_alone() {
    let bench = bench(&["x/warm"]);
    bench.run_with_input("pipe s3://box/x/frozen --storage-class GLACIER", "frozen");
    let all = "set --recursive s3://box/x --content-type text/x";
    let output = bench.run(&format!("{all} --report r.jsonl"));
    assert_eq!(
        (stdout(&output).as_str(), output.status.code()),
        ("set: s3://box/x/warm\n", Some(1))
    );
    let messages =
        "set failed: s3://box/x/frozen the object is archived (GLACIER): restore it first";
    assert!(stderr(&output).starts_with(messages), "{output:?}");
    bench.ok("restore s3://box/x/frozen --days 1 --wait --quiet");
    bench.run_with_input("pipe s3://box/x/new", "not in the report");
    let again = bench.ok(&format!("{all} --retry-failed r.jsonl"));
    assert_eq!(again, "set: s3://box/x/frozen\n");
    assert_eq!(head(&bench, "x/frozen")["storage_class"], "GLACIER");
    let missing = bench.run("set s3://box/none --content-type x");
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).contains("set failed: s3://box/none An error occurred (404)"));
}

#[test]
fn objects_are_locked_where_the_bucket_can() {
    let bench = bench(&["k"]);
    bench.ok("mb s3://locked --object-lock");
    bench.run_with_input("pipe s3://locked/k", "k");
    let lock = "--retention governance --retain-until 2099-01-01T00:00:00Z";
    assert_eq!(bench.ok(&format!("set s3://locked/k {lock}")), "set: s3://locked/k\n");
    assert_eq!(bench.ok(&format!("set s3://locked/k {lock}")), "");
    let shorter =
        bench.run(&lock.replace("2099", "2098").replacen("--", "set s3://locked/k --", 1));
    assert!(stderr(&shorter).contains("object lock"), "{shorter:?}");
    assert_eq!(bench.ok("set s3://locked/k --legal-hold on"), "set: s3://locked/k\n");
    // A copy is a new version, which gets the locks of the old one.
    assert_eq!(bench.ok("set s3://locked/k --content-type text/x"), "set: s3://locked/k\n");
    assert_eq!(bench.ok(&format!("set s3://locked/k {lock} --legal-hold on")), "");
    let messages = head(&bench, "k");
    assert_eq!((&messages["retention"], &messages["legal_hold"]), (&Value::Null, &Value::Null));
    let messages = bench.ok("head s3://locked/k");
    assert!(
        messages.contains("GOVERNANCE until 2099-01-01T00:00:00Z\nLegal-Hold:          ON\n"),
        "{messages}"
    );
    assert_eq!(bench.ok("set s3://locked/k --legal-hold off"), "set: s3://locked/k\n");
    assert_eq!(bench.ok("set s3://locked/k --legal-hold off"), "");
    for change in [lock, "--legal-hold on", "--legal-hold off"] {
        let output = bench.run(&format!("set s3://box/k {change}"));
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("missing Object Lock Configuration"), "{output:?}");
    }
}

/// Killed at whatever point, a run leaves each object as it was or as it shall be, and the next
/// one goes on.
#[cfg(unix)]
#[test]
fn a_killed_run_is_gone_on_with() {
    const OBJECTS: usize = 200;
    let bench = Bench::in_memory_with(&["--latency", "20ms"]);
    bench.ok("mb s3://box");
    for n in 0..OBJECTS {
        bench.file(&format!("t/{n:03}"), "x");
    }
    bench.ok("cp --recursive t s3://box/t --quiet --metadata a=1 --storage-class STANDARD_IA");
    bench.ok("tag set --recursive s3://box/t --tags t=1 --quiet");
    let all = "set --recursive s3://box/t --content-type image/png --keep-acl";
    let mut done = 0;
    // Four at a time take about three seconds.
    bench.file(".aws/config", "[default]\ns3 =\n    max_concurrent_requests = 4\n");
    for lines in [1, 20, 40] {
        let mut child = bench.spawn(all);
        let output = BufReader::new(child.stdout.take().unwrap());
        done += output.lines().take(lines).map(Result::unwrap).count();
        crate::support::send("-KILL", &child);
        child.wait().unwrap();
    }
    assert_eq!(done, 61, "each run was killed on its way");
    // A run that was slow to be killed has a journal, which is noted.
    let rest = bench.run(all);
    assert!(rest.status.success(), "{rest:?}");
    let rest = stdout(&rest).lines().count();
    assert!(rest <= OBJECTS - done, "what was done is not done again");
    assert_eq!(bench.ok(all), "");
    for n in [0, 40, 99, OBJECTS - 1] {
        let found = head(&bench, &format!("t/{n:03}"));
        assert_eq!(found["content_type"], "image/png");
        assert_eq!(
            (&found["metadata"]["a"], &found["storage_class"]),
            (&"1".into(), &"STANDARD_IA".into())
        );
    }
    let tags = bench.ok("tag get --recursive s3://box/t");
    assert_eq!(tags.lines().filter(|line| line.ends_with("\tt=1")).count(), OBJECTS);
}
