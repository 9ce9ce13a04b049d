//! The removals of a `sync` that an earlier run named.
//!
//! One is done only if the source still has no such name, and none if the source has nothing at
//! all, unless that was asked for: a source that is gone has no names either. And what `rm` asks
//! again of what it failed at.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::io::ErrorKind as IoKind;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::{join_all, try_join_all};

use super::make_way::InTheWay;
use super::{
    Batch, GONE, NamedPlace, OF_REMOVALS, Row, foreign, is_plain, next, open, position, rows_left,
};
use crate::action::queue::{Action, Planned as _, Queue, start};
use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::engine::object::{changed, head, head_at};
use crate::entry::{Entry, ObjectEntry, facts_of_file, facts_of_object, listed_as};
use crate::event::ActionKind;
use crate::fs::{FileInfo, TargetRoot, collapse, warning};
use crate::job::names::{NameSource, Named};
use crate::job::prepare::Prepared;
use crate::journal::state::{Mark, Position};
use crate::journal::{Journal, Subject};
use crate::location::Location;
use crate::plan::action::{DeleteAction, RemoveFileAction};
use crate::plan::expected::Expected;
use crate::plan::filter::Filter;
use crate::plan::paths::Side;
use crate::plan::versions::VersionRule;
use crate::shard::Shard;
use crate::source::presence::has_any;
use crate::source::versions::{FoundVersion, NO_VERSION, find_version, look_up};
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::ListObjects;

/// What is said of a removal that would be a mistake by now.
const BACK: &str = "It is not removed, because the source has it by now.";

/// What is said of a removal that would hit the source.
const OF_SOURCE: &str = "It is not removed, because it is of the source.";

/// What is said of a removal of an old version.
const CURRENT: &str = "It is not removed, because it is the current version by now.";

/// What is said of a removal of a delete marker.
const NO_MARKER: &str = "It is not removed, because it is no delete marker that hides anything.";

/// What is said of a removal of a delete marker that would bring nothing back.
const HIDDEN_ANEW: &str = "It is not removed, because a later delete marker hides the object.";

/// What is said of a removal that the filters or conditions of this run leave out.
const LEFT_OUT: &str = "It is not removed, because a filter leaves it out.";

/// Whether this run still takes what `rm` could not remove: the filters and conditions on names
/// hold as they are given now, and so do the other conditions: an object may have been replaced.
/// Those on versions are left to [`still_old`].
pub(crate) async fn is_still_taken(
    job: &Prepared,
    engine: &Engine,
    named: &Named,
    place: &NamedPlace<'_>,
) -> bool {
    let conditions = &job.spec.conditions;
    let is_included = job.filter.includes(place.relative) && conditions.takes_name(place.relative);
    if is_included && (place.version_id.is_some() || !conditions.needs_facts()) {
        return true;
    }
    let meets = async || -> Result<bool> {
        if !is_included {
            return Ok(false);
        }
        let head = head(engine, place.key, None).await?;
        Ok(conditions.takes(place.relative, &facts_of_object(&listed_as(place.key, &head))))
    };
    let why = match meets().await {
        Ok(true) => return true,
        Ok(false) => LEFT_OUT,
        Err(error) if error.is_missing_object() => GONE,
        Err(error) => {
            engine.conclude_unplanned(job.plan.action, named.source.clone(), None, error);
            return false;
        }
    };
    engine.report.warning(warning::skipping(&named.source, why));
    false
}

/// The last key of the rows before: more of its versions may follow.
struct LastKey {
    key: String,
    /// Another marker is on top than the rows have.
    is_hidden_anew: bool,
}

impl LastKey {
    /// The key of a row that was read over.
    fn of(named: &Named) -> Option<Self> {
        let Location::Object(name) = &named.source else { return None };
        Some(Self { key: name.key.clone(), is_hidden_anew: false })
    }
}

