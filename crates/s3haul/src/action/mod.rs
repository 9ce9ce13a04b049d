//! What moves and changes objects once it is decided what to do: one file an action, which takes
//! its work from a bounded queue. No action uses another; what they share is in the engine.

pub(crate) mod copy;
pub(crate) mod delete;
pub(crate) mod download;
pub(crate) mod queue;
pub(crate) mod remove_files;
pub(crate) mod request_counts;
pub(crate) mod restore;
pub(crate) mod set;
pub(crate) mod stream;
pub(crate) mod tag;
pub(crate) mod upload;
