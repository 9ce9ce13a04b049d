//! Trees against the keys that they were made of, within any limits.

use proptest::prelude::*;

use super::*;

fn object(key: &str, size: u64) -> Object<'_> {
    let modified_s = i64::try_from(size).ok();
    Object { key, size, modified_s, class: if size.is_multiple_of(2) { "" } else { "GLACIER" } }
}

fn tree(prefix: &str, limits: TreeLimits, objects: &[(String, u64)]) -> Tree {
    let mut tree = Tree::with_limits(prefix, limits);
    for (key, size) in objects {
        tree.add(&object(key, *size));
    }
    tree
}

fn names(tree: &Tree, path: &str) -> Vec<String> {
    let rows = tree.rows(path).unwrap().rows;
    rows.iter().map(|row| row.path(path)).collect()
}

const PLENTY: TreeLimits = TreeLimits { folders: 1000, objects: 1000, objects_per_folder: 1000 };

fn objects(keys: &[&str]) -> Vec<(String, u64)> {
    keys.iter().map(|key| ((*key).to_owned(), 2)).collect()
}

#[test]
fn folders_have_the_sums_of_what_is_below() {
    let tree = tree("p/ab", PLENTY, &objects(&["p/ab", "p/abc/x", "p/abc/y/z", "p/abc/", "p//k"]));
    assert_eq!((tree.root(), tree.totals().objects, tree.totals().bytes), ("p/", 5, 10));
    assert_eq!(names(&tree, "p/"), ["p//", "p/abc/", "p/ab"]);
    assert_eq!(names(&tree, "p/abc/"), ["p/abc/y/", "p/abc/x", "p/abc/"]);
    assert_eq!(names(&tree, "p//"), ["p//k"]);
    assert_eq!(tree.figures("p/abc/").unwrap().objects, 3);
    assert_eq!((tree.figures("p/none/"), tree.figures("q/")), (None, None));
}

#[test]
fn classes_of_a_folder_are_summed_up() {
    let mut tree = tree("", PLENTY, &[("a/x".into(), 1), ("a/y".into(), 2), ("b/z".into(), 3)]);
    let class = |tree: &Tree, at: usize| tree.rows("").unwrap().rows[at].class.to_string();
    assert_eq!((class(&tree, 0), class(&tree, 1)), ("GLACIER +1".into(), "GLACIER".into()));
    for number in 0..100 {
        let (key, class) = (format!("c/{number}"), format!("{number}{}", "ü".repeat(99)));
        tree.add(&Object { key: &key, class: &class, ..Object::default() });
    }
    let rows = tree.rows("c/").unwrap().rows;
    assert!(rows.iter().all(|row| row.class.len() <= CLASS_BYTES_MAX));
    assert!(rows.iter().any(|row| &*row.class == OTHER_CLASS));
    assert_eq!(tree.classes.len(), CLASSES_MAX + 1);
}

#[test]
fn beyond_the_limits_folders_are_folded() {
    let limits = TreeLimits { folders: 3, objects: 5, objects_per_folder: 2 };
    let keys = ["a/1", "a/2", "a/3", "b/1", "b/2", "c/1", "d/1", "1"];
    let tree = tree("", limits, &objects(&keys));
    assert_eq!(tree.totals().objects, 8);
    assert_eq!((names(&tree, "a/").len(), tree.rows("a/").unwrap().is_folded), (0, true));
    assert_eq!((names(&tree, "b/").len(), tree.rows("b/").unwrap().is_folded), (2, false));
    assert!(tree.rows("c/").is_none() && tree.rows("").unwrap().is_folded);
    assert_eq!(names(&tree, ""), ["a/", "b/"]);
}

#[test]
fn folders_that_are_empty_now_are_not_shown() {
    let mut tree = tree("", PLENTY, &objects(&["a/x", "b/y"]));
    tree.remove(&objects(&["a/x", "a/none", "none/x"]));
    assert_eq!((names(&tree, ""), tree.totals().objects), (vec!["b/".to_owned()], 1));
    tree.remove(&objects(&["a/x"]));
    assert_eq!(tree.totals().objects, 1, "it was gone already");
}

fn any_objects() -> impl Strategy<Value = Vec<(String, u64)>> {
    let objects = prop::collection::btree_map("[ab]{0,2}(/[ab]{0,2}){0,3}", 0u64..100, 0..40);
    let shuffled = objects.prop_map(|objects| objects.into_iter().collect::<Vec<_>>());
    shuffled.prop_shuffle()
}

/// Asserts that a tree has the sums of some objects, and their rows where it is not folded.
fn assert_is_of(tree: &Tree, objects: &[(String, u64)], knows_newest: bool) {
    let mut paths = vec![String::new()];
    for (key, _) in objects {
        paths.extend(key.match_indices('/').map(|(at, _)| key[..=at].to_owned()));
    }
    for path in paths {
        let below = || objects.iter().filter(|(key, _)| key.starts_with(&path));
        let Some(found) = tree.rows(&path) else { continue };
        let figures = tree.figures(&path).unwrap();
        assert_eq!(figures.objects, below().count() as u64, "{path}");
        assert_eq!(figures.bytes, below().map(|(_, size)| size).sum::<u64>(), "{path}");
        let newest = below().map(|(_, size)| i64::try_from(*size).unwrap()).max();
        assert!(!knows_newest || figures.newest_s == newest, "{path}");
        let mut expected: Vec<_> = below()
            .map(|(key, _)| match key[path.len()..].find('/') {
                Some(at) => key[..=path.len() + at].to_owned(),
                None => key.clone(),
            })
            .collect();
        expected.sort();
        expected.dedup();
        let mut rows: Vec<_> = found.rows.iter().map(|row| row.path(&path)).collect();
        rows.sort();
        if found.is_folded {
            assert!(rows.iter().all(|row| expected.contains(row)), "{path}: {rows:?}");
        } else {
            // An object may have the name of a folder: `a/` in `a/`.
            rows.dedup();
            assert_eq!(rows, expected, "{path}");
        }
    }
}

proptest! {
    /// In any order of keys and within any limits.
    #[test]
    fn a_tree_is_what_was_listed(
        objects in any_objects(),
        folders in 1usize..12,
        kept in 0usize..20,
        per_folder in 0usize..6,
        removed in prop::collection::vec(any::<bool>(), 40),
    ) {
        let limits = TreeLimits { folders, objects: kept, objects_per_folder: per_folder };
        let mut tree = tree("", limits, &objects);
        prop_assert!(tree.folders.len() <= folders && tree.objects_kept <= kept);
        assert_is_of(&tree, &objects, true);
        let is_removed = |at: &usize| removed[*at];
        let (gone, left): (Vec<_>, Vec<_>) = (0..objects.len()).partition(is_removed);
        let of = |places: &[usize]| -> Vec<_> {
            places.iter().map(|at| objects[*at].clone()).collect()
        };
        tree.remove(&of(&gone));
        assert_is_of(&tree, &of(&left), false);
    }
}
