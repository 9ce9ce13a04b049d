//! Pages that were received and not handed out yet: as they come, or put in the order of keys.
//!
//! Segments are disjoint and together they are the whole range, so the next segment in order is
//! the one that begins where everything before ends (the frontier). A segment's pages come one
//! after the other; the last may settle nothing and still bring versions of its last key.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use super::fetch::Position;
use super::page::Page;
use crate::keyspace::ask::SegmentId;
use crate::request::{Order, PageRange};

/// Bytes of pages beyond which only the first segment is listed, however few pages they are.
const HELD_BYTES_MAX: usize = 160 << 20;

/// The listing that began at the first key and followed the server, as far as it was handed out
/// and nothing else was.
#[derive(Clone, Debug)]
pub(super) enum Chain<C> {
    /// Nothing was handed out.
    Fresh,
    /// It can be gone on with.
    At {
        /// Where to go on: after the last page or, where that was cut, at it.
        position: Position<C>,
        /// Everything up to this key was handed out.
        through: String,
        /// The last page was handed out as it was received.
        is_whole: bool,
    },
    /// Something else was handed out too, or nothing of it is left.
    Lost,
}

/// A page and what it means for the order and the chain.
#[derive(Debug)]
pub(super) struct Held<P, C> {
    pub(super) page_range: PageRange<P>,
    pub(super) segment: SegmentId,
    /// Whether it is the segment's last.
    pub(super) is_end: bool,
    pub(super) chain: Chain<C>,
}

/// Pages that wait.
#[derive(Debug)]
pub(super) struct ReorderBuffer<P, C> {
    order: Order,
    ready: VecDeque<Held<P, C>>,
    /// Pages of segments whose turn has not come.
    waiting: HashMap<SegmentId, Vec<Held<P, C>>>,
    /// Those segments, by the key after which they began.
    starts: HashMap<String, SegmentId>,
    /// The segment whose turn it is, once it has a page.
    present: Option<SegmentId>,
    /// Where the present segment began, or the next one will; none: everything is there. In any
    /// order: where the first page begins until it is there.
    frontier: Option<String>,
    pages: usize,
    bytes: usize,
    window_pages: usize,
    chain: Chain<C>,
}

impl<P: Page, C> ReorderBuffer<P, C> {
    /// Nothing received yet of what follows a key.
    pub(super) fn new(order: Order, after: &str, window_pages: usize) -> Self {
        Self {
            order,
            ready: VecDeque::new(),
            waiting: HashMap::new(),
            starts: HashMap::new(),
            present: None,
            frontier: Some(after.to_owned()),
            pages: 0,
            bytes: 0,
            window_pages,
            chain: Chain::Fresh,
        }
    }

    /// Takes a page.
    pub(super) fn put(&mut self, held: Held<P, C>) {
        self.bytes += held.page_range.page.held_bytes();
        self.pages += 1;
        if self.order == Order::Any {
            return self.put_in_any_order(held);
        }
        if self.present == Some(held.segment) {
            self.make_ready(held);
        } else {
            match self.waiting.entry(held.segment) {
                Entry::Occupied(mut pages) => pages.get_mut().push(held),
                Entry::Vacant(none) => {
                    self.starts.insert(held.page_range.covers.after.clone(), held.segment);
                    none.insert(vec![held]);
                }
            }
        }
        self.advance();
    }

    /// What was guessed beside the first page waits for it: a server whose first page is out of
    /// order is then listed anew, for nothing was handed out.
    fn put_in_any_order(&mut self, held: Held<P, C>) {
        if self.frontier.as_ref() == Some(&held.page_range.covers.after) {
            self.frontier = None;
        }
        self.ready.push_back(held);
    }

    fn make_ready(&mut self, held: Held<P, C>) {
        self.present = if held.is_end { None } else { Some(held.segment) };
        if held.is_end {
            self.frontier.clone_from(&held.page_range.covers.through);
        }
        self.ready.push_back(held);
    }

    /// Gives segments their turn.
    fn advance(&mut self) {
        while let (None, Some(frontier)) = (self.present, &self.frontier) {
            let Some(segment) = self.starts.remove(frontier) else { return };
            for held in self.waiting.remove(&segment).unwrap_or_default() {
                self.make_ready(held);
            }
        }
    }

