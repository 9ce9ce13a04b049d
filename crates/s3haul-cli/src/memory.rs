//! The memory that the process may use, and what fits into it.
//!
//! A process that runs out of memory ends without a word: the kernel kills it in a cgroup, and a
//! failed allocation aborts it under `ulimit -v`. A multipart upload then stays open. So the bounds
//! of what is in flight are derived from the limit before anything begins. The limit is the least
//! of `--max-memory`, `ulimit -v`, `ulimit -d` and the cgroups around the process.

use std::num::NonZeroU64;
use std::path::Path;

use rustix::process::{Resource, getrlimit};
use s3haul::job::Tuning;
use s3haul_wire::units::{MIB, format_size, parse_decimal_size};

use crate::env_vars;
use crate::failure::Failure;

/// What the program itself takes: code, connections that are idle, pages of listings.
const BASE_BYTES: u64 = 96 * MIB;
/// What it takes of an address space, in which stacks and reserved memory count too.
const BASE_ADDRESS_BYTES: u64 = 128 * MIB;
/// What a request takes beside the bytes of objects.
const REQUEST_BYTES: u64 = MIB;
/// The least for data: two parts of at least the 5 MiB that S3 wants. With less, objects would go
/// in ever smaller pieces, each of them a request; the program itself takes less than
/// [`BASE_BYTES`] with the few requests that there are then.
const BUDGET_MIN_BYTES: u64 = 16 * MIB;
/// Requests at a time that always fit.
const REQUESTS_MIN: u64 = 4;
/// Bytes of address space for a thread: its stack.
const THREAD_BYTES: u64 = 2 * MIB;
/// Threads for blocking work: fewer would wait for each other, more are of no use.
const THREADS: std::ops::RangeInclusive<u64> = 16..=512;
/// The least that `--max-memory` may be.
const MAX_MEMORY_MIN: u64 = BASE_BYTES + BUDGET_MIN_BYTES;

/// What is left for data and requests; none where there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spare(Option<u64>);

impl Spare {
    /// From the setting and the limits of the system.
    pub(crate) fn of(asked: Option<NonZeroU64>) -> Result<Self, Failure> {
        let given = asked.map(enough).transpose()?;
        let read = |path: &Path| std::fs::read_to_string(path).ok();
        let resident = given.into_iter().chain(cgroup_limit(read)).min();
        let spare = Self::within(resident, address_space());
        tracing::debug!(?resident, address_space = ?address_space(), ?spare, "memory");
        Ok(spare)
    }

    fn within(resident: Option<u64>, address_space: Option<u64>) -> Self {
        let resident = resident.map(|bytes| bytes.saturating_sub(BASE_BYTES));
        let addresses = address_space.map(|bytes| bytes.saturating_sub(BASE_ADDRESS_BYTES));
        Self(resident.into_iter().chain(addresses).min())
    }

    /// So many requests at a time, or as many as fit.
    pub(crate) fn requests_within(self, wanted: u32) -> u32 {
        let Some(spare) = self.0 else { return wanted };
        let fitting = (spare / REQUEST_BYTES).max(REQUESTS_MIN);
        u32::try_from(fitting).map_or(wanted, |fitting| wanted.min(fitting))
    }

    /// Limits within which data fits: half of what is left is for it. Objects go in parts where
    /// they would not fit as a whole, and parts are made smaller.
    pub(crate) fn limit(self, tuning: &mut Tuning) {
        let Some(spare) = self.0 else { return };
        tuning.memory_budget = tuning.memory_budget.min((spare / 2).max(BUDGET_MIN_BYTES));
        let piece = tuning.memory_budget / 2;
        tuning.multipart_chunksize = tuning.multipart_chunksize.min(piece);
        tuning.multipart_threshold = tuning.multipart_threshold.min(piece);
        tuning.part_size_max = Some(tuning.memory_budget);
    }
}

/// Reads the flag.
pub(crate) fn parse(flag: &str) -> Result<NonZeroU64, Failure> {
    let bytes = parse_decimal_size(flag).map_err(|error| refused(&error.to_string()))?;
    NonZeroU64::new(bytes).ok_or_else(|| too_little(flag))
}

/// The bytes, where the program can work with them.
fn enough(bytes: NonZeroU64) -> Result<u64, Failure> {
    let bytes = bytes.get();
    if bytes < MAX_MEMORY_MIN { Err(too_little(&format_size(bytes))) } else { Ok(bytes) }
}

fn too_little(size: &str) -> Failure {
    let min = MAX_MEMORY_MIN / MIB;
    refused(&format!("{size} is too little, at least {min}MiB are needed"))
}

fn refused(why: &str) -> Failure {
    Failure::usage(format!("--max-memory: {why}"))
}

/// Threads for blocking work: as many as usual, or fewer where the address space is limited, as
/// each has a stack of its own.
pub(crate) fn blocking_threads() -> usize {
    let spare = address_space().map_or(u64::MAX, |space| space.saturating_sub(BASE_ADDRESS_BYTES));
    let threads = (spare / 2 / THREAD_BYTES).clamp(*THREADS.start(), *THREADS.end());
    usize::try_from(threads).unwrap_or(usize::MAX)
}

