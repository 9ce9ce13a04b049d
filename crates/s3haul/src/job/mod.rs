//! Whole commands: wires listing, filtering, planning and transfer into one bounded stream.

mod case_conflict;
mod chooser;
mod local_source;
mod named;
mod names;
mod object_source;
mod prepare;
mod queue;
mod spec;
mod sync;
mod transfer;

pub use crate::plan::compare::Rule;
pub use crate::plan::removals::RemovalLimit;
pub use crate::transfer::{CopyProps, MetadataDirective, Tuning};
pub use case_conflict::CaseConflict;
pub use chooser::ToKey;
pub use names::{NameSource, Named, Names};
pub use spec::{Clients, FilterRule, Streams, Summary, TransferCommand, TransferSpec};
pub use sync::SyncOptions;
pub use transfer::run_transfer;
