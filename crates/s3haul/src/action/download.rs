//! Objects to files.
//!
//! Small objects are received whole within the memory budget, validated, and written at once while
//! that is quick, else in batches in blocking calls; large ones go through [`in_parts`]. A file
//! appears under its name only when it is complete.

pub(crate) mod in_parts;
mod path_collisions;
pub(crate) mod target;

use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_channel::{Receiver, Sender};
use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use crate::action::download::in_parts::asks_for_checksum;
use crate::action::download::path_collisions::PathClaims;
use crate::action::download::target::DownloadTarget;
use crate::action::download::target::SaveResult;
use crate::action::download::target::access_of;
use crate::action::queue::{Action, Planned};
use crate::action::request_counts::of_download;
use crate::engine::budget::Share;
use crate::engine::core::Engine;
use crate::engine::inline_io::{HUNG, INLINE_SIZE_MAX, InlineGate, InlinePermit, requeue};
use crate::engine::limits::{Tasks, blocking};
use crate::engine::object::check_source;
use crate::engine::preserve::{finish_of, finish_over};
use crate::engine::receive::{Answer, receive};
use crate::engine::remove_object::finish_move;
use crate::engine::worker_pool::WorkerPool;
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::fs::{CreateError, Finish};
use crate::location::Location;
use crate::plan::action::DownloadAction;
use crate::plan::compare::Reason;
use crate::plan::expected::Expected;
use s3haul_wire::units::RequestCounts;

/// Objects a blocking call.
const BATCH_FILES_MAX: usize = 64;
/// Objects that are received and wait to be written; the memory budget bounds their bytes.
const RECEIVED_MAX: usize = 256;
/// Threads that write small files, at least and at most. One more starts when a batch hangs.
const WRITERS: (usize, usize) = (2, 16);

/// Pause between two looks for a reader of a FIFO.
const READER_PAUSE: Duration = Duration::from_millis(100);

/// A small object, received.
struct Received {
    action: DownloadAction,
    chunks: Vec<Bytes>,
    finish: Finish,
    _share: Share,
}

/// How small files are written.
#[derive(Clone)]
struct Writing {
    target: DownloadTarget,
    gate: Arc<InlineGate>,
    writers: Arc<AtomicUsize>,
}

impl Writing {
    /// Leave to write an object between two requests. The source of a move goes once its file is
    /// on disk, which is never quick.
    fn try_enter(&self, engine: &Engine, object: &Received) -> Option<InlinePermit<'_>> {
        let is_small = object.action.size <= INLINE_SIZE_MAX && !engine.settings.is_move;
        is_small.then(|| self.gate.try_enter()).flatten()
    }

    /// Writes a small file. Blocks, as long as the disk takes.
    fn write(&self, engine: &Engine, object: Received) -> (DownloadAction, SaveResult) {
        let begun = Instant::now();
        let result = save(&self.target, &object, engine.settings.is_move);
        self.gate.note(begun.elapsed());
        let Received { mut action, chunks, .. } = object;
        action.size = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        (action, result)
    }

    /// Whether another writer may start; counts it.
    fn may_add_writer(&self) -> bool {
        let one_more = |writers| (writers < WRITERS.1).then_some(writers + 1);
        self.writers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// Reports how the object ended, unless its source is to be removed before.
    fn report(
        &self,
        engine: &Engine,
        (action, result): (DownloadAction, SaveResult),
    ) -> Option<DownloadAction> {
        if result.is_ok() {
            engine.report.moved(action.size);
        }
        report(engine, &self.target, action, result)
    }
}

impl Planned for DownloadAction {
    fn bytes(&self) -> u64 {
        self.size
    }

    fn expecting(self, expected: Box<Expected>) -> Self {
        Self { expected: Some(expected), ..self }
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_download(&engine.settings, self.size, asks_for_checksum(engine, self)), 0)
    }
}

impl Action for DownloadAction {
    type Place = DownloadTarget;

