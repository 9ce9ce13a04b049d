//! What callers see: the request, the stream of pages, and how a listing is started.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::driver::{Driver, End};
use super::fetch::{Context, Dialect};
use super::notice::Notice;
use super::page::Page;
use super::serial::{self, From};
use crate::ListRequest;
use crate::PageRange;
use crate::keyspace::ask::Keys;
use crate::request::Message;
use crate::request::Outbox;
use crate::request::PAGES_AHEAD;
use s3haul_wire::Client;
use s3haul_wire::error::Result;
use s3haul_wire::ops::{ListPage, VersionPage};

/// Requests in flight at most, whatever was asked.
const CONCURRENCY_MAX: usize = 1 << 14;

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
    pub async fn next(&mut self) -> Option<Result<PageRange<P>>> {
        loop {
            match self.messages.recv().await {
                Some(Message::PageRange(page_range)) => return Some(Ok(page_range)),
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

    /// Takes the notices about the server since the last call. A notice is there before the first
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
        let page_range = PageRange { page: P::default(), covers: context.request.range.clone() };
        // The receiver may be gone already.
        let _ = outbox.send(Message::PageRange(page_range)).await;
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
