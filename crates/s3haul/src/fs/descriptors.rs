//! How many folders are held open at once: few where a process may have few open files.

use std::sync::OnceLock;

use rustix::process::{Resource, getrlimit};

/// What is of use: reaching folders by whole paths costs little.
const FOLDERS_MAX: usize = 64;
const FOLDERS_MIN: usize = 4;
/// A walk and a tree that is written may each take this share of all open files.
const SHARE: u64 = 8;

/// Folders that a walk, or a tree that is written, holds open.
pub(super) fn folders_max() -> usize {
    static MAX: OnceLock<usize> = OnceLock::new();
    *MAX.get_or_init(|| fitting(getrlimit(Resource::Nofile).current))
}

/// For a limit of open files; none where there is none.
fn fitting(allowed: Option<u64>) -> usize {
    let share = allowed.map_or(FOLDERS_MAX as u64, |allowed| allowed / SHARE);
    usize::try_from(share).unwrap_or(FOLDERS_MAX).clamp(FOLDERS_MIN, FOLDERS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_open_files_leave_few_folders() {
        let of = [None, Some(1_024), Some(512), Some(128), Some(64), Some(8)];
        assert_eq!(of.map(fitting), [64, 64, 64, 16, 8, 4]);
    }
}
