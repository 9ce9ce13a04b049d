//! The file of a journal: `SQLite`, one job a file.
//!
//! It is written once a second or so, in one transaction. WAL with `synchronous=NORMAL` may lose
//! the last transactions with the power, never a part of one
//! (<https://www.sqlite.org/pragma.html#pragma_synchronous>): a run then goes on from a snapshot
//! before.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use s3haul_wire::controller::{Class, LearntRange};
use thiserror::Error;

use super::folder::create_file;
use super::live::Live;
use super::state::{Mark, PartsInProgress, Position, Snapshot, Totals};

/// Version that is written, and the newest that is read.
pub(super) const VERSION: i64 = 2;
/// `application_id` of journals: `S3HL`.
const APPLICATION_ID: i64 = 0x5333_484c;
/// Wait for another process that reads or writes.
const BUSY_TIME_MAX: Duration = Duration::from_secs(5);

const SCHEMA: &str = "
create table job (
    one integer primary key check (one = 1),
    command text not null,         -- as typed
    directory text not null,       -- where it was started
    job text not null,             -- docs/job.md
    manifest text not null,        -- state of the file that names the objects
    seed integer not null,         -- of the marks
    created_ms integer not null,
    s3haul text not null           -- version that began it
) strict;
create table progress (
    one integer primary key check (one = 1),
    ending text not null,          -- open, interrupted, failed, done
    updated_ms integer not null,
    process integer not null,
    settled text not null,         -- name up to which nothing is pending
    settled_source_seen integer not null,
    settled_target_seen integer not null,
    position text not null,        -- name up to which the last run looked
    position_source_seen integer not null,
    position_target_seen integer not null,
    looked text not null,          -- name up to which any run looked
    pending blob not null,         -- marks, 16 bytes each
    parts text not null,           -- large objects of which some parts are done, as JSON
    removed integer not null,
    log integer not null,          -- number of the first log that comes after this
    objects integer not null,
    bytes integer not null,
    failed integer not null,
    skipped integer not null
) strict;
create table failure (
    subject text primary key,
    action text not null,
    error text not null
) strict;
";
/// Came with version 2.
const RATES: &str = "
create table if not exists rate (
    class text not null,           -- read, write
    start blob not null,           -- bucket/key that the range begins with; it ends at the next
    per_second real,               -- requests that the service takes, where there is a limit
    primary key (class, start)
) strict;
";

/// Figures of the run, to be seen. An older program neither reads nor writes them: they count only
/// where they are as new as the progress.
const LIVE: &str = "
create table if not exists live (
    one integer primary key check (one = 1),
    updated_ms integer not null,
    figures text not null          -- JSON
) strict;
";

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// It is of a later version of the format.
    #[error(
        "the journal `{path}` has version {found}, and this s3haul reads version {VERSION}: a \
         newer s3haul is needed"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// It is something else, or damaged.
    #[error("`{path}` is no journal, or a damaged one: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is none of this name.
    #[error("there is no job `{id}` in `{folder}`: `s3haul jobs ls` lists those there are")]
    Unknown {
        /// What was asked for.
        id: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// Another process runs the job.
    #[error("the job `{id}` is being run by another process{process}")]
    Running {
        /// The job.
        id: String,
        /// Number of the process, in words.
        process: String,
    },
    /// Everything was done.
    #[error("the job `{id}` is complete: nothing is left to resume")]
    Complete {
        /// The job.
        id: String,
    },
    /// A file or folder could not be read or written.
    #[error("could not {doing} `{path}`: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The database could not be read or written.
    #[error("could not {doing} the journal `{path}`: {source}")]
    Database {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: rusqlite::Error,
    },
}

/// How a job ended, or that it has not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// It is running, or was killed.
    #[default]
    Open,
    /// It was interrupted, and said so.
    Interrupted,
    /// It came to its end, and some objects failed; or it could not go on.
    Failed,
    /// Everything was done.
    Done,
}

impl Ending {
    const ALL: [Self; 4] = [Self::Open, Self::Interrupted, Self::Failed, Self::Done];

    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Done => "done",
        }
    }
}

