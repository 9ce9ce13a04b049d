//! One large object to a file, in ranges received in parallel.
//!
//! Each range is written at its position while it arrives and digested there; the CRCs of the
//! ranges combine to that of the object. The file gets its name when everything matched.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use tokio::time::Instant;

use crate::action::download::target::{DownloadTarget, SaveResult, access_of};
use crate::engine::core::Engine;
use crate::engine::integrity::{Piece, check, combine, expected_of, may_read_again};
use crate::engine::limits::{Tasks, blocking};
use crate::engine::object::head;
use crate::engine::ordered_reader::in_order;
use crate::engine::parts::{Part, download_parts};
use crate::engine::preserve::{finish_of, finish_over};
use crate::engine::range_reader::{
    ObjectState, RangeReader, back_off, gave_up, replaced, wants_checksums,
};
use crate::fs::{Committed, Finish, KeptIf, PendingFile};
use crate::journal::Journal;
use crate::journal::state::{PartDone, PartsInProgress, PartsSource};
use crate::plan::action::DownloadAction;
use crate::plan::expected::Expected;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::units::MIB;
use s3haul_wire::{Checksum, ChecksumAlgorithm, Hasher, ObjectHead};

/// Bytes gathered for one write.
const WRITE_SIZE: u64 = MIB;
/// CRC computed of ranges where the object's own is not known beforehand: the one that S3 stores by
/// default.
const LIKELY_CRC: ChecksumAlgorithm = ChecksumAlgorithm::Crc64Nvme;

/// A file that ranges are written to. The file is dropped, and so removed if it is not complete,
/// before the engine is let go.
struct Writing {
    file: PendingFile,
    object: ObjectState,
    algorithm: ChecksumAlgorithm,
    given_up: AtomicBool,
    finish: OnceLock<Finish>,
    written: AtomicU64,
    /// Held while bytes are written. File systems let one writer into a file at a time, and the
    /// others would wait for it spinning.
    turn: Mutex<()>,
    /// Ranges that an earlier run wrote.
    before: Vec<WrittenRange>,
    /// Where it is written which ranges are done.
    noted: Option<Noted>,
    engine: Arc<Engine>,
}

/// A file of which a journal knows which ranges are done.
#[derive(Clone)]
struct Noted {
    journal: Arc<Journal>,
    target: String,
    source: PartsSource,
}

impl Noted {
    /// Of an object whose state is known, in a job with a journal.
    fn new(engine: &Engine, target: &DownloadTarget, action: &DownloadAction) -> Option<Self> {
        let journal = engine.report.journal_handle().filter(|_| !action.etag.is_empty())?;
        let target = target.path_of(&action.relative).to_str()?.to_owned();
        let version = action.version_id.as_deref().unwrap_or_default();
        let part_size = engine.settings.tuning.multipart_chunksize;
        let state = format!("{} {version}", action.etag);
        let source = PartsSource { state, size: action.size, part_size };
        Some(Self { journal, target, source })
    }

    /// The file of an earlier run, and its ranges as far as they are on the disk. Blocks.
    fn reopen(
        &self,
        open: impl Fn(&str) -> Option<PendingFile>,
        algorithm: ChecksumAlgorithm,
    ) -> Option<(PendingFile, Vec<WrittenRange>)> {
        let found = self.journal.parts(&self.target)?;
        let file = open(&found.handle)?;
        if found.source != self.source {
            // It is removed with its descriptor.
            return None;
        }
        let parts = download_parts(self.source.size, self.source.part_size);
        let written = |done: PartDone| {
            let part = parts.get(done.number)?;
            let checksum = checksum_of(&file, part, algorithm).ok()?;
            let piece = Piece { checksum, length: part.range.len() };
            (piece.checksum.value == done.checksum).then_some(WrittenRange {
                part,
                piece,
                head: None,
            })
        };
        // A part that was fetched again is there twice.
        let done: BTreeMap<_, _> = found.done.into_iter().map(|done| (done.number, done)).collect();
        let before = done.into_values().filter_map(written).collect();
        Some((file, before))
    }

