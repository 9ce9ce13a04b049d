//! Distinguishes temporary files of killed processes from those that are being written.
//!
//! The process that writes a temporary file holds a lock on it (`flock`), which ends with the
//! process. Renaming or removing a file requires its lock, so that the name and what it leads to
//! cannot come apart between the check and the change. Where a file system has no locks, no file is
//! taken for a leftover. Where it has some that other machines do not see (`localflock`,
//! `local_lock`), another machine may remove a file that is being written here: before a rename or
//! removal it is checked whose file it is.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Marks a newly created file as being written; `false` if another process took it for a leftover
/// in the meantime.
pub(super) fn claim(file: BorrowedFd<'_>) -> bool {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => rustix::fs::fstat(file).is_ok_and(|stat| stat.st_nlink > 0),
        Err(Errno::WOULDBLOCK) => false,
        // No locks here: no other process can have one either.
        Err(_) => true,
    }
}

/// Removes a temporary file that is not being written; `false` if it stays.
pub(super) fn remove(parent: BorrowedFd<'_>, name: &str) -> bool {
    let Ok(file) = lock(parent, name) else { return false };
    let removed = rustix::fs::unlinkat(parent, name, AtFlags::empty());
    // The lock ends here.
    drop(file);
    removed.is_ok()
}

/// Opens a temporary file that is not being written, to go on with it.
pub(super) fn take(parent: BorrowedFd<'_>, name: &str) -> Option<OwnedFd> {
    lock(parent, name).ok()
}

/// The file of a name, locked.
fn lock(parent: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    // To be written, because some network file systems lock no other; a FIFO would let us wait.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let locked = rustix::fs::fstat(file.as_fd())?;
    let is_file = FileType::from_raw_mode(locked.st_mode) == FileType::RegularFile;
    if is_file && leads_to(parent, name, file.as_fd()) { Ok(file) } else { Err(Errno::NOENT) }
}

/// Whether a name leads to this file, and not to another that has replaced it.
pub(super) fn leads_to(parent: BorrowedFd<'_>, name: &str, file: BorrowedFd<'_>) -> bool {
    stat_of(parent, name, file).is_some()
}

/// What is known of a file, if a name leads to it.
pub(super) fn stat_of(parent: BorrowedFd<'_>, name: &str, file: BorrowedFd<'_>) -> Option<Stat> {
    let named = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let open = rustix::fs::fstat(file).ok()?;
    ((named.st_dev, named.st_ino) == (open.st_dev, open.st_ino)).then_some(open)
}
