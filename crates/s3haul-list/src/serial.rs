//! One page after the other, as the server returns them: for servers that cannot start in the
//! middle or list in an order of their own.
//!
//! Nothing is assumed of the order of keys: what is not wanted is filtered here, and no key is
//! taken for the last one. As long as the pages are in order, their ranges are reported.

use super::driver::End;
use super::fetch::{Context, Fetched, Position, Verdict};
use super::notice::Notice;
use super::page::{Merged, Page as _};
use crate::range::KeyRange;
use crate::reorder::Chain;
use crate::request::{Message, Outbox, PageRange};
use crate::source::{Fault, Source};

/// Where a serial listing begins.
pub(super) struct From<C> {
    position: Position<C>,
    /// Up to this key everything was handed out before.
    settled: Option<String>,
    /// Whether what comes may be at or before `settled`, and is dropped then.
    is_overlapping: bool,
    notice: Option<Notice>,
}

impl<C> From<C> {
    /// At the first key.
    pub(super) fn beginning<S: Source<Cursor = C>>(context: &Context<S>) -> Self {
        let is_unordered = context.source.is_unordered();
        let after = if is_unordered { String::new() } else { context.request.range.after.clone() };
        let notice = (is_unordered && context.request.is_ascending()).then_some(Notice::Unordered);
        Self { position: Position::Start { after }, settled: None, is_overlapping: false, notice }
    }

    /// Where a parallel listing had to be given up.
    pub(super) fn chain(chain: Chain<C>, notice: Option<Notice>) -> Result<Self, Fault> {
        let is_unordered = notice.as_ref().is_some_and(Notice::is_unordered);
        let (position, settled, is_overlapping) = match chain {
            Chain::Fresh => (Position::Start { after: String::new() }, None, false),
            Chain::At { position, through, is_whole } if is_whole || !is_unordered => {
                (position, Some(through), !is_whole)
            }
            _ => return Err(Fault::CannotGoOn(notice)),
        };
        Ok(Self { position, settled, is_overlapping, notice })
    }
}

/// A serial listing at work.
struct Serial<'a, S: Source> {
    context: &'a Context<S>,
    from: From<S::Cursor>,
    /// The last name that the source returned, wanted or not.
    last: String,
    is_ordered: bool,
    outbox: &'a Outbox<S::Page, S::Error>,
}

/// Lists to the end.
pub(super) async fn run<S: Source>(
    context: &Context<S>,
    mut from: From<S::Cursor>,
    outbox: &Outbox<S::Page, S::Error>,
) -> End<S> {
    let is_ordered = !context.source.is_unordered()
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
    let mut serial = Serial { context, from, last, is_ordered, outbox };
    loop {
        match serial.step().await {
            Ok(None) => {}
            Ok(Some(end)) => return end,
            Err(error) => return End::Failed(error),
        }
    }
}

impl<S: Source> Serial<'_, S> {
    /// Requests a page and hands it out; `None` if the listing continues.
    async fn step(&mut self) -> Result<Option<End<S>>, S::Error> {
        let position = self.from.position.clone();
        let fetched = self.context.fetch(&position, &self.last).await?;
        if position.is_after_key() && fetched.may_leave_out {
            return Ok(self.start_anew());
        }
        if fetched.verdict != Verdict::Good && self.is_ordered {
            return self.disorder(&position, fetched).await;
        }
        self.hand_out(fetched).await
    }

    /// A page came that is out of order, or begins too early.
    async fn disorder(
        &mut self,
        position: &Position<S::Cursor>,
        fetched: Fetched<S::Page, S::Cursor>,
    ) -> Result<Option<End<S>>, S::Error> {
        if position.is_after_key() {
            return Ok(self.start_anew());
        }
        let notice = Notice::OutOfOrder { after: self.last.clone() };
        if self.from.settled.is_some() && self.from.is_overlapping {
            return Err(self.context.explain(Fault::CannotGoOn(Some(notice)), &self.last));
        }
        self.is_ordered = false;
        if self.outbox.send(Message::Notice(notice)).await.is_err() {
            return Ok(Some(End::Gone));
        }
        self.hand_out(fetched).await
    }

    /// Nothing was handed out yet: from the first key, and what is not wanted is dropped.
    fn start_anew(&mut self) -> Option<End<S>> {
        self.from.position = Position::Start { after: String::new() };
        self.last.clear();
        None
    }

    async fn hand_out(
        &mut self,
        fetched: Fetched<S::Page, S::Cursor>,
    ) -> Result<Option<End<S>>, S::Error> {
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
        });
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
