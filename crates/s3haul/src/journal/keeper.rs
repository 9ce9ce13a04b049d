//! The journal of one job while it runs.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::folder::{self, Lock};
use super::live::{Figures, Live};
use super::log::{Log, boot_id};
use super::state::{
    Change, Conclusion, Left, Mark, PartDone, PartsInProgress, Position, Snapshot, State,
};
use super::store::{Description, Ending, Failed, JournalError, LearntRate, Store, Stored};
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::fs::sync_file_system;
use crate::location::Location;
use s3haul_wire::Admission;
use s3haul_wire::controller::Class;
use s3haul_wire::error::Error;

/// A job that takes less has no journal ...
const QUIET_TIME: Duration = Duration::from_secs(2);
/// ... unless it does so many objects.
const QUIET_OBJECTS: u64 = 1_000;
/// Time between snapshots, at least. One that takes long is followed by a longer pause.
const SNAPSHOT_PAUSE: Duration = Duration::from_secs(1);
/// How much longer the pause is than the snapshot took.
const PAUSE_RATIO: u32 = 10;
/// Age at which what was learnt of a service is forgotten: it has adapted since.
const RATES_AGE_MAX: Duration = Duration::from_hours(1);
/// Failures that wait for the next snapshot; more are counted and not kept.
const FAILURES_MAX: usize = 10_000;

/// What a journal is made of.
#[derive(Clone, Debug)]
pub struct JournalRequest {
    /// Folder of all journals; created where it is missing.
    pub folder: PathBuf,
    /// The command as typed.
    pub command: String,
    /// Working directory that its relative paths start from.
    pub directory: PathBuf,
    /// The job as JSON: see [`crate::job::value::Job`].
    pub job: String,
    /// What is the same for two jobs that do the same.
    pub identity: String,
    /// State of the file that names the objects: a job whose file has changed is not resumed.
    pub manifest: String,
    /// It is kept from the beginning, however little the job does.
    pub from_beginning: bool,
    /// It does a plan, whose paths are absolute: it is the same job from any directory.
    pub is_of_plan: bool,
}

/// A job that is resumed.
#[derive(Debug)]
pub struct Resumed {
    /// Its journal.
    pub journal: Arc<Journal>,
    /// The job as JSON.
    pub job: String,
    /// Working directory that its relative paths start from.
    pub directory: PathBuf,
    /// State that the file had that names the objects.
    pub manifest: String,
}

/// The journal of a running job. Its methods never fail: what cannot be written ends the journal
/// with one warning, and the job goes on without.
#[derive(Debug)]
pub struct Journal {
    id: String,
    folder: PathBuf,
    description: Description,
    boot_id: String,
    /// What an earlier run left.
    resumed: Option<Left>,
    /// What it learnt of the service.
    recalled: Vec<LearntRate>,
    /// What is learnt in this run.
    admission: OnceLock<Admission>,
    /// Figures of this run.
    figures: OnceLock<Figures>,
    /// What is written before the journal.
    report: OnceLock<Report>,
    written: Mutex<Written>,
    /// Held while a snapshot is written; taken before `written`.
    files: Mutex<Files>,
    begun: Instant,
    from_beginning: bool,
    is_kept: AtomicBool,
    /// Whether a limit counts the removals of all runs.
    counts_removals: AtomicBool,
    /// The end of the run was written, and nothing comes after it.
    is_finished: AtomicBool,
    /// The journal ended before the job, and this is why.
    broken: Mutex<Option<String>>,
}

/// Writes what a report has so far.
struct Report(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Report")
    }
}

/// What snapshots are written with.
#[derive(Debug, Default)]
struct Files {
    /// None before it is made.
    store: Option<Store>,
    /// What was learnt of the service when that was written last.
    rates: Vec<LearntRate>,
    /// The folder that the job writes files to, once there is one. It stays open: the system
    /// reports a failed write only through descriptors that were open when it failed.
    target: Option<File>,
}

/// What changes with every object.
#[derive(Debug)]
struct Written {
    state: State,
    /// None before the file is made.
    log: Option<Log>,
    /// Number of the last log.
    log_number: u64,
    /// Held while the job runs.
    lock: Option<Lock>,
    failures: Vec<Failed>,
}

/// What is acted on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// A file.
    File(&'a Path),
    /// An object or a version.
    Object(&'a str, Option<&'a str>),
}