/// Bytes of the address space (`ulimit -v`) or of data in it (`ulimit -d`).
fn address_space() -> Option<u64> {
    let limits = [Resource::As, Resource::Data].map(|resource| getrlimit(resource).current);
    limits.into_iter().flatten().min()
}

/// The least limit of the cgroups around this process, of version 1 or 2.
fn cgroup_limit(read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let limits = groups.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let (root, file) = if controllers.is_empty() {
            ("/sys/fs/cgroup", "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        } else {
            return None;
        };
        let path = Path::new(path.trim_start_matches('/'));
        let limits = path.ancestors().filter_map(|group| {
            let text = read(&Path::new(root).join(group).join(file))?;
            text.trim().parse().ok()
        });
        limits.min()
    });
    limits.min()
}

/// Starts the program again with one arena of memory, where the address space is limited: the
/// allocator of glibc reserves 64 MiB of it for each of many threads, and then there is no room for
/// what is needed. Comes back where that is not so, or not possible.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn restart_with_one_arena() {
    use std::os::unix::process::CommandExt as _;

    const ARENAS: &str = "MALLOC_ARENA_MAX";
    if std::env::var_os(env_vars::S3HAUL_STARTED_AGAIN).is_some() {
        return forget(&[ARENAS, env_vars::S3HAUL_STARTED_AGAIN]);
    }
    if address_space().is_none() || std::env::var_os(ARENAS).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("ld") {
        // Started by the dynamic linker: that is the program, and needs other arguments.
        return;
    }
    let mut arguments = std::env::args_os();
    let mut command = std::process::Command::new(&program);
    command.arg0(arguments.next().unwrap_or_default()).args(arguments);
    command.env(ARENAS, "1").env(env_vars::S3HAUL_STARTED_AGAIN, "1");
    let error = command.exec();
    tracing::debug!(%error, "could not start again");
}

/// Takes variables out of the environment: programs that this one starts would find them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "another thread could read the environment meanwhile")]
fn forget(names: &[&str]) {
    for name in names {
        // SAFETY: this is the beginning of `main`, before any thread but this one.
        unsafe { std::env::remove_var(name) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_all_cgroups_holds() {
        let limit = |groups: &str, files: &[(&str, &str)]| {
            cgroup_limit(|path| match path.to_str()? {
                "/proc/self/cgroup" => Some(groups.to_owned()),
                path => {
                    files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
                }
            })
        };
        let v2 = "0::/a/b\n";
        assert_eq!(limit(v2, &[]), None);
        assert_eq!(limit(v2, &[("/sys/fs/cgroup/a/b/memory.max", "max\n")]), None);
        let nested =
            [("/sys/fs/cgroup/a/b/memory.max", "900\n"), ("/sys/fs/cgroup/a/memory.max", "700\n")];
        assert_eq!(limit(v2, &nested), Some(700));
        // In a container the path may be that of the host.
        assert_eq!(limit("0::/\n", &[("/sys/fs/cgroup/memory.max", "5\n")]), Some(5));
        let v1 = "5:cpu:/x\n4:memory:/x\n0::/\n";
        let files = [
            ("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "800\n"),
        ];
        assert_eq!(limit(v1, &files), Some(800));
    }

    #[test]
    fn bounds_shrink_with_memory_and_keep_to_it() {
        let limited = |bytes: u64| {
            let (spare, mut tuning) = (Spare::within(Some(bytes), None), Tuning::default());
            spare.limit(&mut tuning);
            (spare.requests_within(512), tuning)
        };
        let (mut requests_before, mut budget_before) = (0, 0);
        for mib in [0, 97, 112, 128, 200, 256, 400, 600, 1000, 64 * 1024] {
            let (requests, tuning) = limited(mib * MIB);
            assert!(requests >= requests_before && tuning.memory_budget >= budget_before, "{mib}");
            (requests_before, budget_before) = (requests, tuning.memory_budget);
            let piece = 5 * MIB..=tuning.memory_budget;
            assert!(piece.contains(&tuning.multipart_chunksize), "{mib}");
            assert!(piece.contains(&tuning.multipart_threshold), "{mib}");
            let spare = (mib * MIB).saturating_sub(BASE_BYTES);
            assert!(tuning.memory_budget <= (spare / 2).max(BUDGET_MIN_BYTES), "{mib}");
            let request_bytes = u64::from(requests) * REQUEST_BYTES;
            assert!(request_bytes <= spare.max(REQUESTS_MIN * REQUEST_BYTES), "{mib}");
        }
        let (requests, tuning) = limited(1000 * MIB);
        assert_eq!((requests, tuning.memory_budget), (512, Tuning::default().memory_budget));
        assert_eq!(tuning.multipart_chunksize, Tuning::default().multipart_chunksize);
        // Both kinds of limits hold.
        assert_eq!(Spare::within(Some(300 * MIB), Some(300 * MIB)), Spare(Some(172 * MIB)));
        assert_eq!(Spare::within(None, None).requests_within(7), 7);
    }

    #[test]
    fn the_flag_is_a_size_that_is_enough() {
        let read = |text: &str| parse(text).and_then(enough);
        assert_eq!(read("1.5GiB").unwrap(), 1536 * MIB);
        for wrong in ["", "much", "100MiB", "0"] {
            assert_eq!(read(wrong).unwrap_err().status, crate::exit::USAGE, "{wrong}");
        }
    }
}
