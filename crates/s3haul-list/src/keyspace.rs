//! The splitter: which parts of the key space are listed, and where to ask next. Pure: no clock,
//! no waiting, no client.
//!
//! A **segment** is a range of keys with a cursor. At most one request is under way in a segment;
//! each answer moves its cursor. Segments are disjoint and together they are the whole range,
//! after every step. A segment may be cut at any key after its cursor; what a page under way
//! brings from beyond the new end is dropped (it belongs to the new segment), unless the new
//! segment has not been asked for yet: then the page keeps it and the new segment starts later or
//! vanishes. (The last key of such a page stays with the new segment: versions of it may follow.)

mod aged;
mod answer;
pub(crate) mod ask;
mod budget;
mod choose;
mod distribution;
mod estimate;
mod folders;
mod known;
mod mass;
mod model;
mod place;
mod schedule;
mod segment;
#[cfg(test)]
mod tests;
mod utf8;

use std::collections::VecDeque;

use budget::{Budget, Records};
use choose::KeyRules;
use folders::Folders;
use known::Known;
use model::Model;
use segment::{Origin, Segments};

pub use ask::{Ask, Keys, KeyspaceOptions, ProbeId, SegmentId, Taken};

use crate::range::KeyRange;

/// The state of a listing.
///
/// Inside, keys are without the listing's prefix.
#[derive(Debug)]
pub struct Keyspace {
    options: KeyspaceOptions,
    rules: KeyRules,
    segments: Segments,
    model: Model,
    folders: Folders,
    records: Records,
    budget: Budget,
    in_flight: usize,
    /// Answers so far.
    answers: u64,
    /// Most segments at a time.
    segments_peak: usize,
    /// Whether the root's folder names are still to be asked for.
    is_root_unasked: bool,
    /// What an earlier listing found, or what is expected.
    known: Known,
    /// Whether it was cut where keys are expected.
    goes_as_expected: bool,
    /// Folders near the root whose names are asked for while little is known.
    unasked: VecDeque<String>,
}

impl Keyspace {
    /// A listing at its beginning.
    pub fn new(options: KeyspaceOptions) -> Self {
        let prefix = options.prefix.as_str();
        let range = &options.range;
        let after = range.after.strip_prefix(prefix).unwrap_or_default().to_owned();
        let through = range.through.as_ref().and_then(|through| through.strip_prefix(prefix));
        let segments = Segments::new(after, through.map(str::to_owned));
        let rules = KeyRules { prefix_len: prefix.len(), delimiter: options.delimiter.clone() };
        let mut keyspace = Self {
            rules,
            segments,
            model: Model::new(),
            folders: Folders::new(),
            records: Records::new(),
            budget: Budget::new(),
            in_flight: 0,
            answers: 0,
            segments_peak: 1,
            unasked: VecDeque::new(),
            is_root_unasked: options.is_eager && options.may_ask_folders,
            known: Known::default(),
            goes_as_expected: false,
            options,
        };
        let boundaries = std::mem::take(&mut keyspace.options.boundaries);
        if keyspace.options.delimiter.is_none() {
            keyspace.known =
                Known::new(boundaries, &keyspace.options.prefix, keyspace.options.page_size);
        }
        if is_empty(&keyspace.options) {
            keyspace.segments.remove(SegmentId(0));
        } else if keyspace.cut_at_boundaries() {
            keyspace.options.is_eager = true;
        } else if keyspace.options.is_eager {
            keyspace.cut_blindly();
        }
        keyspace
    }

    /// Requests asked for and not answered.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether all of the range is covered.
    pub fn is_done(&self) -> bool {
        self.segments.len() == 0
    }

    /// Contexts of keys remembered: what its memory grows with, up to a limit.
    pub fn contexts(&self) -> usize {
        self.model.len()
    }

    /// Cuts what the first page has left where keys are expected.
    fn cut_as_expected(&mut self) {
        let is_used = !self.options.is_eager && self.options.delimiter.is_none();
        if let Some(expected) = self.options.expected.take().filter(|_| is_used) {
            let Self { options: KeyspaceOptions { prefix, page_size, .. }, .. } = self;
            self.known = Known::new(expected.boundaries(), prefix, *page_size);
            self.goes_as_expected = self.cut_at_boundaries();
        }
    }

    /// Cuts the only segment at known boundaries, into a segment for each request that may be in
    /// flight; in the order of keys into more, so that the window holds those of all requests
    /// twice. Gives whether there were any in the range. Wrong boundaries cost time only: the
    /// segments are like all others, and behind the last boundary nothing is known.
    #[expect(clippy::cast_precision_loss, reason = "estimates need no more precision")]
    fn cut_at_boundaries(&mut self) -> bool {
        const ENDS_TO_CHOOSE_FROM: f64 = 4.0;
        let mut segment = SegmentId(0);
        let within = self.segments.get(segment).map(|root| self.known.within(root));
        let Some((mut before, end)) = within.filter(|(before, end)| before < end) else {
            return false;
        };
        let requests = self.options.concurrency.max(1) as f64;
        let mut share = (end - before) / requests;
        if let Some(window) = self.options.window_pages {
            let least = ENDS_TO_CHOOSE_FROM * self.known.mean_pages();
            share = share.min((window as f64 / (2.0 * requests)).max(least));
        }
        while before < end
            && let Some((key, up_to)) = self.known.next(before, share)
            && self.segments.get(segment).is_some_and(|rest| rest.encloses(key))
        {
            let made = self.segments.cut(segment, key.to_owned());
            if let Some(left) = self.segments.get_mut(segment) {
                (left.pages_left, left.hinted) = (up_to - before, Some(up_to - before));
            }
            (segment, before) = (made, up_to);
        }
        self.is_root_unasked = false;
        true
    }

    /// Cuts where keys of any kind would be cut, before anything is known.
    #[expect(clippy::cast_precision_loss, reason = "estimates need no more precision")]
    fn cut_blindly(&mut self) {
        const CUTS_MAX: usize = 8;
        const PAGES_EXPECTED: f64 = 1e4;
        let root = SegmentId(0);
        let count = (self.options.concurrency / 16).min(CUTS_MAX);
        for index in (1..=count).rev() {
            let Some(segment) = self.segments.get(root) else { return };
            let share = index as f64 / (index as f64 + 1.0);
            let Some(key) = choose::blind_key(&self.model, &self.rules, segment, share) else {
                return;
            };
            let made = self.segments.cut(root, key);
            if let Some(made) = self.segments.get_mut(made) {
                made.pages_left = 0.1;
                made.origin = Origin::Guess(0);
                made.parent = Some(root);
            }
        }
        if let Some(root) = self.segments.get_mut(root) {
            root.pages_left = PAGES_EXPECTED;
            root.folder = Some(0);
            root.unanswered = u32::try_from(count).unwrap_or(u32::MAX);
        }
    }
}

/// Whether no key with the prefix can lie in the range.
fn is_empty(options: &KeyspaceOptions) -> bool {
    let (prefix, after) = (options.prefix.as_str(), options.range.after.as_str());
    let is_beyond = |key: &str| key > prefix && !key.starts_with(prefix);
    is_beyond(after)
        || options
            .range
            .through
            .as_deref()
            .is_some_and(|through| through <= after || through < prefix)
}
