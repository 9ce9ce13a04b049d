//! Predicts keys from the keys seen: the probability of the next byte in its context.
//!
//! The contexts go from the special to the general: at an offset of a token in this folder,
//! anywhere in the token; then, for all folders as deep, after two bytes at that offset, at that
//! offset, anywhere in the token; then a fixed prior. Counted are branches of the tree of keys,
//! not keys: a thousand keys under one prefix are one observation of that prefix. Digits and
//! hexadecimal digits are expected to fill evenly, so that those not seen yet keep their mass.
//! Memory is bounded: contexts that have not been touched for longest are forgotten.

#![expect(clippy::cast_precision_loss, reason = "estimates need no more precision")]

use super::aged::Aged;
use super::distribution::{Alphabet, Counts, END, Mixture, Sums};
use super::place::{Place, Scope};
use super::utf8;
use crate::keyspace::utf8::folder_of;

/// Contexts remembered.
const CONTEXTS_MAX: usize = 50_000;
/// Bytes learnt of a key after those that it shares with the key before.
const TAIL_BYTES: usize = 12;
/// Share of the mass that goes to the alphabet of a token.
const ALPHABET_SHARE: f64 = 0.85;

/// The statistics.
#[derive(Debug)]
pub(super) struct Model {
    contexts: Aged<Counts>,
    prior: Sums,
    /// Bytes that all keys of a page shared, and pages: how often a constant byte ends.
    shared_bytes: u64,
    pages: u64,
}

/// Counts of one scope at one place.
#[derive(Clone, Copy)]
struct Level<'a> {
    pool: Option<&'a Counts>,
    offset: Option<&'a Counts>,
    recent: Option<&'a Counts>,
}

impl Model {
    pub(super) fn new() -> Self {
        Self { contexts: Aged::new(CONTEXTS_MAX), prior: Sums::prior(), shared_bytes: 0, pages: 0 }
    }

    /// Contexts remembered.
    pub(super) fn len(&self) -> usize {
        self.contexts.len()
    }

