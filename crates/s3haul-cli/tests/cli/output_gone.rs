//! Commands whose standard output is closed or full, or whose standard input is closed, say so, and
//! fail unless their output only repeats what was done.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Output;

use s3haul_wire::ObjectProperties;
use s3haul_wire::ops::CreateMultipart;

use crate::beside::client;
use crate::support::{Bench, stderr};

/// All that print, each for itself.
const COMMANDS: [&str; 37] = [
    "--version",
    "--help",
    "-h",
    "cp -h",
    "help",
    "ls",
    "ls s3://box",
    "ls s3://box --recursive --summarize",
    "ls s3://box --json",
    "list s3://box",
    "list s3://box --format parquet",
    "list s3://box --format csv",
    "find s3://box",
    "versions s3://box",
    "summarize s3://box",
    "list-buckets",
    "uploads ls s3://box",
    "tag get s3://box/k",
    "head s3://box/k",
    "cat s3://box/k",
    "cp s3://box/k -",
    "cp f s3://box/f --json",
    "compare s3://box s3://box/none",
    "presign s3://box/k",
    "versioning get s3://box",
    "restore s3://box/k --status",
    "set s3://box/k --content-type x/z --dryrun",
    "tag set s3://box/k --tags a=b --json",
    "uploads abort s3://box --print-job",
    "plan show plan.parquet",
    "map s3://box --map js:key=>key",
    "each s3://box --each js:key=>key",
    "rm s3://box/f --dryrun",
    "mv f s3://box/g --print-job",
    // The first line would only warn.
    "run lines",
    "run --dryrun lines",
    "worker --job shards --json",
];

/// Those whose lines only repeat what was done, in this order.
const CHANGES: [&str; 12] = [
    "cp f s3://box/f",
    "sync . s3://box/all",
    "tag set s3://box/k --tags a=b",
    "tag add s3://box/k --tags c=d",
    "tag remove s3://box/k --keys a",
    "set s3://box/k --content-type x/y",
    "versioning enable s3://box",
    "rm s3://box/f",
    "undelete s3://box/f",
    "uploads abort s3://box",
    "apply plan.parquet",
    "mv f s3://box/g",
];

/// Runs a command with a redirection of a shell.
fn redirected(bench: &Bench, args: &str, redirection: &str) -> Output {
    let mut shell = bench.program("bash");
    let line = format!("exec \"$0\" \"$@\" {redirection}");
    shell.args(["-c", &line, crate::support::BINARY]).args(args.split_whitespace());
    shell.output().unwrap()
}

fn leave_upload_open(bench: &Bench) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let properties = &ObjectProperties::default();
    let input = CreateMultipart { bucket: "box", key: "open", properties, checksum: None };
    runtime.block_on(client(bench).create_multipart(input)).unwrap();
}

fn fails_where_nothing_can_be_written(redirection: &str, why: &str) {
    let bench = Bench::with_objects(&["k", "up"]);
    bench.file("f", "x");
    bench.file("lines", "cp f s3://box/f\nls s3://box\n");
    let upload = bench.run("cp f s3://box/f");
    assert!(upload.status.success(), "{upload:?}");
    assert!(bench.run("plan cp f s3://box/planned --plan plan.parquet").status.success());
    bench.file("job", &bench.ok("cp --recursive s3://box s3://box/copy --print-job"));
    assert!(bench.run("job start job --at shards").status.success());
    for args in COMMANDS {
        if args == "uploads ls s3://box" {
            // Nothing to print is nothing that fails.
            assert!(redirected(&bench, args, redirection).status.success());
            continue;
        }
        let output = redirected(&bench, args, redirection);
        let code = output.status.code().unwrap();
        assert!(code != 0 && code != 2, "{args} {redirection}: {output:?}");
        let text = stderr(&output);
        assert!(text.contains(why), "{args} {redirection}: {text}");
    }
    leave_upload_open(&bench);
    // What was done is done, as with the AWS CLI.
    for args in CHANGES {
        let output = redirected(&bench, args, redirection);
        let text = stderr(&output);
        assert!(output.status.success(), "{args} {redirection}: {output:?}");
        assert!(text.starts_with("warning: ") && text.contains(why), "{args}: {text}");
    }
    assert!(bench.ok("tag get s3://box/k").contains("c=d"));
    jobs_end_as_their_commands(&bench, redirection);
    for args in ["mb s3://new", "rb s3://new"] {
        let job = bench.ok(&format!("{args} --print-job"));
        bench.file("job", &job);
        let output = redirected(&bench, args, redirection);
        assert_eq!(output.status.code(), Some(1), "as the AWS CLI has it: {output:?}");
        let undo = if args.starts_with("mb") { "rb s3://new" } else { "mb s3://new" };
        bench.run(undo);
        let output = redirected(&bench, "job run job", redirection);
        assert_eq!(output.status.code(), Some(1), "{args}: {output:?}");
        assert!(stderr(&output).starts_with("s3haul: error: cannot write"), "{output:?}");
    }
    bench.file("f", "x");
    let silent = redirected(&bench, "cp f s3://box/f --quiet", redirection);
    assert!(silent.status.success() && silent.stderr.is_empty(), "{silent:?}");
}

/// `job run` ended with 255 where its command only warned.
fn jobs_end_as_their_commands(bench: &Bench, redirection: &str) {
    bench.file("g", "x");
    for (args, warns) in [
        ("cp g s3://box/g", true),
        ("tag set s3://box/k --tags c=d", true),
        ("set s3://box/k --content-type x/z", true),
        ("versioning enable s3://box", true),
        ("rm s3://box/g", true),
        ("mv g s3://box/g", true),
        ("rm s3://box/g --dryrun", false),
        ("rm s3://box/g --json", false),
        ("tag get s3://box/k", false),
        ("versioning get s3://box", false),
    ] {
        bench.file("job", &bench.ok(&format!("{args} --print-job")));
        let output = redirected(bench, "job run job", redirection);
        let (code, start) = if warns { (0, "warning: ") } else { (255, "s3haul: error: ") };
        assert_eq!(output.status.code(), Some(code), "{args} {redirection}: {output:?}");
        assert!(stderr(&output).starts_with(start), "{args}: {output:?}");
    }
}

/// The runtime opens /dev/null where standard output is closed: writes went nowhere, with success.
#[test]
fn a_closed_standard_output_is_a_failure() {
    fails_where_nothing_can_be_written(">&-", "Bad file descriptor");
}

#[test]
fn a_full_standard_output_is_a_failure() {
    fails_where_nothing_can_be_written(">/dev/full", "No space left on device");
}

/// /dev/null is a place for output, also where it was opened for reading and writing.
#[test]
fn nothing_is_missed_in_dev_null() {
    let bench = Bench::with_objects(&["k"]);
    for redirection in [">/dev/null", "1<>/dev/null"] {
        let output = redirected(&bench, "ls s3://box", redirection);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn a_closed_standard_input_is_no_empty_object() {
    let bench = Bench::with_objects(&["k"]);
    for args in ["pipe s3://box/new", "cp - s3://box/new", "rm s3://box/ --from -", "run -"] {
        let output = redirected(&bench, args, "<&-");
        assert!(!output.status.success(), "{args}: {output:?}");
        assert!(stderr(&output).contains("stdin is required"), "{args}: {output:?}");
    }
    let keys = bench.ok("list s3://box --format keys");
    assert_eq!(keys, "k\n", "nothing is written and nothing is removed");
}
