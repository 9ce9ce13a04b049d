//! The folders of a listing with their figures. Pure.
//!
//! Each folder has the sums of all that is below it. Its own objects are kept up to a bound, and so
//! are all objects and all folders of a listing: beyond that a folder is *folded*, which means that
//! its sums are right and its rows have to be listed again. Memory is thus bounded by
//! [`TreeLimits`], whatever is listed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::rows::Row;

/// What is kept at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeLimits {
    /// Folders.
    pub(crate) folders: usize,
    /// Objects, all together.
    pub(crate) objects: usize,
    /// Objects of one folder.
    pub(crate) objects_per_folder: usize,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { folders: 400_000, objects: 1_000_000, objects_per_folder: 100_000 }
    }
}

/// Storage classes that are distinguished; what comes after them is one more.
const CLASSES_MAX: usize = 31;
/// Stands for the classes that are not distinguished.
const OTHER_CLASS: &str = "other";
/// Bytes of a class that are kept.
const CLASS_BYTES_MAX: usize = 32;
/// What a server means that returns no class.
const NO_CLASS: &str = "STANDARD";

/// Sums of all that is below a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Objects.
    pub(crate) objects: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// When the newest was modified, in seconds since 1970.
    pub(crate) newest_s: Option<i64>,
    /// The classes of what was seen, a bit each.
    classes: u32,
}

impl Figures {
    fn add(&mut self, size: u64, modified_s: Option<i64>, class: u8) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(size);
        self.newest_s = self.newest_s.max(modified_s);
        self.classes |= 1 << class;
    }

    fn subtract(&mut self, objects: u64, bytes: u64) {
        self.objects = self.objects.saturating_sub(objects);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// An object of a listing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Object<'a> {
    /// Key.
    pub(crate) key: &'a str,
    /// Size in bytes.
    pub(crate) size: u64,
    /// Last modification in seconds since 1970.
    pub(crate) modified_s: Option<i64>,
    /// Storage class; empty if the server returns none.
    pub(crate) class: &'a str,
}

type FolderId = u32;
const ROOT: FolderId = 0;

#[derive(Debug, Default)]
struct Folder {
    parent: FolderId,
    figures: Figures,
    children: BTreeMap<Box<str>, FolderId>,
    /// None where there are none, or where they are folded.
    objects: Option<Box<Objects>>,
    is_folded: bool,
}

/// Objects of a folder: their names one after the other, and their facts.
#[derive(Debug, Default)]
struct Objects {
    names: String,
    facts: Vec<Facts>,
}

#[derive(Clone, Copy, Debug)]
struct Facts {
    name_end: u32,
    class: u8,
    size: u64,
    modified_s: Option<i64>,
}

impl Objects {
    fn push(&mut self, name: &str, size: u64, modified_s: Option<i64>, class: u8) {
        self.names.push_str(name);
        let name_end = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.facts.push(Facts { name_end, class, size, modified_s });
    }

    /// Takes out what has one of these names, and gives its number and bytes.
    fn remove(&mut self, names: &BTreeMap<&str, u64>) -> (usize, u64) {
        let (mut kept, mut count, mut bytes) = (Self::default(), 0, 0);
        for (name, facts) in self.iter() {
            if names.contains_key(name) {
                (count, bytes) = (count + 1, bytes + facts.size);
            } else {
                kept.push(name, facts.size, facts.modified_s, facts.class);
            }
        }
        *self = kept;
        (count, bytes)
    }

    fn iter(&self) -> impl Iterator<Item = (&str, Facts)> {
        let mut start = 0;
        self.facts.iter().map(move |facts| {
            let end = facts.name_end as usize;
            let name = &self.names[start..end];
            start = end;
            (name, *facts)
        })
    }
}

/// What is known of the rows of a folder.
#[derive(Debug, Default)]
pub(crate) struct FolderRows {
    /// Folders, and objects as far as they are kept.
    pub(crate) rows: Vec<Row>,
    /// Some of it has to be listed again.
    pub(crate) is_folded: bool,
}

/// How far the listing has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Listing {
    /// It goes on.
    #[default]
    Running,
    /// All is listed.
    Complete,
    /// It ended early, for this reason.
    Failed(String),
}

