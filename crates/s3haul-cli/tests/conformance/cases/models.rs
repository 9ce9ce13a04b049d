//! What only moto models: archive classes, KMS key ids, ACLs and grants, request payer.

use s3haul_wire::{Encryption, ObjectProperties};

use crate::harness::{Ctx, cases};
use crate::trees;

cases!["models":
    archived_objects_are_skipped,
    restored_objects_are_read,
    kms_key_id,
    canned_acl_and_grants,
    website_redirect,
    request_payer,
    customer_key,
    proofs_of_objects_in_parts,
];

fn archive(ctx: &Ctx<'_>, key: &str, class: &str) {
    let properties =
        ObjectProperties { storage_class: Some(class.to_owned()), ..ObjectProperties::default() };
    ctx.remote.put_with(key, b"frozen", &properties);
}

fn archived_objects_are_skipped(ctx: &Ctx<'_>) {
    archive(ctx, "t/frozen", "GLACIER");
    archive(ctx, "t/deep", "DEEP_ARCHIVE");
    archive(ctx, "t/instant", "GLACIER_IR");
    ctx.remote.put("t/warm", b"warm");
    let done = ctx.haul(&["cp", "--recursive", &ctx.url("t"), "t"]).code(2);
    assert!(done.err().contains("warning: Skipping file") && done.err().contains("t/frozen"));
    assert_eq!(trees::names(&ctx.path("t")), ["instant", "warm"]);
    ctx.haul(&["cp", &ctx.url("t/frozen"), "single"]).code(2);
    ctx.haul(&["cp", "--recursive", &ctx.url("t"), &ctx.url("copy")]).code(2);
    ctx.haul(&["mv", "--recursive", &ctx.url("t"), "moved"]).code(2);
    assert!(ctx.remote.keys().contains(&"t/frozen".to_owned()));
    let quiet = ["cp", "--recursive", "--ignore-glacier-warnings", &ctx.url("t"), "u"];
    let done = ctx.haul(&quiet).ok();
    assert_eq!(done.err(), "");
    // Forced, the request is sent and the server refuses it.
    ctx.haul(&["cp", "--force-glacier-transfer", &ctx.url("t/frozen"), "forced"]).code(1);
    assert!(!ctx.path("forced").exists() && !ctx.path("single").exists());
    // Objects may be sent to the archive.
    ctx.file("f", b"1");
    ctx.haul(&["cp", "f", &ctx.url("new"), "--storage-class", "GLACIER"]).ok();
    let returned = ctx.remote.head("new").properties.storage_class;
    assert_eq!(returned.as_deref(), Some("GLACIER"));
}

fn restored_objects_are_read(ctx: &Ctx<'_>) {
    archive(ctx, "t/k", "GLACIER");
    let script = "s3.restore_object(Bucket=bucket, Key='t/k', RestoreRequest={'Days': 1})\n\
        print(s3.head_object(Bucket=bucket, Key='t/k').get('Restore'))";
    let Some(restored) = ctx.python(script) else { return };
    if !restored.out().contains("ongoing-request=\"false\"") {
        // moto models the begin of a restore; some releases also its end.
        ctx.haul(&["cp", &ctx.url("t/k"), "early"]).code(2);
        return ctx.skip("this moto does not end a restore");
    }
    ctx.haul(&["cp", &ctx.url("t/k"), "single"]).ok();
    assert_eq!(std::fs::read(ctx.path("single")).unwrap(), b"frozen");
}

fn kms_key_id(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let args = ["cp", "f", &ctx.url("k"), "--sse", "aws:kms", "--sse-kms-key-id", "key-1"];
    ctx.haul(&args).ok();
    let returned = ctx.remote.head("k").properties.encryption;
    assert_eq!(returned, Some(Encryption::Kms { key_id: Some("key-1".to_owned()) }));
    ctx.haul(&["cp", "f", &ctx.url("s3"), "--sse", "AES256"]).ok();
    assert_eq!(ctx.remote.head("s3").properties.encryption, Some(Encryption::Aes256));
    ctx.haul(&["cp", "f", &ctx.url("x"), "--sse", "rot13"]).code(252);
}

