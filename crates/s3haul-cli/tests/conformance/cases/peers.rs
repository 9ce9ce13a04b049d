//! The other way round: the `aws` command and boto3 drive the embedded server.

use std::collections::BTreeMap;
use std::fs::File;
use std::time::{Duration, SystemTime};

use crate::command::Finished;
use crate::harness::{Ctx, cases};
use crate::trees::{self, MIB};

cases!["peers":
    aws_copies_trees_with_odd_names,
    aws_uses_parts,
    aws_copies_and_moves_on_the_server,
    aws_syncs,
    aws_removes_a_bucket,
    aws_presigns,
    aws_lists_versions_and_tags,
    boto3_errors,
    boto3_listing,
    boto3_multipart,
    boto3_objects,
    boto3_protection,
    boto3_versions,
];

/// The script of a case, with `s3` and `bucket` at hand.
fn boto3(ctx: &Ctx<'_>, script: &str) {
    let done = ctx.python(script).unwrap().ok();
    assert!(done.out().trim_end().ends_with("passed"), "{}", done.report());
}

#[track_caller]
fn aws(ctx: &Ctx<'_>, args: &[&str]) -> Finished {
    ctx.aws(args).unwrap().ok()
}

fn odd_tree(ctx: &Ctx<'_>) -> BTreeMap<String, Vec<u8>> {
    let names = [
        "a b",
        "a+b",
        "a%20b",
        "a&b='\"",
        "a[x]*?b",
        "#",
        "back\\slash",
        "😀",
        "中/文 件",
        "\u{a0}",
        "\u{200e}x",
        "\u{7f}",
        "new\nline",
        "tab\t",
        "sub/deep/é",
        "e\u{301}",
        "<&amp;>",
        "~",
        "-x",
    ];
    for name in names {
        ctx.file(&format!("t/{name}"), name.as_bytes());
    }
    ctx.file("t/empty", b"");
    trees::read(&ctx.path("t"))
}

fn aws_copies_trees_with_odd_names(ctx: &Ctx<'_>) {
    let expected = odd_tree(ctx);
    aws(ctx, &["s3", "cp", "--recursive", "t", &ctx.url("")]);
    trees::assert_same(&ctx.remote.objects(), &expected);
    aws(ctx, &["s3", "sync", &ctx.url(""), "back"]);
    trees::assert_same(&trees::read(&ctx.path("back")), &expected);
    ctx.haul(&["cp", "--recursive", &ctx.url(""), "ours"]).ok();
    trees::assert_same(&trees::read(&ctx.path("ours")), &expected);
    aws(ctx, &["s3", "rm", "--recursive", &ctx.url(""), "--exclude", "sub/*"]);
    assert_eq!(ctx.remote.keys(), ["sub/deep/é"]);
}

fn aws_uses_parts(ctx: &Ctx<'_>) {
    let bytes = trees::bytes(1, 25 * MIB + 1);
    ctx.file("big", &bytes);
    aws(ctx, &["s3", "cp", "big", &ctx.url("theirs")]);
    assert!(ctx.remote.head("theirs").etag.ends_with("-4\""));
    ctx.haul(&["cp", &ctx.url("theirs"), "ours"]).ok();
    assert!(std::fs::read(ctx.path("ours")).unwrap() == bytes, "they up, we down");
    ctx.haul(&["cp", "big", &ctx.url("ours")]).ok();
    aws(ctx, &["s3", "cp", &ctx.url("ours"), "back"]);
    assert!(std::fs::read(ctx.path("back")).unwrap() == bytes, "we up, they down");
}

fn aws_copies_and_moves_on_the_server(ctx: &Ctx<'_>) {
    let bytes = trees::bytes(2, 9 * MIB);
    ctx.remote.put("small key+%", b"1");
    ctx.remote.put("big", &bytes);
    aws(ctx, &["s3", "cp", &ctx.url("big"), &ctx.url("copies/big")]);
    aws(ctx, &["s3", "mv", &ctx.url("small key+%"), &ctx.url("copies/small")]);
    assert_eq!(ctx.remote.keys(), ["big", "copies/big", "copies/small"]);
    assert!(ctx.remote.get("copies/big") == bytes, "copied in parts");
    aws(ctx, &["s3", "mv", "--recursive", &ctx.url("copies"), "down"]);
    assert_eq!(ctx.remote.keys(), ["big"]);
    assert_eq!(trees::names(&ctx.path("down")), ["big", "small"]);
}

