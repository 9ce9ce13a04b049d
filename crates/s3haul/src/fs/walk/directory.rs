//! One directory of a walk: its sorted names, packed in one buffer.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::server_store::ServerStore;
use crate::fs::warning;

/// Identifies a directory, to detect loops.
type DirectoryId = (u64, u64);

/// A directory that is being walked.
pub(super) struct Level {
    path: PathBuf,
    directory: Option<Dir>,
    id: DirectoryId,
    names: Names,
    next: usize,
    parent_length: usize,
    follow_symlinks: bool,
    has_private: bool,
    store: ServerStore,
    is_store_named: bool,
}

/// Names of one directory in key order; directories end in `/`.
#[derive(Default)]
struct Names {
    text: String,
    ranges: Vec<(usize, usize)>,
}

impl Names {
    fn push(&mut self, name: &str, is_directory: bool) {
        let start = self.text.len();
        self.text.push_str(name);
        if is_directory {
            self.text.push('/');
        }
        self.ranges.push((start, self.text.len()));
    }

    fn sort(&mut self) {
        let text = self.text.as_bytes();
        self.ranges.sort_unstable_by_key(|&(start, end)| &text[start..end]);
    }
}

impl Level {
    /// Reads a directory's names. Names that are not UTF-8 become warnings; links are left out
    /// when they are not to be followed.
    pub(super) fn read(
        path: &Path,
        parent_length: usize,
        follow_symlinks: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut directory = Dir::new(rustix::fs::open(path, flags, Mode::empty())?)?;
        let stat = directory.stat()?;
        let mut level = Self {
            path: path.to_owned(),
            id: (stat.st_dev, stat.st_ino),
            names: Names::default(),
            next: 0,
            parent_length,
            follow_symlinks,
            has_private: false,
            store: ServerStore::default(),
            is_store_named: false,
            directory: None,
        };
        while let Some(entry) = directory.read() {
            level.add(directory.fd()?, &entry?, warnings);
        }
        level.directory = Some(directory);
        level.names.sort();
        if level.has_private {
            level.store = ServerStore::read(path);
        }
        Ok(level)
    }

    fn add(&mut self, directory: BorrowedFd<'_>, entry: &DirEntry, warnings: &mut Vec<String>) {
        let raw = entry.file_name().to_bytes();
        if raw == b"." || raw == b".." {
            return;
        }
        let kind = self.kind_of(directory, entry);
        if kind == FileType::Symlink && !self.follow_symlinks {
            return;
        }
        match std::str::from_utf8(raw) {
            Ok(name) => {
                self.has_private |= ServerStore::is_private(name);
                self.names.push(name, kind == FileType::Directory);
            }
            Err(_) => warnings.push(warning::undecodable(&self.path, raw)),
        }
    }

    /// Kind of an entry, links followed where they are to be; no `stat` for plain entries.
    fn kind_of(&self, directory: BorrowedFd<'_>, entry: &DirEntry) -> FileType {
        let mut kind = entry.file_type();
        let stat = |flags| {
            rustix::fs::statat(directory, entry.file_name(), flags)
                .map(|stat| FileType::from_raw_mode(stat.st_mode))
        };
        if kind == FileType::Unknown {
            kind = stat(AtFlags::SYMLINK_NOFOLLOW).unwrap_or(FileType::Unknown);
        }
        if kind == FileType::Symlink && self.follow_symlinks {
            kind = stat(AtFlags::empty()).unwrap_or(FileType::Unknown);
        }
        kind
    }

    /// Goes to the next name in order and gives its index.
    pub(super) fn advance(&mut self) -> Option<usize> {
        let index = self.next;
        self.next += 1;
        (index < self.names.ranges.len()).then_some(index)
    }

    /// A name; those of directories end in `/`.
    pub(super) fn name(&self, index: usize) -> &str {
        let (start, end) = self.names.ranges[index];
        &self.names.text[start..end]
    }

    /// Facts of a file in this directory.
    pub(super) fn stat(&self, name: &str) -> Result<Stat, Errno> {
        let links = if self.follow_symlinks { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        match &self.directory {
            Some(directory) => rustix::fs::statat(directory.fd()?, name, links),
            None => rustix::fs::statat(CWD, self.path.join(name), links),
        }
    }

    /// Closes the directory: from now on its files are reached by their whole paths.
    pub(super) fn close(&mut self) {
        self.directory = None;
    }

    /// Whether a folder of this directory belongs to the store of a server.
    pub(super) fn is_of_server(&self, folder: &str) -> bool {
        self.store.has(folder)
    }

    /// Marks the store in this directory as named; true if it was not before.
    pub(super) fn names_store(&mut self) -> bool {
        !std::mem::replace(&mut self.is_store_named, true)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn id(&self) -> DirectoryId {
        self.id
    }

    /// Length of the key of the directory above.
    pub(super) fn parent_length(&self) -> usize {
        self.parent_length
    }
}
