//! Benchmarks: the [`matrix`] of workloads and tools, and those with a name of their own. This file
//! only dispatches.

mod layouts;
mod list;
mod matrix;
mod peers;
mod python;
mod record;
mod report;
mod usage;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use support::term;

/// Published workloads with every tool beside ours, into `docs/bench`.
#[derive(Parser)]
#[command(bin_name = "cargo xtask bench", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    benchmark: Option<Benchmark>,
    #[command(flatten)]
    matrix: matrix::Options,
    #[command(flatten)]
    programs: matrix::Programs,
}

#[derive(Subcommand)]
enum Benchmark {
    /// Requests, time and CPU time of listing, layout by layout; also `cargo xtask list-bench`.
    List(list::Arguments),
    /// Installs the other tools into target/peers and prints what is there; also `cargo xtask
    /// peers`.
    Peers(peers::Arguments),
    /// The Python package beside other Python libraries.
    Python(python::Arguments),
    /// Tables of the runs that a folder has, and of those in its folder `python`.
    Report { folder: Option<PathBuf> },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            term::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<()> {
    match arguments.benchmark {
        None => matrix::run(arguments.matrix, arguments.programs),
        Some(Benchmark::List(plan)) => list::run(&plan),
        Some(Benchmark::Peers(search)) => peers::run(search),
        Some(Benchmark::Python(arguments)) => python::run(arguments),
        Some(Benchmark::Report { folder }) => {
            let folder = folder.unwrap_or_else(report::folder);
            if folder.join(python::RUNS_FOLDER).exists() {
                python::write(&folder)?;
            }
            report::write(&folder)
        }
    }
}
