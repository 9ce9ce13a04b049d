//! `--print-job` and `job run`: a job does what its command does.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::support::{Bench, stderr, stdout};

/// A bucket with objects, and files.
fn bench() -> Bench {
    let bench = Bench::with_objects(&["d/a.txt", "d/b.log", "d/sub/c.txt", "e"]);
    for name in ["f", "in/x.txt", "in/y.log", "in/sub/z.txt"] {
        bench.file(name, &format!("this is {name}"));
    }
    bench
}

/// Output of a command: sorted lines, standard error and exit code.
type Told = (Vec<String>, String, i32);

fn messages(output: &std::process::Output) -> Told {
    let mut lines: Vec<_> = stdout(output).lines().map(str::to_owned).collect();
    lines.sort();
    (lines, stderr(output), output.status.code().unwrap())
}

/// The same without the name of the folder, which is another each time.
fn told_in(bench: &Bench, output: &std::process::Output) -> Told {
    let (lines, error, code) = messages(output);
    let folder = bench.folder().to_str().unwrap();
    let plain = |text: String| text.replace(folder, "FOLDER");
    // Each server gives versions other ids.
    let lines = lines.into_iter().map(|line| match line.split_once(" (version ") {
        Some((printed, _)) => printed.to_owned(),
        None => line,
    });
    (lines.map(|line| without_times(&plain(line))).collect(), plain(error), code)
}

/// The same line without the times of objects and buckets, which are made anew each time.
fn without_times(line: &str) -> String {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = |text: &str| {
        text.get(..10).is_some_and(|date| date.split('-').all(digits))
            && text.get(11..19).is_some_and(|time| time.split(':').map(str::len).eq([2, 2, 2]))
    };
    let mut shown = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = if is_time(rest) { 19 } else { first.len_utf8() };
        shown.push_str(if length == 19 { "TIME" } else { &rest[..length] });
        rest = &rest[length..];
    }
    shown
}

fn add_files(folder: &Path, root: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_files(&path, root, found);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.insert(name, std::fs::read(path).unwrap());
        }
    }
}

/// All files, and all objects with their sizes, types and tags.
fn state(bench: &Bench) -> (BTreeMap<String, Vec<u8>>, Vec<String>) {
    let mut files = BTreeMap::new();
    add_files(bench.folder(), bench.folder(), &mut files);
    // Reports have times.
    files.retain(|name, _| !name.starts_with("report"));
    let keys = bench.lines("list s3://box --sort --format keys");
    let heads = keys.iter().map(|key| {
        let head: Value =
            serde_json::from_str(&bench.ok(&format!("head s3://box/{key} --json"))).unwrap();
        let facts = ["size", "content_type", "metadata", "etag", "storage_class"]
            .map(|name| head[name].to_string());
        let tags = bench.ok(&format!("tag get s3://box/{key}"));
        format!("{key} {} {tags}", facts.join(" "))
    });
    (files, heads.collect())
}

/// Runs a command as it is and as a job, each in a world of its own.
fn is_the_same(line: &str) -> Told {
    is_the_same_after(&[], line)
}

/// The same in worlds that these commands have changed.
fn is_the_same_after(setup: &[&str], line: &str) -> Told {
    let (plain, by_job) = (bench(), bench());
    for bench in [&plain, &by_job] {
        for line in setup {
            assert!(bench.run(line).status.success(), "{line}");
        }
    }
    let before = state(&by_job);
    let expected = told_in(&plain, &plain.run(line));
    let job = by_job.ok(&format!("{line} --print-job"));
    assert_eq!(state(&by_job), before, "{line}: --print-job does nothing");
    let ran = told_in(&by_job, &by_job.run_with_input("job run -", &job));
    assert_eq!(ran, expected, "{line}: {job}");
    assert_eq!(state(&by_job), state(&plain), "{line}: {job}");
    ran
}

