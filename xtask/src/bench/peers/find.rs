//! Finds the tools, installs those that are missing, and asks each for its version.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::tools::{self, TOOLS, Tool};
use super::{Endpoint, Found, Peer, Search, Task};
use crate::process;

/// All tools that are asked for, in the order of the tables. Only names that nobody knows and a
/// missing command of our own are errors.
pub(crate) fn find(search: &Search) -> Result<Vec<Found>> {
    let named = search.paths.iter().map(|(name, _)| name);
    for name in named.chain(search.only.iter().flatten()) {
        ensure!(
            TOOLS.iter().any(|tool| tool.name == name),
            "unknown tool `{name}`; there are {}",
            TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
        );
    }
    ensure!(search.s3haul.is_file(), "there is no `{}`", search.s3haul.display());
    let scratch = tempfile::tempdir().context("could not make a folder for settings")?;
    let wanted = |tool: &&Tool| {
        search.only.as_ref().is_none_or(|only| only.iter().any(|name| name == tool.name))
    };
    let found = |tool: &Tool| match program(tool, search) {
        Ok(program) => Found::Here(peer(tool, program, scratch.path())),
        Err(error) => Found::Missing { name: tool.name, why: format!("{error:#}") },
    };
    Ok(TOOLS.iter().filter(wanted).map(found).collect())
}

fn program(tool: &Tool, search: &Search) -> Result<PathBuf> {
    if let Some((_, path)) = search.paths.iter().find(|(name, _)| name == tool.name) {
        ensure!(path.is_file(), "there is no `{}`", path.display());
        return Ok(std::path::absolute(path)?);
    }
    let located = tool.locate(&search.s3haul, search.install);
    match tools::on_path(tool.name) {
        // Other tools' names may mean something else there, such as `mc`.
        Some(path) if located.is_err() && tool.name == "s5cmd" => Ok(path),
        _ => located,
    }
}

fn peer(tool: &Tool, program: PathBuf, scratch: &Path) -> Peer {
    let mut peer = Peer { name: tool.name, version: None, program, line: tool.line };
    let own = version(&peer, scratch);
    peer.version = own.or_else(|| tool.pinned_version().map(str::to_owned));
    peer
}

/// What the tool says its version is.
fn version(peer: &Peer, scratch: &Path) -> Option<String> {
    let nowhere = Endpoint {
        url: "http://127.0.0.1:9".to_owned(),
        access_key: "none".to_owned(),
        secret_key: "none".to_owned(),
        region: "us-east-1".to_owned(),
        ca_file: None,
        scratch: scratch.to_owned(),
    };
    let output = process::output(&mut peer.command(&Task::Version, &nowhere).ok()?).ok()?;
    // Some older tools answer on standard error.
    let answer = [output.stdout, output.stderr].concat();
    first_version(&String::from_utf8_lossy(&answer))
}

/// The first word that looks like a version: `v2.3.0-991c9fb`, `aws-cli/1.45.11`.
fn first_version(text: &str) -> Option<String> {
    let words = text.split(|character: char| character.is_whitespace() || character == '/');
    let looks_so = |word: &&str| {
        let number = word.strip_prefix('v').unwrap_or(word);
        number.starts_with(|first: char| first.is_ascii_digit()) && number.contains('.')
    };
    let version = words.filter(|word| !word.is_empty()).find(looks_so)?;
    Some(version.trim_start_matches('v').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let read = |text| first_version(text).unwrap();
        assert_eq!(read("aws-cli/1.45.11 Python/3.11.7 Linux/6.1 botocore/1.43.11"), "1.45.11");
        assert_eq!(read("v2.3.0-991c9fb\n"), "2.3.0-991c9fb");
        assert_eq!(read("rclone v1.76.0\n- os/version: debian 12 (64 bit)\n"), "1.76.0");
        assert_eq!(first_version("mc version DEVELOPMENT.GOGET\n"), None);
    }
}