    /// Learns from keys of a page in order, the first of which comes after `before`.
    pub(super) fn learn<'a>(&mut self, before: &'a str, keys: impl Iterator<Item = &'a str>) {
        let mut previous = before;
        for key in keys {
            let place = self.learn_tail(previous, key);
            if place.pending == 0 {
                for scope in [Scope::Depth, Scope::Folder] {
                    self.contexts.touch(place.contexts(scope).offset).add(END);
                }
            }
            previous = key;
        }
    }

    /// Learns from names of folders in order.
    pub(super) fn learn_folders<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let mut previous = "";
        for name in names {
            self.learn_tail(previous, name);
            previous = name;
        }
    }

    /// Notes the first and last key of a page; called once a page.
    pub(super) fn end_page(&mut self, first: &str, last: &str) {
        self.shared_bytes += utf8::common_prefix(first, last) as u64;
        self.pages += 1;
        self.learn_shared(last, utf8::common_prefix(first, last));
        self.contexts.advance();
    }

    /// What all keys of a page share in the folder they are in, and nothing else was seen in place
    /// of, counts once a page: what is the same on many pages is surely constant. Where there are
    /// siblings it does not count, as pages say nothing about keys to come.
    fn learn_shared(&mut self, key: &str, shared: usize) {
        let folder = folder_of(key, shared).len();
        let mut place = Place::after(&key.as_bytes()[..folder]);
        for &byte in &key.as_bytes()[folder..shared] {
            let seen = self.contexts.get(place.contexts(Scope::Folder).offset);
            if seen.is_none_or(|seen| seen.symbols.len() <= 1) {
                self.learn_byte(place, byte);
            }
            place = place.step(byte);
        }
    }

    fn learn_tail(&mut self, previous: &str, key: &str) -> Place {
        let known = utf8::common_prefix(previous, key);
        let (known, new) = key.as_bytes().split_at(known);
        let mut place = Place::after(known);
        let limit = if previous.is_empty() { usize::MAX } else { TAIL_BYTES };
        for &byte in new.iter().take(limit) {
            self.learn_byte(place, byte);
            place = place.step(byte);
        }
        place
    }

    fn learn_byte(&mut self, place: Place, byte: u8) {
        if place.pending > 0 {
            self.contexts.touch(place.within_character()).add(byte);
            return;
        }
        let depth = place.contexts(Scope::Depth);
        let folder = place.contexts(Scope::Folder);
        let counts = self.contexts.touch(depth.offset);
        let (total, count) = (counts.total, counts.add(byte));
        let expected = (total > 0).then(|| (count as f32 + 0.05) / (total as f32 + 3.2));
        let pool = self.contexts.touch(folder.pool);
        if let (Some(expected), 1..) = (expected, pool.total) {
            pool.log_likelihood += expected.ln();
        }
        pool.add(byte);
        self.contexts.touch(depth.pool).add(byte);
        self.contexts.touch(folder.offset).add(byte);
        if let Some(recent) = depth.recent {
            self.contexts.touch(recent).add(byte);
        }
    }

    /// The counts for all characters of a token: of its folder where that has shown enough, else
    /// of all folders as deep. The hash names them.
    pub(super) fn token(&self, place: Place) -> (u64, Option<&Counts>) {
        const ENOUGH: u32 = 30;
        let folder = place.contexts(Scope::Folder).pool;
        match self.contexts.get(folder) {
            Some(counts) if counts.total >= ENOUGH => (folder, Some(counts)),
            _ => {
                let depth = place.contexts(Scope::Depth).pool;
                (depth, self.contexts.get(depth))
            }
        }
    }

    /// Whether a token's characters fill their alphabet evenly.
    pub(super) fn is_regular(&self, token: u64) -> bool {
        let alphabet = self.contexts.get(token).and_then(Counts::alphabet);
        alphabet.is_some_and(Alphabet::is_even)
    }

    /// The distribution of the byte at a place.
    pub(super) fn next_byte(&self, place: Place) -> Mixture<'_> {
        if place.pending > 0 { self.within_character(place) } else { self.at_beginning(place) }
    }

    fn level(&self, place: Place, scope: Scope) -> Level<'_> {
        let names = place.contexts(scope);
        Level {
            pool: self.contexts.get(names.pool),
            offset: self.contexts.get(names.offset),
            recent: names
                .recent
                .filter(|_| scope == Scope::Depth)
                .and_then(|recent| self.contexts.get(recent)),
        }
    }

    fn within_character(&self, place: Place) -> Mixture<'_> {
        let (first, last) = utf8::continuation_range(place.lead, place.pending);
        let mut mixture = Mixture::even(first, last);
        if let Some(counts) = self.contexts.get(place.within_character()) {
            let (total, distinct) = (f64::from(counts.total), counts.symbols.len() as f64);
            mixture.give_way(counts, (distinct + 1.0) / (total + distinct + 1.0));
        }
        mixture
    }

    fn at_beginning(&self, place: Place) -> Mixture<'_> {
        let folder = self.level(place, Scope::Folder);
        let depth = self.level(place, Scope::Depth);
        let mut mixture = Mixture::of_prior(&self.prior);
        let (pool, all) = match (folder.pool, depth.pool) {
            (None, _) => {
                self.refine(&mut mixture, depth);
                return mixture;
            }
            (Some(pool), Some(all)) if f64::from(pool.total) <= 0.7 * f64::from(all.total) => {
                (pool, all)
            }
            _ => {
                self.refine(&mut mixture, folder);
                return mixture;
            }
        };
        debug_assert!(all.total >= pool.total);
        // Between what folders as deep show and this folder's own alphabet, by how much they are
        // alike.
        let (alphabet, share) = (pool.alphabet(), likeness(pool));
        let mut own = mixture.clone();
        if let Some(alphabet) = alphabet {
            own.lean_to(alphabet, ALPHABET_SHARE);
        }
        self.refine(&mut mixture, depth);
        mixture.blend(own, share);
        if let Some(counts) = folder.offset {
            self.mix(
                &mut mixture,
                counts,
                alphabet.filter(|alphabet| alphabet.is_even()),
                0.8 * share,
            );
        }
        mixture
    }

    fn refine<'a>(&'a self, mixture: &mut Mixture<'a>, level: Level<'a>) {
        let mut even = None;
        if let Some(pool) = level.pool.filter(|pool| pool.total >= 3) {
            let total = f64::from(pool.total);
            if let Some(alphabet) = pool.alphabet() {
                mixture.lean_to(alphabet, ALPHABET_SHARE * total / (total + 6.0));
                even = Some(alphabet).filter(|alphabet| alphabet.is_even());
            } else if pool.total >= 30 {
                self.mix(mixture, pool, None, 0.5);
            }
        }
        if let Some(counts) = level.offset {
            self.mix(mixture, counts, even, 0.5);
        }
        if let Some(counts) = level.recent.filter(|counts| is_telling(counts, even)) {
            self.mix(mixture, counts, even, 0.5);
        }
    }

    /// Refines a distribution by what was counted in a more special context. Where an alphabet
    /// fills evenly the counts need much evidence to overrule it; `keep` is the share of the
    /// general distribution in what they overrule.
    fn mix<'a>(
        &self,
        mixture: &mut Mixture<'a>,
        counts: &'a Counts,
        even: Option<Alphabet>,
        keep: f64,
    ) {
        let (total, distinct) = (f64::from(counts.total), counts.symbols.len() as f64);
        if let Some(alphabet) = even {
            let hits: u32 = counts.within(alphabet).sum();
            if f64::from(hits) > 0.7 * total {
                mixture.lean_to(alphabet, 1.0 - keep);
                let doubt = doubt_in(counts, alphabet, hits);
                mixture.give_way(counts, doubt / (total + doubt));
                return;
            }
        }
        let mut kept = distinct / (total + distinct);
        if counts.symbols.len() == 1 {
            let pages = self.pages as f64;
            kept = kept.min((pages + 1.0) / (self.shared_bytes as f64 + pages + 2.0));
        }
        mixture.give_way(counts, kept);
    }
}

