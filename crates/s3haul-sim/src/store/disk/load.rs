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

use super::{DiskStore, Sidecar, failed};
use crate::store::{Blob, Part, StoreResult, Upload, Version, codec};

impl DiskStore {
    /// Fills the index from the files.
    pub(super) fn load(&self) -> StoreResult {
        for (name, path) in list_directory(&self.hidden("buckets"))? {
            let Some(name) = name.strip_suffix(".json") else { continue };
            let Some(settings) = self.read_json(&path) else { continue };
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
                if path.is_dir() {
                    pending.push(path);
                    continue;
                }
                let Some(sidecar) = self.read_json::<Sidecar<Version>>(&path) else { continue };
                let relative = path.strip_prefix(top).ok().and_then(Path::to_str);
                let encoded = relative.and_then(|path| path.strip_suffix(".json"));
                if encoded.and_then(codec::decode).as_ref() != Some(&sidecar.key) {
                    self.left_out(&path, "it lies in the wrong place");
                    continue;
                }
                rename_sidecar(&path, &self.sidecar_path(bucket, &sidecar.key))?;
                self.load_versions(bucket, sidecar)?;
            }
        }
        Ok(())
    }

    /// Takes the versions of a key if any of them is whole. The others stay among them, so that no
    /// older version stands for a damaged one: a request for its bytes fails.
    fn load_versions(&self, bucket: &str, sidecar: Sidecar<Version>) -> StoreResult {
        let (key, mut versions) = (sidecar.key, sidecar.versions);
        versions.retain(|version| match &version.blob {
            Blob::File(path) => self.is_inside(path),
            _ => version.delete_marker || version.size == 0,
        });
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

fn read_directory(path: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        found.extend(entry.file_name().into_string().map(|name| (name, entry.path())));
    }
    Ok(found)
}

/// Gives a sidecar the name that it has on this file system: the folder may come from another, or
/// from a version that did not look at the file system.
fn rename_sidecar(path: &Path, wanted: &Path) -> StoreResult {
    if path == wanted {
        return Ok(());
    }
    let rename = || {
        wanted.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::rename(path, wanted)
    };
    rename().map_err(|error| {
        let what = format!("`{}`: {error}", path.display());
        failed("renaming metadata")(io::Error::new(error.kind(), what))
    })?;
    if let Some(parent) = path.parent() {
        // It stays if it holds others.
        let _ = fs::remove_dir(parent);
    }
    Ok(())
}
