//! `find`: what it finds, how it prints it, and what it asks for.

use serde_json::Value;

use crate::listing::{page, refusal, server};
use crate::support::{Bench, stderr, stdout};

fn found(bench: &Bench, args: &str) -> Vec<String> {
    let mut lines = bench.lines(&format!("find {args}"));
    lines.sort();
    lines
}

/// Objects with tags and metadata, and one file that says `k` many times.
fn labelled() -> Bench {
    let bench = Bench::with_objects(&[]);
    bench.file("f", "12");
    for (key, flags) in [
        ("p/a", "--metadata Team=x,type=raw"),
        ("p/b", "--metadata team=y"),
        ("p/c", ""),
        ("q/a", "--metadata team=x"),
    ] {
        bench.ok(&format!("cp f s3://box/{key} {flags}"));
    }
    bench.ok("tag set s3://box/p/a --tags type=raw,keep=");
    bench.ok("tag set s3://box/p/b --tags type=cooked");
    bench
}

#[test]
fn addresses_are_printed_as_they_are_found() {
    let bench = Bench::with_objects(&["d/a.gz", "d/b.txt", "d/e/c.gz", "dd/f.gz"]);
    let gz = ["s3://box/d/a.gz", "s3://box/d/e/c.gz", "s3://box/dd/f.gz"];
    assert_eq!(found(&bench, "s3://box --name *.gz"), gz);
    assert_eq!(found(&bench, "s3://box/d/ --name *.gz"), gz[..2]);
    assert_eq!(found(&bench, "s3://box --name [ac].gz"), gz[..2]);
    assert_eq!(found(&bench, "s3://box --name b.* --name f* --regex /f"), ["s3://box/dd/f.gz"]);
    assert_eq!(found(&bench, "s3://box/d --regex ^dd/"), gz[2..]);
    assert_eq!(bench.ok("find s3://box/d/ --sort --min-size 6 --max-size 7"), {
        "s3://box/d/a.gz\ns3://box/d/b.txt\n"
    });
    assert_eq!(bench.ok("find s3://box/nothing"), "", "nothing found is no failure");
    assert_eq!(bench.status("find s3://nobox"), 254);
    assert_eq!(bench.ok("find s3://box --name *.gz --newer-than 1d --older-than 1h"), "");
}

#[test]
fn formats_are_those_of_a_listing() {
    let bench = Bench::with_objects(&["d/a"]);
    let csv = bench.ok("find s3://box --format csv");
    assert!(csv.starts_with("bucket,key,size,last_modified,etag,storage_class\r\nbox,d/a,3,"));
    assert_eq!(bench.ok("find s3://box --format tsv --fields key,size --no-header"), "d/a\t3\n");
    let row: Value = serde_json::from_str(&bench.ok("find s3://box --format jsonl")).unwrap();
    assert_eq!((&row["bucket"], &row["key"]), (&"box".into(), &"d/a".into()));
    let event: Value = serde_json::from_str(&bench.ok("find s3://box --json")).unwrap();
    assert_eq!((&event["event"], &event["key"]), (&"listed".into(), &"d/a".into()));
    assert_eq!(bench.ok("find s3://box --output-file out --name a"), "");
    assert_eq!(bench.read("out"), "s3://box/d/a\n");
}

#[test]
fn tags_and_metadata_are_asked_for() {
    let bench = labelled();
    let (a, b) = ("s3://box/p/a", "s3://box/p/b");
    assert_eq!(found(&bench, "s3://box --tag type"), [a, b]);
    assert_eq!(found(&bench, "s3://box --tag type=raw"), [a]);
    assert_eq!(found(&bench, "s3://box --tag type --tag keep="), [a]);
    assert_eq!(found(&bench, "s3://box --tag type=other"), [""; 0]);
    assert_eq!(found(&bench, "s3://box --metadata TEAM=x"), [a, "s3://box/q/a"]);
    assert_eq!(found(&bench, "s3://box --metadata team --tag type=cooked"), [b]);
    assert_eq!(found(&bench, "s3://box --metadata team=x --serial --sort").len(), 2);
    // S3 returns what is not ASCII as an encoded word.
    bench.ok("set s3://box/p/c --add-metadata place=Köln");
    assert_eq!(found(&bench, "s3://box --metadata place=Köln"), ["s3://box/p/c"]);
}

