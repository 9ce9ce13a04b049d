//! One request of a listing, and what its answer is good for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::page::{Merged, Page};
use crate::request::ListRequest;
use crate::source::{Answer, Fault, FolderNames, Query, Source};

/// Pages without a name in a row, each of which says that there is more, before a listing is taken
/// for one without end. S3 has such pages where it passes over many deleted objects.
const EMPTY_PAGES_MAX: u32 = 10_000;

/// What all requests of a listing share.
#[derive(Debug)]
pub(crate) struct Context<S> {
    pub(crate) source: S,
    pub(crate) request: ListRequest,
    /// Pages without a name since the last that had one.
    empty_pages: AtomicU32,
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Position<C> {
    /// After a key (empty: at the first one), asked from nothing else.
    Start { after: String },
    /// Where the source said.
    Cursor(C),
}

impl<C> Position<C> {
    /// Whether it lies after a key without following a page.
    pub(crate) fn is_after_key(&self) -> bool {
        matches!(self, Self::Start { after } if !after.is_empty())
    }

    /// Whether keys before it are to be left out by an answer that knows nothing else of it.
    pub(crate) fn is_start(&self) -> bool {
        matches!(self, Self::Start { .. })
    }
}

/// What an answer is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// In order, and after what it should be after.
    Good,
    /// In order, but it begins before the key after which it should begin.
    StartIgnored,
    /// Not in the order of the keys' bytes.
    OutOfOrder,
}

/// A page that arrived.
pub(crate) struct Fetched<P, C> {
    pub(crate) page: P,
    /// Where more is, if there is more.
    pub(crate) next: Option<Position<C>>,
    pub(crate) verdict: Verdict,
    /// Other pages of this source that start after a key may leave keys out.
    pub(crate) may_leave_out: bool,
}

impl<S: Source> Context<S> {
    pub(crate) fn new(source: S, request: ListRequest) -> Self {
        Self { source, request, empty_pages: AtomicU32::new(0) }
    }

    /// Whether no key can have the prefix and lie in the range.
    pub(crate) fn is_empty(&self) -> bool {
        let ListRequest { prefix, range, .. } = &self.request;
        let is_after = range.after.as_str() > prefix.as_str() && !range.after.starts_with(prefix);
        let is_before = !range.reaches(prefix);
        is_after || is_before || !range.reaches(&range.after)
    }

    /// Adds to an error which part of the source it happened to.
    pub(crate) fn explain(&self, error: impl Into<S::Error>, after: &str) -> S::Error {
        self.source.explain(error.into(), &self.request, after)
    }

    /// Sends a request for a page of keys after `floor`, when the permits allow.
    pub(crate) async fn fetch(
        &self,
        position: &Position<S::Cursor>,
        floor: &str,
    ) -> Result<Fetched<S::Page, S::Cursor>, S::Error> {
        let cursor = match position {
            Position::Start { .. } => None,
            Position::Cursor(cursor) => Some(cursor.clone()),
        };
        let query = Query {
            prefix: self.request.prefix.clone(),
            delimiter: self.request.delimiter.clone(),
            start_after: floor.to_owned(),
            cursor,
            page_size: self.request.page_size,
        };
        let permit = self.permit().await;
        let answer = self.source.page(query).await;
        drop(permit);
        let answer = answer.map_err(|error| self.explain(error, floor))?;
        self.check(answer, position, floor).map_err(|fault| self.explain(fault, floor))
    }

    fn check(
        &self,
        answer: Answer<S::Page, S::Cursor>,
        position: &Position<S::Cursor>,
        floor: &str,
    ) -> Result<Fetched<S::Page, S::Cursor>, Fault> {
        let Answer { mut page, next, may_leave_out } = answer;
        if !self.source.is_unordered() {
            within(&page, &self.request.prefix)?;
        }
        // With a source that repeats a key, an object would be moved twice.
        let is_repeated = || page.count() > 0 && page.key(0) == floor;
        if !S::Page::HAS_REPEATS && !position.is_start() && is_repeated() {
            page.retain(|name| name != floor);
        }
        let next = next.map(Position::Cursor);
        if next.as_ref() == Some(position) {
            return Err(Fault::DoesNotAdvance);
        }
        let may_repeat = match position {
            Position::Start { .. } => false,
            Position::Cursor(cursor) => S::may_repeat_key(cursor),
        };
        let verdict = judge(&page, position.is_start(), may_repeat, floor);
        let fetched = Fetched { page, next, verdict, may_leave_out };
        self.progress(self.doubt_end(fetched, position))
    }

