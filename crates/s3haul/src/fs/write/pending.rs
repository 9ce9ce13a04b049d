//! A file being written: temporary until it is committed.

#[cfg(target_os = "linux")]
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustix::fs::{AtFlags, FallocateFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::directories::open_root;
use super::{leftover, names};
use crate::fs::busy::Busy;
use crate::fs::{meta, warning};
use s3haul_wire::error::{Error, ErrorKind, Result};

/// How many temporary names are tried before giving up.
const NAME_TRIES: u32 = 16;

/// Where a file will be.
#[derive(Debug)]
pub(super) struct Place {
    /// The directory.
    pub(super) parent: Arc<OwnedFd>,
    /// Name in it.
    pub(super) name: String,
    /// Whole path, for messages.
    pub(super) path: PathBuf,
}

/// A file being written.
///
/// Written at any position from several threads at once, unless [`Self::is_sequential`]. Removed
/// when it is dropped before [`Self::commit`].
#[derive(Debug)]
pub struct PendingFile {
    file: File,
    place: Place,
    mode: WriteMode,
    access: Access,
    /// Whether the temporary file stays where it is when this is dropped.
    kept_if: Option<KeptIf>,
}

/// Whether a temporary file stays where it is when its writing ends before it is complete.
#[derive(Clone)]
pub struct KeptIf(Arc<dyn Fn() -> bool + Send + Sync>);

impl KeptIf {
    /// Asked when the writing ends.
    pub fn new(is_kept: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_kept))
    }
}

impl std::fmt::Debug for KeptIf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeptIf")
    }
}

/// Read access to a file while it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Whom the umask lets.
    #[default]
    ByUmask,
    /// Its owner only: what it gets at the end may be narrower than the umask.
    Owner,
}

impl Access {
    fn mode(self) -> Mode {
        Mode::from_raw_mode(match self {
            Self::ByUmask => 0o666,
            Self::Owner => 0o600,
        })
    }
}

#[derive(Debug)]
enum WriteMode {
    /// A temporary file with this name, not yet renamed (`None` once it is).
    Temporary(Option<String>),
    /// A device or FIFO, written in order; the position is the next byte's.
    Direct(Mutex<u64>),
}

/// What a commit could not do though the contents are in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Committed {
    /// Set when the modification time or the permissions could not be set: what follows
    /// `warning: `.
    pub warning: Option<String>,
}

/// What a file gets beside its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finish {
    /// Modification time.
    pub modified: Option<SystemTime>,
    /// The time is set to the nanosecond, not to the whole second as the AWS tools do.
    pub is_exact: bool,
    /// Permissions of owner, group and others, whatever the umask says.
    pub permissions: Option<u32>,
    /// Nothing is replaced: if the file exists by then, it stays (`--no-overwrite`).
    pub is_new: bool,
}

impl Finish {
    /// The time of an object in seconds since 1970.
    pub fn at(modified_s: i64) -> Self {
        Self { modified: meta::system_time(modified_s, 0), ..Self::default() }
    }

    /// Sets it all; gives a warning about what could not be set.
    fn apply(self, file: &File, path: &Path) -> Option<String> {
        let cause = |errno: Errno| io::Error::from(errno).to_string();
        let mode = self.permissions.map(|bits| Mode::from_raw_mode(bits & 0o777));
        let mode_set = mode.map_or(Ok(()), |mode| rustix::fs::fchmod(file, mode));
        let times = self.modified.map(if self.is_exact {
            meta::timestamps
        } else {
            meta::whole_second_timestamps
        });
        let time_set = times.map_or(Ok(()), |times| rustix::fs::futimens(file, &times));
        let time_warning = time_set.err().map(|errno| warning::time_not_set(path, &cause(errno)));
        let mode_warning = || Some(warning::mode_not_set(path, &cause(mode_set.err()?)));
        time_warning.or_else(mode_warning)
    }
}

impl From<SystemTime> for Finish {
    fn from(modified: SystemTime) -> Self {
        Self { modified: Some(modified), ..Self::default() }
    }
}

impl PendingFile {
    /// Starts a file at a path the user named: missing parents are created, links on the way are
    /// followed, and a device or FIFO (also behind a link, such as `/dev/stdout`) is written
    /// directly. A reader of a FIFO is waited for.
    pub fn at(path: &Path) -> Result<Self> {
        Self::begin_at(path, Access::ByUmask, OFlags::empty())
    }

    /// The same, with explicit read access while the file is written; without a reader a FIFO
    /// cannot be opened.
    pub fn at_for(path: &Path, access: Access) -> Result<Self> {
        Self::begin_at(path, access, OFlags::NONBLOCK)
    }