impl Journal {
    /// A journal that is kept once the job has run for a while.
    pub fn new(request: JournalRequest) -> Arc<Self> {
        let JournalRequest { folder, command, directory, job, identity, manifest, .. } = request;
        let from_beginning = request.from_beginning;
        let (created_ms, seed) = (now_ms(), fastrand::u64(..));
        let description = Description { command, directory, job, manifest, seed, created_ms };
        let id = folder::new_id(created_ms, &identity);
        let journal = Self::in_folder(folder, id, description, (None, State::default()));
        Arc::new(Self { from_beginning, ..journal })
    }

    /// Goes on with a job that ended before its time.
    pub fn resume(folder: &Path, id: &str) -> Result<Resumed, JournalError> {
        let path = folder::path_of(folder, id)?;
        let lock = Lock::take(folder, id)?;
        let store = Store::open(&path)?;
        let description = store.description()?;
        let stored = store.read()?.unwrap_or_default();
        if stored.ending == Ending::Done {
            return Err(JournalError::Complete { id: id.to_owned() });
        }
        let snapshot = folder::replay(folder, id, &stored)?;
        let is_recent = age(stored.updated_ms) <= RATES_AGE_MAX;
        let recalled = if is_recent { store.rates()? } else { Vec::new() };
        let left = Left::of(&snapshot);
        let Description { job, directory, manifest, .. } = description.clone();
        let state = State::resumed(snapshot);
        let last_log = folder::last_log(folder, id).max(stored.log);
        let folder = folder.to_owned();
        let journal = Self::in_folder(folder, id.to_owned(), description, (Some(left), state));
        let mut written = journal.written();
        (written.lock, written.log_number) = (Some(lock), last_log);
        drop(written);
        lock_of(&journal.files).store = Some(store);
        journal.is_kept.store(true, Ordering::Relaxed);
        let journal = Self { recalled, ..journal };
        Ok(Resumed { journal: Arc::new(journal), job, directory, manifest })
    }

    fn in_folder(
        folder: PathBuf,
        id: String,
        description: Description,
        (resumed, state): (Option<Left>, State),
    ) -> Self {
        Self {
            id,
            folder,
            description,
            boot_id: boot_id(),
            resumed,
            recalled: Vec::new(),
            admission: OnceLock::new(),
            figures: OnceLock::new(),
            report: OnceLock::new(),
            written: Mutex::new(Written {
                state,
                log: None,
                log_number: 0,
                lock: None,
                failures: Vec::new(),
            }),
            files: Mutex::default(),
            begun: Instant::now(),
            from_beginning: false,
            is_kept: AtomicBool::new(false),
            counts_removals: AtomicBool::new(false),
            is_finished: AtomicBool::new(false),
            broken: Mutex::default(),
        }
    }

