//! Whole commands: wires listing, filtering, planning and transfer into one bounded stream.

mod case_conflict;
mod chooser;
mod compare;
mod content;
mod in_place;
mod local_source;
mod manifest;
mod name_listing;
mod named;
mod names;
mod object_source;
mod open_uploads;
mod prepare;
mod queue;
mod selection;
mod side;
mod spec;
mod sync;
mod transfer;
mod version_source;

pub use crate::engine::settings::{CopyProps, MetadataDirective, Tuning};
pub use crate::engine::shared_limits::SharedLimits;
pub use crate::plan::change::ObjectChange;
pub use crate::plan::compare::{Facts, Rule};
pub use crate::plan::conditions::Conditions;
pub use crate::plan::content::{Depth, Evidence};
pub use crate::plan::removals::RemovalLimit;
pub use crate::plan::restore::RestoreTask;
pub use crate::plan::tags::{TagKeys, TagTask, Tags};
pub use crate::plan::versions::VersionRule;
pub use case_conflict::CaseConflict;
pub use chooser::ToKey;
pub use compare::{
    CompareSink, CompareSpec, CompareSummary, Compared, Difference, Status, Tally, run_compare,
};
pub use manifest::{Entries, ListedFacts, Manifest, ManifestEntry, Version};
pub use names::{COLLISION, NameSource, Named, Names};
pub use open_uploads::{UploadsSpec, UploadsTask, run_uploads};
pub use spec::{Clients, FilterRule, Streams, Summary, TransferCommand, TransferSpec};
pub use sync::SyncOptions;
pub use transfer::run_transfer;

/// One in so many of the requests that a job may have in flight lists.
const LISTING_SHARE: usize = 4;
