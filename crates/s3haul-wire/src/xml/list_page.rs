//! A page of a listing in columns: all keys in one buffer, all `ETag`s in another, the rest in
//! rows of fixed size, storage classes as numbers. No `String` an object: a page of 1,000 costs
//! a handful of allocations.

use crate::error::Result;
use crate::xml::document::malformed;

/// Storage classes that a page may name; S3 has about a dozen.
const STORAGE_CLASSES_MAX: usize = 64;
/// Version id of what was written while its bucket kept no versions.
const NO_VERSION: &str = "null";
/// Bytes of an entry's XML beside its key, at least.
const ENTRY_BYTES: usize = 190;
/// Length of a quoted MD5, or that of an upload of up to a thousand parts.
const ETAG_BYTES: usize = 38;

/// One object of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListedObject<'a> {
    /// Key.
    pub key: &'a str,
    /// Size in bytes.
    pub size: u64,
    /// Last modification in seconds since 1970.
    pub last_modified_s: i64,
    /// Microseconds of that second; S3 itself lists whole seconds.
    pub last_modified_us: u32,
    /// `ETag` with its quotes.
    pub etag: &'a str,
    /// Storage class; empty if the server returns none.
    pub storage_class: &'a str,
}

impl ListedObject<'_> {
    /// Whether it stands for a folder: an empty object whose key ends in `/`.
    pub fn is_folder_marker(&self) -> bool {
        self.size == 0 && self.key.ends_with('/')
    }
}

/// One version or delete marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVersion {
    /// Key.
    pub key: String,
    /// Version id, `null` for objects from before versioning.
    pub version_id: String,
    /// Whether it is the current one.
    pub is_latest: bool,
    /// Whether it is a delete marker (size 0, no `ETag`).
    pub is_delete_marker: bool,
    /// Size in bytes.
    pub size: u64,
    /// Last modification in seconds since 1970.
    pub last_modified_s: i64,
    /// Microseconds of that second.
    pub last_modified_us: u32,
    /// `ETag` with its quotes.
    pub etag: String,
    /// Storage class.
    pub storage_class: String,
}

impl ListedVersion {
    /// What it has in common with an object of a listing.
    pub fn object(&self) -> ListedObject<'_> {
        ListedObject {
            key: &self.key,
            size: self.size,
            last_modified_s: self.last_modified_s,
            last_modified_us: self.last_modified_us,
            etag: &self.etag,
            storage_class: &self.storage_class,
        }
    }
}

/// A page of versions.
#[derive(Clone, Debug, Default)]
pub struct VersionPage {
    /// Versions and delete markers in the server's order.
    pub versions: Vec<ListedVersion>,
    /// Common prefixes.
    pub common_prefixes: Vec<String>,
    /// Whether more pages follow.
    pub is_truncated: bool,
    /// Marker for the next page.
    pub next_key_marker: Option<String>,
    /// Marker for the next page.
    pub next_version_id_marker: Option<String>,
    /// The server is one that leaves keys out after some keys that a listing may start after.
    pub may_leave_out: bool,
}

impl VersionPage {
    /// Keeps the first `count` versions and delete markers only.
    pub fn truncate(&mut self, count: usize) {
        self.versions.truncate(count);
    }
}

/// A page of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    keys: String,
    etags: String,
    rows: Vec<Row>,
    storage_classes: Vec<String>,
    /// Common prefixes, in order.
    pub common_prefixes: Vec<String>,
    /// Whether more pages follow.
    pub is_truncated: bool,
    /// Token for the next page (v2), or the marker (v1).
    pub next_token: Option<String>,
    /// What they are versions of the objects of, where versions were listed: one for each row, or
    /// none at all.
    versions: Vec<PageVersion>,
    /// The document is an answer to `ListObjects` (version 1), whatever was asked.
    pub is_version_1: bool,
    /// The server is one that leaves keys out after some keys that a listing may start after.
    pub may_leave_out: bool,
}

/// What a row of versions has beside that of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PageVersion {
    id: String,
    is_delete_marker: bool,
}

/// What has a fixed size in an entry. Its texts end here in their buffers and begin where those
/// of the entry before end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    size: u64,
    last_modified_s: i64,
    last_modified_us: u32,
    key_end: u32,
    etag_end: u32,
    /// Index among the page's storage classes, plus 1; 0 if none was returned.
    storage_class: u32,
}

impl ListPage {
    /// Objects of the page.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the page holds no object.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of all objects.
    pub fn bytes(&self) -> u64 {
        self.rows.iter().fold(0, |bytes, row| bytes.saturating_add(row.size))
    }

