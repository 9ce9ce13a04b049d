//! The driver: sends what the keyspace asks for and hands out pages.

use async_channel::Receiver;
use tokio::task::JoinSet;

use super::KeyRange;
use super::keyspace::{Ask, Keys, Keyspace, KeyspaceOptions};
use crate::error::Result;
use crate::s3::Client;
use crate::s3::ops::{ListObjects, ListPage};

/// Pages that wait for the consumer.
const PAGES_AHEAD: usize = 4;

/// In which order pages are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they come: fastest.
    #[default]
    Any,
    /// In the order of the keys' UTF-8 bytes.
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
        }
    }
}

/// A page and the range of keys it settles: no other page has keys in it.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Objects, in order; it may be empty.
    pub page: ListPage,
    /// Range of keys that is now known.
    pub covers: KeyRange,
}

/// A listing under way; dropping it ends it.
#[derive(Debug)]
pub struct Listing {
    pages: Receiver<Result<Piece>>,
    _tasks: JoinSet<()>,
}

impl Listing {
    /// The next page; none at the end. After an error there is nothing more, and what was handed
    /// out is not the whole listing.
    pub async fn next(&mut self) -> Option<Result<Piece>> {
        self.pages.recv().await.ok()
    }
}

/// Lists the objects of a bucket.
pub fn list(client: Client, request: ListRequest) -> Listing {
    let (sender, pages) = async_channel::bounded(PAGES_AHEAD);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut keyspace = Keyspace::new(KeyspaceOptions {
            prefix: request.prefix.clone(),
            range: request.range.clone(),
            delimiter: request.delimiter.clone(),
            may_ask_folders: request.delimiter.is_none(),
            is_eager: request.is_eager,
            concurrency: request.concurrency,
            window_pages: None,
        });
        let mut token: Option<String> = None;
        while let Some(Ask::Page { segment, after, .. }) = keyspace.next_ask(0) {
            let input = ListObjects {
                bucket: &request.bucket,
                prefix: &request.prefix,
                delimiter: request.delimiter.as_deref(),
                start_after: (token.is_none() && !after.is_empty()).then_some(after.as_str()),
                continuation_token: token.as_deref(),
                max_keys: request.page_size,
                fetch_owner: false,
            };
            let answer = client.list_objects(input).await.map(|page| {
                token.clone_from(&page.next_token);
                let taken = keyspace.on_page(segment, &page, page.is_truncated);
                Piece { page, covers: taken.covers }
            });
            let is_error = answer.is_err();
            if sender.send(answer).await.is_err() || is_error {
                return;
            }
        }
    });
    Listing { pages, _tasks: tasks }
}

impl Keys for ListPage {
    fn len(&self) -> usize {
        ListPage::len(self)
    }

    fn key(&self, index: usize) -> &str {
        self.get(index).map_or("", |object| object.key)
    }
}
