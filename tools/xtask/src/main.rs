//! Development tasks. `cargo xtask` without arguments lists them.
//!
//! Everything a contributor or CI runs goes through here, so that `Makefile` and `.ci/run` stay a
//! line each. Few dependencies on purpose: this builds before anything else does.

mod budgets;
mod builders;
mod checks;
mod demo;
mod deny;
mod dist;
mod docs;
mod fuzz;
mod kill;
mod picture;
mod python;
mod rustdoc;
mod services;
mod soak;
mod test_programs;
mod tidy;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use support::{process, servers, term};

/// Development tasks.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Format, tidy and clippy: what `test` looks for first
    Check(checks::Arguments),
    /// All that must pass before a change lands
    Test(checks::Arguments),
    /// Random tests for as long as wanted: commands next to the real aws, whole jobs, kills
    Soak(soak::Arguments),
    /// Licences, banned crates, sources, advisories
    Deny,
    /// The fuzz targets under libFuzzer
    Fuzz(fuzz::Arguments),
    /// The module graph, and style rules that clippy does not know
    Tidy,
    /// Install the servers and peers of the tests into target/servers
    Servers,
    /// What check-server finds on them, into docs/services.md
    Services {
        /// Another service, with the credentials of the environment
        #[arg(long, value_name = "NAME=VERSION=URL")]
        add: Option<String>,
    },
    /// Instructions of the hot paths next to tools/xtask/budgets.json
    Budgets {
        /// Write the table
        #[arg(long)]
        bless: bool,
    },
    /// The Python package: a wheel, its types and its tests
    Python,
    /// The pictures of docs/html.md, in a headless Chromium, and that of the dashboard in
    /// docs/metrics.md, over a run that a Prometheus scrapes
    Screenshots,
    /// The Python package as it is released, into target/wheels
    Wheel,
    /// What a release consists of, into target/dist
    Dist(dist::Arguments),
    /// A man page for each command, into target/man
    Man,
    /// The documentation as a site, by mdbook, into target/site
    Docs,
    /// A real session as docs/terminal.svg
    Picture(Binary),
    /// A tour of the command against its own server, checked byte for byte
    Demo(Binary),
    /// Published workloads with every tool beside ours, into docs/bench; or a benchmark by its name
    #[command(disable_help_flag = true)]
    Bench(PassedOn),
    /// Listing of many layouts: requests, time, CPU; `bench list` by another name
    #[command(disable_help_flag = true)]
    ListBench(PassedOn),
    /// Install the tools that we are measured against into target/peers
    #[command(disable_help_flag = true)]
    Peers(PassedOn),
}

/// The command that a task runs.
#[derive(clap::Args)]
struct Binary {
    /// A command that is built already
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
}

/// What the program of the benchmarks reads itself.
#[derive(clap::Args)]
struct PassedOn {
    /// `--help` has them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

fn main() -> ExitCode {
    let result = if rustdoc::is_asked_for() {
        rustdoc::run(&std::env::args().skip(1).collect::<Vec<_>>())
    } else {
        run(Arguments::parse().task)
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            term::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Check(arguments) => checks::run(checks::Extent::Quick, &arguments),
        Task::Test(arguments) => checks::run(checks::Extent::Full, &arguments),
        Task::Soak(arguments) => soak::run(&arguments),
        Task::Deny => deny::run(),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Tidy => tidy::run(),
        Task::Servers => servers::run(),
        Task::Services { add } => services::run(add.as_deref()),
        Task::Budgets { bless } => budgets::run(bless),
        Task::Python => python::test(),
        Task::Screenshots => python::screenshots(),
        Task::Wheel => python::wheel().map(drop),
        Task::Dist(arguments) => dist::run(&arguments),
        Task::Man => docs::man(),
        Task::Docs => docs::site(),
        Task::Picture(Binary { binary }) => picture::run(binary.as_deref()),
        Task::Demo(Binary { binary }) => demo::run(binary.as_deref()),
        Task::Bench(PassedOn { options }) => bench(&[], &options),
        Task::ListBench(PassedOn { options }) => bench(&["list"], &options),
        Task::Peers(PassedOn { options }) => bench(&["peers"], &options),
    }
}

/// The program of the benchmarks, in the folder that we were called from.
fn bench(name: &[&str], options: &[OsString]) -> Result<()> {
    let mut cargo = process::bench_cargo("run", &["-q", "--"]);
    process::run(cargo.args(name).args(options).current_dir(std::env::current_dir()?))
}
