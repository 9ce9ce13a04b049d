//! Segments: disjoint ranges that together are the whole, in the order of keys.

use std::collections::BTreeMap;

use super::estimate::Outlook;
use crate::keyspace::ask::SegmentId;

/// Why a segment begins where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// At the beginning, or at a folder that is known to exist.
    Known,
    /// At a guess; names the token whose characters were guessed.
    Guess(u64),
}

/// What a segment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not asked for yet.
    New,
    /// A request is under way.
    Asked,
    /// Its last answer is there; it goes on.
    Waiting,
}

/// Which cuts a segment has none of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stuck {
    No,
    /// None that has proven good.
    Proven,
    /// None at all.
    All,
}

/// A range of keys with a cursor.
#[derive(Debug)]
pub(super) struct Segment {
    /// Last key received, or where it began.
    pub(super) after: String,
    /// Last key that may belong to it; none: to the last.
    pub(super) through: Option<String>,
    /// Where it began.
    pub(super) start: String,
    pub(super) phase: Phase,
    pub(super) origin: Origin,
    /// First key of the last page with any; none before it.
    pub(super) page_first: Option<String>,
    /// Pages since the last cut.
    pub(super) pages_since_cut: u32,
    /// Pages expected to be left.
    pub(super) pages_left: f64,
    /// The same as an earlier listing found them, as long as that holds.
    pub(super) hinted: Option<f64>,
    /// Whether there are keys up to its end: then cuts anywhere in it are safe.
    pub(super) is_filled: bool,
    /// Length of the folder it was cut in, before its first page.
    pub(super) folder: Option<usize>,
    /// Segments cut out of it that have not answered.
    pub(super) unanswered: u32,
    /// Segment it was cut out of.
    pub(super) parent: Option<SegmentId>,
    /// Cuts in a row that found nothing.
    pub(super) failures: u32,
    /// Pages to wait for before the next gamble.
    pub(super) hold: i32,
    /// Names seen on the last page in the folder that the page did not leave.
    pub(super) names_seen: f64,
    /// Unproven cuts since the last answer anywhere.
    pub(super) guesses: (u64, u32),
    /// Whether no cut was found; until something is learnt of it.
    pub(super) stuck: Stuck,
    /// Whether its first answer has come.
    pub(super) is_answered: bool,
    /// What lies ahead; none where that has changed.
    pub(super) outlook: Option<Outlook>,
    previous: Option<SegmentId>,
    next: Option<SegmentId>,
}

impl Segment {
    fn new(after: String, through: Option<String>) -> Self {
        Self {
            start: after.clone(),
            after,
            through,
            phase: Phase::New,
            origin: Origin::Known,
            page_first: None,
            pages_since_cut: 0,
            pages_left: 1.0,
            hinted: None,
            is_filled: false,
            folder: None,
            unanswered: 0,
            parent: None,
            failures: 0,
            hold: 0,
            names_seen: 0.0,
            guesses: (0, 0),
            stuck: Stuck::No,
            is_answered: false,
            outlook: None,
            previous: None,
            next: None,
        }
    }

    /// Pages to wait for after a gamble when these have cost too much: longer after failures,
    /// short where much is left that would otherwise be listed alone at the end.
    pub(super) fn pages_to_hold(&self) -> i32 {
        const MUCH: f64 = 8.0;
        const DOUBLINGS_MAX: u32 = 8;
        if self.pages_left > MUCH { 1 } else { 1 << (self.failures + 1).min(DOUBLINGS_MAX) }
    }

    /// Whether the pages left are more than a guess: of the beginning nothing is known before its
    /// first page, however much was found behind it. All there is may be on that page.
    pub(super) fn has_estimate(&self) -> bool {
        self.is_answered || self.parent.is_some()
    }

    /// Whether a key lies strictly between its cursor and its end.
    pub(super) fn encloses(&self, key: &str) -> bool {
        key > self.after.as_str() && self.through.as_deref().is_none_or(|through| key < through)
    }
}

/// The segments that are not complete.
#[derive(Debug)]
pub(super) struct Segments {
    live: BTreeMap<SegmentId, Segment>,
    head: Option<SegmentId>,
    made: u64,
}

impl Segments {
    /// One segment.
    pub(super) fn new(after: String, through: Option<String>) -> Self {
        let id = SegmentId(0);
        let live = BTreeMap::from([(id, Segment::new(after, through))]);
        Self { live, head: Some(id), made: 1 }
    }

