//! What an earlier run named: nothing is listed and nothing is filtered, for that was decided.
//!
//! The sources of a report are looked at again, one by one. Those of a plan are taken as they were
//! found, and the actions refuse what is no longer so.
//!
//! A name must lie on both sides of the job as the job would name it; what a script or template
//! named keeps that name. Sources that are gone are reported and left out.

mod in_doubt;
mod make_way;
mod removals;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::future::join_all;

use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::engine::object::{changed, head};
use crate::entry::{
    EntryBatch, Preselected, SourceBatch, facts_of_file, facts_of_object, listed_as,
};
use crate::event::ActionKind;
use crate::fs::{FileBatch, FileInfo, FileKind, Walk, WalkOptions, collapse, warning};
use crate::job::names::{NameSource, Named, Names};
use crate::job::prepare::Prepared;
use crate::job::spec::TransferCommand;
use crate::location::Location;
use crate::plan::conditions::ObjectFacts;
use crate::plan::expected::{Expected, State};
use crate::plan::paths::Side;
use crate::select::choose::tell_collision;
use s3haul_list::KeyRange;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::{ObjectHead, ObjectProperties};

pub(crate) use make_way::make_way;
use removals::OtherRows;
pub(crate) use removals::remove;

/// Names that are looked at together.
const BATCH_MAX: usize = 64;
/// Rows that are read together, of whatever actions.
const ROWS_MAX: u64 = 4096;
/// What positions among removals begin with: they come behind all others.
const OF_REMOVALS: char = 'r';
/// What is said of a source that is not there any more.
const GONE: &str = "It is no longer there.";
/// What is said of a move that the filters or conditions of this run leave out.
const NOT_MOVED: &str = "It is not moved, because a filter leaves it out.";

/// The entries that an earlier run named, a few at a time.
pub(crate) struct ReportStream {
    /// `None` once the last was read.
    names: Option<Names>,
    /// Rows read.
    rows: u64,
    /// The last row that is read; none: all are.
    through: Option<u64>,
    is_plan: bool,
    /// Where they are about versions.
    others: OtherRows,
}

impl ReportStream {
    /// Begins behind a position, where a plan is gone on with.
    pub(crate) async fn open(names: &Arc<dyn NameSource>, range: &KeyRange) -> Result<Self> {
        let is_plan = names.is_plan();
        let through = range.through.as_ref().and_then(|through| through.parse().ok());
        if range.after.starts_with(OF_REMOVALS) {
            let others = OtherRows::new(names, None);
            return Ok(Self { names: None, rows: 0, through, is_plan, others });
        }
        let rows = range.after.parse().unwrap_or(0);
        let (behind, last) = open(names, rows).await?;
        let others = OtherRows::new(names, last.as_ref());
        Ok(Self { names: Some(behind), rows, through, is_plan, others })
    }

