//! What to ask next: segments that go on, then names of folders, then a new cut.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "estimates need no more precision"
)]

use std::collections::BTreeSet;

use super::Keyspace;
use super::choose::{self, Cut};
use super::estimate::Estimator;
use super::segment::{Phase, Segment, Stuck};
use crate::keyspace::ask::{Ask, SegmentId};

/// Segments with fewer pages left are not cut.
const PAGES_MIN: f64 = 2.0;
/// Nor those with fewer pages once guesses have cost too much, unless half of the requests idle.
const PAGES_MIN_DEAR: f64 = 6.0;
/// Nor, where an earlier listing found keys, those with fewer.
const KNOWN_PAGES_MIN: f64 = 3.0;
/// Nor those with less than this share of what is left for each request in flight.
const PAGES_SHARE: f64 = 1.2;
/// Requests for each page found that a listing may have in flight, and may have wasted, where keys
/// are expected.
const EXPECTED_FOR_A_PAGE: f64 = 4.0;

impl Keyspace {
    /// The next request, as long as fewer requests than allowed are in flight. `held_pages` are the
    /// pages received and not yet handed on; in the order of keys, once these and those in flight
    /// fill the window, only the first segment is listed, so that the listing always advances.
    pub fn next_ask(&mut self, held_pages: usize) -> Option<Ask> {
        if self.is_done() || self.in_flight >= self.requests_max() {
            return None;
        }
        let near = self.near(held_pages);
        let ask = self.go_on(near.as_ref());
        if ask.is_some() || self.is_full(held_pages) || !self.may_explore() {
            return ask;
        }
        let known = self.cut_at_known(near.as_ref());
        if let Some(segment) = known {
            return Some(self.ask_page(segment));
        }
        self.probe(near.as_ref()).or_else(|| {
            let segment = self.cut(near.as_ref())?;
            Some(self.ask_page(segment))
        })
    }

    /// Requests that may be in flight: where the listing may be short, only so many as pages were
    /// found.
    fn requests_max(&self) -> usize {
        let limit = self.options.concurrency.max(1);
        if self.is_taken_as_long() {
            return limit;
        }
        let for_a_page = if self.goes_as_expected { EXPECTED_FOR_A_PAGE } else { 2.0 };
        let earned = for_a_page * self.budget.useful_pages();
        limit.min((earned as usize).max(1))
    }

    /// Whether what may turn out empty may be asked: where the listing may be short, this may cost
    /// few requests in comparison with the pages found, and more the longer it goes on.
    fn may_explore(&self) -> bool {
        const PAGES_FOR_ONE: f64 = 4.0;
        let probes = self.folders.asked().count() as f64;
        let pages = self.budget.useful_pages();
        let allowed = if self.goes_as_expected {
            EXPECTED_FOR_A_PAGE * pages
        } else {
            (pages / PAGES_FOR_ONE).powi(2)
        };
        self.is_taken_as_long() || self.budget.spent() + probes + 1.0 <= allowed
    }

    /// Whether the listing is taken to be long: from the beginning, or because it goes as expected
    /// for some pages.
    fn is_taken_as_long(&self) -> bool {
        const EXPECTED_PAGES_MIN: f64 = 3.0;
        self.options.is_eager
            || self.goes_as_expected && self.budget.useful_pages() >= EXPECTED_PAGES_MIN
    }

    /// Whether pages held back and those under way fill the window.
    fn is_full(&self, held_pages: usize) -> bool {
        self.options.window_pages.is_some_and(|window| held_pages + self.in_flight >= window)
    }

    /// The segments that may be asked and cut, where pages must be held back for the order; none:
    /// all.
    fn near(&self, held_pages: usize) -> Option<BTreeSet<SegmentId>> {
        let window = self.options.window_pages?;
        if self.is_full(held_pages) {
            return self.segments.head().map(|head| BTreeSet::from([head]));
        }
        if held_pages * 2 <= window {
            return None;
        }
        let room = (window - held_pages) as f64;
        let mut pages = 0.0;
        let mut near = BTreeSet::new();
        for (id, segment) in self.segments.in_order() {
            if pages > room {
                break;
            }
            near.insert(id);
            pages += segment.pages_left.max(1.0);
        }
        Some(near)
    }

    /// A segment that has a cursor and no request.
    fn go_on(&mut self, near: Option<&BTreeSet<SegmentId>>) -> Option<Ask> {
        let may_begin = self.in_flight == 0 || self.may_explore();
        let is_ready = |id: &SegmentId| {
            near.is_none_or(|near| near.contains(id))
                && self.segments.get(*id).is_some_and(|segment| match segment.phase {
                    Phase::New => may_begin,
                    Phase::Asked => false,
                    Phase::Waiting => true,
                })
        };
        let segment = if self.options.window_pages.is_some() {
            self.segments.in_order().map(|(id, _)| id).find(is_ready)
        } else {
            self.segments.iter().map(|(id, _)| id).find(is_ready)
        };
        Some(self.ask_page(segment?))
    }

