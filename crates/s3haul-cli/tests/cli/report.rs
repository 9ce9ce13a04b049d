//! `--report` and `--retry-failed`: what became of every object, and what failed done again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Bench, stderr, stdout};

/// The rows of a report in JSON lines.
fn rows(bench: &Bench, name: &str) -> Vec<Value> {
    bench.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Of the rows of one kind these fields, in order of the text.
fn values_of(rows: &[Value], event: &str, fields: &[&str]) -> Vec<String> {
    let of_kind = rows.iter().filter(|row| row["event"] == event);
    let text = |row: &Value| {
        let cells = fields.iter().map(|field| row[*field].as_str().unwrap_or("-").to_owned());
        cells.collect::<Vec<_>>().join(" ")
    };
    let mut lines: Vec<_> = of_kind.map(text).collect();
    lines.sort();
    lines
}

/// Its first row was read twice, and what came behind it was lost.
#[test]
fn a_report_that_can_be_read_only_once_is_refused() {
    let bench = Bench::with_objects(&["a"]);
    std::fs::create_dir_all(bench.path("o/a")).unwrap();
    assert_eq!(bench.run("cp --recursive s3://box o --report r.jsonl").status.code(), Some(1));
    std::fs::remove_dir(bench.path("o/a")).unwrap();
    let again = "cp --recursive s3://box o --retry-failed /dev/stdin";
    let output = bench.run_with_input(again, &bench.read("r.jsonl"));
    assert_eq!(output.status.code(), Some(252), "{output:?}");
    assert!(stderr(&output).contains("can be read only once"), "{output:?}");
    bench.ok("cp --recursive s3://box o --retry-failed r.jsonl");
    assert_eq!(bench.read("o/a"), "a");
}

/// Other programs write tables of such names.
#[test]
fn tables_of_others_are_no_parts_of_a_report() {
    let bench = Bench::with_objects(&["a"]);
    bench.file("data.parquet/part-0.parquet", "precious");
    let output = bench.run("cp --recursive s3://box o --report data.parquet");
    assert!(stderr(&output).contains("which is no part"), "{output:?}");
    assert_eq!(bench.read("data.parquet/part-0.parquet"), "precious");
    bench.file("file.parquet", "precious");
    let output = bench.run("cp --recursive s3://box o --report file.parquet");
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    assert!(stderr(&output).contains("a report in Parquet is a folder of parts"), "{output:?}");
    assert_eq!(bench.read("file.parquet"), "precious");
}

#[test]
fn what_has_the_name_of_another_is_refused_again() {
    for report in ["r.csv", "r.jsonl"] {
        let bench = Bench::with_objects(&["a", "b"]);
        bench.ok("mb s3://other");
        let command = "mv --recursive s3://box s3://other --to-key same";
        assert_eq!(bench.status(&format!("{command} --report {report}")), 1);
        let again = format!("{command} --retry-failed {report} --report 2.jsonl");
        let last = format!("{command} --retry-failed 2.jsonl");
        for retry in [again, last] {
            let output = bench.run(&retry);
            assert!(stderr(&output).contains("also that of another object"), "{output:?}");
            assert_eq!((stdout(&output), output.status.code()), (String::new(), Some(1)));
        }
        let left = bench.ok("list s3://box --format keys");
        let kept = bench.ok("cat s3://other/same");
        assert_ne!(left.trim(), kept, "{report}");
    }
}

#[test]
fn a_removal_is_tried_again_only_of_what_this_run_takes() {
    let bench = Bench::with_objects(&["a", "b", "c"]);
    let row = |key: &str| {
        format!(
            "{{\"v\":1,\"event\":\"object\",\"action\":\"delete\",\"outcome\":\"failed\",\
             \"source\":\"s3://box/{key}\"}}\n"
        )
    };
    let first = "{\"v\":1,\"event\":\"report\",\"action\":\"rm\",\"source\":\"s3://box\"}\n";
    let end = "{\"v\":1,\"event\":\"end\",\"outcome\":\"complete\"}\n";
    bench.file("r.jsonl", &format!("{first}{}{}{}{end}", row("a"), row("b"), row("gone")));
    let retry = "rm --recursive s3://box --retry-failed r.jsonl";
    // They were replaced since, and are not old any more.
    let output = bench.run(&format!("{retry} --older-than 1h"));
    assert_eq!((stdout(&output), output.status.code()), (String::new(), Some(2)), "{output:?}");
    let output = bench.run(&format!("{retry} --exclude a"));
    let lines = "delete: s3://box/b\ndelete: s3://box/gone\n";
    let mut printed: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    printed.sort();
    assert_eq!((printed.join("\n") + "\n", output.status.code()), (lines.to_owned(), Some(2)));
    assert_eq!(bench.lines("list s3://box --format keys").len(), 2);
}

#[test]
fn a_report_has_every_object_with_its_outcome() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("t/a", "1");
    bench.file("t/b", "2");
    bench.ok("cp --recursive t s3://box --report r.jsonl");
    let first = rows(&bench, "r.jsonl");
    assert_eq!(first[0]["event"], "report");
    assert_eq!(first[0]["action"], "cp");
    assert!(first[0]["source"].as_str().unwrap().ends_with("/t"));
    assert_eq!(first[0]["target"], "s3://box");
    let fields = ["action", "outcome", "reason", "target"];
    let expected = ["upload done - s3://box/a", "upload done - s3://box/b"];
    assert_eq!(values_of(&first, "object", &fields), expected);
    assert_eq!(first.last().unwrap()["outcome"], "complete");

    bench.file("t/a", "longer");
    bench.file("t/c", "3");
    bench.ok("rm s3://box/b");
    bench.ok("sync t s3://box --report r2.jsonl");
    let expected = [
        "upload done missing s3://box/b",
        "upload done missing s3://box/c",
        "upload done size s3://box/a",
    ];
    assert_eq!(values_of(&rows(&bench, "r2.jsonl"), "object", &fields), expected);
    bench.ok("rm --recursive s3://box --exclude * --include c --report r3.csv");
    let text = bench.read("r3.csv");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "event,action,outcome,reason,bytes,attempts,source,target,error,path_base64,version_id",
            "report,rm,,,,,s3://box,,,,",
            "object,delete,done,,1,,s3://box/c,,,,",
            "end,,complete,,,,,,,,",
        ]
    );
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let bench = Bench::with_objects(&["k"]);
    for (report, code) in [("no/such/r.jsonl", 255), ("/dev/full", 255)] {
        let output = bench.run(&format!("cp s3://box/k back --report {report}"));
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(stderr(&output).contains("could not write the report"), "{output:?}");
    }
    assert!(!bench.names().contains(&"back".to_owned()), "nothing was begun");
    let output = bench.run("sync s3://box . --delete --report r.jsonl");
    assert_eq!(output.status.code(), Some(252), "{output:?}");
    assert!(stderr(&output).contains("among the files of the command"), "{output:?}");
}

