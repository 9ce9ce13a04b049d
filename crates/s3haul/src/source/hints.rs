//! Where earlier listings found the keys of a prefix, in files of a cache folder of this machine.
//!
//! A listing that has ended leaves a file with keys of its prefix and the number of others between
//! them; the next one of the same prefix begins everywhere at once. A file that is old, damaged or
//! of another bucket costs time: what is listed does not depend on it. Where the target of a sync
//! or comparison has no file, its listing uses that of the source, and where the other side is a
//! folder, what a walk of it has found by the time of the first page. Nothing is kept where
//! [`keep_in`] was not called, of listings of a few pages, and of ranges of a prefix.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::engine::core::{Engine, Place};
use crate::fs::FileBatch;
use s3haul_list::{Boundary, Expected, ListRequest};
use s3haul_wire::Client;

/// Version of the files.
const VERSION: u32 = 1;
/// Files that are kept: those that were written last.
const FILES_MAX: usize = 256;
/// Longest key of S3: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html>.
const KEY_BYTES_MAX: usize = 1_024;
/// Longest file that is read.
const BYTES_MAX: u64 = 8 << 20;

/// Where they are kept, in this process.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Keeps what listings of this process find out in a folder, from now on, and has them use what is
/// there. The first call counts.
pub fn keep_in(folder: PathBuf) {
    FOLDER.get_or_init(|| folder);
}

/// What is listed of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Objects.
    Objects,
    /// Versions and delete markers.
    Versions,
}

/// Where a listing leaves what it found out.
#[derive(Clone, Debug)]
pub struct Hints {
    file: PathBuf,
}

/// A file. Keys have much in common with those before them.
#[derive(Serialize, Deserialize)]
struct HintFile {
    version: u32,
    /// Bytes in common with the key before, the rest of the key, and the keys up to it.
    boundaries: Vec<(usize, String, u64)>,
}

impl Hints {
    /// Gives a request what the last listing of its prefix found out, if that is kept.
    pub async fn recall(
        client: &Client,
        bucket: &str,
        listed: Listed,
        request: &mut ListRequest,
    ) -> Option<Self> {
        let folder = FOLDER.get().filter(|_| request.delimiter.is_none() && !request.is_serial)?;
        let service = client.config().endpoint.url.as_deref().unwrap_or("aws");
        let identity = format!("{service}\n{bucket}\n{listed:?}\n{}", request.prefix);
        let hints = Self::in_folder(folder, &identity);
        let file = hints.file.clone();
        request.boundaries = in_background(move || read(&file)).await.unwrap_or_default();
        tracing::debug!(count = request.boundaries.len(), "boundaries of the last listing");
        let is_whole = request.range.after.is_empty() && request.range.through.is_none();
        is_whole.then_some(hints)
    }

    fn in_folder(folder: &Path, identity: &str) -> Self {
        Self { file: folder.join(format!("{:032x}.json", xxh3_128(identity.as_bytes()))) }
    }

    /// Keeps what a listing found out once it has ended. Where that is nothing, as in a prefix that
    /// has become short, nothing earlier is kept either. What cannot be kept is left.
    pub async fn keep(self, boundaries: Vec<Boundary>) {
        in_background(move || {
            if boundaries.is_empty() {
                // Mostly there is none.
                _ = fs::remove_file(&self.file);
            } else if let Err(error) = write(&self.file, boundaries) {
                tracing::debug!(%error, "what a listing found out is not kept");
            }
        })
        .await;
    }
}

/// What should have the same names as a prefix.
#[derive(Clone, Debug)]
pub(crate) enum Original {
    /// A prefix that was listed before.
    Prefix {
        client: Client,
        bucket: String,
        /// What stands before the names that both have.
        root: String,
    },
    /// A folder that is walked at the same time.
    Folder(Arc<NamesAhead>),
}

impl Original {
    /// The source, below this root.
    pub(crate) fn of_source(engine: &Engine, root: &str) -> Self {
        let client = Place::Source.client(engine).clone();
        let bucket = Place::Source.bucket(engine).to_owned();
        Self::Prefix { client, bucket, root: root.to_owned() }
    }

