//! Which name a file or object gets, what is printed for it, and what is refused.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use crate::harness::{Ctx, cases};
use crate::trees;

cases!["paths":
    file_to_bucket_and_key,
    object_to_folder_and_file,
    tree_up,
    tree_down,
    lines_name_paths_below_and_above,
    the_s3_word_is_accepted,
    quiet_and_only_show_errors,
    dryrun_changes_nothing,
    filters_in_order,
    symbolic_links,
    missing_source,
    a_file_as_a_tree,
    usage_errors,
];

fn file_to_bucket_and_key(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let bucket = format!("s3://{}", ctx.bucket);
    ctx.haul(&["cp", "f", &bucket]).ok().prints(&[format!("upload: ./f to {bucket}/f")]);
    ctx.haul(&["cp", "f", &ctx.url("d")]).ok().prints(&[format!("upload: ./f to {bucket}/d")]);
    ctx.haul(&["cp", "f", &ctx.url("e/")]).ok().prints(&[format!("upload: ./f to {bucket}/e/f")]);
    ctx.haul(&["cp", "f", &ctx.url("deep/er/name")]).ok();
    assert_eq!(ctx.remote.keys(), ["d", "deep/er/name", "e/f", "f"]);
}

fn object_to_folder_and_file(ctx: &Ctx<'_>) {
    ctx.remote.put("a/k", b"bytes");
    std::fs::create_dir(ctx.path("folder")).unwrap();
    let key = ctx.url("a/k");
    ctx.haul(&["cp", &key, "folder"]).ok().prints(&[format!("download: {key} to folder/k")]);
    ctx.haul(&["cp", &key, "folder/"]).ok();
    ctx.haul(&["cp", &key, "new"]).ok().prints(&[format!("download: {key} to ./new")]);
    ctx.haul(&["cp", &key, "made/"]).ok().prints(&[format!("download: {key} to made/k")]);
    ctx.haul(&["cp", &key, "made/deep/name"]).ok();
    ctx.haul(&["cp", &key, "."]).ok().prints(&[format!("download: {key} to ./k")]);
    let names = ["folder/k", "k", "made/deep/name", "made/k", "new"];
    assert_eq!(trees::names(&ctx.dir()), names);
    assert!(trees::read(&ctx.dir()).values().all(|bytes| bytes == b"bytes"));
}

/// A small tree with names that its filters and prefixes must distinguish.
fn tree(ctx: &Ctx<'_>) -> BTreeMap<String, Vec<u8>> {
    for (name, text) in [("a.txt", "a"), ("b.log", "b"), ("sub/c.txt", "c"), ("sub/deep/d", "")] {
        ctx.file(&format!("tree/{name}"), text.as_bytes());
    }
    std::fs::create_dir(ctx.path("tree/empty")).unwrap();
    trees::read(&ctx.path("tree"))
}

fn tree_up(ctx: &Ctx<'_>) {
    let files = tree(ctx);
    for (source, target) in [("tree", "one"), ("tree/", "two/"), ("./tree", "three")] {
        ctx.haul(&["cp", "--recursive", source, &ctx.url(target)]).ok();
        let prefix = format!("{}/", target.trim_end_matches('/'));
        let stored = ctx.remote.objects();
        let below = stored.iter().filter_map(|(key, bytes)| {
            key.strip_prefix(&prefix).map(|name| (name.to_owned(), bytes.clone()))
        });
        trees::assert_same(&below.collect(), &files);
    }
    let bucket = format!("s3://{}", ctx.bucket);
    ctx.haul(&["cp", "tree", &bucket, "--recursive"]).ok();
    assert_eq!(ctx.remote.get("sub/c.txt"), b"c");
}

