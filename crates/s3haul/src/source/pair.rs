//! Two sides merged, name by name.

use std::ops::ControlFlow;

use super::side::{Pair, SideStream};
use crate::engine::core::Engine;
use crate::entry::{Entry, EntryBatch};
use crate::journal::state::Position;
use crate::plan::join::{Presence, presence};
use s3haul_wire::error::Result;

/// Both sides at one name.
pub(crate) struct Joined<'a> {
    /// On which sides the name is.
    pub(crate) presence: Presence,
    source: &'a mut SideStream,
    target: &'a mut SideStream,
}

/// How far a merge got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked<'a> {
    /// The last name visited.
    name: &'a str,
    pub(crate) source_seen: u64,
    target_seen: u64,
}

impl<'a> Looked<'a> {
    /// Where more has to be read of a side, its last name was visited.
    fn of(source: &'a SideStream, target: &'a SideStream) -> Self {
        let name = source.last_visited().max(target.last_visited()).unwrap_or_default();
        Self { name, source_seen: source.seen, target_seen: target.seen }
    }

    /// The position for a journal.
    pub(crate) fn position(self) -> Position {
        let Self { name, source_seen, target_seen } = self;
        Position { name: name.to_owned(), source_seen, target_seen }
    }
}

/// Receives what a merge finds, in the order of names.
pub(crate) trait Visitor: Send {
    /// More has to be read, which may take long: passes on what was gathered; everything up to
    /// `looked` was visited. `Break` ends the merge.
    fn flush(&mut self, looked: Looked<'_>) -> impl Future<Output = ControlFlow<()>> + Send;

    /// Takes up a name. `Break` ends the merge.
    fn visit(&mut self, joined: Joined<'_>) -> impl Future<Output = ControlFlow<()>> + Send;
}

/// Merges both sides to their end, or until the visitor returns `Break`. After an error of a side
/// nothing is known of the names from there on, and the visitor has seen none of them.
pub(crate) async fn merge(
    engine: &Engine,
    (source, target): (&mut SideStream, &mut SideStream),
    visitor: &mut impl Visitor,
) -> Result<ControlFlow<()>> {
    let warn = |text| engine.report.warning(text);
    loop {
        if !(source.fill_buffered()? & target.fill_buffered()?) {
            if visitor.flush(Looked::of(source, target)).await.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let (left, right) = tokio::join!(source.fill(warn), target.fill(warn));
            left?;
            right?;
        }
        let names = (name_of(source), name_of(target));
        let Some(presence) = presence(names.0, names.1) else {
            return Ok(ControlFlow::Continue(()));
        };
        if visitor.visit(Joined { presence, source, target }).await.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if presence != Presence::Target {
            source.advance();
        }
        if presence != Presence::Source {
            target.advance();
        }
    }
}

fn name_of(side: &SideStream) -> Option<&str> {
    side.head().map(|entry| entry.relative())
}

impl Joined<'_> {
    /// The entry of the source; `None` for a name that only the target has.
    pub(crate) fn source(&self) -> Option<Entry<'_>> {
        self.source.head().filter(|_| self.presence != Presence::Target)
    }

    /// The same as a row of its batch.
    pub(crate) fn source_row(&self) -> (&EntryBatch, usize) {
        self.source.head_row()
    }

    /// The entry of the target; `None` for a name that only the source has.
    pub(crate) fn target(&self) -> Option<Entry<'_>> {
        self.target.head().filter(|_| self.presence != Presence::Source)
    }

    /// How far the merge is, this name included.
    pub(crate) fn looked(&self) -> Looked<'_> {
        let name = self.source().or(self.target()).map_or("", |entry| entry.relative());
        Looked { name, source_seen: self.source.seen, target_seen: self.target.seen }
    }

    /// Whether script and conditions take the entry of the source.
    pub(crate) fn is_source_wanted(&self) -> bool {
        self.source.is_wanted()
    }

    /// Whether script and conditions take the entry of the target.
    pub(crate) fn is_target_wanted(&self) -> bool {
        self.target.is_wanted()
    }

    /// Whether the side that lacks the name may have it after all: it, or a folder above it, could
    /// not be looked at.
    pub(crate) fn may_be_on_both(&mut self) -> bool {
        match self.presence {
            Presence::Both => true,
            Presence::Source => {
                let name = self.source.head().map_or("", |entry| entry.relative());
                self.target.may_have(name)
            }
            Presence::Target => {
                let name = self.target.head().map_or("", |entry| entry.relative());
                self.source.may_have(name)
            }
        }
    }

    /// Whether the source has shown no name so far.
    pub(crate) fn is_source_empty(&self) -> bool {
        self.source.seen == 0
    }

    /// Whether something of the source could not be looked at so far.
    pub(crate) fn has_source_gaps(&self) -> bool {
        self.source.has_gaps
    }

    /// A copy of both entries, for what takes long; `None` unless both sides have the name.
    pub(crate) fn pair(&self) -> Option<Pair> {
        if self.presence != Presence::Both {
            return None;
        }
        Some(Pair { source: self.source.head_owned()?, target: self.target.head_owned()? })
    }
}
