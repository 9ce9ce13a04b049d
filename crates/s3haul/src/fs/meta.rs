//! What is known of a file: kind, size, time, identity; and conversions of times.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Stat, Timespec, Timestamps};

use s3haul_wire::error::{Error, ErrorKind, Result};

/// Seconds since the epoch of the first moment of year 1: earlier times cannot be shown as dates.
const FIRST_SECOND: i64 = -62_135_596_800;
/// Seconds since the epoch of the last moment of year 9999.
const LAST_SECOND: i64 = 253_402_300_799;
/// Nanoseconds of a second.
const NANOSECONDS: u32 = 1_000_000_000;

/// What sort of thing a path names, links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link that was not followed.
    Symlink,
    /// A character or block device, FIFO or socket.
    Special,
}

impl From<FileType> for FileKind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            _ => Self::Special,
        }
    }
}

/// Size, time and kind of one file, from one `stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// What it is.
    pub kind: FileKind,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the contents, to the nanosecond.
    pub modified: SystemTime,
    /// False when the file's time is no date of the years 1 to 9999; `modified` is the epoch then.
    pub has_valid_time: bool,
    /// Type and permission bits.
    pub mode: u32,
}

impl FileInfo {
    /// Reads the facts of a path, following links.
    pub fn of_path(path: &Path) -> Result<Self> {
        let stat = rustix::fs::stat(path)
            .map_err(|errno| Error::local("could not examine", path, errno.into()))?;
        Ok(Self::from_stat(&stat))
    }

    pub(crate) fn from_stat(stat: &Stat) -> Self {
        let seconds = stat.st_mtime;
        let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
        let has_valid_time = (FIRST_SECOND..=LAST_SECOND).contains(&seconds);
        let modified = if has_valid_time { system_time(seconds, nanoseconds) } else { None };
        Self {
            kind: FileType::from_raw_mode(stat.st_mode).into(),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: modified.unwrap_or(SystemTime::UNIX_EPOCH),
            has_valid_time,
            mode: stat.st_mode,
        }
    }
}

/// Names one state of one file: if two are equal, the contents were the same at both moments, as
/// far as the metadata of a file system can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// Device that holds the file.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Whole seconds of the modification time.
    pub modified_s: i64,
    /// Nanoseconds of the modification time.
    pub modified_ns: u32,
}

impl FileIdentity {
    /// What of it outlives the process and the boot, beside the size: devices are numbered anew.
    pub fn state(&self) -> String {
        format!("{} {}.{:09}", self.inode, self.modified_s, self.modified_ns)
    }
}

impl FileIdentity {
    /// Identity of an open file at this moment.
    pub fn of(file: &File, path: &Path) -> Result<Self> {
        let stat = rustix::fs::fstat(file)
            .map_err(|errno| Error::local("could not examine", path, errno.into()))?;
        Ok(Self::from_stat(&stat))
    }

    /// Fails with [`ErrorKind::SourceChanged`] when the open file is no longer in this state.
    /// To be called after the last read and before an upload is completed.
    pub fn unchanged(&self, file: &File, path: &Path) -> Result<()> {
        let now = Self::of(file, path)?;
        if now == *self {
            return Ok(());
        }
        let change = if now.size == self.size {
            "its modification time changed".to_owned()
        } else {
            format!("its size went from {} to {} bytes", self.size, now.size)
        };
        Err(source_changed(path, &change))
    }

    pub(crate) fn from_stat(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified_s: stat.st_mtime,
            modified_ns: u32::try_from(stat.st_mtime_nsec).unwrap_or(0),
        }
    }
}

/// Mode and owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAttributes {
    /// Type and permission bits.
    pub mode: u32,
    /// Owner.
    pub user: u32,
    /// Group.
    pub group: u32,
}

impl FileAttributes {
    /// Reads those of a path, following links.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SourceChanged`] when it is no longer the file, in the state, of `identity`.
    pub fn of_path(path: &Path, identity: &FileIdentity) -> Result<Self> {
        let stat = rustix::fs::stat(path)
            .map_err(|errno| Error::local("could not examine", path, errno.into()))?;
        if FileIdentity::from_stat(&stat) != *identity {
            return Err(source_changed(path, "it is another file"));
        }
        Ok(Self { mode: stat.st_mode, user: stat.st_uid, group: stat.st_gid })
    }
}