    /// Name of the job, by which it is resumed.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it has a file, so that the job can be resumed.
    pub fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed) && lock_of(&self.broken).is_none()
    }

    /// Each snapshot has the figures of the run with it; the first call counts.
    pub fn show(&self, figures: impl Fn() -> Live + Send + Sync + 'static) {
        _ = self.figures.set(Figures(Box::new(figures)));
    }

    /// Called before each write of the journal: flushes the report, so that it lacks no object that
    /// the journal counts as done. Only the first call has an effect.
    pub fn write_after(&self, report: impl Fn() + Send + Sync + 'static) {
        _ = self.report.set(Report(Box::new(report)));
    }

    /// Why the journal ended before the job, once.
    pub(crate) fn take_warning(&self) -> Option<String> {
        let mut broken = lock_of(&self.broken);
        let warning = broken.as_mut().filter(|text| !text.is_empty())?;
        Some(std::mem::take(warning))
    }

    /// Where the source is looked through from: nothing up to here is left to be done.
    pub(crate) fn settled(&self) -> Option<&Position> {
        let left = self.resumed.as_ref().map(|left| &left.settled);
        left.filter(|position| !position.name.is_empty())
    }

    /// Whether an earlier run found something at the source.
    pub(crate) fn found_any(&self) -> bool {
        self.resumed.as_ref().is_some_and(|left| left.found_any)
    }

    /// Whether an earlier run has dealt with an entry.
    pub(crate) fn has_settled(&self, name: &str, mark: Mark, is_version: bool) -> bool {
        self.resumed.as_ref().is_some_and(|left| left.has_settled(name, mark, is_version))
    }

    /// Whether an earlier run began this and did not finish it, or failed at it.
    pub(crate) fn has_begun(&self, mark: Mark) -> bool {
        self.resumed.as_ref().is_some_and(|left| left.has_begun(mark))
    }

    /// When the job began, in milliseconds since 1970.
    pub(crate) fn created_ms(&self) -> i64 {
        self.description.created_ms
    }

    /// Whether an earlier run looked as far as a name.
    pub(crate) fn has_looked_at(&self, name: &str) -> bool {
        self.resumed.as_ref().is_some_and(|left| left.has_looked_at(name))
    }

    /// Has each removal written down from now on, for a limit that counts those of all runs.
    pub(crate) fn count_removals(&self) {
        self.counts_removals.store(true, Ordering::Relaxed);
    }

    /// Removals that were done, by all runs.
    pub(crate) fn removed(&self) -> u64 {
        self.written().state.totals().removed
    }

    /// The mark of something to be done.
    pub(crate) fn mark(&self, subject: Subject<'_>, is_removal: bool) -> Mark {
        let hash = |bytes| xxh3_128_with_seed(bytes, self.description.seed);
        let name = match subject {
            Subject::File(path) => hash(path.as_os_str().as_bytes()),
            Subject::Object(key, version_id) => {
                let version = version_id.map_or(0, |id| hash(id.as_bytes()).rotate_left(1));
                hash(key.as_bytes()) ^ version
            }
        };
        // One name may be sent from one side and removed from the other.
        Mark(if is_removal { !name } else { name })
    }

    /// What has to be done behind the position.
    pub(crate) fn begun(&self, marks: Vec<Mark>) {
        self.change(&Change::Begun(marks));
    }

    /// Everything up to here was looked at, and what has to be done was begun.
    pub(crate) fn looked(&self, position: Position) {
        self.change(&Change::Looked(position));
    }

    /// Something turned out to need nothing.
    pub(crate) fn same(&self, mark: Mark) {
        self.change(&Change::Concluded(mark, Conclusion::Same));
    }

    /// An object ended.
    pub(crate) fn ended(&self, event: &ObjectEvent) {
        let is_removal = matches!(event.action, ActionKind::Delete | ActionKind::Undelete);
        let mark = || match &event.source {
            Location::Local(path) => Some(self.mark(Subject::File(path), is_removal)),
            Location::Object(object) => {
                let subject = Subject::Object(&object.key, object.version_id.as_deref());
                Some(self.mark(subject, is_removal))
            }
            Location::Stream => None,
        };
        match &event.outcome {
            Outcome::Done => {
                let Some(mark) = mark() else { return };
                let done = Conclusion::Done(event.bytes);
                let conclusion = if is_removal { Conclusion::Removed } else { done };
                let change = Change::Concluded(mark, conclusion);
                // What was moved is not there for a run that would do it again, and a limit that
                // counts the removals of all runs must know of each.
                let is_counted = is_removal && self.counts_removals.load(Ordering::Relaxed);
                self.change_locked(&mut self.written(), &change, !event.is_move && !is_counted);
            }
            Outcome::Skipped => {
                let Some(mark) = mark() else { return };
                self.change(&Change::Concluded(mark, Conclusion::Skipped));
            }
            Outcome::Failed(error) => {
                let Some(mark) = mark() else { return };
                let is_missing = event.is_move && is_missing(error);
                let change = Change::Failed(if is_missing { mark.missing() } else { mark });
                let mut written = self.written();
                if !written.state.ignores(&change) && written.failures.len() < FAILURES_MAX {
                    written.failures.push(Failed {
                        subject: event.source.to_string(),
                        action: format!("{:?}", event.action).to_lowercase(),
                        error: error.to_string(),
                    });
                }
                self.change_locked(&mut written, &change, true);
            }
            Outcome::DryRun | Outcome::NotTried => {}
        }
    }

    /// What is known of an object that was being moved in parts.
    pub(crate) fn parts(&self, target: &str) -> Option<PartsInProgress> {
        self.written().state.parts(target).cloned()
    }

    /// Objects that are in parts still. At the end of a job that did everything, these are of
    /// sources that are gone.
    pub(crate) fn all_parts(&self) -> Vec<PartsInProgress> {
        self.written().state.all_parts()
    }

    /// How many objects are in parts still.
    pub fn objects_in_parts(&self) -> usize {
        self.all_parts().len()
    }

    /// An object is being moved in parts.
    pub(crate) fn parts_begun(&self, parts: PartsInProgress) {
        self.change(&Change::PartsBegun(parts));
    }

    /// A part is where it belongs, and no service can list it.
    pub(crate) fn part_done(&self, target: &str, part: PartDone) {
        self.change(&Change::PartDone { target: target.to_owned(), part });
    }

    /// Nothing is left of an object's parts.
    pub(crate) fn parts_ended(&self, target: &str) {
        self.change(&Change::PartsEnded { target: target.to_owned() });
    }

    /// Whether what is left of an object's parts can be gone on with by another run.
    pub(crate) fn keeps_parts(&self, target: &str) -> bool {
        self.is_kept() && self.written().state.parts(target).is_some()
    }

    fn change(&self, change: &Change) {
        self.change_locked(&mut self.written(), change, true);
    }

    fn change_locked(&self, written: &mut Written, change: &Change, may_wait: bool) {
        if written.state.ignores(change) {
            return;
        }
        written.state.apply(change);
        let Some(log) = &mut written.log else { return };
        if !log.push(change, may_wait, tokio::time::Instant::now()) {
            return;
        }
        self.write_report();
        if let Err(source) = log.flush() {
            let path = self.folder.join(&self.id);
            written.log = None;
            self.end_with(&JournalError::Io { doing: "write the journal", path, source });
        }
    }

    /// Whether it is time for a snapshot, whatever the clock says: the first one.
    fn is_wanted(&self) -> bool {
        self.from_beginning
            || self.is_kept.load(Ordering::Relaxed)
            || self.begun.elapsed() >= QUIET_TIME
            || self.written().state.totals().objects >= QUIET_OBJECTS
    }

    /// What is learnt of the service is written down, too, and what an earlier run learnt counts.
    pub(crate) fn learn(&self, admission: &Admission) {
        for class in [Class::Read, Class::Write] {
            let of_class = self.recalled.iter().filter(|rate| rate.class == class);
            let ranges: Vec<_> = of_class.map(|rate| rate.range.clone()).collect();
            if !ranges.is_empty() {
                admission.recall(class, ranges);
            }
        }
        _ = self.admission.set(admission.clone());
    }

    /// What is known of the service by now.
    fn rates(&self) -> Vec<LearntRate> {
        let learnt = |class| {
            let ranges = self.admission.get().map(|admission| admission.learnt(class));
            ranges.into_iter().flatten().map(move |range| LearntRate { class, range })
        };
        [Class::Read, Class::Write].into_iter().flat_map(learnt).collect()
    }

    /// Writes the first snapshot of a job that is resumed, or whose journal is kept from the
    /// beginning; the job has done nothing yet. Blocks.
    pub(crate) fn begin(&self, target: Option<&Path>) {
        if !self.from_beginning && self.resumed.is_none() {
            return;
        }
        self.save(target, Ending::Open);
        // What failed is tried again.
        if let (Some(_), Some(store)) = (&self.resumed, &lock_of(&self.files).store)
            && let Err(error) = store.forget_failures()
        {
            self.end_with(&error);
        }
    }

    /// Writes snapshots until it is dropped. The file system of `target` is synced before each one,
    /// so that no snapshot says more than the disk has.
    pub(crate) async fn keep(self: Arc<Self>, target: Option<PathBuf>, warn: impl Fn(String)) {
        let mut pause = SNAPSHOT_PAUSE;
        loop {
            tokio::time::sleep(pause).await;
            let (journal, target) = (Arc::clone(&self), target.clone());
            let taken = tokio::task::spawn_blocking(move || {
                let begun = Instant::now();
                journal.save(target.as_deref(), Ending::Open);
                begun.elapsed()
            });
            pause = taken.await.map_or(pause, |taken| SNAPSHOT_PAUSE.max(taken * PAUSE_RATIO));
            if let Some(warning) = self.take_warning() {
                warn(warning);
            }
        }
    }

    /// Writes the end of a run. Blocks.
    pub(crate) fn finish(&self, target: Option<&Path>, ending: Ending) {
        self.is_finished.store(true, Ordering::Relaxed);
        self.save(target, ending);
        let is_done = ending == Ending::Done && self.is_kept();
        let mut files = lock_of(&self.files);
        files.store = None;
        let mut written = self.written();
        written.log = None;
        if is_done {
            folder::remove_logs(&self.folder, &self.id, u64::MAX);
        } else if ending == Ending::Done && written.lock.is_some() {
            // It says that something is left to be done, and nothing is.
            _ = std::fs::remove_file(self.folder.join(format!("{}.db", self.id)));
            folder::discard(&self.folder, &self.id);
        }
        written.lock = None;
    }

    /// Writes a snapshot, where there is reason to keep a journal. Blocks.
    fn save(&self, target: Option<&Path>, ending: Ending) {
        if !self.is_wanted() || lock_of(&self.broken).is_some() {
            return;
        }
        let mut files = lock_of(&self.files);
        // A snapshot that was about to be taken when the run ended comes too late.
        if ending == Ending::Open && self.is_finished.load(Ordering::Relaxed) {
            return;
        }
        let is_new = files.store.is_none();
        let saved = if is_new { self.create(&mut files) } else { Ok(()) };
        if let Err(error) = saved.and_then(|()| self.try_save(&mut files, target, ending)) {
            self.written().log = None;
            // Later on, what there is stays locked: the job goes on.
            if is_new && files.store.take().is_some() {
                self.written().lock = None;
                _ = folder::remove(&self.folder, &self.id);
            }
            self.end_with(&error);
        }
    }

    /// Makes the files of a journal.
    fn create(&self, files: &mut Files) -> Result<(), JournalError> {
        folder::prepare(&self.folder)?;
        folder::prune(&self.folder);
        let lock = Lock::take(&self.folder, &self.id)?;
        let path = self.folder.join(format!("{}.db", self.id));
        if path.exists() {
            let source = std::io::ErrorKind::AlreadyExists.into();
            return Err(JournalError::Io { doing: "create", path, source });
        }
        let store = Store::create(&path, &self.description);
        files.store = Some(store.inspect_err(|_| folder::discard(&self.folder, &self.id))?);
        self.written().lock = Some(lock);
        self.is_kept.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn try_save(
        &self,
        files: &mut Files,
        target: Option<&Path>,
        ending: Ending,
    ) -> Result<(), JournalError> {
        if files.target.is_none() {
            // It may not be there yet; then nothing has been written to it.
            files.target = target.and_then(|target| File::open(target).ok());
        }
        let Files { store: Some(store), rates: written, target: opened } = files else {
            return Ok(());
        };
        // What comes from now on goes to a new log, and is not in the snapshot.
        let (snapshot, number, failures) = self.take_snapshot()?;
        if let Some((opened, target)) = opened.as_ref().zip(target) {
            sync_file_system(opened).map_err(|source| {
                // What the logs say was done may be lost.
                folder::remove_logs(&self.folder, &self.id, u64::MAX);
                let path = target.to_owned();
                JournalError::Io { doing: "write to the disk what is in", path, source }
            })?;
        }
        let stored = Stored {
            ending,
            updated_ms: now_ms(),
            process: std::process::id(),
            snapshot,
            log: number,
            live: self.figures.get().map(|figures| figures.0()),
        };
        let rates = self.rates();
        let others = (rates != *written).then_some(&*rates);
        store.write(&stored, &failures, others)?;
        *written = rates;
        folder::remove_logs(&self.folder, &self.id, number);
        Ok(())
    }

    /// The state, the number of the log that comes after it, and failures since the last time.
    fn take_snapshot(&self) -> Result<(Snapshot, u64, Vec<Failed>), JournalError> {
        let mut written = self.written();
        self.write_report();
        let path = folder::log_path(&self.folder, &self.id, written.log_number);
        if let Some(log) = &mut written.log {
            // It counts until the snapshot is there.
            log.flush().map_err(|source| JournalError::Io { doing: "write", path, source })?;
        }
        let number = written.log_number + 1;
        (written.log, written.log_number) = (Some(self.create_log(number)?), number);
        Ok((written.state.snapshot(), number, std::mem::take(&mut written.failures)))
    }

    fn create_log(&self, number: u64) -> Result<Log, JournalError> {
        let path = folder::log_path(&self.folder, &self.id, number);
        let fail = |source| JournalError::Io { doing: "create", path: path.clone(), source };
        Log::begin(folder::create_file(&path)?, &self.boot_id).map_err(fail)
    }

    fn write_report(&self) {
        if let Some(Report(write)) = self.report.get() {
            write();
        }
    }

    /// The journal ends here.
    fn end_with(&self, error: &JournalError) {
        let mut broken = lock_of(&self.broken);
        if broken.is_none() {
            let so = if self.is_finished.load(Ordering::Relaxed) {
                "`s3haul jobs` does not know how this run ended"
            } else {
                "this job cannot be resumed from where it is now, and goes on without a journal"
            };
            *broken = Some(format!("{error}; {so}"));
        }
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        lock_of(&self.written)
    }
}

/// Whether the source of a move was not there when it was tried.
fn is_missing(error: &Error) -> bool {
    error.is_missing_object() && error.operation() != Some("DeleteObject")
}

/// Time since so many milliseconds after the beginning of 1970.
pub(super) fn age(at_ms: i64) -> Duration {
    Duration::from_millis(now_ms().saturating_sub(at_ms).max(0).unsigned_abs())
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
