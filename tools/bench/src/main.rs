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
}

#[derive(Subcommand)]
enum Benchmark {
    /// Requests, time and CPU time of listing, layout by layout; also `cargo xtask list-bench`.
    List(list::Arguments),
    /// Installs the other tools into target/peers and prints what is there; also `cargo xtask
    /// peers`.
    Peers(peers::Arguments),
    /// The Python package beside other Python libraries.
    Python(python::Options),
    /// Tables of the runs that a folder has.
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
        None => matrix::run(arguments.matrix),
        Some(Benchmark::List(plan)) => list::run(&plan),
        Some(Benchmark::Peers(search)) => peers::run(search),
        Some(Benchmark::Python(options)) => python::run(options),
        Some(Benchmark::Report { folder }) => report::write(&folder.unwrap_or_else(report::folder)),
    }
}
