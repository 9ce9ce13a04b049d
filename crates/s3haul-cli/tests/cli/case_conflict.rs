//! `--case-conflict` as the AWS tools have it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::{Bench, stderr, stdout};

/// A server on which downloads take long enough to meet.
fn bench() -> Bench {
    let bench = Bench::slow("300ms");
    bench.ok("mb s3://box");
    for key in ["A.txt", "a.txt", "b"] {
        bench.run_with_input(&format!("pipe s3://box/t/{key}"), key);
    }
    bench
}

fn lines(bench: &Bench, args: &str) -> (Vec<String>, String, i32) {
    let output = bench.run(args);
    let mut lines: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    lines.sort();
    (lines, stderr(&output), output.status.code().unwrap())
}

#[test]
fn conflicting_names_are_skipped_or_reported() {
    let bench = bench();
    let (upper, lower, other) = (
        "download: s3://box/t/A.txt to D/A.txt",
        "download: s3://box/t/a.txt to D/a.txt",
        "download: s3://box/t/b to D/b",
    );
    for (command, folder) in [("cp --recursive", "one"), ("sync", "two")] {
        let expected = |lines: &[&str]| -> Vec<String> {
            lines.iter().map(|line| line.replace('D', folder)).collect()
        };
        let (printed, messages, code) =
            lines(&bench, &format!("{command} s3://box/t {folder} --case-conflict skip"));
        assert_eq!((printed, code), (expected(&[upper, other]), 0), "{messages}");
        let skipped = format!("warning: Skipping box/t/a.txt -> {}/", bench.folder().display());
        assert!(messages.starts_with(&skipped), "{messages}");
        assert!(messages.ends_with(" either exists or is being downloaded.\n"), "{messages}");
        // What is there in its spelling is replaced, and here nothing else answers to its name.
        let again = format!("cp --recursive s3://box/t {folder} --case-conflict error --exclude b");
        let (printed, messages, code) = lines(&bench, &again);
        assert_eq!((printed, messages.as_str(), code), (expected(&[upper, lower]), "", 0));
    }
    let (printed, messages, code) =
        lines(&bench, "cp --recursive s3://box/t D --case-conflict warn --report r.jsonl");
    assert_eq!((printed.len(), code), (3, 0), "{messages}");
    assert!(messages.starts_with("warning: Downloading box/t/a.txt -> "), "{messages}");
    assert!(!bench.read("r.jsonl").contains("skipped"));
}

#[test]
fn an_error_ends_the_command() {
    let bench = bench();
    for command in ["cp --recursive", "sync", "mv --recursive"] {
        let (printed, messages, code) =
            lines(&bench, &format!("{command} s3://box/t D --case-conflict error"));
        assert_eq!((printed, code), (vec![], 1), "{messages}");
        assert!(
            messages.starts_with("fatal error: Failed to download box/t/a.txt -> "),
            "{messages}"
        );
        assert!(std::fs::read_dir(bench.folder().join("D")).unwrap().next().is_none());
    }
    let (printed, messages, code) =
        lines(&bench, "cp --recursive s3://box/t D --case-conflict error --dryrun");
    assert_eq!(printed, ["(dryrun) download: s3://box/t/A.txt to D/A.txt"]);
    assert!(messages.starts_with("fatal error: ") && code == 1, "{messages}");
    assert_eq!(bench.lines("ls --recursive s3://box").len(), 3);
    let (printed, _, code) =
        lines(&bench, "cp --recursive s3://box/t D --case-conflict skip --dryrun");
    assert_eq!((printed.len(), code), (2, 0));
}
