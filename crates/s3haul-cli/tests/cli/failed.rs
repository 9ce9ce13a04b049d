//! The end of a run in which something failed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Output};

use crate::support::{BINARY, Bench, stderr, stdout};

/// Folders that stand in the way of files to be downloaded.
const IN_THE_WAY: [&str; 12] =
    ["b00", "b01", "b02", "b03", "b04", "b05", "b06", "b07", "b08", "b09", "b10", "b11"];

/// A bucket with objects of which so many cannot be downloaded to `t`: files are in the way.
fn bench(failing: usize) -> Bench {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("up/a", "1");
    for name in &IN_THE_WAY[..failing] {
        bench.file(&format!("up/{name}/x"), "2");
        bench.file(&format!("t/{name}"), "a file where a folder must be");
    }
    bench.ok("cp --recursive up s3://box --quiet");
    bench
}

/// Lines of standard error that are not the lines of `aws`.
fn said(output: &Output) -> Vec<String> {
    let text = stderr(output);
    text.lines().filter(|line| !line.starts_with("download failed: ")).map(str::to_owned).collect()
}

/// The command line between the back quotes of the last line.
fn advised(output: &Output) -> String {
    let lines = said(output);
    let line = lines.last().unwrap();
    let (begin, end) = (line.find('`').unwrap() + 1, line.rfind('`').unwrap());
    line[begin..end].to_owned()
}

/// Runs what was advised as a shell would.
fn run_advised(bench: &Bench, command: &str) -> Output {
    let command = command.replacen("s3haul", &format!("'{BINARY}'"), 1);
    let mut shell = bench.program("bash");
    shell.args(["-c", &command]).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    shell.output().unwrap()
}

/// Takes away what was in the way.
fn clear(bench: &Bench, failing: usize) {
    IN_THE_WAY[..failing].iter().for_each(|name| bench.remove(&format!("t/{name}")));
}

#[test]
fn failures_are_summed_up_after_all_else() {
    let bench = bench(12);
    let output = bench.run("cp --recursive s3://box t");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let lines = said(&output);
    assert_eq!(lines[0], "note: 12 objects failed: 12 file or folder in the way", "{lines:?}");
    let named = lines.iter().filter(|line| line.starts_with("  s3://box/b")).count();
    assert_eq!((named, lines[11].as_str()), (10, "  and 2 more"), "{lines:?}");
    let last = "note: `s3haul cp --recursive s3://box t` does all objects again; with --report \
                FILE, what fails then can be tried again by itself";
    assert_eq!((lines.len(), lines[12].as_str()), (13, last));
    let text = stderr(&output);
    assert!(text.rfind("download failed: ") < text.find("note: "), "{text}");
}

#[test]
fn scripts_of_aws_find_what_aws_writes() {
    for (failing, words) in [
        (12, "s3 cp --recursive s3://box t"),
        (3, "cp --recursive s3://box t"),
        (12, "cp --recursive s3://box t --quiet"),
        (12, "cp --recursive s3://box t --json"),
    ] {
        let bench = bench(failing);
        let output = bench.run(words);
        assert_eq!((output.status.code(), said(&output)), (Some(1), vec![]), "{words}");
    }
    // One object has its line.
    let bench = bench(1);
    let output = bench.run("cp s3://box/b00/x t/b00/x");
    assert_eq!((output.status.code(), said(&output)), (Some(1), vec![]));
}

