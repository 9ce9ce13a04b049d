//! `--from`: objects that a file names instead of a listing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use md5::{Digest as _, Md5};
use s3haul_wire::units::hex;
use serde_json::json;

use crate::support::{Bench, stderr, stdout};

/// Keys that are left in the bucket.
fn keys(bench: &Bench) -> Vec<String> {
    let mut keys = bench.lines("list s3://box --format keys");
    keys.sort();
    keys
}

/// Sorted lines of standard output, standard error, and the exit code.
fn run(bench: &Bench, args: &str) -> (Vec<String>, String, i32) {
    let output = bench.run(args);
    let mut lines: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    lines.sort();
    (lines, stderr(&output), output.status.code().unwrap())
}

#[test]
fn objects_are_removed_that_a_file_names_in_any_format() {
    let lines = "s3://box/d/b c\nd/x\n";
    let batch = "box,d%2Fb+c\nbox,d/x\n";
    let csv = "size,key\r\n1,d/b c\r\n2,d/x\r\n";
    let json = "{\"bucket\":\"box\",\"key\":\"d/b c\"}\n{\"Key\":\"d/x\"}";
    for (name, text, flags) in [
        ("keys.txt", lines, ""),
        ("keys", lines, "--from-format lines"),
        ("batch.csv", batch, "--from-format s3-batch"),
        ("raw.csv", "box,d/b c\nbox,d/x\n", ""),
        ("named.csv", csv, ""),
        ("named", csv, ""),
        ("keys.jsonl", json, ""),
        ("keys.json", json, "--from-format jsonl"),
    ] {
        let bench = Bench::with_objects(&["d/x", "d/y", "e"]);
        bench.file("f", "1");
        let output = bench.command("cp f").arg("s3://box/d/b c").output().unwrap();
        assert!(output.status.success());
        bench.file(name, text);
        let (lines, messages, code) = run(&bench, &format!("rm s3://box/d --from {name} {flags}"));
        let removed = ["delete: s3://box/d/b c", "delete: s3://box/d/x"];
        assert_eq!((lines, messages.as_str(), code), (removed.map(str::to_owned).to_vec(), "", 0));
        assert_eq!(keys(&bench), ["d/y", "e"], "{name}");
    }
}

/// `a+b` was decoded and the object `a b` removed.
#[test]
fn rows_that_may_be_encoded_or_not_remove_nothing() {
    for text in ["box,x\nbox,a+b\n", "box,x\nbox,%78\n", "box,x,\nbox,%78,\n"] {
        let bench = Bench::with_objects(&["x", "a+b"]);
        bench.file("f", "1");
        bench.command("cp f").arg("s3://box/a b").output().unwrap();
        bench.file("list.csv", text);
        for command in ["rm s3://box", "mv s3://box s3://box/new"] {
            let (lines, messages, code) = run(&bench, &format!("{command} --from list.csv"));
            assert_eq!((lines, code), (vec![], 1), "{messages}");
            for part in
                ["row 2 of the manifest `", "such as `bucket,key`", "--from-format s3-batch"]
            {
                assert!(messages.contains(part), "{messages}");
            }
        }
        assert_eq!(keys(&bench), ["a b", "a+b", "x"]);
    }
    // Another row decides, also a later one of a packed file.
    let bench = Bench::with_objects(&["x", "a+b"]);
    std::fs::write(bench.path("list.csv.gz"), gzip("box,a+b\nbox,no b\n")).unwrap();
    let removed = ["delete: s3://box/a+b", "delete: s3://box/no b"];
    assert_eq!(run(&bench, "rm s3://box --from list.csv.gz").0, removed);
    assert_eq!(keys(&bench), ["x"]);
}

