//! What the tools under `tools/` share: running programs, installing pinned ones, folders, random
//! numbers and output on a terminal. Knows neither checks nor benchmarks.

pub mod dice;
pub mod files;
pub mod install;
pub mod process;
pub mod server;
pub mod servers;
pub mod term;
