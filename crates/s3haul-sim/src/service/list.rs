//! Listings as pure functions over a scan: grouping by delimiter, paging, continuing.

use std::sync::Arc;

use s3s::S3Result;
use s3s::dto::ListMultipartUploadsInput;

use crate::store::{Entry, Listed, Seek, Step, Store, Upload};

/// Most entries of a page.
pub(super) const PAGE_MAX: usize = 1000;

/// The order of keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum KeyOrder {
    /// That of their bytes.
    #[default]
    Bytes,
    /// `/` before everything else: a quirk.
    FoldersFirst {
        /// Whether the folder of the marker's name is left out.
        skips_folder: bool,
    },
}

/// What to list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    pub(crate) prefix: String,
    pub(crate) delimiter: String,
    /// Keys up to and including this are left out; so is the group of keys that it names.
    pub(crate) after: String,
    pub(crate) page_size: usize,
    pub(crate) order: KeyOrder,
    /// The page begins with the key that it should come after.
    pub(crate) repeats: bool,
}

impl Query {
    /// Whether a key has the prefix. Comparing with an empty text would cost a fifth of a page: its
    /// dangling address makes the comparison's masked load fault inside the processor.
    pub(super) fn holds(&self, key: &str) -> bool {
        self.prefix.is_empty() || key.starts_with(&self.prefix)
    }
}

/// Takes the entries of a page.
pub(crate) trait Page {
    /// An object.
    fn object(&mut self, key: &str, object: Listed<'_>);
    /// A group of keys up to a delimiter.
    fn group(&mut self, prefix: &str);
}

/// The least byte string above every string with this prefix; `None` for the empty prefix.
pub(super) fn beyond(prefix: &str) -> Option<Vec<u8>> {
    let mut bytes = prefix.as_bytes().to_vec();
    // No byte of UTF-8 is 255, so the last one can always be raised.
    *bytes.last_mut()? += 1;
    Some(bytes)
}

/// The group that a key belongs to, if any.
pub(super) fn group_of<'a>(key: &'a str, prefix: &str, delimiter: &str) -> Option<&'a str> {
    if delimiter.is_empty() {
        return None;
    }
    let at = key.get(prefix.len()..)?.find(delimiter)?;
    key.get(..prefix.len() + at + delimiter.len())
}

/// Where a listing starts: at its prefix, after its marker, or after the group its marker names.
pub(super) fn start(query: &Query) -> Seek {
    let prefix = query.prefix.as_bytes();
    if query.after.is_empty() || query.after.as_bytes() < prefix {
        return Seek::At(prefix.to_vec());
    }
    let is_group = query.after.starts_with(&query.prefix)
        && group_of(&query.after, &query.prefix, &query.delimiter) == Some(query.after.as_str());
    match beyond(&query.after).filter(|_| is_group) {
        Some(next) => Seek::At(next),
        None if query.repeats => Seek::At(query.after.as_bytes().to_vec()),
        None => Seek::After(query.after.as_bytes().to_vec()),
    }
}

/// Fills a page; gives the last entry's name where more follow.
pub(crate) fn list(
    store: &dyn Store,
    bucket: &str,
    query: &Query,
    page: &mut dyn Page,
) -> S3Result<Option<String>> {
    if let KeyOrder::FoldersFirst { skips_folder } = query.order {
        return list_folders_first(store, bucket, query, skips_folder, page);
    }
    let mut count = 0;
    let mut last = String::new();
    let mut truncated = false;
    let mut visit = |entry: Entry<'_>| {
        if !query.holds(entry.key) {
            return Step::Stop;
        }
        let Some(object) = entry.current else { return Step::Next };
        if count == query.page_size {
            truncated = count > 0;
            return Step::Stop;
        }
        count += 1;
        last.clear();
        if let Some(group) = group_of(entry.key, &query.prefix, &query.delimiter) {
            page.group(group);
            last.push_str(group);
            return beyond(group).map_or(Step::Next, Step::Jump);
        }
        page.object(entry.key, object);
        last.push_str(entry.key);
        Step::Next
    };
    store.scan(bucket, start(query), &mut visit)?;
    Ok(truncated.then_some(last))
}

/// The same in the order of a server that keeps folders as such: reads all keys for each page.
fn list_folders_first(
    store: &dyn Store,
    bucket: &str,
    query: &Query,
    skips_folder: bool,
    page: &mut dyn Page,
) -> S3Result<Option<String>> {
    let mut keys = Vec::new();
    let mut visit = |entry: Entry<'_>| {
        if !query.holds(entry.key) {
            return Step::Stop;
        }
        if entry.current.is_some() {
            keys.push(entry.key.to_owned());
        }
        Step::Next
    };
    store.scan(bucket, Seek::At(query.prefix.clone().into_bytes()), &mut visit)?;
    keys.sort_by(|a, b| folders_first(a, b));
    let folder = format!("{}/", query.after.trim_end_matches('/'));
    let (mut count, mut last) = (0, None::<String>);
    for key in &keys {
        let group = group_of(key, &query.prefix, &query.delimiter);
        let name = group.unwrap_or(key);
        let is_skipped = skips_folder && !query.after.is_empty() && key.starts_with(&folder);
        if is_skipped || folders_first(name, &query.after).is_le() || last.as_deref() == Some(name)
        {
            continue;
        }
        if count == query.page_size {
            return Ok(last);
        }
        count += 1;
        last = Some(name.to_owned());
        match (group, store.versions(bucket, key)?.first()) {
            (Some(group), _) => page.group(group),
            (None, Some(version)) => page.object(key, version.listed()),
            // Gone since the keys were read.
            (None, None) => {}
        }
    }
    Ok(None)
}

