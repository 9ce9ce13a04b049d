//! Large objects whose parts are sent by several workers: one begins the upload, any number send
//! pieces of it, one completes it and is the one that counts.
//!
//! That a piece was sent is not relied on: the worker that completes the object lists the parts
//! that the service has and sends those that are missing, so that a piece that failed, or was sent
//! twice, does no harm.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::ledger::Commit;
use crate::engine::parts::parts;
use crate::engine::portion::{Portion, PortionStep};
use crate::journal::state::PartsInProgress;
use s3haul_wire::units::MIB;

/// Bytes that a slow worker moves in a millisecond, 16 MiB in a second: an object that would keep
/// it busy beyond its budget is divided.
const BYTES_A_MILLISECOND: u64 = 16 * MIB / 1000;
/// Objects that one shard divides. Where there are more, they themselves are enough for many.
pub(super) const DIVIDED_MAX: usize = 64;
/// Pieces of an object at most, and pieces of the smallest that is divided.
const PIECES: (u64, u64) = (256, 4);

/// A large object, whose parts are sent by several workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Divided {
    /// Path or key of its source.
    pub source: String,
    /// Version of it; the current one where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<String>,
    /// Its new key.
    pub target: String,
    /// Size in bytes.
    pub size: u64,
    /// `ETag` of the source; empty where unknown.
    pub etag: String,
    /// Size of all parts but the last, in bytes.
    pub part_size: u64,
    /// Parts of a piece.
    pub piece: u32,
}

/// What a worker does of such an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Begins its upload.
    Begin,
    /// Sends the piece of this number, from 0.
    Send(u32),
    /// Completes it, and removes the source of a move.
    End,
}

/// The upload of such an object, as it was begun: `part/ID-begin`. None: it goes as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begun {
    upload: Option<PartsInProgress>,
}

/// What is known of such an object.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) object: Arc<Divided>,
    pub(super) begun: Option<Begun>,
    pub(super) sent: BTreeSet<u32>,
    pub(super) end: Option<Commit>,
}

/// Objects of this size and more are divided in shards of this budget.
pub(super) fn divided_from(budget: Duration) -> u64 {
    let milliseconds = u64::try_from(budget.as_millis()).unwrap_or(u64::MAX);
    milliseconds.saturating_mul(BYTES_A_MILLISECOND)
}

impl Divided {
    /// Divides it into pieces: enough for many workers, and few enough to be counted.
    #[must_use]
    pub(crate) fn in_pieces(self, divided_from: u64) -> Self {
        let (pieces_max, pieces_min) = PIECES;
        let bytes = (self.size / pieces_max).max(divided_from / pieces_min);
        let piece = bytes.div_ceil(self.part_size.max(1)).max(1);
        Self { piece: u32::try_from(piece).unwrap_or(u32::MAX), ..self }
    }

    /// Name of the object in the folder.
    pub(super) fn id(&self) -> String {
        let version = self.version_id.as_deref().unwrap_or_default();
        let name = [self.source.as_str(), version, self.target.as_str()].join("\0");
        format!("{:032x}", xxh3_128(name.as_bytes()))
    }

    fn parts(&self) -> u64 {
        parts(self.size, self.part_size).count_left()
    }

    /// Number of its pieces.
    pub(crate) fn pieces(&self) -> u32 {
        u32::try_from(self.parts().div_ceil(u64::from(self.piece.max(1)))).unwrap_or(u32::MAX)
    }

    /// Numbers of the parts of a piece.
    fn numbers(&self, piece: u32) -> Range<u32> {
        let first = piece.saturating_mul(self.piece).saturating_add(1);
        first..first.saturating_add(self.piece)
    }

    /// What a step does of it, of an upload that may be begun.
    pub(super) fn portion(&self, step: Step, begun: Option<&Begun>) -> Portion {
        let step = match step {
            Step::Begin => PortionStep::Begin,
            Step::Send(piece) => PortionStep::Send(self.numbers(piece)),
            Step::End => PortionStep::End,
        };
        Portion::new(step, begun.and_then(|begun| begun.upload.clone()))
    }
}

