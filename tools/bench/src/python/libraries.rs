//! The libraries, each with a short script that does all that it can: pinned, and installed
//! together into an environment of their own in `target/peers`.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::workloads::Work;
use support::install::{self, Environment, Folder};
use support::process;

/// The package that the others are compared with.
pub(super) const OURS: &str = "s3haul";
/// Our own command, which transfers are compared with.
pub(super) const COMMAND: &str = "command";

const ENVIRONMENT: Environment = Environment {
    about: "boto3, obstore, s3fs, s3transfer, awscrt, pyarrow and pandas",
    file: "tools/bench/requirements-python-peers.txt",
    packages: include_str!("../../requirements-python-peers.txt"),
};

/// A library of the tables.
pub(super) struct Library {
    /// What it is called there and in `--libraries`.
    pub(super) name: &'static str,
    /// How it is used.
    about: &'static str,
    /// The packages whose versions count.
    packages: &'static [&'static str],
    /// File name and text of its script; none for a command.
    pub(super) script: Option<(&'static str, &'static str)>,
    /// What it cannot do, and why.
    cannot: fn(Work) -> Option<&'static str>,
}

const LIBRARIES: [Library; 6] = [
    Library {
        name: OURS,
        about: "its defaults",
        packages: &["s3haul"],
        script: Some(("with_s3haul.py", include_str!("with_s3haul.py"))),
        cannot: |_| None,
    },
    Library {
        name: COMMAND,
        about: "the command s3haul with its defaults, quiet",
        packages: &[],
        script: None,
        cannot: |work| match work {
            Work::Upload | Work::Download | Work::Sync => None,
            _ => Some("has no library of its own"),
        },
    },
    Library {
        name: "boto3",
        about: "a client in 32 threads",
        packages: &["boto3"],
        script: Some(("with_boto3.py", include_str!("with_boto3.py"))),
        cannot: no_sync,
    },
    Library {
        name: "obstore",
        about: "128 requests at a time with asyncio, listings as Arrow",
        packages: &["obstore"],
        script: Some(("with_obstore.py", include_str!("with_obstore.py"))),
        cannot: no_sync,
    },
    Library {
        name: "s3fs",
        about: "its calls for many files, with its defaults",
        packages: &["s3fs", "aiobotocore"],
        script: Some(("with_s3fs.py", include_str!("with_s3fs.py"))),
        cannot: no_sync,
    },
    Library {
        name: "s3transfer",
        about: "its manager of the Common Runtime with its defaults",
        packages: &["s3transfer", "awscrt"],
        script: Some(("with_s3transfer.py", include_str!("with_s3transfer.py"))),
        cannot: |work| match work {
            Work::Start | Work::Upload | Work::Download => None,
            Work::Sync => Some(NO_SYNC),
            _ => Some("transfers files only"),
        },
    },
];

const NO_SYNC: &str = "has no sync";

fn no_sync(work: Work) -> Option<&'static str> {
    (work == Work::Sync).then_some(NO_SYNC)
}

impl Library {
    /// Why it does not do some work; none if it does.
    pub(super) fn reason(&self, work: Work) -> Option<&'static str> {
        (self.cannot)(work)
    }

    /// Its version, where its packages are installed.
    pub(super) fn version(&self, versions: &BTreeMap<String, String>) -> Option<String> {
        let (first, rest) = self.packages.split_first()?;
        let mut text = versions.get(*first)?.clone();
        for package in rest {
            let _ = write!(text, " with {package} {}", versions.get(*package)?);
        }
        Some(text)
    }

    /// A line about it for the page.
    pub(super) fn line(&self, versions: &BTreeMap<String, String>) -> String {
        let version = self.version(versions).map_or_else(String::new, |text| format!(" {text}"));
        format!("{}{version}: {}", self.name, self.about)
    }
}

/// The libraries of these names, ours first; all where there are none.
pub(super) fn selected(names: &[String]) -> Result<Vec<Library>> {
    let known = LIBRARIES.map(|library| library.name);
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there is no library `{unknown}`, but {}", known.join(", "));
    }
    let is_wanted =
        |library: &Library| names.is_empty() || names.iter().any(|name| name == library.name);
    Ok(LIBRARIES.into_iter().filter(is_wanted).collect())
}

/// Installs the libraries, and the package from its wheel; where nothing may be installed, those
/// that are there are taken. Returns the interpreter.
pub(super) fn install(wheel: Option<&Path>, is_allowed: bool) -> Result<PathBuf> {
    let folder = Folder::new("peers/python");
    let python = folder.venv().join("bin/python");
    if is_allowed {
        if !folder.has_python(&ENVIRONMENT) {
            folder.create()?;
            install::need_python()?;
            folder.install_python(&ENVIRONMENT)?;
        }
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
pub(super) fn versions(python: &Path) -> Result<BTreeMap<String, String>> {
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
    use super::*;

    #[test]
    fn every_package_of_the_tables_is_pinned() {
        assert!(ENVIRONMENT.lines().all(|line| line.contains("==")));
        let pinned: Vec<&str> =
            ENVIRONMENT.lines().filter_map(|line| Some(line.split_once("==")?.0)).collect();
        let named = LIBRARIES.iter().flat_map(|library| library.packages).copied();
        for package in named.chain(["pyarrow", "pandas", "arro3-core"]) {
            assert!(package == OURS || pinned.contains(&package), "{package}");
        }
    }

    #[test]
    fn each_script_has_a_function_for_what_its_library_can_do() {
        for library in &LIBRARIES {
            let Some((_, text)) = library.script else { continue };
            for work in super::super::workloads::ALL {
                let has = text.contains(&format!("\ndef {}():\n", work.function()));
                assert_eq!(has, library.reason(work).is_none(), "{} {work:?}", library.name);
            }
        }
    }

    #[test]
    fn versions_are_told_with_those_of_what_does_the_work() {
        let versions = [("s3transfer", "0.19.3"), ("awscrt", "0.38.1")]
            .map(|(name, version)| (name.to_owned(), version.to_owned()))
            .into();
        let told = |name: &str| selected(&[name.to_owned()]).unwrap()[0].line(&versions);
        assert!(told("s3transfer").starts_with("s3transfer 0.19.3 with awscrt 0.38.1: its"));
        assert_eq!(told(COMMAND), "command: the command s3haul with its defaults, quiet");
        assert!(selected(&["minio".to_owned()]).is_err());
    }
}
