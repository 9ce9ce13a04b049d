//! How far a job got. Pure.
//!
//! A job looks through its source in an order that is the same each time: that of names, or of the
//! rows of a manifest. What has to be done is *begun* before it is done, and *concluded*
//! afterwards. So the state of a job is the position up to which it looked, and what was begun and
//! not concluded: everything else up to the position is settled, and everything behind it is still
//! to come. That is bounded by what may be queued, whatever the size of the job.
//!
//! What is pending is a set of [`Mark`]s: hashes of 128 bits, not names. A run that resumes looks
//! through its source from the last position before which nothing was pending, and leaves out what
//! is settled.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

/// What is acted on, hashed with the job's seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Mark(pub(crate) u128);

impl Mark {
    /// Stands for removals that wait for the end of a job.
    pub(crate) const HELD: Self = Self(0);

    /// The mark of an object whose source was missing when its move was tried. Applied twice, it
    /// gives the original.
    pub(crate) fn missing(self) -> Self {
        Self(self.0.rotate_left(64))
    }
}

/// Failures that are kept. Beyond that the job is resumed from where it was then.
const FAILED_MAX: u64 = 100_000;

/// How far a job looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The last name looked at; empty at the beginning.
    pub(crate) name: String,
    /// Names that the source had until then.
    pub(crate) source_seen: u64,
    /// Names that the target had until then.
    pub(crate) target_seen: u64,
}

/// What changes the state of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// These are to be done. They lie behind the position.
    Begun(Vec<Mark>),
    /// Everything up to here was looked at; what has to be done was begun before.
    Looked(Position),
    /// This was done, or need not be done.
    Concluded(Mark, Conclusion),
    /// This failed, and is tried again when the job is resumed.
    Failed(Mark),
    /// An object is being moved in parts.
    PartsBegun(PartsInProgress),
    /// One of its parts is where it belongs.
    PartDone { target: String, part: PartDone },
    /// It is complete, or was given up and nothing is left of it.
    PartsEnded { target: String },
}

/// How something ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conclusion {
    /// It was done, and so many bytes were moved.
    Done(u64),
    /// It was removed.
    Removed,
    /// It needed nothing, and that was reported.
    Skipped,
    /// It turned out to need nothing.
    Same,
}

/// A large object of which some parts are where they belong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartsInProgress {
    /// Key or path that it will have.
    pub(crate) target: String,
    /// What the parts are of.
    pub(crate) source: PartsSource,
    /// Id of the upload, or name of the temporary file.
    pub(crate) handle: String,
    /// Parts that are done, where the service cannot list them.
    pub(crate) done: Vec<PartDone>,
}

/// The state of a source that parts are of. Parts of another state are of no use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartsSource {
    /// Time of a file, `ETag` and version of an object.
    pub(crate) state: String,
    /// Size in bytes.
    pub(crate) size: u64,
    /// Size of all parts but the last, in bytes.
    pub(crate) part_size: u64,
}

/// A part that is where it belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartDone {
    /// Number, from 1.
    pub(crate) number: u32,
    /// CRC of its bytes, in the form of its header.
    pub(crate) checksum: String,
}

/// What was counted in all runs of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Objects done.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those among them that were removals.
    pub removed: u64,
    /// Objects that failed in the last run and were not done since.
    pub failed: u64,
    /// Objects that needed nothing.
    pub skipped: u64,
}

/// How far a job got.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// How far this run looked.
    position: Position,
    /// The name up to which the run before looked, where that is further.
    before: Option<String>,
    /// The first batch holds nothing but what the run before left.
    has_left: bool,
    /// Something may be pending as missing, left by an earlier run or since something failed.
    has_missing: bool,
    /// What was begun and not concluded, and the batch that it belongs to.
    pending: HashMap<Mark, u64, BuildHasherDefault<OfMark>>,
    /// Batches of which something is pending, by number.
    batches: BTreeMap<u64, Batch>,
    /// Number of the batch that is being begun.
    batch: u64,
    totals: Totals,
    /// Large objects by target.
    parts: BTreeMap<String, PartsInProgress>,
}

/// What was begun from one position on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Batch {
    after: Position,
    pending: usize,
}

