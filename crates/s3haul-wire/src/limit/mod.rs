//! How many requests are in flight and are sent per second: `controller` decides (pure), `limiter`
//! makes requests wait, `meter` counts what becomes of them.

pub mod controller;
pub(crate) mod limiter;
pub mod meter;