#[test]
fn what_is_advised_does_what_failed_and_nothing_else() {
    let all = "does all objects again";
    for (words, promise) in [
        ("cp --recursive s3://box t --report r.jsonl", "tries again what failed"),
        ("cp --recursive s3://box t --rep=r.parquet --resume", "tries again what failed"),
        ("cp --recursive s3://box t --journal j", "tries again what failed"),
        ("sync s3://box t", "leaves what is done"),
        ("mv --recursive s3://box t", "leaves what is done"),
        ("cp --recursive s3://box t --no-overwrite", "leaves what is done"),
        ("cp --recursive s3://box t", all),
    ] {
        let bench = bench(5);
        let output = bench.run(words);
        let last = said(&output).pop().unwrap_or_default();
        assert!(last.contains(promise), "{words}: {output:?}");
        clear(&bench, 5);
        let again = run_advised(&bench, &advised(&output));
        assert_eq!((again.status.code(), stderr(&again).as_str()), (Some(0), ""), "{words}");
        let done = 5 + usize::from(promise == all);
        assert_eq!(stdout(&again).lines().count(), done, "{words}: {again:?}");
    }
}

#[test]
fn a_move_that_gives_new_names_is_not_advised_to_be_run_again() {
    let bench = bench(5);
    let output = bench.run("mv --recursive s3://box t --to-key {dir}/{name}");
    let last = said(&output).pop().unwrap_or_default();
    assert!(last.contains("could move one object over another"), "{output:?}");
    assert!(!last.contains('`'), "{output:?}");
}

#[test]
fn a_retry_that_fails_says_how_to_try_what_is_left() {
    let bench = bench(6);
    let output = bench.run("cp --recursive s3://box t --report r.csv");
    bench.remove("t/b00");
    let second = run_advised(&bench, &advised(&output));
    assert_eq!(stdout(&second).lines().count(), 1, "{second:?}");
    let command = "s3haul cp --recursive s3://box t --retry-failed r.2.csv --report r.3.csv";
    assert_eq!(advised(&second), command);
    clear(&bench, 0);
    IN_THE_WAY[1..6].iter().for_each(|name| bench.remove(&format!("t/{name}")));
    let third = run_advised(&bench, command);
    assert_eq!((third.status.code(), stdout(&third).lines().count()), (Some(0), 5), "{third:?}");
}

#[test]
fn hostile_names_are_shown_and_quoted() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    let folder = std::ffi::OsStr::from_bytes(b"it's\n\x1b[2J `id` \xe2\x80\xae");
    let path = bench.folder().join(folder);
    std::fs::create_dir(&path).unwrap();
    let long = "k".repeat(210);
    for number in 0..4 {
        // Too long for a key.
        let deep = path.join(format!("{number}/{long}/{long}/{long}/{long}/{long}"));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("f"), "x").unwrap();
    }
    std::fs::write(path.join("fine"), "x").unwrap();
    let mut command = bench.command("mv --recursive");
    let output = command.arg(folder).args(["s3://box", "--report", "r 1.csv"]).output().unwrap();
    let text = stderr(&output);
    let summed = text.split_once("note: 4 objects failed: 4 key too long\n").unwrap().1;
    assert_eq!(summed.lines().count(), 5, "{summed}");
    assert!(summed.bytes().all(|byte| matches!(byte, b'\n' | b' '..=b'~')), "{summed}");
    let again = run_advised(&bench, &advised(&output));
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert!(stderr(&again).contains("note: 4 objects failed: 4 key too long\n"), "{again:?}");
    assert_eq!(stdout(&again), "");
}

#[test]
fn a_command_with_a_secret_is_not_shown() {
    let bench = bench(4);
    let secret = "0123456789abcdef0123456789abcdef";
    let url = bench.endpoint().replacen("://", "://user:password@", 1);
    for flags in [format!("--sse-c --sse-c-key {secret}"), format!("--endpoint-url {url}")] {
        for report in ["", " --report r.jsonl"] {
            let output = bench.run(&format!("cp --recursive s3://box t {flags}{report}"));
            let text = stderr(&output);
            assert!(!text.contains(secret) && !text.contains("password"), "{text}");
            let last = text.lines().last().unwrap();
            assert!(last.starts_with("note: the same command "), "{text}");
        }
    }
}

