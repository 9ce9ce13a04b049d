//! The folder in which `s3haul serve` keeps what it stores, as a walk meets it: the private folder
//! `.s3haul` and, beside it, a folder for each bucket. Neither is a source: what is in them would
//! be uploaded under names that are no keys, possibly to the server that is writing there.

use std::path::Path;

/// Name of the private folder. It sorts before all names of buckets.
const PRIVATE: &str = ".s3haul";
/// Its folder with a file for each bucket.
const BUCKETS: &str = "buckets";
/// Another that is always there: an unrelated folder would hardly have both.
const META: &str = "meta";

/// Names of the folders in a directory that belong to a server; empty where it is no store.
#[derive(Default)]
pub(super) struct ServerStore {
    folders: Vec<String>,
}

impl ServerStore {
    /// Whether a name is that of a private folder.
    pub(super) fn is_private(name: &str) -> bool {
        name == PRIVATE
    }

    /// Looks at a directory that has a folder of that name.
    pub(super) fn read(directory: &Path) -> Self {
        let private = directory.join(PRIVATE);
        if !private.join(META).is_dir() {
            return Self::default();
        }
        let Ok(entries) = std::fs::read_dir(private.join(BUCKETS)) else { return Self::default() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let buckets = names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned));
        let mut folders: Vec<_> = buckets.chain([PRIVATE.to_owned()]).collect();
        folders.sort_unstable();
        Self { folders }
    }

    /// Whether a folder of the directory belongs to the server.
    pub(super) fn has(&self, folder: &str) -> bool {
        self.folders.binary_search_by(|name| name.as_str().cmp(folder)).is_ok()
    }
}