/// The folders below a prefix.
#[derive(Debug)]
pub(crate) struct Tree {
    root: String,
    folders: Vec<Folder>,
    classes: Vec<Box<str>>,
    objects_kept: usize,
    limits: TreeLimits,
    /// The folder of the last object, which is that of the next one most of the time.
    last: (String, FolderId),
    /// How far the listing has come.
    pub(crate) listing: Listing,
}

impl Tree {
    /// An empty one of what is listed with a prefix.
    pub(crate) fn new(prefix: &str) -> Self {
        Self::with_limits(prefix, TreeLimits::default())
    }

    fn with_limits(prefix: &str, limits: TreeLimits) -> Self {
        let root = prefix[..prefix.rfind('/').map_or(0, |slash| slash + 1)].to_owned();
        Self {
            last: (root.clone(), ROOT),
            root,
            folders: vec![Folder::default()],
            classes: Vec::new(),
            objects_kept: 0,
            limits,
            listing: Listing::Running,
        }
    }

    /// Path of the topmost folder: what all keys begin with, up to a slash.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Sums of all.
    pub(crate) fn totals(&self) -> Figures {
        self.folders[ROOT as usize].figures
    }

    /// Sums of a folder, if it is there.
    pub(crate) fn figures(&self, path: &str) -> Option<Figures> {
        self.find(path).map(|id| self.folders[id as usize].figures)
    }

    /// Adds an object. One outside of the root is left out.
    pub(crate) fn add(&mut self, object: &Object<'_>) {
        let Object { key, size, modified_s, class } = *object;
        if !key.starts_with(&self.root) {
            return;
        }
        let (path, name) = key.split_at(key.rfind('/').map_or(0, |slash| slash + 1));
        let class = self.class(class);
        let (id, is_exact) = self.folder(path);
        let mut above = id;
        loop {
            let folder = &mut self.folders[above as usize];
            folder.figures.add(size, modified_s, class);
            if above == ROOT {
                break;
            }
            above = folder.parent;
        }
        if is_exact {
            self.keep(id, name, size, modified_s, class);
        } else {
            self.fold(id);
        }
    }

    fn keep(&mut self, id: FolderId, name: &str, size: u64, modified_s: Option<i64>, class: u8) {
        let folder = &mut self.folders[id as usize];
        if folder.is_folded {
            return;
        }
        let objects = folder.objects.get_or_insert_default();
        let has_room = objects.facts.len() < self.limits.objects_per_folder
            && self.objects_kept < self.limits.objects;
        if has_room {
            objects.push(name, size, modified_s, class);
            self.objects_kept += 1;
        } else {
            self.fold(id);
        }
    }

    /// Keeps no rows of a folder any more: some would be missing.
    fn fold(&mut self, id: FolderId) {
        let folder = &mut self.folders[id as usize];
        let kept = folder.objects.take();
        self.objects_kept -= kept.map_or(0, |objects| objects.facts.len());
        folder.is_folded = true;
    }

    /// The folder of a path, made where there is room, or else the one above that is there.
    fn folder(&mut self, path: &str) -> (FolderId, bool) {
        if self.last.0 == path {
            return (self.last.1, true);
        }
        let mut id = ROOT;
        for name in path[self.root.len()..].split_terminator('/') {
            if let Some(child) = self.folders[id as usize].children.get(name) {
                id = *child;
                continue;
            }
            if self.folders.len() >= self.limits.folders {
                return (id, false);
            }
            let child = FolderId::try_from(self.folders.len()).unwrap_or(FolderId::MAX);
            self.folders.push(Folder { parent: id, ..Folder::default() });
            self.folders[id as usize].children.insert(name.into(), child);
            id = child;
        }
        path.clone_into(&mut self.last.0);
        self.last.1 = id;
        (id, true)
    }

    fn find(&self, path: &str) -> Option<FolderId> {
        let (id, is_exact) = path.starts_with(&self.root).then(|| self.nearest(path))?;
        is_exact.then_some(id)
    }

