//! Whether another folder gives the same bytes: the commit is cloned, packaged there, and compared.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use support::{files, process, term};

use super::files::{SUMS, fresh};

/// Packages a clone of the commit and compares its files with those of `packages`.
pub(super) fn run(packages: &Path) -> Result<()> {
    let mut status = Command::new("git");
    status.current_dir(process::root()).args(["status", "--porcelain", "--untracked-files=no"]);
    if !process::run_quietly(&mut status)?.is_empty() {
        bail!("what is not committed cannot be built elsewhere: commit it first");
    }
    let held = sums(packages).context("`cargo xtask dist` makes what is compared")?;
    let folder = fresh(&process::target().join("dist-again"))?;
    let source = folder.join("another/folder");
    let mut clone = Command::new("git");
    process::run_quietly(clone.args(["clone", "-q"]).arg(process::root()).arg(&source))?;
    let target = folder.join("build");
    fs::create_dir(&target)?;
    // The compilers are the same; everything that they make is made anew.
    symlink(process::target().join("tools"), target.join("tools"))?;
    let mut again = Command::new(std::env::current_exe()?);
    // The folder of the sources is the one cargo names.
    again.arg("dist").env("CARGO_MANIFEST_DIR", source.join("tools/xtask"));
    process::run(again.current_dir(&source).env("CARGO_TARGET_DIR", &target))?;
    let differences = differences(&held, &sums(&target.join("dist"))?);
    if !differences.is_empty() {
        bail!("another folder gives other bytes: {}", differences.join(", "));
    }
    term::good(&format!("{} files have the same bytes from another folder", held.len()));
    files::remove(&folder)
}

/// Digests by the name of the file.
fn sums(packages: &Path) -> Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(packages.join(SUMS))?;
    let lines = text.lines().filter_map(|line| line.split_once("  "));
    Ok(lines.map(|(digest, name)| (name.to_owned(), digest.to_owned())).collect())
}

/// Names that only one side has, or with another digest.
fn differences(held: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<_> = held.keys().chain(found.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let names = names.into_iter().filter(|name| held.get(*name) != found.get(*name));
    names.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_differ_or_are_missing_are_named() {
        let sums = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, digest)| ((*name).into(), (*digest).into())).collect()
        };
        let held = sums(&[("a", "1"), ("b", "2"), ("c", "3")]);
        assert_eq!(differences(&held, &held), [""; 0]);
        assert_eq!(
            differences(&held, &sums(&[("a", "1"), ("b", "9"), ("d", "3")])),
            ["b", "c", "d"]
        );
    }
}