#[test]
fn a_job_does_what_its_command_does() {
    for (line, lines) in [
        ("cp f s3://box/k --content-type text/odd --metadata a=1,b=2", 1),
        (
            "cp in s3://box/in --recursive --exclude * --include *.txt --storage-class STANDARD_IA",
            2,
        ),
        ("cp s3://box/d back --recursive --min-size 8 --only-show-errors", 0),
        ("cp s3://box/d back --recursive --filter js:(key,object)=>key.endsWith('.txt')", 2),
        ("cp s3://box/e s3://box/copies/e --cache-control no-store", 1),
        ("cp s3://box/d s3://box/flat --recursive --to-key {name} --dryrun", 3),
        ("mv in s3://box/in --recursive --exclude *.log --quiet", 0),
        ("mv s3://box/d moved --recursive", 3),
        ("rm s3://box/d --recursive --include *.txt", 3),
        ("rm s3://box/d --recursive --exclude *.txt --older-than 2100-01-01", 1),
        ("sync in s3://box/d --delete --exclude *.log --max-delete 90%", 4),
        ("sync s3://box/d in --size-only --json", 4),
    ] {
        let (messages, error, code) = is_the_same(line);
        assert_eq!((messages.len(), error.as_str(), code), (lines, "", 0), "{line}: {messages:?}");
    }
}

#[test]
fn changes_of_objects_where_they_are_are_jobs() {
    for (line, lines) in [
        ("tag set s3://box/d --recursive --tags a=1,b=", 3),
        ("tag add s3://box/e --tags t=2 --tags u=3", 1),
        ("tag remove s3://box --recursive --keys t", 1),
        ("tag remove s3://box/e --all", 1),
        ("tag get s3://box/e --format csv", 3),
        ("tag get s3://box --recursive --exclude d/*", 2),
        ("set s3://box/d --recursive --content-type text/odd --add-metadata a=1,b=2", 3),
        ("set s3://box/e --metadata a=1 --cache-control no-store --storage-class STANDARD_IA", 1),
        ("set s3://box/e --expires 2030-01-31T12:00:00Z --sse --dryrun", 1),
        ("restore s3://box --recursive --status", 5),
        ("restore s3://box/ice --days 3 --tier bulk", 1),
        ("restore s3://box --recursive --days 3 --wait", 1),
    ] {
        let setup =
            ["tag set s3://box/e --tags t=1,v=2", "cp f s3://box/ice --storage-class GLACIER"];
        let (printed, error, code) = is_the_same_after(&setup, line);
        assert_eq!((printed.len(), error.as_str(), code), (lines, "", 0), "{line}: {printed:?}");
    }
}

#[test]
fn what_was_removed_comes_back_by_a_job() {
    let setup = ["versioning enable s3://box", "rm s3://box --recursive --exclude e"];
    for (line, lines) in [
        ("undelete s3://box --recursive", 3),
        ("undelete s3://box/d/b.log --since 1h", 1),
        ("undelete s3://box --recursive --since 2100-01-01", 0),
    ] {
        let (printed, error, code) = is_the_same_after(&setup, line);
        assert_eq!((printed.len(), code), (lines, 0), "{line}: {printed:?} {error}");
    }
}

