//! `tag get`, `set`, `add` and `remove`.

use s3haul_wire::ObjectProperties;

use crate::harness::{Ctx, cases};

cases!["tags":
    one_object,
    many_objects_and_odd_keys,
    formats,
    limits,
    dry_runs_and_failures,
];

/// Keys that are hard for XML, URLs or shells.
const ODD: &[&str] =
    &["t/a b+c", "t/é/ü.txt", "t/<&>'\"", "t/100%/x=y&z", "t/#?*", "t/ab", "t/quoted,\"key\""];

fn assert_tags(ctx: &Ctx<'_>, key: &str, expected: &[(&str, &str)]) {
    let mut tags = ctx.remote.tags(key);
    tags.sort();
    let expected: Vec<_> = expected.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    assert_eq!(tags, expected, "{key}");
}

fn one_object(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"1");
    ctx.remote.put("kk", b"2");
    let url = ctx.url("k");
    let tag = |args: &[&str]| ctx.haul(&[&["tag"], args, &[url.as_str()]].concat()).ok();
    let told = |change: &str| [format!("tag {change}: {url}")];
    tag(&["set", "--tags", "type=daily,owner=a b@c.d"]).prints(&told("set"));
    assert_tags(ctx, "k", &[("owner", "a b@c.d"), ("type", "daily")]);
    assert_tags(ctx, "kk", &[]);
    tag(&["add", "--tags", "type=weekly", "--tags", "x="]).prints(&told("add"));
    assert_tags(ctx, "k", &[("owner", "a b@c.d"), ("type", "weekly"), ("x", "")]);
    tag(&["add", "--tags", "type=weekly"]).prints(&[""; 0]);
    tag(&["remove", "--keys", "x,owner,none"]).prints(&told("remove"));
    tag(&["get"]).prints(&[format!("{url}\ttype=weekly")]);
    tag(&["remove", "--keys", "type"]).prints(&told("remove"));
    tag(&["get"]).prints(&[url.as_str()]);
    tag(&["set", "--tags", "a=1"]).prints(&told("set"));
    tag(&["remove", "--all"]).prints(&told("remove"));
    assert_tags(ctx, "k", &[]);
}

fn many_objects_and_odd_keys(ctx: &Ctx<'_>) {
    let mut keys = ODD.to_vec();
    if ctx.server.features.empty_segments {
        keys.extend(["t//e", "t/folder/"]);
    }
    if ctx.server.features.control_characters {
        keys.push("t/bell\u{7}");
    }
    for key in &keys {
        ctx.remote.put(key, b"1");
    }
    ctx.remote.put("other", b"1");
    let expected: Vec<_> = keys.iter().map(|key| format!("tag set: {}", ctx.url(key))).collect();
    let all = ctx.url("t/");
    let done = ctx.haul(&["tag", "set", "--recursive", &all, "--tags", "odd key=a 1:2/3"]).ok();
    done.prints(&expected);
    for key in keys {
        assert_tags(ctx, key, &[("odd key", "a 1:2/3")]);
    }
    assert_tags(ctx, "other", &[]);
    let wild = ctx.url("t/*txt");
    ctx.haul(&["tag", "add", &wild, "--tags", "w=1"])
        .ok()
        .prints(&[expected[1].replace("set", "add")]);
    let filters =
        ["--exclude", "*", "--include", "a*", "--filter", "js:({Key}) => Key != 't/a b+c'"];
    ctx.haul(
        &[&["tag", "remove", "--recursive", &all, "--keys", "odd key"], &filters[..]].concat(),
    )
    .ok()
    .prints(&[expected[5].replace("set", "remove")]);
    assert_tags(ctx, "t/ab", &[]);
    assert_tags(ctx, "t/a b+c", &[("odd key", "a 1:2/3")]);
}

