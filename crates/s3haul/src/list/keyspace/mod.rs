//! The splitter: which parts of the key space are listed, and where to ask next. Pure: no clock,
//! no waiting, no client.
//!
//! A **segment** is a range of keys with a cursor. At most one request is under way in a segment;
//! each answer moves its cursor. Segments are disjoint and together they are the whole range,
//! after every step. A segment may be cut at any key after its cursor; what a page under way
//! brings from beyond the new end is dropped (it belongs to the new segment), unless the new
//! segment has not been asked for yet: then the page keeps it and the new segment starts later or
//! vanishes.

use super::KeyRange;

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
        /// Folder, ending in `/`, or empty.
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

/// The state of a listing.
#[derive(Debug)]
pub struct Keyspace {
    options: KeyspaceOptions,
    cursor: String,
    in_flight: usize,
    is_started: bool,
    is_done: bool,
}

impl Keyspace {
    /// A listing at its beginning.
    pub fn new(options: KeyspaceOptions) -> Self {
        let cursor = options.range.after.clone();
        Self { options, cursor, in_flight: 0, is_started: false, is_done: false }
    }

    /// Changes how many requests may be in flight; what is in flight stays.
    pub fn set_concurrency(&mut self, concurrency: usize) {
        self.options.concurrency = concurrency;
    }

    /// What to ask next, as long as fewer requests than allowed are in flight. `held_pages` are
    /// the pages received and not yet handed on; in the order of keys, once these and those in
    /// flight fill the window, only the first segment is asked, so that the listing always
    /// advances.
    pub fn next_ask(&mut self, held_pages: usize) -> Option<Ask> {
        let _ = held_pages;
        if self.is_done || self.in_flight >= self.options.concurrency.min(1) {
            return None;
        }
        self.in_flight += 1;
        let is_first = !std::mem::replace(&mut self.is_started, true);
        Some(Ask::Page { segment: SegmentId(0), after: self.cursor.clone(), is_first })
    }

    /// Takes the answer to [`Ask::Page`]. `is_truncated` is the server's word that there are more
    /// keys after the page; a page may be empty and truncated.
    pub fn on_page(&mut self, segment: SegmentId, keys: &dyn Keys, is_truncated: bool) -> Taken {
        debug_assert_eq!(segment, SegmentId(0));
        self.in_flight -= 1;
        let range = &self.options.range;
        let count = (0..keys.len()).take_while(|index| range.reaches(keys.key(*index))).count();
        let is_end = !is_truncated || count < keys.len();
        let after = self.cursor.clone();
        let through = if is_end {
            range.through.clone()
        } else {
            if count > 0 {
                keys.key(count - 1).clone_into(&mut self.cursor);
            }
            Some(self.cursor.clone())
        };
        self.is_done = is_end;
        Taken { count, covers: KeyRange { after, through }, is_end }
    }

    /// Takes the answer to [`Ask::Folders`]: the names in order, and the last entry of the page
    /// (folder or key) where there are more.
    pub fn on_folders(&mut self, probe: ProbeId, names: &[String], truncated_at: Option<&str>) {
        let _ = (probe, names, truncated_at);
        self.in_flight -= 1;
    }

    /// Requests asked for and not answered.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether all of the range is covered.
    pub fn is_done(&self) -> bool {
        self.is_done
    }
}
