//! Reports, retries from them, the estimate of a dry run, and websites.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::harness::{Case, Ctx, cases};
use crate::trees;

cases!["report":
    uploads_are_tried_again,
    downloads_are_tried_again,
    reports_of_other_commands_are_refused,
    a_full_disk_is_reported,
    dry_runs_tell_what_would_be_sent,
    case_conflicts,
    websites,
];

/// What moto has of these too.
pub(crate) const MOTO: &[Case] = &[Case { name: "report::websites", run: websites }];

/// Names that a report must not garble; keys of some servers may not have all of them.
fn odd_names(ctx: &Ctx<'_>) -> BTreeSet<String> {
    let mut names: BTreeSet<_> =
        ["plain", "with space", "a,b", "\"quoted\"", "é 中", "d/ä"].map(str::to_owned).into();
    if ctx.server.features.control_characters {
        names.insert("line\nfeed\r\"x\",".to_owned());
    }
    names
}

fn uploads_are_tried_again(ctx: &Ctx<'_>) {
    let names = odd_names(ctx);
    for name in &names {
        ctx.file(&format!("t/{name}"), name.as_bytes());
    }
    for report in ["../r.jsonl", "../r.csv", "../r.parquet"] {
        let missing = format!("late-{}", report.trim_start_matches("../r."));
        let target = format!("s3://{}-{missing}", ctx.bucket);
        let done = ctx.haul(&["cp", "--recursive", "t", &target, "--report", report]).code(1);
        assert_eq!(done.out(), "", "{}", done.report());
        let remote = ctx.remote.sibling(&missing);
        remote.put("plain", b"it is replaced");
        // One of them has gone, one has changed, and one has come: that is not in the report.
        fs::remove_file(ctx.path("t/a,b")).unwrap();
        ctx.file("t/plain", b"new");
        ctx.file("t/later", b"x");
        let again = ["cp", "--recursive", "t", &target, "--retry-failed", report];
        let done = ctx.haul(&again).code(2);
        assert!(done.err().contains("a,b"), "{}", done.report());
        let mut expected = names.clone();
        expected.remove("a,b");
        assert_eq!(remote.keys(), expected.into_iter().collect::<Vec<_>>());
        assert_eq!(remote.get("plain"), b"new");
        ctx.file("t/a,b", b"a,b");
        fs::remove_file(ctx.path("t/later")).unwrap();
    }
}