/// Sorted lines of standard output, and the exit code.
fn run(bench: &Bench, args: &str) -> (Vec<String>, i32) {
    let output = bench.run(args);
    let mut lines: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    lines.sort();
    (lines, output.status.code().unwrap())
}

#[test]
fn what_failed_is_downloaded_again_and_nothing_else() {
    for report in ["r.jsonl", "r.csv"] {
        let bench = Bench::with_objects(&["a", "wall/x", "wall/y", "z"]);
        bench.file("t/wall", "a file where a folder must be");
        let command = "cp --recursive s3://box t";
        let (lines, code) = run(&bench, &format!("{command} --report {report}"));
        let done = ["download: s3://box/a to t/a", "download: s3://box/z to t/z"];
        assert_eq!((lines, code), (done.map(str::to_owned).to_vec(), 1));
        bench.remove("t/wall");
        bench.ok("rm s3://box/wall/y");
        let again = format!("{command} --retry-failed {report} --report r2.jsonl");
        let output = bench.run(&again);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(stdout(&output), "download: s3://box/wall/x to t/wall/x\n");
        let gone = "warning: Skipping file s3://box/wall/y. It is no longer there.\n";
        assert_eq!(stderr(&output), gone);
        let fields = ["outcome", "source"];
        assert_eq!(
            values_of(&rows(&bench, "r2.jsonl"), "object", &fields),
            ["done s3://box/wall/x"]
        );
        assert_eq!(bench.ok(&format!("{command} --retry-failed r2.jsonl")), "");
        let output = bench.run(&format!("cp --recursive s3://box u --retry-failed {report}"));
        assert_eq!(output.status.code(), Some(252));
        assert!(stderr(&output).contains("this command is `cp s3://box /"), "{output:?}");
    }
}

