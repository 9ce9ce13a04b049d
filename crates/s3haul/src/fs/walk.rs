//! A local tree in S3 key order, as a blocking producer of batches.
//!
//! Depth first; each directory's names are sorted as bytes with `/` behind those of directories,
//! which is the order in which S3 lists the keys they become. Memory is one directory's names a
//! level. A file costs one `stat`; permission to read it is checked by a system call only where its
//! mode does not decide. What cannot be read is a warning and the rest goes on. Names that are not
//! UTF-8 cannot be keys and are skipped with a warning; so is what belongs to a server's store.

mod directory;
mod server_store;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::{Access, AtFlags, CWD, Stat};
use rustix::io::Errno;

use super::descriptors::Holder;
use super::meta::{FileInfo, FileKind};
use super::warning;
use super::write::is_temporary;
use directory::Level;

/// Files and warnings handed over at a time by [`Walk::next_batch`].
pub const BATCH_MAX: usize = 256;

/// Decides by a directory's key (relative, ending in `/`) whether it is left out as a whole.
pub type Prune = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// How to walk.
#[derive(Clone)]
pub struct WalkOptions {
    /// Whether links are followed (`--no-follow-symlinks` skips them instead).
    pub follow_symlinks: bool,
    /// Directories that need not be looked into.
    pub prune: Option<Prune>,
    /// Whether temporary files of downloads are found. No source has any business with them.
    pub takes_temporary: bool,
    /// Whether files are written to the tree. What is left out of it is no loss then: a server's
    /// store is skipped without a warning.
    pub is_target: bool,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self { follow_symlinks: true, prune: None, takes_temporary: false, is_target: false }
    }
}

impl std::fmt::Debug for WalkOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WalkOptions")
            .field("follow_symlinks", &self.follow_symlinks)
            .field("prune", &self.prune.is_some())
            .field("takes_temporary", &self.takes_temporary)
            .field("is_target", &self.is_target)
            .finish()
    }
}

/// A regular file found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalFile {
    /// Full path.
    pub path: PathBuf,
    /// Name relative to the root with `/` between components; its last name for a single file.
    pub relative: String,
    /// Size in bytes.
    pub size: u64,
    /// Modification time, to the nanosecond.
    pub modified: SystemTime,
    /// Type and permission bits.
    pub mode: u32,
}

/// What a walk finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkItem {
    /// A file to be transferred.
    File(LocalFile),
    /// What follows `warning: `; makes the exit status 2.
    Warning(String),
    /// Something that is there and could not be looked at.
    Skipped {
        /// Its name relative to the root; that of a folder ends in `/`, that of the root is empty.
        relative: String,
        /// What follows `warning: `; `None` if another item says it for this one, too.
        text: Option<String>,
    },
}

/// A walk through a tree, or over a single file.
pub struct Walk {
    options: WalkOptions,
    root: PathBuf,
    levels: Vec<Level>,
    holder: Holder,
    /// Key of the directory that the last level lists, ending in `/` unless it is the root.
    relative: String,
    /// Found but not yet handed out: a single file, and warnings.
    ready: VecDeque<WalkItem>,
}

impl Walk {
    /// Walks a directory. Its path should be absolute, as the warnings show it.
    pub fn tree(root: &Path, options: WalkOptions) -> Self {
        let mut walk = Self::empty(root, options);
        // The AWS tools name a tree's root with a separator at the end.
        let mut shown = root.to_string_lossy().into_owned();
        if !shown.ends_with('/') {
            shown.push('/');
        }
        if walk.options.follow_symlinks || !is_link(root) {
            match rustix::fs::stat(root) {
                Ok(stat) => match FileInfo::from_stat(&stat).kind {
                    FileKind::Directory => walk.enter(root, &shown),
                    FileKind::Special => walk.leave_out("", &shown, warning::SPECIAL),
                    // `file/` names nothing.
                    _ => walk.leave_out("", &shown, warning::MISSING),
                },
                Err(_) => walk.leave_out("", &shown, warning::MISSING),
            }
        }
        walk
    }

    /// Looks at a single file. A directory counts as one here, as in the AWS tools: reading it is
    /// what fails then.
    pub fn file(path: &Path, options: WalkOptions) -> Self {
        let mut walk = Self::empty(path, options);
        if !walk.options.follow_symlinks && is_link(path) {
            return walk;
        }
        let Some(text) = path.to_str() else {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let text = warning::undecodable(path.parent().unwrap_or(Path::new("")), name);
            walk.ready.push_back(WalkItem::Warning(text));
            return walk;
        };
        let name = text.rsplit_once('/').map_or(text, |(_, name)| name).to_owned();
        match rustix::fs::stat(path) {
            Ok(stat) if FileInfo::from_stat(&stat).kind == FileKind::Directory => {
                walk.push(path.to_owned(), name, &FileInfo::from_stat(&stat));
            }
            stat => walk.found(path.to_owned(), name, stat),
        }
        walk
    }

    fn empty(root: &Path, options: WalkOptions) -> Self {
        let root = root.to_owned();
        let (levels, ready) = (Vec::new(), VecDeque::new());
        Self { options, root, levels, holder: Holder::new(), relative: String::new(), ready }
    }

    /// The next files and warnings in order, at most [`BATCH_MAX`]; `None` at the end.
    pub fn next_batch(&mut self) -> Option<Vec<WalkItem>> {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        batch.extend(self.by_ref().take(BATCH_MAX));
        (!batch.is_empty()).then_some(batch)
    }