    /// The file is new. Its temporary name stays for a later run while the journal knows it.
    fn begin(&self, file: &PendingFile) {
        let Some(handle) = file.temporary_name().map(str::to_owned) else { return };
        let (target, source, done) = (self.target.clone(), self.source.clone(), Vec::new());
        self.journal.parts_begun(PartsInProgress { target, source, handle, done });
    }

    fn kept_if(&self) -> KeptIf {
        let Self { journal, target, .. } = self.clone();
        KeptIf::new(move || journal.keeps_parts(&target))
    }

    fn done(&self, range: &WrittenRange) {
        let (number, checksum) = (range.part.number, range.piece.checksum.value.clone());
        self.journal.part_done(&self.target, PartDone { number, checksum });
    }

    fn ended(&self) {
        self.journal.parts_ended(&self.target);
    }
}

/// The checksum of a range as it is in a file. Blocks.
fn checksum_of(file: &PendingFile, part: Part, algorithm: ChecksumAlgorithm) -> Result<Checksum> {
    let mut hasher = Hasher::new(algorithm);
    let mut buffer = vec![0; usize::try_from(part.range.len().min(WRITE_SIZE)).unwrap_or(0)];
    let mut position = part.range.start;
    while position < part.range.end {
        let length = (part.range.end - position).min(WRITE_SIZE);
        let chunk = &mut buffer[..usize::try_from(length).unwrap_or(0)];
        file.read_at(position, chunk)?;
        hasher.update(chunk);
        position += length;
    }
    Ok(hasher.finish())
}

/// Downloads an object in ranges: from the start again where its checksum does not match, unless
/// a device or FIFO has taken the bytes. The action learns the state that was read, where no
/// listing said it.
pub(crate) async fn download(
    engine: &Arc<Engine>,
    target: &DownloadTarget,
    action: &mut DownloadAction,
) -> SaveResult {
    let began = Instant::now();
    for times in 1.. {
        let writing = start(engine, target, action).await?;
        let may_repeat = !writing.file.is_sequential();
        let object = writing.object.clone();
        match save(engine, target, action, writing).await {
            Err(error) if may_repeat && may_read_again(&error, times) => back_off(times).await,
            result => {
                if action.etag.is_empty() {
                    object.seen().clone_into(&mut action.etag);
                }
                return Ok(result.map_err(|error| gave_up(error, times, began))?);
            }
        }
    }
    unreachable!("the last time returns")
}

async fn save(
    engine: &Arc<Engine>,
    target: &DownloadTarget,
    action: &DownloadAction,
    writing: Arc<Writing>,
) -> Result<Committed> {
    let result = if writing.file.is_sequential() {
        write_in_order(&writing, action).await
    } else {
        write_ranges(&writing, action).await
    };
    if let Err(error) = result {
        engine.report.unmoved(writing.written.load(Ordering::Relaxed));
        if let Some(noted) = writing.noted.as_ref().filter(|_| !error.may_pass()) {
            noted.ended();
        }
        return Err(error);
    }
    let noted = writing.noted.clone();
    let modified_s = action.last_modified_s;
    let (target, relative) = (target.clone(), action.relative.clone());
    let expected = action.expected.clone();
    let committed =
        blocking(move || match target.refuse_unexpected(&relative, expected.as_deref()) {
            Ok(()) => commit(writing, modified_s, expected.as_deref()),
            Err(error) => {
                if let Some(writing) = Arc::into_inner(writing) {
                    writing.file.discard();
                }
                Err(error)
            }
        });
    let committed = committed.await;
    if committed.is_err() {
        engine.report.unmoved(action.size);
    }
    if let Some(noted) = noted {
        noted.ended();
    }
    committed
}

fn commit(
    writing: Arc<Writing>,
    modified_s: i64,
    expected: Option<&Expected>,
) -> Result<Committed> {
    let Some(writing) = Arc::into_inner(writing) else {
        return Err(Error::new(ErrorKind::Local, "the file is still being written"));
    };
    // The engine is let go last.
    let Writing { engine, file, finish, .. } = writing;
    let is_new = engine.settings.no_overwrite;
    let plain = || Finish { is_new, ..Finish::at(modified_s) };
    let finish = finish_over(finish.into_inner().unwrap_or_else(plain), expected);
    if engine.settings.is_move {
        if let Err(error) = file.sync() {
            file.discard();
            return Err(error);
        }
        return file.commit_durably(finish);
    }
    file.commit(finish)
}

