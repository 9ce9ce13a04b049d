//! `--report`: what became of every object.

use serde_json::Value;

use crate::support::{Bench, stderr};

/// The rows of a report in JSON lines.
fn rows(bench: &Bench, name: &str) -> Vec<Value> {
    bench.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Of the rows of one kind these fields, in order of the text.
fn told(rows: &[Value], event: &str, fields: &[&str]) -> Vec<String> {
    let of_kind = rows.iter().filter(|row| row["event"] == event);
    let text = |row: &Value| {
        let cells = fields.iter().map(|field| row[*field].as_str().unwrap_or("-").to_owned());
        cells.collect::<Vec<_>>().join(" ")
    };
    let mut lines: Vec<_> = of_kind.map(text).collect();
    lines.sort();
    lines
}

#[test]
fn a_report_tells_of_every_object_and_why() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("t/a", "1");
    bench.file("t/b", "2");
    bench.ok("cp --recursive t s3://box --report r.jsonl");
    let first = rows(&bench, "r.jsonl");
    assert_eq!(first[0]["event"], "report");
    assert_eq!(first[0]["action"], "cp");
    assert!(first[0]["source"].as_str().unwrap().ends_with("/t"));
    assert_eq!(first[0]["target"], "s3://box");
    let fields = ["action", "outcome", "reason", "target"];
    let expected = ["upload done - s3://box/a", "upload done - s3://box/b"];
    assert_eq!(told(&first, "object", &fields), expected);
    assert_eq!(first.last().unwrap()["outcome"], "complete");

    bench.file("t/a", "longer");
    bench.file("t/c", "3");
    bench.ok("rm s3://box/b");
    bench.ok("sync t s3://box --report r2.jsonl");
    let expected = [
        "upload done missing s3://box/b",
        "upload done missing s3://box/c",
        "upload done size s3://box/a",
    ];
    assert_eq!(told(&rows(&bench, "r2.jsonl"), "object", &fields), expected);
    bench.ok("rm --recursive s3://box --exclude * --include c --report r3.csv");
    let text = bench.read("r3.csv");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "event,action,outcome,reason,bytes,attempts,source,target,error,path_base64",
            "report,rm,,,,,s3://box,,,",
            "object,delete,done,,1,,s3://box/c,,,",
            "end,,complete,,,,,,,",
        ]
    );
}

#[test]
fn a_report_that_cannot_be_written_is_told() {
    let bench = Bench::with_objects(&["k"]);
    for (report, code) in [("no/such/r.jsonl", 255), ("/dev/full", 255)] {
        let output = bench.run(&format!("cp s3://box/k back --report {report}"));
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(stderr(&output).contains("could not write the report"), "{output:?}");
    }
    assert!(!bench.names().contains(&"back".to_owned()), "nothing was begun");
    let output = bench.run("sync s3://box . --delete --report r.jsonl");
    assert_eq!(output.status.code(), Some(252), "{output:?}");
    assert!(stderr(&output).contains("among the files of the command"), "{output:?}");
}
