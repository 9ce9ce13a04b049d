//! What is done of a job in shards, and what is left. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use s3haul_list::KeyRange;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

use super::divided::{Begun, Divided, Progress, Step};
use super::shared_folder::SharedFolder;

/// The format that this library writes, and the newest that it reads.
const FORMAT: u32 = 2;

/// A job that is done in shards, as it was begun: `job.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Format of the folder: 2. Format 1 had no runs.
    pub format: u32,
    /// Folder of this run in that of the job: of a job that is begun again nothing is taken for
    /// what an earlier one did, and what workers of that still write counts for nothing.
    pub run: String,
    /// The job, with absolute paths: see [`crate::job::value::Job`].
    pub job: Value,
    /// Seconds after which a shard begins nothing more.
    pub budget_s: f64,
    /// Seconds after which a worker that gives no sign of life is taken for dead.
    pub lease_s: f64,
    /// Positions behind which it was cut, in order.
    pub cuts: Vec<String>,
    /// State of the file that names its objects: rows are counted.
    #[serde(default)]
    pub manifest: Option<String>,
    /// The folder that it reads: where it is another, it would have nothing to do.
    #[serde(default)]
    pub source: Option<SharedFolder>,
    /// The folder that it writes: where it is another, what is done would be there alone.
    #[serde(default)]
    pub target: Option<SharedFolder>,
}

/// What became of a shard: `commit/ID`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The shard begins behind this position; empty: with the first.
    pub after: String,
    /// It ends with this position; none: with the last.
    pub through: Option<String>,
    /// Its run got as far as this position; none: to its end.
    pub reached: Option<String>,
    /// Positions behind which what is left of it was cut, in order.
    pub cuts: Vec<String>,
    /// Objects done.
    pub done: u64,
    /// Objects that needed nothing.
    pub skipped: u64,
    /// Objects that failed.
    pub failed: u64,
    /// Warnings.
    pub warnings: u64,
    /// Bytes of the objects done.
    pub bytes: u64,
    /// What failed, the first of it.
    pub failures: Vec<Failure>,
    /// Large objects of its range that are not done: several workers send their parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divided: Vec<Divided>,
    /// The worker that ran it.
    pub worker: String,
    /// Version of the program.
    pub version: String,
    /// How long it took.
    pub seconds: f64,
}

/// An object that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Its address or path.
    pub subject: String,
    /// What was done to it.
    pub action: String,
    /// Why it failed.
    pub error: String,
}

/// What a worker does at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A shard.
    Range(KeyRange),
    /// A step of a large object.
    Part(Arc<Divided>, Step),
}

/// What is done and what is left.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    cuts: Vec<String>,
    /// By where the shard begins.
    commits: BTreeMap<String, Commit>,
    /// Large objects of the commits, by their names in the folder.
    divided: BTreeMap<String, Progress>,
    /// Later runs of what failed, by its names in the folder.
    retries: BTreeMap<String, Commit>,
}

/// Why the files of a job make no sense together.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LedgerError {
    /// A file is not what it should be.
    #[error("`{name}` cannot be read: {reason}")]
    Unreadable {
        /// Its name in the folder.
        name: String,
        /// Why.
        reason: String,
    },
    /// It was written by a newer program.
    #[error(
        "the job's folder has format {found}, and this s3haul reads format {FORMAT}: a newer \
         s3haul is needed"
    )]
    Newer {
        /// Its format.
        found: u64,
    },
    /// A commit is of a range that is none of the job's.
    #[error("the commit of what comes after `{after}` does not fit the others")]
    Misfit {
        /// Where its shard begins.
        after: String,
    },
}

#[derive(Deserialize)]
struct Head {
    format: u64,
}

impl Plan {
    /// A plan of the format that this library writes.
    pub fn new(job: Value, cuts: Vec<String>) -> Self {
        Self {
            format: FORMAT,
            run: format!("{:016x}", fastrand::u64(..)),
            job,
            budget_s: 60.0,
            lease_s: 30.0,
            cuts,
            manifest: None,
            source: None,
            target: None,
        }
    }

    /// As it is stored.
    pub fn to_json(&self) -> Vec<u8> {
        json(self)
    }

