//! Versions through the real binary: `rm --versions`, `undelete`, `versions`, `--as-of`, reports of
//! them, and the confirmation before.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::future::Future;
use std::io::{BufRead as _, BufReader};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use s3haul_wire::ops::{Conditions, CreateBucket, PutObject};
use s3haul_wire::{Client, ObjectProperties, Payload};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::beside::client;
use crate::support::{Bench, stderr, stdout};

/// A client beside the command, for what the command does not do.
pub(crate) struct Beside {
    client: Client,
    runtime: Runtime,
}

impl Beside {
    /// With the bucket `box`, which keeps versions.
    pub(crate) fn versioned(bench: &Bench) -> Self {
        let client = client(bench);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let beside = Self { client, runtime };
        beside.wait(
            beside.client.create_bucket(CreateBucket { bucket: "box", ..CreateBucket::default() }),
        );
        beside.wait(beside.client.put_bucket_versioning("box", true));
        beside
    }

    fn wait<T>(&self, request: impl Future<Output = s3haul_wire::Result<T>>) -> T {
        self.runtime.block_on(request).unwrap()
    }

    /// Writes objects, all at a time.
    fn put(&self, objects: &[(String, &'static str)]) {
        let properties = ObjectProperties::default();
        // One after the other where keys repeat.
        for wave in objects.chunks(200) {
            let keys: BTreeSet<_> = wave.iter().map(|(key, _)| key).collect();
            let size = if keys.len() == wave.len() { wave.len() } else { 1 };
            for some in wave.chunks(size) {
                let puts = some.iter().map(|(key, text)| {
                    self.client.put_object(PutObject {
                        bucket: "box",
                        key,
                        payload: Payload::from_bytes(text.as_bytes().into()),
                        properties: &properties,
                        checksum: None,
                        conditions: Conditions::default(),
                    })
                });
                self.wait(futures_util::future::try_join_all(puts));
            }
        }
    }
}

/// `a` with three versions, `b` removed, `c/d` plain.
fn some_versions(bench: &Bench) -> Beside {
    let beside = Beside::versioned(bench);
    let objects = [("a", "1"), ("a", "22"), ("a", "333"), ("b", "4444"), ("c/d", "5")];
    beside.put(&objects.map(|(key, text)| (key.to_owned(), text)));
    bench.ok("rm s3://box/b");
    beside
}

/// Fields of the output of `versions`, a line for each version.
fn told(bench: &Bench, args: &str) -> Vec<String> {
    let rows = bench.lines(&format!("versions {args} --format jsonl"));
    let row = |line: &String| {
        let row: Value = serde_json::from_str(line).unwrap();
        let mark = match (row["is_latest"].as_bool(), row["is_delete_marker"].as_bool()) {
            (Some(true), Some(true)) => "current marker",
            (Some(true), _) => "current",
            (_, Some(true)) => "marker",
            _ => "old",
        };
        format!("{} {} {mark}", row["key"].as_str().unwrap(), row["size"])
    };
    rows.iter().map(row).collect()
}

/// Version ids of an object, the newest first.
fn ids(bench: &Bench, key: &str) -> Vec<String> {
    let lines = bench.lines(&format!("versions s3://box/{key} --format jsonl --fields version_id"));
    let id = |line: &String| {
        serde_json::from_str::<Value>(line).unwrap()["version_id"].as_str().unwrap().to_owned()
    };
    lines.iter().map(id).collect()
}

#[test]
fn versions_are_listed_removed_and_brought_back() {
    let bench = Bench::new();
    some_versions(&bench);
    let a = ["a 3 current", "a 2 old", "a 1 old"];
    let b = ["b 0 current marker", "b 4 old"];
    assert_eq!(told(&bench, "s3://box/a"), a);
    assert_eq!(told(&bench, "s3://box"), [&a[..], &b, &["c/d 1 current"]].concat());
    assert_eq!(told(&bench, "--recursive s3://box/c"), ["c/d 1 current"]);
    assert_eq!(told(&bench, "s3://box/*"), told(&bench, "s3://box"));
    assert_eq!(bench.status("versions s3://box/c"), 1);
    let marker = &ids(&bench, "b")[0];
    assert_eq!(
        bench.ok("undelete s3://box/b"),
        format!("undelete: s3://box/b (version {marker})\n")
    );
    let nothing_left = bench.run("undelete --recursive s3://box");
    assert_eq!((nothing_left.status.code(), stdout(&nothing_left).as_str()), (Some(0), ""));
    let [_, second, first] = &ids(&bench, "a")[..] else { panic!() };
    let lines = [second, first].map(|id| format!("delete: s3://box/a (version {id})"));
    let dry = bench.run("rm s3://box/a --noncurrent --dryrun");
    assert_eq!(stdout(&dry), format!("(dryrun) {}\n(dryrun) {}\n", lines[0], lines[1]));
    assert_eq!(bench.lines("rm s3://box/a --noncurrent --keep 1"), lines[1..]);
    assert_eq!(bench.lines("rm s3://box/a --noncurrent"), lines[..1]);
    assert_eq!(told(&bench, "s3://box"), ["a 3 current", "b 4 current", "c/d 1 current"]);
    let row: Value =
        serde_json::from_str(bench.ok("--json rm s3://box/c/d --versions").lines().next().unwrap())
            .unwrap();
    assert_eq!((row["action"].as_str(), row["bytes"].as_u64()), (Some("delete"), Some(1)));
    assert!(row["version_id"].as_str().unwrap().len() > 5, "{row}");
    bench.ok("rm --recursive s3://box");
    let output = bench.run("rb s3://box --force");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("`s3haul rb --force --versions s3://box`"), "{output:?}");
    let lines = bench.lines("rb s3://box --force --versions");
    assert_eq!(lines.last().unwrap(), "remove_bucket: box");
}

#[test]
fn reports_name_versions_and_bring_them_back() {
    let bench = Bench::new();
    some_versions(&bench);
    let ids = ids(&bench, "a");
    bench.ok("rm --recursive s3://box --noncurrent --keep 1 --report done.csv");
    let report = bench.read("done.csv");
    let row = format!("object,delete,done,,1,,s3://box/a,,,,{}\n", ids[2]);
    assert!(report.contains(&row), "{report}");
    // As if another one had failed.
    let failed = format!(
        "{{\"v\":1,\"event\":\"report\",\"action\":\"rm\",\"source\":\"s3://box\"}}\n\
         {{\"v\":1,\"event\":\"object\",\"action\":\"delete\",\"outcome\":\"failed\",\
         \"source\":\"s3://box/a\",\"version_id\":\"{}\"}}\n\
         {{\"v\":1,\"event\":\"end\",\"outcome\":\"complete\"}}\n",
        ids[1]
    );
    bench.file("failed.jsonl", &failed);
    let line = format!("delete: s3://box/a (version {})\n", ids[1]);
    let retry = "rm --recursive s3://box --noncurrent --retry-failed failed.jsonl";
    assert_eq!(bench.ok(retry), line);
    assert_eq!(told(&bench, "s3://box/a"), ["a 3 current"]);
    // Nor is a version for the object: neither by a run without the flag, nor by a manifest.
    let output = bench.run("rm --recursive s3://box --retry-failed failed.jsonl");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    bench.file("done.jsonl", &failed.replace("\"failed\"", "\"done\""));
    let output = bench.run("rm s3://box --from done.jsonl");
    assert!(stderr(&output).contains("names a version of it"), "{output:?}");
    assert_eq!(told(&bench, "s3://box/a"), ["a 3 current"]);
    // The current version is not taken for one that is not named.
    bench.file("plain.jsonl", &failed.replace("version_id", "other"));
    let output = bench.run("rm --recursive s3://box --versions --retry-failed plain.jsonl");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(told(&bench, "s3://box/a"), ["a 3 current"]);
}

/// The marker was removed, and that the object had been brought back was reported.
#[test]
fn an_object_that_was_removed_again_is_not_brought_back_by_a_retry() {
    let bench = Bench::with_objects(&["a", "b"]);
    bench.ok("versioning enable s3://box");
    bench.ok("rm s3://box --recursive --quiet");
    bench.ok("undelete --recursive s3://box --dryrun --report dry.jsonl");
    // As if both had failed.
    bench.file("failed.jsonl", &bench.read("dry.jsonl").replace("dry_run", "failed"));
    bench.ok("rm s3://box/a --quiet");
    let output = bench.run("undelete --recursive s3://box --retry-failed failed.jsonl");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("a later delete marker hides the object"), "{output:?}");
    assert_eq!(stdout(&output).lines().count(), 1, "{output:?}");
    assert_eq!(bench.ok("list s3://box --format keys"), "b\n");
    assert_eq!(bench.lines("versions s3://box/a").len(), 3, "both markers stay");
}

