//! Trusted servers over TLS.

use crate::harness::{Ctx, cases};

cases!["secure":
    an_unknown_authority_is_refused,
    the_authority_may_be_named,
    verification_can_be_switched_off,
];

fn an_unknown_authority_is_refused(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let run = |args: &[&str]| ctx.haul_with(args).without("AWS_CA_BUNDLE").run();
    let done = run(&["cp", "f", &ctx.url("k")]).code(1);
    assert!(done.err().to_lowercase().contains("certificate"), "{}", done.report());
    let done = run(&["ls", &ctx.url("")]).code_in(&[254, 255]);
    assert!(done.err().to_lowercase().contains("certificate"), "{}", done.report());
    assert_eq!(ctx.remote.keys(), [""; 0]);
}

fn the_authority_may_be_named(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let authority = ctx.server.authority().unwrap();
    let args = ["cp", "f", &ctx.url("k"), "--ca-bundle", authority.to_str().unwrap()];
    ctx.haul_with(&args).without("AWS_CA_BUNDLE").run().ok();
    assert_eq!(ctx.remote.keys(), ["k"]);
}

fn verification_can_be_switched_off(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let args = ["cp", "f", &ctx.url("k"), "--no-verify-ssl"];
    ctx.haul_with(&args).without("AWS_CA_BUNDLE").run().ok();
    ctx.haul_with(&["ls", &ctx.url(""), "--no-verify-ssl"]).without("AWS_CA_BUNDLE").run().ok();
    assert_eq!(ctx.remote.keys(), ["k"]);
}
