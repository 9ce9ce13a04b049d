//! The matrix: workloads after published tests, in several places, with every tool in turn.
//!
//! [`table`] says which workloads there are and where each runs, [`environment`] what surrounds a
//! run, [`check`] whether its work was done, [`runner`] in which order tools run. Runs are measured
//! by [`super::usage`] and stored as [`super::record::Run`], from which the report is made. Nothing
//! is downloaded or built here: that is the part of [`super::peers`] and `cargo xtask servers`.
//! [`super::python`] has workloads and tools of its own.

mod bare;
mod check;
mod environment;
mod ledger;
pub(crate) mod libraries;
mod listing;
mod memory;
pub(crate) mod options;
mod output;
pub(crate) mod plan;
mod results;
mod runner;
mod server;
pub(crate) mod shape;
pub(crate) mod table;
mod tools;
mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use self::environment::Environment;
pub(crate) use self::options::{Options, Programs};
use self::plan::Row;
use self::results::Results;
use self::runner::{Bench, Runner};
use self::shape::Shape;
use self::table::{WORKLOADS, Workload};
use self::tools::Tool;
use self::tree::Tree;
use super::record::Place;
use super::report;
use support::{files, process, servers, term};

/// Workloads, and the tools that do them.
pub(crate) struct Suite {
    pub(crate) workloads: &'static [Workload],
    /// Those that are selected, in their places.
    pub(crate) rows: Vec<Row>,
    pub(crate) tools: Vec<Tool>,
    /// What else the runs are made with, a line each.
    pub(crate) about: Vec<String>,
    /// Our own command.
    pub(crate) s3haul: PathBuf,
    /// Where the runs are kept.
    pub(crate) folder: PathBuf,
}

/// Runs the matrix.
pub(super) fn run(options: Options, programs: Programs) -> Result<()> {
    let rows = plan::rows(WORKLOADS, &options)?;
    let s3haul = process::s3haul(options.binary.as_deref(), true)?;
    let tools = tools::find(&options, programs, &s3haul)?;
    let folder = options.output();
    let suite = Suite {
        workloads: WORKLOADS,
        rows,
        tools,
        about: Vec::new(),
        s3haul,
        folder: folder.clone(),
    };
    suite.run(options, || {
        report::write(&folder)?;
        Ok(folder.join("README.md"))
    })
}

impl Suite {
    /// Measures it, and has the page written, whose path is returned.
    pub(crate) fn run(self, options: Options, page: impl Fn() -> Result<PathBuf>) -> Result<()> {
        let begin = Instant::now();
        let Self { workloads, mut rows, tools, about, s3haul, folder } = self;
        term::heading("bench: tools");
        let lines: Vec<String> = about.into_iter().chain(tools.iter().map(Tool::about)).collect();
        for line in &lines {
            term::line(&format!("  {line}"));
        }
        install_servers(&rows, &options);
        let earlier = if options.append() { Results::earlier(&folder)? } else { Vec::new() };
        report::note(&folder, &lines, !earlier.is_empty())?;
        let results = Results::create(&folder, earlier)?;
        let mut bench = Bench { options, tools, s3haul, results, slow: BTreeMap::new() };
        leave_out_what_is_whole(&mut rows, &bench);
        let unready = run_all(&mut bench, rows)?;
        let failed = bench.results.failed;
        bench.results.finish(|run| plan::order(workloads, run))?;
        let page = page()?;
        let took = term::seconds(begin.elapsed());
        term::good(&format!("bench: {}, in {took}", page.display()));
        if failed > 0 {
            term::line(&format!("bench: {failed} runs failed; their rows say how"));
        }
        if unready > 0 {
            bail!("{unready} workloads could not be prepared");
        }
        Ok(())
    }
}

/// Sees to the servers and to the Python that makes certificates, where they may be installed. What
/// is not there then is reported by the workloads that need it.
fn install_servers(rows: &[Row], options: &Options) {
    let is_own = |row: &Row| row.1.server == "embedded" && !row.1.is_tls;
    if options.no_install || rows.iter().all(is_own) {
        return;
    }
    if let Err(error) = servers::run() {
        term::error(&format!("the servers could not be installed: {error:#}"));
    }
}

/// With `--missing` only what is not whole; a line about what remains.
fn leave_out_what_is_whole(rows: &mut Vec<Row>, bench: &Bench) {
    let tools: Vec<&str> = bench.tools.iter().map(Tool::name).collect();
    if bench.options.missing {
        rows.retain(|row| !plan::is_whole(row, &tools, &bench.options, &bench.results));
    }
    term::line(&format!("  {}", plan::about(rows, tools.len(), &bench.options)));
}

/// All workloads in all their places; answers how many could not be prepared.
fn run_all(bench: &mut Bench, rows: Vec<Row>) -> Result<u32> {
    let scratch = tempfile::tempdir().context("could not make a temporary folder")?;
    let mut trees = Trees { disk: scratch.path().join("tree"), current: None };
    let mut unready = 0;
    for (workload, place) in rows {
        let place_name = results::place(&place);
        let title = workload.job(&bench.options).title();
        term::heading(&format!("{} on {place_name}: {title}", workload.name));
        let folder = scratch.path().join("run");
        let ran = run_cell(bench, workload, &place, &mut trees, &folder);
        files::remove(&folder)?;
        if let Err(error) = ran {
            unready += 1;
            term::error(&format!("{} on {place_name}: {error:#}", workload.name));
        }
    }
    Ok(unready)
}

fn run_cell(
    bench: &mut Bench,
    workload: &'static Workload,
    place: &Place,
    trees: &mut Trees,
    folder: &Path,
) -> Result<()> {
    let job = workload.job(&bench.options);
    let tree = trees.of(job.files)?;
    std::fs::create_dir_all(folder)?;
    let environment = Environment::open(job, place, tree, &bench.s3haul, folder)?;
    Runner { workload: workload.name, repeats: workload.repeats, environment }.run(bench)
}

/// The tree of the workload before, which is often that of the next one. Only one is there at a
/// time, since some are large.
struct Trees {
    /// Where those are that do not fit into memory.
    disk: PathBuf,
    current: Option<(Tree, Option<TempDir>)>,
}

impl Trees {
    fn of(&mut self, shape: Option<Shape>) -> Result<&Tree> {
        let shape = shape.unwrap_or(Shape::Numbered { files: 0, bytes: 0 });
        if !self.current.as_ref().is_some_and(|(tree, _)| tree.is(shape)) {
            self.current = None;
            files::remove(&self.disk)?;
            let memory = memory::folder(shape.bytes());
            let root =
                memory.as_ref().map_or(self.disk.clone(), |folder| folder.path().join("tree"));
            self.current = Some((Tree::make(&root, shape)?, memory));
        }
        self.current.as_ref().map(|(tree, _)| tree).context("a tree was made")
    }
}
