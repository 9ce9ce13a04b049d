//! Objects as files.
//!
//! ```text
//! ROOT/<bucket>/<path>             bytes of an object whose key is a harmless path
//! ROOT/.s3haul/blobs/<id>          bytes of any other object, version or part
//! ROOT/.s3haul/meta/<bucket>/<encoded key>.json     all versions of the key
//! ROOT/.s3haul/buckets/<bucket>.json
//! ROOT/.s3haul/uploads/<id>/upload.json, part-<n>.json
//! ROOT/.s3haul/tmp/<id>            bytes on their way in
//! ROOT/.s3haul/lock                locked by the server that has the folder
//! ```
//!
//! The sidecar names the data file of each version, and its rename is the commit: a crash leaves
//! the old state or the new one, never a mixture. Nothing is fsynced. The index of keys is held in
//! memory and read from the sidecars at the start.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Read, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use s3s::S3Result;
use serde::{Deserialize, Serialize};

use super::codec::{self, Names};
use super::{
    Blob, Bucket, CHUNK_BYTES, Change, Found, Index, Part, Piece, Sink, Source, Store, StoreError,
    StoreResult, Upload, Version, Versions,
};

mod load;
#[cfg(test)]
mod tests;
/// Directory of everything that is not an object's natural file.
const HIDDEN: &str = ".s3haul";
/// Version of the sidecar format.
const FORMAT: u32 = 1;

/// A key's sidecar.
#[derive(Serialize, Deserialize)]
struct Sidecar<V> {
    format: u32,
    key: String,
    versions: Vec<V>,
}

/// Objects as files under a root directory.
pub(crate) struct DiskStore {
    root: PathBuf,
    /// Keeps other servers out.
    _lock: File,
    names: Names,
    /// Number of files and versions that could not be read, or not wholly, at the start.
    left_out: AtomicUsize,
    index: Index,
    /// Held while a part is stored: its file and the index must name the same.
    parts: Mutex<()>,
}

fn failed(action: &'static str) -> impl FnOnce(io::Error) -> StoreError {
    move |source| StoreError::Io { action, source }
}

/// A name that no other file of this store has.
fn fresh_id() -> String {
    format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..))
}

impl DiskStore {
    /// Opens a store, making its directories where they are missing. Another store of the same
    /// root, in this process or another, is an error.
    pub(crate) fn open(root: &Path) -> StoreResult<Self> {
        Self::open_with(root, probe_names)
    }

    fn open_with(root: &Path, probe: impl FnOnce(&Path) -> io::Result<Names>) -> StoreResult<Self> {
        let (index, parts) = (Index::default(), Mutex::new(()));
        let (lock, names, left_out) = (lock(root)?, Names::Exact, AtomicUsize::new(0));
        let root = root.to_path_buf();
        let mut store = Self { root, _lock: lock, names, left_out, index, parts };
        let _ = fs::remove_dir_all(store.hidden("tmp"));
        for directory in ["tmp", "blobs", "meta", "buckets", "uploads"] {
            fs::create_dir_all(store.hidden(directory)).map_err(failed("making the store"))?;
        }
        store.names = probe(&store.hidden("tmp")).map_err(failed("trying out the file system"))?;
        store.load()?;
        Ok(store)
    }

    fn hidden(&self, name: &str) -> PathBuf {
        self.root.join(HIDDEN).join(name)
    }

