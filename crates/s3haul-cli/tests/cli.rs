//! The real binary against a real `serve`, each test with a server and a folder of its own.

#[path = "cli/beside.rs"]
mod beside;
#[cfg(unix)]
#[path = "cli/browse.rs"]
mod browse;
#[path = "cli/case_conflict.rs"]
mod case_conflict;
#[path = "cli/check_server.rs"]
mod check_server;
#[path = "cli/collector.rs"]
mod collector;
#[cfg(target_os = "linux")]
#[path = "cli/completions.rs"]
mod completions;
#[path = "cli/conditions.rs"]
mod conditions;
#[cfg(target_os = "linux")]
#[path = "cli/costs.rs"]
mod costs;
#[cfg(target_os = "linux")]
#[path = "cli/divided.rs"]
mod divided;
#[cfg(target_os = "linux")]
#[path = "cli/docs.rs"]
mod docs;
#[cfg(unix)]
#[path = "cli/drop_in.rs"]
mod drop_in;
#[cfg(unix)]
#[path = "cli/dry_run.rs"]
mod dry_run;
#[path = "cli/early_end.rs"]
mod early_end;
#[path = "cli/estimate.rs"]
mod estimate;
#[cfg(unix)]
#[path = "cli/failed.rs"]
mod failed;
#[path = "cli/find.rs"]
mod find;
#[path = "cli/from.rs"]
mod from;
#[cfg(unix)]
#[path = "cli/html.rs"]
mod html;
#[path = "cli/instance.rs"]
mod instance;
#[cfg(target_os = "linux")]
#[path = "cli/job.rs"]
mod job;
#[cfg(target_os = "linux")]
#[path = "cli/jobs.rs"]
mod jobs;
#[cfg(target_os = "linux")]
#[path = "cli/jobs_in_parts.rs"]
mod jobs_in_parts;
#[cfg(target_os = "linux")]
#[path = "cli/jobs_of_lists.rs"]
mod jobs_of_lists;
#[cfg(target_os = "linux")]
#[path = "cli/jobs_of_moves.rs"]
mod jobs_of_moves;
#[cfg(target_os = "linux")]
#[path = "cli/jobs_of_plans.rs"]
mod jobs_of_plans;
#[cfg(target_os = "linux")]
#[path = "cli/jobs_with_reports.rs"]
mod jobs_with_reports;
#[cfg(target_os = "linux")]
#[path = "cli/journals.rs"]
mod journals;
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/listing.rs"]
mod listing;
#[cfg(unix)]
#[path = "cli/metrics.rs"]
mod metrics;
#[cfg(target_os = "linux")]
#[path = "cli/mfa.rs"]
mod mfa;
#[path = "cli/no_s3.rs"]
mod no_s3;
#[path = "cli/nothing.rs"]
mod nothing;
#[cfg(target_os = "linux")]
#[path = "cli/output_gone.rs"]
mod output_gone;
#[path = "cli/plan.rs"]
mod plan;
#[cfg(unix)]
#[path = "cli/plan_folders.rs"]
mod plan_folders;
#[path = "cli/plan_show.rs"]
mod plan_show;
#[path = "cli/plan_versions.rs"]
mod plan_versions;
#[cfg(target_os = "linux")]
#[path = "cli/power_cut.rs"]
mod power_cut;
#[path = "cli/prefix_itself.rs"]
mod prefix_itself;
#[cfg(target_os = "linux")]
#[path = "cli/progress.rs"]
mod progress;
#[path = "cli/report.rs"]
mod report;
#[path = "cli/restore.rs"]
mod restore;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/set.rs"]
mod set;
#[cfg(unix)]
#[path = "cli/shards.rs"]
mod shards;
#[cfg(unix)]
#[path = "cli/shards_of_plans.rs"]
mod shards_of_plans;
#[path = "cli/sources.rs"]
mod sources;
#[path = "cli/stable.rs"]
mod stable;
#[path = "cli/summary.rs"]
mod summary;
mod support;
#[cfg(unix)]
#[path = "cli/terminal.rs"]
mod terminal;
#[cfg(unix)]
#[path = "cli/tour.rs"]
mod tour;
#[cfg(unix)]
#[path = "cli/versions.rs"]
mod versions;
#[path = "cli/waiting.rs"]
mod waiting;
#[cfg(unix)]
#[path = "cli/watch.rs"]
mod watch;
#[path = "cli/weather.rs"]
mod weather;
#[cfg(target_os = "linux")]
#[path = "cli/working_directory.rs"]
mod working_directory;

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
    assert_eq!(support::stderr(&dry), "");
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
    assert_eq!(bench.run("rb s3://box --only-show-errors").stderr, output.stderr);
    let quiet = bench.run("rb s3://box --quiet");
    assert_eq!((quiet.status.code(), support::stderr(&quiet)), (Some(1), String::new()));
    bench.ok("mb s3://other");
    assert_eq!(bench.ok("rb s3://other --only-show-errors"), "");
    let removed = bench.ok("rb s3://box --force");
    assert_eq!(removed, "delete: s3://box/ab\nremove_bucket: box\n");
}

