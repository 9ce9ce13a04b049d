//! `cargo xtask dist`: what a release consists of, in `target/dist`.
//!
//! For each target that cargo can build for: the command as an archive and as a Debian package for
//! any Linux since glibc 2.17, and the wheel. For this machine's architecture also an OCI image.
//! Each holds the list of its crates. The same commit gives the same bytes, in any folder.

mod check;
mod files;
mod image;
mod notices;
mod reproduce;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use support::{process, term};

use self::files::{SUMS, fresh, names};
use crate::{builders, docs, python};

/// What is done.
#[derive(clap::Args)]
#[group(multiple = false)]
pub(crate) struct Arguments {
    /// Package a command that `cargo auditable` built, to look at the packages
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Try each package in a clean root, as root
    #[arg(long)]
    check: bool,
    /// Build a clone of the commit elsewhere and compare the bytes
    #[arg(long)]
    reproduce: bool,
}

/// Packages what is built, or tries what was packaged.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match arguments {
        Arguments { check: true, .. } => check::run(&folder()),
        Arguments { reproduce: true, .. } => reproduce::run(&folder()),
        Arguments { binary: Some(path), .. } => packages(Some(&std::path::absolute(path)?)),
        _ => packages(None),
    }
}

/// Where packages go.
fn folder() -> PathBuf {
    process::target().join("dist")
}

fn packages(binary: Option<&Path>) -> Result<()> {
    let folder = fresh(&folder())?;
    let manual = fresh(&process::target().join("man"))?;
    docs::man()?;
    let here = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut built = Vec::new();
    match binary {
        Some(binary) => built.push((here.as_str(), binary.to_owned())),
        None => {
            for target in builders::targets("dist") {
                built.push((target, builders::command(target)?));
            }
        }
    }
    let runs_here = built.iter().find(|(target, _)| *target == here);
    let (_, runs_here) = runs_here.with_context(|| format!("nothing is built for {here}"))?;
    for (target, binary) in &built {
        let machine = target.split('-').next().unwrap_or_default();
        let tree = tree::Tree::stage(machine, binary, runs_here, &manual)?;
        tree.archive(&folder)?;
        tree.debian(&folder)?;
        if *target == here {
            image::write(&tree, &folder)?;
        }
    }
    if binary.is_none() {
        for wheel in python::wheel()? {
            let name = wheel.file_name().context("a wheel has no name")?;
            fs::copy(&wheel, folder.join(name))?;
        }
    }
    let names = names(&folder)?;
    let mut sums = Command::new("sha256sum");
    let sums = process::run_quietly(sums.current_dir(&folder).args(&names))?;
    fs::write(folder.join(SUMS), &sums)?;
    for name in &names {
        let bytes = fs::metadata(folder.join(name))?.len();
        term::good(&format!("{}: {bytes} bytes", folder.join(name).display()));
    }
    Ok(())
}
