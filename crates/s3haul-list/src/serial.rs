//! One page after the other, as the server returns them: for servers that cannot start in the
//! middle or list in an order of their own.
//!
//! Nothing is assumed of the order of keys: what is not wanted is filtered here, and no key is
//! taken for the last one. As long as the pages are in order, their ranges are reported.

use super::driver::End;
use super::fetch::{Context, Dialect, Fetched, Position, Step, Verdict};
use super::notice::Notice;
use super::page::{Merged, Page};
use crate::range::KeyRange;
use crate::reorder::Chain;
use crate::request::{Message, Outbox, PageRange};
use s3haul_wire::error::{Error, ErrorKind, Result};

/// Where a serial listing begins.
pub(super) struct From {
    position: Position,
    /// Up to this key everything was handed out before.
    settled: Option<String>,
    /// Whether what comes may be at or before `settled`, and is dropped then.
    is_overlapping: bool,
    notice: Option<Notice>,
}

impl From {
    /// At the first key.
    pub(super) fn beginning(context: &Context) -> Self {
        let is_unordered = context.is_directory_bucket();
        let after = if is_unordered { String::new() } else { context.request.range.after.clone() };
        let notice =
            (is_unordered && context.request.is_ascending()).then_some(Notice::DirectoryBucket);
        Self { position: Position::Start { after }, settled: None, is_overlapping: false, notice }
    }

    /// Where a parallel listing had to be given up.
    pub(super) fn chain(chain: Chain, notice: Option<Notice>) -> Result<Self> {
        let is_unordered = notice.as_ref().is_some_and(Notice::is_unordered);
        let (position, settled, is_overlapping) = match chain {
            Chain::Fresh => (Position::Start { after: String::new() }, None, false),
            Chain::At { position, through, is_whole } if is_whole || !is_unordered => {
                (position, Some(through), !is_whole)
            }
            _ => return Err(cannot_go_on(notice.as_ref())),
        };
        Ok(Self { position, settled, is_overlapping, notice })
    }
}

/// Why a listing that has begun cannot be done again.
fn cannot_go_on(notice: Option<&Notice>) -> Error {
    let why = match notice {
        None => "may leave keys out of a listing that starts within a folder",
        Some(Notice::NoStart) => "ignores where a listing should start",
        _ => "does not list keys in the order of their bytes",
    };
    let message = format!(
        "the server {why}, and pages were handed out before that was seen: list with `--serial`"
    );
    Error::new(ErrorKind::Server, message)
}

/// A serial listing at work.
struct Serial<'a, P> {
    context: &'a Context,
    dialect: Dialect,
    from: From,
    /// The last name that the server returned, wanted or not.
    last: String,
    is_ordered: bool,
    outbox: &'a Outbox<P>,
}

/// Lists to the end.
pub(super) async fn run<P: Page>(
    context: &Context,
    mut dialect: Dialect,
    mut from: From,
    outbox: &Outbox<P>,
) -> End {
    let is_ordered = !context.is_directory_bucket()
        && from.notice.as_ref().is_none_or(|notice| !notice.is_unordered());
    if let Some(notice) = from.notice.take()
        && outbox.send(Message::Notice(notice)).await.is_err()
    {
        return End::Gone;
    }
    let last = match (&from.position, &from.settled) {
        (Position::Start { after }, _) => after.clone(),
        (_, Some(settled)) if !from.is_overlapping => settled.clone(),
        _ => String::new(),
    };
    dialect.start_at_first_key();
    let mut serial = Serial { context, dialect, from, last, is_ordered, outbox };
    loop {
        match serial.step().await {
            Ok(None) => {}
            Ok(Some(end)) => return end,
            Err(error) => return End::Failed(error),
        }
    }
}

impl<P: Page> Serial<'_, P> {
    /// Requests a page and hands it out; `None` if the listing continues.
    async fn step(&mut self) -> Result<Option<End>> {
        let position = self.from.position.clone();
        let version = position.version(self.dialect.version);
        let result = self.context.fetch::<P>(&position, version, &self.last).await;
        let Step::Take(fetched) = self.dialect.step(&position, version, result)? else {
            return Ok(None);
        };
        let has_start = matches!(&position, Position::Start { after } if !after.is_empty());
        if has_start && fetched.page.may_leave_out() {
            return Ok(self.start_anew());
        }
        if fetched.verdict != Verdict::Good && self.is_ordered {
            return self.disorder(&position, fetched).await;
        }
        self.hand_out(fetched).await
    }

    /// A page came that is out of order, or begins too early.
    async fn disorder(&mut self, position: &Position, fetched: Fetched<P>) -> Result<Option<End>> {
        if matches!(position, Position::Start { after } if !after.is_empty()) {
            return Ok(self.start_anew());
        }
        let notice = Notice::OutOfOrder { after: self.last.clone() };
        if self.from.settled.is_some() && self.from.is_overlapping {
            return Err(self.context.explain(cannot_go_on(Some(&notice)), &self.last));
        }
        self.is_ordered = false;
        if self.outbox.send(Message::Notice(notice)).await.is_err() {
            return Ok(Some(End::Gone));
        }
        self.hand_out(fetched).await
    }

    /// Nothing was handed out yet: from the first key, and what is not wanted is dropped.
    fn start_anew(&mut self) -> Option<End> {
        self.from.position = Position::Start { after: String::new() };
        self.dialect.start_at_first_key();
        self.last.clear();
        None
    }

    async fn hand_out(&mut self, fetched: Fetched<P>) -> Result<Option<End>> {
        let Fetched { mut page, next, .. } = fetched;
        let (range, prefix) = (&self.context.request.range, &self.context.request.prefix);
        let mut is_past = false;
        if let Some(last) = Merged::new(&page, "").last() {
            last.clone_into(&mut self.last);
            is_past = self.is_ordered && !range.reaches(last);
        }
        let settled = self.from.settled.as_deref().unwrap_or(&range.after).to_owned();
        let is_overlapping = self.from.is_overlapping;
        let delimiter = self.context.request.delimiter.as_deref();
        page.retain(|name| {
            // A group may begin before the range and have keys in it.
            let is_group = delimiter.is_some_and(|delimiter| name.ends_with(delimiter));
            let is_open = is_group && name.len() > prefix.len() && range.after.starts_with(name);
            let is_after = name > range.after.as_str() || is_open;
            let is_new = !is_overlapping || name > settled.as_str();
            is_after && range.reaches(name) && name.starts_with(prefix.as_str()) && is_new
        })?;
        let is_end = is_past || next.is_none();
        let covers = self.settle(settled, is_end);
        if let Some(next) = next {
            self.from.position = next;
        }
        let sent = self.outbox.send(Message::PageRange(PageRange { page, covers })).await;
        Ok(match (sent, is_end) {
            (Err(_), _) => Some(End::Gone),
            (Ok(()), true) => Some(End::Done),
            (Ok(()), false) => None,
        })
    }

    /// The range that the present page settles.
    fn settle(&mut self, after: String, is_end: bool) -> KeyRange {
        let through = match (is_end, self.is_ordered) {
            (true, _) => self.context.request.range.through.clone(),
            (false, true) => Some(self.last.as_str().max(&after).to_owned()),
            (false, false) => Some(after.clone()),
        };
        self.from.settled.clone_from(&through);
        KeyRange { after, through }
    }
}
