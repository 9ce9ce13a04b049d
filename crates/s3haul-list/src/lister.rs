//! What callers see: the request, the stream of pages, and how a listing is started.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::driver::{Driver, End};
use super::fetch::Context;
use super::notice::Notice;
use super::serial::{self, From};
use crate::Boundary;
use crate::ListRequest;
use crate::PageRange;
use crate::request::Message;
use crate::request::Outbox;
use crate::request::PAGES_AHEAD;
use crate::source::Source;

/// Requests in flight at most, whatever was asked.
const CONCURRENCY_MAX: usize = 1 << 14;

/// A listing under way; dropping it ends it, with all its requests.
#[derive(Debug)]
pub struct Listing<P, E> {
    messages: mpsc::Receiver<Message<P, E>>,
    notices: Vec<Notice>,
    boundaries: Vec<Boundary>,
    tasks: JoinSet<()>,
}

impl<P, E> Listing<P, E> {
    /// The next page; none at the end. After an error there is nothing more, and what was handed
    /// out is not the whole listing. May be dropped while it waits; nothing is lost.
    pub async fn next(&mut self) -> Option<Result<PageRange<P>, E>> {
        loop {
            match self.messages.recv().await {
                Some(Message::PageRange(page_range)) => return Some(Ok(page_range)),
                Some(Message::Notice(notice)) => self.notices.push(notice),
                Some(Message::Boundaries(boundaries)) => self.boundaries = boundaries,
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

    /// Takes what the next listing of the same keys begins with ([`ListRequest::boundaries`]). They
    /// are there once a listing of many pages has ended without an error; there are none of one
    /// with a delimiter, or that went one page after the other.
    pub fn take_boundaries(&mut self) -> Vec<Boundary> {
        std::mem::take(&mut self.boundaries)
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

/// Lists a source.
///
/// # Panics
/// Outside a tokio runtime.
pub fn list<S: Source>(source: S, mut request: ListRequest) -> Listing<S::Page, S::Error> {
    request.concurrency = request.concurrency.clamp(1, CONCURRENCY_MAX);
    let (outbox, messages) = mpsc::channel(PAGES_AHEAD);
    let mut tasks = JoinSet::new();
    tasks.spawn(drive(Arc::new(Context::new(source, request)), outbox));
    Listing { messages, notices: Vec::new(), boundaries: Vec::new(), tasks }
}

async fn drive<S: Source>(context: Arc<Context<S>>, outbox: Outbox<S::Page, S::Error>) {
    let end = if context.is_empty() {
        let covers = context.request.range.clone();
        let page_range = PageRange { page: S::Page::default(), covers };
        // The receiver may be gone already.
        let _ = outbox.send(Message::PageRange(page_range)).await;
        End::Done
    } else if context.source.is_unordered() || context.request.is_serial {
        serial::run(&context, From::beginning(&context), &outbox).await
    } else {
        match Driver::new(Arc::clone(&context)).run(&outbox).await {
            End::Serial(found) => {
                let (notice, chain) = *found;
                match From::chain(chain, notice) {
                    Ok(from) => serial::run(&context, from, &outbox).await,
                    Err(fault) => End::Failed(context.explain(fault, "")),
                }
            }
            end => end,
        }
    };
    if let End::Failed(error) = end {
        let _ = outbox.send(Message::Failed(error)).await;
    }
}
