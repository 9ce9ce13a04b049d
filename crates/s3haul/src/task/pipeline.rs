//! One pipeline for every task that acts on single entries: batches of a source are selected,
//! become actions, and these are queued for the workers.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::action::queue::{Closed, Planned, Queue};
use crate::engine::core::Engine;
use crate::entry::{Entry, ObjectEntry};
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::fs::{collapse, refused, warning};
use crate::job::prepare::Prepared;
use crate::job::spec::TransferCommand;
use crate::journal::Journal;
use crate::journal::state::{Mark, Position};
use crate::location::Location;
use crate::plan::action::{
    CopyAction, DeleteAction, DownloadAction, RemoveFileAction, TagAction, UploadAction,
};
use crate::plan::compare::Reason;
use crate::plan::expected::{Expected, TargetState};
use crate::plan::paths::references_parent;
use crate::plan::removals::{Permit, RemovalGuard, RemovalLimit};
use crate::select::choose::{Taken, chooser_that_learns, learn, select};
use crate::shard::Shard;
use crate::source::entries::{Entries, Pass, is_listed};
use crate::source::versions::{check_limit, limit_reached};
use crate::task::copied::expect_copies;
use s3haul_wire::ObjectHead;
use s3haul_wire::error::Result;

/// Bytes that a shard queues before it looks at its time again, about.
pub(crate) const SLICE_BYTES: u64 = 64 * 1024 * 1024;

/// How long a removal waits for others: then it goes with the next page, as an object may be
/// replaced while a listing goes on for hours.
const REMOVAL_WAIT_MAX: Duration = Duration::from_secs(5);

/// Makes the action of an entry; `None` if it is left out.
pub(crate) type MakeAction<A> = fn(&Prepared, &Engine, Taken<'_>) -> Option<A>;

/// Plans all actions of a job while they are done.
pub(crate) async fn pipeline<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    (queue, acting): (Queue<A>, impl Future<Output = ()>),
    make: MakeAction<A>,
) {
    let planned = async {
        plan(job, engine, &queue, make).await;
        drop(queue);
    };
    tokio::join!(planned, acting);
}

/// Plans all actions of a job. A failure to list or to find the one object ends the planning and is
/// reported as fatal; what was queued before goes on.
pub(crate) async fn plan<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: MakeAction<A>,
) {
    match try_plan(job, engine, queue, make, Pass::Act).await {
        Ok(Ok(())) if job.removes_named() => {}
        Ok(Ok(())) => engine.report.plan_complete(),
        Ok(Err(Closed)) => {}
        Err(error) => engine.report.fatal(error),
    }
}

/// Like [`plan`], without reporting its end.
pub(crate) async fn try_plan<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: MakeAction<A>,
    pass: Pass,
) -> Result<Result<(), Closed>> {
    learn_sources(job, engine).await?;
    let guard = guard_of_removals(job, engine, make).await?;
    let mut gathered = Vec::new();
    let planned = queue_all(job, engine, queue, (make, pass), (guard, &mut gathered)).await;
    // What was planned before a failure is done.
    let is_queued = queue.push(gathered).await.is_ok();
    if is_queued { planned } else { Ok(Err(Closed)) }
}

/// Queues what the source gives. Removals wait until there are as many as one request takes, but
/// not for long; those that still wait at the end are left in `gathered`.
async fn queue_all<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    (make, pass): (MakeAction<A>, Pass),
    (mut guard, gathered): (RemovalGuard, &mut Vec<A>),
) -> Result<Result<(), Closed>> {
    let together = if job.removes() && is_listed(job) { A::BATCH_MAX } else { 1 };
    let journal = engine.report.journal();
    let mut entries = Entries::open(job, engine, pass).await?;
    let mut waiting_since = Instant::now();
    while let Some(batch) = entries.next().await? {
        let position = entries.position();
        let row = position.as_ref().filter(|_| entries.is_numbered()).map(|row| row.name.clone());
        let shard = job.spec.shard.as_ref().zip(position.clone());
        let is_sliced = row.is_none() && together == 1 && job.spec.versions.is_none();
        let mut tracked = Tracked::new(job, journal, row);
        let selected = expect_copies(job, engine, select(job, engine, batch).await?).await;
        if let Some((shard, reached)) = shard.as_ref().filter(|_| is_sliced) {
            let named = selected.map(|taken| {
                let name = taken.entry.relative().to_owned();
                Some((name, tracked.make(engine, taken, make)?))
            });
            match queue_slices(shard, queue, (named, &reached.name)).await {
                Ok(true) => continue,
                Ok(false) => break,
                Err(closed) => return Ok(Err(closed)),
            }
        }
        let mut actions = selected.map(|taken| tracked.make(engine, taken, make));
        tracked.begin(position);
        let allowed = actions.iter().take_while(|_| guard.ask() == Permit::Now).count();
        let is_refused = allowed < actions.len();
        actions.truncate(allowed);
        gathered.append(&mut actions);
        let is_over = waiting_since.elapsed() >= REMOVAL_WAIT_MAX;
        let whole = gathered.len() - gathered.len() % together;
        let rest = gathered.split_off(if is_over { gathered.len() } else { whole });
        if whole > 0 || is_over {
            waiting_since = Instant::now();
        }
        if queue.push(std::mem::replace(gathered, rest)).await.is_err() {
            return Ok(Err(Closed));
        }
        if is_refused {
            return Err(limit_reached());
        }
        if shard.is_some_and(|(shard, reached)| shard.ends_at(&reached.name)) {
            break;
        }
    }
    Ok(Ok(()))
}