#[test]
fn what_lies_outside_is_never_acted_upon() {
    let bench = Bench::with_objects(&["d/a", "dx", "e"]);
    bench.file("keys", "d/a\ndx\ns3://other/d/a\ns3://box\n");
    let (lines, messages, code) = run(&bench, "rm s3://box/d --from keys --report r.jsonl");
    assert_eq!((lines, code), (vec!["delete: s3://box/d/a".to_owned()], 1));
    assert_eq!(keys(&bench), ["dx", "e"]);
    for line in [
        "delete failed: s3://box/dx it lies outside of the address that the command was given\n",
        "delete failed: s3://other/d/a the manifest names it in another bucket than the command\n",
        "delete failed: s3://box/ the manifest has no key in this row\n",
    ] {
        assert!(messages.contains(line), "{messages}");
    }
    // They are refused again, and nothing else is done.
    let again = "rm s3://box/d --from keys --retry-failed r.jsonl";
    let (lines, messages, code) = run(&bench, again);
    assert_eq!((lines, code), (vec![], 1));
    assert_eq!(messages.matches("delete failed: ").count(), 3, "{messages}");
    let foreign = "delete failed: s3://box/dx it is not what this command would do\n";
    assert!(messages.contains(foreign), "{messages}");
    // No command is advised that is refused for ever.
    bench.file("keys", "1\n2\n3\n4\n");
    for more in ["--report r.jsonl", "--retry-failed r.jsonl --report r2.jsonl", "--journal j"] {
        let (_, messages, _) = run(&bench, &format!("rm s3://box/d --from keys {more}"));
        let last = messages.lines().last().unwrap();
        assert!(last.ends_with("and fails alike if it is tried again"), "{messages}");
    }
    bench.file("versions.csv", "key,version_id,is_latest\ne,v1,false\ne,v1,\n");
    let (lines, messages, code) = run(&bench, "rm s3://box --from versions.csv");
    assert_eq!((lines, code), (vec![], 1), "{messages}");
    assert!(messages.contains("s3://box/e the manifest names a version of it"), "{messages}");
    assert_eq!(keys(&bench), ["dx", "e"]);
}