    fn begin_at(path: &Path, access: Access, how: OFlags) -> Result<Self> {
        let directory = folder_of(path);
        if !directory.is_dir() {
            std::fs::create_dir_all(directory)
                .map_err(|source| Error::local("could not create directory", directory, source))?;
        }
        let place = Place::of(path)?;
        match rustix::fs::stat(path) {
            // Whatever `/dev/stdout` leads to, its name must not be replaced by a file.
            Ok(_) if directory == Path::new("/dev") => Self::open_direct(place, OFlags::empty()),
            Ok(stat) => Self::create_over(place, stat.st_mode, how, access),
            Err(_) => Self::create_temporary(place, access),
        }
    }

    /// Goes on with the temporary file that an earlier run left for a path the user named.
    pub fn reopen_at(path: &Path, access: Access, temporary: &str) -> Option<Self> {
        let is_replaced = rustix::fs::stat(path)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) != FileType::RegularFile);
        if is_replaced { None } else { Self::reopen(Place::of(path).ok()?, access, temporary) }
    }

    /// Starts a file in a directory, never following a link at its name, and never waiting for a
    /// reader of a FIFO that was not named.
    pub(super) fn create(place: Place, access: Access) -> Result<Self> {
        match rustix::fs::statat(&place.parent, &place.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
                Self::create_over(place, stat.st_mode, flags, access)
            }
            Err(_) => Self::create_temporary(place, access),
        }
    }

    /// Starts a file where something is; `how` says whether a device may be behind a link, and
    /// whether a FIFO is waited for.
    fn create_over(place: Place, existing_mode: u32, how: OFlags, access: Access) -> Result<Self> {
        match FileType::from_raw_mode(existing_mode) {
            FileType::Directory => Err(place.fail("a directory is in the way of", Errno::ISDIR)),
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Fifo => {
                Self::open_direct(place, how)
            }
            FileType::Socket => Err(place.fail("could not write to a socket", Errno::NXIO)),
            _ => Self::create_temporary(place, access),
        }
    }

    fn open_direct(place: Place, how: OFlags) -> Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY | how;
        let failed = |errno| match errno {
            Errno::NXIO => place.fail("nothing reads from the FIFO: could not open", errno),
            _ => place.fail("could not open", errno),
        };
        let opened = rustix::fs::openat(&place.parent, &place.name, flags, Mode::empty());
        let file = File::from(opened.map_err(failed)?);
        // Bytes are waited for again.
        rustix::fs::fcntl_setfl(&file, OFlags::empty()).map_err(failed)?;
        let (mode, access) = (WriteMode::Direct(Mutex::new(0)), Access::ByUmask);
        Ok(Self { file, place, mode, access, kept_if: None })
    }

    fn create_temporary(place: Place, access: Access) -> Result<Self> {
        let (file, name) = place.open_temporary(access)?;
        let mode = WriteMode::Temporary(Some(name));
        Ok(Self { file, place, mode, access, kept_if: None })
    }

    /// Goes on with the temporary file that an earlier run left, where it is still there and
    /// nothing else writes it. What is at the place of the file has been looked at before.
    pub(super) fn reopen(place: Place, access: Access, temporary: &str) -> Option<Self> {
        if !names::is_temporary(temporary) || temporary.contains('/') {
            return None;
        }
        let file = File::from(leftover::take(place.parent.as_fd(), temporary)?);
        let mode = WriteMode::Temporary(Some(temporary.to_owned()));
        Some(Self { file, place, mode, access, kept_if: None })
    }

    /// Name of the temporary file, while there is one.
    pub fn temporary_name(&self) -> Option<&str> {
        match &self.mode {
            WriteMode::Temporary(name) => name.as_deref(),
            WriteMode::Direct(_) => None,
        }
    }

    /// May leave the temporary file where it is when this is dropped: a later run goes on with it.
    pub fn keep_if(&mut self, kept_if: KeptIf) {
        self.kept_if = Some(kept_if);
    }

    /// Reads what was written at a position, of a file that was reopened.
    pub fn read_at(&self, position: u64, buffer: &mut [u8]) -> Result<()> {
        let read = self.file.read_exact_at(buffer, position);
        read.map_err(|source| Error::local("could not read", self.path(), source))
    }

    /// Path of the file once it is committed.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Whether bytes must come in order: the target is a device or FIFO.
    pub fn is_sequential(&self) -> bool {
        matches!(self.mode, WriteMode::Direct(_))
    }

    /// Reserves room on the disk, so that a full disk is noticed before the download.
    ///
    /// # Errors
    ///
    /// When there is no room. A file system that cannot reserve is no error.
    pub fn preallocate(&self, size: u64) -> Result<()> {
        if self.is_sequential() || size == 0 {
            return Ok(());
        }
        match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), 0, size) {
            Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
                let doing = format!("no room for {size} bytes of");
                Err(self.place.fail(&doing, errno))
            }
            _ => Ok(()),
        }
    }

    /// Writes bytes at a position; for a sequential target the position must be the next byte.
    pub fn write_at(&self, position: u64, bytes: &[u8]) -> Result<()> {
        let _busy = Busy::begin();
        match &self.mode {
            WriteMode::Temporary(_) => self
                .file
                .write_all_at(bytes, position)
                .map_err(|source| Error::local("could not write", self.path(), source)),
            WriteMode::Direct(next) => self.write_in_order(next, position, bytes),
        }
    }

    fn write_in_order(&self, next: &Mutex<u64>, position: u64, bytes: &[u8]) -> Result<()> {
        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
        if position != *next {
            let path = self.path().display();
            let message = format!("could not write `{path}` at {position}: it is at {next}");
            return Err(Error::new(ErrorKind::Local, message));
        }
        io::Write::write_all(&mut &self.file, bytes)
            .map_err(|source| Error::local("could not write", self.path(), source))?;
        *next += bytes.len() as u64;
        Ok(())
    }

    /// As [`Self::commit`], and waits until the file's name is on the disk, for a file that was
    /// synced before.
    ///
    /// # Errors
    ///
    /// Those of [`Self::commit`], and when the folder cannot be synced; the file is in its place
    /// then. A folder that may not be read, or a file system that syncs none, is no error. Folders
    /// that were made for the file are on the disk with it on ext4, XFS and Btrfs, whose logs have
    /// what came before; POSIX does not promise that.
    pub fn commit_durably(self, finish: Finish) -> Result<Committed> {
        if self.is_sequential() {
            return self.commit(finish);
        }
        let _busy = Busy::begin();
        let path = self.place.path.clone();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed =
            |errno: Errno| Error::local("could not sync the folder of", &path, errno.into());
        let folder = match rustix::fs::openat(&self.place.parent, ".", flags, Mode::empty()) {
            Ok(folder) => Some(folder),
            Err(Errno::ACCESS) => None,
            Err(errno) => return Err(failed(errno)),
        };
        let committed = self.commit(finish)?;
        match folder.map(rustix::fs::fsync) {
            None | Some(Ok(()) | Err(Errno::INVAL | Errno::NOTSUP | Errno::BADF)) => Ok(committed),
            Some(Err(errno)) => Err(failed(errno)),
        }
    }

    /// Removes what was written, also where a later run would go on with it.
    pub fn discard(mut self) {
        self.kept_if = None;
    }

    /// Waits until the contents are on the disk: for a move, which removes the only other copy, and
    /// because network file systems report some failed writes only then.
    pub fn sync(&self) -> Result<()> {
        if self.is_sequential() {
            return Ok(());
        }
        let _busy = Busy::begin();
        self.file.sync_data().map_err(|source| Error::local("could not write", self.path(), source))
    }

    /// Puts the file in its place, with this modification time and these permissions.
    ///
    /// # Errors
    ///
    /// When it cannot be renamed; of kind [`ErrorKind::PreconditionFailed`] when nothing may be
    /// replaced and the file exists. The temporary file is removed then. What cannot be set is not
    /// an error but a warning in [`Committed`].
    pub fn commit(mut self, finish: Finish) -> Result<Committed> {
        // Of what cannot be put in its place nothing is left.
        self.kept_if = None;
        let WriteMode::Temporary(temporary) = &mut self.mode else {
            return Ok(Committed::default());
        };
        let mut finish = finish;
        if self.access == Access::Owner && finish.permissions.is_none() {
            finish.permissions = Some(self.place.usual_permissions()?);
        }
        let warning = finish.apply(&self.file, &self.place.path);
        if let Some(name) = temporary.as_deref() {
            let found = leftover::stat_of(self.place.parent.as_fd(), name, self.file.as_fd());
            let found = found.ok_or_else(|| {
                self.place.fail("another process took what was written of", Errno::STALE)
            })?;
            if reports_late(self.file.as_fd(), found.st_dev) {
                let _busy = Busy::begin();
                match rustix::io::retry_on_intr(|| rustix::fs::fdatasync(&self.file)) {
                    Ok(()) | Err(Errno::INVAL | Errno::NOTSUP | Errno::NOSYS) => {}
                    Err(errno) => return Err(self.place.fail("could not write", errno)),
                }
            }
            self.place.take(name, finish.is_new)?;
        }
        *temporary = None;
        Ok(Committed { warning })
    }
}

