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
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use self::plan::{Plan, Victim};
use self::round::{Ended, round};
use self::server::Kind;
use support::{process, term};

/// Kills by default.
const KILLS: u64 = 200;
/// Kills of [`a_few`].
const FEW: u64 = 4;
/// Their seeds: of `cp`, `sync` and `mv`, with clients and servers killed.
const FEW_FIRST_SEED: u64 = 2;
/// Rounds for each kill wanted: a job that ends before it is struck does not count.
const ROUNDS_A_KILL_MAX: u64 = 5;
/// Failed rounds after which the rest is not worth the time.
const FAILURES_MAX: usize = 5;

struct Options {
    kills: u64,
    first_seed: u64,
    servers: Vec<Kind>,
    binary: Option<PathBuf>,
    again: Again,
}

/// How a job that was killed is brought to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
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
    let binary = binary.to_string_lossy();
    let seed = FEW_FIRST_SEED.to_string();
    let few = FEW.to_string();
    let args = [&few, "--seed", &seed, "--server", "embedded", "--binary", &binary];
    for again in [&[][..], &["--resume"], &["--apply"], &["--cluster"]] {
        let args = args.iter().chain(again).map(|word| (*word).to_owned());
        run(&args.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// `[N] [--seed S] [--server embedded|versitygw|minio] [--binary PATH]
/// [--resume|--apply|--cluster]`: kills N times. With `--resume` the second run is `jobs resume`;
/// with `--apply` also, and the job is planned first; with `--cluster` three workers do it.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = read(args)?;
    let binary = match &options.binary {
        Some(path) => std::path::absolute(path)?,
        None => build()?,
    };
    let servers: Vec<_> =
        options.servers.iter().copied().filter(|kind| kind.is_installed(&binary)).collect();
    if servers.is_empty() {
        bail!("it is not installed: `cargo xtask servers` does it");
    }
    let names: Vec<_> = servers.iter().map(|kind| kind.name()).collect();
    term::heading(&format!(
        "soak: {} kills, seeds from {}, {}",
        options.kills,
        options.first_seed,
        names.join(" and ")
    ));
    let mut tally = Tally::default();
    let started = Instant::now();
    for number in 0..options.kills * ROUNDS_A_KILL_MAX {
        if tally.hits == options.kills || tally.failed.len() == FAILURES_MAX {
            break;
        }
        let seed = options.first_seed.wrapping_add(number);
        // By the seed, so that one alone meets the same server.
        let kind = servers[usize::try_from(seed)? % servers.len()];
        let plan = Plan::of(seed);
        if options.again == Again::Cluster && !plan.can_be_cut() {
            continue;
        }
        match round(&binary, kind, &plan, options.again) {
            Ok(ended) => tally.add(kind, &plan, &ended),
            Err(error) => tally.fail(kind, &plan, options.again, &error),
        }
    }
    tally.tell(started);
    if tally.hits < options.kills && tally.failed.is_empty() {
        bail!("only {} jobs were struck while they ran", tally.hits);
    }
    if tally.failed.is_empty() { Ok(()) } else { bail!("seeds {:?} failed", tally.failed) }
}

fn read(args: &[String]) -> Result<Options> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut options = Options {
        kills: KILLS,
        first_seed: now.as_secs(),
        servers: Kind::ALL.to_vec(),
        binary: None,
        again: Again::Same,
    };
    let number = |text: &str| text.parse().with_context(|| format!("`{text}` is no number"));
    let mut rest = args.iter();
    while let Some(flag) = rest.next() {
        if !flag.starts_with("--") {
            options.kills = number(flag)?;
            continue;
        }
        let known = [Again::Resume, Again::Apply, Again::Cluster];
        if let Some(again) = known.into_iter().find(|again| again.flag().trim() == flag) {
            options.again = again;
            continue;
        }
        let value = rest.next().with_context(|| format!("`{flag}` needs a value"))?;
        match flag.as_str() {
            "--seed" => options.first_seed = number(value)?,
            "--server" => options.servers = vec![Kind::of(value)?],
            "--binary" => options.binary = Some(value.into()),
            _ => bail!(
                "unknown option `{flag}`: --seed, --server, --binary, --resume, --apply and \
                 --cluster exist"
            ),
        }
    }
    Ok(options)
}

fn build() -> Result<PathBuf> {
    process::run(&mut process::cargo(&["build", "-q", "-p", "s3haul-cli"]))?;
    Ok(process::target().join("debug").join("s3haul"))
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