#[test]
fn a_row_of_an_object_that_was_replaced_removes_nothing() {
    let bench = Bench::with_objects(&["a", "b", "c"]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let listed = bench.ok("list s3://box --format csv");
    bench.file("inventory.csv", &listed);
    bench.run_with_input("pipe s3://box/a", "another");
    let (lines, messages, code) = run(&bench, "rm s3://box --from inventory.csv --older-than 1s");
    assert_eq!((lines.len(), code), (2, 1), "{lines:?} {messages}");
    let line = "delete failed: s3://box/a the object was replaced and was not removed\n";
    assert!(messages.contains(line), "{messages}");
    assert_eq!(keys(&bench), ["a"]);
    // Without conditions it is what the AWS tools do.
    assert_eq!(run(&bench, "rm s3://box --from inventory.csv").2, 0);
    assert_eq!(keys(&bench), [""; 0]);
}

#[test]
fn an_inventory_without_buckets_is_of_the_bucket_that_it_lists() {
    let bench = Bench::with_objects(&["a"]);
    bench.ok("mb s3://inv");
    bench.ok("mb s3://other");
    bench.ok("cp s3://box/a s3://other/a --quiet");
    let part = gzip("\"a\"\n");
    let manifest = put_inventory(&bench, "CSV", "Key", &[("1.csv.gz", part.as_slice())]);
    bench.file("manifest.json", &manifest);
    let (lines, messages, code) = run(&bench, "rm s3://other --from manifest.json");
    assert_eq!((lines, code), (vec![], 1));
    assert!(messages.contains("the manifest names it in another bucket"), "{messages}");
    assert_eq!(run(&bench, "rm s3://box --from manifest.json").0, ["delete: s3://box/a"]);
}

#[test]
fn names_are_taken_by_what_a_listing_shows_of_them() {
    let bench = Bench::with_objects(&["d/a"]);
    bench.file("f", "1");
    bench.ok("cp f s3://box/d/cold --storage-class GLACIER_IR --quiet");
    bench.file("keys", "d/a\nd/cold\n");
    let command = "rm s3://box --from keys --dryrun";
    // HEAD says nothing of the class STANDARD.
    let filter = "js:o=>o.StorageClass!==\"STANDARD\"";
    let output = bench.command(command).args(["--filter", filter]).output().unwrap();
    assert_eq!(stdout(&output), "(dryrun) delete: s3://box/d/cold\n");
    let restored = run(&bench, "restore s3://box --from keys --days 1 --dryrun");
    assert_eq!(restored, (vec![], String::new(), 0));
    // A wildcard is one below the address, with or without --recursive.
    bench.file("keys", "d/a\n");
    assert_eq!(run(&bench, "rm s3://box/?/ --from keys").0, ["delete: s3://box/d/a"]);
}

#[test]
fn no_object_is_moved_over_another_one_that_is_named() {
    let bench = Bench::with_objects(&["d1", "a/d1"]);
    bench.file("keys", "d1\na/d1\n");
    let (lines, messages, code) = run(&bench, "mv s3://box/ s3://box/a/ --from keys");
    assert_eq!(
        (lines.as_slice(), code),
        (&["move: s3://box/a/d1 to s3://box/a/a/d1".into()][..], 1)
    );
    assert!(messages.contains("is also that of another object of this job"), "{messages}");
    assert_eq!(keys(&bench), ["a/a/d1", "d1"]);
}

#[test]
fn what_is_no_report_is_not_read_as_one() {
    let bench = Bench::with_objects(&["a"]);
    let event = "{\"event\":\"object\",\"action\":\"tag\",\"status\":\"done\",\
                 \"source\":\"s3://box/a\"}\n";
    for (line, flags) in
        [(event, "--from-format report"), (event, ""), ("{\"x\":1}\n", "--from-format report")]
    {
        bench.file("f.jsonl", line);
        let (lines, messages, code) = run(&bench, &format!("rm s3://box --from f.jsonl {flags}"));
        assert_eq!((lines, code), (vec![], 1));
        assert!(messages.contains("write one with --report"), "{messages}");
    }
}

/// What the command never came to is not in it.
#[test]
fn a_report_of_a_command_that_did_not_come_to_its_end_is_warned_of() {
    for name in ["r.jsonl", "r.csv"] {
        let bench = Bench::with_objects(&["a"]);
        bench.ok(&format!("cp s3://box/a t --report {name}"));
        let whole = bench.read(name);
        let end = whole.lines().last().unwrap();
        let is_chosen = |line: &&str| line.contains("object") || line.starts_with("event");
        let chosen: Vec<_> = whole.lines().filter(is_chosen).collect();
        for (report, expected) in [
            (format!("{}\n", chosen.join("\n")), 0),
            (whole.clone(), 0),
            (whole.replace(end, &end.replace("complete", "incomplete")), 2),
            (whole.replace(&format!("{end}\n"), ""), 2),
        ] {
            bench.file(name, &report);
            let from = format!("--from {name} --from-format report --report new.jsonl");
            let (lines, messages, code) = run(&bench, &format!("cp s3://box s3://box/to {from}"));
            assert_eq!((lines.len(), code), (1, expected), "{report} {messages}");
            assert_eq!(messages.contains("did not finish"), code == 2, "{messages}");
            let new = bench.read("new.jsonl");
            assert_eq!(new.contains("\"incomplete\""), code == 2, "{new}");
        }
    }
}

/// It was taken for a whole one, and prefixes and reports of `run` for lists of nothing.
#[test]
fn a_json_listing_that_failed_or_names_no_object_is_refused() {
    let bench = Bench::with_objects(&["a", "d/b"]);
    bench.file("commands", "head s3://box/a\n");
    bench.ok("run commands --report run.jsonl");
    let failed = stdout(&bench.run("list s3://none --json"));
    let listed = bench.ok("list s3://box --json");
    for (text, why) in [
        (failed.clone(), "did not come to its end"),
        (listed + &failed, "did not come to its end"),
        (bench.ok("ls s3://box --json"), "--recursive"),
        (bench.read("run.jsonl"), "it is the event `run`"),
    ] {
        let output = bench.run_with_input("tag set s3://box --from - --tags a=b", &text);
        assert_eq!(output.status.code(), Some(1), "{text} {output:?}");
        assert!(stderr(&output).contains(why), "{output:?}");
    }
    for text in [bench.read("run.jsonl"), bench.ok("list s3://box --json")] {
        let output = bench.run_with_input("rm s3://box --from - --from-format report", &text);
        assert!(stderr(&output).contains("it is no row of a report"), "{output:?}");
    }
    let listed = bench.ok("ls s3://box --recursive --summarize --json");
    let output = bench.run_with_input("rm s3://box --from -", &listed);
    assert_eq!((output.status.code(), keys(&bench)), (Some(0), vec![]), "{output:?}");
}

/// What was never copied was removed.
#[test]
fn a_report_of_a_dry_run_removes_only_what_it_would_have() {
    let bench = Bench::with_objects(&["d/a", "d/b"]);
    for name in ["r.csv", "r.jsonl"] {
        bench.ok(&format!("cp s3://box/d t --recursive --report {name} --dryrun"));
        for rest in ["", " --dryrun", " --plan p.parquet"] {
            let (lines, messages, code) =
                run(&bench, &format!("rm s3://box/d --from {name}{rest}"));
            assert_eq!((lines, code), (vec![], 1), "{messages}");
            assert!(messages.contains("the report is of a dry run"), "{messages}");
        }
        // What is moved is copied before.
        let moved = run(&bench, &format!("mv s3://box/d m --recursive --from {name} --dryrun"));
        assert_eq!((moved.0.len(), moved.2), (2, 0), "{}", moved.1);
        let copied = run(&bench, &format!("cp s3://box/d to --recursive --from {name}"));
        assert_eq!((copied.0.len(), copied.2), (2, 0), "{}", copied.1);
    }
    assert_eq!(keys(&bench), ["d/a", "d/b"]);
    for (name, key) in [("r.csv", "d/a"), ("r.jsonl", "d/b")] {
        bench.ok(&format!("rm s3://box/{key} --report {name} --dryrun"));
        let refused = run(&bench, &format!("mv s3://box/d m --recursive --from {name}"));
        assert_eq!((refused.0.len(), refused.2), (0, 1), "{}", refused.1);
        let removed = run(&bench, &format!("rm s3://box/d --from {name}"));
        assert_eq!((removed.0.len(), removed.2), (1, 0), "{}", removed.1);
    }
    assert_eq!(keys(&bench), [""; 0]);
}

#[test]
fn filters_and_scripts_apply() {
    let bench = Bench::with_objects(&["a.txt", "b.log", "long-name.log"]);
    bench.file("keys", "a.txt\nb.log\nlong-name.log\nnone.log\n");
    let filtered = "rm s3://box --from keys --dryrun --only-show-errors";
    let (lines, ..) = run(&bench, &format!("{filtered} --exclude *.txt"));
    let names = ["b.log", "long-name.log", "none.log"];
    assert_eq!(lines, names.map(|name| format!("(dryrun) delete: s3://box/{name}")));
    let (lines, ..) = run(&bench, &filtered.replace("box", "box/*.txt"));
    assert_eq!(lines, ["(dryrun) delete: s3://box/a.txt"]);
    let (lines, messages, code) = run(&bench, &format!("{filtered} --filter js:o=>o.Size>5"));
    assert_eq!((lines.len(), messages.as_str(), code), (1, "", 0), "{lines:?}");
    assert_eq!(lines[0], "(dryrun) delete: s3://box/long-name.log");
}

#[test]
fn objects_are_copied_under_the_names_of_a_recursive_copy() {
    let bench = Bench::with_objects(&["d/a", "d/s/b", "d/c", "z"]);
    bench.ok("mb s3://other");
    bench.file("keys", "d/a\nd/s/b\nd/none\n");
    let (lines, messages, code) = run(&bench, "cp s3://box/d t --from keys");
    let expected = ["download: s3://box/d/a to t/a", "download: s3://box/d/s/b to t/s/b"];
    assert_eq!((lines, code), (expected.map(str::to_owned).to_vec(), 1));
    assert!(messages.starts_with("download failed: s3://box/d/none to t/none "), "{messages}");
    assert_eq!(bench.read("t/s/b"), "d/s/b");
    bench.file("keys", "d/a\nd/s/b\n");
    let (lines, messages, code) = run(&bench, "mv s3://box/d s3://other/x --from keys");
    let expected =
        ["move: s3://box/d/a to s3://other/x/a", "move: s3://box/d/s/b to s3://other/x/s/b"];
    assert_eq!((lines, messages.as_str(), code), (expected.map(str::to_owned).to_vec(), "", 0));
    assert_eq!(keys(&bench), ["d/c", "z"]);
    // New names within a bucket take the manifest twice.
    bench.file("keys", "d/c\nz\n");
    bench.ok("mv s3://box s3://box --from keys --to-key {key}.old");
    assert_eq!(keys(&bench), ["d/c.old", "z.old"]);
    let twice = "mv s3://box s3://box --from - --to-key {key}.older";
    let output = bench.run_with_input(twice, "z.old\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("can be read only once"), "{output:?}");
}

/// A listing's columns are enough for a copy, so that no HEAD requests are sent.
#[test]
fn a_listing_spares_the_requests_that_ask() {
    let bench = Bench::with_objects(&["a", "b"]);
    bench.ok("list s3://box --format csv --output-file all.csv");
    bench.ok("list s3://box --format keys --output-file keys");
    let asked = |from: &str| {
        let dry = bench.run(&format!("cp s3://box t --from {from} --dryrun --estimate"));
        assert_eq!(stdout(&dry).lines().count(), 2, "{dry:?}");
        let messages = stderr(&dry);
        let sent = messages.lines().find(|line| line.contains("this dry run sent")).unwrap();
        sent.split("LIST, ").nth(1).unwrap().split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(asked("keys"), 2);
    assert_eq!(asked("all.csv"), 0);
    bench.ok("cp s3://box t --from all.csv --only-show-errors");
    assert_eq!((bench.read("t/a"), bench.read("t/b")), ("a".to_owned(), "b".to_owned()));
}

#[test]
fn one_command_feeds_the_next() {
    let bench = Bench::with_objects(&["a", "b", "c"]);
    bench.ok("tag set s3://box/a --tags x=1");
    let tags = bench.ok("tag get s3://box --recursive --format jsonl");
    let is_wanted = |line: &&str| !line.contains("\"key\":\"c\"");
    let some = tags.lines().filter(is_wanted).collect::<Vec<_>>().join("\n");
    let output = bench.run_with_input("tag set s3://box --from - --tags y=2", &some);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stdout(&output).lines().count(), 2);
    assert!(bench.ok("tag get s3://box/c").ends_with("\t\n"));
    bench.file("wall/x", "a file where a folder must be");
    // What was copied is removed; what failed is not.
    bench.file("keys", "a\nb\n");
    bench.file("t/b/x", "b cannot be written");
    let (_, _, code) = run(&bench, "cp s3://box t --from keys --report r.csv");
    assert_eq!(code, 1);
    bench.ok("rm s3://box --from r.csv --only-show-errors");
    assert_eq!(keys(&bench), ["b", "c"]);
}

#[test]
fn nonsense_is_refused_before_the_first_request() {
    let bench = Bench::with_objects(&["a"]);
    bench.file("keys", "a\n");
    std::fs::hard_link(bench.folder().join("keys"), bench.folder().join("link")).unwrap();
    for (args, code, reason) in [
        ("cp t s3://box --from keys", 252, "the source `t` is not there"),
        ("rm s3://box --from none", 255, "could not open the manifest"),
        ("rm s3://box --from .", 255, "could not open the manifest"),
        ("rm s3://box --from-format csv", 252, "--from"),
        ("rm s3://box --from keys --report keys", 252, "would overwrite the file of --from"),
        ("rm s3://box --from keys --report link", 252, "would overwrite the file of --from"),
        ("rm s3://box --from keys --versions", 252, "--from names objects as they are now"),
        ("cp s3://box - --from keys", 252, "Streaming"),
        ("sync s3://box t --from keys", 252, "unexpected argument"),
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(code), "{args}: {output:?}");
        assert!(stderr(&output).contains(reason), "{args}: {output:?}");
    }
    assert_eq!(bench.read("keys"), "a\n");
    bench.file("bad.csv", "key,size\na,1,2\n");
    let output = bench.run("rm s3://box --from bad.csv");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("row 2 of the manifest"), "{output:?}");
    assert_eq!(keys(&bench), ["a"]);
    bench.file("empty", "");
    assert_eq!(bench.ok("rm s3://box --from empty"), "");
    assert_eq!(keys(&bench), ["a"], "an empty file is not a whole bucket");
}

