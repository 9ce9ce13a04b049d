//! How many folders are held open at once: few where a process may have few open files.
//!
//! A job has a walk, a tree that is written, or both; a process may run several jobs. All of them
//! share what is for folders.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Resource, getrlimit};

/// What is of use: reaching folders by whole paths costs little.
const FOLDERS_MAX: u64 = 64;
/// The share of all open files that is for folders.
const ALL: u64 = 4;
/// The share that one walk or tree may take of it.
const ONE: u64 = 2;

/// Those that hold folders open now.
static HOLDERS: AtomicU64 = AtomicU64::new(0);

/// A walk, or a tree that is written, that holds folders open.
#[derive(Debug)]
pub(super) struct Holder {
    all: &'static AtomicU64,
}

impl Holder {
    pub(super) fn new() -> Self {
        HOLDERS.fetch_add(1, Ordering::Relaxed);
        Self { all: &HOLDERS }
    }

    /// Folders that it may hold open. Fewer once there are more holders.
    pub(super) fn folders_max(&self) -> usize {
        static ALLOWED: OnceLock<Option<u64>> = OnceLock::new();
        let allowed = ALLOWED.get_or_init(|| getrlimit(Resource::Nofile).current);
        fitting(*allowed, self.all.load(Ordering::Relaxed))
    }
}

impl Default for Holder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}

/// For a limit of open files, none where there is none, and so many holders.
fn fitting(allowed: Option<u64>, holders: u64) -> usize {
    let share = allowed.map_or(FOLDERS_MAX, |allowed| allowed / ALL / holders.max(ONE));
    usize::try_from(share.clamp(1, FOLDERS_MAX)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_open_files_leave_few_folders() {
        let of = [None, Some(1_024), Some(512), Some(128), Some(64), Some(8)];
        assert_eq!(of.map(|allowed| fitting(allowed, 1)), [64, 64, 64, 16, 8, 1]);
    }

    #[test]
    fn all_holders_together_stay_within_the_share() {
        for (allowed, holders) in [(64, 2), (64, 16), (256, 20), (1_024, 20), (16_384, 512)] {
            let all = fitting(Some(allowed), holders) as u64 * holders;
            assert!(all <= allowed / ALL, "{holders} of {allowed}: {all}");
        }
    }
}
