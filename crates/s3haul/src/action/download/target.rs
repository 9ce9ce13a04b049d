//! Where downloads are written to.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::engine::object::changed;
use crate::fs::Access;
use crate::fs::Committed;
use crate::fs::CreateError;
use crate::fs::FileInfo;
use crate::fs::PendingFile;
use crate::fs::TargetRoot;
use crate::fs::meta::nanoseconds;
use crate::plan::expected::{Expected, State, TargetState};
use s3haul_wire::error::{Error, ErrorKind, Result};

/// Where files are written.
#[derive(Clone, Debug)]
pub(crate) enum DownloadTarget {
    /// Below a folder.
    Below(TargetRoot),
    /// One file of exactly this name.
    Exactly(PathBuf),
}

impl DownloadTarget {
    /// Full path of a relative name.
    pub(crate) fn path_of(&self, relative: &str) -> PathBuf {
        match self {
            Self::Below(root) => root.path_of(relative),
            Self::Exactly(path) => path.clone(),
        }
    }

    /// The FIFO that the command names, opened without waiting: an error where nothing reads from
    /// it, and none where there is no such FIFO.
    pub(crate) fn open_fifo(&self) -> rustix::io::Result<Option<OwnedFd>> {
        let Self::Exactly(path) = self else { return Ok(None) };
        let found = rustix::fs::stat(path).map(|found| FileType::from_raw_mode(found.st_mode));
        if found != Ok(FileType::Fifo) {
            return Ok(None);
        }
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::NXIO) => Err(Errno::NXIO),
            // Other errors are those of the file that is begun.
            opened => Ok(opened.ok()),
        }
    }

    /// Starts a file. Blocks.
    pub(crate) fn create(
        &self,
        relative: &str,
        access: Access,
    ) -> Result<PendingFile, CreateError> {
        match self {
            Self::Below(root) => root.create_for(relative, access),
            Self::Exactly(path) => Ok(PendingFile::at_for(path, access)?),
        }
    }

    /// Goes on with the temporary file of an earlier run, where it is still there. Blocks.
    pub(crate) fn reopen(
        &self,
        relative: &str,
        access: Access,
        temporary: &str,
    ) -> Option<PendingFile> {
        match self {
            Self::Below(root) => root.reopen(relative, access, temporary),
            Self::Exactly(path) => PendingFile::reopen_at(path, access, temporary),
        }
    }

    /// What is there already. Blocks.
    pub(crate) fn find(&self, relative: &str) -> Option<FileInfo> {
        match self {
            Self::Below(root) => root.find(relative).ok().flatten(),
            Self::Exactly(path) => FileInfo::of_path(path).ok(),
        }
    }

    /// Refuses to write over a file that is no longer as it was planned. Blocks.
    pub(crate) fn refuse_unexpected(
        &self,
        relative: &str,
        expected: Option<&Expected>,
    ) -> Result<()> {
        let Some(Expected { target, is_planned, .. }) = expected else { return Ok(()) };
        let changed = || changed("the target", expected);
        let found = match self {
            // What cannot be looked at is not taken for missing.
            Self::Below(root) => root.find(relative).map_err(|_| changed())?,
            Self::Exactly(path) => FileInfo::of_path(path).ok(),
        };
        if self.path_of(relative).is_symlink() {
            if !is_planned {
                return Err(changed());
            }
            let message = "the target is a symbolic link, which a plan does not replace";
            return Err(Error::new(ErrorKind::PreconditionFailed, message));
        }
        let found = found.map(|file| State::of_file(file.size, nanoseconds(file.modified)));
        if *target == TargetState::Unknown || *target == TargetState::of(found) {
            return Ok(());
        }
        Err(changed())
    }

    /// Whether there is something already. Blocks.
    pub(crate) fn exists(&self, relative: &str) -> bool {
        match self {
            Self::Below(root) => root.exists(relative).unwrap_or(false),
            Self::Exactly(path) => path.exists(),
        }
    }
}

/// Why an object did not become a file.
pub(crate) type SaveResult = Result<Committed, CreateError>;

/// Read access to a file before it has the permissions that the object brings with it.
pub(crate) fn access_of(has_permissions: bool) -> Access {
    if has_permissions { Access::Owner } else { Access::ByUmask }
}
