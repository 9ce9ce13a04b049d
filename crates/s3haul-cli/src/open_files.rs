//! The limit of open files: raised as far as the process may, and what it leaves for connections
//! and for objects that are worked on at the same time.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files that are of use.
const MOST: u64 = 16_384;
/// What a process has open beside connections and the files of objects: streams, pollers, reports.
const BESIDE: u64 = 24;
/// The share of all that is for folders, of a walk and of a tree that is written.
const FOLDERS: u64 = 4;
/// Half of the rest is for connections, the other half for files: an object has up to two open, the
/// file and its folder.
const A_CONNECTION: u64 = 2;
const AN_OBJECT: u64 = 4;

/// Lets the process hold as many connections and files as it is allowed to, up to what is of use:
/// the usual soft limit of 1,024 is for programs that use `select`. Gives what it may hold then,
/// which is the soft limit as it was where a sandbox refuses.
pub(crate) fn raise() -> u64 {
    static ALLOWED: OnceLock<u64> = OnceLock::new();
    *ALLOWED.get_or_init(|| {
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.map_or(MOST, |most| most.min(MOST));
        if limit.current.is_some_and(|current| current < wanted) {
            let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
            tracing::debug!(wanted, ok = raised.is_ok(), "limit of open files");
        }
        getrlimit(Resource::Nofile).current.map_or(MOST, |allowed| allowed.min(MOST))
    })
}

/// So many connections, or as many as there may be.
pub(crate) fn connections_within(wanted: usize) -> usize {
    wanted.min(connections(raise()))
}

/// So many requests of transfers at a time, or as many as there may be.
pub(crate) fn requests_within(wanted: u32) -> u32 {
    u32::try_from(requests(raise())).map_or(wanted, |most| wanted.min(most))
}

/// Connections that fit among so many open files.
fn connections(allowed: u64) -> usize {
    share(allowed, A_CONNECTION)
}

/// Objects, and so requests of transfers, that fit among so many open files.
fn requests(allowed: u64) -> usize {
    share(allowed, AN_OBJECT)
}

fn share(allowed: u64, divisor: u64) -> usize {
    let rest = (allowed - allowed / FOLDERS).saturating_sub(BESIDE);
    usize::try_from(rest / divisor).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_files_fit_below_the_limit() {
        for allowed in [64, 128, 256, 1024, MOST] {
            let files = connections(allowed) as u64 + 2 * requests(allowed) as u64;
            assert!(files + BESIDE + allowed / FOLDERS <= allowed, "{allowed}: {files}");
        }
        assert_eq!((requests(64), connections(64)), (6, 12));
        assert_eq!((requests(0), connections(0)), (1, 1));
        assert!(requests(4096) >= 512, "the usual hard limit takes nothing from the default");
    }
}