fn tree_down(ctx: &Ctx<'_>) {
    for (key, text) in [("pre/a", "1"), ("pre/s/b", "2"), ("pre2/c", "3"), ("pref", "4")] {
        ctx.remote.put(key, text.as_bytes());
    }
    let expected = BTreeMap::from([("a".into(), b"1".to_vec()), ("s/b".into(), b"2".to_vec())]);
    for (source, target) in [("pre", "one"), ("pre/", "two/deep"), ("pre", "three/")] {
        ctx.haul(&["cp", "--recursive", &ctx.url(source), target]).ok();
        trees::assert_same(&trees::read(&ctx.path(target)), &expected);
    }
    ctx.haul(&["cp", "--recursive", &ctx.url(""), "all"]).ok();
    assert_eq!(trees::names(&ctx.path("all")), ["pre/a", "pre/s/b", "pre2/c", "pref"]);
}

fn lines_name_paths_below_and_above(ctx: &Ctx<'_>) {
    ctx.file("d/f", b"1");
    ctx.file("g", b"2");
    std::fs::create_dir(ctx.path("here")).unwrap();
    let run = |args: &[&str]| ctx.haul_with(args).folder(&ctx.path("here")).run().ok();
    let to = ctx.url("x");
    run(&["cp", "../d/f", &to]).prints(&[format!("upload: ../d/f to {to}")]);
    run(&["cp", "../g", &to]).prints(&[format!("upload: ../g to {to}")]);
    let absolute = ctx.path("d/f");
    let absolute = absolute.to_str().unwrap();
    run(&["cp", absolute, &to]).prints(&[format!("upload: ../d/f to {to}")]);
    run(&["cp", &to, "../d/new"]).prints(&[format!("download: {to} to ../d/new")]);
    run(&["mv", "../d/new", &to]).prints(&[format!("move: ../d/new to {to}")]);
    run(&["rm", &to]).prints(&[format!("delete: {to}")]);
}

fn the_s3_word_is_accepted(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    ctx.haul(&["s3", "cp", "f", &ctx.url("f")]).ok();
    let listed = ctx.haul(&["s3", "ls", &ctx.url("")]).ok().out();
    assert!(listed.trim_end().ends_with("          1 f"), "{listed}");
}

fn quiet_and_only_show_errors(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let none: [&str; 0] = [];
    for flag in ["--quiet", "--only-show-errors"] {
        let done = ctx.haul(&["cp", "f", &ctx.url("f"), flag]).ok().prints(&none);
        assert_eq!(done.err(), "");
    }
    let failed = ctx.haul(&["cp", &ctx.url("missing"), ".", "--only-show-errors"]).code(1);
    assert!(!failed.err().is_empty());
    let failed = ctx.haul(&["cp", &ctx.url("missing"), ".", "--quiet"]).code(1);
    assert_eq!(failed.out(), "");
}

fn dryrun_changes_nothing(ctx: &Ctx<'_>) {
    tree(ctx);
    ctx.remote.put("k/1", b"1");
    let (k, to) = (ctx.url("k/1"), ctx.url("t"));
    let up = ctx.haul(&["cp", "--recursive", "--dryrun", "tree", &to]).ok();
    let names = ["a.txt", "b.log", "sub/c.txt", "sub/deep/d"];
    up.prints(&names.map(|n| format!("(dryrun) upload: tree/{n} to {to}/{n}")));
    let lines = [
        (vec!["mv", "--dryrun", "tree/a.txt", &to], format!("(dryrun) move: tree/a.txt to {to}")),
        (vec!["cp", "--dryrun", &k, "new"], format!("(dryrun) download: {k} to ./new")),
        (vec!["cp", "--dryrun", &k, &to], format!("(dryrun) copy: {k} to {to}")),
        (vec!["rm", "--dryrun", &k], format!("(dryrun) delete: {k}")),
    ];
    for (args, line) in &lines {
        ctx.haul(args).ok().prints(&[line]);
    }
    ctx.haul(&["rm", "--recursive", "--dryrun", &ctx.url("")]).ok();
    ctx.haul(&["mv", "--recursive", "--dryrun", &ctx.url("k"), "away"]).ok();
    assert_eq!(ctx.remote.keys(), ["k/1"]);
    assert!(!ctx.path("new").exists() && ctx.path("tree/a.txt").exists());
}

