//! What events look like: the lines of `aws s3`, or JSON lines.

pub(crate) mod escape;
pub(crate) mod json;
pub(crate) mod lines;
mod sink;
pub(crate) mod time;

pub(crate) use sink::CommandSink;
