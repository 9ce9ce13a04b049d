//! Where to cut a segment.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "estimates need no more precision"
)]

use super::budget::{KNOWN, guesses_at_once};
use super::estimate::{Estimator, Kind, Outlook, Stretch, end_in};
use super::mass::Span;
use super::model::Model;
use super::place::Place;
use super::segment::{Origin, Segment};
use super::utf8;

/// Longest key.
const KEY_LEN_MAX: usize = 1_024;
/// Most exponential cuts: at 2, 4, 8 … pages ahead.
const EXPONENTIAL_CUTS_MAX: usize = 20;

/// A cut to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    pub(super) key: String,
    pub(super) origin: Origin,
    /// Pages expected on both sides.
    pub(super) pages_left: f64,
    pub(super) pages_right: f64,
    /// Whether there are surely keys up to the end on both sides.
    pub(super) is_left_filled: bool,
    pub(super) is_right_filled: bool,
    /// Folder in which both sides may be cut before their first pages.
    pub(super) folder: Option<usize>,
    /// Whether it counts against the guesses allowed at once.
    pub(super) is_gamble: bool,
}

/// What every cut key must obey.
#[derive(Clone, Debug)]
pub(super) struct KeyRules {
    /// Length of the listing's prefix.
    pub(super) prefix_len: usize,
    /// Not in any cut key.
    pub(super) delimiter: Option<String>,
}

impl KeyRules {
    /// The key, shortened until it obeys the rules; none where then it does not lie inside.
    fn obey(&self, mut key: String, inside: &Segment) -> Option<String> {
        let room = KEY_LEN_MAX.saturating_sub(self.prefix_len);
        key.truncate(key.floor_char_boundary(room));
        if let Some(at) = self.delimiter.as_ref().and_then(|delimiter| key.find(delimiter)) {
            key.truncate(at);
        }
        if let Some(at) = dot_component(&key) {
            key.truncate(at);
        }
        let plain = key.find(|character| !utf8::is_plain(character)).unwrap_or(key.len());
        if inside.encloses(&key[..plain]) {
            key.truncate(plain);
        }
        inside.encloses(&key).then_some(key)
    }
}

/// Where a component begins that is `.` or `..`, with blanks or without: MinIO refuses to list
/// after such keys.
fn dot_component(key: &str) -> Option<usize> {
    let mut at = 0;
    for component in key.split('/') {
        if matches!(component.trim(), "." | "..") {
            return Some(at);
        }
        at += component.len() + 1;
    }
    None
}

/// The token whose characters a cut key guesses: that of its last byte.
fn token_of(estimator: &Estimator<'_>, key: &str) -> u64 {
    let bytes = key.as_bytes();
    estimator.model.token(Place::after(&bytes[..bytes.len().saturating_sub(1)])).0
}

/// The cuts to make in a segment now, from the last to the first; none where every cut would be
/// too much of a gamble. More than one only in a folder of unknown size.
pub(super) fn choose(
    estimator: &Estimator<'_>,
    rules: &KeyRules,
    segment: &Segment,
    outlook: &Outlook,
    guesses: Option<u32>,
    free: usize,
) -> Vec<Cut> {
    let total: f64 = outlook.stretches.iter().map(|stretch| stretch.pages).sum();
    let mut before = 0.0;
    let mut order: Vec<(f64, f64, &Stretch)> = Vec::with_capacity(outlook.stretches.len());
    for stretch in &outlook.stretches {
        let distance = (before + stretch.pages / 2.0 - total / 2.0).abs() - stretch.pages / 2.0;
        order.push((distance, before, stretch));
        before += stretch.pages;
    }
    order.sort_by(|left, right| left.0.total_cmp(&right.0));
    for (_, before, stretch) in order {
        let at = At { segment, stretch, before, total, guesses };
        let cut = match &stretch.kind {
            Kind::Known { each } => at.known(estimator, *each),
            Kind::Flat if at.is_filled() => at.flat(estimator, rules),
            Kind::Flat
                if guesses.is_some() && segment.unanswered == 0 && segment.page_first.is_some() =>
            {
                return at.exponential_cuts(estimator, rules, free);
            }
            Kind::Flat => None,
            Kind::Dark { from } => {
                at.dark(estimator, rules, from).or_else(|| at.nearby(estimator, rules))
            }
        };
        if let Some(cut) = cut {
            return vec![cut];
        }
    }
    Vec::new()
}

