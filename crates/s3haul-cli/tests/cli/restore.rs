//! `restore`: archived objects.

use serde_json::Value;

use crate::support::{Bench, stderr, stdout};

fn bench(time: &str) -> Bench {
    let bench = Bench::in_memory_with(&["--restore-time", time]);
    bench.ok("mb s3://box");
    for (key, class) in
        [("x/deep", "DEEP_ARCHIVE"), ("x/frozen", "GLACIER"), ("x/warm", "STANDARD")]
    {
        let args = format!("pipe s3://box/{key} --storage-class {class}");
        assert!(bench.run_with_input(&args, key).status.success());
    }
    bench
}

fn sorted(bench: &Bench, args: &str) -> Vec<String> {
    let mut lines = bench.lines(args);
    lines.sort();
    lines
}

#[test]
fn restores_are_begun_and_their_state_is_shown() {
    let bench = bench("1000s");
    let output = bench.run("cat s3://box/x/frozen");
    assert!(stderr(&output).contains("InvalidObjectState"), "{output:?}");
    let status = "restore --recursive s3://box/x --status";
    let messages = ["s3://box/x/deep\tarchived", "s3://box/x/frozen\tarchived"];
    assert_eq!(
        sorted(&bench, status),
        [&messages[..], &["s3://box/x/warm\tnot archived"]].concat()
    );
    let begin = "restore --recursive s3://box/x --days 3 --tier bulk";
    let begun = ["restore: s3://box/x/deep", "restore: s3://box/x/frozen"];
    let dry = bench.run(&format!("{begin} --dryrun --estimate"));
    let mut lines: Vec<_> = stdout(&dry).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, begun.map(|line| format!("(dryrun) {line}")));
    assert!(stderr(&dry).starts_with("estimate: the command would send 3 PUT/COPY/POST/LIST, 2 "));
    assert_eq!(sorted(&bench, begin), begun);
    assert_eq!(sorted(&bench, begin), begun, "under way counts as done");
    let messages = bench.ok("restore s3://box/x/deep --status --json");
    let messages: Value = serde_json::from_str(messages.lines().next().unwrap()).unwrap();
    assert_eq!((&messages["event"], &messages["key"]), (&"archive".into(), &"x/deep".into()));
    assert_eq!(messages["storage_class"], "DEEP_ARCHIVE");
    assert_eq!(messages["state"], "in progress");
    assert_eq!(bench.ok("restore s3://box/x/warm --days 1"), "");
}

#[test]
fn waiting_ends_with_objects_that_can_be_read() {
    let bench = bench("500ms");
    let wait = "restore --recursive s3://box/x --days 1 --wait --report r.jsonl";
    assert_eq!(sorted(&bench, wait), ["restore: s3://box/x/deep", "restore: s3://box/x/frozen"]);
    assert_eq!(bench.ok("cat s3://box/x/deep s3://box/x/frozen"), "x/deepx/frozen");
    assert_eq!(bench.ok("restore --recursive s3://box/x --days 1"), "", "they are restored");
    let messages = bench.ok("restore s3://box/x/deep --status");
    assert!(messages.starts_with("s3://box/x/deep\trestored until 20"), "{messages}");
    assert_eq!(
        bench.read("r.jsonl").matches("\"action\":\"restore\",\"outcome\":\"done\"").count(),
        2
    );
    // What is restored can be moved to another class.
    bench.ok("set s3://box/x/deep --storage-class STANDARD");
    assert_eq!(bench.ok("restore s3://box/x/deep --status"), "s3://box/x/deep\tnot archived\n");
}

#[test]
fn names_are_gone_through_twice_to_wait() {
    let bench = bench("500ms");
    let wait = "restore s3://box --days 1 --wait --from";
    let refused = bench.run_with_input(&format!("{wait} -"), "x/deep\n");
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(stderr(&refused).contains("this one can be read only once"), "{refused:?}");
    assert_eq!(bench.ok("restore s3://box/x/deep --status"), "s3://box/x/deep\tarchived\n");
    bench.file("keys", "x/deep\nx/none\n");
    let output = bench.run(&format!("{wait} keys --report r.csv"));
    assert_eq!(stdout(&output), "restore: s3://box/x/deep\n");
    assert_eq!(stderr(&output).matches("restore failed: s3://box/x/none").count(), 1);
    assert_eq!(bench.read("r.csv").matches(",failed,").count(), 1);
}

#[test]
fn what_failed_is_tried_again_alone() {
    let bench = bench("1000s");
    let begin = "restore --recursive s3://box/x --days 1 --tier expedited";
    let output = bench.run(&format!("{begin} --report r.csv"));
    assert_eq!(stdout(&output), "restore: s3://box/x/frozen\n");
    let messages = "restore failed: s3://box/x/deep An error occurred (InvalidArgument)";
    assert!(stderr(&output).starts_with(messages) && output.status.code() == Some(1), "{output:?}");
    let again = "restore --recursive s3://box/x --days 1 --tier standard --retry-failed r.csv";
    assert_eq!(bench.ok(again), "restore: s3://box/x/deep\n");
}

#[test]
fn a_plan_restores_nothing_that_has_changed() {
    let bench = bench("500ms");
    let plan = bench.run("plan restore --recursive s3://box/x --days 1 --wait --plan p.parquet");
    assert!(plan.status.success(), "{plan:?}");
    let again = "pipe s3://box/x/deep --storage-class DEEP_ARCHIVE";
    assert!(bench.run_with_input(again, "another").status.success());
    let output = bench.run("apply p.parquet");
    assert_eq!(stdout(&output), "restore: s3://box/x/frozen\n", "{output:?}");
    assert!(stderr(&output).contains("has changed since this was planned"), "{output:?}");
    assert_eq!(bench.ok("restore s3://box/x/deep --status"), "s3://box/x/deep\tarchived\n");
}

#[cfg(unix)]
#[test]
fn waiting_can_be_ended() {
    let bench = bench("1000s");
    let mut child = bench.spawn("restore --recursive s3://box/x --days 1 --wait --report r.jsonl");
    let status = "restore s3://box/x/deep --status";
    while !bench.ok(status).ends_with("in progress\n") {
        assert!(child.try_wait().unwrap().is_none());
    }
    crate::support::send("-INT", &child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(1));
    assert!(bench.read("r.jsonl").ends_with("\"outcome\":\"incomplete\"}\n"));
}

#[test]
fn nonsense_is_refused() {
    let bench = bench("1s");
    for (args, said) in [
        ("s3://box/k", "required arguments were not provided"),
        ("s3://box/k --days 0", "0 is not in"),
        ("s3://box/k --days 1 --status", "cannot be used with"),
        ("s3://box/k --wait --status", "cannot be used with"),
        ("s3://box/k --days 1 --tier fast", "invalid value"),
        ("s3://box --days 1", "names no object"),
        ("k --days 1", "Invalid argument type"),
    ] {
        let output = bench.run(&format!("restore {args}"));
        assert_eq!(output.status.code(), Some(252), "{args}: {output:?}");
        assert!(stderr(&output).contains(said), "{args}: {output:?}");
    }
}