/// Puts an inventory of these parts into a bucket of its own and gives its `manifest.json`.
pub(crate) fn put_inventory(
    bench: &Bench,
    format: &str,
    schema: &str,
    parts: &[(&str, &[u8])],
) -> String {
    let mut files = Vec::new();
    for (name, bytes) in parts {
        std::fs::write(bench.folder().join("part"), bytes).unwrap();
        let key = format!("box/daily/data/{name}");
        bench.ok(&format!("cp part s3://inv/{key} --only-show-errors"));
        let md5 = hex(&Md5::digest(bytes));
        files.push(json!({"key": key, "size": bytes.len(), "MD5checksum": md5}));
    }
    let document = json!({
        "sourceBucket": "box",
        "destinationBucket": "arn:aws:s3:::inv",
        "version": "2016-11-30",
        "creationTimestamp": "1514944800000",
        "fileFormat": format,
        "fileSchema": schema,
        "files": files,
    });
    serde_json::to_string_pretty(&document).unwrap()
}

pub(crate) fn gzip(text: &str) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn inventories_are_read_part_by_part() {
    let schema = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size";
    let parts = [
        gzip(
            "\"box\",\"a%2Fb\",\"v1\",\"true\",\"false\",\"1\"\n\
             \"box\",\"c\",\"v2\",\"false\",\"false\",\"1\"\n",
        ),
        gzip("\"box\",\"d+e\",\"v3\",\"true\",\"false\",\"1\"\n"),
    ];
    let parts = [("1.csv.gz", parts[0].as_slice()), ("2.csv.gz", parts[1].as_slice())];
    for from in ["manifest.json", "s3://inv/box/daily/manifest.json"] {
        let bench = Bench::with_objects(&["a/b", "c", "keep"]);
        bench.ok("mb s3://inv");
        bench.file("f", "1");
        assert!(bench.command("cp f").arg("s3://box/d e").output().unwrap().status.success());
        let manifest = put_inventory(&bench, "CSV", schema, &parts);
        bench.file("manifest.json", &manifest);
        bench.ok("cp manifest.json s3://inv/box/daily/manifest.json --only-show-errors");
        let (lines, messages, code) = run(&bench, &format!("rm s3://box --from {from}"));
        let removed = ["delete: s3://box/a/b", "delete: s3://box/d e"].map(str::to_owned);
        assert_eq!((lines, messages.as_str(), code), (removed.to_vec(), "", 0));
        assert_eq!(keys(&bench), ["c", "keep"], "`c` has a newer version");
        // A part that is not what the manifest says ends the command.
        bench.ok("cp f s3://inv/box/daily/data/1.csv.gz --only-show-errors");
        let (lines, messages, code) = run(&bench, &format!("rm s3://box --from {from}"));
        assert_eq!((lines, code), (vec![], 1));
        assert!(messages.contains("is not what the manifest of the inventory says"), "{messages}");
        bench.ok("rm s3://inv/box/daily/data/1.csv.gz");
        let (_, messages, code) = run(&bench, &format!("rm s3://box --from {from}"));
        assert!(
            code == 1 && messages.contains("could not read `s3://inv/box/daily/data/1"),
            "{messages}"
        );
    }
}