/// Whether a file of a device lies on a file system that may report failed writes only when it is
/// closed: by its number, which only Linux has.
#[cfg(target_os = "linux")]
fn reports_late(file: BorrowedFd<'_>, device: u64) -> bool {
    /// AFS (both), CIFS, FUSE, NFS, SMB, SMB2, 9P: statfs(2).
    const LATE: [u64; 8] = [
        0x5346_414f,
        0x6b41_4653,
        0xff53_4d42,
        0x6573_5546,
        0x6969,
        0x517b,
        0xfe53_4d42,
        0x0102_1997,
    ];
    thread_local! {
        static LAST: Cell<Option<(u64, bool)>> = const { Cell::new(None) };
    }
    if let Some((_, is_late)) = LAST.get().filter(|(of, _)| *of == device) {
        return is_late;
    }
    let kind = rustix::fs::fstatfs(file).map(|found| u64::try_from(found.f_type));
    let is_late = matches!(kind, Ok(Ok(kind)) if LATE.contains(&kind));
    LAST.set(Some((device, is_late)));
    is_late
}

#[cfg(not(target_os = "linux"))]
fn reports_late<T>(_: BorrowedFd<'_>, _: T) -> bool {
    false
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let WriteMode::Temporary(Some(name)) = &self.mode
            && !self.kept_if.as_ref().is_some_and(|KeptIf(is_kept)| is_kept())
            && leftover::leads_to(self.place.parent.as_fd(), name, self.file.as_fd())
        {
            let removed = rustix::fs::unlinkat(&self.place.parent, name, AtFlags::empty());
            if let Err(errno) = removed {
                tracing::debug!(%name, %errno, "a temporary file could not be removed");
            }
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

impl Place {
    /// That of a path the user named, whose folder is there.
    fn of(path: &Path) -> Result<Self> {
        let fail = |source: io::Error| Error::local("could not create", path, source);
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| fail(Errno::INVAL.into()))?.to_owned();
        let parent = open_root(folder_of(path)).map_err(|errno| fail(errno.into()))?;
        Ok(Self { parent: Arc::new(parent), name, path: path.to_owned() })
    }

    /// Opens a new file of a temporary name.
    fn open_temporary(&self, access: Access) -> Result<(File, String)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let flags = flags | OFlags::NOFOLLOW;
        // The same each time, so that what a killed process left is found.
        let mut name = names::temporary_name(&self.name, None);
        for _ in 0..NAME_TRIES {
            match rustix::fs::openat(&self.parent, &name, flags, access.mode()) {
                Ok(fd) if leftover::claim(fd.as_fd()) => return Ok((File::from(fd), name)),
                Err(Errno::EXIST) if leftover::remove(self.parent.as_fd(), &name) => {}
                Ok(_) | Err(Errno::EXIST) => {
                    name = names::temporary_name(&self.name, Some(fastrand::u32(..)));
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.fail("could not create", errno)),
            }
        }
        Err(self.fail("could not create a temporary file for", Errno::EXIST))
    }

    /// Renames the temporary file to its final name.
    fn take(&self, temporary: &str, is_new: bool) -> Result<()> {
        let Self { parent, name, path } = self;
        let exists = || {
            // A directory is not what `--no-overwrite` protects: a failure, and not a skip.
            let found = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
            let file_type = found.map(|stat| FileType::from_raw_mode(stat.st_mode));
            if file_type == Ok(FileType::Directory) {
                return self.fail("a directory is in the way of", Errno::ISDIR);
            }
            let message = format!("`{}` already exists", path.display());
            Error::new(ErrorKind::PreconditionFailed, message)
        };
        if is_new {
            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(parent, temporary, parent, name, flags) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => return Err(exists()),
                // File systems such as NFS have no such rename.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
                        Err(Errno::NOENT) => {}
                        Ok(_) => return Err(exists()),
                        Err(errno) => return Err(self.fail("could not examine", errno)),
                    }
                }
                Err(errno) => return Err(self.fail("could not create", errno)),
            }
        }
        rustix::fs::renameat(parent, temporary, parent, name)
            .map_err(|errno| self.fail("could not replace", errno))
    }

    /// The permissions that a new file gets here. They are found by creating one: the umask cannot
    /// be read without being changed, and the directory may have a say.
    fn usual_permissions(&self) -> Result<u32> {
        let (probe, name) = self.open_temporary(Access::ByUmask)?;
        let stat = rustix::fs::fstat(&probe);
        let removed = rustix::fs::unlinkat(&self.parent, &name, AtFlags::empty());
        let stat = removed.and(stat).map_err(|errno| self.fail("could not examine", errno))?;
        Ok(stat.st_mode & 0o777)
    }

    fn fail(&self, doing: &str, errno: Errno) -> Error {
        Error::local(doing, &self.path, errno.into())
    }
}
