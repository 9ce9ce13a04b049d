//! Blocking reads of source files: whole small files and parts of large ones.
//!
//! A read never returns fewer bytes than asked for: a file that shrinks, grows or is rewritten
//! underneath is an [`ErrorKind::SourceChanged`], so no torn
//! object reaches S3. Opening never blocks on a FIFO and never takes a terminal.

use std::fs::File;
use std::path::Path;

use bytes::Bytes;
use rustix::buffer::spare_capacity;
use rustix::fs::{Advice, Mode, OFlags};
use rustix::io::Errno;

use super::busy::Busy;
use super::meta::{FileIdentity, FileInfo, FileKind, source_changed};
use super::warning;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::units::{ByteRange, MIB};

/// Files at least this long are announced to the kernel as read in order.
const READAHEAD_SIZE_MIN: u64 = MIB;

/// A whole file, read in one go.
#[derive(Clone, Debug)]
pub struct WholeFile {
    /// The contents.
    pub bytes: Bytes,
    /// State of the file that they belong to.
    pub identity: FileIdentity,
}

/// Opens a file for reading, without waiting for the other end of a FIFO. Whether it is a regular
/// file is left open: see [`open_with_identity`].
pub fn open_source(path: &Path) -> Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let fd = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| Error::local("could not open", path, errno.into()))?;
    Ok(File::from(fd))
}

/// Opens a regular file and returns it with its state; parts are then read with
/// [`read_range_into`].
pub fn open_with_identity(path: &Path) -> Result<(File, FileIdentity)> {
    let file = open_source(path)?;
    let stat = rustix::fs::fstat(&file)
        .map_err(|errno| Error::local("could not examine", path, errno.into()))?;
    match FileInfo::from_stat(&stat).kind {
        FileKind::File => {}
        FileKind::Directory => {
            return Err(Error::local("could not read", path, Errno::ISDIR.into()));
        }
        FileKind::Symlink | FileKind::Special => {
            let message = format!("could not read `{}`: not a regular file", path.display());
            return Err(Error::new(ErrorKind::Local, message));
        }
    }
    Ok((file, FileIdentity::from_stat(&stat)))
}

/// Reads a whole file of at most `size_max` bytes in one go.
pub fn read_whole(path: &Path, size_max: u64) -> Result<WholeFile> {
    let (buffer, identity) = read_whole_into(path, size_max, Vec::with_capacity)?;
    Ok(WholeFile { bytes: Bytes::from(buffer), identity })
}

/// Reads a whole file of at most `size_max` bytes in one go into an empty buffer that the caller
/// gives when its size is known: open, fstat, a read that sees the end, fstat.
///
/// # Errors
///
/// [`ErrorKind::SourceChanged`] when the file is longer than `size_max` (it was planned smaller)
/// or was written to during the read.
pub fn read_whole_into(
    path: &Path,
    size_max: u64,
    buffer_of: impl FnOnce(usize) -> Vec<u8>,
) -> Result<(Vec<u8>, FileIdentity)> {
    let (file, identity) = open_with_identity(path)?;
    if identity.size > size_max {
        let change = format!("it grew to {} bytes, {size_max} were expected", identity.size);
        return Err(source_changed(path, &change));
    }
    // One byte more than the size, so that the read that finds the end needs no other buffer.
    let buffer = buffer_of(capacity(identity.size.saturating_add(1), path)?);
    let buffer = read_to_end_of(&file, path, identity.size, buffer)?;
    identity.unchanged(&file, path)?;
    Ok((buffer, identity))
}

/// Reads exactly `size` bytes and sees the end of the file behind them.
fn read_to_end_of(file: &File, path: &Path, size: u64, mut buffer: Vec<u8>) -> Result<Vec<u8>> {
    let _busy = Busy::begin();
    while buffer.len() < buffer.capacity() {
        match rustix::io::read(file, spare_capacity(&mut buffer)) {
            Ok(0) => break,
            // More room was offered than the file has bytes: it ended here.
            Ok(_) if buffer.len() as u64 == size && buffer.len() < buffer.capacity() => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::local("could not read", path, errno.into())),
        }
    }
    if buffer.len() as u64 != size {
        let change = format!("{} bytes were read, {size} expected", buffer.len());
        return Err(source_changed(path, &change));
    }
    Ok(buffer)
}

