//! Files to S3.
//!
//! Small files are the product: a batch of them is opened, read, checked and digested in one
//! blocking call, then handed to as many loops as there are request permits; while files come from
//! memory each loop reads its own, just before it is sent. Files of `multipart_threshold` and more
//! go in parts, each read and digested in a blocking call of its own. A file that changes while it
//! is read is tried once more from the start and then fails: what reaches S3 is always one state
//! of the file.

use std::future::Future;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;

use async_channel::{Receiver, Sender};
use bytes::Bytes;

use crate::action::queue::{Action, Planned};
use crate::action::request_counts::of_upload;
use crate::engine::batch_queue::{BatchReceiver, BatchSender, batch_queue};
use crate::engine::budget::{self, Share};
use crate::engine::buffers::Buffers;
use crate::engine::core::Engine;
use crate::engine::inline_io::{INLINE_SIZE_MAX, InlineGate};
use crate::engine::limits::{Tasks, blocking};
use crate::engine::multipart::MultipartUpload;
use crate::engine::object::{changed, put, refuse_unexpected};
use crate::engine::parts::{parts, upload_part_size};
use crate::engine::preserve::{attributes_of, set_attributes};
use crate::engine::remove_object::report_removal;
use crate::engine::worker_pool::WorkerCount;
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::fs;
use crate::journal::state::PartsSource;
use crate::location::Location;
use crate::plan::action::UploadAction;
use crate::plan::compare::Reason;
use crate::plan::expected::{Expected, State};
use crate::plan::preserve::Attributes;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::units::{ByteRange, MIB, RequestCounts};
use s3haul_wire::{DigestPlan, ObjectProperties, Payload, PayloadSource};

/// Files a blocking call.
const BATCH_FILES_MAX: usize = 64;
/// Files a blocking call while readers are idle: the first requests start sooner.
const BATCH_FILES_IDLE_MAX: usize = 16;
/// Bytes a blocking call.
const BATCH_BYTES_MAX: u64 = 4 * MIB;
/// Files that are read and wait to be sent; the memory budget bounds their bytes.
const PREPARED_MAX: usize = 256;
/// Bytes of a part in memory that is read while it is sent.
const STREAMED_BYTES: u64 = MIB;
/// Changed files that one loop tries again at once; further ones fail.
const AGAIN_MAX: usize = 64;
/// Batches that find the senders without work before one more thread reads.
const STARVED_MAX: u32 = 4;
/// Threads that may read, where there are few cores and where there are many.
const READERS: (usize, usize) = (2, 32);

/// The state of the file that is now an object.
type Sent = Result<fs::FileIdentity>;

/// A small file with its share of the memory.
struct Prepared {
    action: UploadAction,
    /// Nothing where the sender reads it.
    read: Option<Result<SmallFile>>,
    share: Share,
}

/// What was read of a small file.
struct SmallFile {
    payload: Payload,
    identity: fs::FileIdentity,
    attributes: Option<Attributes>,
}

impl Planned for UploadAction {
    fn bytes(&self) -> u64 {
        self.size
    }

    fn expecting(self, expected: Box<Expected>) -> Self {
        Self { expected: Some(expected), ..self }
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_upload(&engine.settings, self.size), 0)
    }
}

impl Action for UploadAction {
    type Place = ();

    fn because(self, reason: Reason) -> Self {
        Self { reason: Some(reason), ..self }
    }

    fn event(self, engine: &Engine, (): &()) -> ObjectEvent {
        let (source, target) = (Location::Local(self.path), engine.target_object(self.key));
        let event = engine.event(ActionKind::Upload, source, Some(target), self.size);
        let (reason, expected) = (self.reason.map(Reason::name), self.expected);
        ObjectEvent { reason, expected, ..event }
    }

    async fn run(engine: Arc<Engine>, (): (), actions: Receiver<Vec<Self>>) {
        // Among the threads that send: the caller's may be another, which would have to be woken.
        let mut tasks = Tasks::new();
        tasks.spawn(upload_all(engine, actions));
        tasks.finish().await;
    }
}

async fn upload_all(engine: Arc<Engine>, actions: Receiver<Vec<UploadAction>>) {
    let (ready_in, ready_out) = batch_queue(PREPARED_MAX);
    let how = Reading::new(&engine);
    let mut tasks = Tasks::new();
    let mut readers = Readers::new(how, ready_in, ready_out);
    while let Ok(batch) = actions.recv().await {
        dispatch(&engine, batch, &mut readers, &mut tasks).await;
        tasks.reap();
    }
    drop(readers);
    tasks.finish().await;
}

