//! Finds the tools, installs those that are missing, and asks each for its version.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::tools::{Installer, TOOLS, Tool};
use super::{Endpoint, Found, Peer, Search, Task};
use support::process;

/// All selected tools, in the order of the tables. Only unknown names and a
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
    let installer = Installer::new(search);
    let found = |tool: &Tool| match installer.locate(tool) {
        Ok(program) => Found::Here(peer(tool, program, scratch.path())),
        Err(error) => {
            let mut why = one_line(&format!("{error:#}"));
            if search.install && tool.is_installed_here() {
                let _ = write!(why, " (or say where it is: `--tool-path {}=PATH`)", tool.name);
            }
            Found::Missing { name: tool.name, why }
        }
    };
    let found = TOOLS.iter().filter(wanted).map(found).collect();
    installer.clear_up();
    Ok(found)
}

fn peer(tool: &Tool, program: PathBuf, scratch: &Path) -> Peer {
    let Tool { name, about, line, .. } = *tool;
    let mut peer = Peer { name, version: None, about, program, line };
    let own = version(&peer, scratch);
    peer.version = own.or_else(|| tool.pinned_version());
    peer
}

/// What failed, and the last that a program said of it, without where the workspace is.
fn one_line(error: &str) -> String {
    let error = error.replace(&format!("{}/", process::root().display()), "");
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("unknown");
    lines.next_back().map_or_else(|| first.to_owned(), |last| format!("{first}: {last}"))
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

    #[test]
    fn a_reason_is_a_line() {
        assert_eq!(one_line("not installed"), "not installed");
        let here = process::root().join("target").display().to_string();
        assert_eq!(one_line(&format!("could not read `{here}`")), "could not read `target`");
        let failure = "`go install x` failed (exit status: 1)\nfirst\n\nno such module\n";
        assert_eq!(one_line(failure), "`go install x` failed (exit status: 1): no such module");
    }

    /// The found tools of a search that installs nothing, with this very program as ours.
    fn search(only: &[&str], paths: &[(&str, &str)]) -> Result<Vec<Found>> {
        find(&Search {
            s3haul: std::env::current_exe()?,
            paths: paths.iter().map(|(name, path)| ((*name).into(), (*path).into())).collect(),
            only: Some(only.iter().map(|name| (*name).to_owned()).collect()),
            install: false,
        })
    }

    #[test]
    fn a_tool_that_is_not_there_is_missing_and_no_error() {
        let paths = [("s5cmd", "/nowhere/s5cmd"), ("rclone", "/nowhere/rclone")];
        let found = search(&["rclone", "s5cmd"], &paths).unwrap();
        let told: Vec<String> = found
            .iter()
            .map(|found| match found {
                Found::Missing { name, why } => format!("{name}: {why}"),
                Found::Here(peer) => panic!("{} is here", peer.name),
            })
            .collect();
        // In the order of the tables, not of the question.
        let expected =
            ["s5cmd: there is no `/nowhere/s5cmd`", "rclone: there is no `/nowhere/rclone`"];
        assert_eq!(told, expected);
    }

    #[test]
    fn names_that_nobody_knows_are_errors() {
        let told = |result: Result<Vec<Found>>| result.err().unwrap().to_string();
        assert!(
            told(search(&["s6cmd"], &[])).starts_with("unknown tool `s6cmd`; there are s3haul,")
        );
        assert!(told(search(&[], &[("cp", "/bin/cp")])).starts_with("unknown tool `cp`"));
    }
}
