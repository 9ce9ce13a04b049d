//! `compare`, `verify` and `sync --checksum`.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::command::Finished;
use crate::harness::{Case, Ctx, cases};
use crate::trees::{self, MIB};

cases!["compare":
    trees_of_any_kind,
    formats_and_what_is_shown,
    content_of_equal_size_and_time,
    parts_of_any_size,
    parts_without_checksums,
    proofs_say_where_they_come_from,
    errors_keep_their_codes,
];

/// Cases for servers that speak TLS: a key of one's own travels over nothing else.
pub(crate) const SECURE: &[Case] =
    &[Case { name: "compare::keys_of_ones_own", run: keys_of_ones_own }];

/// Names that something on the way may get wrong.
const ODD: [&str; 7] = ["b c+d", "é中/ü", "x[1]", "a%20b", "q?x=1&y=2", "it's \"it\"", "~!@$^(){}"];

/// Sets the time of a file to one that is the same for all.
fn set_time(ctx: &Ctx<'_>, name: &str) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    fs::File::open(ctx.path(name)).unwrap().set_modified(time).unwrap();
}

/// Rows, with what shows a difference of content left out.
fn rows(done: &Finished) -> Vec<String> {
    let out = done.out();
    let rows = out.lines().take_while(|line| !line.is_empty());
    let words = rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "));
    words.map(|row| row.replace(" etag ", " content ").replace(" checksum ", " content ")).collect()
}

fn trees_of_any_kind(ctx: &Ctx<'_>) {
    for name in ODD {
        for root in ["left", "right"] {
            let content = if name == "x[1]" { root } else { "same!" };
            ctx.file(&format!("{root}/{name}"), content.as_bytes());
        }
    }
    ctx.file("left/only/one", b"1");
    ctx.file("right/zz", b"22");
    ctx.file("right/a%20b", b"SAME!");
    for root in ["left", "right"] {
        ctx.haul(&["cp", "--recursive", root, &ctx.url(root)]).ok();
    }
    let (left, right) = (ctx.url("left"), ctx.url("right/"));
    let expected = [
        "different content a%20b",
        "only-source only/one",
        "different size x[1]",
        "only-target zz",
    ];
    for source in ["left", left.as_str()] {
        for target in ["right", right.as_str()] {
            for command in [&["compare", "--checksum"][..], &["verify"]] {
                let args = [command, &[source, target]].concat();
                let done = ctx.haul(&args).code(1);
                assert_eq!(rows(&done), expected, "{}", done.report());
            }
            let done = ctx.haul(&["compare", "--size-only", source, target]).code(1);
            assert_eq!(rows(&done), expected[1..], "{}", done.report());
        }
        let done = ctx.haul(&["compare", source, &left]).ok();
        assert!(done.out().contains("Same: 8 (35 bytes)"), "{}", done.report());
        let done = ctx.haul(&["verify", source, "left"]).ok();
        assert!(done.out().contains("Same: 8 (35 bytes)"), "{}", done.report());
    }
    let listed = ctx.haul(&["compare", &left, &right]).code(1);
    assert!(listed.out().contains("a%20b"), "the ETags differ: {}", listed.report());
    let same = ctx.haul(&["compare", "left", "right", "--exclude", "*", "--include", "b*"]).ok();
    assert!(same.out().contains("Same: 1 (5 bytes)"), "{}", same.report());
}

fn formats_and_what_is_shown(ctx: &Ctx<'_>) {
    for (name, bytes) in
        [("l/a", "1"), ("l/b,c", "22"), ("l/d", "4"), ("r/b,c", "333"), ("r/d", "4")]
    {
        ctx.file(name, bytes.as_bytes());
        set_time(ctx, name);
    }
    let csv = ctx.haul(&["compare", "l", "r", "--format", "csv"]).code(1);
    let time = "2020-09-13T12:26:40Z";
    let expected = [
        "status,reason,name,source_size,target_size,source_last_modified,target_last_modified,error"
            .to_owned(),
        format!("only-source,,a,1,,{time},,"),
        format!("different,size,\"b,c\",2,3,{time},{time},"),
    ];
    assert_eq!(csv.out().lines().collect::<Vec<_>>(), expected, "{}", csv.report());
    let csv = csv.says("Only in source: 1 (1 bytes)");
    let args = ["compare", "l", "r", "--format", "csv", "--output-file", "out.csv"];
    let written = ctx.haul(&args).code(1);
    assert_eq!(fs::read(ctx.path("out.csv")).unwrap(), csv.stdout, "{}", written.report());
    let shown = ["compare", "l", "r", "--show", "same", "--format", "jsonl"];
    let line = format!(
        "{{\"status\":\"same\",\"reason\":\"size\",\"name\":\"d\",\
         \"source\":{{\"size\":1,\"last_modified\":\"{time}\"}},\
         \"target\":{{\"size\":1,\"last_modified\":\"{time}\"}}}}"
    );
    ctx.haul(&shown).code(1).prints(&[line]);
    let events = ctx.haul(&["--json", "compare", "l", "r"]).code(1);
    let last = events.out().lines().last().unwrap().to_owned();
    assert!(last.contains("\"event\":\"compare_summary\""), "{}", events.report());
    assert!(last.contains("\"exit_code\":1"), "{}", events.report());
    fs::remove_file(ctx.path("l/a")).unwrap();
    ctx.file("r/b,c", b"22");
    ctx.haul(&["compare", "l", "r"]).ok();
    let times = ctx.haul(&["compare", "l", "r", "--times"]).code(1);
    assert_eq!(rows(&times), ["different time b,c"], "{}", times.report());
}

