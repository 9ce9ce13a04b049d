//! `--plan` and `apply`: what was planned is done, and what has changed is left alone.

#![expect(clippy::print_stdout, reason = "a test prints its seed")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Bench, stderr, stdout};

/// Names on either side of a plan.
const NAMES: u32 = 48;

/// What happens to a name between a plan and its doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    /// The source is written anew, or appears.
    Source,
    /// The target is written anew, or appears.
    Target,
}

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// A side of a plan: a folder, or a prefix of the bucket.
struct Side<'a> {
    bench: &'a Bench,
    root: &'a str,
}

impl Side<'_> {
    fn is_remote(&self) -> bool {
        self.root.starts_with("s3://")
    }

    /// Writes files.
    fn write(&self, files: &[(String, String)]) {
        let scratch = self.bench.path("scratch");
        for (name, text) in files {
            let folder = if self.is_remote() { "scratch" } else { self.root };
            self.bench.file(&format!("{folder}/{name}"), text);
        }
        if scratch.exists() {
            self.bench.ok(&format!("cp --recursive scratch {} --quiet", self.root));
            std::fs::remove_dir_all(scratch).unwrap();
        }
    }

    fn all(&self) -> BTreeMap<String, String> {
        let folder = format!("look-{}", self.root.replace(['/', ':'], "-"));
        if self.is_remote() {
            self.bench
                .ok(&format!("sync {} {folder} --delete --exact-timestamps --quiet", self.root));
        }
        let read = |number| {
            let name = name(number);
            let folder = if self.is_remote() { &folder } else { self.root };
            let path = self.bench.path(&format!("{folder}/{name}"));
            Some((name, std::fs::read_to_string(path).ok()?))
        };
        (0..NAMES).filter_map(read).collect()
    }
}

fn name(number: u32) -> String {
    format!("d{}/f{number}", number % 3)
}

/// Plans a command; a plan says where it is, and prints nothing.
pub(crate) fn plan(bench: &Bench, command: &str) {
    let output = bench.run(&format!("plan {command} --plan p.parquet"));
    assert!(output.status.success(), "{output:?}");
    assert!(stderr(&output).contains("`s3haul apply` does it"), "{output:?}");
    assert_eq!(stdout(&output), "", "what would be done is in the plan");
}

