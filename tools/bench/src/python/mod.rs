//! `python`: the Python package beside other Python libraries, each with its own short script.
//!
//! These are workloads and tools of [`crate::matrix`], which measures and checks them; [`page`]
//! makes `docs/bench/python.md` of the runs. Nothing of the package is built here: it is installed
//! from the wheel that `make wheel` has built.

mod page;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::matrix::shape::{KIB, Shape};
use crate::matrix::table::{Keys, Kind, Layout, Workload, listing, row, start};
use crate::matrix::{self, Suite, libraries, plan};
use crate::peers::absolute;
use crate::{record, report};
use support::process;

/// Where the runs are kept, beside the page.
pub(crate) const RUNS_FOLDER: &str = "python";
/// The page.
const PAGE: &str = "python.md";

const KEYS: Keys = Keys { layout: Layout::Formula("dates"), count: 1_000_000 };
const OBJECTS: Shape = Shape::Folders { folders: 10, files: 1000, bytes: 32 * KIB };
const FILES: Shape = Shape::Folders { folders: 20, files: 1000, bytes: 32 * KIB };

/// All workloads, in the order of the page.
pub(crate) const WORKLOADS: &[Workload] = &[
    start("start", Kind::Start),
    listing("list-arrow", 1.0, Kind::ListArrow, KEYS),
    listing("list-pandas", 1.0, Kind::ListPandas, KEYS),
    row("read", 1.0, Kind::Read, OBJECTS),
    row("upload", 1.0, Kind::Upload, FILES),
    row("download", 1.0, Kind::Download, FILES),
    row("sync", 1.0, Kind::SyncNothing, FILES),
];

/// What is measured; the tools are libraries.
#[derive(Clone, Debug, clap::Args)]
#[command(
    mut_arg("tools", |tools| tools.value_name("s3haul,obstore")),
    mut_arg("only", |only| only.value_name("list-arrow,read")),
    mut_arg("limit", |limit| limit.default_value("600")),
    mut_arg("once_above", |seconds| seconds.default_value("20")),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    matrix: matrix::Options,
    /// The wheel of the package; that of `make wheel` where absent.
    #[arg(long, value_name = "PATH", value_parser = absolute, conflicts_with = "no_install")]
    wheel: Option<PathBuf>,
}

/// Runs the benchmark.
pub(crate) fn run(arguments: Arguments) -> Result<()> {
    let Arguments { matrix: options, wheel } = arguments;
    let rows = plan::rows(WORKLOADS, &options)?;
    libraries::check_names(&options)?;
    let s3haul = process::s3haul(options.binary.as_deref(), true)?;
    let python = libraries::install(wheel.as_deref(), !options.no_install)?;
    let versions = libraries::versions(&python)?;
    let tools = libraries::tools(&options, &python, &versions, &s3haul)?;
    let mut about = Vec::new();
    for name in ["Python", "pyarrow", "pandas"] {
        let version = versions.get(name).with_context(|| format!("there is no {name}"))?;
        about.push(format!("{name} {version}"));
    }
    let output = options.output();
    let folder = output.join(RUNS_FOLDER);
    let suite = Suite { workloads: WORKLOADS, rows, tools, about, s3haul, folder };
    suite.run(options, || write(&output))
}

/// Makes the page of the runs that are kept.
pub(crate) fn write(output: &Path) -> Result<PathBuf> {
    let folder = output.join(RUNS_FOLDER);
    let runs = record::read(&folder.join(report::RUNS))?;
    let page = output.join(PAGE);
    std::fs::write(&page, page::page(&report::tables(&runs), &report::about(&folder)))
        .with_context(|| format!("could not write `{}`", page.display()))?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::record::Unit;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parse(text: &str) -> Arguments {
        let words = std::iter::once("python").chain(text.split_whitespace());
        Line::try_parse_from(words).unwrap().arguments
    }

    #[test]
    fn sizes_are_those_of_the_titles_and_follow_the_scale() {
        let of = |name: &str, text: &str| {
            let rows = plan::rows(WORKLOADS, &parse(&format!("--only {name} {text}")).matrix);
            let (workload, _) = rows.unwrap()[0];
            workload.job(&parse(text).matrix)
        };
        assert_eq!(of("read", "").amount(), (10_000.0, Unit::Object));
        assert_eq!(of("sync", "--scale 0.1").amount(), (2000.0, Unit::Object));
        assert_eq!(
            of("list-arrow", "").title(),
            "1,000,000 keys like `dates` into a pyarrow.Table"
        );
        assert_eq!(of("list-pandas", "--scale 0.5").amount(), (0.5, Unit::MillionKeys));
    }

    #[test]
    fn a_run_takes_longer_than_one_of_the_matrix() {
        let patient = parse("").matrix;
        let hurried = parse("--limit 40 --once-above 3").matrix;
        assert_ne!(patient, hurried);
        assert_eq!(patient, parse("--limit 600 --once-above 20").matrix);
    }
}