    /// Goes on after the last key of a page that started after a key, where the source may have
    /// ended too early. That is one more request for a listing that ends there.
    fn doubt_end(
        &self,
        fetched: Fetched<S::Page, S::Cursor>,
        position: &Position<S::Cursor>,
    ) -> Fetched<S::Page, S::Cursor> {
        let Fetched { page, next: None, verdict: Verdict::Good, .. } = &fetched else {
            return fetched;
        };
        let has_keys_alone = page.count() > 0 && page.common_prefixes().is_empty();
        let is_doubtful = position.is_after_key()
            && has_keys_alone
            && self.source.is_last_doubtful(page, self.request.page_size);
        if !is_doubtful {
            return fetched;
        }
        let after = page.key(page.count() - 1).to_owned();
        Fetched { next: Some(Position::Start { after }), ..fetched }
    }

    /// Fails if a source keeps announcing more but returns nothing: such a listing would not end.
    fn progress(
        &self,
        fetched: Fetched<S::Page, S::Cursor>,
    ) -> Result<Fetched<S::Page, S::Cursor>, Fault> {
        let is_empty = fetched.page.count() == 0 && fetched.page.common_prefixes().is_empty();
        if !is_empty || fetched.next.is_none() {
            self.empty_pages.store(0, Ordering::Relaxed);
            return Ok(fetched);
        }
        if self.empty_pages.fetch_add(1, Ordering::Relaxed) < EMPTY_PAGES_MAX {
            return Ok(fetched);
        }
        Err(Fault::Endless(EMPTY_PAGES_MAX))
    }

    /// Asks for the names of folders.
    pub(crate) async fn folders(&self, folder: &str, after: &str) -> Result<FolderNames, S::Error> {
        let _permit = self.permit().await;
        self.source.folders(folder, after).await
    }

    async fn permit(&self) -> Option<tokio::sync::OwnedSemaphorePermit> {
        let permits = self.request.permits.as_ref()?;
        // A closed semaphore bounds nothing.
        Arc::clone(permits).acquire_owned().await.ok()
    }
}

/// A source that knows no prefix would have others' keys taken, and perhaps removed.
fn within<P: Page>(page: &P, prefix: &str) -> Result<(), Fault> {
    if prefix.is_empty() {
        // Not only needless: an empty text lies at no address, and the processor takes a trap for
        // each comparison with it.
        return Ok(());
    }
    let mut names = page.keys().chain(page.common_prefixes().iter().map(String::as_str));
    match names.find(|name| !name.starts_with(prefix)) {
        None => Ok(()),
        Some(name) => Err(Fault::OutsidePrefix(name.to_owned())),
    }
}

fn judge<P: Page>(page: &P, is_start: bool, may_repeat: bool, floor: &str) -> Verdict {
    let names = Merged::new(page, floor);
    if !names.is_ascending() {
        return Verdict::OutOfOrder;
    }
    let is_after = names
        .first()
        .is_none_or(|first| first > floor || floor.is_empty() || (may_repeat && first == floor));
    match (is_after, is_start) {
        (true, _) => Verdict::Good,
        (false, true) => Verdict::StartIgnored,
        (false, false) => Verdict::OutOfOrder,
    }
}

/// Whether a page in order begins before the key after which it should.
#[cfg(feature = "s3")]
pub(crate) fn starts_early<P: Page>(page: &P, after: &str) -> bool {
    judge(page, true, false, after) == Verdict::StartIgnored
}
