//! The accumulator: pages in, figures out.
//!
//! Made for hundreds of millions of objects: nothing is allocated for an object, and consecutive
//! keys of one folder or extension are added up before a table lookup.

use super::ages::Ages;
use super::counts::Counts;
use super::details::{DetailCounts, Details};
use super::groups::{Groups, depth};
use super::names::{Look, Names};
use super::ranking::{Ranking, by_time, head};
use super::sizes::Sizes;
use crate::plan::price::{STANDARD, billed_bytes};
use s3haul_wire::ops::{ListPage, ListedObject};

/// Extensions that are kept.
const EXTENSIONS_MAX: usize = 4_096;
/// Longer ones are no extensions.
const EXTENSION_BYTES_MAX: usize = 16;
/// Storage classes that are kept; S3 has about a dozen. Others count as one.
const CLASSES_MAX: usize = 64;
/// Name of the others.
pub(super) const OTHER_CLASSES: &str = "(other)";
/// What to summarize.
#[derive(Clone, Debug)]
pub struct SummaryOptions {
    /// Prefix of the listing; folders are counted from its last slash.
    pub prefix: String,
    /// Components of folders; 0 for none.
    pub depth: usize,
    /// Rows of the rankings.
    pub top: usize,
    /// The time that ages are relative to, in seconds since 1970.
    pub now_s: i64,
    /// Folders that are kept.
    pub folders_max: usize,
    /// Folders that are kept of the tree of [`Details`]; 0 for no details.
    pub tree_folders_max: usize,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        Self {
            prefix: String::new(),
            depth: 1,
            top: 10,
            now_s: 0,
            folders_max: 10_000,
            tree_folders_max: 0,
        }
    }
}

/// Figures of the objects that it was given. Summaries of pieces merge into that of the whole.
#[derive(Clone, Debug)]
pub struct Summary {
    pub(super) options: SummaryOptions,
    pub(super) total: Counts,
    pub(super) classes: Vec<(String, Counts)>,
    pub(super) below_minimum: Counts,
    pub(super) empty: u64,
    pub(super) noncurrent: Counts,
    pub(super) delete_markers: u64,
    pub(super) has_versions: bool,
    pub(super) ages: Ages,
    pub(super) sizes: Sizes,
    pub(super) names: Names,
    pub(super) largest: Ranking,
    pub(super) newest: Ranking,
    pub(super) oldest: Ranking,
    pub(super) folders: Groups,
    pub(super) extensions: Groups,
    details: Option<Box<DetailCounts>>,
    /// Length of the part of the prefix that folders are not counted in.
    base: usize,
    folder_run: Run,
    /// Whether the folder of the run has as many components as are counted.
    run_is_deepest: bool,
    extension_run: Run,
    /// Index of the class of the object before.
    class: usize,
}

/// A version of an object, or a delete marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRow<'a> {
    /// Key, size and so on.
    pub object: ListedObject<'a>,
    /// Whether it is the current one.
    pub is_latest: bool,
    /// Whether it marks that the object was removed.
    pub is_delete_marker: bool,
}

/// Consecutive objects of one name.
#[derive(Clone, Debug, Default)]
struct Run {
    name: String,
    counts: Counts,
}

impl Run {
    fn flush(&mut self, into: &mut Groups) {
        let counts = std::mem::take(&mut self.counts);
        if !counts.is_empty() {
            into.add(&self.name, &counts);
        }
    }
}

impl Summary {
    /// Of nothing yet.
    pub fn new(options: SummaryOptions) -> Self {
        Self {
            base: options.prefix.rfind('/').map_or(0, |at| at + 1),
            total: Counts::default(),
            classes: Vec::new(),
            below_minimum: Counts::default(),
            empty: 0,
            noncurrent: Counts::default(),
            delete_markers: 0,
            has_versions: false,
            ages: Ages::new(options.now_s),
            sizes: Sizes::new(),
            names: Names::new(),
            largest: Ranking::new(options.top),
            newest: Ranking::new(options.top),
            oldest: Ranking::new(options.top),
            folders: Groups::new(options.folders_max),
            extensions: Groups::new(EXTENSIONS_MAX),
            details: (options.tree_folders_max > 0).then(|| DetailCounts::new(&options).into()),
            folder_run: Run::default(),
            run_is_deepest: false,
            extension_run: Run::default(),
            class: 0,
            options,
        }
    }

