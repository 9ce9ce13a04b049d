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
    /// The bucket is gone: a request may have found it just before.
    is_removed: bool,
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

impl Shelf {
    fn update(
        &mut self,
        key: &str,
        change: Change<'_>,
        persist: &mut dyn FnMut(&Versions, &mut Versions) -> StoreResult,
    ) -> S3Result<()> {
        if self.is_removed {
            return Err(StoreError::NoSuchBucket.into());
        }
        let old = self.objects.get(key.as_bytes()).cloned().unwrap_or_default();
        let mut new = old.clone();
        change(&mut new)?;
        persist(&old, &mut new)?;
        if new.is_empty() {
            self.objects.remove(key.as_bytes());
        } else if let Some(versions) = self.objects.get_mut(key.as_bytes()) {
            *versions = new;
        } else {
            self.objects.insert(key.as_bytes().into(), new);
        }
        Ok(())
    }
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

    /// Creates a bucket or replaces its settings, once `persist` has.
    pub(crate) fn put_bucket(
        &self,
        name: &str,
        settings: Bucket,
        persist: impl FnOnce(&Bucket) -> StoreResult,
    ) -> StoreResult {
        let mut shelves = write(&self.shelves);
        persist(&settings)?;
        write(shelves.entry(name.to_owned()).or_default()).settings = settings;
        Ok(())
    }

    /// Puts a bucket that needs no persisting.
    pub(crate) fn load_bucket(&self, name: &str, settings: Bucket) {
        write(write(&self.shelves).entry(name.to_owned()).or_default()).settings = settings;
    }

    /// Removes an empty bucket, once `persist` has.
    pub(crate) fn remove_bucket(
        &self,
        name: &str,
        persist: impl FnOnce() -> StoreResult,
    ) -> StoreResult {
        let mut shelves = write(&self.shelves);
        let shelf = shelves.get(name).cloned().ok_or(StoreError::NoSuchBucket)?;
        let mut shelf = write(&shelf);
        if !shelf.objects.is_empty() {
            return Err(StoreError::BucketNotEmpty);
        }
        persist()?;
        shelf.is_removed = true;
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
        write(&*self.shelf(bucket)?).update(key, change, persist)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_that_was_found_before_its_removal_takes_no_object_after_it() {
        let index = Index::default();
        index.load_bucket("b", Bucket::default());
        let shelf = index.shelf("b").unwrap();
        index.remove_bucket("b", || Ok(())).unwrap();
        let mut put = |versions: &mut Versions| {
            versions.push(Arc::default());
            Ok(())
        };
        let stored = write(&shelf).update("k", &mut put, &mut |_, _| Ok(()));
        assert_eq!(*stored.unwrap_err().code(), s3s::S3ErrorCode::NoSuchBucket);
    }

    #[test]
    fn a_bucket_that_could_not_be_removed_is_still_there() {
        let index = Index::default();
        let failing = || Err(StoreError::ReadOnly);
        index.put_bucket("b", Bucket::default(), |_| failing()).unwrap_err();
        assert!(index.bucket("b").is_none());
        index.load_bucket("b", Bucket::default());
        index.remove_bucket("b", failing).unwrap_err();
        assert!(index.bucket("b").is_some());
    }
}
