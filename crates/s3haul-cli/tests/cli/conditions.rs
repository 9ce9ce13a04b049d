//! The conditions of all commands that go through objects: what is taken, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, SystemTime};

use crate::support::{Bench, stderr};

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// Objects whose sizes are the lengths of their keys.
fn bench() -> Bench {
    Bench::with_objects(&["l/a.gz", "l/bb.gz", "l/sub/c.gz", "l/sub/long.txt", "m"])
}

/// Sets a file's time so many days back.
fn age(bench: &Bench, name: &str, days: u64) {
    let time = SystemTime::now() - Duration::from_secs(days * 86_400);
    std::fs::File::open(bench.folder().join(name)).unwrap().set_modified(time).unwrap();
}

#[test]
fn all_listings_take_the_same() {
    let bench = bench();
    let keys = |args: &str| bench.ok(&format!("list --sort --format keys {args}"));
    assert_eq!(keys("s3://box --min-size 7 --max-size 10B"), "l/bb.gz\nl/sub/c.gz\n");
    assert_eq!(keys("s3://box/l/ --regex ^[ab]"), "l/a.gz\nl/bb.gz\n", "names start at the slash");
    assert_eq!(keys("s3://box/l/* --regex gz$ --regex txt$ --exclude sub/c*").lines().count(), 3);
    assert_eq!(keys("s3://box --newer-than 1h --older-than 2999-12-31 --regex ^m"), "m\n");
    assert_eq!(bench.status("list s3://box/l --older-than 1h"), 1);
    assert_eq!(keys("s3://box --storage-class standard_ia,STANDARD --max-size 1"), "m\n");
    assert_eq!(keys("s3://box --source-storage-class GLACIER"), "");
    assert_eq!(keys("s3://box --min-size 0.5k"), "");
    let filtered = "s3://box --max-size 7 --filter js:(key)=>key.Size>1 --exclude l/a*";
    assert_eq!(keys(filtered), "l/bb.gz\n");

    let names = |args: &str| -> Vec<String> {
        let lines = bench.lines(args).into_iter();
        lines.map(|line| line.split_whitespace().last().unwrap().to_owned()).collect()
    };
    assert_eq!(names("ls s3://box/l/ --max-size 6"), ["sub/", "a.gz"], "folders are shown");
    assert_eq!(names("ls --recursive s3://box --regex c"), ["l/sub/c.gz"]);
    assert_eq!(names("ls s3://box/l/*gz --exclude sub* --min-size 7"), ["l/bb.gz"]);
    assert_eq!(names("ls s3://box/l/ --filter js:/bb/"), ["sub/", "bb.gz"]);
    assert_eq!(bench.status("ls s3://box/l/a --min-size 7"), 1);
    let sums = bench.ok("summarize s3://box --min-size 7 --json");
    let sums: serde_json::Value = serde_json::from_str(&sums).unwrap();
    assert_eq!(sums["total"]["objects"], 3, "{sums}");
    let mapped = bench.ok("map s3://box --max-size 6 --sort --map js:(key)=>key.Key");
    assert_eq!(mapped, "l/a.gz\nm\n");
}

#[test]
fn dry_runs_and_runs_take_the_same() {
    let bench = bench();
    let lines = |args: &str| {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(0), "{args}: {output:?}");
        sorted(crate::stdout(&output).lines().map(str::to_owned).collect())
    };
    let rm = "rm --recursive s3://box --min-size 7 --regex gz$";
    let planned = lines(&format!("{rm} --dryrun"));
    assert_eq!(
        planned,
        ["(dryrun) delete: s3://box/l/bb.gz", "(dryrun) delete: s3://box/l/sub/c.gz"]
    );
    let done = lines(rm);
    assert_eq!(done, ["delete: s3://box/l/bb.gz", "delete: s3://box/l/sub/c.gz"]);
    assert_eq!(lines("rm s3://box/m --min-size 2"), [""; 0]);
    assert_eq!(lines("rm s3://box/m --min-size 1"), ["delete: s3://box/m"]);
    assert_eq!(
        lines("tag set --recursive s3://box/ --tags t=1 --max-size 6"),
        ["tag set: s3://box/l/a.gz"]
    );
    assert_eq!(
        lines("cp --recursive s3://box/l out --source-storage-class STANDARD --max-size 6"),
        ["download: s3://box/l/a.gz to out/a.gz"]
    );
    assert_eq!(
        lines("mv --recursive s3://box/l s3://box/n --storage-class STANDARD_IA --regex txt"),
        ["move: s3://box/l/sub/long.txt to s3://box/n/sub/long.txt"]
    );
    assert_eq!(
        bench.ok("list s3://box --storage-class STANDARD_IA --format keys"),
        "n/sub/long.txt\n"
    );
}