#[test]
fn what_only_reads_is_a_job_too() {
    let setup = [
        "tag set s3://box/e --tags t=1",
        "versioning enable s3://box",
        "rm s3://box/d/b.log",
        "mb s3://other",
        "cp f s3://other/f",
    ];
    for (line, lines, code) in [
        ("list s3://box --sort --format csv --fields key,size", 4, 0),
        ("list s3://box/d --format keys --start-after d/a.txt --summarize --json", 0, 252),
        ("list s3://box/d --json --summarize --exclude *.txt --min-size 1", 1, 1),
        ("list s3://box --versions --format tsv --no-header --fields key,is_latest --serial", 5, 0),
        ("list s3://box --output-file listed --format jsonl --fields key", 0, 0),
        ("versions s3://box/d/b.log --format jsonl --fields key,is_delete_marker", 2, 0),
        ("find s3://box --name *.txt --format keys", 2, 0),
        ("find s3://box --tag t=1", 1, 0),
        ("find d --name x", 0, 252),
        ("list s3://box --fields nothing --format csv", 0, 252),
        ("list s3://box --filter js:(key,object)=>key.includes('sub')", 1, 0),
        ("summarize s3://box --format csv --depth 0 --top 0 --versions", 48, 0),
        ("compare in s3://box/d --format jsonl --show only-target,only-source", 5, 1),
        ("compare in s3://box/d --size-only --exclude * --times", 4, 2),
        ("verify s3://box/d s3://box/d --show same --page-size 2", 8, 0),
        ("map s3://box --map js:({Key})=>Key.length --exclude e", 2, 0),
        ("map s3://box/d", 0, 252),
        ("each s3://box/d --sort --map-list js:(all)=>all.length", 1, 0),
        ("ls", 2, 0),
        ("ls s3://box/d --recursive --human-readable --summarize --include *.txt", 5, 0),
        ("ls --min-size 1", 0, 252),
        ("list-buckets --count --format csv --bucket-name-prefix b", 2, 0),
        ("uploads ls s3://box --sizes", 0, 0),
        ("uploads abort s3://box --older-than 7d --dryrun --quiet", 0, 0),
        ("cat s3://box/d/a.txt s3://box/e --range 0-0 --raw", 1, 0),
        ("cat s3://box/e --json", 0, 252),
        ("head s3://box/e", 8, 0),
        ("head s3://box/none", 0, 254),
        ("presign s3://box/e --expires-in 0", 0, 252),
        ("presign s3://box/e --content-type a/b", 0, 252),
        ("mb s3://third --tags a b --versioning", 1, 0),
        ("mb s3://box", 1, 0),
        ("rb s3://box", 0, 1),
        ("rb s3://other --force --versions --yes --quiet", 0, 0),
        ("versioning suspend s3://box", 1, 0),
        ("versioning get box", 0, 252),
        ("website s3://box --index-document index.html", 0, 0),
    ] {
        if code == 252 {
            let bench = bench();
            let (refused, printed) = (bench.run(line), bench.run(&format!("{line} --print-job")));
            assert_eq!(messages(&refused), messages(&printed), "{line}");
            assert_eq!(refused.status.code(), Some(252), "{line}");
            continue;
        }
        let (printed, error, status) = is_the_same_after(&setup, line);
        assert_eq!((printed.len(), status), (lines, code), "{line}: {printed:?} {error}");
    }
}

