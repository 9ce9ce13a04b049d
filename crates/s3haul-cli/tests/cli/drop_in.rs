//! In the place of `aws`: in bash scripts, for habits of its users, and beside the real one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{BINARY, Bench, stderr, stdout};

/// What stands for the real `aws`.
const OTHER: &str = "#!/bin/sh\necho \"aws: $*\"; exit 7\n";

fn program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Runs a bash script with folders of the bench before the system's on the path.
fn bash(bench: &Bench, folders: &[&str], script: &str) -> Output {
    bench.file("script.sh", script);
    let folders = folders.iter().map(|name| bench.folder().join(name));
    let all = folders.chain(["/usr/bin".into(), "/bin".into()]);
    let path = std::env::join_paths(all).unwrap();
    let mut command = bench.program("bash");
    command.arg("script.sh").env("PATH", path).output().unwrap()
}

/// The function that the page about aws-cli offers.
fn function() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/from-aws-cli.md");
    let text = std::fs::read_to_string(page).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("aws() {")).collect();
    assert_eq!(lines.len(), 1, "the page offers a function");
    lines[0].to_owned()
}

/// An alias does nothing in a script; the function and the link do.
#[test]
fn scripts_of_bash_reach_the_command_as_aws() {
    let bench = Bench::with_objects(&["k"]);
    program(&bench.folder().join("real/aws"), OTHER);
    std::fs::create_dir(bench.folder().join("bin")).unwrap();
    symlink(BINARY, bench.folder().join("bin/s3haul")).unwrap();
    let calls = "aws s3 ls s3://box; aws ec2 describe 'a b'; echo $?\n\
                 aws --region us-east-1 s3 ls s3://box; aws --profile s3 ec2 s3\n\
                 bash -c 'aws s3 ls s3://box'\n";
    let script = format!("{}\nexport -f aws\n{calls}", function());
    let by_function = bash(&bench, &["real", "bin"], &script);
    let lines = stdout(&by_function);
    let lines: Vec<_> = lines.lines().map(str::trim_end).collect();
    assert_eq!(lines.len(), 6, "{by_function:?}");
    assert!(lines[0].ends_with(" 1 k"), "{lines:?}");
    assert!(lines[0] == lines[3] && lines[0] == lines[5], "{lines:?}");
    assert_eq!(
        [lines[1], lines[2], lines[4]],
        ["aws: ec2 describe a b", "7", "aws: --profile s3 ec2 s3"]
    );
    std::fs::create_dir(bench.folder().join("link")).unwrap();
    symlink(BINARY, bench.folder().join("link/aws")).unwrap();
    let by_link = bash(&bench, &["link", "real"], calls);
    assert_eq!(stdout(&by_link), stdout(&by_function), "{by_link:?}");
}

/// `rm s3://box/a?` removed `ab` as well.
#[test]
fn a_link_named_aws_takes_addresses_literally() {
    let bench = Bench::with_objects(&["a?", "ab", "b*", "bc", "c?", "cd"]);
    bench.ok("cp --raw s3://box/a? s3://box/e/*");
    std::fs::create_dir(bench.folder().join("link")).unwrap();
    symlink(BINARY, bench.folder().join("link/aws")).unwrap();
    let calls = "aws s3 rm 's3://box/a?'; aws s3 mv 's3://box/b*' s3://box/moved\n\
                 aws s3 cp 's3://box/c?' c; aws s3 ls 's3://box/e/*'\n";
    let done = bash(&bench, &["link"], calls);
    assert!(done.status.success() && stdout(&done).ends_with(" *\n"), "{done:?}");
    let mut left = bench.lines("list s3://box --format keys");
    left.sort();
    assert_eq!(left, ["ab", "bc", "c?", "cd", "e/*", "moved"]);
    assert!(bench.folder().join("c").is_file());
}

#[test]
fn a_link_named_aws_finds_the_other_aws_or_says_that_there_is_none() {
    let bench = Bench::new();
    let link = |folder: &str| {
        std::fs::create_dir_all(bench.folder().join(folder)).unwrap();
        symlink(BINARY, bench.folder().join(folder).join("aws")).unwrap();
    };
    link("link");
    link("again");
    program(&bench.folder().join("real/aws"), OTHER);
    let folders = ["link", "again", "real"];
    let handed = bash(&bench, &folders, "aws --version; aws --profile s3 sts x; aws help; aws\n");
    assert_eq!(
        stdout(&handed),
        "aws: --version\naws: --profile s3 sts x\naws: help\naws: \n",
        "{handed:?}"
    );
    assert_eq!(handed.status.code(), Some(7), "the exit code is the other's");
    let help = stdout(&bash(&bench, &folders, "aws s3 help\n"));
    assert!(help.starts_with("Move, sync, list, describe and remove S3 data in bulk"), "{help}");
    let alone = bash(&bench, &["link", "again"], "aws ec2 x\n");
    assert_eq!(alone.status.code(), Some(252), "{alone:?}");
    let text = stderr(&alone);
    assert!(text.contains("`aws ec2` is not a command of s3haul: no other `aws`"), "{text}");
    assert!(text.contains("\nhint: this `aws` is s3haul under another name"), "{text}");
    // A wrapper that calls `aws` again is no other `aws`.
    program(&bench.folder().join("circle/aws"), "#!/bin/sh\nexec aws \"$@\"\n");
    let circle = bash(&bench, &["link", "circle"], "aws ec2 x\n");
    assert_eq!(circle.status.code(), Some(252), "{circle:?}");
    assert!(stderr(&circle).contains("leads back to this one"), "{circle:?}");
}

