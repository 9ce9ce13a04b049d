//! A workload in a place: all tools in turn, A B C A B C, after a warm-up round that does not
//! count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::bare;
use super::check::{self, Seen};
use super::environment::{Environment, Slot};
use super::ledger::Requests;
use super::options::Options;
use super::output::Printed;
use super::results::{self, Results};
use super::server::TARGET_BUCKET;
use super::table::Kind;
use super::tools::{Line, Tool};
use crate::record::{Outcome, Place, Run};
use crate::usage::{Ended, measure};

/// Characters of a message that are kept.
const MESSAGE_MAX: usize = 300;

/// What all runners share.
pub(super) struct Bench {
    pub(super) options: Options,
    pub(super) tools: Vec<Tool>,
    pub(super) s3haul: PathBuf,
    pub(super) results: Results,
    /// Workload and tool, and where it took too long.
    pub(super) slow: BTreeMap<(&'static str, &'static str), Place>,
}

/// What a run is, beside its tool and its outcome.
pub(super) struct Runner<'a> {
    pub(super) workload: &'static str,
    pub(super) repeats: u32,
    pub(super) environment: Environment<'a>,
}

impl Runner<'_> {
    /// All rounds.
    pub(super) fn run(&mut self, bench: &mut Bench) -> Result<()> {
        let mut out: BTreeSet<&'static str> = BTreeSet::new();
        let rounds = bench.options.rounds * self.repeats;
        let mut number = 0;
        for round in 0..=rounds {
            for index in 0..bench.tools.len() {
                let name = bench.tools[index].name();
                if out.contains(name) {
                    continue;
                }
                number += 1;
                let Some(outcome) = self.turn(bench, index, number)? else {
                    out.insert(name);
                    continue;
                };
                let is_last = is_last(&outcome, &bench.options);
                if is_last {
                    out.insert(name);
                }
                if round > 0 || is_last {
                    bench.results.keep(&self.record(&bench.tools[index], round.max(1), outcome))?;
                }
            }
        }
        Ok(())
    }

    /// A tool's turn, unless it took too long where it was no harder.
    fn turn(&mut self, bench: &mut Bench, index: usize, number: u32) -> Result<Option<Outcome>> {
        let tool = &bench.tools[index];
        let slow = (self.workload, tool.name());
        let here = &self.environment.server.place;
        if let Some(place) = bench.slow.get(&slow).filter(|place| is_as_hard(here, place)) {
            let (seconds, place) = (bench.options.limit.as_secs(), results::place(place));
            return Ok(Some(Outcome::Absent(format!("not run: more than {seconds} s on {place}"))));
        }
        let outcome = self.once(tool, number, &bench.options)?;
        if outcome.as_ref() == Some(&too_long(&bench.options)) {
            bench.slow.insert(slow, self.environment.server.place.clone());
        }
        Ok(outcome)
    }

    fn record(&self, tool: &Tool, round: u32, outcome: Outcome) -> Run {
        let (amount, unit) = self.environment.job.amount();
        Run {
            workload: self.workload.to_owned(),
            title: self.environment.job.title(),
            place: self.environment.server.place.clone(),
            tool: tool.name().to_owned(),
            version: tool.version(),
            round,
            amount,
            unit,
            outcome,
        }
    }

    /// One run of one tool; nothing where it has no part in this workload.
    fn once(&mut self, tool: &Tool, number: u32, options: &Options) -> Result<Option<Outcome>> {
        let slot = self.environment.slot(tool.name(), number);
        let mut command = match tool.line(&self.environment, &slot)? {
            Line::Runs(command) => command,
            Line::Cannot(why) => return Ok(Some(Outcome::Absent(one_line(&why)))),
            Line::Nothing => return Ok(None),
        };
        if self.environment.needs_first_sync(tool.name()) {
            if let Some(failure) = self.first_sync(tool, &slot, options)? {
                return Ok(Some(failure));
            }
            self.environment.note_first_sync(tool.name());
        }
        let before = self.environment.before(&slot)?;
        self.environment.server.requests()?;
        let log = self.environment.folder().join("stderr.log");
        command.stderr(File::create(&log)?);
        let ended = measure_printed(&mut command, tool, self.environment.job.kind, options.limit);
        let requests = self.environment.server.requests()?;
        let outcome = match ended {
            Err(error) => Outcome::Failed(one_line(&format!("{error:#}"))),
            Ok((ended, _)) if ended.is_cut => too_long(options),
            Ok((ended, _)) if !ended.status.success() => Outcome::Failed(failure(&ended, &log)),
            Ok((ended, printed)) => {
                let seen = Seen { printed, requests, before };
                self.judge(tool, &slot, &ended, &seen)?
            }
        };
        self.environment.after(&slot)?;
        Ok(Some(outcome))
    }

    /// Syncs everything, first with ours and then with the tool itself, since each has its own idea
    /// of what is the same.
    fn first_sync(&self, tool: &Tool, slot: &Slot, options: &Options) -> Result<Option<Outcome>> {
        let (tree, prefix) = (self.environment.tree.root.to_string_lossy(), &slot.prefix);
        let target = format!("s3://{TARGET_BUCKET}/{prefix}");
        self.environment.server.run(&["sync", "--quiet", &tree, &target])?;
        if tool.is_bare() {
            return Ok(None);
        }
        let Line::Runs(mut command) = tool.line(&self.environment, slot)? else { return Ok(None) };
        let log = self.environment.folder().join("stderr.log");
        command.stderr(File::create(&log)?);
        let (ended, ()) = measure(&mut command, Stdio::null(), Some(options.limit), |_| ())?;
        Ok(if ended.is_cut {
            Some(too_long(options))
        } else if ended.status.success() {
            None
        } else {
            Some(Outcome::Failed(format!("the first sync: {}", failure(&ended, &log))))
        })
    }

    fn judge(&self, tool: &Tool, slot: &Slot, ended: &Ended, seen: &Seen) -> Result<Outcome> {
        let environment = &self.environment;
        let verdict = match tool {
            Tool::Bare(_) => bare::check(environment, slot, &seen.printed)?,
            Tool::Library(_) => match check::reported(environment, &seen.printed)? {
                Ok(()) => check::check(environment, slot, seen)?,
                wrong => wrong,
            },
            _ => check::check(environment, slot, seen)?,
        };
        Ok(match verdict {
            Ok(()) => Outcome::done(&ended.usage, seen.requests.as_ref().map(Requests::count)),
            Err(why) => Outcome::Failed(why),
        })
    }
}

