//! `python`: the Python package beside other Python libraries, each with its own short script.
//!
//! [`workloads`] says what is done, [`libraries`] with what, [`runner`] measures and checks it, and
//! [`page`] makes `docs/bench/python.md` of the runs. Nothing of the package is built here: it is
//! installed from the wheel that `make wheel` has built.

mod libraries;
mod page;
mod runner;
mod workloads;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use self::runner::{Bench, Runner};
use crate::matrix::options::{limit, scale, seconds};
use crate::matrix::results::Results;
use crate::matrix::tree;
use crate::peers::absolute;
use crate::{record, report};
use support::{process, term};

/// Where the runs are kept, beside the page.
const RUNS_FOLDER: &str = "python";
/// The page.
const PAGE: &str = "python.md";

/// What is measured, and with what.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Share of the sizes.
    #[arg(long, default_value = "1", value_parser = scale)]
    scale: f64,
    /// Rounds that count, behind the warm-up.
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only these workloads.
    #[arg(long, value_name = "list-arrow,read", value_delimiter = ',')]
    only: Vec<String>,
    /// Only these libraries.
    #[arg(long, value_name = "s3haul,obstore", value_delimiter = ',')]
    libraries: Vec<String>,
    /// What one run may take.
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = limit)]
    limit: Duration,
    /// A library whose warm-up takes longer does not run again: that run counts. 0: it runs all
    /// rounds.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    once_above: Duration,
    /// The command, which is also the server; built where absent.
    #[arg(long, value_name = "PATH", value_parser = absolute)]
    binary: Option<PathBuf>,
    /// The wheel of the package; that of `make wheel` where absent.
    #[arg(long, value_name = "PATH", value_parser = absolute)]
    wheel: Option<PathBuf>,
    /// Takes the package and the libraries as they are installed.
    #[arg(long, conflicts_with = "wheel")]
    no_install: bool,
    /// Joins the runs that are there: rows measured again replace theirs.
    #[arg(long)]
    append: bool,
    /// Where page and runs are kept; `docs/bench` where absent.
    #[arg(long, value_name = "FOLDER", value_parser = absolute)]
    output: Option<PathBuf>,
}

/// Runs the benchmark.
pub(crate) fn run(options: Options) -> Result<()> {
    let begin = Instant::now();
    let works = workloads::selected(&options.only)?;
    let libraries = libraries::selected(&options.libraries)?;
    let s3haul = s3haul(&options)?;
    let python = libraries::install(options.wheel.as_deref(), !options.no_install)?;
    let versions = libraries::versions(&python)?;
    let mut lines = Vec::new();
    for name in ["Python", "pyarrow", "pandas"] {
        let version = versions.get(name).with_context(|| format!("there is no {name}"))?;
        lines.push(format!("{name} {version}"));
    }
    lines.extend(libraries.iter().map(|library| library.line(&versions)));
    term::heading("bench python: libraries");
    for line in &lines {
        term::line(&format!("  {line}"));
    }
    let output = options.output.clone().unwrap_or_else(report::folder);
    let folder = output.join(RUNS_FOLDER);
    let earlier = if options.append { Results::earlier(&folder)? } else { Vec::new() };
    report::note(&folder, &lines, !earlier.is_empty())?;
    let results = Results::create(&folder, earlier)?;
    let mut bench = Bench { options, libraries, versions, python, s3haul, results };
    for work in works {
        run_workload(&mut bench, work)?;
    }
    let failed = bench.results.failed;
    bench.results.finish(order)?;
    let page = write(&output)?;
    term::line(&page);
    let took = term::seconds(begin.elapsed());
    term::good(&format!("bench: {}, in {took}", output.join(PAGE).display()));
    if failed > 0 {
        bail!("{failed} runs failed; their rows say how");
    }
    Ok(())
}

fn run_workload(bench: &mut Bench, work: workloads::Work) -> Result<()> {
    term::heading(&format!("{}: {}", work.name(), work.title(bench.options.scale)));
    let scratch = tempfile::tempdir().context("could not make a temporary folder")?;
    let folder = scratch.path().join("run");
    std::fs::create_dir_all(&folder)?;
    Runner::open(work, bench, &folder)?.run(bench)?;
    tree::remove(&folder)
}

/// By workload; runs of one stay as they were made.
fn order(run: &record::Run) -> usize {
    let position = workloads::ALL.iter().position(|work| work.name() == run.workload);
    position.unwrap_or(usize::MAX)
}

/// Makes the page of the runs that are kept, and returns its tables.
fn write(output: &Path) -> Result<String> {
    let folder = output.join(RUNS_FOLDER);
    let runs = record::read(&folder.join(report::RUNS))?;
    let page = page::page(&runs, &report::about(&folder));
    let path = output.join(PAGE);
    std::fs::write(&path, &page)
        .with_context(|| format!("could not write `{}`", path.display()))?;
    let tables = page.lines().skip_while(|line| !line.starts_with("## "));
    Ok(tables.collect::<Vec<_>>().join("\n"))
}

fn s3haul(options: &Options) -> Result<PathBuf> {
    if let Some(binary) = &options.binary {
        return Ok(binary.clone());
    }
    process::run(&mut process::cargo(&["build", "--release", "--quiet", "-p", "s3haul-cli"]))?;
    Ok(process::target().join("release/s3haul"))
}