async fn start(
    engine: &Arc<Engine>,
    target: &DownloadTarget,
    action: &DownloadAction,
) -> Result<Arc<Writing>, crate::fs::CreateError> {
    let known = action.head.as_deref().and_then(expected_of);
    let algorithm = known.map_or(LIKELY_CRC, |checksum| checksum.algorithm);
    let (engine, target) = (Arc::clone(engine), target.clone());
    let (relative, size) = (action.relative.clone(), action.size);
    let object = ObjectState::new(action.key.clone(), action.etag.clone())
        .in_version(action.version_id.clone())
        .of_size(size);
    let noted = Noted::new(&engine, &target, action);
    blocking(move || {
        let access = access_of(engine.settings.preserves);
        let open = |temporary: &str| target.reopen(&relative, access, temporary);
        let reopened = noted.as_ref().and_then(|noted| noted.reopen(open, algorithm));
        let (mut file, before) = if let Some(reopened) = reopened {
            reopened
        } else {
            let file = target.create(&relative, access)?;
            file.preallocate(size)?;
            if let Some(noted) = &noted {
                noted.begin(&file);
            }
            (file, Vec::new())
        };
        if let Some(noted) = &noted {
            file.keep_if(noted.kept_if());
        }
        let bytes: u64 = before.iter().map(|range| range.piece.length).sum();
        engine.report.moved(bytes);
        Ok(Arc::new(Writing {
            file,
            object,
            algorithm,
            given_up: AtomicBool::new(false),
            finish: OnceLock::new(),
            written: AtomicU64::new(bytes),
            turn: Mutex::new(()),
            before,
            noted,
            engine,
        }))
    })
    .await
}

async fn write_ranges(writing: &Arc<Writing>, action: &DownloadAction) -> Result<()> {
    let engine = &writing.engine;
    let part_size = engine.settings.tuning.multipart_chunksize;
    let mut tasks = Tasks::new();
    let mut done = writing.before.clone();
    let before: HashSet<u32> = done.iter().map(|range| range.part.number).collect();
    let is_done = |part: &Part| before.contains(&part.number);
    let mut result = Ok(());
    for part in download_parts(action.size, part_size).filter(|part| !is_done(part)) {
        let share = engine.limits.budget.take(part.range.len().min(2 * WRITE_SIZE)).await;
        while let Some(ended) = tasks.try_next() {
            result = result.and(collect(&mut done, ended));
        }
        if result.is_err() {
            break;
        }
        let writing = Arc::clone(writing);
        tasks.spawn(async move {
            let ended = write_range(&writing, part).await;
            drop((share, writing));
            ended
        });
    }
    if result.is_err() {
        writing.given_up.store(true, Ordering::Relaxed);
    }
    while let Some(ended) = tasks.next().await {
        if ended.is_err() {
            writing.given_up.store(true, Ordering::Relaxed);
        }
        result = result.and(collect(&mut done, ended));
    }
    result?;
    let head = keep_properties(writing, action).await?;
    validate(writing, action, head, done).await
}

/// A range that is on the disk.
#[derive(Clone, Debug)]
struct WrittenRange {
    part: Part,
    piece: Piece,
    head: Option<ObjectHead>,
}

fn collect(done: &mut Vec<WrittenRange>, ended: Result<WrittenRange>) -> Result<()> {
    done.push(ended?);
    Ok(())
}

async fn write_range(writing: &Arc<Writing>, part: Part) -> Result<WrittenRange> {
    let engine = &writing.engine;
    let mut reader = RangeReader::new(engine, &writing.object, part.range);
    let checksum = engine.send(|| write_all(writing, &mut reader, part.range.start)).await?;
    let piece = Piece { checksum, length: part.range.len() };
    let head = reader.take_head();
    if let Some(head) = head.as_ref().filter(|_| engine.settings.preserves) {
        writing.finish.get_or_init(|| finish_of(&engine.settings, head));
    }
    let range = WrittenRange { part, piece, head };
    if let Some(noted) = &writing.noted {
        noted.done(&range);
    }
    Ok(range)
}