/// A key at a share of a segment before anything is known.
pub(super) fn blind_key(
    model: &Model,
    rules: &KeyRules,
    segment: &Segment,
    share: f64,
) -> Option<String> {
    let span = Span::new("", &segment.after, segment.through.as_deref());
    rules.obey(span.key_at(model, share, 0.02)?, segment)
}

/// A stretch considered for a cut.
struct At<'a> {
    segment: &'a Segment,
    stretch: &'a Stretch,
    /// Pages before the stretch and of all stretches.
    before: f64,
    total: f64,
    /// Gambles of the segment since the last answer; none: it may not gamble.
    guesses: Option<u32>,
}

impl<'a> At<'a> {
    fn folder(&self) -> &'a str {
        &self.segment.after[..self.stretch.folder]
    }

    fn end(&self) -> Option<&'a str> {
        end_in(self.segment, self.folder())
    }

    /// Whether there are keys up to the segment's end and the stretch goes so far.
    fn is_filled(&self) -> bool {
        let is_last = self.segment.through.is_none() && self.folder().is_empty();
        self.segment.is_filled && (self.end().is_some() || is_last)
    }

    /// At the name nearest to the middle of all pages.
    fn known(&self, estimator: &Estimator<'_>, each: f64) -> Option<Cut> {
        if self.guesses.is_none() && !estimator.records.is_worth_it(KNOWN) {
            return None;
        }
        let names = estimator.folders.names(self.folder(), &self.segment.after, self.end());
        let middle = ((self.total / 2.0 - self.before) / each).max(0.0) as usize;
        let index = middle.min(names.len().checked_sub(1)?);
        let key = names[index].clone();
        if !self.segment.encloses(&key) || !key.chars().all(utf8::is_plain) {
            return None;
        }
        let pages_right = self.total - self.before - index as f64 * each;
        Some(Cut {
            key,
            origin: Origin::Known,
            pages_left: (self.total - pages_right).max(0.0),
            pages_right,
            is_left_filled: true,
            is_right_filled: self.segment.is_filled,
            folder: None,
            is_gamble: false,
        })
    }

    /// In the middle of the mass, a little less than whole pages ahead where few are left.
    fn flat(&self, estimator: &Estimator<'_>, rules: &KeyRules) -> Option<Cut> {
        let pages = self.stretch.pages;
        let mut share = 0.5;
        if self.segment.page_first.is_some() && pages > 1.5 && pages <= 64.0 {
            let whole = (pages / 2.0).round_ties_even().max(1.0);
            let spread = 1.5 * (whole / estimator.budget.page_keys()).sqrt();
            share = (whole - 0.03 - spread).max(0.3 * pages) / pages;
        }
        let key = self.key_at(estimator, rules, share, 0.005)?;
        let half = pages / 2.0;
        let cut = self.guess(estimator, key, half)?;
        let folder = Some(self.stretch.folder);
        Some(Cut { folder, pages_left: self.before + half, ..cut })
    }

    /// In the middle of the mass of unknown names; between names where possible.
    fn dark(&self, estimator: &Estimator<'_>, rules: &KeyRules, from: &str) -> Option<Cut> {
        const FAILURES_MAX: u32 = 2;
        let segment = self.segment;
        if segment.failures >= FAILURES_MAX || (segment.page_first.is_none() && !segment.is_filled)
        {
            return None;
        }
        let from = from.max(&segment.after);
        let folder = self.folder();
        let span = Span::new(folder, from, self.end());
        let key = span.key_at(estimator.model, 0.5, 0.05)?;
        let slash = memchr::memchr(b'/', &key.as_bytes()[folder.len()..]);
        let mut key = key;
        let mut token = token_of(estimator, &key);
        if let Some(slash) = slash.map(|slash| folder.len() + slash)
            && key[..=slash] > *from
        {
            key.truncate(slash + 1);
            token = token_of(estimator, &key[..slash]);
        }
        let key = rules.obey(key, segment)?;
        let is_regular = estimator.model.is_regular(token);
        // Names that cannot be guessed are left to a probe.
        if !self.may_guess(estimator, token, segment.is_filled || is_regular)
            || estimator.records.success(token, is_regular) < 0.5
        {
            return None;
        }
        let half = self.stretch.pages / 2.0;
        Some(self.cut(key, token, half))
    }

    /// A few pages ahead in the shortest beginning of the last page's keys that may hold so many:
    /// what is near is like the last page, whatever is unknown beyond.
    fn nearby(&self, estimator: &Estimator<'_>, rules: &KeyRules) -> Option<Cut> {
        let segment = self.segment;
        let first = segment.page_first.as_deref()?;
        if self.guesses != Some(0) || segment.unanswered > 0 {
            return None;
        }
        let cursor = segment.after.as_str();
        let wanted = f64::from(segment.pages_since_cut).max(2.0);
        let longest = utf8::common_prefix(first, cursor);
        let bases = (self.stretch.folder + 1..=longest).rev();
        for base in bases.filter(|len| cursor.is_char_boundary(*len)).map(|len| &cursor[..len]) {
            let end = end_in(segment, base);
            let pages = estimator.pages_by_mass(segment, first, base.len());
            if pages >= wanted || (end.is_some() && pages >= 2.0) {
                let span = Span::new(base, cursor, end);
                let key = span.key_at(estimator.model, (wanted / pages).min(0.5), 0.05)?;
                let key = rules.obey(key, segment)?;
                let token = token_of(estimator, &key);
                let (pages_left, pages_right) = (wanted, self.total - wanted);
                return Some(Cut { pages_left, pages_right, ..self.cut(key, token, 0.0) });
            }
        }
        None
    }

    /// At 2, 4, 8 … pages ahead in a folder whose end is not known.
    fn exponential_cuts(
        &self,
        estimator: &Estimator<'_>,
        rules: &KeyRules,
        free: usize,
    ) -> Vec<Cut> {
        let pages = self.stretch.pages.clamp(2.0, 1e6);
        let token = estimator.model.token(Place::after(self.segment.after.as_bytes())).0;
        let limit = match estimator.records.success(token, false) {
            0.5.. => EXPONENTIAL_CUTS_MAX,
            0.3.. => 8,
            _ => 5,
        };
        let mut shares: Vec<f64> = std::iter::successors(Some(2.0), |ahead| Some(ahead * 2.0))
            .take_while(|ahead| *ahead < pages * 0.9)
            .take(limit.min(free))
            .map(|ahead| ahead / (pages + 1.0))
            .collect();
        if shares.is_empty() {
            shares.push(0.5);
        }
        let mut cuts: Vec<Cut> = Vec::new();
        for share in shares {
            let Some(key) = self.key_at(estimator, rules, share, 0.05) else { continue };
            if cuts.last().is_none_or(|last| last.key < key) {
                let token = token_of(estimator, &key);
                cuts.push(Cut {
                    is_left_filled: false,
                    is_right_filled: false,
                    is_gamble: false,
                    pages_left: pages * share,
                    pages_right: pages * share,
                    ..self.cut(key, token, 0.0)
                });
            }
        }
        cuts.reverse();
        cuts
    }

    fn key_at(
        &self,
        estimator: &Estimator<'_>,
        rules: &KeyRules,
        share: f64,
        tolerance: f64,
    ) -> Option<String> {
        let span = Span::new(self.folder(), &self.segment.after, self.end());
        rules.obey(span.key_at(estimator.model, share, tolerance)?, self.segment)
    }

    /// A cut at a guess, where the record of such guesses allows one more.
    fn guess(&self, estimator: &Estimator<'_>, key: String, half: f64) -> Option<Cut> {
        let token = token_of(estimator, &key);
        self.may_guess(estimator, token, true).then(|| self.cut(key, token, half))
    }

    /// Whether the record of such guesses allows one more.
    fn may_guess(&self, estimator: &Estimator<'_>, token: u64, is_safe: bool) -> bool {
        let success = estimator.records.success(token, estimator.model.is_regular(token));
        let at_once = if is_safe { guesses_at_once(success) } else { 1 };
        match self.guesses {
            Some(guesses) => guesses < at_once,
            None => is_safe && estimator.records.is_worth_it(token),
        }
    }

    fn cut(&self, key: String, token: u64, half: f64) -> Cut {
        Cut {
            key,
            origin: Origin::Guess(token),
            pages_left: self.before + self.stretch.pages - half,
            pages_right: self.total - self.before - half,
            is_left_filled: self.segment.is_filled,
            is_right_filled: self.segment.is_filled,
            folder: None,
            is_gamble: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_of_dots_are_found_where_they_begin() {
        let cases = [
            (".", Some(0)),
            ("a/..", Some(2)),
            ("a/./b", Some(2)),
            ("a/. /b", Some(2)),
            ("a/.b", None),
        ];
        for (key, at) in cases {
            assert_eq!(dot_component(key), at, "{key}");
        }
        assert_eq!(dot_component("a./...b/c."), None);
    }
}
