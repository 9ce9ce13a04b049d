//! Where entries come from: listings, versions, local trees, manifests, earlier reports, and two
//! sides that are merged; and whether two entries hold the same bytes.

pub(crate) mod content;
pub(crate) mod entries;
pub mod hints;
pub(crate) mod listing;
pub(crate) mod manifest;
pub(crate) mod pair;
pub(crate) mod presence;
pub(crate) mod report;
pub(crate) mod side;
pub(crate) mod versions;
pub(crate) mod walk;