    /// Gives a request for the copy, whose names follow `root`, what is known of the original,
    /// unless the copy has boundaries of its own.
    pub(crate) async fn teach(&self, root: &str, request: &mut ListRequest) {
        let Some(below) = request.prefix.strip_prefix(root) else { return };
        if !request.boundaries.is_empty() {
            return;
        }
        request.expected = Some(match self {
            Self::Prefix { client, bucket, root } => {
                let prefix = format!("{root}{below}");
                let mut original = ListRequest { prefix, ..ListRequest::default() };
                Hints::recall(client, bucket, Listed::Objects, &mut original).await;
                let ListRequest { boundaries, prefix, .. } = original;
                let boundaries = moved(boundaries, &prefix, &request.prefix);
                let count = boundaries.len();
                tracing::debug!(count, "boundaries of the last listing of the source");
                Expected::new(move || boundaries.clone())
            }
            Self::Folder(names) => {
                let (names, root) = (Arc::clone(names), root.to_owned());
                Expected::new(move || {
                    let boundaries = moved(names.boundaries(), "", &root);
                    tracing::debug!(count = boundaries.len(), "boundaries of the folder's names");
                    boundaries
                })
            }
        });
    }
}

/// Names that a walk has found, one of so many: where the keys of a bucket with the same names are.
#[derive(Debug, Default)]
pub(crate) struct NamesAhead {
    found: Mutex<Vec<Boundary>>,
    /// Names so far.
    count: AtomicUsize,
}

impl NamesAhead {
    /// Names from one to the next: so many and a few more fit a page.
    const STEP: usize = 950;
    /// Names that are kept: what the walk may be ahead of its reader.
    const KEPT_MAX: usize = 16;

    /// Notes the names of a batch, which follow those before.
    pub(crate) fn note(&self, batch: &FileBatch) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let since = self.count.fetch_add(batch.len(), Ordering::Relaxed) % Self::STEP;
        let mut index = Self::STEP - 1 - since;
        while let Some(file) = batch.get(index).filter(|_| found.len() < Self::KEPT_MAX) {
            found.push(Boundary { key: file.relative.to_owned(), keys: Self::STEP as u64 });
            index += Self::STEP;
        }
    }

    fn boundaries(&self) -> Vec<Boundary> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The boundaries of a prefix as those of another; keys that would be too long for S3 are left out.
fn moved(boundaries: Vec<Boundary>, from: &str, to: &str) -> Vec<Boundary> {
    let moved = boundaries.into_iter().filter_map(|Boundary { key, keys }| {
        let key = format!("{to}{}", key.strip_prefix(from)?);
        (key.len() <= KEY_BYTES_MAX).then_some(Boundary { key, keys })
    });
    moved.collect()
}

