//! What one look at a job found.

use crate::render::failures::Failures;

/// What one look at a job found.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// How the job stands, in a word.
    pub(crate) state: &'static str,
    /// Nothing runs it any more.
    pub(crate) is_over: bool,
    /// What it does.
    pub(crate) task: String,
    /// What its figures are as of: where this is the same, they have nothing new.
    pub(crate) stamp: i64,
    /// Objects done.
    pub(crate) objects: u64,
    /// Bytes of the objects done, or moved so far.
    pub(crate) bytes: u64,
    /// Objects that failed.
    pub(crate) failed: u64,
    /// Requests that were sent, and those among them that the service refused.
    pub(crate) requests: Option<(u64, u64)>,
    /// What is known of the whole.
    pub(crate) whole: Option<Whole>,
    /// Further facts: what, and how it stands.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// Workers, where there are several machines.
    pub(crate) workers: Vec<WorkerRow>,
    /// Where it is slow.
    pub(crate) slowest: Slowest,
    /// What failed.
    pub(crate) failures: Failures,
    /// Some of what failed, and why.
    pub(crate) failed_named: Vec<(String, String)>,
    /// Which of it that is.
    pub(crate) failed_title: &'static str,
    /// What goes on with it, once it is over.
    pub(crate) resume: Option<String>,
}

/// How much of a job is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Whole {
    /// What is counted: objects, or shards.
    pub(crate) noun: &'static str,
    /// So many ended.
    pub(crate) done: u64,
    /// Of so many that are known.
    pub(crate) all: u64,
    /// Bytes moved or given up, and known; none where there are none to be moved.
    pub(crate) bytes: Option<(u64, u64)>,
    /// Nothing more will become known.
    pub(crate) is_final: bool,
    /// Seconds until the end, where the pace says nothing of it.
    pub(crate) seconds_left: Option<u64>,
}

impl Whole {
    /// Which part of the whole is over: by bytes, where there are any.
    pub(crate) fn share(&self) -> (u64, u64) {
        self.bytes.unwrap_or((self.done, self.all))
    }
}

/// A worker of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorkerRow {
    pub(crate) name: String,
    /// What it is at, or that it waits.
    pub(crate) state: String,
    /// Shards that it ended, and what came of them.
    pub(crate) shards: u64,
    pub(crate) objects: u64,
    pub(crate) bytes: u64,
    /// How long it was at them.
    pub(crate) seconds: f64,
}

/// Where a job is slow, the slowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slowest {
    /// What the figures are.
    pub(crate) title: &'static str,
    /// Where, and how slow.
    pub(crate) rows: Vec<(String, String)>,
    /// Said where there are none.
    pub(crate) none: &'static str,
}