/// Queues the actions of a batch, a few large ones or many small ones at a time, as long as the
/// shard has time; gives whether it has some left.
async fn queue_slices<A: Planned>(
    shard: &Shard,
    queue: &Queue<A>,
    (named, reached): (Vec<(String, A)>, &str),
) -> std::result::Result<bool, Closed> {
    let (mut slice, mut bytes) = (Vec::new(), 0);
    for (name, action) in named {
        bytes += action.bytes();
        slice.push(action);
        if bytes >= SLICE_BYTES || slice.len() == A::BATCH_MAX {
            bytes = 0;
            queue.push(std::mem::take(&mut slice)).await?;
            if shard.ends_at(&name) {
                return Ok(false);
            }
        }
    }
    queue.push(slice).await?;
    Ok(!shard.ends_at(reached))
}

/// The actions of a batch, as they are written to a journal.
struct Tracked<'a> {
    job: &'a Prepared,
    journal: Option<&'a Journal>,
    /// The position behind the batch, where positions are no names.
    row: Option<String>,
    begun: Vec<Mark>,
}

impl<'a> Tracked<'a> {
    fn new(job: &'a Prepared, journal: Option<&'a Journal>, row: Option<String>) -> Self {
        Self { job, journal, row, begun: Vec::new() }
    }

    /// The action of an entry; `None` if it is left out, or an earlier run dealt with it.
    fn make<A: Planned>(
        &mut self,
        engine: &Engine,
        taken: Taken<'_>,
        make: MakeAction<A>,
    ) -> Option<A> {
        if let Some(shard) = &self.job.spec.shard {
            let is_inside = self.row.is_some() || shard.takes(taken.entry.relative());
            if !is_inside || !shard.wants(|| location(engine, taken.entry).to_string()) {
                return None;
            }
        }
        let Some(journal) = self.journal else { return self.expecting(engine, taken, make) };
        let mark = taken.entry.mark(journal, self.job.removes());
        let name = self.row.as_deref().unwrap_or(taken.entry.relative());
        // Versions share a name, rows no number.
        let is_shared = self.job.spec.versions.is_some() && self.row.is_none();
        if journal.has_settled(name, mark, is_shared) {
            return None;
        }
        let action = self.expecting(engine, taken, make)?;
        self.begun.push(mark);
        Some(action)
    }

    /// The action of an entry, with what is expected of both sides where a plan is made or done.
    fn expecting<A: Planned>(
        &self,
        engine: &Engine,
        mut taken: Taken<'_>,
        make: MakeAction<A>,
    ) -> Option<A> {
        let expected = taken.expected.take().or_else(|| {
            let found = || Expected::new(taken.entry.state(), TargetState::Unknown);
            self.job.spec.says_states().then(found)
        });
        let action = make(self.job, engine, taken)?;
        Some(match expected {
            Some(expected) => action.expecting(expected),
            None => action,
        })
    }

    /// Notes what has to be done, and how far the source was looked through.
    fn begin(self, position: Option<Position>) {
        let Some(journal) = self.journal else { return };
        journal.begun(self.begun);
        journal.looked(position.unwrap_or_default());
    }
}

/// The source of an action, as its event has it.
fn location(engine: &Engine, entry: Entry<'_>) -> Location {
    match entry {
        Entry::File(file) => Location::Local(file.path()),
        Entry::Object(object) => engine.source_object(object.listed.key.to_owned()),
    }
}