/// The fixture names objects that a dry run would remove; what is no current object is left out.
#[test]
fn inventories_are_read_in_tables_too() {
    let bench = Bench::with_objects(&["keep"]);
    bench.ok("mb s3://inv");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let parquet = std::fs::read(folder.join("snappy.parquet")).unwrap();
    let expected: Vec<_> = (0..800_u64)
        .filter(|number| number % 11 != 0 && number % 5 != 0)
        .filter(|number| number % 7 == 2)
        .map(|number| format!("s3://box/logs/2/file {:06} é.txt", number * 7919 % 100_003))
        .collect();
    let manifest = put_inventory(&bench, "Parquet", "a schema", &[("1.parquet", &parquet)]);
    bench.file("manifest.json", &manifest);
    std::fs::write(bench.folder().join("table"), &parquet).unwrap();
    for from in ["manifest.json", "table"] {
        let command = "rm s3://box --include * --dryrun --only-show-errors";
        let (mut lines, messages, code) =
            run(&bench, &format!("{command} --exclude * --include logs/2/* --from {from}"));
        let mut wanted: Vec<_> =
            expected.iter().map(|name| format!("(dryrun) delete: {name}")).collect();
        wanted.sort();
        lines.sort();
        assert_eq!((lines, code), (wanted, 0), "{from} {messages}");
    }
    // The output of a listing feeds a command, without HEAD requests.
    bench.ok("list s3://box --format parquet --output-file all.parquet");
    bench.ok("cp s3://box t --from all.parquet --only-show-errors");
    assert_eq!(bench.read("t/keep"), "keep");
    let output = bench.run_with_input("rm s3://box --from - --from-format parquet", "x");
    assert!(stderr(&output).contains("it has to be a file"), "{output:?}");
}

