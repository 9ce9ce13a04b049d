//! Whole commands: wires listing, filtering, planning and transfer into one bounded stream.

mod local_source;
mod object_source;
mod prepare;
mod queue;
mod spec;
mod transfer;

pub use crate::transfer::{CopyProps, MetadataDirective, Tuning};
pub use spec::{Clients, FilterRule, Streams, Summary, TransferCommand, TransferSpec};
pub use transfer::run_transfer;