    /// Whether a symbolic link stands in for one of the directories on a path.
    fn leads_out(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(end, _)| &path[..end]);
        ends.into_iter().any(|directory| {
            fs::symlink_metadata(self.root.join(directory)).is_ok_and(|found| found.is_symlink())
        })
    }

    /// Opens a file of an object, unless a link was put in its place.
    fn open_file(&self, path: &str) -> StoreResult<File> {
        let whole = self.root.join(path);
        if self.leads_out(path) || whole.is_symlink() {
            return Err(StoreError::Gone);
        }
        File::open(whole).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Gone,
            _ => failed("opening an object's file")(error),
        })
    }

    fn open_blob_file(&self, blob: &Blob) -> StoreResult<Option<File>> {
        match blob {
            Blob::File(path) => self.open_file(path).map(Some),
            _ => Ok(None),
        }
    }

    /// Opens the file of a version. Fails where the version has been replaced since it was found:
    /// a natural path becomes the next version's while the index is locked.
    fn open_found_file(&self, found: &Found) -> StoreResult<Option<File>> {
        let Some(file) = self.open_blob_file(&found.version.blob)? else { return Ok(None) };
        let bytes = file.metadata().map_err(failed("opening an object's file"))?.len();
        let is_unchanged = bytes == found.version.size && self.index.holds(found);
        if is_unchanged { Ok(Some(file)) } else { Err(StoreError::Gone) }
    }

    fn sidecar_path(&self, bucket: &str, key: &str) -> PathBuf {
        self.hidden("meta").join(bucket).join(codec::encode(key, self.names) + ".json")
    }

    /// Gives new blobs their final place, writes the sidecar and removes what is no longer named.
    /// An error leaves the files as they were; once the sidecar is written, there is none.
    fn persist(&self, bucket: &str, key: &str, old: &Versions, new: &mut Versions) -> StoreResult {
        let mut placed = Vec::new();
        let is_written = self
            .place_new(bucket, key, new, &mut placed)
            .and_then(|()| self.write_sidecar(bucket, key, new));
        if is_written.is_err() {
            for blob in &placed {
                self.remove_blob(bucket, blob);
            }
            return is_written;
        }
        for version in old {
            if !new.iter().any(|kept| kept.blob == version.blob) {
                self.remove_blob(bucket, &version.blob);
            }
        }
        self.settle(bucket, key, new);
        Ok(())
    }

    /// Gives new blobs their final place, and lists them.
    fn place_new(
        &self,
        bucket: &str,
        key: &str,
        versions: &mut Versions,
        placed: &mut Vec<Blob>,
    ) -> StoreResult {
        for version in versions.iter_mut() {
            if let Blob::File(path) = &version.blob
                && is_temporary(path)
            {
                let blob = Blob::File(self.place(bucket, key, path)?);
                placed.push(blob.clone());
                Arc::make_mut(version).blob = blob;
            }
        }
        Ok(())
    }

    fn write_sidecar(&self, bucket: &str, key: &str, versions: &Versions) -> StoreResult {
        let path = self.sidecar_path(bucket, key);
        if versions.is_empty() {
            let removed = remove_and_prune(&path, &self.hidden("meta").join(bucket));
            return removed.map_err(failed("removing metadata"));
        }
        let versions = versions.iter().map(AsRef::as_ref).collect::<Vec<&Version>>();
        let sidecar = Sidecar { format: FORMAT, key: key.to_owned(), versions };
        self.write_json(&path, &sidecar)
    }

    /// Gives the newest version the key's natural path, once an older one has left it. Both names
    /// exist while the sidecar changes from one to the other. A version that cannot have it keeps
    /// the path that it has.
    fn settle(&self, bucket: &str, key: &str, versions: &mut Versions) {
        let Some(Blob::File(path)) = versions.first().map(|version| version.blob.clone()) else {
            return;
        };
        let Some(natural) = codec::natural_path(key).map(|natural| format!("{bucket}/{natural}"))
        else {
            return;
        };
        if path == natural || self.leads_out(&natural) {
            return;
        }
        if let Some(parent) = self.root.join(&natural).parent() {
            // Where this fails, so does the link.
            let _ = fs::create_dir_all(parent);
        }
        if fs::hard_link(self.root.join(&path), self.root.join(&natural)).is_err() {
            return;
        }
        let (old, new) = (Blob::File(path), Blob::File(natural));
        Arc::make_mut(&mut versions[0]).blob = new.clone();
        if self.write_sidecar(bucket, key, versions).is_ok() {
            self.discard(&old);
        } else {
            Arc::make_mut(&mut versions[0]).blob = old;
            self.discard(&new);
        }
    }

    /// Moves a temporary file to the key's natural path, or among the blobs where that is taken
    /// or unsafe.
    fn place(&self, bucket: &str, key: &str, temporary: &str) -> StoreResult<String> {
        let from = self.root.join(temporary);
        if let Some(natural) = codec::natural_path(key) {
            let relative = format!("{bucket}/{natural}");
            let target = self.root.join(&relative);
            let parent = target.parent().unwrap_or(&self.root);
            let free = !self.leads_out(&relative)
                && fs::create_dir_all(parent).is_ok()
                && fs::symlink_metadata(&target).is_err();
            if free && fs::rename(&from, &target).is_ok() {
                return Ok(relative);
            }
        }
        let relative = format!("{HIDDEN}/blobs/{}", fresh_id());
        fs::rename(&from, self.root.join(&relative)).map_err(failed("placing an object's file"))?;
        Ok(relative)
    }

    /// Removes a file that no version names any more. One that cannot be removed is no object.
    fn remove_blob(&self, bucket: &str, blob: &Blob) {
        let Blob::File(path) = blob else { return };
        let removed = remove_and_prune(&self.root.join(path), &self.root.join(bucket));
        if let Err(error) = removed {
            tracing::warn!(path, %error, "could not remove the data of an object that is gone");
        }
    }

    fn write_json<T: Serialize>(&self, path: &Path, value: &T) -> StoreResult {
        let text = serde_json::to_vec(value)
            .map_err(|error| StoreError::Io { action: "writing metadata", source: error.into() })?;
        let temporary = self.hidden("tmp").join(fresh_id());
        let write = || {
            fs::write(&temporary, &text)?;
            match fs::rename(&temporary, path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    path.parent().map_or(Ok(()), fs::create_dir_all)?;
                    fs::rename(&temporary, path)
                }
                other => other,
            }
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&temporary);
            failed("writing metadata")(error)
        })
    }

    fn new_file(&self) -> StoreResult<DiskSink> {
        let relative = format!("{HIDDEN}/tmp/{}", fresh_id());
        let path = self.root.join(&relative);
        let file = File::create_new(&path).map_err(failed("making a file"))?;
        let file = BufWriter::with_capacity(CHUNK_BYTES, file);
        Ok(DiskSink { file: Some(file), path, relative })
    }

    fn append(&self, sink: &mut DiskSink, piece: &Piece) -> StoreResult {
        let file = match &piece.of {
            Some(found) => self.open_found_file(found)?,
            None => self.open_blob_file(&piece.blob)?,
        };
        let (Some(mut file), Some(writer)) = (file, &mut sink.file) else { return Ok(()) };
        file.seek(SeekFrom::Start(piece.offset)).map_err(failed("reading an object's file"))?;
        let copied =
            io::copy(&mut file.take(piece.length), writer).map_err(failed("joining files"))?;
        if copied == piece.length { Ok(()) } else { Err(StoreError::Gone) }
    }
}

