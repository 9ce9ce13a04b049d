//! What a report that people look at needs beside the figures: folders to any depth by storage
//! class and age, and what has not been written for long.

use s3haul_wire::ops::ListedObject;

use super::ages::{AGE_LIMITS, age_index};
use super::counts::Counts;
use super::summarize::SummaryOptions;
use super::tree::{Contents, FolderTree, TreeFolder, TreeObject};
use crate::plan::price::{BILLED_BYTES_MIN, billed_bytes};

/// The details of a [`Summary`](super::Summary).
#[derive(Clone, Debug)]
pub struct Details {
    /// Names of the classes that kinds are numbers of.
    pub classes: Vec<String>,
    /// Folders in the order of their names, from the prefix's last slash; first comes the root.
    pub folders: Vec<TreeFolder>,
    /// Whether folders were merged into those above, so that some may be missing.
    pub folders_merged: bool,
    /// Noncurrent versions by class.
    pub noncurrent: Contents,
    /// Current objects of 128 KiB and more by class and age: smaller ones are not worth another
    /// class.
    pub idle: Vec<IdleCounts>,
}

/// Large objects of one class by age.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleCounts {
    /// The class.
    pub kind: u8,
    /// Counts as [`AGE_LIMITS`] has the ages.
    pub ages: [Counts; AGE_LIMITS.len()],
}

/// The details while objects are added.
#[derive(Clone, Debug)]
pub(super) struct DetailCounts {
    now_s: i64,
    tree: FolderTree,
    noncurrent: Contents,
    idle: Vec<IdleCounts>,
}

impl DetailCounts {
    pub(super) fn new(options: &SummaryOptions) -> Self {
        Self {
            now_s: options.now_s,
            tree: FolderTree::new(options.tree_folders_max),
            noncurrent: Contents::default(),
            idle: Vec::new(),
        }
    }

    fn object(&self, object: &ListedObject<'_>, class: usize) -> TreeObject {
        TreeObject {
            kind: u8::try_from(class).unwrap_or(u8::MAX),
            bytes: object.size,
            billed_bytes: billed_bytes(object.storage_class, object.size),
            age_s: u64::try_from(self.now_s.saturating_sub(object.last_modified_s)).unwrap_or(0),
        }
    }

    /// Adds an object with this path, whose class has this number.
    pub(super) fn add(&mut self, path: &str, object: &ListedObject<'_>, class: usize) {
        let counted = self.object(object, class);
        self.tree.add(path, counted);
    }

    /// Adds one that is current to those that another class may be cheaper for.
    pub(super) fn add_current(&mut self, object: &ListedObject<'_>, class: usize) {
        if object.size >= BILLED_BYTES_MIN {
            let age = age_index(self.now_s.saturating_sub(object.last_modified_s));
            let kind = u8::try_from(class).unwrap_or(u8::MAX);
            self.idle_of(kind).ages[age].add(object.size);
        }
    }

    fn idle_of(&mut self, kind: u8) -> &mut IdleCounts {
        let at = usize::from(kind);
        while self.idle.len() <= at {
            let kind = u8::try_from(self.idle.len()).unwrap_or(u8::MAX);
            self.idle.push(IdleCounts { kind, ..IdleCounts::default() });
        }
        &mut self.idle[at]
    }

    /// Adds a noncurrent version to those.
    pub(super) fn add_noncurrent(&mut self, object: &ListedObject<'_>, class: usize) {
        let counted = self.object(object, class);
        self.noncurrent.add(counted);
    }

    /// Adds all of another, whose classes have these numbers here.
    pub(super) fn merge(&mut self, other: Self, classes: &[usize]) {
        let kind = |class: &usize| u8::try_from(*class).unwrap_or(u8::MAX);
        let kinds: Vec<u8> = classes.iter().map(kind).collect();
        self.tree.merge(other.tree, &kinds);
        self.noncurrent.absorb_renumbered(other.noncurrent, &kinds);
        for theirs in other.idle {
            let kind = kinds.get(usize::from(theirs.kind)).copied().unwrap_or(theirs.kind);
            for (mine, counts) in self.idle_of(kind).ages.iter_mut().zip(theirs.ages) {
                mine.merge(counts);
            }
        }
    }

    pub(super) fn finish(&mut self, classes: Vec<String>) -> Details {
        Details {
            classes,
            folders: self.tree.folders(),
            folders_merged: self.tree.is_merged(),
            noncurrent: self.noncurrent.clone(),
            idle: self.idle.clone(),
        }
    }
}