    fn ask_page(&mut self, segment: SegmentId) -> Ask {
        let after = self.full_after(segment);
        let state = self.segments.get_mut(segment).expect("it was found");
        let is_first = state.phase == Phase::New;
        state.phase = Phase::Asked;
        if is_first {
            self.budget.ask_first();
        }
        self.in_flight += 1;
        Ask::Page { segment, after, is_first }
    }

    /// Names of folders where many cannot be guessed.
    fn probe(&mut self, near: Option<&BTreeSet<SegmentId>>) -> Option<Ask> {
        if !self.options.may_ask_folders || !self.folders.has_room() || self.is_known(near) {
            return None;
        }
        if std::mem::take(&mut self.is_root_unasked) {
            return Some(self.ask_folders("", ""));
        }
        while let Some(folder) = self.unasked.pop_front() {
            let is_asked = self.folders.asked().any(|(asked, _)| *asked == folder);
            if self.budget.is_early() && !is_asked && !self.folders.is_known(&folder) {
                return Some(self.ask_folders(&folder, ""));
            }
        }
        let concurrency = self.options.concurrency as f64;
        if self.folders.probes() as f64 >= self.budget.probes_max(concurrency) {
            return None;
        }
        let mut best: Option<(f64, SegmentId, usize)> = None;
        for (id, segment) in self.segments.iter() {
            let is_near = near.is_none_or(|near| near.contains(&id));
            if !is_near || best.is_some_and(|(pages, ..)| pages >= segment.pages_left) {
                continue;
            }
            if let Some(index) = self.candidate_of(segment) {
                best = Some((segment.pages_left, id, index));
            }
        }
        let (_, id, index) = best?;
        let segment = self.segments.get(id)?;
        let candidate = &segment.outlook.as_ref()?.candidates[index];
        let (folder, after) =
            (segment.after[..candidate.folder].to_owned(), candidate.after.clone());
        Some(self.ask_folders(&folder, &after))
    }

    /// Whether most of what is left lies where an earlier listing found keys.
    fn is_known(&self, near: Option<&BTreeSet<SegmentId>>) -> bool {
        let near = self.segments.iter().filter(|(id, _)| near.is_none_or(|near| near.contains(id)));
        let most = near.max_by(|one, other| one.1.pages_left.total_cmp(&other.1.pages_left));
        most.is_some_and(|(_, segment)| segment.hinted.is_some())
    }

    /// The first of a segment's candidates that is worth a request.
    fn candidate_of(&self, segment: &Segment) -> Option<usize> {
        let free = self.options.concurrency - self.in_flight;
        let is_idle = self.budget.is_early() || free >= self.options.concurrency / 2;
        let outlook = segment.outlook.as_ref()?;
        outlook.candidates.iter().position(|candidate| {
            let folder = &segment.after[..candidate.folder];
            let is_asked = self.folders.asked().any(|(asked, after)| {
                asked == folder
                    && *after >= segment.start
                    && segment.through.as_ref().is_none_or(|through| after < through)
            });
            !is_asked && (is_idle || segment.pages_since_cut >= 2 || candidate.pages >= 3.0)
        })
    }

    fn ask_folders(&mut self, folder: &str, after: &str) -> Ask {
        let probe = self.folders.ask(folder, after);
        self.in_flight += 1;
        let prefix = &self.options.prefix;
        let after = if after.is_empty() { String::new() } else { format!("{prefix}{after}") };
        Ask::Folders { probe, folder: format!("{prefix}{folder}"), after }
    }

    /// Cuts the segment that has the most pages left as an earlier listing found them, at a
    /// boundary, and gives the new one. Those without a boundary inside are left to guesses.
    fn cut_at_known(&mut self, near: Option<&BTreeSet<SegmentId>>) -> Option<SegmentId> {
        let mut hinted: Vec<_> = self
            .segments
            .iter()
            .filter(|(id, _)| near.is_none_or(|near| near.contains(id)))
            .filter_map(|(id, segment)| Some((segment.hinted?, id)))
            .filter(|(pages, _)| *pages >= KNOWN_PAGES_MIN)
            .collect();
        hinted.sort_by(|one, other| other.0.total_cmp(&one.0));
        hinted.into_iter().find_map(|(pages, id)| {
            let segment = self.segments.get_mut(id)?;
            let Some((key, behind)) = self.known.middle(segment, pages) else {
                segment.hinted = None;
                return None;
            };
            let made = self.segments.cut(id, key);
            let right = self.segments.get_mut(made)?;
            (right.pages_left, right.hinted) = (behind, Some(behind));
            let left = self.segments.get_mut(id)?;
            let rest = (pages - behind).max(0.0);
            (left.pages_left, left.hinted, left.outlook) = (rest, Some(rest), None);
            Some(made)
        })
    }

