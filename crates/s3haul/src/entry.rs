//! Entries: the objects, versions and files that a source gives, in batches of columns.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::engine::core::{Engine, Place};
use crate::fs::meta::{exact_time, nanoseconds};
use crate::fs::{FileBatch, LocalFile};
use crate::journal::state::Mark;
use crate::journal::{Journal, Subject};
use crate::location::Location;
use crate::plan::compare::{Facts, file_time_us};
use crate::plan::conditions::ObjectFacts;
use crate::plan::expected::{Expected, State};
use crate::plan::price::STANDARD;
use s3haul_wire::ObjectHead;
use s3haul_wire::error::Result;
use s3haul_wire::ops::{ListPage, ListedObject};

/// Entries that were read together. A row is an ordinal: the number of an entry in its batch.
#[derive(Debug)]
pub(crate) enum EntryBatch {
    /// Files of a tree.
    Files(FileBatch),
    /// Objects, or versions and delete markers.
    Objects {
        /// Their columns.
        page: ListPage,
        /// What their keys mean in the job.
        root: Arc<Root>,
    },
}

/// How keys become names of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A name is what follows this prefix; other keys are no entries.
    Prefix(String),
    /// There is one key, and this is its name.
    Key { key: String, name: String },
}

impl Root {
    /// Name of a key; `None` for a key that is not of the source.
    pub(crate) fn name_of<'a>(&'a self, key: &'a str) -> Option<&'a str> {
        match self {
            Self::Prefix(prefix) => key.strip_prefix(prefix.as_str()),
            Self::Key { key: own, name } => (key == own).then_some(name.as_str()),
        }
    }
}

/// A batch as a source gives it.
#[derive(Debug)]
pub(crate) struct SourceBatch {
    pub(crate) entries: EntryBatch,
    /// Headers of the objects that were asked for one by one, by row; may end early.
    pub(crate) heads: Vec<Option<Box<ObjectHead>>>,
    /// What a plan found, by row; empty where no plan is done.
    pub(crate) expected: Vec<Option<Box<Expected>>>,
    pub(crate) preselected: Preselected,
}

/// How much of the selection a source has made already.
#[derive(Debug)]
pub(crate) enum Preselected {
    /// Nothing.
    No,
    /// The command names the one entry, which may be of any kind.
    Entry,
    /// All: an earlier run selected these entries, under these names at the target where they are
    /// not those that the job would give, by row.
    Names(Vec<Option<String>>),
}

impl SourceBatch {
    /// Entries as a listing or a walk gives them.
    pub(crate) fn listed(entries: EntryBatch) -> Self {
        let (heads, expected) = (Vec::new(), Vec::new());
        Self { entries, heads, expected, preselected: Preselected::No }
    }
}

/// An entry of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'a> {
    /// A local file.
    File(LocalFile<'a>),
    /// An object, a version or a delete marker.
    Object(ObjectEntry<'a>),
}

/// An object, a version or a delete marker as it was listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectEntry<'a> {
    pub(crate) listed: ListedObject<'a>,
    /// Name below the root of the source.
    pub(crate) relative: &'a str,
    /// Version; the current one where absent.
    pub(crate) version_id: Option<&'a str>,
    pub(crate) is_delete_marker: bool,
}

impl EntryBatch {
    /// A batch without entries.
    pub(crate) fn empty() -> Self {
        Self::Files(FileBatch::default())
    }

    /// Objects that were asked for one by one: key, version and headers of each.
    pub(crate) fn of_heads<'a>(
        objects: impl IntoIterator<Item = (&'a str, Option<&'a str>, &'a ObjectHead)>,
        root: Arc<Root>,
    ) -> Result<Self> {
        let listed = |(key, version_id, head)| (listed_as(key, head), version_id);
        let page = ListPage::from_objects_or_versions(objects.into_iter().map(listed))?;
        Ok(Self::Objects { page, root })
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Files(files) => files.len(),
            Self::Objects { page, .. } => page.len(),
        }
    }

    /// The entry of a row; `None` where its key is not of the source.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<Entry<'_>> {
        match self {
            Self::Files(files) => files.get(row).map(Entry::File),
            Self::Objects { page, root } => {
                let listed = page.get(row)?;
                Some(Entry::Object(ObjectEntry {
                    listed,
                    relative: root.name_of(listed.key)?,
                    version_id: page.version_id(row),
                    is_delete_marker: page.is_delete_marker(row),
                }))
            }
        }
    }

    /// The entry of the last row.
    pub(crate) fn last(&self) -> Option<Entry<'_>> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Rows and their entries, without keys that are not of the source.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, Entry<'_>)> + Clone {
        (0..self.len()).filter_map(|row| Some((row, self.get(row)?)))
    }
}

