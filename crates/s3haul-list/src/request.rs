//! What to list, and what the driver sends back.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::sync::mpsc;

use crate::notice::Notice;
use crate::range::KeyRange;
use crate::{Boundary, Expected};

/// Keys a page where the request says nothing else, and at most.
pub(crate) const PAGE_SIZE: u32 = 1000;
/// Pages that wait for the consumer beside those that wait for their turn.
pub(crate) const PAGES_AHEAD: usize = 4;
/// Pages held in the order of keys, for each request in flight.
const WINDOW_PER_REQUEST: usize = 8;

/// In which order pages are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they come: fastest.
    #[default]
    Any,
    /// In the order of the keys' UTF-8 bytes. Where a server has no such order, a [`Notice`] says
    /// so before the first page that is out of it.
    Ascending,
}

/// What to list.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Only keys that start so.
    pub prefix: String,
    /// Only keys in this range.
    pub range: KeyRange,
    /// Groups keys that have this after the prefix into common prefixes.
    pub delimiter: Option<String>,
    /// Order of the pages; entries within a page are always in order.
    pub order: Order,
    /// Requests in flight at most.
    pub concurrency: usize,
    /// Keys a request, at most 1,000 for S3; none: the source's default.
    pub page_size: Option<u32>,
    /// Whether to guess beside the first page. For listings that are probably long.
    pub is_eager: bool,
    /// One page after the other, as the server returns them: for servers that list in an order of
    /// their own.
    pub is_serial: bool,
    /// Pages received and not taken that may be held; none: 8 for each request in the order of
    /// keys, else a few.
    pub window_pages: Option<usize>,
    /// Where an earlier listing of the prefix found keys ([`Listing::take_boundaries`]): then it
    /// begins everywhere at once. What is no longer so costs time; the listing is whole and right
    /// whatever they are. Not used with a delimiter, nor where `is_serial`.
    ///
    /// [`Listing::take_boundaries`]: crate::Listing::take_boundaries
    pub boundaries: Vec<Boundary>,
    /// Where keys are expected; used where there are no `boundaries` and `is_eager` is false. As
    /// there may be few keys all the same, the listing begins with one request and sends four for
    /// each page found until there are three pages. As with `boundaries`, wrong expectations cost
    /// time only.
    pub expected: Option<Expected>,
    /// Bounds requests in flight together with others': each request holds one.
    pub permits: Option<Arc<Semaphore>>,
}

impl Default for ListRequest {
    /// All keys.
    fn default() -> Self {
        Self {
            prefix: String::new(),
            range: KeyRange::default(),
            delimiter: None,
            order: Order::Any,
            concurrency: 64,
            page_size: None,
            is_eager: false,
            is_serial: false,
            window_pages: None,
            boundaries: Vec::new(),
            expected: None,
            permits: None,
        }
    }
}

impl ListRequest {
    pub(crate) fn is_ascending(&self) -> bool {
        self.order == Order::Ascending
    }

    /// Keys of a full page.
    pub(crate) fn page_keys(&self) -> u32 {
        self.page_size.unwrap_or(PAGE_SIZE).clamp(1, PAGE_SIZE)
    }

    /// Pages received and not handed out that may be held.
    pub(crate) fn window(&self) -> usize {
        let default = match self.order {
            Order::Any => PAGES_AHEAD,
            Order::Ascending => self.concurrency * WINDOW_PER_REQUEST,
        };
        self.window_pages.unwrap_or(default).max(1)
    }
}

/// A page and the range of keys it settles: no other page has keys in it. Versions of one key may
/// be on several pages, which follow one another; the first of them has the key in its range.
#[derive(Clone, Debug)]
pub struct PageRange<P> {
    /// Objects, in order; it may be empty.
    pub page: P,
    /// Range of keys that is now known. Empty (`after` is `through`) where the source lists in an
    /// order of its own; then the last page settles all.
    pub covers: KeyRange,
}

/// Message from the driver to the caller of the listing.
#[derive(Debug)]
pub(crate) enum Message<P, E> {
    PageRange(PageRange<P>),
    Notice(Notice),
    Failed(E),
    /// Where the keys are, once all have been handed out.
    Boundaries(Vec<Boundary>),
}

/// The driver's end of it.
pub(crate) type Outbox<P, E> = mpsc::Sender<Message<P, E>>;