fn formats(ctx: &Ctx<'_>) {
    let tagging = Some("a=1&b=x%2Fy".to_owned());
    let properties = ObjectProperties { tagging, ..ObjectProperties::default() };
    ctx.remote.put_with("f/k,1", b"1", &properties);
    ctx.remote.put("f/none", b"1");
    let (url, bucket) = (ctx.url("f/"), &ctx.bucket);
    let get = |format| {
        let out = ctx.haul(&["tag", "get", "--recursive", &url, "--format", format]).ok().out();
        let mut lines: Vec<_> = out.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(
        get("jsonl"),
        [
            format!(
                "{{\"bucket\":\"{bucket}\",\"key\":\"f/k,1\",\
                 \"tags\":{{\"a\":\"1\",\"b\":\"x/y\"}}}}"
            ),
            format!("{{\"bucket\":\"{bucket}\",\"key\":\"f/none\",\"tags\":{{}}}}"),
        ]
    );
    let mut csv = vec![
        "bucket,key,tag,value".to_owned(),
        format!("{bucket},\"f/k,1\",a,1"),
        format!("{bucket},\"f/k,1\",b,x/y"),
        format!("{bucket},f/none,,"),
    ];
    csv.sort();
    assert_eq!(get("csv"), csv);
    let json = ctx.haul(&["tag", "get", &ctx.url("f/none"), "--json"]).ok().out();
    let first = format!(
        "{{\"v\":1,\"event\":\"tags\",\"bucket\":\"{bucket}\",\"key\":\"f/none\",\"tags\":{{}}}}"
    );
    assert_eq!(json.lines().next(), Some(first.as_str()));
}

/// What S3 would refuse is refused with exit status 252 before the first request, and where only
/// the object's tags make it too many, the object fails.
fn limits(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"1");
    let url = ctx.url("k");
    for (tags, said) in
        [("a", "KEY=VALUE"), ("a=1,a=2", "twice"), ("aws:a=1", "aws:"), ("a=#", "'#'")]
    {
        ctx.haul(&["tag", "set", &url, "--tags", tags]).code(252).says(said);
    }
    ctx.haul(&["tag", "set", "k", "--tags", "a=1"]).code(252).says("Invalid argument type");
    ctx.haul(&["tag", "get", &ctx.url("")]).code(252).says("names no object");
    let ten: Vec<_> = (0..10).map(|n| format!("{n}={}", "v".repeat(256))).collect();
    ctx.haul(&["tag", "set", &url, "--tags", &ten.join(",")]).ok();
    let failed = ctx.haul(&["tag", "add", &url, "--tags", "10=1"]).code(1);
    failed.says(&format!("tag add failed: {url} 11 tags are more than the 10"));
    assert_eq!(ctx.remote.tags("k").len(), 10);
}

fn dry_runs_and_failures(ctx: &Ctx<'_>) {
    ctx.remote.put("d/a", b"1");
    let (url, all) = (ctx.url("d/a"), ctx.url("d/"));
    let add = ["tag", "add", "--recursive", &all, "--tags", "t=1", "--dryrun", "--estimate"];
    let dry = ctx.haul(&add).ok();
    dry.prints(&[format!("(dryrun) tag add: {url}")]).says("estimate: the command would send");
    assert_tags(ctx, "d/a", &[]);
    let none = ctx.url("d/none");
    let failed = ctx.haul(&["tag", "set", &none, "--tags", "t=1", "--report", "r.jsonl"]).code(1);
    failed.says(&format!("tag set failed: {none} An error occurred (NoSuchKey)"));
    ctx.remote.put("d/none", b"2");
    let again = ["tag", "set", &none, "--tags", "t=1", "--retry-failed", "r.jsonl"];
    ctx.haul(&again).ok().prints(&[format!("tag set: {none}")]);
    assert_tags(ctx, "d/none", &[("t", "1")]);
    ctx.haul(&["tag", "set", &url, "--tags", "t=1", "--quiet"]).ok().prints(&[""; 0]);
}
