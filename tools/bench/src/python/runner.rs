//! Runs of one workload: all libraries in turn, A B C A B C, behind a warm-up round, each a process
//! of its own, whose result is checked by what it reports and by what is on the server and on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tempfile::TempDir;

use super::Options;
use super::libraries::Library;
use super::workloads::Work;
use crate::matrix::ledger::Requests;
use crate::matrix::memory;
use crate::matrix::results::Results;
use crate::matrix::runner::{failure, one_line};
use crate::matrix::server::Server;
use crate::matrix::shape::Shape;
use crate::matrix::tree::{self, Tree, sample, sizes};
use crate::peers::Call;
use crate::record::{Outcome, Place, Run};
use crate::usage::measure_within;

/// Downloaded files whose bytes are compared.
const SAMPLE_FILES: usize = 8;

/// What all workloads share.
pub(super) struct Bench {
    pub(super) options: Options,
    pub(super) libraries: Vec<Library>,
    pub(super) versions: BTreeMap<String, String>,
    pub(super) python: PathBuf,
    pub(super) s3haul: PathBuf,
    pub(super) results: Results,
}

/// What a script reports.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Report {
    objects: u64,
    bytes: u64,
}

/// The server and the data of a workload.
pub(super) struct Runner {
    work: Work,
    server: Server,
    tree: Option<Tree>,
    /// Keys of objects that are read, one a line.
    keys: PathBuf,
    expected: Report,
    folder: PathBuf,
    /// Holds the files, in memory where there is room.
    files: TempDir,
}

impl Runner {
    /// Starts the server, and puts there what a run finds.
    pub(super) fn open(work: Work, bench: &Bench, folder: &Path) -> Result<Self> {
        let scale = bench.options.scale;
        let place = Place { server: "embedded".to_owned(), latency_ms: 0, is_tls: false };
        let server = Server::open(&place, &work.store(scale), &bench.s3haul, folder)?;
        let shape = work.shape(scale);
        let files = match memory::folder(shape.map_or(0, Shape::bytes)) {
            Some(files) => files,
            None => tempfile::tempdir().context("could not make a temporary folder")?,
        };
        let tree = shape.map(|shape| Tree::make(&files.path().join("tree"), shape)).transpose()?;
        let (keys, folder) = (folder.join("keys"), folder.to_owned());
        let expected = Report { objects: 0, bytes: 0 };
        let mut runner = Self { work, server, tree, keys, expected, folder, files };
        runner.fill().context("could not fill the server")?;
        Ok(runner)
    }

    fn fill(&mut self) -> Result<()> {
        let (bucket, prefix) = self.work.place(0);
        if let (Some((bucket, prefix)), Some(tree)) = (self.work.filled(), &self.tree) {
            let target = format!("s3://{bucket}/{prefix}");
            let source = tree.root.to_string_lossy();
            self.server.run(&["cp", "--recursive", "--quiet", &source, &target])?;
            if self.server.totals(bucket, prefix)? != tree.totals() {
                bail!("`{target}` does not hold the files");
            }
        }
        let files = self.tree.iter().flat_map(|tree| &tree.files);
        let names: Vec<&str> = files.map(|(name, _)| name.as_str()).collect();
        std::fs::write(&self.keys, names.join("\n")).context("could not write the keys")?;
        let (objects, bytes) = match (self.work, &self.tree) {
            (Work::Start | Work::Sync, _) => (0, 0),
            (_, Some(tree)) => tree.totals(),
            (_, None) => self.server.totals(bucket, &prefix)?,
        };
        self.expected = Report { objects, bytes };
        Ok(())
    }

