//! Benchmarks. Those with a name are functions in [`BENCHES`]; without a name every tool runs the
//! workloads of the [`matrix`]. This file only dispatches.

pub(crate) mod list;
mod matrix;
pub(crate) mod peers;
mod put;
mod record;
mod report;
mod server;
mod usage;

use anyhow::{Result, bail};

use crate::term;

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
        name: "report",
        about: "tables and plots of runs that are there [FOLDER]",
        run: report::run,
    },
];

/// Runs the benchmark that the first argument names, or the matrix where there is no name.
pub(crate) fn run(args: &[String]) -> Result<()> {
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