    /// How far it was read, for a journal; none for a report, whose rows may be looked at again.
    pub(crate) fn position(&self) -> Option<String> {
        self.is_plan.then(|| position(self.rows))
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn next(
        &mut self,
        job: &Arc<Prepared>,
        engine: &Arc<Engine>,
    ) -> Result<Option<SourceBatch>> {
        let Some(names) = self.names.take() else { return Ok(None) };
        let left = rows_left(self.through, self.rows);
        let Batch { names, found, rows, is_last } = next(names, job.plan.action, left).await?;
        self.names = (!is_last).then_some(names);
        self.rows += rows;
        let mut batch = found;
        let row = position(self.rows);
        let is_in_doubt = match &job.spec.shard {
            Some(shard) => {
                batch.retain(|named| shard.wants(|| named.source.to_string()));
                shard.may_be_done()
            }
            None => engine.report.journal().is_some_and(|journal| journal.has_looked_at(&row)),
        };
        if self.is_plan && is_in_doubt {
            batch = in_doubt::left(job, engine, (batch, &row)).await;
        }
        if job.plan.action == ActionKind::Upload {
            let (job, engine) = (Arc::clone(job), Arc::clone(engine));
            return blocking(move || files(&job, &engine, &batch)).await.map(Some);
        }
        objects(job, engine, &batch, &mut self.others).await.map(Some)
    }
}

/// Rows that a shard has left; any number otherwise.
fn rows_left(through: Option<u64>, rows: u64) -> u64 {
    through.map_or(u64::MAX, |through| through.saturating_sub(rows))
}

/// The position of a row; later ones come later in order.
fn position(rows: u64) -> String {
    format!("{rows:020}")
}

/// Names that were read together.
struct Batch {
    /// Those behind it.
    names: Names,
    /// Those of the action.
    found: Vec<Named>,
    /// How many were read.
    rows: u64,
    is_last: bool,
}

/// The next names with an action, of so many rows that are left. Blocks.
fn take(mut names: Names, action: ActionKind, left: u64) -> Result<Batch> {
    let (mut found, mut rows) = (Vec::new(), 0);
    while found.len() < BATCH_MAX && rows < ROWS_MAX.min(left) {
        let Some(named) = names.next() else {
            return Ok(Batch { names, found, rows, is_last: true });
        };
        let named = named?;
        rows += 1;
        if named.action == action {
            found.push(named);
        }
    }
    Ok(Batch { names, found, rows, is_last: rows == left })
}

/// Checks that a plan says nothing that its job would not do, before the first of it is done. A
/// shard looks at its own rows; all were looked at when its job was begun.
pub(crate) async fn check_plan(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    names: &Arc<dyn NameSource>,
) -> Result<()> {
    let range = job.range();
    let after = range.after.parse().unwrap_or(0);
    let through = range.through.and_then(|through| through.parse().ok());
    let count = usize::try_from(rows_left(through, after)).unwrap_or(usize::MAX);
    let (names, _) = open(names, after).await?;
    let (job, engine) = (Arc::clone(job), Arc::clone(engine));
    blocking(move || names.take(count).try_for_each(|named| check(&job, &engine, &named?))).await
}

fn check(job: &Prepared, engine: &Engine, named: &Named) -> Result<()> {
    let action = job.plan.action;
    if named.action == ActionKind::Delete && job.removes_named() {
        return removals::check(job, engine, named);
    }
    if named.action != action || named.expected.is_none() {
        return Err(foreign(named));
    }
    if action == ActionKind::Upload {
        return file(job, engine, named).map(drop);
    }
    let place = place(job, engine, named)?;
    match action {
        ActionKind::Copy => object_target(job, engine, named, place.relative).map(drop),
        ActionKind::Download => file_target(job, named, place.relative).map(drop),
        _ => Ok(()),
    }
}

/// Files that are named, as they are now. Blocks.
fn files(job: &Prepared, engine: &Engine, batch: &[Named]) -> Result<SourceBatch> {
    let Side::Local(source) = &job.plan.source else {
        return Ok(SourceBatch::listed(EntryBatch::empty()));
    };
    let root = Path::new(source);
    let is_tree = job.plan.is_directory;
    let mut found = if is_tree { FileBatch::below(root) } else { FileBatch::of_file(root) };
    let mut keys = Vec::new();
    let mut expected = Vec::new();
    for named in batch {
        let (path, relative, key) = file(job, engine, named)?;
        if named.collides {
            refuse_collision(job, engine, named);
            continue;
        }
        let info = match &named.expected {
            Some(expected) if !job.spec.follow_symlinks && path.is_symlink() => {
                let (action, target) = (ActionKind::Upload, named.target.clone());
                let error = changed("the source", Some(expected));
                engine.conclude_unplanned(action, named.source.clone(), target, error);
                None
            }
            Some(expected) => Some(info_of(&expected.source)),
            None => look_at(job, engine, path).filter(|info| {
                let facts = facts_of_file(info.size, info.modified);
                is_still_moved(job, engine, named, (relative, &facts))
            }),
        };
        if let Some(info) = info {
            found.push(relative, &info);
            keys.push(Some(key));
            expected.push(named.expected.clone());
        }
    }
    let preselected = Preselected::Names(keys);
    let batch = SourceBatch::listed(EntryBatch::Files(found));
    Ok(SourceBatch { expected, preselected, ..batch })
}

/// A file that is named, what of it lies below the source, and its key.
fn file<'a>(
    job: &'a Prepared,
    engine: &Engine,
    named: &'a Named,
) -> Result<(&'a Path, &'a str, String)> {
    let (Location::Local(path), Side::Local(source)) = (&named.source, &job.plan.source) else {
        return Err(foreign(named));
    };
    let is_tree = job.plan.is_directory;
    let below = if is_tree { path.strip_prefix(source).ok() } else { None };
    let relative = match below.map(Path::to_str) {
        Some(Some(relative)) if is_plain(relative) => relative,
        None if !is_tree && path == Path::new(source) => job.plan.single_name(),
        _ => return Err(foreign(named)),
    };
    Ok((path, relative, object_target(job, engine, named, relative)?))
}

/// Looks at a file as a walk does; warns if it is left out.
fn look_at(job: &Prepared, engine: &Engine, path: &Path) -> Option<FileInfo> {
    let options =
        WalkOptions { follow_symlinks: job.spec.follow_symlinks, ..WalkOptions::default() };
    let batch = Walk::file(path, options).next_batch()?;
    let file = batch.get(0).map(|file| file.info());
    for warning in batch.warnings {
        engine.report.warning(warning);
    }
    file
}

