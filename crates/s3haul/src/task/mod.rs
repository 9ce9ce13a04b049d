//! Whole commands: each wires a source, a selection, a plan and an action into one bounded stream.

pub(crate) mod compare;
pub(crate) mod copied;
pub(crate) mod divided;
pub(crate) mod download_target;
pub(crate) mod in_place;
pub(crate) mod open_uploads;
pub(crate) mod pipeline;
pub(crate) mod shard;
pub(crate) mod sync;
pub(crate) mod transfer;
