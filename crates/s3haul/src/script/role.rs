//! What a script is for.

/// What a script is for, which decides how it is called.
///
/// Functions over one object (`Filter`, `Map`, `Each`) that take one parameter receive the
/// object; those that take none or more receive `(key, object)`. `ToKey` receives
/// `(key, object)` always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Selects objects.
    Filter,
    /// Gives the new key of an object.
    ToKey,
    /// Makes a value of an object.
    Map,
    /// Is called for what it prints.
    Each,
    /// Is called with all objects of a batch for what it prints.
    EachList,
    /// Joins two values.
    Reduce,
    /// Makes the last value of what `Reduce` left.
    Finally,
}

impl Role {
    /// Name, as flags have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::ToKey => "to-key",
            Self::Map => "map",
            Self::Each => "each",
            Self::EachList => "map-list",
            Self::Reduce => "reduce",
            Self::Finally => "finally",
        }
    }

    /// Whether a function of one parameter receives the object instead of the key.
    pub(super) fn prefers_object(self) -> bool {
        matches!(self, Self::Filter | Self::Map | Self::Each)
    }

    /// Whether a regular expression may stand for a function.
    pub(super) fn takes_pattern(self) -> bool {
        self == Self::Filter
    }
}
