//! Keys and names that break other tools, both ways.

use std::collections::BTreeMap;

use crate::harness::{Ctx, cases};
use crate::servers::Features;
use crate::trees;

cases!["keys":
    odd_names_up,
    odd_keys_down,
    odd_keys_one_by_one,
    keys_that_xml_cannot_write,
    odd_keys_copied_and_moved,
    long_keys,
    folder_markers,
    empty_segments,
    key_beside_a_folder,
    name_that_is_not_utf8,
    keys_that_escape_the_folder,
    keys_through_a_symbolic_link,
];

/// Keys that are also names of files.
pub(super) const ODD: &[&str] = &[
    "a b",
    " lead",
    "trail ",
    "two  spaces",
    "a+b",
    "a%b",
    "a%20b",
    "a%2Fb",
    "a&b",
    "a=b",
    "a'b",
    "a\"b",
    "a[x]b",
    "[x]",
    "a#b",
    "#",
    "a?b",
    "a\\b",
    "a*b",
    "a:b",
    "a|b",
    "a<b>",
    "a;b",
    "a,b",
    "a@b",
    "a!b",
    "a~b",
    "~home",
    "a^b",
    "a`b",
    "a{b}",
    "$a",
    "(a)",
    "-dash",
    ".hidden",
    "a..b",
    "...",
    "😀.txt",
    "中文/文件.txt",
    "é",
    "e\u{301}",
    "a\u{a0}b",
    "a\u{200e}b",
    "\u{feff}bom",
    "a\u{7f}b",
    "a\nb",
    "a\tb",
    "a\rb",
    "ÿ",
    "sub/.dot/x",
    "sub/a b/c+d",
    "&amp;",
    "<Key>",
    "\u{10ffff}",
    "%",
    "+",
    "CON",
    "null",
    "a.s3haul",
];

fn odd(_: Features) -> BTreeMap<String, Vec<u8>> {
    ODD.iter().map(|key| ((*key).to_owned(), key.as_bytes().to_vec())).collect()
}

/// Asserts the keys of a bucket also on the word of a client that is not ours.
fn assert_keys(ctx: &Ctx<'_>, expected: &BTreeMap<String, Vec<u8>>) {
    trees::assert_same(&ctx.remote.objects(), expected);
    let script = "print(json.dumps([o['Key'] for p in \
        s3.get_paginator('list_objects_v2').paginate(Bucket=bucket) for o in p['Contents']]))";
    if let Some(listed) = ctx.python(script) {
        let keys: Vec<String> = serde_json::from_slice(&listed.ok().stdout).unwrap();
        let expected: Vec<&String> = expected.keys().collect();
        assert_eq!(keys.iter().collect::<Vec<_>>(), expected, "keys as boto3 lists them");
    }
}

fn odd_names_up(ctx: &Ctx<'_>) {
    let expected = odd(ctx.server.features);
    for (name, bytes) in &expected {
        ctx.file(&format!("t/{name}"), bytes);
    }
    ctx.haul(&["cp", "--recursive", "t", &ctx.url("")]).ok();
    assert_keys(ctx, &expected);
}

fn odd_keys_down(ctx: &Ctx<'_>) {
    let expected = odd(ctx.server.features);
    for (key, bytes) in &expected {
        ctx.remote.put(key, bytes);
    }
    ctx.haul(&["cp", "--recursive", &ctx.url(""), "t"]).ok();
    trees::assert_same(&trees::read(&ctx.path("t")), &expected);
    let prefixed = ctx.haul(&["cp", "--recursive", &ctx.url("sub/a b"), "part"]).ok();
    assert_eq!(trees::names(&ctx.path("part")), ["c+d"], "{}", prefixed.report());
    let none: [&str; 0] = [];
    ctx.haul(&["rm", "--recursive", "--quiet", &ctx.url("")]).ok().prints(&none);
    assert_eq!(ctx.remote.keys(), [""; 0]);
}

fn odd_keys_one_by_one(ctx: &Ctx<'_>) {
    let keys = ["a b+c", "a%20b", "é中😀", "a[x]*?b", "a\nb", "q?x=1&y#z", "t\u{7f}\u{a0}", "\\"];
    for key in keys {
        ctx.file("f", key.as_bytes());
        let url = ctx.url(key);
        ctx.haul(&["cp", "f", &url]).ok();
        assert_eq!(ctx.remote.keys(), [key]);
        ctx.haul(&["cp", "--raw", &url, "g"]).ok();
        assert_eq!(std::fs::read(ctx.path("g")).unwrap(), key.as_bytes(), "{key:?}");
        assert_eq!(ctx.haul(&["cat", "--raw", &url]).ok().stdout, key.as_bytes(), "{key:?}");
        ctx.haul(&["rm", "--raw", &url]).ok();
        assert_eq!(ctx.remote.keys(), [""; 0], "after rm of {key:?}");
    }
}