impl<'a> Entry<'a> {
    /// Name below the root of the source.
    #[inline]
    pub(crate) fn relative(&self) -> &'a str {
        match self {
            Self::File(file) => file.relative,
            Self::Object(object) => object.relative,
        }
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::File(file) => file.size,
            Self::Object(object) => object.listed.size,
        }
    }

    /// What the two sides of a comparison are compared by.
    pub(crate) fn facts(&self) -> Facts {
        match self {
            Self::File(file) => {
                let (seconds, nanoseconds) = exact_time(file.modified);
                Facts { size: file.size, modified_us: file_time_us(seconds, nanoseconds) }
            }
            Self::Object(object) => {
                let ListedObject { size, last_modified_s, last_modified_us, .. } = object.listed;
                Facts::of_object(size, last_modified_s, last_modified_us)
            }
        }
    }

    /// What a plan says of it.
    pub(crate) fn state(&self) -> State {
        match self {
            Self::File(file) => State::of_file(file.size, nanoseconds(file.modified)),
            Self::Object(object) => State {
                size: object.listed.size,
                modified_ns: self.facts().modified_us.saturating_mul(1000),
                etag: object.listed.etag.to_owned(),
                version_id: object.version_id.map(str::to_owned),
                storage_class: object.listed.storage_class.to_owned(),
            },
        }
    }

    /// What conditions are about.
    pub(crate) fn condition_facts(&self) -> ObjectFacts<'a> {
        match self {
            Self::File(file) => facts_of_file(file.size, file.modified),
            Self::Object(object) if object.is_delete_marker => ObjectFacts {
                size: None,
                modified_s: object.listed.last_modified_s,
                storage_class: None,
            },
            Self::Object(object) => facts_of_object(&object.listed),
        }
    }

    /// What scripts see.
    pub(crate) fn script_object(&self) -> ListedObject<'a> {
        match self {
            Self::File(file) => {
                let since = file.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
                ListedObject {
                    key: file.relative,
                    size: file.size,
                    last_modified_s: i64::try_from(since.as_secs()).unwrap_or_default(),
                    ..ListedObject::default()
                }
            }
            Self::Object(object) => object.listed,
        }
    }

    /// Its name in events.
    pub(crate) fn location(&self, engine: &Engine, place: Place) -> Location {
        match self {
            Self::File(file) => Location::Local(file.path()),
            Self::Object(object) => {
                let version_id = object.version_id.map(str::to_owned);
                place.version(engine, object.listed.key.to_owned(), version_id)
            }
        }
    }

    /// What stands for it in a journal.
    pub(crate) fn mark(&self, journal: &Journal, is_removal: bool) -> Mark {
        match self {
            Self::File(file) => journal.mark(Subject::File(&file.path()), is_removal),
            Self::Object(object) => {
                journal.mark(Subject::Object(object.listed.key, object.version_id), is_removal)
            }
        }
    }

    /// The object; `None` for a file.
    pub(crate) fn object(self) -> Option<ObjectEntry<'a>> {
        match self {
            Self::Object(object) => Some(object),
            Self::File(_) => None,
        }
    }

    /// The file; `None` for an object.
    pub(crate) fn file(self) -> Option<LocalFile<'a>> {
        match self {
            Self::File(file) => Some(file),
            Self::Object(_) => None,
        }
    }
}

