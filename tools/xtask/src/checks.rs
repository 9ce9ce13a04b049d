//! `check` and `test`: the steps that must pass before a change lands, each with its time.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::{budgets, deny, kill, python, test_programs, tidy};
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
    extent: Extent,
    run: fn() -> Result<()>,
}

/// In the order of what is cheap to find out.
const STEPS: &[Step] = &[
    Step { name: "fmt", extent: Extent::Quick, run: fmt },
    Step { name: "tidy", extent: Extent::Quick, run: tidy::run },
    Step { name: "clippy", extent: Extent::Quick, run: clippy },
    Step { name: "servers", extent: Extent::Full, run: servers::run },
    Step { name: "deny", extent: Extent::Full, run: deny::run },
    Step { name: "doc", extent: Extent::Full, run: doc },
    Step { name: "budgets", extent: Extent::Full, run: budgets::check },
    Step { name: "test", extent: Extent::Full, run: test_programs::run },
    Step { name: "python", extent: Extent::Full, run: python::test },
    Step { name: "kills", extent: Extent::Full, run: kill::a_few },
];

/// Runs the steps; stops at the first that fails unless `--keep-going` is given.
pub(crate) fn run(extent: Extent, args: &[String]) -> Result<()> {
    let keep_going = match args {
        [] => false,
        [flag] if flag == "--keep-going" => true,
        _ => bail!("only `--keep-going` may follow"),
    };
    let started = Instant::now();
    let mut failed = Vec::new();
    for step in STEPS.iter().filter(|step| extent == Extent::Full || step.extent == Extent::Quick) {
        if let Err(error) = run_step(step) {
            term::error(&format!("{}: {error:#}", step.name));
            failed.push(step.name);
            if !keep_going {
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

/// Only libraries: the command and the library share the name `s3haul` and would overwrite each
/// other's pages.
fn doc() -> Result<()> {
    let mut cargo = process::cargo(&["doc", "-q", "--workspace", "--no-deps", "--lib"]);
    process::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))
}