/// The threads that read small files: as few as keep the senders busy. One is enough while files
/// come from the page cache (on two cores a second costs 2 of 51 µs a file of 32 KiB, for it only
/// takes turns with the first); files on a slow disk are read by many.
struct Readers {
    how: Reading,
    batches: Sender<Vec<UploadAction>>,
    waiting: Receiver<Vec<UploadAction>>,
    ready: BatchSender<Prepared>,
    /// Queue from the readers to the senders.
    sending: BatchReceiver<Prepared>,
    senders: WorkerCount,
    count: usize,
    count_max: usize,
    /// Batches in a row at whose coming the senders had nothing left to send.
    starved: u32,
}

impl Readers {
    fn new(how: Reading, ready: BatchSender<Prepared>, sending: BatchReceiver<Prepared>) -> Self {
        let count_max = std::thread::available_parallelism().map_or(2, |cores| cores.get() * 2);
        let count_max = count_max.clamp(READERS.0, READERS.1);
        let (batches, waiting) = async_channel::bounded(count_max);
        let senders = WorkerCount::default();
        Self { how, batches, waiting, ready, sending, senders, count: 0, count_max, starved: 0 }
    }

    /// Ensures that a sender is running for what is read; it starts more as needed.
    fn spawn_worker(&mut self, engine: &Arc<Engine>, tasks: &mut Tasks) {
        if self.senders.is_empty() && self.senders.should_grow(engine) {
            let (how, ready) = (self.how.clone(), self.sending.clone());
            tasks.spawn(send_loop(how, Arc::clone(engine), ready, self.senders.clone()));
        }
    }

    /// Whether a batch would be read at once.
    fn are_idle(&self) -> bool {
        self.batches.is_empty()
    }

    async fn read(
        &mut self,
        engine: &Arc<Engine>,
        group: &mut Vec<UploadAction>,
        tasks: &mut Tasks,
    ) {
        if group.is_empty() {
            return;
        }
        self.starved = if self.ready.is_empty() { self.starved + 1 } else { 0 };
        if self.count == 0 || (self.starved >= STARVED_MAX && self.count < self.count_max) {
            self.count += 1;
            self.starved = 0;
            let (waiting, ready) = (self.waiting.clone(), self.ready.clone());
            tasks.spawn(read_loop(self.how.clone(), Arc::clone(engine), waiting, ready));
        }
        let sent = self.batches.send(std::mem::take(group)).await;
        debug_assert!(sent.is_ok(), "readers end after the dispatcher");
    }
}

/// Gives small files to the readers in batches and starts large ones.
async fn dispatch(
    engine: &Arc<Engine>,
    batch: Vec<UploadAction>,
    readers: &mut Readers,
    tasks: &mut Tasks,
) {
    let mut group = Vec::new();
    let mut group_bytes = 0;
    // A batch beyond the budget would count as the whole of it, and be more.
    let bytes_max = BATCH_BYTES_MAX.min(engine.limits.budget.bytes());
    for action in batch {
        if engine.settings.is_multipart(action.size) {
            start_large(engine, action, tasks).await;
            continue;
        }
        let files_max = if readers.are_idle() { BATCH_FILES_IDLE_MAX } else { BATCH_FILES_MAX };
        let bytes = budget::counted(action.size);
        if group.len() >= files_max || group_bytes + bytes > bytes_max {
            readers.read(engine, &mut group, tasks).await;
            group_bytes = 0;
        }
        readers.spawn_worker(engine, tasks);
        group_bytes += bytes;
        group.push(action);
    }
    readers.read(engine, &mut group, tasks).await;
}

async fn start_large(engine: &Arc<Engine>, action: UploadAction, tasks: &mut Tasks) {
    let part_size = upload_part_size(engine.settings.tuning.multipart_chunksize, Some(action.size));
    let slots = engine.limits.large(action.size.div_ceil(part_size)).await;
    let engine = Arc::clone(engine);
    tasks.spawn(async move {
        let (size, result) = upload_file(&engine, &action).await;
        finish(&engine, action, size, result).await;
        drop(slots);
    });
}

/// How small files are read.
#[derive(Clone)]
struct Reading {
    plan: DigestPlan,
    preserves: bool,
    buffers: Arc<Buffers>,
    gate: Arc<InlineGate>,
}

