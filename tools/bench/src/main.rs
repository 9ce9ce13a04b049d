//! Benchmarks. Those with a name are functions in [`BENCHES`]; without a name every tool runs the
//! workloads of the [`matrix`]. This file only dispatches.

mod layouts;
mod list;
mod matrix;
mod peers;
mod put;
mod record;
mod report;
mod server;
mod usage;

use std::process::ExitCode;

use anyhow::{Result, bail};

use support::term;

/// A benchmark: what it is called, what it measures, how it runs with the arguments left.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "put",
        about: "CPU time a file of `cp --recursive`, next to a bare sender \
                [--files-per-folder N] [--size BYTES] [--rounds N]",
        run: put::run,
    },
    Bench {
        name: "list",
        about: "requests, time and CPU time of listing, layout by layout; also \
                `cargo xtask list-bench` [--layouts A,B] [--n KEYS] [--concurrency C,C] \
                [--latency MS] [--ordered] [--binary PATH] [--rounds [--jitter]]",
        run: list::run,
    },
    Bench {
        name: "peers",
        about: "installs the tools that we are measured against into target/peers and tells what \
                is there; also `cargo xtask peers` [--only A,B] [--tool-path NAME=PATH] \
                [--no-install] [--binary PATH]; with --try each does each kind of work on the \
                server of AWS_ENDPOINT_URL",
        run: peers::run,
    },
    Bench {
        name: "report",
        about: "tables and plots of runs that are there [FOLDER]",
        run: report::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            term::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs the benchmark that the first argument names, or the matrix where there is no name.
fn run(args: &[String]) -> Result<()> {
    let name = args.first().map_or("", String::as_str);
    match BENCHES.iter().find(|bench| bench.name == name) {
        Some(bench) => (bench.run)(&args[1..]),
        None if name == "--help" => {
            term::line(&existing());
            Ok(())
        }
        None if name.is_empty() || name.starts_with("--") => matrix::run(args),
        None => bail!("unknown bench `{name}`; {}", existing()),
    }
}

fn existing() -> String {
    let lines: Vec<String> =
        BENCHES.iter().map(|bench| format!("  {:<10} {}", bench.name, bench.about)).collect();
    format!(
        "these exist:\n{}\nwithout a name all tools run all workloads: {}",
        lines.join("\n"),
        matrix::USAGE
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_bench_is_named_in_the_error() {
        let error = run(&["nonsense".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("unknown bench `nonsense`"), "{error}");
    }
}
