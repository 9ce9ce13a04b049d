//! What is marked: objects by key, and whole folders. Pure.

use std::collections::BTreeSet;

use super::rows::Row;

/// Objects and folders that can be marked.
pub(crate) const MARKS_MAX: usize = 100_000;

/// How a row is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It is not.
    None,
    /// It is.
    Own,
    /// A folder above it is.
    Above,
}

/// What is done something about: no object is below one of the folders, and no folder in another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    /// Folders, each with the slash that it ends in.
    pub(crate) folders: Vec<String>,
    /// Keys.
    pub(crate) objects: Vec<String>,
}

/// Marks. Folders end in a slash; so may keys, which is why they are apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    folders: BTreeSet<String>,
    objects: BTreeSet<String>,
}

impl Marks {
    /// Number of marks.
    pub(crate) fn len(&self) -> usize {
        self.folders.len() + self.objects.len()
    }

    /// Whether nothing is marked.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes all marks off.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// How a row of a folder is marked.
    pub(crate) fn of(&self, folder: &str, row: &Row) -> Mark {
        if self.is_empty() {
            return Mark::None;
        }
        let path = row.path(folder);
        let own = if row.is_folder { &self.folders } else { &self.objects };
        if own.contains(&path) {
            Mark::Own
        } else if self.is_below(&path, row.is_folder) {
            Mark::Above
        } else {
            Mark::None
        }
    }

    /// Whether a folder above a path is marked. A key that ends in a slash is below the folder of
    /// that name.
    fn is_below(&self, path: &str, is_folder: bool) -> bool {
        let end = path.len() - usize::from(is_folder);
        let slashes = path[..end].char_indices().filter(|(_, character)| *character == '/');
        slashes.map(|(at, _)| &path[..=at]).any(|above| self.folders.contains(above))
    }

    /// Marks a row, or takes its mark off. False where a folder above it is marked, or where there
    /// are too many marks.
    pub(crate) fn toggle(&mut self, folder: &str, row: &Row) -> bool {
        let mark = self.of(folder, row);
        let path = row.path(folder);
        let own = if row.is_folder { &mut self.folders } else { &mut self.objects };
        match mark {
            Mark::Own => own.remove(&path),
            Mark::Above => false,
            Mark::None => self.add(path, row.is_folder),
        }
    }

    /// Marks rows; false where there are too many.
    pub(crate) fn mark<'a>(
        &mut self,
        folder: &str,
        mut rows: impl Iterator<Item = &'a Row>,
    ) -> bool {
        rows.all(|row| {
            self.of(folder, row) != Mark::None || self.add(row.path(folder), row.is_folder)
        })
    }

    /// Marks what is not marked, and takes the marks of the others off; false where there are too
    /// many.
    pub(crate) fn invert<'a>(
        &mut self,
        folder: &str,
        mut rows: impl Iterator<Item = &'a Row>,
    ) -> bool {
        rows.all(|row| self.of(folder, row) == Mark::Above || self.toggle(folder, row))
    }

    fn add(&mut self, path: String, is_folder: bool) -> bool {
        if self.len() >= MARKS_MAX {
            return false;
        }
        if is_folder { self.folders.insert(path) } else { self.objects.insert(path) }
    }

    /// What is marked, each once.
    pub(crate) fn targets(&self) -> Targets {
        let top = |paths: &BTreeSet<String>, is_folder| {
            let is_free = |path: &&String| !self.is_below(path, is_folder);
            paths.iter().filter(is_free).cloned().collect()
        };
        Targets { folders: top(&self.folders, true), objects: top(&self.objects, false) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(name: &str) -> Row {
        let is_folder = name.ends_with('/');
        Row { is_folder, ..Row::unknown_folder(name.strip_suffix('/').unwrap_or(name)) }
    }

    #[test]
    fn a_marked_folder_has_all_that_is_below() {
        let mut marks = Marks::default();
        assert!(marks.toggle("a/", &row("x")) && marks.toggle("a/b/", &row("c/")));
        assert_eq!(marks.targets().objects, ["a/x"]);
        assert!(marks.toggle("", &row("a/")));
        assert_eq!(marks.of("a/b/", &row("y")), Mark::Above);
        assert_eq!(marks.of("", &row("ab")), Mark::None);
        assert!(!marks.toggle("a/b/", &row("y")), "the folder is marked");
        let expected = Targets { folders: vec!["a/".to_owned()], objects: Vec::new() };
        assert_eq!(marks.targets(), expected);
        assert!(marks.toggle("", &row("a/")));
        assert_eq!(marks.targets().folders, ["a/b/c/"]);
    }

    #[test]
    fn all_and_the_others() {
        let mut marks = Marks::default();
        let rows = [row("a/"), row("b"), row("c")];
        assert!(marks.toggle("p/", &rows[1]) && marks.invert("p/", rows.iter()));
        let targets = marks.targets();
        assert_eq!((targets.folders, targets.objects), (vec!["p/a/".into()], vec!["p/c".into()]));
        assert!(marks.mark("p/", rows.iter()));
        assert_eq!(marks.len(), 3);
        marks.clear();
        assert!(marks.is_empty());
    }

    proptest! {
        /// Against all keys there are: a key is a target if and only if it or a folder above it is
        /// marked, and no key is one twice.
        #[test]
        fn targets_are_what_is_marked(
            keys in prop::collection::btree_set("[ab](/[ab]){0,3}", 1..12),
            marked in prop::collection::btree_set("[ab](/[ab]){0,3}/?", 0..6),
        ) {
            let mut marks = Marks::default();
            for path in &marked {
                let is_folder = path.ends_with('/');
                prop_assert!(marks.add(path.clone(), is_folder));
            }
            let targets = marks.targets();
            for key in &keys {
                let below = targets.folders.iter().filter(|folder| key.starts_with(&***folder));
                let count = below.count() + usize::from(targets.objects.contains(key));
                let is_marked = marked.iter().any(|path| {
                    if path.ends_with('/') { key.starts_with(&**path) } else { key == path }
                });
                prop_assert_eq!(count, usize::from(is_marked), "{}", key);
            }
        }
    }
}