    /// Reads it. The format is checked first.
    pub fn from_json(text: &[u8]) -> Result<Self, LedgerError> {
        let unreadable = |error: serde_json::Error| LedgerError::Unreadable {
            name: "job.json".to_owned(),
            reason: error.to_string(),
        };
        let Head { format } = serde_json::from_slice(text).map_err(unreadable)?;
        if format > u64::from(FORMAT) {
            return Err(LedgerError::Newer { found: format });
        }
        if format < u64::from(FORMAT) {
            let reason = format!("format {format} is of an older s3haul: begin the job anew");
            return Err(LedgerError::Unreadable { name: "job.json".to_owned(), reason });
        }
        let plan: Self = serde_json::from_slice(text).map_err(unreadable)?;
        let is_possible = |seconds: f64| (0.1..=86_400.0).contains(&seconds);
        if !is_possible(plan.budget_s) || !is_possible(plan.lease_s) {
            let reason = "budget and lease have from 0.1 to 86400 seconds".to_owned();
            return Err(LedgerError::Unreadable { name: "job.json".to_owned(), reason });
        }
        if plan.run.is_empty() || !plan.run.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            let reason = "a run is called by letters and digits".to_owned();
            return Err(LedgerError::Unreadable { name: "job.json".to_owned(), reason });
        }
        Ok(plan)
    }
}

impl Commit {
    /// As it is stored.
    pub fn to_json(&self) -> Vec<u8> {
        json(self)
    }

    /// Reads the commit of this name.
    pub fn from_json(name: &str, text: &[u8]) -> Result<Self, LedgerError> {
        serde_json::from_slice(text).map_err(|error| LedgerError::Unreadable {
            name: name.to_owned(),
            reason: error.to_string(),
        })
    }

    /// What its run came to.
    pub(super) fn settled(&self) -> KeyRange {
        let through = self.reached.clone().or_else(|| self.through.clone());
        KeyRange { after: self.after.clone(), through }
    }

    fn range(&self) -> KeyRange {
        KeyRange { after: self.after.clone(), through: self.through.clone() }
    }

    /// What is left of the shard.
    pub fn left(&self) -> Vec<KeyRange> {
        match &self.reached {
            None => Vec::new(),
            Some(reached) => {
                let rest = KeyRange { after: reached.clone(), through: self.through.clone() };
                pieces(&rest, &self.cuts)
            }
        }
    }
}

/// How many shards are run, and how many workers wait because there is no other to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crowd {
    /// Workers that wait.
    pub idle: usize,
    /// Shards that are run.
    pub running: usize,
}

impl Crowd {
    /// Most shards that one becomes.
    const PIECES_MAX: usize = 32;
    /// Fewest, where there is any need: large rests are rare, and small ones are soon done.
    const PIECES_MIN: usize = 4;

    /// Whether a shard is to end before its time, so that others have something to do: about as
    /// many do as are needed. `dice` is anything from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "there are no more than some thousands")]
    pub fn wants_part(self, dice: f64) -> bool {
        self.idle > 0 && dice * (self.running as f64) < self.idle as f64
    }