/// What is known of the rows about versions that are not at hand.
pub(super) struct OtherRows {
    names: Arc<dyn NameSource>,
    last: Option<LastKey>,
    /// Keys and versions of all rows of a report, once they were needed: each as a hash, 16 bytes.
    all: Option<HashSet<u64>>,
    hashing: RandomState,
}

impl OtherRows {
    pub(super) fn new(names: &Arc<dyn NameSource>, last: Option<&Named>) -> Self {
        let (names, last) = (Arc::clone(names), last.and_then(LastKey::of));
        Self { names, last, all: None, hashing: RandomState::new() }
    }

    /// Reads all rows. Those of a plan are in order, so that the last key is enough.
    async fn read(&mut self) -> Result<()> {
        if self.all.is_some() || self.names.is_plan() {
            return Ok(());
        }
        let (names, hashing) = (Arc::clone(&self.names), self.hashing.clone());
        let read = move || {
            let mut all = HashSet::new();
            for named in names.names()? {
                if let Location::Object(name) = named?.source {
                    all.insert(hashing.hash_one((&*name.key, name.version_id.as_deref())));
                }
            }
            Ok::<_, Error>(all)
        };
        self.all = Some(blocking(read).await?);
        Ok(())
    }

    /// Whether a report has this row.
    fn has(&self, key: &str, version_id: &str) -> bool {
        let hash = self.hashing.hash_one((key, Some(version_id)));
        self.all.as_ref().is_some_and(|all| all.contains(&hash))
    }
}

/// The rows whose versions are still what a job takes: of `rm --noncurrent` those that did not
/// become current when the one that replaced them was removed for good, of `undelete` the markers
/// that still hide their objects. And what is called `null` may be another by now, where versioning
/// is suspended. Each key is listed once.
pub(super) async fn still_old<'n>(
    job: &Prepared,
    engine: &Engine,
    rows: Vec<Row<'n>>,
    others: &mut OtherRows,
) -> Result<Vec<Row<'n>>> {
    let Some(rule) = job.spec.versions.and_then(of_any_age) else { return Ok(rows) };
    let is_limited = job.spec.versions != Some(rule) || job.spec.conditions.needs_facts();
    let is_asked =
        |row: &&Row<'_>| may_be_other(row, rule) || (is_limited && row.expected.is_none());
    let mut by_key: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in rows.iter().filter(is_asked) {
        by_key.entry(row.place.key).or_default().extend(row.place.version_id);
    }
    let asked = by_key.into_iter().map(|(key, versions)| async move {
        (key, look_up(job, engine, (key, rule), &versions).await)
    });
    let found: HashMap<_, _> = join_all(asked).await.into_iter().collect();
    let other_top = |key: &str| match found.get(key)? {
        Ok(found) if matches!(rule, VersionRule::Hiding { .. }) => found.other_top.as_deref(),
        _ => None,
    };
    if rows.iter().any(|row| other_top(row.place.key).is_some()) {
        others.read().await?;
    }
    let before = others.last.take();
    let is_hidden_anew = |key: &str| match &before {
        // What is on top may be among the rows before, or, of a report, among any.
        Some(before) if before.key == key => before.is_hidden_anew,
        _ => other_top(key).is_some_and(|top| !others.has(key, top)),
    };
    let is_old = |row: &Row<'_>| {
        let (key, version_id) = (row.place.key, row.place.version_id);
        let source = || engine.source_version(key.to_owned(), version_id.map(str::to_owned));
        let error = match found.get(key) {
            Some(Err(error)) => error.duplicate(),
            Some(Ok(versions)) => {
                let is_planned = row.expected.is_some();
                let found = version_id.and_then(|id| versions.found.get(id));
                let is_same = found.is_none_or(|found| found.is_taken && !is_replaced(row, found));
                let is_below = is_same && is_hidden_anew(key);
                let is_taken = is_planned || found.is_none_or(|found| meets(job, row, found));
                if is_same && !is_below && is_taken {
                    return true;
                }
                if !is_planned {
                    let why = match (is_same, is_below) {
                        (false, _) => why_not(rule),
                        (true, true) => HIDDEN_ANEW,
                        (true, false) => LEFT_OUT,
                    };
                    engine.report.warning(warning::skipping(source(), why));
                    return false;
                }
                changed("the object", row.expected.as_deref())
            }
            None => return true,
        };
        engine.conclude_unplanned(job.plan.action, source(), None, error);
        false
    };
    let end = rows.last().map(|row| row.place.key);
    let end = end.map(|key| LastKey { key: key.to_owned(), is_hidden_anew: is_hidden_anew(key) });
    let rows = rows.into_iter().filter(is_old).collect();
    others.last = end.or(before);
    Ok(rows)
}