#[test]
fn what_failed_is_uploaded_copied_and_removed_again() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    let long = vec!["d".repeat(200); 6].join("/");
    bench.file(&format!("t/{long}"), "too long for a key");
    bench.file("t/a", "1");
    let (lines, code) = run(&bench, "mv --recursive t s3://box --report r.csv");
    assert_eq!((lines, code), (vec!["move: t/a to s3://box/a".to_owned()], 1));
    bench.file("t/b", "new, and not in the report");
    let output = bench.run("mv --recursive t s3://box --retry-failed r.csv --report r2.csv");
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("", Some(1)));
    assert!(stderr(&output).contains("KeyTooLong"), "{output:?}");
    assert_eq!(bench.read("r2.csv").matches("object,upload,failed,").count(), 1);

    let none = "cp --recursive s3://box s3://none --report c.jsonl";
    assert_eq!(run(&bench, none), (vec![], 1));
    bench.ok("mb s3://none");
    bench.file("b", "2");
    bench.ok("cp b s3://box");
    let again = none.replace("--report", "--retry-failed");
    assert_eq!(bench.ok(&again), "copy: s3://box/a to s3://none/a\n");
}

#[test]
fn a_sync_is_tried_again_with_its_removals() {
    let bench = Bench::with_objects(&["a", "b", "c"]);
    bench.file("t/a", "old");
    bench.file("t/gone/x", "1");
    bench.file("t/gone/y", "2");
    bench.file("t/gone/z", "3");
    let folder = bench.folder().display().to_string();
    let row = |action: &str, outcome: &str, source: &str, target: &str| {
        let source = source.replace("t/", &format!("{folder}/t/"));
        let target = target.replace("t/", &format!("{folder}/t/"));
        format!("object,{action},{outcome},{source},{target}\n")
    };
    let text = [
        "event,action,outcome,source,target\r\n".to_owned(),
        format!("report,sync,,s3://box,{folder}/t\n"),
        row("download", "failed", "s3://box/a", "t/a"),
        row("download", "done", "s3://box/b", "t/b"),
        row("delete", "failed", "t/gone/x", ""),
        row("delete", "failed", "t/gone/y", ""),
        row("delete", "done", "t/gone/z", ""),
    ];
    bench.file("r.csv", &text.concat());
    bench.run_with_input("pipe s3://box/gone/y", "it is back");
    let output = bench.run("sync s3://box t --delete --retry-failed r.csv");
    assert_eq!(stdout(&output), "download: s3://box/a to t/a\ndelete: t/gone/x\n");
    let messages = stderr(&output);
    assert!(
        messages.contains("gone/y. It is not removed")
            && messages.contains("warning: the report is of"),
        "{messages}"
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!((bench.read("t/gone/y"), bench.read("t/gone/z")), ("2".into(), "3".into()));
}

#[test]
fn names_that_the_command_would_not_have_are_refused() {
    let bench = Bench::with_objects(&["a", "other/b"]);
    for (source, target) in [("s3://box/other/b", "/t/b"), ("s3://box/a", "/elsewhere")] {
        let folder = bench.folder().display().to_string();
        let text = format!(
            "event,action,outcome,source,target\nreport,cp,,s3://box/a,{folder}/t\n\
             object,download,failed,{source},{folder}{target}\n"
        );
        bench.file("r.csv", &text);
        let output = bench.run("cp --recursive s3://box/a t --retry-failed r.csv");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains("is not what this command would do"), "{output:?}");
    }
}

