//! A job as a value: what flags, a file or another program ask for, before anything is looked up.
//!
//! It is written as JSON (`docs/job.md`, `docs/job.schema.json`), comes back equal, and holds no
//! secret: credentials are named, and keys for SSE-C have no place in it. What has its default is
//! left out. A field that is not known is an error, and so is a version that is newer than
//! [`VERSION`]: a job that is only half understood must not run.

mod in_place;
mod moment;
mod reading;
mod service;
mod single;
mod task;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use in_place::{
    LockUntil, Objects, RemoveTask, RemovedVersions, RestoreAction, RestoreSpeed, RestoreTask,
    RetentionMode, SetTask, TagAction, TagTask, UndeleteTask,
};
pub use moment::Moment;
pub use reading::{
    CompareTask, EachTask, Find, ListBucketsTask, ListFormat, ListTask, Listing, LsTask, MapTask,
    RowFormat, Shown, SummarizeTask, SummaryFormat, UploadsAction, UploadsTask,
};
pub use service::{Addressing, Checksums, Credentials, EndpointUrl, Limits, Service, Services};
pub use single::{
    CatTask, HeadTask, MakeBucketTask, PresignTask, PresignedHeaders, RemoveBucketTask,
    VersioningTask, WebsiteTask,
};
pub use task::{
    Checksum, Compare, CopyTask, ManifestFile, ManifestFormat, MoveTask, ObjectEncryption, Select,
    SyncTask, Task, TransferOptions, WriteOptions,
};

/// The version that this library writes, and the newest that it reads.
pub const VERSION: u32 = 1;

/// A job: what is done, where, and within which limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Job {
    /// Version of the format: 1.
    pub version: u32,
    /// The services that hold the source and the target.
    #[serde(default, skip_serializing_if = "is_default")]
    pub services: Services,
    /// Limits on requests, bandwidth and memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Limits,
    /// What is printed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: Output,
    /// Files about what became of each object.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reports: Reports,
    /// The command and its options.
    pub task: Task,
}

/// What is printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Output {
    /// Which lines are printed.
    #[serde(skip_serializing_if = "is_default")]
    pub lines: OutputLines,
    /// Events are printed as JSON, one object a line.
    #[serde(skip_serializing_if = "is_default")]
    pub json: bool,
    /// Progress is shown on a terminal.
    #[serde(skip_serializing_if = "is_true")]
    pub progress: bool,
    /// Progress is printed in the form of `aws s3`, each time on a new line.
    #[serde(skip_serializing_if = "is_default")]
    pub progress_multiline: bool,
    /// Progress is printed in the form of `aws s3`, with at least this many seconds between lines.
    #[serde(skip_serializing_if = "is_default")]
    pub progress_frequency_s: Option<u64>,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            lines: OutputLines::All,
            json: false,
            progress: true,
            progress_multiline: false,
            progress_frequency_s: None,
        }
    }
}

/// Which lines are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum OutputLines {
    /// All lines.
    #[default]
    All,
    /// Errors, warnings and what a dry run would do.
    Errors,
    /// None.
    None,
}

impl OutputLines {
    /// Whether a line is printed, which is an error or is not.
    pub fn print(self, is_error: bool) -> bool {
        match self {
            Self::All => true,
            Self::Errors => is_error,
            Self::None => false,
        }
    }
}

/// Files about what became of each object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reports {
    /// The report is written to this file.
    #[serde(skip_serializing_if = "is_default")]
    pub report: Option<PathBuf>,
    /// Only what failed according to this report is done.
    #[serde(skip_serializing_if = "is_default")]
    pub retry_failed: Option<PathBuf>,
    /// Nothing is done: what would be done is written to this file as a plan, in Parquet.
    #[serde(skip_serializing_if = "is_default")]
    pub plan: Option<PathBuf>,
    /// What this plan says is done, and nothing else: each action only while both sides are as they
    /// were found.
    #[serde(skip_serializing_if = "is_default")]
    pub apply: Option<PathBuf>,
    /// A dry run prints its estimate also where standard error is not a terminal.
    #[serde(skip_serializing_if = "is_default")]
    pub estimate: bool,
    /// The prices of the estimate are read from this file.
    #[serde(alias = "price_table", skip_serializing_if = "is_default")]
    pub prices: Option<PathBuf>,
}

/// Why a job cannot be read or written.
#[derive(Debug, Error)]
pub enum JobError {
    /// It is newer than this library.
    #[error(
        "the job has version {found}, and this s3haul reads version {VERSION}: a newer s3haul is \
         needed"
    )]
    Newer {
        /// Its version.
        found: u64,
    },
    /// Its version never existed.
    #[error("the job has version 0, and versions begin with 1")]
    Zero,
    /// It is not the JSON of a job.
    #[error("the job cannot be read: {0}")]
    Unreadable(serde_json::Error),
    /// It holds what JSON cannot, or what must not be written.
    #[error("the job cannot be written: {0}")]
    Unwritable(serde_json::Error),
}

/// The one field that is read before all others.
#[derive(Deserialize)]
#[serde(expecting = "an object with a `version`")]
struct Head {
    version: u64,
}

impl Job {
    /// A job of the version that this library writes, with defaults but for the task.
    pub fn new(task: Task) -> Self {
        Self {
            version: VERSION,
            services: Services::default(),
            limits: Limits::default(),
            output: Output::default(),
            reports: Reports::default(),
            task,
        }
    }

    /// Reads a job. The version is checked first: a newer job may have fields that are not known.
    pub fn from_json(text: &[u8]) -> Result<Self, JobError> {
        let Head { version } = serde_json::from_slice(text).map_err(JobError::Unreadable)?;
        match version {
            0 => Err(JobError::Zero),
            found if found > u64::from(VERSION) => Err(JobError::Newer { found }),
            _ => serde_json::from_slice(text).map_err(JobError::Unreadable),
        }
    }

    /// The job as indented JSON that ends with a newline.
    pub fn to_json(&self) -> Result<String, JobError> {
        let text = serde_json::to_string_pretty(self).map_err(JobError::Unwritable)?;
        Ok(text + "\n")
    }
}

/// Whether a field has its default, and so need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The same for a field whose default is true.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_true(value: &bool) -> bool {
    *value
}

#[cfg(test)]
mod tests;
