//! What a service does of what S3 promises: one probe for each promise that s3haul relies on.
//!
//! [`catalogue`] lists the probes, [`run`] asks them in a bucket of their own or below a prefix of
//! one that is named, and [`Report`] says in words what follows. Each probe works in a folder of
//! its own, knows nothing of the others, and sends few small requests (the largest is a part of
//! 5 MiB). What was written is removed again by [`Ground::clear`], also after a run that was
//! dropped.

mod catalogue;
mod checksums;
mod conditions;
mod ground;
mod judged;
mod keys;
mod listings;
mod multipart;
mod objects;
mod question;
mod report;
mod room;
mod run;

pub use catalogue::catalogue;
pub use ground::Ground;
pub use judged::Outcome;
pub use question::{Group, Probe, Weight};
pub use report::{Finding, Report};
pub use run::run;