/// `apply` refused these flags, which all commands that change objects have.
#[test]
fn a_plan_is_done_in_silence_or_with_errors_alone() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    let run = |flag: &str| {
        bench.file("in/a", "a");
        bench.file("in/b", "b");
        bench.ok("rm s3://box --recursive --quiet");
        plan(&bench, "cp --recursive in s3://box/");
        bench.file("in/b", "changed");
        let output = bench.run(&format!("apply p.parquet {flag}"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        (stdout(&output), stderr(&output))
    };
    let (lines, errors) = run("");
    assert!(lines.starts_with("upload: in/a to s3://box/a\n"), "{lines}");
    assert!(errors.contains("upload failed: in/b to s3://box/b "), "{errors}");
    assert_eq!(run("--only-show-errors"), (String::new(), errors));
    assert_eq!(run("--quiet"), (String::new(), String::new()));
    plan(&bench, "cp --recursive in s3://box/ --exclude *");
    let nothing = bench.run("apply p.parquet --quiet");
    assert!(nothing.status.success() && nothing.stderr.is_empty(), "{nothing:?}");
}

/// Plans a command over random sides, changes some of both, and does the plan.
fn check(seed: u64, command: &str, (source, target): (&str, &str), deletes: bool) {
    println!("seed {seed}: {command}");
    let bench = Bench::with_objects(&["unrelated"]);
    let (source, target) =
        (Side { bench: &bench, root: source }, Side { bench: &bench, root: target });
    let mut dice = Dice(seed);
    for side in [&source, &target] {
        let mut files = vec![("keep".to_owned(), "so that it is there".to_owned())];
        for number in (0..NAMES).filter(|_| dice.roll(3) > 0).collect::<Vec<_>>() {
            // Texts of other lengths differ for any command.
            let text = "x".repeat(1 + usize::try_from(dice.roll(9)).unwrap());
            files.push((name(number), text));
        }
        side.write(&files);
    }
    let (from, before) = (source.all(), target.all());
    plan(&bench, command);
    assert_eq!((source.all(), target.all()), (from.clone(), before.clone()), "a plan does nothing");
    let changes: Vec<_> = (0..NAMES)
        .map(|_| match dice.roll(6) {
            0 => Change::Source,
            1 => Change::Target,
            _ => Change::None,
        })
        .collect();
    for (side, wanted) in [(&source, Change::Source), (&target, Change::Target)] {
        let changed = (0..).zip(&changes).filter(|(_, change)| **change == wanted);
        let text = |number| format!("changed {number} of {seed}, longer than any");
        side.write(&changed.map(|(number, _)| (name(number), text(number))).collect::<Vec<_>>());
    }
    let (changed_from, changed) = (source.all(), target.all());
    let output = bench.run("apply p.parquet");
    let (left, after) = (source.all(), target.all());
    let mut refused = 0;
    for (number, change) in (0..).zip(changes) {
        let name = name(number);
        let (planned_from, planned_to) = (from.get(&name), before.get(&name));
        let is_copied = planned_from.is_some()
            && (planned_from.map(String::len) != planned_to.map(String::len) || !deletes);
        let is_removed = deletes && planned_from.is_none() && planned_to.is_some();
        let is_action = is_copied || is_removed;
        let expected = match change {
            Change::None if is_copied => planned_from,
            Change::None if is_removed => None,
            _ => changed.get(&name),
        };
        refused += u32::from(is_action && change != Change::None);
        assert_eq!(after.get(&name), expected, "{name}: {change:?}\n{}", stderr(&output));
    }
    assert_eq!(left, changed_from, "{}", stderr(&output));
    let status = i32::from(refused > 0);
    // A removal whose name is back at the source is a warning.
    let is_expected = output.status.code().is_some_and(|code| code == status || code == 2);
    assert!(is_expected, "{refused} refused\n{output:?}");
}

#[test]
fn what_has_changed_since_a_plan_is_left_alone() {
    let remote = ("s3://box/from", "s3://box/to");
    for seed in 0..3 {
        check(seed, "sync from s3://box/to --delete", ("from", "s3://box/to"), true);
        check(seed, "sync s3://box/from to --delete", ("s3://box/from", "to"), true);
        check(seed, "sync s3://box/from s3://box/to --delete", remote, true);
        check(seed, "cp --recursive from s3://box/to", ("from", "s3://box/to"), false);
        check(seed, "cp --recursive s3://box/from to", ("s3://box/from", "to"), false);
        check(seed, "cp --recursive s3://box/from s3://box/to --stream", remote, false);
    }
}

#[test]
fn objects_are_removed_and_changed_as_planned_only() {
    for (command, gone) in
        [("rm --recursive s3://box", true), ("tag set --recursive s3://box --tags a=b", false)]
    {
        let bench = Bench::with_objects(&["a", "b", "c"]);
        plan(&bench, command);
        bench.file("new", "another state");
        bench.ok("cp new s3://box/b --quiet");
        let output = bench.run("apply p.parquet");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(
            stderr(&output).contains("s3://box/b the object has changed since this was planned")
        );
        let mut left = bench.lines("list s3://box --format keys");
        left.sort();
        let tagged = bench.ok("tag get --recursive s3://box");
        assert_eq!(left, if gone { vec!["b"] } else { vec!["a", "b", "c"] });
        assert_eq!(tagged.matches("a=b").count(), if gone { 0 } else { 2 }, "{tagged}");
    }
}

/// Such names were planned as missing, so that `apply` found them changed each time.
#[test]
fn what_a_listing_of_the_target_does_not_show_is_looked_for() {
    let bench = Bench::with_objects(&["a//b", "c"]);
    bench.file("to/a/b", "another");
    plan(&bench, "sync s3://box to");
    bench.ok("apply p.parquet");
    assert_eq!((bench.read("to/a/b"), bench.read("to/c")), ("a//b".into(), "c".into()));
    // The pattern is about files of the folder only.
    bench.ok("rm s3://box --recursive --quiet");
    bench.ok("sync to s3://box --quiet");
    bench.file("to/c", "longer");
    let pattern = bench.path("to/c").display().to_string();
    plan(&bench, &format!("sync s3://box to --exclude {pattern}"));
    let summary = bench.ok("plan show p.parquet");
    assert!(summary.contains("because of `overwrite`: 1"), "{summary}");
    bench.ok("apply p.parquet");
    assert_eq!(bench.read("to/c"), "c");
    // What is there is not to be overwritten.
    bench.file("to/c", "longer");
    let output = bench
        .run(&format!("plan sync --no-overwrite s3://box to --exclude {pattern} --plan p.parquet"));
    assert!(stderr(&output).contains(" 0 actions"), "{output:?}");
}

#[test]
fn a_file_that_appears_is_a_failure_of_a_plan_that_overwrites_nothing() {
    let bench = Bench::with_objects(&["a", "b"]);
    for command in ["cp --recursive", "sync"] {
        plan(&bench, &format!("{command} --no-overwrite s3://box to"));
        bench.file("to/a", "appeared");
        let output = bench.run("apply p.parquet");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains("has changed since this was planned"), "{output:?}");
        assert_eq!((bench.read("to/a"), bench.read("to/b")), ("appeared".into(), "b".into()));
        std::fs::remove_dir_all(bench.path("to")).unwrap();
    }
}

