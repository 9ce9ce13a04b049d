//! One side of a `sync` or a comparison: its names in order, as a stream that is read one name at
//! a time.
//!
//! Behind it a walk on a thread of its own, or a listing with many requests in flight, runs ahead
//! by a bounded number of batches. Names that the filters leave out are not seen by the merge, on
//! neither side, so that they are neither transferred nor removed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use async_channel::{Receiver, Sender};

use crate::engine::core::Engine;
use crate::engine::limits::{Tasks, blocking};
use crate::engine::remove_object::Place;
use crate::fs::meta::exact_time;
use crate::fs::{LocalFile, Walk, WalkItem, WalkOptions, collapse};
use crate::location::Location;
use crate::plan::compare::{Facts, file_time_us};
use crate::plan::conditions::Conditions;
use crate::plan::filter::Filter;
use crate::plan::local_facts::facts_of_file;
use crate::script::Program;
use crate::select::script::{Batch, Selection};
use crate::source::listing::{NameListing, NamesRequest};
use crate::source::page_plan::{Found, facts_of};
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{ListPage, ListedObject};

/// Batches of files that a walk may be ahead.
const BATCHES_AHEAD: usize = 16;

/// Where the names of a side come from.
enum Source {
    Files { receiver: Receiver<Vec<WalkItem>>, batch: Vec<WalkItem> },
    Objects { listing: Box<NameListing>, page: ListPage, root: String },
}

/// A file or an object at the head of a side.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'a> {
    /// A local file.
    File(&'a LocalFile),
    /// An object, its name below the root, and its version where it is not the current one.
    Object(ListedObject<'a>, &'a str, Option<&'a str>),
}

impl<'a> Item<'a> {
    /// The object; nothing for a file.
    pub(crate) fn found(self) -> Option<Found<'a>> {
        match self {
            Self::Object(object, relative, version_id) => {
                Some(Found { object, version_id, relative, name: None, head: None })
            }
            Self::File(_) => None,
        }
    }

    /// Name below the root of its side.
    pub(crate) fn relative(&self) -> &'a str {
        match self {
            Self::File(file) => &file.relative,
            Self::Object(_, relative, _) => relative,
        }
    }

    /// A copy that outlives the batch.
    pub(crate) fn to_entry(self) -> Entry {
        match self {
            Self::File(file) => Entry::File(file.clone()),
            Self::Object(object, relative, version_id) => Entry::Object(ObjectEntry {
                key: object.key.to_owned(),
                version_id: version_id.map(str::to_owned),
                root_length: object.key.len() - relative.len(),
                size: object.size,
                last_modified: (object.last_modified_s, object.last_modified_us),
                etag: object.etag.to_owned(),
                storage_class: object.storage_class.to_owned(),
            }),
        }
    }

    /// What is compared.
    pub(crate) fn facts(&self) -> Facts {
        match self {
            Self::File(file) => {
                let (seconds, nanoseconds) = exact_time(file.modified);
                Facts { size: file.size, modified_us: file_time_us(seconds, nanoseconds) }
            }
            Self::Object(object, ..) => {
                let ListedObject { size, last_modified_s, last_modified_us, .. } = *object;
                Facts::of_object(size, last_modified_s, last_modified_us)
            }
        }
    }
}

/// A file or an object by itself.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A local file.
    File(LocalFile),
    /// An object.
    Object(ObjectEntry),
}

/// An object as it was listed.
#[derive(Clone, Debug)]
pub(crate) struct ObjectEntry {
    pub(crate) key: String,
    /// Version; the current one where absent.
    pub(crate) version_id: Option<String>,
    root_length: usize,
    pub(crate) size: u64,
    /// Seconds since 1970, and microseconds.
    last_modified: (i64, u32),
    /// With its quotes; empty where unknown.
    pub(crate) etag: String,
    storage_class: String,
}

impl ObjectEntry {
    /// An object of its own, which was asked for.
    pub(crate) fn of_head(key: String, head: ObjectHead) -> Self {
        Self {
            key,
            version_id: None,
            root_length: 0,
            size: head.size,
            last_modified: (head.last_modified_s, 0),
            etag: head.etag,
            storage_class: head.properties.storage_class.unwrap_or_default(),
        }
    }
}

impl Entry {
    /// The same as at the head of a side.
    pub(crate) fn item(&self) -> Item<'_> {
        match self {
            Self::File(file) => Item::File(file),
            Self::Object(object) => {
                let listed = ListedObject {
                    key: &object.key,
                    size: object.size,
                    last_modified_s: object.last_modified.0,
                    last_modified_us: object.last_modified.1,
                    etag: &object.etag,
                    storage_class: &object.storage_class,
                };
                let relative = &object.key[object.root_length..];
                Item::Object(listed, relative, object.version_id.as_deref())
            }
        }
    }

    /// Its name.
    pub(crate) fn location(&self, engine: &Engine, place: Place) -> Location {
        match self {
            Self::File(file) => Location::Local(file.path.clone()),
            Self::Object(object) => {
                place.version(engine, object.key.clone(), object.version_id.clone())
            }
        }
    }
}

