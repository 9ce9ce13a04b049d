//! Plans: what a command would do, as a table that can be looked at, changed and then done.
//!
//! The format is in `docs/plans.md`. A row has what was found of both sides, and no row is without
//! values, so that tools that read and write tables keep all of it.

mod reader;
mod row;
mod sink;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use reader::{PlanFile, PlanRow};
pub(crate) use sink::Planning;
pub(crate) use writer::PlanWriter;
