//! Job configuration: plain values, no flags, no environment.

use crate::plan::compare::Rule;
use crate::plan::removals::RemovalLimit;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::case_conflict::CaseConflict;
use crate::engine::settings::{CopyProps, MetadataDirective, Tuning};
use crate::job::manifest_entry::Manifest;
use crate::job::names::NameSource;
use crate::journal::Journal;
use crate::plan::change::ObjectChange;
use crate::plan::charges::Effect;
use crate::plan::conditions::Conditions;
use crate::plan::filter::FilterRule;
use crate::plan::restore::RestoreTask;
use crate::plan::tags::TagTask;
use crate::plan::versions::VersionRule;
use crate::script::Program;
use crate::script::rename::ToKey;
use crate::shard::Shard;
use s3haul_wire::units::RequestCounts;
use s3haul_wire::{ChecksumAlgorithm, Client, CustomerKey, ObjectProperties};

/// Which command a transfer job carries out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferCommand {
    /// `cp`.
    Copy,
    /// `mv`: like `cp`, and the source is removed once the target is safe.
    Move,
    /// `rm`.
    Remove,
    /// `sync`.
    Sync,
    /// `tag`: what is done is [`TransferSpec::tags`].
    Tag,
    /// `set`: what is changed is [`TransferSpec::change`].
    Set,
    /// `restore`: what is done is [`TransferSpec::restore`].
    Restore,
    /// `undelete`: removes delete markers; which ones is [`TransferSpec::versions`].
    Undelete,
}

/// Options of `sync` beside those of `cp`.
#[derive(Clone, Debug, Default)]
pub struct SyncOptions {
    /// What counts as a difference.
    pub rule: Rule,
    /// Remove from the target what the source does not have.
    pub delete: bool,
    /// How many removals there may be.
    pub max_delete: RemovalLimit,
    /// An empty source may empty the target.
    pub allow_empty_source: bool,
}

/// A `cp`, `mv`, `rm`, `sync`, `tag`, `set`, `restore` or `undelete`, fully resolved.
#[derive(Clone, Debug)]
pub struct TransferSpec {
    /// Command.
    pub command: TransferCommand,
    /// Source as typed: `s3://…`, a path, or `-`. What `rm` removes,
    /// `tag` tags, `set` changes and `restore` restores.
    pub source: String,
    /// Target as typed; none for commands that work on objects where they are.
    pub target: Option<String>,
    /// Working directory that relative paths start from.
    pub working_dir: PathBuf,
    /// Whole trees.
    pub recursive: bool,
    /// Only report what would be done.
    pub dry_run: bool,
    /// The events of a dry run say what was found of both sides ([`crate::event::ObjectEvent`]):
    /// each target is looked at, also where the command would write over whatever is there.
    pub plans: bool,
    /// Wildcards in S3 paths are plain characters.
    pub raw: bool,
    /// Filters in command-line order.
    pub filters: Vec<FilterRule>,
    /// Conditions on names, sizes, times and classes of the source, beside the filters.
    pub conditions: Conditions,
    /// Names to take instead of listing the source; they were chosen before, and neither filters
    /// nor conditions nor scripts are asked again.
    pub names: Option<Arc<dyn NameSource>>,
    /// Objects to take instead of listing an s3 source, which they must lie in; filtered as a
    /// listing is. Where there are names as well, these are taken.
    pub manifest: Option<Arc<dyn Manifest>>,
    /// Only objects that this script selects.
    pub filter: Option<Program>,
    /// New names at the target: of keys, or below the target folder.
    pub to_key: Option<ToKey>,
    /// Follow symbolic links while walking.
    pub follow_symlinks: bool,
    /// Keys a LIST page.
    pub page_size: Option<u32>,
    /// Never replace an existing target.
    pub no_overwrite: bool,
    /// What is done about downloads whose names differ only by case.
    pub case_conflict: CaseConflict,
    /// Transfer archived objects without asking whether they are restored.
    pub force_glacier_transfer: bool,
    /// Skip archived objects silently.
    pub ignore_glacier_warnings: bool,
    /// Guess `Content-Type` from the name.
    pub guess_mime_type: bool,
    /// Tables of media types to read for that where they exist, later ones winning, such as
    /// [`crate::plan::content_type::KNOWN_FILES`]; they win over the built-in table.
    pub media_type_tables: Vec<PathBuf>,
    /// Properties of the objects written.
    pub properties: ObjectProperties,
    /// Copies go through this machine even where the server could make them.
    pub streams_copies: bool,
    /// Times, modes and owners of files go into metadata and come back from there.
    pub preserve: bool,
    /// `--metadata-directive`.
    pub metadata_directive: Option<MetadataDirective>,
    /// `--copy-props`.
    pub copy_props: CopyProps,
    /// SSE-C key of the source objects of a copy.
    pub source_customer_key: Option<CustomerKey>,
    /// `--checksum-algorithm`.
    pub checksum_algorithm: Option<ChecksumAlgorithm>,
    /// `--checksum-mode ENABLED`.
    pub checksum_mode: bool,
    /// `--expected-size` of standard input in bytes.
    pub expected_size: Option<u64>,
    /// What `sync` alone knows, but for the limit of removals, which `rm` has too.
    pub sync: SyncOptions,
    /// Versions instead of objects: those that `rm` and `undelete` remove for good, or what `cp`
    /// and `sync` read of a source that has versions.
    pub versions: Option<VersionRule>,
    /// Versions that are locked in governance mode are removed, too.
    pub bypass_governance: bool,
    /// What `tag` does; other commands have no use for it.
    pub tags: TagTask,
    /// What `set` changes; other commands have no use for it.
    pub change: Box<ObjectChange>,
    /// What `restore` does; other commands have no use for it.
    pub restore: RestoreTask,
    /// Limits.
    pub tuning: Tuning,
    /// Where it is written how far the job got; the job goes on where this is of an earlier run.
    pub journal: Option<Arc<Journal>>,
    /// Where journals lie, also for a job that keeps none or has its own elsewhere: what is in
    /// there is no file of a job.
    pub journal_folder: Option<PathBuf>,
    /// Only this part of the job is done. Journals, limits of removals and new names that have to
    /// be known as a whole are not for parts.
    pub shard: Option<Arc<Shard>>,
}

