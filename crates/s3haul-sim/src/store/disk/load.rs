//! Reading a store at the start.
//!
//! A file that cannot be read is left out with a warning that names it, and the rest of the store
//! is served. Only the top directories have to be readable.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use serde::Deserialize;

use super::{DiskStore, HIDDEN, Sidecar, failed};
use crate::store::{
    Blob, Bucket, DEFAULT_REGION, Part, StoreResult, Upload, Version, Versioning, codec,
};

impl DiskStore {
    /// Fills the index from the files.
    pub(super) fn load(&self) -> StoreResult {
        for (name, path) in list_directory(&self.hidden("buckets"))? {
            let name = name.strip_suffix(".json").filter(|name| !name.is_empty());
            let Some(name) = name else { continue };
            let settings = self.read_json(&path);
            // A bucket that has objects keeps its name, and all their versions.
            let has_objects = self.hidden("meta").join(name).is_dir();
            let kept = || Bucket {
                region: DEFAULT_REGION.to_owned(),
                versioning: Versioning::Enabled,
                ..Bucket::default()
            };
            let Some(settings) = settings.or_else(|| has_objects.then(kept)) else { continue };
            self.index.load_bucket(name, settings);
            self.load_keys(name, &self.hidden("meta").join(name))?;
        }
        for (id, path) in list_directory(&self.hidden("uploads"))? {
            self.load_upload(&id, &path);
        }
        Ok(())
    }

    fn load_keys(&self, bucket: &str, top: &Path) -> StoreResult {
        let mut pending = vec![top.to_path_buf()];
        while let Some(directory) = pending.pop() {
            for (_, path) in self.directory_or_none(&directory) {
                if is_directory(&path) {
                    pending.push(path);
                    continue;
                }
                let Some(sidecar) = self.read_json::<Sidecar<Version>>(&path) else {
                    set_aside(&path);
                    continue;
                };
                let relative = path.strip_prefix(top).ok().and_then(Path::to_str);
                let encoded = relative.and_then(|path| path.strip_suffix(".json"));
                if encoded.and_then(codec::decode).as_ref() != Some(&sidecar.key) {
                    self.left_out(&path, "it lies in the wrong place");
                    continue;
                }
                let wanted = self.sidecar_path(bucket, &sidecar.key);
                if path != wanted && is_newer(&wanted, &path) {
                    self.left_out(&path, "another file describes the same object");
                    continue;
                }
                rename_sidecar(&path, &wanted);
                self.load_versions(bucket, sidecar)?;
            }
        }
        Ok(())
    }

    /// Takes the versions of a key if any of them is whole. The others stay among them, so that no
    /// older version stands for a damaged one: a request for its bytes fails.
    fn load_versions(&self, bucket: &str, sidecar: Sidecar<Version>) -> StoreResult {
        let (key, mut versions) = (sidecar.key, sidecar.versions);
        versions.retain(|version| {
            matches!(version.blob, Blob::File(_)) || version.delete_marker || version.size == 0
        });
        for version in &mut versions {
            if matches!(&version.blob, Blob::File(path) if !self.is_inside(path)) {
                // Nothing is ever there: what lies outside is neither read nor removed.
                version.blob = Blob::File(format!("{HIDDEN}/outside"));
            }
        }
        let is_whole = |version: &Version| match &version.blob {
            Blob::File(path) => self.is_whole(path, version.size),
            _ => true,
        };
        let damaged = versions.iter().filter(|version| !is_whole(version));
        let ids: Vec<_> = damaged.map(|version| version.id.clone()).collect();
        if ids.len() == versions.len() {
            let path = self.sidecar_path(bucket, &key);
            self.left_out(&path, "the object's data file is missing or changed");
            return Ok(());
        }
        self.left_out.fetch_add(ids.len(), Ordering::Relaxed);
        for id in ids {
            tracing::warn!(bucket, key, id, "the data file of a version is missing or changed");
        }
        self.index.load(bucket, &key, versions)
    }

