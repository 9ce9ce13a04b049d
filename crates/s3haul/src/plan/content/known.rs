//! What is known of a file or an object, and how it grows.

use super::parts::likely_part_sizes;
use super::{Algorithm, Depth, Evidence, Layout, Recipe};

/// A digest of all bytes or of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digest {
    pub(super) algorithm: Algorithm,
    pub(super) layout: Layout,
    /// Text, hexadecimal for MD5 and base64 for others.
    pub(super) value: String,
    /// Whether another value means other bytes; not known of an `ETag` before the headers are.
    pub(super) tells_difference: Option<bool>,
    pub(super) origin: Evidence,
}

/// MD5 of nothing.
const MD5_OF_NOTHING: &str = "d41d8cd98f00b204e9800998ecf8427e";

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
    pub(super) size: u64,
    pub(super) is_local: bool,
    pub(super) has_headers: bool,
    pub(super) has_part_size: bool,
    /// The parts are not all of one size.
    has_uneven_parts: bool,
    pub(super) digests: Vec<Digest>,
}

impl Digest {
    /// How it would be computed; without a size of parts as if it were of all bytes.
    fn recipe(&self) -> Recipe {
        let part_size = match self.layout {
            Layout::Whole => None,
            Layout::Parts { part_size, .. } => part_size,
        };
        Recipe { algorithm: self.algorithm, part_size }
    }
}

impl Known {
    /// A file.
    pub fn of_file(size: u64) -> Self {
        Self { has_headers: true, has_part_size: true, ..Self::new(size, true) }
    }

    /// An object as a listing has it; the `ETag` with or without quotes, empty where unknown.
    pub fn of_object(size: u64, etag: &str) -> Self {
        let digests = etag_digest(etag).filter(|digest| !is_placeholder(digest, size));
        Self { digests: digests.into_iter().collect(), ..Self::new(size, false) }
    }

    fn new(size: u64, is_local: bool) -> Self {
        let (has_headers, has_part_size, has_uneven_parts) = (false, false, false);
        let digests = Vec::new();
        Self { size, is_local, has_headers, has_part_size, has_uneven_parts, digests }
    }

    /// Takes the headers of an object: they replace what was listed.
    pub fn learn_headers(
        &mut self,
        etag: &str,
        etag_is_md5: bool,
        checksums: impl IntoIterator<Item = StoredChecksum>,
    ) {
        self.has_headers = true;
        self.digests.retain(|digest| digest.origin == Evidence::Content);
        let etag = etag_digest(etag).filter(|digest| !is_placeholder(digest, self.size));
        let etag = etag.map(|digest| Digest { tells_difference: Some(etag_is_md5), ..digest });
        self.digests.extend(etag);
        self.digests
            .extend(checksums.into_iter().filter_map(|checksum| checksum_digest(&checksum)));
    }

    /// Takes the size of the first part, if the store returned one.
    pub fn learn_part_size(&mut self, first_part_size: Option<u64>) {
        self.has_part_size = true;
        let Some(told) = first_part_size.filter(|size| *size > 0) else { return };
        let stored = self.digests.iter_mut().filter(|digest| digest.origin != Evidence::Content);
        for digest in stored {
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

    /// Whether a digest was computed by reading.
    pub fn has_computed(&self, recipe: Recipe) -> bool {
        let computed = self.digests.iter().filter(|digest| digest.origin == Evidence::Content);
        computed.map(Digest::recipe).any(|computed| computed == recipe)
    }

    /// Whether a digest is known, stored or computed.
    pub(super) fn has(&self, recipe: Recipe) -> bool {
        self.digests.iter().any(|digest| {
            let is_comparable = match digest.layout {
                Layout::Whole => digest.tells_difference == Some(true),
                Layout::Parts { part_size, .. } => part_size.is_some(),
            };
            is_comparable && digest.recipe() == recipe
        })
    }

    /// Digests of the whole that the store keeps, the cheapest to compute first.
    pub(super) fn whole_digests(&self, depth: Depth) -> impl Iterator<Item = Algorithm> {
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
    /// known sizes that they may have: reading an object needs no guess.
    pub(super) fn part_digests(&self, guess: Option<u64>) -> impl Iterator<Item = Recipe> {
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

    /// Whether the store keeps a digest of as many parts.
    pub fn has_parts_of(&self, parts_count: Option<u32>) -> bool {
        self.digests.iter().any(|digest| match digest.layout {
            Layout::Parts { count, .. } => {
                digest.origin != Evidence::Content && parts_count == Some(count)
            }
            Layout::Whole => false,
        })
    }

    pub(super) fn has_parts(&self) -> bool {
        let is_useful = |digest: &Digest| {
            digest.layout != Layout::Whole
                && digest.origin != Evidence::Content
                && digest.tells_difference != Some(false)
        };
        self.digests.iter().any(is_useful)
    }
}

/// An `ETag` that has the form of an MD5.
pub(super) fn etag_digest(etag: &str) -> Option<Digest> {
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

/// The MD5 in the `ETag` of an object that is not encrypted with a key of its own, as hexadecimal
/// digits in lower case; `None` if there is none, as for an object in parts.
pub fn md5_of_etag(etag: &str, size: u64) -> Option<String> {
    let is_md5 = |found: &Digest| found.layout == Layout::Whole && !is_placeholder(found, size);
    Some(etag_digest(etag).filter(is_md5)?.value)
}

/// Whether an `ETag` stands for none: servers that compute no MD5 return zeros, or the MD5 of
/// nothing. Two such are equal whatever the bytes are.
fn is_placeholder(digest: &Digest, size: u64) -> bool {
    let is_of_nothing = digest.layout == Layout::Whole && digest.value == MD5_OF_NOTHING;
    (is_of_nothing && size > 0) || digest.value.bytes().all(|byte| byte == b'0')
}

fn checksum_digest(checksum: &StoredChecksum) -> Option<Digest> {
    let (value, layout) = split_count(&checksum.value)?;
    // A checksum of parts without their number is of no use.
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
