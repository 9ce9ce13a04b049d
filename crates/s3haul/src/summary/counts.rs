//! Objects and bytes, added up.

use serde::Serialize;

/// A number of objects and the sum of their sizes. Sums stop at the largest number, which keeps
/// adding them free of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Objects.
    pub objects: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Counts {
    /// One object.
    pub(crate) fn one(bytes: u64) -> Self {
        Self { objects: 1, bytes }
    }

    /// Adds an object.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.merge(Self::one(bytes));
    }

    /// Adds others.
    pub(crate) fn merge(&mut self, other: Self) {
        self.objects = self.objects.saturating_add(other.objects);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    /// The sum of both.
    pub(crate) fn plus(mut self, other: Self) -> Self {
        self.merge(other);
        self
    }

    /// Whether there is nothing.
    pub fn is_empty(self) -> bool {
        self.objects == 0 && self.bytes == 0
    }
}
