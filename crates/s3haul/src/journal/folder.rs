//! The folder of journals: which jobs there are, whether they run, and which are forgotten.
//!
//! A job has a database (`ID.db` and what `SQLite` puts beside it), logs (`ID.log.N`), and a lock
//! file that the running process holds (`flock`, which a killed process loses).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use xxhash_rust::xxh3::xxh3_64;

use super::keeper::{JournalRequest, age};
use super::live::Live;
use super::log::{self, boot_id};
use super::state::{Mark, Snapshot, State, Totals};
use super::store::{Ending, Failed, JournalError, LearntRate, Store, Stored};

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobStatus {
    /// Its name.
    pub id: String,
    /// The command as typed.
    pub command: String,
    /// Where it was started.
    pub directory: PathBuf,
    /// When it was begun, in milliseconds since 1970.
    pub created_ms: i64,
    /// When its journal was written last, in milliseconds since 1970.
    pub updated_ms: i64,
    /// A process is running it: its number.
    pub process: Option<u32>,
    /// How it ended.
    pub ending: Ending,
    /// Counters of all its runs.
    pub totals: Totals,
    /// Name up to which everything was looked at.
    pub looked: String,
    /// What was begun and not concluded.
    pub pending: u64,
    /// Objects of which some parts are done.
    pub in_parts: u64,
    /// Figures of its last run, where it wrote any.
    pub live: Option<Live>,
}

impl JobStatus {
    /// Whether it can be resumed.
    pub fn is_resumable(&self) -> bool {
        self.process.is_none() && self.ending != Ending::Done
    }
}

/// Times that a journal is read that is being written.
const READS_MAX: u32 = 8;
/// Attempts to take a lock: to see whether a job is running, other processes take it for an
/// instant.
const LOCK_ATTEMPTS_MAX: u32 = 100;
/// Pause between them.
const LOCK_PAUSE: Duration = Duration::from_millis(5);
/// Age at which the journal of a complete job is removed.
const DONE_AGE_MAX: Duration = Duration::from_hours(7 * 24);
/// Age at which any other journal is removed.
const AGE_MAX: Duration = Duration::from_hours(60 * 24);
/// Journals that are kept at most, beside that of a new job.
const JOURNALS_MAX: usize = 199;

/// Held by the process that runs a job.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a job.
    pub(super) fn take(folder: &Path, id: &str) -> Result<Self, JournalError> {
        let path = folder.join(format!("{id}.lock"));
        let fail = |source| JournalError::Io { doing: "lock", path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(fail)?;
        let mut attempts = 1..LOCK_ATTEMPTS_MAX;
        while let Err(errno) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if errno != Errno::WOULDBLOCK {
                return Err(fail(errno.into()));
            }
            if attempts.next().is_some() {
                std::thread::sleep(LOCK_PAUSE);
                continue;
            }
            let mut process = String::new();
            _ = file.read_to_string(&mut process);
            let process = process.trim();
            let process = if process.is_empty() { String::new() } else { format!(" ({process})") };
            return Err(JournalError::Running { id: id.to_owned(), process });
        }
        let begun = file.set_len(0).and_then(|()| file.rewind());
        begun.and_then(|()| write!(file, "{}", std::process::id())).map_err(fail)?;
        Ok(Self { _file: file })
    }

    /// The process that holds the lock of a job.
    fn holder(folder: &Path, id: &str) -> Option<u32> {
        let mut file = File::open(folder.join(format!("{id}.lock"))).ok()?;
        if flock(&file, FlockOperation::NonBlockingLockShared) != Err(Errno::WOULDBLOCK) {
            return None;
        }
        let mut process = String::new();
        file.read_to_string(&mut process).ok()?;
        Some(process.trim().parse().unwrap_or_default())
    }
}

/// A name for a new job: when it began, letters that are the same for the same job, and random
/// letters.
pub(super) fn new_id(created_ms: i64, identity: &str) -> String {
    let begun = jiff::Timestamp::from_millisecond(created_ms).unwrap_or_default();
    let own: String = std::iter::repeat_with(fastrand::lowercase).take(2).collect();
    format!("{}-{}{own}", begun.strftime("%Y%m%d-%H%M%S"), letters(identity))
}

/// Whether a text has the form of [`new_id`]: other files of a folder are not touched.
fn is_id(text: &str) -> bool {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_lowercase());
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts[..], [date, time, last] if date.len() == 8 && time.len() == 6
        && last.len() == 8 && digits(date) && digits(time) && letters(last))
}

/// Letters that are the same for the same job.
fn letters(identity: &str) -> String {
    let mut hash = xxh3_64(identity.as_bytes());
    let mut letter = || {
        let letter = char::from(b'a' + u8::try_from(hash % 26).unwrap_or_default());
        hash /= 26;
        letter
    };
    (0..6).map(|_| letter()).collect()
}

