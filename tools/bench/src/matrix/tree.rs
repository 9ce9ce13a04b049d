//! Trees of files on disk for the workloads, and comparing what came back with them.

use std::collections::BTreeMap;
use std::fs::{File, FileTimes};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

use super::shape::{MIB, Shape};
use support::dice::Dice;
use support::files;

/// Files look this old: a sync takes what is as young as the object for changed, and servers return
/// whole seconds.
const AGE: Duration = Duration::from_hours(2);
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes that are compared behind a run.
const SAMPLE_BYTES_MAX: u64 = 256 * MIB;

/// Files below a folder.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    /// Names below the root and sizes.
    pub(crate) files: Vec<(String, u64)>,
    /// The first of them.
    pub(crate) single: PathBuf,
    shape: Shape,
}

impl Tree {
    /// Writes the files of a shape.
    pub(crate) fn make(root: &Path, shape: Shape) -> Result<Self> {
        let files = shape.files();
        let single = root.join(files.first().map_or("", |(name, _)| name.as_str()));
        let tree = Self { root: root.to_owned(), files, single, shape };
        let mut block = random_block();
        for (number, (name, bytes)) in tree.files.iter().enumerate() {
            tree.write(name, *bytes, number as u64, &mut block)?;
        }
        Ok(tree)
    }

    /// Whether these are the files of a shape.
    pub(super) fn is(&self, shape: Shape) -> bool {
        self.shape == shape
    }

    /// Number and bytes of the files.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.files.len() as u64, self.files.iter().map(|(_, bytes)| bytes).sum())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Adds a file that the list of files does not have.
    pub(super) fn add(&self, name: &str, bytes: u64) -> Result<()> {
        self.write(name, bytes, bytes, &mut random_block())
    }

    fn write(&self, name: &str, bytes: u64, number: u64, block: &mut [u8]) -> Result<()> {
        let path = self.path(name);
        let told = || format!("could not write `{}`", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(told)?;
        }
        let mut file = File::create(&path).with_context(told)?;
        let mut left = bytes;
        while left > 0 {
            // No two blocks are the same, so that bytes at a wrong place are seen.
            block[..8].copy_from_slice(&number.to_le_bytes());
            block[8..16].copy_from_slice(&left.to_le_bytes());
            let length = usize::try_from(left.min(BLOCK_BYTES as u64))?;
            file.write_all(&block[..length]).with_context(told)?;
            left -= length as u64;
        }
        set_old(&file).with_context(told)
    }

    /// Makes files as young as can be, or old again.
    pub(super) fn touch(&self, names: &[String], is_young: bool) -> Result<()> {
        for name in names {
            let path = self.path(name);
            let file = File::options().append(true).open(&path);
            let file = file.with_context(|| format!("could not open `{}`", path.display()))?;
            if is_young {
                file.set_modified(SystemTime::now())?;
            } else {
                set_old(&file)?;
            }
        }
        Ok(())
    }
}

fn set_old(file: &File) -> std::io::Result<()> {
    let time = SystemTime::now() - AGE;
    file.set_times(FileTimes::new().set_accessed(time).set_modified(time))
}

fn random_block() -> Vec<u8> {
    let mut block = vec![0; BLOCK_BYTES];
    Dice::new(7).fill(&mut block);
    block
}

/// Names and sizes of the files below a folder.
pub(crate) fn sizes(root: &Path) -> Result<BTreeMap<String, u64>> {
    let size = |name: String| {
        let meta = root.join(&name).symlink_metadata();
        let bytes = meta.with_context(|| format!("could not look at `{name}`"))?.len();
        Ok((name, bytes))
    };
    files::below(root)?.into_iter().map(size).collect()
}

/// Some files of a list, spread over it; the first one, and others as long as all of them together
/// are not too large to be read again.
pub(crate) fn sample(files: &[(String, u64)], files_max: usize) -> Vec<(String, u64)> {
    let step = files.len().div_ceil(files_max).max(1);
    let (mut sample, mut sum): (Vec<(String, u64)>, u64) = (Vec::new(), 0);
    for (name, bytes) in files.iter().step_by(step).chain(files.last()) {
        sum = sum.saturating_add(*bytes);
        if sample.is_empty() || sum <= SAMPLE_BYTES_MAX {
            sample.push((name.clone(), *bytes));
        }
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_what_its_shape_says() {
        let scratch = tempfile::tempdir().unwrap();
        let shape = Shape::Folders { folders: 3, files: 4, bytes: 100 };
        let tree = Tree::make(&scratch.path().join("tree"), shape).unwrap();
        assert_eq!(tree.totals(), (12, 1200));
        let found = sizes(&tree.root).unwrap();
        assert_eq!(found, tree.files.iter().cloned().collect());
        let bytes: std::collections::BTreeSet<Vec<u8>> =
            found.keys().map(|name| std::fs::read(tree.path(name)).unwrap()).collect();
        assert_eq!(bytes.len(), 12);
        assert!(tree.is(shape));
    }

    #[test]
    fn files_are_old_until_they_are_touched() {
        let scratch = tempfile::tempdir().unwrap();
        let shape = Shape::Numbered { files: 2, bytes: 1 };
        let tree = Tree::make(&scratch.path().join("tree"), shape).unwrap();
        let names = [tree.files[1].0.clone()];
        let age = |index: usize| {
            let meta = std::fs::metadata(tree.path(&tree.files[index].0)).unwrap();
            meta.modified().unwrap().elapsed().unwrap_or_default()
        };
        tree.touch(&names, true).unwrap();
        assert!(age(0) > AGE / 2 && age(1) < AGE / 2);
        tree.touch(&names, false).unwrap();
        assert!(age(1) > AGE / 2);
    }

    #[test]
    fn a_sample_is_spread_and_bounded() {
        let files: Vec<(String, u64)> = (0..100).map(|n| (n.to_string(), 1)).collect();
        let names: Vec<String> = sample(&files, 3).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["0", "34", "68", "99"]);
        let large = vec![("x".to_owned(), SAMPLE_BYTES_MAX + 1), ("y".to_owned(), u64::MAX)];
        assert_eq!(sample(&large, 9).len(), 1);
        assert!(sample(&[], 9).is_empty());
    }
}