    fn because(self, reason: Reason) -> Self {
        Self { reason: Some(reason), ..self }
    }

    fn event(self, engine: &Engine, target: &DownloadTarget) -> ObjectEvent {
        let path = Location::Local(target.path_of(&self.relative));
        let source = engine.source_version(self.key, self.version_id);
        let event = engine.event(ActionKind::Download, source, Some(path), self.size);
        let (reason, expected) = (self.reason.map(Reason::name), self.expected);
        ObjectEvent { reason, expected, ..event }
    }

    async fn run(engine: Arc<Engine>, target: DownloadTarget, actions: Receiver<Vec<Self>>) {
        // Among the threads that receive: the caller's may be another, which would have to be
        // woken.
        let mut tasks = Tasks::new();
        tasks.spawn(download_all(engine, target, actions));
        tasks.finish().await;
    }
}

async fn download_all(
    engine: Arc<Engine>,
    target: DownloadTarget,
    actions: Receiver<Vec<DownloadAction>>,
) {
    let (received_in, received_out) = async_channel::bounded(RECEIVED_MAX);
    let writers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let mut tasks = Tasks::new();
    let runtime = Handle::current();
    let threads = runtime.metrics().num_workers();
    let (gate, watchdog) = InlineGate::among(threads);
    if threads > 1 && !engine.settings.is_one {
        tasks.spawn(blocking(move || watchdog.run(&runtime)));
    }
    let writers = writers.clamp(WRITERS.0, WRITERS.1);
    let writing = Writing { target: target.clone(), gate, writers: Arc::new(writers.into()) };
    for _ in 0..writers {
        tasks.spawn(write_loop(Arc::clone(&engine), writing.clone(), received_out.clone()));
    }
    drop(received_out);
    let small =
        move |engine, action| download_small(engine, writing.clone(), received_in.clone(), action);
    let mut pool = WorkerPool::new(&engine, small);
    let mut collapsed = PathClaims::default();
    let mut fifo = None;
    while let Ok(batch) = actions.recv().await {
        for action in batch {
            if fifo.is_none() && matches!(target, DownloadTarget::Exactly(_)) {
                fifo = reader_of_fifo(&engine, &target).await;
            }
            if let Err(error) = collapsed.claim(&engine, &target, &action).await {
                conclude(&engine, &target, action, Err(error.into())).await;
            } else if engine.settings.is_multipart(action.size) {
                start_large(&engine, &target, action, &mut tasks).await;
            } else {
                pool.add(action, &mut tasks).await;
            }
        }
        pool.flush().await;
        tasks.reap();
    }
    drop(pool);
    tasks.finish().await;
}

/// Waits until something reads from the FIFO that the command names. It is open from then on, so
/// that it is not waited for where that could not be cancelled.
async fn reader_of_fifo(engine: &Engine, target: &DownloadTarget) -> Option<OwnedFd> {
    let mut is_noted = false;
    loop {
        let fifo = target.clone();
        if let Ok(opened) = blocking(move || fifo.open_fifo()).await {
            return opened;
        }
        if !std::mem::replace(&mut is_noted, true) {
            let path = target.path_of("");
            engine.report.note(format!("waiting for a reader of the FIFO `{}`", path.display()));
        }
        sleep(READER_PAUSE).await;
    }
}

async fn start_large(
    engine: &Arc<Engine>,
    target: &DownloadTarget,
    action: DownloadAction,
    tasks: &mut Tasks,
) {
    let parts = action.size.div_ceil(engine.settings.tuning.multipart_chunksize.max(1));
    let slots = engine.limits.large(parts).await;
    let (engine, target) = (Arc::clone(engine), target.clone());
    tasks.spawn(async move {
        let mut action = action;
        let result = in_parts::download(&engine, &target, &mut action).await;
        conclude(&engine, &target, action, result).await;
        drop(slots);
    });
}

