//! How the next byte is distributed: a prior, what was counted, and alphabets that complete it.

use std::ops::BitAnd;

use smallvec::SmallVec;

/// The symbol for "the key ends here"; it sorts before all bytes.
pub(super) const END: u8 = 0;

const DIGITS: &[u8] = b"0123456789";
const LOWER_HEX: &[u8] = b"0123456789abcdef";
const UPPER_HEX: &[u8] = b"0123456789ABCDEF";
const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER_36: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const UPPER_36: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MIXED_62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// From the narrowest to the widest; each is tried in turn.
const ALPHABETS: [&[u8]; 8] =
    [DIGITS, LOWER_HEX, UPPER_HEX, LOWER, UPPER, LOWER_36, UPPER_36, MIXED_62];

/// For each byte a bit for each alphabet that it is in.
const MEMBERSHIP: [u8; 256] = {
    let mut membership = [0; 256];
    let mut alphabet = 0;
    while alphabet < ALPHABETS.len() {
        let mut symbol = 0;
        while symbol < ALPHABETS[alphabet].len() {
            membership[ALPHABETS[alphabet][symbol] as usize] |= 1 << alphabet;
            symbol += 1;
        }
        alphabet += 1;
    }
    membership
};

/// Alphabets up to this size fill evenly: digits and hexadecimal digits.
const EVEN_ALPHABET_MAX: usize = 16;

/// Symbols of a context that lie beside its counts and not elsewhere in memory: most have few, and
/// what a page teaches is spread over so many of them that each is fetched from far away.
const SYMBOLS_INLINE: usize = 3;

/// Parts of most mixtures: the prior, and of folders as deep and of the folder itself the alphabet
/// and the counts.
const PARTS_INLINE: usize = 8;

/// What followed in one context.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) total: u32,
    pub(super) symbols: SmallVec<[(u8, u32); SYMBOLS_INLINE]>,
    /// Sum of the logarithms of the probabilities that folders as deep gave to what came here.
    pub(super) log_likelihood: f32,
}

impl Counts {
    /// Counts a symbol, and gives how often it had come before.
    pub(super) fn add(&mut self, symbol: u8) -> u32 {
        self.total += 1;
        if let Some((_, count)) = self.symbols.iter_mut().find(|(known, _)| *known == symbol) {
            *count += 1;
            return *count - 1;
        }
        self.symbols.push((symbol, 1));
        0
    }

    pub(super) fn of(&self, symbol: u8) -> u32 {
        self.symbols.iter().find(|(known, _)| *known == symbol).map_or(0, |(_, count)| *count)
    }

    /// The narrowest alphabet with all letters and digits seen; none where others were seen, or
    /// none at all.
    pub(super) fn alphabet(&self) -> Option<Alphabet> {
        let letters = self.symbols.iter().filter(|(symbol, _)| is_letter(*symbol));
        let fits =
            letters.map(|(symbol, _)| MEMBERSHIP[usize::from(*symbol)]).reduce(BitAnd::bitand)?;
        Some(fits.trailing_zeros()).filter(|_| fits > 0).map(Alphabet)
    }

    /// The counts of the symbols seen that are in an alphabet.
    pub(super) fn within(&self, alphabet: Alphabet) -> impl Iterator<Item = u32> {
        let symbols = self.symbols.iter();
        symbols.filter(move |(symbol, _)| alphabet.contains(*symbol)).map(|(_, count)| *count)
    }
}

/// One of the alphabets, by its place among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alphabet(u32);

impl Alphabet {
    /// Its symbols in order.
    fn symbols(self) -> &'static [u8] {
        ALPHABETS[self.0 as usize]
    }

    /// Number of symbols.
    pub(super) fn len(self) -> usize {
        self.symbols().len()
    }

    fn contains(self, symbol: u8) -> bool {
        MEMBERSHIP[usize::from(symbol)] & (1 << self.0) != 0
    }

    /// Whether it is one that fills evenly.
    pub(super) fn is_even(self) -> bool {
        self.len() <= EVEN_ALPHABET_MAX
    }
}

fn is_letter(symbol: u8) -> bool {
    symbol != END && !super::place::is_separator(symbol)
}

