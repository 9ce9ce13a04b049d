//! How many requests are in flight and are sent per second: `controller` decides (pure), `limiter`
//! makes requests wait.

pub mod controller;
pub(crate) mod limiter;