impl Begun {
    /// What a step left of it, which was the one to begin it.
    pub(super) fn by(portion: &Portion) -> Self {
        Self { upload: portion.upload() }
    }

    /// Id of the upload.
    pub fn upload_id(&self) -> Option<&str> {
        self.upload.as_ref().map(|upload| upload.handle.as_str())
    }
}

impl Step {
    /// What its name in the folder ends in.
    pub(super) fn suffix(self) -> String {
        match self {
            Self::Begin => "begin".to_owned(),
            Self::Send(piece) => piece.to_string(),
            Self::End => "end".to_owned(),
        }
    }

    /// The step of a suffix.
    pub(super) fn of_suffix(suffix: &str) -> Option<Self> {
        match suffix {
            "begin" => Some(Self::Begin),
            "end" => Some(Self::End),
            piece => piece.parse().ok().map(Self::Send),
        }
    }
}

impl Progress {
    pub(super) fn new(object: Divided) -> Self {
        Self { object: Arc::new(object), begun: None, sent: BTreeSet::new(), end: None }
    }

    /// Steps that can be done now.
    pub(super) fn left(&self) -> Vec<Step> {
        let Some(begun) = &self.begun else {
            return if self.end.is_none() { vec![Step::Begin] } else { Vec::new() };
        };
        if self.end.is_some() {
            return Vec::new();
        }
        let pieces = if begun.upload.is_some() { self.object.pieces() } else { 0 };
        let left: Vec<_> = (0..pieces).filter(|piece| !self.sent.contains(piece)).collect();
        if left.is_empty() {
            return vec![Step::End];
        }
        left.into_iter().map(Step::Send).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever its size, the pieces have each part once, and are not too many.
        #[test]
        fn pieces_have_every_part_once(
            size in 1_u64..5 << 40,
            part_size in 5_u64 << 20..1 << 30,
            budget_s in 0.1..1000.0_f64,
        ) {
            let part_size = part_size.max(size.div_ceil(10_000));
            let from = divided_from(Duration::from_secs_f64(budget_s));
            let object = Divided { size, part_size, ..Divided::default() }.in_pieces(from);
            let mut next = 1;
            for piece in 0..object.pieces() {
                let numbers = object.numbers(piece);
                prop_assert_eq!(numbers.start, next);
                prop_assert!(!numbers.is_empty());
                next = numbers.end;
            }
            prop_assert!(u64::from(next) > object.parts());
            prop_assert!(u64::from(next) <= object.parts() + u64::from(object.piece));
            prop_assert!(u64::from(object.pieces()) <= PIECES.0 + 1);
        }
    }

    #[test]
    fn an_object_is_begun_then_sent_in_pieces_and_ended_once() {
        let object = Divided { size: 40 * MIB, part_size: 8 * MIB, ..Divided::default() };
        let mut progress = Progress::new(object.in_pieces(64 * MIB));
        assert_eq!(progress.left(), [Step::Begin]);
        progress.begun = Some(Begun::default());
        assert_eq!(progress.left(), [Step::End]);
        let upload = serde_json::json!({
            "upload": {
                "target": "t",
                "source": { "state": "s", "size": 1, "part_size": 1 },
                "handle": "u",
                "done": [],
            },
        });
        progress.begun = Some(serde_json::from_value(upload).unwrap());
        assert_eq!(progress.left(), [Step::Send(0), Step::Send(1), Step::Send(2)]);
        progress.sent.extend([0, 2]);
        assert_eq!(progress.left(), [Step::Send(1)]);
        progress.sent.insert(1);
        assert_eq!(progress.left(), [Step::End]);
        progress.end = Some(Commit::default());
        assert_eq!(progress.left(), []);
        for step in [Step::Begin, Step::Send(7), Step::End] {
            assert_eq!(Step::of_suffix(&step.suffix()), Some(step));
        }
    }
}
