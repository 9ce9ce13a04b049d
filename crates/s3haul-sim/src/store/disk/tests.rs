//! The store itself: what its files and its index say about each other.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::store::{DEFAULT_REGION, Versioning};

const BUCKET: &str = "bbb";

fn store(root: &Path) -> DiskStore {
    with_bucket(DiskStore::open(root).unwrap())
}

/// A store on a file system that distinguishes these names.
fn store_on(root: &Path, names: Names) -> DiskStore {
    with_bucket(DiskStore::open_with(root, |_| Ok(names)).unwrap())
}

fn with_bucket(store: DiskStore) -> DiskStore {
    if store.bucket(BUCKET).is_none() {
        store.put_bucket(BUCKET, Bucket::default()).unwrap();
    }
    store
}

/// A blob as a request brings it.
fn staged(store: &DiskStore, body: &str) -> Blob {
    let mut sink = store.stage().unwrap();
    sink.write(body.to_owned().into()).unwrap();
    sink.finish().unwrap()
}

fn version(store: &DiskStore, id: &str, body: &str) -> Arc<Version> {
    let (blob, size) = (staged(store, body), body.len() as u64);
    Arc::new(Version { id: id.to_owned(), size, blob, ..Version::default() })
}

/// Sets the versions of a key, newest first.
fn set(store: &DiskStore, key: &str, versions: &[Arc<Version>]) {
    try_set(store, key, versions).unwrap();
}

fn try_set(store: &DiskStore, key: &str, versions: &[Arc<Version>]) -> S3Result<()> {
    let mut change = |kept: &mut Versions| {
        *kept = versions.to_vec();
        Ok(())
    };
    store.update(BUCKET, key, &mut change)
}

/// Puts a directory at the place of a key's metadata, so that it can be neither written nor
/// removed.
fn block_metadata(store: &DiskStore, key: &str) {
    let path = store.sidecar_path(BUCKET, key);
    let _ = fs::remove_file(&path);
    fs::create_dir_all(path).unwrap();
}

