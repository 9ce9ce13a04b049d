//! `list-buckets`.

use std::num::NonZeroU32;

use s3haul::job::value::{ListBucketsTask, RowFormat, Task};
use s3haul_wire::ClientConfig;

use super::check::concurrency;
use super::frame::Frame;
use super::list::events_or_rows;
use super::{JobRequest, Settings};
use crate::args::ListBucketsArgs;
use crate::failure::Failure;
use crate::open_files;

/// `list-buckets`.
#[derive(Clone, Debug)]
pub(crate) struct ListBucketsSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// The options.
    pub(crate) task: ListBucketsTask,
    /// How they are written.
    pub(crate) format: RowFormat,
    /// Requests in flight.
    pub(crate) concurrency: usize,
}

impl JobRequest {
    /// For `list-buckets`.
    pub(crate) fn list_buckets(settings: &Settings, args: &ListBucketsArgs) -> Self {
        let task = ListBucketsTask {
            bucket_name_prefix: args.bucket_name_prefix.clone(),
            bucket_region: args.bucket_region.clone(),
            count: args.count,
            format: args.format,
            concurrency: args.concurrency.and_then(NonZeroU32::new),
        };
        Self::reading(settings, false, Task::ListBuckets(task))
    }
}

impl ListBucketsSettings {
    /// For a job.
    pub(crate) fn of_job(frame: Frame, task: &ListBucketsTask) -> Result<Self, Failure> {
        if frame.output.json && task.format.is_some_and(|format| format != RowFormat::Jsonl) {
            return Err(events_or_rows());
        }
        let default = if frame.output.json { RowFormat::Jsonl } else { RowFormat::Text };
        let concurrency = concurrency(task.concurrency)?;
        let concurrency = concurrency.unwrap_or(frame.tuning.requests_at_once());
        let wanted = frame.client.max_connections.max(concurrency);
        let max_connections = open_files::connections_within(wanted);
        Ok(Self {
            client: ClientConfig { max_connections, ..frame.client },
            task: task.clone(),
            format: task.format.unwrap_or(default),
            concurrency,
        })
    }
}
