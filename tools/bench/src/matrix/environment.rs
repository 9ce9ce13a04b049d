//! What surrounds a measured run: data on disk and on the server before it, a fresh target for
//! each run, and clearing up behind it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::listing::{self, Listing};
use super::memory;
use super::server::{KEYS_BUCKET, SOURCE_BUCKET, Server, Store, TARGET_BUCKET};
use super::shape::MIB;
use super::table::{ADDED, ADDED_BYTES, Job, Kind, Layout, TOUCHED};
use super::tree::Tree;
use crate::layouts;
use crate::peers::Task;
use crate::record::Place;
use support::files;

/// Objects to download are kept in the server's memory up to so many bytes; more of them are
/// computed, and only their beginnings are compared.
const MEMORY_BYTES_MAX: u64 = 4096 * MIB;
/// Where objects to read and to copy lie.
const OBJECTS: &str = "objects/";
/// Where a later sync finds files that were not there before.
const ADDED_FOLDER: &str = "zz-added";

/// A workload's server and data.
pub(crate) struct Environment<'a> {
    pub(crate) job: Job,
    pub(crate) server: Server,
    /// Files that are uploaded, or that the objects were made from.
    pub(crate) tree: &'a Tree,
    folder: PathBuf,
    /// What is downloaded goes here where it is small.
    downloads: Option<TempDir>,
    /// Whether objects that are read are the tree's files, or computed.
    pub(super) keeps_bytes: bool,
    /// Tools that have made their first sync.
    synced: BTreeSet<String>,
}

/// The names of one run.
pub(crate) struct Slot {
    /// Below this it writes, or deletes.
    pub(crate) prefix: String,
    /// The key of a single file.
    pub(super) key: String,
    /// The folder that it downloads to.
    pub(crate) folder: PathBuf,
    /// The file that it downloads to.
    pub(super) file: PathBuf,
}

impl<'a> Environment<'a> {
    /// Starts the server and puts there what a run finds.
    pub(super) fn open(
        job: Job,
        place: &Place,
        tree: &'a Tree,
        s3haul: &Path,
        folder: &Path,
    ) -> Result<Self> {
        let store = store(&job, tree)?;
        let server = Server::open(place, &store, s3haul, folder)?;
        let keeps_bytes = place.server != "embedded" || store == Store::Memory;
        let environment = Self {
            job,
            server,
            tree,
            folder: folder.to_owned(),
            downloads: downloads(&job, tree),
            keeps_bytes,
            synced: BTreeSet::new(),
        };
        environment.fill().context("could not fill the server")?;
        Ok(environment)
    }

    fn fill(&self) -> Result<()> {
        match self.job.kind {
            Kind::Download
            | Kind::DownloadFile
            | Kind::Read
            | Kind::Copy
            | Kind::Delete
            | Kind::Tag => {
                let target = format!("s3://{SOURCE_BUCKET}/{OBJECTS}");
                let tree = self.tree.root.to_string_lossy();
                self.server.run(&["cp", "--recursive", "--quiet", &tree, &target])?;
                self.expect(SOURCE_BUCKET, OBJECTS)
            }
            _ => Ok(()),
        }
    }

    /// Fails unless the tree's objects are below a prefix.
    fn expect(&self, bucket: &str, prefix: &str) -> Result<()> {
        let (found, wanted) = (self.server.totals(bucket, prefix)?, self.tree.totals());
        if found != wanted {
            bail!("{found:?} objects and bytes are in `{bucket}/{prefix}`, not {wanted:?}");
        }
        Ok(())
    }

    /// Names for a run of a tool.
    pub(super) fn slot(&self, tool: &str, number: u32) -> Slot {
        let prefix = match self.job.kind {
            Kind::SyncNothing | Kind::SyncAgain => format!("synced-{tool}/"),
            _ => format!("run-{number}/"),
        };
        let file = self.tree.files.first().map_or("", |(name, _)| name.as_str());
        let downloads = self.downloads.as_ref().map_or(self.folder.as_path(), TempDir::path);
        let folder = downloads.join(format!("down-{number}"));
        Slot { key: format!("{prefix}{file}"), prefix, file: folder.join("file"), folder }
    }

    /// What a tool has to do; none where only libraries do it.
    pub(super) fn task<'s>(&'s self, slot: &'s Slot) -> Option<Task<'s>> {
        let (tree, bucket, prefix) =
            (self.tree.root.as_path(), TARGET_BUCKET, slot.prefix.as_str());
        Some(match self.job.kind {
            Kind::Upload => Task::Upload { tree, bucket, prefix },
            Kind::SyncFirst | Kind::SyncNothing | Kind::SyncAgain => {
                Task::Sync { tree, bucket, prefix }
            }
            Kind::Download => {
                Task::Download { bucket: SOURCE_BUCKET, prefix: OBJECTS, target: &slot.folder }
            }
            Kind::Copy => {
                let (source_bucket, source_prefix) = (SOURCE_BUCKET, OBJECTS);
                Task::Copy { source_bucket, source_prefix, bucket, prefix }
            }
            Kind::Delete => Task::Delete { bucket, prefix },
            Kind::Tag => Task::Tag { bucket, prefix },
            Kind::UploadFile => {
                Task::UploadFile { file: &self.tree.single, bucket, key: &slot.key }
            }
            Kind::DownloadFile => {
                Task::DownloadFile { bucket: SOURCE_BUCKET, key: SINGLE_KEY, file: &slot.file }
            }
            Kind::List => Task::List { bucket: KEYS_BUCKET },
            Kind::Summarize => Task::Summarize { bucket: KEYS_BUCKET },
            Kind::Version => Task::Version,
            Kind::Start | Kind::ListArrow | Kind::ListPandas | Kind::Read => return None,
        })
    }

