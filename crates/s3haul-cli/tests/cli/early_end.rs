//! What every object would fail for ends a job after a few of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::TcpListener;
use std::process::Command;

use crate::support::{Bench, stderr, stdout};

/// Objects in a row that may fail before a job ends.
const FEW: usize = 5;

fn files(bench: &Bench, count: usize) {
    for number in 0..count {
        bench.file(&format!("t/{number:04}"), "x");
    }
}

/// Rows of a report in CSV with this outcome.
fn rows(bench: &Bench, report: &str, outcome: &str) -> usize {
    let part = format!(",{outcome},");
    bench
        .read(report)
        .lines()
        .filter(|line| line.starts_with("object,") && line.contains(&part))
        .count()
}

/// Lines of standard error that begin like this.
fn said(text: &str, start: &str) -> usize {
    text.lines().filter(|line| line.starts_with(start)).count()
}

#[cfg(unix)]
fn write_process(bench: &Bench, name: &str, end: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = bench.folder().join(name);
    let counter = bench.folder().join("calls");
    let script = format!("#!/bin/sh\necho call >> '{}'\n{end}\n", counter.display());
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("[default]\ncredential_process = {}\n", path.display())
}

fn without_keys(command: &mut Command) -> &mut Command {
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY")
}

#[cfg(unix)]
#[test]
fn failing_credentials_are_looked_up_once_and_the_rest_is_retried_later() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    files(&bench, 1_200);
    bench.file(".aws/config", &write_process(&bench, "broken", "echo no >&2; exit 1"));
    let command = "cp --recursive t s3://box";
    let output = without_keys(&mut bench.command(&format!("{command} --report r.csv"))).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(bench.read("calls"), "call\n");
    let text = stderr(&output);
    let expected = "fatal error: ended early, because every object would fail in the same way: \
                    1199 objects were not tried";
    assert_eq!(
        [said(&text, "upload failed: "), said(&text, expected), said(&text, "hint: ")],
        [1; 3],
        "{text}"
    );
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!((rows(&bench, "r.csv", "failed"), rows(&bench, "r.csv", "not_tried")), (1, 1_199));
    assert!(bench.read("r.csv").contains("end,,complete"));
    let lines = bench.lines(&format!("{command} --retry-failed r.csv"));
    assert_eq!(lines.len(), 1_200);
}

#[cfg(unix)]
#[test]
fn each_command_looks_for_credentials_once() {
    let bench = Bench::with_objects(&["a", "b", "c"]);
    files(&bench, 20);
    bench.file(".aws/config", &write_process(&bench, "broken", "exit 1"));
    bench.file("keys", "a\nb\nc\n");
    bench.file("lines", "cp t/0001 s3://box\ncp t/0002 s3://box\ncp --recursive t s3://box\n");
    for args in [
        "cp --recursive t s3://box",
        "sync t s3://box",
        "rm --recursive s3://box",
        "rm --from keys s3://box",
        "tag set --from keys s3://box --tags a=b",
        "set --from keys s3://box --storage-class STANDARD",
        "restore --from keys s3://box --days 1",
        "compare t s3://box",
        "verify t s3://box",
        "run lines",
    ] {
        bench.file("calls", "");
        let output = without_keys(&mut bench.command(args)).output().unwrap();
        assert_ne!(output.status.code(), Some(0), "{args}: {output:?}");
        assert_eq!(bench.read("calls"), "call\n", "{args}: {}", stderr(&output));
    }
    assert_eq!(bench.lines("list s3://box --format keys").len(), 3);
}

#[test]
fn a_bucket_that_is_missing_ends_the_job_after_a_few_objects() {
    let mut bench = Bench::recorded();
    files(&bench, 1_000);
    let command = "cp --recursive t s3://none";
    let output = bench.run(&format!("{command} --report r.csv"));
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(said(&text, "upload failed: "), FEW, "{text}");
    let end =
        "fatal error: ended early, because every object would fail in the same way: 995 objects";
    assert_eq!((said(&text, end), said(&text, "hint: ")), (1, 1), "{text}");
    assert_eq!(rows(&bench, "r.csv", "failed"), FEW);
    assert_eq!(rows(&bench, "r.csv", "not_tried"), 1_000 - FEW);
    // Without a report nothing more is planned, either.
    let text = stderr(&bench.run(command));
    assert_eq!(said(&text, "upload failed: "), FEW, "{text}");
    assert_eq!(said(&text, "fatal error: ended early"), 1, "{text}");
    bench.end();
    let sent = bench.read("ledger").lines().filter(|line| line.contains("PutObject")).count();
    assert!(sent < 500, "{sent} of 2,000 requests");
}

#[test]
fn keys_of_another_service_end_the_job_after_a_few_objects() {
    let bench = Bench::with_objects(&["a", "b"]);
    files(&bench, 300);
    let keys: Vec<_> = (0..300).map(|number| format!("{number:04}")).collect();
    bench.file("keys", &keys.join("\n"));
    for (variable, code) in [
        ("AWS_ACCESS_KEY_ID", "InvalidAccessKeyId"),
        ("AWS_SECRET_ACCESS_KEY", "SignatureDoesNotMatch"),
    ] {
        for args in [
            "cp --recursive t s3://box",
            "rm --from keys s3://box",
            "tag set --from keys s3://box --tags a=b",
        ] {
            let mut command = bench.command(&format!("{args} --report r.csv --no-journal"));
            let output = command.env(variable, "elsewhere").output().unwrap();
            let text = stderr(&output);
            assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{args}");
            assert_eq!(text.matches(code).count(), FEW, "{args}: {text}");
            assert_eq!(text.lines().count(), FEW + 2, "{args}: {text}");
            assert_eq!(rows(&bench, "r.csv", "not_tried"), 300 - FEW, "{args}");
        }
    }
    assert_eq!(bench.lines("list s3://box --format keys").len(), 2);
}

#[test]
fn an_endpoint_that_is_not_there_ends_the_job_after_a_few_objects() {
    let bench = Bench::new();
    files(&bench, 300);
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = bench.command("cp --recursive t s3://box --report r.csv");
    let output = command.env("AWS_ENDPOINT_URL", format!("http://{address}")).output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(said(&text, "upload failed: "), FEW, "{text}");
    assert_eq!((said(&text, "fatal error: "), said(&text, "hint: ")), (1, 1), "{text}");
    assert_eq!(rows(&bench, "r.csv", "not_tried"), 300 - FEW);
}

#[test]
fn one_line_of_a_run_does_not_end_the_others() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    files(&bench, 100);
    bench.file("lines", "cp --recursive t s3://none\ncp --recursive t s3://box\n");
    let output = bench.run("run lines");
    assert_ne!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(said(&stderr(&output), "upload failed: "), FEW, "{output:?}");
    assert_eq!(bench.lines("list s3://box --format keys").len(), 100);
}

#[test]
fn objects_that_are_refused_one_by_one_do_not_end_the_job() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    let long = vec!["d".repeat(200); 6].join("/");
    for number in 0..20 {
        bench.file(&format!("t/{long}/{number}"), "too long for a key");
    }
    bench.file("t/e", "fits");
    let output = bench.run("cp --recursive t s3://box");
    assert_eq!(said(&stderr(&output), "upload failed: "), 20, "{output:?}");
    assert_eq!(stdout(&output), "upload: t/e to s3://box/e\n");
}
