//! What answers change.

use super::budget::KNOWN;
use super::estimate::Estimator;
use super::folders::depth_of;
use super::model::Model;
use super::place::Place;
use super::segment::{Origin, Phase, Stuck};
use super::{KeyRange, Keyspace};
use crate::keyspace::ask::{Keys, ProbeId, SegmentId, Taken};
use crate::keyspace::utf8::{common_prefix, folder_of};

/// Keys of a page that the model learns from while little is known.
const SAMPLE_EARLY: usize = 30;
/// Keys of a page that the model learns from later.
const SAMPLE: usize = 8;
/// One in so many of the later pages is scanned whole for folders. Where all pages teach the same
/// only these are learnt from.
const COUNTED_EVERY: u64 = 4;
/// Pages more than an earlier listing had of a part, after which that says nothing any more.
const PAGES_MORE_MAX: f64 = 2.0;
/// Pages left at least, as long as a part has not ended.
const PAGES_AT_LEAST: f64 = 0.5;
/// Pages after which much is known.
const PAGES_EARLY: f64 = 150.0;

impl Keyspace {
    /// Takes the answer to [`Ask::Page`](super::Ask::Page). `is_truncated` is the server's word
    /// that there are more keys after the page; a page may be empty and truncated. In a listing
    /// with a delimiter the keys are those of objects and common prefixes, merged.
    ///
    /// # Panics
    /// When the segment did not ask.
    pub fn on_page(&mut self, segment: SegmentId, keys: &dyn Keys, is_truncated: bool) -> Taken {
        self.in_flight -= 1;
        self.answers += 1;
        let suffixes = Suffixes { keys, prefix: &self.options.prefix.clone() };
        self.give_back(segment, &suffixes, is_truncated);
        let state = self.segments.get(segment).expect("only live segments are asked");
        let count = suffixes.count_through(state.through.as_deref());
        let is_end = !is_truncated || count < keys.len();
        let last = count.checked_sub(1).map(|index| suffixes.get(index));
        let covers = KeyRange {
            after: self.full_after(segment),
            through: match (is_end, last) {
                (true, _) => self.full_through(segment),
                (false, Some(last)) => Some(format!("{}{last}", self.options.prefix)),
                (false, None) => Some(self.full_after(segment)),
            },
        };
        let is_first = !state.is_answered;
        self.budget.page(keys.len(), count, is_first);
        self.learn(segment, &suffixes);
        if is_first {
            let first = (count > 0).then(|| suffixes.get(0));
            self.note_first_answer(segment, first, self.budget.share_of_page(count));
        }
        if is_end {
            self.segments.remove(segment);
        } else {
            self.advance(segment, &suffixes, last);
            self.cut_as_expected();
        }
        Taken { count, covers, is_end }
    }

