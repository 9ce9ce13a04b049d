//! Copies that stay on the server.

use s3haul_wire::ObjectProperties;

use crate::harness::{Ctx, cases};
use crate::trees::{self, MIB};

cases!["copy":
    small_keeps_metadata_and_tags,
    parts_keep_metadata_and_tags,
    new_metadata_replaces,
    onto_itself,
    trees_onto_themselves,
    trees_between_buckets,
    source_keys_are_encoded,
];

const SMALL_PARTS: &str = "multipart_threshold=5MB multipart_chunksize=5MB";

fn carried() -> ObjectProperties {
    ObjectProperties {
        content_type: Some("text/x-test".to_owned()),
        content_language: Some("de".to_owned()),
        cache_control: Some("max-age=60".to_owned()),
        metadata: Some(vec![("first".to_owned(), "1".to_owned())]),
        tagging: Some("color=dark%20red&size=%2B1".to_owned()),
        ..ObjectProperties::default()
    }
}

fn assert_carried(ctx: &Ctx<'_>, key: &str) {
    let properties = ctx.remote.head(key).properties;
    let expected = carried();
    assert_eq!(properties.content_type, expected.content_type);
    assert_eq!(properties.content_language, expected.content_language);
    assert_eq!(properties.cache_control, expected.cache_control);
    assert_eq!(properties.metadata, expected.metadata);
    let tags = [("color", "dark red"), ("size", "+1")];
    assert_eq!(ctx.remote.tags(key), tags.map(|(k, v)| (k.to_owned(), v.to_owned())));
}

fn small_keeps_metadata_and_tags(ctx: &Ctx<'_>) {
    ctx.remote.put_with("k", b"12345", &carried());
    ctx.haul(&["cp", &ctx.url("k"), &ctx.url("copy")]).ok();
    assert_eq!(ctx.remote.get("copy"), b"12345");
    assert_carried(ctx, "copy");
}

fn parts_keep_metadata_and_tags(ctx: &Ctx<'_>) {
    let bytes = trees::bytes(1, 12 * MIB);
    ctx.remote.put_with("k", &bytes, &carried());
    ctx.haul_configured(SMALL_PARTS, &["cp", &ctx.url("k"), &ctx.url("copy")]).ok();
    assert!(ctx.remote.get("copy") == bytes, "copied bytes differ");
    let etag = ctx.remote.head("copy").etag;
    assert!(etag.trim_matches('"').ends_with("-3"), "parts in ETag {etag}");
    assert_carried(ctx, "copy");
    assert_eq!(ctx.remote.uploads("copy"), [""; 0]);
}

fn new_metadata_replaces(ctx: &Ctx<'_>) {
    let big = trees::bytes(1, 6 * MIB);
    for (key, bytes) in [("small", b"12345".as_slice()), ("big", &big)] {
        ctx.remote.put_with(key, bytes, &carried());
        let copy = ctx.url("copy");
        let args = ["cp", &ctx.url(key), &copy, "--metadata", "second=2"];
        ctx.haul_configured(SMALL_PARTS, &args).ok();
        let told = ctx.remote.head("copy").properties.metadata;
        assert_eq!(told, Some(vec![("second".to_owned(), "2".to_owned())]), "{key}");
        let args = ["cp", &ctx.url(key), &copy, "--content-type", "text/new"];
        ctx.haul_configured(SMALL_PARTS, &args).ok();
        let told = ctx.remote.head("copy").properties;
        assert_eq!(told.content_type.as_deref(), Some("text/new"), "{key}");
        // What was not named is fetched and sent again.
        assert_eq!(told.cache_control.as_deref(), Some("max-age=60"), "{key}");
    }
}

fn onto_itself(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"12345");
    let key = ctx.url("k");
    ctx.haul(&["cp", &key, &key, "--metadata", "a=1"]).ok();
    assert_eq!(ctx.remote.get("k"), b"12345");
    assert_eq!(ctx.remote.head("k").properties.metadata, Some(vec![("a".into(), "1".into())]));
    ctx.haul(&["mv", &key, &key]).code(252);
    assert_eq!(ctx.remote.get("k"), b"12345");
}

/// Paths written in two ways for one place: a move must not remove what it has just written.
fn trees_onto_themselves(ctx: &Ctx<'_>) {
    let big = trees::bytes(1, 6 * MIB);
    ctx.remote.put("p/big", &big);
    ctx.remote.put("p/small", b"12345");
    let (plain, slash) = (ctx.url("p"), ctx.url("p/"));
    for more in [&["--metadata", "a=1"][..], &["--storage-class", "STANDARD"], &[]] {
        for (source, target) in [(&plain, &slash), (&slash, &plain), (&plain, &plain)] {
            let args = [&["mv", "--recursive", source.as_str(), target.as_str()], more].concat();
            let done = ctx.haul_configured(SMALL_PARTS, &args).code_in(&[1, 252]);
            assert!(done.err().contains("onto itself"), "{}", done.report());
            assert_eq!(ctx.remote.keys(), ["p/big", "p/small"], "{}", done.report());
        }
    }
    ctx.haul(&["mv", &ctx.url("p/small"), &slash]).code(252);
    assert_eq!(ctx.remote.get("p/small"), b"12345");
    assert!(ctx.remote.get("p/big") == big, "a large object that was copied onto itself");
}

fn trees_between_buckets(ctx: &Ctx<'_>) {
    for key in ["p/a", "p/s/b", "p2/c", "p/s/no"] {
        ctx.remote.put(key, key.as_bytes());
    }
    let other = ctx.remote.sibling("other");
    let to = format!("s3://{}/new", other.name());
    let args = ["cp", "--recursive", &ctx.url("p"), &to, "--exclude", "*no"];
    let lines = ["a", "s/b"].map(|name| format!("copy: {}/{name} to {to}/{name}", ctx.url("p")));
    ctx.haul(&args).ok().prints(&lines);
    assert_eq!(other.keys(), ["new/a", "new/s/b"]);
    assert_eq!(other.get("new/s/b"), b"p/s/b");
    ctx.haul(&["cp", &ctx.url("p/a"), &format!("s3://{}", other.name())]).ok();
    assert_eq!(other.get("a"), b"p/a");
    ctx.haul(&["cp", &ctx.url("missing"), &to]).code(1);
}

fn source_keys_are_encoded(ctx: &Ctx<'_>) {
    for key in ["a b+c", "a%20b%2F", "é中😀?x=1&y#z", "a\nb;,\\\"'"] {
        ctx.remote.put(key, key.as_bytes());
        ctx.haul(&["cp", "--raw", &ctx.url(key), &ctx.url("copy")]).ok();
        assert_eq!(ctx.remote.get("copy"), key.as_bytes(), "{key:?}");
        ctx.haul(&["mv", "--raw", &ctx.url(key), &ctx.url("moved")]).ok();
        assert_eq!(ctx.remote.keys(), ["copy", "moved"], "{key:?}");
        ctx.remote.delete("moved");
    }
}