    /// Adds the objects of a page. Its keys start with the prefix; their order does not matter.
    pub fn add_page(&mut self, page: &ListPage) {
        let look = Look::at(page.text_of_keys());
        for object in page.iter() {
            self.add(&object, look);
            self.add_current(&object);
        }
        self.flush();
    }

    /// Adds objects whose keys start with the prefix. Many at a time, in the order of their keys,
    /// cost least.
    pub fn add_objects<'a>(&mut self, objects: impl IntoIterator<Item = ListedObject<'a>>) {
        for object in objects {
            self.add(&object, Look::Unknown);
            self.add_current(&object);
        }
        self.flush();
    }

    /// Adds versions, each as an object, and counts the delete markers among them.
    pub fn add_versions<'a>(&mut self, versions: impl IntoIterator<Item = VersionRow<'a>>) {
        self.has_versions = true;
        for version in versions {
            if version.is_delete_marker {
                self.delete_markers += 1;
                continue;
            }
            self.add(&version.object, Look::Unknown);
            if version.is_latest {
                self.add_current(&version.object);
                continue;
            }
            self.noncurrent.add(version.object.size);
            if let Some(details) = &mut self.details {
                details.add_noncurrent(&version.object, self.class);
            }
        }
        self.flush();
    }

    /// Adds what another was given; both were made with the same options.
    pub fn merge(&mut self, mut other: Self) {
        debug_assert!(self.options.now_s == other.options.now_s, "ages of two times");
        self.flush();
        other.flush();
        self.total.merge(other.total);
        let mut classes = Vec::with_capacity(other.classes.len());
        for (class, counts) in &other.classes {
            let index = self.class_index(class);
            self.classes[index].1.merge(*counts);
            classes.push(index);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.details, other.details) {
            mine.merge(*theirs, &classes);
        }
        self.below_minimum.merge(other.below_minimum);
        self.empty += other.empty;
        self.noncurrent.merge(other.noncurrent);
        self.delete_markers += other.delete_markers;
        self.has_versions |= other.has_versions;
        self.ages.merge(&other.ages);
        self.sizes.merge(&other.sizes);
        self.names.merge(&other.names);
        self.largest.merge(other.largest);
        self.newest.merge(other.newest);
        self.oldest.merge(other.oldest);
        self.folders.merge(other.folders);
        self.extensions.merge(other.extensions);
    }

    /// The details, where they were asked for.
    pub fn details(&mut self) -> Option<Details> {
        let classes = self.classes.iter().map(|(name, _)| name.clone()).collect();
        self.details.as_mut().map(|details| details.finish(classes))
    }

    /// Objects and bytes so far.
    pub fn total(&self) -> Counts {
        self.total
    }

    fn add(&mut self, object: &ListedObject<'_>, look: Look) {
        let size = object.size;
        self.total.add(size);
        self.empty += u64::from(size == 0);
        self.add_class(object);
        self.ages.add(object.last_modified_s, size);
        self.sizes.add(size);
        self.names.add(object, look);
        let (time, head) = (by_time(object.last_modified_s), head(object.key));
        self.largest.offer(size, head, object);
        self.newest.offer(time, head, object);
        self.oldest.offer(!time, head, object);
        self.add_to_folder(object);
        self.add_to_extension(object);
        if let Some(details) = &mut self.details {
            let below = object.key.get(self.base..).unwrap_or(object.key);
            details.add(below, object, self.class);
        }
    }

    /// Counts an object that was just added as one that is current.
    fn add_current(&mut self, object: &ListedObject<'_>) {
        if let Some(details) = &mut self.details {
            details.add_current(object, self.class);
        }
    }

    fn add_class(&mut self, object: &ListedObject<'_>) {
        let class = if object.storage_class.is_empty() { STANDARD } else { object.storage_class };
        if self.classes.get(self.class).is_none_or(|(known, _)| known != class) {
            self.class = self.class_index(class);
        }
        self.classes[self.class].1.add(object.size);
        if billed_bytes(class, object.size) > object.size {
            self.below_minimum.add(object.size);
        }
    }

    fn class_index(&mut self, class: &str) -> usize {
        if let Some(index) = self.classes.iter().position(|(known, _)| known == class) {
            return index;
        }
        let class = if self.classes.len() + 1 < CLASSES_MAX { class } else { OTHER_CLASSES };
        if let Some(index) = self.classes.iter().position(|(known, _)| known == class) {
            return index;
        }
        self.classes.push((class.to_owned(), Counts::default()));
        self.classes.len() - 1
    }

    fn add_to_folder(&mut self, object: &ListedObject<'_>) {
        let below = object.key.get(self.base..).unwrap_or(object.key);
        let run = &mut self.folder_run;
        // A folder of all the components holds whatever starts with it.
        if !(self.run_is_deepest && below.starts_with(run.name.as_str())) {
            let folder = folder_of(below, self.options.depth);
            // A comparison with a text at no address traps inside the processor.
            let is_root = folder.is_empty() && run.name.is_empty();
            if !is_root && folder != run.name {
                run.flush(&mut self.folders);
                folder.clone_into(&mut run.name);
                self.run_is_deepest = !folder.is_empty() && depth(folder) == self.options.depth;
            }
        }
        run.counts.add(object.size);
    }

    fn add_to_extension(&mut self, object: &ListedObject<'_>) {
        let run = &mut self.extension_run;
        if has_extension(object.key, &run.name) {
            return run.counts.add(object.size);
        }
        let extension = extension_of(object.key);
        if !extension.eq_ignore_ascii_case(&run.name) {
            run.flush(&mut self.extensions);
            extension.clone_into(&mut run.name);
            run.name.make_ascii_lowercase();
        }
        run.counts.add(object.size);
    }

    fn flush(&mut self) {
        self.folder_run.flush(&mut self.folders);
        self.extension_run.flush(&mut self.extensions);
    }
}