/// Makes the folder where it is missing; only its owner may look into it.
pub(super) fn prepare(folder: &Path) -> Result<(), JournalError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| JournalError::Io { doing: "create", path: folder.to_owned(), source })
}

/// The database of a job.
pub(super) fn path_of(folder: &Path, id: &str) -> Result<PathBuf, JournalError> {
    let path = folder.join(format!("{id}.db"));
    if is_id(id) && path.exists() {
        return Ok(path);
    }
    Err(JournalError::Unknown { id: id.to_owned(), folder: folder.to_owned() })
}

/// Creates a file that only its owner may read; what `SQLite` puts beside it has the same mode.
pub(super) fn create_file(path: &Path) -> Result<File, JournalError> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
    file.map_err(|source| JournalError::Io { doing: "create", path: path.to_owned(), source })
}

pub(super) fn log_path(folder: &Path, id: &str, number: u64) -> PathBuf {
    folder.join(format!("{id}.log.{number}"))
}

/// Numbers of the logs of a job, in order.
fn logs(folder: &Path, id: &str) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let prefix = format!("{id}.log.");
    let number = |entry: std::io::Result<fs::DirEntry>| {
        entry.ok()?.file_name().to_str()?.strip_prefix(&prefix)?.parse().ok()
    };
    let mut numbers: Vec<u64> = entries.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// Number of the last log; 0 where there is none.
pub(super) fn last_log(folder: &Path, id: &str) -> u64 {
    logs(folder, id).last().copied().unwrap_or(0)
}

/// Removes the logs before a number: their changes are in a snapshot.
pub(super) fn remove_logs(folder: &Path, id: &str, before: u64) {
    for number in logs(folder, id).into_iter().filter(|number| *number < before) {
        _ = fs::remove_file(log_path(folder, id, number));
    }
}

/// The state of a job: its last snapshot, and the changes since. Where logs are missing in between,
/// as where the snapshot is older than it was (in a copy of the folder that was taken while the job
/// ran, or without the database's own log), those that come later are as good as lost: what they
/// say was settled builds on what is not known.
pub(super) fn replay(folder: &Path, id: &str, stored: &Stored) -> Result<Snapshot, JournalError> {
    replay_logs(folder, id, stored, &logs(folder, id))
}

fn replay_logs(
    folder: &Path,
    id: &str,
    stored: &Stored,
    numbers: &[u64],
) -> Result<Snapshot, JournalError> {
    let boot_id = boot_id();
    let mut state = State::restored(stored.snapshot.clone());
    let later = numbers.iter().copied().filter(|number| *number >= stored.log);
    let consecutive = later.zip(stored.log..).take_while(|(number, next)| number == next);
    for (number, _) in consecutive {
        let path = log_path(folder, id, number);
        let bytes = fs::read(&path).map_err(|source| JournalError::Io {
            doing: "read",
            path: path.clone(),
            source,
        })?;
        log::read(&bytes, &boot_id).for_each(|change| state.apply(&change));
    }
    Ok(state.snapshot())
}

