//! The libraries, each with a short script that does all that it can: pinned, and installed
//! together into an environment of their own in `target/peers`.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::Options;
use super::environment::{Environment, Slot, objects};
use super::server::{KEYS_BUCKET, TARGET_BUCKET};
use super::table::Kind;
use super::tools::Tool;
use crate::layouts;
use crate::peers::{self, Call, Found, Search};
use support::install::{self, Folder};
use support::process;

/// The package that the others are compared with.
const OURS: &str = "s3haul";
/// Our own command, which transfers are compared with.
pub(crate) const COMMAND: &str = "command";

const ENVIRONMENT: install::Environment = install::Environment {
    about: "boto3, obstore, s3fs, s3transfer, awscrt, pyarrow and pandas",
    file: "tools/bench/requirements-python-peers.txt",
    packages: include_str!("../../requirements-python-peers.txt"),
};

/// A library that is here.
pub(crate) struct Library {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    pub(crate) about: &'static str,
    row: &'static Row,
    python: PathBuf,
}

/// A library of the tables.
struct Row {
    /// What it is called there and in `--tools`.
    name: &'static str,
    /// How it is used.
    about: &'static str,
    /// The packages whose versions count.
    packages: &'static [&'static str],
    /// File name and text of its script.
    script: (&'static str, &'static str),
    /// What it cannot do, and why.
    cannot: fn(Kind) -> Option<&'static str>,
}

const LIBRARIES: &[Row] = &[
    Row {
        name: OURS,
        about: "its defaults",
        packages: &["s3haul"],
        script: ("with_s3haul.py", include_str!("../python/with_s3haul.py")),
        cannot: |_| None,
    },
    Row {
        name: "boto3",
        about: "a client in 32 threads",
        packages: &["boto3"],
        script: ("with_boto3.py", include_str!("../python/with_boto3.py")),
        cannot: no_sync,
    },
    Row {
        name: "obstore",
        about: "128 requests at a time with asyncio, listings as Arrow",
        packages: &["obstore"],
        script: ("with_obstore.py", include_str!("../python/with_obstore.py")),
        cannot: no_sync,
    },
    Row {
        name: "s3fs",
        about: "its calls for many files, with its defaults",
        packages: &["s3fs", "aiobotocore"],
        script: ("with_s3fs.py", include_str!("../python/with_s3fs.py")),
        cannot: no_sync,
    },
    Row {
        name: "s3transfer",
        about: "its manager of the Common Runtime with its defaults",
        packages: &["s3transfer", "awscrt"],
        script: ("with_s3transfer.py", include_str!("../python/with_s3transfer.py")),
        cannot: |kind| match kind {
            Kind::ListArrow | Kind::ListPandas | Kind::Read => Some("transfers files only"),
            _ => no_sync(kind),
        },
    },
];

fn no_sync(kind: Kind) -> Option<&'static str> {
    (kind == Kind::SyncNothing).then_some("has no sync")
}

/// The function of a script that does a workload.
fn function(kind: Kind) -> Result<&'static str> {
    Ok(match kind {
        Kind::Start => "start",
        Kind::ListArrow => "list_arrow",
        Kind::ListPandas => "list_pandas",
        Kind::Read => "read",
        Kind::Upload => "upload",
        Kind::Download => "download",
        Kind::SyncNothing => "sync",
        _ => bail!("no library does {kind:?}"),
    })
}

impl Library {
    /// Why it does not do some work; none if it does.
    pub(crate) fn reason(&self, kind: Kind) -> Option<&'static str> {
        (self.row.cannot)(kind)
    }

    /// The process of a run.
    pub(crate) fn command(&self, environment: &Environment<'_>, slot: &Slot) -> Result<Command> {
        let (bucket, prefix) = match environment.job.kind {
            Kind::ListArrow | Kind::ListPandas => (KEYS_BUCKET, ""),
            Kind::Read | Kind::Download => objects(),
            _ => (TARGET_BUCKET, slot.prefix.as_str()),
        };
        let folder = match environment.job.kind {
            Kind::Download => &slot.folder,
            _ => &environment.tree.root,
        };
        let keys = environment.folder().join("keys");
        layouts::write(&keys, environment.tree.files.iter().map(|(name, _)| name))?;
        let call = Call { program: &self.python, endpoint: &environment.server.endpoint };
        let (file, text) = self.row.script;
        let script = call.file(file, text).map_err(anyhow::Error::msg)?;
        let mut command = call.command();
        command
            .arg(script)
            .arg(function(environment.job.kind)?)
            .env("BENCH_BUCKET", bucket)
            .env("BENCH_PREFIX", prefix)
            .env("BENCH_FOLDER", folder)
            .env("BENCH_KEYS", keys);
        Ok(command)
    }
}

/// Fails where a name of `--tools` is that of no library.
pub(crate) fn check_names(options: &Options) -> Result<()> {
    let known: Vec<&str> = LIBRARIES.iter().map(|row| row.name).chain([COMMAND]).collect();
    let mut names = options.tools.iter().flatten();
    match names.find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => bail!("there is no library `{unknown}`, but {}", known.join(", ")),
        None => Ok(()),
    }
}

