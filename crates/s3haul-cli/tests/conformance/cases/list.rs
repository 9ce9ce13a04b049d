//! `ls`, also line by line as the real `aws` prints it.

use crate::command::Finished;
use crate::harness::{Ctx, cases};

cases!["list":
    lines_of_objects_and_prefixes,
    like_aws,
    copies_like_aws,
    pages,
    many_prefixes,
    nothing_found,
];

fn fill(ctx: &Ctx<'_>) {
    let objects = [
        ("a.txt", 1),
        ("b c+d", 1_500),
        ("folder/x", 12),
        ("folder/sub/y", 0),
        ("folder2/z", 7),
        ("é中", 3),
        ("z/end", 2_000_000),
    ];
    for (key, size) in objects {
        ctx.remote.put(key, &vec![b'x'; size]);
    }
}

fn lines_of_objects_and_prefixes(ctx: &Ctx<'_>) {
    fill(ctx);
    let out = ctx.haul(&["ls", &ctx.url("")]).ok().out();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "                           PRE folder/");
    assert_eq!(lines[1], "                           PRE folder2/");
    assert_eq!(lines[2], "                           PRE z/");
    assert_eq!(&lines[3][19..], "          1 a.txt");
    assert_eq!(&lines[4][19..], "       1500 b c+d");
    let date = &lines[3][..19];
    let shape: String = date.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00 00:00:00");
    let out = ctx.haul(&["ls", &ctx.url("fol")]).ok().out();
    assert_eq!(out.lines().count(), 2, "a prefix need not end at a slash: {out}");
}

/// Lines, with only the text of dates left out.
fn lines(done: &Finished) -> Vec<String> {
    done.out().lines().map(str::to_owned).collect()
}

fn like_aws(ctx: &Ctx<'_>) {
    fill(ctx);
    let runs: [&[&str]; 8] = [
        &[""],
        &["", "--recursive"],
        &["folder"],
        &["folder/"],
        &["folder/x"],
        &["", "--recursive", "--summarize"],
        &["", "--recursive", "--human-readable", "--summarize"],
        &["folder/", "--human-readable", "--summarize"],
    ];
    for run in runs {
        let url = ctx.url(run[0]);
        let args = [&["s3", "ls", url.as_str()], &run[1..]].concat();
        let Some(aws) = ctx.aws(&args) else { return };
        let ours = ctx.haul(&args).ok();
        assert_eq!(lines(&ours), lines(&aws.ok()), "{args:?}");
    }
}

/// `cp` of a tree both ways and between keys: the same lines as a set.
fn copies_like_aws(ctx: &Ctx<'_>) {
    for name in ["a.txt", "s/b c", "s/é", "x[1]"] {
        ctx.file(&format!("t/{name}"), name.as_bytes());
    }
    std::fs::create_dir(ctx.path("d")).unwrap();
    let (p, q) = (ctx.url("p"), ctx.url("q/"));
    let (pa, qa) = (ctx.url("p/a.txt"), ctx.url("q/"));
    let runs: [&[&str]; 8] = [
        &["cp", "--recursive", "t", &p],
        &["cp", "--recursive", "t/s/", &q, "--exclude", "b*"],
        &["cp", "--recursive", &p, "d/back"],
        &["cp", "--recursive", &p, &q, "--dryrun"],
        &["cp", "t/a.txt", &q],
        &["cp", &pa, &qa],
        &["cp", &pa, "d"],
        &["cp", "--recursive", &ctx.url("none"), "d"],
    ];
    for run in runs {
        let args = [&["s3"], run].concat();
        let Some(aws) = ctx.aws(&args) else { return };
        ctx.haul(&args).ok().prints(&aws.ok().lines());
    }
}

fn pages(ctx: &Ctx<'_>) {
    fill(ctx);
    let whole = ctx.haul(&["ls", "--recursive", &ctx.url("")]).ok().out();
    let paged = ctx.haul(&["ls", "--recursive", "--page-size", "2", &ctx.url("")]).ok().out();
    assert_eq!(paged, whole);
    assert_eq!(whole.lines().count(), 7);
    let whole = ctx.haul(&["ls", &ctx.url("")]).ok().lines();
    let paged = ctx.haul(&["ls", "--page-size", "2", &ctx.url("")]).ok().lines();
    assert_eq!(paged, whole);
    ctx.haul(&["cp", "--recursive", "--page-size", "3", &ctx.url(""), "t"]).ok();
    assert_eq!(crate::trees::names(&ctx.path("t")).len(), 7);
}

/// More common prefixes than a page holds.
fn many_prefixes(ctx: &Ctx<'_>) {
    let keys: Vec<String> = (0..1_100).map(|n| format!("d{n:04}/x")).collect();
    ctx.remote.put_all(&keys);
    ctx.remote.put("last", b"1");
    let listed = ctx.haul(&["ls", &ctx.url("")]).ok();
    assert_eq!(listed.lines().len(), 1_101, "{}", listed.report());
    let listed = ctx.haul(&["ls", &ctx.url("d10"), "--page-size", "7"]).ok();
    assert_eq!(listed.lines().len(), 100, "{}", listed.report());
}

fn nothing_found(ctx: &Ctx<'_>) {
    let none: [&str; 0] = [];
    ctx.haul(&["ls", &ctx.url("")]).ok().prints(&none);
    ctx.haul(&["ls", &ctx.url("missing")]).code(1).prints(&none);
    let missing = format!("s3://{}-missing", ctx.bucket);
    let done = ctx.haul(&["ls", &missing]).code(254);
    assert!(done.err().contains("NoSuchBucket"), "{}", done.report());
}
