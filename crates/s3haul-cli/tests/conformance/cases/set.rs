//! `set` and `restore`.

use std::time::Duration;

use s3haul_wire::{LockMode, ObjectProperties};

use crate::harness::{Case, Ctx, cases};
use crate::servers::Kind;

cases!["set":
    headers_and_metadata,
    many_objects_and_odd_keys,
    storage_class,
    encryption,
    acl,
    object_lock,
    dry_runs_and_failures,
    killed_runs_are_gone_on_with,
    what_is_not_archived,
];

/// Cases for what only moto models.
pub(crate) const MOTO: &[Case] = &[Case { name: "set::archives", run: archives }];

fn carried() -> ObjectProperties {
    let text = |text: &str| Some(text.to_owned());
    ObjectProperties {
        content_type: text("text/x-test"),
        content_language: text("de"),
        cache_control: text("no-store"),
        metadata: Some(vec![("a".to_owned(), "1".to_owned()), ("b".to_owned(), "two".to_owned())]),
        tagging: text("t=1"),
        ..ObjectProperties::default()
    }
}

/// The content headers and metadata of an object, in short.
fn shown(ctx: &Ctx<'_>, key: &str) -> String {
    let properties = ctx.remote.head(key).properties;
    let metadata: Vec<_> = properties
        .metadata
        .iter()
        .flatten()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let headers = [properties.content_type, properties.content_language, properties.cache_control];
    format!("{:?} {}", headers.map(Option::unwrap_or_default), metadata.join(","))
}

fn headers_and_metadata(ctx: &Ctx<'_>) {
    ctx.remote.put_with("k", b"bytes", &carried());
    let url = ctx.url("k");
    let output_text = [format!("set: {url}")];
    for (change, expected) in [
        (&["--content-type", "image/png"][..], "[\"image/png\", \"de\", \"no-store\"] a=1,b=two"),
        (
            &["--add-metadata", "B=2,c=3", "--remove-metadata", "a"],
            "[\"image/png\", \"de\", \"no-store\"] b=2,c=3",
        ),
        (&["--metadata", "x=y"], "[\"image/png\", \"de\", \"no-store\"] x=y"),
        (&["--metadata="], "[\"image/png\", \"de\", \"no-store\"] "),
        (
            &["--cache-control", "max-age=1, public"],
            "[\"image/png\", \"de\", \"max-age=1, public\"] ",
        ),
    ] {
        ctx.haul(&[&["set", &url], change].concat()).ok().prints(&output_text);
        assert_eq!(shown(ctx, "k"), expected, "{change:?}");
        ctx.haul(&[&["set", &url], change].concat()).ok().prints(&[""; 0]);
    }
    // Servers return text that is not ASCII in forms of their own.
    for change in ["--add-metadata=c=ü 3", "--content-type=text/plain"] {
        ctx.haul(&["set", &url, change]).ok().prints(&output_text);
        ctx.haul(&["set", &url, "--add-metadata=c=ü 3"]).ok().prints(&[""; 0]);
    }
    if ctx.can(ctx.server.features.removes_headers, "removal of headers by a copy") {
        ctx.haul(&["set", &url, "--content-language="]).ok().prints(&output_text);
        assert_eq!(ctx.remote.head("k").properties.content_language, None);
        ctx.haul(&["set", &url, "--content-language="]).ok().prints(&[""; 0]);
    } else {
        let passed_over = ctx.haul(&["set", &url, "--content-language="]).code(2);
        passed_over.says("its metadata was not changed as requested");
    }
    let expires = ["set", &url, "--expires", "2031-10-21T07:28:00Z"];
    ctx.haul(&expires).ok().prints(&output_text);
    ctx.haul(&expires).ok().prints(&[""; 0]);
    assert_eq!(ctx.remote.tags("k"), [("t".to_owned(), "1".to_owned())]);
    assert_eq!(ctx.remote.get("k"), b"bytes");
    for nonsense in [&["--metadata", "a"][..], &["--content-type="], &[]] {
        ctx.haul(&[&["set", &url], nonsense].concat()).code(252);
    }
}