/// What never changes in a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) command: String,
    pub(crate) directory: PathBuf,
    pub(crate) job: String,
    pub(crate) manifest: String,
    pub(crate) seed: u64,
    pub(crate) created_ms: i64,
}

/// What changes in a journal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    pub(crate) ending: Ending,
    pub(crate) updated_ms: i64,
    pub(crate) process: u32,
    pub(crate) snapshot: Snapshot,
    pub(crate) log: u64,
    /// Not part of what [`Store::read`] gives.
    pub(crate) live: Option<Live>,
}

/// What a job learnt of a service: how many requests of a class a range of keys takes.
#[derive(Clone, Debug, PartialEq)]
pub struct LearntRate {
    /// The class of operations.
    pub class: Class,
    /// The range: of bucket and key, with a slash between.
    pub range: LearntRange,
}

/// How a journal names the classes of operations.
const CLASSES: [(Class, &str); 2] = [(Class::Read, "read"), (Class::Write, "write")];

/// An object that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What was acted on.
    pub subject: String,
    /// What was tried.
    pub action: String,
    /// Why it failed.
    pub error: String,
}

/// An open journal.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Creates a journal; there is none yet. It has its name once it is whole: others may look.
    pub(crate) fn create(path: &Path, description: &Description) -> Result<Self, JournalError> {
        let begun = path.with_extension("new");
        create_file(&begun)?;
        let connection = Connection::open(&begun);
        let made = connection.and_then(|connection| fill(&connection, description));
        made.map_err(|source| failure("create", &begun, source))?;
        std::fs::rename(&begun, path).map_err(|source| JournalError::Io {
            doing: "create",
            path: path.to_owned(),
            source,
        })?;
        Self::open(path)
    }

    /// Opens a journal that is there.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let fail = |source| failure("open", path, source);
        let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
        let store = Self { connection, path: path.to_owned() };
        let read = |name| store.connection.pragma_query_value(None, name, |row| row.get(0));
        let application: i64 = read("application_id").map_err(fail)?;
        if application != APPLICATION_ID {
            let reason = "it has another `application_id`".to_owned();
            return Err(JournalError::Damaged { path: path.to_owned(), reason });
        }
        let found: i64 = read("user_version").map_err(fail)?;
        if found > VERSION {
            return Err(JournalError::Newer { path: path.to_owned(), found });
        }
        store.prepare().map_err(fail)?;
        if found < VERSION {
            store.modernize().map_err(fail)?;
        }
        Ok(store)
    }

    /// Gives the tables of an older version those of this one.
    fn modernize(&self) -> rusqlite::Result<()> {
        let version = format!("begin immediate; {RATES} pragma user_version = {VERSION}; commit");
        self.connection.execute_batch(&version)
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(BUSY_TIME_MAX)?;
        self.connection.pragma_update(None, "synchronous", "normal")
    }

    /// What never changes.
    pub(crate) fn description(&self) -> Result<Description, JournalError> {
        let read = |row: &Row<'_>| {
            Ok(Description {
                command: row.get("command")?,
                directory: PathBuf::from(row.get::<_, String>("directory")?),
                job: row.get("job")?,
                manifest: row.get("manifest")?,
                seed: row.get::<_, i64>("seed")?.cast_unsigned(),
                created_ms: row.get("created_ms")?,
            })
        };
        let description = self.connection.query_row("select * from job", [], read);
        description.map_err(|source| failure("read", &self.path, source))
    }

    /// The last transaction; `None` before the first.
    pub(crate) fn read(&self) -> Result<Option<Stored>, JournalError> {
        let stored = self.connection.query_row("select * from progress", [], stored).optional();
        stored.map_err(|source| failure("read", &self.path, source))
    }

    /// Figures of the run that wrote last, where it wrote any.
    pub(crate) fn live(&self) -> Option<Live> {
        let query = "select figures from live join progress using (one, updated_ms)";
        // Without the table, that of an older program, there are none.
        let figures: String = self.connection.query_row(query, [], |row| row.get(0)).ok()?;
        serde_json::from_str(&figures).ok()
    }

    /// Writes all that changed in one transaction; rates only where there are others.
    pub(crate) fn write(
        &mut self,
        stored: &Stored,
        failures: &[Failed],
        rates: Option<&[LearntRate]>,
    ) -> Result<(), JournalError> {
        self.try_write(stored, failures, rates)
            .map_err(|source| failure("write", &self.path, source))
    }

    fn try_write(
        &mut self,
        stored: &Stored,
        failures: &[Failed],
        rates: Option<&[LearntRate]>,
    ) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        let Stored { ending, updated_ms, process, snapshot, log, live } = stored;
        let Snapshot { settled, position, looked, pending, totals, parts } = snapshot;
        let pending: Vec<u8> = pending.iter().flat_map(|mark| mark.0.to_le_bytes()).collect();
        let parts = serde_json::to_string(parts)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let insert = "insert or replace into progress values
             (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
        let row = params![
            ending.name(),
            updated_ms,
            process,
            settled.name,
            settled.source_seen.cast_signed(),
            settled.target_seen.cast_signed(),
            position.name,
            position.source_seen.cast_signed(),
            position.target_seen.cast_signed(),
            looked,
            pending,
            parts,
            totals.removed.cast_signed(),
            log.cast_signed(),
            totals.objects.cast_signed(),
            totals.bytes.cast_signed(),
            totals.failed.cast_signed(),
            totals.skipped.cast_signed(),
        ];
        transaction.execute(insert, row)?;
        if let Some(live) = live {
            transaction.execute_batch(LIVE)?;
            let figures = serde_json::to_string(live)
                .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
            let insert = "insert or replace into live values (1, ?1, ?2)";
            transaction.execute(insert, params![updated_ms, figures])?;
        }
        for Failed { subject, action, error } in failures {
            let insert = "insert or replace into failure values (?1, ?2, ?3)";
            transaction.execute(insert, params![subject, action, error])?;
        }
        if rates.is_some() {
            transaction.execute("delete from rate", [])?;
        }
        for LearntRate { class, range } in rates.unwrap_or_default() {
            let (_, class) = CLASSES[*class as usize];
            let insert = "insert into rate values (?1, ?2, ?3)";
            transaction.execute(insert, params![class, range.start, range.per_second])?;
        }
        transaction.commit()
    }

    /// What was learnt of the service, in order.
    pub(crate) fn rates(&self) -> Result<Vec<LearntRate>, JournalError> {
        let read = || {
            let mut query = self.connection.prepare("select * from rate order by class, start")?;
            let rows = query.query_map([], |row| {
                let class: String = row.get(0)?;
                let known = CLASSES.iter().find(|(_, name)| *name == class);
                let (class, _) = known.ok_or(rusqlite::Error::InvalidQuery)?;
                let range = LearntRange { start: row.get(1)?, per_second: row.get(2)? };
                Ok(LearntRate { class: *class, range })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|source| failure("read", &self.path, source))
    }

    /// Forgets the failures of the run before.
    pub(crate) fn forget_failures(&self) -> Result<(), JournalError> {
        let forgotten = self.connection.execute("delete from failure", []);
        forgotten.map(drop).map_err(|source| failure("write", &self.path, source))
    }

    /// The last failures, the newest first.
    pub(crate) fn failures(&self, count_max: u32) -> Result<Vec<Failed>, JournalError> {
        let read = || {
            let mut query =
                self.connection.prepare("select * from failure order by rowid desc limit ?1")?;
            let rows = query.query_map([count_max], |row| {
                let (subject, action, error) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(Failed { subject, action, error })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|source| failure("read", &self.path, source))
    }
}

/// Makes the tables of a journal, and writes what never changes.
fn fill(connection: &Connection, description: &Description) -> rusqlite::Result<()> {
    let Description { command, directory, job, manifest, seed, created_ms } = description;
    // It stays so for good. Once others read the file, it is refused without any wait.
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.execute_batch("begin immediate")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    connection.execute_batch(SCHEMA)?;
    connection.execute_batch(RATES)?;
    let directory = directory.to_string_lossy();
    let version = env!("CARGO_PKG_VERSION");
    connection.execute(
        "insert into job values (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![command, directory, job, manifest, seed.cast_signed(), created_ms, version],
    )?;
    connection.execute_batch("commit")
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let number = |name: &str| row.get::<_, i64>(name).map(i64::cast_unsigned);
    let text = |name: &str| row.get::<_, String>(name);
    let ending = text("ending")?;
    let ending = Ending::ALL.into_iter().find(|known| known.name() == ending);
    let pending: Vec<u8> = row.get("pending")?;
    let (marks, _) = pending.as_chunks();
    let invalid = |_| rusqlite::Error::InvalidQuery;
    let parts: Vec<PartsInProgress> = serde_json::from_str(&text("parts")?).map_err(invalid)?;
    let position = |[name, source, target]: [&str; 3]| {
        let (source_seen, target_seen) = (number(source)?, number(target)?);
        Ok::<_, rusqlite::Error>(Position { name: text(name)?, source_seen, target_seen })
    };
    Ok(Stored {
        ending: ending.ok_or(rusqlite::Error::InvalidQuery)?,
        updated_ms: row.get("updated_ms")?,
        process: row.get("process")?,
        snapshot: Snapshot {
            settled: position(["settled", "settled_source_seen", "settled_target_seen"])?,
            position: position(["position", "position_source_seen", "position_target_seen"])?,
            looked: text("looked")?,
            pending: marks.iter().map(|mark| Mark(u128::from_le_bytes(*mark))).collect(),
            totals: Totals {
                objects: number("objects")?,
                bytes: number("bytes")?,
                removed: number("removed")?,
                failed: number("failed")?,
                skipped: number("skipped")?,
            },
            parts,
        },
        log: number("log")?,
        live: None,
    })
}

/// An error of the database; a file that is none is damaged.
fn failure(doing: &'static str, path: &Path, source: rusqlite::Error) -> JournalError {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    let path = path.to_owned();
    let is_damaged = match &source {
        rusqlite::Error::SqliteFailure(error, _) => {
            matches!(error.code, DatabaseCorrupt | NotADatabase)
        }
        rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::InvalidQuery
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::InvalidColumnName(_)
        | rusqlite::Error::FromSqlConversionFailure(..) => true,
        _ => false,
    };
    if is_damaged {
        return JournalError::Damaged { path, reason: source.to_string() };
    }
    JournalError::Database { doing, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_count_while_they_are_as_new_as_the_progress() {
        let folder = tempfile::tempdir().unwrap();
        let mut store =
            Store::create(&folder.path().join("job.db"), &Description::default()).unwrap();
        let live = Live { planned_objects: 7, refused: u64::MAX, ..Live::default() };
        let shown = |updated_ms| Stored { updated_ms, live: Some(live), ..Stored::default() };
        assert_eq!(store.live(), None);
        for updated_ms in [1, 2] {
            store.write(&shown(updated_ms), &[], None).unwrap();
            assert_eq!(store.live(), Some(live));
        }
        // An older program goes on with the job.
        store.write(&Stored { updated_ms: 3, ..Stored::default() }, &[], None).unwrap();
        assert_eq!(store.live(), None);
        let odd = "update live set updated_ms = 3, figures = '{\"requests\": 5, \"more\": {}}'";
        store.connection.execute_batch(odd).unwrap();
        assert_eq!(store.live(), Some(Live { requests: 5, ..Live::default() }));
    }

    #[test]
    fn a_journal_of_the_first_version_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.db");
        let description = Description {
            command: "cp a b".to_owned(),
            directory: PathBuf::new(),
            job: "{}".to_owned(),
            manifest: String::new(),
            seed: 7,
            created_ms: 1,
        };
        let store = Store::create(&path, &description).unwrap();
        store.connection.execute_batch("drop table rate; pragma user_version = 1").unwrap();
        drop(store);
        for _ in 0..2 {
            let mut store = Store::open(&path).unwrap();
            assert_eq!(store.description().unwrap(), description);
            assert_eq!(store.rates().unwrap(), []);
            let range = LearntRange { start: b"box/\xff".to_vec(), per_second: Some(7.5) };
            let rates = [LearntRate { class: Class::Write, range }];
            store.write(&Stored::default(), &[], Some(&rates)).unwrap();
            store.write(&Stored::default(), &[], None).unwrap();
            assert_eq!(store.rates().unwrap(), rates);
            store.write(&Stored::default(), &[], Some(&[])).unwrap();
        }
    }
}
