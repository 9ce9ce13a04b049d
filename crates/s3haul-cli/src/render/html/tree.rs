//! Folders of a page, as columns: small ones are folded until the page is small enough.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Unit;

/// Folders of a page at most.
const FOLDERS_MAX: usize = 100_000;
/// Bytes of the folders of a page, about.
const BYTES_MAX: usize = 2_300_000;

/// A folder and its figures.
pub(crate) struct Folder {
    /// Path with a slash at its end; empty for the root.
    pub(crate) path: String,
    /// Figures in the order of the metrics, with those of all folders in it.
    pub(crate) values: Vec<u64>,
    /// Labels in the order of the colours.
    pub(crate) colours: Vec<u8>,
    /// Whether figures may be too low.
    pub(crate) is_at_least: bool,
}

/// What a folder can be measured by.
#[derive(Serialize)]
pub(crate) struct Metric {
    /// Name.
    pub(crate) name: &'static str,
    /// Unit.
    pub(crate) unit: Unit,
}

/// Which colours labels get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scale {
    /// Labels without order.
    Kinds,
    /// Ages, the youngest first.
    Ages,
    /// From less to more.
    Changes,
}

/// What folders can be coloured by.
#[derive(Serialize)]
pub(crate) struct Colour {
    /// Name.
    pub(crate) name: &'static str,
    /// Colours.
    pub(crate) scale: Scale,
    /// Labels.
    pub(crate) labels: Vec<String>,
    /// Index of the label of each folder.
    pub(crate) values: Vec<u8>,
}

impl Colour {
    /// Without folders yet.
    pub(crate) fn new(name: &'static str, scale: Scale, labels: Vec<String>) -> Self {
        Self { name, scale, labels, values: Vec::new() }
    }
}

/// The folders of a page: the root first, each before those in it.
#[derive(Serialize)]
pub(crate) struct Tree {
    metrics: Vec<Metric>,
    colours: Vec<Colour>,
    /// Last components; the root's is its whole address.
    names: Vec<String>,
    /// Index of the folder above.
    up: Vec<usize>,
    /// A column for each metric.
    values: Vec<Vec<u64>>,
    /// Number of folders that are not listed, by the folder that they are in.
    folded: BTreeMap<usize, u64>,
    /// Folders whose figures may be too low.
    at_least: BTreeMap<usize, bool>,
}

impl Tree {
    /// Of folders in the order of their paths, the root first.
    pub(crate) fn new(
        address: &str,
        metrics: Vec<Metric>,
        colours: Vec<Colour>,
        folders: &[Folder],
    ) -> Self {
        let kept = kept(folders, FOLDERS_MAX, BYTES_MAX);
        let mut tree = Self {
            values: metrics.iter().map(|_| Vec::new()).collect(),
            metrics,
            colours,
            names: Vec::new(),
            up: Vec::new(),
            folded: BTreeMap::new(),
            at_least: BTreeMap::new(),
        };
        // The folders that the one before is in, with their indices.
        let mut above: Vec<(&str, usize)> = Vec::new();
        for (folder, is_kept) in folders.iter().zip(kept) {
            while above.last().is_some_and(|(path, _)| !folder.path.starts_with(path)) {
                above.pop();
            }
            let (parent, up) = above.last().copied().unwrap_or_default();
            if !is_kept {
                *tree.folded.entry(up).or_default() += 1;
                continue;
            }
            let index = tree.names.len();
            let name = folder.path[parent.len()..].to_owned();
            tree.names.push(if index == 0 { address.to_owned() } else { name });
            tree.push(folder, up);
            above.push((&folder.path, index));
        }
        tree
    }

    fn push(&mut self, folder: &Folder, up: usize) {
        if folder.is_at_least {
            self.at_least.insert(self.up.len(), true);
        }
        self.up.push(up);
        for (column, value) in self.values.iter_mut().zip(&folder.values) {
            column.push(*value);
        }
        for (colour, value) in self.colours.iter_mut().zip(&folder.colours) {
            colour.values.push(*value);
        }
    }
}

