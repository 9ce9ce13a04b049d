//! Folders to any depth with what is in them by kind and age, in bounded memory.
//!
//! A kind is whatever the caller distinguishes by a small number: storage classes, actions, ways
//! in which two sides differ.

use std::collections::HashMap;

use super::counts::Counts;
use super::groups::{Groups, Weight, depth, parent};
use crate::plan::price::{BILLED_BYTES_MIN, Stored};

/// Levels of folders; what lies deeper counts with the deepest.
const DEPTH_MAX: usize = 64;

/// Objects of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounts {
    /// The kind.
    pub kind: u8,
    /// Objects and bytes.
    pub counts: Counts,
    /// Objects of 128 KiB and more.
    pub large_objects: u64,
    /// Bytes that are billed, where small objects are billed as larger ones.
    pub billed_bytes: u64,
}

impl KindCounts {
    /// The same as it is billed.
    pub fn stored(&self) -> Stored {
        let Self { counts, large_objects, billed_bytes, .. } = *self;
        Stored { objects: counts.objects, large_objects, billed_bytes }
    }
}

/// What is in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Objects and bytes of all kinds.
    pub counts: Counts,
    /// By kind, in their order.
    pub kinds: Vec<KindCounts>,
    /// Ages times weights, in seconds.
    age_s: u128,
    /// Sum of the weights. An object weighs its bytes and one more, so that empty ones count.
    weight: u128,
}

impl Contents {
    /// Of nothing.
    const EMPTY: Self =
        Self { counts: Counts { objects: 0, bytes: 0 }, kinds: Vec::new(), age_s: 0, weight: 0 };

    /// Adds an object.
    pub(super) fn add(&mut self, object: TreeObject) {
        let TreeObject { kind, bytes, billed_bytes, age_s } = object;
        self.counts.add(bytes);
        let large_objects = u64::from(bytes >= BILLED_BYTES_MIN);
        self.add_kind(KindCounts { kind, counts: Counts::one(bytes), large_objects, billed_bytes });
        let weight = u128::from(bytes) + 1;
        self.weight = self.weight.saturating_add(weight);
        self.age_s = self.age_s.saturating_add(weight.saturating_mul(age_s.into()));
    }

    fn add_kind(&mut self, added: KindCounts) {
        let at = self.kinds.partition_point(|known| known.kind < added.kind);
        match self.kinds.get_mut(at).filter(|known| known.kind == added.kind) {
            Some(known) => {
                known.counts.merge(added.counts);
                known.large_objects += added.large_objects;
                known.billed_bytes = known.billed_bytes.saturating_add(added.billed_bytes);
            }
            None => self.kinds.insert(at, added),
        }
    }

    /// The mean age of the bytes in seconds.
    pub fn mean_age_s(&self) -> u64 {
        let mean = self.age_s.checked_div(self.weight).unwrap_or(0);
        u64::try_from(mean).unwrap_or(u64::MAX)
    }

    /// The kind with the most bytes; among equals the one with the most objects.
    pub fn main_kind(&self) -> Option<u8> {
        let size = |kind: &&KindCounts| (kind.counts.bytes, kind.counts.objects);
        self.kinds.iter().max_by_key(size).map(|kind| kind.kind)
    }

    /// Adds all of another, whose kinds have these numbers here.
    pub(super) fn absorb_renumbered(&mut self, mut other: Self, kinds: &[u8]) {
        other.renumber(kinds);
        self.absorb(&other);
    }

    fn renumber(&mut self, kinds: &[u8]) {
        for old in std::mem::take(&mut self.kinds) {
            let kind = kinds.get(usize::from(old.kind)).copied().unwrap_or(old.kind);
            self.add_kind(KindCounts { kind, ..old });
        }
    }
}

impl Weight for Contents {
    fn counts(&self) -> Counts {
        self.counts
    }

    fn absorb(&mut self, other: &Self) {
        self.counts.merge(other.counts);
        for kind in &other.kinds {
            self.add_kind(*kind);
        }
        self.age_s = self.age_s.saturating_add(other.age_s);
        self.weight = self.weight.saturating_add(other.weight);
    }
}

/// An object as a tree counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeObject {
    /// Its kind.
    pub kind: u8,
    /// Its size.
    pub bytes: u64,
    /// Bytes that are billed for it.
    pub billed_bytes: u64,
    /// Time since it was written.
    pub age_s: u64,
}

/// Folders with what is in them.
#[derive(Clone, Debug)]
pub struct FolderTree {
    groups: Groups<Contents>,
    /// Consecutive objects of one folder.
    run: Contents,
    folder: String,
}

/// A folder with all that is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFolder {
    /// Path with a slash at its end.
    pub name: String,
    /// What is in it; a lower bound where something may be missing.
    pub contents: Contents,
    /// What may be missing at most.
    pub missing_max: Counts,
}

