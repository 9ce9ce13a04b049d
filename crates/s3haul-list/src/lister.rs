//! What callers see: the request, the stream of pages, and how a listing is started.

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::driver::{Driver, End};
use super::fetch::{Context, Dialect};
use super::keyspace::Keys;
use super::notice::Notice;
use super::page::Page;
use super::serial::{self, From};
use crate::range::KeyRange;
use s3haul_wire::Client;
use s3haul_wire::error::Result;
use s3haul_wire::ops::{ListPage, VersionPage};

/// Pages that wait for the consumer beside those that wait for their turn.
const PAGES_AHEAD: usize = 4;
/// Requests in flight at most, whatever was asked.
const CONCURRENCY_MAX: usize = 1 << 14;
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
    /// Bucket.
    pub bucket: String,
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
    /// Keys a request, at most 1,000; none: the server's default.
    pub page_size: Option<u32>,
    /// Whether to guess beside the first page. For listings that are probably long.
    pub is_eager: bool,
    /// One page after the other, as the server tells them: for servers that list in an order of
    /// their own.
    pub is_serial: bool,
    /// Pages received and not taken that may be held; none: 8 for each request in the order of
    /// keys, else a few.
    pub window_pages: Option<usize>,
    /// Bounds requests in flight together with others': each request holds one.
    pub permits: Option<Arc<Semaphore>>,
}

impl ListRequest {
    /// All keys of a bucket.
    pub fn new(bucket: impl Into<String>) -> Self {
        Self {
            bucket: bucket.into(),
            prefix: String::new(),
            range: KeyRange::default(),
            delimiter: None,
            order: Order::Any,
            concurrency: 64,
            page_size: None,
            is_eager: false,
            is_serial: false,
            window_pages: None,
            permits: None,
        }
    }

    pub(super) fn is_ascending(&self) -> bool {
        self.order == Order::Ascending
    }

    /// Pages received and not handed out that may be held.
    pub(super) fn window(&self) -> usize {
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
pub struct Piece<P = ListPage> {
    /// Objects, in order; it may be empty.
    pub page: P,
    /// Range of keys that is now known. Empty (`after` is `through`) where the server lists in an
    /// order of its own; then the last page settles all.
    pub covers: KeyRange,
}

/// What goes from the driver to whoever lists.
#[derive(Debug)]
pub(super) enum Message<P> {
    Piece(Piece<P>),
    Notice(Notice),
    Failed(s3haul_wire::Error),
}

/// The driver's end of it.
pub(super) type Outbox<P> = mpsc::Sender<Message<P>>;

/// A listing under way; dropping it ends it, with all its requests.
#[derive(Debug)]
pub struct Listing<P = ListPage> {
    messages: mpsc::Receiver<Message<P>>,
    notices: Vec<Notice>,
    tasks: JoinSet<()>,
}

impl<P> Listing<P> {
    /// The next page; none at the end. After an error there is nothing more, and what was handed
    /// out is not the whole listing. May be dropped while it waits; nothing is lost.
    pub async fn next(&mut self) -> Option<Result<Piece<P>>> {
        loop {
            match self.messages.recv().await {
                Some(Message::Piece(piece)) => return Some(Ok(piece)),
                Some(Message::Notice(notice)) => self.notices.push(notice),
                Some(Message::Failed(error)) => {
                    self.tasks.abort_all();
                    self.messages.close();
                    while self.messages.try_recv().is_ok() {}
                    return Some(Err(error));
                }
                None => {
                    self.carry_on_panic().await;
                    return None;
                }
            }
        }
    }

    /// Takes what was told of the server since the last call. A notice is there before the first
    /// page that it is about.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// A listing whose driver broke has no end that could be taken for the whole.
    async fn carry_on_panic(&mut self) {
        while let Some(joined) = self.tasks.join_next().await {
            if let Some(panic) = joined.err().and_then(|error| error.try_into_panic().ok()) {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// Lists the objects of a bucket.
pub fn list(client: Client, request: ListRequest) -> Listing {
    start(client, request)
}

/// Lists the versions and delete markers of a bucket's objects.
pub fn list_versions(client: Client, request: ListRequest) -> Listing<VersionPage> {
    start(client, request)
}

fn start<P: Page>(client: Client, mut request: ListRequest) -> Listing<P> {
    request.concurrency = request.concurrency.clamp(1, CONCURRENCY_MAX);
    let (outbox, messages) = mpsc::channel(PAGES_AHEAD);
    let mut tasks = JoinSet::new();
    tasks.spawn(drive(Arc::new(Context::new(client, request)), outbox));
    Listing { messages, notices: Vec::new(), tasks }
}

async fn drive<P: Page>(context: Arc<Context>, outbox: Outbox<P>) {
    let end = if context.is_empty() {
        let piece = Piece { page: P::default(), covers: context.request.range.clone() };
        // Who is gone need not hear of it.
        let _ = outbox.send(Message::Piece(piece)).await;
        End::Done
    } else if context.is_directory_bucket() || context.request.is_serial {
        let dialect = Dialect::new(P::VERSION);
        serial::run(&context, dialect, From::beginning(&context), &outbox).await
    } else {
        let mut driver = Driver::new(Arc::clone(&context));
        match driver.run(&outbox).await {
            End::Serial(found) => {
                let (notice, chain) = *found;
                let dialect = driver.into_dialect();
                match From::chain(chain, notice) {
                    Ok(from) => serial::run(&context, dialect, from, &outbox).await,
                    Err(error) => End::Failed(context.explain(error, "")),
                }
            }
            end => end,
        }
    };
    if let End::Failed(error) = end {
        let _ = outbox.send(Message::Failed(error)).await;
    }
}

impl Keys for ListPage {
    fn len(&self) -> usize {
        ListPage::len(self)
    }

    fn key(&self, index: usize) -> &str {
        ListPage::key(self, index).unwrap_or_default()
    }
}