    /// One of the objects.
    #[inline]
    pub fn get(&self, index: usize) -> Option<ListedObject<'_>> {
        let row = self.rows.get(index)?;
        let before = index.checked_sub(1).map(|before| self.rows[before]).unwrap_or_default();
        Some(self.object(row, (before.key_end, before.etag_end)))
    }

    /// Key of one of the objects.
    #[inline]
    pub fn key(&self, index: usize) -> Option<&str> {
        let end = self.rows.get(index)?.key_end;
        let start = index.checked_sub(1).map_or(0, |before| self.rows[before].key_end);
        Some(&self.keys[start as usize..end as usize])
    }

    /// The keys in the server's order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.rows.iter().map(move |row| {
            let key = &self.keys[start..row.key_end as usize];
            start = row.key_end as usize;
            key
        })
    }

    /// All keys, one right after the other.
    pub fn text_of_keys(&self) -> &str {
        &self.keys
    }

    /// Where each key ends in [`Self::text_of_keys`].
    pub fn key_ends(&self) -> impl ExactSizeIterator<Item = usize> {
        self.rows.iter().map(|row| row.key_end as usize)
    }

    /// Size of each object.
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = u64> {
        self.rows.iter().map(|row| row.size)
    }

    /// Last modification of each object, in seconds since 1970 and microseconds.
    pub fn times(&self) -> impl ExactSizeIterator<Item = (i64, u32)> {
        self.rows.iter().map(|row| (row.last_modified_s, row.last_modified_us))
    }

    /// `ETag` of each object, with its quotes.
    pub fn etags(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.rows.iter().map(move |row| {
            let etag = &self.etags[start..row.etag_end as usize];
            start = row.etag_end as usize;
            etag
        })
    }

    /// Storage class of each object; empty if the server returns none.
    pub fn storage_classes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.rows.iter().map(|row| self.storage_class(row))
    }

    /// The storage class that all objects have; `None` if there are several, or no objects.
    pub fn common_storage_class(&self) -> Option<&str> {
        let first = self.rows.first()?;
        let is_common = self.rows.iter().all(|row| row.storage_class == first.storage_class);
        is_common.then(|| self.storage_class(first))
    }

    #[inline]
    fn storage_class(&self, row: &Row) -> &str {
        let class = (row.storage_class as usize).checked_sub(1);
        class.map_or("", |class| &self.storage_classes[class])
    }

    /// The object of a row whose texts begin at `start` in their buffers.
    #[inline]
    fn object(&self, row: &Row, start: (u32, u32)) -> ListedObject<'_> {
        ListedObject {
            key: &self.keys[start.0 as usize..row.key_end as usize],
            size: row.size,
            last_modified_s: row.last_modified_s,
            last_modified_us: row.last_modified_us,
            etag: &self.etags[start.1 as usize..row.etag_end as usize],
            storage_class: self.storage_class(row),
        }
    }

    /// Version id of one of the objects, where it is a version.
    pub fn version_id(&self, index: usize) -> Option<&str> {
        let version = self.versions.get(index)?;
        Some(version.id.as_str()).filter(|id| !id.is_empty())
    }

    /// Whether one of the objects is no object but a delete marker.
    pub fn is_delete_marker(&self, index: usize) -> bool {
        self.versions.get(index).is_some_and(|version| version.is_delete_marker)
    }

    /// The last of the objects.
    pub fn last(&self) -> Option<ListedObject<'_>> {
        self.get(self.len().checked_sub(1)?)
    }

    /// A page of just one of the objects; empty where there is none.
    #[must_use]
    pub fn only(&self, index: usize) -> Self {
        let Some(row) = self.rows.get(index) else { return Self::default() };
        let before = index.checked_sub(1).map(|before| self.rows[before]).unwrap_or_default();
        let object = self.object(row, (before.key_end, before.etag_end));
        let class = (row.storage_class as usize).checked_sub(1);
        Self {
            keys: object.key.to_owned(),
            etags: object.etag.to_owned(),
            rows: vec![Row {
                key_end: row.key_end - before.key_end,
                etag_end: row.etag_end - before.etag_end,
                storage_class: u32::from(class.is_some()),
                ..*row
            }],
            storage_classes: class
                .map(|class| self.storage_classes[class].clone())
                .into_iter()
                .collect(),
            versions: self.versions.get(index).cloned().into_iter().collect(),
            ..Self::default()
        }
    }

    /// Keeps the first `count` objects only.
    pub fn truncate(&mut self, count: usize) {
        if count >= self.rows.len() {
            return;
        }
        self.rows.truncate(count);
        let end = self.rows.last().copied().unwrap_or_default();
        self.keys.truncate(end.key_end as usize);
        self.etags.truncate(end.etag_end as usize);
        self.versions.truncate(count);
    }

    /// Keeps the objects whose keys are wanted.
    pub fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        let wanted: Vec<_> = self.keys().map(is_wanted).collect();
        if wanted.iter().all(|is_wanted| *is_wanted) {
            return;
        }
        let (mut keys, mut etags, mut rows) = (String::new(), String::new(), Vec::new());
        let (mut before, mut end) = ((0, 0), (0, 0));
        for (row, is_wanted) in self.rows.iter().zip(&wanted) {
            if *is_wanted {
                let object = self.object(row, before);
                keys.push_str(object.key);
                etags.push_str(object.etag);
                end = (end.0 + row.key_end - before.0, end.1 + row.etag_end - before.1);
                rows.push(Row { key_end: end.0, etag_end: end.1, ..*row });
            }
            before = (row.key_end, row.etag_end);
        }
        let mut wanted = wanted.into_iter();
        self.versions.retain(|_| wanted.next().unwrap_or_default());
        (self.keys, self.etags, self.rows) = (keys, etags, rows);
    }

    /// Bytes of memory that the page holds, about.
    pub fn held_bytes(&self) -> usize {
        let groups: usize = self.common_prefixes.iter().map(|group| group.len() + 24).sum();
        let rows = self.rows.capacity() * size_of::<Row>();
        self.keys.capacity() + self.etags.capacity() + rows + groups
    }

    /// The objects in the server's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ListedObject<'_>> + Clone {
        let mut start = (0, 0);
        self.rows.iter().map(move |row| {
            let object = self.object(row, start);
            start = (row.key_end, row.etag_end);
            object
        })
    }
}

