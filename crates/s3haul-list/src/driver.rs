//! The parallel listing: sends what the keyspace asks for, feeds it the answers, and hands out
//! what is settled.
//!
//! One task owns the keyspace and all state; requests are tasks of their own, so that pages are
//! parsed on all cores. Pages received and not taken are bounded by the window: when it is full no
//! requests are sent until a page is taken.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::task::{JoinError, JoinSet};

use super::boundaries::Recorder;
use super::fetch::{Context, Fetched, Position, Verdict};
use super::keyspace::Keyspace;
use super::notice::Notice;
use super::page::Merged;
use crate::keyspace::ask::{Ask, Keys, KeyspaceOptions, ProbeId, SegmentId};
use crate::page::Page as _;
use crate::range::KeyRange;
use crate::reorder::{Chain, Held, ReorderBuffer};
use crate::request::{Message, Outbox, PageRange};
use crate::source::{Fault, FolderNames, Source};

/// Why the parallel listing ended.
pub(super) enum End<S: Source> {
    /// Everything was handed out.
    Done,
    /// The receiver of the pages is gone.
    Gone,
    /// It failed.
    Failed(S::Error),
    /// The source can only be listed serially, which may be worth a notice; what was handed out so
    /// far is a chain.
    Serial(Box<(Option<Notice>, Chain<S::Cursor>)>),
}

/// A request for a page.
struct Request<C> {
    segment: SegmentId,
    position: Position<C>,
    /// Keys of the answer come after it.
    floor: String,
}

enum Reply<S: Source> {
    Page(Request<S::Cursor>, Result<Fetched<S::Page, S::Cursor>, S::Error>),
    Folders(ProbeId, Result<FolderNames, S::Error>),
}

/// A listing at work.
pub(super) struct Driver<S: Source> {
    context: Arc<Context<S>>,
    keyspace: Keyspace,
    /// Where segments that have begun go on.
    positions: HashMap<SegmentId, Position<S::Cursor>>,
    /// The segment that began with the first key.
    root: Option<SegmentId>,
    /// Segments that were asked for.
    begun: u64,
    requests: JoinSet<Reply<S>>,
    recorder: Recorder,
    buffer: ReorderBuffer<S::Page, S::Cursor>,
}

impl<S: Source> Driver<S> {
    pub(super) fn new(context: Arc<Context<S>>) -> Self {
        let request = &context.request;
        let window_pages = request.window();
        let keyspace = Keyspace::new(KeyspaceOptions {
            prefix: request.prefix.clone(),
            range: request.range.clone(),
            delimiter: request.delimiter.clone(),
            may_ask_folders: request.delimiter.is_none(),
            is_eager: request.is_eager,
            concurrency: request.concurrency,
            page_size: request.page_keys(),
            boundaries: request.boundaries.clone(),
            expected: request.expected.clone(),
            window_pages: request.is_ascending().then_some(window_pages),
        });
        let buffer = ReorderBuffer::new(request.order, &request.range.after, window_pages);
        Self {
            keyspace,
            positions: HashMap::new(),
            root: None,
            begun: 0,
            requests: JoinSet::new(),
            recorder: Recorder::default(),
            buffer,
            context,
        }
    }

    /// Lists to the end.
    pub(super) async fn run(&mut self, outbox: &Outbox<S::Page, S::Error>) -> End<S> {
        let end = self.work(outbox).await;
        self.requests.abort_all();
        if matches!(end, End::Done) && self.context.request.delimiter.is_none() {
            let boundaries =
                std::mem::take(&mut self.recorder).boundaries(self.context.request.page_keys());
            // The receiver may be gone already.
            let _ = outbox.send(Message::Boundaries(boundaries)).await;
        }
        if matches!(end, End::Failed(_)) {
            // What is settled is good whatever failed elsewhere.
            while let Some(page_range) = self.buffer.take() {
                if outbox.send(Message::PageRange(page_range)).await.is_err() {
                    return End::Gone;
                }
            }
        }
        end
    }

    async fn work(&mut self, outbox: &Outbox<S::Page, S::Error>) -> End<S> {
        loop {
            self.ask();
            if self.requests.is_empty() && !self.buffer.has_ready() {
                return self.rest();
            }
            tokio::select! {
                permit = outbox.reserve(), if self.buffer.has_ready() => {
                    let Ok(permit) = permit else { return End::Gone };
                    if let Some(page_range) = self.buffer.take() {
                        permit.send(Message::PageRange(page_range));
                    }
                }
                Some(joined) = self.requests.join_next() => {
                    if let Err(end) = self.take_all(joined) {
                        return end;
                    }
                }
            }
        }
    }

    /// How it ended when nothing is under way any more.
    fn rest(&self) -> End<S> {
        if self.keyspace.is_done() && self.buffer.is_empty() {
            return End::Done;
        }
        debug_assert!(false, "the keyspace asks for nothing and is not done");
        End::Failed(self.context.explain(Fault::Stopped, ""))
    }