/// Locks a root until the file is dropped.
fn lock(root: &Path) -> StoreResult<File> {
    let hidden = root.join(HIDDEN);
    fs::create_dir_all(&hidden).map_err(failed("making the store"))?;
    let path = hidden.join("lock");
    if path.is_symlink() {
        // It leads elsewhere, and is not ours.
        fs::remove_file(&path).map_err(failed("opening the store's lock"))?;
    }
    let mut options = File::options();
    let file = options.create(true).truncate(false).write(true).open(path);
    let file = file.map_err(failed("opening the store's lock"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(root.to_path_buf())),
        Err(TryLockError::Error(error)) => {
            tracing::warn!(%error, ?root, "could not lock the folder: no other server may use it");
        }
    }
    Ok(file)
}

/// Which names the file system of a directory distinguishes.
fn probe_names(directory: &Path) -> io::Result<Names> {
    for (name, other) in [("probe-a", "probe-A"), ("probe-\u{e9}", "probe-e\u{301}")] {
        let written = fs::write(directory.join(name), "");
        // Some take no other letters than those of ASCII.
        if directory.join(other).exists() || (written.is_err() && !name.is_ascii()) {
            return Ok(Names::Folded);
        }
        written?;
        fs::remove_file(directory.join(name))?;
    }
    Ok(Names::Exact)
}

/// Removes the directories below and at a path that hold nothing else.
fn remove_empty(directory: &Path) {
    for (_, path) in load::read_directory(directory).unwrap_or_default() {
        if load::is_directory(&path) {
            remove_empty(&path);
        }
    }
    let _ = fs::remove_dir(directory);
}

fn is_temporary(path: &str) -> bool {
    path.strip_prefix(HIDDEN).is_some_and(|rest| rest.starts_with("/tmp/"))
}