/// Whether a name stays below the folder that it is in.
fn is_plain(relative: &str) -> bool {
    Path::new(relative).components().all(|component| matches!(component, Component::Normal(_)))
}

/// Key at the target: the one that the job gives, or one that a script or template gave.
fn object_target(job: &Prepared, engine: &Engine, named: &Named, relative: &str) -> Result<String> {
    let Some(Location::Object(target)) = &named.target else { return Err(foreign(named)) };
    let key = job.target_key(relative);
    // A script or template gives whole keys.
    let is_renamed = job.spec.to_key.is_some();
    if target.bucket != engine.settings.target_bucket || (target.key != key && !is_renamed) {
        return Err(foreign(named));
    }
    Ok(target.key.clone())
}

/// An object that is named, as it is now.
struct Row<'a> {
    place: NamedPlace<'a>,
    head: Option<Box<ObjectHead>>,
    /// Name at the target, where it is not the one that the job gives.
    name: Option<String>,
    /// What a plan found.
    expected: Option<Box<Expected>>,
}

/// Objects that are named, as they are now.
async fn objects(
    job: &Prepared,
    engine: &Engine,
    batch: &[Named],
    others: &mut OtherRows,
) -> Result<SourceBatch> {
    let looked = batch.iter().map(|named| object(job, engine, named));
    let mut rows = Vec::with_capacity(batch.len());
    for row in join_all(looked).await {
        rows.extend(row?);
    }
    let rows = removals::still_old(job, engine, rows, others).await?;
    let planned: Vec<_> = rows.iter().map(|row| head_of(row.expected.as_deref())).collect();
    let listed = rows.iter().zip(&planned).map(|(row, planned)| {
        let head = row.head.as_deref().unwrap_or(planned);
        (row.place.key, row.place.version_id, head)
    });
    let entries = EntryBatch::of_heads(listed, Arc::clone(&job.root))?;
    let mut batch = SourceBatch::listed(entries);
    let mut names = Vec::with_capacity(rows.len());
    for Row { head, name, expected, .. } in rows {
        names.push(name);
        batch.heads.push(head);
        batch.expected.push(expected);
    }
    Ok(SourceBatch { preselected: Preselected::Names(names), ..batch })
}

/// Headers as a plan found them; without one nothing is known. The class is to be found out, and
/// not the one that headers leave out.
fn head_of(expected: Option<&Expected>) -> ObjectHead {
    let storage_class = Some(String::new());
    let properties = ObjectProperties { storage_class, ..ObjectProperties::default() };
    let unknown = ObjectHead { properties, ..ObjectHead::default() };
    let Some(Expected { source, .. }) = expected else { return unknown };
    ObjectHead {
        size: source.size,
        etag: source.etag.clone(),
        last_modified_s: source.modified_ns.div_euclid(1_000_000_000),
        ..unknown
    }
}

/// A file as a plan found it.
fn info_of(state: &State) -> FileInfo {
    let since = Duration::from_nanos(state.modified_ns.unsigned_abs());
    let modified = match state.modified_ns {
        0.. => UNIX_EPOCH.checked_add(since),
        _ => UNIX_EPOCH.checked_sub(since),
    };
    FileInfo {
        kind: FileKind::File,
        size: state.size,
        modified: modified.unwrap_or(UNIX_EPOCH),
        has_valid_time: true,
        mode: 0,
    }
}

/// The names behind so many, and the last of these.
async fn open(names: &Arc<dyn NameSource>, rows: u64) -> Result<(Names, Option<Named>)> {
    let names = Arc::clone(names);
    blocking(move || {
        let mut names = names.names()?;
        let skipped = usize::try_from(rows).unwrap_or(usize::MAX);
        let last = names.by_ref().take(skipped).try_fold(None, |_, named| named.map(Some))?;
        Ok((names, last))
    })
    .await
}

async fn next(names: Names, action: ActionKind, left: u64) -> Result<Batch> {
    blocking(move || take(names, action, left)).await
}

