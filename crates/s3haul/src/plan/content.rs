//! Whether two things hold the same bytes, concluded from what is known of them.
//!
//! What is known grows step by step: first what a listing contains, then headers, then what is
//! computed by reading. [`conclude`] says after each step whether that is enough, and if not what
//! the cheapest next step is. It never says that things are the same or different where the facts
//! leave it open:
//!
//! - Equal `ETag`s in the form of an MD5 (with `-N` for N parts) mean equal bytes. Unequal ones
//!   mean different bytes only where both are MD5s, which the encryption decides
//!   (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html>), and only where the parts
//!   have the same borders.
//! - Stored checksums of whole objects can be compared whatever the encryption; composite ones
//!   (`…-N`) like `ETag`s of parts.
//! - A checksum of 32 bits that is equal is evidence, but no proof.

mod known;
mod parts;

use std::fmt;

use serde::{Deserialize, Serialize};

use known::Digest;
pub use known::{Known, StoredChecksum, md5_of_etag};
pub use parts::likely_part_sizes;

use s3haul_wire::units::MIB;

/// Files up to this size are read before headers are requested from the store: a request costs
/// more.
const READ_FIRST_SIZE_MAX: u64 = 16 * MIB;

/// Sizes of parts in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartSizes {
    /// That of the parts that this program makes.
    pub configured: u64,
    /// That of what is read at a time where nothing is known of either.
    pub read: u64,
}

impl PartSizes {
    /// For what this program makes.
    pub fn of(configured: u64) -> Self {
        Self { configured, read: 32 * MIB }
    }

    /// How both are read where nothing is known of either: large ones by parts, so that several
    /// can be read at a time.
    pub fn last_resort(self, size: u64) -> Recipe {
        let part_size = (size > self.read).then_some(self.read);
        Recipe { algorithm: Algorithm::Sha256, part_size }
    }
}

/// An algorithm of digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// MD5, as `ETag`s have it.
    Md5,
    /// CRC64NVME.
    Crc64Nvme,
    /// CRC-32C.
    Crc32c,
    /// CRC-32.
    Crc32,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

impl Algorithm {
    /// All of them, the cheapest to compute first.
    const BY_COST: [Self; 6] =
        [Self::Crc64Nvme, Self::Crc32c, Self::Crc32, Self::Sha256, Self::Sha1, Self::Md5];

    /// Whether different bytes may well have the same digest by accident.
    fn is_weak(self) -> bool {
        matches!(self, Self::Crc32 | Self::Crc32c)
    }
}

/// What a digest covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// All bytes at once.
    Whole,
    /// The digests of parts of one size, the last of which may be smaller.
    Parts {
        /// Number of parts.
        count: u32,
        /// Size of a part, where it is known.
        part_size: Option<u64>,
    },
}

/// How a digest is to be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Algorithm, of the parts and of their digests.
    pub algorithm: Algorithm,
    /// Size of a part; none for all bytes at once.
    pub part_size: Option<u64>,
}

/// Where a digest comes from; also what a conclusion rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// The sizes.
    Size,
    /// An `ETag`.
    Etag,
    /// A checksum that the store keeps.
    Checksum,
    /// The bytes themselves.
    Content,
}

impl Evidence {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Size, Self::Etag, Self::Checksum, Self::Content];

    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Etag => "etag",
            Self::Checksum => "checksum",
            Self::Content => "content",
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The source.
    Source,
    /// The target.
    Target,
}

/// How far to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Depth {
    /// Equal sizes are the same.
    Sizes,
    /// Verdict from listings alone: equal sizes count as equal content unless `ETag`s differ. Only
    /// where those may not be MD5s is a HEAD request sent.
    #[default]
    Listed,
    /// Stored checksums, else reading. The size of the first part is taken for that of all, as
    /// all tools have it.
    Checksums,
    /// The same, but nothing is assumed, and 32 bits are no proof.
    Proof,
}

/// What can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The bytes are the same.
    Same(Evidence),
    /// They differ.
    Different(Evidence),
    /// More must be known.
    Unknown(Step),
}

/// What is to be found out next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The headers of an object, with the checksums that the store keeps.
    Headers(Which),
    /// The size of the first part of an object.
    PartSize(Which),
    /// A digest, by reading.
    Digest(Which, Recipe),
}

/// Says whether two things hold the same bytes.
pub fn conclude(source: &Known, target: &Known, depth: Depth, sizes: PartSizes) -> Conclusion {
    if source.size != target.size {
        return Conclusion::Different(Evidence::Size);
    }
    if source.size == 0 || depth == Depth::Sizes {
        return Conclusion::Same(Evidence::Size);
    }
    if let Some(conclusion) = by_digests(source, target, depth) {
        return conclusion;
    }
    let step = if depth == Depth::Listed {
        let Some(step) = doubtful_etag(source, target) else {
            return Conclusion::Same(Evidence::Size);
        };
        step
    } else {
        next_step(source, target, depth, sizes)
    };
    Conclusion::Unknown(step)
}

