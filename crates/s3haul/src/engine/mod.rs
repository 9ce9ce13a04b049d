//! How much at once, and what all actions share.
//!
//! Everything works within the bounds that a job has (`limits`, `budget`, `bandwidth`) and reports
//! how each object ended through `reporter`. Order of acquiring, so that nothing waits in a circle:
//! large-object slots, memory budget, bandwidth, request permit. Knows nothing of listings,
//! filters, and which action it serves.
//!
//! What holds at the end of a job however it ends: no multipart upload of it is open
//! (`open_uploads`), no temporary file of it is left, every object planned has ended or the job was
//! cancelled.

pub(crate) mod bandwidth;
pub(crate) mod batch_queue;
pub(crate) mod budget;
pub(crate) mod buffers;
pub(crate) mod copy_props;
pub(crate) mod core;
pub(crate) mod early_end;
pub(crate) mod inline_io;
pub(crate) mod integrity;
pub(crate) mod limits;
pub(crate) mod multipart;
pub(crate) mod object;
pub(crate) mod open_uploads;
pub(crate) mod ordered_reader;
pub mod parts;
pub(crate) mod portion;
pub(crate) mod preserve;
pub(crate) mod range_reader;
pub(crate) mod receive;
pub(crate) mod remove_object;
pub(crate) mod reporter;
pub(crate) mod route;
pub(crate) mod server_copy;
pub(crate) mod settings;
pub(crate) mod shared_limits;
pub(crate) mod worker_pool;

#[cfg(test)]
pub(crate) mod testing;

pub use settings::{CopyProps, MetadataDirective, Tuning};
pub use shared_limits::SharedLimits;
