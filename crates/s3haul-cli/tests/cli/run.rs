//! `run`: many commands in one process.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{Bench, stderr, stdout};

/// Lines that were not checked are not run, and those that are gone were not run.
#[test]
fn a_file_that_changes_while_it_is_run_is_a_failure() {
    let bench = Bench::with_objects(&["a", "b"]);
    let lines = format!("rm s3://box/a --report f\n{}", "head s3://box/b\n".repeat(4_000));
    bench.file("f", &lines);
    let output = bench.run("run f --jobs 1");
    assert_eq!(output.status.code(), Some(1));
    let printed = stderr(&output);
    assert!(printed.contains("has changed since its lines were checked"), "{printed}");
}

#[test]
fn what_ended_a_line_early_is_in_the_report() {
    let bench = Bench::with_objects(&[]);
    bench.file("f", "cp --recursive s3://nobox there\n");
    let output = bench.run("run f --report r.jsonl");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let rows = bench.read("r.jsonl");
    let row: Value = serde_json::from_str(rows.lines().nth(1).unwrap()).unwrap();
    assert!(row["error"].as_str().unwrap().contains("(NoSuchBucket)"), "{row}");
}

#[test]
fn lines_are_run_and_failures_are_listed() {
    let bench = Bench::with_objects(&["a", "b"]);
    bench.file(
        "f",
        "# two that work\ncp s3://box/a back  # and a comment\n\ns3haul rm 's3://box/b'\n\
         aws s3 ls s3://nobox\ncp none s3://box\nhead s3://box/a\n\
         cp f s3://nobox\n",
    );
    let output = bench.run("run f --report r.jsonl");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let messages = stderr(&output);
    assert!(
        messages.contains("line 5: exit 254: aws s3 ls s3://nobox: An error occurred"),
        "{messages}"
    );
    assert!(
        messages.contains("line 6: exit 255: cp none s3://box: The user-provided path"),
        "{messages}"
    );
    assert!(messages.ends_with("3 of 6 commands failed\n"), "{messages}");
    let out = stdout(&output);
    assert!(out.contains("download: s3://box/a to ./back\n"), "{out}");
    assert!(out.contains("delete: s3://box/b\n"), "{out}");
    let rows: Vec<Value> =
        bench.read("r.jsonl").lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let failed: Vec<_> = rows.iter().filter(|row| row["outcome"] == "failed").collect();
    assert_eq!((rows.len(), failed.len()), (8, 3));
    assert_eq!(rows[7]["outcome"], "complete");
    let upload = failed.iter().find(|row| row["line"] == 8).unwrap();
    let why = upload["error"].as_str().unwrap();
    assert!(why.starts_with("./f: ") && why.contains("(NoSuchBucket)"), "{why}");

    bench.file("none", "it is there by now");
    let output = bench.run("run f --retry-failed r.jsonl --json");
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<Value> =
        stdout(&output).lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let of_lines: Vec<_> = lines.iter().filter(|line| line["event"] == "line").collect();
    assert_eq!(of_lines.len(), 3, "{lines:?}");
    let summary = lines.last().unwrap();
    assert_eq!((&summary["event"], &summary["failed"]), (&"run_summary".into(), &2.into()));
    assert_eq!(bench.ok("cat s3://box/none"), "it is there by now");
}

#[test]
fn all_lines_are_checked_before_the_first_runs() {
    for (line, reason) in [
        ("rm s3://box/b --no-such-flag", "unexpected argument '--no-such-flag'"),
        ("tag set s3://box/b --tags =", "--tags"),
        ("cat s3://box/a", "mix on standard output"),
        ("cp - s3://box/a", "cannot be shared"),
        ("run f", "cannot run itself"),
        ("rm 's3://box/b", "not closed"),
    ] {
        let bench = Bench::with_objects(&["a", "b"]);
        // With the mark that editors of Windows put before UTF-8.
        bench.file("f", &format!("\u{feff}rm s3://box/a\n{line}\n"));
        let output = bench.run("run f");
        assert_eq!(output.status.code(), Some(252), "{line}: {output:?}");
        let messages = stderr(&output);
        assert!(messages.contains("line 2: ") && messages.contains(reason), "{line}: {messages}");
        assert_eq!(bench.lines("list s3://box --format keys").len(), 2, "nothing was begun");
        // A stream is not known beforehand.
        let output = bench.run_with_input("run -", &bench.read("f"));
        assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
        assert!(stderr(&output).contains("line 2: exit 252: "), "{line}: {output:?}");
        assert_eq!(bench.lines("list s3://box --format keys"), ["b"]);
    }
}

