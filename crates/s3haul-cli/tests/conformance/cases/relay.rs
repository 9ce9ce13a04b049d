//! Copies from one server to another, through the command.

use std::collections::BTreeMap;

use s3haul_wire::ObjectProperties;

use crate::command::Finished;
use crate::harness::{Ctx, cases};
use crate::remote::Remote;
use crate::servers::{Kind, Server};
use crate::tools;
use crate::trees::{self, MIB};

cases!["relay":
    trees_go_over_and_back,
    moves_and_syncs,
    readers_without_a_signature,
];

const SMALL_PARTS: &str = "multipart_threshold=5MB multipart_chunksize=5MB";

/// A server of another kind with another bucket.
fn other_kind(ctx: &Ctx<'_>) -> Kind {
    let is_installed = tools::find("S3HAUL_TEST_MINIO").is_some();
    if is_installed && ctx.server.kind() != Kind::Minio { Kind::Minio } else { Kind::EmbeddedDisk }
}

/// A second server and its bucket `far`.
struct Far<'a> {
    server: &'a Server,
    remote: Remote<'a>,
    flags: Vec<String>,
}

impl<'a> Far<'a> {
    fn new(ctx: &Ctx<'_>, server: &'a Server) -> Self {
        let remote = Remote::new(server, "far");
        remote.create_bucket();
        // A profile, so that both sides have credentials of their own.
        let path = ctx.path("credentials");
        let text = format!(
            "[far]\naws_access_key_id = {}\naws_secret_access_key = {}\n",
            server.access_key, server.secret_key
        );
        std::fs::write(path, text).unwrap();
        let flags = |side: &str| {
            let url = format!("--{side}-endpoint-url={}", server.url);
            [url, format!("--{side}-profile=far")]
        };
        let flags = [flags("target"), flags("source")].concat();
        Self { server, remote, flags }
    }

    /// Runs a command whose target is there.
    fn to(&self, ctx: &Ctx<'_>, args: &[&str]) -> Finished {
        run(ctx, args, &self.flags[..2])
    }

    /// Runs a command whose source is there.
    fn from(&self, ctx: &Ctx<'_>, args: &[&str]) -> Finished {
        run(ctx, args, &self.flags[2..])
    }
}

fn run(ctx: &Ctx<'_>, args: &[&str], flags: &[String]) -> Finished {
    ctx.haul_with(args)
        .args(flags)
        .variable("AWS_CONFIG_FILE", ctx.config(SMALL_PARTS))
        .variable("AWS_SHARED_CREDENTIALS_FILE", ctx.path("credentials"))
        .run()
}

fn carried() -> ObjectProperties {
    ObjectProperties {
        content_type: Some("text/x-test".to_owned()),
        content_language: Some("de".to_owned()),
        metadata: Some(vec![("first".to_owned(), "1".to_owned())]),
        tagging: Some("color=dark%20red&size=%2B1".to_owned()),
        ..ObjectProperties::default()
    }
}

fn assert_carried(remote: &Remote<'_>, key: &str) {
    let properties = remote.head(key).properties;
    assert_eq!(properties.content_type, carried().content_type, "{key}");
    assert_eq!(properties.content_language, carried().content_language, "{key}");
    assert_eq!(properties.metadata, carried().metadata, "{key}");
    let tags = [("color", "dark red"), ("size", "+1")];
    assert_eq!(remote.tags(key), tags.map(|(k, v)| (k.to_owned(), v.to_owned())), "{key}");
}

/// Odd keys and objects of all sizes.
fn objects() -> BTreeMap<String, Vec<u8>> {
    let keys = super::keys::ODD.iter();
    let mut objects: BTreeMap<String, Vec<u8>> =
        keys.map(|key| (format!("p/{key}"), key.as_bytes().to_vec())).collect();
    for (n, size) in [0, 1, 5 * MIB - 1, 5 * MIB, 5 * MIB + 1, 12 * MIB].into_iter().enumerate() {
        objects.insert(format!("p/sizes/{n}"), trees::bytes(n as u64 + 1, size));
    }
    objects
}

fn trees_go_over_and_back(ctx: &Ctx<'_>) {
    let server = Server::start(other_kind(ctx)).unwrap();
    let far = Far::new(ctx, &server);
    let expected = objects();
    for (key, bytes) in &expected {
        ctx.remote.put_with(key, bytes, &carried());
    }
    far.to(ctx, &["cp", "--recursive", &ctx.url("p"), "s3://far/p"]).ok();
    trees::assert_same(&far.remote.objects(), &expected);
    for key in expected.keys() {
        assert_carried(&far.remote, key);
    }
    far.from(ctx, &["cp", "--recursive", "s3://far/p", &ctx.url("back")]).ok();
    for (key, bytes) in &expected {
        let back = format!("back{}", &key[1..]);
        assert!(ctx.remote.get(&back) == *bytes, "{key:?}");
        assert_carried(&ctx.remote, &back);
    }
    assert_eq!(far.remote.uploads("p/sizes/5"), [""; 0]);
}

fn moves_and_syncs(ctx: &Ctx<'_>) {
    let server = Server::start(other_kind(ctx)).unwrap();
    let far = Far::new(ctx, &server);
    let expected = objects();
    for (key, bytes) in &expected {
        ctx.remote.put_with(key, bytes, &carried());
    }
    far.remote.put("p/gone", b"1");
    ctx.remote.put("p2/here", b"1");
    // One server lists whole seconds, the other milliseconds: copies of the same second look older.
    super::versions::a_second_between();
    let sync = ["sync", "--delete", &ctx.url("p"), "s3://far/p"];
    let output_text = far.to(ctx, &sync).ok().out();
    assert_eq!(output_text.matches("copy: ").count(), expected.len(), "{output_text}");
    assert_eq!(output_text.matches("delete: ").count(), 1, "{output_text}");
    trees::assert_same(&far.remote.objects(), &expected);
    assert_eq!(far.to(ctx, &sync).ok().lines(), [""; 0]);
    far.to(ctx, &["verify", &ctx.url("p"), "s3://far/p"]).ok();
    assert_eq!(ctx.remote.keys().len(), expected.len() + 1);

    far.from(ctx, &["mv", "--recursive", "s3://far/p", &ctx.url("moved")]).ok();
    assert_eq!(far.remote.keys(), [""; 0]);
    assert!(ctx.remote.get("moved/sizes/5") == expected["p/sizes/5"]);
    // Alike on both servers, and still two places.
    ctx.remote.put("k", b"12345");
    far.remote.put("other", b"1");
    let name = ctx.remote.name().to_owned();
    let there = Remote::new(far.server, &name);
    there.create_bucket();
    far.to(ctx, &["mv", &ctx.url("k"), &ctx.url("k")]).code_in(&[0, 1]);
    assert_eq!(there.get("k"), b"12345");
    // Reading and writing under one name of two loses nothing.
    let again = ctx.server.url.replace("127.0.0.1", "localhost");
    ctx.remote.put("same", b"12345");
    let url = format!("--target-endpoint-url={again}");
    ctx.haul(&["mv", &ctx.url("same"), &ctx.url("same"), &url]).code(1).says("not removed");
    assert_eq!(ctx.remote.get("same"), b"12345");
}

fn readers_without_a_signature(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"12345");
    let args = ["cp", &ctx.url("k"), &ctx.url("copy"), "--source-no-sign-request"];
    ctx.haul(&args).code(1).says("fatal error");
    ctx.haul(&["cp", "--stream", &ctx.url("k"), &ctx.url("copy")]).ok();
    assert_eq!(ctx.remote.get("copy"), b"12345");
}
