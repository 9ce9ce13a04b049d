//! The ordered index of buckets, objects and uploads that all stores keep: in memory, whatever
//! becomes of the bytes.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};

use s3s::S3Result;

use super::{
    Bucket, Change, Entry, Found, Part, Seek, Step, StoreError, StoreResult, Upload, Version,
    Versions,
};

type Objects = BTreeMap<Box<[u8]>, Versions>;

/// One bucket of the index.
#[derive(Default)]
struct Shelf {
    settings: Bucket,
    objects: Objects,
}

/// What is kept of an upload.
struct OpenUpload {
    upload: Arc<Upload>,
    parts: BTreeMap<i32, Part>,
}

/// Buckets, objects and uploads in order.
#[derive(Default)]
pub(crate) struct Index {
    shelves: RwLock<BTreeMap<String, Arc<RwLock<Shelf>>>>,
    uploads: RwLock<BTreeMap<String, OpenUpload>>,
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

fn key_text(key: &[u8]) -> &str {
    std::str::from_utf8(key).expect("keys enter the index as strings")
}

impl Index {
    fn shelf(&self, bucket: &str) -> StoreResult<Arc<RwLock<Shelf>>> {
        read(&self.shelves).get(bucket).cloned().ok_or(StoreError::NoSuchBucket)
    }

    pub(crate) fn buckets(&self) -> Vec<(String, Bucket)> {
        let shelves = read(&self.shelves);
        shelves.iter().map(|(name, shelf)| (name.clone(), read(shelf).settings.clone())).collect()
    }

    pub(crate) fn bucket(&self, name: &str) -> Option<Bucket> {
        read(&self.shelves).get(name).map(|shelf| read(shelf).settings.clone())
    }

    pub(crate) fn put_bucket(&self, name: &str, settings: Bucket) {
        let mut shelves = write(&self.shelves);
        let shelf = shelves.entry(name.to_owned()).or_default();
        write(shelf).settings = settings;
    }

    pub(crate) fn remove_bucket(&self, name: &str) -> StoreResult {
        let mut shelves = write(&self.shelves);
        let shelf = shelves.get(name).ok_or(StoreError::NoSuchBucket)?;
        if !read(shelf).objects.is_empty() {
            return Err(StoreError::BucketNotEmpty);
        }
        shelves.remove(name);
        Ok(())
    }

    pub(crate) fn scan(
        &self,
        bucket: &str,
        from: Seek,
        visit: &mut dyn FnMut(Entry<'_>) -> Step,
    ) -> StoreResult {
        let shelf = self.shelf(bucket)?;
        let shelf = read(&shelf);
        let mut start = match from {
            Seek::At(key) => Bound::Included(key),
            Seek::After(key) => Bound::Excluded(key),
        };
        'seek: loop {
            let low = start.as_ref().map(Vec::as_slice);
            for (key, versions) in shelf.objects.range::<[u8], _>((low, Bound::Unbounded)) {
                match visit(Entry::of_versions(key_text(key), versions)) {
                    Step::Next => {}
                    Step::Stop => return Ok(()),
                    Step::Jump(to) => {
                        start = Bound::Included(to);
                        continue 'seek;
                    }
                }
            }
            return Ok(());
        }
    }

    pub(crate) fn versions(&self, bucket: &str, key: &str) -> StoreResult<Versions> {
        let shelf = self.shelf(bucket)?;
        Ok(read(&shelf).objects.get(key.as_bytes()).cloned().unwrap_or_default())
    }

    /// Whether a version is still the one that was found: unchanged, not replaced by one that has
    /// the same id or the same file name.
    pub(crate) fn holds(&self, found: &Found) -> bool {
        let versions = self.versions(&found.bucket, &found.key).unwrap_or_default();
        versions.iter().any(|version| Arc::ptr_eq(version, &found.version))
    }

    /// Applies a change; `persist` sees the versions before and after, and may change the latter.
    pub(crate) fn update(
        &self,
        bucket: &str,
        key: &str,
        change: Change<'_>,
        persist: &mut dyn FnMut(&Versions, &mut Versions) -> StoreResult,
    ) -> S3Result<()> {
        let shelf = self.shelf(bucket)?;
        let mut shelf = write(&shelf);
        let old = shelf.objects.get(key.as_bytes()).cloned().unwrap_or_default();
        let mut new = old.clone();
        change(&mut new)?;
        persist(&old, &mut new)?;
        if new.is_empty() {
            shelf.objects.remove(key.as_bytes());
        } else if let Some(versions) = shelf.objects.get_mut(key.as_bytes()) {
            *versions = new;
        } else {
            shelf.objects.insert(key.as_bytes().into(), new);
        }
        Ok(())
    }

    /// Puts versions found on disk at the start.
    pub(crate) fn load(&self, bucket: &str, key: &str, versions: Vec<Version>) -> StoreResult {
        let shelf = self.shelf(bucket)?;
        let versions = versions.into_iter().map(Arc::new).collect();
        write(&shelf).objects.insert(key.as_bytes().into(), versions);
        Ok(())
    }

    pub(crate) fn put_upload(&self, upload: Upload) {
        let id = upload.id.clone();
        let open = OpenUpload { upload: Arc::new(upload), parts: BTreeMap::new() };
        write(&self.uploads).insert(id, open);
    }

    pub(crate) fn upload(&self, id: &str) -> Option<Arc<Upload>> {
        read(&self.uploads).get(id).map(|open| Arc::clone(&open.upload))
    }

    pub(crate) fn uploads(&self, bucket: &str) -> Vec<Arc<Upload>> {
        let uploads = read(&self.uploads);
        let of_bucket = uploads.values().map(|open| &open.upload).filter(|u| u.bucket == bucket);
        let mut found: Vec<_> = of_bucket.cloned().collect();
        found.sort_by(|a, b| {
            (a.key.as_bytes(), a.created_ms, &a.id).cmp(&(b.key.as_bytes(), b.created_ms, &b.id))
        });
        found
    }

    /// Stores a part; false where the upload is unknown. Hands out the part that is not kept: the
    /// one it replaces, or the given one where the request for the stored one began later.
    pub(crate) fn put_part(&self, id: &str, part: Part, dropped: &mut Option<Part>) -> bool {
        let mut uploads = write(&self.uploads);
        let Some(open) = uploads.get_mut(id) else { return false };
        let is_late = open.parts.get(&part.number).is_some_and(|kept| kept.began > part.began);
        *dropped = if is_late { Some(part) } else { open.parts.insert(part.number, part) };
        true
    }

    /// Whether a part of that number is stored whose request began later.
    pub(crate) fn has_later_part(&self, id: &str, part: &Part) -> bool {
        let uploads = read(&self.uploads);
        let kept = uploads.get(id).and_then(|open| open.parts.get(&part.number));
        kept.is_some_and(|kept| kept.began > part.began)
    }

    pub(crate) fn parts(&self, id: &str) -> Option<Vec<Part>> {
        read(&self.uploads).get(id).map(|open| open.parts.values().cloned().collect())
    }

    pub(crate) fn remove_upload(&self, id: &str) -> bool {
        write(&self.uploads).remove(id).is_some()
    }
}
