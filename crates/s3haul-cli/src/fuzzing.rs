//! Entry points of the fuzz targets: what must hold for any file that a command is given, and for
//! any text of a flag.
//!
//! Each function takes what a fuzzer made and panics where a property does not hold. `fuzz/` calls
//! them under `libFuzzer`, the tests here call them with a fixed number of inputs. They are not
//! part of the interface.

pub use crate::batch::fuzzing::words;
pub use crate::manifest::fuzzing::{manifest_parquet, manifest_text};
pub use crate::report::fuzzing::report;
pub use crate::settings::fuzzing::flags;

#[cfg(test)]
mod tests {
    use s3haul_mutate::short_run;

    #[test]
    fn flags() {
        short_run("flags", super::flags);
    }

    #[test]
    fn manifest_parquet() {
        short_run("manifest_parquet", super::manifest_parquet);
    }

    #[test]
    fn manifest_text() {
        short_run("manifest_text", super::manifest_text);
    }

    #[test]
    fn report() {
        short_run("report", super::report);
    }

    #[test]
    fn words() {
        short_run("words", super::words);
    }
}