    fn class(&mut self, class: &str) -> u8 {
        let class = if class.is_empty() { NO_CLASS } else { class };
        let class = &class[..class.floor_char_boundary(CLASS_BYTES_MAX)];
        let found = self.classes.iter().position(|known| **known == *class);
        let place = found.unwrap_or_else(|| {
            if self.classes.len() <= CLASSES_MAX {
                let is_last = self.classes.len() == CLASSES_MAX;
                self.classes.push(if is_last { OTHER_CLASS } else { class }.into());
            }
            self.classes.len() - 1
        });
        u8::try_from(place).unwrap_or(u8::MAX)
    }

    /// What is known of the rows of a folder; folders without objects are left out.
    pub(crate) fn rows(&self, path: &str) -> Option<FolderRows> {
        let folder = &self.folders[self.find(path)? as usize];
        let mut labels = Labels { classes: &self.classes, known: BTreeMap::new() };
        let mut rows = Vec::with_capacity(folder.children.len());
        for (name, id) in &folder.children {
            let figures = self.folders[*id as usize].figures;
            if figures.objects > 0 {
                rows.push(Row {
                    name: name.clone(),
                    is_folder: true,
                    size: Some(figures.bytes),
                    objects: Some(figures.objects),
                    modified_s: figures.newest_s,
                    class: labels.of(figures.classes),
                });
            }
        }
        for (name, facts) in folder.objects.iter().flat_map(|objects| objects.iter()) {
            rows.push(Row {
                name: name.into(),
                is_folder: false,
                size: Some(facts.size),
                objects: None,
                modified_s: facts.modified_s,
                class: labels.of(1 << facts.class),
            });
        }
        Some(FolderRows { rows, is_folded: folder.is_folded })
    }

    /// Takes objects out that were removed: keys and sizes. Of a folded folder all are taken off,
    /// of others those that are there.
    pub(crate) fn remove(&mut self, removed: &[(String, u64)]) {
        let mut folders: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for (key, size) in removed.iter().filter(|(key, _)| key.starts_with(&self.root)) {
            let (path, name) = key.split_at(key.rfind('/').map_or(0, |slash| slash + 1));
            folders.entry(path).or_default().insert(name, *size);
        }
        for (path, names) in folders {
            let (id, is_exact) = self.nearest(path);
            let folder = &mut self.folders[id as usize];
            let less = match folder.objects.as_mut().filter(|_| is_exact) {
                Some(objects) => {
                    let (count, bytes) = objects.remove(&names);
                    self.objects_kept -= count;
                    (count as u64, bytes)
                }
                None if folder.is_folded => (names.len() as u64, names.values().sum()),
                None => (0, 0),
            };
            self.take_off(id, less);
        }
    }

    /// The lowest folder of a path that is there, and whether it is that of the whole path.
    fn nearest(&self, path: &str) -> (FolderId, bool) {
        let mut id = ROOT;
        for name in path[self.root.len()..].split_terminator('/') {
            let Some(child) = self.folders[id as usize].children.get(name) else {
                return (id, false);
            };
            id = *child;
        }
        (id, true)
    }

    fn take_off(&mut self, mut id: FolderId, (objects, bytes): (u64, u64)) {
        loop {
            let folder = &mut self.folders[id as usize];
            folder.figures.subtract(objects, bytes);
            if id == ROOT {
                return;
            }
            id = folder.parent;
        }
    }
}

/// A tree that a listing fills while it is shown.
#[derive(Clone, Debug)]
pub(crate) struct SharedTree(Arc<Mutex<Tree>>);

impl SharedTree {
    /// An empty one of what is listed with a prefix.
    pub(crate) fn new(prefix: &str) -> Self {
        Self(Arc::new(Mutex::new(Tree::new(prefix))))
    }

    /// The tree, which nothing else reads or changes meanwhile.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Classes as they are shown, made once for each combination.
struct Labels<'a> {
    classes: &'a [Box<str>],
    known: BTreeMap<u32, Arc<str>>,
}

impl Labels<'_> {
    fn of(&mut self, mask: u32) -> Arc<str> {
        let classes = self.classes;
        let label = self.known.entry(mask).or_insert_with(|| {
            let first = classes.get(mask.trailing_zeros() as usize).map_or("", |class| class);
            match mask.count_ones() {
                0 | 1 => first.into(),
                count => format!("{first} +{}", count - 1).into(),
            }
        });
        Arc::clone(label)
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
