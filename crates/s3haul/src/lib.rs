//! Move, list, compare, describe and change S3 data in bulk.
//!
//! Every bulk task is one stream, source → select → plan → act: entries come from a **source**,
//! some are **selected**, an action is **planned** for each, and done under bounded concurrency and
//! memory, which is reported as **events**. Requests are
//! sent by [`s3haul_wire`], buckets listed by [`s3haul_list`].
//!
//! | module | owns |
//! |---|---|
//! | [`event`] [`location`] | what happens in a job; names of files and objects |
//! | [`fs`] | local trees: walking, reading, atomic writing |
//! | [`plan`] | pure rules: paths, filters, comparison, limits of removals |
//! | [`hints`] | where earlier listings found the keys of a prefix |
//! | [`probe`] | what a service does of what S3 promises |
//! | [`script`] | JavaScript functions over keys and objects |
//! | [`summary`] | figures of a bucket, gathered from its pages in bounded memory |
//! | [`journal`] | what a job decided and how far it got, kept for a run that resumes it |
//! | [`shard`] | a job in parts that any number of processes run |
//! | [`engine`] | how much at once, and what all actions share |
//! | `entry` | what sources give: objects, versions and files, in batches of columns |
//! | `action` | upload, download, copy, delete, tag, set, restore |
//! | [`job`] | `Job`, the value that describes a job, and what is prepared from it |
//! | `source` `select` | where entries come from; which are taken and what they are called |
//! | `task` | whole commands: each wires a source, a selection, a plan and an action |
//!
//! The library prints nothing, reads no flags and never exits the process.

mod action;
pub mod engine;
mod entry;
pub mod event;
pub mod fs;
#[doc(hidden)]
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod job;
pub mod journal;
pub mod location;
pub mod plan;
pub mod probe;
pub mod script;
mod select;
pub mod shard;
mod source;
pub mod summary;
mod task;

pub use s3haul_wire::error::{Error, ErrorKind, Result};
pub use source::hints;
