//! The server's side: keys of a file, and the answers over them.

use std::ops::Range;

use s3haul_list::keyspace::Keys;

/// Keys of a full page.
pub(crate) const PAGE_KEYS: usize = 1_000;

/// A bucket: sorted keys, one a line.
pub(crate) struct Bucket {
    text: String,
    starts: Vec<u32>,
    pub(crate) range: Range<usize>,
}

impl Bucket {
    pub(crate) fn new(text: String, prefix: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr_lines(&text));
        let mut bucket = Self { text, starts, range: 0..0 };
        let count = bucket.starts.len() - 1;
        let from = bucket.first(0..count, |key| key >= prefix);
        let to = bucket.first(from..count, |key| !key.starts_with(prefix));
        bucket.range = from..to;
        bucket
    }

    pub(crate) fn key(&self, index: usize) -> &str {
        &self.text[self.starts[index] as usize..self.starts[index + 1] as usize - 1]
    }

    /// The first index for which it is true.
    fn first(&self, range: Range<usize>, is_found: impl Fn(&str) -> bool) -> usize {
        let (mut from, mut to) = (range.start, range.end);
        while from < to {
            let middle = from.midpoint(to);
            if is_found(self.key(middle)) {
                to = middle;
            } else {
                from = middle + 1;
            }
        }
        from
    }

    pub(crate) fn page(&self, after: &str) -> (Range<usize>, bool) {
        let from = if after.is_empty() {
            self.range.start
        } else {
            self.first(self.range.clone(), |key| key > after)
        };
        let to = (from + PAGE_KEYS).min(self.range.end);
        (from..to, to < self.range.end)
    }

    pub(crate) fn folders(&self, folder: &str, after: &str) -> (Vec<String>, Option<String>) {
        let mut index = self.first(self.range.clone(), |key| key >= folder && key > after);
        let (mut names, mut entries, mut last) = (Vec::new(), 0, String::new());
        while index < self.range.end && self.key(index).starts_with(folder) {
            if entries == PAGE_KEYS {
                return (names, Some(last));
            }
            let key = self.key(index);
            let name = key[folder.len()..].find('/').map(|at| &key[..=folder.len() + at]);
            if let Some(name) = name {
                index = self.first(index..self.range.end, |key| !key.starts_with(name));
                if name <= after {
                    continue;
                }
                names.push(name.to_owned());
            } else {
                index += 1;
            }
            name.unwrap_or(key).clone_into(&mut last);
            entries += 1;
        }
        (names, None)
    }
}

fn memchr_lines(text: &str) -> impl Iterator<Item = u32> {
    text.bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'\n')
        .map(|(at, _)| u32::try_from(at + 1).expect("a file of less than 4 GiB"))
}

/// A page of it.
pub(crate) struct Page<'a>(pub(crate) &'a Bucket, pub(crate) Range<usize>);

impl Keys for Page<'_> {
    fn len(&self) -> usize {
        self.1.len()
    }

    fn key(&self, index: usize) -> &str {
        self.0.key(self.1.start + index)
    }
}
