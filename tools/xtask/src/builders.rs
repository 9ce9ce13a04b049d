//! What builds releases: Zig's compiler, which knows old C libraries, and flags that keep this
//! machine's paths and clock out of what is built.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use support::install::{Environment, Folder, Program};
use support::{process, term};

const ENVIRONMENT: Environment = Environment {
    about: "maturin, cargo-zigbuild and Zig's compiler",
    file: "tools/support/requirements-dist.txt",
    packages: include_str!("../../support/requirements-dist.txt"),
};

/// Writes the list of crates into the binary.
const AUDITABLE: Program =
    Program { name: "cargo-auditable", package: "cargo-auditable", version: "0.7.7" };

/// Reads that list as an SBOM.
const AUDITABLE_TO_SBOM: Program =
    Program { name: "auditable2cdx", package: "auditable2cdx", version: "0.1.0" };

/// What releases are built for, where cargo can.
pub(crate) const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// The oldest glibc that the command runs with: that of every Linux since 2014.
pub(crate) const GLIBC: &str = "2.17";

/// Those of [`TARGETS`] that cargo can build for here; says how to add the others.
pub(crate) fn targets(task: &str) -> Vec<&'static str> {
    let installed =
        process::run_quietly(Command::new("rustup").args(["target", "list", "--installed"]));
    let installed = installed.unwrap_or_default();
    let is_here = |target: &&str| {
        let is_here = installed.lines().any(|line| line == *target);
        if !is_here {
            term::line(&format!("{task}: no {target} here: `rustup target add {target}` adds it"));
        }
        is_here
    };
    TARGETS.into_iter().filter(is_here).collect()
}

/// The Python that has maturin and Zig.
pub(crate) fn python() -> Result<PathBuf> {
    let folder = Folder::new("tools");
    folder.need_python(&ENVIRONMENT)?;
    Ok(folder.venv().join("bin/python"))
}

/// Builds the command for a target, with the list of its crates in it.
pub(crate) fn command(target: &str) -> Result<PathBuf> {
    let python = python()?;
    let mut cargo = process::cargo(&["auditable", "zigbuild", "--release", "--locked"]);
    cargo.args(["-p", "s3haul-cli", "--bin", "s3haul"]);
    cargo.arg("--target").arg(format!("{target}.{GLIBC}"));
    let auditable = Folder::new("tools").need_with_cargo(&AUDITABLE, &["--debug"])?;
    process::search_first(&mut cargo, &[parent(&python)?, parent(&auditable)?])?;
    reproducible(&mut cargo)?;
    process::run(&mut cargo)?;
    Ok(process::target().join(target).join("release/s3haul"))
}

/// The crates in a binary that [`command`] built, as `CycloneDX` JSON.
pub(crate) fn sbom(binary: &Path) -> Result<String> {
    let program = Folder::new("tools").need_with_cargo(&AUDITABLE_TO_SBOM, &["--debug"])?;
    process::run_quietly(Command::new(program).arg(binary))
}

fn parent(path: &Path) -> Result<&Path> {
    path.parent().context("a program lies in no folder")
}

/// Has a build give the same bytes in every folder and at every time: paths are replaced in what
/// is compiled, and the commit's time stands for now.
pub(crate) fn reproducible(command: &mut Command) -> Result<()> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    let places = [(home, "/cargo"), (process::root(), "/s3haul"), (process::target(), "/target")];
    let flags = |flag: &str| {
        let flags = places.iter().map(|(from, to)| format!("{flag}={}={to}", from.display()));
        flags.collect::<Vec<_>>().join(" ")
    };
    command.env("RUSTFLAGS", flags("--remap-path-prefix"));
    command.env("TARGET_CFLAGS", flags("-ffile-prefix-map"));
    command.env("SOURCE_DATE_EPOCH", epoch()?);
    Ok(())
}

/// The commit's time in seconds, or that of `SOURCE_DATE_EPOCH`.
pub(crate) fn epoch() -> Result<String> {
    if let Ok(epoch) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(epoch);
    }
    let mut git = Command::new("git");
    git.current_dir(process::root()).args(["log", "-1", "--format=%ct"]);
    Ok(process::run_quietly(&mut git)?.trim().to_owned())
}
