//! Folders and archives that come out the same wherever they are made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use support::{files, process};

use crate::builders;

/// Of the package, which all crates share.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The list of all files with their digests.
pub(super) const SUMS: &str = "SHA256SUMS";

/// Names in a folder, in order.
pub(super) fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// The one file of a folder whose name ends so.
pub(super) fn package(folder: &Path, end: &str) -> Result<PathBuf> {
    let names = names(folder).context("there are no packages: `cargo xtask dist` makes them")?;
    match &names.iter().filter(|name| name.ends_with(end)).collect::<Vec<_>>()[..] {
        [name] => Ok(folder.join(name)),
        found => bail!("one file should end with `{end}` in {}: {found:?}", folder.display()),
    }
}

/// An empty folder.
pub(super) fn fresh(folder: &Path) -> Result<PathBuf> {
    files::remove(folder)?;
    fs::create_dir_all(folder)
        .with_context(|| format!("could not create `{}`", folder.display()))?;
    Ok(folder.to_owned())
}

/// `tar` with what makes archives of the same files equal; its owner and files follow.
pub(super) fn tar(mode: &str, archive: &Path, parent: &Path) -> Result<Command> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--format=gnu", "--numeric-owner", "--mtime"]);
    tar.arg(format!("@{}", builders::epoch()?)).arg(mode).arg(archive).arg("-C").arg(parent);
    Ok(tar)
}

/// Compresses a file, without its name and time; it then ends with `.gz`.
pub(super) fn gzip(path: &Path) -> Result<()> {
    process::run_quietly(Command::new("gzip").arg("-9n").arg(path)).map(drop)
}

/// SHA-256 of a file in hexadecimal digits.
pub(super) fn sha256(path: &Path) -> Result<String> {
    let line = process::run_quietly(Command::new("sha256sum").arg(path))?;
    Ok(line.split_whitespace().next().unwrap_or_default().to_owned())
}

/// Readable by all, writable by their owner, whatever the umask was.
pub(super) fn set_modes(folder: &Path) -> Result<()> {
    process::run_quietly(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(folder)).map(drop)
}
