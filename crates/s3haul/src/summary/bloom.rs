//! A set that forgets nothing but may remember too much.

use std::hash::{DefaultHasher, Hash, Hasher};

/// 1 MiB: half a million names are distinguished with one error in a hundred.
const WORDS: usize = 1 << 17;
const PROBES: u64 = 4;

/// A set of names in fixed memory, which is taken only once there is a name.
#[derive(Clone, Debug, Default)]
pub(super) struct Bloom {
    words: Vec<u64>,
}

impl Bloom {
    /// Adds a name.
    pub(super) fn insert(&mut self, name: &str) {
        self.words.resize(WORDS, 0);
        for (word, bit) in places(name) {
            self.words[word] |= bit;
        }
    }

    /// Whether the name may have been added; never false for one that was.
    pub(super) fn may_contain(&self, name: &str) -> bool {
        !self.words.is_empty() && places(name).all(|(word, bit)| self.words[word] & bit != 0)
    }

    /// Adds all names of another.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.words.is_empty() {
            self.words.clone_from(&other.words);
            return;
        }
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }
}

/// Words and bits of a name; the same in every set, so that sets can be merged.
fn places(name: &str) -> impl Iterator<Item = (usize, u64)> {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let hash = hasher.finish();
    let step = (hash >> 32) | 1;
    (0..PROBES).map(move |probe| {
        let bit = hash.wrapping_add(probe.wrapping_mul(step));
        let word = usize::try_from(bit / 64 % WORDS as u64).unwrap_or_default();
        (word, 1 << (bit % 64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_and_little_else() {
        let (mut even, mut odd) = (Bloom::default(), Bloom::default());
        assert!(!even.may_contain("x"));
        for n in (0..200_000).step_by(2) {
            even.insert(&format!("folder/{n}/"));
            odd.insert(&format!("folder/{}/", n + 1));
        }
        let wrong = (0..200_000).filter(|n| n % 2 == 1);
        let wrong = wrong.filter(|n| even.may_contain(&format!("folder/{n}/"))).count();
        assert!(wrong < 1_000, "{wrong}");
        even.merge(&odd);
        assert!((0..200_000).all(|n| even.may_contain(&format!("folder/{n}/"))));
    }
}
