//! Conditions on size, age and storage class, and `find` with tags and metadata.

use s3haul_wire::ObjectProperties;

use crate::harness::{Ctx, cases};

cases!["conditions":
    sizes_and_ages,
    single_objects,
    a_sync_keeps_what_is_not_selected,
    storage_classes,
    found_by_tags_and_metadata,
    found_versions,
];

fn fill(ctx: &Ctx<'_>) {
    for (key, size) in [("d/a.log", 0), ("d/b.log", 10), ("d/é.gz", 2_000), ("d/s/c.log", 5_000)] {
        ctx.remote.put(key, &vec![b'x'; size]);
    }
}

fn sizes_and_ages(ctx: &Ctx<'_>) {
    fill(ctx);
    let all = ctx.url("d/");
    let found = |conditions: &[&str]| ctx.haul(&[&["find", &all], conditions].concat()).ok();
    let urls = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| ctx.url(&format!("d/{name}"))).collect()
    };
    found(&["--min-size", "10", "--max-size", "2000"]).prints(&urls(&["b.log", "é.gz"]));
    found(&["--name", "*.log", "--newer-than", "1d"]).prints(&urls(&["a.log", "b.log", "s/c.log"]));
    found(&["--regex", "^s/", "--older-than", "1h"]).prints(&[""; 0]);
    found(&["--newer-than", "2020-01-01", "--regex", "^.\\.gz$"]).prints(&urls(&["é.gz"]));

    let told = ["é.gz", "s/c.log"].map(|name| {
        let url = ctx.url(&format!("d/{name}"));
        format!("download: {url} to t/{name}")
    });
    let cp = ["cp", "--recursive", &all, "t", "--min-size", "1KiB", "--newer-than", "1h"];
    let dry = told.each_ref().map(|line| format!("(dryrun) {line}"));
    ctx.haul(&[&cp[..], &["--dryrun"]].concat()).ok().prints(&dry);
    ctx.haul(&cp).ok().prints(&told);
    ctx.haul(&["rm", "--recursive", &all, "--older-than", "1h"]).ok().prints(&[""; 0]);
    ctx.haul(&["rm", "--recursive", &all, "--max-size", "10", "--newer-than", "1h"]).ok();
    assert_eq!(ctx.remote.keys(), ["d/s/c.log", "d/é.gz"]);
    ctx.haul(&["mv", "--recursive", "t", &ctx.url("up"), "--regex", "log$"]).ok();
    assert_eq!(ctx.remote.keys(), ["d/s/c.log", "d/é.gz", "up/s/c.log"]);
    assert_eq!(crate::trees::names(&ctx.path("t")), ["é.gz"]);
}

fn single_objects(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"12345");
    let url = ctx.url("k");
    ctx.haul(&["rm", &url, "--min-size", "6"]).ok().prints(&[""; 0]);
    ctx.haul(&["rm", &url, "--older-than", "1h"]).ok().prints(&[""; 0]);
    ctx.haul(&["cp", &url, "f", "--max-size", "4"]).ok().prints(&[""; 0]);
    ctx.haul(&["rm", &ctx.url("none"), "--min-size", "1"]).ok().prints(&[""; 0]);
    ctx.haul(&["rm", &url, "--min-size", "5", "--newer-than", "1h"])
        .ok()
        .prints(&[format!("delete: {url}")]);
    assert!(ctx.remote.keys().is_empty());
}

fn a_sync_keeps_what_is_not_selected(ctx: &Ctx<'_>) {
    for (name, size) in [("small", 1), ("new", 7), ("changed", 8)] {
        ctx.file(&format!("s/{name}"), &vec![b'x'; size]);
    }
    for (key, size) in [("small", 2), ("changed", 3), ("gone-small", 3), ("gone", 9)] {
        ctx.remote.put(&format!("p/{key}"), &vec![b'y'; size]);
    }
    let target = ctx.url("p");
    let sync = ["sync", "s", &target, "--delete", "--size-only", "--min-size", "5"];
    let told = [
        format!("delete: {target}/gone"),
        format!("upload: s/changed to {target}/changed"),
        format!("upload: s/new to {target}/new"),
    ];
    let dry = told.each_ref().map(|line| format!("(dryrun) {line}"));
    ctx.haul(&[&sync[..], &["--dryrun"]].concat()).ok().prints(&dry);
    ctx.haul(&sync).ok().prints(&told);
    assert_eq!(ctx.remote.keys(), ["p/changed", "p/gone-small", "p/new", "p/small"]);
    assert_eq!(ctx.remote.get("p/small"), b"yy");
    ctx.haul(&sync).ok().prints(&[""; 0]);
}