/// What both sides have under one name.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) source: Entry,
    pub(crate) target: Entry,
}

/// The stream of one side.
pub(crate) struct SideStream {
    source: Source,
    filter: Arc<Filter>,
    selection: Option<Selection>,
    conditions: Conditions,
    index: usize,
    /// The entry at the index has been looked at and is for the merge.
    is_accepted: bool,
    is_done: bool,
    /// Name handed out last, to notice disorder.
    last: String,
    /// Names seen, also those that the filter left out; without objects that stand for folders.
    pub(crate) seen: u64,
    /// Names that are there and could not be looked at; those of folders end in `/`.
    gaps: BTreeSet<String>,
    /// Keys come down as files: `a//b` is the file `a/b`, which is there then too.
    becomes_files: bool,
}

impl SideStream {
    /// Walks a folder on a thread of its own.
    pub(crate) fn of_folder(
        folder: &str,
        mut options: WalkOptions,
        filter: Arc<Filter>,
        engine: &Arc<Engine>,
        tasks: &mut Tasks,
    ) -> Self {
        let (sender, receiver) = async_channel::bounded(BATCHES_AHEAD);
        let pruning = Arc::clone(&filter);
        options.prune = (!filter.is_all())
            .then(|| Arc::new(move |folder: &str| pruning.excludes_all_below(folder)) as _);
        let (folder, engine) = (folder.to_owned(), Arc::clone(engine));
        tasks.spawn(blocking(move || {
            walk(&mut Walk::tree(Path::new(&folder), options), &sender);
            drop(engine);
        }));
        Self::new(Source::Files { receiver, batch: Vec::new() }, filter)
    }

    /// Lists a prefix.
    pub(crate) fn of_prefix(
        engine: &Engine,
        request: NamesRequest<'_>,
        filter: Arc<Filter>,
    ) -> Self {
        let listing = Box::new(NameListing::new(engine, request));
        let (page, root) = (ListPage::default(), request.root.to_owned());
        Self::new(Source::Objects { listing, page, root }, filter)
    }

    fn new(source: Source, filter: Arc<Filter>) -> Self {
        Self {
            source,
            filter,
            selection: None,
            conditions: Conditions::default(),
            index: 0,
            is_accepted: false,
            is_done: false,
            last: String::new(),
            seen: 0,
            gaps: BTreeSet::new(),
            becomes_files: false,
        }
    }

    /// Takes names for those of the files that they become, as far as these come later in order.
    pub(crate) fn becoming_files(mut self, becomes_files: bool) -> Self {
        self.becomes_files = becomes_files;
        self
    }

    /// Has a script say what is wanted.
    pub(crate) fn selected_by(mut self, script: Option<&Program>) -> Self {
        self.selection = script.map(Selection::new);
        self
    }

    /// Has conditions say what is wanted, too.
    pub(crate) fn on_conditions(mut self, conditions: &Conditions) -> Self {
        self.conditions = conditions.clone();
        self
    }

    /// Whether the script and the conditions want what is at the head.
    pub(crate) fn is_wanted(&self) -> bool {
        self.selection.as_ref().is_none_or(|selection| selection.wants(self.index))
            && (self.conditions.is_empty() || self.head().is_some_and(|item| self.meets(&item)))
    }

    fn meets(&self, item: &Item<'_>) -> bool {
        let facts = match item {
            Item::File(file) => facts_of_file(file),
            Item::Object(object, ..) => facts_of(object),
        };
        self.conditions.takes(item.relative(), &facts)
    }

    /// Goes on to the head within what has been read; false where that does not suffice. Warnings
    /// of a walk are handed to `warn`.
    pub(crate) fn settle(&mut self, warn: impl Fn(String)) -> Result<bool> {
        while !self.is_accepted && self.index < self.batch_len() {
            self.is_accepted = self.accept(&warn)?;
            self.index += usize::from(!self.is_accepted);
        }
        Ok(self.is_accepted || self.is_done)
    }

    /// Goes on until the head is known, or that there is none. An error means that the side is not
    /// known from the last head on.
    pub(crate) async fn ready(&mut self, warn: impl Fn(String)) -> Result<()> {
        while !self.settle(&warn)? {
            self.is_done = !self.refill().await?;
        }
        Ok(())
    }

