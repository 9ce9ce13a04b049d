//! Whether two things hold the same bytes, concluded from what is known of them.
//!
//! What is known grows step by step: first what a listing tells, then headers, then what is
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

mod parts;

use std::fmt;

pub use parts::likely_part_sizes;

use crate::units::MIB;

/// Files up to this size are read before the store is asked for headers: a request costs more.
const READ_FIRST_SIZE_MAX: u64 = 16 * MIB;

/// Part of what is read that has a digest of its own.
const READ_PART_SIZE: u64 = 32 * MIB;

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

#[derive(Clone, Debug, PartialEq, Eq)]
struct Digest {
    algorithm: Algorithm,
    layout: Layout,
    /// Text, hexadecimal for MD5 and base64 for others.
    value: String,
    /// Whether another value means other bytes; not known of an `ETag` before the headers are.
    tells_difference: Option<bool>,
    origin: Evidence,
}

/// A checksum that a store keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChecksum {
    /// Algorithm.
    pub algorithm: Algorithm,
    /// The value as it travels in headers, `…-N` for a composite of N parts.
    pub value: String,
    /// It covers the whole object, not the checksums of its parts.
    pub is_full_object: bool,
}

/// What is known of a file or an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    size: u64,
    is_local: bool,
    has_headers: bool,
    has_part_size: bool,
    /// The parts are not all of one size.
    has_uneven_parts: bool,
    digests: Vec<Digest>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Equal sizes are the same.
    Sizes,
    /// What listings tell; equal sizes are the same where nothing speaks against it. Only where
    /// `ETag`s differ that may not be MD5s headers are asked for.
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

impl Known {
    /// A file.
    pub fn of_file(size: u64) -> Self {
        Self { has_headers: true, has_part_size: true, ..Self::new(size, true) }
    }

    /// An object as a listing has it; the `ETag` with or without quotes, empty where unknown.
    pub fn of_object(size: u64, etag: &str) -> Self {
        Self { digests: etag_digest(etag).into_iter().collect(), ..Self::new(size, false) }
    }

    fn new(size: u64, is_local: bool) -> Self {
        let (has_headers, has_part_size, has_uneven_parts) = (false, false, false);
        let digests = Vec::new();
        Self { size, is_local, has_headers, has_part_size, has_uneven_parts, digests }
    }

    /// Takes what the headers of an object tell: they replace what was listed.
    pub fn learn_headers(
        &mut self,
        etag: &str,
        etag_is_md5: bool,
        checksums: impl IntoIterator<Item = StoredChecksum>,
    ) {
        self.has_headers = true;
        self.digests.retain(|digest| digest.origin == Evidence::Content);
        let etag = etag_digest(etag);
        let etag = etag.map(|digest| Digest { tells_difference: Some(etag_is_md5), ..digest });
        self.digests.extend(etag);
        self.digests
            .extend(checksums.into_iter().filter_map(|checksum| checksum_digest(&checksum)));
    }

    /// Takes the size of the first part, where the store told one.
    pub fn learn_part_size(&mut self, first_part_size: Option<u64>) {
        self.has_part_size = true;
        let Some(told) = first_part_size.filter(|size| *size > 0) else { return };
        for digest in &mut self.digests {
            let Layout::Parts { count, part_size } = &mut digest.layout else { continue };
            if self.size.div_ceil(told) == u64::from(*count) {
                *part_size = Some(told);
            } else {
                self.has_uneven_parts = true;
            }
        }
    }

