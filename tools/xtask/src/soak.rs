//! `soak`: the random tests for a chosen time.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::{kill, python};
use support::servers::Servers;
use support::{process, term};

/// What is run for how long. A failure prints the seed that shows it again, except for a cluster.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Sequences of random commands through the real aws and through s3haul, on each real server
    #[arg(long, default_value_t = 1000)]
    #[arg(conflicts_with_all = ["jobs", "canary", "kill", "cluster"])]
    sequences: u64,
    /// Whole jobs in simulated weather instead
    #[arg(long, conflicts_with_all = ["kill", "cluster", "server"])]
    jobs: Option<u64>,
    /// The same with a planted bug, which must be caught
    #[arg(long, value_name = "BUG", conflicts_with_all = ["kill", "cluster", "server"])]
    canary: Option<String>,
    /// Kills of the command or a real server in the middle of a job instead
    #[arg(long, num_args = 0..=1, default_missing_value = "200")]
    kill: Option<u64>,
    /// Rounds of what is lost of a Ray cluster instead; with `--kill`, three workers do the job
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "20")]
    cluster: Option<u64>,
    /// The first seed; without it the time, or 1 for whole jobs
    #[arg(long)]
    seed: Option<u64>,
    /// One server only
    #[arg(long, value_enum)]
    server: Option<kill::Kind>,
    /// The command that is killed; built where absent
    #[arg(long, value_name = "PATH", requires = "kill")]
    binary: Option<PathBuf>,
    /// The killed job is gone on with by `jobs resume`
    #[arg(long, requires = "kill", conflicts_with_all = ["apply", "cluster"])]
    resume: bool,
    /// It is planned first, and gone on with
    #[arg(long, requires = "kill", conflicts_with = "cluster")]
    apply: bool,
}

/// Runs what was asked for.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let time = std::time::UNIX_EPOCH.elapsed()?.as_secs();
    match *arguments {
        Arguments { kill: Some(kills), .. } => {
            let again = match arguments {
                Arguments { resume: true, .. } => kill::Again::Resume,
                Arguments { apply: true, .. } => kill::Again::Apply,
                Arguments { cluster: Some(_), .. } => kill::Again::Cluster,
                _ => kill::Again::Same,
            };
            let binary = process::s3haul(arguments.binary.as_deref(), false)?;
            let first_seed = arguments.seed.unwrap_or(time);
            kill::run(&kill::Soak { kills, first_seed, server: arguments.server, binary, again })
        }
        Arguments { cluster: Some(rounds), seed: None, server: None, .. } => python::soak(rounds),
        Arguments { cluster: Some(_), .. } => {
            bail!("`--cluster` takes `--seed` and `--server` only with `--kill`")
        }
        Arguments { canary: Some(ref name), jobs, seed, .. } => {
            canary_dies(name, jobs.unwrap_or(300), seed)
        }
        Arguments { jobs: Some(jobs), seed, .. } => {
            term::heading(&format!("soak: {jobs} whole jobs in simulated weather"));
            process::run(&mut whole_jobs(jobs, seed))
        }
        _ => commands(arguments, arguments.seed.unwrap_or(time)),
    }
}

/// Random command lines through the real `aws s3` and through `s3haul`, on real servers.
fn commands(arguments: &Arguments, seed: u64) -> Result<()> {
    let sequences = arguments.sequences;
    term::heading(&format!("soak: {sequences} sequences of random commands a server"));
    let server = arguments.server.map_or(String::new(), |server| format!("{}_", server.name()));
    let filter = format!("{server}differential");
    let test = ["test", "-q", "-p", "s3haul-cli", "--test", "conformance", &filter];
    let mut cargo = process::cargo(&test);
    cargo.args(["--", "--nocapture"]).envs(Servers::locate().test_variables());
    cargo.env("S3HAUL_TEST_SEQUENCES", sequences.to_string());
    cargo.env("S3HAUL_TEST_SEED", seed.to_string());
    let mut ran = 0_u64;
    process::run_with_lines(&mut cargo, |line| {
        term::line(line);
        ran += u64::from(line.trim() == "passed");
    })?;
    if ran == 0 {
        bail!(
            "nothing ran: the servers are versitygw and minio; `cargo xtask servers` installs them"
        );
    }
    Ok(())
}

/// Runs whole jobs in simulated weather, undisturbed and killed: faster than the real thing, and
/// against a reference.
fn whole_jobs(jobs: u64, seed: Option<u64>) -> Command {
    let mut cargo = process::cargo(&["test", "-q", "-p", "s3haul", "--test", "transfer_sim"]);
    cargo.args(["--", "--exact", "--nocapture", "jobs::whole_jobs_lose_nothing"]);
    cargo.arg("jobs::killed_jobs_are_resumed_as_if_nothing_had_happened");
    cargo.env("S3HAUL_TEST_SEEDS", jobs.to_string());
    if let Some(seed) = seed {
        cargo.env("S3HAUL_TEST_SEED", seed.to_string());
    }
    cargo
}

/// Whole jobs of a client with a planted bug, until one is seen to do harm.
fn canary_dies(name: &str, jobs: u64, seed: Option<u64>) -> Result<()> {
    term::heading(&format!("soak: {jobs} whole jobs with the planted bug `{name}`"));
    let mut cargo = whole_jobs(jobs, seed);
    cargo.env("S3HAUL_TEST_CANARY", name).env("RUST_BACKTRACE", "0");
    let mut seen = None;
    let result = process::run_with_lines(&mut cargo, |line| {
        term::line(line);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_would_be_ignored_are_refused() {
        let accepts = |line: &str| {
            let command = <Arguments as clap::Args>::augment_args(clap::Command::new("soak"));
            command.try_get_matches_from(line.split(' ')).is_ok()
        };
        for line in [
            "soak --sequences 5 --seed 1 --server minio",
            "soak --jobs 5 --seed 1 --canary if-match",
            "soak --kill 5 --seed 1 --server minio --cluster",
            "soak --kill --resume --binary s3haul",
            "soak --cluster 5",
        ] {
            assert!(accepts(line), "{line}");
        }
        for line in [
            "soak --jobs 5 --server minio",
            "soak --canary if-match --server minio",
            "soak --jobs 5 --sequences 5",
            "soak --kill 5 --jobs 5",
            "soak --cluster 5 --canary if-match",
            "soak --cluster 5 --sequences 5",
            "soak --cluster 5 --resume",
        ] {
            assert!(!accepts(line), "{line}");
        }
    }
}