#[test]
fn a_job_that_reads_and_makes_no_sense_is_refused() {
    let bench = bench();
    for (task, said) in [
        (r#"{"each":{"listing":{"source":"s3://box"}}}"#, "needs one script"),
        (r#"{"list":{"listing":{"source":""}}}"#, "Invalid argument type"),
        (r#"{"list":{"listing":{"source":"s3://box"},"format":"xml"}}"#, "unknown variant `xml`"),
        (r#"{"compare":{"source":"a","target":"b","header":false}}"#, "--format csv"),
        (r#"{"uploads":{"source":"box"}}"#, "Invalid argument type"),
        (r#"{"cat":{"sources":[]}}"#, "usage: s3haul cat"),
        (r#"{"summarize":{"listing":{"source":"s3://box"},"top":4000000000}}"#, "1000 rows"),
        (r#"{"list":{"listing":{"source":"s3://box","concurrency":10001}}}"#, "too many"),
        (r#"{"list_buckets":{"concurrency":10001}}"#, "too many"),
        (r#"{"list":{"listing":{"source":"s3://box","concurrency":1,"serial":true}}}"#, "either"),
        (r#"{"ls":{}},"reports":{"report":"x.csv"}"#, "asks for reports"),
        (r#"{"ls":{}},"output":{"lines":"none"}"#, "which lines are printed"),
        (r#"{"ls":{}},"services":{"target":{"region":"r"}}"#, "service of a target"),
        (r#"{"remove_bucket":{"bucket":"s3://box","versions":true}}"#, "--versions needs --force"),
    ] {
        let job = format!(r#"{{"version":1,"task":{task}}}"#);
        let output = bench.run_with_input("job run -", &job);
        let error = stderr(&output);
        assert!(output.status.code() == Some(252) && error.contains(said), "{task}: {error}");
    }
    let local = bench.ok("compare in s3://box --print-job");
    assert!(!local.contains("\"source\": {"), "a side that is no service has none: {local}");
    let job = bench.ok("presign s3://box/e --expires-in 60 --print-job");
    let url = stdout(&bench.run_with_input("job run -", &job));
    assert!(url.contains("X-Amz-Expires=60&"), "{url}");
    bench.file("job", r#"{"version":1,"task":{"ls":{}}}"#);
    let refused = bench.run("job run job --resume");
    assert!(stderr(&refused).contains("no journal is kept for this command"), "{refused:?}");
}

#[test]
fn a_pipe_is_a_copy_of_standard_input() {
    let bench = bench();
    let job = bench.ok("pipe s3://box/piped --content-type text/odd --print-job");
    bench.file("job", &job);
    let output = bench.run_with_input("job run job", "from a job");
    assert_eq!(messages(&output), (Vec::new(), String::new(), 0));
    assert_eq!(bench.ok("cat s3://box/piped"), "from a job");
    let task = &serde_json::from_str::<Value>(&job).unwrap()["task"]["copy"];
    let expected = serde_json::json!({
        "source": "-", "target": "s3://box/piped", "write": {"content_type": "text/odd"},
    });
    assert_eq!(*task, expected);
}

#[test]
fn a_job_cannot_do_what_its_command_refuses() {
    let bench = bench();
    for (task, said) in [
        (r#"{"tag":{"source":"s3://box/e","action":{"set":{}}}}"#, "no tags"),
        (r#"{"tag":{"source":"s3://box","action":"clear"}}"#, "names no object"),
        (r#"{"set":{"source":"s3://box/e","content_type":""}}"#, "always has one"),
        (
            r#"{"set":{"source":"s3://box/e","retention":
                {"mode":"governance","until":"2020-01-01T00:00:00Z"}}}"#,
            "is in the past",
        ),
        (r#"{"restore":{"source":"s3://box/e","action":{"begin":{"days":0}}}}"#, "nonzero"),
        (r#"{"undelete":{"source":"s3://box"}}"#, "names no object"),
    ] {
        let job = format!(r#"{{"version":1,"task":{task}}}"#);
        let output = bench.run_with_input("job run -", &job);
        let error = stderr(&output);
        assert!(output.status.code() == Some(252) && error.contains(said), "{task}: {error}");
    }
}

#[test]
fn failures_and_exit_codes_are_those_of_the_command() {
    for (line, code, said) in [
        ("cp s3://box/none f2", 1, "404"),
        ("cp s3://nobox/d back --recursive", 1, "NoSuchBucket"),
        ("sync in s3://nobox", 1, "NoSuchBucket"),
    ] {
        let (_, error, status) = is_the_same(line);
        assert_eq!(status, code, "{line}: {error}");
        assert!(error.contains(said), "{line}: {error}");
    }
}

#[test]
fn reports_and_manifests_are_named_in_the_job() {
    let bench = bench();
    bench.file("keys", "d/a.txt\ne\n");
    let job = bench.ok("rm s3://box --from keys --report report.csv --print-job");
    assert!(!bench.names().contains(&"report.csv".to_owned()));
    bench.file("job", &job);
    bench.ok("job run job");
    assert_eq!(bench.lines("list s3://box --sort --format keys"), ["d/b.log", "d/sub/c.txt"]);
    let report = bench.read("report.csv");
    for key in ["d/a.txt", "e"] {
        assert!(report.contains(&format!("s3://box/{key},")), "{report}");
    }
    let task = &serde_json::from_str::<Value>(&job).unwrap()["task"]["remove"];
    assert_eq!(*task, serde_json::json!({"source": "s3://box", "from": {"file": "keys"}}));
}

#[test]
fn a_job_is_short_and_names_services_by_what_differs() {
    let bench = bench();
    let mut command = bench.program(crate::support::BINARY);
    for name in ["AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"] {
        command.env_remove(name);
    }
    command.args(["cp", "f", "s3://box/k", "--target-profile", "far", "--print-job"]);
    bench.file(".aws/config", "[profile far]\nregion = far-1\ns3 =\n  max_queue_size = 9\n");
    let job = stdout(&command.output().unwrap());
    let expected = serde_json::json!({
        "version": 1,
        "services": {"target": {"region": "far-1", "credentials": {"profile": "far"}}},
        "task": {"copy": {"source": "f", "target": "s3://box/k"}},
    });
    assert_eq!(serde_json::from_str::<Value>(&job).unwrap(), expected, "{job}");
    assert!(!job.contains("AWS_SECRET") && !job.contains("secret"), "{job}");
}

#[test]
fn a_job_that_is_not_understood_does_nothing() {
    let bench = bench();
    let paths = r#""source":"s3://box/e""#;
    for (job, said) in [
        (format!(r#"{{"version":1,"task":{{"remove":{{{paths},"recusive":true}}}}}}"#), "recusive"),
        (format!(r#"{{"version":2,"task":{{"remove":{{{paths}}}}}}}"#), "has version 2"),
        (format!(r#"{{"task":{{"remove":{{{paths}}}}}}}"#), "missing field `version`"),
        ("rm s3://box/e".to_owned(), "the job cannot be read"),
        (
            r#"{"version":1,"task":{"copy":{"source":"-","target":"s3://box/e"}}}"#.to_owned(),
            "put it into a file",
        ),
        (r#"{"version":1,"task":{"copy":{"source":"a","target":"b"}}}"#.to_owned(), "usage:"),
    ] {
        let output = bench.run_with_input("job run -", &job);
        let (lines, error, code) = messages(&output);
        assert_eq!((lines.len(), code), (0, 252), "{job}: {error}");
        assert!(error.contains(said), "{job}: {error}");
    }
    assert_eq!(bench.ok("cat s3://box/e"), "e");
    let output = bench.run("job run f --region r");
    assert_eq!(output.status.code(), Some(252));
    assert!(stderr(&output).contains("--region cannot be used with `job run`"), "{output:?}");
    assert_eq!(bench.status("job run none"), 255);
}

#[test]
fn secrets_are_refused_by_print_job() {
    let bench = bench();
    let key = "0123456789abcdefghijklmnopqrstuv";
    for (flags, said) in [
        (format!("--sse-c --sse-c-key {key}"), "--print-job cannot be used with --sse-c-key"),
        (
            "--endpoint-url http://user:pass@127.0.0.1:1".to_owned(),
            "the endpoint URL holds a user or a password",
        ),
    ] {
        let (lines, error, code) =
            messages(&bench.run(&format!("cp f s3://box/k {flags} --print-job")));
        assert_eq!((lines.len(), code), (0, 252), "{error}");
        assert!(error.contains(said), "{error}");
        assert!(!error.contains(key) && !error.contains("user:pass"), "{error}");
    }
}

#[test]
fn an_invalid_command_prints_no_job() {
    let bench = bench();
    for line in ["cp a b", "cp f s3://box/k --regex (", "rm s3://box --recursive --max-delete x"] {
        let (lines, _, code) = messages(&bench.run(&format!("{line} --print-job")));
        assert_eq!((lines.len(), code), (0, 252), "{line}");
    }
}