#[test]
fn the_word_help_shows_the_flags_of_a_command() {
    let bench = Bench::new();
    for (args, start) in [
        ("ls help", "List buckets, or the objects"),
        ("s3 ls help", "List buckets, or the objects"),
        ("s3 sync help", "Copy what differs"),
        ("tag add help", "Add tags to objects"),
        ("s3 help", "Move, sync, list"),
        ("--region R ls help", "List buckets, or the objects"),
        ("s3 --region R ls help", "List buckets, or the objects"),
        ("ls --region R help", "List buckets, or the objects"),
        ("help", "Move, sync, list"),
        ("help cp", "Copy files to S3"),
    ] {
        let text = bench.ok(args);
        assert!(text.starts_with(start), "{args}: {text}");
    }
}

#[test]
fn habits_of_aws_get_an_answer() {
    let bench = Bench::with_objects(&["k"]);
    for flag in [
        "--cli-binary-format raw-in-base64-out",
        "--no-cli-auto-prompt",
        "--no-cli-pager",
        "--no-paginate",
        "--cli-error-format legacy",
        "--cli-read-timeout 60",
        "--cli-connect-timeout 60",
        "--output table",
        "--color off",
        "--no-verify-ssl",
    ] {
        let output = bench.run(&format!("s3 ls s3://box {flag}"));
        assert!(stdout(&output).ends_with(" k\n"), "{flag}: {output:?}");
    }
    for (args, hint) in [
        ("ls --cli-auto-prompt", "--cli-auto-prompt is not supported: `s3haul --help`"),
        ("ls --query x", "use --json"),
        ("s3api head-object --bucket b", "tip: here `s3haul head s3://BUCKET/KEY` does that"),
        ("s3api list-objects-v2", "tip: here `s3haul list s3://BUCKET` does that"),
        ("s3api get-bucket-acl", "`aws s3api`"),
        ("configure", "tip: profiles and credentials are those of the AWS tools: `aws configure`"),
        ("sts get-caller-identity", "tip: `sts` belongs to the AWS CLI: use `aws sts`"),
        ("lss", "tip: some similar subcommands exist: 'list', 'ls'"),
        ("s3 lss", "tip: some similar subcommands exist: 'list', 'ls'"),
        ("tag gett", "'get'"),
        ("sync . s3://box --delte", "tip: a similar argument exists: '--delete'"),
        ("sync --delte . s3://box", "tip: a similar argument exists: '--delete'"),
        ("--delte sync . s3://box", "tip: 'sync --delete' exists"),
        ("cp . s3://box --recursvie", "tip: a similar argument exists: '--recursive'"),
        ("cp . s3://box --dry-run", "tip: a similar argument exists: '--dryrun'"),
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(252), "{args}: {output:?}");
        assert!(stderr(&output).contains(hint), "{args}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{args}: {output:?}");
    }
}

/// Names of the subcommands in a long help.
fn subcommands(bench: &Bench, path: &str) -> Vec<String> {
    let help = bench.ok(&format!("{path} --help"));
    let Some((_, rest)) = help.split_once("Commands:\n") else { return Vec::new() };
    let rows = rest.lines().take_while(|line| line.starts_with("  "));
    let names = rows.filter(|line| !line.starts_with("   ")).map(|line| {
        let name = line.split_whitespace().next().unwrap();
        format!("{path} {name}").trim().to_owned()
    });
    names.filter(|name| !name.ends_with("help")).collect()
}