/// Receives a small object and writes it, or queues it for the writers.
async fn download_small(
    engine: Arc<Engine>,
    writing: Writing,
    received: Sender<Received>,
    mut action: DownloadAction,
) {
    let share = engine.limits.budget.take(action.size).await;
    let listed = (action.size, action.etag.as_str());
    let answer = receive(&engine, &action.key, action.version_id.as_deref(), listed).await;
    let answer = answer.and_then(|answer| {
        check_source(action.expected.as_deref(), answer.head())?;
        Ok(answer)
    });
    match answer {
        Ok(Answer::Whole { chunks, head }) => {
            let finish = finish_of(&engine.settings, &head);
            action.etag = head.etag;
            let object = Received { action, chunks, finish, _share: share };
            if let Some(turn) = writing.try_enter(&engine, &object) {
                requeue().await;
                let written = writing.write(&engine, object);
                drop(turn);
                let moved = writing.report(&engine, written);
                debug_assert!(moved.is_none(), "the source of a move goes later");
            } else {
                let sent = received.send(object).await;
                debug_assert!(sent.is_ok(), "the writer ends after the receivers");
            }
        }
        Ok(Answer::Grown(head)) => {
            drop(share);
            action.size = head.size;
            action.etag = head.etag;
            action.last_modified_s = head.last_modified_s;
            let result = in_parts::download(&engine, &writing.target, &mut action).await;
            conclude(&engine, &writing.target, action, result).await;
        }
        Err(error) => {
            drop(share);
            conclude(&engine, &writing.target, action, Err(error.into())).await;
        }
    }
}

/// Writes small files in batches on blocking threads. While a batch hangs another loop takes its
/// place, or a few such files would stop all others.
fn write_loop(
    engine: Arc<Engine>,
    writing: Writing,
    received: Receiver<Received>,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let mut replacements = Tasks::new();
        while let Ok(first) = received.recv().await {
            let mut batch = vec![first];
            while batch.len() < BATCH_FILES_MAX
                && let Ok(next) = received.try_recv()
            {
                batch.push(next);
            }
            let mut written = std::pin::pin!(write_batch(&engine, &writing, batch));
            if timeout(HUNG, &mut written).await.is_ok() {
                continue;
            }
            if writing.may_add_writer() {
                let (engine, received) = (Arc::clone(&engine), received.clone());
                replacements.spawn(write_loop(engine, writing.clone(), received));
            }
            written.await;
        }
        replacements.finish().await;
    })
}

/// Writes files and reports each at once, since a job that is cancelled hears of no batch. Only
/// what still has a source to remove is reported here.
async fn write_batch(engine: &Arc<Engine>, writing: &Writing, batch: Vec<Received>) {
    let (engine_held, writer) = (Arc::clone(engine), writing.clone());
    let moved = blocking(move || {
        // The engine is held so that the job does not end before its last write.
        let write = |object| {
            let written = writer.write(&engine_held, object);
            writer.report(&engine_held, written)
        };
        batch.into_iter().filter_map(write).collect::<Vec<_>>()
    })
    .await;
    let target = &writing.target;
    let ends = moved.into_iter().map(|action| remove_and_report(engine, target, action));
    futures_util::future::join_all(ends).await;
}

fn save(target: &DownloadTarget, object: &Received, is_move: bool) -> SaveResult {
    let access = access_of(object.finish.permissions.is_some());
    let file = target.create(&object.action.relative, access)?;
    let mut position = 0;
    for chunk in &object.chunks {
        file.write_at(position, chunk)?;
        position += chunk.len() as u64;
    }
    if is_move {
        file.sync()?;
    }
    let expected = object.action.expected.as_deref();
    target.refuse_unexpected(&object.action.relative, expected)?;
    let finish = finish_over(object.finish, expected);
    Ok(if is_move { file.commit_durably(finish)? } else { file.commit(finish)? })
}