/// Which folders are kept: those with the largest share of any measure. A folder is never
/// smaller than one in it, so that what is above a folder that is kept is kept, too.
fn kept(folders: &[Folder], folders_max: usize, bytes_max: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..folders.len()).collect();
    let whole = folders.first().map_or(&[][..], |root| &root.values);
    let shares: Vec<f64> = folders.iter().map(|folder| share(&folder.values, whole)).collect();
    order.sort_by(|a, b| {
        let lengths = folders[*a].path.len().cmp(&folders[*b].path.len());
        shares[*b].total_cmp(&shares[*a]).then(lengths).then(a.cmp(b))
    });
    let mut kept = vec![false; folders.len()];
    let mut bytes = 0;
    for index in order.into_iter().take(folders_max) {
        bytes += bytes_of(&folders[index]);
        if bytes > bytes_max {
            break;
        }
        kept[index] = true;
    }
    kept
}

#[expect(clippy::cast_precision_loss, reason = "only compared")]
fn share(values: &[u64], whole: &[u64]) -> f64 {
    let shares = values.iter().zip(whole).map(|(value, whole)| *value as f64 / *whole as f64);
    shares.filter(|share| share.is_finite()).fold(0.0, f64::max)
}

/// Bytes that a folder takes in a page, about: its name, its numbers, and commas.
fn bytes_of(folder: &Folder) -> usize {
    let digits = |value: &u64| value.checked_ilog10().unwrap_or(0) as usize + 2;
    let stem = folder.path.strip_suffix('/').unwrap_or(&folder.path);
    let name = &folder.path[stem.rfind('/').map_or(0, |slash| slash + 1)..];
    let escaped: usize = name.bytes().map(escaped_length).sum();
    escaped + 10 + folder.values.iter().map(digits).sum::<usize>() + 2 * folder.colours.len()
}

/// Bytes that a byte of a name takes in JSON in a page.
fn escaped_length(byte: u8) -> usize {
    match byte {
        0..0x20 | b'<' | b'>' | b'&' => 6,
        b'"' | b'\\' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folder(path: &str, bytes: u64) -> Folder {
        Folder { path: path.to_owned(), values: vec![bytes], colours: vec![0], is_at_least: false }
    }

    fn tree(folders: &[Folder]) -> Tree {
        let metrics = vec![Metric { name: "Bytes", unit: Unit::Bytes }];
        let colours = vec![Colour::new("Class", Scale::Kinds, vec!["STANDARD".to_owned()])];
        Tree::new("s3://box/", metrics, colours, folders)
    }

    #[test]
    fn folders_know_what_they_are_in() {
        let folders = [
            folder("", 9),
            folder("a-/", 1),
            folder("a/", 7),
            folder("a//", 2),
            folder("a/b/", 4),
            folder("c/", 1),
        ];
        let tree = tree(&folders);
        assert_eq!(tree.names, ["s3://box/", "a-/", "a/", "/", "b/", "c/"]);
        assert_eq!(tree.up, [0, 0, 0, 2, 2, 0]);
        assert_eq!(tree.values, [[9, 1, 7, 2, 4, 1]]);
        assert!(tree.folded.is_empty());
    }

    proptest! {
        /// What is above a kept folder is kept, and the largest are.
        #[test]
        fn small_folders_are_folded(
            paths in prop::collection::btree_map("([ab]{1,2}/){1,4}", 1..50_u64, 0..60),
            folders_max in 1..40_usize,
        ) {
            let mut totals = std::collections::BTreeMap::from([(String::new(), 0)]);
            for (path, bytes) in &paths {
                let slashes = path.match_indices('/').map(|(at, _)| &path[..=at]);
                for above in slashes.chain([""]) {
                    *totals.entry(above.to_owned()).or_default() += bytes;
                }
            }
            let folders: Vec<Folder> =
                totals.iter().map(|(path, bytes)| folder(path, *bytes)).collect();
            let kept = kept(&folders, folders_max, usize::MAX);
            prop_assert_eq!(
                kept.iter().filter(|kept| **kept).count(),
                folders.len().min(folders_max)
            );
            let least = folders.iter().zip(&kept).filter(|(_, kept)| **kept);
            let least = least.map(|(folder, _)| folder.values[0]).min().unwrap_or(0);
            for (folder, is_kept) in folders.iter().zip(&kept) {
                if *is_kept {
                    let is_above = |other: &&Folder| folder.path.starts_with(&other.path);
                    let above = folders.iter().zip(&kept).filter(|(other, _)| is_above(other));
                    prop_assert!(above.into_iter().all(|(_, kept)| *kept), "{}", folder.path);
                } else {
                    prop_assert!(folder.values[0] <= least);
                }
            }
        }
    }
}
