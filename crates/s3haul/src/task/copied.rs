//! What an earlier run of `mv --no-overwrite` had begun and may have copied: it may have been
//! killed before it removed the source. Where the target was written since the job began and holds
//! the bytes of the source, it is taken for the job's own: these bytes are written once more, and
//! then the source goes as in any move. Whatever is in doubt is left to the ordinary way, which
//! skips what exists and keeps its source.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream;

use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::engine::object::head_at;
use crate::entry::OwnedEntry;
use crate::event::ActionKind;
use crate::fs::{collapse, refused};
use crate::job::case_conflict::is_spelled_so;
use crate::job::prepare::Prepared;
use crate::plan::content::Depth;
use crate::plan::expected::{Expected, TargetState};
use crate::plan::paths::Side;
use crate::select::choose::Selected;
use crate::source::content::examine;
use crate::source::side::{Pair, file_now};

/// By how much an object may seem older than it is: its time is in whole seconds.
const ROUNDED_MAX_MS: i64 = 999;

/// Has the actions of this run expect the copies that an earlier run made at their targets.
pub(super) async fn expect_copies(
    job: &Prepared,
    engine: &Arc<Engine>,
    selected: Selected,
) -> Selected {
    let is_meant = engine.settings.is_move && job.spec.no_overwrite && job.spec.names.is_none();
    let journal = engine.report.journal().filter(|journal| is_meant && journal.found_any());
    let Some(journal) = journal else { return selected };
    let begun = selected.owned_where(|entry| journal.has_begun(entry.mark(journal, false)));
    let since_ms = journal.created_ms();
    let looks = begun.into_iter().map(|(row, name, source)| async move {
        let is_over = engine.report.ends_early();
        let target =
            if is_over { None } else { copy_of(job, engine, name, &source, since_ms).await };
        let (source, target) = (source.get().state(), target?.get().state());
        let target = TargetState::Found(target);
        Some((row, Box::new(Expected { source, target, ..Expected::default() })))
    });
    // Each may read both sides.
    let found = stream::iter(looks).buffer_unordered(engine.limits.at_once());
    let found: HashMap<_, _> = found.filter_map(std::future::ready).collect().await;
    selected.expecting(found)
}

/// The target of an entry, if the job wrote it.
async fn copy_of(
    job: &Prepared,
    engine: &Arc<Engine>,
    name: Option<String>,
    source: &OwnedEntry,
    since_ms: i64,
) -> Option<OwnedEntry> {
    let name = name.as_deref();
    let target = if job.plan.action == ActionKind::Download {
        let name = name.unwrap_or(source.get().relative());
        file_since(target_path(job, name).await?, since_ms).await?
    } else {
        let key = || job.target_key(source.get().relative());
        object_since(engine, &name.map_or_else(key, str::to_owned), since_ms).await?
    };
    if target.get().size() != source.get().size() {
        return None;
    }
    let pair = Pair { source: source.duplicate(), target };
    let is_same = examine(engine, &pair, Depth::Checksums).await.is_ok_and(|found| found.is_ok());
    is_same.then_some(pair.target)
}

/// The file that an object is moved to; `None` where another object may have been moved to it.
async fn target_path(job: &Prepared, name: &str) -> Option<PathBuf> {
    let Some(folder) = job.plan.target_directory() else {
        let Some(Side::Local(path)) = &job.plan.target else { return None };
        return Some(PathBuf::from(path));
    };
    if collapse(name) != name || refused(name).is_some() {
        return None;
    }
    let (folder, name) = (folder.to_owned(), name.to_owned());
    blocking(move || is_spelled_so(&folder, &name).then(|| folder.join(name))).await
}

/// An object that was written since then.
async fn object_since(engine: &Engine, key: &str, since_ms: i64) -> Option<OwnedEntry> {
    let head = head_at(engine, Place::Target, key, None).await.ok()?;
    let is_own = head.last_modified_s.saturating_mul(1_000) + ROUNDED_MAX_MS >= since_ms;
    OwnedEntry::of_head((key, None, &head)).ok().filter(|_| is_own)
}

/// A file, and no link to one, that was written or changed since then, by the time of its last
/// change of status: that of its content is set to the object's.
async fn file_since(path: PathBuf, since_ms: i64) -> Option<OwnedEntry> {
    let looked_at = path.clone();
    let found = blocking(move || looked_at.symlink_metadata().ok()).await?;
    let changed_ms = found.ctime().saturating_mul(1_000) + found.ctime_nsec() / 1_000_000;
    if found.is_file() && changed_ms >= since_ms { file_now(&path).await } else { None }
}