    /// Whether a tool has to sync everything once before its first run.
    pub(super) fn needs_first_sync(&self, tool: &str) -> bool {
        matches!(self.job.kind, Kind::SyncNothing | Kind::SyncAgain) && !self.synced.contains(tool)
    }

    /// Notes that it has.
    pub(super) fn note_first_sync(&mut self, tool: &str) {
        self.synced.insert(tool.to_owned());
    }

    /// Makes a fresh target. What a sync finds there is given where only its times say later what
    /// was written.
    pub(super) fn before(&self, slot: &Slot) -> Result<Option<Listing>> {
        let is_sync = matches!(self.job.kind, Kind::SyncNothing | Kind::SyncAgain);
        let found = if is_sync && !self.server.counts_requests() {
            Some(self.server.listing(TARGET_BUCKET, &slot.prefix)?)
        } else {
            None
        };
        if found.is_some() || self.job.kind == Kind::SyncAgain {
            // Times are in whole seconds: what is touched or written now is younger than what is
            // there.
            listing::wait_for_another_second()?;
        }
        self.prepare(slot)?;
        Ok(found)
    }

    fn prepare(&self, slot: &Slot) -> Result<()> {
        match self.job.kind {
            Kind::Download | Kind::DownloadFile => {
                std::fs::create_dir_all(&slot.folder).context("could not make a folder")
            }
            Kind::Delete | Kind::Tag => {
                let source = format!("s3://{SOURCE_BUCKET}/{OBJECTS}");
                let target = format!("s3://{TARGET_BUCKET}/{}", slot.prefix);
                let copy =
                    ["cp", "--recursive", "--quiet", "--copy-props", "none", &source, &target];
                self.server.run(&copy)?;
                self.expect(TARGET_BUCKET, &slot.prefix)
            }
            Kind::SyncAgain => {
                for number in 0..ADDED {
                    self.tree.add(&added_file(number), ADDED_BYTES)?;
                }
                self.tree.touch(&self.touched(), true)
            }
            _ => Ok(()),
        }
    }

    /// Clears up.
    pub(super) fn after(&self, slot: &Slot) -> Result<()> {
        match self.job.kind {
            Kind::Download | Kind::DownloadFile => files::remove(&slot.folder),
            Kind::SyncAgain => {
                self.tree.touch(&self.touched(), false)?;
                files::remove(&self.tree.path(ADDED_FOLDER))?;
                self.clear(TARGET_BUCKET, &format!("{}{ADDED_FOLDER}/", slot.prefix))
            }
            Kind::SyncNothing | Kind::Version | Kind::Start | Kind::Read => Ok(()),
            _ if self.job.keys.is_some() => Ok(()),
            _ => self.clear(TARGET_BUCKET, &slot.prefix),
        }
    }

    /// Removes what is below a prefix.
    pub(super) fn clear(&self, bucket: &str, prefix: &str) -> Result<()> {
        let uri = format!("s3://{bucket}/{prefix}");
        self.server.run(&["rm", "--recursive", "--quiet", &uri]).map(drop)
    }

    /// Files that are touched before a later sync, spread over the tree, which has more of them.
    pub(super) fn touched(&self) -> Vec<String> {
        let files = &self.tree.files;
        (0..TOUCHED).map(|number| files[number * files.len() / TOUCHED].0.clone()).collect()
    }

    /// The folder of this workload's own files.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// A file that a later sync finds.
pub(super) fn added_file(number: u64) -> String {
    format!("{ADDED_FOLDER}/file-{number}.bin")
}

/// The only object of [`Kind::DownloadFile`].
pub(super) const SINGLE_KEY: &str = "objects/large-0.bin";

/// Where objects to read lie, as bucket and prefix.
pub(crate) fn objects() -> (&'static str, &'static str) {
    (SOURCE_BUCKET, OBJECTS)
}

/// A folder in memory for small files that are downloaded, where the machine has one.
fn downloads(job: &Job, tree: &Tree) -> Option<TempDir> {
    let is_tree = job.kind == Kind::Download;
    is_tree.then(|| memory::folder(tree.totals().1)).flatten()
}

/// What the embedded server has to keep for a workload.
fn store(job: &Job, tree: &Tree) -> Result<Store> {
    if let Some(keys) = job.keys {
        return Ok(match keys.layout {
            Layout::Formula(kind) => Store::Formula(format!("{kind}:{}", keys.count)),
            Layout::File(name) => Store::Keys(layouts::ensure(name, keys.count)?.path),
        });
    }
    let is_read = matches!(job.kind, Kind::Download | Kind::DownloadFile | Kind::Read);
    Ok(if is_read && tree.totals().1 <= MEMORY_BYTES_MAX { Store::Memory } else { Store::Null })
}