async fn object<'a>(
    job: &'a Prepared,
    engine: &Engine,
    named: &'a Named,
) -> Result<Option<Row<'a>>> {
    let action = job.plan.action;
    let place = match place(job, engine, named) {
        Ok(place) => place,
        // A manifest had this name, and it was refused then, too.
        Err(_) if job.spec.manifest.is_some() => {
            let error = Error::new(ErrorKind::Config, "it is not what this command would do");
            engine.conclude_unplanned(action, named.source.clone(), named.target.clone(), error);
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let expected = named.expected.clone();
    let is_plan = expected.is_some();
    if job.removes() && !is_plan && !removals::is_still_taken(job, engine, named, &place).await {
        return Ok(None);
    }
    if job.acts_in_place() {
        return Ok(Some(Row { place, head: None, name: None, expected }));
    }
    let name = match action {
        ActionKind::Copy => Some(object_target(job, engine, named, place.relative)?),
        _ => file_target(job, named, place.relative)?,
    };
    if named.collides {
        refuse_collision(job, engine, named);
        return Ok(None);
    }
    if is_plan {
        return Ok(Some(Row { place, head: None, name, expected }));
    }
    match head(engine, place.key, place.version_id).await {
        Ok(head) => {
            let facts = facts_of_object(&listed_as(place.key, &head));
            let is_taken = is_still_moved(job, engine, named, (place.relative, &facts));
            Ok(is_taken.then(|| Row { place, head: Some(Box::new(head)), name, expected }))
        }
        Err(error) if error.is_missing_object() => {
            engine.report.warning(warning::skipping(&named.source, GONE));
            Ok(None)
        }
        Err(error) => {
            let (source, target) = (named.source.clone(), named.target.clone());
            engine.conclude_unplanned(action, source, target, error);
            Ok(None)
        }
    }
}

/// Whether this run still takes what could not be moved: a move removes its source. A copy
/// loses nothing where it takes more than is meant.
fn is_still_moved(
    job: &Prepared,
    engine: &Engine,
    named: &Named,
    (relative, facts): (&str, &ObjectFacts<'_>),
) -> bool {
    let is_taken = job.spec.command != TransferCommand::Move
        || (job.filter.includes(relative) && job.spec.conditions.takes(relative, facts));
    if !is_taken {
        engine.report.warning(warning::skipping(&named.source, NOT_MOVED));
    }
    is_taken
}

/// Reports again that the new name of a source is also that of another: it is no longer known which
/// of them is there.
fn refuse_collision(job: &Prepared, engine: &Engine, named: &Named) {
    let Some(target) = named.target.clone() else { return };
    let name = match &target {
        Location::Object(object) => object.key.clone(),
        other => other.to_string(),
    };
    tell_collision(job, engine, named.source.clone(), target, &name, 0);
}

/// Which object of the source is named.
struct NamedPlace<'a> {
    key: &'a str,
    relative: &'a str,
    version_id: Option<&'a str>,
}

/// Key of a name, what of it lies below the source, and its version. A job on versions never takes
/// the current one instead, and one on objects never removes a version for good.
fn place<'a>(job: &'a Prepared, engine: &Engine, named: &'a Named) -> Result<NamedPlace<'a>> {
    let Location::Object(name) = &named.source else { return Err(foreign(named)) };
    let (is_about_versions, has_version) = (job.spec.versions.is_some(), name.version_id.is_some());
    // What is changed in place is the current version: another one is not looked at in its stead.
    let is_in_place = named.expected.is_some() && job.acts_in_place();
    let is_other_kind =
        is_about_versions != has_version && (is_about_versions || job.removes() || is_in_place);
    if name.bucket != engine.settings.source_bucket || is_other_kind {
        return Err(foreign(named));
    }
    let relative = match name.key.strip_prefix(job.source_key()) {
        Some(relative) if job.plan.is_directory => relative,
        Some("") => job.plan.single_name(),
        _ => return Err(foreign(named)),
    };
    Ok(NamedPlace { key: &name.key, relative, version_id: name.version_id.as_deref() })
}

/// Name of a file below the target folder, where it is not the one that the job gives.
fn file_target(job: &Prepared, named: &Named, relative: &str) -> Result<Option<String>> {
    let Some(Location::Local(path)) = &named.target else { return Err(foreign(named)) };
    let expected = match (job.plan.target_directory(), &job.plan.target) {
        (Some(folder), _) => folder.join(&*collapse(relative)),
        (None, Some(Side::Local(path))) => PathBuf::from(path),
        _ => return Err(foreign(named)),
    };
    if *path == expected {
        return Ok(None);
    }
    let folder = job.plan.target_directory().filter(|_| job.spec.to_key.is_some());
    let name = folder.and_then(|folder| path.strip_prefix(folder).ok()).and_then(Path::to_str);
    name.map(|name| Some(name.to_owned())).ok_or_else(|| foreign(named))
}

fn foreign(named: &Named) -> Error {
    let Named { source, target, expected, .. } = named;
    let target = target.as_ref().map(|target| format!(" to `{target}`")).unwrap_or_default();
    // A plan is checked before the first row of it is done.
    let so = match expected {
        Some(_) => "nothing of the plan is done",
        None => "the remaining names are not processed",
    };
    let message = format!("`{source}`{target} is not what this command would do: {so}");
    Error::new(ErrorKind::Config, message)
}