/// Removes a file, if it is there, and the directories that it leaves empty, up to a top that
/// stays.
fn remove_and_prune(path: &Path, top: &Path) -> io::Result<()> {
    fs::remove_file(path).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    let inside = |directory: &&Path| directory.starts_with(top) && *directory != top;
    for directory in path.ancestors().skip(1).take_while(inside) {
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
}

impl Store for DiskStore {
    fn index(&self) -> &Index {
        &self.index
    }

    fn put_bucket(&self, name: &str, bucket: Bucket) -> StoreResult {
        self.index.put_bucket(name, bucket, |bucket| {
            fs::create_dir_all(self.root.join(name)).map_err(failed("making the bucket"))?;
            self.write_json(&self.hidden("buckets").join(format!("{name}.json")), bucket)
        })
    }

    fn remove_bucket(&self, name: &str) -> StoreResult {
        self.index.remove_bucket(name, || {
            let path = self.hidden("buckets").join(format!("{name}.json"));
            fs::remove_file(path).map_err(failed("removing the bucket"))?;
            // What could not be read stays, too.
            remove_empty(&self.hidden("meta").join(name));
            // Files that are no objects of ours stay where they are.
            let _ = fs::remove_dir(self.root.join(name));
            Ok(())
        })
    }

    fn update(&self, bucket: &str, key: &str, change: Change<'_>) -> S3Result<()> {
        let mut persist = |old: &Versions, new: &mut Versions| self.persist(bucket, key, old, new);
        self.index.update(bucket, key, change, &mut persist)
    }

    fn stage(&self) -> StoreResult<Box<dyn Sink>> {
        Ok(Box::new(self.new_file()?))
    }

    fn discard(&self, blob: &Blob) {
        if let Blob::File(path) = blob {
            let _ = fs::remove_file(self.root.join(path));
        }
    }

    fn assemble(&self, pieces: &[Piece]) -> StoreResult<Blob> {
        let mut sink = self.new_file()?;
        for piece in pieces {
            self.append(&mut sink, piece)?;
        }
        Box::new(sink).finish()
    }

    fn open(&self, blob: &Blob, range: Range<u64>) -> StoreResult<Box<dyn Source>> {
        source(self.open_blob_file(blob)?, range)
    }

    fn open_found(&self, found: &Found, range: Range<u64>) -> StoreResult<Box<dyn Source>> {
        source(self.open_found_file(found)?, range)
    }

    fn put_upload(&self, upload: Upload) -> StoreResult {
        let directory = self.hidden("uploads").join(&upload.id);
        self.write_json(&directory.join("upload.json"), &upload)?;
        self.index.put_upload(upload);
        Ok(())
    }

    fn put_part(&self, id: &str, mut part: Part) -> StoreResult<bool> {
        let _held = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = self.index.upload(id).is_some();
        if !is_open || self.index.has_later_part(id, &part) {
            self.discard(&part.blob);
            return Ok(is_open);
        }
        if let Blob::File(path) = &part.blob {
            let placed = format!("{HIDDEN}/blobs/{}", fresh_id());
            fs::rename(self.root.join(path), self.root.join(&placed))
                .map_err(failed("placing a part's file"))?;
            part.blob = Blob::File(placed);
        }
        let name = format!("part-{}.json", part.number);
        if let Err(error) = self.write_json(&self.hidden("uploads").join(id).join(name), &part) {
            self.discard(&part.blob);
            return Err(error);
        }
        let mut dropped = None;
        let is_kept = self.index.put_part(id, part, &mut dropped);
        if let Some(dropped) = dropped {
            self.discard(&dropped.blob);
        }
        Ok(is_kept)
    }

    fn remove_upload(&self, id: &str) -> StoreResult<bool> {
        let parts = self.index.parts(id).unwrap_or_default();
        if !self.index.remove_upload(id) {
            return Ok(false);
        }
        for part in parts {
            self.discard(&part.blob);
        }
        let directory = self.hidden("uploads").join(id);
        fs::remove_dir_all(directory).map_err(failed("removing an upload"))?;
        Ok(true)
    }

    fn blocks(&self) -> bool {
        true
    }

    fn left_out(&self) -> usize {
        self.left_out.load(Ordering::Relaxed)
    }
}

/// Writes a temporary file, and removes it unless it was finished.
struct DiskSink {
    file: Option<BufWriter<File>>,
    path: PathBuf,
    relative: String,
}

impl Sink for DiskSink {
    fn write(&mut self, data: Bytes) -> StoreResult {
        match &mut self.file {
            Some(file) => file.write_all(&data).map_err(failed("writing an object's file")),
            None => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> StoreResult<Blob> {
        if let Some(file) = &mut self.file {
            file.flush().map_err(failed("writing an object's file"))?;
        }
        self.file = None;
        Ok(Blob::File(self.relative.clone()))
    }
}

impl Drop for DiskSink {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Reads a range of a file; nothing if there is none.
fn source(file: Option<File>, range: Range<u64>) -> StoreResult<Box<dyn Source>> {
    let Some(mut file) = file else { return Ok(Box::new(NoSource)) };
    file.seek(SeekFrom::Start(range.start)).map_err(failed("reading an object's file"))?;
    Ok(Box::new(DiskSource { file, remaining: range.end - range.start }))
}

struct DiskSource {
    file: File,
    remaining: u64,
}

impl Source for DiskSource {
    fn next_chunk(&mut self) -> StoreResult<Option<Bytes>> {
        let wanted = self.remaining.min(CHUNK_BYTES as u64);
        if wanted == 0 {
            return Ok(None);
        }
        let mut chunk = Vec::with_capacity(usize::try_from(wanted).unwrap_or(CHUNK_BYTES));
        let read = (&mut self.file).take(wanted).read_to_end(&mut chunk);
        let read = read.map_err(failed("reading an object's file"))? as u64;
        if read < wanted {
            return Err(StoreError::Gone);
        }
        self.remaining -= read;
        Ok(Some(chunk.into()))
    }
}

struct NoSource;

impl Source for NoSource {
    fn next_chunk(&mut self) -> StoreResult<Option<Bytes>> {
        Ok(None)
    }
}