    /// Into how many shards what is left of one is cut: more than there are idle workers for each
    /// that is run.
    pub fn pieces(self) -> usize {
        let each = self.idle.div_ceil(self.running.max(1));
        (each + 1).clamp(Self::PIECES_MIN, Self::PIECES_MAX)
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Neither has maps with keys that are no strings, nor numbers that JSON has not.
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

impl Work {
    /// Its name in the folder.
    pub(super) fn id(&self) -> String {
        match self {
            Self::Range(range) => format!("{:032x}", xxh3_128(range.after.as_bytes())),
            Self::Part(object, step) => format!("{}-{}", object.id(), step.suffix()),
        }
    }
}

/// A range, cut. Cuts outside of it, and those out of order, count for nothing.
fn pieces(range: &KeyRange, cuts: &[String]) -> Vec<KeyRange> {
    let mut pieces = Vec::with_capacity(cuts.len() + 1);
    let mut after = range.after.clone();
    for cut in cuts {
        let is_inside = range.through.as_ref().is_none_or(|through| cut < through);
        if *cut > after && is_inside {
            let begin = std::mem::replace(&mut after, cut.clone());
            pieces.push(KeyRange { after: begin, through: Some(cut.clone()) });
        }
    }
    pieces.push(KeyRange { after, through: range.through.clone() });
    pieces
}

impl Ledger {
    /// Nothing is done of what was cut so.
    pub fn new(cuts: Vec<String>) -> Self {
        Self { cuts, ..Self::default() }
    }

    /// Adds a later run of what failed, by its name in the folder. The last one counts.
    pub(super) fn add_retry(&mut self, id: String, retry: Commit) {
        self.retries.insert(id, retry);
    }

    /// What is failed by now, and what is done.
    fn outcome(&self, work: &Work, commit: &Commit) -> Commit {
        let Some(retry) = self.retries.get(&work.id()) else { return commit.clone() };
        let Commit { failed, failures, .. } = retry.clone();
        let (done, bytes) = (commit.done + retry.done, commit.bytes + retry.bytes);
        Commit { done, failed, bytes, failures, ..commit.clone() }
    }

    /// All that was run to its end, with its commit.
    fn ended(&self) -> impl Iterator<Item = (Work, &Commit)> {
        let ranges = self.commits.values().map(|commit| (Work::Range(commit.range()), commit));
        let objects = self.divided.values().filter_map(|object| {
            Some((Work::Part(Arc::clone(&object.object), Step::End), object.end.as_ref()?))
        });
        ranges.chain(objects)
    }

    /// The commit of something that was run to its end, without later runs.
    pub(super) fn first(&self, work: &Work) -> Option<&Commit> {
        match work {
            Work::Range(range) => self.commits.get(&range.after),
            Work::Part(object, _) => self.divided.get(&object.id())?.end.as_ref(),
        }
    }

    /// All of which something is failed still, as far as it was done.
    pub fn failed(&self) -> impl Iterator<Item = (Work, Commit)> {
        let outcomes = self.ended().map(|(work, commit)| {
            let outcome = self.outcome(&work, commit);
            (work, outcome)
        });
        outcomes.filter(|(_, outcome)| outcome.failed > 0)
    }

    /// Adds a commit; of two of the same shard the first counts.
    pub fn add(&mut self, commit: Commit) {
        if self.commits.contains_key(&commit.after) {
            return;
        }
        for object in &commit.divided {
            // A file may name one twice, in two shards: it is done once.
            let begun = || Progress::new(object.clone());
            self.divided.entry(object.id()).or_insert_with(begun);
        }
        self.commits.insert(commit.after.clone(), commit);
    }

    /// Whether large objects are not at their end.
    pub(super) fn has_parts(&self) -> bool {
        self.divided.values().any(|object| object.end.is_none())
    }

    /// The object of this name in the folder.
    pub(super) fn object(&mut self, id: &str) -> Option<&mut Progress> {
        self.divided.get_mut(id)
    }

    /// How the upload of an object was begun.
    pub(super) fn begun(&self, object: &Divided) -> Option<&Begun> {
        self.divided.get(&object.id())?.begun.as_ref()
    }

    /// Steps of large objects that can be done now.
    pub fn parts_left(&self) -> Vec<Work> {
        let steps = self.divided.values().flat_map(|object| {
            let step = |step| Work::Part(Arc::clone(&object.object), step);
            object.left().into_iter().map(step)
        });
        steps.collect()
    }

    /// The commits, in order.
    pub fn commits(&self) -> impl Iterator<Item = &Commit> {
        self.commits.values()
    }

    /// What is left to do, in order. It and the ranges of the commits are the whole source without
    /// gap or overlap, or that is an error.
    pub fn left(&self) -> Result<Vec<KeyRange>, LedgerError> {
        let mut left = Vec::new();
        let mut to_visit = pieces(&KeyRange::default(), &self.cuts);
        let mut visited = 0;
        while let Some(range) = to_visit.pop() {
            let Some(commit) = self.commits.get(&range.after) else {
                left.push(range);
                continue;
            };
            visited += 1;
            let is_inside = commit.reached.as_ref().is_none_or(|reached| {
                *reached > range.after
                    && range.through.as_ref().is_none_or(|through| reached < through)
            });
            if commit.range() != range || !is_inside {
                return Err(LedgerError::Misfit { after: range.after });
            }
            to_visit.extend(commit.left());
        }
        if visited < self.commits.len() {
            return Err(self.stray());
        }
        left.sort_by(|one, other| one.after.cmp(&other.after));
        Ok(left)
    }

    /// One of the commits whose shard never was.
    fn stray(&self) -> LedgerError {
        let mut begins: Vec<_> = pieces(&KeyRange::default(), &self.cuts);
        begins.extend(self.commits.values().flat_map(Commit::left));
        let stray = |after: &&String| !begins.iter().any(|range| range.after == **after);
        let after = self.commits.keys().find(stray).cloned().unwrap_or_default();
        LedgerError::Misfit { after }
    }

    /// The sum of all commits, as one of the whole source.
    pub fn totals(&self) -> Commit {
        let outcomes = self.ended().map(|(work, commit)| self.outcome(&work, commit));
        outcomes.fold(Commit::default(), |mut sum, commit| {
            sum.done += commit.done;
            sum.skipped += commit.skipped;
            sum.failed += commit.failed;
            sum.warnings += commit.warnings;
            sum.bytes += commit.bytes;
            sum.seconds += commit.seconds;
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Keys of a source.
    const KEYS: u32 = 200;

    fn key(number: u32) -> String {
        format!("{number:04}")
    }

    fn commit(range: &KeyRange, reached: Option<String>) -> Commit {
        let KeyRange { after, through } = range.clone();
        Commit { after, through, reached, ..Commit::default() }
    }

    #[test]
    fn a_plan_comes_back_equal_and_a_newer_one_is_refused() {
        let job = serde_json::json!({"version": 1});
        let plan = Plan::new(job, vec!["a".to_owned()]);
        assert_eq!(Plan::from_json(&plan.to_json()), Ok(plan));
        let newer = Plan::from_json(b"{\"format\": 3, \"more\": 1}");
        assert_eq!(newer, Err(LedgerError::Newer { found: 3 }));
        let mut escaping = Plan::new(serde_json::json!({}), Vec::new());
        escaping.run = "../other".to_owned();
        let escaping = Plan::from_json(&escaping.to_json());
        assert!(matches!(escaping, Err(LedgerError::Unreadable { .. })));
        assert!(matches!(Plan::from_json(b"{}"), Err(LedgerError::Unreadable { .. })));
    }

    #[test]
    fn commits_that_fit_nowhere_are_an_error() {
        let mut ledger = Ledger::new(vec![key(10)]);
        let whole = KeyRange::default();
        ledger.add(commit(&whole, None));
        assert_eq!(ledger.left(), Err(LedgerError::Misfit { after: String::new() }));
        let mut ledger = Ledger::new(vec![key(10)]);
        ledger.add(commit(&KeyRange { after: key(3), through: None }, None));
        assert_eq!(ledger.left(), Err(LedgerError::Misfit { after: key(3) }));
        let mut ledger = Ledger::new(Vec::new());
        ledger.add(commit(&KeyRange { after: String::new(), through: None }, Some(String::new())));
        assert_eq!(ledger.left(), Err(LedgerError::Misfit { after: String::new() }));
    }

    proptest! {
        /// Workers take shards that are left, twice at times, stop somewhere, and cut the rest
        /// anyhow; the first commit counts. Every key is in the part that was done of one shard.
        #[test]
        fn every_key_is_done_once(
            cuts in vec(0..KEYS, 0..8),
            steps in vec((any::<u32>(), 0..KEYS, vec(0..KEYS, 0..4), any::<bool>()), 1..80),
        ) {
            let mut ledger = Ledger::new(cuts.into_iter().map(key).collect());
            let mut done = vec![0_usize; KEYS as usize];
            let mut commits = 0;
            for (pick, stop, cuts, is_twice) in steps {
                let left = ledger.left().unwrap();
                let Some(range) = left.get(pick as usize % left.len().max(1)) else { break };
                for run in 0..=u32::from(is_twice) {
                    let reached = Some(key(stop + run)).filter(|reached| {
                        *reached > range.after && range.contains(reached)
                            && range.through.as_ref() != Some(reached)
                    });
                    let is_first = run == 0;
                    let made = commit(range, reached.clone());
                    ledger.add(Commit { cuts: cuts.iter().copied().map(key).collect(), ..made });
                    let through = reached.or_else(|| range.through.clone());
                    let part = KeyRange { through, ..range.clone() };
                    for number in 0..KEYS {
                        let counts = is_first && part.contains(&key(number));
                        done[number as usize] += usize::from(counts);
                    }
                }
                commits += 1;
            }
            prop_assert_eq!(ledger.commits().count(), commits);
            let left = ledger.left().unwrap();
            for number in 0..KEYS {
                let in_left = left.iter().filter(|range| range.contains(&key(number))).count();
                prop_assert_eq!(in_left + done[number as usize], 1, "key {}", number);
            }
        }
    }
}