/// Control characters have no place in XML 1.0: listings bring them percent-encoded, and
/// `DeleteObjects` cannot name them.
fn keys_that_xml_cannot_write(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.control_characters, "keys with control characters") {
        return;
    }
    let keys = ["a\u{1}b", "\u{1b}[31m", "d\u{8}/x", "u\u{ffff}v", "v\u{fffe}"];
    for key in keys {
        ctx.file(&format!("t/{key}"), key.as_bytes());
    }
    ctx.file("t/plain", b"plain");
    let expected = trees::read(&ctx.path("t"));
    ctx.haul(&["cp", "--recursive", "t", &ctx.url("")]).ok();
    trees::assert_same(&ctx.remote.objects(), &expected);
    ctx.haul(&["cp", "--recursive", &ctx.url(""), "back"]).ok();
    trees::assert_same(&trees::read(&ctx.path("back")), &expected);
    ctx.haul(&["rm", "--recursive", &ctx.url("")]).ok();
    assert_eq!(ctx.remote.keys(), [""; 0]);
}

fn odd_keys_copied_and_moved(ctx: &Ctx<'_>) {
    let expected = odd(ctx.server.features);
    for (key, bytes) in &expected {
        ctx.remote.put(&format!("from/{key}"), bytes);
    }
    let other = ctx.remote.sibling("other");
    let to = format!("s3://{}/", other.name());
    ctx.haul(&["cp", "--recursive", &ctx.url("from/"), &to]).ok();
    trees::assert_same(&other.objects(), &expected);
    ctx.haul(&["rm", "--recursive", &to]).ok();
    ctx.haul(&["mv", "--recursive", &ctx.url("from/"), &to]).ok();
    trees::assert_same(&other.objects(), &expected);
    assert_eq!(ctx.remote.keys(), [""; 0]);
}

fn long_keys(ctx: &Ctx<'_>) {
    let folders = format!("{0}/{0}/{0}/{0}/{0}/", "p".repeat(200));
    let wide = "文".repeat(85);
    let keys = [
        format!("{folders}{}", "q".repeat(1024 - folders.len())),
        format!("{wide}/{wide}/{wide}/{wide}"),
        "l".repeat(255),
    ];
    let expected: BTreeMap<String, Vec<u8>> =
        keys.iter().map(|key| (key.clone(), key.as_bytes().to_vec())).collect();
    for (name, bytes) in &expected {
        ctx.file(&format!("t/{name}"), bytes);
    }
    ctx.haul(&["cp", "--recursive", "t", &ctx.url("")]).ok();
    assert_keys(ctx, &expected);
    ctx.haul(&["cp", "--recursive", &ctx.url(""), "back"]).ok();
    trees::assert_same(&trees::read(&ctx.path("back")), &expected);
}

fn folder_markers(ctx: &Ctx<'_>) {
    ctx.remote.put("d/", b"");
    ctx.remote.put("d/f", b"1");
    ctx.remote.put("lonely/", b"");
    ctx.haul(&["cp", "--recursive", &ctx.url(""), "t"]).ok();
    assert_eq!(trees::names(&ctx.path("t")), ["d/f"]);
    let other = ctx.remote.sibling("other");
    ctx.haul(&["cp", "--recursive", &ctx.url(""), &format!("s3://{}/", other.name())]).ok();
    assert_eq!(other.keys(), ["d/f"]);
    let listed = ctx.haul(&["ls", &ctx.url("d/")]).ok().lines();
    assert_eq!(listed.len(), 2, "{listed:?}");
    ctx.haul(&["rm", "--recursive", &ctx.url("")]).ok();
    assert_eq!(ctx.remote.keys(), [""; 0], "rm takes the markers too");
}