fn content_of_equal_size_and_time(ctx: &Ctx<'_>) {
    for name in ["t/a", "t/b", "t/s/c"] {
        ctx.file(name, b"before");
        set_time(ctx, name);
    }
    ctx.haul(&["sync", "t", &ctx.url("t")]).ok();
    ctx.file("t/b", b"after!");
    set_time(ctx, "t/b");
    let none: [&str; 0] = [];
    ctx.haul(&["sync", "t", &ctx.url("t")]).ok().prints(&none);
    let line = format!("upload: t/b to {}", ctx.url("t/b"));
    let dry = format!("(dryrun) {line}");
    ctx.haul(&["sync", "--checksum", "--dryrun", "t", &ctx.url("t")]).ok().prints(&[dry]);
    ctx.haul(&["sync", "--checksum", "t", &ctx.url("t")]).ok().prints(&[line]);
    assert_eq!(ctx.remote.get("t/b"), b"after!");
    ctx.haul(&["sync", "--checksum", "t", &ctx.url("t")]).ok().prints(&none);
    // Down: the file is older than the object and of its size.
    ctx.file("t/a", b"BEFORE");
    set_time(ctx, "t/a");
    ctx.haul(&["sync", &ctx.url("t"), "t"]).ok().prints(&none);
    ctx.haul(&["sync", "--checksum", &ctx.url("t"), "t"]).ok();
    assert_eq!(fs::read(ctx.path("t/a")).unwrap(), b"before");
    // Over: the copy is newer than its source.
    ctx.haul(&["sync", &ctx.url("t"), &ctx.url("u")]).ok();
    ctx.remote.put("u/a", b"BeforE");
    ctx.haul(&["sync", &ctx.url("t"), &ctx.url("u")]).ok().prints(&none);
    ctx.haul(&["sync", "--checksum", "--delete", &ctx.url("t"), &ctx.url("u")]).ok();
    assert_eq!(ctx.remote.get("u/a"), b"before");
    ctx.haul(&["verify", &ctx.url("t"), &ctx.url("u")]).ok();
    ctx.haul(&["sync", "--checksum", "--size-only", "t", &ctx.url("t")]).code(252);
}

/// Uploads a folder with parts of a size.
fn upload(ctx: &Ctx<'_>, settings: &str, target: &str, checksums: &str) {
    ctx.haul_with(&["cp", "--recursive", "t", &ctx.url(target)])
        .variable("AWS_CONFIG_FILE", ctx.config(settings))
        .variable("AWS_REQUEST_CHECKSUM_CALCULATION", checksums)
        .run()
        .ok();
}

fn parts_of_any_size(ctx: &Ctx<'_>) {
    compare_parts(ctx, "when_supported");
}

/// Where the `ETag`s of parts are all that is stored.
fn parts_without_checksums(ctx: &Ctx<'_>) {
    compare_parts(ctx, "when_required");
}

fn compare_parts(ctx: &Ctx<'_>, checksums: &str) {
    let large = trees::bytes(1, 17 * MIB + 5);
    ctx.file("t/large", &large);
    ctx.file("t/small", b"small");
    let sizes = [("x", "8MB"), ("y", "5MB"), ("z", "5500001"), ("whole", "64MB")];
    for (target, size) in sizes {
        let threshold = if target == "whole" { "64MB" } else { "8MB" };
        let settings = format!("multipart_chunksize={size} multipart_threshold={threshold}");
        upload(ctx, &settings, target, checksums);
        let none: [&str; 0] = [];
        ctx.haul(&["sync", "--checksum", "t", &ctx.url(target)]).ok().prints(&none);
        let proved = ctx.haul(&["verify", "t", &ctx.url(target)]).ok();
        assert!(proved.out().contains("Same: 2 ("), "{}", proved.report());
        assert!(!proved.out().contains("by content"), "not downloaded: {}", proved.report());
    }
    for (target, _) in &sizes[1..] {
        ctx.haul(&["verify", &ctx.url("x"), &ctx.url(target)]).ok();
        ctx.haul(&["compare", &ctx.url("x"), &ctx.url(target)]).ok();
    }
    // As many parts, with other borders.
    ctx.haul(&["verify", &ctx.url("y"), &ctx.url("z")]).ok();
    let mut other = large.clone();
    other[17 * MIB] ^= 1;
    ctx.file("t/large", &other);
    for (target, _) in sizes {
        for command in [&["verify"][..], &["compare", "--checksum"]] {
            let done = ctx.haul(&[command, &["t", &ctx.url(target)]].concat()).code(1);
            assert!(done.out().contains("Different: 1 ("), "{}", done.report());
        }
    }
    ctx.haul(&["sync", "--checksum", "t", &ctx.url("z")]).ok();
    ctx.haul(&["verify", &ctx.url("x"), &ctx.url("z")]).code(1);
    ctx.haul(&["verify", "t", &ctx.url("z")]).ok();
}

