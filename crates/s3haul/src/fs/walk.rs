//! A local tree in S3 key order, as a blocking producer of batches.
//!
//! Depth first; each directory's names are sorted as bytes with `/` behind those of directories,
//! which is the order in which S3 lists the keys they become. Memory is one directory's names a
//! level. A file costs one `stat`; permission to read it is checked by a system call only where its
//! mode does not decide. What cannot be read is a warning and the rest goes on. Names that are not
//! UTF-8 cannot be keys and are skipped with a warning; so is what belongs to a server's store.

mod batch;
mod directory;
mod server_store;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, AtFlags, CWD, Stat};
use rustix::io::Errno;

use super::descriptors::Holder;
use super::meta::{FileInfo, FileKind};
use super::warning;
use super::write::is_temporary;
pub use batch::{FileBatch, LocalFile};
use directory::Level;

/// Files, warnings and gaps in a batch, about: a folder that is read may add more warnings.
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
    /// Names up to this one are left out where nothing behind it can depend on them; empty: none.
    pub after: String,
    /// The last name that is wanted; none: all are.
    pub through: Option<String>,
    /// Whether a root that is a link is followed in any case.
    pub follows_root: bool,
    /// Whether files are written to the tree. What is left out of it is no loss then: a server's
    /// store is skipped without a warning.
    pub is_written_to: bool,
    /// Whether a missing root is an empty one.
    pub may_be_missing: bool,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            follow_symlinks: true,
            prune: None,
            takes_temporary: false,
            after: String::new(),
            through: None,
            follows_root: false,
            is_written_to: false,
            may_be_missing: false,
        }
    }
}

impl std::fmt::Debug for WalkOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WalkOptions")
            .field("follow_symlinks", &self.follow_symlinks)
            .field("prune", &self.prune.is_some())
            .field("takes_temporary", &self.takes_temporary)
            .field("after", &self.after)
            .field("through", &self.through)
            .field("follows_root", &self.follows_root)
            .field("is_written_to", &self.is_written_to)
            .field("may_be_missing", &self.may_be_missing)
            .finish()
    }
}

/// A walk through a tree, or over a single file.
pub struct Walk {
    options: WalkOptions,
    root: PathBuf,
    levels: Vec<Level>,
    holder: Holder,
    /// Key of the directory that the last level lists, ending in `/` unless it is the root.
    relative: String,
    /// Found but not yet handed out.
    batch: FileBatch,
}

impl Walk {
    /// Walks a directory. Its path should be absolute, as the warnings show it.
    pub fn tree(root: &Path, options: WalkOptions) -> Self {
        let mut walk = Self::new(root, FileBatch::below(root), options);
        // The AWS tools name a tree's root with a separator at the end.
        let mut shown = root.to_string_lossy().into_owned();
        if !shown.ends_with('/') {
            shown.push('/');
        }
        // With a separator at its end a link names what it leads to.
        let is_link = || is_link(&root.components().collect::<PathBuf>());
        let follows = walk.options.follow_symlinks || walk.options.follows_root;
        if follows || !is_link() {
            match rustix::fs::stat(root) {
                Ok(stat) => match FileInfo::from_stat(&stat).kind {
                    FileKind::Directory => walk.enter(root, &shown),
                    FileKind::Special => walk.leave_out_here(&shown, warning::SPECIAL),
                    // `file/` names nothing.
                    _ => walk.leave_out_here(&shown, warning::MISSING),
                },
                Err(Errno::NOENT) if walk.options.may_be_missing => {}
                Err(_) => walk.leave_out_here(&shown, warning::MISSING),
            }
        }
        walk
    }

    /// Looks at a single file. A directory counts as one here, as in the AWS tools: reading it is
    /// what fails then.
    pub fn file(path: &Path, options: WalkOptions) -> Self {
        let mut walk = Self::new(path, FileBatch::of_file(path), options);
        if !walk.options.follow_symlinks && is_link(path) {
            return walk;
        }
        let Some(text) = path.to_str() else {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let text = warning::undecodable(path.parent().unwrap_or(Path::new("")), name);
            walk.batch.warnings.push(text);
            return walk;
        };
        let name = text.rsplit_once('/').map_or(text, |(_, name)| name);
        match rustix::fs::stat(path) {
            Ok(stat) if FileInfo::from_stat(&stat).kind == FileKind::Directory => {
                walk.batch.push(name, &FileInfo::from_stat(&stat));
            }
            stat => add_file(&mut walk.batch, ("", name), || path.to_owned(), stat),
        }
        walk
    }