/// A state as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Nothing up to here is pending.
    pub(crate) settled: Position,
    /// How far the last run looked.
    pub(crate) position: Position,
    /// The name up to which any run looked.
    pub(crate) looked: String,
    /// What is pending.
    pub(crate) pending: Vec<Mark>,
    /// What was counted.
    pub(crate) totals: Totals,
    /// Objects that are being moved in parts.
    pub(crate) parts: Vec<PartsInProgress>,
}

impl State {
    /// The state as it was when the snapshot was taken, to take in the changes since.
    pub(crate) fn restored(snapshot: Snapshot) -> Self {
        let Snapshot { settled, position, looked, pending, totals, parts } = snapshot;
        let batch = Batch { after: settled, pending: pending.len() };
        let batches = (batch.pending > 0).then_some((0, batch)).into_iter().collect();
        Self {
            before: (looked > position.name).then_some(looked),
            position,
            has_left: false,
            has_missing: !pending.is_empty(),
            pending: pending.into_iter().map(|mark| (mark, 0)).collect(),
            batches,
            batch: 1,
            totals,
            parts: parts.into_iter().map(|parts| (parts.target.clone(), parts)).collect(),
        }
    }

    /// The state of a run that goes on from a snapshot: it looks again at what comes after the
    /// settled part, and tries again what failed.
    pub(crate) fn resumed(snapshot: Snapshot) -> Self {
        let position = snapshot.settled.clone();
        let totals = Totals { failed: 0, ..snapshot.totals };
        let snapshot = Snapshot { position, totals, ..snapshot };
        Self { has_left: true, ..Self::restored(snapshot) }
    }

    /// Takes in a change.
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Begun(marks) => marks.iter().for_each(|mark| self.pend(*mark)),
            Change::Looked(position) => self.look(position),
            Change::Concluded(mark, conclusion) => {
                self.totals.count(*conclusion);
                let found = self.pending.remove(mark);
                if let Some(batch) = found.or_else(|| self.remove_missing(*mark)) {
                    self.left(batch);
                }
            }
            Change::Failed(mark) => {
                self.has_missing = true;
                self.pend(*mark);
                self.totals.failed += 1;
            }
            Change::PartsBegun(parts) => {
                self.parts.insert(parts.target.clone(), parts.clone());
            }
            Change::PartDone { target, part } => {
                if let Some(parts) = self.parts.get_mut(target) {
                    parts.done.push(part.clone());
                }
            }
            Change::PartsEnded { target } => _ = self.parts.remove(target),
        }
    }

    /// What is known of an object that is being moved in parts.
    pub(crate) fn parts(&self, target: &str) -> Option<&PartsInProgress> {
        self.parts.get(target)
    }

    /// All objects that are being moved in parts.
    pub(crate) fn all_parts(&self) -> Vec<PartsInProgress> {
        self.parts.values().cloned().collect()
    }

    /// Whether a change need not be written down: nothing would come of it.
    pub(crate) fn ignores(&self, change: &Change) -> bool {
        let is_full = self.totals.failed >= FAILED_MAX;
        match change {
            Change::Begun(marks) => marks.is_empty() || is_full,
            // A run that resumes may meet names before the position once more.
            Change::Looked(Position { name, .. }) => {
                is_full || (!name.is_empty() && *name <= self.position.name)
            }
            Change::Concluded(mark, conclusion) => {
                let is_pending = |mark: Mark| self.pending.contains_key(&mark);
                let is_missing = || self.has_missing && is_pending(mark.missing());
                *conclusion == Conclusion::Same && !is_pending(*mark) && !is_missing()
            }
            Change::Failed(_) => is_full,
            Change::PartsBegun(_) | Change::PartDone { .. } | Change::PartsEnded { .. } => false,
        }
    }

    /// What was counted.
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    fn begin(&mut self, mark: Mark) {
        match self.pending.entry(mark) {
            // What an earlier run left is begun again where it comes up again.
            Entry::Occupied(mut entry) if self.has_left && *entry.get() == 0 => {
                let batch = entry.insert(self.batch);
                self.left(batch);
            }
            Entry::Occupied(_) => return,
            Entry::Vacant(entry) => _ = entry.insert(self.batch),
        }
        let after = &self.position;
        let batch = self.batches.entry(self.batch);
        batch.or_insert_with(|| Batch { after: after.clone(), pending: 0 }).pending += 1;
    }

    /// Something is pending under one of its two marks, and no longer under the other.
    fn pend(&mut self, mark: Mark) {
        let Some(batch) = self.remove_missing(mark) else { return self.begin(mark) };
        let is_of_earlier_run = self.has_left && batch == 0;
        if is_of_earlier_run || self.pending.contains_key(&mark) {
            self.left(batch);
            return self.begin(mark);
        }
        self.pending.insert(mark, batch);
    }

    /// Removes what is pending under the other mark, and gives its batch.
    fn remove_missing(&mut self, mark: Mark) -> Option<u64> {
        if self.has_missing { self.pending.remove(&mark.missing()) } else { None }
    }

    /// One of a batch is not pending any more.
    fn left(&mut self, number: u64) {
        if let Some(batch) = self.batches.get_mut(&number) {
            batch.pending -= 1;
            if batch.pending == 0 {
                self.batches.remove(&number);
            }
        }
    }

    fn look(&mut self, position: &Position) {
        self.position.clone_from(position);
        self.batch += 1;
        if position.name.is_empty() {
            // Names turned out to come in no order: what comes before another is not known.
            self.before = None;
            self.batches.values_mut().for_each(|batch| batch.after = Position::default());
            return;
        }
        if self.before.as_ref().is_some_and(|before| *before <= position.name) {
            self.before = None;
            // What did not come up again is not there any more, or needs nothing.
            if std::mem::take(&mut self.has_left) && self.batches.remove(&0).is_some() {
                self.pending.retain(|_, batch| *batch != 0);
            }
        }
    }

    /// What has to be stored to go on from here.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let first = self.batches.first_key_value().map(|(_, batch)| &batch.after);
        Snapshot {
            settled: first.unwrap_or(&self.position).clone(),
            position: self.position.clone(),
            looked: self.before.as_ref().unwrap_or(&self.position.name).clone(),
            pending: self.pending.keys().copied().collect(),
            totals: self.totals,
            parts: self.all_parts(),
        }
    }
}

