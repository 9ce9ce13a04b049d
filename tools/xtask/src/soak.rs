//! `soak`: the random tests for a chosen time.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{kill, python};
use support::servers::Servers;
use support::{process, term};

/// Sequences of random commands a server, by default.
const SEQUENCES: &str = "1000";

const OPTIONS: &str = "--sequences, --jobs, --canary, --kill, --cluster, --seed and --server";

/// Random command lines through the real `aws s3` and through `s3haul`, on real servers:
/// `--sequences N`, `--seed S` (that of the first sequence; the time if not given), `--server
/// versitygw|minio` (both if not given). Or whole jobs in simulated weather: `--jobs N`, `--seed S`
/// (1 if not given); with `--canary NAME` of a client with a planted bug, which must fail. Or real
/// kills: `--kill`, see [`kill::run`]. Or jobs on a Ray cluster: `--cluster`, see [`python::soak`].
/// A failure prints the seed that shows it again, except for a cluster.
pub(crate) fn run(args: &[String]) -> Result<()> {
    match args.split_first() {
        Some((first, rest)) if first == "--kill" => return kill::run(rest),
        Some((first, rest)) if first == "--cluster" => return python::soak(rest),
        _ => {}
    }
    let mut sequences = SEQUENCES.to_owned();
    let mut seed = None;
    let mut filter = "differential".to_owned();
    let mut jobs = None;
    let mut canary = None;
    let mut rest = args.iter();
    while let Some(flag) = rest.next() {
        let value = rest.next().with_context(|| format!("`{flag}` needs a value"))?;
        match flag.as_str() {
            "--sequences" => sequences.clone_from(value),
            "--jobs" => jobs = Some(value),
            "--canary" => canary = Some(value),
            "--seed" => seed = Some(value),
            "--server" => filter = format!("{value}_differential"),
            _ => bail!("unknown option `{flag}`: {OPTIONS} exist"),
        }
    }
    for number in std::iter::once(&sequences).chain(seed).chain(jobs) {
        number.parse::<u64>().with_context(|| format!("`{number}` is no number"))?;
    }
    if let Some(name) = canary {
        return canary_dies(name, jobs.map_or("300", String::as_str), seed);
    }
    if let Some(jobs) = jobs {
        term::heading(&format!("soak: {jobs} whole jobs in simulated weather"));
        return process::run(&mut whole_jobs(jobs, seed));
    }
    term::heading(&format!("soak: {sequences} sequences of random commands a server"));
    let test = ["test", "-q", "-p", "s3haul-cli", "--test", "conformance", &filter];
    let mut cargo = process::cargo(&test);
    cargo.args(["--", "--nocapture"]).envs(Servers::locate().test_variables());
    cargo.env("S3HAUL_TEST_SEQUENCES", &sequences);
    let time = std::time::UNIX_EPOCH.elapsed()?.as_secs().to_string();
    cargo.env("S3HAUL_TEST_SEED", seed.unwrap_or(&time));
    let mut ran = 0_u64;
    process::run_with_lines(&mut cargo, |line| ran += u64::from(line.trim() == "passed"))?;
    if ran == 0 {
        bail!(
            "nothing ran: the servers are versitygw and minio; `cargo xtask servers` installs them"
        );
    }
    Ok(())
}

/// Runs whole jobs in simulated weather, undisturbed and killed: faster than the real thing, and
/// against a reference.
fn whole_jobs(jobs: &str, seed: Option<&String>) -> Command {
    let mut cargo = process::cargo(&["test", "-q", "-p", "s3haul", "--test", "transfer_sim"]);
    cargo.args(["--", "--exact", "--nocapture", "jobs::whole_jobs_lose_nothing"]);
    cargo.arg("jobs::killed_jobs_are_resumed_as_if_nothing_had_happened");
    cargo.env("S3HAUL_TEST_SEEDS", jobs);
    if let Some(seed) = seed {
        cargo.env("S3HAUL_TEST_SEED", seed);
    }
    cargo
}

/// Whole jobs of a client with a planted bug, until one is seen to do harm.
fn canary_dies(name: &str, jobs: &str, seed: Option<&String>) -> Result<()> {
    term::heading(&format!("soak: {jobs} whole jobs with the planted bug `{name}`"));
    let mut cargo = whole_jobs(jobs, seed);
    cargo.env("S3HAUL_TEST_CANARY", name).env("RUST_BACKTRACE", "0");
    let mut seen = None;
    let result = process::run_with_lines(&mut cargo, |line| {
        let failing =
            line.strip_prefix("S3HAUL_TEST_SEED=").and_then(|rest| rest.split(' ').next());
        seen = seen.take().or_else(|| failing.map(str::to_owned));
    });
    match (result, seen) {
        (Err(_), Some(seed)) => {
            term::good(&format!("the planted bug `{name}` is caught, first at seed {seed}"));
            Ok(())
        }
        (Err(error), None) => Err(error),
        (Ok(()), _) => bail!("the planted bug `{name}` is not caught in {jobs} jobs"),
    }
}