/// A rule about removals without its times and numbers: these were asked when the rows were
/// written.
fn of_any_age(rule: VersionRule) -> Option<VersionRule> {
    Some(match rule {
        VersionRule::All { .. } => VersionRule::All { older_than_s: None },
        VersionRule::DeleteMarkers { .. } => VersionRule::DeleteMarkers { older_than_s: None },
        VersionRule::Noncurrent { .. } => VersionRule::Noncurrent { keep: 0, older_than_s: None },
        VersionRule::Hiding { .. } => VersionRule::Hiding { since_s: None },
        VersionRule::AsOf { .. } => return None,
    })
}

/// Whether a version meets what limits this run: times, numbers and conditions.
fn meets(job: &Prepared, row: &Row<'_>, found: &FoundVersion) -> bool {
    let entry = Entry::Object(ObjectEntry {
        listed: found.listed.object(),
        relative: row.place.relative,
        version_id: row.place.version_id,
        is_delete_marker: found.listed.is_delete_marker,
    });
    found.is_taken_now && job.spec.conditions.takes(row.place.relative, &entry.condition_facts())
}

/// Whether a version may not be what a rule takes: another version can become current, `null` can
/// become another, and rows may be those of another rule.
fn may_be_other(row: &Row<'_>, rule: VersionRule) -> bool {
    let is_null = row.place.version_id == Some(NO_VERSION);
    match rule {
        VersionRule::Noncurrent { .. }
        | VersionRule::Hiding { .. }
        | VersionRule::DeleteMarkers { .. } => true,
        VersionRule::All { .. } => is_null && row.expected.is_some(),
        VersionRule::AsOf { .. } => false,
    }
}

/// Whether what is called `null` is not what a plan found. Markers have no `ETag`.
fn is_replaced(row: &Row<'_>, found: &FoundVersion) -> bool {
    let is_null = row.place.version_id == Some(NO_VERSION);
    let expected = row.expected.as_ref().filter(|_| is_null);
    expected.is_some_and(|expected| {
        (expected.source.size, &expected.source.etag) != (found.listed.size, &found.listed.etag)
    })
}

fn why_not(rule: VersionRule) -> &'static str {
    match rule {
        VersionRule::Noncurrent { .. } => CURRENT,
        _ => NO_MARKER,
    }
}

/// The removals of a `sync` that are named, once its transfers are done; all but those that have
/// made way for them.
pub(crate) async fn remove(
    job: Arc<Prepared>,
    engine: Arc<Engine>,
    names: Arc<dyn NameSource>,
    done: InTheWay,
) {
    if let Some(folder) = job.plan.target_directory().map(ToOwned::to_owned) {
        let root = match blocking(move || TargetRoot::open(&folder)).await {
            Ok(root) => root,
            Err(error) => return engine.report.fatal(error),
        };
        let (queue, removing) = start(&engine, root);
        let planned = plan_removals::<RemoveFileAction>(&job, &engine, queue, (&names, &done));
        tokio::join!(planned, removing);
    } else {
        let (queue, removing) = start(&engine, Place::Target);
        let planned = plan_removals::<DeleteAction>(&job, &engine, queue, (&names, &done));
        tokio::join!(planned, removing);
    }
}

