//! What a manifest gives: a stream of entries.

use std::fmt::Debug;

use s3haul_wire::error::Result;

/// An object as a manifest names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManifestEntry {
    /// Bucket; `None` if the manifest does not name it, which is then that of the source.
    pub bucket: Option<String>,
    /// Key.
    pub key: String,
    /// What a listing contains about an object, if the manifest contains all of it.
    pub facts: Option<ListedFacts>,
    /// Which version of the object is meant.
    pub version: Version,
}

/// What a listing contains about an object beside its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedFacts {
    /// Size in bytes.
    pub size: u64,
    /// Last modification in seconds since 1970.
    pub last_modified_s: i64,
    /// `ETag` with its quotes.
    pub etag: String,
    /// Storage class.
    pub storage_class: String,
}

/// Which version of an object a manifest means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// The current one.
    #[default]
    Current,
    /// One that is not current, or a delete marker: what a listing of objects does not show.
    Hidden,
    /// One by its id, and the manifest does not say whether it is current.
    Named,
}

/// A stream of entries. Reading it blocks.
pub type Entries = Box<dyn Iterator<Item = Result<ManifestEntry>> + Send>;

/// Where entries come from.
pub trait Manifest: Debug + Send + Sync {
    /// Starts at the first; fails where that is not possible a second time. Blocks, on a thread
    /// that belongs to a runtime.
    fn entries(&self) -> Result<Entries>;

    /// Whether a second time is possible.
    fn is_lasting(&self) -> bool;
}
