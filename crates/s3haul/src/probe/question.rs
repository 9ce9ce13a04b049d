//! A probe: what it asks, and what follows for s3haul where a service does not do it.

use s3haul_wire::env::BoxFuture;

use super::judged::Judged;
use super::room::Room;

/// What a probe is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Reading, writing, copying and removing single objects.
    Objects,
    /// Uploads in parts.
    Multipart,
    /// Requests that are carried out only on a condition.
    Conditions,
    /// Digests that the service compares and stores.
    Checksums,
    /// Listings.
    Listings,
    /// Names that not every store can have.
    Keys,
}

impl Group {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 6] = [
        Self::Objects,
        Self::Multipart,
        Self::Conditions,
        Self::Checksums,
        Self::Listings,
        Self::Keys,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Objects => "objects",
            Self::Multipart => "multipart",
            Self::Conditions => "conditions",
            Self::Checksums => "checksums",
            Self::Listings => "listings",
            Self::Keys => "keys",
        }
    }
}

/// What s3haul loses without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Data may be lost or left out, or nothing works at all.
    Data,
    /// Some command or flag does not work, or is slower.
    Feature,
    /// Nothing: s3haul does without.
    Nothing,
}

impl Weight {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Feature => "feature",
            Self::Nothing => "nothing",
        }
    }
}

/// One question to a service.
pub struct Probe {
    /// Its name, which never changes: reports and the matrix of services go by it.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// What is expected, as a sentence.
    pub expects: &'static str,
    /// What follows for s3haul where the service does not do so.
    pub without: &'static str,
    /// How much that is.
    pub weight: Weight,
    pub(super) ask: for<'a> fn(&'a Room<'a>) -> BoxFuture<'a, Judged>,
}

/// A probe, and the function that asks it.
macro_rules! probe {
    ($group:ident $weight:ident $name:literal $ask:path: $expects:literal, $without:literal) => {
        $crate::probe::question::Probe {
            name: $name,
            group: $crate::probe::question::Group::$group,
            expects: $expects,
            without: $without,
            weight: $crate::probe::question::Weight::$weight,
            ask: |room| Box::pin($ask(room)),
        }
    };
}
pub(super) use probe;