    /// Goes on by one name: descends, climbs, or finds a file.
    fn step(&mut self) -> bool {
        let Some(level) = self.levels.last_mut() else { return false };
        let Some(index) = level.advance() else {
            self.relative.truncate(level.parent_length());
            self.levels.pop();
            return true;
        };
        let level = &*level;
        let name = level.name(index);
        if !self.options.takes_temporary && is_temporary(name) {
            return true;
        }
        if let Some(directory) = name.strip_suffix('/') {
            let path = level.path().join(directory);
            let is_of_server = level.is_of_server(directory);
            let parent_length = self.relative.len();
            self.relative.push_str(directory);
            self.relative.push('/');
            let pruned = self.options.prune.as_ref().is_some_and(|prune| prune(&self.relative));
            let depth = self.levels.len();
            if !pruned && is_of_server {
                self.leave_out_of_store();
            } else if !pruned {
                self.enter(&path, &path.to_string_lossy());
            }
            if self.levels.len() == depth {
                self.relative.truncate(parent_length);
            }
        } else {
            let stat = level.stat(name);
            let path = joined(level.path(), name);
            let mut relative = String::with_capacity(self.relative.len() + name.len());
            relative.push_str(&self.relative);
            relative.push_str(name);
            self.found(path, relative, stat);
        }
        true
    }

    /// Reads a directory and makes it the last level; `shown` is how warnings name it.
    fn enter(&mut self, path: &Path, shown: &str) {
        let parent_length = match self.relative.strip_suffix('/') {
            Some(inside) => inside.rfind('/').map_or(0, |slash| slash + 1),
            None => 0,
        };
        match Level::read(path, parent_length, self.options.follow_symlinks, &mut self.ready) {
            Ok(level) if self.levels.iter().any(|above| above.id() == level.id()) => {
                self.leave_out_here(shown, warning::LOOP);
            }
            Ok(mut level) => {
                // Those that are deeper are reached by their whole paths.
                if self.levels.len() >= self.holder.folders_max() {
                    level.close();
                }
                self.levels.push(level);
            }
            Err(Errno::NOENT) => self.leave_out_here(shown, warning::MISSING),
            Err(_) => self.leave_out_here(shown, warning::UNREADABLE),
        }
    }

    /// Takes up what a name turned out to be: a file, or a warning.
    fn found(&mut self, path: PathBuf, relative: String, stat: Result<Stat, Errno>) {
        let Ok(stat) = stat else {
            return self.leave_out(&relative, &path.to_string_lossy(), warning::MISSING);
        };
        let info = FileInfo::from_stat(&stat);
        if info.kind != FileKind::File {
            // A directory that was a file when its parent was read is gone as a file.
            let special = info.kind == FileKind::Special;
            let reason = if special { warning::SPECIAL } else { warning::MISSING };
            return self.leave_out(&relative, &path.to_string_lossy(), reason);
        }
        if !is_readable(&path, &stat) {
            return self.leave_out(&relative, &path.to_string_lossy(), warning::UNREADABLE);
        }
        if !info.has_valid_time {
            self.ready.push_back(WalkItem::Warning(warning::INVALID_TIME.to_owned()));
        }
        self.push(path, relative, &info);
    }

    fn push(&mut self, path: PathBuf, relative: String, info: &FileInfo) {
        let FileInfo { size, modified, mode, .. } = *info;
        self.ready.push_back(WalkItem::File(LocalFile { path, relative, size, modified, mode }));
    }

    /// Leaves out the directory that was to be entered.
    fn leave_out_here(&mut self, shown: &str, reason: &str) {
        let relative = self.relative.clone();
        self.leave_out(&relative, shown, reason);
    }

    /// Leaves out the folder of a server's store that was to be entered; one warning names the
    /// store.
    fn leave_out_of_store(&mut self) {
        let Some(level) = self.levels.last_mut() else { return };
        let warns = level.names_store() && !self.options.is_target;
        let text = warns.then(|| warning::skipping(level.path().display(), warning::SERVER_STORE));
        self.ready.push_back(WalkItem::Skipped { relative: self.relative.clone(), text });
    }

    fn leave_out(&mut self, relative: &str, shown: &str, reason: &str) {
        let (relative, text) = (relative.to_owned(), warning::skipping(shown, reason));
        self.ready.push_back(WalkItem::Skipped { relative, text: Some(text) });
    }
}

impl std::fmt::Debug for Walk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walk")
            .field("root", &self.root)
            .field("at", &self.relative)
            .finish_non_exhaustive()
    }
}

impl Iterator for Walk {
    type Item = WalkItem;

    fn next(&mut self) -> Option<WalkItem> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if !self.step() {
                return None;
            }
        }
    }
}

/// A name in a directory, in one block of memory.
fn joined(directory: &Path, name: &str) -> PathBuf {
    let mut path = PathBuf::with_capacity(directory.as_os_str().len() + 1 + name.len());
    path.push(directory);
    path.push(name);
    path
}

fn is_link(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|stat| FileInfo::from_stat(&stat).kind == FileKind::Symlink)
}

/// Whether the file may be read: from its mode where that is plain, else by asking the system.
fn is_readable(path: &Path, stat: &Stat) -> bool {
    const READABLE_BY_ALL: u32 = 0o444;
    stat.st_mode & READABLE_BY_ALL == READABLE_BY_ALL
        || rustix::fs::accessat(CWD, path, Access::READ_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(test)]
#[cfg(test)]
mod tests;
