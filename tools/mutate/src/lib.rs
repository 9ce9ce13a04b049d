//! Short runs of the fuzz targets in the tests: on stable, in seconds, the same on every run.
//!
//! A target is a function of bytes that panics where a property does not hold; it stands in the
//! `fuzzing` module of its crate, and `cargo fuzz` runs the same function for as long as one wants.
//! Here it gets its corpus (`fuzz/corpus/NAME`), then changed copies of it in a fixed number, then
//! long inputs, which never end where the work grows with the square of the length.
//!
//! | variable | meaning |
//! |---|---|
//! | `S3HAUL_TEST_SEED` | what the changes are drawn from |
//! | `S3HAUL_TEST_FUZZ_RUNS` | changed copies a target |

mod change;
mod corpus;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use change::Changer;
use corpus::Corpus;

/// Seed of runs that name none.
const SEED: u64 = 20_261_121;
/// Changed copies a target where nothing else is said.
const RUNS: u64 = 2_000;
/// Long inputs a target.
const LONG_RUNS: u64 = 3;
/// Length of a long input in bytes.
const LONG_BYTES: usize = 1 << 20;
/// Bytes of a failing input that are shown; all of them are in a file.
const SHOWN_MAX: usize = 6 * 1024;

/// Runs a target on its corpus, on changed copies and on long inputs. A panic of the target goes
/// on, after the input that made it was printed.
///
/// # Panics
///
/// Where the target does, or where it has no corpus.
pub fn short_run(name: &str, target: fn(&[u8])) {
    let corpus = Corpus::read(name).unwrap_or_else(|error| panic!("corpus of `{name}`: {error}"));
    let seed = variable("S3HAUL_TEST_SEED", SEED);
    let told = |origin: &str, input: &[u8]| told(name, seed, origin, input);
    for (origin, input) in &corpus.inputs {
        run(target, input, || told(origin, input));
    }
    // Each target has a sequence of its own.
    let mix = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let random = fastrand::Rng::with_seed(name.bytes().fold(seed, mix));
    let mut changer = Changer::new(&corpus, random);
    for number in 0..variable("S3HAUL_TEST_FUZZ_RUNS", RUNS) {
        let input = changer.changed();
        run(target, &input, || told(&format!("run {number}"), &input));
    }
    for number in 0..LONG_RUNS {
        let input = changer.long(LONG_BYTES);
        run(target, &input, || told(&format!("long input {number}"), &input));
    }
}

fn variable(name: &str, otherwise: u64) -> u64 {
    let text = std::env::var(name);
    text.map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("`{name}` is no number")))
}

fn run(target: fn(&[u8]), input: &[u8], told: impl FnOnce() -> String) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) {
        report(&told());
        resume_unwind(panic);
    }
}

#[expect(clippy::print_stderr, reason = "only tests run this, and it is what they fail with")]
fn report(text: &str) {
    eprintln!("{text}");
}

/// What is said of a failure, with the input in a file.
fn told(name: &str, seed: u64, origin: &str, input: &[u8]) -> String {
    let path = std::env::temp_dir().join(format!("s3haul-fuzz-{name}-{}", std::process::id()));
    let place = match std::fs::write(&path, input) {
        Ok(()) => format!("in `{}`", path.display()),
        Err(error) => format!("not kept: {error}"),
    };
    let shown = BASE64.encode(&input[..input.len().min(SHOWN_MAX)]);
    let bytes = input.len();
    format!(
        "fuzz target `{name}` failed with S3HAUL_TEST_SEED={seed}, {origin}: {bytes} bytes, \
         {place}\nin base64: {shown}"
    )
}

/// The folder of the fuzz targets.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

#[cfg(test)]
mod tests;