    /// Cuts the segment with the most pages left, and gives the new one. Once guesses have cost
    /// too much only those that have proven good go on, and a segment gambles only now and then,
    /// while many requests are idle; the last few segments gamble whenever they can.
    fn cut(&mut self, near: Option<&BTreeSet<SegmentId>>) -> Option<SegmentId> {
        let threshold = self.threshold(near);
        let free = self.options.concurrency - self.in_flight;
        let can_guess = self.budget.can_guess(self.options.concurrency as f64);
        let is_idle = free >= self.options.concurrency / 2;
        let is_at_end = self.segments.len() * 16 <= self.options.concurrency;
        let may_gamble = |segment: &Segment| {
            let may_at_times = is_idle && (segment.hold <= 0 || is_at_end);
            can_guess || (may_at_times && segment.page_first.is_some())
        };
        loop {
            let candidates = self.segments.iter().filter(|(id, segment)| {
                near.is_none_or(|near| near.contains(id))
                    && segment.has_estimate()
                    && segment.hinted.is_none()
                    && segment.pages_left >= threshold
                    && match segment.stuck {
                        Stuck::No => true,
                        Stuck::Proven => may_gamble(segment),
                        Stuck::All => false,
                    }
            });
            let (id, segment) = candidates
                .max_by(|left, right| left.1.pages_left.total_cmp(&right.1.pages_left))?;
            if !can_guess && segment.pages_left < PAGES_MIN_DEAR && !is_idle {
                return None;
            }
            let may_gamble = may_gamble(segment);
            let made = self.cut_segment(id, free, may_gamble);
            let state = self.segments.get_mut(id)?;
            if !can_guess && may_gamble {
                state.hold = state.pages_to_hold();
            }
            if made.is_some() {
                return made;
            }
            state.stuck = if may_gamble { Stuck::All } else { Stuck::Proven };
        }
    }

    /// Pages that a segment must have left to be cut: the more the more work there is. At the end
    /// the few segments left decide when all is done, and are cut at any price.
    fn threshold(&mut self, near: Option<&BTreeSet<SegmentId>>) -> f64 {
        const PAGES_MIN_AT_END: f64 = 0.6;
        const PAGES_CREDIBLE: f64 = 32.0;
        // One wild estimate must not keep all others from being cut, least of all that of a segment
        // that cannot be cut itself.
        let credible = self.budget.useful_pages().max(PAGES_CREDIBLE);
        let (mut count, mut sum, mut most) = (0, 0.0, 0.0_f64);
        for (id, segment) in self.segments.iter() {
            if near.is_none_or(|near| near.contains(&id)) {
                count += 1;
                let is_free = segment.stuck == Stuck::No;
                let credible = if is_free { credible } else { PAGES_CREDIBLE };
                sum += segment.pages_left.min(credible);
                most = most.max(segment.pages_left);
            }
        }
        self.segments_peak = self.segments_peak.max(count);
        let share = 1.0 + PAGES_SHARE * sum / self.options.concurrency as f64;
        let threshold = share.min(most / 2.0).max(PAGES_MIN);
        if count * 3 >= self.segments_peak {
            return threshold;
        }
        let part = 3.0 * count as f64 / self.segments_peak as f64;
        (threshold * part).max(PAGES_MIN_AT_END)
    }

    /// Cuts a segment, once or at exponential distances; returns the first new segment in order.
    fn cut_segment(&mut self, id: SegmentId, free: usize, may_gamble: bool) -> Option<SegmentId> {
        let answers = self.answers;
        let state = self.segments.get_mut(id)?;
        if state.guesses.0 != answers {
            state.guesses = (answers, 0);
        }
        let guesses = may_gamble.then_some(state.guesses.1);
        let outlook = state.outlook.take();
        let state = self.segments.get(id)?;
        let estimator = Estimator {
            model: &self.model,
            folders: &self.folders,
            records: &self.records,
            budget: &self.budget,
        };
        let outlook = outlook.unwrap_or_else(|| estimator.look(state));
        let cuts = choose::choose(&estimator, &self.rules, state, &outlook, guesses, free);
        let mut first = None;
        for cut in cuts {
            first = Some(self.apply(id, cut));
        }
        if first.is_none() {
            self.segments.get_mut(id)?.outlook = Some(outlook);
        }
        first
    }

    fn apply(&mut self, id: SegmentId, cut: Cut) -> SegmentId {
        let made = self.segments.cut(id, cut.key);
        let left = self.segments.get_mut(id).expect("it was cut");
        left.unanswered += 1;
        left.pages_since_cut = 0;
        left.pages_left = cut.pages_left;
        left.hinted = None;
        left.is_filled = cut.is_left_filled;
        left.outlook = None;
        left.guesses.1 += u32::from(cut.is_gamble);
        if left.page_first.is_none() && cut.folder.is_some() {
            left.folder = cut.folder;
        }
        let guesses = left.guesses;
        let right = self.segments.get_mut(made).expect("it was made");
        right.parent = Some(id);
        right.origin = cut.origin;
        right.is_filled = cut.is_right_filled;
        right.pages_left = cut.pages_right;
        right.folder = cut.folder;
        right.guesses = guesses;
        made
    }
}
