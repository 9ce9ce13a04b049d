//! `docs/formats.txt`: what programs parse, found in real runs and held to that file, so that a
//! change shows in the diff of a commit. `docs/stability.md` says what may change and how.
//!
//! `S3HAUL_TEST_BLESS=1 cargo test -p s3haul-cli --test cli formats` writes it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::Value;

use crate::support::{Bench, stdout};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.txt");

const HEAD: &str = "\
# What programs parse, made from real runs by tests/cli/stable.rs; docs/stability.md explains it.
# A field that a run may leave out is here like any other.
";

/// Commands that between them print most events, each with the exit code it ends with.
const RUNS: [(&str, i32); 40] = [
    ("cp --recursive data s3://box/d --dryrun --estimate", 0),
    ("cp --recursive data s3://box/d --report report.jsonl", 0),
    ("cp --recursive data s3://box/d --report report.csv", 0),
    ("cp --recursive data s3://box/d --report report.parquet", 0),
    ("cp --recursive data s3://none/ --report failed.jsonl", 1),
    ("cp none s3://box/", 255),
    ("cp s3://box/none .", 1),
    ("cp", 252),
    ("sync data s3://box/d --size-only", 0),
    ("sync s3://box/d s3://box/copy", 0),
    ("mv s3://box/copy/a s3://box/moved", 0),
    ("cp --recursive s3://box/d/ down", 2),
    ("set s3://box/moved --content-type text/x --metadata a=b", 0),
    ("tag set s3://box/moved --tags a=b", 0),
    ("tag get s3://box/moved", 0),
    ("head s3://box/moved", 0),
    ("head s3://box/none", 254),
    ("ls", 0),
    ("ls s3://box", 0),
    ("ls s3://box/none", 1),
    ("ls s3://none", 254),
    ("list s3://box", 0),
    ("list s3://box --format csv --output-file list.csv", 0),
    ("list s3://box --format parquet --output-file list.parquet", 0),
    ("find s3://box", 0),
    ("versions s3://box", 0),
    ("list-buckets --count", 0),
    ("summarize s3://box", 0),
    ("compare data s3://box", 1),
    ("compare data s3://box/d --checksum", 1),
    ("verify s3://box/x/ s3://box/y/", 2),
    ("uploads ls s3://box", 0),
    ("presign s3://box/d/a", 0),
    ("versioning get s3://box", 0),
    ("plan rm --recursive s3://box/d --plan plan.parquet", 0),
    ("plan show plan.parquet", 0),
    ("jobs ls", 0),
    ("restore s3://box/moved --status", 0),
    ("run commands", 1),
    ("rm --recursive s3://box/d", 0),
];

/// Field and types by what has it: an event, or a file.
type Fields = BTreeMap<String, BTreeSet<String>>;

/// Adds the fields of a value and of what it holds.
fn add(fields: &mut Fields, path: &str, value: &Value) {
    let mut note = |kind: &str| {
        fields.entry(path.to_owned()).or_default().insert(kind.to_owned());
    };
    match value {
        Value::Null => note("null"),
        Value::Bool(_) => note("boolean"),
        Value::Number(_) => note("number"),
        Value::String(_) => note("text"),
        Value::Array(values) => {
            note("list");
            for value in values {
                add(fields, &format!("{path}[]"), value);
            }
        }
        Value::Object(values) => {
            for (name, value) in values {
                add(fields, &format!("{path}.{name}"), value);
            }
        }
    }
}

/// Adds lines of JSON, each under the name of its event.
fn add_lines(fields: &mut Fields, name: &str, text: &str) {
    for line in text.lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            panic!("{name}: no JSON: {line}");
        };
        // The one that prints a document instead of events.
        let event = value["event"].as_str().unwrap_or("summarize");
        add(fields, &format!("{name} {event}: "), &value);
    }
}

fn add_columns(fields: &mut Fields, bench: &Bench, name: &str) {
    let mut path = bench.path(name);
    if path.is_dir() {
        path.push("part-000000.parquet");
    }
    let reader = SerializedFileReader::try_from(path.as_path()).unwrap();
    for column in reader.metadata().file_metadata().schema_descr().columns() {
        let kind = format!("{:?}", column.physical_type()).to_lowercase();
        fields.entry(format!("{name}: .{}", column.name())).or_default().insert(kind);
    }
}

fn found() -> String {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    for name in ["data/a", "data/b.txt"] {
        bench.file(name, name);
    }
    bench.file("commands", "ls s3://box\nls s3://none\n");
    // What no file can be named, for a warning.
    let odd = bench.run_with_input("pipe s3://box/d/../odd", "x");
    assert!(odd.status.success(), "{odd:?}");
    let (mut fields, mut statuses) = (Fields::new(), BTreeSet::new());
    for (run, status) in RUNS {
        let json = if run.contains("--output-file") { "" } else { " --json" };
        let output = bench.run(&format!("{run}{json}"));
        assert_eq!(output.status.code(), Some(status), "{run}: {output:?}");
        statuses.insert(format!("exit code {status}: {run}"));
        add_lines(&mut fields, "--json", &stdout(&output));
    }
    for name in ["report.jsonl", "failed.jsonl"] {
        add_lines(&mut fields, "report.jsonl", &bench.read(name));
    }
    for name in ["report.parquet", "list.parquet", "plan.parquet"] {
        add_columns(&mut fields, &bench, name);
    }
    let headers = ["report.csv", "list.csv"]
        .map(|name| format!("{name}: {}\n", bench.read(name).lines().next().unwrap()));
    let fields = fields.iter().map(|(field, kinds)| {
        let kinds: Vec<_> = kinds.iter().map(String::as_str).collect();
        format!("{} {}\n", field.replace(": .", ": "), kinds.join(" or "))
    });
    let statuses = statuses.iter().map(|line| format!("{line}\n"));
    std::iter::once(HEAD.to_owned()).chain(fields).chain(headers).chain(statuses).collect()
}

#[test]
fn formats_are_as_written_down() {
    let text = found();
    if std::env::var_os("S3HAUL_TEST_BLESS").is_some() {
        std::fs::write(FILE, &text).unwrap();
    }
    let held = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(held == text, "{FILE} is not up to date: run this test with S3HAUL_TEST_BLESS=1");
}
