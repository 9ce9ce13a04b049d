//! A file system in memory, for small files of uploads and downloads.
//!
//! Files of a disk may be read from it again after the system took back the pages that held them,
//! and ext4 looks long for a place for each new file for minutes after many were removed. Neither
//! is what tools are compared by.

use nix::sys::statvfs::statvfs;
use tempfile::TempDir;

use super::shape::MIB;

const FOLDER: &str = "/dev/shm";
/// Larger sets of files are on the disk.
const BYTES_MAX: u64 = 2048 * MIB;
/// How many times as much must be free: a tree is there beside what is downloaded of it.
const ROOM: u64 = 3;

/// A folder for files of so many bytes together, where the machine has room for them in memory.
pub(crate) fn folder(bytes: u64) -> Option<TempDir> {
    let found = statvfs(FOLDER).ok()?;
    let free = found.blocks_available().saturating_mul(found.fragment_size());
    let fits = bytes <= BYTES_MAX && free >= bytes.saturating_mul(ROOM);
    fits.then(|| tempfile::tempdir_in(FOLDER).ok()).flatten()
}
