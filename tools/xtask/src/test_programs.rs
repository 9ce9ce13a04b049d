//! Builds and runs the workspace's tests, those of the Python package and a few kills, several
//! programs at a time.
//!
//! `cargo test` runs one test program after the other, and many of ours wait most of the time: for
//! servers to start, for time limits, for killed connections. Run side by side they need half the
//! time on two cores. What a test program prints is shown as a whole when it ends.

use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use support::servers::Servers;
use support::{install, process, term};

use crate::{kill, python, rustdoc};

/// What runs at once: it waits more than it works, on two cores as well.
const LANES: usize = 4;

/// Programs that tests run; each is in a package of its name.
const NEEDED: [&str; 2] = ["strace", "tmux"];

/// Those without which some tests are left out, and their packages.
const WELCOME: [(&str, &str); 4] =
    [("zsh", "zsh"), ("fish", "fish"), ("groff", "groff-base"), ("prometheus", "prometheus")];

/// What property tests draw from, so that a run can be repeated; `PROPTEST_RNG_SEED` of the
/// environment goes elsewhere.
const SEED: &str = "20261121";

/// The longest ones, which start first so that none of them runs alone at the end.
const LONGEST_FIRST: [&str; 6] =
    ["cli", "conformance", "transfer_sim", "security", "controller", "listing"];

/// Builds all tests, then runs them, the examples in the documentation, the tests of the Python
/// package and a few kills.
pub(crate) fn run() -> Result<()> {
    install()?;
    let mut programs = build()?;
    let place = |name: &str| LONGEST_FIRST.iter().position(|long| *long == name);
    programs.sort_by_key(|program| place(&program.name).unwrap_or(LONGEST_FIRST.len()));
    let mut commands: Vec<_> =
        programs.iter().map(|program| (program.to_string(), program.command())).collect();
    commands.push(("examples".to_owned(), rustdoc::examples_and_pages()));
    for (_, command) in &mut commands {
        command.envs(Servers::locate().test_variables());
        if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
            command.env("PROPTEST_RNG_SEED", SEED);
        }
    }
    let mut work: VecDeque<_> =
        commands.into_iter().map(|(name, command)| Work::Program(name, command)).collect();
    // As long as the first two.
    work.push_front(Work::Task("python", python::test));
    work.push_back(Work::Task("kills", kill::a_few));
    let run = Mutex::new(Run { work, tally: Tally::default(), failed: Vec::new() });
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| run_lane(&run));
        }
    });
    let Run { tally, failed, .. } = run.into_inner().unwrap_or_else(PoisonError::into_inner);
    term::line(&tally.to_string());
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// Installs the programs that tests run, as far as they are missing.
pub(crate) fn install() -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    for program in NEEDED {
        install::need(program, program)?;
    }
    // That of moreutils is another program.
    let version = process::run_quietly(Command::new("parallel").arg("--version"));
    if !version.is_ok_and(|version| version.starts_with("GNU parallel")) {
        install::apt_install("GNU parallel", &["parallel"])?;
    }
    for (program, package) in WELCOME {
        if let Err(error) = install::need(program, package) {
            term::line(&format!("{error:#}; what needs it is not tested"));
        }
    }
    Ok(())
}

/// A test program that cargo has built.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Name of its target, such as `conformance`.
    name: String,
    executable: PathBuf,
    package: PathBuf,
}

impl Program {
    /// Runs it as `cargo test` would: in the folder of its package. What else runs comes first:
    /// those on Ray do one thing after another, and a node that starts too late counts as lost.
    fn command(&self) -> Command {
        let mut command = Command::new("nice");
        command.args(["-n", "5"]).arg(&self.executable).arg("-q");
        command.current_dir(&self.package).env("CARGO_MANIFEST_DIR", &self.package);
        command
    }
}

impl fmt::Display for Program {
    /// Its package and its target, such as `s3haul-cli/conformance`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let package = self.package.file_name().unwrap_or_default().to_string_lossy();
        write!(f, "{package}/{}", self.name)
    }
}

