//! The directory that a job writes below.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, DirEntry, Mode, OFlags};
use rustix::io::Errno;

use super::directories::{Directories, open_root};
use super::leftover;
use super::names::{self, Escape, EscapeReason};
use super::pending::{Access, PendingFile, Place};
use crate::fs::{FileInfo, FileKind};
use s3haul_wire::error::{Error, ErrorKind, Result};

/// Folders within each other that are removed at most; each is open meanwhile.
const LEVELS_MAX: usize = 64;

/// A target directory; everything written through it stays below it.
///
/// Cheap to clone, used from several threads at once.
#[derive(Clone, Debug)]
pub struct TargetRoot {
    directories: Arc<Directories>,
}

/// Why a file below a root could not be created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The key would leave the root, or no local path can express it: skip it with
    /// [`Escape::warning`] and exit status 2.
    #[error(transparent)]
    Escape(#[from] Escape),
    /// The object fails.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl CreateError {
    /// The same error for the whole name, not only its directory.
    fn of(mut self, relative: &str) -> Self {
        if let Self::Escape(escape) = &mut self {
            relative.clone_into(&mut escape.name);
        }
        self
    }
}

impl From<CreateError> for Error {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::Failed(error) => error,
            CreateError::Escape(escape) => {
                Self::new(ErrorKind::Local, "could not write below the target directory")
                    .with_source(escape)
            }
        }
    }
}

fn cannot_open(path: &Path, errno: Errno) -> Error {
    Error::local("could not open directory", path, errno.into())
}

impl TargetRoot {
    /// Opens a directory, creating it and its parents where they are missing.
    pub fn open(path: &Path) -> Result<Self> {
        std::fs::create_dir_all(path)
            .map_err(|source| Error::local("could not create directory", path, source))?;
        let root = open_root(path).map_err(|errno| cannot_open(path, errno))?;
        Ok(Self { directories: Arc::new(Directories::new(Some(root), path.to_owned())) })
    }

    /// Opens a directory to look at what is there, which is nothing where it is missing.
    pub fn open_unwritten(path: &Path) -> Result<Self> {
        let root = match open_root(path) {
            Ok(root) => Some(root),
            // A link to nowhere is there.
            Err(Errno::NOENT) if path.symlink_metadata().is_err() => None,
            Err(errno) => return Err(cannot_open(path, errno)),
        };
        Ok(Self { directories: Arc::new(Directories::new(root, path.to_owned())) })
    }

    /// Path of the root.
    pub fn path(&self) -> &Path {
        self.directories.path()
    }

    /// Full path of a relative name, for messages only.
    pub fn path_of(&self, relative: &str) -> PathBuf {
        // A name that begins with a slash, which is refused, is none of the root of all files.
        let mut path = self.path().join("").into_os_string();
        path.push(relative);
        path.into()
    }

    /// Starts a file: creates missing parents and a temporary file beside the target.
    pub fn create(&self, relative: &str) -> Result<PendingFile, CreateError> {
        self.create_for(relative, Access::ByUmask)
    }

    /// The same, with explicit read access while the file is written.
    pub fn create_for(&self, relative: &str, access: Access) -> Result<PendingFile, CreateError> {
        let (directory, name) = names::split_checked(relative)?;
        let path = self.path_of(relative);
        check_length(name, &path)?;
        for last_try in [false, true] {
            let parent = self.directories.create(directory).map_err(|error| error.of(relative))?;
            let place = Place { parent, name: name.to_owned(), path: path.clone() };
            match PendingFile::create(place, access) {
                // The directory was removed since it was opened: make it anew, once.
                Err(error) if !last_try && is_missing(&error) => {
                    self.directories.forget(directory);
                }
                result => return Ok(result?),
            }
        }
        unreachable!("the last try returns")
    }

    /// Goes on with the temporary file of an earlier run; `None` where there is none.
    pub fn reopen(&self, relative: &str, access: Access, temporary: &str) -> Option<PendingFile> {
        let (directory, name) = names::split_checked(relative).ok()?;
        let parent = self.directories.find_without_links(directory).ok()??;
        let place = Place { parent, name: name.to_owned(), path: self.path_of(relative) };
        PendingFile::reopen(place, access, temporary)
    }

    /// Whether the name exists, links followed: what `--no-overwrite` asks.
    pub fn exists(&self, relative: &str) -> Result<bool, CreateError> {
        Ok(self.find(relative)?.is_some())
    }

    /// What is there under a name, links followed.
    pub fn find(&self, relative: &str) -> Result<Option<FileInfo>, CreateError> {
        let (directory, name) = names::split_checked(relative)?;
        let found = self.directories.find(directory).map_err(|error| error.of(relative))?;
        let Some(parent) = found else { return Ok(None) };
        match rustix::fs::statat(parent.as_fd(), name, AtFlags::empty()) {
            Ok(stat) => Ok(Some(FileInfo::from_stat(&stat))),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(errno) => {
                Err(Error::local("could not examine", &self.path_of(relative), errno.into()).into())
            }
        }
    }

    /// Whether a folder stands where a file is to be. Blocks.
    pub(crate) fn is_folder(&self, relative: &str) -> bool {
        self.find(relative).ok().flatten().is_some_and(|found| found.kind == FileKind::Directory)
    }