fn many_objects_and_odd_keys(ctx: &Ctx<'_>) {
    let mut keys =
        vec!["t/a b+c", "t/é/ü.txt", "t/<&>'\"", "t/100%/x=y&z", "t/#?*", "t/quoted,\"key\""];
    if ctx.server.features.empty_segments {
        keys.extend(["t//e", "t/folder/"]);
    }
    for key in &keys {
        ctx.remote.put_with(key, b"1", &carried());
    }
    ctx.remote.put("other", b"1");
    let all = ctx.url("t/");
    let change = ["set", "--recursive", &all, "--content-type", "image/png"];
    let expected: Vec<_> = keys.iter().map(|key| format!("set: {}", ctx.url(key))).collect();
    ctx.haul(&change).ok().prints(&expected);
    for key in keys {
        assert_eq!(shown(ctx, key), "[\"image/png\", \"de\", \"no-store\"] a=1,b=two", "{key}");
        assert_eq!(ctx.remote.get(key), b"1", "{key}");
        assert_eq!(ctx.remote.tags(key).len(), 1, "{key}");
    }
    assert_ne!(ctx.remote.head("other").properties.content_type.as_deref(), Some("image/png"));
    ctx.haul(&change).ok().prints(&[""; 0]);
    let chosen = ["--exclude", "*", "--include", "é*", "--content-language", "fr"];
    ctx.haul(&[&["set", "--recursive", all.as_str()], &chosen[..]].concat())
        .ok()
        .prints(&expected[1..2]);
}

fn storage_class(ctx: &Ctx<'_>) {
    ctx.remote.put_with("k", b"1", &carried());
    let url = ctx.url("k");
    let Some(class) = ctx.server.features.storage_class else {
        let failed = ctx.haul(&["set", &url, "--storage-class", "STANDARD_IA"]).code(1);
        failed.says("the server seems not to have this storage class");
        let change = ["set", &url, "--storage-class", "STANDARD_IA", "--content-type", "x/y"];
        ctx.haul(&change).code(2).says("its storage class was not changed as requested");
        return ctx.skip("the server has no storage classes");
    };
    let change = ["set", "--recursive", &ctx.url(""), "--storage-class", class];
    ctx.haul(&change).ok().prints(&[format!("set: {url}")]);
    assert_eq!(ctx.remote.head("k").properties.storage_class.as_deref(), Some(class));
    ctx.haul(&change).ok().prints(&[""; 0]);
    ctx.haul(&["set", &url, "--content-type", "image/png"]).ok();
    assert_eq!(ctx.remote.head("k").properties.storage_class.as_deref(), Some(class), "it is kept");
    assert_eq!(shown(ctx, "k"), "[\"image/png\", \"de\", \"no-store\"] a=1,b=two");
    assert_eq!(ctx.remote.tags("k").len(), 1);
    ctx.haul(&["set", &url, "--storage-class", "STANDARD"]).ok().prints(&[format!("set: {url}")]);
    ctx.haul(&["set", &url, "--storage-class", "STANDARD"]).ok().prints(&[""; 0]);
}

fn encryption(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"1");
    let url = ctx.url("k");
    if !ctx.can(ctx.server.features.encryption, "encryption") {
        ctx.haul(&["set", &url, "--sse"]).code(1).says(&format!("set failed: {url} "));
        return;
    }
    ctx.haul(&["set", &url, "--sse"]).ok().prints(&[format!("set: {url}")]);
    assert!(ctx.remote.head("k").properties.encryption.is_some());
    ctx.haul(&["set", &url, "--sse"]).ok().prints(&[""; 0]);
    ctx.haul(&["set", &url, "--cache-control", "no-store"]).ok();
    assert!(ctx.remote.head("k").properties.encryption.is_some(), "it is kept");
}