    /// Whether an object's file would be in the store itself: its metadata may have been made by
    /// others, and lead elsewhere.
    fn is_inside(&self, path: &str) -> bool {
        let is_plain = |name: &str| !matches!(name, "" | "." | "..");
        path.split('/').all(is_plain) && !self.leads_out(path)
    }

    /// Whether an object's file is there.
    fn is_whole(&self, path: &str, size: u64) -> bool {
        self.is_inside(path)
            && fs::symlink_metadata(self.root.join(path))
                .is_ok_and(|file| file.is_file() && file.len() == size)
    }

    fn load_upload(&self, id: &str, directory: &Path) {
        let Some(upload) = self.read_json::<Upload>(&directory.join("upload.json")) else { return };
        self.index.put_upload(upload);
        for (name, path) in self.directory_or_none(directory) {
            if !name.starts_with("part-") {
                continue;
            }
            let Some(part) = self.read_json::<Part>(&path) else { continue };
            match &part.blob {
                Blob::File(file) if !self.is_whole(file, part.size) => {
                    self.left_out(&path, "the part's data file is missing or changed");
                }
                _ => {
                    self.index.put_part(id, part, &mut None);
                }
            }
        }
    }

    /// Names and paths of what a directory holds; nothing, with a warning, where it cannot be read.
    /// A missing directory is empty.
    fn directory_or_none(&self, path: &Path) -> Vec<(String, PathBuf)> {
        let missing = |error: &&io::Error| error.kind() == io::ErrorKind::NotFound;
        let found = read_directory(path);
        if let Some(error) = found.as_ref().err().filter(|error| !missing(error)) {
            self.left_out(path, error);
        }
        found.unwrap_or_default()
    }

    /// The value that a file of metadata holds; `None`, with a warning, where it cannot be read.
    fn read_json<T: for<'de> Deserialize<'de>>(&self, path: &Path) -> Option<T> {
        let text = fs::read(path).map_err(|error| self.left_out(path, error)).ok()?;
        serde_json::from_slice(&text).map_err(|error| self.left_out(path, error)).ok()
    }

    fn left_out(&self, path: &Path, reason: impl Display) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
        tracing::warn!("left out what `{}` describes: {reason}", path.display());
    }
}

/// Names and paths of what a directory holds.
fn list_directory(path: &Path) -> StoreResult<Vec<(String, PathBuf)>> {
    read_directory(path).map_err(failed("reading the store's directory"))
}

pub(super) fn read_directory(path: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        found.extend(entry.file_name().into_string().map(|name| (name, entry.path())));
    }
    Ok(found)
}

/// Gives a sidecar the name that it has on this file system, if it can: the folder may come from
/// another, or from a version that did not look at the file system.
fn rename_sidecar(path: &Path, wanted: &Path) {
    if path == wanted {
        return;
    }
    let rename = || {
        wanted.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::rename(path, wanted)
    };
    if let Err(error) = rename() {
        tracing::warn!("`{}` could not be renamed: {error}", path.display());
    } else if let Some(parent) = path.parent() {
        // It stays if it holds others.
        let _ = fs::remove_dir(parent);
    }
}

/// Whether a file is there and was written after another.
fn is_newer(path: &Path, than: &Path) -> bool {
    let written = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    written(path).is_some_and(|path| Some(path) > written(than))
}

/// Keeps a file of metadata that is damaged: what is written next for its key has its name. One
/// that only cannot be read now stays where it is, and so does a link.
fn set_aside(path: &Path) {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let is_named = path.extension().is_some_and(|extension| extension == "json");
    let mut aside = path.as_os_str().to_owned();
    aside.push(".damaged");
    if !is_file || !is_named || Path::new(&aside).exists() || fs::read(path).is_err() {
        return;
    }
    if let Err(error) = fs::rename(path, aside) {
        tracing::warn!("`{}` could not be renamed: {error}", path.display());
    }
}

/// Whether there is a directory, and not a link to one.
pub(super) fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