    /// All rounds.
    pub(super) fn run(&mut self, bench: &mut Bench) -> Result<()> {
        let mut out: BTreeSet<&'static str> = BTreeSet::new();
        let mut number = 0;
        for round in 0..=bench.options.rounds {
            for index in 0..bench.libraries.len() {
                let library = &bench.libraries[index];
                if out.contains(library.name) {
                    continue;
                }
                number += 1;
                let outcome = match library.reason(self.work) {
                    Some(why) => Outcome::Absent(why.to_owned()),
                    None => self.once(bench, library, number)?,
                };
                let is_last = is_last(&outcome, &bench.options);
                if is_last {
                    out.insert(library.name);
                }
                if round > 0 || is_last {
                    let run = self.record(bench, library, round.max(1), outcome);
                    bench.results.keep(&run)?;
                }
            }
        }
        Ok(())
    }

    fn record(&self, bench: &Bench, library: &Library, round: u32, outcome: Outcome) -> Run {
        let scale = bench.options.scale;
        let (amount, unit) = self.work.amount(scale);
        Run {
            workload: self.work.name().to_owned(),
            title: self.work.title(scale),
            place: self.server.place.clone(),
            tool: library.name.to_owned(),
            version: library.version(&bench.versions),
            round,
            amount,
            unit,
            outcome,
        }
    }

    /// One run of one library.
    fn once(&mut self, bench: &Bench, library: &Library, number: u32) -> Result<Outcome> {
        let target = self.files.path().join(format!("down-{number}"));
        std::fs::create_dir_all(&target).context("could not make a folder")?;
        let (output, log) = (self.folder.join("stdout.log"), self.folder.join("stderr.log"));
        let mut command = self.command(bench, library, number, &target)?;
        command.stderr(File::create(&log)?);
        self.server.requests()?;
        let ended =
            measure_within(&mut command, File::create(&output)?.into(), bench.options.limit)?;
        let requests = self.server.requests()?;
        let outcome = if ended.is_cut {
            Outcome::Failed(format!("more than {} s", bench.options.limit.as_secs()))
        } else if !ended.status.success() {
            Outcome::Failed(failure(&ended, &log))
        } else {
            let writes = requests.as_ref().map_or(0, Requests::writes);
            let count = requests.as_ref().map(Requests::count);
            let reported = library.script.is_some().then(|| reported(&output));
            match self.check(reported, number, &target, writes)? {
                Ok(()) => Outcome::done(&ended.usage, count),
                Err(why) => Outcome::Failed(one_line(&why)),
            }
        };
        self.clear(number, &target)?;
        Ok(outcome)
    }

    /// The process of a run.
    fn command(
        &self,
        bench: &Bench,
        library: &Library,
        number: u32,
        target: &Path,
    ) -> Result<Command> {
        let (bucket, prefix) = self.work.place(number);
        let folder = match &self.tree {
            Some(tree) if self.work != Work::Download => tree.root.as_path(),
            _ => target,
        };
        let endpoint = &self.server.endpoint;
        let Some((file, text)) = library.script else {
            let words = self.work.words(folder, &format!("s3://{bucket}/{prefix}"));
            let mut command = Call { program: &bench.s3haul, endpoint }.command();
            command.args(words.context("the command does not do this")?);
            return Ok(command);
        };
        let call = Call { program: &bench.python, endpoint };
        let script = call.file(file, text).map_err(anyhow::Error::msg)?;
        let mut command = call.command();
        command
            .arg(script)
            .arg(self.work.function())
            .env("BENCH_BUCKET", bucket)
            .env("BENCH_PREFIX", prefix)
            .env("BENCH_FOLDER", folder)
            .env("BENCH_KEYS", &self.keys);
        Ok(command)
    }

    /// What is wrong with a run's result.
    fn check(
        &self,
        reported: Option<Result<Report, String>>,
        number: u32,
        target: &Path,
        writes: u64,
    ) -> Result<Result<(), String>> {
        match reported {
            Some(Err(why)) => return Ok(Err(why)),
            Some(Ok(report)) if report != self.expected => {
                return Ok(Err(format!("it reports {report:?}, not {:?}", self.expected)));
            }
            _ => {}
        }
        let (bucket, prefix) = self.work.place(number);
        let Some(tree) = &self.tree else { return Ok(Ok(())) };
        Ok(match self.work {
            Work::Download => match same(&sizes(target)?, tree) {
                Ok(()) => same_bytes(tree, target)?,
                Err(why) => Err(why),
            },
            Work::Sync if writes > 0 => Err(format!("it sent {writes} requests that write")),
            Work::Upload | Work::Sync => same(&self.server.listing(bucket, &prefix)?.sizes(), tree),
            _ => Ok(()),
        })
    }