/// The marker on top was in a later batch, and taken for one of others.
#[test]
fn a_retry_removes_all_markers_of_a_key_however_far_apart_their_rows_are() {
    let others: Vec<_> = (0..70).map(|number| format!("b{number}")).collect();
    let mut keys = vec!["a"];
    keys.extend(others.iter().map(String::as_str));
    let bench = Bench::with_objects(&keys);
    bench.ok("versioning enable s3://box");
    bench.ok("rm s3://box --recursive --quiet");
    bench.ok("rm s3://box/a --quiet");
    bench.ok("undelete --recursive s3://box --dryrun --report dry.jsonl");
    let report = bench.read("dry.jsonl").replace("dry_run", "failed");
    let (of_a, mut rows): (Vec<_>, Vec<_>) =
        report.lines().partition(|line| line.contains("s3://box/a\""));
    // What is on top comes last, behind more rows than are looked at together.
    let [top, below] = of_a[..] else { panic!("{report}") };
    rows.insert(usize::from(!rows[0].contains("s3://box/b")), below);
    rows.insert(rows.iter().rposition(|line| line.contains("s3://box/b")).unwrap() + 1, top);
    bench.file("failed.jsonl", &(rows.join("\n") + "\n"));
    bench.ok("undelete --recursive s3://box --retry-failed failed.jsonl");
    assert_eq!(bench.lines("list s3://box --format keys").len(), 71);
}

