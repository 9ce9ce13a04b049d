//! What an earlier run of a plan had begun and may have done: a kill comes between the last answer
//! and the journal.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::engine::core::Engine;
use crate::engine::object::head;
use crate::entry::{Entry, OwnedEntry};
use crate::job::names::Named;
use crate::job::prepare::Prepared;
use crate::journal::Subject;
use crate::location::Location;
use crate::plan::content::Depth;
use crate::plan::expected::{State, TargetState};
use crate::source::content::examine;
use crate::source::side::{Pair, file_now, target_object};

/// What became of an action.
enum Found {
    /// Nothing that is known: it is done, or refused, as any other.
    Nothing,
    /// The target is what the action makes of it.
    Done,
    /// The target is what a move makes of it, and the source is still there.
    Copied(State),
}

/// The names whose actions are left to do, of a batch that ends at a row. The others are done, and
/// reported where no run has counted them yet.
pub(super) async fn left(
    job: &Prepared,
    engine: &Arc<Engine>,
    (batch, row): (Vec<Named>, &str),
) -> Vec<Named> {
    let found = join_all(batch.iter().map(|named| look(engine, named))).await;
    let mut left = Vec::with_capacity(batch.len());
    for (mut named, found) in batch.into_iter().zip(found) {
        match found {
            Found::Done => {
                if !is_counted(job, engine, &named, row) {
                    report_done(engine, named);
                }
                continue;
            }
            // The same bytes are written once more, and then the source goes.
            Found::Copied(state) => {
                if let Some(expected) = &mut named.expected {
                    expected.target = TargetState::Found(state);
                }
            }
            Found::Nothing => {}
        }
        left.push(named);
    }
    left
}

/// Whether an earlier run counted an action as done. A shard has no record of single actions.
fn is_counted(job: &Prepared, engine: &Engine, named: &Named, row: &str) -> bool {
    let Some(journal) = engine.report.journal() else { return false };
    let subject = match &named.source {
        Location::Local(path) => Subject::File(path),
        Location::Object(name) => Subject::Object(&name.key, name.version_id.as_deref()),
        Location::Stream => return false,
    };
    let mark = journal.mark(subject, job.removes());
    // A row has a number of its own, also where it names a version.
    journal.has_settled(row, mark, false)
}

/// Counts and reports an action as done.
fn report_done(engine: &Engine, Named { action, source, target, expected, .. }: Named) {
    let bytes = expected.map_or(0, |expected| expected.source.size);
    engine.report.planned(bytes);
    engine.report.moved(bytes);
    engine.conclude(engine.event(action, source, target, bytes), Ok(()));
}

/// Looks whether the target is no longer as it was planned, but what the action makes of it: by the
/// bytes of both.
async fn look(engine: &Arc<Engine>, named: &Named) -> Found {
    let (Some(expected), Some(target)) = (&named.expected, &named.target) else {
        return Found::Nothing;
    };
    let target = match target {
        Location::Local(path) => file_now(path).await,
        Location::Object(name) => target_object(engine, &name.key).await.ok().flatten(),
        Location::Stream => None,
    };
    let Some(target) = target else { return Found::Nothing };
    let found = target.get().state();
    let is_as_planned = match (&expected.target, target.get()) {
        (TargetState::Missing, _) => false,
        (TargetState::Unknown, _) => true,
        (TargetState::Found(before), Entry::File(_)) => *before == found,
        (TargetState::Found(before), Entry::Object(_)) => before.is_object(found.size, &found.etag),
    };
    let is_move = engine.settings.is_move;
    // A move may find its bytes at the target and leave all there as it was planned.
    if found.size != expected.source.size || is_as_planned && !is_move {
        return Found::Nothing;
    }
    match source_of(engine, named, &expected.source).await {
        // No bytes are left to compare, and nothing is left to be moved.
        Source::Gone if is_move && !is_as_planned => Found::Done,
        Source::Gone if is_move && !expected.source.differs_from(&found) => Found::Done,
        Source::There(source) if !is_as_planned => {
            match examine(engine, &Pair { source, target }, Depth::Checksums).await {
                Ok(Ok(_)) if is_move => Found::Copied(found),
                Ok(Ok(_)) => Found::Done,
                _ => Found::Nothing,
            }
        }
        _ => Found::Nothing,
    }
}

/// A source.
enum Source {
    /// As it was planned.
    There(OwnedEntry),
    Gone,
    Changed,
}

async fn source_of(engine: &Engine, named: &Named, planned: &State) -> Source {
    let found = match &named.source {
        Location::Local(path) => {
            let now = file_now(path).await;
            now.map(|now| (now.get().state() == *planned).then_some(now))
        }
        Location::Object(name) => match head(engine, &name.key, name.version_id.as_deref()).await {
            Ok(head) if planned.is_object(head.size, &head.etag) => {
                let version_id = name.version_id.as_deref();
                Some(OwnedEntry::of_head((&name.key, version_id, &head)).ok())
            }
            Err(error) if error.is_missing_object() => None,
            _ => Some(None),
        },
        Location::Stream => Some(None),
    };
    match found {
        Some(Some(entry)) => Source::There(entry),
        Some(None) => Source::Changed,
        None => Source::Gone,
    }
}
