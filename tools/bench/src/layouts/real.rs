//! Keys that were not made for a benchmark: paths of files.
//!
//! Debian's package manager fetches its lists of files from the mirror this machine is set up
//! with, into a folder of ours; nothing of the system's own state changes. Where there is no such
//! package manager or no way to its mirror, the tree of this machine's files stands in.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use support::{process, term};

/// Folders of files, whose names are taken.
const TREES: &[&str] = &["/usr", "/opt", "/etc", "/var/lib"];
/// Most bytes of a key.
const KEY_BYTES_MAX: usize = 1024;
/// Program that prints a list whichever way it is compressed.
const READ_LIST: &str = "/usr/lib/apt/apt-helper";

/// Paths of the files of all packages.
pub(super) fn paths(folder: &Path, keys: &mut Vec<String>) {
    if let Err(error) = package_contents(folder, keys) {
        term::line(&format!(
            "layouts: no list of the files of Debian packages, so the files of this machine are \
             taken: {error:#}"
        ));
        let mut find = Command::new("find");
        find.args(TREES).args(["-type", "f"]).stderr(Stdio::null());
        // It fails where a folder cannot be read, which is left out.
        let _ = process::run_with_lines(&mut find, |path| add(keys, path));
    }
}

fn add(keys: &mut Vec<String>, key: &str) {
    let is_odd = |c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER;
    if (1..=KEY_BYTES_MAX).contains(&key.len()) && !key.contains(is_odd) {
        keys.push(key.trim_start_matches('/').to_owned());
    }
}

/// Lets the package manager fetch its lists of files, and takes their paths.
fn package_contents(folder: &Path, keys: &mut Vec<String>) -> Result<()> {
    let lists = folder.join("apt");
    if contents_files(&lists).is_empty() {
        fetch_contents(&lists)?;
    }
    let files = contents_files(&lists);
    if files.is_empty() {
        bail!("the mirror of this machine's package manager has no lists of files");
    }
    for file in files {
        process::run_with_lines(Command::new(READ_LIST).arg("cat-file").arg(&file), |line| {
            // A path, which may hold spaces, then the packages, which hold none.
            if let Some((path, _)) = line.trim_end().rsplit_once(char::is_whitespace) {
                add(keys, path.trim_end());
            }
        })?;
    }
    Ok(())
}

fn contents_files(lists: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(lists).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().contains("_Contents-"))
        .collect();
    files.sort();
    files
}

fn fetch_contents(lists: &Path) -> Result<()> {
    const TARGET: &str = "Acquire::IndexTargets::deb::Contents-deb";
    fs::create_dir_all(lists.join("partial"))?;
    let mut command = Command::new("apt-get");
    command.args(["update", "-q", "-o", "APT::Sandbox::User="]);
    for option in [
        format!("Dir::State::lists={}", lists.display()),
        format!("Dir::Cache={}", lists.display()),
        format!("{TARGET}::MetaKey=$(COMPONENT)/Contents-$(ARCHITECTURE)"),
        format!("{TARGET}::ShortDescription=Contents"),
        format!("{TARGET}::Description=$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Contents"),
        format!("{TARGET}::DefaultEnabled=true"),
    ] {
        command.args(["-o", &option]);
    }
    let told = process::output(&mut command)?;
    // One unreachable source among several fails the whole, though the lists may be there.
    if !told.status.success() && contents_files(lists).is_empty() {
        let reason = String::from_utf8_lossy(&told.stderr);
        bail!("`apt-get update` failed: {}", reason.lines().last().unwrap_or("without a word"));
    }
    Ok(())
}
