//! A job that workers do, as its folder has it.

use std::collections::BTreeMap;
use std::time::Duration;

use s3haul::shard::{Commit, KeyRange, Member, Step, Work, Worker};

use super::Watched;
use crate::commands::shards::{FolderFlags, Status, task};
use crate::failure::Failure;
use crate::render::failures::{Failures, NAMED_MAX};
use crate::terminal::number_of;
use crate::watch::{Reading, Slowest, Whole, WorkerRow, rate_of};

/// Time between two looks.
const PAUSE: Duration = Duration::from_secs(2);
/// Shards that are shown.
const SHARDS_MAX: usize = 10;
/// A shard that took less says nothing of how fast it is.
const SECONDS_MIN: f64 = 0.1;

/// A job with a folder.
pub(in crate::commands) struct FolderJob {
    name: String,
    flags: FolderFlags,
    worker: Worker,
    /// Looks that found something.
    looks: i64,
}

impl FolderJob {
    /// Watches a job by way of a worker that does nothing.
    pub(in crate::commands) fn new(name: String, flags: FolderFlags, worker: Worker) -> Self {
        Self { name, flags, worker, looks: 0 }
    }
}

impl Watched for FolderJob {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn pause(&self) -> Duration {
        PAUSE
    }

    async fn look(&mut self) -> Result<Reading, Failure> {
        let status = Status::of(&mut self.worker).await?;
        let crew = self.worker.crew(&status.left).await?;
        self.looks += 1;
        let commits: Vec<_> = self.worker.ledger().commits().collect();
        let failed: Vec<_> = self.worker.ledger().failed().collect();
        let failures: Vec<_> = failed.iter().flat_map(|(_, commit)| &commit.failures).collect();
        let texts = failures.iter().map(|failed| (&*failed.subject, &*failed.error));
        let named = failures.iter().take(NAMED_MAX);
        let Commit { done, bytes, failed, skipped, warnings, seconds, .. } = status.totals;
        let busy = crew.iter().filter(|member| member.is_live && member.work.is_some()).count();
        let left = status.left.len();
        Ok(Reading {
            state: status.state(),
            is_over: left == 0,
            task: task(&self.worker.plan().job),
            stamp: self.looks,
            objects: done,
            bytes,
            failed,
            requests: None,
            whole: Some(whole(status.commits, left, busy, seconds)),
            facts: vec![
                ("not needed", number_of(skipped, "object")),
                ("warnings", warnings.to_string()),
                ("in shards", format!("{seconds:.1} s")),
            ],
            workers: workers(&commits, &crew),
            slowest: slowest(&commits),
            failures: Failures::of_texts(texts),
            failed_named: named
                .map(|failed| (failed.subject.clone(), failed.error.clone()))
                .collect(),
            failed_title: "failures, shard by shard",
            resume: resume((&self.name, &self.flags), (left, busy), failed),
        })
    }
}

/// What goes on with a job that nothing is at.
fn resume(
    (name, flags): (&str, &FolderFlags),
    (left, busy): (usize, usize),
    failed: u64,
) -> Option<String> {
    match (left, busy, failed) {
        (0, _, 0) | (1.., 1.., _) => None,
        (0, ..) => Some(flags.resume(name)),
        _ => Some(flags.worker(name)),
    }
}

/// What is known of the whole are its shards. Those that are left take as long as those that ended
/// did, or longer: a shard that runs out of time leaves others.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "an estimate in seconds"
)]
fn whole(commits: usize, left: usize, busy: usize, seconds: f64) -> Whole {
    let each = seconds / commits as f64;
    let estimate = (commits > 0 && busy > 0).then(|| (each * left as f64 / busy as f64) as u64);
    Whole {
        noun: "shard",
        done: commits as u64,
        all: (commits + left) as u64,
        bytes: None,
        is_final: left == 0,
        seconds_left: estimate,
    }
}