impl Reading {
    fn new(engine: &Engine) -> Self {
        let plan = engine.target.upload_digests(engine.settings.checksum_algorithm);
        let (preserves, buffers) = (engine.settings.preserves, Arc::clone(&engine.buffers));
        Self { plan, preserves, buffers, gate: Arc::default() }
    }

    /// Reads one small file. Blocks, as long as the disk takes.
    fn read(&self, action: &UploadAction) -> Result<SmallFile> {
        self.gate.timed(|| read_small(action, self))
    }

    /// Reads one small file here if files come from memory, else on a thread that may block.
    async fn read_next(&self, action: &UploadAction) -> Result<SmallFile> {
        if self.gate.is_quick() {
            return self.read(action);
        }
        let (how, action) = (self.clone(), action.clone());
        blocking(move || how.read(&action)).await
    }
}

/// Reads batches of small files on blocking threads, until files turn out to come from memory:
/// then the senders read each just before they send it, so that its bytes are still in the core's
/// cache (8 of 60 µs a file of 32 KiB), and threads read again when some do not.
async fn read_loop(
    how: Reading,
    engine: Arc<Engine>,
    batches: Receiver<Vec<UploadAction>>,
    ready: BatchSender<Prepared>,
) {
    while let Ok(batch) = batches.recv().await {
        let sizes = batch.iter().map(|action| action.size);
        let mut share = engine.limits.budget.take_all(sizes).await;
        let are_small = batch.iter().all(|action| action.size <= INLINE_SIZE_MAX);
        let (is_quick, how) = (are_small && how.gate.is_quick(), how.clone());
        let prepare = move |action: UploadAction| {
            let share = share.split(action.size);
            let read = (!is_quick).then(|| how.read(&action));
            Prepared { action, read, share }
        };
        let prepare = move || batch.into_iter().map(prepare).collect::<Vec<_>>();
        ready.send(if is_quick { prepare() } else { blocking(prepare).await }).await;
    }
}

fn read_small(action: &UploadAction, how: &Reading) -> Result<SmallFile> {
    let take = |size| how.buffers.take(size);
    let (buffer, identity) = fs::read::read_whole_into(&action.path, action.size, take)?;
    check(action, &identity)?;
    let mut payload = Payload::from_bytes(how.buffers.freeze(buffer));
    payload.digest(how.plan);
    let attributes = attributes_of(how.preserves, &action.path, &identity)?;
    Ok(SmallFile { payload, identity, attributes })
}

/// One more that sends small files.
fn one_more(
    how: &Reading,
    engine: &Arc<Engine>,
    ready: &BatchReceiver<Prepared>,
    workers: &WorkerCount,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(send_loop(how.clone(), Arc::clone(engine), ready.clone(), workers.clone()))
}

/// Sends small files, one after the other. A changed file is tried again beside the loop: it needs
/// memory, which the files that wait for this loop may hold.
async fn send_loop(
    how: Reading,
    engine: Arc<Engine>,
    ready: BatchReceiver<Prepared>,
    workers: WorkerCount,
) {
    let (mut again, mut spawned) = (Tasks::new(), Tasks::new());
    let mut properties = engine.settings.properties.clone();
    while let Some(Prepared { action, read, share }) = ready.recv().await {
        if workers.should_grow(&engine) {
            spawned.spawn(one_more(&how, &engine, &ready, &workers));
        }
        let read = match read {
            Some(read) => read,
            None => how.read_next(&action).await,
        };
        let (size, result) = match read {
            Ok(SmallFile { payload, identity, attributes }) => {
                set_attributes(&engine.settings, attributes, &mut properties);
                set_content_type(&engine, &action, &mut properties);
                let size = payload.len();
                let sent = pin!(put_small(&engine, &action, payload, &properties));
                let grow = || spawned.spawn(one_more(&how, &engine, &ready, &workers));
                let sent = workers.growing(&engine, sent, grow).await;
                drop(share);
                (size, sent.map(|()| identity))
            }
            Err(error) if error.kind() == ErrorKind::SourceChanged && again.len() < AGAIN_MAX => {
                drop(share);
                let engine = Arc::clone(&engine);
                again.spawn(async move {
                    let (size, result) = upload_again(&engine, &action).await;
                    finish(&engine, action, size, result).await;
                });
                continue;
            }
            Err(error) => (action.size, Err(error)),
        };
        finish(&engine, action, size, result).await;
        again.reap();
    }
    again.finish().await;
    spawned.finish().await;
}

