//! Notices that a listing returns beside its pages.

use std::fmt;

/// Something about the server that the caller of a listing should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Keys do not come in the order of their bytes: from here on the listing is serial and in the
    /// server's order, and no page says which range it settles.
    OutOfOrder {
        /// Key after which the first page out of order was asked; empty: the first page.
        after: String,
    },
    /// The server cannot list from the middle: the listing is serial.
    NoStart,
    /// The source lists in an order of its own, as directory buckets do: the listing is serial.
    Unordered,
}

impl Notice {
    /// Whether keys may come in another order than that of their bytes.
    pub fn is_unordered(&self) -> bool {
        matches!(self, Self::OutOfOrder { .. } | Self::Unordered)
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfOrder { .. } => f.write_str(
                "the server does not list keys in the order of their bytes: listing one page after \
                 the other, in the server's order",
            ),
            Self::NoStart => f.write_str(
                "the server ignores the start key of a listing: listing one page after the other",
            ),
            Self::Unordered => f.write_str(
                "the bucket lists its keys in no order: listing one page after the other, in the \
                 server's order",
            ),
        }
    }
}