/// The workers that have a claim or ended a shard, those at work first.
fn workers(commits: &[&Commit], crew: &[Member]) -> Vec<WorkerRow> {
    let mut rows: BTreeMap<&str, WorkerRow> = BTreeMap::new();
    for commit in commits {
        let row = rows.entry(&commit.worker).or_default();
        row.shards += 1;
        row.objects += commit.done;
        row.bytes += commit.bytes;
        row.seconds += commit.seconds;
    }
    let mut states: BTreeMap<&str, (u8, String)> = BTreeMap::new();
    for Member { name, work, is_live } in crew {
        rows.entry(name).or_default();
        let state = match work {
            _ if !is_live => (2, "gives no sign of life".to_owned()),
            Some(work) => (0, format!("at {}", place_of(work))),
            None => (1, "waits".to_owned()),
        };
        states.insert(name, state);
    }
    let row = |(name, row): (&str, WorkerRow)| {
        let (order, state) = states.remove(name).unwrap_or((3, "has left".to_owned()));
        (order, WorkerRow { name: name.to_owned(), state, ..row })
    };
    let mut rows: Vec<_> = rows.into_iter().map(row).collect();
    rows.sort_by_key(|(order, _)| *order);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn place_of(work: &Work) -> String {
    match work {
        Work::Range(range) => range_name(range),
        Work::Part(object, Step::Begin) => format!("{}, its beginning", object.target),
        Work::Part(object, Step::Send(piece)) => format!("{}, piece {}", object.target, piece + 1),
        Work::Part(object, Step::End) => format!("{}, its end", object.target),
    }
}

/// What a range is called: what all of its names begin with, or else where it begins.
fn range_name(KeyRange { after, through }: &KeyRange) -> String {
    let end = through.as_deref().unwrap_or_default();
    let same = after.chars().zip(end.chars()).take_while(|(one, other)| one == other);
    let prefix: String = same.map(|(character, _)| character).collect();
    match (prefix.is_empty(), after.is_empty()) {
        (false, _) => format!("{prefix}…"),
        (true, false) => format!("after {after}"),
        (true, true) => "the first names".to_owned(),
    }
}

/// Shards by how fast they went, the slowest first.
fn slowest(commits: &[&Commit]) -> Slowest {
    let timed = commits.iter().filter(|commit| commit.seconds >= SECONDS_MIN && commit.done > 0);
    let mut timed: Vec<_> = timed.map(|commit| (pace(commit), *commit)).collect();
    timed.sort_by(|one, other| one.0.total_cmp(&other.0));
    let row = |(_, commit): (f64, &Commit)| {
        let Commit { after, through, reached, done, bytes, seconds, .. } = commit;
        let through = reached.clone().or_else(|| through.clone());
        let range = KeyRange { after: after.clone(), through };
        (range_name(&range), rate_of(*done, *bytes, *seconds))
    };
    Slowest {
        title: "slowest prefixes: shards that ended, each by one worker",
        rows: timed.into_iter().take(SHARDS_MAX).map(row).collect(),
        none: "no shard has ended yet",
    }
}

/// Bytes a second, or objects where there are no bytes.
#[expect(clippy::cast_precision_loss, reason = "to compare by")]
fn pace(commit: &Commit) -> f64 {
    let amount = if commit.bytes > 0 { commit.bytes } else { commit.done };
    amount as f64 / commit.seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(after: &str, through: Option<&str>, bytes: u64, worker: &str) -> Commit {
        let (after, through) = (after.to_owned(), through.map(str::to_owned));
        let (seconds, worker) = (2.0, worker.to_owned());
        Commit { after, through, done: 5, bytes, seconds, worker, ..Commit::default() }
    }

    #[test]
    fn ranges_are_called_by_what_their_names_have_in_common() {
        for (after, through, name) in [
            ("", None, "the first names"),
            ("logs/2025/07", Some("logs/2025/12"), "logs/2025/…"),
            ("a", Some("b"), "after a"),
            ("a", None, "after a"),
            ("ü/1", Some("ü/2"), "ü/…"),
        ] {
            let through = through.map(str::to_owned);
            assert_eq!(range_name(&KeyRange { after: after.to_owned(), through }), name);
        }
    }

    #[test]
    fn workers_and_slow_shards_follow_from_commits_and_claims() {
        let commits = [
            commit("", Some("b"), 4 << 20, "one"),
            commit("b", Some("ba"), 1 << 20, "two"),
            commit("ba", None, 8 << 20, "one"),
        ];
        let commits: Vec<_> = commits.iter().collect();
        let range = KeyRange { after: "x/1".to_owned(), through: Some("x/5".to_owned()) };
        let member = |name: &str, work: Option<&KeyRange>, is_live| Member {
            name: name.to_owned(),
            work: work.map(|range| Work::Range(range.clone())),
            is_live,
        };
        let crew = [
            member("four", Some(&range), false),
            member("one", None, true),
            member("three", Some(&range), true),
        ];
        let rows = workers(&commits, &crew);
        let shown: Vec<_> =
            rows.iter().map(|row| (row.name.as_str(), row.state.as_str(), row.shards)).collect();
        assert_eq!(
            shown,
            [
                ("three", "at x/…", 0),
                ("one", "waits", 2),
                ("four", "gives no sign of life", 0),
                ("two", "has left", 1),
            ]
        );
        let slow = slowest(&commits).rows;
        assert_eq!(slow[0], ("b…".to_owned(), "512.0 KiB/s".to_owned()));
        assert_eq!(slow.len(), 3);
    }

    #[test]
    fn what_goes_on_is_said_where_nothing_is_at_work() {
        let flags = FolderFlags::default();
        let resume =
            |left, busy, failed| super::resume(("s3://ops/a b", &flags), (left, busy), failed);
        assert_eq!(resume(0, 0, 0), None);
        assert_eq!(resume(3, 1, 5), None);
        assert_eq!(resume(0, 0, 5).unwrap(), "s3haul jobs resume 's3://ops/a b'");
        assert_eq!(resume(3, 0, 0).unwrap(), "s3haul worker --job 's3://ops/a b'");
    }

    #[test]
    fn the_end_is_estimated_from_the_shards_that_ended() {
        let estimate =
            |commits, left, busy, seconds| whole(commits, left, busy, seconds).seconds_left;
        assert_eq!(estimate(4, 6, 2, 40.0), Some(30));
        assert_eq!(estimate(0, 6, 2, 0.0), None);
        assert_eq!(estimate(4, 6, 0, 40.0), None, "nothing is at work");
        assert!(whole(4, 0, 0, 40.0).is_final);
    }
}