fn downloads_are_tried_again(ctx: &Ctx<'_>) {
    for key in ["a", "wall/x", "wall/y", "z"] {
        ctx.remote.put(key, key.as_bytes());
    }
    ctx.file("t/wall", b"a file where a folder must be");
    let command = ["cp", "--recursive", &ctx.url(""), "t"];
    ctx.haul(&[&command[..], &["--report", "r.jsonl"]].concat()).code(1);
    let text = fs::read_to_string(ctx.path("r.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let failed = rows.iter().filter(|row| row["outcome"] == "failed");
    let errors: Vec<_> = failed.map(|row| row["error"].as_str().unwrap()).collect();
    assert_eq!(errors.len(), 2, "{text}");
    assert!(errors.iter().all(|error| error.contains("wall")), "{text}");
    fs::remove_file(ctx.path("t/wall")).unwrap();
    let again = ["--retry-failed", "r.jsonl", "--report", "r.csv"];
    let done = ctx.haul(&[&command[..], &again].concat()).ok();
    assert_eq!(done.out().lines().count(), 2, "{}", done.report());
    assert_eq!(trees::names(&ctx.path("t")), ["a", "wall/x", "wall/y", "z"]);
    let done = ctx.haul(&[&command[..], &["--retry-failed", "r.csv"]].concat()).ok();
    assert_eq!((done.out(), done.err()), (String::new(), String::new()));
}

fn reports_of_other_commands_are_refused(ctx: &Ctx<'_>) {
    ctx.file("t/a", b"1");
    ctx.haul(&["sync", "t", &ctx.url("x"), "--report", "r.csv"]).ok();
    for args in [
        vec!["sync", "t", &ctx.url("y"), "--retry-failed", "r.csv"],
        vec!["cp", "--recursive", "t", &ctx.url("x"), "--retry-failed", "r.csv"],
        vec!["sync", &ctx.url("x"), "t", "--retry-failed", "r.csv"],
        vec!["sync", "t", &ctx.url("x"), "--retry-failed", "r.csv", "--report", "./r.csv"],
        vec!["sync", "t", &ctx.url("x"), "--report", "t/r.csv"],
    ] {
        let done = ctx.haul(&args).code(252);
        assert!(done.err().contains("report"), "{}", done.report());
    }
    ctx.haul(&["sync", "t", &ctx.url("x/"), "--retry-failed", "r.csv"]).ok();
    ctx.haul(&["sync", "t", &ctx.url("x"), "--retry-failed", "none"]).code(255);
}

fn a_full_disk_is_reported(ctx: &Ctx<'_>) {
    let folder = ctx.path("disk");
    let Some(_disk) = super::failures::SmallDisk::mount(&folder) else {
        return ctx.skip("no right to mount a small file system");
    };
    ctx.file("f", b"1");
    // What is left of it holds the beginning of the report and not the end.
    let filler = fs::File::create(folder.join("filler")).unwrap();
    for left in (0..3 * 1024 * 1024 - 4096_u64).step_by(4096) {
        use std::io::Write as _;
        (&filler).write_all(&[0; 4096]).unwrap_or_else(|error| panic!("{left}: {error}"));
    }
    let names: Vec<_> = (0..200).map(|n| format!("t/{n:0>100}")).collect();
    for name in &names {
        ctx.file(name, b"1");
    }
    let done = ctx.haul(&["cp", "--recursive", "t", &ctx.url(""), "--report", "disk/r"]).code(1);
    assert!(done.err().contains("could not write the report"), "{}", done.report());
    assert_eq!(ctx.remote.keys().len(), names.len(), "the work is done all the same");
}

/// The lines are those of `aws`; the estimate stands beside them with `--estimate`.
fn dry_runs_tell_what_would_be_sent(ctx: &Ctx<'_>) {
    ctx.file("t/a", b"1");
    ctx.file("t/large", &vec![1; 17 << 20]);
    let args = ["cp", "--recursive", "t", &ctx.url(""), "--dryrun"];
    assert_eq!(ctx.haul(&args).ok().err(), "");
    let dry = ctx.haul(&[&args[..], &["--estimate"]].concat()).ok();
    assert!(dry.err().contains("would send 6 PUT/COPY/POST/LIST, 0 GET/HEAD"), "{}", dry.report());
    let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    if let Some(aws) = ctx.aws(&[&["s3"], &args[..]].concat()) {
        assert_eq!(sorted(&aws.ok().out()), sorted(&dry.out()));
    }
}

/// A dry run ends no download, so that names meet however fast the server is.
fn case_conflicts(ctx: &Ctx<'_>) {
    for key in ["t/A.txt", "t/D/x", "t/a.txt", "t/b", "t/d/X"] {
        ctx.remote.put(key, b"1");
    }
    ctx.file("down/b", b"old");
    let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    // Each names its own page.
    let warnings = |text: &str| -> BTreeSet<String> {
        let told = |line: &str| line.split(" For more information").next().unwrap().to_owned();
        text.lines().map(told).collect()
    };
    for (how, command, code) in
        [("skip", "cp", 0), ("skip", "sync", 0), ("warn", "mv", 0), ("error", "cp", 1)]
    {
        let url = ctx.url("t");
        let mut args = vec![command, &url, "down", "--dryrun", "--case-conflict", how];
        if command != "sync" {
            args.push("--recursive");
        }
        let ours = ctx.haul(&args).code(code);
        let Some(theirs) = ctx.aws(&[&["s3"], &args[..]].concat()) else { continue };
        let theirs = theirs.code(code);
        assert_eq!(sorted(&ours.out()), sorted(&theirs.out()), "{how} {command}");
        assert_eq!(warnings(&ours.err()), warnings(&theirs.err()), "{how} {command}");
    }
}

fn websites(ctx: &Ctx<'_>) {
    let bucket = format!("s3://{}", ctx.bucket);
    let args = ["website", &bucket, "--index-document", "i.html", "--error-document", "e/é.html"];
    let done = ctx.haul(&args).code_in(&[0, 254]);
    if !done.err().is_empty() {
        assert!(done.err().contains("PutBucketWebsite operation"), "{}", done.report());
        ctx.can(false, "websites");
        return;
    }
    assert_eq!((done.out(), done.err()), (String::new(), String::new()));
    let read = || ctx.remote.wait(ctx.remote.client.get_bucket_website(&ctx.bucket));
    let ours = read();
    assert_eq!(ours.index_document.as_deref(), Some("i.html"));
    assert_eq!(ours.error_document.as_deref(), Some("e/é.html"));
    let slash = format!("{}/", ctx.bucket);
    let only_index = ["website", &slash, "--index-document", "index.html"];
    ctx.haul(&only_index).ok();
    let replaced = read();
    assert_eq!((replaced.index_document.as_deref(), replaced.error_document), {
        (Some("index.html"), None)
    });
    let Some(aws) = ctx.aws(&[&["s3"], &args[..]].concat()) else { return };
    assert_eq!(aws.ok().out(), "");
    assert_eq!(read(), ours);
}