/// Names of what is in the directories of data.
fn data_files(store: &DiskStore) -> Vec<String> {
    let directories = [store.hidden("tmp"), store.hidden("blobs"), store.root.join(BUCKET)];
    let entries = directories.iter().flat_map(|directory| fs::read_dir(directory).unwrap());
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn found(store: &DiskStore, key: &str) -> Found {
    let version = store.versions(BUCKET, key).unwrap().swap_remove(0);
    Found { bucket: BUCKET.to_owned(), key: key.to_owned(), version }
}

fn read(store: &DiskStore, found: &Found) -> StoreResult<String> {
    let mut source = store.open_found(found, 0..found.version.size)?;
    let mut text = String::new();
    while let Some(chunk) = source.next_chunk()? {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    Ok(text)
}

#[test]
fn a_version_that_was_replaced_since_it_was_found_does_not_give_the_next_ones_bytes() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    set(&store, "a/k", &[version(&store, "null", "first")]);
    let first = found(&store, "a/k");
    assert_eq!(read(&store, &first).unwrap(), "first");
    let replacements: [&dyn Fn(); 2] =
        [&|| set(&store, "a/k", &[version(&store, "null", "other")]), &|| {
            set(&store, "a/k", &[]);
            set(&store, "a/k", &[version(&store, "null", "third")]);
        }];
    for replace in replacements {
        let before = found(&store, "a/k");
        replace();
        // The files have one name.
        assert_eq!(found(&store, "a/k").version.blob, before.version.blob);
        assert!(matches!(read(&store, &before), Err(StoreError::Gone)));
        let (blob, length) = (before.version.blob.clone(), before.version.size);
        let piece = Piece { of: Some(before), blob, offset: 0, length };
        assert!(matches!(store.assemble(&[piece]), Err(StoreError::Gone)));
    }
    assert_eq!(read(&store, &found(&store, "a/k")).unwrap(), "third");
}

#[test]
fn metadata_that_cannot_be_read_is_left_out_and_the_rest_is_served() {
    let root = tempfile::tempdir().unwrap();
    let upload = r#"{"id":"u","bucket":"bbb","key":"k","created_ms":0,"attributes":{},"tags":[]}"#;
    let upload = serde_json::from_str(upload).unwrap();
    {
        let store = store(root.path());
        for key in ["damaged", "dir/whole"] {
            set(&store, key, &[version(&store, "null", key)]);
        }
        store.put_bucket("ccc", Bucket::default()).unwrap();
        store.put_upload(upload).unwrap();
    }
    let hidden = root.path().join(HIDDEN);
    for damaged in [
        "meta/bbb/damaged.json",
        "meta/bbb/dir%/.DS_Store",
        "meta/bbb/stray.json",
        "buckets/ccc.json",
        "buckets/stray",
        "uploads/stray",
        "uploads/u/part-1.json",
    ] {
        fs::write(hidden.join(damaged), "{\"key\":\"stray\"").unwrap();
    }
    let store = store(root.path());
    assert_eq!(read(&store, &found(&store, "dir/whole")).unwrap(), "dir/whole");
    assert!(store.versions(BUCKET, "damaged").unwrap().is_empty());
    assert!(store.bucket("ccc").is_none());
    assert!(store.parts("u").unwrap().is_empty());
    // All but `buckets/stray`, which has the name of no metadata.
    assert_eq!(store.left_out(), 6);
    // What is written next takes no file away that could not be read.
    set(&store, "damaged", &[version(&store, "null", "another")]);
    set(&store, "damaged", &[]);
    assert!(hidden.join("meta/bbb/damaged.json.damaged").exists());
    set(&store, "dir/whole", &[]);
    store.remove_bucket(BUCKET).unwrap();
    assert!(hidden.join("meta/bbb/damaged.json.damaged").exists());
}

#[test]
fn a_bucket_whose_settings_cannot_be_read_keeps_its_objects_and_their_versions() {
    let root = tempfile::tempdir().unwrap();
    {
        let store = store(root.path());
        set(&store, "k", &[version(&store, "null", "old")]);
    }
    fs::write(root.path().join(HIDDEN).join("buckets/bbb.json"), "").unwrap();
    let store = store(root.path());
    assert_eq!(read(&store, &found(&store, "k")).unwrap(), "old");
    let bucket = store.bucket(BUCKET).unwrap();
    assert_eq!(bucket.versioning, Versioning::Enabled);
    assert_eq!(bucket.region, DEFAULT_REGION, "it can be reached");
}

#[test]
fn of_two_files_for_one_object_the_newer_one_counts() {
    let root = tempfile::tempdir().unwrap();
    {
        let store = store_on(root.path(), Names::Exact);
        if probe_names(root.path()).unwrap() != Names::Exact {
            return;
        }
        set(&store, "A", &[version(&store, "null", "old")]);
    }
    let meta = root.path().join(HIDDEN).join("meta").join(BUCKET);
    let other = fs::read_dir(&meta).unwrap().next().unwrap().unwrap().path();
    let old = fs::read(&other).unwrap();
    let store = store_on(root.path(), Names::Folded);
    set(&store, "A", &[version(&store, "null", "newer")]);
    drop(store);
    fs::write(&other, old).unwrap();
    let time = std::time::SystemTime::UNIX_EPOCH;
    fs::File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
    let store = store_on(root.path(), Names::Folded);
    assert_eq!(read(&store, &found(&store, "A")).unwrap(), "newer");
    assert_eq!(store.left_out(), 1);
}

#[test]
fn a_version_whose_file_is_damaged_stays_the_current_one_and_cannot_be_read() {
    let root = tempfile::tempdir().unwrap();
    for damage in [|path: &Path| fs::remove_file(path), |path: &Path| fs::write(path, "other")] {
        {
            let store = store(root.path());
            set(&store, "k", &[version(&store, "2", "newest"), version(&store, "1", "oldest")]);
        }
        let store = store(root.path());
        let newest = found(&store, "k");
        assert_eq!(read(&store, &newest).unwrap(), "newest");
        let Blob::File(path) = &newest.version.blob else { panic!("{newest:?}") };
        damage(&root.path().join(path)).unwrap();
        drop(store);

        let store = self::store(root.path());
        let versions = store.versions(BUCKET, "k").unwrap();
        assert_eq!(versions.iter().map(|kept| kept.id.as_str()).collect::<Vec<_>>(), ["2", "1"]);
        assert!(matches!(read(&store, &found(&store, "k")), Err(StoreError::Gone)));
        let older = Found { version: Arc::clone(&versions[1]), ..found(&store, "k") };
        assert_eq!(read(&store, &older).unwrap(), "oldest");
        assert_eq!(store.left_out(), 1);
    }
}

#[test]
fn a_version_whose_metadata_cannot_be_written_leaves_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    for key in ["k", ".hidden"] {
        block_metadata(&store, key);
        try_set(&store, key, &[version(&store, "null", "lost")]).unwrap_err();
        assert_eq!(data_files(&store), [""; 0], "{key}");
        assert!(store.versions(BUCKET, key).unwrap().is_empty());
    }
}