/// Writes the bytes of a range while they arrive; gives their checksum.
async fn write_all(
    writing: &Arc<Writing>,
    reader: &mut RangeReader<'_>,
    mut position: u64,
) -> Result<Checksum> {
    let mut hasher = Hasher::new(writing.algorithm);
    loop {
        if writing.given_up.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Cancelled, "another part failed"));
        }
        let chunks = reader.gather(WRITE_SIZE).await?;
        let length: u64 = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        if length == 0 {
            return Ok(hasher.finish());
        }
        let target = Arc::clone(writing);
        hasher = blocking(move || write_chunks(&target, position, &chunks, hasher)).await?;
        position += length;
        writing.written.fetch_add(length, Ordering::Relaxed);
        writing.engine.report.moved(length);
    }
}

fn write_chunks(
    writing: &Writing,
    mut position: u64,
    chunks: &[Bytes],
    mut hasher: Hasher,
) -> Result<Hasher> {
    for chunk in chunks {
        hasher.update(chunk);
    }
    let _turn = writing.turn.lock().unwrap_or_else(PoisonError::into_inner);
    for chunk in chunks {
        writing.file.write_at(position, chunk)?;
        position += chunk.len() as u64;
    }
    Ok(hasher)
}

/// Holds the bytes against the object's checksum, where it has one that can be compared.
async fn validate(
    writing: &Writing,
    action: &DownloadAction,
    head: Option<ObjectHead>,
    mut done: Vec<WrittenRange>,
) -> Result<()> {
    done.sort_unstable_by_key(|range| range.part.number);
    let length: u64 = done.iter().map(|range| range.piece.length).sum();
    assert!(length == action.size, "a file is only committed with all its ranges");
    let told = done.iter().find_map(|range| expected_of(range.head.as_ref()?));
    let expected = match (action.head.as_deref().or(head.as_ref()), told) {
        (Some(head), _) => expected_of(head),
        (None, Some(told)) => Some(told),
        (None, None) if wants_checksums(&writing.engine) => expected_of(&look(writing).await?),
        (None, None) => None,
    };
    // A CRC other than the one computed cannot be compared without reading the file again.
    let Some(expected) = expected.filter(|told| told.algorithm == writing.algorithm) else {
        return Ok(());
    };
    let computed = combine(done.into_iter().map(|range| range.piece));
    check(&writing.object.key, &expected, computed.as_ref())
}

/// Has the file get what it keeps of the object's properties, where all ranges are those of an
/// earlier run and none came with them. Gives what had to be asked for.
async fn keep_properties(writing: &Writing, action: &DownloadAction) -> Result<Option<ObjectHead>> {
    let settings = &writing.engine.settings;
    if !settings.preserves || writing.finish.get().is_some() {
        return Ok(None);
    }
    let asked = if action.head.is_none() { Some(look(writing).await?) } else { None };
    if let Some(head) = action.head.as_deref().or(asked.as_ref()) {
        writing.finish.get_or_init(|| finish_of(settings, head));
    }
    Ok(asked)
}

/// Asks for the stored checksum and properties. Those of an object that was replaced meanwhile are
/// lost, and what cannot be checked is not kept.
async fn look(writing: &Writing) -> Result<ObjectHead> {
    let version_id = writing.object.version_id.as_deref();
    let head = head(&writing.engine, &writing.object.key, version_id).await?;
    if !writing.object.etag.is_empty() && head.etag != writing.object.etag {
        return Err(replaced(&writing.engine, &writing.object));
    }
    Ok(head)
}

/// Whether the checksum of an object is requested once its ranges have arrived, unless a response
/// to one of them contained it.
pub(crate) fn asks_for_checksum(engine: &Engine, action: &DownloadAction) -> bool {
    action.head.is_none() && wants_checksums(engine)
}

/// A device or FIFO takes its bytes in order.
async fn write_in_order(writing: &Arc<Writing>, action: &DownloadAction) -> Result<()> {
    let target = Arc::clone(writing);
    let object = writing.object.clone();
    let expected = action.head.as_deref().and_then(expected_of);
    let write = move |position, bytes: &Bytes| {
        target.file.write_at(position, bytes)?;
        target.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    };
    in_order(&writing.engine, object, action.size, expected, write).await
}
