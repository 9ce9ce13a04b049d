//! `summarize` and `list-buckets`: the totals of `aws s3 ls`.

use crate::harness::{Ctx, cases};

cases!["summary":
    totals_of_aws,
    totals_of_many_pages,
    versions,
    open_uploads,
    buckets,
];

/// Keys that other tools stumble over; servers that cannot have some are not given them.
fn odd_keys(ctx: &Ctx<'_>) -> Vec<String> {
    let features = ctx.server.features;
    let mut keys = vec![
        "plain.txt",
        " lead",
        "a+b",
        "a%2Fb",
        "a&b",
        "a?b",
        "a\\b",
        "<Key>",
        "&amp;",
        "%",
        "é",
        "e\u{301}",
        "中文/文件.TXT",
        "😀.txt",
        "\u{10ffff}",
        "a\u{a0}b",
        "a\u{7f}b",
        "a\tb",
        "a\nb",
        ".hidden",
        "a..b",
        "sub/.dot/x",
        "deep/er/and/er/x.tar.gz",
    ];
    if features.empty_segments {
        keys.extend(["a//b", "/lead", "x//"]);
    }
    if features.dot_segments {
        keys.extend(["a/../b", "./c"]);
    }
    if features.control_characters {
        keys.push("a\u{1}b");
    }
    if features.key_beside_folder {
        keys.extend(["k", "k/l"]);
    }
    let mut keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
    keys.push(format!("long/{}", "z".repeat(200)));
    keys
}

