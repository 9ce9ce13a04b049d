//! Keys that were refused beside keys that were sent at that time, and where they part.
//!
//! Kuiper's test takes the largest excess of either distribution over the other: the two edges of
//! the stretch in which refusals gather.

/// Keys of either kind that are kept.
const KEYS_MAX: usize = 256;
/// Keys of either kind that a decision needs.
const KEYS_MIN: usize = 24;
/// Refused keys kept of one epoch: a moment's refusals are often those of one partition that
/// happened to be first, and count as one observation.
const EPOCH_KEYS_MAX: u32 = 8;
/// Epochs whose keys are kept, and those that a decision needs.
const EPOCHS_MAX: u32 = 32;
const EPOCHS_MIN: u32 = 8;
/// Bytes of a key that are kept.
const KEY_BYTES_MAX: usize = 256;
/// What chance allows the distributions to differ by (Kuiper's test, p about 0.01), and what an
/// edge must differ by.
const CHANCE: f64 = 2.0;
const EDGE_MIN: f64 = 0.1;

/// Two samples of keys, both of the same time: each refusal asks for one key that is sent next.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    refused: Ring,
    sent: Ring,
    pending_samples: u32,
    of_epoch: u32,
    epochs: u32,
}

/// The last keys.
#[derive(Debug, Clone, Default)]
struct Ring {
    keys: Vec<Box<[u8]>>,
    next: usize,
}

/// A piece of a range that is cut.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    /// Its first key; empty for the first piece.
    pub(super) start: Vec<u8>,
    /// Share of what is sent. It is a little too high rather than too low, because a rate too low
    /// slows more than its own range.
    pub(super) sent: f64,
    /// Share of what is refused.
    pub(super) refused: f64,
}

impl Ring {
    fn push(&mut self, key: &[u8]) {
        let key = key[..key.len().min(KEY_BYTES_MAX)].into();
        if self.keys.len() < KEYS_MAX {
            self.keys.push(key);
        } else {
            self.keys[self.next] = key;
            self.next = (self.next + 1) % KEYS_MAX;
        }
    }

    fn sorted(&self) -> Vec<&[u8]> {
        let mut keys: Vec<&[u8]> = self.keys.iter().map(AsRef::as_ref).collect();
        keys.sort_unstable();
        keys
    }
}

impl Sample {
    /// Begins the next epoch.
    pub(super) fn next_epoch(&mut self) {
        self.of_epoch = 0;
        self.epochs = (self.epochs + 1).min(EPOCHS_MAX);
    }

    pub(super) fn refused(&mut self, key: &[u8]) {
        if self.of_epoch >= EPOCH_KEYS_MAX {
            return;
        }
        self.of_epoch += 1;
        self.refused.push(key);
        self.pending_samples = (self.pending_samples + 1).min(16);
    }

    pub(super) fn sent(&mut self, key: &[u8]) {
        if self.pending_samples > 0 {
            self.pending_samples -= 1;
            self.sent.push(key);
        }
    }

    /// Two or three pieces that differ in how much of them is refused, if there are such.
    pub(super) fn pieces(&self) -> Option<Vec<Piece>> {
        let keys = self.refused.keys.len().min(self.sent.keys.len());
        if keys < KEYS_MIN || self.epochs < EPOCHS_MIN {
            return None;
        }
        let (refused, sent) = (self.refused.sorted(), self.sent.sorted());
        let excess = |at: &[u8]| share_below(&refused, at) - share_below(&sent, at);
        let mut all: Vec<&[u8]> = refused.iter().chain(&sent).copied().collect();
        all.sort_unstable();
        all.dedup();
        let ordered =
            |left: &&[&[u8]], right: &&[&[u8]]| excess(left[1]).total_cmp(&excess(right[1]));
        let rise = all.windows(2).min_by(ordered)?;
        let fall = all.windows(2).max_by(ordered)?;
        if excess(fall[1]) - excess(rise[1]) < CHANCE / f64::from(self.epochs).sqrt() {
            return None;
        }
        let edges = [rise, fall].into_iter().filter(|edge| excess(edge[1]).abs() >= EDGE_MIN);
        let mut edges: Vec<Vec<u8>> = edges.map(|edge| separator(edge[0], edge[1])).collect();
        edges.sort_unstable();
        Some(divide(&edges, &refused, &sent))
    }
}

/// The pieces between edges.
fn divide(edges: &[Vec<u8>], refused: &[&[u8]], sent: &[&[u8]]) -> Vec<Piece> {
    let starts = std::iter::once(&[][..]).chain(edges.iter().map(Vec::as_slice));
    let ends = edges.iter().map(|edge| Some(edge.as_slice())).chain([None]);
    let share = |keys: &[&[u8]], start: &[u8], end: Option<&[u8]>| {
        end.map_or(1.0, |end| share_below(keys, end)) - share_below(keys, start)
    };
    let pieces = starts.zip(ends).map(|(start, end)| {
        let sent_share = share(sent, start, end);
        let unsure = (sent_share * (1.0 - sent_share) / count(sent.len())).sqrt() + 0.02;
        Piece {
            start: start.to_vec(),
            sent: sent_share + unsure,
            refused: share(refused, start, end),
        }
    });
    pieces.collect()
}

/// Share of sorted keys that are less than `at`.
fn share_below(keys: &[&[u8]], at: &[u8]) -> f64 {
    count(keys.partition_point(|key| *key < at)) / count(keys.len())
}

/// The shortest beginning of `right` that is greater than `left`.
fn separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    right[..(same + 1).min(right.len())].to_vec()
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(refused: impl Fn(u32) -> String, sent: impl Fn(u32) -> String) -> Sample {
        let mut sample = Sample::default();
        for number in 0..400 {
            sample.next_epoch();
            sample.refused(refused(number).as_bytes());
            sample.sent(sent(number).as_bytes());
        }
        sample
    }

    #[test]
    fn cuts_where_refusals_begin_and_end() {
        let sample = sample(
            |number| format!("logs/hot/{number:05}"),
            |number| {
                let folder = ["cold", "deep", "hot", "zero"][number as usize % 4];
                format!("logs/{folder}/{number:05}")
            },
        );
        let pieces = sample.pieces().unwrap();
        let starts: Vec<&[u8]> = pieces.iter().map(|piece| piece.start.as_slice()).collect();
        assert_eq!(starts, [&b""[..], b"logs/h", b"logs/z"]);
        assert!((0.5..0.6).contains(&pieces[0].sent), "{pieces:?}");
        let refused: Vec<bool> = pieces.iter().map(|piece| piece.refused > 0.5).collect();
        assert_eq!(refused, [false, true, false]);
    }

    #[test]
    fn does_not_cut_where_refusals_are_everywhere() {
        let spread = |number: u32| format!("{:08x}", number.wrapping_mul(2_654_435_761));
        assert_eq!(sample(spread, |number| spread(number + 1_000)).pieces(), None);
        assert_eq!(sample(|_| "a".into(), |_| "a".into()).pieces(), None);
    }

    proptest! {
        #[test]
        fn a_separator_separates(left in any::<Vec<u8>>(), right in any::<Vec<u8>>()) {
            prop_assume!(left < right);
            let between = separator(&left, &right);
            prop_assert!(left < between && between <= right);
        }
    }
}