fn filters_in_order(ctx: &Ctx<'_>) {
    tree(ctx);
    let runs: [(&str, &[&str], &[&str]); 5] = [
        ("1", &["--exclude", "*", "--include", "*.txt"], &["a.txt", "sub/c.txt"]),
        ("2", &["--include", "*.txt", "--exclude", "*"], &[]),
        ("3", &["--exclude", "sub/*"], &["a.txt", "b.log"]),
        ("4", &["--exclude", "*.txt", "--include", "sub/*"], &["b.log", "sub/c.txt", "sub/deep/d"]),
        ("5", &["--exclude", "[ab].*", "--exclude", "sub/?.txt"], &["sub/deep/d"]),
    ];
    for (prefix, filters, expected) in runs {
        let (to, from) = (ctx.url(prefix), ctx.url("full"));
        let up = [&["cp", "--recursive", "tree", &to], filters].concat();
        ctx.haul(&up).ok();
        let keys = ctx.remote.keys();
        let found: Vec<&str> =
            keys.iter().filter_map(|k| k.strip_prefix(&format!("{prefix}/"))).collect();
        assert_eq!(found, expected, "uploaded with {filters:?}");
        ctx.haul(&["cp", "--recursive", "tree", &from, "--quiet"]).ok();
        let target = format!("down{prefix}");
        let down = [&["cp", "--recursive", &from, &target], filters].concat();
        ctx.haul(&down).ok();
        std::fs::create_dir_all(ctx.path(&target)).unwrap();
        assert_eq!(trees::names(&ctx.path(&target)), expected, "downloaded with {filters:?}");
    }
}

fn symbolic_links(ctx: &Ctx<'_>) {
    ctx.file("t/real", b"1");
    ctx.file("elsewhere/x", b"2");
    symlink(ctx.path("elsewhere"), ctx.path("t/folder")).unwrap();
    symlink(ctx.path("t/real"), ctx.path("t/link")).unwrap();
    ctx.haul(&["cp", "--recursive", "t", &ctx.url("a")]).ok();
    assert_eq!(ctx.remote.keys(), ["a/folder/x", "a/link", "a/real"]);
    ctx.haul(&["cp", "--recursive", "--no-follow-symlinks", "t", &ctx.url("b")]).ok();
    assert_eq!(ctx.remote.keys()[3..], ["b/real"]);
    symlink(ctx.path("nowhere"), ctx.path("t/broken")).unwrap();
    ctx.haul(&["cp", "--recursive", "t", &ctx.url("c")]).code(2).says("broken");
    assert_eq!(ctx.remote.keys()[4..], ["c/folder/x", "c/link", "c/real"]);
}

fn missing_source(ctx: &Ctx<'_>) {
    let missing = ctx.haul(&["cp", "nothing", &ctx.url("k")]).code(255);
    missing.says("The user-provided path nothing does not exist.");
    ctx.haul(&["cp", "--recursive", "nothing", &ctx.url("k")]).code(255);
    ctx.haul(&["cp", &ctx.url("nothing"), "f"]).code(1);
    ctx.haul(&["mv", &ctx.url("nothing"), &ctx.url("k")]).code(1);
    ctx.haul(&["cp", "--recursive", &ctx.url("nothing"), "f"]).ok();
    assert_eq!(ctx.remote.keys(), [""; 0]);
    assert!(trees::names(&ctx.dir()).is_empty());
}

fn a_file_as_a_tree(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    ctx.haul(&["cp", "--recursive", "f", &ctx.url("")]).code(2).says("warning: Skipping file");
    assert_eq!(ctx.remote.keys(), [""; 0]);
}

fn usage_errors(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let to = ctx.url("k");
    let wrong: [&[&str]; 7] = [
        &["cp", "f", "g"],
        &["cp", "f", &to, "--no-such-flag"],
        &["cp", "f"],
        &["mv", &to, &to],
        &["cp", "f", &to, "--checksum-mode", "ENABLED"],
        &["no-such-command"],
        &["rm", "f"],
    ];
    for args in wrong {
        let done = ctx.haul(args).code(252);
        assert_eq!(done.out(), "", "{args:?}");
        assert!(!done.err().is_empty(), "{args:?}");
    }
}
