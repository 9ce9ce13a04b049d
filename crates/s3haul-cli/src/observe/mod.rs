//! State of the running process, for progress and metrics.
//!
//! Nothing here exists unless one of the two is enabled. `limiting` (pure) decides what limits a
//! job; `observer` collects the samples for it. Nothing here prints.

pub(crate) mod limiting;
mod observer;

pub(crate) use limiting::Limit;
pub(crate) use observer::{Observer, View, process_time};
