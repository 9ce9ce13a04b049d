//! Every source of entries with every task: what runs, and why the rest does not.

use crate::support::{Bench, stderr, stdout};

/// Where a task takes its entries from. Each gives `d/a` and `d/b` of `d/a`, `d/b` and `d/c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A walk through a folder.
    Walk,
    /// A listing of objects.
    Listing,
    /// A listing of versions.
    Versions,
    /// A file with a key a line.
    Lines,
    /// Comma-separated values with a line of names.
    Csv,
    /// A JSON object a line.
    JsonLines,
    /// Comma-separated values of S3 Inventory.
    Inventory,
    /// A saved listing.
    Parquet,
    /// The report of an earlier run.
    Report,
    /// Both sides of a tree.
    Pair,
}

use Source::{Csv, Inventory, JsonLines, Lines, Listing, Pair, Parquet, Report, Versions, Walk};

const MANIFESTS: [Source; 5] = [Lines, Csv, JsonLines, Inventory, Parquet];

/// A task, and the sources that have no meaning for it: with the flags that would ask for them and
/// a part of the refusal.
struct Task {
    name: &'static str,
    /// The command; `SOURCE` stands for the address or folder, and `FLAGS` for what makes it the
    /// source that is asked for.
    command: &'static str,
    runs: &'static [&'static [Source]],
    refused: &'static [(Source, &'static str, &'static str)],
    /// What each line of the output begins with, for both entries.
    lines: [&'static str; 2],
}

const TASKS: &[Task] = &[
    Task {
        name: "upload",
        command: "cp SOURCE s3://box/up/ FLAGS",
        runs: &[&[Walk, Report]],
        refused: &[(Lines, "--from keys.txt", "--from"), (Versions, "--as-of 1s", "--as-of")],
        lines: ["upload: in/a to s3://box/up/a", "upload: in/b to s3://box/up/b"],
    },
    Task {
        name: "download",
        command: "cp SOURCE down FLAGS",
        runs: &[&[Listing, Versions, Report], &MANIFESTS],
        refused: &[],
        lines: ["download: s3://box/d/a to down/a", "download: s3://box/d/b to down/b"],
    },
    Task {
        name: "copy",
        command: "cp SOURCE s3://box/to/ FLAGS",
        runs: &[&[Listing, Versions, Report], &MANIFESTS],
        refused: &[],
        lines: ["copy: s3://box/d/a to s3://box/to/a", "copy: s3://box/d/b to s3://box/to/b"],
    },
    Task {
        name: "move",
        command: "mv SOURCE s3://box/to/ FLAGS",
        runs: &[&[Listing, Report], &MANIFESTS],
        // What was moved could be a version that is not current.
        refused: &[(Versions, "--as-of 1s", "--as-of")],
        lines: ["move: s3://box/d/a to s3://box/to/a", "move: s3://box/d/b to s3://box/to/b"],
    },
    Task {
        name: "sync down",
        command: "sync SOURCE down FLAGS",
        runs: &[&[Pair, Versions, Report]],
        refused: &[],
        lines: ["download: s3://box/d/a to down/a", "download: s3://box/d/b to down/b"],
    },
    Task {
        name: "sync",
        command: "sync SOURCE s3://box/to/ FLAGS",
        // Both sides are merged in the order of names: what is listed here comes as a pair.
        runs: &[&[Pair, Versions, Report]],
        refused: &[(Lines, "--from keys.txt", "--from")],
        lines: ["copy: s3://box/d/a to s3://box/to/a", "copy: s3://box/d/b to s3://box/to/b"],
    },
    Task {
        name: "remove",
        command: "rm SOURCE FLAGS",
        runs: &[&[Listing, Versions, Report], &MANIFESTS],
        refused: &[],
        lines: ["delete: s3://box/d/a", "delete: s3://box/d/b"],
    },
    Task {
        name: "tag",
        command: "tag set SOURCE --tags x=y FLAGS",
        runs: &[&[Listing, Report], &MANIFESTS],
        refused: &[(Versions, "--versions", "--versions")],
        lines: ["tag set: s3://box/d/a", "tag set: s3://box/d/b"],
    },
    Task {
        name: "set",
        command: "set SOURCE --content-type text/plain FLAGS",
        runs: &[&[Listing, Report], &MANIFESTS],
        refused: &[(Versions, "--versions", "--versions")],
        lines: ["set: s3://box/d/a", "set: s3://box/d/b"],
    },
    Task {
        name: "restore",
        command: "restore SOURCE --days 1 FLAGS",
        runs: &[&[Listing, Report], &MANIFESTS],
        refused: &[(Versions, "--versions", "--versions")],
        // Nothing is archived, and both are reported as such.
        lines: ["", ""],
    },
    Task {
        name: "undelete",
        command: "undelete SOURCE FLAGS",
        // It brings back what is hidden, which no listing of objects and no manifest shows.
        runs: &[&[Versions, Report]],
        refused: &[(Lines, "--from keys.txt", "--from")],
        lines: ["undelete: s3://box/d/a", "undelete: s3://box/d/b"],
    },
];