    /// Whether a page can be handed out.
    pub(super) fn has_ready(&self) -> bool {
        let waits_for_first = self.order == Order::Any && self.frontier.is_some();
        !self.ready.is_empty() && !waits_for_first
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// The next page to hand out.
    pub(super) fn take(&mut self) -> Option<PageRange<P>> {
        let held = self.ready.pop_front()?;
        self.bytes -= held.page_range.page.held_bytes();
        self.pages -= 1;
        let page = &held.page_range.page;
        let is_empty = page.count() == 0 && page.common_prefixes().is_empty();
        // Once lost it stays so; what brings nothing from elsewhere changes nothing.
        match (&self.chain, held.chain) {
            (Chain::Lost, _) => {}
            (_, Chain::Lost) if is_empty => {}
            (_, chain) => self.chain = chain,
        }
        Some(held.page_range)
    }

    /// How far the chain was handed out.
    pub(super) fn chain(&self) -> &Chain<C> {
        &self.chain
    }

    /// Pages that are held, counted so that few large ones fill the window too.
    pub(super) fn held_pages(&self) -> usize {
        let by_bytes = self.bytes / (HELD_BYTES_MAX / self.window_pages).max(1);
        self.pages.max(by_bytes)
    }

    /// Whether one more request may be sent while so many are in flight: what they bring must find
    /// room even if no page is taken. Beyond the window, in the order of keys, the keyspace lists
    /// the first segment only.
    pub(super) fn has_room(&self, in_flight: usize, concurrency: usize) -> bool {
        self.pages + in_flight < self.window_pages + concurrency + 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::KeyPage;
    use crate::range::KeyRange;

    /// Pages of segments that tile all keys; page `n` covers `n..=n + 1`, or nothing.
    fn pages(lengths: &[usize]) -> Vec<Vec<Held<KeyPage, String>>> {
        let key = |n: usize| if n == 0 { String::new() } else { format!("{n:04}") };
        let total: usize = lengths.iter().sum();
        let mut next = 0;
        let mut segments = Vec::new();
        for (id, length) in lengths.iter().enumerate() {
            let end = next + length;
            let held = |after: usize, through: usize, is_end: bool| Held {
                page_range: PageRange {
                    page: KeyPage::default(),
                    covers: KeyRange {
                        after: key(after),
                        through: (through < total || !is_end).then(|| key(through)),
                    },
                },
                segment: SegmentId(id as u64),
                is_end,
                chain: Chain::Lost,
            };
            let mut pages: Vec<_> = (next..end).map(|n| held(n, n + 1, false)).collect();
            pages.push(held(end, end, true));
            segments.push(pages);
            next = end;
        }
        segments
    }

    #[test]
    fn what_was_guessed_waits_for_the_first_page() {
        let mut segments = pages(&[1, 1]);
        let mut buffer = ReorderBuffer::new(Order::Any, "", 8);
        buffer.put(segments[1].remove(0));
        assert!(!buffer.has_ready());
        buffer.put(segments[0].remove(0));
        assert!(buffer.has_ready());
        buffer.take();
        buffer.put(segments[1].remove(0));
        buffer.take();
        assert!(buffer.has_ready());
    }

    #[test]
    fn a_chain_that_was_left_stays_left() {
        let mut buffer = ReorderBuffer::new(Order::Any, "", 8);
        let mut take = |keys: &[&str], chain| {
            let entries = keys.iter().map(|key| ((*key).to_owned(), ())).collect();
            let page = KeyPage { entries, ..KeyPage::default() };
            let page_range = PageRange { page, covers: KeyRange::default() };
            buffer.put(Held { page_range, segment: SegmentId(0), is_end: false, chain });
            buffer.take();
            buffer.chain().clone()
        };
        let position = Position::Cursor("t".to_owned());
        let at = Chain::At { position, through: "a".to_owned(), is_whole: true };
        assert!(matches!(take(&["a"], at.clone()), Chain::At { .. }));
        assert!(matches!(take(&[], Chain::Lost), Chain::At { .. }));
        assert!(matches!(take(&["x"], Chain::Lost), Chain::Lost));
        assert!(matches!(take(&["b"], at), Chain::Lost));
    }

    proptest! {
        #[test]
        fn pages_come_out_in_order_whatever_order_they_come_in(
            lengths in proptest::collection::vec(1_usize..6, 1..12),
            choices in proptest::collection::vec(any::<prop::sample::Index>(), 100),
        ) {
            let mut segments: Vec<_> =
                pages(&lengths).into_iter().map(VecDeque::from).collect();
            let count: usize = segments.iter().map(VecDeque::len).sum();
            let mut buffer = ReorderBuffer::new(Order::Ascending, "", 8);
            let mut choices = choices.into_iter().cycle();
            while !segments.is_empty() {
                let at = choices.next().expect("it is endless").index(segments.len());
                buffer.put(segments[at].pop_front().expect("empty ones are removed"));
                segments.retain(|pages| !pages.is_empty());
            }
            let covers: Vec<_> =
                std::iter::from_fn(|| buffer.take()).map(|page_range| page_range.covers).collect();
            prop_assert_eq!(covers.len(), count);
            prop_assert!(buffer.is_empty());
            let touching = |pair: &[KeyRange]| pair[0].through.as_ref() == Some(&pair[1].after);
            prop_assert!(covers.windows(2).all(touching), "{:?}", covers);
        }
    }
}
