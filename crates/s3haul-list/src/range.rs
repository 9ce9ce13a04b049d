//! Ranges of keys.

/// The keys after one key, up to and with another, in the order of their UTF-8 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// Only keys strictly after this one; empty: from the first key.
    pub after: String,
    /// Only keys up to this one, it included; none: to the last key.
    pub through: Option<String>,
}

impl KeyRange {
    /// Whether a key lies in the range; the empty one, which is that of a prefix itself, is the
    /// first.
    pub fn contains(&self, key: &str) -> bool {
        (self.after.is_empty() || key > self.after.as_str()) && self.reaches(key)
    }

    /// Whether a key lies before the range's end or is it.
    pub fn reaches(&self, key: &str) -> bool {
        self.through.as_deref().is_none_or(|through| key <= through)
    }
}
