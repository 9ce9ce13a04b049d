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
mod s3sync;
mod s4cmd;
mod s5cmd;
#[cfg(test)]
mod tests;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

pub(crate) use self::call::Call;
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

/// Which tools, and where they are.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only these tools.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Option<Vec<String>>,
    /// Where a tool is that is not to be installed.
    #[arg(long = "tool-path", value_name = "NAME=PATH", value_parser = tool_path)]
    tool_paths: Vec<(String, PathBuf)>,
    /// Installs nothing.
    #[arg(long)]
    no_install: bool,
    /// Our own command.
    #[arg(long, value_name = "PATH", value_parser = absolute)]
    binary: Option<PathBuf>,
}

/// Installs what is missing and prints what is here.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let ours = || process::target().join("release").join("s3haul");
    let search = Search {
        s3haul: arguments.binary.unwrap_or_else(ours),
        paths: arguments.tool_paths,
        only: arguments.only,
        install: !arguments.no_install,
    };
    for tool in find(&search)? {
        match tool {
            Found::Here(peer) => {
                let version = peer.version.as_deref().unwrap_or("of unknown version");
                term::line(&format!("{:<8} {version:<15} {}", peer.name, peer.about));
            }
            Found::Missing { name, why } => term::dim(&format!("{name:<8} missing: {why}")),
        }
    }
    Ok(())
}

/// Reads `NAME=PATH`.
pub(crate) fn tool_path(text: &str) -> Result<(String, PathBuf)> {
    let (name, path) = text.split_once('=').with_context(|| format!("`{text}` is no NAME=PATH"))?;
    Ok((name.to_owned(), absolute(path)?))
}

/// Tools run in folders of their own, so paths become absolute.
pub(crate) fn absolute(path: &str) -> std::io::Result<PathBuf> {
    std::path::absolute(path)
}
