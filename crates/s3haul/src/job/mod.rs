//! Whole commands: wires listing, filtering, planning and transfer into one bounded stream.

mod spec;
mod transfer;

pub use crate::transfer::{CopyProps, MetadataDirective, Tuning};
pub use spec::{Clients, FilterRule, Streams, Summary, TransferCommand, TransferSpec};
pub use transfer::run_transfer;
