//! The engine: what moves bytes once it is decided what to move.
//!
//! Each executor takes actions from a bounded channel, works within the bounds that all of a job
//! share (`scheduler`, `budget`, `bandwidth`) and tells how every object ended through
//! `report`. It knows nothing of listing, filters and names of targets. Order of acquiring, so
//! that nothing waits in a circle: large-object slots, memory budget, bandwidth, request permit.
//!
//! What holds at the end of a job however it ends: no multipart upload of it is open
//! (`uploads`), no temporary file of it is left, every object planned has ended or the job was
//! cancelled.

pub(crate) mod action;
mod bandwidth;
mod budget;
mod buffers;
pub(crate) mod change;
mod collapsed;
pub(crate) mod copy;
mod copy_props;
pub(crate) mod delete;
pub(crate) mod download;
mod each;
mod early_end;
pub(crate) mod engine;
pub(crate) mod fetch;
mod handover;
mod integrity;
mod multipart;
mod pace;
pub mod parts;
mod preserve;
pub(crate) mod ranged;
mod receive;
mod relay;
pub(crate) mod remove_files;
pub(crate) mod report;
pub(crate) mod requests;
pub(crate) mod restore;
pub(crate) mod route;
pub(crate) mod scheduler;
pub(crate) mod set;
pub(crate) mod settings;
mod shared;
pub(crate) mod stream;
pub(crate) mod tags;
pub(crate) mod upload;
pub(crate) mod uploads;

pub use change::ObjectChange;
pub use restore::RestoreTask;
pub use settings::{CopyProps, MetadataDirective, Tuning};
pub use shared::SharedLimits;

#[cfg(test)]
mod testing;