/// Where versioning is suspended, an object that was written since is called `null`, too.
#[test]
fn what_is_no_longer_a_marker_is_not_removed_by_a_retry() {
    for (command, action) in [
        ("undelete --recursive s3://box", "undelete"),
        ("rm --recursive s3://box --delete-markers-only", "delete"),
    ] {
        let bench = Bench::with_objects(&["a", "b"]);
        bench.ok("versioning enable s3://box");
        bench.ok("versioning suspend s3://box");
        bench.ok("rm s3://box --recursive --quiet");
        let row = |key: &str| {
            format!(
                "{{\"v\":1,\"event\":\"object\",\"action\":\"{action}\",\"outcome\":\"failed\",\
                 \"source\":\"s3://box/{key}\",\"version_id\":\"null\"}}\n"
            )
        };
        let name = command.split(' ').next().unwrap();
        let failed = format!(
            "{{\"v\":1,\"event\":\"report\",\"action\":\"{name}\",\"source\":\"s3://box\"}}\n\
             {}{}{{\"v\":1,\"event\":\"end\",\"outcome\":\"complete\"}}\n",
            row("a"),
            row("b")
        );
        bench.file("failed.jsonl", &failed);
        bench.file("new", "new");
        bench.ok("cp new s3://box/a --quiet");
        let output = bench.run(&format!("{command} --retry-failed failed.jsonl"));
        assert_eq!(output.status.code(), Some(2), "{command} {output:?}");
        assert!(stderr(&output).contains("it is no delete marker"), "{output:?}");
        assert_eq!(bench.ok("cat s3://box/a"), "new");
        assert!(stdout(&output).contains("s3://box/b"), "{output:?}");
    }
}

