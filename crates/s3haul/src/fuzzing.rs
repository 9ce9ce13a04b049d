//! Entry points of the fuzz targets: what must hold for any bytes that a server, a file or a
//! command line may hold.
//!
//! Each function takes what a fuzzer made and panics where a property does not hold. `fuzz/` calls
//! them under `libFuzzer`, the tests here call them with a fixed number of inputs. They are not
//! part of the interface.

pub use crate::fs::fuzzing::local_names;
pub use crate::plan::fuzzing::{filters, paths, units};
pub use crate::s3::fuzzing::{
    answers, config, endpoints, headers, key_codec, listing, signature, xml,
};

#[cfg(test)]
mod tests {
    use s3haul_mutate::short_run;

    #[test]
    fn answers() {
        short_run("answers", super::answers);
    }

    #[test]
    fn config() {
        short_run("config", super::config);
    }

    #[test]
    fn endpoints() {
        short_run("endpoints", super::endpoints);
    }

    #[test]
    fn filters() {
        short_run("filters", super::filters);
    }

    #[test]
    fn headers() {
        short_run("headers", super::headers);
    }

    #[test]
    fn key_codec() {
        short_run("key_codec", super::key_codec);
    }

    #[test]
    fn listing() {
        short_run("listing", super::listing);
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
    fn signature() {
        short_run("signature", super::signature);
    }

    #[test]
    fn units() {
        short_run("units", super::units);
    }

    #[test]
    fn xml() {
        short_run("xml", super::xml);
    }
}
