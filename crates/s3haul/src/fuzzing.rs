//! Entry points of the fuzz targets: what must hold for any names, filters and sizes that a
//! command line, a listing or a folder may hold.
//!
//! Each function takes what a fuzzer made and panics where a property does not hold. `fuzz/` calls
//! them under `libFuzzer`, the tests here call them with a fixed number of inputs. They are not
//! part of the interface. [`journal_batches`] is counted by `cargo xtask budgets`.

pub use crate::fs::fuzzing::local_names;
pub use crate::journal::fuzzing::batches as journal_batches;
pub use crate::plan::fuzzing::{filters, paths, units};

#[cfg(test)]
mod tests {
    use s3haul_mutate::short_run;

    #[test]
    fn filters() {
        short_run("filters", super::filters);
    }

    #[test]
    fn local_names() {
        short_run("local_names", super::local_names);
    }

    #[test]
    fn paths() {
        short_run("paths", super::paths);
    }

    #[test]
    fn units() {
        short_run("units", super::units);
    }
}