impl Totals {
    fn count(&mut self, conclusion: Conclusion) {
        match conclusion {
            Conclusion::Done(bytes) => {
                self.objects += 1;
                self.bytes += bytes;
            }
            Conclusion::Removed => {
                self.objects += 1;
                self.removed += 1;
            }
            Conclusion::Skipped => self.skipped += 1,
            Conclusion::Same => {}
        }
    }
}

/// What an earlier run left, as far as it decides what a later one does.
#[derive(Debug)]
pub(crate) struct Left {
    /// Nothing up to here has to be looked at.
    pub(crate) settled: Position,
    /// The earlier run found something at its source.
    pub(crate) found_any: bool,
    looked: String,
    pending: HashSet<Mark, BuildHasherDefault<OfMark>>,
}

impl Left {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let Snapshot { settled, position, totals, .. } = snapshot;
        // A job looks at no name before its source has shown one.
        let found_any = !(position.name.is_empty() && settled.name.is_empty())
            || totals.objects + totals.skipped > totals.removed
            || !snapshot.pending.is_empty();
        Self {
            settled: settled.clone(),
            found_any,
            looked: snapshot.looked.clone(),
            pending: snapshot.pending.iter().copied().collect(),
        }
    }

    /// Whether the earlier run looked as far as a name.
    pub(crate) fn has_looked_at(&self, name: &str) -> bool {
        // Before anything was looked at, the name is empty: so is that of the key of the prefix.
        !self.looked.is_empty() && name <= self.looked.as_str()
    }

    /// Whether an earlier run began this and did not finish it, or failed at it.
    pub(crate) fn has_begun(&self, mark: Mark) -> bool {
        self.pending.contains(&mark)
    }

    /// Whether the earlier run has dealt with an entry. Versions have one name together: that of
    /// the last position may have some that were not seen.
    pub(crate) fn has_settled(&self, name: &str, mark: Mark, is_version: bool) -> bool {
        let is_seen = self.has_looked_at(name) && !(is_version && name == self.looked);
        is_seen && !self.pending.contains(&mark) && !self.pending.contains(&mark.missing())
    }
}

/// A mark is a hash already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OfMark(u64);

impl Hasher for OfMark {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("marks are hashed as numbers")
    }

    fn write_u128(&mut self, mark: u128) {
        #[expect(clippy::cast_possible_truncation, reason = "half of a hash is one")]
        let half = mark as u64;
        self.0 = half;
    }
}

#[cfg(test)]
mod tests;
