//! Resolves directories below a root at descriptor level, and keeps the last used ones open.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::names::{Escape, EscapeReason};
use super::root::CreateError;
use crate::fs::descriptors::Holder;
use s3haul_wire::error::Error;

/// How often a resolution is tried again when the tree changes underneath it.
const RACE_RETRIES: u32 = 16;

/// The directories below one root.
#[derive(Debug)]
pub(super) struct Directories {
    /// None where it is missing and nothing is written.
    root: Option<Arc<OwnedFd>>,
    path: PathBuf,
    cache: Mutex<Cache>,
    /// Whether the kernel resolves beneath a directory by itself; learned at the first refusal.
    resolves_beneath: AtomicBool,
}

/// What becomes of a symbolic link that stays below the root.
#[derive(Clone, Copy)]
enum Links {
    Followed,
    Refused,
}

/// The directories used last.
#[derive(Debug, Default)]
struct Cache {
    open: HashMap<Box<str>, (Arc<OwnedFd>, u64)>,
    uses: u64,
    holder: Holder,
}

impl Cache {
    fn get(&mut self, relative: &str) -> Option<Arc<OwnedFd>> {
        self.uses += 1;
        let (directory, last_use) = self.open.get_mut(relative)?;
        *last_use = self.uses;
        Some(Arc::clone(directory))
    }

    fn insert(&mut self, relative: &str, directory: Arc<OwnedFd>) {
        let folders_max = self.holder.folders_max();
        while self.open.len() >= folders_max {
            let oldest = self.open.iter().min_by_key(|(_, (_, last_use))| *last_use);
            let Some(name) = oldest.map(|(name, _)| name.clone()) else { break };
            self.open.remove(&name);
        }
        self.uses += 1;
        self.open.insert(relative.into(), (directory, self.uses));
    }
}

impl Directories {
    pub(super) fn new(root: Option<OwnedFd>, path: PathBuf) -> Self {
        Self {
            root: root.map(Arc::new),
            path,
            cache: Mutex::default(),
            resolves_beneath: AtomicBool::new(cfg!(target_os = "linux")),
        }
    }

    /// Path of the root, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A directory below the root, created with its parents where it is missing. A link on the way
    /// is not followed: two names would lead to one file, and each would be written over the other.
    pub(super) fn create(&self, relative: &str) -> Result<Arc<OwnedFd>, CreateError> {
        if let Some(found) = self.cached(relative) {
            return Ok(found);
        }
        if self.root.is_none() {
            return Err(self.explain(relative, Errno::NOENT));
        }
        let opened = match self.open(relative, Links::Refused) {
            Err(Errno::NOENT) => {
                self.make(relative)?;
                self.open(relative, Links::Refused)
            }
            other => other,
        };
        let directory = opened.map_err(|errno| self.explain(relative, errno))?;
        Ok(self.remember(relative, directory))
    }

    /// A directory below the root, `None` when it does not exist. Links are followed below the
    /// root; what they lead to is not remembered, since nothing is written there.
    pub(super) fn find(&self, relative: &str) -> Result<Option<Arc<OwnedFd>>, CreateError> {
        if let Some(found) = self.cached(relative) {
            return Ok(Some(found));
        }
        let found = match self.open(relative, Links::Refused) {
            Ok(directory) => return Ok(Some(self.remember(relative, directory))),
            Err(Errno::XDEV) => self.open(relative, Links::Followed).map(Arc::new),
            Err(errno) => Err(errno),
        };
        match found {
            Ok(directory) => Ok(Some(directory)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(self.explain(relative, errno)),
        }
    }

    /// The same, if no symbolic link is on the way to it.
    pub(super) fn find_without_links(
        &self,
        relative: &str,
    ) -> Result<Option<Arc<OwnedFd>>, CreateError> {
        if relative.is_empty() {
            return Ok(self.root.clone());
        }
        let Some(root) = &self.root else { return Ok(None) };
        match Self::open_by_components(root, relative) {
            Ok(directory) => Ok(Some(Arc::new(directory))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(Errno::XDEV) => {
                let (name, reason) = (relative.to_owned(), EscapeReason::LinkOnTheWay);
                Err(Escape { name, reason }.into())
            }
            Err(errno) => Err(self.explain(relative, errno)),
        }
    }

    /// The link, if any, because of which a directory would not be created.
    pub(super) fn refusal(&self, relative: &str) -> Option<Escape> {
        if self.cached(relative).is_some() {
            return None;
        }
        match self.open(relative, Links::Refused) {
            Ok(directory) => _ = self.remember(relative, directory),
            Err(Errno::XDEV) => {
                if let CreateError::Escape(escape) = self.explain(relative, Errno::XDEV) {
                    return Some(escape);
                }
            }
            Err(_) => {}
        }
        None
    }

    /// Forgets a directory that turned out to be gone.
    pub(super) fn forget(&self, relative: &str) {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).open.remove(relative);
    }

    fn cached(&self, relative: &str) -> Option<Arc<OwnedFd>> {
        if relative.is_empty() {
            return self.root.clone();
        }
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(relative)
    }

    fn remember(&self, relative: &str, directory: OwnedFd) -> Arc<OwnedFd> {
        let directory = Arc::new(directory);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.insert(relative, Arc::clone(&directory));
        directory
    }

    /// Makes the last component, and through [`Self::create`] all missing ones above it.
    fn make(&self, relative: &str) -> Result<(), CreateError> {
        let (parent, name) = relative.rsplit_once('/').unwrap_or(("", relative));
        let directory = self.create(parent)?;
        match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(self.explain(relative, errno)),
        }
    }