fn acl(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"1");
    let url = ctx.url("k");
    let public = ["set", &url, "--acl", "public-read"];
    if !ctx.can(ctx.server.features.acls, "ACLs of objects") {
        ctx.haul(&public).code(1).says("(NotImplemented)").says("hint: the server does not have");
        return;
    }
    let is_public = || {
        let acl = ctx.remote.wait(ctx.remote.client.get_object_acl(ctx.remote.name(), "k"));
        acl.is_canned("public-read") == Some(true)
    };
    ctx.haul(&public).ok().prints(&[format!("set: {url}")]);
    assert!(is_public());
    ctx.haul(&public).ok().prints(&[""; 0]);
    ctx.haul(&["set", &url, "--content-type", "image/png", "--keep-acl"]).ok();
    assert!(is_public());
    ctx.haul(&["set", &url, "--content-type", "text/plain"]).ok();
    assert!(!is_public(), "a copy resets it");
}

fn object_lock(ctx: &Ctx<'_>) {
    let bucket = format!("s3://{}-lock", ctx.bucket);
    let url = format!("{bucket}/k");
    ctx.haul(&["mb", "--object-lock", &bucket]).ok();
    ctx.haul_with(&["pipe", &url]).stdin(b"1").run().ok();
    let set = |args: &[&str]| ctx.haul(&[&["set", url.as_str()], args].concat());
    let locked = [format!("set: {url}")];
    let day = ["--retention", "governance", "--retain-until", "2099-01-02T00:00:00Z"];
    let sooner = ["--retention", "governance", "--retain-until", "2099-01-01T00:00:00Z"];
    set(&day).ok().prints(&locked);
    set(&day).ok().prints(&[""; 0]);
    set(&sooner).code(1);
    set(&[&sooner[..], &["--bypass-governance"]].concat()).ok().prints(&locked);
    set(&["--legal-hold", "on"]).ok().prints(&locked);
    set(&["--legal-hold", "on"]).ok().prints(&[""; 0]);
    // Without versions a locked object cannot be copied onto.
    if !matches!(ctx.server.kind(), Kind::Versitygw | Kind::VersitygwTls) {
        set(&["--content-type", "image/png"]).ok().prints(&locked);
    }
    let head = ctx.remote.wait(ctx.remote.client.head_object(s3haul_wire::ops::HeadObject {
        bucket: bucket.trim_start_matches("s3://"),
        key: "k",
        ..s3haul_wire::ops::HeadObject::default()
    }));
    let retention = head.properties.retention.unwrap();
    assert_eq!((retention.mode, retention.until_s), (LockMode::Governance, 4_070_908_800));
    assert_eq!(head.properties.legal_hold, Some(true));
    set(&["--legal-hold", "off"]).ok().prints(&locked);
    set(&["--legal-hold", "off"]).ok().prints(&[""; 0]);
    ctx.remote.put("k", b"1");
    let failed = ctx.haul(&["set", &ctx.url("k"), "--legal-hold", "on"]).code(1);
    failed.says("(InvalidRequest)").says("hint: object lock belongs to the bucket");
}

fn dry_runs_and_failures(ctx: &Ctx<'_>) {
    ctx.remote.put("d/a", b"1");
    let (url, all) = (ctx.url("d/a"), ctx.url("d/"));
    let change = ["--content-type", "image/png"];
    let dry =
        [&["set", "--recursive", all.as_str(), "--dryrun", "--estimate"], &change[..]].concat();
    let dry = ctx.haul(&dry).ok().prints(&[format!("(dryrun) set: {url}")]);
    dry.says("estimate: the command would send 2 PUT/COPY/POST/LIST, 2 GET/HEAD");
    assert_ne!(ctx.remote.head("d/a").properties.content_type.as_deref(), Some("image/png"));
    let none = ctx.url("d/none");
    let failed = [&["set", none.as_str(), "--report", "r.jsonl"], &change[..]].concat();
    ctx.haul(&failed).code(1).says(&format!("set failed: {none} An error occurred (404)"));
    ctx.remote.put("d/none", b"2");
    let again = [&["set", none.as_str(), "--retry-failed", "r.jsonl"], &change[..]].concat();
    ctx.haul(&again).ok().prints(&[format!("set: {none}")]);
    ctx.haul(&[&["set", none.as_str(), "--quiet"], &["--cache-control", "x"][..]].concat())
        .ok()
        .prints(&[""; 0]);
}