/// The error for a file that changed under the reader.
pub(crate) fn source_changed(path: &Path, change: &str) -> Error {
    let message = format!("`{}` changed while it was read: {change}", path.display());
    Error::new(ErrorKind::SourceChanged, message)
}

/// A time from seconds and nanoseconds since the epoch, `None` when it cannot be represented.
pub fn system_time(seconds: i64, nanoseconds: u32) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let base = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    base?.checked_add(Duration::from_nanos(u64::from(nanoseconds)))
}

/// Whole seconds since the epoch, rounded down.
pub fn whole_seconds(time: SystemTime) -> i64 {
    exact_time(time).0
}

/// Whole seconds since the epoch, rounded down, and the nanoseconds of that second.
pub fn exact_time(time: SystemTime) -> (i64, u32) {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => (i64::try_from(after.as_secs()).unwrap_or(i64::MAX), after.subsec_nanos()),
        Err(error) => {
            let before = error.duration();
            let is_cut = before.subsec_nanos() > 0;
            let seconds = before.as_secs() + u64::from(is_cut);
            let nanoseconds = if is_cut { NANOSECONDS - before.subsec_nanos() } else { 0 };
            (i64::try_from(seconds).map_or(i64::MIN, |seconds| -seconds), nanoseconds)
        }
    }
}

/// Nanoseconds since the epoch.
pub(crate) fn nanoseconds(time: SystemTime) -> i128 {
    let (seconds, nanoseconds) = exact_time(time);
    i128::from(seconds) * i128::from(NANOSECONDS) + i128::from(nanoseconds)
}

/// Access and modification time set to a time.
pub(crate) fn timestamps(time: SystemTime) -> Timestamps {
    let (tv_sec, nanoseconds) = exact_time(time);
    let time = Timespec { tv_sec, tv_nsec: nanoseconds.into() };
    Timestamps { last_access: time, last_modification: time }
}

/// Access and modification time set to the whole second of `time`, as the AWS tools do.
pub(crate) fn whole_second_timestamps(time: SystemTime) -> Timestamps {
    let second = Timespec { tv_sec: whole_seconds(time), tv_nsec: 0 };
    Timestamps { last_access: second, last_modification: second }
}

/// Waits until what was written to the file system of a folder is on the disk. An error may be of
/// anything that was written there since the folder was opened.
pub fn sync_file_system(folder: &File) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::fs::syncfs(folder)?);
    #[cfg(not(target_os = "linux"))]
    return folder.sync_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_down_on_both_sides_of_the_epoch() {
        for (seconds, nanoseconds) in [(0, 0), (5, 1), (-1, 999_999_999), (-7, 0), (-7, 3)] {
            let time = system_time(seconds, nanoseconds).unwrap();
            assert_eq!(exact_time(time), (seconds, nanoseconds));
        }
    }

    #[test]
    fn identity_notices_size_and_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"abc").unwrap();
        let file = File::open(&path).unwrap();
        let before = FileIdentity::of(&file, &path).unwrap();
        before.unchanged(&file, &path).unwrap();
        let writer = File::options().write(true).open(&path).unwrap();
        writer.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let error = before.unchanged(&file, &path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SourceChanged);
        writer.set_len(7).unwrap();
        let error = before.unchanged(&file, &path).unwrap_err();
        assert!(error.to_string().contains("from 3 to 7 bytes"), "{error}");
    }

    #[test]
    fn impossible_times_become_the_epoch() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"").unwrap();
        let far = system_time(LAST_SECOND + 1, 0).unwrap();
        let set = File::options().write(true).open(&path).unwrap().set_modified(far);
        let info = FileInfo::of_path(&path).unwrap();
        // Some file systems cannot hold such a time: then there is nothing to see.
        if set.is_ok() && std::fs::metadata(&path).unwrap().modified().unwrap() == far {
            assert!(!info.has_valid_time);
            assert_eq!(info.modified, SystemTime::UNIX_EPOCH);
        }
    }
}