/// What the digests that both have say.
fn by_digests(source: &Known, target: &Known, depth: Depth) -> Option<Conclusion> {
    let mut found = None;
    for left in &source.digests {
        for right in &target.digests {
            match compare(left, right, depth) {
                Some(Conclusion::Same(evidence)) if !left.algorithm.is_weak() => {
                    return Some(Conclusion::Same(evidence));
                }
                Some(different @ Conclusion::Different(_)) => {
                    found = found.filter(|found| matches!(found, Conclusion::Different(_)));
                    found = found.or(Some(different));
                }
                Some(same) => found = found.or(Some(same)),
                None => {}
            }
        }
    }
    found
}

fn compare(left: &Digest, right: &Digest, depth: Depth) -> Option<Conclusion> {
    let is_comparable = left.algorithm == right.algorithm
        && match (left.layout, right.layout) {
            (Layout::Whole, Layout::Whole) => true,
            (Layout::Parts { count, .. }, Layout::Parts { count: other, .. }) => count == other,
            _ => false,
        };
    if !is_comparable {
        return None;
    }
    let stored = if left.origin == Evidence::Content { right.origin } else { left.origin };
    if left.value == right.value {
        let is_enough = depth != Depth::Proof || !left.algorithm.is_weak();
        return is_enough.then_some(Conclusion::Same(stored));
    }
    // That all parts are as large as the first was assumed, unless both were computed.
    let is_assumed = stored != Evidence::Content && left.layout != Layout::Whole;
    let is_same_layout = match (left.layout, right.layout) {
        (Layout::Parts { part_size, .. }, Layout::Parts { part_size: other, .. }) => {
            part_size.is_some() && part_size == other
        }
        _ => true,
    };
    let tells = left.tells_difference == Some(true) && right.tells_difference == Some(true);
    let is_known = tells && is_same_layout && !(is_assumed && depth == Depth::Proof);
    is_known.then_some(Conclusion::Different(stored))
}

/// Objects with different `ETag`s, of which the headers say whether they are MD5s.
fn doubtful_etag(source: &Known, target: &Known) -> Option<Step> {
    let may_differ = |known: &Known| {
        let is_open = |digest: &Digest| {
            digest.layout == Layout::Whole && digest.tells_difference != Some(false)
        };
        known.digests.iter().any(is_open)
    };
    if !may_differ(source) || !may_differ(target) {
        return None;
    }
    let asked = [(source, Which::Source), (target, Which::Target)];
    let open = asked.into_iter().find(|(known, _)| !known.has_headers);
    open.map(|(_, which)| Step::Headers(which))
}

fn next_step(source: &Known, target: &Known, depth: Depth, sizes: PartSizes) -> Step {
    let (left, right) = ((source, Which::Source), (target, Which::Target));
    // The side to read, and the side with a digest to compare with; a file is read rather than an
    // object.
    let mut pairs = vec![(left, right), (right, left)];
    if source.is_local != target.is_local {
        pairs.retain(|((reader, _), _)| reader.is_local);
    }
    let whole = |algorithm| Recipe { algorithm, part_size: None };
    for ((reader, which), (holder, _)) in &pairs {
        let mut algorithms = holder.whole_digests(depth);
        let is_first = reader.is_local && !holder.has_headers && reader.size <= READ_FIRST_SIZE_MAX;
        if is_first && let Some(algorithm) = algorithms.find(|a| !reader.has(whole(*a))) {
            return Step::Digest(*which, whole(algorithm));
        }
    }
    if let Some((_, which)) = [left, right].into_iter().find(|(known, _)| !known.has_headers) {
        return Step::Headers(which);
    }
    for ((reader, which), (holder, _)) in &pairs {
        let mut algorithms = holder.whole_digests(depth).map(whole);
        if let Some(recipe) = algorithms.find(|recipe| !reader.has(*recipe)) {
            return Step::Digest(*which, recipe);
        }
    }
    for (_, (holder, which)) in &pairs {
        if holder.has_parts() && !holder.has_part_size {
            return Step::PartSize(*which);
        }
    }
    for ((reader, which), (holder, _)) in &pairs {
        let mut recipes = holder.part_digests(reader.is_local.then_some(sizes.configured));
        if let Some(recipe) = recipes.find(|recipe| !reader.has(*recipe)) {
            return Step::Digest(*which, recipe);
        }
    }
    let all = sizes.last_resort(source.size);
    let which = if source.has_computed(all) { Which::Target } else { Which::Source };
    Step::Digest(which, all)
}

#[cfg(test)]
mod tests;
