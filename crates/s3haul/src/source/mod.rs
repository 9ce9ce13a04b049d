//! Where entries come from: listings, versions, local trees, manifests, earlier reports, and two
//! sides that are merged; and how a page of them becomes actions.

pub(crate) mod files;
pub(crate) mod listing;
pub(crate) mod make_action;
pub(crate) mod manifest;
pub(crate) mod objects;
pub(crate) mod page_plan;
pub(crate) mod report;
pub(crate) mod side;
pub(crate) mod versions;