#[test]
fn a_folder_in_the_place_of_an_object_gets_a_hint() {
    let bench = Bench::with_objects(&["folder/a", "folder/b", "alone"]);
    let below = "hint: there is no object `folder`, but there are keys below `folder/`: ";
    for (args, advice) in [
        ("cp s3://box/folder .", "add `--recursive`"),
        ("cp s3://box/folder s3://box/other", "add `--recursive`"),
        ("mv s3://box/folder .", "add `--recursive`"),
        ("tag get s3://box/folder", "add `--recursive`"),
        ("tag set s3://box/folder --tags a=1", "add `--recursive`"),
        ("set s3://box/folder --content-type a/b", "add `--recursive`"),
        ("restore s3://box/folder --days 1", "add `--recursive`"),
        ("cp s3://box/folder -", "`s3haul cat 's3://box/folder/*'`"),
        ("cat s3://box/folder", "`s3haul cat 's3://box/folder/*'`"),
        ("head s3://box/folder", "`s3haul ls s3://box/folder/`"),
    ] {
        let output = bench.run(args);
        let text = support::stderr(&output);
        assert!(!output.status.success(), "{args}: {output:?}");
        assert!(text.contains(&format!("{below}{advice}")), "{args}: {text}");
        let none = bench.run(&args.replace("box/folder", "box/alon"));
        assert!(!none.status.success(), "{args}: {none:?}");
        assert!(!support::stderr(&none).contains("hint: "), "{args}: {none:?}");
    }
}

#[test]
fn names_that_no_bucket_has_get_a_hint() {
    let bench = Bench::new();
    bench.file("f", "1");
    for args in
        ["cp s3://UXB/a .", "cp f s3://UXB/a", "ls s3://UXB/a", "mb s3://UXB", "head s3://UXB/a"]
    {
        let output = bench.run(args);
        assert!(!output.status.success(), "{args}: {output:?}");
        let hint = "hint: bucket names have no capital letters: is `s3://uxb` meant?\n";
        assert!(support::stderr(&output).ends_with(hint), "{args}: {output:?}");
    }
    let output = bench.run("mb s3://a_b");
    assert!(support::stderr(&output).contains("bucket names have no underscores"), "{output:?}");
}

