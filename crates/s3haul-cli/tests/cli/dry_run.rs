//! `--dryrun`: what a run would skip is left out as far as it is known.

use crate::support::{Bench, stderr, stdout};

#[test]
fn a_dry_run_leaves_out_what_is_not_overwritten() {
    let bench = Bench::with_objects(&["a", "b"]);
    bench.file("to/a", "old");
    for command in ["cp --recursive", "mv --recursive", "sync"] {
        let lines = bench.lines(&format!("{command} --no-overwrite --dryrun s3://box to"));
        assert!(matches!(&lines[..], [only] if only.contains("s3://box/b")), "{command} {lines:?}");
    }
    assert_eq!(bench.lines("cp --no-overwrite --dryrun s3://box/a to/a"), [""; 0]);
    // The walk of a sync shows neither of these.
    bench.file("to/x/y", "old");
    std::process::Command::new("mkfifo").arg(bench.path("to/f")).status().unwrap();
    for key in ["x//y", "f"] {
        bench.ok(&format!("cp to/a s3://box/{key}"));
    }
    let output = bench.run("sync --no-overwrite --dryrun s3://box to");
    assert_eq!(stdout(&output), "(dryrun) download: s3://box/b to to/b\n", "{output:?}");
    bench.run("sync --no-overwrite s3://box to --plan p.parquet");
    assert_eq!(bench.lines("apply p.parquet"), ["download: s3://box/b to to/b"]);
}

/// A dry run of a copy to S3 does not look at the target, and did not say so.
#[test]
fn a_dry_run_says_that_it_does_not_know_what_is_not_overwritten() {
    let bench = Bench::with_objects(&["a", "b"]);
    bench.file("f/a", "1");
    for (command, line) in [
        ("cp f s3://box --recursive", "upload: f/a to s3://box/a\n"),
        ("mv s3://box/a s3://box/b", "move: s3://box/a to s3://box/b\n"),
    ] {
        let output = bench.run(&format!("{command} --no-overwrite --dryrun"));
        assert_eq!(stdout(&output), format!("(dryrun) {line}"));
        assert!(stderr(&output).contains("does not look at the target"), "{output:?}");
        assert_eq!(output.status.code(), Some(0));
        let planned = bench.run(&format!("{command} --no-overwrite --plan p"));
        assert!(stderr(&planned).contains("has 0 actions"), "{planned:?}");
        assert!(!stderr(&planned).contains("does not look"), "{planned:?}");
    }
}

/// A dry run and a plan had downloads that a run skips, or fails at.
#[test]
fn what_is_in_the_way_of_a_download_is_foreseen() {
    let bench = Bench::with_objects(&["d/f", "e", "g", "i", "j", "l/z"]);
    let folder = || {
        let _ = std::fs::remove_dir_all(bench.path("to"));
        for file in ["to/e/old", "to/g/old", "to/i/sub/x.log", "out/f"] {
            bench.file(file, "old");
        }
        std::process::Command::new("mkfifo").arg(bench.path("to/g/fifo")).status().unwrap();
        std::fs::create_dir_all(bench.path("to/j/empty")).unwrap();
        std::os::unix::fs::symlink("../out", bench.path("to/l")).unwrap();
        std::os::unix::fs::symlink("../out", bench.path("to/d-link")).unwrap();
    };
    for (command, stays) in [
        ("cp --recursive", &["e", "g", "i", "j"][..]),
        ("sync", &["e", "g", "i", "j"]),
        ("sync --delete", &["g"]),
        ("sync --delete --exclude *.log", &["g", "i"]),
    ] {
        folder();
        let real = |output: &std::process::Output| {
            let text = stdout(output).replace("(dryrun) ", "");
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let dry = bench.run(&format!("{command} --dryrun s3://box to"));
        let planned = bench.run(&format!("{command} s3://box to --plan p.parquet"));
        for output in [&dry, &planned] {
            let messages = stderr(output);
            assert!(messages.contains("Skipping file l/z. A symbolic link"), "{messages}");
            let warned = |name: &str| messages.contains(&format!("to/{name}` is a directory"));
            for name in ["e", "g", "i", "j"] {
                assert_eq!(warned(name), stays.contains(&name), "{command} {name}: {messages}");
            }
            assert_eq!(output.status.code(), Some(2), "{command}: {messages}");
        }
        let done = bench.run(&format!("{command} s3://box to"));
        assert!(stderr(&done).contains("Skipping file l/z. A symbolic link"), "{done:?}");
        let mut lines = real(&done);
        lines.extend(stays.iter().map(|name| format!("download: s3://box/{name} to to/{name}")));
        lines.sort();
        assert_eq!(real(&dry), lines, "{command}");
    }
}

/// A run had `/lead` as the target of what it skipped, and a dry run had no row of it.
#[test]
fn what_a_key_is_refused_for_is_reported_alike_by_both() {
    let bench = Bench::with_objects(&["x/n", "x//lead", "x/y//z"]);
    for command in ["cp --recursive", "sync"] {
        let rows = |flags: &str| {
            bench.run(&format!("{command} s3://box/x out --report r.jsonl {flags}"));
            let report = bench.read("r.jsonl").replace("dry_run", "done");
            let mut rows: Vec<_> = report.lines().map(str::to_owned).collect();
            rows.retain(|row| row.contains("\"object\""));
            rows.sort();
            rows
        };
        let (forecast, run) = (rows("--dryrun"), rows(""));
        let source_of = |row: &String| row.contains("\"s3://box/x//lead\"");
        let refused = run.iter().find(|row| source_of(row)).map(String::as_str).unwrap_or_default();
        let target = format!("\"{}/out//lead\"", bench.folder().display());
        assert!(refused.contains("\"skipped\"") && refused.contains(&target), "{refused}");
        assert_eq!((forecast, run.len()), (run.clone(), 3), "{command}");
        std::fs::remove_dir_all(bench.path("out")).unwrap();
    }
}