#[test]
fn a_version_that_cannot_have_the_natural_path_keeps_its_own() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    let mut versions = vec![version(&store, "null", "data")];
    let before = versions.clone();
    block_metadata(&store, "k");
    store.settle(BUCKET, "k", &mut versions);
    assert_eq!(versions, before);
    let Blob::File(path) = &before[0].blob else { panic!("{before:?}") };
    assert!(root.path().join(path).exists());
    assert!(!root.path().join("bbb/k").exists());
}

#[test]
fn a_removal_whose_metadata_cannot_be_removed_fails_and_removes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let store = store(root.path());
    set(&store, "k", &[version(&store, "null", "data")]);
    block_metadata(&store, "k");
    try_set(&store, "k", &[]).unwrap_err();
    assert_eq!(read(&store, &found(&store, "k")).unwrap(), "data");
}

/// Keys that some file systems take for one, and some in directories that these take for one.
const ALIKE: [&str; 8] =
    ["a", "A", "dir/x", "Dir/x", "Dir/y", "caf\u{e9}", "cafe\u{301}", "caf\u{c9}"];

/// Paths of a bucket's metadata, from the bucket on.
fn metadata_files(store: &DiskStore) -> Vec<String> {
    let top = store.hidden("meta").join(BUCKET);
    let (mut pending, mut files) = (vec![top.clone()], Vec::new());
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                files.push(path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    files
}

#[test]
fn keys_that_differ_in_case_or_form_have_metadata_of_their_own_on_every_file_system() {
    let root = tempfile::tempdir().unwrap();
    let store = store_on(root.path(), Names::Folded);
    for key in ALIKE {
        set(&store, key, &[version(&store, "null", key)]);
    }
    let files = metadata_files(&store);
    let folded: BTreeSet<_> = files.iter().map(|file| file.to_ascii_lowercase()).collect();
    assert_eq!(folded.len(), ALIKE.len(), "{files:?}");
    // What is ASCII has one form.
    assert!(files.iter().all(|file| file.is_ascii()), "{files:?}");
}

#[test]
fn a_folder_can_move_from_one_kind_of_file_system_to_another() {
    let root = tempfile::tempdir().unwrap();
    if probe_names(root.path()).unwrap() != Names::Exact {
        return;
    }
    let systems = [Names::Exact, Names::Folded, Names::Exact, Names::Folded];
    for (round, names) in systems.into_iter().enumerate() {
        let store = store_on(root.path(), names);
        for key in ALIKE {
            if round > 0 {
                assert_eq!(read(&store, &found(&store, key)).unwrap(), format!("{key} {round}"));
            }
            set(&store, key, &[version(&store, "null", &format!("{key} {}", round + 1))]);
        }
        assert_eq!(metadata_files(&store).len(), ALIKE.len());
    }
    let store = store_on(root.path(), Names::Folded);
    for key in ALIKE {
        set(&store, key, &[]);
    }
    drop(store);
    let store = store_on(root.path(), Names::Exact);
    assert!(ALIKE.iter().all(|key| store.versions(BUCKET, key).unwrap().is_empty()));
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_lock_is_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let (hidden, outside) = (root.path().join("store").join(HIDDEN), root.path().join("outside"));
    fs::create_dir_all(&hidden).unwrap();
    std::os::unix::fs::symlink(&outside, hidden.join("lock")).unwrap();
    store(&root.path().join("store"));
    assert!(!outside.exists());
}