    fn clear(&self, number: u32, target: &Path) -> Result<()> {
        tree::remove(target)?;
        if self.work == Work::Upload {
            let (bucket, prefix) = self.work.place(number);
            let url = format!("s3://{bucket}/{prefix}");
            self.server.run(&["rm", "--recursive", "--quiet", &url])?;
        }
        Ok(())
    }
}

/// Whether a library does not run again: failures are reported once, and a slow one has had its
/// run.
fn is_last(outcome: &Outcome, options: &Options) -> bool {
    match outcome {
        Outcome::Done { wall_s, .. } => {
            !options.once_above.is_zero() && *wall_s > options.once_above.as_secs_f64()
        }
        Outcome::Absent(_) | Outcome::Failed(_) => true,
    }
}

/// The last line that a script printed.
fn reported(output: &Path) -> Result<Report, String> {
    let text = std::fs::read_to_string(output).unwrap_or_default();
    let line = text.lines().next_back().unwrap_or_default();
    serde_json::from_str(line).map_err(|_| format!("it reports no result, but `{line}`"))
}

/// Whether names and sizes are those of the tree.
fn same(found: &BTreeMap<String, u64>, tree: &Tree) -> Result<(), String> {
    let wrong = tree.files.iter().find(|(name, bytes)| found.get(name) != Some(bytes));
    if let Some((name, bytes)) = wrong {
        return Err(format!("`{name}` is not there with {bytes} bytes, one of {}", found.len()));
    }
    if found.len() == tree.files.len() {
        Ok(())
    } else {
        Err(format!("{} names are there, not {}", found.len(), tree.files.len()))
    }
}

/// Whether some downloaded files have the bytes of the tree's.
fn same_bytes(tree: &Tree, target: &Path) -> Result<Result<(), String>> {
    for (name, _) in sample(&tree.files, SAMPLE_FILES) {
        if std::fs::read(target.join(&name))? != std::fs::read(tree.path(&name))? {
            return Ok(Err(format!("`{name}` has other bytes")));
        }
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_the_last_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            reported(file.path())
        };
        let report = Report { objects: 2, bytes: 7 };
        assert_eq!(read("a warning\n{\"objects\": 2, \"bytes\": 7}\n"), Ok(report));
        assert_eq!(read("").unwrap_err(), "it reports no result, but ``");
        assert!(read("{\"objects\": 2.5, \"bytes\": 7}\n").is_err());
    }

    #[test]
    fn files_are_compared_by_name_size_and_bytes() {
        let scratch = tempfile::tempdir().unwrap();
        let shape = Shape::Numbered { files: 3, bytes: 4 };
        let tree = Tree::make(&scratch.path().join("tree"), shape).unwrap();
        let copy = Tree::make(&scratch.path().join("copy"), shape).unwrap();
        let mut found = sizes(&copy.root).unwrap();
        assert_eq!(same(&found, &tree), Ok(()));
        assert_eq!(same_bytes(&tree, &copy.root).unwrap(), Ok(()));
        std::fs::write(&copy.single, "abcd").unwrap();
        assert!(same_bytes(&tree, &copy.root).unwrap().is_err());
        found.insert("other".to_owned(), 4);
        assert_eq!(same(&found, &tree).unwrap_err(), "4 names are there, not 3");
        found.insert(tree.files[0].0.clone(), 5);
        assert!(same(&found, &tree).unwrap_err().contains("is not there with 4 bytes"));
    }
}
