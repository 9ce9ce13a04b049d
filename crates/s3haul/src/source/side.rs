//! One side of a `sync` or a comparison: its names in order, as a stream that is read one name at
//! a time.
//!
//! Behind it a walk on a thread of its own, or a listing with many requests in flight, runs ahead
//! by a bounded number of batches. Names that the filters leave out are not seen by the merge, on
//! neither side, so that they are neither transferred nor removed.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::hints::NamesAhead;
use super::listing::{NameListing, NamesRequest, disorder};
use super::walk::FileStream;
use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::engine::object::head_at;
use crate::entry::{Entry, EntryBatch, OwnedEntry, Root};
use crate::fs::{FileBatch, FileInfo, WalkOptions, collapse};
use crate::plan::conditions::Conditions;
use crate::plan::filter::Filter;
use crate::script::Program;
use crate::select::script::Selection;
use s3haul_list::KeyRange;
use s3haul_wire::error::Result;

/// Files remembered at most that have other names than their keys; with more, no file that could be
/// such a one is removed.
const RESPELLED_MAX: usize = 1_000_000;

/// Where the names of a side come from.
enum Source {
    Files(FileStream),
    Objects { listing: Box<NameListing>, root: Arc<Root> },
}

/// What both sides have under one name.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) source: OwnedEntry,
    pub(crate) target: OwnedEntry,
}