/// What cargo prints of each thing that it has built:
/// <https://doc.rust-lang.org/cargo/reference/external-tools.html#artifact-messages>.
#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Builds the test programs of the workspace and of the benchmarks, with the lints of clippy.
pub(crate) fn build() -> Result<Vec<Program>> {
    let mut programs = built(process::cargo(&["test"]))?;
    programs.extend(built(process::bench_cargo("test", &[]))?);
    Ok(programs)
}

fn built(mut cargo: Command) -> Result<Vec<Program>> {
    let format = "--message-format=json-render-diagnostics";
    process::strict(cargo.args(["-q", "--workspace", "--no-run", format]));
    let output = cargo.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.context("could not start cargo")?;
    if !output.status.success() {
        bail!("the tests do not build");
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let programs: Vec<_> = lines.lines().filter_map(program).collect();
    if programs.is_empty() {
        bail!("cargo has built no test programs");
    }
    Ok(programs)
}

/// The test program that a message of cargo is about, if it is about one.
fn program(message: &str) -> Option<Program> {
    let artifact: Artifact = serde_json::from_str(message).ok()?;
    let package = artifact.manifest_path.parent().map(Path::to_owned)?;
    let executable = artifact.executable.filter(|_| artifact.profile.test)?;
    Some(Program { name: artifact.target.name, executable, package })
}

/// Something to run.
enum Work {
    /// A test program, whose report is summed with those of the others.
    Program(String, Command),
    /// Tests of another kind, which print their own results.
    Task(&'static str, fn() -> Result<()>),
}

/// What is left to run, and what came of the rest.
struct Run {
    work: VecDeque<Work>,
    tally: Tally,
    failed: Vec<String>,
}

fn run_lane(run: &Mutex<Run>) {
    let lock = || run.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some(work) = lock().work.pop_front() else { return };
        let started = Instant::now();
        let (name, result) = match work {
            Work::Program(name, mut command) => (name, process::output(&mut command).map(Some)),
            Work::Task(name, task) => (name.to_owned(), task().map(|()| None)),
        };
        let mut run = lock();
        term::dim(&format!("-- {name}: {}", term::seconds(started.elapsed())));
        if let Err(error) = result.and_then(|output| output.map_or(Ok(()), |o| run.report(&o))) {
            term::error(&format!("{error:#}"));
            run.failed.push(name);
        }
    }
}

impl Run {
    /// Shows what a test program printed; fails when it did.
    fn report(&mut self, output: &Output) -> Result<()> {
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            term::line(line);
            self.tally.read(line);
        }
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }
}

/// Sums what the test programs of one run report.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    /// Reads `test result: ok. 3 passed; 0 failed; 1 ignored; …`; other lines count nothing.
    fn read(&mut self, line: &str) {
        let Some((_, counts)) =
            line.strip_prefix("test result: ").and_then(|report| report.split_once(". "))
        else {
            return;
        };
        for part in counts.split("; ") {
            match part.split_once(' ') {
                Some((count, "passed")) => self.passed += count.parse().unwrap_or(0),
                Some((count, "failed")) => self.failed += count.parse().unwrap_or(0),
                Some((count, "ignored")) => self.skipped += count.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, skipped } = self;
        write!(f, "tests: {passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_many_programs_are_summed() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 27 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out");
        tally.read("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured");
        tally.read("test it_has_5 passed ... ok");
        assert_eq!(tally, Tally { passed: 30, failed: 2, skipped: 1 });
    }

    #[test]
    fn test_programs_are_found_among_the_messages_of_cargo() {
        let message = |test: bool| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/p/Cargo.toml\",\
                 \"target\":{{\"name\":\"wire\",\"kind\":[\"test\"]}},\
                 \"profile\":{{\"test\":{test}}},\"executable\":\"/t/wire-1\"}}"
            )
        };
        let (name, executable, package) = ("wire".to_owned(), "/t/wire-1".into(), "/p".into());
        assert_eq!(program(&message(true)), Some(Program { name, executable, package }));
        assert_eq!(program(&message(false)), None);
        assert_eq!(program("{\"reason\":\"build-finished\",\"success\":true}"), None);
    }
}
