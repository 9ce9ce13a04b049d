//! Files that a walk found together, in columns.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::fs::meta::{FileInfo, FileKind};

/// Files in the order of their names, and what came up between them.
///
/// All names are in one buffer: a file costs no allocation of its own.
#[derive(Clone, Debug, Default)]
pub struct FileBatch {
    root: PathBuf,
    /// The root is the one file, not the folder around the files.
    is_file: bool,
    names: String,
    rows: Vec<Row>,
    /// Warnings, without `warning: `; each makes the exit status 2.
    pub warnings: Vec<String>,
    /// Names relative to the root of what is there and could not be looked at; those of folders end
    /// in `/`, that of the root is empty.
    pub gaps: Vec<String>,
}

/// What has a fixed size in an entry. Its name ends here in the buffer and begins where that of the
/// entry before ends.
#[derive(Clone, Copy, Debug)]
struct Row {
    name_end: usize,
    size: u64,
    modified: SystemTime,
    mode: u32,
}

/// A regular file in a batch.
#[derive(Clone, Copy, Debug)]
pub struct LocalFile<'a> {
    root: &'a Path,
    is_root: bool,
    /// Name relative to the root with `/` between components; its last name for a single file.
    pub relative: &'a str,
    /// Size in bytes.
    pub size: u64,
    /// Modification time, to the nanosecond.
    pub modified: SystemTime,
    /// Type and permission bits.
    pub mode: u32,
}

impl LocalFile<'_> {
    /// What a look at the file gave.
    pub fn info(&self) -> FileInfo {
        let Self { size, modified, mode, .. } = *self;
        FileInfo { kind: FileKind::File, size, modified, has_valid_time: true, mode }
    }

    /// Full path, in one block of memory.
    pub fn path(&self) -> PathBuf {
        if self.is_root {
            return self.root.to_owned();
        }
        let length = self.root.as_os_str().len() + 1 + self.relative.len();
        let mut path = PathBuf::with_capacity(length);
        path.push(self.root);
        path.push(self.relative);
        path
    }
}

impl FileBatch {
    /// No files yet, of a folder.
    pub fn below(root: &Path) -> Self {
        Self { root: root.to_owned(), ..Self::default() }
    }

    /// Nothing yet, of a single file.
    pub fn of_file(path: &Path) -> Self {
        Self { root: path.to_owned(), is_file: true, ..Self::default() }
    }

    /// Appends a file.
    pub fn push(&mut self, relative: &str, info: &FileInfo) {
        self.push_joined("", relative, info);
    }

    /// Appends a file of a folder; the folder's name ends in `/` unless it is the root.
    pub(super) fn push_joined(&mut self, folder: &str, name: &str, info: &FileInfo) {
        self.names.push_str(folder);
        self.names.push_str(name);
        let FileInfo { size, modified, mode, .. } = *info;
        self.rows.push(Row { name_end: self.names.len(), size, modified, mode });
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it holds no file; there may be warnings.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One of the files.
    pub fn get(&self, index: usize) -> Option<LocalFile<'_>> {
        let Row { name_end, size, modified, mode } = *self.rows.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.rows[before].name_end);
        let relative = &self.names[start..name_end];
        Some(LocalFile { root: &self.root, is_root: self.is_file, relative, size, modified, mode })
    }

    /// A batch of just one of the files.
    #[must_use]
    pub fn only(&self, index: usize) -> Self {
        let mut batch = Self { root: self.root.clone(), is_file: self.is_file, ..Self::default() };
        if let (Some(file), Some(row)) = (self.get(index), self.rows.get(index)) {
            batch.names.push_str(file.relative);
            batch.rows.push(Row { name_end: file.relative.len(), ..*row });
        }
        batch
    }

    /// Files, warnings and gaps: what bounds a batch.
    pub(super) fn weight(&self) -> usize {
        self.rows.len() + self.warnings.len() + self.gaps.len()
    }
}
