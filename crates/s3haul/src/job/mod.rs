//! Job configuration, and what is prepared from it before the job runs.

pub(crate) mod case_conflict;
pub mod manifest_entry;
pub mod names;
pub(crate) mod prepare;
pub(crate) mod spec;
pub mod value;

pub use crate::engine::settings::{CopyProps, MetadataDirective, Tuning};
pub use crate::engine::shared_limits::{LimitsLoad, SharedLimits};
pub use crate::job::manifest_entry::{Entries, ListedFacts, Manifest, ManifestEntry, Version};
pub use crate::job::names::{COLLISION, NameSource, Named, Names};
pub use crate::plan::change::ObjectChange;
pub use crate::plan::compare::{Facts, Rule};
pub use crate::plan::conditions::Conditions;
pub use crate::plan::content::{Depth, Evidence};
pub use crate::plan::filter::FilterRule;
pub use crate::plan::removals::RemovalLimit;
pub use crate::plan::restore::RestoreTask;
pub use crate::plan::tags::{TagKeys, TagTask, Tags};
pub use crate::plan::versions::VersionRule;
pub use crate::script::rename::ToKey;
pub use crate::task::compare::outcome::{
    CompareSink, CompareSummary, Compared, Difference, Status, Tally,
};
pub use crate::task::compare::{CompareSpec, run_compare};
pub use crate::task::open_uploads::{UploadsSpec, run_uploads};
pub use crate::task::shard::cut_job;
pub use crate::task::transfer::run_transfer;
pub use case_conflict::CaseConflict;
pub use spec::{Clients, Streams, Summary, SyncOptions, TransferCommand, TransferSpec};