/// What the listing decides costs nothing.
#[test]
fn only_what_meets_the_other_conditions_is_asked_for() {
    let bench = labelled();
    let requests = |args: &str| {
        let output = bench.run(&format!("find s3://box {args} --summarize --serial"));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let messages = stderr(&output);
        messages.lines().last().unwrap().trim().to_owned()
    };
    assert_eq!(requests("--tag type --regex ^p/"), "Requests: 1 LIST, 3 HEAD and GET");
    assert_eq!(requests("--metadata type --tag type --name a"), "Requests: 1 LIST, 3 HEAD and GET");
    assert_eq!(requests("--tag type --min-size 3"), "Requests: 1 LIST, 0 HEAD and GET");
    let lines = bench.lines("find s3://box --summarize --json --tag keep");
    let summary: Value = serde_json::from_str(&lines[1]).unwrap();
    assert_eq!((&summary["objects"], &summary["requests"]["get_head"]), (&1.into(), &4.into()));
}

#[test]
fn many_pages_are_asked_about_at_a_time() {
    let bench = Bench::synthetic("dates:3000");
    let output = bench.run("find s3://synthetic --page-size 100 --metadata none --summarize");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stderr(&output).contains("3000 HEAD and GET"), "{output:?}");
    assert_eq!(stdout(&output), "");
}

/// The line of a key with a line break was that of a key with a backslash, which was removed.
#[test]
fn no_line_of_find_names_another_object_to_a_removal() {
    let bench = Bench::with_objects(&[]);
    bench.file("x", "1");
    for key in ["a\nb", "a\\nb"] {
        let output = bench.command("cp x").arg(format!("s3://box/{key}")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(bench.ok("find s3://box"), "\"s3://box/a\\nb\"\ns3://box/a\\nb\n");
    for (name, why) in [("*b", "begins with a quote"), ("a?nb", "it has a tab")] {
        let found = bench.ok(&format!("find s3://box --versions --name {name}"));
        let output = bench.run_with_input("rm s3://box --from -", &found);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
        assert!(stderr(&output).contains(why), "{output:?}");
    }
    let found = bench.ok("find s3://box");
    let output = bench.run_with_input("rm s3://box --from -", &found);
    assert_eq!((output.status.code(), bench.ok("find s3://box").as_str()), (Some(0), ""));
}

#[test]
fn failed_lookups_are_reported_and_the_rest_goes_on() {
    let answer = |request: &str| {
        let error = |code| format!("<Error><Code>{code}</Code><Message>no</Message></Error>");
        let tags = "<Tagging><TagSet><Tag><Key>t</Key><Value>1</Value></Tag></TagSet></Tagging>";
        match request.split(['/', '?', ' ']).nth(3) {
            Some("denied") => ("403 Forbidden", refusal()),
            Some("gone") => ("404 Not Found", error("NoSuchKey")),
            Some("unknown") => ("501 Not Implemented", error("NotImplemented")),
            Some("fine") => ("200 OK", tags.to_owned()),
            _ if request.contains("prefix=u") => ("200 OK", page("unknown", false)),
            _ => ("200 OK", page("denied fine gone", false)),
        }
    };
    let server = server(answer);
    let bench = Bench::new();
    let run = |args: &str| {
        let mut command = bench.command(&format!("find {args} --tag t"));
        command.env("AWS_ENDPOINT_URL", &server).output().unwrap()
    };
    let output = run("s3://box");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), "s3://box/fine\n"));
    let messages = stderr(&output);
    assert!(messages.starts_with("find failed: s3://box/denied An error occurred (AccessDenied)"));
    assert_eq!(messages.lines().count(), 1, "{messages}");
    let output = run("s3://box --json");
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("\"event\":\"warning\",\"message\":\"find failed: "));
    assert!(stdout(&output).contains("\"failed\":true}\n"));
    let output = run("s3://box/u");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(254), ""), "{output:?}");
}
