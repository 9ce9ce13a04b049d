//! What an object carries beside its bytes, set on the way up.

use s3haul_wire::{ChecksumAlgorithm, ObjectProperties};

use crate::harness::{Ctx, cases};
use crate::trees::{self, MIB};

cases!["properties":
    headers_and_metadata,
    headers_of_a_stream_and_a_tree,
    storage_class,
    encryption,
    checksum_algorithms,
    checksums_of_parts,
    checksums_only_when_required,
];

const SET: &[&str] = &[
    "--content-type",
    "application/x-test",
    "--content-encoding",
    "gzip",
    "--content-language",
    "de",
    "--content-disposition",
    "attachment; filename=\"a b.txt\"",
    "--cache-control",
    "max-age=60, public",
    "--expires",
    "2031-10-21T07:28:00Z",
    "--metadata",
    "first=1,Second=two words",
];

fn assert_set(properties: &ObjectProperties) {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    assert_eq!(text(&properties.content_type), "application/x-test");
    assert_eq!(text(&properties.content_encoding), "gzip");
    assert_eq!(text(&properties.content_language), "de");
    assert_eq!(text(&properties.content_disposition), "attachment; filename=\"a b.txt\"");
    assert_eq!(text(&properties.cache_control), "max-age=60, public");
    let expires = text(&properties.expires);
    assert!(
        expires.contains("21 Oct 2031 07:28:00") || expires.contains("2031-10-21"),
        "{expires}"
    );
    let mut metadata = properties.metadata.clone().unwrap_or_default();
    metadata.sort();
    let expected = [("first", "1"), ("second", "two words")];
    assert_eq!(metadata, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
}

fn headers_and_metadata(ctx: &Ctx<'_>) {
    for (name, size) in [("small.txt", 10), ("big.txt", 9 * MIB)] {
        let bytes = trees::bytes(1, size);
        ctx.file(name, &bytes);
        ctx.haul(&[&["cp", name, &ctx.url(name)], SET].concat()).ok();
        assert_set(&ctx.remote.head(name).properties);
        // Bytes marked as compressed come back as they are.
        ctx.haul(&["cp", &ctx.url(name), "back"]).ok();
        assert!(std::fs::read(ctx.path("back")).unwrap() == bytes, "{name}");
    }
}

fn headers_of_a_stream_and_a_tree(ctx: &Ctx<'_>) {
    ctx.haul_with(&[&["cp", "-", &ctx.url("stream")], SET].concat()).stdin(b"1").run().ok();
    assert_set(&ctx.remote.head("stream").properties);
    ctx.file("t/a", b"1");
    ctx.file("t/b", b"2");
    ctx.haul(&[&["cp", "--recursive", "t", &ctx.url("t")], SET].concat()).ok();
    assert_set(&ctx.remote.head("t/a").properties);
    assert_set(&ctx.remote.head("t/b").properties);
}

fn storage_class(ctx: &Ctx<'_>) {
    let Some(class) = ctx.server.features.storage_class else {
        return ctx.skip("the server has no storage classes");
    };
    for (name, size) in [("small", 10), ("big", 9 * MIB)] {
        ctx.file(name, &trees::bytes(1, size));
        ctx.haul(&["cp", name, &ctx.url(name), "--storage-class", class]).ok();
        let returned = ctx.remote.head(name).properties.storage_class;
        assert_eq!(returned.as_deref(), Some(class), "{name}");
    }
    ctx.haul(&["cp", "small", &ctx.url("x"), "--storage-class", "NOT_A_CLASS"]).code(252);
}

fn encryption(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.encryption, "encryption") {
        return;
    }
    for (name, size) in [("small", 10), ("big", 9 * MIB)] {
        ctx.file(name, &trees::bytes(1, size));
        ctx.haul(&["cp", name, &ctx.url(name), "--sse"]).ok();
        let returned = ctx.remote.head(name).properties.encryption;
        assert!(returned.is_some(), "{name}");
    }
}

const ALGORITHMS: [(&str, ChecksumAlgorithm); 5] = [
    ("CRC64NVME", ChecksumAlgorithm::Crc64Nvme),
    ("CRC32", ChecksumAlgorithm::Crc32),
    ("CRC32C", ChecksumAlgorithm::Crc32c),
    ("SHA1", ChecksumAlgorithm::Sha1),
    ("SHA256", ChecksumAlgorithm::Sha256),
];

fn checksum_algorithms(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.checksums, "stored checksums") {
        return;
    }
    ctx.file("f", b"hello");
    for (name, algorithm) in ALGORITHMS {
        ctx.haul(&["cp", "f", &ctx.url(name), "--checksum-algorithm", name]).ok();
        let returned = ctx.remote.head(name).checksums;
        assert!(returned.iter().any(|c| c.algorithm == algorithm), "{name}: {returned:?}");
        ctx.haul(&["cp", "--checksum-mode", "ENABLED", &ctx.url(name), name]).ok();
        assert_eq!(std::fs::read(ctx.path(name)).unwrap(), b"hello");
    }
    // Known values, so that two wrongs do not make a right.
    let value = |key: &str| ctx.remote.head(key).checksums[0].value.clone();
    assert_eq!(value("CRC32"), "NhCmhg==");
    assert_eq!(value("SHA1"), "qvTGHdzF6KLavt4PO0gs2a6pQ00=");
    ctx.haul(&["cp", "f", &ctx.url("default")]).ok();
    let returned = ctx.remote.head("default").checksums;
    assert!(returned.iter().any(|c| c.algorithm == ChecksumAlgorithm::Crc64Nvme), "{returned:?}");
}

fn checksums_of_parts(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.checksums, "stored checksums") {
        return;
    }
    let bytes = trees::bytes(7, 11 * MIB);
    ctx.file("f", &bytes);
    for (name, algorithm) in ALGORITHMS {
        let up = ["cp", "f", &ctx.url(name), "--checksum-algorithm", name];
        ctx.haul_configured("multipart_chunksize=5MB", &up).ok();
        let returned = ctx.remote.head(name).checksums;
        assert!(returned.iter().any(|c| c.algorithm == algorithm), "{name}: {returned:?}");
        let down = ["cp", "--checksum-mode", "ENABLED", &ctx.url(name), name];
        ctx.haul_configured("multipart_chunksize=6MB", &down).ok();
        assert!(std::fs::read(ctx.path(name)).unwrap() == bytes, "{name}");
    }
}

fn checksums_only_when_required(ctx: &Ctx<'_>) {
    ctx.file("small", b"1");
    ctx.file("big", &trees::bytes(1, 9 * MIB));
    for name in ["small", "big"] {
        let up = ctx.haul_with(&["cp", name, &ctx.url(name)]);
        up.variable("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required").run().ok();
        let down = ctx.haul_with(&["cp", &ctx.url(name), "back"]);
        down.variable("AWS_RESPONSE_CHECKSUM_VALIDATION", "when_required").run().ok();
        let same =
            std::fs::read(ctx.path("back")).unwrap() == std::fs::read(ctx.path(name)).unwrap();
        assert!(same, "{name}");
    }
}