/// The folder may be one of a network.
async fn in_background<T>(work: impl FnOnce() -> T + Send + 'static) -> T
where
    T: Default + Send + 'static,
{
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

fn read(file: &Path) -> Option<Vec<Boundary>> {
    // A device or pipe in its place may have no end.
    let found = fs::symlink_metadata(file).ok()?;
    let is_usual = found.is_file() && found.len() <= BYTES_MAX;
    let bytes = is_usual.then(|| fs::read(file).ok())??;
    let HintFile { version, boundaries } = serde_json::from_slice(&bytes).ok()?;
    let mut read = Vec::with_capacity(boundaries.len());
    let mut before = String::new();
    for (shared, rest, keys) in boundaries.into_iter().filter(|_| version == VERSION) {
        let key = format!("{}{rest}", before.get(..shared)?);
        if key <= before {
            return None;
        }
        before.clone_from(&key);
        read.push(Boundary { key, keys });
    }
    Some(read)
}

fn write(file: &Path, boundaries: Vec<Boundary>) -> io::Result<()> {
    let mut before = String::new();
    let shortened = boundaries.into_iter().map(|Boundary { key, keys }| {
        let shared = shared(&before, &key);
        let rest = key[shared..].to_owned();
        before = key;
        (shared, rest, keys)
    });
    let contents = HintFile { version: VERSION, boundaries: shortened.collect() };
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    // Keys are for their owner only.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    // A reader sees all of a file or nothing, also where several processes write it.
    let unfinished = file.with_extension(format!("{:016x}", fastrand::u64(..)));
    let mut options = fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&unfinished).and_then(|mut written| {
        written.write_all(&serde_json::to_vec(&contents)?)?;
        fs::rename(&unfinished, file)
    });
    if written.is_err() {
        _ = fs::remove_file(&unfinished);
    }
    written?;
    prune(folder)
}

/// Bytes that two keys begin with, whole characters of both.
fn shared(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}

/// Removes the oldest files where there are too many, also those that were never finished.
fn prune(folder: &Path) -> io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Others may be at work.
        if let Ok(metadata) = entry.metadata() {
            files.push((metadata.modified()?, entry.path()));
        }
    }
    files.sort();
    let surplus = files.len().saturating_sub(FILES_MAX);
    for (_, path) in &files[..surplus] {
        _ = fs::remove_file(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::fs::{FileInfo, FileKind};

    proptest! {
        #[test]
        fn what_is_kept_is_read_again(
            keys in prop::collection::btree_map("[a-c/é🚀\n\"]{1,12}", any::<u64>(), 1..40),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("new/hints.json");
            let boundary = |(key, keys): (String, u64)| Boundary { key, keys };
            let boundaries: Vec<_> = keys.into_iter().map(boundary).collect();
            write(&file, boundaries.clone()).unwrap();
            prop_assert_eq!(read(&file), Some(boundaries));
        }

        #[test]
        fn nonsense_is_nothing(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..200),
                r#"\{"version":[12],"boundaries":\[(\[[0-3],"[abé]{0,2}",[0-9]\],?){0,3}\]\}"#
                    .prop_map(String::into_bytes),
            ],
        ) {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), bytes).unwrap();
            let boundaries = read(file.path()).unwrap_or_default();
            prop_assert!(boundaries.windows(2).all(|pair| pair[0].key < pair[1].key));
        }
    }

    /// A link to `/dev/zero` took all memory.
    #[test]
    fn what_is_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["hints.json", "link.json"].map(|name| folder.path().join(name));
        write(&file, vec![Boundary { key: "a".to_owned(), keys: 1 }]).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!((read(&file).is_some(), read(&link)), (true, None));
    }

    #[test]
    fn what_an_original_has_is_moved_to_its_copy() {
        let boundary = |key: &str| Boundary { key: key.to_owned(), keys: 7 };
        let original = vec![boundary("a/1"), boundary("b/12345"), boundary("b/2")];
        let long = "l".repeat(1_020);
        assert_eq!(moved(original.clone(), "b/", &long), [boundary(&format!("{long}2"))]);
        assert_eq!(
            moved(original, "b/", "copy/b/"),
            [boundary("copy/b/12345"), boundary("copy/b/2")]
        );
    }

    const INFO: FileInfo = FileInfo {
        kind: FileKind::File,
        size: 1,
        modified: SystemTime::UNIX_EPOCH,
        has_valid_time: true,
        mode: 0,
    };

    #[test]
    fn of_a_walk_one_name_in_so_many_is_known() {
        let ahead = NamesAhead::default();
        let name = |number: usize| format!("{number:06}");
        let sizes = [1, 948, 0, 1, 256, 3_000, 700];
        let mut count = 0;
        for size in sizes {
            let mut batch = FileBatch::below(Path::new("folder"));
            (count..count + size).for_each(|number| batch.push(&name(number), &INFO));
            count += size;
            ahead.note(&batch);
        }
        let keys: Vec<_> = ahead.boundaries().into_iter().map(|boundary| boundary.key).collect();
        assert_eq!(keys, [949, 1_899, 2_849, 3_799, 4_749].map(name));
    }

    #[test]
    fn the_oldest_files_go() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let boundaries = || vec![Boundary { key: "a".to_owned(), keys: 1 }];
        for number in 0..FILES_MAX as u64 + 5 {
            let hints = Hints::in_folder(folder.path(), &number.to_string());
            write(&hints.file, boundaries()).unwrap();
            let file = fs::File::options().write(true).open(&hints.file).unwrap();
            file.set_modified(now - Duration::from_secs(1000 - number)).unwrap();
        }
        let kept = |number: u64| Hints::in_folder(folder.path(), &number.to_string()).file.exists();
        assert!(!kept(3) && kept(4 + FILES_MAX as u64));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), FILES_MAX);
    }
}
