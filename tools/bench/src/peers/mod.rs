//! The tools that a benchmark sets side by side: where each comes from, and its command line for
//! each kind of work.
//!
//! A tool is a row of [`tools::TOOLS`]; its command lines are a file of their own, a pure function
//! from a [`Task`] to arguments and variables. Each is called as its users call it for much data:
//! with the settings its documentation recommends for that, else its defaults. A tool that is not
//! here, and work that a tool does not know, say why; neither is an error.

mod aws;
mod aws_crt;
mod call;
mod find;
mod mc;
mod rclone;
mod s3haul;
mod s3p;
mod s3sync;
mod s4cmd;
mod s5cmd;
#[cfg(test)]
mod tests;
mod tools;
mod trial;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

pub(crate) use self::find::find;
use support::{process, term};

/// A server, and how to reach it.
pub(crate) struct Endpoint {
    /// `http://127.0.0.1:PORT` or `https://localhost:PORT`.
    pub(crate) url: String,
    /// The key id of requests.
    pub(crate) access_key: String,
    /// Its secret.
    pub(crate) secret_key: String,
    /// The region of signatures.
    pub(crate) region: String,
    /// The certificate authority of an encrypted server, in PEM.
    pub(crate) ca_file: Option<PathBuf>,
    /// A folder that exists, for configuration files.
    pub(crate) scratch: PathBuf,
}

/// A piece of work. Prefixes are empty or end in a slash.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task<'a> {
    /// Uploads all files of a tree.
    Upload { tree: &'a Path, bucket: &'a str, prefix: &'a str },
    /// Uploads what is missing or differs.
    Sync { tree: &'a Path, bucket: &'a str, prefix: &'a str },
    /// Downloads all objects below a prefix.
    Download { bucket: &'a str, prefix: &'a str, target: &'a Path },
    /// Uploads a file.
    UploadFile { file: &'a Path, bucket: &'a str, key: &'a str },
    /// Downloads an object.
    DownloadFile { bucket: &'a str, key: &'a str, file: &'a Path },
    /// Prints all objects of a bucket.
    List { bucket: &'a str },
    /// Counts the objects of a bucket and their bytes.
    Summarize { bucket: &'a str },
    /// Copies all objects below a prefix to another bucket, within the server.
    Copy { source_bucket: &'a str, source_prefix: &'a str, bucket: &'a str, prefix: &'a str },
    /// Removes all objects below a prefix.
    Delete { bucket: &'a str, prefix: &'a str },
    /// Gives all objects below a prefix a tag; where the tool has no bulk tags, by a listing and a
    /// process for each object.
    Tag { bucket: &'a str, prefix: &'a str },
    /// Prints the version.
    Version,
}

/// A tool that is here.
pub(crate) struct Peer {
    /// What it is called in tables.
    pub(crate) name: &'static str,
    /// Its version, where it is known.
    pub(crate) version: Option<String>,
    /// The settings it is called with.
    pub(crate) about: &'static str,
    program: PathBuf,
    line: call::Line,
}

impl Peer {
    /// The command that does this work, or why the tool cannot.
    pub(crate) fn command(
        &self,
        task: &Task<'_>,
        endpoint: &Endpoint,
    ) -> std::result::Result<Command, String> {
        (self.line)(&call::Call { program: &self.program, endpoint }, task)
    }
}

/// What became of the search for a tool.
pub(crate) enum Found {
    /// It can be run.
    Here(Peer),
    /// It cannot: why.
    Missing { name: &'static str, why: String },
}

/// Where to look for tools.
pub(crate) struct Search {
    /// Our own command.
    pub(crate) s3haul: PathBuf,
    /// Tools that are somewhere else: names and programs.
    pub(crate) paths: Vec<(String, PathBuf)>,
    /// Only these tools, instead of all.
    pub(crate) only: Option<Vec<String>>,
    /// Whether to install what is missing into `target/peers`.
    pub(crate) install: bool,
}

/// `cargo xtask peers`: installs what is missing and tells what is here. With `--try` each tool
/// does each kind of work once, on a server that variables of the AWS tools name.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut is_trial = false;
    let mut search = Search {
        s3haul: process::target().join("release").join("s3haul"),
        paths: Vec::new(),
        only: None,
        install: true,
    };
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let mut value = || args.next().with_context(|| format!("`{flag}` needs a value"));
        match flag.as_str() {
            "--binary" => search.s3haul = std::path::absolute(value()?)?,
            "--tool-path" => search.paths.push(tool_path(value()?)?),
            "--only" => search.only = Some(value()?.split(',').map(str::to_owned).collect()),
            "--no-install" => search.install = false,
            "--try" => is_trial = true,
            _ => bail!("unknown option `{flag}`"),
        }
    }
    let found = find(&search)?;
    for tool in &found {
        match tool {
            Found::Here(peer) => {
                let version = peer.version.as_deref().unwrap_or("of unknown version");
                term::line(&format!("{:<8} {version:<15} {}", peer.name, peer.about));
            }
            Found::Missing { name, why } => term::dim(&format!("{name:<8} missing: {why}")),
        }
    }
    if is_trial { trial::run(&search.s3haul, &found) } else { Ok(()) }
}

/// Reads `NAME=PATH`.
pub(crate) fn tool_path(text: &str) -> Result<(String, PathBuf)> {
    let (name, path) = text.split_once('=').with_context(|| format!("`{text}` is no NAME=PATH"))?;
    Ok((name.to_owned(), PathBuf::from(path)))
}
