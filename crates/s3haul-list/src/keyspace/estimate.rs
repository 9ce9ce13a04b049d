//! How many pages are left in a segment, and in which folders they lie.

#![expect(clippy::cast_precision_loss, reason = "estimates need no more precision")]

use super::budget::{Budget, Records};
use super::folders::Folders;
use super::mass::Span;
use super::model::Model;
use super::place::Place;
use super::segment::Segment;
use super::utf8;
use crate::keyspace::utf8::folder_of;

/// Share of the pages since the last cut that is expected to follow at least.
const AS_BEFORE: f64 = 0.25;

/// Most pages to expect of more names where a page did not leave one: the mass that it took is next
/// to nothing, and is no evidence.
const WITHIN_MAX: f64 = 6.0;

/// What a stretch of a segment holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Keys right in one folder.
    Flat,
    /// Folders whose names are known, with the pages expected for each.
    Known { each: f64 },
    /// Folders whose names after a key are not known.
    Dark { from: String },
}

/// A stretch of a segment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretch {
    /// Pages expected.
    pub(super) pages: f64,
    /// Length of the folder's name, a beginning of the cursor.
    pub(super) folder: usize,
    pub(super) kind: Kind,
}

/// Folder whose names are worth listing with a delimiter, to find cuts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProbeCandidate {
    pub(super) folder: usize,
    pub(super) after: String,
    pub(super) pages: f64,
}

/// What lies ahead in a segment, in the order of keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outlook {
    pub(super) pages: f64,
    pub(super) stretches: Vec<Stretch>,
    pub(super) candidates: Vec<ProbeCandidate>,
}

/// The end of a segment within a folder; none: the folder's end.
pub(super) fn end_in<'a>(segment: &'a Segment, folder: &str) -> Option<&'a str> {
    segment.through.as_deref().filter(|through| through.starts_with(folder))
}

/// Dampens large estimates: the model overestimates what is far ahead.
fn dampen(pages: f64) -> f64 {
    const NEAR: f64 = 16.0;
    const FAR: f64 = 1e6;
    let pages = pages.min(FAR);
    if pages <= NEAR { pages } else { NEAR * (pages / NEAR).sqrt() }
}

/// Everything that is known, to look ahead.
#[derive(Debug)]
pub(super) struct Estimator<'a> {
    pub(super) model: &'a Model,
    pub(super) folders: &'a Folders,
    pub(super) records: &'a Records,
    pub(super) budget: &'a Budget,
}

