//! Listings whose pages are read and dropped, and the walk of a tree beside them.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use http::Method;
use percent_encoding::utf8_percent_encode;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

use crate::objects::{QUERY, plain};
use crate::options::Options;
use crate::slots::{Run, Slot, Totals, Work};

/// The first page, and the page after each given key.
pub(crate) struct Pages {
    /// The query of each.
    queries: Vec<String>,
}

impl Pages {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let encode = |text: &str| utf8_percent_encode(text, QUERY).to_string();
        let prefix = encode(&options.prefix);
        let first = format!("encoding-type=url&list-type=2&max-keys=1000&prefix={prefix}");
        let mut queries = vec![first.clone()];
        let later = options.lines()?;
        queries.extend(later.iter().map(|key| format!("{first}&start-after={}", encode(key))));
        Ok(Self { queries })
    }
}

impl Work for Pages {
    fn pieces(&self, _phase: usize) -> u64 {
        self.queries.len() as u64
    }

    async fn step(&self, slot: &mut Slot, _phase: usize, index: u64) -> Result<()> {
        let path = format!("/{}", slot.server.bucket);
        let query = &self.queries[usize::try_from(index)?];
        let request = plain(slot, Method::GET, &path, query)?;
        slot.link.exchange(request).await
    }
}

/// Pages on one thread, a tree on another; counts files.
pub(crate) fn sync(options: &Options, run: &Run<'_>) -> Result<Totals> {
    let tree = options.files.first().context("sync needs a tree")?;
    std::thread::scope(|scope| {
        let walk = scope.spawn(|| walk(CWD, &path_of(tree)?));
        let totals = run.of(Pages::new(options)?)?;
        let count = walk.join().unwrap_or(Err(anyhow!("the walk panicked")))?;
        Ok(Totals { count, ..totals })
    })
}

fn path_of(path: &Path) -> Result<std::ffi::CString> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(std::ffi::CString::new(path.as_os_str().as_bytes())?)
}

/// An lstat of each file below a folder; gives their count.
fn walk(parent: BorrowedFd<'_>, name: &CStr) -> Result<u64> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(parent, name, flags, Mode::empty())
        .with_context(|| format!("could not open `{}`", name.to_string_lossy()))?;
    let mut count = 0;
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
        } else if entry.file_type() == FileType::Directory {
            count += walk(folder.as_fd(), name)?;
        } else {
            rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            count += 1;
        }
    }
    Ok(count)
}