    fn new(root: &Path, batch: FileBatch, options: WalkOptions) -> Self {
        let (root, levels) = (root.to_owned(), Vec::new());
        Self { options, root, levels, holder: Holder::new(), relative: String::new(), batch }
    }

    /// The next files and warnings in order, about [`BATCH_MAX`]; `None` at the end.
    pub fn next_batch(&mut self) -> Option<FileBatch> {
        while self.batch.weight() < BATCH_MAX && self.step() {}
        let next = FileBatch::below(&self.root);
        let batch = std::mem::replace(&mut self.batch, next);
        (batch.weight() > 0).then_some(batch)
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
        if is_before(&self.relative, name, &self.options.after) {
            return true;
        }
        if self
            .options
            .through
            .as_ref()
            .is_some_and(|through| self.relative.bytes().chain(name.bytes()).gt(through.bytes()))
        {
            self.levels.clear();
            return false;
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
            let path = || level.path().join(name);
            add_file(&mut self.batch, (&self.relative, name), path, level.stat(name));
        }
        true
    }

    /// Reads a directory and makes it the last level; `shown` is how warnings name it.
    fn enter(&mut self, path: &Path, shown: &str) {
        let parent_length = match self.relative.strip_suffix('/') {
            Some(inside) => inside.rfind('/').map_or(0, |slash| slash + 1),
            None => 0,
        };
        let mut warnings = Vec::new();
        let level = Level::read(path, parent_length, self.options.follow_symlinks, &mut warnings);
        let is_above = |id| self.levels.iter().any(|above| above.id() == id);
        if level.as_ref().is_ok_and(|level| is_above(level.id())) {
            // What is in it was warned of above.
            return self.leave_out_here(shown, warning::LOOP);
        }
        self.batch.warnings.append(&mut warnings);
        match level {
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

    /// Leaves out the directory that was to be entered.
    fn leave_out_here(&mut self, shown: &str, reason: &str) {
        leave_out(&mut self.batch, self.relative.clone(), shown, reason);
    }

    /// Leaves out the folder of a server's store that was to be entered; one warning names the
    /// store.
    fn leave_out_of_store(&mut self) {
        let Some(level) = self.levels.last_mut() else { return };
        let warns = level.names_store() && !self.options.is_written_to;
        let text = warns.then(|| warning::skipping(level.path().display(), warning::SERVER_STORE));
        self.batch.warnings.extend(text);
        self.batch.gaps.push(self.relative.clone());
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

/// Adds what a name of a folder turned out to be: a file, or a warning.
fn add_file(
    batch: &mut FileBatch,
    (folder, name): (&str, &str),
    path: impl Fn() -> PathBuf,
    stat: Result<Stat, Errno>,
) {
    let mut skip = |reason| {
        leave_out(batch, format!("{folder}{name}"), &path().to_string_lossy(), reason);
    };
    let Ok(stat) = stat else { return skip(warning::MISSING) };
    let info = FileInfo::from_stat(&stat);
    if info.kind != FileKind::File {
        // A directory that was a file when its parent was read is gone as a file.
        let is_special = info.kind == FileKind::Special;
        return skip(if is_special { warning::SPECIAL } else { warning::MISSING });
    }
    if !is_readable(&path, &stat) {
        return skip(warning::UNREADABLE);
    }
    if !info.has_valid_time {
        batch.warnings.push(warning::INVALID_TIME.to_owned());
    }
    batch.push_joined(folder, name, &info);
}

/// Leaves out what is there and cannot be looked at.
fn leave_out(batch: &mut FileBatch, relative: String, shown: &str, reason: &str) {
    batch.warnings.push(warning::skipping(shown, reason));
    batch.gaps.push(relative);
}

/// Whether a name, and all names below it if it is or was a folder, come before another. What
/// cannot be looked at leaves a gap that all names below it lie in.
fn is_before(folder: &str, name: &str, other: &str) -> bool {
    if other.is_empty() {
        return false;
    }
    let name = name.strip_suffix('/').unwrap_or(name);
    // `0` follows `/`.
    let behind = folder.bytes().chain(name.bytes()).chain([b'0']);
    behind.le(other.bytes())
}

fn is_link(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|stat| FileInfo::from_stat(&stat).kind == FileKind::Symlink)
}

/// Whether the file may be read: from its mode where that is plain, else by asking the system.
fn is_readable(path: &impl Fn() -> PathBuf, stat: &Stat) -> bool {
    const READABLE_BY_ALL: u32 = 0o444;
    stat.st_mode & READABLE_BY_ALL == READABLE_BY_ALL
        || rustix::fs::accessat(CWD, path(), Access::READ_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(test)]
mod tests;
