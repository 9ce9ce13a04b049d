//! `list-bench`: how many requests, how long and how much CPU time listing takes, layout by
//! layout.
//!
//! By default the real command lists what `s3haul serve --keys` serves with a latency, over real
//! sockets. Requests and makespan are read from the server's ledger: the makespan is the time from
//! the arrival of the first request to the end of the last answer, the ideal one that of
//! ceil(pages / concurrency) rounds. CPU time and memory are the client's; the server's cost is
//! shown beside them, because both share this machine. Every run is checked: each key once, and
//! in order where that was asked for.
//!
//! With `--rounds` the pure splitter lists in simulated time (`crates/s3haul/examples/
//! list_rounds.rs`), where a request takes a round and nothing else takes any.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::usage::{Usage, measure};
use crate::layouts::{self, KeyFile};
use crate::peers::absolute;
use support::server::Server;
use support::{process, term};

/// Keys of a full page.
const PAGE_KEYS: u64 = 1000;

/// Which listings.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only these layouts.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_values = layouts::names())]
    layouts: Vec<String>,
    /// Keys of each; digits may stand apart: `10_000_000`.
    #[arg(long = "n", value_name = "KEYS", default_value = "100000", value_parser = number)]
    count: u64,
    /// Requests in flight; one run for each number.
    #[arg(long, value_delimiter = ',', default_value = "64", value_parser = number)]
    concurrency: Vec<u64>,
    /// What the server waits before each answer, in milliseconds.
    #[arg(long = "latency", value_name = "MS", default_value = "20", value_parser = number)]
    latency_ms: u64,
    /// In the order of keys.
    #[arg(long = "ordered")]
    is_ordered: bool,
    /// The pure splitter in simulated time.
    #[arg(long)]
    rounds: bool,
    /// Rounds of different length.
    #[arg(long, requires = "rounds")]
    jitter: bool,
    /// The command to measure; built where none is given.
    #[arg(long, value_name = "PATH", value_parser = absolute)]
    binary: Option<PathBuf>,
}

/// Runs the benchmark.
pub(crate) fn run(plan: &Arguments) -> Result<()> {
    if plan.rounds { run_rounds(plan) } else { run_real(plan) }
}

/// A number, which may hold underscores.
fn number(text: &str) -> Result<u64> {
    match text.trim_end_matches("ms").replace('_', "").parse() {
        Ok(0) => bail!("0 is too small"),
        Ok(number) => Ok(number),
        Err(_) => bail!("`{text}` is no number"),
    }
}

/// Simulated rounds: what the example prints, behind the layout's name.
fn run_rounds(plan: &Arguments) -> Result<()> {
    let step = ["build", "--release", "--quiet", "-p", "s3haul-list", "--example", "list_rounds"];
    process::run(&mut process::cargo(&step))?;
    let program = process::target().join("release/examples/list_rounds");
    for name in &plan.layouts {
        let keys = layouts::ensure(name, plan.count)?;
        for concurrency in &plan.concurrency {
            let mut command = Command::new(&program);
            command.arg("--keys").arg(&keys.path).args(["--concurrency", &concurrency.to_string()]);
            let flags = [(plan.jitter, "--jitter"), (plan.is_ordered, "--ordered")];
            command.args(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag));
            let told = process::run_quietly(&mut command)?;
            term::line(&format!("{name:<10} {:>9} {concurrency:>4}  {}", keys.count, told.trim()));
        }
    }
    Ok(())
}

fn list(s3haul: &Path, server: &Server, plan: &Arguments, concurrency: u64) -> Command {
    let mut command = server.command(s3haul);
    command.args(["list", "s3://synthetic", "--format", "keys", "--no-hints"]);
    command.args(["--concurrency", &concurrency.to_string()]);
    if plan.is_ordered {
        command.arg("--sort");
    }
    command
}

fn run_real(plan: &Arguments) -> Result<()> {
    let s3haul = process::s3haul(plan.binary.as_deref(), true)?;
    term::heading(&format!(
        "list-bench: latency {} ms{}; time of the requests, CPU and memory of the client",
        plan.latency_ms,
        if plan.is_ordered { ", in order" } else { "" }
    ));
    term::line(
        "layout          keys    C  requests  /ideal  in flight  seconds  /ideal    keys/s  \
         CPU s/M keys  peak MiB | server CPU us/page, own MiB",
    );
    for name in &plan.layouts {
        let keys = layouts::ensure(name, plan.count)?;
        let wanted = Digest::of(File::open(&keys.path)?)?;
        for concurrency in &plan.concurrency {
            let run = measure_run(plan, &s3haul, &keys, *concurrency)?;
            run.listed.check(&wanted, plan.is_ordered).with_context(|| {
                format!("layout `{name}` with {concurrency} requests in flight")
            })?;
            print_run(name, plan, &keys, *concurrency, &run);
        }
    }
    Ok(())
}

/// What one listing cost.
struct Run {
    usage: Usage,
    listed: Digest,
    requests: Requests,
    server_cpu_s: f64,
    server_mib: f64,
}