/// What this process does of a file whose parts several processes send.
pub(crate) async fn send_portion(engine: &Arc<Engine>, action: &UploadAction) -> Result<()> {
    upload_once(engine, action, action.size).await.map(drop)
}

/// Uploads one file by itself; tries once more if it changed meanwhile.
async fn upload_file(engine: &Arc<Engine>, action: &UploadAction) -> (u64, Sent) {
    let result = upload_once(engine, action, action.size).await;
    match result {
        Err(error) if error.kind() == ErrorKind::SourceChanged => {
            upload_again(engine, action).await
        }
        result => (action.size, result),
    }
}

/// The second and last try of a file that changed during the first.
async fn upload_again(engine: &Arc<Engine>, action: &UploadAction) -> (u64, Sent) {
    let path = action.path.clone();
    match blocking(move || fs::FileInfo::of_path(&path)).await {
        Ok(info) => (info.size, upload_once(engine, action, info.size).await),
        Err(error) => (action.size, Err(error)),
    }
}

async fn upload_once(engine: &Arc<Engine>, action: &UploadAction, size: u64) -> Sent {
    let mut properties = engine.settings.properties.clone();
    set_content_type(engine, action, &mut properties);
    if engine.settings.is_multipart(size) {
        return upload_parts(engine, action, size, properties).await;
    }
    let share = engine.limits.budget.take(size).await;
    let how = Reading::new(engine);
    let sized = UploadAction { size, ..action.clone() };
    let read = blocking(move || read_small(&sized, &how)).await?;
    set_attributes(&engine.settings, read.attributes, &mut properties);
    put_small(engine, action, read.payload, &properties).await?;
    drop(share);
    Ok(read.identity)
}

/// Sends a small file in one request.
async fn put_small(
    engine: &Engine,
    action: &UploadAction,
    payload: Payload,
    properties: &ObjectProperties,
) -> Result<()> {
    let expected = action.expected.as_deref();
    if expected.is_some() && !engine.heeds_conditions() {
        refuse_unexpected(engine, &action.key, expected).await?;
    }
    put(engine, (&action.key, expected), payload, properties).await
}

/// Refuses a file that is no longer as it was planned.
fn check(action: &UploadAction, found: &fs::FileIdentity) -> Result<()> {
    let Some(expected) = action.expected.as_deref() else { return Ok(()) };
    let modified_ns = i128::from(found.modified_s) * 1_000_000_000 + i128::from(found.modified_ns);
    if State::of_file(found.size, modified_ns) == expected.source {
        return Ok(());
    }
    Err(changed("the source", Some(expected)))
}

/// Uploads one file in parts.
async fn upload_parts(
    engine: &Arc<Engine>,
    action: &UploadAction,
    size: u64,
    mut properties: ObjectProperties,
) -> Sent {
    refuse_unexpected(engine, &action.key, action.expected.as_deref()).await?;
    let source = OpenSource::open(engine, action, size).await?;
    if engine.settings.preserves {
        let opened = Arc::clone(&source);
        let read = move || attributes_of(true, &opened.action.path, &opened.identity);
        set_attributes(&engine.settings, blocking(read).await?, &mut properties);
    }
    let part_size = upload_part_size(engine.settings.tuning.multipart_chunksize, Some(size));
    let source_state = PartsSource { state: source.identity.state(), size, part_size };
    let begin = MultipartUpload::begin_or_resume(engine, &action.key, properties, source_state);
    let mut upload = begin.await?;
    let sent = send_parts(engine, &mut upload, &source, (size, part_size)).await;
    match sent {
        Ok(()) => Ok(source.identity),
        Err(error) => {
            upload.abandon(&error).await;
            Err(error)
        }
    }
}

async fn send_parts(
    engine: &Engine,
    upload: &mut MultipartUpload,
    source: &Arc<OpenSource>,
    (size, part_size): (u64, u64),
) -> Result<()> {
    let mut count = 0;
    for part in parts(size, part_size) {
        count = part.number;
        if !upload.needs(part.number) {
            continue;
        }
        let (source, range) = (Arc::clone(source), part.range);
        if let Some(algorithm) = engine.target.streams_parts(upload.plan()) {
            let source = Arc::new(PartOfFile { source, start: range.start });
            let payload = Payload::streamed(source, range.len(), algorithm);
            // With a limit of bytes a second there is no use in more at once.
            let is_sure = engine.target.takes_trailers() && !engine.bandwidth.is_limited();
            let held = if is_sure { range.len().min(STREAMED_BYTES) } else { range.len() };
            upload.send_fetched(part.number, held, async { Ok(payload) }).await?;
        } else {
            let read = move || source.read(range).map(Payload::from_bytes);
            upload.send(part.number, range.len(), read).await?;
        }
    }
    upload.all_sent().await?;
    let held = Arc::clone(source);
    blocking(move || held.identity.unchanged(&held.file, &held.action.path)).await?;
    upload.complete(count, (size, source.action.expected.as_deref())).await
}