/// `jobs resume` was advised, which fails alike for ever.
#[test]
fn what_has_changed_since_it_was_planned_takes_a_new_plan() {
    let bench = Bench::with_objects(&["a", "b"]);
    plan(&bench, "rm --recursive s3://box");
    bench.file("x", "another");
    bench.ok("cp x s3://box/a");
    let failed = |args: &str| {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let messages = stderr(&output);
        let last = messages.lines().last().unwrap().to_owned();
        assert!(last.starts_with("note: what failed takes a new plan: "), "{messages}");
    };
    failed("apply p.parquet --journal j");
    let id = bench.ok("jobs ls --journal j").split(' ').next().unwrap().to_owned();
    for _ in 0..2 {
        failed(&format!("jobs resume {id} --journal j"));
        let shown = bench.ok(&format!("jobs show {id} --journal j"));
        for line in [
            "done:       1 object, 0 bytes",
            "failed:     1 object",
            "causes:     1 changed since it was planned",
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{shown}");
        }
    }
}

#[test]
fn a_plan_that_cannot_be_made_or_done_is_refused() {
    let bench = Bench::with_objects(&["a"]);
    bench.file("f", "no table");
    for (line, said) in [
        ("plan sync s3://box to", "`plan` needs a file: give --plan FILE"),
        ("plan ls s3://box --plan p", "unexpected argument '--plan'"),
        ("plan cp s3://box/a - --plan p", "--plan cannot be used with standard input and output"),
        ("plan show f", "`f` is no plan of s3haul: it cannot be read as Parquet"),
        ("apply f", "is no plan of s3haul"),
        ("apply gone", "could not open the plan `gone`"),
        ("cp s3://box/a b --plan p --report r", "cannot be used with"),
    ] {
        let output = bench.run(line);
        assert!(!output.status.success(), "{line}");
        assert!(stderr(&output).contains(said), "{line}: {}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
    // A listing is a table, and no plan; nor is a report.
    bench.ok("list s3://box --format parquet --output-file l.parquet");
    bench.ok("cp s3://box/a t --report r.parquet");
    for (file, said) in [
        ("f", "it cannot be read as Parquet"),
        ("l.parquet", "it has no column `action`"),
        ("r.parquet", "it is a folder (a report in Parquet?)"),
        ("r.parquet/part-000000.parquet", "it is a report"),
    ] {
        for command in ["apply", "plan show", "job start --apply --at w"] {
            let output = bench.run(&format!("{command} {file}"));
            assert_eq!(output.status.code(), Some(252), "{output:?}");
            assert!(stderr(&output).contains(said), "{output:?}");
        }
    }
    assert!(!bench.path("p").exists());
}

/// One object, a manifest, and names of a template: what can be planned can be done.
#[test]
fn a_plan_of_any_source_can_be_done() {
    for command in [
        "rm s3://box/a",
        "tag set s3://box/a --tags k=v",
        "set s3://box/a --storage-class STANDARD_IA",
        "cp s3://box/a s3://box/c",
        "mv s3://box/a s3://box/c",
        "cp s3://box/a down",
        "cp s3://box/ s3://box/t/ --from list",
        "cp s3://box/ down/ --from list",
        "mv s3://box/ s3://box/t/ --from list",
        "rm s3://box/ --from list",
        "tag set s3://box/ --from list --tags k=v",
        "cp --recursive s3://box s3://box/t --to-key x/{key}",
        "sync s3://box down --to-key x/{key}",
        "cp --recursive files s3://box/t --to-key x/{key}",
    ] {
        let bench = Bench::with_objects(&["a", "b"]);
        bench.file("list", "a\nb\n");
        bench.file("files/f", "f");
        plan(&bench, command);
        let before = bench.lines("list s3://box --sort --format keys");
        assert_eq!(before, ["a", "b"], "{command}");
        let output = bench.run("apply p.parquet");
        assert!(output.status.success() && stderr(&output).is_empty(), "{command}: {output:?}");
        assert!(!stdout(&output).is_empty(), "{command}");
    }
}

#[test]
fn a_plan_overwrites_nothing_that_is_read_and_leaves_no_older_one() {
    let bench = Bench::with_objects(&["a", "b"]);
    bench.file("list", "a\nb\n");
    bench.file("file", "what is uploaded");
    plan(&bench, "rm s3://box/a");
    for line in [
        "plan cp file s3://box/c --plan file",
        "cp file s3://box/c --report file",
        "plan rm s3://box/ --from list --plan list",
        "apply p.parquet --report p.parquet",
    ] {
        let output = bench.run(line);
        assert_eq!(output.status.code(), Some(252), "{line}: {output:?}");
        assert!(stderr(&output).contains("would be overwritten"), "{line}: {output:?}");
    }
    assert_eq!(
        (bench.read("file"), bench.read("list")),
        ("what is uploaded".into(), "a\nb\n".into())
    );
    assert!(bench.run("plan show p.parquet").status.success());
    // Flags end at `--`: a plan is never the command itself.
    bench.file("--help", "a file");
    let output = bench.run("plan cp -- --help s3://box/c");
    assert!(stderr(&output).contains("give --plan FILE"), "{output:?}");
    let failed = bench.run("plan rm --recursive s3://box --max-delete 1 --plan p.parquet");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert!(!bench.path("p.parquet").exists(), "that of the earlier command is not left");
    assert_eq!(bench.lines("list s3://box --sort --format keys"), ["a", "b"]);
}

/// Whoever plans to the same name again does not change what is being done.
#[test]
fn a_plan_that_is_replaced_while_it_is_done_is_done_no_further() {
    let bench = Bench::with_objects(&["t/old"]);
    bench.file("from/big", &"x".repeat(40 << 20));
    plan(&bench, "sync from s3://box/t --delete");
    let mut child = bench.spawn("apply p.parquet --max-bandwidth 10MB/s --no-progress");
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none());
    bench.file("new", "not planned by then");
    bench.ok("cp new s3://box/t/new --quiet");
    plan(&bench, "sync from s3://box/t --delete");
    let output = child.wait_with_output().unwrap();
    assert!(stderr(&output).contains("was changed while it was read"), "{output:?}");
    let left = bench.lines("list s3://box --sort --format keys");
    assert!(left.contains(&"t/new".to_owned()), "{left:?}");
}

/// Rows of a plan that has to fit into little memory, unless `S3HAUL_TEST_PLAN_ROWS` says more.
const ROWS: u64 = 300_000;
const MEMORY_MAX_KIB: u64 = 300 << 10;

/// The most memory that a command took, in KiB.
#[cfg(target_os = "linux")]
fn peak_kib(bench: &Bench, args: &str) -> u64 {
    let mut child = bench.command(args).stdout(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.wait().unwrap().success(), "{args}");
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn a_plan_of_many_rows_takes_little_memory() {
    let rows = std::env::var("S3HAUL_TEST_PLAN_ROWS").map_or(ROWS, |rows| rows.parse().unwrap());
    let bench = Bench::synthetic(&format!("seq:{rows}"));
    let written = peak_kib(&bench, "plan rm --recursive s3://synthetic --plan p.parquet");
    let summed_up = peak_kib(&bench, "plan show p.parquet");
    println!("{rows} rows: {written} KiB to write, {summed_up} KiB to sum up");
    assert!(written < MEMORY_MAX_KIB && summed_up < MEMORY_MAX_KIB);
    let shown: Value = serde_json::from_str(&bench.ok("plan show p.parquet --json")).unwrap();
    let deleted = &shown["actions"]["delete"];
    assert_eq!(deleted["objects"], rows);
    let Some(python) = std::env::var_os("S3HAUL_TEST_PYTHON") else {
        return println!("skipped in part: S3HAUL_TEST_PYTHON is not set");
    };
    let script = "import duckdb
duckdb.sql('SET enable_progress_bar = false')
print(*duckdb.sql('''SELECT count(*), sum(source_size)::BIGINT, count(*) FILTER (source <= before)
    FROM (SELECT *, lag(source) OVER (ORDER BY file_row_number) AS before
        FROM read_parquet('p.parquet', file_row_number = true))''').fetchall()[0])";
    let mut command = Command::new(python);
    let output = command.args(["-c", script]).current_dir(bench.folder()).output().unwrap();
    let expected = format!("{rows} {} 0", deleted["bytes"]);
    assert_eq!(stdout(&output).trim(), expected, "{output:?}");
}