/// Goes through what is to be removed once before, where there is a limit: nothing is held, and
/// nothing is removed when it is too much. What earlier runs of the job removed counts.
async fn guard_of_removals<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    make: MakeAction<A>,
) -> Result<RemovalGuard> {
    let without_limit = RemovalGuard::new(RemovalLimit::None);
    if !job.removes() || job.spec.sync.max_delete == RemovalLimit::None {
        return Ok(without_limit);
    }
    if !is_listed(job) {
        if job.names_one() && job.filter.includes(job.plan.single_name()) {
            check_limit(job, 1, 1)?;
        }
        return Ok(without_limit);
    }
    let journal = engine.report.journal();
    journal.inspect(|journal| journal.count_removals());
    let removed = journal.map_or(0, Journal::removed);
    // What appeared where an earlier run has been is left in place.
    let is_left = |taken: &Taken<'_>| {
        let (name, is_version) = (taken.entry.relative(), job.spec.versions.is_some());
        journal.is_none_or(|journal| {
            !journal.has_settled(name, taken.entry.mark(journal, true), is_version)
        })
    };
    let mut entries = Entries::open(job, engine, Pass::Ahead).await?;
    let mut wanted = 0;
    while let Some(batch) = entries.next().await? {
        let selected = select(job, engine, batch).await?;
        let made = selected.map(|taken| is_left(&taken).then(|| make(job, engine, taken))?);
        wanted += made.len() as u64;
    }
    let limit = check_limit(job, wanted + removed, entries.listed() + removed)?;
    Ok(RemovalGuard::new(limit).after(removed))
}