/// The libraries that are asked for, and our own command.
pub(crate) fn tools(
    options: &Options,
    python: &Path,
    versions: &BTreeMap<String, String>,
    s3haul: &Path,
) -> Result<Vec<Tool>> {
    let mut tools = Vec::new();
    for row in LIBRARIES.iter().filter(|row| options.wants_tool(row.name)) {
        let Row { name, about, .. } = *row;
        tools.push(match version(row, versions) {
            Some(version) => {
                Tool::Library(Library { name, version, about, row, python: python.to_owned() })
            }
            None => Tool::Missing { name, why: "not installed".to_owned() },
        });
    }
    let only = options.wants_tool(COMMAND).then(|| OURS.to_owned()).into_iter().collect();
    let (s3haul, paths) = (s3haul.to_owned(), Vec::new());
    for found in peers::find(&Search { s3haul, paths, only: Some(only), install: false })? {
        if let Found::Here(mut command) = found {
            command.name = COMMAND;
            command.about = "the command s3haul with its defaults";
            tools.push(Tool::Peer(command));
        }
    }
    Ok(tools)
}

/// Versions of the packages that count, where they are installed.
fn version(row: &Row, versions: &BTreeMap<String, String>) -> Option<String> {
    let (first, rest) = row.packages.split_first()?;
    let mut text = versions.get(*first)?.clone();
    for package in rest {
        let _ = write!(text, " with {package} {}", versions.get(*package)?);
    }
    Some(text)
}

/// Installs the libraries, and the package from its wheel; where nothing may be installed, those
/// that are there are taken. Returns the interpreter.
pub(crate) fn install(wheel: Option<&Path>, is_allowed: bool) -> Result<PathBuf> {
    let folder = Folder::new("peers/python");
    let python = folder.venv().join("bin/python");
    if is_allowed {
        folder.need_python(&ENVIRONMENT)?;
        let wheel = wheel.map_or_else(built_wheel, |wheel| Ok(wheel.to_owned()))?;
        install::install_wheel(&python, &wheel)?;
    }
    ensure!(python.is_file(), "the libraries are not installed");
    Ok(python)
}

/// The wheel of the release profile that was built last.
fn built_wheel() -> Result<PathBuf> {
    let wheels = process::target().join("wheels").join(format!("{ARCH}-unknown-linux-gnu"));
    let found = std::fs::read_dir(&wheels).ok().and_then(|entries| {
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|name| name == "whl")).max()
    });
    found.context("there is no wheel of the package: `make wheel` builds it")
}

/// Versions of Python and of the packages that are installed.
pub(crate) fn versions(python: &Path) -> Result<BTreeMap<String, String>> {
    let script = "import platform\nfrom importlib.metadata import distributions\n\
                  print('Python', platform.python_version())\n\
                  for found in distributions(): print(found.metadata['Name'], found.version)";
    let told = process::run_quietly(Command::new(python).args(["-c", script]))?;
    let pair = |line: &str| {
        line.split_once(' ').map(|(name, version)| (name.to_owned(), version.to_owned()))
    };
    Ok(told.lines().filter_map(pair).collect())
}

#[cfg(test)]
mod tests {
    use super::super::options::parse;
    use super::*;

    #[test]
    fn every_package_of_the_tables_is_pinned() {
        assert!(ENVIRONMENT.lines().all(|line| line.contains("==")));
        let pinned: Vec<&str> =
            ENVIRONMENT.lines().filter_map(|line| Some(line.split_once("==")?.0)).collect();
        let named = LIBRARIES.iter().flat_map(|row| row.packages).copied();
        for package in named.chain(["pyarrow", "pandas", "arro3-core"]) {
            assert!(package == OURS || pinned.contains(&package), "{package}");
        }
    }

    #[test]
    fn each_script_has_a_function_for_what_its_library_can_do() {
        for row in LIBRARIES {
            for workload in crate::python::WORKLOADS {
                let kind = workload.job(&parse("").unwrap()).kind;
                let name = function(kind).unwrap();
                let has = row.script.1.contains(&format!("\ndef {name}():\n"));
                assert_eq!(has, (row.cannot)(kind).is_none(), "{} {name}", row.name);
            }
        }
    }

    #[test]
    fn versions_are_told_with_those_of_what_does_the_work() {
        let versions = [("s3transfer", "0.19.3"), ("awscrt", "0.38.1")]
            .map(|(name, version)| (name.to_owned(), version.to_owned()))
            .into();
        let options = parse("--tools s3transfer,boto3,command").unwrap();
        check_names(&options).unwrap();
        let own = std::env::current_exe().unwrap();
        let tools = tools(&options, Path::new("python"), &versions, &own).unwrap();
        let told: Vec<String> = tools.iter().map(Tool::about).collect();
        assert_eq!(told[0], "boto3: not installed");
        assert!(told[1].starts_with("s3transfer 0.19.3 with awscrt 0.38.1: its"), "{told:?}");
        assert!(told[2].ends_with(": the command s3haul with its defaults"), "{told:?}");
        let unknown = parse("--tools minio").unwrap();
        assert!(check_names(&unknown).is_err());
    }
}