#[test]
fn the_short_help_of_every_command_fits_a_screen() {
    let bench = Bench::new();
    let top = subcommands(&bench, "");
    assert!(top.len() > 25, "{top:?}");
    let inner = top.iter().flat_map(|name| subcommands(&bench, name));
    let all: Vec<String> = inner.chain(top.iter().cloned()).chain(["s3 cp".into()]).collect();
    for name in all.iter().map(String::as_str).chain(["", "s3"]) {
        let show = |flag: &str| {
            let mut command = bench.command(&format!("{name} {flag}"));
            stdout(&command.env("COLUMNS", "80").output().unwrap())
        };
        let (short, long) = (show("-h"), show("--help"));
        let (lines, width) =
            (short.lines().count(), short.lines().map(|line| line.chars().count()).max().unwrap());
        let lines_max = if matches!(name, "" | "s3") { 46 } else { 23 };
        assert!(lines <= lines_max, "`{name} -h` has {lines} lines:\n{short}");
        assert!(width <= 80, "`{name} -h` has {width} columns:\n{short}");
        assert!(long.lines().count() > lines, "`{name} --help` has more:\n{long}");
        let flags = short.lines().filter(|line| line.trim_start().starts_with("--")).count();
        assert!(flags <= 10, "`{name} -h` has {flags} flags:\n{short}");
        assert!(short.contains("--help"), "`{name} -h` names --help:\n{short}");
    }
    let overview = stdout(&bench.run("-h"));
    for name in &top {
        assert!(overview.contains(&format!("\n  {name} ")), "{name}: {overview}");
    }
}

/// `--version` is the beginning of `--versions`, which removes for good.
#[test]
fn version_behind_a_command_is_no_beginning_of_versions() {
    let bench = Bench::with_objects(&["k"]);
    for args in
        ["--version", "rm --recursive s3://box --version", "s3 ls --version", "tag get --version"]
    {
        let text = bench.ok(args);
        let version = text.strip_prefix("s3haul ").unwrap_or_else(|| panic!("{args}: {text}"));
        assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{args}: {text}");
        assert_eq!(text.lines().count(), 1, "{args}: {text}");
    }
    assert_eq!(bench.status("ls s3://box/k"), 0);
}

/// Only the name of the program makes it `aws`, not its arguments.
#[test]
fn only_the_name_of_the_program_counts() {
    let output = Command::new(BINARY).arg("s3").arg("aws").output().unwrap();
    assert_eq!(output.status.code(), Some(252), "{output:?}");
}

/// Scripts of `aws` append flags to a command that has them: the last one holds there.
#[test]
fn the_last_of_repeated_flags_holds() {
    let bench = Bench::with_objects(&[]);
    for name in ["d/a", "d/b", "d/c"] {
        bench.file(name, "x");
    }
    let nowhere = "--endpoint-url http://127.0.0.1:1";
    let here = format!("--endpoint-url {}", bench.endpoint());
    let copy = "cp --quiet --quiet d/a s3://box/k --storage-class STANDARD";
    let rest = "--storage-class STANDARD_IA --region eu-west-1 --region us-east-1 --acl private \
                --acl private --content-type text/a --content-type=text/b --metadata a=1 \
                --metadata b=2";
    assert_eq!(bench.ok(&format!("s3 {copy} {rest} {nowhere} {here}")), "");
    let head: serde_json::Value =
        serde_json::from_str(&bench.ok("head s3://box/k --json")).unwrap();
    assert_eq!(head["storage_class"], "STANDARD_IA", "{head}");
    assert_eq!(head["content_type"], "text/b", "{head}");
    assert_eq!(head["metadata"], serde_json::json!({"b": "2"}), "{head}");
    // Also where they stand before the command, and in commands below others.
    let line = format!("{nowhere} s3 {here} ls s3://box --human-readable --human-readable");
    assert!(bench.ok(&line).ends_with(" k\n"));
    bench.ok("tag set s3://box/k --tags a=1 --dryrun --no-progress --dryrun --no-progress");
    // Lists add up, filters count in their order, and what excludes something else still does.
    let find = "find s3://box --metadata c=1 --metadata b=2 --min-size 9 --min-size 0";
    assert_eq!(bench.ok(find), "");
    assert_eq!(bench.ok(&find.replace("c=1", "b")), "s3://box/k\n");
    let lines = bench.lines("cp --recursive d s3://box/f --exclude * --include b --exclude a");
    assert_eq!(lines, ["upload: d/b to s3://box/f/b"]);
    let both = "sync d s3://box --checksum --size-only --checksum";
    assert_eq!(bench.status(both), 252);
    assert_eq!(bench.status("cp d/a s3://box/k --acl none --acl private"), 252);
}

/// Python's `dateutil` takes no notice of the weekday.
#[test]
fn the_weekday_of_a_date_does_not_matter() {
    let bench = Bench::with_objects(&[]);
    bench.file("f", "x");
    for date in [
        "Tue, 01 Jan 2030 00:00:00 GMT",
        "Mon, 01 Jan 2030 00:00:00 GMT",
        "Mon Jan  1 00:00:00 UTC 2030",
    ] {
        let mut command = bench.command("cp f s3://box/k --quiet --expires");
        let output = command.arg(date).output().unwrap();
        assert!(output.status.success(), "{date}: {output:?}");
        let head = bench.ok("head s3://box/k --json");
        assert!(head.contains("Tue, 01 Jan 2030 00:00:00 GMT"), "{date}: {head}");
    }
}
