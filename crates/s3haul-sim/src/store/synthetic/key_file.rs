//! Keys of a mapped file, one a line: `key` or `key TAB size`.
//!
//! A file in the order of its keys' bytes needs no index: positions are bytes of the file, and a
//! search bisects them, which touches about thirty lines. A file in any other order costs eight
//! bytes of memory a key for the sorted starts of its lines. The file is read through once at the
//! start, to check it; its pages belong to the system's cache, not to this process.

use std::cmp::Ordering;
use std::fs::File;
use std::path::Path;

use memchr::{memchr, memrchr};
use memmap2::Mmap;

use super::{KeySource, Read, SyntheticError, bisect, is_before, to_index};

/// Most bytes of a key.
const KEY_BYTES_MAX: usize = 1024;

/// Keys of a mapped file.
pub(super) struct KeyFile {
    map: Option<Mmap>,
    /// Line starts in key order, where the file is not sorted.
    sorted_starts: Option<Vec<u64>>,
    /// Whether any line has a size.
    has_sizes: bool,
}

/// A line of the file.
struct Line<'a> {
    key: &'a [u8],
    size: Option<u64>,
    /// Start of the next line.
    next: u64,
}

/// How the lines follow each other.
#[derive(PartialEq, Eq)]
enum LineOrder {
    Sorted,
    Unsorted,
}

impl KeyFile {
    pub(super) fn open(path: &Path) -> Result<Self, SyntheticError> {
        let shown = path.display().to_string();
        let failed = |source| SyntheticError::KeyFile { path: shown.clone(), source };
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let map = if length == 0 { None } else { Some(map_file(&file).map_err(failed)?) };
        let mut keys = Self { map, sorted_starts: None, has_sizes: false };
        keys.has_sizes = memchr(b'\t', keys.bytes()).is_some();
        if keys.check_lines(&shown)? == LineOrder::Unsorted {
            tracing::warn!(path = %shown, "the key file is not sorted: an index of it is made");
            keys.sorted_starts = Some(keys.sort_starts(&shown)?);
        }
        Ok(keys)
    }

    /// Checks every line.
    fn check_lines(&self, path: &str) -> Result<LineOrder, SyntheticError> {
        let mut order = LineOrder::Sorted;
        let (mut previous, mut number): (&[u8], usize) = (b"", 0);
        let mut position = 0;
        while position < self.bytes().len() as u64 {
            let line = self.line(position);
            number += 1;
            let Some(line) = line.filter(|line| is_key(line.key)) else {
                return Err(SyntheticError::KeyLine { path: path.to_owned(), line: number });
            };
            match previous.cmp(line.key) {
                Ordering::Less => {}
                Ordering::Equal => return Err(twice(path, line.key)),
                Ordering::Greater => order = LineOrder::Unsorted,
            }
            previous = line.key;
            position = line.next;
        }
        Ok(order)
    }

    /// The starts of the lines in the order of their keys.
    fn sort_starts(&self, path: &str) -> Result<Vec<u64>, SyntheticError> {
        let mut starts = Vec::new();
        let mut position = 0;
        while let Some(line) = self.line(position) {
            starts.push(position);
            position = line.next;
        }
        starts.sort_unstable_by(|a, b| self.key(*a).cmp(self.key(*b)));
        let same = starts.windows(2).find(|pair| self.key(pair[0]) == self.key(pair[1]));
        match same {
            Some(pair) => Err(twice(path, self.key(pair[0]))),
            None => Ok(starts),
        }
    }

    fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// The line that starts at a byte; none at the end, and where a size is no number.
    fn line(&self, start: u64) -> Option<Line<'_>> {
        let rest = self.bytes().get(to_index(start)..).filter(|rest| !rest.is_empty())?;
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let next = start + (end as u64 + 1).min(rest.len() as u64);
        let line = &rest[..end];
        let tab = if self.has_sizes { memrchr(b'\t', line) } else { None };
        let Some(tab) = tab else { return Some(Line { key: line, size: None, next }) };
        let size = std::str::from_utf8(&line[tab + 1..]).ok()?.parse().ok()?;
        Some(Line { key: &line[..tab], size: Some(size), next })
    }

    /// The key of the line that starts at a byte.
    fn key(&self, start: u64) -> &[u8] {
        self.line(start).map_or(b"", |line| line.key)
    }

    /// Start of the line that holds a byte.
    fn line_start(&self, byte: u64) -> u64 {
        memrchr(b'\n', &self.bytes()[..to_index(byte)]).map_or(0, |at| at as u64 + 1)
    }
}