/// The first components of a key, each with its slash, as far as they are folders.
pub(super) fn folder_of(key: &str, depth: usize) -> &str {
    let Some(last) = depth.checked_sub(1) else { return "" };
    let mut end = 0;
    for slash in memchr::memchr_iter(b'/', key.as_bytes()).take(last + 1) {
        end = slash + 1;
    }
    &key[..end]
}

/// Whether what [`extension_of`] finds is surely this, which is not empty and was found before.
fn has_extension(key: &str, extension: &str) -> bool {
    let stem =
        key.len().checked_sub(extension.len() + 1).map(|length| key.as_bytes().split_at(length));
    let Some((&[.., before], &[b'.', ref end @ ..])) = stem else { return false };
    !extension.is_empty() && before != b'/' && end == extension.as_bytes()
}

/// What follows the last dot of the last component; empty where that is no extension: a name
/// that begins with its only dot, nothing after the dot, a space in it, or a whole sentence.
fn extension_of(key: &str) -> &str {
    let bytes = key.as_bytes();
    let start = bytes.len().saturating_sub(EXTENSION_BYTES_MAX + 1);
    let Some(dot) = memchr::memrchr2(b'.', b'/', &bytes[start..]) else { return "" };
    let dot = start + dot;
    let is_first = dot == 0 || bytes[dot - 1] == b'/';
    let extension = &bytes[dot + 1..];
    let is_plain =
        !extension.is_empty() && extension.iter().all(|byte| *byte > b' ' && *byte != 0x7f);
    if bytes[dot] == b'.' && !is_first && is_plain { &key[dot + 1..] } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_the_first_components() {
        for (key, depth, folder) in [
            ("a/b/c", 0, ""),
            ("a/b/c", 1, "a/"),
            ("a/b/c", 2, "a/b/"),
            ("a/b/c", 9, "a/b/"),
            ("c", 1, ""),
            ("/c", 1, "/"),
            ("//c", 2, "//"),
            ("a/", 2, "a/"),
            ("", 1, ""),
        ] {
            assert_eq!(folder_of(key, depth), folder, "{key} {depth}");
        }
    }

    #[test]
    fn extensions_follow_the_last_dot_of_a_name() {
        for (key, extension) in [
            ("a.jpg", "jpg"),
            ("x.d/a.tar.GZ", "GZ"),
            ("x.d/a", ""),
            (".bashrc", ""),
            ("d/.bashrc", ""),
            ("d/.b.x", "x"),
            ("a.", ""),
            ("a.not one", ""),
            ("a.é", "é"),
            ("a.1234567890123456", "1234567890123456"),
            ("a.12345678901234567", ""),
            ("a.b/", ""),
            ("", ""),
        ] {
            assert_eq!(extension_of(key), extension, "{key}");
        }
    }
}