/// The distribution of a byte as a sum of simple ones, each with its share of the mass. Positions
/// of keys need the mass of single symbols, so that no table of all symbols is made for them.
#[derive(Clone, Debug)]
pub(super) struct Mixture<'a> {
    parts: SmallVec<[(f64, Part<'a>); PARTS_INLINE]>,
}

/// A simple distribution.
#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Prior(&'a Sums),
    /// All symbols from one to another are as likely.
    Range(u8, u8),
    /// All symbols of it are as likely.
    Alphabet(Alphabet),
    Counts(&'a Counts),
}

impl<'a> Mixture<'a> {
    /// What is expected where nothing was seen.
    pub(super) fn of_prior(prior: &'a Sums) -> Self {
        Self::of(Part::Prior(prior))
    }

    /// Any byte in a range is as likely.
    pub(super) fn even(first: u8, last: u8) -> Self {
        Self::of(Part::Range(first, last))
    }

    fn of(part: Part<'a>) -> Self {
        Self { parts: SmallVec::from_iter([(1.0, part)]) }
    }

    /// Moves the share `share` of the mass evenly to an alphabet.
    pub(super) fn lean_to(&mut self, alphabet: Alphabet, share: f64) {
        self.give(Part::Alphabet(alphabet), share);
    }

    /// Gives way to what was counted: all but the share `kept` of the mass is the counts'.
    pub(super) fn give_way(&mut self, counts: &'a Counts, kept: f64) {
        self.give(Part::Counts(counts), 1.0 - kept);
    }

    fn give(&mut self, part: Part<'a>, share: f64) {
        self.scale(1.0 - share);
        self.parts.push((share, part));
    }

    /// The mean of two, the first with the weight `share`.
    pub(super) fn blend(&mut self, mut other: Self, share: f64) {
        self.scale(share);
        other.scale(1.0 - share);
        self.parts.append(&mut other.parts);
    }

    fn scale(&mut self, factor: f64) {
        self.parts.iter_mut().for_each(|(share, _)| *share *= factor);
    }

    /// Mass before a symbol, and of the symbol.
    pub(super) fn mass_at(&self, symbol: u8) -> (f64, f64) {
        self.parts.iter().fold((0.0, 0.0), |(before, mass), (share, part)| {
            let of_part = part.mass_at(symbol);
            (before + share * of_part.0, mass + share * of_part.1)
        })
    }

    /// Sums from symbol to symbol at the beginning of a character.
    pub(super) fn sums(&self) -> Sums {
        const NEGLIGIBLE: f64 = 1e-9;
        let mut weights = self.weights();
        weights[0x80..0xC2].fill(0.0);
        weights[0xF5..].fill(0.0);
        weights.iter_mut().filter(|weight| **weight <= NEGLIGIBLE).for_each(|weight| *weight = 0.0);
        weights[usize::from(END)] = weights[usize::from(END)].max(NEGLIGIBLE);
        Sums::new(&weights)
    }

    /// Sums from symbol to symbol within a character.
    pub(super) fn sums_of_continuation(&self) -> Sums {
        Sums::new(&self.weights())
    }

    fn weights(&self) -> [f64; 256] {
        let mut weights = [0.0; 256];
        for (share, part) in &self.parts {
            part.add_to(&mut weights, *share);
        }
        weights
    }
}

impl Part<'_> {
    /// Mass before a symbol, and of the symbol.
    fn mass_at(&self, symbol: u8) -> (f64, f64) {
        let (before, at, all) = match self {
            Self::Prior(sums) => return (sums.before(symbol), sums.mass(symbol)),
            Self::Range(first, last) => {
                let size = u32::from(last - first) + 1;
                let before = u32::from(symbol.saturating_sub(*first)).min(size);
                (before, u32::from((*first..=*last).contains(&symbol)), size)
            }
            Self::Alphabet(alphabet) => {
                let before = alphabet.symbols().partition_point(|other| *other < symbol);
                let is_in = u32::from(alphabet.contains(symbol));
                (number(before), is_in, number(alphabet.len()))
            }
            Self::Counts(counts) => {
                let before = counts.symbols.iter().filter(|(other, _)| *other < symbol);
                (before.map(|(_, count)| count).sum(), counts.of(symbol), counts.total.max(1))
            }
        };
        (f64::from(before) / f64::from(all), f64::from(at) / f64::from(all))
    }

    fn add_to(&self, weights: &mut [f64; 256], share: f64) {
        match self {
            Self::Prior(sums) => {
                for (symbol, weight) in (0..=u8::MAX).zip(weights) {
                    *weight += share * sums.mass(symbol);
                }
            }
            Self::Range(first, last) => {
                let each = share / (f64::from(last - first) + 1.0);
                let within = usize::from(*first)..=usize::from(*last);
                weights[within].iter_mut().for_each(|weight| *weight += each);
            }
            Self::Alphabet(alphabet) => {
                let each = share / f64::from(number(alphabet.len()));
                alphabet.symbols().iter().for_each(|symbol| weights[usize::from(*symbol)] += each);
            }
            Self::Counts(counts) => {
                let each = share / f64::from(counts.total.max(1));
                for (symbol, count) in &counts.symbols {
                    weights[usize::from(*symbol)] += each * f64::from(*count);
                }
            }
        }
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A distribution, ready to find positions and quantiles.
#[derive(Clone, Debug)]
pub(super) struct Sums([f64; 257]);

impl Sums {
    /// What is expected where nothing was seen.
    pub(super) fn prior() -> Self {
        let mut weights = [0.0; 256];
        let mut give = |symbols: &mut dyn Iterator<Item = u8>, each: f64| {
            symbols.for_each(|symbol| weights[usize::from(symbol)] += each);
        };
        give(&mut (32..127), 0.10 / 95.0);
        give(&mut DIGITS.iter().copied(), 0.35 / 10.0);
        give(&mut LOWER.iter().copied(), 0.33 / 26.0);
        give(&mut UPPER.iter().copied(), 0.08 / 26.0);
        give(&mut b"/-_.=".iter().copied(), 0.06 / 5.0);
        give(&mut (0xC2..0xF5), 0.06 / 51.0);
        give(&mut (1..32), 0.002 / 31.0);
        give(&mut std::iter::once(END), 0.02);
        Self::new(&weights)
    }

    /// The sum of all becomes 1.
    fn new(weights: &[f64; 256]) -> Self {
        let mut sums = [0.0; 257];
        let mut sum = 0.0;
        for (weight, before) in weights.iter().zip(&mut sums) {
            *before = sum;
            sum += weight;
        }
        sums[256] = sum;
        for value in &mut sums {
            *value /= sum;
        }
        Self(sums)
    }

    /// Mass before a symbol.
    pub(super) fn before(&self, symbol: u8) -> f64 {
        self.0[usize::from(symbol)]
    }

    /// Mass of a symbol.
    pub(super) fn mass(&self, symbol: u8) -> f64 {
        self.0[usize::from(symbol) + 1] - self.0[usize::from(symbol)]
    }

    /// The symbol at a share of the mass.
    pub(super) fn at(&self, share: f64) -> u8 {
        let after = self.0[1..].partition_point(|sum| *sum <= share);
        let after = u8::try_from(after).unwrap_or(u8::MAX);
        if self.mass(after) > 0.0 {
            return after;
        }
        (0..=after).rev().find(|symbol| self.mass(*symbol) > 0.0).unwrap_or(END)
    }

    /// The first symbol after another that has any mass.
    pub(super) fn next(&self, symbol: u8) -> Option<u8> {
        (symbol.checked_add(1)?..=u8::MAX).find(|next| self.mass(*next) > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(symbols: &[u8]) -> Counts {
        let mut counts = Counts::default();
        for symbol in symbols {
            counts.add(*symbol);
        }
        counts
    }

    #[test]
    fn finds_the_narrowest_alphabet() {
        let alphabet = |seen: &[u8]| counts(seen).alphabet().map(Alphabet::symbols);
        assert_eq!(alphabet(b"07"), Some(DIGITS));
        assert_eq!(alphabet(b"0f-"), Some(LOWER_HEX));
        assert_eq!(alphabet(b"0g"), Some(LOWER_36));
        assert_eq!(alphabet(b"aZ"), Some(MIXED_62));
        assert_eq!(alphabet(b"-/"), None);
        assert_eq!(alphabet(&[0xE3, b'a']), None);
    }

    #[test]
    fn symbols_and_shares_invert_each_other() {
        let prior = Sums::prior();
        let sums = Mixture::of_prior(&prior).sums();
        for symbol in 0..=u8::MAX {
            if sums.mass(symbol) > 0.0 {
                let middle = sums.before(symbol) + sums.mass(symbol) / 2.0;
                assert_eq!(sums.at(middle), symbol);
            }
        }
        assert_eq!(sums.at(-1.0), END);
        assert!(sums.mass(sums.at(1.0)) > 0.0);
    }

    #[test]
    fn masses_of_single_symbols_are_those_of_the_sums() {
        let (prior, counted, followed) =
            (Sums::prior(), counts(b"00017"), counts(&[0x80, 0x81, 0x80]));
        let mut at_beginning = Mixture::of_prior(&prior);
        at_beginning.lean_to(counts(b"0z").alphabet().unwrap(), 0.5);
        let mut other = Mixture::of_prior(&prior);
        other.give_way(&counted, 0.25);
        at_beginning.blend(other, 0.75);
        let mut within = Mixture::even(0x80, 0xBF);
        within.give_way(&followed, 0.5);
        for (mixture, sums) in
            [(&at_beginning, at_beginning.sums()), (&within, within.sums_of_continuation())]
        {
            for symbol in 0..=u8::MAX {
                let (before, mass) = mixture.mass_at(symbol);
                assert!((before - sums.before(symbol)).abs() < 1e-9, "{symbol}");
                assert!((mass - sums.mass(symbol)).abs() < 1e-9, "{symbol}");
            }
        }
    }
}