/// Whether nothing is quicker here than there.
fn is_as_hard(here: &Place, there: &Place) -> bool {
    here.server == there.server
        && here.is_tls == there.is_tls
        && here.latency_ms >= there.latency_ms
}

/// Whether a tool does not run again: a failure is reported once, and a slow one has had its run.
pub(super) fn is_last(outcome: &Outcome, options: &Options) -> bool {
    match outcome {
        Outcome::Done { wall_s, .. } => {
            options.once_above().is_some_and(|limit| *wall_s > limit.as_secs_f64())
        }
        Outcome::Absent(_) | Outcome::Failed(_) => true,
    }
}

/// Measures a run, and keeps of its output what is checked.
fn measure_printed(
    command: &mut Command,
    tool: &Tool,
    kind: Kind,
    limit: Duration,
) -> Result<(Ended, Printed)> {
    let read: fn(ChildStdout) -> Result<Printed> = match (tool, kind) {
        (Tool::Bare(_) | Tool::Library(_), _) | (_, Kind::Summarize | Kind::Version) => {
            |output| Printed::end(output)
        }
        (_, Kind::List) => |output| Printed::lines(output),
        _ => {
            let (ended, ()) = measure(command, Stdio::null(), Some(limit), |_| ())?;
            return Ok((ended, Printed::Unread));
        }
    };
    let read = |output: Option<ChildStdout>| read(output.context("standard output is piped")?);
    let (ended, printed) = measure(command, Stdio::piped(), Some(limit), read)?;
    Ok((ended, printed?))
}

fn too_long(options: &Options) -> Outcome {
    Outcome::Failed(format!("more than {} s", options.limit.as_secs()))
}

/// How a tool ended and the last thing that it said about it.
fn failure(ended: &Ended, log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    one_line(&format!("{}: {last}", ended.status))
}

/// A message without line breaks, cut where it is long.
fn one_line(text: &str) -> String {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    plain.chars().take(MESSAGE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_and_failed_tools_run_once() {
        let options = |text: &str| super::super::options::parse(text).unwrap();
        let done = |wall_s| Outcome::Done { wall_s, cpu_s: 1.0, peak_mib: 1.0, requests: None };
        assert!(is_last(&done(3.1), &options("")));
        assert!(!is_last(&done(2.9), &options("")));
        assert!(!is_last(&done(50.0), &options("--once-above 0")));
        assert!(is_last(&Outcome::Failed("x".to_owned()), &options("--once-above 0")));
    }

    #[test]
    fn messages_are_a_short_line() {
        assert_eq!(one_line("a\n  b\tc "), "a b c");
        assert_eq!(one_line(&"x".repeat(1000)).len(), MESSAGE_MAX);
    }
}
