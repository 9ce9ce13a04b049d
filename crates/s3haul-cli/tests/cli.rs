//! The real binary against a real `serve`, each test with a server and a folder of its own.

#[path = "cli/case_conflict.rs"]
mod case_conflict;
#[path = "cli/conditions.rs"]
mod conditions;
#[path = "cli/estimate.rs"]
mod estimate;
#[path = "cli/find.rs"]
mod find;
#[path = "cli/from.rs"]
mod from;
#[cfg(target_os = "linux")]
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/listing.rs"]
mod listing;
#[path = "cli/report.rs"]
mod report;
#[path = "cli/restore.rs"]
mod restore;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/set.rs"]
mod set;
#[path = "cli/summary.rs"]
mod summary;
mod support;
#[cfg(unix)]
#[path = "cli/versions.rs"]
mod versions;
#[path = "cli/weather.rs"]
mod weather;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use support::{Bench, stdout};

#[test]
fn files_go_up_are_listed_and_come_back() {
    let bench = Bench::new();
    bench.file("a.txt", "hello\n");
    bench.file("d/b.txt", "x");
    assert_eq!(bench.ok("mb s3://box"), "make_bucket: box\n");
    assert_eq!(bench.ok("cp a.txt s3://box"), "upload: ./a.txt to s3://box/a.txt\n");
    let mut lines = bench.lines("cp --recursive d s3://box/t --exclude * --include *.txt");
    lines.sort();
    assert_eq!(lines, ["upload: d/b.txt to s3://box/t/b.txt"]);
    let listed = bench.ok("ls s3://box");
    let rows: Vec<&str> = listed.lines().collect();
    assert_eq!(rows[0], "                           PRE t/");
    assert!(rows[1].ends_with("          6 a.txt"), "{listed}");
    assert_eq!(rows[1].len(), "2026-01-01 00:00:00          6 a.txt".len());
    assert_eq!(bench.ok("cp s3://box/t/b.txt back"), "download: s3://box/t/b.txt to ./back\n");
    assert_eq!(bench.read("back"), "x");
}

#[test]
fn a_folder_for_one_object_is_made_when_it_comes() {
    let bench = Bench::with_objects(&["a/k"]);
    assert_eq!(bench.run("cp s3://box/a/none new/folder/").status.code(), Some(1));
    assert!(!bench.folder().join("new").exists());
    bench.ok("cp s3://box/a/k new/folder/");
    assert_eq!(bench.read("new/folder/k"), "a/k");
}

#[test]
fn the_word_s3_and_global_flags_may_stand_before() {
    let bench = Bench::new();
    bench.ok("--region us-east-1 s3 mb --no-progress s3://box");
    assert!(bench.ok("s3 ls --output json").ends_with(" box\n"));
}

#[test]
fn listings_tell_what_is_there() {
    let bench = Bench::with_objects(&["a/1", "a/2", "b"]);
    let names = |args: &str| -> Vec<String> {
        let words = bench.lines(args).into_iter();
        words.map(|line| line.split_whitespace().last().unwrap().to_owned()).collect()
    };
    assert_eq!(names("ls s3://box"), ["a/", "b"]);
    assert_eq!(names("ls box/a/"), ["1", "2"]);
    assert_eq!(names("ls s3://box --recursive --page-size 1"), ["a/1", "a/2", "b"]);
    assert_eq!(names("ls s3://box/a/*2"), ["a/2"]);
    let summary = bench.ok("ls s3://box --recursive --summarize");
    assert!(summary.ends_with("\n\nTotal Objects: 3\n   Total Size: 7\n"), "{summary}");
    assert!(bench.ok("ls s3://box/b --human-readable").ends_with("    1 Byte b\n"));
    assert_eq!(bench.status("ls s3://box/none"), 1);
    assert_eq!(bench.status("ls s3://box/none*"), 1);
    assert_eq!(bench.status("ls s3://box/a* --raw"), 1);
    let json = bench.ok("ls s3://box --json");
    assert!(json.starts_with("{\"v\":1,\"event\":\"prefix\",\"prefix\":\"a/\"}\n"), "{json}");
}

#[test]
fn objects_are_removed_and_then_the_bucket() {
    let bench = Bench::with_objects(&["a/1", "a/2", "ab", "c"]);
    let dry = bench.run("rm s3://box/c --dryrun");
    assert_eq!(stdout(&dry), "(dryrun) delete: s3://box/c\n");
    assert!(support::stderr(&dry).starts_with("estimate: the command would send "));
    assert_eq!(bench.ok("rm s3://box/c"), "delete: s3://box/c\n");
    assert_eq!(bench.ok("rm s3://box/c"), "delete: s3://box/c\n", "absent objects are no error");
    let mut lines = bench.lines("rm s3://box/a --recursive");
    lines.sort();
    assert_eq!(lines, ["delete: s3://box/a/1", "delete: s3://box/a/2"], "but not `ab`");
    let output = bench.run("rb s3://box");
    assert_eq!(output.status.code(), Some(1));
    assert!(support::stderr(&output).starts_with(
        "remove_bucket failed: s3://box An error occurred (BucketNotEmpty) when calling the \
         DeleteBucket operation"
    ));
    let removed = bench.ok("rb s3://box --force");
    assert_eq!(removed, "delete: s3://box/ab\nremove_bucket: box\n");
}