/// Whenever a run is killed, objects are as they were or as they shall be, and the next run ends
/// it.
fn killed_runs_are_gone_on_with(ctx: &Ctx<'_>) {
    let keys: Vec<_> = (0..60).map(|n| format!("t/{n:02}")).collect();
    for key in &keys {
        ctx.remote.put_with(key, b"bytes", &carried());
    }
    let all = ctx.url("t/");
    let change = ["set", "--recursive", &all, "--content-type", "image/png"];
    for ms in [10, 25, 40, 80, 120] {
        let config = ctx.config("max_concurrent_requests=2");
        let running = ctx.haul_with(&change).variable("AWS_CONFIG_FILE", config).start();
        std::thread::sleep(Duration::from_millis(ms));
        // It may have ended by now.
        drop(running);
        for key in [&keys[0], &keys[30]] {
            let output_text = shown(ctx, key);
            assert!(output_text.ends_with("\"de\", \"no-store\"] a=1,b=two"), "{output_text}");
        }
    }
    ctx.haul(&change).ok();
    ctx.haul(&change).ok().prints(&[""; 0]);
    for key in &keys {
        assert_eq!(shown(ctx, key), "[\"image/png\", \"de\", \"no-store\"] a=1,b=two", "{key}");
        assert_eq!(ctx.remote.tags(key).len(), 1, "{key}");
        assert_eq!(ctx.remote.get(key), b"bytes", "{key}");
    }
}

/// What is in no archive needs no restore, on no server.
fn what_is_not_archived(ctx: &Ctx<'_>) {
    ctx.remote.put("d/a", b"1");
    let (url, all) = (ctx.url("d/a"), ctx.url("d/"));
    ctx.haul(&["restore", "--recursive", &all, "--days", "1", "--wait"]).ok().prints(&[""; 0]);
    let status = ctx.haul(&["restore", "--recursive", &all, "--status"]).ok();
    status.prints(&[format!("{url}\tnot archived")]);
    ctx.haul(&["restore", &url, "--days", "1"]).ok().prints(&[""; 0]);
    let missing = ctx.haul(&["restore", &ctx.url("none"), "--status"]).code(1);
    missing.says("restore failed: ");
    ctx.haul(&["restore", &url]).code(252);
}

fn archives(ctx: &Ctx<'_>) {
    for (key, class) in [("t/deep", "DEEP_ARCHIVE"), ("t/frozen", "GLACIER")] {
        let properties = ObjectProperties {
            storage_class: Some(class.to_owned()),
            ..ObjectProperties::default()
        };
        ctx.remote.put_with(key, b"frozen", &properties);
    }
    ctx.remote.put("t/warm", b"1");
    let (all, deep, frozen) = (ctx.url("t/"), ctx.url("t/deep"), ctx.url("t/frozen"));
    let failed = ctx.haul(&["set", &frozen, "--content-type", "x/y"]).code(1);
    failed.says("the object is archived (GLACIER): restore it first, with `s3haul restore`");
    let status = ["restore", "--recursive", &all, "--status"];
    let warm = format!("{}\tnot archived", ctx.url("t/warm"));
    let archived = [&deep, &frozen].map(|url| format!("{url}\tarchived"));
    ctx.haul(&status).ok().prints(&[&archived[..], &[warm]].concat());
    let begin = ["restore", "--recursive", &all, "--days", "2", "--tier", "bulk"];
    ctx.haul(&begin).ok().prints(&[&deep, &frozen].map(|url| format!("restore: {url}")));
    let output_text = ctx.haul(&status).ok().out();
    if !output_text.contains("restored until") {
        // moto models the begin of a restore; some releases also its end.
        assert_eq!(output_text.matches("in progress").count(), 2, "{output_text}");
        return ctx.skip("this moto does not end a restore");
    }
    ctx.haul(&[&begin[..], &["--wait"]].concat()).ok();
    ctx.haul(&["set", &frozen, "--storage-class", "STANDARD"]).ok();
    ctx.haul(&["cp", &frozen, "f"]).ok();
    assert_eq!(std::fs::read(ctx.path("f")).unwrap(), b"frozen");
}