/// How many observations it takes to overrule that an alphabet fills evenly: many where the counts
/// differ no more than by chance, few where they differ much.
fn doubt_in(counts: &Counts, alphabet: Alphabet, hits: u32) -> f64 {
    const LEAST: f64 = 1.5;
    const MOST: f64 = 16.0;
    let size = alphabet.len() as f64;
    let (hits, each) = (f64::from(hits), f64::from(hits) / size);
    let off = |count: f64| (count - each).powi(2) / each;
    let unseen = size - counts.within(alphabet).count() as f64;
    let all = counts.within(alphabet).map(|count| off(f64::from(count))).sum::<f64>();
    // One where the counts differ as by chance.
    let spread = (all + unseen * off(0.0)) / (size - 1.0);
    if spread <= 1.0 {
        return MOST * size;
    }
    ((hits - 1.0) / (spread - 1.0)).clamp(LEAST * size, MOST * size)
}

/// Whether counts after two bytes are informative: for an alphabet that fills evenly, only if there
/// are many.
fn is_telling(counts: &Counts, even: Option<Alphabet>) -> bool {
    even.is_none_or(|alphabet| counts.total as usize > 3 * alphabet.len())
}

/// How much a folder's names are like those of other folders as deep, from 0 to 1.
fn likeness(pool: &Counts) -> f64 {
    let total = f64::from(pool.total);
    let weight = total.min(400.0);
    let symbols = pool.alphabet().map_or(40, Alphabet::len) as f64;
    let advantage = f64::from(pool.log_likelihood) / total * weight + weight * (symbols + 4.0).ln();
    1.0 / (1.0 + (-(advantage / 4.0).clamp(-20.0, 20.0)).exp())
}