fn empty_segments(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.empty_segments, "keys with `//`") {
        return;
    }
    ctx.remote.put("d//e", b"1");
    ctx.remote.put("d///f/", b"");
    ctx.haul(&["cp", "--recursive", &ctx.url("d"), "t"]).code_in(&[0, 2]);
    let names = trees::names(&ctx.path("t"));
    assert!(names.iter().all(|name| name == "e"), "{names:?}");
    ctx.haul(&["cp", &ctx.url("d//e"), "single"]).ok();
    assert_eq!(std::fs::read(ctx.path("single")).unwrap(), b"1");
    ctx.haul(&["cp", "single", &ctx.url("/lead//x")]).ok();
    assert_eq!(ctx.remote.keys(), ["/lead//x", "d///f/", "d//e"]);
    ctx.haul(&["rm", "--recursive", &ctx.url("")]).ok();
    assert_eq!(ctx.remote.keys(), [""; 0]);
}

fn key_beside_a_folder(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.key_beside_folder, "key `x` beside `x/y`") {
        return;
    }
    ctx.remote.put("x", b"1");
    ctx.remote.put("x/y", b"2");
    ctx.remote.put("z", b"3");
    // One of the two cannot exist on a disk and is reported; the other and the rest arrive.
    let done = ctx.haul(&["cp", "--recursive", &ctx.url(""), "t"]).code(1);
    let names = trees::names(&ctx.path("t"));
    assert!(names == ["x", "z"] || names == ["x/y", "z"], "{names:?}");
    assert!(done.err().contains("download failed"), "{}", done.report());
    let other = ctx.remote.sibling("other");
    ctx.haul(&["cp", "--recursive", &ctx.url(""), &format!("s3://{}/", other.name())]).ok();
    assert_eq!(other.keys(), ["x", "x/y", "z"]);
}

fn name_that_is_not_utf8(ctx: &Ctx<'_>) {
    ctx.file("t/good", b"1");
    ctx.file("t/sub/fine", b"2");
    trees::write_raw(&ctx.path("t"), b"bad\xff\xfename", b"3");
    trees::write_raw(&ctx.path("t"), b"dir\xe9/inside", b"4");
    let done = ctx.haul(&["cp", "--recursive", "t", &ctx.url("")]).code(2).says("warning: ");
    assert!(done.err().contains("bad"), "{}", done.report());
    assert_eq!(ctx.remote.keys(), ["good", "sub/fine"]);
}

/// A key that climbs out of the target folder is skipped with a warning; nothing is written there.
fn keys_that_escape_the_folder(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.dot_segments, "keys with `..`") {
        return;
    }
    let evil = ["../x", "a/../../y", "..", "a/..", "../../../../tmp/s3haul-escaped"];
    for key in evil {
        ctx.remote.put(&format!("p/{key}"), b"evil");
    }
    ctx.remote.put("p/good", b"1");
    ctx.remote.put("p/a/../inside", b"2");
    let done = ctx.haul(&["cp", "--recursive", &ctx.url("p/"), "in/deep/t"]).code(2);
    assert!(done.err().contains("warning: Skipping file"), "{}", done.report());
    let names = trees::names(&ctx.dir());
    let allowed = ["in/deep/t/good", "in/deep/t/inside"];
    assert!(names.iter().all(|name| allowed.contains(&name.as_str())), "{names:?}");
    assert!(names.contains(&allowed[0].to_owned()), "{names:?}");
    assert!(!std::path::Path::new("/tmp/s3haul-escaped").exists());
    if ctx.server.features.empty_segments {
        // An absolute path in a key stays below the folder.
        let outside = crate::harness::outside(ctx).join("absolute");
        ctx.remote.put(&format!("q/{}", outside.display()), b"evil");
        ctx.haul(&["cp", "--recursive", &ctx.url("q/"), "u"]).code_in(&[0, 2]);
        assert!(!outside.exists(), "written to an absolute path of a key");
    }
}

fn keys_through_a_symbolic_link(ctx: &Ctx<'_>) {
    ctx.remote.put("link/x", b"evil");
    ctx.remote.put("file", b"new");
    ctx.remote.put("good", b"1");
    let outside = crate::harness::outside(ctx).join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("kept"), b"kept").unwrap();
    std::fs::create_dir(ctx.path("t")).unwrap();
    std::os::unix::fs::symlink(&outside, ctx.path("t/link")).unwrap();
    std::os::unix::fs::symlink(outside.join("kept"), ctx.path("t/file")).unwrap();
    let done = ctx.haul(&["cp", "--recursive", &ctx.url(""), "t"]).code(2);
    assert!(done.err().contains("link"), "{}", done.report());
    assert_eq!(trees::names(&outside), ["kept"]);
    assert_eq!(std::fs::read(outside.join("kept")).unwrap(), b"kept");
    assert_eq!(std::fs::read(ctx.path("t/good")).unwrap(), b"1");
}
