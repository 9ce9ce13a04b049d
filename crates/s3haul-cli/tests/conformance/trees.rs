//! Folders of files: made from a seed, and compared byte for byte.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// One mebibyte.
pub(crate) const MIB: usize = 1 << 20;

/// Bytes that differ from place to place and from seed to seed. What is longer than a block repeats
/// it, and no part but the first begins where a block does.
pub(crate) fn bytes(seed: u64, length: usize) -> Vec<u8> {
    /// A prime.
    const BLOCK: usize = 65_521;
    let block_length = length.min(BLOCK);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut block = Vec::with_capacity(block_length + 8);
    while block.len() < block_length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        block.extend_from_slice(&state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes());
    }
    block.truncate(block_length);
    let mut bytes = block.repeat(length.div_ceil(BLOCK));
    bytes.truncate(length);
    bytes
}

/// Writes a file and the folders above it.
pub(crate) fn write(root: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    write_raw(root, name.as_bytes(), bytes)
}

/// The same for a name that need not be UTF-8.
pub(crate) fn write_raw(root: &Path, name: &[u8], bytes: &[u8]) -> PathBuf {
    let path = root.join(OsStr::from_bytes(name));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

/// All files under a folder, by their name below it.
pub(crate) fn read(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let named = |name: String| {
        let bytes = fs::read(root.join(&name)).unwrap_or_default();
        (name, bytes)
    };
    names(root).into_iter().map(named).collect()
}

/// Names of all files under a folder, in order. What a command that is still running takes away
/// in the meantime is not among them.
pub(crate) fn names(root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => {
                    let path = entry.path();
                    let name = path.strip_prefix(root).unwrap();
                    names.push(name.to_string_lossy().into_owned());
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => panic!("{}: {error}", entry.path().display()),
            }
        }
    }
    names.sort_unstable();
    names
}

/// Asserts that two folders, or a folder and a map, hold the same files.
#[track_caller]
pub(crate) fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>) {
    let names =
        |files: &BTreeMap<String, Vec<u8>>| -> Vec<String> { files.keys().cloned().collect() };
    assert_eq!(names(found), names(expected), "names of files");
    for (name, bytes) in expected {
        let same = found[name] == *bytes;
        assert!(same, "`{name}` differs: {} bytes, expected {}", found[name].len(), bytes.len());
    }
}
