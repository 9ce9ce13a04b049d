//! Settings of the executors: plain values, the same for all objects of a job.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::portion::Portion;
use crate::engine::shared_limits::SharedLimits;
use crate::plan::change::ObjectChange;
use crate::plan::restore::RestoreTask;
use crate::plan::tags::TagTask;
use crate::plan::versions::VersionRule;
use s3haul_wire::controller::Bounds;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::units::{GIB, MIB, format_size};
use s3haul_wire::{ChecksumAlgorithm, CustomerKey, ObjectProperties};

/// Concurrent requests where the number is not adjusted by measurement.
pub(crate) const AT_ONCE: usize = 64;
/// Keys that one `DeleteObjects` may name.
pub(crate) const KEYS_MAX: usize = 1000;
/// Largest object that `CopyObject` takes.
const COPY_OBJECT_SIZE_MAX: u64 = 5 * GIB;

/// Where the metadata of a copy is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum MetadataDirective {
    /// The source.
    Copy,
    /// This job.
    Replace,
}

/// What a copy carries over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum CopyProps {
    /// Nothing.
    None,
    /// Metadata and content headers.
    MetadataDirective,
    /// Metadata, content headers and tags.
    #[default]
    Default,
}

/// Limits of the engine.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Requests in flight at most (`max_concurrent_requests`).
    pub max_concurrent_requests: usize,
    /// Planned actions that wait at most (`max_queue_size`).
    pub max_queue_size: usize,
    /// Objects of this size in bytes and more go in parts (`multipart_threshold`).
    pub multipart_threshold: u64,
    /// The same for copies by the server: `multipart_threshold` where that is set. A copy in parts
    /// takes four requests more than one by `CopyObject`, which the server does as well.
    pub copy_threshold: u64,
    /// Size of a part in bytes (`multipart_chunksize`).
    pub multipart_chunksize: u64,
    /// Bytes a second at most, over all transfers (`max_bandwidth`).
    pub max_bandwidth: Option<u64>,
    /// Bytes of object data held in memory at most.
    pub memory_budget: u64,
    /// Bytes of one part at most, where memory is limited: an object whose parts have to be larger
    /// fails before it is begun. Without it such a part goes alone.
    pub part_size_max: Option<u64>,
    /// Bounds of requests, memory and bandwidth that the job shares with others instead of having
    /// its own.
    pub shared: Option<SharedLimits>,
}

impl Tuning {
    /// Concurrent requests where the number is not adjusted by measurement: for listings, and for
    /// work that sends its requests one after the other.
    pub fn requests_at_once(&self) -> usize {
        self.max_concurrent_requests.min(AT_ONCE)
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            max_concurrent_requests: Bounds::default().max_concurrent_requests as usize,
            max_queue_size: 1000,
            multipart_threshold: 8 * MIB,
            copy_threshold: 64 * MIB,
            multipart_chunksize: 8 * MIB,
            max_bandwidth: None,
            memory_budget: GIB / 8,
            part_size_max: None,
            shared: None,
        }
    }
}

/// What holds for every object of a job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Actions are only reported.
    pub(crate) is_dry_run: bool,
    /// The job is about one object.
    pub(crate) is_one: bool,
    /// The command is `mv`.
    pub(crate) is_move: bool,
    /// Bucket of the source, empty where it is local.
    pub(crate) source_bucket: String,
    /// Bucket of the target, empty where it is local.
    pub(crate) target_bucket: String,
    /// Never replace an existing target.
    pub(crate) no_overwrite: bool,
    /// Guess `Content-Type` from the name.
    pub(crate) guess_mime_type: bool,
    /// Tables of media types beside the built-in one.
    pub(crate) media_type_tables: Vec<PathBuf>,
    /// Properties of the objects written.
    pub(crate) properties: ObjectProperties,
    /// Copies go through this machine even where the server could make them.
    pub(crate) streams_copies: bool,
    /// `--preserve`.
    pub(crate) preserves: bool,
    /// Where the metadata of a copy is from.
    pub(crate) metadata_directive: Option<MetadataDirective>,
    /// What a copy carries over.
    pub(crate) copy_props: CopyProps,
    /// SSE-C key of the source objects.
    pub(crate) source_customer_key: Option<CustomerKey>,
    /// `--checksum-algorithm`.
    pub(crate) checksum_algorithm: Option<ChecksumAlgorithm>,
    /// `--checksum-mode ENABLED`.
    pub(crate) checksum_mode: bool,
    /// What `tag` does.
    pub(crate) tags: TagTask,
    /// What `set` changes.
    pub(crate) change: Box<ObjectChange>,
    /// What `restore` does.
    pub(crate) restore: RestoreTask,
    /// Versions instead of objects that are read or removed.
    pub(crate) versions: Option<VersionRule>,
    /// Whether removals are reported as undeletions: an object is there again.
    pub(crate) is_undelete: bool,
    /// Versions that are locked in governance mode are removed, too.
    pub(crate) bypass_governance: bool,
    /// Folders of journals, which are no files of a job.
    pub(crate) journals: Vec<PathBuf>,
    /// What this process does of an object, where others do the rest.
    pub(crate) portion: Option<Arc<Portion>>,
    /// Limits.
    pub(crate) tuning: Tuning,
}

/// Whether `CopyObject` does not take an object of this size.
pub(crate) fn must_copy_in_parts(size: u64) -> bool {
    size > COPY_OBJECT_SIZE_MAX
}

impl Settings {
    /// Refuses parts that do not fit into memory, before an upload is begun that would stay open.
    pub(crate) fn check_part_size(&self, part_size: u64) -> Result<()> {
        match self.tuning.part_size_max {
            Some(most) if part_size > most => {
                let (part, most) = (format_size(part_size), format_size(most));
                let message = format!(
                    "a part of {part} does not fit into the memory of this process, which has \
                     {most} for data: raise the limit (--max-memory, `ulimit -v`, that of the \
                     container) or make multipart_chunksize smaller"
                );
                Err(Error::new(ErrorKind::Local, message))
            }
            _ => Ok(()),
        }
    }

    /// Whether an object of this size goes in parts. An empty one has none.
    pub(crate) fn is_multipart(&self, size: u64) -> bool {
        size >= self.tuning.multipart_threshold.max(1)
    }

    /// The same for a copy by the server. With a `--metadata-directive` the threshold is that of
    /// the AWS tools: then a copy in parts drops the tags, and one by `CopyObject` keeps them.
    pub(crate) fn is_multipart_copy(&self, size: u64) -> bool {
        let threshold = match self.metadata_directive {
            None => self.tuning.copy_threshold,
            Some(_) => self.tuning.multipart_threshold,
        };
        size >= threshold.max(1) || must_copy_in_parts(size)
    }
}