    /// Takes the answer to [`Ask::Folders`](super::Ask::Folders): the names in order, and the
    /// last entry of the page (folder or key) where there are more.
    pub fn on_folders(&mut self, probe: ProbeId, names: &[String], truncated_at: Option<&str>) {
        self.in_flight -= 1;
        self.answers += 1;
        self.budget.folders();
        let prefix = self.options.prefix.as_str();
        let names: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix(prefix)).collect();
        let truncated_at = truncated_at.and_then(|key| key.strip_prefix(prefix));
        self.model.learn_folders(names.iter().copied());
        if truncated_at.is_none() {
            self.ask_within(&names);
        }
        self.folders.answer(probe, &names, truncated_at);
        if !self.folders.has_room() {
            let segments = &self.segments;
            self.folders.forget(|name| segments.iter().any(|(_, segment)| segment.encloses(name)));
        }
        for segment in self.segments.iter_mut() {
            segment.stuck = Stuck::No;
            segment.outlook = None;
        }
    }

    /// Near the root few folders hold everything: the names in each are worth a request while
    /// nothing better is known to do.
    fn ask_within(&mut self, names: &[&str]) {
        const NAMES_FEW: usize = 16;
        const PROBES_MAX: usize = 48;
        let room = PROBES_MAX.min(self.options.concurrency / 4);
        if matches!(names, [only] if depth_of(only) > 1) {
            return;
        }
        let probes = self.folders.probes() + (self.unasked.len() + names.len()) as u64;
        if self.budget.is_early() && names.len() <= NAMES_FEW && probes <= room as u64 {
            self.unasked.extend(names.iter().map(|name| (*name).to_owned()));
        }
    }

    /// Neighbours that have not been asked for give a page what it brings of theirs; all but the
    /// last key of a page with more behind it, of which versions may follow.
    fn give_back(&mut self, segment: SegmentId, keys: &Suffixes<'_>, is_truncated: bool) {
        let last = keys.len().checked_sub(1).map(|index| keys.get(index));
        let last = match (is_truncated, last) {
            (false, _) => None,
            // A listing that begins after a common prefix might show it again.
            (true, Some(last)) if self.options.delimiter.is_none() => {
                let before = keys.partition_point(|key| key < last);
                let Some(index) = before.checked_sub(1) else { return };
                Some(keys.get(index))
            }
            (true, _) => return,
        };
        for vanished in self.segments.overrun(segment, last) {
            self.forget_child(vanished.parent);
        }
    }

    fn forget_child(&mut self, parent: Option<SegmentId>) {
        if let Some(parent) = parent.and_then(|parent| self.segments.get_mut(parent)) {
            parent.unanswered = parent.unanswered.saturating_sub(1);
            parent.stuck = Stuck::No;
        }
    }

    fn learn(&mut self, segment: SegmentId, keys: &Suffixes<'_>) {
        let Some(last) = keys.len().checked_sub(1).map(|index| keys.get(index)) else { return };
        let first = keys.get(0);
        let state = self.segments.get_mut(segment).expect("only live segments are asked");
        let is_early = self.budget.useful_pages() < PAGES_EARLY;
        let is_due = !state.is_answered || self.answers.is_multiple_of(COUNTED_EVERY);
        if is_early || is_due || !is_flat_and_regular(&self.model, first, last) {
            let sample = if is_early { SAMPLE_EARLY } else { SAMPLE };
            let step = (keys.len() / sample).max(1);
            let sample = (0..keys.len()).step_by(step).map(|index| keys.get(index));
            self.model.learn(&state.after, sample);
            self.model.end_page(first, last);
        }
        if is_due || is_early {
            let all = (0..keys.len()).map(|index| keys.get(index));
            state.names_seen = self.folders.count_page(first, last, all);
        }
    }

    /// Whether a cut hit: the segment cut out has keys in the folder that the cut was aimed at.
    fn note_first_answer(&mut self, segment: SegmentId, first: Option<&str>, share: f64) {
        let state = self.segments.get_mut(segment).expect("only live segments are asked");
        state.is_answered = true;
        let (parent, origin) = (state.parent.take(), state.origin);
        let aim = folder_of(&state.start, state.start.len());
        let is_hit = first.is_some_and(|first| first.starts_with(aim));
        self.forget_child(parent);
        let left = self.segments.left_neighbour(segment);
        let left = left.and_then(|left| self.segments.get_mut(left));
        let token = match origin {
            Origin::Guess(token) => token,
            Origin::Known => KNOWN,
        };
        self.records.note(token, is_hit, share);
        let Some(left) = left else { return };
        left.stuck = Stuck::No;
        match origin {
            Origin::Guess(_) if !is_hit => {
                left.is_filled &= first.is_some();
                left.failures += 1;
            }
            _ if first.is_some() => {
                left.is_filled = true;
                left.failures = 0;
            }
            _ => {}
        }
    }

    /// The cursor goes on to the last key of a page.
    fn advance(&mut self, segment: SegmentId, keys: &Suffixes<'_>, last: Option<&str>) {
        let state = self.segments.get_mut(segment).expect("only live segments are asked");
        state.phase = Phase::Waiting;
        state.stuck = Stuck::No;
        state.hold -= 1;
        if let Some(last) = last {
            last.clone_into(&mut state.after);
            state.page_first = Some(keys.get(0).to_owned());
            state.pages_since_cut += 1;
            state.folder = None;
        }
        let estimator = Estimator {
            model: &self.model,
            folders: &self.folders,
            records: &self.records,
            budget: &self.budget,
        };
        let outlook = estimator.look(state);
        state.pages_left = outlook.pages;
        state.outlook = Some(outlook);
        let Some(hinted) = state.hinted else { return };
        if hinted > 1.0 - PAGES_MORE_MAX {
            state.hinted = Some(hinted - 1.0);
            state.pages_left = (hinted - 1.0).max(PAGES_AT_LEAST);
        } else {
            // Keys were added: it is a segment like any other.
            state.hinted = None;
        }
    }

    /// A segment's cursor as the server knows it.
    pub(super) fn full_after(&self, segment: SegmentId) -> String {
        let state = self.segments.get(segment).expect("only live segments are asked");
        let is_root_start = segment == SegmentId(0) && state.page_first.is_none();
        if is_root_start {
            return self.options.range.after.clone();
        }
        format!("{}{}", self.options.prefix, state.after)
    }

    fn full_through(&self, segment: SegmentId) -> Option<String> {
        let state = self.segments.get(segment).expect("only live segments are asked");
        match &state.through {
            Some(through) => Some(format!("{}{through}", self.options.prefix)),
            None => self.options.range.through.clone(),
        }
    }
}

/// Whether a page is of no folder, and within names whose characters fill their alphabet evenly:
/// there each page teaches the same.
fn is_flat_and_regular(model: &Model, first: &str, last: &str) -> bool {
    let is_flat = [first, last].iter().all(|key| memchr::memchr(b'/', key.as_bytes()).is_none());
    let shared = &first.as_bytes()[..common_prefix(first, last)];
    is_flat && model.is_regular(model.token(Place::after(shared)).0)
}

/// Keys without the listing's prefix.
struct Suffixes<'a> {
    keys: &'a dyn Keys,
    prefix: &'a str,
}

impl<'a> Suffixes<'a> {
    fn len(&self) -> usize {
        self.keys.len()
    }

    fn get(&self, index: usize) -> &'a str {
        let key = self.keys.key(index);
        if self.prefix.is_empty() {
            // A comparison with a text at no address traps inside the processor.
            return key;
        }
        key.strip_prefix(self.prefix).unwrap_or(key)
    }

    /// Number of keys at the beginning for which it is true.
    fn partition_point(&self, is_before: impl Fn(&str) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if is_before(self.get(middle)) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    fn count_through(&self, through: Option<&str>) -> usize {
        through.map_or(self.len(), |through| self.partition_point(|key| key <= through))
    }
}
