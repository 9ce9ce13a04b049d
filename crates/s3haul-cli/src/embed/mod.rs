//! Commands run by a program instead of a command line: what the Python package is made of.
//!
//! A command is given as the words that one would type, so a job is described in only one way: by
//! its flags. What the command would print is handed on, events and rows come as values, and
//! nothing here touches the process's standard streams, signal handlers or working directory.

mod columns;
mod session;

pub use columns::{Columns, ComparedColumns, Text};
pub use session::{Call, Ended, Line, Server, Session};

pub use crate::commands::ObjectReader;
pub use crate::failure::{Cause, Failure};
