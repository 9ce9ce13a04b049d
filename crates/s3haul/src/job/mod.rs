//! Whole commands: wires listing, filtering, planning and transfer into one bounded stream.

mod spec;
mod transfer;

pub use spec::{
    Clients, CopyProps, FilterRule, MetadataDirective, Streams, Summary, TransferCommand,
    TransferSpec, Tuning,
};
pub use transfer::run_transfer;