/// Its lines would be taken for keys, of which none is there: a removal that succeeds.
#[test]
fn what_list_prints_for_people_is_not_taken_for_keys() {
    let bench = Bench::with_objects(&["a"]);
    for (file, flags) in [("l.tsv", "--format tsv"), ("l.txt", "")] {
        bench.ok(&format!("list s3://box {flags} --output-file {file}"));
        let (lines, messages, code) = run(&bench, &format!("rm s3://box --from {file}"));
        assert_eq!((lines, code), (vec![], 1), "{messages}");
        assert!(messages.contains("--format csv"), "{messages}");
        let taken = run(&bench, &format!("rm s3://box --from {file} --from-format lines"));
        assert_eq!(taken.2, 0, "{}", taken.1);
    }
    assert_eq!(keys(&bench), ["a"]);
}

/// Their headers and rows were taken for keys, with exit status 0.
#[test]
fn what_is_piped_without_a_name_is_read_as_what_it_is_or_refused() {
    let bench = Bench::with_objects(&["d/a", "d/b,c", "\"d/b,c\"", "key", "x"]);
    let before = keys(&bench);
    for (args, more) in [
        ("list s3://box/d --format csv --fields key", &[][..]),
        ("list s3://box/d --format csv --fields key --no-header", &[]),
        ("list s3://box/d --format tsv --no-header", &[]),
        ("list s3://box/d --format csv --no-header", &[]),
        ("tag get s3://box --recursive", &[]),
        ("list s3://box/d --format keys", &[("\n", "\0")]),
        ("list s3://box/d --format keys", &[("d/", "box,d%2F")]),
    ] {
        let listed = more.iter().fold(bench.ok(args), |text, (old, new)| text.replace(old, new));
        for from in ["--from -", "--from list"] {
            bench.file("list", &listed);
            let output = bench.run_with_input(&format!("rm s3://box {from} --dryrun"), &listed);
            let messages = stderr(&output);
            assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{args}");
            let is_clear = messages.contains("--from-format") || messages.contains("NUL");
            assert!(is_clear, "{args}: {messages}");
        }
    }
    assert_eq!(keys(&bench), before);
    let quoted =
        bench.ok("list s3://box/d --format csv --fields key,size").replace("d/a", "\"d/a\"");
    for listed in [
        quoted.replace("key,size", "\"key\",\"size\""),
        quoted
            .replace("key,size", "key,size,note")
            .replace(",5\r", ",5,\r")
            .replace(",3\r", ",3,\r"),
        bench.ok("tag get s3://box/d --recursive --format csv"),
    ] {
        let output = bench.run_with_input("rm s3://box --from - --dryrun", &listed);
        let expected = ["(dryrun) delete: s3://box/d/a", "(dryrun) delete: s3://box/d/b,c"];
        let mut lines: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
        lines.sort();
        assert_eq!(lines, expected, "{listed}: {output:?}");
    }
    let output = bench.run_with_input("rm s3://box --from - --from-format csv", "key\nd/a\n");
    assert_eq!(stdout(&output), "delete: s3://box/d/a\n", "{output:?}");
    let output = bench.run_with_input("rm s3://box --from -", "d/b,c\nx\n");
    assert_eq!(
        (output.status.code(), keys(&bench).as_slice()),
        (Some(0), &["s3://box/\"d/b,c\"".to_owned(), "s3://box/key".to_owned()][..])
    );
}

