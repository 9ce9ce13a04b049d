//! `list`: the same objects and totals as `aws s3 ls --recursive`, and formats that others read.

use std::collections::BTreeMap;

use super::keys::ODD;
use crate::harness::{Ctx, cases};

cases!["listing":
    totals_like_aws,
    tables_as_python_reads_them,
    ranges_and_pages,
    versions,
];

fn fill(ctx: &Ctx<'_>) -> BTreeMap<String, u64> {
    let mut sizes = BTreeMap::new();
    for (size, key) in ODD.iter().enumerate() {
        ctx.remote.put(key, &vec![b'x'; size]);
        sizes.insert((*key).to_owned(), size as u64);
    }
    let many: Vec<String> = (0..1_200).map(|n| format!("many/{:03}/{n}", n % 7)).collect();
    ctx.remote.put_all(&many);
    sizes.extend(many.into_iter().map(|key| (key, 0)));
    sizes
}

fn totals_like_aws(ctx: &Ctx<'_>) {
    let sizes = fill(ctx);
    let url = ctx.url("");
    let sorted = ctx.haul(&["list", "--sort", "--summarize", &url]).ok();
    let totals = format!(
        "\n\nTotal Objects: {}\n   Total Size: {}\n",
        sizes.len(),
        sizes.values().sum::<u64>()
    );
    assert!(sorted.out().ends_with(&totals), "{}", sorted.report());
    let any = ctx.haul(&["list", "--summarize", &url, "--page-size", "50"]).ok();
    assert_eq!(any.lines(), sorted.lines());
    let ours = ctx.haul(&["ls", "--recursive", "--summarize", &url]).ok();
    assert_eq!(ours.out(), sorted.out());
    if let Some(aws) = ctx.aws(&["s3", "ls", "--recursive", "--summarize", &url]) {
        assert_eq!(sorted.out(), aws.ok().out());
    }
}

/// Python's own readers give the keys and sizes back.
fn tables_as_python_reads_them(ctx: &Ctx<'_>) {
    let sizes = fill(ctx);
    for format in ["csv", "tsv", "jsonl"] {
        let args = ["list", &ctx.url(""), "--format", format, "--fields", "size,key,bucket"];
        ctx.haul(&[&args[..], &["--output-file", "table"]].concat()).ok();
        let script = "
import csv
format = sys.argv[1]
with open('table', newline='', encoding='utf-8') as file:
    if format == 'jsonl':
        rows = [json.loads(line) for line in file.read().split('\\n') if line]
    elif format == 'csv':
        rows = list(csv.DictReader(file, strict=True))
    else:
        escapes = {'\\\\t': '\\t', '\\\\n': '\\n', '\\\\r': '\\r', '\\\\\\\\': '\\\\'}
        import re
        plain = lambda text: re.sub(r'\\\\.', lambda found: escapes[found.group()], text)
        lines = [line.split('\\t') for line in file.read().split('\\n') if line]
        rows = [dict(zip(lines[0], map(plain, line))) for line in lines[1:]]
assert all(row['bucket'] == bucket for row in rows)
pairs = {row['key']: int(row['size']) for row in rows}
assert len(pairs) == len(rows)
print(json.dumps(pairs))
"
        .replace("sys.argv[1]", &format!("'{format}'"));
        let Some(read) = ctx.python(&script) else { return };
        let read: BTreeMap<String, u64> = serde_json::from_slice(&read.ok().stdout).unwrap();
        assert_eq!(read, sizes, "{format}");
    }
}

fn ranges_and_pages(ctx: &Ctx<'_>) {
    let sizes = fill(ctx);
    let (after, through) = ("many/002/1", "many/004/500");
    let expected: Vec<&str> = sizes
        .keys()
        .map(String::as_str)
        .filter(|key| *key > after && *key <= through && key.starts_with("many/"))
        .collect();
    let range = ["--start-after", after, "--stop-at", through, "--format", "keys", "--sort"];
    for more in [&["--page-size", "17"][..], &["--serial"], &["--concurrency", "3"]] {
        let url = ctx.url("many/*");
        let done = ctx.haul(&[&["list", url.as_str()], &range[..], more].concat()).ok();
        assert_eq!(done.out().lines().collect::<Vec<_>>(), expected, "{more:?}");
    }
}

/// Versions and delete markers, where a server keeps them.
fn versions(ctx: &Ctx<'_>) {
    let script = "
s3.put_object(Bucket=bucket, Key='before', Body=b'1')
s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={'Status': 'Enabled'})
if s3.get_bucket_versioning(Bucket=bucket).get('Status') != 'Enabled':
    sys.exit(3)
for body in [b'1', b'22', b'333']:
    s3.put_object(Bucket=bucket, Key='a b', Body=body)
s3.put_object(Bucket=bucket, Key='c\\nd', Body=b'1')
s3.delete_object(Bucket=bucket, Key='c\\nd')
rows = []
for page in s3.get_paginator('list_object_versions').paginate(Bucket=bucket):
    for kind in ['Versions', 'DeleteMarkers']:
        for row in page.get(kind, []):
            rows.append([row['Key'], row['VersionId'], row['IsLatest'], kind == 'DeleteMarkers',
                         row.get('Size', 0)])
print(json.dumps(sorted(rows)))
";
    let Some(listed) = ctx.python(script) else { return };
    if !ctx.can(!listed.stdout.is_empty(), "versions") {
        return;
    }
    let expected: Vec<serde_json::Value> = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(expected.len(), 6);
    let fields = "key,version_id,is_latest,is_delete_marker,size";
    for more in [&["--sort"][..], &["--page-size", "1"]] {
        let url = ctx.url("");
        let args = ["list", "--versions", "--format", "jsonl", "--fields", fields, url.as_str()];
        let done = ctx.haul(&[&args[..], more].concat()).ok();
        let mut rows: Vec<serde_json::Value> = done
            .out()
            .lines()
            .map(|line| {
                let row: serde_json::Value = serde_json::from_str(line).unwrap();
                fields.split(',').map(|field| row[field].clone()).collect()
            })
            .collect();
        rows.sort_by_key(|row| (row[0].to_string(), row[1].to_string()));
        let mut expected = expected.clone();
        expected.sort_by_key(|row| (row[0].to_string(), row[1].to_string()));
        assert_eq!(rows, expected, "{more:?}");
    }
    let text = ctx.haul(&["list", "--versions", "--sort", &ctx.url("c")]).ok().out();
    assert!(text.contains("          0 LD "), "{text}");
}