#[test]
fn the_summary_for_programs_has_causes_and_command() {
    let bench = bench(5);
    let output = bench.run("cp --recursive s3://box t --json --report r.jsonl");
    let text = stdout(&output);
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let causes = serde_json::json!([{"cause": "file or folder in the way", "count": 5}]);
    assert_eq!((&last["event"], &last["causes"]), (&"summary".into(), &causes), "{last}");
    let command = "s3haul cp --recursive s3://box t --json --retry-failed r.jsonl --report \
                   r.2.jsonl";
    assert_eq!(last["retry"], command);
}

/// It can be gone on with, and is billed until then.
#[test]
fn an_upload_that_a_failed_job_leaves_open_is_named() {
    let weather = tempfile::NamedTempFile::new().unwrap();
    let scenario = r#"{"seed": 5, "in_a_row_max": 99, "faults": [
        {"fault": "internal_error", "requests": ["CompleteMultipartUpload"], "probability": 1}]}"#;
    std::fs::write(weather.path(), scenario).unwrap();
    let bench = Bench::in_weather(weather.path().to_str().unwrap());
    bench.ok("mb s3://box");
    bench.file("large", &"x".repeat(9_000_000));
    for (flag, open) in [("--journal j", 1), ("--no-journal", 0)] {
        let mut command = bench.command("cp large s3://box/large");
        let output = command.args(flag.split(' ')).env("AWS_MAX_ATTEMPTS", "1").output().unwrap();
        let text = stderr(&output);
        let is_named = text.contains("tries again what failed; one upload stays open until then");
        assert_eq!(is_named, open == 1, "{text}");
        assert_eq!(bench.lines("uploads ls s3://box").len(), open);
        bench.ok("uploads abort s3://box");
    }
}

#[test]
fn causes_are_counted_apart() {
    let weather = tempfile::NamedTempFile::new().unwrap();
    let scenario = r#"{"seed": 5, "in_a_row_max": 99, "faults": [
        {"fault": "respond", "status": 403, "code": "AccessDenied", "requests": ["GetObject"],
         "probability": 0.3},
        {"fault": "not_found", "requests": ["GetObject"], "probability": 0.3},
        {"fault": "slow_down", "requests": ["GetObject"], "probability": 0.3}]}"#;
    std::fs::write(weather.path(), scenario).unwrap();
    let bench = Bench::in_weather(weather.path().to_str().unwrap());
    bench.ok("mb s3://box");
    (0..60).for_each(|number| bench.file(&format!("up/{number}"), "x"));
    bench.ok("cp --recursive up s3://box --quiet");
    let mut command = bench.command("cp --recursive s3://box t");
    let output = command.env("AWS_MAX_ATTEMPTS", "1").output().unwrap();
    let text = stderr(&output);
    let count = |code: &str| {
        text.lines()
            .filter(|line| line.starts_with("download failed: ") && line.contains(code))
            .count()
    };
    let mut causes = [
        (count("(AccessDenied)"), "access denied (403)"),
        (count("(NoSuchKey)"), "no such key"),
        (count("(SlowDown)"), "asked to slow down"),
    ];
    assert!(causes.iter().all(|(count, _)| *count > 0), "{text}");
    causes.sort_by_key(|(count, cause)| (std::cmp::Reverse(*count), *cause));
    let failed: usize = causes.iter().map(|(count, _)| count).sum();
    let causes = causes.map(|(count, cause)| format!("{count} {cause}")).join(", ");
    let expected = format!("note: {failed} objects failed: {causes}");
    assert!(text.lines().any(|line| line == expected), "no `{expected}` in {text}");
}

#[test]
fn a_terminal_shows_every_failure_again() {
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let bench = bench(1);
    let words = format!("'{BINARY}' s3 cp --recursive s3://box t --only-show-errors");
    let mut command = bench.program("script");
    command.args(["-qec", &words, "/dev/null"]);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let text = stdout(&command.output().unwrap());
    assert!(text.contains("note: 1 object failed: 1 file or folder in the way\r\n"), "{text:?}");
}