impl Estimator<'_> {
    /// What lies ahead in a segment.
    pub(super) fn look(&self, segment: &Segment) -> Outlook {
        let cursor = segment.after.as_str();
        let innermost = folder_of(cursor, cursor.len()).len();
        let mut stretches = Vec::new();
        let (flat, mut end) = match &segment.page_first {
            Some(first) => {
                let common = folder_of(cursor, utf8::common_prefix(first, cursor)).len();
                let child = memchr::memchr(b'/', &cursor.as_bytes()[common..]);
                let is_flat = common >= innermost;
                let end = child.filter(|_| !is_flat).map_or(innermost, |at| common + at + 1);
                (is_flat.then_some(innermost), end)
            }
            None => (segment.folder, innermost),
        };
        if let Some(folder) = flat {
            let pages = match &segment.page_first {
                Some(first) => dampen(self.pages_by_mass(segment, first, folder)),
                None => segment.pages_left,
            };
            if pages > 0.0 {
                stretches.push(Stretch { pages, folder, kind: Kind::Flat });
            }
        }
        let common = segment.through.as_ref().map(|end| utf8::common_prefix(cursor, end));
        let top = folder_of(cursor, common.unwrap_or(0)).len();
        while end > 0 {
            end = folder_of(cursor, end - 1).len();
            if end < top {
                break;
            }
            self.look_at_siblings(segment, end, &mut stretches);
        }
        self.sum_up(segment, stretches)
    }

    fn sum_up(&self, segment: &Segment, stretches: Vec<Stretch>) -> Outlook {
        let mut pages = stretches.iter().map(|stretch| stretch.pages).sum();
        if segment.page_first.is_some() {
            pages = f64::max(pages, AS_BEFORE * f64::from(segment.pages_since_cut));
        } else if stretches.is_empty() {
            pages = segment.pages_left;
        }
        let candidates = self.candidates(segment, &stretches);
        Outlook { pages, stretches, candidates }
    }

    /// The siblings of what the cursor is in, in one of the folders above it.
    fn look_at_siblings(&self, segment: &Segment, folder: usize, out: &mut Vec<Stretch>) {
        let cursor = segment.after.as_str();
        let name = &cursor[..folder];
        let end = end_in(segment, name);
        let page_keys = self.budget.page_keys();
        let each = self.folders.keys_each(name, page_keys) / page_keys;
        let known = self.folders.names(name, cursor, end).len() as f64 * each;
        if known > 0.0 {
            out.push(Stretch { pages: known, folder, kind: Kind::Known { each } });
        }
        let Some(from) = self.folders.unknown_from(name, cursor) else { return };
        if end.is_some_and(|end| from >= end) {
            return;
        }
        let mut pages = f64::max(1.0, AS_BEFORE * f64::from(segment.pages_since_cut));
        if let Some(first) = &segment.page_first
            && self.is_guessable(segment, folder, 0.65)
        {
            let by_mass = dampen(self.pages_by_mass(segment, first, folder));
            let has_left_a_name = self.token_of_names(segment, folder).is_some();
            let most = if has_left_a_name { by_mass } else { WITHIN_MAX };
            pages = pages.max(by_mass.min(most));
        }
        pages = pages.max(0.5 * known);
        if self.folders.is_known(name) {
            let span = Span { base: name, from, through: end };
            let expected = self.folders.expected(self.model, &span, name);
            pages = pages.max(dampen(expected * each));
        }
        out.push(Stretch { pages, folder, kind: Kind::Dark { from: from.to_owned() } });
    }

    /// Pages from the cursor to the segment's end among the keys that start like it, by the mass
    /// that the last page took.
    pub(super) fn pages_by_mass(&self, segment: &Segment, first: &str, folder: usize) -> f64 {
        let name = &segment.after[..folder];
        let span = Span::new(name, first, end_in(segment, name));
        let (from, through) = span.ends(self.model);
        let cursor = self.model.position(span.base, &segment.after);
        if cursor <= from {
            return f64::INFINITY;
        }
        (through - cursor).max(0.0) / (cursor - from)
    }

    /// Whether names in a folder can be guessed with this success, so that asking is not worth it.
    pub(super) fn is_guessable(&self, segment: &Segment, folder: usize, success: f64) -> bool {
        /// With more names on a page asking for them costs as much as listing.
        const NAMES_MANY: f64 = 100.0;
        match self.token_of_names(segment, folder) {
            Some(_) if segment.names_seen > NAMES_MANY => true,
            Some(token) => self.records.success(token, self.model.is_regular(token)) > success,
            None => {
                let place = Place::after(&segment.after.as_bytes()[..folder]);
                let proven = self.records.proven_success(self.model.token(place).0);
                proven.is_some_and(|proven| proven > success.max(0.75))
            }
        }
    }

    /// The token in which the names on the last page differ; none where it did not leave a name.
    fn token_of_names(&self, segment: &Segment, folder: usize) -> Option<u64> {
        let cursor = segment.after.as_bytes();
        let first = segment.page_first.as_deref()?;
        let common = utf8::common_prefix(first, &segment.after).max(folder);
        let slash = folder + memchr::memchr(b'/', &cursor[folder..])?;
        let place = Place::after(&cursor[..common]);
        (common <= slash).then(|| self.model.token(place).0)
    }

    /// Names that would show where to cut, of the outermost folder first.
    fn candidates(&self, segment: &Segment, stretches: &[Stretch]) -> Vec<ProbeCandidate> {
        if segment.page_first.is_none() {
            return Vec::new();
        }
        let candidate = |stretch: &Stretch| {
            let Kind::Dark { from } = &stretch.kind else { return None };
            let is_wanted =
                stretch.pages >= 1.0 && !self.is_guessable(segment, stretch.folder, 0.8);
            let after = from.max(&segment.after).clone();
            is_wanted.then_some(ProbeCandidate {
                folder: stretch.folder,
                after,
                pages: stretch.pages,
            })
        };
        stretches.iter().rev().filter_map(candidate).collect()
    }
}