/// An object as a listing would have it. Of the class `STANDARD` headers say nothing
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html>).
pub(crate) fn listed_as<'a>(key: &'a str, head: &'a ObjectHead) -> ListedObject<'a> {
    ListedObject {
        key,
        size: head.size,
        last_modified_s: head.last_modified_s,
        etag: &head.etag,
        storage_class: head.properties.storage_class.as_deref().unwrap_or(STANDARD),
        ..ListedObject::default()
    }
}

/// What conditions are about where this is listed.
pub(crate) fn facts_of_object<'a>(object: &ListedObject<'a>) -> ObjectFacts<'a> {
    ObjectFacts {
        size: Some(object.size),
        modified_s: object.last_modified_s,
        storage_class: Some(object.storage_class),
    }
}

/// What conditions are about where a file has this size and time. Times of objects are whole
/// seconds, which is no difference to conditions, whose moments are.
pub(crate) fn facts_of_file(size: u64, modified: SystemTime) -> ObjectFacts<'static> {
    let whole = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    let modified_s = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => whole(after),
        Err(before) => {
            let before = before.duration();
            -whole(before) - i64::from(before.subsec_nanos() > 0)
        }
    };
    ObjectFacts { size: Some(size), modified_s, storage_class: None }
}

/// One entry that outlives its batch. It has a row of its own, because a pair that takes long to
/// compare must not hold the thousand others that were listed with it.
#[derive(Debug)]
pub(crate) struct OwnedEntry(EntryBatch);

impl OwnedEntry {
    /// Copies the entry of a row; `None` where there is none.
    pub(crate) fn of_row(batch: &EntryBatch, row: usize) -> Option<Self> {
        batch.get(row)?;
        Some(Self(match batch {
            EntryBatch::Files(files) => EntryBatch::Files(files.only(row)),
            EntryBatch::Objects { page, root } => {
                EntryBatch::Objects { page: page.only(row), root: Arc::clone(root) }
            }
        }))
    }

    /// An object that was asked for by its key.
    pub(crate) fn of_head(object: (&str, Option<&str>, &ObjectHead)) -> Result<Self> {
        let root = Arc::new(Root::Prefix(String::new()));
        Ok(Self(EntryBatch::of_heads([object], root)?))
    }

    /// A copy.
    pub(crate) fn duplicate(&self) -> Self {
        Self::of_row(&self.0, 0).unwrap_or_else(|| unreachable!("there is a row"))
    }

    /// The batch, of which it is the first row.
    pub(crate) fn batch(&self) -> &EntryBatch {
        &self.0
    }

    /// The entry.
    pub(crate) fn get(&self) -> Entry<'_> {
        match self.0.get(0) {
            Some(entry) => entry,
            None => unreachable!("there is a row, and its key is of the source"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_down_also_before_1970() {
        let half = Duration::from_millis(1500);
        let seconds = |time| facts_of_file(0, time).modified_s;
        assert_eq!(seconds(UNIX_EPOCH + half), 1);
        assert_eq!(seconds(UNIX_EPOCH - half), -2);
        assert_eq!(seconds(UNIX_EPOCH - Duration::from_secs(2)), -2);
    }

    #[test]
    fn an_entry_on_its_own_is_the_entry_of_its_row() {
        let object = |key, etag| ListedObject { key, size: 7, etag, ..ListedObject::default() };
        let page =
            ListPage::from_objects([object("p/a", "1"), object("x", ""), object("p/b", "2")]);
        let root = Arc::new(Root::Prefix("p/".to_owned()));
        let batch = EntryBatch::Objects { page: page.unwrap(), root };
        let rows: Vec<_> = batch.iter().map(|(row, entry)| (row, entry.relative())).collect();
        assert_eq!(rows, [(0, "a"), (2, "b")], "a key that is not of the source is no entry");
        for (row, entry) in batch.iter() {
            let own = OwnedEntry::of_row(&batch, row).unwrap();
            let listed = |entry: Entry<'_>| entry.object().unwrap().listed.etag.to_owned();
            assert_eq!(own.get().relative(), entry.relative());
            assert_eq!(listed(own.get()), listed(entry));
        }
        assert!(OwnedEntry::of_row(&batch, 1).is_none());
    }
}
