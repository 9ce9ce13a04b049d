//! `uploads ls` and `uploads abort`.

use s3haul_wire::ops::{CreateMultipart, UploadPart};
use s3haul_wire::{ObjectProperties, Payload};

use crate::harness::{Ctx, cases};

cases!["uploads":
    listed_and_aborted,
    below_a_prefix,
    nonsense,
];

/// Begins an upload with a part of five bytes.
fn begin(ctx: &Ctx<'_>, key: &str) -> String {
    let properties = ObjectProperties::default();
    let bucket = ctx.bucket.as_str();
    let input = CreateMultipart { bucket, key, properties: &properties, checksum: None };
    let upload_id = ctx.remote.wait(ctx.remote.client.create_multipart(input));
    ctx.remote.wait(ctx.remote.client.upload_part(UploadPart {
        bucket,
        key,
        upload_id: &upload_id,
        part_number: 1,
        payload: Payload::from_bytes("12345".into()),
        checksum: None,
        encryption: None,
        customer_key: None,
    }));
    upload_id
}

fn listed_and_aborted(ctx: &Ctx<'_>) {
    const KEY: &str = "for gotten+é";
    let upload_id = begin(ctx, KEY);
    let other = begin(ctx, "other");
    let url = ctx.url(KEY);
    let listed = ctx.haul(&["uploads", "ls", &url]).ok().out();
    assert!(listed.ends_with(&format!("  {upload_id}  {KEY}\n")), "{listed}");
    assert_eq!(listed.lines().count(), 1, "{listed}");
    let measured = ctx.haul(&["uploads", "ls", &url, "--sizes"]).ok().out();
    assert!(measured.contains(&format!(" 5      1  {upload_id}  {KEY}\n")), "{measured}");
    let json = ctx.haul(&["uploads", "ls", &url, "--sizes", "--json"]).ok().out();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["status"], &value["key"]), (&"open".into(), &KEY.into()), "{json}");
    assert_eq!((&value["parts"], &value["bytes"]), (&1.into(), &5.into()), "{json}");

    // None of them is an hour old.
    ctx.haul(&["uploads", "ls", &url, "--older-than", "1h"]).ok().prints(&[""; 0]);
    ctx.haul(&["uploads", "abort", &url, "--older-than", "1h"]).ok().prints(&[""; 0]);
    let expected_line = format!("abort: {url} {upload_id}");
    let dry = ctx.haul(&["uploads", "abort", &url, "--dryrun"]).ok();
    dry.prints(&[format!("(dryrun) {expected_line}")]);
    assert_eq!(ctx.remote.uploads(KEY), [KEY]);
    ctx.haul(&["uploads", "abort", &url]).ok().prints(&[expected_line]);
    assert_eq!(ctx.remote.uploads(KEY), [""; 0]);
    assert_eq!(ctx.remote.uploads("other"), ["other"], "{other}");
    ctx.haul(&["uploads", "abort", "--quiet", &ctx.url("other")]).ok().prints(&[""; 0]);
    assert_eq!(ctx.remote.uploads("other"), [""; 0]);
}

/// MinIO takes a prefix for a key.
fn below_a_prefix(ctx: &Ctx<'_>) {
    for key in ["x/b", "x/a+é", "y"] {
        begin(ctx, key);
    }
    let url = ctx.url("x/");
    let listed = ctx.haul(&["uploads", "ls", &url]).ok().out();
    let keys: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(keys, ["x/a+é", "x/b"], "{listed}");
    ctx.haul(&["uploads", "abort", "--quiet", &url]).ok().prints(&[""; 0]);
    assert_eq!(ctx.remote.uploads("x/"), [""; 0]);
    assert_eq!(ctx.remote.uploads("y"), ["y"]);
    ctx.haul(&["uploads", "abort", "--quiet", &ctx.url("")]).ok().prints(&[""; 0]);
    assert_eq!(ctx.remote.uploads("y"), [""; 0]);
}

fn nonsense(ctx: &Ctx<'_>) {
    ctx.haul(&["uploads", "ls", "folder"]).code(252).says("Invalid argument type");
    ctx.haul(&["uploads", "abort", &ctx.url(""), "--older-than", "7"]).code(252).says("7d");
    let none = format!("s3://{}-none", ctx.bucket);
    ctx.haul(&["uploads", "ls", &none]).code(254).says("NoSuchBucket");
}