    /// The first in the order of keys.
    pub(super) fn head(&self) -> Option<SegmentId> {
        self.head
    }

    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    pub(super) fn get(&self, id: SegmentId) -> Option<&Segment> {
        self.live.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: SegmentId) -> Option<&mut Segment> {
        self.live.get_mut(&id)
    }

    /// In the order in which they were made.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SegmentId, &Segment)> {
        self.live.iter().map(|(id, segment)| (*id, segment))
    }

    /// All, to change them; not their ranges.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Segment> {
        self.live.values_mut()
    }

    /// In the order of keys.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (SegmentId, &Segment)> {
        std::iter::successors(self.head, |id| self.live[id].next).map(|id| (id, &self.live[&id]))
    }

    /// The segment that ends where this one began.
    pub(super) fn left_neighbour(&self, id: SegmentId) -> Option<SegmentId> {
        let segment = self.live.get(&id)?;
        let left = segment.previous?;
        (self.live[&left].through.as_deref() == Some(&segment.start)).then_some(left)
    }

    /// Cuts a segment: what is after `key` becomes a new segment.
    pub(super) fn cut(&mut self, id: SegmentId, key: String) -> SegmentId {
        let made = SegmentId(self.made);
        self.made += 1;
        let left = self.live.get_mut(&id).expect("only live segments are cut");
        assert!(left.encloses(&key), "a cut lies strictly inside");
        let mut right = Segment::new(key.clone(), left.through.replace(key));
        right.previous = Some(id);
        right.next = left.next.replace(made);
        if let Some(next) = right.next.and_then(|next| self.live.get_mut(&next)) {
            next.previous = Some(made);
        }
        self.live.insert(made, right);
        made
    }

    /// Takes out a complete segment.
    pub(super) fn remove(&mut self, id: SegmentId) -> Option<Segment> {
        let segment = self.live.remove(&id)?;
        match segment.previous.and_then(|previous| self.live.get_mut(&previous)) {
            Some(previous) => previous.next = segment.next,
            None => self.head = segment.next,
        }
        if let Some(next) = segment.next.and_then(|next| self.live.get_mut(&next)) {
            next.previous = segment.previous;
        }
        Some(segment)
    }

    /// A page of the segment goes up to `last`, or is the last of all: neighbours that were not
    /// asked for yet give it what it has. Gives those that vanished.
    pub(super) fn overrun(&mut self, id: SegmentId, last: Option<&str>) -> Vec<Segment> {
        let mut vanished = Vec::new();
        while let Some(next) = self.overrun_neighbour(id, last) {
            let neighbour = self.live.get_mut(&next).expect("it was found");
            let ends_before =
                |last: &str| neighbour.through.as_deref().is_some_and(|it| it <= last);
            let through = if let Some(last) = last.filter(|last| !ends_before(last)) {
                last.clone_into(&mut neighbour.after);
                last.clone_into(&mut neighbour.start);
                Some(last.to_owned())
            } else {
                let through = neighbour.through.clone();
                vanished.extend(self.remove(next));
                through
            };
            self.live.get_mut(&id).expect("it is live").through = through;
        }
        vanished
    }

    /// The next segment, where a page overruns into it and it was not asked for.
    fn overrun_neighbour(&self, id: SegmentId, last: Option<&str>) -> Option<SegmentId> {
        let segment = self.live.get(&id)?;
        let through = segment.through.as_deref()?;
        let next = segment.next.filter(|next| {
            let neighbour = &self.live[next];
            neighbour.phase == Phase::New && neighbour.start == through
        })?;
        last.is_none_or(|last| last > through).then_some(next)
    }

    /// How many were made, the first included.
    #[cfg(test)]
    pub(super) fn made(&self) -> u64 {
        self.made
    }

    /// Asserts what holds after every step: the segments lie one behind the other without gaps.
    #[cfg(test)]
    pub(super) fn check(&self, through: Option<&str>) {
        let mut count = 0;
        let mut previous: Option<SegmentId> = None;
        for (id, segment) in self.in_order() {
            assert_eq!(segment.previous, previous);
            assert!(segment.through.as_ref().is_none_or(|through| *through >= segment.after));
            let left = previous.map(|previous| &self.live[&previous]);
            assert!(left.is_none_or(|left| left.through.as_ref() <= Some(&segment.start)));
            assert!(left.is_none_or(|left| left.through.is_some()));
            previous = Some(id);
            count += 1;
        }
        assert_eq!(count, self.live.len());
        if let Some(last) = previous {
            assert!(self.live[&last].through.as_deref() <= through || through.is_none());
        }
    }
}
