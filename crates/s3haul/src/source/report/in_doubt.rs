//! What an earlier run of a plan had begun and may have done: a kill comes between the last answer
//! and the journal.

use std::path::Path;

use futures_util::future::join_all;

use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::engine::object::head_at;
use crate::event::ActionKind;
use crate::fs::FileInfo;
use crate::fs::meta::nanoseconds;
use crate::job::names::Named;
use crate::job::prepare::Prepared;
use crate::journal::{Journal, Subject};
use crate::location::Location;
use crate::plan::expected::{State, TargetState};

/// The names whose actions are not done yet. Of the others it is noted that they are.
pub(super) async fn not_done(job: &Prepared, engine: &Engine, batch: Vec<Named>) -> Vec<Named> {
    let Some(journal) = engine.report.journal() else { return batch };
    let looked = join_all(batch.iter().map(|named| is_done(engine, named))).await;
    let mut left = Vec::with_capacity(batch.len());
    for (named, is_done) in batch.into_iter().zip(looked) {
        let mark = mark_of(job, journal, &named);
        match mark.filter(|_| is_done) {
            Some(mark) => journal.same(mark),
            None => left.push(named),
        }
    }
    left
}

fn mark_of(
    job: &Prepared,
    journal: &Journal,
    named: &Named,
) -> Option<crate::journal::state::Mark> {
    let subject = match &named.source {
        Location::Local(path) => Subject::File(path),
        Location::Object(name) => Subject::Object(&name.key, name.version_id.as_deref()),
        Location::Stream => return None,
    };
    Some(journal.mark(subject, job.removes()))
}

/// Whether the target is no longer as it was planned, and is what the action makes of it.
async fn is_done(engine: &Engine, named: &Named) -> bool {
    let (Some(expected), Some(target)) = (&named.expected, &named.target) else { return false };
    let is_download = named.action == ActionKind::Download;
    let found = match target {
        Location::Local(path) => file(path).await,
        Location::Object(name) => match head_at(engine, Place::Target, &name.key, None).await {
            Ok(head) => Some(State { size: head.size, etag: head.etag, ..State::default() }),
            Err(_) => None,
        },
        Location::Stream => None,
    };
    let Some(found) = found else { return false };
    let is_as_planned = match &expected.target {
        TargetState::Unknown => true,
        TargetState::Missing => false,
        TargetState::Found(before) if is_download => *before == found,
        TargetState::Found(before) => before.is_object(found.size, &found.etag),
    };
    let source = &expected.source;
    let second = |ns: i64| ns.div_euclid(1_000_000_000);
    let is_source = match named.action {
        ActionKind::Download => second(source.modified_ns) == second(found.modified_ns),
        ActionKind::Copy => source.is_object(found.size, &found.etag),
        _ => true,
    };
    !is_as_planned && is_source && found.size == source.size
}

async fn file(path: &Path) -> Option<State> {
    let path = path.to_owned();
    let info = blocking(move || FileInfo::of_path(&path).ok()).await?;
    Some(State::of_file(info.size, nanoseconds(info.modified)))
}