/// Something that a `sync` removes from its target.
pub(super) trait Removal: Action {
    /// The removal of a name, if it is still there, and whether the conditions of this run take it.
    fn look(
        job: &Prepared,
        engine: &Engine,
        named: &Named,
        relative: &str,
    ) -> impl Future<Output = Result<Option<(Self, bool)>>> + Send;

    /// The same as a plan has it.
    fn planned(named: &Named, relative: String, expected: Box<Expected>) -> Self;
}

impl Removal for RemoveFileAction {
    async fn look(
        job: &Prepared,
        _: &Engine,
        named: &Named,
        relative: &str,
    ) -> Result<Option<(Self, bool)>> {
        let Location::Local(path) = named.source.clone() else { return Ok(None) };
        let info = blocking(move || FileInfo::of_path(&path).ok()).await;
        Ok(info.map(|info| {
            let facts = facts_of_file(info.size, info.modified);
            let is_taken = job.spec.conditions.takes(relative, &facts);
            (Self { relative: relative.to_owned(), size: info.size, expected: None }, is_taken)
        }))
    }

    fn planned(_: &Named, relative: String, expected: Box<Expected>) -> Self {
        Self { relative, size: expected.source.size, expected: None }.expecting(expected)
    }
}

impl Removal for DeleteAction {
    async fn look(
        job: &Prepared,
        engine: &Engine,
        named: &Named,
        relative: &str,
    ) -> Result<Option<(Self, bool)>> {
        let Location::Object(name) = &named.source else { return Ok(None) };
        match head_at(engine, Place::Target, &name.key, None).await {
            Ok(head) => {
                let facts = facts_of_object(&listed_as(&name.key, &head));
                let is_taken = job.spec.conditions.takes(relative, &facts);
                let (key, size, etag) = (name.key.clone(), head.size, head.etag);
                Ok(Some((Self { key, size, etag, ..Self::default() }, is_taken)))
            }
            Err(error) if error.is_missing_object() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn planned(named: &Named, _: String, expected: Box<Expected>) -> Self {
        let key = match &named.source {
            Location::Object(name) => name.key.clone(),
            _ => String::new(),
        };
        let size = expected.source.size;
        Self { key, size, ..Self::default() }.expecting(expected)
    }
}

async fn plan_removals<A: Removal>(
    job: &Prepared,
    engine: &Arc<Engine>,
    queue: Queue<A>,
    names: (&Arc<dyn NameSource>, &InTheWay),
) {
    match queue_removals(job, engine, &queue, names).await {
        Ok(()) => engine.report.plan_complete(),
        Err(error) => engine.report.fatal(error),
    }
}

async fn queue_removals<A: Removal>(
    job: &Prepared,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    (names, done): (&Arc<dyn NameSource>, &InTheWay),
) -> Result<()> {
    let journal = engine.report.journal().filter(|_| names.is_plan());
    let settled = journal.and_then(Journal::settled);
    let settled = settled.and_then(|position| position.name.strip_prefix(OF_REMOVALS));
    let shard = job.spec.shard.as_deref();
    let after = settled.or(shard.map(|shard| shard.range().after.as_str()));
    let through = shard.and_then(Shard::end).and_then(|through| through.parse().ok());
    let mut row = after.and_then(|row| row.parse().ok()).unwrap_or(0);
    let (mut names, _) = open(names, row).await?;
    let mut may_be_empty = !job.spec.sync.allow_empty_source;
    loop {
        let Batch { names: rest, found: mut batch, rows, is_last } =
            next(names, ActionKind::Delete, rows_left(through, row)).await?;
        names = rest;
        row += rows;
        let wants =
            |named: &Named| shard.is_none_or(|shard| shard.wants(|| named.source.to_string()));
        batch.retain(|named| wants(named) && !done.has(named));
        if let Some(journal) = journal {
            let name = format!("{OF_REMOVALS}{}", position(row));
            let mark = |named: &Named| mark(journal, named);
            batch.retain(|named| !journal.has_settled(&name, mark(named), false));
            journal.begun(batch.iter().map(mark).collect());
            journal.looked(Position { name, ..Position::default() });
        }
        if may_be_empty && !batch.is_empty() {
            refuse_empty_source(job, engine).await?;
            may_be_empty = false;
        }
        let found = batch.iter().map(|named| removal(job, engine, named));
        let mut actions = Vec::with_capacity(batch.len());
        for action in join_all(found).await {
            actions.extend(action?);
        }
        // The receiving side is closed if the job was cancelled.
        if queue.push(actions).await.is_err() || is_last {
            return Ok(());
        }
    }
}

/// The mark of a removal.
pub(super) fn mark(journal: &Journal, named: &Named) -> Mark {
    match &named.source {
        Location::Local(path) => journal.mark(Subject::File(path), true),
        Location::Object(name) => journal.mark(Subject::Object(&name.key, None), true),
        Location::Stream => Mark::HELD,
    }
}

/// Checks that the removal of a plan is below the target.
pub(super) fn check(job: &Prepared, engine: &Engine, named: &Named) -> Result<()> {
    let is_planned = named.expected.is_some();
    let relative = below_target(job, engine, named).filter(|_| is_planned);
    relative.map(drop).ok_or_else(|| foreign(named))
}

pub(super) async fn removal<A: Removal>(
    job: &Prepared,
    engine: &Engine,
    named: &Named,
) -> Result<Option<A>> {
    let relative = below_target(job, engine, named).ok_or_else(|| foreign(named))?;
    if job.is_of_source(&relative) {
        engine.report.warning(warning::skipping(&named.source, OF_SOURCE));
        return Ok(None);
    }
    if !(job.filter.includes(&relative) && job.target_filter.includes(&relative)) {
        engine.report.warning(warning::skipping(&named.source, LEFT_OUT));
        return Ok(None);
    }
    let has = match source_has(job, engine, &relative).await {
        // A plan has looked at all keys.
        Ok(false) if named.expected.is_none() && matches!(named.source, Location::Local(_)) => {
            has_respelled(job, engine, &relative).await
        }
        has => has,
    };
    let looked = match has {
        Ok(true) => {
            engine.report.warning(warning::skipping(&named.source, BACK));
            return Ok(None);
        }
        Ok(false) => match &named.expected {
            Some(expected) => Ok(Some((A::planned(named, relative, expected.clone()), true))),
            None => A::look(job, engine, named, &relative).await,
        },
        Err(error) => Err(error),
    };
    match looked {
        Ok(Some((action, true))) => Ok(Some(action)),
        Ok(Some((_, false))) => {
            engine.report.warning(warning::skipping(&named.source, LEFT_OUT));
            Ok(None)
        }
        Ok(None) => {
            engine.report.warning(warning::skipping(&named.source, GONE));
            Ok(None)
        }
        Err(error) => {
            engine.conclude_unplanned(ActionKind::Delete, named.source.clone(), None, error);
            Ok(None)
        }
    }
}

/// Name of what is to be removed, below the target.
fn below_target(job: &Prepared, engine: &Engine, named: &Named) -> Option<String> {
    let relative = match (&named.source, job.plan.target.as_ref()?) {
        (Location::Local(path), Side::Local(folder)) => {
            path.strip_prefix(folder).ok()?.to_str().filter(|relative| is_plain(relative))?
        }
        (Location::Object(name), Side::Object(root)) => name
            .key
            .strip_prefix(&root.key)
            .filter(|_| name.bucket == engine.settings.target_bucket)?,
        _ => return None,
    };
    Some(relative.to_owned())
}

/// Whether the source has a name by now, or had it at the time that the job reads.
async fn source_has(job: &Prepared, engine: &Engine, relative: &str) -> Result<bool> {
    match (job.plan.source.with(relative), job.spec.versions) {
        // No file has such a name, whatever its path leads to.
        (Location::Local(_), _) if relative.split('/').any(is_void) => Ok(false),
        (Location::Local(path), _) => {
            let follows = job.spec.follow_symlinks;
            let relative = relative.to_owned();
            blocking(move || Ok(exists(&path, follows)? && may_be_spelled_so(&path, &relative)))
                .await
        }
        (Location::Object(name), Some(rule)) => {
            Ok(find_version(job, engine, &name.key, rule).await?.is_some())
        }
        (Location::Object(name), None) => match head(engine, &name.key, None).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_missing_object() => Ok(false),
            Err(error) => Err(error),
        },
        (Location::Stream, _) => Ok(true),
    }
}

/// Whether the source has a key that is written to a file though it is spelled otherwise: with an
/// empty or `.` component in one of the folders that the file lies in.
async fn has_respelled(job: &Prepared, engine: &Engine, relative: &str) -> Result<bool> {
    let root = job.source_key();
    let folders = relative.match_indices('/').map(|(at, slash)| &relative[..at + slash.len()]);
    let prefixes = std::iter::once("")
        .chain(folders)
        .flat_map(|folder| ["/", "./"].map(|void| format!("{root}{folder}{void}")));
    let looks = prefixes.map(|prefix| async move {
        let bucket = &*engine.settings.source_bucket;
        let input = ListObjects { bucket, prefix: &prefix, ..ListObjects::default() };
        let page = engine.send(|| engine.source.list_objects(input)).await?;
        let is_file = |key: &str| {
            let key = key.strip_prefix(root).unwrap_or(key).trim_start_matches('/');
            collapse(key) == relative
        };
        // Where there are more, any of them may be.
        Ok::<_, Error>(page.is_truncated || page.iter().any(|object| is_file(object.key)))
    });
    Ok(try_join_all(looks).await?.contains(&true))
}

/// Whether there is a file; a folder of that name does not count. What cannot be looked at is not
/// taken for missing.
fn exists(path: &Path, follows: bool) -> Result<bool> {
    match path.symlink_metadata() {
        Ok(found) => Ok(!(found.is_dir() || (follows && path.is_dir()))),
        Err(error) if matches!(error.kind(), IoKind::NotFound | IoKind::NotADirectory) => Ok(false),
        Err(error) => Err(Error::local("could not examine", path, error)),
    }
}

/// Whether no entry of a folder has such a name.
fn is_void(component: &str) -> bool {
    matches!(component, "" | "." | "..")
}

/// Whether the folders list a file that is there under this very name: some file systems make no
/// difference between upper and lower case. What cannot be listed is taken for it.
fn may_be_spelled_so(path: &Path, relative: &str) -> bool {
    let depth = relative.split('/').count();
    path.ancestors().take(depth).all(|path| {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return true };
        let Ok(entries) = folder.read_dir() else { return true };
        entries.into_iter().any(|entry| entry.map_or(true, |entry| entry.file_name() == name))
    })
}

/// Fails when the source is empty, or cannot be asked.
pub(super) async fn refuse_empty_source(job: &Prepared, engine: &Arc<Engine>) -> Result<()> {
    // What the filter leaves out is something, too.
    if has_any(job, engine, &Arc::new(Filter::all())).await? {
        return Ok(());
    }
    let message = format!(
        "the source `{}` is empty: nothing was removed; if that is intended, give \
         --allow-empty-source",
        job.spec.source
    );
    Err(Error::new(ErrorKind::RemovalRefused, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_spelled_as_its_folders_list_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        std::fs::write(dir.path().join("a/b"), "").unwrap();
        let is_so = ["a/b", "a/B"].map(|name| may_be_spelled_so(&dir.path().join(name), name));
        assert_eq!(is_so, [true, false]);
    }
}