fn is_key(key: &[u8]) -> bool {
    (1..=KEY_BYTES_MAX).contains(&key.len()) && std::str::from_utf8(key).is_ok()
}

fn twice(path: &str, key: &[u8]) -> SyntheticError {
    let key = String::from_utf8_lossy(key).into_owned();
    SyntheticError::KeyTwice { path: path.to_owned(), key }
}

#[expect(unsafe_code, reason = "mapping a file is unsafe: it must not shrink while mapped")]
fn map_file(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the key file comes from the simulator's configuration and is only read here.
    unsafe { Mmap::map(file) }
}

impl KeySource for KeyFile {
    fn seek(&self, target: &[u8], after: bool) -> u64 {
        if let Some(starts) = &self.sorted_starts {
            let before = |number| is_before(self.key(starts[to_index(number)]), target, after);
            return bisect(starts.len() as u64, before);
        }
        let end = self.bytes().len() as u64;
        let byte = bisect(end, |byte| is_before(self.key(self.line_start(byte)), target, after));
        if byte == end { end } else { self.line_start(byte) }
    }

    fn read<'a>(&'a self, position: u64, _buffer: &'a mut String) -> Option<Read<'a>> {
        let (start, after) = match &self.sorted_starts {
            Some(starts) => (*starts.get(to_index(position))?, Some(position + 1)),
            None => (position, None),
        };
        let line = self.line(start)?;
        let key = std::str::from_utf8(line.key).ok()?;
        Some(Read { key, size: line.size, next: after.unwrap_or(line.next) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::all_keys;
    use super::super::{Seek, Store as _, SyntheticStore};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::io::Write as _;

    fn open(lines: &str) -> Result<SyntheticStore, SyntheticError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        SyntheticStore::from_file(file.path(), "b", "r")
    }

    #[test]
    fn a_key_file_is_sorted_on_load_where_it_must_be() {
        for lines in ["a\t5\nb/c\nd\t7\n", "d\t7\na\t5\nb/c", ""] {
            let store = open(lines).unwrap();
            let keys = all_keys(&store, Seek::At(Vec::new()));
            if lines.is_empty() {
                assert!(keys.is_empty());
                continue;
            }
            assert_eq!(keys, ["a", "b/c", "d"]);
            assert_eq!(all_keys(&store, Seek::After(b"a".to_vec())), ["b/c", "d"]);
            assert_eq!(all_keys(&store, Seek::At(b"b/".to_vec())), ["b/c", "d"]);
            assert_eq!(store.versions("b", "d").unwrap()[0].size, 7);
            assert!(store.versions("b", "c").unwrap().is_empty());
        }
    }

    #[test]
    fn what_is_no_key_is_named_by_its_line() {
        let long = format!("a\n{}\n", "b".repeat(KEY_BYTES_MAX + 1));
        for (lines, wanted) in [
            ("a\n\nb\n", "line 2"),
            ("a\nb\tlarge\n", "line 2"),
            ("a\nb\nb\n", "`b` twice"),
            ("b\na\nb\n", "`b` twice"),
            (long.as_str(), "line 2"),
        ] {
            let error = open(lines).err().unwrap().to_string();
            assert!(error.contains(wanted), "{lines:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_file_in_any_order_is_the_set_of_its_keys(
            keys in proptest::collection::btree_map(
                "[a-c/é\u{ffff}]{1,5}", any::<Option<u16>>(), 0..40
            ),
            shuffle in any::<u64>(),
            target in "[a-c/é]{0,4}",
        ) {
            let mut lines: Vec<String> = keys
                .iter()
                .map(|(key, size)| size.map_or(key.clone(), |size| format!("{key}\t{size}")))
                .collect();
            if shuffle % 2 == 1 {
                fastrand::Rng::with_seed(shuffle).shuffle(&mut lines);
            }
            let store = open(&lines.join("\n")).unwrap();
            let set: BTreeSet<String> = keys.keys().cloned().collect();
            let wanted: Vec<String> =
                set.iter().filter(|key| key.as_str() >= target.as_str()).cloned().collect();
            prop_assert_eq!(all_keys(&store, Seek::At(target.clone().into_bytes())), wanted);
            let wanted: Vec<String> = set.into_iter().filter(|key| *key > target).collect();
            prop_assert_eq!(all_keys(&store, Seek::After(target.into_bytes())), wanted);
        }
    }
}