    /// Takes a digest that was computed.
    pub fn learn_digest(&mut self, recipe: Recipe, value: String) {
        let layout = match recipe.part_size {
            None => Layout::Whole,
            Some(part_size) => {
                let count = u32::try_from(self.size.div_ceil(part_size.max(1)));
                let (count, part_size) = (count.unwrap_or(u32::MAX), Some(part_size));
                Layout::Parts { count, part_size }
            }
        };
        let (algorithm, origin) = (recipe.algorithm, Evidence::Content);
        self.digests.push(Digest {
            algorithm,
            layout,
            value,
            tells_difference: Some(true),
            origin,
        });
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether it is an object whose headers were not asked for.
    pub fn lacks_headers(&self) -> bool {
        !self.has_headers
    }

    /// Whether a digest is known, stored or computed.
    pub fn has(&self, recipe: Recipe) -> bool {
        self.digests.iter().any(|digest| {
            digest.algorithm == recipe.algorithm
                && match (digest.layout, recipe.part_size) {
                    (Layout::Whole, None) => digest.tells_difference == Some(true),
                    (Layout::Parts { part_size, .. }, Some(wanted)) => part_size == Some(wanted),
                    _ => false,
                }
        })
    }

    /// Digests of the whole that the store keeps, the cheapest to compute first.
    fn whole_digests(&self, depth: Depth) -> impl Iterator<Item = Algorithm> {
        let useful = move |algorithm: &Algorithm| depth != Depth::Proof || !algorithm.is_weak();
        Algorithm::BY_COST.into_iter().filter(useful).filter(|algorithm| {
            self.digests.iter().any(|digest| {
                digest.algorithm == *algorithm
                    && digest.layout == Layout::Whole
                    && digest.origin != Evidence::Content
                    && digest.tells_difference != Some(false)
            })
        })
    }

    /// Digests of parts that the store keeps, with the size that the parts have, or where it is not
    /// known sizes that they may have: whoever reads an object does not guess.
    fn part_digests(&self, guess: Option<u64>) -> impl Iterator<Item = Recipe> {
        let stored = self.digests.iter().filter(|digest| digest.origin != Evidence::Content);
        stored.flat_map(move |digest| {
            let sizes = match digest.layout {
                Layout::Whole => Vec::new(),
                _ if digest.tells_difference == Some(false) || self.has_uneven_parts => Vec::new(),
                Layout::Parts { part_size: Some(size), .. } => vec![size],
                Layout::Parts { count, part_size: None } => guess
                    .map_or(Vec::new(), |configured| {
                        likely_part_sizes(self.size, count, configured)
                    }),
            };
            let algorithm = digest.algorithm;
            sizes.into_iter().map(move |size| Recipe { algorithm, part_size: Some(size) })
        })
    }

    fn has_parts(&self) -> bool {
        let is_useful = |digest: &Digest| {
            digest.layout != Layout::Whole && digest.tells_difference != Some(false)
        };
        self.digests.iter().any(is_useful)
    }
}

/// An `ETag` that has the form of an MD5.
fn etag_digest(etag: &str) -> Option<Digest> {
    let bare = etag.strip_prefix('"').and_then(|etag| etag.strip_suffix('"')).unwrap_or(etag);
    let (value, layout) = split_count(bare)?;
    let is_hex = value.len() == 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| Digest {
        algorithm: Algorithm::Md5,
        layout,
        value: value.to_ascii_lowercase(),
        tells_difference: None,
        origin: Evidence::Etag,
    })
}

fn checksum_digest(checksum: &StoredChecksum) -> Option<Digest> {
    let (value, layout) = split_count(&checksum.value)?;
    // A checksum of parts that does not tell how many is of no use.
    (checksum.is_full_object == (layout == Layout::Whole)).then(|| Digest {
        algorithm: checksum.algorithm,
        layout,
        value: value.to_owned(),
        tells_difference: Some(true),
        origin: Evidence::Checksum,
    })
}

/// Takes the number of parts off a value.
fn split_count(text: &str) -> Option<(&str, Layout)> {
    match text.rsplit_once('-') {
        None => Some((text, Layout::Whole)),
        Some((value, count)) => {
            let count = count.parse().ok().filter(|count| *count > 0)?;
            Some((value, Layout::Parts { count, part_size: None }))
        }
    }
}

/// Says whether two things hold the same bytes. `configured` is the size in bytes of the parts
/// that this program makes.
pub fn conclude(source: &Known, target: &Known, depth: Depth, configured: u64) -> Conclusion {
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
        next_step(source, target, depth, configured)
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

/// How both are read where nothing is known of either: large ones by parts, so that several can be
/// read at a time.
pub fn last_resort(size: u64) -> Recipe {
    let part_size = (size > READ_PART_SIZE).then_some(READ_PART_SIZE);
    Recipe { algorithm: Algorithm::Sha256, part_size }
}

fn next_step(source: &Known, target: &Known, depth: Depth, configured: u64) -> Step {
    let (left, right) = ((source, Which::Source), (target, Which::Target));
    // Whoever reads, and whoever has a digest to compare with; a file is read rather than an
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
        let mut recipes = holder.part_digests(reader.is_local.then_some(configured));
        if let Some(recipe) = recipes.find(|recipe| !reader.has(*recipe)) {
            return Step::Digest(*which, recipe);
        }
    }
    let all = last_resort(source.size);
    let which = if source.has(all) { Which::Target } else { Which::Source };
    Step::Digest(which, all)
}

#[cfg(test)]
mod tests;