/// The object that a key has at the target; `None` if it does not exist.
pub(crate) async fn target_object(engine: &Engine, key: &str) -> Result<Option<OwnedEntry>> {
    match head_at(engine, Place::Target, key, None).await {
        Ok(head) => OwnedEntry::of_head((key, None, &head)).map(Some),
        Err(error) if error.is_missing_object() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A file as it is now; `None` if it does not exist.
pub(crate) async fn file_now(path: &Path) -> Option<OwnedEntry> {
    let path = path.to_owned();
    blocking(move || {
        let info = FileInfo::of_path(&path).ok()?;
        let mut files = FileBatch::of_file(&path);
        files.push(path.file_name()?.to_str()?, &info);
        OwnedEntry::of_row(&EntryBatch::Files(files), 0)
    })
    .await
}

/// The stream of one side.
pub(crate) struct SideStream {
    source: Source,
    batch: EntryBatch,
    filter: Arc<Filter>,
    selection: Option<Selection>,
    conditions: Conditions,
    /// The row of the batch that is the head, or may become it.
    row: usize,
    /// The entry of the row is for the merge.
    is_accepted: bool,
    is_done: bool,
    /// Name handed out last, to notice disorder.
    last: String,
    /// Names seen, also those that the filter left out; without objects that stand for folders.
    pub(crate) seen: u64,
    /// Names that are there and could not be looked at; those of folders end in `/`.
    gaps: BTreeSet<String>,
    /// Whether a walk could not look at something.
    pub(crate) has_gaps: bool,
    /// Keys come down as files: `a//b` is the file `a/b`, which is there then too.
    becomes_files: bool,
    /// Files of such keys whose own names come before the keys.
    respelled: HashSet<String>,
    /// What the merge is to see.
    range: KeyRange,
    /// Folders that the merge is not to see, with a `/` at their end: those of journals.
    left_out: Vec<String>,
}

impl SideStream {
    /// Walks a folder on a thread of its own.
    pub(crate) fn of_folder(
        folder: &str,
        options: WalkOptions,
        filter: Arc<Filter>,
        engine: &Arc<Engine>,
        ahead: &Arc<NamesAhead>,
    ) -> Self {
        let ahead = Some(Arc::clone(ahead));
        let files = FileStream::of_folder(engine, folder, &filter, options, ahead);
        Self::new(Source::Files(files), filter)
    }

    /// Lists a prefix.
    pub(crate) fn of_prefix(
        engine: &Engine,
        request: NamesRequest<'_>,
        filter: Arc<Filter>,
    ) -> Self {
        let root = Arc::new(Root::Prefix(request.root.to_owned()));
        let listing = Box::new(NameListing::new(engine, request));
        Self::new(Source::Objects { listing, root }, filter)
    }

    fn new(source: Source, filter: Arc<Filter>) -> Self {
        Self {
            source,
            batch: EntryBatch::empty(),
            filter,
            selection: None,
            conditions: Conditions::default(),
            row: 0,
            is_accepted: false,
            is_done: false,
            last: String::new(),
            seen: 0,
            gaps: BTreeSet::new(),
            has_gaps: false,
            becomes_files: false,
            respelled: HashSet::new(),
            range: KeyRange::default(),
            left_out: Vec::new(),
        }
    }

    /// Hides folders from the merge, whose names end in `/`.
    #[must_use]
    pub(crate) fn without(self, left_out: Vec<String>) -> Self {
        Self { left_out, ..self }
    }

    /// Shows the merge a range of names only. Others are counted as seen.
    #[must_use]
    pub(crate) fn within(self, range: KeyRange) -> Self {
        Self { range, ..self }
    }

    /// Whether a file may be that of a key that is spelled otherwise and was seen after the place
    /// of its own name, as `a//-b` comes after `a/-b`.
    pub(crate) fn may_be_respelled(&self, file: &str) -> bool {
        self.respelled.len() >= RESPELLED_MAX || self.respelled.contains(file)
    }

    /// Takes names for those of the files that they become: those that come later in order are
    /// there by then, for the others see [`Self::may_be_respelled`].
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
        self.selection.as_ref().is_none_or(|selection| selection.wants(self.row))
            && (self.conditions.is_empty() || self.head().is_some_and(|entry| self.meets(&entry)))
    }

    fn meets(&self, entry: &Entry<'_>) -> bool {
        self.conditions.takes(entry.relative(), &entry.condition_facts())
    }

    /// The last name that the merge has gone past, where there is no head now and more may come.
    pub(crate) fn last_visited(&self) -> Option<&str> {
        (!self.is_accepted && !self.is_done).then_some(self.last.as_str())
    }

    /// Counts names that an earlier run has seen.
    #[must_use]
    pub(crate) fn having_seen(self, seen: u64) -> Self {
        Self { seen, ..self }
    }

    /// Goes on to the head within what has been read; false where that does not suffice.
    pub(crate) fn fill_buffered(&mut self) -> Result<bool> {
        while !self.is_accepted && self.row < self.batch.len() {
            self.is_accepted = self.accept()?;
            self.row += usize::from(!self.is_accepted);
        }
        Ok(self.is_accepted || self.is_done)
    }

    /// Goes on until the head is known, or that there is none. Warnings of a walk are handed to
    /// `warn`. An error means that the side is not known from the last head on.
    pub(crate) async fn fill(&mut self, warn: impl Fn(String)) -> Result<()> {
        while !self.fill_buffered()? {
            self.is_done = !self.read(&warn).await?;
        }
        Ok(())
    }

    /// The entry at the head, once [`Self::fill`] came back; `None` at the end.
    pub(crate) fn head(&self) -> Option<Entry<'_>> {
        self.batch.get(self.row)
    }

    /// The head as a row of its batch.
    pub(crate) fn head_row(&self) -> (&EntryBatch, usize) {
        (&self.batch, self.row)
    }

    /// A copy of the head that outlives its batch.
    pub(crate) fn head_owned(&self) -> Option<OwnedEntry> {
        OwnedEntry::of_row(&self.batch, self.row)
    }

    /// Takes the head.
    pub(crate) fn advance(&mut self) {
        self.row += 1;
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

    /// Whether the merge is to see the entry of the row.
    fn accept(&mut self) -> Result<bool> {
        let Some(entry) = self.batch.get(self.row).filter(|entry| !is_marker(entry)) else {
            return Ok(false);
        };
        let relative = entry.relative();
        let is_left_out = |folder: &String| {
            relative.starts_with(folder) || collapse(relative).starts_with(folder)
        };
        let is_wanted = self.filter.includes(relative) && !self.left_out.iter().any(is_left_out);
        if self.becomes_files {
            note_file(relative, &mut self.gaps, &mut self.respelled);
        }
        self.seen += 1;
        if !self.range.reaches(relative) {
            (self.is_done, self.row) = (true, self.batch.len());
            return Ok(false);
        }
        if !is_wanted || !self.range.contains(relative) {
            return Ok(false);
        }
        if !self.last.is_empty() && relative <= self.last.as_str() {
            return Err(disorder(&self.last, relative));
        }
        self.last.clear();
        self.last.push_str(relative);
        Ok(true)
    }

    /// Reads the next batch; false at the end.
    async fn read(&mut self, warn: &impl Fn(String)) -> Result<bool> {
        self.row = 0;
        let next = match &mut self.source {
            Source::Files(files) => files.next().await.map(|mut batch| {
                batch.warnings.drain(..).for_each(warn);
                self.has_gaps |= !batch.gaps.is_empty();
                for name in batch.gaps.drain(..) {
                    // A link to nothing, say: it may be a folder again tomorrow.
                    if !name.is_empty() && !name.ends_with('/') {
                        self.gaps.insert(format!("{name}/"));
                    }
                    self.gaps.insert(name);
                }
                EntryBatch::Files(batch)
            }),
            Source::Objects { listing, root } => {
                let page = listing.next().await?;
                page.map(|page| EntryBatch::Objects { page, root: Arc::clone(root) })
            }
        };
        let is_more = next.is_some();
        self.batch = next.unwrap_or_else(EntryBatch::empty);
        if let Some(selection) = &mut self.selection {
            let batch = std::mem::replace(&mut self.batch, EntryBatch::empty());
            self.batch = selection.apply(batch).await?;
        }
        Ok(is_more)
    }
}

/// Whether an entry is an object that stands for a folder: it is never transferred and never
/// removed.
fn is_marker(entry: &Entry<'_>) -> bool {
    matches!(entry, Entry::Object(object) if object.listed.is_folder_marker())
}

/// Notes the file of a key that is spelled otherwise. Keys that begin with `/` are not received,
/// but the AWS tools may have received them.
fn note_file(key: &str, gaps: &mut BTreeSet<String>, respelled: &mut HashSet<String>) {
    let below = key.trim_start_matches('/');
    let file = collapse(below);
    if below.len() == key.len() && matches!(file, Cow::Borrowed(_)) {
        return;
    }
    if may_follow(&file) && respelled.len() < RESPELLED_MAX {
        respelled.insert(file.as_ref().to_owned());
    }
    gaps.insert(file.into_owned());
}

/// Whether the file of a key with an empty or `.` component more could have this name, and the key
/// come later in order.
pub(crate) fn may_follow(file: &str) -> bool {
    file.split('/').any(|part| part.as_bytes().first().is_some_and(|first| *first < b'/'))
}

/// Whether a name is that of a folder that holds another.
fn is_around(folder: &str, name: &str) -> bool {
    (folder.is_empty() || folder.ends_with('/')) && name.starts_with(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(gaps: &[&str]) -> SideStream {
        let source = Source::Files(FileStream::empty());
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