/// Removes the source of a move and reports the outcome of the object. The bytes of a successful
/// one have already been reported as moved.
pub(crate) async fn conclude(
    engine: &Arc<Engine>,
    target: &DownloadTarget,
    action: DownloadAction,
    result: SaveResult,
) {
    if let Some(action) = report(engine, target, action, result) {
        remove_and_report(engine, target, action).await;
    }
}

/// Reports the outcome of an object; gives that of a move back, whose source is to be removed.
fn report(
    engine: &Engine,
    target: &DownloadTarget,
    action: DownloadAction,
    result: SaveResult,
) -> Option<DownloadAction> {
    let result = match result {
        Err(CreateError::Escape(escape)) => {
            engine.report.warning(escape.warning());
            let event = action.event(engine, target);
            engine.report.object(ObjectEvent { outcome: Outcome::Skipped, ..event });
            return None;
        }
        Err(CreateError::Failed(error)) => Err(error),
        Ok(committed) => {
            if let Some(text) = committed.warning {
                engine.report.warning(text);
            }
            if engine.settings.is_move {
                return Some(action);
            }
            Ok(())
        }
    };
    engine.conclude(action.event(engine, target), result);
    None
}

async fn remove_and_report(engine: &Arc<Engine>, target: &DownloadTarget, action: DownloadAction) {
    let source = (action.key.clone(), action.etag.clone());
    finish_move(engine, action.event(engine, target), source).await;
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::time::Duration;

    use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

    use super::*;
    use crate::engine::settings::Tuning;
    use crate::engine::testing::engine;
    use crate::fs::TargetRoot;
    use s3haul_wire::testing::{Reply, World};

    fn action(name: String) -> DownloadAction {
        DownloadAction {
            key: name.clone(),
            version_id: None,
            relative: name,
            plain_key: None,
            size: 1,
            etag: String::new(),
            last_modified_s: 0,
            head: None,
            reason: None,
            expected: None,
        }
    }

    fn named(prefix: &str, count: usize) -> Vec<DownloadAction> {
        (0..count).map(|number| action(format!("{prefix}{number}"))).collect()
    }

    /// Not in the runtime, which may have stopped.
    fn comes(what: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        while !what() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(2));
        }
        what()
    }

    /// A pipe that is full: writing to it blocks until its reader is dropped.
    fn full_pipe(folder: &Path, name: &str) -> OwnedFd {
        let path = folder.join(name);
        mknodat(CWD, &path, FileType::Fifo, 0o600.into(), 0).unwrap();
        let pipe = rustix::fs::open(path, OFlags::RDWR | OFlags::NONBLOCK, Mode::empty()).unwrap();
        while rustix::io::write(&pipe, &[0; 1 << 12]).is_ok() {}
        pipe
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn files_that_hang_stop_no_requests() {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new(|_| Reply::ok("1"));
        let (engine, _ended) = engine(&world, Tuning::default());
        let root = TargetRoot::open(folder.path()).unwrap();
        let (actions, taken) = async_channel::unbounded();
        let downloads =
            tokio::spawn(DownloadAction::run(engine, DownloadTarget::Below(root), taken));
        // Until writing is known to be quick.
        actions.send(named("quick", 100)).await.unwrap();
        let is_there = |number: usize| folder.path().join(format!("quick{number}")).exists();
        assert!(comes(|| (0..100).all(is_there)));
        let pipes = [0, 1].map(|number| full_pipe(folder.path(), &format!("hangs{number}")));
        actions.send([named("hangs", 2), named("other", 300)].concat()).await.unwrap();
        // A late request may be sent twice, so objects are counted.
        let requested = || world.seen().iter().map(|seen| seen.line().to_owned()).collect();
        let is_each_requested = comes(|| HashSet::<String>::len(&requested()) == 402);
        // A thread waits in each until now.
        drop(pipes);
        assert!(is_each_requested, "{} of 402 objects", requested().len());
        drop(actions);
        downloads.await.unwrap();
    }
}
