//! What events look like: the lines of `aws s3`, or JSON lines.

mod archive;
pub(crate) mod buckets;
pub(crate) mod compare;
pub(crate) mod csv;
pub(crate) mod escape;
pub(crate) mod estimate;
pub(crate) mod events;
pub(crate) mod failures;
pub(crate) mod findings;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod listing;
pub(crate) mod numbers;
mod output;
mod sink;
pub(crate) mod summary;
pub(crate) mod tags;
pub(crate) mod uploads;

pub(crate) use output::{AwsProgress, OutputSettings};
pub(crate) use sink::CommandSink;