fn aws_syncs(ctx: &Ctx<'_>) {
    let expected = odd_tree(ctx);
    // Times of S3 are whole seconds: a file of this second would look newer than its object.
    let past = SystemTime::now() - Duration::from_mins(1);
    for name in expected.keys() {
        let file = File::options().write(true).open(ctx.path("t").join(name)).unwrap();
        file.set_modified(past).unwrap();
    }
    ctx.remote.put("old", b"1");
    aws(ctx, &["s3", "sync", "--delete", "t", &ctx.url("")]);
    trees::assert_same(&ctx.remote.objects(), &expected);
    let again = aws(ctx, &["s3", "sync", "t", &ctx.url("")]);
    assert_eq!(again.out(), "", "nothing is left to do");
    let other = ctx.remote.sibling("other");
    aws(ctx, &["s3", "sync", &ctx.url(""), &format!("s3://{}", other.name())]);
    trees::assert_same(&other.objects(), &expected);
}

fn aws_removes_a_bucket(ctx: &Ctx<'_>) {
    let url = format!("s3://{}-made", ctx.bucket);
    aws(ctx, &["s3", "mb", &url]);
    odd_tree(ctx);
    ctx.haul(&["cp", "--recursive", "t", &url]).ok();
    ctx.aws(&["s3", "rb", &url]).unwrap().code(1);
    aws(ctx, &["s3", "rb", "--force", &url]);
    assert!(!aws(ctx, &["s3", "ls"]).out().contains("-made"));
}

fn aws_presigns(ctx: &Ctx<'_>) {
    ctx.remote.put("a b+c/é", b"signed");
    let url = aws(ctx, &["s3", "presign", &ctx.url("a b+c/é")]).out();
    let script = "import urllib.request\nprint(urllib.request.urlopen(sys.stdin.read().strip())\
        .read().decode())\nprint('passed')";
    let script = script.replace("sys.stdin.read()", &format!("'''{}'''", url.trim()));
    boto3(ctx, &script);
}

fn aws_lists_versions_and_tags(ctx: &Ctx<'_>) {
    let api = |args: &[&str]| {
        let bucket = ["--bucket", ctx.bucket.as_str(), "--output", "json"];
        aws(ctx, &[&["s3api"], args, &bucket].concat()).out()
    };
    api(&["put-bucket-versioning", "--versioning-configuration", "Status=Enabled"]);
    ctx.file("f", b"1");
    ctx.haul(&["cp", "f", &ctx.url("k 1")]).ok();
    ctx.haul(&["cp", "f", &ctx.url("k 1")]).ok();
    ctx.haul(&["rm", &ctx.url("k 1")]).ok();
    let listed: serde_json::Value = serde_json::from_str(&api(&["list-object-versions"])).unwrap();
    assert_eq!(listed["Versions"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(listed["DeleteMarkers"].as_array().unwrap().len(), 1, "{listed}");
    ctx.remote.put("t", b"1");
    api(&["put-object-tagging", "--key", "t", "--tagging", "TagSet=[{Key=a b,Value=+1}]"]);
    assert_eq!(ctx.remote.tags("t"), [("a b".to_owned(), "+1".to_owned())]);
    assert!(api(&["get-object-tagging", "--key", "t"]).contains("\"a b\""));
}

fn boto3_errors(ctx: &Ctx<'_>) {
    boto3(ctx, include_str!("../peers/errors.py"));
}

fn boto3_listing(ctx: &Ctx<'_>) {
    boto3(ctx, include_str!("../peers/listing.py"));
}

fn boto3_multipart(ctx: &Ctx<'_>) {
    boto3(ctx, include_str!("../peers/multipart.py"));
}

fn boto3_protection(ctx: &Ctx<'_>) {
    boto3(ctx, include_str!("../peers/protection.py"));
}

fn boto3_objects(ctx: &Ctx<'_>) {
    boto3(ctx, include_str!("../peers/objects.py"));
}

fn boto3_versions(ctx: &Ctx<'_>) {
    boto3(ctx, include_str!("../peers/versions.py"));
}