fn measure_run(plan: &Arguments, s3haul: &Path, keys: &KeyFile, concurrency: u64) -> Result<Run> {
    let scratch = tempfile::tempdir().context("could not make a temporary folder")?;
    let ledger = scratch.path().join("ledger.jsonl");
    let path = keys.path.to_str().context("the workspace's path is no UTF-8")?;
    let ledger_path = ledger.to_str().context("the temporary folder's path is no UTF-8")?;
    let latency = format!("{}ms", plan.latency_ms);
    let args = ["--keys", path, "--latency", &latency, "--ledger", ledger_path];
    let server = Server::start(s3haul, &args)?;
    let before_s = server.cpu_s()?;
    let mut command = list(s3haul, &server, plan, concurrency);
    let read = |output: Option<ChildStdout>| Digest::of(output.context("it is piped")?);
    let (ended, listed) = measure(&mut command, Stdio::piped(), None, read)?;
    if !ended.status.success() {
        bail!("`s3haul list` failed ({})", ended.status);
    }
    let (server_cpu_s, server_mib) = (server.cpu_s()? - before_s, server.own_mib());
    server.stop()?;
    let requests = Requests::read(&ledger)?;
    Ok(Run { usage: ended.usage, listed: listed?, requests, server_cpu_s, server_mib })
}

fn print_run(name: &str, plan: &Arguments, keys: &KeyFile, concurrency: u64, run: &Run) {
    let pages = keys.count.div_ceil(PAGE_KEYS).max(1);
    let ideal_s = float(pages.div_ceil(concurrency) * plan.latency_ms) / 1000.0;
    let requests = float(run.requests.count);
    term::line(&format!(
        "{name:<10} {:>9} {concurrency:>4} {:>9} {:>7.3} {:>10} {:>8.2} {:>7.2} {:>9.0} {:>13.2} \
         {:>9.0} | {:.0}, {:.0}",
        keys.count,
        run.requests.count,
        requests / float(pages),
        run.requests.most_in_flight,
        run.requests.makespan_s,
        run.requests.makespan_s / ideal_s,
        float(keys.count) / run.usage.wall_s,
        run.usage.cpu_s * 1e6 / float(keys.count.max(1)),
        run.usage.peak_mib,
        run.server_cpu_s * 1e6 / requests,
        run.server_mib,
    ));
}

fn float(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// What the server's ledger says of a listing.
#[derive(Debug, Default, PartialEq)]
struct Requests {
    count: u64,
    most_in_flight: u64,
    makespan_s: f64,
}

impl Requests {
    fn read(ledger: &Path) -> Result<Self> {
        Self::of(BufReader::new(File::open(ledger).context("the server wrote no ledger")?))
    }

    fn of(lines: impl BufRead) -> Result<Self> {
        let mut requests = Self::default();
        let (mut first_us, mut last_us) = (u64::MAX, 0);
        for line in lines.lines() {
            let record: serde_json::Value = serde_json::from_str(&line?)?;
            let field = |name: &str| record[name].as_u64().unwrap_or_default();
            if record["operation"].as_str().is_some_and(|name| name.starts_with("ListObject")) {
                requests.count += 1;
                requests.most_in_flight = requests.most_in_flight.max(field("concurrency"));
                first_us = first_us.min(field("at_us"));
                last_us = last_us.max(field("at_us") + field("duration_us"));
            }
        }
        requests.makespan_s = float(last_us.saturating_sub(first_us)) / 1e6;
        Ok(requests)
    }
}

/// A sum over lines that does not depend on their order: two sets with the same sum and number of
/// lines are, but for one chance in 2^64, the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest {
    lines: u64,
    sum: u64,
    is_ascending: bool,
}

impl Digest {
    /// Reads keys, one a line.
    fn of(input: impl Read) -> Result<Self> {
        let mut input = BufReader::with_capacity(1 << 20, input);
        let mut digest = Self { lines: 0, sum: 0, is_ascending: true };
        let (mut line, mut previous) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line)? == 0 {
                return Ok(digest);
            }
            line.pop_if(|byte| *byte == b'\n');
            digest.lines += 1;
            digest.sum = digest.sum.wrapping_add(hash(&line));
            digest.is_ascending &= previous < line;
            std::mem::swap(&mut line, &mut previous);
        }
    }

    fn check(&self, wanted: &Self, in_order: bool) -> Result<()> {
        if (self.lines, self.sum) != (wanted.lines, wanted.sum) {
            bail!("{} lines were listed, not the {} keys once each", self.lines, wanted.lines);
        }
        if in_order && !self.is_ascending {
            bail!("the keys were not listed in their order");
        }
        Ok(())
    }
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_checked_for_keys_and_order() {
        let of = |text: &str| Digest::of(text.as_bytes()).unwrap();
        let wanted = of("a\nb\\\\\nc\n");
        let lines = ["a\n", "b\\\\\n", "c\n"];
        let listed = |order: &[usize]| {
            let text: String = order.iter().map(|index| lines[*index]).collect();
            of(&text)
        };
        assert!(listed(&[0, 1, 2]).check(&wanted, true).is_ok());
        assert!(listed(&[2, 0, 1]).check(&wanted, false).is_ok());
        assert!(listed(&[2, 0, 1]).check(&wanted, true).is_err());
        for bad in [&[0, 1][..], &[0, 1, 1], &[0, 1, 1, 2]] {
            assert!(listed(bad).check(&wanted, false).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_ledger_gives_requests_and_makespan() {
        let ledger = r#"{"at_us":1000,"operation":"ListObjectsV2","concurrency":1,"duration_us":20}
{"at_us":5000,"operation":"HeadBucket","concurrency":3,"duration_us":90000}
{"at_us":2000,"operation":"ListObjectsV2","concurrency":2,"duration_us":19000}"#;
        let requests = Requests::of(ledger.as_bytes()).unwrap();
        assert_eq!(requests, Requests { count: 2, most_in_flight: 2, makespan_s: 0.02 });
    }
}