    fn open(&self, relative: &str, links: Links) -> Result<OwnedFd, Errno> {
        let root = self.root.as_ref().ok_or(Errno::NOENT)?;
        #[cfg(target_os = "linux")]
        if self.resolves_beneath.load(Ordering::Relaxed) {
            match Self::open_beneath(root, relative, links) {
                // Old kernels do not know the call, some sandboxes forbid it.
                Err(Errno::NOSYS | Errno::PERM) => {
                    self.resolves_beneath.store(false, Ordering::Relaxed);
                }
                other => return other,
            }
        }
        // Component by component no link is followed, whatever was asked.
        let _ = links;
        Self::open_by_components(root, relative)
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(root: &OwnedFd, relative: &str, links: Links) -> Result<OwnedFd, Errno> {
        let links = match links {
            Links::Followed => ResolveFlags::NO_MAGICLINKS,
            Links::Refused => ResolveFlags::NO_SYMLINKS,
        };
        let resolve = ResolveFlags::BENEATH | links;
        let mut retries = RACE_RETRIES;
        loop {
            match rustix::fs::openat2(root, relative, flags(), Mode::empty(), resolve) {
                // Something was renamed while `..` of a link was resolved.
                Err(Errno::AGAIN | Errno::INTR) if retries > 0 => retries -= 1,
                // A link that is refused, or leads nowhere below the root.
                Err(Errno::LOOP) => return Err(Errno::XDEV),
                other => return other,
            }
        }
    }

    fn open_by_components(root: &OwnedFd, relative: &str) -> Result<OwnedFd, Errno> {
        let mut current: Option<OwnedFd> = None;
        for component in relative.split('/') {
            let parent = current.as_ref().map_or(root.as_fd(), AsFd::as_fd);
            let flags = flags() | OFlags::NOFOLLOW;
            let next = rustix::fs::openat(parent, component, flags, Mode::empty())
                .map_err(|errno| if is_link(parent, component) { Errno::XDEV } else { errno })?;
            current = Some(next);
        }
        current.ok_or(Errno::NOENT)
    }

    /// Turns a failure to reach a directory into the error that the caller should report.
    fn explain(&self, relative: &str, errno: Errno) -> CreateError {
        let escape = |reason| Escape { name: relative.to_owned(), reason }.into();
        let is_link_inside = |folder| {
            matches!(self.open(folder, Links::Refused), Err(Errno::XDEV))
                && self.open(folder, Links::Followed).is_ok()
        };
        let errno = match errno {
            Errno::XDEV => match self.open(relative, Links::Followed) {
                Err(Errno::XDEV) => return escape(EscapeReason::Link),
                Ok(_) => return escape(EscapeReason::LinkInside),
                Err(errno) => {
                    // Something is missing behind a link, or the link leads to a file, or nowhere.
                    let mut above = relative.match_indices('/').map(|(at, _)| &relative[..at]);
                    if above.any(is_link_inside) {
                        return escape(EscapeReason::LinkInside);
                    }
                    errno
                }
            },
            errno => errno,
        };
        let doing = if errno == Errno::NOTDIR {
            "a file is where a directory is needed, could not create"
        } else {
            "could not create directory"
        };
        Error::local(doing, &self.path.join(relative), errno.into()).into()
    }
}

fn flags() -> OFlags {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    // A descriptor that only names the directory needs no permission to read it.
    #[cfg(target_os = "linux")]
    let flags = flags | OFlags::PATH;
    flags
}

fn is_link(parent: BorrowedFd<'_>, name: &str) -> bool {
    rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Opens a root directory, following links: the user named it.
pub(super) fn open_root(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, flags(), Mode::empty())
}

#[cfg(test)]
impl Directories {
    /// Pretends to be on a kernel without `openat2`.
    pub(super) fn without_openat2(self) -> Self {
        self.resolves_beneath.store(false, Ordering::Relaxed);
        self
    }

    pub(super) fn open_count(&self) -> usize {
        self.cache.lock().unwrap().open.len()
    }
}
