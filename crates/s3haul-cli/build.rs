//! How the released binary is linked.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    if folds_identical_code() {
        println!("cargo::rustc-link-arg-bin=s3haul=-Wl,--icf=all");
    }
}

/// Whether functions of the same machine code become one, which makes the binary smaller and
/// nothing slower. The linker that the toolchain brings for this target can do it; one that
/// somebody chose may not. Only code is folded; nothing depends on two functions' addresses being
/// different.
fn folds_identical_code() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let is_unset = |name: &str| env::var(name).map_or(true, |it| it.is_empty());
    is("PROFILE", "release")
        && is("TARGET", "x86_64-unknown-linux-gnu")
        && is("HOST", "x86_64-unknown-linux-gnu")
        && is_unset("RUSTC_LINKER")
        && is_unset("CARGO_ENCODED_RUSTFLAGS")
}
