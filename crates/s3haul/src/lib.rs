//! Move, list, compare, describe and change S3 data in bulk.
//!
//! Every bulk task is one stream: **list** the source, **filter**, **plan** an action for each
//! key, **act** under bounded concurrency and memory, and tell it as **events**. The modules are
//! layers; none uses one above it (`cargo xtask tidy` holds the table):
//!
//! | layer | module | owns |
//! |---|---|---|
//! | 0 | [`error`] [`units`] [`event`] [`mod@env`] [`location`] | errors, sizes, events, the seam for clock, randomness and connections |
//! | 1 | [`controller`] | how many requests at once and a second, as a pure rule |
//! | 1 | [`s3`] | the wire: one async method for each S3 operation |
//! | 1 | [`fs`] | local trees: walking, reading, atomic writing |
//! | 2 | [`mod@list`] | listing with many requests in flight |
//! | 2 | [`script`] | JavaScript functions over keys and objects |
//! | 2 | [`summary`] | figures of a bucket, gathered from its pages in bounded memory |
//! | 2 | [`plan`] | pure rules: paths, filters, names of targets |
//! | 2 | [`transfer`] | the engine: upload, download, copy, delete |
//! | 3 | [`job`] | wires the stages of a whole command |
//!
//! The library prints nothing, reads no flags and never exits the process.

pub mod controller;
pub mod env;
pub mod error;
pub mod event;
pub mod fs;
#[doc(hidden)]
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod job;
pub mod list;
pub mod location;
pub mod plan;
pub mod s3;
pub mod script;
pub mod summary;
pub mod transfer;
pub mod units;

pub use error::{Error, ErrorKind, Result};
