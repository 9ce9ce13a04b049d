//! `cargo xtask soak --kill`: the real command against real servers, and one of the two is killed
//! (`kill -9`) at a random moment. The command is run again, and what came of it is compared with a
//! reference: nothing lost, nothing torn, nothing deleted that should not be.
//!
//! A seed stands for objects, a command and a moment; when exactly the kill strikes is up to the
//! machine, so that a seed may need several tries to fail again. A job that ended before it was
//! struck is checked like the others and does not count.

mod check;
mod client;
mod plan;
mod round;
mod server;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::ValueEnum as _;

use self::plan::{Plan, Victim};
use self::round::{Ended, round};
pub(crate) use self::server::Kind;
use support::{process, term};

/// Kills of [`a_few`].
const FEW: u64 = 4;
/// Their seeds: of `cp`, `sync` and `mv`, with clients and servers killed.
const FEW_FIRST_SEED: u64 = 2;
/// Rounds for each kill wanted: a job that ends before it is struck does not count.
const ROUNDS_A_KILL_MAX: u64 = 5;
/// Failed rounds after which the rest is not worth the time.
const FAILURES_MAX: usize = 5;

/// What is killed how often.
pub(crate) struct Soak {
    pub(crate) kills: u64,
    pub(crate) first_seed: u64,
    /// Only this server; all that are installed if `None`.
    pub(crate) server: Option<Kind>,
    pub(crate) binary: PathBuf,
    pub(crate) again: Again,
}

/// How a job that was killed is brought to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// By the same command.
    Same,
    /// By `jobs resume`.
    Resume,
    /// The job does a plan; by `jobs resume`.
    Apply,
    /// Workers do the job in shards, and some or all of them are killed; by those that are left,
    /// and by `jobs resume`.
    Cluster,
}

impl Again {
    /// The option that asks for it.
    fn flag(self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Resume => " --resume",
            Self::Apply => " --apply",
            Self::Cluster => " --cluster",
        }
    }
}

/// A few kills of the embedded server and its clients, with the command that the tests were run on.
pub(crate) fn a_few() -> Result<()> {
    let binary = process::target().join("debug").join("s3haul");
    for again in [Again::Same, Again::Resume, Again::Apply, Again::Cluster] {
        let (server, binary) = (Some(Kind::Embedded), binary.clone());
        run(&Soak { kills: FEW, first_seed: FEW_FIRST_SEED, server, binary, again })?;
    }
    Ok(())
}

/// Kills, and judges what came of each job.
pub(crate) fn run(soak: &Soak) -> Result<()> {
    let Soak { kills, first_seed, ref binary, again, .. } = *soak;
    let wanted = soak.server.as_ref().map_or(Kind::value_variants(), std::slice::from_ref);
    let servers: Vec<_> = wanted.iter().copied().filter(|kind| kind.is_installed(binary)).collect();
    if servers.is_empty() {
        bail!("it is not installed: `cargo xtask servers` does it");
    }
    let names: Vec<_> = servers.iter().map(|kind| kind.name()).collect();
    term::heading(&format!(
        "soak: {kills} kills, seeds from {first_seed}, {}",
        names.join(" and ")
    ));
    let mut tally = Tally::default();
    let started = Instant::now();
    for number in 0..kills * ROUNDS_A_KILL_MAX {
        if tally.hits == kills || tally.failed.len() == FAILURES_MAX {
            break;
        }
        let seed = first_seed.wrapping_add(number);
        // By the seed, so that one alone meets the same server.
        let kind = servers[usize::try_from(seed)? % servers.len()];
        let plan = Plan::of(seed);
        if again == Again::Cluster && !plan.can_be_cut() {
            continue;
        }
        match round(binary, kind, &plan, again) {
            Ok(ended) => tally.add(kind, &plan, &ended),
            Err(error) => tally.fail(kind, &plan, again, &error),
        }
    }
    tally.tell(started);
    if tally.hits < kills && tally.failed.is_empty() {
        bail!("only {} jobs were struck while they ran", tally.hits);
    }
    if tally.failed.is_empty() { Ok(()) } else { bail!("seeds {:?} failed", tally.failed) }
}

/// What all rounds came to.
#[derive(Default)]
struct Tally {
    hits: u64,
    misses: u64,
    /// Struck while they ran, by server, victim and command.
    kinds: BTreeMap<String, u64>,
    /// Jobs whose server was killed under them and that did all the same what they should.
    survived: u64,
    leftovers: u64,
    uploads: u64,
    failed: Vec<u64>,
}

impl Tally {
    fn add(&mut self, kind: Kind, plan: &Plan, ended: &Ended) {
        if !ended.is_hit {
            self.misses += 1;
            return;
        }
        self.hits += 1;
        let victim = if plan.victim == Victim::Client { "client" } else { "server" };
        let what = format!("{}, {victim} killed: {}", kind.name(), plan.title());
        *self.kinds.entry(what).or_default() += 1;
        self.survived += u64::from(ended.has_survived);
        self.leftovers += ended.temporary_files;
        self.uploads += ended.open_uploads;
    }

    fn fail(&mut self, kind: Kind, plan: &Plan, again: Again, error: &anyhow::Error) {
        let (kind, flag) = (kind.name(), again.flag());
        let again = format!("--kill 1 --seed {} --server {kind}{flag}", plan.seed);
        term::error(&format!("{plan}: {error:#}\n  cargo xtask soak {again}"));
        self.failed.push(plan.seed);
    }

    fn tell(&self, started: Instant) {
        for (what, count) in &self.kinds {
            term::line(&format!("{count:4}  {what}"));
        }
        term::line(&format!(
            "{} killed while the job ran, {} ended before, {} failed, in {}",
            self.hits,
            self.misses,
            self.failed.len(),
            term::seconds(started.elapsed())
        ));
        term::line(&format!(
            "{} jobs outlived their server; {} temporary files and {} open uploads were left by \
             what was killed, and taken away",
            self.survived, self.leftovers, self.uploads
        ));
    }
}
