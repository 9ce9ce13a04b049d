//! A job in shards: parts that any number of processes run, on any number of machines.
//!
//! A shard is a range of positions in a job's source: names, or rows of a manifest. Its worker
//! lists the range; there is no central lister. When its time is over it stops, and commits how far
//! it got and where the rest is cut. The truth is in the job's folder alone:
//!
//! | file | content |
//! |---|---|
//! | `job.json` | the [`Plan`]: the job, its run, and where it was cut at first |
//! | `commit/ID` | a [`Commit`], made only where there is none: of two runs of a shard one counts |
//! | `part/ID-…` | what was done of a large object, whose parts several workers send ([`Divided`]) |
//! | `claim/ID` | the worker of a shard; advice only, so that others take another one |
//! | `retry/ID` | the [`Commit`] of a later run of what failed |
//!
//! All but `job.json` are in a folder that is called as the run. `ID` stands for the position that
//! a shard begins after. From plan and commits follows what is left ([`Ledger`], pure): the ranges
//! of the commits and those left are the whole source, without gap or overlap, whatever worker died
//! or did something twice.

mod cut;
mod divided;
mod folder;
mod ledger;
mod shared_folder;
mod worker;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::portion::Portion;

pub use cut::{cut_files, cut_keys, cut_rows};
pub use divided::{Begun, Divided, Step};
pub use folder::{FolderError, JobFolder};
pub use ledger::{Commit, Crowd, Failure, Ledger, LedgerError, Plan, Work};
pub use s3haul_list::KeyRange;
pub use shared_folder::SharedFolder;
pub use worker::{Claimed, Member, Turn, Worker};

use divided::{DIVIDED_MAX, divided_from};

/// No retry takes so long.
const RETRY_BUDGET: Duration = Duration::from_hours(24 * 365);

/// The part of a job that one run does.
#[derive(Debug)]
pub struct Shard {
    range: KeyRange,
    /// Only these of it, as events call them; none: all.
    only: Option<HashSet<String>>,
    deadline: Instant,
    /// It ends before its time, so that others have something to do.
    yields: Arc<AtomicBool>,
    /// Where it stopped before its end.
    stopped: Mutex<Option<String>>,
    /// Larger objects are left to several workers; none: it does all by itself.
    divided_from: Option<u64>,
    /// The objects that it left so.
    divided: Mutex<Vec<Divided>>,
    /// Some of it may be done already.
    again: bool,
    /// It is not the range that is done, but a step of one object.
    part: Option<Part>,
}

/// A step of an object whose parts several workers send.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) object: Arc<Divided>,
    pub(crate) portion: Arc<Portion>,
}

impl Shard {
    /// What lies in a range, for so long: then nothing more is begun.
    pub fn new(range: KeyRange, budget: Duration) -> Self {
        let deadline = Instant::now() + budget;
        Self {
            range,
            only: None,
            deadline,
            yields: Arc::default(),
            stopped: Mutex::default(),
            divided_from: None,
            divided: Mutex::default(),
            again: false,
            part: None,
        }
    }

    /// What was claimed. A range also ends when others have nothing to do.
    pub fn of_claim(claimed: &Claimed, budget: Duration) -> Self {
        match &claimed.work {
            Work::Range(range) => Self {
                yields: Arc::clone(&claimed.yields),
                divided_from: Some(divided_from(budget)),
                again: claimed.again,
                ..Self::new(range.clone(), budget)
            },
            Work::Part(object, step) => Self::of_part(object, *step, claimed.begun.as_ref()),
        }
    }

    fn of_part(object: &Arc<Divided>, step: Step, begun: Option<&Begun>) -> Self {
        let portion = Arc::new(object.portion(step, begun));
        let part = Part { object: Arc::clone(object), portion };
        Self { part: Some(part), ..Self::new(KeyRange::default(), RETRY_BUDGET) }
    }

    /// What failed, to its end. A sync looks at all of a shard again.
    pub fn retrying(work: &Work, commit: &Commit) -> Self {
        if let Work::Part(object, _) = work {
            return Self::of_part(object, Step::End, None);
        }
        let names = commit.failures.iter().map(|failure| failure.subject.clone());
        let is_named = commit.failures.len() as u64 == commit.failed;
        let range = commit.settled();
        let shard = Self::new(range, RETRY_BUDGET);
        Self { only: is_named.then(|| names.collect()), again: true, ..shard }
    }

    /// What it is to do.
    pub fn range(&self) -> &KeyRange {
        &self.range
    }

    /// Once it has run: everything up to here was done, or failed by itself; none if that is all of
    /// the range.
    pub fn stopped_at(&self) -> Option<String> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Objects that it left to several workers.
    pub fn divided(&self) -> Vec<Divided> {
        self.divided.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was begun by a step that begins an upload.
    pub fn begun(&self) -> Begun {
        self.part.as_ref().map(|part| Begun::by(&part.portion)).unwrap_or_default()
    }

    /// The step of an object that it is, if it is one.
    pub(crate) fn part(&self) -> Option<&Part> {
        self.part.as_ref()
    }

    /// Whether it leaves any objects to several workers.
    pub(crate) fn divides(&self) -> bool {
        self.divided_from.is_some()
    }

    /// Leaves an object to several workers, if it is large enough; gives whether it does.
    pub(crate) fn leaves(&self, size: u64, object: impl FnOnce() -> Option<Divided>) -> bool {
        let Some(from) = self.divided_from.filter(|from| size >= *from) else { return false };
        let mut divided = self.divided.lock().unwrap_or_else(PoisonError::into_inner);
        if divided.len() >= DIVIDED_MAX {
            return false;
        }
        let object = object().map(|object| object.in_pieces(from));
        let object = object.filter(|object| object.pieces() > 1);
        divided.extend(object.clone());
        object.is_some()
    }

    /// Whether some of it may be done already, by a run that came to no end.
    pub(crate) fn may_be_done(&self) -> bool {
        self.again
    }

    /// Where its range ends, or where it stopped.
    pub(crate) fn end(&self) -> Option<String> {
        self.stopped_at().or_else(|| self.range.through.clone())
    }

    /// Whether a name is in its range. An object that is named by itself may have none.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let KeyRange { after, .. } = &self.range;
        (after.is_empty() || name > after.as_str()) && self.range.reaches(name)
    }

    /// Whether what events call so is to be done.
    pub(crate) fn wants(&self, source: impl FnOnce() -> String) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&source()))
    }

    /// Whether it ends behind a position, up to which everything was queued: its time is over.
    pub(crate) fn ends_at(&self, position: &str) -> bool {
        let is_inside = position > self.range.after.as_str()
            && self.range.through.as_deref().is_none_or(|through| position < through);
        let is_over = Instant::now() >= self.deadline || self.yields.load(Ordering::Relaxed);
        let ends = is_inside && is_over;
        if ends {
            let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
            *stopped = Some(position.to_owned());
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(budget: Duration) -> Shard {
        Shard::new(KeyRange { after: "b".to_owned(), through: Some("f".to_owned()) }, budget)
    }

    #[tokio::test(start_paused = true)]
    async fn a_shard_stops_inside_of_its_range_once_its_time_is_over() {
        let shard = shard(Duration::from_mins(1));
        assert!(!shard.ends_at("c"));
        tokio::time::advance(Duration::from_mins(1)).await;
        // Nothing would be done, or everything is.
        assert!(!shard.ends_at("b") && !shard.ends_at("f"));
        assert_eq!(shard.stopped_at(), None);
        assert!(shard.ends_at("d"));
        assert_eq!(shard.stopped_at().as_deref(), Some("d"));
    }
}
