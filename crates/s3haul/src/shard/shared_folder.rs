//! Whether a local folder is the same on another machine, or one whose file system is not mounted.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Names that a folder is known by, at most.
const NAMES_MAX: usize = 32;
/// What every file system of some kinds has at its root.
const NAMES_OF_ALL: [&str; 2] = ["lost+found", ".Trash-0"];

/// By what a folder is known on other machines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedFolder {
    /// Its inode, which is the same wherever one file system is mounted, except with some FUSE
    /// file systems.
    pub inode: u64,
    /// Names in it, some of them if there are many.
    pub names: Vec<String>,
}

impl SharedFolder {
    /// What a folder is known by now; none where it is none. Blocks.
    pub fn of(folder: &Path) -> Option<Self> {
        let inode = inode(folder)?;
        let names = std::fs::read_dir(folder)
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !NAMES_OF_ALL.contains(&name.as_str()));
        Some(Self { inode, names: names.take(NAMES_MAX).collect() })
    }

    /// Whether a folder is this one, by its inode or any of its names: a job may remove some, and
    /// not every file system keeps inodes. One that was empty is known by its inode alone. Blocks.
    pub fn is_at(&self, folder: &Path) -> bool {
        inode(folder) == Some(self.inode) || self.names.iter().any(|name| has(folder, name))
    }

    /// The same for one whose missing names are removed elsewhere: the roots of file systems have
    /// one inode everywhere, and other folders may have some of the names. Blocks.
    pub fn is_surely_at(&self, folder: &Path) -> bool {
        let mut names = self.names.iter().map(|name| has(folder, name));
        if inode(folder) == Some(self.inode) {
            return self.names.is_empty() || names.any(|is_there| is_there);
        }
        !self.names.is_empty() && names.all(|is_there| is_there)
    }
}

fn inode(folder: &Path) -> Option<u64> {
    std::fs::metadata(folder).ok().filter(std::fs::Metadata::is_dir).map(|facts| facts.ino())
}

fn has(folder: &Path, name: &str) -> bool {
    folder.join(name).symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_its_inode_or_its_names() {
        let root = tempfile::tempdir().unwrap();
        let make = |name: &str, files: &[&str]| {
            let folder = root.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            for file in files {
                std::fs::write(folder.join(file), "").unwrap();
            }
            folder
        };
        let (data, copy) = (make("data", &["a", "b"]), make("copy", &["b", "c"]));
        let (empty, other) = (make("empty", &[]), make("other", &[]));
        let known = SharedFolder::of(&data).unwrap();
        assert!(known.is_at(&data) && known.is_surely_at(&data));
        assert!(known.is_at(&copy) && !known.is_surely_at(&copy));
        assert!(!known.is_at(&empty) && !known.is_at(&root.path().join("none")));
        std::fs::write(copy.join("a"), "").unwrap();
        assert!(known.is_surely_at(&copy));
        for name in &known.names {
            std::fs::remove_file(data.join(name)).unwrap();
        }
        assert!(!known.is_surely_at(&data), "roots of file systems have the same inode");
        // A mount point whose file system is missing is as empty as a new target.
        let known = SharedFolder::of(&empty).unwrap();
        assert!(known.is_at(&empty) && !known.is_at(&other) && !known.is_surely_at(&other));
        assert_eq!(SharedFolder::of(&data.join("a")), None);
    }
}