/// Compares keys with `/` before all other characters.
fn folders_first(a: &str, b: &str) -> std::cmp::Ordering {
    let rank = |byte: u8| if byte == b'/' { 0 } else { u16::from(byte) + 1 };
    a.bytes().map(rank).cmp(b.bytes().map(rank))
}

/// A page of multipart uploads.
#[derive(Default)]
pub(super) struct UploadPage {
    pub(super) uploads: Vec<Arc<Upload>>,
    pub(super) prefixes: Vec<String>,
    /// Key and upload id to go on after.
    pub(super) next: Option<(String, String)>,
}

/// Fills a page of uploads, which come sorted by key and start.
pub(super) fn page_uploads(
    uploads: Vec<Arc<Upload>>,
    input: &ListMultipartUploadsInput,
    most: usize,
) -> UploadPage {
    let prefix = input.prefix.as_deref().unwrap_or_default();
    let delimiter = input.delimiter.as_deref().unwrap_or_default();
    let marker = input.key_marker.as_deref().unwrap_or_default();
    let id_marker = input.upload_id_marker.as_deref().unwrap_or_default();
    let is_before = |upload: &Upload| {
        let (key, marker) = (upload.key.as_bytes(), marker.as_bytes());
        let same = key == marker && (id_marker.is_empty() || upload.id.as_str() <= id_marker);
        key < marker || (same && !marker.is_empty())
    };
    let mut page = UploadPage::default();
    let mut last = None;
    for upload in uploads {
        if !upload.key.starts_with(prefix) || is_before(&upload) {
            continue;
        }
        let group = group_of(&upload.key, prefix, delimiter).map(str::to_owned);
        if let Some(group) = &group
            && (page.prefixes.last() == Some(group) || group == marker)
        {
            continue;
        }
        if page.uploads.len() + page.prefixes.len() == most {
            page.next = last;
            return page;
        }
        if let Some(group) = group {
            last = Some((group.clone(), String::new()));
            page.prefixes.push(group);
        } else {
            last = Some((upload.key.clone(), upload.id.clone()));
            page.uploads.push(upload);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::memory::MemoryStore;
    use crate::store::{Bucket, Version};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Names of a page, groups marked.
    #[derive(Default)]
    struct Names(Vec<(bool, String)>);

    impl Page for Names {
        fn object(&mut self, key: &str, _object: Listed<'_>) {
            self.0.push((false, key.to_owned()));
        }

        fn group(&mut self, prefix: &str) {
            self.0.push((true, prefix.to_owned()));
        }
    }

    fn store_with(keys: &BTreeSet<String>) -> MemoryStore {
        let store = MemoryStore::new(None);
        store.put_bucket("b", Bucket::default()).unwrap();
        for key in keys {
            let put = &mut |versions: &mut crate::store::Versions| {
                versions.push(Arc::new(Version::default()));
                Ok(())
            };
            store.update("b", key, put).unwrap();
        }
        store
    }

    /// Everything a listing should show, by the book: filter, group, drop duplicates, sort.
    fn expected(keys: &BTreeSet<String>, query: &Query) -> Vec<(bool, String)> {
        let mut names: Vec<(bool, String)> = Vec::new();
        for key in keys.iter().filter(|key| key.starts_with(&query.prefix)) {
            if key.as_bytes() <= query.after.as_bytes() {
                continue;
            }
            let rest = &key[query.prefix.len()..];
            let cut = if query.delimiter.is_empty() { None } else { rest.find(&query.delimiter) };
            let name = match cut {
                None => (false, key.clone()),
                Some(at) => {
                    let end = query.prefix.len() + at + query.delimiter.len();
                    (true, key[..end].to_owned())
                }
            };
            let is_passed = name.0 && name.1 == query.after;
            if !is_passed && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn key() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[ab/]",
            1 => Just("//".to_owned()),
            1 => Just("\u{ffff}".to_owned()),
            1 => Just("\u{10ffff}".to_owned()),
            1 => any::<char>().prop_map(String::from),
        ];
        proptest::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
    }

    fn delimiter() -> impl Strategy<Value = String> {
        prop_oneof![Just(""), Just("/"), Just("//"), Just("a/"), Just("\u{ffff}")]
            .prop_map(str::to_owned)
    }

    proptest! {
        #[test]
        fn pages_together_show_what_a_naive_listing_shows(
            keys in proptest::collection::btree_set(key(), 0..30),
            prefix in prop_oneof![Just(String::new()), key()],
            after in prop_oneof![Just(String::new()), key()],
            delimiter in delimiter(),
            page_size in 1_usize..7,
        ) {
            let store = store_with(&keys);
            let order = KeyOrder::Bytes;
            let repeats = false;
            let mut query = Query { prefix, delimiter, after, page_size, order, repeats };
            let wanted = expected(&keys, &query);
            let mut shown = Vec::new();
            loop {
                let mut page = Names::default();
                let next = list(&store, "b", &query, &mut page).unwrap();
                prop_assert!(page.0.len() <= page_size);
                prop_assert!(next.is_none() || page.0.len() == page_size);
                shown.extend(page.0);
                match next {
                    Some(next) => query.after = next,
                    None => break,
                }
            }
            prop_assert_eq!(shown, wanted);
        }
    }

    #[test]
    fn a_page_of_no_entries_is_not_cut() {
        let store = store_with(&BTreeSet::from(["a".to_owned()]));
        let query = Query { page_size: 0, ..Query::default() };
        assert_eq!(list(&store, "b", &query, &mut Names::default()).unwrap(), None);
    }
}