/// What is not selected is neither transferred nor removed, however it differs.
#[test]
fn a_sync_leaves_alone_what_is_not_selected() {
    let bench = Bench::with_objects(&["t/old", "t/small", "t/gone-large-one"]);
    for (name, text, days) in [("s/old", "other content", 30), ("s/new", "newer", 0)] {
        bench.file(name, text);
        age(&bench, name, days);
    }
    let sync = "sync s s3://box/t --delete --size-only";
    let run = |conditions: &str| {
        let dry = bench.run(&format!("{sync} {conditions} --dryrun"));
        let dry = crate::stdout(&dry).replace("(dryrun) ", "");
        let done = bench.ok(&format!("{sync} {conditions}"));
        assert_eq!(sorted_lines(&dry), sorted_lines(&done), "{conditions}");
        sorted_lines(&done)
    };
    let new = "upload: s/new to s3://box/t/new";
    assert_eq!(run("--newer-than 7d --max-size 2"), [""; 0]);
    // The age is that of the file; of what only the target has, the object's own.
    assert_eq!(run("--newer-than 7d --max-size 5"), [new]);
    assert_eq!(
        run("--min-size 10"),
        ["delete: s3://box/t/gone-large-one", "upload: s/old to s3://box/t/old"]
    );
    assert_eq!(run("--older-than 7d"), [""; 0], "`t/small` was made just now");
    assert_eq!(run("--regex ^small$"), ["delete: s3://box/t/small"]);
    assert_eq!(bench.ok("list s3://box --format keys --sort"), "t/new\nt/old\n");
}

fn sorted_lines(text: &str) -> Vec<String> {
    sorted(text.lines().map(str::to_owned).collect())
}

/// Names of an earlier run were chosen then.
#[test]
fn what_failed_before_is_not_asked_again() {
    let bench = Bench::with_objects(&["a"]);
    bench.file("d/f", "12345");
    assert_eq!(bench.status("cp --recursive d s3://none/ --max-size 9 --report r.jsonl"), 1);
    bench.ok("mb s3://none");
    let again = "cp --recursive d s3://none/ --max-size 1 --retry-failed r.jsonl";
    assert_eq!(bench.ok(again), "upload: d/f to s3://none/f\n");
}

#[test]
fn nonsense_is_refused_before_the_first_request() {
    let bench = Bench::with_objects(&["k"]);
    bench.file("f", "1");
    for (args, said) in [
        ("rm --recursive s3://none --min-size big", "--min-size `big`"),
        ("list s3://none --newer-than 7", "--newer-than `7`"),
        ("list s3://none --regex (", "not a regular expression"),
        ("ls --min-size 3", "name a bucket"),
        ("cp --recursive . s3://none --source-storage-class GLACIER", "files"),
        ("sync . s3://none --source-storage-class GLACIER", "files"),
        ("cp - s3://none/k --max-size 3", "standard input"),
        ("cp s3://none/k - --max-size 3", "standard input"),
        ("find s3://none --min-size 2 --max-size 1", "more than"),
        ("find s3://none --older-than 2d --newer-than 1d", "nothing is both"),
        ("find . --name x", "s3://BUCKET/PREFIX"),
        ("find box", "s3://BUCKET/PREFIX"),
        ("find s3://none --tag =x", "no key"),
        ("find s3://none --fields key", "--fields"),
        ("find s3://none --json --format csv", "--json"),
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(252), "{args}: {output:?}");
        assert!(stderr(&output).contains(said), "{args}: {output:?}");
    }
}