/// A bucket that keeps versions, a folder, and a file for each source.
fn bench(task: &Task) -> Bench {
    let bench = Bench::new();
    bench.ok("mb s3://box --versioning");
    for name in ["a", "b", "c"] {
        bench.file(&format!("in/{name}"), name);
    }
    bench.ok("cp --recursive in s3://box/d");
    bench.file("keys.txt", "d/a\nd/b\n");
    bench.file("keys.csv", "key\nd/a\nd/b\n");
    bench.file("keys.jsonl", "{\"key\":\"d/a\"}\n{\"key\":\"d/b\"}\n");
    bench.file("inventory.csv", "\"box\",\"d/a\"\n\"box\",\"d/b\"\n");
    bench.ok("list s3://box/d/ --exclude c --format parquet --output-file keys.parquet");
    if task.name == "undelete" {
        bench.ok("rm --recursive s3://box/d");
    }
    bench
}

fn place(task: &Task) -> &'static str {
    if task.name == "upload" { "in" } else { "s3://box/d" }
}

/// The command that takes its entries from a source.
fn command(task: &Task, source: Source) -> String {
    let place = place(task);
    let recursive = if task.name.starts_with("sync") { "" } else { "--recursive" };
    let listed = format!("{recursive} --exclude c");
    let flags = match source {
        Walk | Listing | Pair => listed,
        Versions => match task.name {
            "remove" => format!("{listed} --versions --yes"),
            "undelete" => listed,
            _ => format!("{listed} --as-of 0s"),
        },
        Lines => "--from keys.txt".to_owned(),
        Csv => "--from keys.csv".to_owned(),
        JsonLines => "--from keys.jsonl".to_owned(),
        Inventory => "--from inventory.csv".to_owned(),
        Parquet => "--from keys.parquet".to_owned(),
        Report => format!("{listed} --retry-failed again.jsonl"),
    };
    task.command.replace("SOURCE", place).replace("FLAGS", &flags)
}

#[test]
fn every_source_runs_with_every_task_or_is_refused_with_the_reason() {
    let all = [&[Walk, Listing, Versions, Report, Pair][..], &MANIFESTS].concat();
    for task in TASKS {
        for &source in &all {
            if task.runs.concat().contains(&source) {
                runs(task, source);
            }
        }
        for (source, flags, told) in task.refused {
            let bench = bench(task);
            let line = task.command.replace("SOURCE", place(task)).replace("FLAGS", flags);
            let output = bench.run(&line);
            assert_eq!(output.status.code(), Some(252), "{source:?} {line}: {output:?}");
            assert!(stderr(&output).contains(told), "{source:?} {line}: {output:?}");
        }
    }
}

fn runs(task: &Task, source: Source) {
    let bench = bench(task);
    let line = command(task, source);
    if source == Report {
        // What a dry run would do, as if it had failed.
        let first = command(task, if task.name == "upload" { Walk } else { Listing });
        bench.ok(&format!("{first} --dryrun --report again.jsonl"));
        let report = bench.read("again.jsonl").replace("\"dry_run\"", "\"failed\"");
        bench.file("again.jsonl", &report);
    }
    let output = bench.run(&line);
    assert_eq!(output.status.code(), Some(0), "{source:?} {line}: {output:?}");
    let mut lines: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    lines.sort();
    let expected = task.lines.iter().filter(|line| !line.is_empty());
    for (line, expected) in lines.iter().zip(expected.clone()) {
        assert!(line.starts_with(expected), "{source:?} {}: {output:?}", task.name);
    }
    assert_eq!(lines.len(), expected.count(), "{source:?} {}: {output:?}", task.name);
}