impl FolderTree {
    /// Keeps so many folders at most; small ones beyond it count with the folder above.
    pub fn new(folders_max: usize) -> Self {
        let groups = Groups::new(folders_max);
        Self { groups, run: Contents::EMPTY, folder: String::new() }
    }

    /// Adds an object with this path. The order of paths does not matter, but those of one folder
    /// after each other cost least.
    pub fn add(&mut self, path: &str, object: TreeObject) {
        let folder = super::summarize::folder_of(path, DEPTH_MAX);
        if folder != self.folder {
            self.flush();
            folder.clone_into(&mut self.folder);
        }
        self.run.add(object);
    }

    pub(super) fn flush(&mut self) {
        if !self.run.counts.is_empty() {
            self.groups.add(&self.folder, &std::mem::take(&mut self.run));
        }
    }

    /// Adds all of another, whose kinds have these numbers here.
    pub(super) fn merge(&mut self, mut other: Self, kinds: &[u8]) {
        self.flush();
        other.flush();
        other.groups.for_each_mut(|contents| contents.renumber(kinds));
        self.groups.merge(other.groups);
    }

    pub(super) fn is_merged(&self) -> bool {
        self.groups.is_merged()
    }

    /// The folders in the order of their names, and the root, which is named by the empty text.
    pub fn folders(&mut self) -> Vec<TreeFolder> {
        self.flush();
        let mut totals: HashMap<&str, Contents> = HashMap::new();
        let mut missing: HashMap<&str, Counts> = HashMap::new();
        let root = self.groups.root().weight();
        totals.insert("", root);
        for (name, group) in self.groups.iter() {
            missing.insert(name, group.missing);
            let weight = group.weight();
            let mut above = name;
            for _ in 0..depth(name) {
                totals.entry(above).or_default().absorb(&weight);
                above = parent(above);
            }
            totals.entry("").or_default().absorb(&weight);
        }
        let missing_max = |name: &str| match name {
            "" => Counts::default(),
            name => missing.get(name).copied().unwrap_or_else(|| self.groups.missing_of(name)),
        };
        let folder = |(name, contents): (&str, Contents)| TreeFolder {
            name: name.to_owned(),
            contents,
            missing_max: missing_max(name),
        };
        let mut folders: Vec<TreeFolder> = totals.into_iter().map(folder).collect();
        folders.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn object(kind: u8, bytes: u64, age_s: u64) -> TreeObject {
        TreeObject { kind, bytes, billed_bytes: bytes, age_s }
    }

    #[test]
    fn folders_have_all_that_is_below_them() {
        let mut tree = FolderTree::new(100);
        tree.add("a/b/1", object(0, 10, 100));
        tree.add("a/2", object(1, 30, 0));
        tree.add("3", object(0, 0, 7));
        let folders = tree.folders();
        let rows: Vec<_> = folders
            .iter()
            .map(|f| (&*f.name, f.contents.counts.objects, f.contents.counts.bytes))
            .collect();
        assert_eq!(rows, [("", 3, 40), ("a/", 2, 40), ("a/b/", 1, 10)]);
        let [_, a, b] = &*folders else { panic!() };
        assert_eq!((a.contents.main_kind(), b.contents.main_kind()), (Some(1), Some(0)));
        assert_eq!(a.contents.mean_age_s(), 100 * 11 / 42);
        assert_eq!(a.contents.kinds.len(), 2);
    }

    #[test]
    fn nothing_is_a_root_alone() {
        let folders = FolderTree::new(1).folders();
        assert_eq!(folders.len(), 1);
        assert_eq!(folders[0].contents.mean_age_s(), 0);
        assert_eq!(folders[0].contents.main_kind(), None);
    }

    proptest! {
        /// Pieces of a listing in any order give the same tree as the whole.
        #[test]
        fn trees_merge_into_the_same(
            rows in prop::collection::vec(("([ab]/){0,3}[ab]", 0..3_u8, 0..9_u64), 0..60),
            cut in 0..60_usize,
        ) {
            let tree = |rows: &[(String, u8, u64)], kinds: [u8; 3]| {
                let mut tree = FolderTree::new(1000);
                for (path, kind, bytes) in rows {
                    tree.add(path, object(kinds[usize::from(*kind)], *bytes, *bytes));
                }
                tree
            };
            let (first, second) = rows.split_at(cut.min(rows.len()));
            let mut whole = tree(&rows, [0, 1, 2]);
            let mut merged = tree(second, [0, 1, 2]);
            merged.merge(tree(first, [2, 0, 1]), &[1, 2, 0]);
            prop_assert_eq!(whole.folders(), merged.folders());
        }
    }
}
