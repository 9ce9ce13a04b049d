//! What guesses may cost, and how good they have been.

#![expect(clippy::cast_precision_loss, reason = "estimates need no more precision")]

use super::aged::Aged;

/// Tokens whose record is remembered.
const RECORDS_MAX: usize = 20_000;
/// Requests beyond the useful ones that are fine, as a share of these.
const OVERHEAD_SHARE: f64 = 0.06;
/// And for each request in flight.
const OVERHEAD_EACH: f64 = 0.6;
/// Pages before which probes for names are sent more freely.
const EARLY_PAGES: f64 = 30.0;
/// Stands for cuts at names that are known, among the tokens that guesses are recorded by.
pub(super) const KNOWN: u64 = 1;
/// Keys a page holds before any page is seen.
const PAGE_KEYS: f64 = 1_000.0;

/// Requests and what they brought.
#[derive(Debug)]
pub(super) struct Budget {
    answered: f64,
    useful_keys: f64,
    /// Keys a full page holds, as far as seen.
    page_keys: f64,
    /// First pages of segments under way.
    unproven: u32,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { answered: 0.0, useful_keys: 0.0, page_keys: 0.0, unproven: 0 }
    }

    /// Records the request for a segment's first page.
    pub(super) fn ask_first(&mut self) {
        self.unproven += 1;
    }

    /// A page with `received` keys came, `useful` of them of the segment.
    pub(super) fn page(&mut self, received: usize, useful: usize, is_first: bool) {
        self.answered += 1.0;
        self.useful_keys += useful as f64;
        self.page_keys = self.page_keys.max(received as f64);
        self.unproven -= u32::from(is_first);
    }

    /// Names of folders came.
    pub(super) fn folders(&mut self) {
        self.answered += 1.0;
    }

    /// Keys a page holds.
    pub(super) fn page_keys(&self) -> f64 {
        if self.page_keys > 0.0 { self.page_keys } else { PAGE_KEYS }
    }

    /// How much of a page some keys fill.
    pub(super) fn share_of_page(&self, keys: usize) -> f64 {
        keys as f64 / self.page_keys()
    }

    /// Full pages that the keys received would fill.
    pub(super) fn useful_pages(&self) -> f64 {
        self.useful_keys / self.page_keys()
    }

    /// Requests that were of no use, or may turn out to be.
    pub(super) fn spent(&self) -> f64 {
        self.answered - self.useful_pages() + f64::from(self.unproven)
    }

    /// Whether guesses are still cheap in comparison with the work done.
    pub(super) fn can_guess(&self, concurrency: f64) -> bool {
        let overhead = self.answered - self.useful_pages();
        overhead + 0.5 * f64::from(self.unproven)
            <= OVERHEAD_SHARE * self.useful_pages() + OVERHEAD_EACH * concurrency + 8.0
    }

    /// Probes for names of folders that may be sent in all.
    pub(super) fn probes_max(&self, concurrency: f64) -> f64 {
        8.0 + concurrency / 8.0 + 0.03 * self.useful_pages()
    }

    /// Whether hardly anything is known yet.
    pub(super) fn is_early(&self) -> bool {
        self.useful_pages() < EARLY_PAGES
    }
}

/// Cuts tried and cuts that found keys where they were expected.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    hits: f64,
    tries: f64,
    /// Sum of the shares of a page that they found.
    yields: f64,
}

/// The record of guesses, by the token whose characters were guessed.
#[derive(Debug)]
pub(super) struct Records(Aged<Record>);

impl Records {
    pub(super) fn new() -> Self {
        Self(Aged::new(RECORDS_MAX))
    }

    pub(super) fn note(&mut self, token: u64, is_hit: bool, share: f64) {
        let record = self.0.touch(token);
        if record.tries == 0.0 {
            *record = Record { hits: 0.5, tries: 1.0, yields: 0.5 };
        }
        record.tries += 1.0;
        record.yields += share;
        record.hits += f64::from(u8::from(is_hit));
        self.0.advance();
    }

    /// Share of guesses that hit. Where characters fill an alphabet evenly, good until proven bad.
    pub(super) fn success(&self, token: u64, is_regular: bool) -> f64 {
        match (self.0.get(token), is_regular) {
            (None, true) => 0.9,
            (None, false) => 0.5,
            (Some(record), true) => (record.hits + 2.0) / (record.tries + 2.0),
            (Some(record), false) => record.hits / record.tries,
        }
    }

    /// Whether such cuts bring nearly whole pages, so that more of them cost next to nothing.
    pub(super) fn is_worth_it(&self, token: u64) -> bool {
        const FEW: f64 = 4.0;
        const MUCH: f64 = 0.92;
        self.0.get(token).is_some_and(|it| it.tries >= FEW && it.yields > MUCH * it.tries)
    }

    /// The same, once there were a few.
    pub(super) fn proven_success(&self, token: u64) -> Option<f64> {
        const FEW: f64 = 4.0;
        let record = self.0.get(token).filter(|record| record.tries >= FEW)?;
        Some(record.hits / record.tries)
    }
}

/// Unproven cuts of one segment at a time, by the success of such cuts.
pub(super) fn guesses_at_once(success: f64) -> u32 {
    match success {
        0.7.. => u32::MAX,
        0.5.. => 4,
        0.3.. => 2,
        _ => 1,
    }
}
