//! The runs so far: a line each on the terminal and in a file, as they happen.
//!
//! A run joins those of earlier sessions where that is asked for: then the first one of a workload,
//! a place and a tool takes the place of all that were there of these three.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::record::{self, Outcome, Place, Run};
use crate::report::RUNS;
use support::term;

/// The file of runs.
pub(crate) struct Results {
    file: File,
    path: PathBuf,
    /// All that are in the file.
    runs: Vec<Run>,
    /// How many of them are of an earlier session; they come first.
    old: usize,
    /// Runs that failed.
    pub(crate) failed: u32,
}

impl Results {
    /// Begins in this folder with these runs of earlier sessions.
    pub(crate) fn create(folder: &Path, runs: Vec<Run>) -> Result<Self> {
        let path = folder.join(RUNS);
        std::fs::create_dir_all(folder)
            .with_context(|| format!("could not create `{}`", folder.display()))?;
        let file = written(&path, &runs)?;
        Ok(Self { file, path, old: runs.len(), runs, failed: 0 })
    }

    /// The runs that a folder has.
    pub(crate) fn earlier(folder: &Path) -> Result<Vec<Run>> {
        let path = folder.join(RUNS);
        if path.is_file() { record::read(&path) } else { Ok(Vec::new()) }
    }

    /// Whether a row has a run that nothing follows: the last round, or one that ends it.
    pub(super) fn has_row(&self, row: (&str, &Place, &str), is_end: impl Fn(&Run) -> bool) -> bool {
        self.runs.iter().any(|run| run.row() == row && is_end(run))
    }

    /// Keeps a run.
    pub(crate) fn keep(&mut self, run: &Run) -> Result<()> {
        term::line(&told(run));
        self.failed += u32::from(matches!(run.outcome, Outcome::Failed(_)));
        self.forget_old(run)?;
        self.runs.push(run.clone());
        let mut line = serde_json::to_vec(run)?;
        line.push(b'\n');
        let written = self.file.write_all(&line);
        written.with_context(|| format!("could not write `{}`", self.path.display()))
    }

    /// Removes earlier runs of this one's row.
    fn forget_old(&mut self, run: &Run) -> Result<()> {
        let new = self.runs.split_off(self.old);
        self.runs.retain(|old| old.row() != run.row());
        let is_less = self.runs.len() < self.old;
        self.old = self.runs.len();
        self.runs.extend(new);
        if is_less {
            self.file = written(&self.path, &self.runs)?;
        }
        Ok(())
    }

    /// Brings the runs of several sessions into an order.
    pub(crate) fn finish<K: Ord>(mut self, order: impl Fn(&Run) -> K) -> Result<()> {
        self.runs.sort_by_key(order);
        written(&self.path, &self.runs).map(drop)
    }
}

/// A file of these runs, open at its end. It takes the other's place once it is whole.
fn written(path: &Path, runs: &[Run]) -> Result<File> {
    let told = || format!("could not write `{}`", path.display());
    let mut text = Vec::new();
    for run in runs {
        serde_json::to_writer(&mut text, run)?;
        text.push(b'\n');
    }
    let other = path.with_extension("jsonl.new");
    let mut file = File::create(&other).with_context(told)?;
    file.write_all(&text).with_context(told)?;
    std::fs::rename(&other, path).with_context(told)?;
    Ok(file)
}

/// A place in a few characters: `embedded 50 ms`, `embedded TLS`, `minio`.
pub(super) fn place(place: &Place) -> String {
    let mut text = place.server.clone();
    if place.latency_ms > 0 {
        text = format!("{text} {} ms", place.latency_ms);
    }
    if place.is_tls {
        text.push_str(" TLS");
    }
    text
}

fn told(run: &Run) -> String {
    let head =
        format!("{:<13} {:<15} {:<8} {:>2}", run.workload, place(&run.place), run.tool, run.round);
    match &run.outcome {
        Outcome::Done { wall_s, cpu_s, peak_mib, requests } => format!(
            "{head}  {wall_s:>8.3} s  cpu {cpu_s:>8.3} s  {peak_mib:>5.0} MiB  {} requests",
            requests.map_or("?".to_owned(), |requests| requests.to_string()),
        ),
        Outcome::Absent(why) => format!("{head}  absent: {why}"),
        Outcome::Failed(how) => format!("{head}  FAILED: {how}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Unit;

    fn run(workload: &str, tool: &str, round: u32) -> Run {
        Run {
            workload: workload.to_owned(),
            title: "files, upload".to_owned(),
            place: Place { server: "embedded".to_owned(), latency_ms: 50, is_tls: true },
            tool: tool.to_owned(),
            version: None,
            round,
            amount: 3.0,
            unit: Unit::Object,
            outcome: Outcome::Done { wall_s: 1.5, cpu_s: 0.5, peak_mib: 9.0, requests: Some(3) },
        }
    }

    #[test]
    fn a_later_session_replaces_the_rows_that_it_measures_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut results = Results::create(folder.path(), Vec::new()).unwrap();
        for (workload, round) in [("a", 1), ("a", 2), ("b", 1)] {
            results.keep(&run(workload, "s3haul", round)).unwrap();
        }
        let earlier = Results::earlier(folder.path()).unwrap();
        let mut results = Results::create(folder.path(), earlier).unwrap();
        for (workload, tool, round) in
            [("0", "s3haul", 1), ("a", "s3haul", 7), ("a", "s3haul", 8), ("b", "aws", 1)]
        {
            results.keep(&run(workload, tool, round)).unwrap();
        }
        let place = &run("a", "s3haul", 1).place;
        assert!(results.has_row(("a", place, "s3haul"), |run| run.round == 8));
        assert!(!results.has_row(("a", place, "s3haul"), |run| run.round == 2));
        results.finish(|run| run.workload.clone()).unwrap();
        let told: Vec<String> = Results::earlier(folder.path())
            .unwrap()
            .iter()
            .map(|run| format!("{} {} {}", run.workload, run.tool, run.round))
            .collect();
        assert_eq!(told, ["0 s3haul 1", "a s3haul 7", "a s3haul 8", "b s3haul 1", "b aws 1"]);
    }

    #[test]
    fn runs_are_kept_as_they_happen() {
        let folder = tempfile::tempdir().unwrap();
        let mut results = Results::create(folder.path(), Vec::new()).unwrap();
        let mut run = run("a", "s3haul", 1);
        results.keep(&run).unwrap();
        assert!(
            told(&run).starts_with("a             embedded 50 ms TLS s3haul"),
            "{}",
            told(&run)
        );
        run.outcome = Outcome::Failed("more than 60 s".to_owned());
        results.keep(&run).unwrap();
        let read = record::read(&folder.path().join(RUNS)).unwrap();
        assert_eq!((read.len(), results.failed), (2, 1));
        assert_eq!(read[1], run);
    }
}