fn grants(ctx: &Ctx<'_>, key: &str) -> Option<String> {
    let script = format!(
        "for g in s3.get_object_acl(Bucket=bucket, Key='{key}')['Grants']:\n\
         \x20   print(g['Permission'], g['Grantee'].get('URI', ''))"
    );
    Some(ctx.python(&script)?.ok().out())
}

fn canned_acl_and_grants(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let everyone = "http://acs.amazonaws.com/groups/global/AllUsers";
    ctx.haul(&["cp", "f", &ctx.url("canned"), "--acl", "public-read"]).ok();
    let Some(returned) = grants(ctx, "canned") else { return };
    assert!(returned.contains(&format!("READ {everyone}")), "{returned}");
    let grant = format!("read=uri={everyone}");
    ctx.haul(&["cp", "f", &ctx.url("granted"), "--grants", &grant]).ok();
    let returned = grants(ctx, "granted").unwrap();
    assert!(returned.contains(&format!("READ {everyone}")), "{returned}");
    ctx.haul(&["cp", "f", &ctx.url("x"), "--acl", "everybody"]).code(252);
}

fn website_redirect(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    ctx.haul(&["cp", "f", &ctx.url("k"), "--website-redirect", "/there"]).ok();
    assert_eq!(ctx.remote.head("k").properties.website_redirect.as_deref(), Some("/there"));
}

fn request_payer(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    for payer in [&["--request-payer"][..], &["--request-payer", "requester"]] {
        ctx.haul(&[&["cp", "f", &ctx.url("k")], payer].concat()).ok();
        ctx.haul(&[&["cp", &ctx.url("k"), "g"], payer].concat()).ok();
        ctx.haul(&[&["ls", &ctx.url("")], payer].concat()).ok();
        ctx.haul(&[&["rm", &ctx.url("k")], payer].concat()).ok();
    }
}

fn customer_key(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let sse = ["--sse-c", "AES256", "--sse-c-key", "0123456789abcdef0123456789abcdef"];
    // moto stores the object as it came and says nothing of a key: that is no success.
    let put = ctx.haul(&[&["mv", "f", &ctx.url("k")], &sse[..]].concat()).code(1);
    assert!(put.err().contains("ignores the requested encryption"), "{}", put.report());
    assert_eq!(std::fs::read(ctx.path("f")).unwrap(), b"1");
    ctx.haul(&[&["cp", &ctx.url("k"), "g"], &sse[..]].concat()).ok();
    assert_eq!(std::fs::read(ctx.path("g")).unwrap(), b"1");
}

/// moto answers a HEAD of one part with the `ETag` of that part.
fn proofs_of_objects_in_parts(ctx: &Ctx<'_>) {
    let content = trees::bytes(5, 12 * trees::MIB);
    ctx.file("f/large", &content);
    let script = "from boto3.s3.transfer import TransferConfig\n\
        for root, size in (('a', 5 << 20), ('b', 6 << 20)):\n    \
        parts = TransferConfig(multipart_threshold=size, multipart_chunksize=size)\n    \
        s3.upload_file('f/large', bucket, root + '/large', Config=parts)";
    let Some(uploaded) = ctx.python(script) else { return };
    uploaded.ok();
    let (left, right) = (ctx.url("a"), ctx.url("b"));
    for (source, target) in [("f", left.as_str()), (right.as_str(), "f"), (&left, &right)] {
        for command in [&["verify"][..], &["compare", "--checksum"]] {
            let done = ctx.haul(&[command, &[source, target]].concat()).ok();
            assert!(done.out().contains("Same: 1"), "{}", done.report());
        }
    }
    ctx.file("f/large", &[&content[..100], b"!", &content[101..]].concat());
    for target in [&left, &right] {
        let done = ctx.haul(&["verify", "f", target]).code(1);
        assert!(done.out().contains("different"), "{}", done.report());
    }
}