#[test]
fn bytes_to_standard_output_keep_to_the_bandwidth() {
    let bench = Bench::with_objects(&[]);
    bench.file("large", &"0123456789abcdef".repeat(1 << 16));
    bench.ok("cp large s3://box/large");
    for command in ["cat s3://box/large", "cp s3://box/large -"] {
        let begun = std::time::Instant::now();
        let shown = bench.ok(&format!("{command} --max-bandwidth 1MB/s"));
        assert_eq!(shown.len(), 1 << 20);
        assert!(begun.elapsed().as_millis() > 300, "{command}: {:?}", begun.elapsed());
    }
}

#[test]
fn objects_go_to_standard_output_whole_or_in_part() {
    let bench = Bench::with_objects(&["k/1", "k/22", "other"]);
    assert_eq!(bench.ok("cat s3://box/k/1 s3://box/k/22"), "k/1k/22");
    assert_eq!(bench.ok("cat s3://box/k/*"), "k/1k/22");
    assert_eq!(bench.ok("cat s3://box/k/22 --range 1-2"), "/2");
    assert_eq!(bench.ok("cat s3://box/k/22 --range -3"), "/22");
    assert_eq!(bench.ok("cat s3://box/k/22 --range 2-"), "22");
    assert_eq!(bench.ok("cp s3://box/k/1 -"), "k/1");
    let output = bench.run("cp s3://box/none -");
    assert_eq!(output.status.code(), Some(1));
    let told = "download failed: s3://box/none to - An error occurred (404) when calling the \
                HeadObject operation: Not Found\n";
    assert_eq!(support::stderr(&output), told);
    assert_eq!(bench.status("cat s3://box/none"), 254);
    assert_eq!(bench.status("cat s3://box/none*"), 1);
}

#[test]
fn standard_input_becomes_an_object() {
    let bench = Bench::with_objects(&[]);
    let output = bench.run_with_input("pipe s3://box/p --content-type text/x --metadata a=b", "in");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""));
    assert_eq!(bench.ok("cat s3://box/p"), "in");
    let output = bench.run_with_input("cp - s3://box/q", "more");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""));
    assert_eq!(bench.ok("cat s3://box/q"), "more");
    let head: serde_json::Value =
        serde_json::from_str(&bench.ok("head s3://box/p --json")).unwrap();
    assert_eq!(head["content_type"], "text/x");
    assert_eq!(head["metadata"]["a"], "b");
    assert_eq!(head["size"], 2);
}

#[test]
fn a_presigned_url_names_the_object() {
    let bench = Bench::with_objects(&["k"]);
    let url = bench.ok("presign s3://box/k --expires-in 60");
    assert!(url.starts_with(&format!("{}/box/k?", bench.endpoint())), "{url}");
    assert!(url.contains("X-Amz-Expires=60&") && url.contains("X-Amz-Signature="), "{url}");
}

#[test]
fn events_can_be_had_as_json() {
    let bench = Bench::with_objects(&[]);
    bench.file("f", "12345");
    let lines = bench.lines("cp f s3://box/k --json");
    let values: Vec<serde_json::Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values[0]["event"], "object");
    assert_eq!(values[0]["status"], "done");
    assert_eq!(values[0]["target"], "s3://box/k");
    assert_eq!(values[1]["event"], "summary");
    assert_eq!((&values[1]["done"], &values[1]["bytes"]), (&1.into(), &5.into()));
    let output = bench.run("cp f s3://nobox/k --json");
    let first: serde_json::Value =
        serde_json::from_str(stdout(&output).lines().next().unwrap()).unwrap();
    assert_eq!(first["error"]["code"], "NoSuchBucket");
    let output = bench.run("ls s3://nobox --json");
    let error: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&error["event"], &error["exit_code"]), (&"error".into(), &254.into()));
    let output = bench.run("cp f s3://nobox/k --json");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn exit_codes_are_those_of_aws() {
    let bench = Bench::with_objects(&["k"]);
    bench.file("f", "x");
    for (args, status) in [
        ("--version", 0),
        ("cp --help", 0),
        ("", 252),
        ("nope", 252),
        ("cp f", 252),
        ("cp f g", 252),
        ("cp f s3://box/ --acl x", 252),
        ("mv s3://box/k s3://box/k", 252),
        ("rm f", 252),
        ("mb box", 252),
        ("rb s3://box/k", 252),
        ("ls --query x", 252),
        ("ls --endpoint-url localhost", 252),
        ("ls s3://nobox", 254),
        ("head s3://box/none", 254),
        ("cp missing s3://box/", 255),
        ("ls --profile none", 255),
        ("cp s3://box/none .", 1),
        ("cp f s3://nobox/", 1),
        ("cp f s3://nobox/ --quiet", 1),
        ("mb s3://B", 1),
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(status), "{args}: {output:?}");
        let is_silent = args.contains("--quiet");
        assert_eq!(output.stderr.is_empty(), status == 0 || is_silent, "{args}: {output:?}");
    }
}