/// Goes through the sources once before, where new names may be names of sources.
async fn learn_sources(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Result<()> {
    let is_stream = is_listed(job) || (job.spec.manifest.is_some() && job.spec.names.is_none());
    let Some(chooser) = chooser_that_learns(job).filter(|_| is_stream) else { return Ok(()) };
    let mut entries = Entries::open(job, engine, Pass::Learn).await?;
    while let Some(batch) = entries.next().await? {
        learn(job, chooser, batch.entries).await?;
    }
    Ok(())
}

/// The action for an upload; `None` for what is no file.
pub(crate) fn upload_action(job: &Prepared, _: &Engine, taken: Taken<'_>) -> Option<UploadAction> {
    let file = taken.entry.file()?;
    let key = taken.name.unwrap_or_else(|| job.target_key(file.relative));
    Some(UploadAction { path: file.path(), key, size: file.size, reason: None, expected: None })
}

/// The action for a download; `None` for what is no object, or left out with a warning.
pub(crate) fn download_action(
    job: &Prepared,
    engine: &Engine,
    taken: Taken<'_>,
) -> Option<DownloadAction> {
    let object = taken.entry.object()?;
    let ObjectEntry { listed, relative, .. } = object;
    if is_archived(job, engine, &object, taken.head.as_deref()) {
        return None;
    }
    let name = taken.name.as_deref().unwrap_or(relative);
    if job.plan.use_source_name && is_nameless(engine, name, listed.key) {
        return None;
    }
    if references_parent(name) {
        engine.report.warning(warning::skipping(name, warning::PARENT_REFERENCE));
        return None;
    }
    let collapsed = collapse(name);
    let is_forecast = job.spec.dry_run || job.spec.plans;
    if is_forecast
        && job.plan.use_source_name
        && let Some(escape) = refused(&collapsed)
    {
        engine.report.warning(escape.warning());
        report_refused(job, engine, &object, &collapsed);
        return None;
    }
    let is_respelled = taken.name.is_none() && matches!(collapsed, Cow::Owned(_));
    let plain_key = is_respelled.then(|| {
        let root = listed.key.strip_suffix(relative).unwrap_or_default();
        format!("{root}{collapsed}")
    });
    Some(DownloadAction {
        key: listed.key.to_owned(),
        version_id: object.version_id.map(str::to_owned),
        relative: collapsed.into_owned(),
        plain_key,
        size: listed.size,
        etag: listed.etag.to_owned(),
        last_modified_s: listed.last_modified_s,
        head: taken.head,
        reason: None,
        expected: None,
    })
}

/// Reports an object whose name is refused as skipped, as the run does that acts.
fn report_refused(job: &Prepared, engine: &Engine, object: &ObjectEntry<'_>, name: &str) {
    let ObjectEntry { listed, version_id, .. } = object;
    let source = engine.source_version(listed.key.to_owned(), version_id.map(str::to_owned));
    let target = job.plan.target.as_ref().map(|target| target.with(name));
    engine.report.planned(0);
    // No file has such a name, so that a sync finds none.
    let is_sync = job.spec.command == TransferCommand::Sync;
    let reason = is_sync.then(|| Reason::Missing.name());
    let event = engine.event(ActionKind::Download, source, target, listed.size);
    engine.report.object(ObjectEvent { reason, outcome: Outcome::Skipped, ..event });
}

/// Whether an object has no name at the target, with a warning. To copy it would be a request about
/// the bucket.
fn is_nameless(engine: &Engine, name: &str, key: &str) -> bool {
    if name.is_empty() {
        let path = format!("s3://{}/{key}", engine.settings.source_bucket);
        engine.report.warning(warning::skipping(path, warning::NO_NAME));
    }
    name.is_empty()
}

/// The action for a copy; `None` for what is no object, or left out with a warning.
pub(crate) fn copy_action(job: &Prepared, engine: &Engine, taken: Taken<'_>) -> Option<CopyAction> {
    let object = taken.entry.object()?;
    if is_archived(job, engine, &object, taken.head.as_deref()) {
        return None;
    }
    let target_key = taken.name.unwrap_or_else(|| job.target_key(object.relative));
    if is_nameless(engine, &target_key, object.listed.key) {
        return None;
    }
    Some(CopyAction {
        source_key: object.listed.key.to_owned(),
        version_id: object.version_id.map(str::to_owned),
        target_key,
        size: object.listed.size,
        etag: object.listed.etag.to_owned(),
        head: taken.head,
        reason: None,
        expected: None,
    })
}

/// The action for a removal from the source; `None` for what is no object.
pub(crate) fn delete_action(
    job: &Prepared,
    _: &Engine,
    Taken { entry, head, .. }: Taken<'_>,
) -> Option<DeleteAction> {
    // `rm` removes whatever is there, as the AWS tools do. But if conditions were checked, the
    // object must still be the one that they were checked on; that of a manifest may be days old.
    // A version never changes.
    let action = object_removal(entry)?;
    if !job.checks_facts() || action.version_id.is_some() {
        return Some(DeleteAction { etag: String::new(), ..action });
    }
    // What was asked for just now is not looked at again.
    let is_of_manifest = job.spec.manifest.is_some() && head.is_none();
    Some(DeleteAction { is_of_manifest, ..action })
}

/// The removal of an object in the state that was listed; `None` for what is no object.
pub(crate) fn object_removal(entry: Entry<'_>) -> Option<DeleteAction> {
    let ObjectEntry { listed, version_id, .. } = entry.object()?;
    Some(DeleteAction {
        key: listed.key.to_owned(),
        version_id: version_id.map(str::to_owned),
        size: listed.size,
        etag: listed.etag.to_owned(),
        is_of_manifest: false,
        expected: None,
    })
}

/// The removal of a file; `None` for what is no file.
pub(crate) fn file_removal(entry: Entry<'_>) -> Option<RemoveFileAction> {
    let file = entry.file()?;
    Some(RemoveFileAction { relative: file.relative.to_owned(), size: file.size, expected: None })
}

/// The action for tags; `None` for what is no object.
pub(crate) fn tag_action(
    _: &Prepared,
    _: &Engine,
    Taken { entry, .. }: Taken<'_>,
) -> Option<TagAction> {
    let ObjectEntry { listed, .. } = entry.object()?;
    Some(TagAction { key: listed.key.to_owned(), size: listed.size, expected: None })
}

/// Whether an object is archived and not restored, so that it cannot be read; warns.
fn is_archived(
    job: &Prepared,
    engine: &Engine,
    object: &ObjectEntry<'_>,
    head: Option<&ObjectHead>,
) -> bool {
    let is_archive = matches!(object.listed.storage_class, "GLACIER" | "DEEP_ARCHIVE");
    let restore = head.and_then(|head| head.restore.as_deref());
    let is_restored = restore.is_some_and(|state| state.contains("ongoing-request=\"false\""));
    if !is_archive || is_restored || job.spec.force_glacier_transfer {
        return false;
    }
    if !job.spec.ignore_glacier_warnings {
        let operation = match (engine.settings.is_move, job.plan.action) {
            (true, _) => "move",
            (false, ActionKind::Download) => "download",
            (false, _) => "copy",
        };
        let command = match job.spec.command {
            TransferCommand::Sync => "sync",
            TransferCommand::Move => "mv",
            _ => "cp",
        };
        let path = format!("s3://{}/{}", engine.settings.source_bucket, object.listed.key);
        let reason = format!(
            "Object is of storage class GLACIER. Unable to perform {operation} operations on \
             GLACIER objects. You must restore the object to be able to perform the operation. \
             See `s3haul {command} --help` for additional parameter options to ignore or force \
             these transfers."
        );
        engine.report.warning(warning::skipping(path, &reason));
    }
    true
}
