//! A listing in a file. No service is needed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use s3haul::job::{Manifest as _, ManifestEntry, Version};
use s3haul_wire::Client;

use crate::browse::{Listed, Listing, Object, Place, Row, SharedTree};
use crate::failure::Failure;
use crate::manifest::ManifestFile;
use crate::settings::{ManifestPlace, ManifestSettings};

/// Objects that are added to the tree at a time.
const BATCH: usize = 1000;
/// Rows of a folder that are shown at a time.
const ROWS_MAX: usize = 100_000;

/// The file.
pub(super) struct Saved {
    file: ManifestFile,
    name: String,
    /// It names the buckets of its objects, which are then the topmost folders.
    has_buckets: bool,
    is_over: AtomicBool,
}

impl Saved {
    /// Opens a file and looks at its first row. Blocks.
    pub(super) fn open(settings: ManifestSettings, client: Client) -> Result<Self, Failure> {
        let name = match &settings.place {
            ManifestPlace::File(path) => path.display().to_string(),
            ManifestPlace::Object(object) => object.to_string(),
            ManifestPlace::Input => "-".to_owned(),
        };
        let file = ManifestFile::open(settings, client)?;
        let first = file.entries()?.next().transpose()?;
        let has_buckets = first.is_some_and(|entry| entry.bucket.is_some());
        Ok(Self { file, name, has_buckets, is_over: AtomicBool::new(false) })
    }

    pub(super) fn place(&self) -> Place {
        let address = if self.has_buckets { "s3://" } else { "" };
        Place { bucket: None, label: format!("{}: {address}", self.name), address: address.into() }
    }

    /// Ends what is being read.
    pub(super) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Reads everything into the tree. Blocks.
    pub(super) fn read_into(&self, tree: &SharedTree) {
        let mut batch = Vec::with_capacity(BATCH);
        let add = |batch: &mut Vec<(String, ManifestEntry)>| {
            let mut tree = tree.lock();
            for (path, entry) in batch.drain(..) {
                tree.add(&object(&path, &entry));
            }
        };
        let read = self.each(|path, entry| {
            batch.push((path, entry));
            if batch.len() == BATCH {
                add(&mut batch);
            }
        });
        add(&mut batch);
        tree.lock().listing = match read {
            Ok(()) => Listing::Complete,
            Err(error) => Listing::Failed(error),
        };
    }

    /// Rows of a folder, the first that there are or those behind so many. Blocks.
    pub(super) fn rows(&self, folder: &str, after: Option<&str>) -> Result<Listed<Row>, String> {
        let (mut rows, mut folders) = (Vec::new(), BTreeSet::new());
        let before: usize = after.and_then(|count| count.parse().ok()).unwrap_or(0);
        let mut passed = before;
        let mut has_more = false;
        self.each(|path, entry| {
            let Some(name) = path.strip_prefix(folder) else { return };
            let row = match name.split_once('/') {
                Some((name, _)) if folders.contains(name) => return,
                Some((name, _)) => {
                    folders.insert(name.to_owned());
                    Row::unknown_folder(name)
                }
                None => {
                    let facts = object(&path, &entry);
                    Row {
                        name: name.into(),
                        is_folder: false,
                        size: entry.facts.as_ref().map(|facts| facts.size),
                        objects: None,
                        modified_s: facts.modified_s,
                        class: facts.class.into(),
                    }
                }
            };
            if passed > 0 {
                // Shown before.
                passed -= 1;
            } else if rows.len() < ROWS_MAX {
                rows.push(row);
            } else {
                has_more = true;
            }
        })?;
        let shown = before + rows.len();
        Ok(Listed { rows, next: has_more.then(|| shown.to_string()) })
    }

    /// Goes through all objects that are current, with their paths.
    fn each(&self, mut take: impl FnMut(String, ManifestEntry)) -> Result<(), String> {
        for entry in self.file.entries().map_err(|error| error.to_string())? {
            if self.is_over.load(Ordering::Relaxed) {
                break;
            }
            let entry = entry.map_err(|error| error.to_string())?;
            if entry.version == Version::Hidden {
                continue;
            }
            let path = match &entry.bucket {
                Some(bucket) if self.has_buckets => format!("{bucket}/{}", entry.key),
                _ => entry.key.clone(),
            };
            take(path, entry);
        }
        Ok(())
    }
}

fn object<'a>(path: &'a str, entry: &'a ManifestEntry) -> Object<'a> {
    let facts = entry.facts.as_ref();
    Object {
        key: path,
        size: facts.map_or(0, |facts| facts.size),
        modified_s: facts.map(|facts| facts.last_modified_s),
        class: facts.map_or("?", |facts| &facts.storage_class),
    }
}