#[test]
fn without_credentials_and_without_a_server_the_user_is_told_what_to_do() {
    let bench = Bench::new();
    let output = bench.command("ls").env_remove("AWS_ACCESS_KEY_ID").output().unwrap();
    assert_eq!(output.status.code(), Some(253), "{output:?}");
    assert!(support::stderr(&output).contains("Unable to locate credentials"), "{output:?}");
    let mut refused = bench.command("ls");
    refused.env("AWS_ENDPOINT_URL", "http://127.0.0.1:1").env("AWS_MAX_ATTEMPTS", "1");
    let output = refused.output().unwrap();
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    assert!(support::stderr(&output).contains("\nhint: "), "{output:?}");
}

#[test]
fn only_what_was_asked_for_is_printed() {
    let bench = Bench::with_objects(&["k"]);
    bench.file("f", "x");
    assert_eq!(bench.ok("cp f s3://box/ --quiet"), "");
    assert_eq!(bench.ok("cp f s3://box/ --only-show-errors"), "");
    assert_eq!(
        bench.ok("cp f s3://box/ --only-show-errors --dryrun"),
        "(dryrun) upload: ./f to s3://box/f\n"
    );
    let progress = bench.ok("cp f s3://box/ --progress-multiline");
    assert!(progress.contains("Completed 1 Byte/1 Byte ("), "{progress}");
    assert!(progress.contains("upload: ./f to s3://box/f"), "{progress}");
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let bench = Bench::with_objects(&[]);
    bench.file("big", &"x".repeat(4 << 20));
    bench.ok("cp big s3://box/big");
    for args in ["cat s3://box/big", "cp s3://box/big -"] {
        let mut child = bench.spawn(args);
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{args}: {output:?}");
        assert_eq!(support::stderr(&output), "", "{args}");
    }
}

#[test]
fn serve_keeps_files_and_asks_for_credentials() {
    let bench = Bench::on_disk();
    bench.file("f", "on disk");
    bench.ok("mb s3://box");
    bench.ok("cp f s3://box/d/f");
    assert_eq!(bench.read("store/box/d/f"), "on disk");
    let output = bench.command("ls").env("AWS_SECRET_ACCESS_KEY", "wrong").output().unwrap();
    assert_eq!(output.status.code(), Some(254), "{output:?}");
    assert_eq!(bench.status("serve --memory --address 0.0.0.0:0"), 252);
}

#[cfg(unix)]
#[test]
fn the_first_signal_cancels_and_leaves_nothing_behind() {
    let bench = Bench::with_objects(&[]);
    for (signal, message) in
        [("-INT", "cancelled: ctrl-c received\n"), ("-TERM", "cancelled: terminated by a signal\n")]
    {
        let mut child = bench.command("cp - s3://box/k").stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // More than a pipe holds: once it is written the command reads, and so listens.
        input.write_all(&vec![b'x'; 1 << 20]).unwrap();
        support::send(signal, &child);
        let output = child.wait_with_output().unwrap();
        drop(input);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(support::stderr(&output), message);
        assert_eq!(bench.status("ls s3://box/k"), 1, "a cancelled upload makes no object");
    }
}

#[cfg(unix)]
#[test]
fn a_server_stops_on_a_signal() {
    let bench = Bench::new();
    let mut child = bench.spawn("serve --memory --address 127.0.0.1:0");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("export AWS_"));
    support::send("-TERM", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_bucket_becomes_a_website() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    assert_eq!(bench.ok("website s3://box --index-document i.html --error-document e.html"), "");
    assert_eq!(bench.ok("s3 website box/ --index-document index.html"), "");
    let json = bench.ok("website s3://box/ --error-document e.html --json");
    assert_eq!(json, "{\"v\":1,\"event\":\"website\",\"bucket\":\"box\"}\n");
    for (args, code, text) in [
        ("website s3://none --index-document i", 254, "NoSuchBucket"),
        ("website s3://box/k --index-document i", 252, "Invalid bucket name \"box/k\""),
        ("website s3:// --index-document i", 252, "Invalid bucket name \"\""),
        ("website", 252, "S3Uri"),
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(support::stderr(&output).contains(text), "{output:?}");
    }
}
