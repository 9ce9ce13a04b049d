//! The first few objects by some measure.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use s3haul_wire::ops::ListedObject;

/// An object of a ranking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankedObject {
    /// Key.
    pub key: String,
    /// Size in bytes.
    pub size: u64,
    /// Last modification in seconds since 1970.
    #[serde(rename = "last_modified", serialize_with = "iso")]
    pub last_modified_s: i64,
}

/// Writes a time as `2026-01-31T12:00:00Z`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn iso<S: Serializer>(seconds: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    let time = Timestamp::from_second(*seconds).unwrap_or_default();
    serializer.collect_str(&time)
}

/// Keeps the objects with the greatest scores; among equals those whose keys come first.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    limit: usize,
    /// Best first.
    rows: Vec<(u64, RankedObject)>,
    /// Of the last row, once there are enough: its score, and how its key begins.
    worst: Option<(u64, u64)>,
}

impl Ranking {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, rows: Vec::with_capacity(limit), worst: None }
    }

    /// Considers an object, whose key begins with `head`. Most are not even looked at.
    #[inline]
    pub(super) fn offer(&mut self, score: u64, head: u64, object: &ListedObject<'_>) {
        if let Some((worst, worst_head)) = self.worst
            && (score < worst || (score == worst && head > worst_head))
        {
            return;
        }
        self.consider(score, object);
    }

    fn consider(&mut self, score: u64, object: &ListedObject<'_>) {
        if self.rows.len() == self.limit {
            match self.rows.last() {
                Some((worst, row)) if is_better(score, object, *worst, row) => {}
                _ => return,
            }
        }
        let at = self.rows.partition_point(|(other, row)| !is_better(score, object, *other, row));
        // The one that drops out lends its text.
        let full = self.rows.len() == self.limit;
        let mut key = full.then(|| self.rows.pop()).flatten().unwrap_or_else(empty).1.key;
        key.clear();
        key.push_str(object.key);
        let (size, last_modified_s) = (object.size, object.last_modified_s);
        self.rows.insert(at, (score, RankedObject { key, size, last_modified_s }));
        self.note_worst();
    }

    fn note_worst(&mut self) {
        let last = self.rows.last().filter(|_| self.rows.len() == self.limit);
        self.worst = last.map(|(score, row)| (*score, head(&row.key)));
    }

    /// Adds the rows of another.
    pub(super) fn merge(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.rows.sort_by(|(score, row), (other, others)| {
            other.cmp(score).then_with(|| identity(row).cmp(&identity(others)))
        });
        self.rows.truncate(self.limit);
        self.note_worst();
    }

    /// The rows, best first.
    pub(super) fn rows(&self) -> Vec<RankedObject> {
        self.rows.iter().map(|(_, row)| row.clone()).collect()
    }
}

/// The first bytes of a key as a number: a key with a lesser one comes first.
#[inline]
pub(super) fn head(key: &str) -> u64 {
    let key = key.as_bytes();
    let mut head = [0; 8];
    match key.first_chunk() {
        Some(first) => head = *first,
        None => head[..key.len()].copy_from_slice(key),
    }
    u64::from_be_bytes(head)
}

fn empty() -> (u64, RankedObject) {
    (0, RankedObject { key: String::new(), size: 0, last_modified_s: 0 })
}

/// What decides among equals. Versions of a key may differ in no more than the rest of it.
fn identity(row: &RankedObject) -> (&str, u64, i64) {
    (&row.key, row.size, row.last_modified_s)
}

fn is_better(score: u64, object: &ListedObject<'_>, other: u64, row: &RankedObject) -> bool {
    let mine = (object.key, object.size, object.last_modified_s);
    score > other || (score == other && mine < identity(row))
}

/// A score that is the greater the later the time.
pub(super) fn by_time(seconds: i64) -> u64 {
    seconds.cast_unsigned() ^ (1 << 63)
}