    /// The file or object at the head, once [`Self::ready`] came back; none at the end.
    pub(crate) fn head(&self) -> Option<Item<'_>> {
        match &self.source {
            Source::Files { batch, .. } => match batch.get(self.index)? {
                WalkItem::File(file) => Some(Item::File(file)),
                WalkItem::Warning(_) | WalkItem::Skipped { .. } => None,
            },
            Source::Objects { page, root, .. } => {
                let object = page.get(self.index)?;
                let relative = object.key.strip_prefix(root.as_str())?;
                Some(Item::Object(object, relative, page.version_id(self.index)))
            }
        }
    }

    /// Takes the head.
    pub(crate) fn advance(&mut self) {
        self.index += 1;
        self.is_accepted = false;
    }

    /// Whether a name may be there after all, because it or a folder above could not be looked at.
    /// Names are asked for in ascending order.
    pub(crate) fn may_have(&mut self, relative: &str) -> bool {
        // What lies before the name and is no folder around it cannot matter any more.
        while let Some(first) = self.gaps.first() {
            if first.as_str() >= relative || is_around(first, relative) {
                break;
            }
            self.gaps.pop_first();
        }
        self.gaps
            .iter()
            .take_while(|gap| gap.as_str() <= relative)
            .any(|gap| gap == relative || is_around(gap, relative))
    }

    fn batch_len(&self) -> usize {
        match &self.source {
            Source::Files { batch, .. } => batch.len(),
            Source::Objects { page, .. } => page.len(),
        }
    }

    /// Looks at the entry at the index: whether the merge is to see it.
    fn accept(&mut self, warn: &impl Fn(String)) -> Result<bool> {
        if let Source::Files { batch, .. } = &mut self.source {
            match &mut batch[self.index] {
                WalkItem::Warning(text) => {
                    warn(std::mem::take(text));
                    return Ok(false);
                }
                WalkItem::Skipped { relative, text } => {
                    let name = std::mem::take(relative);
                    // A link to nothing, say: it may be a folder again tomorrow.
                    if !name.is_empty() && !name.ends_with('/') {
                        self.gaps.insert(format!("{name}/"));
                    }
                    self.gaps.insert(name);
                    if let Some(text) = text.take() {
                        warn(text);
                    }
                    return Ok(false);
                }
                WalkItem::File(_) => {}
            }
        }
        let Some(item) = self.head().filter(|item| !is_marker(item)) else { return Ok(false) };
        let is_wanted = self.filter.includes(item.relative());
        let file = if self.becomes_files { collapse(item.relative()) } else { Cow::Borrowed("") };
        if let Cow::Owned(file) = file {
            self.gaps.insert(file);
        }
        self.seen += 1;
        if !is_wanted {
            return Ok(false);
        }
        let mut last = std::mem::take(&mut self.last);
        let relative = self.head().map_or("", |item| item.relative());
        if !last.is_empty() && relative <= last.as_str() {
            return Err(disorder(&last, relative));
        }
        last.clear();
        last.push_str(relative);
        self.last = last;
        Ok(true)
    }

    async fn refill(&mut self) -> Result<bool> {
        self.index = 0;
        let selection = self.selection.as_mut();
        match &mut self.source {
            Source::Files { receiver, batch } => {
                let next = receiver.recv().await.unwrap_or_default();
                *batch = selected(selection, next).await?;
                Ok(!batch.is_empty())
            }
            Source::Objects { listing, page, .. } => {
                let next = listing.next().await?;
                let is_more = next.is_some();
                *page = selected(selection, next.unwrap_or_default()).await?;
                Ok(is_more)
            }
        }
    }
}

/// Asks a script, if there is one, about a batch.
async fn selected<B: Batch>(selection: Option<&mut Selection>, batch: B) -> Result<B> {
    match selection {
        Some(selection) => selection.ask(batch).await,
        None => Ok(batch),
    }
}

fn walk(walk: &mut Walk, sender: &Sender<Vec<WalkItem>>) {
    while let Some(batch) = walk.next_batch() {
        if sender.send_blocking(batch).is_err() {
            return;
        }
    }
}

/// Whether an object stands for a folder: it is never transferred and never removed.
fn is_marker(item: &Item<'_>) -> bool {
    matches!(item, Item::Object(object, ..) if is_folder_marker(object))
}

/// Whether an object stands for a folder.
pub(crate) fn is_folder_marker(object: &ListedObject<'_>) -> bool {
    object.size == 0 && object.key.ends_with('/')
}

/// Whether a name is that of a folder that holds another.
fn is_around(folder: &str, name: &str) -> bool {
    (folder.is_empty() || folder.ends_with('/')) && name.starts_with(folder)
}

fn disorder(last: &str, next: &str) -> Error {
    let message = format!(
        "the listing is not in the order of keys: `{next}` came after `{last}`; nothing more is \
         compared, because what is missing could not be told from what comes late"
    );
    Error::new(ErrorKind::Server, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(gaps: &[&str]) -> SideStream {
        let (_, receiver) = async_channel::bounded(1);
        let source = Source::Files { receiver, batch: Vec::new() };
        let mut side = SideStream::new(source, Arc::new(Filter::all()));
        side.gaps = gaps.iter().map(|gap| (*gap).to_owned()).collect();
        side
    }

    #[test]
    fn names_that_could_not_be_looked_at_may_be_there() {
        let mut side = side(&["a/", "b", "c/d/", "z"]);
        let asked = ["a", "a/x", "a/y/z", "a0", "b", "b/c", "c", "c/d/e", "c/e", "y", "z"];
        let found: Vec<_> = asked.into_iter().filter(|name| side.may_have(name)).collect();
        assert_eq!(found, ["a/x", "a/y/z", "b", "c/d/e", "z"]);
    }

    #[test]
    fn a_root_that_cannot_be_read_may_have_everything() {
        let mut side = side(&[""]);
        assert!(side.may_have("a"));
        assert!(side.may_have("b/c"));
    }
}