/// Reads exactly one range of an open file, at any position, from any thread, into an empty buffer
/// that has room for it.
///
/// # Errors
///
/// [`ErrorKind::SourceChanged`] when the file ends before the range does.
pub fn read_range_into(
    file: &File,
    path: &Path,
    range: ByteRange,
    mut buffer: Vec<u8>,
) -> Result<Vec<u8>> {
    let _busy = Busy::begin();
    let length = range.len();
    // Reading into no room would look like the end of the file.
    buffer.reserve(capacity(length, path)?);
    while (buffer.len() as u64) < length {
        let position = range.start + buffer.len() as u64;
        let missing = length - buffer.len() as u64;
        match read_some_at(file, &mut buffer, position, missing) {
            Ok(0) => {
                let change = format!("it ends at byte {position}, before byte {}", range.end);
                return Err(source_changed(path, &change));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::local("could not read", path, errno.into())),
        }
    }
    Ok(buffer)
}

/// One positioned read of at most `missing` bytes into the free end of the buffer.
fn read_some_at(
    file: &File,
    buffer: &mut Vec<u8>,
    position: u64,
    missing: u64,
) -> Result<usize, Errno> {
    let count = rustix::io::pread(file, spare_capacity(buffer), position)?;
    // An allocator may give more room than asked for: never hand out bytes beyond the range.
    let surplus = (count as u64).saturating_sub(missing);
    buffer.truncate(buffer.len() - usize::try_from(surplus).unwrap_or(0));
    Ok(count)
}

/// Advises the kernel that a file will be read in order. Advice only: failures do not matter.
pub fn advise_sequential(file: &File, size: u64) {
    if size >= READAHEAD_SIZE_MIN {
        let _ = rustix::fs::fadvise(file, 0, None, Advice::Sequential);
    }
}

/// The warning for a source file that may not be read: the AWS tools find that out before the
/// transfer and skip the file (exit status 2). `None` for other errors, which are failures; so is
/// a file that vanished since it was listed.
pub fn skip_warning(path: &Path, error: &Error) -> Option<String> {
    let cause = std::error::Error::source(error)?.downcast_ref::<std::io::Error>()?;
    (cause.kind() == std::io::ErrorKind::PermissionDenied)
        .then(|| warning::skipping(path.display(), warning::UNREADABLE))
}

fn capacity(size: u64, path: &Path) -> Result<usize> {
    usize::try_from(size)
        .map_err(|_| Error::local("could not read", path, std::io::ErrorKind::OutOfMemory.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn whole_files_come_back_byte_for_byte() {
        for size in [0_usize, 1, 4096, 100_001] {
            let content: Vec<u8> = (0..size).map(|i| i.to_le_bytes()[0]).collect();
            let file = file_of(&content);
            let whole = read_whole(file.path(), size as u64).unwrap();
            assert_eq!(whole.bytes, content);
            assert_eq!(whole.identity.size, size as u64);
        }
    }

    #[test]
    fn a_file_longer_than_planned_is_refused() {
        let file = file_of(b"12345");
        let error = read_whole(file.path(), 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SourceChanged);
    }

    #[test]
    fn ranges_are_exact_and_a_short_file_is_no_part() {
        let file = file_of(b"0123456789");
        let open = open_source(file.path()).unwrap();
        let range =
            |start, end| read_range_into(&open, file.path(), ByteRange { start, end }, Vec::new());
        assert_eq!(range(3, 7).unwrap(), b"3456");
        assert_eq!(range(0, 10).unwrap(), b"0123456789");
        let error = range(8, 11).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SourceChanged);
        assert!(error.to_string().contains("ends at byte 10"), "{error}");
    }

    #[test]
    fn a_fifo_neither_blocks_nor_reads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let error = read_whole(&path, 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Local);
    }

    #[test]
    fn files_that_may_not_be_read_become_the_known_warning() {
        let path = Path::new("/a/b");
        let error = |errno: Errno| Error::local("could not open", path, errno.into());
        assert_eq!(
            skip_warning(path, &error(Errno::ACCESS)).unwrap(),
            "Skipping file /a/b. File/Directory is not readable."
        );
        assert_eq!(skip_warning(path, &error(Errno::NOENT)), None);
        let missing = read_whole(Path::new("/nowhere/at/all"), 10).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::Local);
        assert!(missing.to_string().contains("could not open `/nowhere/at/all`"), "{missing}");
    }
}
