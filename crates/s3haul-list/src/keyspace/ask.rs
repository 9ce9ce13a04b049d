//! Options of a keyspace, and the requests that it makes.

use crate::{Boundary, Expected, KeyRange};

/// What a listing covers and how far it may go.
#[derive(Clone, Debug)]
pub struct KeyspaceOptions {
    /// All keys start with it. It goes into each request, so that the server ends the listing.
    pub prefix: String,
    /// Only keys in it are wanted.
    pub range: KeyRange,
    /// Cut points never contain it after the prefix (listings grouped by a delimiter); then no
    /// folders are asked for.
    pub delimiter: Option<String>,
    /// Whether requests for the names of folders may be sent.
    pub may_ask_folders: bool,
    /// Whether to guess beside the first page instead of waiting for it. A listing that may be of
    /// one page should wait.
    pub is_eager: bool,
    /// Requests that may be in flight.
    pub concurrency: usize,
    /// What an earlier listing found, where there was one. Not used with a delimiter.
    pub boundaries: Vec<Boundary>,
    /// Where keys are expected, asked after the first page of a listing that is not eager.
    pub expected: Option<Expected>,
    /// Keys of a full page: what the keys between boundaries are counted in.
    pub page_size: u32,
    /// In the order of keys: pages that may be held back until those before them are there.
    pub window_pages: Option<usize>,
}

/// Names a segment for as long as a keyspace lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u64);

/// Names a request for folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProbeId(pub u64);

/// A request to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The page of keys strictly after a key.
    Page {
        /// Segment that asks.
        segment: SegmentId,
        /// Key after which to list; empty: from the first key of the prefix.
        after: String,
        /// Whether it is the segment's first page. Later pages follow the last one's token.
        is_first: bool,
    },
    /// The names of the folders (common prefixes up to `/`) of a folder.
    Folders {
        /// Names the answer.
        probe: ProbeId,
        /// Folder, ending in `/`, or the listing's prefix, whatever its ending.
        folder: String,
        /// Only names after it; empty: from the first.
        after: String,
    },
}

/// Keys of a page, in ascending order; equal keys are versions of one object.
pub trait Keys {
    /// Number of entries.
    fn len(&self) -> usize;
    /// Key of an entry.
    fn key(&self, index: usize) -> &str;
    /// Whether there is no entry.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What to do with a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Entries from the first that belong to the segment; the rest is to be dropped.
    pub count: usize,
    /// Range of keys that this answer settles: from the cursor before to the cursor after, or to
    /// the segment's end.
    pub covers: KeyRange,
    /// Whether the segment is complete.
    pub is_end: bool,
}