/// Each run named one of them.
#[test]
fn all_lines_that_cannot_run_are_named() {
    let bench = Bench::with_objects(&["a"]);
    bench.file("f", "rm s3://box/a s3://box/b\nrm s3://box/a\nnone\n");
    let output = bench.run("run f");
    assert_eq!(output.status.code(), Some(252), "{output:?}");
    let text = stderr(&output);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("s3haul: error: line 1: unexpected argument"), "{text}");
    assert!(lines[1].starts_with("line 3: unrecognized subcommand"), "{text}");
    assert_eq!(lines.len(), 2, "{text}");
    bench.file("f", &"none\n".repeat(13));
    let text = stderr(&bench.run("run f --dryrun"));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[10]), (11, "and 3 more"), "{text}");
    assert_eq!(bench.lines("list s3://box --format keys"), ["a"]);
}

#[test]
fn a_dry_run_checks_and_starts_nothing() {
    let bench = Bench::with_objects(&["a"]);
    let copy = "cp f s3://box --sse-c --sse-c-key '0123456789abcdefghijklmnopqrstuv'";
    bench.file("f", &format!("rm s3://box/a\n# no\n{copy}\n"));
    let out = bench.ok("run f --dryrun");
    assert_eq!(
        out,
        "(dryrun) rm s3://box/a\n(dryrun) cp f s3://box --sse-c --sse-c-key '******'\n"
    );
    let planned = bench.lines("run f --dryrun --json");
    assert_eq!(
        planned[0],
        r#"{"v":1,"event":"line","outcome":"dry_run","line":1,"command":"rm s3://box/a"}"#
    );
    assert_eq!(bench.lines("list s3://box --format keys"), ["a"]);
    assert_eq!(bench.status("run none"), 255);
    assert_eq!(bench.status("run f --report f"), 252);
    assert_eq!(bench.status("run f --dryrun --report r.jsonl"), 252);
    assert_eq!(bench.status("run f --jobs 0"), 252);
}

#[test]
fn nothing_more_is_started_after_an_error_where_that_is_asked() {
    let bench = Bench::with_objects(&["a", "b", "c"]);
    bench.file("f", "rm s3://box/a\nls s3://nobox\nrm s3://box/b\nrm s3://box/c\n");
    let output = bench.run("run f --jobs 1 --stop-on-error --report r.csv");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(bench.lines("list s3://box --format keys --sort"), ["b", "c"]);
    assert!(bench.read("r.csv").ends_with("end,incomplete,,,,\n"));
    bench.ok("mb s3://nobox");
    let dry = bench.run("run f --retry-failed r.csv --dryrun");
    assert_eq!(dry.status.code(), Some(2), "{dry:?}");
    let json = stdout(&bench.run("run f --retry-failed r.csv --dryrun --json"));
    assert!(json.contains("\"event\":\"warning\",\"message\":\"the report is of a"), "{json}");
    let output = bench.run("run f --retry-failed r.csv --report again.csv");
    assert!(stderr(&output).contains("warning: the report is of a run that did not"), "{output:?}");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(bench.read("again.csv").ends_with("end,incomplete,,,,\n"));
}

