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

use std::process::ExitCode;

use anyhow::{Result, bail};
use support::{process, servers, term};

const USAGE: &str = "\
Development tasks.

Usage: cargo xtask <TASK>

Tasks:
  check [--keep-going]    format, tidy and clippy: what `test` looks for first
  test [--keep-going]     all that must pass before a change lands
  soak [OPTION]...        random commands next to the real aws: --sequences, --seed, --server;
                          or whole jobs in simulated weather: --jobs, --seed, --canary BUG;
                          or real kills: --kill [N], --seed, --server embedded|versitygw, --binary;
                          or jobs on a Ray cluster of this machine: --cluster [ROUNDS]
  deny                    licences, banned crates, sources, advisories
  fuzz [NAME]...          the fuzz targets under libFuzzer, a minute each or --seconds N
  tidy                    the module graph, and style rules that clippy does not know
  servers                 install the servers and peers of the tests into target/servers
  services [--add NAME=VERSION=URL]
                          what check-server finds on them, into docs/services.md
  peers [OPTION]...       install the tools that we are measured against into target/peers
  budgets [--bless]       instructions of the hot paths next to tools/xtask/budgets.json
  python                  the Python package: a wheel, its types and its tests
  screenshots             the pictures of docs/html.md, in a headless Chromium, and that of the
                          dashboard in docs/metrics.md, over a run that a Prometheus scrapes
  wheel                   the Python package as it is released, into target/wheels
  dist [OPTION]           what a release consists of, into target/dist; --check tries each package
                          in a clean root, --reproduce builds again elsewhere and compares
  man                     a man page for each command, into target/man
  docs                    the documentation as a site, by mdbook, into target/site
  picture                 a real session as docs/terminal.svg
  demo [--binary PATH]    a tour of the command against its own server, checked byte for byte
  bench [OPTION]...       published workloads with every tool beside ours, into docs/bench:
                          --scale, --only, --tools, --servers, --latencies, …; --help has them
  bench NAME [OPTION]...  a benchmark by its name: put, list, python
  list-bench [OPTION]...  listing of many layouts: requests, time, CPU; `bench list` by another name
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = if rustdoc::is_asked_for() { rustdoc::run(&args) } else { run(&args) };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            term::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    let (task, rest) = match args.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", args),
    };
    match task {
        "check" => checks::run(checks::Extent::Quick, rest),
        "test" => checks::run(checks::Extent::Full, rest),
        "soak" => soak::run(rest),
        "fuzz" => fuzz::run(rest),
        "deny" => no_arguments(rest).and_then(|()| deny::run()),
        "tidy" => no_arguments(rest).and_then(|()| tidy::run()),
        "servers" => no_arguments(rest).and_then(|()| servers::run()),
        "services" => services::run(rest),
        "peers" => bench(&["peers"], rest),
        "python" => no_arguments(rest).and_then(|()| python::test()),
        "screenshots" => no_arguments(rest).and_then(|()| python::screenshots()),
        "wheel" => no_arguments(rest).and_then(|()| python::wheel().map(drop)),
        "dist" => dist::run(rest),
        "budgets" => budgets::run(rest),
        "docs" => no_arguments(rest).and_then(|()| docs::site()),
        "picture" => picture::run(rest),
        "man" => no_arguments(rest).and_then(|()| docs::man()),
        "demo" => demo::run(rest),
        "bench" => bench(&[], rest),
        "list-bench" => bench(&["list"], rest),
        "help" | "--help" | "-h" => {
            term::line(USAGE.trim_end());
            Ok(())
        }
        _ => bail!("unknown task `{task}`\n\n{USAGE}"),
    }
}

/// The program of the benchmarks, in the folder that we were called from.
fn bench(name: &[&str], args: &[String]) -> Result<()> {
    let mut cargo = process::bench_cargo("run", &["-q", "--"]);
    process::run(cargo.args(name).args(args).current_dir(std::env::current_dir()?))
}

fn no_arguments(args: &[String]) -> Result<()> {
    match args.first() {
        Some(argument) => bail!("unexpected argument `{argument}`"),
        None => Ok(()),
    }
}