impl TransferSpec {
    /// Whether events say what was found of both sides.
    pub(crate) fn says_states(&self) -> bool {
        self.plans || self.dry_run
    }

    /// What is done to every object.
    pub fn effect(&self) -> Effect {
        let class = self.properties.storage_class.as_ref();
        Effect {
            written_class: class.or(self.change.properties.storage_class.as_ref()).cloned(),
            is_move: self.command == TransferCommand::Move,
            rewrites: self.command == TransferCommand::Set && self.change.copies(),
            restore_tier: self.restore.tier(),
        }
    }
}

/// Clients of both sides; often the same. Where they have different endpoints or credentials,
/// copies go through this machine.
#[derive(Clone, Debug)]
pub struct Clients {
    /// Reads (and for `mv` and `rm` removes) the source.
    pub source: Client,
    /// Writes the target.
    pub target: Client,
}

impl Clients {
    /// Requests sent so far by both, each attempt by itself.
    pub fn requests_sent(&self) -> RequestCounts {
        let both = self.source.requests_sent();
        if self.is_one() { both } else { both + self.target.requests_sent() }
    }

    /// Requests among them that a service refused because there were too many.
    pub fn requests_refused(&self) -> u64 {
        let both = self.source.requests_refused();
        if self.is_one() { both } else { both + self.target.requests_refused() }
    }

    fn is_one(&self) -> bool {
        self.source.is_clone_of(&self.target)
    }
}

/// The standard streams, for `-`.
pub struct Streams {
    /// Read when the source is `-`.
    pub input: Box<dyn Read + Send>,
    /// Written when the target is `-`.
    pub output: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streams")
    }
}

/// How a job ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Objects done.
    pub done: u64,
    /// Objects failed.
    pub failed: u64,
    /// Objects that needed nothing.
    pub skipped: u64,
    /// Objects that were not tried, because the job ended early.
    pub not_tried: u64,
    /// Warnings.
    pub warnings: u64,
    /// Bytes of the objects done.
    pub bytes: u64,
    /// The job could not go on to its end.
    pub fatal: bool,
    /// The job was cancelled.
    pub cancelled: bool,
    /// Requests that were sent, each attempt by itself.
    pub requests_sent: RequestCounts,
    /// Requests that a dry run would have sent beside those that it sent.
    pub requests_planned: RequestCounts,
}
