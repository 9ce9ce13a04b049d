//! `rm`, `rb` and `mb`.

use crate::harness::{Ctx, cases};

cases!["remove":
    one_object,
    prefixes_end_at_a_slash,
    filters,
    many_keys,
    buckets,
    tree_like_aws,
];

fn one_object(ctx: &Ctx<'_>) {
    ctx.remote.put("a", b"1");
    ctx.remote.put("ab", b"2");
    let key = ctx.url("a");
    ctx.haul(&["rm", &key]).ok().prints(&[format!("delete: {key}")]);
    assert_eq!(ctx.remote.keys(), ["ab"]);
    // S3 does not return whether there was one.
    ctx.haul(&["rm", &key]).ok().prints(&[format!("delete: {key}")]);
}

fn prefixes_end_at_a_slash(ctx: &Ctx<'_>) {
    for key in ["pre/a", "pre/b/c", "pre2/d", "prefix"] {
        ctx.remote.put(key, b"1");
    }
    let lines = ["a", "b/c"].map(|name| format!("delete: {}", ctx.url(&format!("pre/{name}"))));
    ctx.haul(&["rm", "--recursive", &ctx.url("pre")]).ok().prints(&lines);
    assert_eq!(ctx.remote.keys(), ["pre2/d", "prefix"]);
}

fn filters(ctx: &Ctx<'_>) {
    for key in ["a.txt", "b.log", "s/c.txt", "s/d.log"] {
        ctx.remote.put(key, b"1");
    }
    let all = ctx.url("");
    ctx.haul(&["rm", "--recursive", &all, "--exclude", "*", "--include", "s/*.txt"]).ok();
    assert_eq!(ctx.remote.keys(), ["a.txt", "b.log", "s/d.log"]);
    ctx.haul(&["rm", "--recursive", &all, "--exclude", "*.txt"]).ok();
    assert_eq!(ctx.remote.keys(), ["a.txt"]);
}

/// More than two pages of a listing and more than two requests of removing.
fn many_keys(ctx: &Ctx<'_>) {
    let keys: Vec<String> = (0..2_500).map(|n| format!("many/{:02}/{n:05}", n % 7)).collect();
    ctx.remote.put_all(&keys);
    ctx.remote.put("other", b"1");
    let listed = ctx.haul(&["ls", "--recursive", "--summarize", &ctx.url("many/")]).ok();
    assert!(listed.out().contains("Total Objects: 2500\n"), "{}", listed.report());
    let mut expected = keys;
    expected.sort();
    let out = listed.out();
    let found: Vec<&str> = out.lines().filter_map(|line| line.get(31..)).collect();
    assert_eq!(found, expected, "keys in the order of S3");
    ctx.haul(&["rm", "--recursive", "--only-show-errors", &ctx.url("many")]).ok();
    assert_eq!(ctx.remote.keys(), ["other"]);
}

fn buckets(ctx: &Ctx<'_>) {
    let name = format!("{}-made", ctx.bucket);
    let url = format!("s3://{name}");
    ctx.haul(&["mb", &url]).ok().prints(&[format!("make_bucket: {name}")]);
    ctx.haul(&["mb", "s3://NOT_A_NAME"]).code(1).says("make_bucket failed");
    ctx.file("f", b"1");
    ctx.haul(&["cp", "f", &format!("{url}/d/f")]).ok();
    ctx.haul(&["rb", &url]).code(1).says("remove_bucket failed");
    let listed = ctx.haul(&["ls"]).ok().out();
    assert!(listed.lines().any(|line| line.ends_with(&format!(" {name}"))), "{listed}");
    let done = ctx.haul(&["rb", "--force", &url]).ok();
    done.prints(&[format!("delete: {url}/d/f"), format!("remove_bucket: {name}")]);
    let listed = ctx.haul(&["ls"]).ok().out();
    assert!(!listed.contains(&name), "{listed}");
    ctx.haul(&["rb", &url]).code(1);
    ctx.haul(&["cp", "f", &format!("{url}/f")]).code(1);
}

/// The lines of the real `aws` on the same input.
fn tree_like_aws(ctx: &Ctx<'_>) {
    let names = ["a", "s/b", "s/t/c", "x y/z"];
    let fill = |prefix: &str| {
        for name in names {
            ctx.remote.put(&format!("{prefix}/{name}"), b"1");
        }
    };
    fill("p");
    let args = ["s3", "rm", "--recursive", &ctx.url("p"), "--exclude", "s/t/*"];
    let Some(aws) = ctx.aws(&args) else { return };
    let expected = aws.ok().lines();
    fill("p");
    ctx.haul(&args).ok().prints(&expected);
}