/// A large file while its parts are read.
struct OpenSource {
    action: UploadAction,
    file: std::fs::File,
    identity: fs::FileIdentity,
    buffers: Arc<Buffers>,
    gate: Arc<InlineGate>,
}

impl OpenSource {
    async fn open(engine: &Engine, action: &UploadAction, size: u64) -> Result<Arc<Self>> {
        let (action, buffers) = (action.clone(), Arc::clone(&engine.buffers));
        let gate = engine.inline_reads();
        blocking(move || {
            let (file, identity) = fs::read::open_with_identity(&action.path)?;
            if identity.size != size {
                let message = format!(
                    "`{}` changed: it has {} bytes, {size} were expected",
                    action.path.display(),
                    identity.size
                );
                return Err(Error::new(ErrorKind::SourceChanged, message));
            }
            check(&action, &identity)?;
            fs::read::advise_sequential(&file, size);
            Ok(Arc::new(Self { action, file, identity, buffers, gate }))
        })
        .await
    }

    /// Reads a part or a piece of one. Blocks.
    fn read(&self, range: ByteRange) -> Result<Bytes> {
        let buffer = self.buffers.take(usize::try_from(range.len()).unwrap_or(0));
        let path = &self.action.path;
        let buffer = fs::read::read_range_into(&self.file, path, range, buffer)?;
        Ok(self.buffers.freeze(buffer))
    }
}

/// A part that is read while it is sent.
struct PartOfFile {
    source: Arc<OpenSource>,
    start: u64,
}

impl PayloadSource for PartOfFile {
    fn read(&self, range: ByteRange) -> Result<Bytes> {
        let range = ByteRange { start: self.start + range.start, end: self.start + range.end };
        self.source.gate.timed(|| self.source.read(range))
    }

    fn read_now(&self, range: ByteRange) -> Option<Result<Bytes>> {
        let _permit = self.source.gate.try_enter()?;
        Some(self.read(range))
    }
}

fn set_content_type(engine: &Engine, action: &UploadAction, properties: &mut ObjectProperties) {
    let settings = &engine.settings;
    if settings.properties.content_type.is_some() || !settings.guess_mime_type {
        return;
    }
    let guess = action.path.to_str().and_then(|path| engine.guess_content_type(path));
    if properties.content_type.as_deref() != guess {
        properties.content_type = guess.map(str::to_owned);
    }
}

/// Removes the source of a move and reports the outcome of the file.
async fn finish(engine: &Arc<Engine>, action: UploadAction, size: u64, result: Sent) {
    if let Err(error) = &result
        && let Some(text) = fs::read::skip_warning(&action.path, error)
    {
        // A file that is gone or unreadable by now is skipped as the AWS tools skip it while
        // walking.
        engine.report.warning(text);
        let event = action.event(engine, &());
        return engine.report.object(ObjectEvent { outcome: Outcome::Skipped, ..event });
    }
    let path = action.path.clone();
    let event = UploadAction { size, ..action }.event(engine, &());
    match result {
        Ok(sent) if engine.settings.is_move => {
            let held = Arc::clone(engine);
            let removal = async move { remove_source(&held, path, sent, size).await };
            report_removal(engine, event, removal).await;
        }
        result => engine.conclude(event, result.map(drop)),
    }
}

/// Removes the file of a move, unless it is no longer what was sent.
async fn remove_source(
    engine: &Engine,
    path: PathBuf,
    sent: fs::FileIdentity,
    size: u64,
) -> Result<()> {
    let removed = blocking(move || {
        let (_, now) = fs::read::open_with_identity(&path)?;
        if now != sent {
            let path = path.display();
            let message = format!("`{path}` changed after it was uploaded and was not removed");
            return Err(Error::new(ErrorKind::SourceChanged, message));
        }
        fs::remove_file(&path)
    })
    .await;
    if removed.is_err() {
        engine.report.unmoved(size);
    }
    removed
}