/// Nothing was run, with exit status 0.
#[test]
fn a_failed_line_that_is_not_there_any_more_is_an_error() {
    let bench = Bench::with_objects(&["a"]);
    let lines = "rm s3://box/a\nls s3://nobox\n";
    bench.file("f", lines);
    assert_eq!(bench.status("run f --report r.jsonl"), 1);
    for edited in ["rm s3://box/a\n# ls s3://nobox\n", "rm s3://box/a\n\nls s3://nobox\n", "\n"] {
        bench.file("f", edited);
        for flags in ["", "--dryrun"] {
            let output = bench.run(&format!("run f --retry-failed r.jsonl {flags}"));
            assert_eq!(output.status.code(), Some(252), "{edited} {output:?}");
            assert!(stderr(&output).contains("line 2 failed according to"), "{output:?}");
        }
    }
    bench.file("f", "rm s3://box/a\nls s3://other\n");
    let output = bench.run("run f --retry-failed r.jsonl");
    let message = "line 2: it is not the command that failed according to the report: `ls s3://o";
    assert!(stderr(&output).contains(message), "{output:?}");
    let output = bench.run_with_input("run - --report r.jsonl", lines);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let output = bench.run_with_input("run - --retry-failed r.jsonl", "rm s3://box/a\n");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("line 2 failed according to"), "{output:?}");
}

/// Thousands of commands are one process and keep the limits of one job.
#[test]
fn ten_thousand_commands_have_the_limits_of_one() {
    let mut bench = Bench::recorded();
    bench.run_with_input("pipe s3://box/source", "1");
    let mut lines = String::new();
    for number in 0..5_000 {
        writeln!(lines, "cp s3://box/source s3://box/copy/{number} --only-show-errors").unwrap();
    }
    bench.file("copies", &lines);
    bench.ok("run copies --jobs 200 --max-concurrent-requests 20");
    assert_eq!(bench.lines("list s3://box/copy/ --format keys").len(), 5_000);
    let removals = lines.replace("cp s3://box/source", "rm");
    let output = bench.run_with_input("run - --max-concurrent-requests 20", &removals);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert_eq!(bench.lines("list s3://box --format keys"), ["source"]);
    bench.end();
    let rows = bench.read("ledger");
    // The listings between them are commands of their own.
    let together = |row: &str| {
        let row: Value = serde_json::from_str(row).unwrap();
        let is_list = row["operation"].as_str().unwrap().starts_with("List");
        row["concurrency"].as_u64().filter(|_| !is_list)
    };
    let most = rows.lines().filter_map(together).max().unwrap();
    assert!((8..=20).contains(&most), "{most} requests at once");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_all_commands() {
    use crate::support::send;
    let bench = Bench::slow("200ms");
    bench.ok("mb s3://box");
    let lines: Vec<_> = (0..1_000).map(|number| format!("rm s3://box/{number}")).collect();
    bench.file("f", &lines.join("\n"));
    let child = bench.spawn("run f --jobs 4 --report r.jsonl");
    while !std::fs::read_to_string(bench.folder().join("r.jsonl"))
        .is_ok_and(|text| text.lines().count() > 3)
    {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    send("-INT", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).contains("cancelled: ctrl-c received"), "{output:?}");
    let report = bench.read("r.jsonl");
    assert!(report.ends_with("\"outcome\":\"incomplete\"}\n"), "{report}");
    assert!(report.lines().count() < 1_000);
}

/// Their rows lay over each other, with exit status 0.
#[test]
fn the_report_of_a_run_is_not_also_that_of_a_line() {
    let bench = Bench::with_objects(&["a"]);
    for name in ["r.jsonl", "r.csv"] {
        bench.file("f", &format!("cp s3://box/a s3://box/b --report {name}\n"));
        let output = bench.run(&format!("run f --report {name}"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains("another command is writing it"), "{output:?}");
        let rows = bench.read(name);
        let is_whole = rows.lines().last().is_some_and(|row| !row.contains("incomplete"));
        assert!(is_whole && rows.contains("complete") && rows.contains("failed"), "{rows}");
    }
}

#[test]
fn lines_keep_no_journal() {
    let bench = Bench::with_objects(&["a"]);
    bench.file("asks", "cp s3://box/a back --journal jobs\n");
    let refused = bench.run("run asks");
    assert_eq!(refused.status.code(), Some(252), "{refused:?}");
    assert!(stderr(&refused).contains("no journal is kept"), "{refused:?}");
    assert!(!bench.names().contains(&"jobs".to_owned()));
}