/// A key with a backslash was another one, so that `rm` removed nothing, or something else.
#[test]
fn what_list_and_find_print_is_read_back() {
    let keys = [
        "a\\n",
        "a\n",
        "\\\\",
        "tab\t",
        " b ",
        "c\r",
        "\"q\"",
        "{a}",
        "{\"key\":\"keep\"}",
        "s3://keep",
        "Key,Size",
        "key",
        "2026-11-28 11:16:16  2 a",
    ];
    let bench = Bench::with_objects(&["keep"]);
    for command in ["list s3://box --exclude keep --format keys", "find s3://box --exclude keep"] {
        for (number, key) in keys.iter().enumerate() {
            let mut put = bench.command("pipe");
            put.arg(format!("s3://box/{key}"));
            bench.file("in", &number.to_string());
            let input = std::fs::File::open(bench.folder().join("in")).unwrap();
            assert!(put.stdin(input).status().unwrap().success(), "{key:?}");
        }
        let output = bench.run_with_input("rm s3://box --from -", &bench.ok(command));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(bench.ok("list s3://box --format keys"), "keep\n", "{command}");
    }
}

/// They had no column `key`, were a directory, or had a NUL character in their first line.
#[test]
fn tables_in_parquet_of_something_else_are_refused_as_what_they_are() {
    let bench = Bench::with_objects(&["a", "b"]);
    bench.ok("cp s3://box t --recursive --quiet --report r.parquet");
    bench.ok("cp s3://box t --recursive --quiet --plan p.parquet");
    bench.ok("list s3://box --format parquet --fields size,etag --output-file l.parquet");
    bench.ok("list s3://box --format parquet --output-file whole.parquet");
    let report = "--from reads no reports in Parquet: write the report as JSON lines or CSV";
    for (file, reason) in [
        ("r.parquet", report),
        ("r.parquet/part-000000.parquet", report),
        ("p.parquet", "is a plan, and no list of objects: `s3haul apply` does what it says"),
        ("l.parquet", "has no column `key`, but `size`, `etag`"),
        ("whole.parquet --from-format lines", "is a Parquet table, but --from-format names"),
        ("whole.parquet --from-format report", "is a Parquet table, but --from-format names"),
    ] {
        let (lines, messages, code) = run(&bench, &format!("rm s3://box --from {file}"));
        assert!(lines.is_empty() && code != 0, "{file}: {lines:?} {code}");
        assert!(messages.contains(reason), "{file}: {messages}");
    }
    assert_eq!(keys(&bench), ["a", "b"]);
}

/// An error that says what to do, before anything is removed.
#[test]
fn tables_in_orc_are_refused_with_what_is_read_instead() {
    let bench = Bench::with_objects(&["keep"]);
    bench.ok("mb s3://inv");
    let table = b"ORC\0\x08\x03";
    let manifest = put_inventory(&bench, "ORC", "struct<key:string>", &[("1.orc", table)]);
    bench.file("manifest.json", &manifest);
    std::fs::write(bench.folder().join("table"), table).unwrap();
    for from in ["manifest.json", "table"] {
        let (lines, messages, code) = run(&bench, &format!("rm s3://box --from {from}"));
        assert_eq!((lines, code), (vec![], 1), "{messages}");
        assert!(messages.contains("in ORC, which is not read: use Parquet or CSV"), "{messages}");
    }
    bench.ok("cp s3://box/keep kept");
}