#[cfg(unix)]
/// Files that a batch wrote after Ctrl-C were in no report.
#[test]
fn each_file_that_an_interrupted_command_wrote_is_reported() {
    let bench = Bench::in_memory_with(&[]);
    bench.ok("mb s3://box");
    for number in 0..3_000 {
        bench.file(&format!("t/{number}"), "x");
    }
    bench.ok("cp --recursive t s3://box --quiet");
    for (attempt, least) in [1, 200, 700].into_iter().enumerate() {
        let target = format!("to{attempt}");
        let command = format!("cp --recursive s3://box {target} --report {target}.jsonl --quiet");
        let child = bench.spawn(&command);
        let files = || std::fs::read_dir(bench.path(&target)).map_or(0, Iterator::count);
        let deadline = Instant::now() + Duration::from_secs(30);
        while files() < least {
            assert!(Instant::now() < deadline, "no file is written");
            std::thread::yield_now();
        }
        crate::support::send("-INT", &child);
        child.wait_with_output().unwrap();
        let found = rows(&bench, &format!("{target}.jsonl"));
        let outcomes = values_of(&found, "object", &["outcome"]);
        assert_eq!(outcomes.iter().filter(|it| *it == "done").count(), files(), "{target}");
    }
}

#[cfg(unix)]
/// Removals that were under way at Ctrl-C were in no report.
#[test]
fn each_object_that_an_interrupted_command_removed_is_reported() {
    let weather = tempfile::NamedTempFile::new().unwrap();
    let late = r#"{"fault": "slow_first_byte", "requests": ["DeleteObjects"], "probability": 1}"#;
    std::fs::write(weather.path(), format!(r#"{{"faults": [{late}]}}"#)).unwrap();
    let bench = Bench::in_weather(weather.path().to_str().unwrap());
    bench.ok("mb s3://box");
    for number in 0..50 {
        bench.file(&format!("t/{number:02}"), "x");
    }
    let commands = ["rm --recursive s3://box/0", "sync --delete empty s3://box/1"];
    for (number, command) in commands.into_iter().enumerate() {
        bench.ok(&format!("cp --recursive t s3://box/{number} --quiet"));
        bench.file("empty/49", "x");
        let child = bench.spawn(&format!("{command} --report {number}.jsonl --quiet"));
        // The objects are removed, and the answer is late.
        let deadline = Instant::now() + Duration::from_secs(30);
        let list = format!("list s3://box/{number}/ --format keys");
        let count = || stdout(&bench.run(&list)).lines().count();
        while count() == 50 {
            assert!(Instant::now() < deadline, "nothing is removed");
        }
        crate::support::send("-INT", &child);
        let output = child.wait_with_output().unwrap();
        let removed = 50 - count();
        let found = rows(&bench, &format!("{number}.jsonl"));
        let outcomes = values_of(&found, "object", &["action", "outcome"]);
        let reported = outcomes.iter().filter(|it| it.starts_with("delete")).count();
        assert_eq!(reported, removed, "{outcomes:?} {output:?}");
    }
}

#[cfg(unix)]
#[test]
fn the_report_of_an_interrupted_command_says_so() {
    let bench = Bench::slow("300ms");
    bench.ok("mb s3://box");
    for number in 0..1_000 {
        bench.file(&format!("t/{number}"), "x");
    }
    let child = bench.spawn("cp --recursive t s3://box --report r.jsonl");
    let report = bench.folder().join("r.jsonl");
    let deadline = Instant::now() + Duration::from_secs(30);
    while std::fs::read_to_string(&report).map_or(0, |text| text.lines().count()) < 2 {
        assert!(Instant::now() < deadline, "no row is written while the command runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    crate::support::send("-INT", &child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(1));
    let found = rows(&bench, "r.jsonl");
    assert_eq!(found.last().unwrap()["outcome"], "incomplete");
    let done = values_of(&found, "object", &["outcome"]);
    assert!(done.len() < 1_000 && done.iter().all(|outcome| outcome == "done"), "{done:?}");
    let again = "cp --recursive t s3://box --retry-failed r.jsonl --report r2.jsonl";
    let output = bench.run(again);
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("", Some(2)));
    assert!(stderr(&output).starts_with("warning: the report is of a command that did not come"));
    let json = stdout(&bench.run(&format!("{again} --json")));
    assert!(json.contains("\"event\":\"warning\",\"message\":\"the report is of a"), "{json}");
    assert!(json.contains("\"warnings\":1,"), "{json}");
    assert_eq!(rows(&bench, "r2.jsonl").last().unwrap()["outcome"], "incomplete");
}