/// Fills the columns of a page.
#[derive(Debug, Default)]
pub(crate) struct PageBuilder {
    /// Bytes of the keys; the entry's own are at the end when [`PageBuilder::end`] is called.
    pub(crate) keys: Vec<u8>,
    /// Bytes of the `ETag`s, likewise.
    pub(crate) etags: Vec<u8>,
    rows: Vec<Row>,
    storage_classes: Vec<String>,
}

impl PageBuilder {
    /// With room for the entries of a document of that length.
    pub(crate) fn for_document(bytes: usize) -> Self {
        // Too much room is given back by the page's short life.
        let objects = (bytes / ENTRY_BYTES).min(1000);
        Self {
            keys: Vec::with_capacity(bytes.saturating_sub(objects * ENTRY_BYTES).min(bytes / 2)),
            etags: Vec::with_capacity(objects * ETAG_BYTES),
            rows: Vec::with_capacity(objects),
            storage_classes: Vec::new(),
        }
    }

    /// Ends an entry whose key and `ETag` were appended to the buffers.
    #[inline]
    pub(crate) fn end(
        &mut self,
        size: u64,
        (last_modified_s, last_modified_us): (i64, u32),
        storage_class: u32,
    ) -> Option<()> {
        self.rows.push(Row {
            size,
            last_modified_s,
            last_modified_us,
            key_end: u32::try_from(self.keys.len()).ok()?,
            etag_end: u32::try_from(self.etags.len()).ok()?,
            storage_class,
        });
        Some(())
    }

    /// Number of a storage class; `None` if the page names too many.
    pub(crate) fn storage_class(&mut self, name: &[u8]) -> Option<u32> {
        if name.is_empty() {
            return Some(0);
        }
        let known = self.storage_classes.iter().position(|class| class.as_bytes() == name);
        let index = match known {
            Some(index) => index,
            None if self.storage_classes.len() == STORAGE_CLASSES_MAX => return None,
            None => {
                self.storage_classes.push(std::str::from_utf8(name).ok()?.to_owned());
                self.storage_classes.len() - 1
            }
        };
        u32::try_from(index + 1).ok()
    }

    /// Adds a whole entry.
    pub(crate) fn push(&mut self, object: ListedObject<'_>) -> Option<()> {
        self.keys.extend_from_slice(object.key.as_bytes());
        self.etags.extend_from_slice(object.etag.as_bytes());
        let storage_class = self.storage_class(object.storage_class.as_bytes())?;
        let last_modified = (object.last_modified_s, object.last_modified_us);
        self.end(object.size, last_modified, storage_class)
    }

    /// The page; `None` if a text is not UTF-8.
    pub(crate) fn finish(self) -> Option<ListPage> {
        let keys = String::from_utf8(self.keys).ok()?;
        let etags = String::from_utf8(self.etags).ok()?;
        let whole_characters = self.rows.iter().all(|row| {
            keys.is_char_boundary(row.key_end as usize)
                && etags.is_char_boundary(row.etag_end as usize)
        });
        whole_characters.then(|| ListPage {
            keys,
            etags,
            rows: self.rows,
            storage_classes: self.storage_classes,
            ..ListPage::default()
        })
    }
}