fn proofs_say_where_they_come_from(ctx: &Ctx<'_>) {
    ctx.file("t/small", b"small");
    ctx.file("t/empty", b"");
    ctx.file("t/large", &trees::bytes(2, 9 * MIB));
    ctx.haul(&["cp", "--recursive", "t", &ctx.url("t")]).ok();
    ctx.haul(&["cp", "--recursive", "t", "u"]).code(252);
    let done = ctx.haul(&["--json", "verify", "t", &ctx.url("t")]).ok();
    let out = done.out();
    let small = "\"size\":{\"objects\":1,\"bytes\":0},\"etag\":{\"objects\":";
    assert!(out.contains(small), "{}", done.report());
    assert!(out.contains("\"same\":{\"objects\":3,\"bytes\":9437189}"), "{}", done.report());
    for name in ["small", "empty", "large"] {
        let bytes = fs::read(ctx.path(&format!("t/{name}"))).unwrap();
        ctx.file(&format!("u/{name}"), &bytes);
    }
    let read = ctx.haul(&["verify", "t", "u"]).ok();
    assert!(read.out().contains("by content: 2 (9437189 bytes)"), "{}", read.report());
}

fn errors_keep_their_codes(ctx: &Ctx<'_>) {
    ctx.file("t/a", b"1");
    let missing = format!("s3://{}-missing", ctx.bucket);
    ctx.haul(&["compare", "t", &missing]).code(254).says("NoSuchBucket");
    ctx.haul(&["verify", "nowhere", &ctx.url("")]).code(255).says("does not exist");
    ctx.haul(&["compare", "t/a", &ctx.url("")]).code(252).says("not a folder");
    ctx.haul(&["compare", "t", "s3://"]).code(252);
    ctx.haul(&["compare", "t"]).code(252);
    ctx.haul(&["compare", "t", "t", "--show", "everything"]).code(252);
    let empty = ctx.haul(&["compare", &ctx.url("none"), &ctx.url("")]).code(2);
    assert!(empty.out().starts_with("Only in source: 0 (0 bytes)"), "{}", empty.report());
    std::os::unix::fs::symlink("nowhere", ctx.path("t/b")).unwrap();
    ctx.haul(&["cp", "t/a", &ctx.url("t/a")]).ok();
    ctx.haul(&["compare", "t", &ctx.url("t")]).code(2).says("warning: Skipping file");
    ctx.haul(&["compare", "t", &ctx.url("t"), "--no-follow-symlinks"]).ok();
}

/// `ETag`s are no MD5s then, and only checksums or the bytes decide.
fn keys_of_ones_own(ctx: &Ctx<'_>) {
    let key = ["--sse-c", "AES256", "--sse-c-key", "0123456789abcdef0123456789abcdef"];
    ctx.file("t/a", b"secret");
    ctx.file("t/large", &trees::bytes(3, 9 * MIB));
    let put = ctx.haul(&[&["cp", "--recursive", "t", &ctx.url("t")], &key[..]].concat());
    if !ctx.can(put.err().is_empty(), "encryption with keys of one's own") {
        return;
    }
    let url = ctx.url("t");
    let run = |args: &[&str]| ctx.haul(&[args, &key[..]].concat());
    let none: [&str; 0] = [];
    run(&["verify", "t", &url]).ok();
    run(&["verify", &url, "t"]).ok();
    run(&["sync", "--checksum", "t", &url]).ok().prints(&none);
    run(&["sync", "--checksum", &url, "t"]).ok().prints(&none);
    ctx.file("t/a", b"public");
    let found = run(&["compare", "--checksum", "t", &url]).code(1);
    assert!(found.out().contains("  a\n"), "{}", found.report());
    run(&["sync", "--checksum", "t", &url]).ok();
    run(&["compare", "--checksum", "t", &url]).ok();
}
