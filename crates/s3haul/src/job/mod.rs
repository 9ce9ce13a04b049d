//! Whole commands: wires listing, filtering, planning and transfer into one bounded stream.

mod chooser;
mod compare;
mod content;
mod local_source;
mod name_listing;
mod object_source;
mod prepare;
mod queue;
mod side;
mod spec;
mod sync;
mod transfer;

pub use crate::plan::compare::{Facts, Rule};
pub use crate::plan::content::{Depth, Evidence};
pub use crate::plan::removals::RemovalLimit;
pub use crate::transfer::{CopyProps, MetadataDirective, Tuning};
pub use chooser::ToKey;
pub use compare::{
    CompareSink, CompareSpec, CompareSummary, Compared, Difference, Status, Tally, run_compare,
};
pub use spec::{Clients, FilterRule, Streams, Summary, TransferCommand, TransferSpec};
pub use sync::SyncOptions;
pub use transfer::run_transfer;

/// One in so many of the requests that a job may have in flight lists.
const LISTING_SHARE: usize = 4;