impl ListPage {
    /// A page of given objects, for callers that have their own listings.
    pub fn from_objects<'a>(objects: impl IntoIterator<Item = ListedObject<'a>>) -> Result<Self> {
        let mut builder = PageBuilder::default();
        for object in objects {
            builder.push(object).ok_or_else(malformed)?;
        }
        builder.finish().ok_or_else(malformed)
    }

    /// A page of given objects, each the current one or a version.
    pub fn from_objects_or_versions<'a>(
        objects: impl IntoIterator<Item = (ListedObject<'a>, Option<&'a str>)>,
    ) -> Result<Self> {
        let (mut builder, mut versions) = (PageBuilder::default(), Vec::new());
        for (object, version_id) in objects {
            builder.push(object).ok_or_else(malformed)?;
            let id = version_id.unwrap_or_default().to_owned();
            versions.push(PageVersion { id, is_delete_marker: false });
        }
        Ok(Self { versions, ..builder.finish().ok_or_else(malformed)? })
    }

    /// A page of versions and delete markers.
    pub fn from_versions<'a>(
        versions: impl IntoIterator<Item = &'a ListedVersion>,
    ) -> Result<Self> {
        let (mut builder, mut ids) = (PageBuilder::default(), Vec::new());
        for version in versions {
            builder.push(version.object()).ok_or_else(malformed)?;
            // If the server returns none, the bucket never had versions.
            let id = Some(version.version_id.as_str()).filter(|id| !id.is_empty());
            let id = id.unwrap_or(NO_VERSION).to_owned();
            ids.push(PageVersion { id, is_delete_marker: version.is_delete_marker });
        }
        Ok(Self { versions: ids, ..builder.finish().ok_or_else(malformed)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> ListPage {
        let object = |key, size| ListedObject {
            key,
            size,
            last_modified_s: 7,
            last_modified_us: 507_000,
            etag: "\"e\"",
            storage_class: if size == 2 { "GLACIER" } else { "STANDARD" },
        };
        ListPage::from_objects([object("a", 1), object("\u{e4}b", 2), object("z", 3)]).unwrap()
    }

    #[test]
    fn a_page_is_cut_at_any_length() {
        for count in 0..5 {
            let (whole, mut cut) = (page(), page());
            cut.truncate(count);
            assert!(cut.iter().eq(whole.iter().take(count)), "{count}");
            assert_eq!(cut.last(), count.min(3).checked_sub(1).and_then(|at| whole.get(at)));
        }
    }

    #[test]
    fn columns_hold_what_objects_do() {
        let page = page();
        let objects = || page.iter();
        assert!(page.sizes().eq(objects().map(|object| object.size)));
        let time = |object: ListedObject<'_>| (object.last_modified_s, object.last_modified_us);
        assert!(page.times().eq(objects().map(time)));
        assert!(page.etags().eq(objects().map(|object| object.etag)));
        assert!(page.storage_classes().eq(objects().map(|object| object.storage_class)));
        let keys = page.key_ends().map(|end| &page.text_of_keys()[..end]);
        assert!(keys.eq(["a", "a\u{e4}b", "a\u{e4}bz"]));
        let class = |keep: &str| {
            let mut page = page.clone();
            page.retain(|key| keep.contains(key));
            page.common_storage_class().map(str::to_owned)
        };
        assert_eq!(class("az").as_deref(), Some("STANDARD"));
        assert_eq!(class("\u{e4}b").as_deref(), Some("GLACIER"));
        assert_eq!((class("a\u{e4}bz"), class("")), (None, None));
    }

    #[test]
    fn unwanted_objects_are_dropped_and_the_others_stay_as_they_were() {
        let (whole, mut kept) = (page(), page());
        kept.retain(|key| key != "a");
        assert!(kept.iter().eq(whole.iter().skip(1)));
        kept.retain(|_| true);
        assert_eq!(kept.len(), 2);
    }

    #[test]
    fn versions_stay_with_their_rows() {
        let version = |key: &str, id: &str| ListedVersion {
            key: key.to_owned(),
            version_id: id.to_owned(),
            is_latest: false,
            is_delete_marker: id == "m",
            size: 1,
            last_modified_s: 7,
            last_modified_us: 0,
            etag: String::new(),
            storage_class: String::new(),
        };
        let listed = [version("a", "1"), version("b", "m"), version("b", "2"), version("c", "3")];
        let mut page = ListPage::from_versions(&listed).unwrap();
        let rows = |page: &ListPage| -> Vec<_> {
            let row = |at| {
                (page.get(at).unwrap().key.to_owned(), page.version_id(at).unwrap().to_owned())
            };
            (0..page.len()).map(row).collect()
        };
        page.retain(|key| key != "a");
        let row = |key: &str, id: &str| (key.to_owned(), id.to_owned());
        assert_eq!(rows(&page), [row("b", "m"), row("b", "2"), row("c", "3")]);
        assert!(page.is_delete_marker(0) && !page.is_delete_marker(1));
        page.truncate(1);
        assert_eq!(rows(&page), [row("b", "m")]);
        assert_eq!((page.version_id(1), ListPage::default().version_id(0)), (None, None));
    }
}