    /// Why a file would not be written under a name: because of the name, or of a link on the way.
    /// Blocks.
    pub(crate) fn refusal(&self, relative: &str) -> Option<Escape> {
        let escape = match names::split_checked(relative) {
            Ok((directory, _)) => self.directories.refusal(directory)?,
            Err(escape) => escape,
        };
        Some(Escape { name: relative.to_owned(), ..escape })
    }

    /// Why a file would not be removed: because of its name, or of a link on the way. Blocks.
    pub(crate) fn removal_refusal(&self, relative: &str) -> Option<Escape> {
        let directory = match names::split_removable(relative) {
            Ok((directory, _)) => directory,
            Err(escape) => return Some(escape),
        };
        match self.directories.find_without_links(directory).map_err(|error| error.of(relative)) {
            Err(CreateError::Escape(escape)) => Some(escape),
            _ => None,
        }
    }

    /// Whether a folder stands where a file is to be, and stays: it has something else than files
    /// that are removed, or nothing is. Blocks.
    pub(crate) fn folder_stays(
        &self,
        relative: &str,
        is_removed: Option<&dyn Fn(&str) -> bool>,
    ) -> bool {
        let Ok((directory, name)) = names::split_removable(relative) else { return false };
        let Ok(Some(parent)) = self.directories.find_without_links(directory) else { return false };
        let Ok(folder) = open_folder(parent.as_fd(), name.as_ref()) else { return false };
        let has_only = |taken| has_only_files(&folder, relative, taken, LEVELS_MAX) == Ok(true);
        !is_removed.is_some_and(has_only)
    }

    /// Removes a folder that has nothing but folders, so that a file can take its place; one that
    /// has anything else stays as it is. Blocks.
    pub(crate) fn remove_empty_tree(&self, relative: &str) {
        let Ok((directory, name)) = names::split_removable(relative) else { return };
        let Ok(Some(parent)) = self.directories.find_without_links(directory) else { return };
        let (parent, name) = (parent.as_fd(), name.as_ref());
        if is_empty_tree(parent, name, LEVELS_MAX) == Ok(true) {
            // What came meanwhile keeps its folder.
            let _ = remove_empty_tree(parent, name, LEVELS_MAX);
        }
    }

    /// Removes a file below the root (`sync --delete`), and no directory. Nor is what a link on the
    /// way leads to removed, which may be wanted under its other name.
    ///
    /// Nor is a temporary file that is being written; one that a killed process left is.
    pub fn remove(&self, relative: &str) -> Result<(), CreateError> {
        let (directory, name) = names::split_removable(relative)?;
        let gone =
            || Error::local("could not remove", &self.path_of(relative), Errno::NOENT.into());
        let found =
            self.directories.find_without_links(directory).map_err(|error| error.of(relative))?;
        let parent = found.ok_or_else(gone)?;
        if names::is_temporary(name) {
            let escape = Escape { name: relative.to_owned(), reason: EscapeReason::InUse };
            return leftover::remove(parent.as_fd(), name).then_some(()).ok_or(escape.into());
        }
        rustix::fs::unlinkat(parent.as_fd(), name, AtFlags::empty()).map_err(|errno| {
            Error::local("could not remove", &self.path_of(relative), errno.into()).into()
        })
    }
}

/// Whether a folder has nothing but such folders, and files or links to files of these names.
fn has_only_files(
    folder: &OwnedFd,
    relative: &str,
    is_taken: &dyn Fn(&str) -> bool,
    levels: usize,
) -> rustix::io::Result<bool> {
    for name in names_in(folder)? {
        let name = name?;
        let Some(relative) = name.to_str().map(|name| format!("{relative}/{name}")) else {
            return Ok(false);
        };
        let stat = rustix::fs::statat(folder, &name, AtFlags::empty())?;
        let is_right = match FileInfo::from_stat(&stat).kind {
            FileKind::File => is_taken(&relative),
            FileKind::Directory if levels > 0 => {
                let folder = open_folder(folder.as_fd(), &name)?;
                has_only_files(&folder, &relative, is_taken, levels - 1)?
            }
            _ => false,
        };
        if !is_right {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a folder has nothing but such folders.
fn is_empty_tree(parent: BorrowedFd<'_>, name: &OsStr, levels: usize) -> rustix::io::Result<bool> {
    let folder = open_folder(parent, name)?;
    for name in names_in(&folder)? {
        if levels == 0 || !is_empty_tree(folder.as_fd(), &name?, levels - 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes such a folder.
fn remove_empty_tree(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    levels: usize,
) -> rustix::io::Result<()> {
    let folder = open_folder(parent, name)?;
    for name in names_in(&folder)? {
        let levels = levels.checked_sub(1).ok_or(Errno::NOTEMPTY)?;
        remove_empty_tree(folder.as_fd(), &name?, levels)?;
    }
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
}

fn open_folder(parent: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// The names in a folder.
fn names_in(
    folder: &OwnedFd,
) -> rustix::io::Result<impl Iterator<Item = rustix::io::Result<OsString>>> {
    let name = |entry: DirEntry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
    let is_below = |name: &OsString| name != "." && name != "..";
    let names = Dir::read_from(folder)?.map(move |entry| entry.map(name));
    Ok(names.filter(move |name| name.as_ref().map_or(true, is_below)))
}

fn check_length(name: &str, path: &Path) -> Result<()> {
    if name.len() > names::NAME_LENGTH_MAX {
        return Err(Error::local("could not create", path, Errno::NAMETOOLONG.into()));
    }
    Ok(())
}

fn is_missing(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    source
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .is_some_and(|source| source.kind() == std::io::ErrorKind::NotFound)
}
