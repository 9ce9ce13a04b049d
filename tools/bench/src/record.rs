//! What is kept of a run: one JSON line each, from which the tables are made.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::usage::Usage;

/// What the work of a workload is counted in: CPU time is given for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    /// A file or an object.
    Object,
    /// 10^9 bytes.
    Gigabyte,
    /// 10^6 keys.
    MillionKeys,
    /// The whole run.
    Run,
}

/// The server and the way to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Place {
    /// `embedded`, `versitygw` or `minio`.
    pub(crate) server: String,
    /// What each request waits for, beside the server's own time.
    pub(crate) latency_ms: u64,
    /// Whether connections are encrypted.
    pub(crate) is_tls: bool,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// It did the work, which was checked.
    Done {
        /// Wall time in seconds.
        wall_s: f64,
        /// User and system time of the tool in seconds, its children's included.
        cpu_s: f64,
        /// Largest resident set in MiB.
        peak_mib: f64,
        /// Requests that reached the server, where it counts them.
        requests: Option<u64>,
    },
    /// The tool is not here, or has no such command: why.
    Absent(String),
    /// The tool ended with an error or did not do the work: how.
    Failed(String),
}

/// One run of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Letter and variant of the workload: `a`, `c-noop`, `g-list-uuid`.
    pub(crate) workload: String,
    /// What it does, in a line, with its sizes: `26 folders of 256 files of 32 KiB, upload`.
    pub(crate) title: String,
    /// Where it ran.
    pub(crate) place: Place,
    /// `s3haul`, `bare`, `aws`, `aws-crt`, `s5cmd`, …
    pub(crate) tool: String,
    /// The tool's version, where it is known.
    pub(crate) version: Option<String>,
    /// 1 for the first round behind the warm-up.
    pub(crate) round: u32,
    /// How many units of work there were.
    pub(crate) amount: f64,
    /// Which units.
    pub(crate) unit: Unit,
    /// What became of it.
    pub(crate) outcome: Outcome,
}

impl Run {
    /// What its row in the tables is known by.
    pub(crate) fn row(&self) -> (&str, &Place, &str) {
        (&self.workload, &self.place, &self.tool)
    }
}

impl Outcome {
    /// A run that did its work.
    pub(crate) fn done(usage: &Usage, requests: Option<u64>) -> Self {
        let Usage { cpu_s, wall_s, peak_mib } = *usage;
        Self::Done { wall_s, cpu_s, peak_mib, requests }
    }
}

/// Reads runs, one a line.
pub(crate) fn read(path: &Path) -> Result<Vec<Run>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("could not read `{}`", path.display()))?;
    let read = |line: &str| serde_json::from_str(line).context("a line is no run");
    text.lines().filter(|line| !line.trim().is_empty()).map(read).collect()
}
