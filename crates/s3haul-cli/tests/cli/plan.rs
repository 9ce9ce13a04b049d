//! `--plan`, `plan show` and `apply`: what was planned is done, and what has changed is left alone.

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
fn planning_a_download_makes_no_folder() {
    let bench = Bench::with_objects(&["x/a", "x/b/c"]);
    for command in [
        "cp --recursive s3://box/x/ new/one",
        "cp --recursive s3://box/x/ new/two --no-overwrite",
        "sync s3://box/x/ new/three --delete",
        "sync s3://box/x/ new/four --to-key {name}",
    ] {
        plan(&bench, command);
        assert!(!bench.path("new").exists(), "{command}");
    }
    plan(&bench, "sync s3://box/x/ new/three --delete");
    bench.ok("apply p.parquet");
    assert_eq!(bench.read("new/three/b/c"), "x/b/c");
}

/// Its removal comes before the download; all others come after it.
#[test]
fn a_file_makes_way_for_the_folder_of_a_planned_download() {
    let bench = Bench::with_objects(&["a/b/c", "a/b/d", "e"]);
    for file in ["to/a", "to/f"] {
        bench.file(file, "old");
    }
    plan(&bench, "sync s3://box to --delete");
    let output = bench.ok("apply p.parquet --report r.jsonl");
    let removed = output.find("delete: to/a").unwrap();
    assert!(removed < output.find("download: s3://box/a/b/c").unwrap(), "{output}");
    for relative in ["a/b/c", "a/b/d", "e"] {
        assert_eq!(bench.read(&format!("to/{relative}")), relative);
    }
    assert!(!bench.path("to/f").exists());
    let report = bench.read("r.jsonl");
    assert_eq!(report.matches(r#""action":"delete""#).count(), 2, "{report}");
    // A folder in the place of a file is no reason to fail: the file is gone. What has changed is
    // in the way as before.
    std::fs::remove_dir_all(bench.path("to")).unwrap();
    bench.file("to/a", "old");
    plan(&bench, "sync s3://box to --delete");
    bench.file("to/a", "another");
    assert_eq!(bench.status("apply p.parquet --no-journal"), 1);
    assert_eq!((bench.read("to/a"), bench.read("to/e")), ("another".into(), "e".into()));
    for file in ["to/a", "to/e"] {
        std::fs::remove_file(bench.path(file)).unwrap();
    }
    std::fs::create_dir(bench.path("to/a")).unwrap();
    bench.ok("apply p.parquet");
}

/// It was refused by the folder, whose files were removed at the end, and so was its resumed run.
#[test]
fn a_folder_makes_way_for_the_file_of_a_planned_download() {
    let bench = Bench::with_objects(&["d", "e", "k", "k/new"]);
    let set_up = |is_changed: bool| {
        let _ = std::fs::remove_dir_all(bench.path("to"));
        for file in ["to/d/f", "to/d/sub/g", "to/k/old", "to/z"] {
            bench.file(file, "old");
        }
        std::fs::create_dir_all(bench.path("to/d/empty/deep")).unwrap();
        plan(&bench, "sync s3://box to --delete --exclude k");
        if is_changed {
            bench.file("to/d/f", "another");
        }
    };
    set_up(false);
    let output = bench.ok("apply p.parquet --report r.jsonl");
    assert!(output.find("delete: to/d/f") < output.find("download: s3://box/d to"), "{output}");
    for relative in ["d", "e", "k/new"] {
        assert_eq!(bench.read(&format!("to/{relative}")), relative);
    }
    assert!(!bench.path("to/z").exists());
    assert_eq!(bench.read("r.jsonl").matches(r#""action":"delete""#).count(), 4);
    // What has changed stays, with all of its folder.
    set_up(true);
    assert_eq!(bench.status("apply p.parquet --no-journal"), 1);
    assert_eq!((bench.read("to/d/f"), bench.read("to/e")), ("another".into(), "e".into()));
    assert!(bench.path("to/d/empty/deep").exists());
    // One that is written into stays as well.
    set_up(false);
    plan(&bench, "sync s3://box to --delete");
    assert_eq!(bench.status("apply p.parquet --no-journal"), 1);
    assert_eq!((bench.read("to/d"), bench.read("to/k/new")), ("d".into(), "k/new".into()));
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

/// Files behind it were moved, and removed.
#[test]
fn a_folder_that_is_a_link_is_not_followed() {
    let bench = Bench::with_objects(&[]);
    bench.file("real/f", "1");
    std::os::unix::fs::symlink("real", bench.path("link")).unwrap();
    for folder in ["link", "link/"] {
        bench.run(&format!("mv {folder} s3://box/m --recursive --no-follow-symlinks"));
        assert_eq!((bench.read("real/f"), bench.lines("list s3://box").len()), ("1".into(), 0));
    }
    let sync = bench.run("sync link s3://box --delete --no-follow-symlinks");
    assert!(stderr(&sync).contains("is empty") || sync.status.success(), "{sync:?}");
    bench.ok("mv link s3://box/m --recursive");
    assert!(!bench.path("real/f").exists());
}

#[test]
fn an_object_is_removed_whose_name_is_that_of_a_folder_now() {
    let bench = Bench::with_objects(&["a", "keep"]);
    bench.file("src/a/b", "1");
    bench.file("src/keep", "keep");
    plan(&bench, "sync src s3://box --delete");
    bench.ok("apply p.parquet");
    assert_eq!(bench.ok("list s3://box --format keys --sort"), "a/b\nkeep\n");
}

#[test]
fn a_plan_is_summed_up() {
    let bench = Bench::with_objects(&["x/a", "x/gone"]);
    bench.file("from/a", "longer than it was");
    bench.file("from/new", "12345");
    plan(&bench, "sync from s3://box/x --delete");
    let text = bench.ok("plan show p.parquet");
    for line in [
        "delete: 1 object,",
        "upload: 2 objects, 23 bytes",
        "because of `missing`: 1",
        "because of `size`: 1",
        "requests: 2 PUT/COPY/POST/LIST, 0 GET/HEAD and 1 DELETE requests",
        "largest: 18 bytes",
        "deleted in s3://box/x/: 1 object",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let line: Value = serde_json::from_str(&bench.ok("plan show p.parquet --json")).unwrap();
    assert_eq!(line["actions"]["upload"]["bytes"], 23);
    assert_eq!(line["deleted"][0]["name"], "s3://box/x/");
    // From another folder, too.
    bench.ok("apply p.parquet --report r.jsonl");
    let mut left = bench.lines("list s3://box --format keys");
    left.sort();
    assert_eq!(left, ["x/a", "x/new"]);
    assert_eq!(bench.read("r.jsonl").matches("\"outcome\":\"done\"").count(), 3);
}

#[test]
fn a_plan_is_printed_as_a_manifest_for_s3_batch_operations() {
    let bench = Bench::with_objects(&["x/a", "x/b"]);
    bench.ok("cp s3://box/x/b s3://box/x/ü,+=c --no-progress --quiet");
    plan(&bench, "cp --recursive s3://box/x/ s3://box/backup/x/");
    let manifest = bench.ok("plan show p.parquet --format s3-batch");
    assert_eq!(manifest, "box,x/a\nbox,x/b\nbox,x/%C3%BC%2C%2B%3Dc\n");
    plan(&bench, "tag set --recursive s3://box/x/ --tags a=b");
    assert_eq!(bench.lines("plan show p.parquet --format s3-batch").len(), 3);
    // What can be done there is printed, and the rest is said.
    bench.ok("cp s3://box/x/b s3://box/y/d --no-progress --quiet");
    plan(&bench, "sync s3://box/x s3://box/y --delete");
    let left_out = bench.run("plan show p.parquet --format s3-batch");
    assert_eq!(left_out.status.code(), Some(1), "{left_out:?}");
    let said = stderr(&left_out);
    assert!(said.contains("3 left out: S3 Batch Operations copy to the same key"), "{said}");
    assert!(said.contains("1 left out: S3 Batch Operations copy, tag and restore"), "{said}");
}

/// Their manifests were printed with exit status 0: sources stayed, other tags were lost, and
/// copies got other keys.
#[test]
fn what_s3_batch_operations_would_do_wrongly_is_no_manifest() {
    let bench = Bench::with_objects(&["x/a", "x/b"]);
    bench.ok("mb s3://other");
    for (command, why) in [
        ("mv --recursive s3://box/x/ s3://other/x/", "remove no source"),
        ("tag add --recursive s3://box/x/ --tags a=b", "replace all tags"),
        ("tag remove --recursive s3://box/x/ --keys a", "replace all tags"),
    ] {
        plan(&bench, command);
        let output = bench.run("plan show p.parquet --format s3-batch");
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(255), ""), "{command}");
        assert!(stderr(&output).contains(why), "{output:?}");
    }
    plan(&bench, "mv --recursive s3://box/x/ s3://other/x/");
    assert!(bench.ok("plan show p.parquet").contains("sources: each is removed"));
    assert!(bench.ok("plan show p.parquet --json").contains("\"removes_sources\":true"));
    plan(&bench, "cp --recursive s3://box/x/ s3://other/x/");
    assert!(!bench.ok("plan show p.parquet").contains("sources:"));
    for (template, lines, why) in [
        ("new-{key}", 0, "2 left out: S3 Batch Operations copy to the same key"),
        ("js:k=>(k.endsWith('a')?'a':'b')+'/x/'+k", 1, "behind one prefix of one bucket"),
    ] {
        let command = format!("cp --recursive s3://box/x/ s3://other --to-key {template}");
        plan(&bench, &command);
        let output = bench.run("plan show p.parquet --format s3-batch");
        let code = if lines == 0 { 1 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert_eq!(stdout(&output).lines().count(), lines, "{output:?}");
        assert!(stderr(&output).contains(why), "{output:?}");
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

#[cfg(unix)]
#[test]
fn links_are_not_followed_where_they_were_not_and_not_replaced() {
    let bench = Bench::with_objects(&["a"]);
    bench.file("files/f", "f");
    bench.file("outside", "o");
    plan(&bench, "cp --recursive files s3://box/up --no-follow-symlinks");
    std::fs::remove_file(bench.path("files/f")).unwrap();
    std::os::unix::fs::symlink(bench.path("outside"), bench.path("files/f")).unwrap();
    let output = bench.run("apply p.parquet");
    assert!(stderr(&output).contains("has changed since"), "{output:?}");
    plan(&bench, "cp s3://box/a down/a");
    std::fs::create_dir_all(bench.path("down")).unwrap();
    std::os::unix::fs::symlink("nowhere", bench.path("down/a")).unwrap();
    let output = bench.run("apply p.parquet");
    assert!(stderr(&output).contains("is a symbolic link"), "{output:?}");
    assert!(bench.path("down/a").is_symlink());
    assert_eq!(bench.lines("list s3://box --format keys"), ["a"]);
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
