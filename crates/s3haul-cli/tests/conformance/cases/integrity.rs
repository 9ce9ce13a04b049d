//! Bytes that rot on the server's disk never arrive as a file.

use std::fs;

use crate::harness::{Ctx, cases};
use crate::trees::{self, MIB};

cases!["integrity":
    a_flipped_byte_fails_the_download,
    a_flipped_byte_fails_one_of_a_tree,
];

/// Changes one byte of an object in the server's data folder.
fn flip(ctx: &Ctx<'_>, key: &str) {
    let path = ctx.server.data().join(&ctx.bucket).join(key);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    let inode = |path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let before = inode(&path);
    fs::write(&path, bytes).unwrap();
    assert_eq!(inode(&path), before, "the same file, with its attributes");
}

fn a_flipped_byte_fails_the_download(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.plain_files, "plain files that could rot") {
        return;
    }
    for (name, size) in [("small", 1_000), ("big", 20 * MIB)] {
        ctx.file(name, &trees::bytes(1, size));
        ctx.haul(&["cp", name, &ctx.url(name)]).ok();
        flip(ctx, name);
        let done = ctx.haul(&["cp", &ctx.url(name), "down/got"]).code(1);
        assert!(done.err().contains("download failed"), "{}", done.report());
        assert!(!ctx.path("down").exists() || trees::names(&ctx.path("down")).is_empty(), "{name}");
        ctx.file("kept", b"old bytes");
        ctx.haul(&["cp", &ctx.url(name), "kept"]).code(1);
        assert_eq!(fs::read(ctx.path("kept")).unwrap(), b"old bytes");
        ctx.haul(&["cat", &ctx.url(name)]).code_in(&[1, 255]);
    }
}

fn a_flipped_byte_fails_one_of_a_tree(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.plain_files, "plain files that could rot") {
        return;
    }
    for name in ["a", "b", "c"] {
        ctx.file(&format!("t/{name}"), &trees::bytes(2, 50_000));
    }
    ctx.haul(&["cp", "--recursive", "t", &ctx.url("t")]).ok();
    flip(ctx, "t/b");
    let done = ctx.haul(&["mv", "--recursive", &ctx.url("t"), "down"]).code(1);
    assert!(done.err().contains("t/b"), "{}", done.report());
    assert_eq!(trees::names(&ctx.path("down")), ["a", "c"]);
    assert_eq!(ctx.remote.keys(), ["t/b"], "what did not arrive stays at its source");
}
