//! Command lines of all tools for all kinds of work.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::call::Call;
use super::tools::TOOLS;
use super::{Endpoint, Task};

const SECRET: &str = "never-to-be-seen";

fn endpoint(scratch: &Path) -> Endpoint {
    Endpoint {
        url: "https://localhost:9999".to_owned(),
        access_key: "key-id".to_owned(),
        secret_key: SECRET.to_owned(),
        region: "eu-west-7".to_owned(),
        ca_file: Some("/ca.pem".into()),
        scratch: scratch.to_owned(),
    }
}

fn tasks() -> [(&'static str, Task<'static>); 11] {
    let (tree, file) = (Path::new("/tree"), Path::new("/tree/f"));
    let (bucket, prefix, key) = ("bkt", "x/", "x/f");
    let copy = Task::Copy { source_bucket: "from", source_prefix: "x/", bucket, prefix: "y/" };
    [
        ("upload", Task::Upload { tree, bucket, prefix }),
        ("sync", Task::Sync { tree, bucket, prefix }),
        ("download", Task::Download { bucket, prefix, target: Path::new("/back") }),
        ("upload-file", Task::UploadFile { file, bucket, key }),
        ("download-file", Task::DownloadFile { bucket, key, file }),
        ("list", Task::List { bucket }),
        ("summarize", Task::Summarize { bucket }),
        ("copy", copy),
        ("delete", Task::Delete { bucket, prefix }),
        ("tag", Task::Tag { bucket, prefix }),
        ("version", Task::Version),
    ]
}

/// Calls a function with each command that there is.
fn each(mut take: impl FnMut(&str, &str, &Command)) {
    let scratch = TempDir::new().unwrap();
    let endpoint = endpoint(scratch.path());
    for tool in TOOLS {
        let call = Call { program: Path::new("tool"), endpoint: &endpoint };
        for (work, task) in tasks() {
            if let Ok(command) = (tool.line)(&call, &task) {
                take(tool.name, work, &command);
            }
        }
    }
}

fn arguments(command: &Command) -> Vec<String> {
    command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

#[test]
fn the_secret_is_in_the_environment_only() {
    let mut count = 0;
    each(|tool, work, command| {
        let arguments = arguments(command).join(" ");
        assert!(!arguments.contains(SECRET), "{tool} {work}: {arguments}");
        let mut variables = command.get_envs().filter_map(|(_, value)| value?.to_str());
        assert!(variables.any(|value| value.contains(SECRET)), "{tool} {work} has no secret");
        count += 1;
    });
    // All that s3haul, aws and mc can, and what the others can of it.
    assert_eq!(count, 11 + 11 + 4 + 10 + 10 + 11 + 5 + 3 + 10);
}

#[test]
fn every_command_trusts_the_certificate() {
    each(|tool, work, command| {
        for name in ["AWS_CA_BUNDLE", "SSL_CERT_FILE"] {
            let set = command.get_envs().any(|(variable, value)| {
                variable == name && value.is_some_and(|value| value == "/ca.pem")
            });
            assert!(set, "{tool} {work}: no {name}");
        }
    });
}

#[test]
fn nothing_of_the_callers_environment_is_left() {
    let scratch = TempDir::new().unwrap();
    let endpoint = endpoint(scratch.path());
    let call = Call { program: Path::new("tool"), endpoint: &endpoint };
    let output = call.command_of("env").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut names: Vec<&str> =
        text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.retain(|name| !name.starts_with("AWS_") && *name != "TMPDIR");
    names.sort_unstable();
    // Cargo set more than these for us.
    assert_eq!(names, ["HOME", "LC_ALL", "NODE_EXTRA_CA_CERTS", "PATH", "SSL_CERT_FILE"]);
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
}

/// The words that name what is moved and where to.
#[test]
fn trees_and_prefixes_end_up_where_they_should() {
    let mut told = String::new();
    each(|tool, work, command| {
        if ["upload", "download", "copy", "delete"].contains(&work) {
            let mut places = arguments(command);
            places.retain(|word| {
                word.contains('/') && !word.starts_with("https:") && !word.contains("aws_crt")
            });
            writeln!(told, "{tool} {work}: {}", places.join(" ")).unwrap();
        }
    });
    let expected = "\
s3haul upload: /tree s3://bkt/x/
s3haul download: s3://bkt/x/ /back
s3haul copy: s3://from/x/ s3://bkt/y/
s3haul delete: s3://bkt/x/
aws upload: /tree s3://bkt/x/
aws download: s3://bkt/x/ /back
aws copy: s3://from/x/ s3://bkt/y/
aws delete: s3://bkt/x/
aws-crt upload: /tree s3://bkt/x/
aws-crt download: s3://bkt/x/ /back
s5cmd upload: /tree/ s3://bkt/x/
s5cmd download: s3://bkt/x/* /back/
s5cmd copy: s3://from/x/* s3://bkt/y/
s5cmd delete: s3://bkt/x/*
rclone upload: /tree x:bkt/x/
rclone download: x:bkt/x/ /back
rclone copy: x:from/x/ x:bkt/y/
rclone delete: x:bkt/x/
mc upload: /tree t/bkt/x/
mc download: t/bkt/x/ /back/
mc copy: t/from/x/ t/bkt/y/
mc delete: t/bkt/x/
s3sync upload: /tree/ s3://bkt/x/
s3sync download: s3://bkt/x/ /back/
s3sync copy: s3://from/x/ s3://bkt/y/
s4cmd upload: /tree s3://bkt/x/
s4cmd download: s3://bkt/x/ /back
s4cmd copy: s3://from/x/ s3://bkt/y/
s4cmd delete: s3://bkt/x/
";
    assert_eq!(told, expected);
}

#[test]
fn what_a_tool_cannot_is_said() {
    let scratch = TempDir::new().unwrap();
    let endpoint = endpoint(scratch.path());
    let call = Call { program: Path::new("tool"), endpoint: &endpoint };
    let mut told = Vec::new();
    for tool in TOOLS {
        if let Err(why) = (tool.line)(&call, &Task::Tag { bucket: "bkt", prefix: "x/" }) {
            told.push(format!("{}: {why}", tool.name));
        }
    }
    let expected = [
        "aws-crt: transfers only; otherwise as `aws`",
        "s5cmd: knows no tags",
        "rclone: knows no tags",
        "s3sync: has no such command",
        "s3ls: lists only",
        "s4cmd: knows no tags",
    ];
    assert_eq!(told, expected);
}