#[test]
fn nonsense_is_refused_before_the_first_request() {
    let bench = Bench::new();
    for (args, said) in [
        ("rm s3://none --versions", "--recursive"),
        ("rm s3://none/k --keep 3", "--noncurrent"),
        ("rm s3://none/k --noncurrent --keep -1", "the value of --keep must not be negative"),
        ("rm s3://none/k --min-size -1", "the value of --min-size must not be negative"),
        ("rm s3://none/k --recursive -1", "unexpected argument '-1'"),
        ("rm s3://none/k --bypass-governance", "--versions"),
        ("rm s3://none/k --versions --noncurrent", "cannot be used with"),
        ("rm s3://none/k --max-delete ten", "--max-delete takes a number"),
        ("rm s3://none--use1-az4--x-s3/k --versions", "directory buckets have no versions"),
        ("undelete s3://none", "--recursive"),
        ("undelete s3://none/k --min-size 1", "neither a size"),
        ("rm s3://none/k --delete-markers-only --storage-class STANDARD", "neither a size"),
        ("undelete s3://none/k --since soon", "--since `soon`"),
        ("undelete folder", "S3Uri"),
        ("cp s3://none/k . --as-of 2999-01-01", "lies in the future"),
        ("cp s3://none/k . --as-of whenever", "--as-of `whenever`"),
        ("sync . s3://none --as-of 1d", "--as-of is for sources in S3"),
        ("mv s3://none/k . --as-of 1d", "unexpected argument"),
        ("versions s3://none/k --stop-at z", "--recursive"),
        ("rb s3://none --versions", "--force"),
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(252), "{args}: {output:?}");
        assert!(stderr(&output).contains(said), "{args}: {}", stderr(&output));
    }
}

#[test]
fn limits_are_held_before_anything_is_removed() {
    let bench = Bench::with_objects(&["a", "b", "c"]);
    let output = bench.run("rm --recursive s3://box --max-delete 2");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains("3 objects would be removed"), "{output:?}");
    let output = bench.run("rm --recursive s3://box --exclude a --max-delete 60%");
    assert!(stderr(&output).contains("2 of 3 objects"), "{output:?}");
    assert_eq!(bench.lines("rm --recursive s3://box --exclude a --max-delete 70%").len(), 2);
    assert_eq!(bench.lines("rm --recursive s3://box --max-delete 1").len(), 1);
}