/// Objects and bytes in the last lines of `ls --summarize`.
fn told(listing: &str) -> (u64, u64) {
    let number = |name: &str| {
        let line = listing.lines().rfind(|line| line.trim_start().starts_with(name)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    (number("Total Objects:"), number("Total Size:"))
}

/// The same from `summarize`.
fn summarized(ctx: &Ctx<'_>, args: &[&str]) -> (u64, u64, serde_json::Value) {
    let done = ctx.haul(&[&["summarize", "--format", "json"], args].concat()).ok();
    let value: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let number = |name: &str| value["total"][name].as_u64().unwrap();
    (number("objects"), number("bytes"), value)
}

fn totals_of_aws(ctx: &Ctx<'_>) {
    let keys = odd_keys(ctx);
    for (index, key) in keys.iter().enumerate() {
        ctx.remote.put(key, &vec![b'x'; index * 37]);
    }
    let (objects, bytes, value) = summarized(ctx, &[&ctx.url("")]);
    let expected: usize = (0..keys.len()).map(|index| index * 37).sum();
    assert_eq!((objects, bytes), (keys.len() as u64, expected as u64));
    let count = |list: &serde_json::Value| {
        list.as_array().unwrap().iter().map(|row| row["objects"].as_u64().unwrap()).sum::<u64>()
    };
    let folders = count(&value["folders"]) + value["outside_folders"]["objects"].as_u64().unwrap();
    assert_eq!(folders, objects);
    assert_eq!(count(&value["extensions"]), objects);
    assert_eq!(count(&value["storage_classes"]), objects);
    assert_eq!(count(&value["ages"]), objects);
    assert_eq!(value["empty_objects"], 1);
    let lines = ctx.haul(&["list", &ctx.url(""), "--summarize"]).ok().out();
    assert_eq!(told(&lines), (objects, bytes), "`list` and `summarize`");
    for prefix in ["", "a", "deep/"] {
        let url = ctx.url(prefix);
        let Some(aws) = ctx.aws(&["s3", "ls", &url, "--recursive", "--summarize"]) else { return };
        let (objects, bytes, _) = summarized(ctx, &[&url]);
        assert_eq!((objects, bytes), told(&aws.ok().out()), "{prefix}");
    }
}

fn totals_of_many_pages(ctx: &Ctx<'_>) {
    let keys: Vec<String> = (0..1_155).map(|n| format!("d{}/{n:05}.bin", n % 7)).collect();
    ctx.remote.put_all(&keys);
    ctx.remote.put("last", b"123");
    let (objects, bytes, value) = summarized(ctx, &[&ctx.url("")]);
    assert_eq!((objects, bytes), (1_156, 3));
    assert_eq!(value["folders"].as_array().unwrap().len(), 7);
    assert!(value["folders"].as_array().unwrap().iter().all(|row| row["objects"] == 165));
    let (objects, _, _) = summarized(ctx, &[&ctx.url("d3/"), "--page-size", "17"]);
    assert_eq!(objects, 165);
}

/// Versions and delete markers, where a server keeps them.
fn versions(ctx: &Ctx<'_>) {
    let script = "
s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={'Status': 'Enabled'})
if s3.get_bucket_versioning(Bucket=bucket).get('Status') != 'Enabled':
    sys.exit(3)
for body in [b'1', b'22', b'333']:
    s3.put_object(Bucket=bucket, Key='k', Body=body)
s3.put_object(Bucket=bucket, Key='gone', Body=b'4444')
s3.delete_object(Bucket=bucket, Key='gone')
print('done')
";
    let Some(written) = ctx.python(script) else { return };
    if !ctx.can(!written.stdout.is_empty(), "versions") {
        return;
    }
    let (objects, bytes, value) = summarized(ctx, &[&ctx.url(""), "--versions"]);
    assert_eq!((objects, bytes), (4, 10), "{value}");
    let versions = &value["versions"];
    assert_eq!(versions["delete_markers"], 1, "{versions}");
    let counts = |objects: u64, bytes: u64| serde_json::json!({"objects": objects, "bytes": bytes});
    assert_eq!(versions["current"], counts(1, 3), "{versions}");
    assert_eq!(versions["noncurrent"], counts(3, 7), "{versions}");
    let (objects, bytes, _) = summarized(ctx, &[&ctx.url("")]);
    assert_eq!((objects, bytes), (1, 3));
}

fn open_uploads(ctx: &Ctx<'_>) {
    use s3haul_wire::ops::{CreateMultipart, UploadPart};
    use s3haul_wire::{ObjectProperties, Payload};
    let properties = ObjectProperties::default();
    let input = CreateMultipart {
        bucket: &ctx.bucket,
        key: "forgotten",
        properties: &properties,
        checksum: None,
    };
    let upload_id = ctx.remote.wait(ctx.remote.client.create_multipart(input));
    ctx.remote.wait(ctx.remote.client.upload_part(UploadPart {
        bucket: &ctx.bucket,
        key: "forgotten",
        upload_id: &upload_id,
        part_number: 1,
        payload: Payload::from_bytes("12345".into()),
        checksum: None,
        encryption: None,
        customer_key: None,
    }));
    let (_, _, value) = summarized(ctx, &[&ctx.url("forg"), "--uploads", "--raw"]);
    let uploads = &value["uploads"];
    assert_eq!((&uploads["uploads"], &uploads["parts"]), (&1.into(), &1.into()), "{value}");
    assert_eq!(uploads["bytes"], 5, "{value}");
    assert_eq!(value["uploads"]["oldest"][0]["key"], "forgotten");
}

fn buckets(ctx: &Ctx<'_>) {
    ctx.remote.put("a", b"12345");
    ctx.remote.put("b/c", b"67");
    let prefix = ["list-buckets", "--bucket-name-prefix", ctx.bucket.as_str()];
    let done = ctx.haul(&[&prefix[..], &["--format", "jsonl", "--count"]].concat()).ok();
    let row = done.out().lines().next().unwrap_or_default().to_owned();
    let row: serde_json::Value = serde_json::from_str(&row).unwrap();
    assert_eq!(row["bucket"], ctx.bucket.as_str());
    assert_eq!((&row["objects"], &row["bytes"]), (&2.into(), &7.into()), "{row}");
    assert_eq!(row["region"], "us-east-1");
    let text = ctx.haul(&prefix).ok().out();
    assert!(text.ends_with(&format!("  us-east-1       {}\n", ctx.bucket)), "{text}");
}