fn storage_classes(ctx: &Ctx<'_>) {
    ctx.remote.put("c/plain", b"1");
    let plain = ctx.url("c/plain");
    let find = |class: &str| ctx.haul(&["find", &ctx.url("c/"), "--storage-class", class]).ok();
    find("STANDARD").prints(&[&plain]);
    let Some(class) = ctx.server.features.storage_class else { return };
    let storage_class = Some(class.to_owned());
    let properties = ObjectProperties { storage_class, ..ObjectProperties::default() };
    ctx.remote.put_with("c/other", b"2", &properties);
    find("STANDARD").prints(&[&plain]);
    find(class).prints(&[&ctx.url("c/other")]);
    find(&format!("standard,{class}")).prints(&[&plain, &ctx.url("c/other")]);
    let cp = ["cp", "--recursive", &ctx.url("c"), "t", "--source-storage-class", class];
    ctx.haul(&cp).ok();
    assert_eq!(crate::trees::names(&ctx.path("t")), ["other"]);
    ctx.haul(&["rm", &plain, "--storage-class", class]).ok().prints(&[""; 0]);
    ctx.haul(&["rm", "--recursive", &ctx.url("c"), "--storage-class", class]).ok();
    assert_eq!(ctx.remote.keys(), ["c/plain"]);
}

fn found_by_tags_and_metadata(ctx: &Ctx<'_>) {
    for (key, tagging, metadata) in [
        ("f/a b", Some("type=raw&odd%20key=x%2Fy"), Some(("team", "x"))),
        ("f/b", Some("type=cooked"), Some(("team", "y z"))),
        ("f/c", None, None),
    ] {
        let properties = ObjectProperties {
            tagging: tagging.map(str::to_owned),
            metadata: metadata.map(|(key, value)| vec![(key.to_owned(), value.to_owned())]),
            ..ObjectProperties::default()
        };
        ctx.remote.put_with(key, b"1", &properties);
    }
    let (a, b) = (ctx.url("f/a b"), ctx.url("f/b"));
    let found =
        |conditions: &[&str]| ctx.haul(&[&["find", &ctx.url("f/")], conditions].concat()).ok();
    found(&["--tag", "type"]).prints(&[&a, &b]);
    found(&["--tag", "type=raw", "--tag", "odd key=x/y"]).prints(&[&a]);
    found(&["--metadata", "Team=y z"]).prints(&[&b]);
    found(&["--metadata", "team", "--tag", "type=raw"]).prints(&[&a]);
    found(&["--tag", "none"]).prints(&[""; 0]);
    let many: Vec<String> = (0..300).map(|n| format!("f/many/{n}")).collect();
    ctx.remote.put_all(&many);
    found(&["--tag", "type", "--page-size", "20"]).prints(&[&a, &b]);
}

fn found_versions(ctx: &Ctx<'_>) {
    let script = "
s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={'Status': 'Enabled'})
for body in [b'1', b'22', b'333']:
    s3.put_object(Bucket=bucket, Key='v', Body=body, Tagging='n=%d' % len(body))
s3.delete_object(Bucket=bucket, Key='v')
versions = s3.list_object_versions(Bucket=bucket).get('Versions', [])
print(' '.join(v['VersionId'] for v in sorted(versions, key=lambda v: v['Size'])))
";
    let Some(script) = ctx.python(script) else { return };
    let ids = script.out();
    let ids: Vec<&str> = ids.split_whitespace().collect();
    if !ctx.can(ids.len() == 3, "versions") {
        return;
    }
    let url = ctx.url("v");
    let found = |conditions: &[&str]| {
        ctx.haul(&[&["find", "--versions", &ctx.url("")], conditions].concat()).ok()
    };
    let line = |index: usize| format!("{url}\t{}", ids[index]);
    found(&["--min-size", "2"]).prints(&[line(1), line(2)]);
    found(&["--tag", "n=2"]).prints(&[line(1)]);
    assert_eq!(found(&[]).lines().len(), 4, "with the delete marker");
    ctx.haul(&["find", &ctx.url("")]).ok().prints(&[""; 0]);
}