#[test]
fn tag_lines_name_the_change() {
    let bench = Bench::with_objects(&["k"]);
    for (change, flags) in
        [("set", "--tags a=1"), ("add", "--tags b=1"), ("remove", "--keys a"), ("remove", "--all")]
    {
        let command = format!("tag {change} s3://box/k {flags}");
        let dry = bench.ok(&format!("{command} --dryrun"));
        assert_eq!(dry, format!("(dryrun) tag {change}: s3://box/k\n"));
        assert_eq!(bench.ok(&command), format!("tag {change}: s3://box/k\n"));
    }
    let failed = bench.run("tag add s3://box/none --tags a=1");
    assert!(support::stderr(&failed).starts_with("tag add failed: s3://box/none "), "{failed:?}");
    let event = bench.ok("tag set s3://box/k --tags a=2 --json");
    let expected = "\"action\":\"tag\",\"tag_change\":\"set\",";
    assert!(event.contains(expected), "{event}");
    let event = bench.ok("rm s3://box/k --json");
    assert!(!event.contains("tag_change"), "{event}");
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
    // Of several objects, those that are too short have none of the bytes.
    for range in ["3-3", "3-", "3-9"] {
        for address in ["s3://box/k/*", "s3://box/k/1 s3://box/k/22"] {
            assert_eq!(bench.ok(&format!("cat {address} --range {range}")), "2", "{range}");
        }
        let short = bench.run(&format!("cat s3://box/k/1 --range {range}"));
        assert!(support::stderr(&short).contains("InvalidRange"), "{range}: {short:?}");
    }
    assert_eq!(bench.ok("cp s3://box/k/1 -"), "k/1");
    let output = bench.run("cp s3://box/none -");
    assert_eq!(output.status.code(), Some(1));
    let told = "download failed: s3://box/none to - An error occurred (404) when calling the \
                HeadObject operation: Not Found\n";
    assert_eq!(support::stderr(&output), told);
    let output = bench.run("cp s3://box/ -");
    assert_eq!(output.status.code(), Some(1));
    let told = "download failed: s3://box/ to - Parameter validation failed:\nInvalid length for \
                parameter Key, value: 0, valid min length: 1\n";
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

/// `aws` guesses the type of files, and not that of a stream by its key.
#[test]
fn the_type_of_standard_input_is_not_guessed() {
    let bench = Bench::with_objects(&[]);
    bench.file("page.html", "in");
    for (args, expected) in [
        ("cp - s3://box/page.html", "binary/octet-stream"),
        ("cp - s3://box/page.html --guess-mime-type", "binary/octet-stream"),
        ("pipe s3://box/page.html", "binary/octet-stream"),
        ("cp - s3://box/page.html --content-type text/x", "text/x"),
        ("cp page.html s3://box/page.html", "text/html"),
    ] {
        let output = bench.run_with_input(args, "in");
        assert_eq!(output.status.code(), Some(0), "{args}: {output:?}");
        let head = bench.ok("head s3://box/page.html --json");
        let head: serde_json::Value = serde_json::from_str(&head).unwrap();
        assert_eq!(head["content_type"], expected, "{args}");
    }
}

#[test]
fn a_presigned_url_names_the_object() {
    let bench = Bench::with_objects(&["k"]);
    let url = bench.ok("presign s3://box/k --expires-in 60");
    assert!(url.starts_with(&format!("{}/box/k?", bench.endpoint())), "{url}");
    assert!(url.contains("X-Amz-Expires=60&") && url.contains("X-Amz-Signature="), "{url}");
    let plain = bench.ok("presign s3://box/k --no-sign-request");
    assert_eq!(plain, format!("{}/box/k\n", bench.endpoint()));
    let refused = bench.run("presign s3://box/k --no-sign-request --method PUT");
    assert_eq!(refused.status.code(), Some(255), "{refused:?}");
    assert!(support::stderr(&refused).contains("has to be signed"), "{refused:?}");
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
fn missing_credentials_or_server_come_with_a_hint() {
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

#[test]
fn the_store_of_serve_is_not_uploaded() {
    let bench = Bench::on_disk();
    bench.file("f", "object");
    bench.ok("mb s3://box");
    bench.ok("cp f s3://box/d/f");
    bench.file("store/mine/notes.txt", "no object");
    for command in ["sync store s3://box", "cp --recursive store s3://box/copy/"] {
        let output = bench.run(command);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let path = bench.folder().join("store").canonicalize().unwrap();
        let reason = "Directory is the store of `s3haul serve`, whose buckets are left out.";
        let warning = format!("warning: Skipping file {}/. {reason}\n", path.display());
        assert_eq!(support::stderr(&output), warning);
    }
    let keys = bench.ok("list --format keys s3://box");
    assert_eq!(keys, "copy/mine/notes.txt\nd/f\nmine/notes.txt\n");
    // A bucket's folder can be named, and a download with --delete spares the store.
    bench.ok("mb s3://other");
    bench.ok("sync store/box/d s3://other");
    assert_eq!(bench.ok("list --format keys s3://other"), "f\n");
    bench.ok("sync --delete s3://other store");
    assert_eq!(bench.ok("cp s3://box/d/f -"), "object");
}

#[cfg(unix)]
#[test]
fn serve_says_what_to_do() {
    let bench = Bench::new();
    let taken = bench.endpoint().strip_prefix("http://").unwrap().to_owned();
    let output = bench.run(&format!("serve --memory --address {taken}"));
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    let stderr = support::stderr(&output);
    assert!(stderr.contains(&format!("could not listen on `{taken}`")), "{stderr}");
    assert!(stderr.contains("hint: another program listens there"), "{stderr}");
    assert!(stderr.contains("`--address 127.0.0.1:0`"), "{stderr}");
    let mut child = bench.spawn("serve data --address 127.0.0.1:0");
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut environment = String::new();
    while environment.lines().count() < 5 {
        assert_ne!(stdout.read_line(&mut environment).unwrap(), 0, "{environment}");
    }
    assert!(environment.lines().all(|line| line.starts_with("export AWS_")), "{environment}");
    let url = environment.split_once("AWS_ENDPOINT_URL=").unwrap().1.lines().next().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut notes = String::new();
    while notes.lines().count() < 4 {
        assert_ne!(stderr.read_line(&mut notes).unwrap(), 0, "{notes}");
    }
    support::send("-TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(
        notes,
        format!(
            "serving the folder `data` at {url}\n\
             standard output has the lines that set the environment: if it is a file, run \
             `. FILE` in another terminal, and s3haul and the AWS tools use this server there\n\
             for example: s3haul ls, or without these lines but with the same two keys: \
             aws --endpoint-url {url} s3 ls\n\
             Ctrl-C stops the server\n"
        )
    );
    for quiet in ["--stop-with-stdin", "--stop-with-stdin --json"] {
        let output = bench.run(&format!("serve --memory --address 127.0.0.1:0 {quiet}"));
        assert_eq!((output.status.code(), support::stderr(&output)), (Some(0), String::new()));
    }
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
