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

/// What followed in one context.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) total: u32,
    pub(super) symbols: SmallVec<[(u8, u32); SYMBOLS_INLINE]>,
    /// Sum of the logarithms of the probabilities that folders as deep gave to what came here.
    pub(super) log_likelihood: f32,
}

impl Counts {
    pub(super) fn add(&mut self, symbol: u8) {
        self.total += 1;
        match self.symbols.iter_mut().find(|(known, _)| *known == symbol) {
            Some((_, count)) => *count += 1,
            None => self.symbols.push((symbol, 1)),
        }
    }

    pub(super) fn of(&self, symbol: u8) -> u32 {
        self.symbols.iter().find(|(known, _)| *known == symbol).map_or(0, |(_, count)| *count)
    }

    /// The narrowest alphabet with all letters and digits seen; none where others were seen, or
    /// none at all.
    pub(super) fn alphabet(&self) -> Option<&'static [u8]> {
        let letters = self.symbols.iter().filter(|(symbol, _)| is_letter(*symbol));
        let fits =
            letters.map(|(symbol, _)| MEMBERSHIP[usize::from(*symbol)]).reduce(BitAnd::bitand)?;
        ALPHABETS.get(fits.trailing_zeros() as usize).copied()
    }

    /// The alphabet, where it is one that fills evenly.
    pub(super) fn even_alphabet(&self) -> Option<&'static [u8]> {
        self.alphabet().filter(|alphabet| alphabet.len() <= EVEN_ALPHABET_MAX)
    }
}

fn is_letter(symbol: u8) -> bool {
    symbol != END && !super::place::is_separator(symbol)
}

/// Probability of each symbol.
#[derive(Clone, Debug)]
pub(super) struct Weights([f64; 256]);

impl Weights {
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
        Self(weights)
    }

    /// Any continuation byte in a range is as likely.
    pub(super) fn even(first: u8, last: u8) -> Self {
        let mut weights = [0.0; 256];
        weights[usize::from(first)..=usize::from(last)].fill(1.0 / f64::from(last - first + 1));
        Self(weights)
    }

    /// Moves the share `share` of the mass evenly to an alphabet.
    pub(super) fn lean_to(&mut self, alphabet: &[u8], share: f64) {
        for weight in &mut self.0 {
            *weight *= 1.0 - share;
        }
        let each = share / f64::from(u32::try_from(alphabet.len()).unwrap_or(u32::MAX));
        for symbol in alphabet {
            self.0[usize::from(*symbol)] += each;
        }
    }

    /// Gives way to what was counted: all but the share `kept` of the mass is the counts'.
    pub(super) fn give_way(&mut self, counts: &Counts, kept: f64) {
        for weight in &mut self.0 {
            *weight *= kept;
        }
        let each = (1.0 - kept) / f64::from(counts.total.max(1));
        for (symbol, count) in &counts.symbols {
            self.0[usize::from(*symbol)] += each * f64::from(*count);
        }
    }

    /// The mean of two, the first with the weight `share`.
    pub(super) fn blend(&mut self, other: &Self, share: f64) {
        for (weight, other) in self.0.iter_mut().zip(&other.0) {
            *weight = share * *weight + (1.0 - share) * other;
        }
    }

    /// Sums from symbol to symbol at the beginning of a character.
    pub(super) fn sums(&self) -> Sums {
        const NEGLIGIBLE: f64 = 1e-9;
        Sums::new(|symbol| match symbol {
            END => self.0[usize::from(END)].max(NEGLIGIBLE),
            0x80..0xC2 | 0xF5.. => 0.0,
            _ => Some(self.0[usize::from(symbol)]).filter(|it| *it > NEGLIGIBLE).unwrap_or(0.0),
        })
    }

    /// Sums from symbol to symbol within a character.
    pub(super) fn sums_of_continuation(&self) -> Sums {
        Sums::new(|symbol| self.0[usize::from(symbol)])
    }
}

/// A distribution, ready to find positions and quantiles.
#[derive(Clone, Debug)]
pub(super) struct Sums([f64; 257]);

impl Default for Sums {
    fn default() -> Self {
        Self([0.0; 257])
    }
}

impl Sums {
    /// The sum of all becomes 1.
    fn new(weight: impl Fn(u8) -> f64) -> Self {
        let mut sums = [0.0; 257];
        let mut sum = 0.0;
        for symbol in 0..=u8::MAX {
            sums[usize::from(symbol)] = sum;
            sum += weight(symbol);
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
        assert_eq!(counts(b"07").alphabet(), Some(DIGITS));
        assert_eq!(counts(b"0f-").alphabet(), Some(LOWER_HEX));
        assert_eq!(counts(b"0g").alphabet(), Some(LOWER_36));
        assert_eq!(counts(b"aZ").alphabet(), Some(MIXED_62));
        assert_eq!(counts(b"-/").alphabet(), None);
        assert_eq!(counts(&[0xE3, b'a']).alphabet(), None);
    }

    #[test]
    fn symbols_and_shares_invert_each_other() {
        let sums = Weights::prior().sums();
        for symbol in 0..=u8::MAX {
            if sums.mass(symbol) > 0.0 {
                let middle = sums.before(symbol) + sums.mass(symbol) / 2.0;
                assert_eq!(sums.at(middle), symbol);
            }
        }
        assert_eq!(sums.at(-1.0), END);
        assert!(sums.mass(sums.at(1.0)) > 0.0);
    }
}
