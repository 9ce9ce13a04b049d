//! The runs so far: a line each on the terminal and in a file, as they happen.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::bench::record::{Outcome, Place, Run};
use crate::bench::report::RUNS;
use crate::term;

/// The file of runs.
pub(super) struct Kept {
    file: File,
    path: PathBuf,
    /// Runs that failed.
    pub(super) failed: u32,
}

impl Kept {
    /// Begins anew in this folder.
    pub(super) fn create(folder: &Path) -> Result<Self> {
        let path = folder.join(RUNS);
        let told = || format!("could not write `{}`", path.display());
        std::fs::create_dir_all(folder).with_context(told)?;
        let file = File::create(&path).with_context(told)?;
        Ok(Self { file, path, failed: 0 })
    }

    /// Keeps a run.
    pub(super) fn keep(&mut self, run: &Run) -> Result<()> {
        term::line(&told(run));
        self.failed += u32::from(matches!(run.outcome, Outcome::Failed(_)));
        let mut line = serde_json::to_vec(run)?;
        line.push(b'\n');
        let written = self.file.write_all(&line);
        written.with_context(|| format!("could not write `{}`", self.path.display()))
    }
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
    use crate::bench::record::{self, Unit};

    #[test]
    fn runs_are_kept_as_they_happen() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = Kept::create(folder.path()).unwrap();
        let place = Place { server: "embedded".to_owned(), latency_ms: 50, is_tls: true };
        let outcome = Outcome::Done { wall_s: 1.5, cpu_s: 0.5, peak_mib: 9.0, requests: Some(3) };
        let mut run = Run {
            workload: "a".to_owned(),
            title: "files, upload".to_owned(),
            place,
            tool: "s3haul".to_owned(),
            version: None,
            round: 1,
            amount: 3.0,
            unit: Unit::Object,
            outcome,
        };
        kept.keep(&run).unwrap();
        assert!(
            told(&run).starts_with("a             embedded 50 ms TLS s3haul"),
            "{}",
            told(&run)
        );
        run.outcome = Outcome::Failed("more than 60 s".to_owned());
        kept.keep(&run).unwrap();
        let read = record::read(&folder.path().join(RUNS)).unwrap();
        assert_eq!((read.len(), kept.failed), (2, 1));
        assert_eq!(read[1], run);
    }
}