/// The last snapshot of a job, and its state now.
fn stored_state(
    folder: &Path,
    id: &str,
    store: &Store,
) -> Result<(Stored, Snapshot), JournalError> {
    for _ in 1..READS_MAX {
        let stored = store.read()?.unwrap_or_default();
        let numbers = logs(folder, id);
        let next = numbers.iter().find(|number| **number >= stored.log);
        if next.is_some_and(|next| *next > stored.log) {
            // The job has gone on meanwhile. If logs are missing for good, the snapshot counts.
            continue;
        }
        match replay_logs(folder, id, &stored, &numbers) {
            // The job has gone on: the log is part of a later snapshot.
            Err(JournalError::Io { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound => {}
            replayed => return Ok((stored, replayed?)),
        }
    }
    let stored = store.read()?.unwrap_or_default();
    let snapshot = stored.snapshot.clone();
    Ok((stored, snapshot))
}

/// All jobs of a folder, the newest first. Files that are no journals are reported by `warn`.
pub fn jobs(folder: &Path, mut warn: impl FnMut(JournalError)) -> Vec<JobStatus> {
    let mut jobs = Vec::new();
    for id in ids(folder) {
        match status(folder, &id) {
            Ok(status) => jobs.push(status),
            Err(error) => warn(error),
        }
    }
    jobs.sort_by_key(|job| std::cmp::Reverse(job.created_ms));
    jobs
}

/// Names of the jobs of a folder.
fn ids(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let id = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        name.strip_suffix(".db").filter(|id| is_id(id)).map(str::to_owned)
    };
    entries.filter_map(id).collect()
}

/// What is known of a job.
pub fn status(folder: &Path, id: &str) -> Result<JobStatus, JournalError> {
    let store = Store::open(&path_of(folder, id)?)?;
    let description = store.description()?;
    let process = Lock::holder(folder, id);
    let (stored, snapshot) = stored_state(folder, id, &store)?;
    Ok(JobStatus {
        id: id.to_owned(),
        command: description.command,
        directory: description.directory,
        created_ms: description.created_ms,
        updated_ms: stored.updated_ms.max(description.created_ms),
        process,
        ending: stored.ending,
        totals: snapshot.totals,
        looked: snapshot.looked,
        // Removals that are held until the end of a listing are no work.
        pending: snapshot.pending.iter().filter(|mark| **mark != Mark::HELD).count() as u64,
        in_parts: snapshot.parts.len() as u64,
        live: store.live(),
    })
}

/// The last failures of a job, the newest first.
pub fn failures(folder: &Path, id: &str, count_max: u32) -> Result<Vec<Failed>, JournalError> {
    Store::open(&path_of(folder, id)?)?.failures(count_max)
}

/// What a job learnt of the service.
pub fn rates(folder: &Path, id: &str) -> Result<Vec<LearntRate>, JournalError> {
    Store::open(&path_of(folder, id)?)?.rates()
}

/// The newest job that is the same as another and ended before its time; none if it has been begun
/// anew since.
pub fn find_interrupted(request: &JournalRequest) -> Option<JobStatus> {
    let letters = letters(&request.identity);
    let is_same = |id: &String| {
        let suffix = id.rsplit('-').next().unwrap_or_default();
        suffix.starts_with(&letters)
    };
    // Names begin with the time.
    let newest = ids(&request.folder).into_iter().filter(is_same).max()?;
    let job = status(&request.folder, &newest).ok()?;
    let is_here = request.is_of_plan || job.directory == request.directory;
    (job.is_resumable() && is_here).then_some(job)
}

/// Removes journals that are too old or too many; gives the names of their jobs. Running jobs stay.
///
/// Opens only those that are too many or whose file is old enough: each job does this as it begins.
pub fn prune(folder: &Path) -> Vec<String> {
    let mut ids = ids(folder);
    // Names begin with the time.
    ids.sort_unstable_by(|one, other| other.cmp(one));
    let is_old = |(at, id): &(usize, String)| {
        let is_surplus = *at >= JOURNALS_MAX;
        if !is_surplus && written_within(folder, id, DONE_AGE_MAX) {
            return false;
        }
        status(folder, id).is_ok_and(|job| {
            let age_max = if job.ending == Ending::Done { DONE_AGE_MAX } else { AGE_MAX };
            is_surplus || age(job.updated_ms) > age_max
        })
    };
    let old = ids.into_iter().enumerate().filter(is_old).map(|(_, id)| id);
    old.filter(|id| remove(folder, id).is_ok()).collect()
}

/// Whether the database of a journal was written recently. A running job may only have written to
/// the files beside it.
fn written_within(folder: &Path, id: &str, age_max: Duration) -> bool {
    let modified = fs::metadata(folder.join(format!("{id}.db"))).and_then(|file| file.modified());
    modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age <= age_max))
}

/// Removes all journals, damaged ones too; gives the names of their jobs. Running jobs stay.
pub fn prune_all(folder: &Path) -> Vec<String> {
    let mut ids = ids(folder);
    ids.sort_unstable();
    ids.retain(|id| remove(folder, id).is_ok());
    ids
}

/// Removes the journal of a job that is not running, whatever state it is in.
pub fn remove(folder: &Path, id: &str) -> Result<(), JournalError> {
    let path = path_of(folder, id)?;
    let _lock = Lock::take(folder, id)?;
    let removed = fs::remove_file(&path);
    discard(folder, id);
    removed.map_err(|source| JournalError::Io { doing: "remove", path, source })
}

/// Removes what lies beside the database of a job, or lies there without one.
pub(super) fn discard(folder: &Path, id: &str) {
    remove_logs(folder, id, u64::MAX);
    for suffix in ["new", "db-wal", "db-shm", "lock"] {
        _ = fs::remove_file(folder.join(format!("{id}.{suffix}")));
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::encoded;
    use super::super::state::{Change, Position};
    use super::*;

    #[test]
    fn what_comes_after_a_missing_log_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let looked = |name: &str| {
            let position = Position { name: name.to_owned(), source_seen: 1, target_seen: 0 };
            encoded(&[Change::Looked(position)], &boot_id())
        };
        for (number, name) in [(2, "b"), (3, "c"), (5, "e")] {
            fs::write(log_path(folder.path(), "j", number), looked(name)).unwrap();
        }
        for (log, settled) in [(2, "c"), (3, "c"), (5, "e"), (0, ""), (1, ""), (4, "")] {
            let stored = Stored { log, ..Stored::default() };
            let snapshot = replay(folder.path(), "j", &stored).unwrap();
            assert_eq!(snapshot.settled.name, settled, "{log}");
        }
    }
}