#[test]
fn a_bucket_is_read_as_it_was() {
    let bench = Bench::new();
    let beside = Beside::versioned(&bench);
    beside.put(&[("d/a".to_owned(), "old"), ("d/gone".to_owned(), "gone")]);
    let at = a_second_between();
    beside.put(&[("d/a".to_owned(), "new"), ("d/more".to_owned(), "more")]);
    bench.ok("rm s3://box/d/gone");
    bench.ok(&format!("sync s3://box/d then --as-of {at}"));
    bench.ok("sync s3://box/d now");
    assert_eq!((bench.read("then/a"), bench.read("now/a")), ("old".into(), "new".into()));
    assert_eq!(bench.read("then/gone"), "gone");
    assert!(
        !bench.folder().join("then/more").exists() && !bench.folder().join("now/gone").exists()
    );
    assert_eq!(bench.ok(&format!("cp s3://box/d/a - --as-of {at}")), "old");
    let mut lines = bench.lines(&format!("sync s3://box/d s3://box/d --delete --as-of {at}"));
    lines.sort();
    let copied = ["a", "gone"].map(|name| format!("copy: s3://box/d/{name} to s3://box/d/{name}"));
    assert_eq!(lines[..2], copied);
    assert_eq!(lines[2..], ["delete: s3://box/d/more"]);
    assert_eq!(bench.ok("cp s3://box/d/a -"), "old");
    let output = bench.run(&format!("cp s3://box/d/more - --as-of {at}"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("did not exist at that time"), "{output:?}");

    bench.ok("mb s3://plain");
    let output = bench.run("cp --recursive s3://plain . --as-of 1s");
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    assert!(stderr(&output).contains("`s3://plain` has no versions"), "{output:?}");
}

/// A time in whole seconds that all before lies before and all after lies after.
pub(crate) fn a_second_between() -> String {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let wait_until = |second| {
        while now() < second {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let second = now() + 1;
    wait_until(second + 1);
    jiff::Timestamp::from_second(second.try_into().unwrap()).unwrap().to_string()
}

/// Removing all versions is stopped at any point, by force, and goes on with the next run.
#[test]
fn a_removal_that_is_killed_goes_on_with_the_next() {
    const KEYS: usize = 2_000;
    let bench = Bench::slow("60ms");
    let beside = Beside::versioned(&bench);
    let names = || (0..KEYS).map(|n| (format!("k{:02}/{n}", n % 37), "x"));
    beside.put(&names().collect::<Vec<_>>());
    beside.put(&names().collect::<Vec<_>>());
    bench.file("slow", "[default]\ns3 =\n  max_concurrent_requests = 1\n");
    let left =
        || bench.run("versions s3://box --format keys").stdout.split(|b| *b == b'\n').count();
    let (mut before, mut kills) = (left(), 0);
    assert_eq!(before, 2 * KEYS + 1);
    for _ in 0..3 {
        let config = bench.folder().join("slow");
        let mut command = bench.command("rm --recursive s3://box --versions --page-size 300");
        let mut child = command.env("AWS_CONFIG_FILE", config).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        let read = lines.read_line(&mut line).unwrap();
        if read == 0 {
            assert!(child.wait().unwrap().success());
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = left();
        assert!(now < before, "{now} of {before} are left after `{line}`");
        (before, kills) = (now, kills + usize::from(now > 1));
    }
    assert!(kills > 0, "it was never stopped in its midst");
    bench.ok("rm --recursive s3://box --versions --only-show-errors");
    assert_eq!(left(), 1, "nothing but the end of the output");
    bench.ok("rb s3://box");
}

mod terminal {
    //! Questions, on a terminal of the test's own.

    use std::fs::File;
    use std::io::Write as _;
    use std::process::Stdio;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    /// Runs a command that asks on a terminal where `answer` was typed; gives the exit code and
    /// standard output.
    fn answered(bench: &Bench, args: &str, answer: &str) -> (i32, String) {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let open = || File::options().read(true).write(true).open(&name).unwrap();
        let (input, error) = (open(), open());
        let mut controller = File::from(controller);
        controller.write_all(format!("{answer}\n").as_bytes()).unwrap();
        let output = bench
            .command(&format!("--no-progress {args}"))
            .stdin(Stdio::from(input))
            .stderr(Stdio::from(error))
            .output()
            .unwrap();
        (output.status.code().unwrap(), stdout(&output))
    }

    #[test]
    fn removing_a_whole_bucket_or_versions_needs_confirmation() {
        let bench = Bench::with_objects(&["a", "b/c"]);
        for args in [
            "rm --recursive s3://box",
            "rm s3://box/*",
            "rm s3://box/?*",
            "rm --versions s3://box/a",
            "rm --recursive --noncurrent s3://box/b",
            "rb --force --versions s3://box",
        ] {
            assert_eq!(answered(&bench, args, "n"), (1, String::new()), "{args}");
        }
        assert_eq!(bench.lines("ls --recursive s3://box").len(), 2);
        // Neither a part of a bucket nor a dry run needs confirmation.
        for args in ["rm --recursive s3://box --dryrun", "rm --recursive s3://box/b --dryrun"] {
            assert_eq!(answered(&bench, args, "n").0, 0, "{args}");
        }
        let (code, lines) = answered(&bench, "rm --recursive s3://box/b", "n");
        assert_eq!((code, lines.as_str()), (0, "delete: s3://box/b/c\n"));
        let (code, lines) = answered(&bench, "rm --recursive s3://box", "yes");
        assert_eq!((code, lines.as_str()), (0, "delete: s3://box/a\n"));
        assert_eq!(answered(&bench, "rm --recursive s3://box --yes", "n").0, 0);
    }
}
