//! A temporary folder that goes away with its owner.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

/// A folder of our own below the system's temporary one.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes a folder that was not there.
    pub(super) fn new(purpose: &str) -> Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let name = format!("s3haul-{purpose}-{}-{now}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)
            .with_context(|| format!("could not create `{}`", path.display()))?;
        Ok(Self(path))
    }

    /// The folder.
    pub(super) fn root(&self) -> &Path {
        &self.0
    }

    /// A path in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing can be done about what stays behind.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