    /// Sends what may be sent.
    fn ask(&mut self) {
        let concurrency = self.context.request.concurrency;
        while self.buffer.has_room(self.requests.len(), concurrency) {
            let held = self.buffer.held_pages();
            match self.keyspace.next_ask(held) {
                None => return,
                Some(Ask::Folders { probe, folder, after }) => {
                    self.send_probe(probe, folder, after);
                }
                Some(Ask::Page { segment, after, is_first }) => {
                    let began = if is_first { None } else { self.positions.remove(&segment) };
                    let position =
                        began.unwrap_or_else(|| Position::Start { after: after.clone() });
                    self.root.get_or_insert(segment);
                    self.begun += u64::from(is_first);
                    self.send(segment, position, after);
                }
            }
        }
    }

    fn send_probe(&mut self, probe: ProbeId, folder: String, after: String) {
        let context = Arc::clone(&self.context);
        self.requests
            .spawn(async move { Reply::Folders(probe, context.folders(&folder, &after).await) });
    }

    fn send(&mut self, segment: SegmentId, position: Position<S::Cursor>, floor: String) {
        let context = Arc::clone(&self.context);
        let request = Request { segment, position, floor };
        self.requests.spawn(async move {
            let result = context.fetch(&request.position, &request.floor).await;
            Reply::Page(request, result)
        });
    }

    /// Takes an answer and all others that are there.
    fn take_all(&mut self, first: Result<Reply<S>, JoinError>) -> Result<(), End<S>> {
        let mut next = Some(first);
        while let Some(joined) = next {
            match joined.unwrap_or_else(carry_on) {
                Reply::Folders(probe, result) => self.on_folders(probe, result),
                Reply::Page(request, result) => self.on_answer(request, result)?,
            }
            next = self.requests.try_join_next();
        }
        Ok(())
    }

    /// Names of folders are only good for guessing: without them the listing goes on.
    fn on_folders(&mut self, probe: ProbeId, result: Result<FolderNames, S::Error>) {
        let folders = result
            .inspect_err(|error| tracing::debug!(%error, "the names of folders stay unknown"))
            .unwrap_or_default();
        self.keyspace.on_folders(probe, &folders.names, folders.last.as_deref());
    }

    fn on_answer(
        &mut self,
        request: Request<S::Cursor>,
        result: Result<Fetched<S::Page, S::Cursor>, S::Error>,
    ) -> Result<(), End<S>> {
        let fetched = result.map_err(End::Failed)?;
        // Of such a source nothing is believed but a first page that is all, and it is seen before
        // anything is handed out.
        let is_all = fetched.next.is_none() && request.floor.is_empty() && self.begun == 1;
        let is_doubtful = request.position.is_start() && !is_all && fetched.may_leave_out;
        let notice = match fetched.verdict {
            Verdict::Good if is_doubtful => None,
            Verdict::Good => {
                self.on_page(request, fetched);
                return Ok(());
            }
            Verdict::StartIgnored => Some(Notice::NoStart),
            Verdict::OutOfOrder => Some(Notice::OutOfOrder { after: request.floor }),
        };
        Err(End::Serial(Box::new((notice, self.buffer.chain().clone()))))
    }

    fn on_page(&mut self, request: Request<S::Cursor>, fetched: Fetched<S::Page, S::Cursor>) {
        let Request { segment, position, floor, .. } = request;
        let Fetched { mut page, next, .. } = fetched;
        let names = Merged::new(&page, &floor);
        let taken = self.keyspace.on_page(segment, &names, next.is_some());
        self.recorder.page(&taken.covers, &names, taken.count);
        let is_whole = taken.count >= names.len();
        let (entries, groups) = names.split(taken.count);
        if !is_whole {
            page.truncate(entries, groups);
        }
        let page_range = PageRange { page, covers: taken.covers };
        let chain = self.chain(segment, position, next.as_ref(), &page_range.covers, is_whole);
        if let Some(next) = next.filter(|_| !taken.is_end) {
            self.positions.insert(segment, next);
        }
        self.buffer.put(Held { page_range, segment, is_end: taken.is_end, chain });
    }

    /// What the chain is once this page is handed out.
    fn chain(
        &self,
        segment: SegmentId,
        position: Position<S::Cursor>,
        next: Option<&Position<S::Cursor>>,
        covers: &KeyRange,
        is_whole: bool,
    ) -> Chain<S::Cursor> {
        let next = if is_whole { next.cloned() } else { Some(position) };
        match (next, &covers.through) {
            (Some(position), Some(through)) if self.root == Some(segment) => {
                Chain::At { position, through: through.clone(), is_whole }
            }
            _ => Chain::Lost,
        }
    }
}

fn carry_on<T>(error: JoinError) -> T {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => unreachable!("requests are only cancelled by dropping their set: {error}"),
    }
}
