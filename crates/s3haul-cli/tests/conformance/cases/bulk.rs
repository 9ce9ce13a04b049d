//! Objects from a file (`--from`), and many commands in one process (`run`).

use std::fmt::Write as _;
use std::io::Write as _;

use md5::{Digest as _, Md5};
use s3haul_wire::units::hex;
use serde_json::json;

use crate::harness::{Ctx, cases};

cases!["bulk":
    removals_and_tags_from_a_file,
    copies_from_a_listing,
    inventories,
    commands_of_a_file,
];

/// Keys that are hard for files, XML or URLs.
const ODD: &[&str] = &["t/a b+c", "t/é/ü.txt", "t/<&>'\"", "t/100%/x=y&z", "t/quoted,\"key\""];

fn removals_and_tags_from_a_file(ctx: &Ctx<'_>) {
    let odd: Vec<_> = ODD.iter().map(|key| (*key).to_owned()).collect();
    ctx.remote.put_all(&odd);
    for key in ["t/kept", "tx", "u"] {
        ctx.remote.put(key, b"1");
    }
    ctx.file("keys", format!("{}\ntx\n", odd.join("\n")).as_bytes());
    let told = ctx.haul(&["tag", "set", &ctx.url("t"), "--tags", "a=b", "--from", "keys"]).code(1);
    assert!(told.err().contains("tx it lies outside"), "{}", told.report());
    assert_eq!(told.out().lines().count(), odd.len(), "{}", told.report());
    for key in ODD {
        assert_eq!(ctx.remote.tags(key), [("a".to_owned(), "b".to_owned())], "{key}");
    }
    for key in ["t/kept", "tx"] {
        assert_eq!(ctx.remote.tags(key), [], "{key}");
    }
    let tags = ctx.haul(&["tag", "get", "--recursive", &ctx.url("t"), "--format", "jsonl"]).ok();
    let tagged: Vec<_> = tags
        .out()
        .lines()
        .filter(|line| line.contains("{\"a\":\"b\"}"))
        .map(str::to_owned)
        .collect();
    assert_eq!(tagged.len(), odd.len(), "{}", tags.report());
    ctx.file("tagged.jsonl", tagged.join("\n").as_bytes());
    ctx.haul(&["rm", &ctx.url(""), "--from", "tagged.jsonl"]).ok();
    assert_eq!(ctx.remote.keys(), ["t/kept", "tx", "u"]);
}

fn copies_from_a_listing(ctx: &Ctx<'_>) {
    let keys: Vec<String> = (0..1_200).map(|n| format!("s/{:02}/{n:04}", n % 13)).collect();
    ctx.remote.put_all(&keys);
    for format in ["csv", "jsonl", "keys"] {
        let file = format!("all.{format}");
        let list = ["list", &ctx.url("s"), "--format", format, "--output-file", &file];
        ctx.haul(&list).ok();
        let target = ctx.url(&format!("copy-{format}"));
        let copy = ["cp", &ctx.url("s"), &target, "--from", &file, "--only-show-errors"];
        ctx.haul(&copy).ok();
    }
    let expected = ["copy-csv", "copy-jsonl", "copy-keys", "s"].len() * keys.len();
    assert_eq!(ctx.remote.keys().len(), expected);
    let same = ctx.haul(&["compare", &ctx.url("s"), &ctx.url("copy-csv")]).ok();
    assert!(same.out().contains("1200") || same.out().is_empty(), "{}", same.report());
    // What was copied once more is moved away by the report of it.
    let report = ["cp", &ctx.url("s"), &ctx.url("again"), "--recursive", "--report", "r.csv"];
    ctx.haul(&report).ok();
    ctx.haul(&["rm", &ctx.url("s"), "--from", "r.csv", "--only-show-errors"]).ok();
    assert_eq!(ctx.remote.keys().len(), expected, "those of `again`, and none of `s`");
}

/// An inventory that lies in the bucket itself, in CSV and in Parquet.
fn inventories(ctx: &Ctx<'_>) {
    let odd: Vec<_> = ODD.iter().map(|key| (*key).to_owned()).collect();
    for format in ["CSV", "Parquet"] {
        ctx.remote.put_all(&odd);
        ctx.remote.put("t/kept", b"1");
        let part = if format == "CSV" {
            let mut rows = String::new();
            for key in ODD {
                let encoded: String = key.bytes().fold(String::new(), |mut text, byte| {
                    write!(text, "%{byte:02X}").unwrap();
                    text
                });
                writeln!(rows, "\"{}\",\"{encoded}\",\"1\"", ctx.bucket).unwrap();
            }
            let mut packed = Vec::new();
            let level = flate2::Compression::default();
            let mut encoder = flate2::write::GzEncoder::new(&mut packed, level);
            encoder.write_all(rows.as_bytes()).unwrap();
            encoder.finish().unwrap();
            packed
        } else {
            let folder = ctx.url("t/");
            let fields = ["--fields", "bucket,key,size,last_modified,etag,storage_class"];
            let list = ["list", &folder, "--format", "parquet"];
            ctx.haul(&[&list[..], &fields, &["--output-file", "part"]].concat()).ok();
            std::fs::read(ctx.path("part")).unwrap()
        };
        ctx.remote.put("inventory/data/part", &part);
        let document = json!({
            "sourceBucket": ctx.bucket,
            "destinationBucket": format!("arn:aws:s3:::{}", ctx.bucket),
            "fileFormat": format,
            "fileSchema": "Bucket, Key, Size",
            "files": [{
                "key": "inventory/data/part",
                "size": part.len(),
                "MD5checksum": hex(&Md5::digest(&part)),
            }],
        });
        ctx.remote.put("inventory/manifest.json", document.to_string().as_bytes());
        let from = ctx.url("inventory/manifest.json");
        let remove = ["rm", &ctx.url("t"), "--from", &from, "--exclude", "kept"];
        let done = ctx.haul(&remove).ok();
        assert_eq!(done.out().lines().count(), ODD.len(), "{}", done.report());
        assert_eq!(
            ctx.remote.keys(),
            ["inventory/data/part", "inventory/manifest.json", "t/kept"],
            "{format}"
        );
    }
}

fn commands_of_a_file(ctx: &Ctx<'_>) {
    let mut lines = String::new();
    for number in 0..300 {
        ctx.file(&format!("d/{number} x"), number.to_string().as_bytes());
        let target = ctx.url(&format!("k/{number} x"));
        writeln!(lines, "cp 'd/{number} x' \"{target}\"").unwrap();
    }
    lines.push_str("ls s3://no-such-bucket-of-anybody-1 # fails\n");
    ctx.file("commands", lines.as_bytes());
    let done = ctx.haul(&["run", "commands", "--report", "r.jsonl"]).code(1);
    assert_eq!(done.out().lines().count(), 300, "{}", done.report());
    assert!(done.err().contains("line 301: exit 254: "), "{}", done.report());
    assert_eq!(ctx.remote.keys().len(), 300);
    assert_eq!(ctx.remote.get("k/299 x"), b"299");
    let again = ctx.haul(&["run", "commands", "--retry-failed", "r.jsonl"]).code(1);
    assert!(again.err().contains("1 of 1 commands failed"), "{}", again.report());
    ctx.haul(&["run", "commands", "--dryrun"]).ok();
}
