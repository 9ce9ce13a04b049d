//! Local files: a walk on a thread of its own, ahead of its reader by a bounded number of batches.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_channel::Receiver;

use crate::engine::core::Engine;
use crate::engine::limits::{Tasks, blocking};
use crate::fs::{FileBatch, Walk, WalkOptions};
use crate::plan::filter::Filter;
use crate::source::hints::NamesAhead;

/// Batches of files that a walk may be ahead: the names of eight pages, for a listing of the same
/// names to be cut at.
const BATCHES_AHEAD: usize = 32;

/// Batches of a walk; dropping it ends the walk.
pub(crate) struct FileStream {
    receiver: Receiver<FileBatch>,
    /// The thread, which holds the engine: a job does not return before it has ended.
    walking: Tasks,
}

impl FileStream {
    /// Walks a folder. Folders that a filter leaves out as a whole are not read, nor are journals.
    /// What it finds is noted for a listing of the same names.
    pub(crate) fn of_folder(
        engine: &Arc<Engine>,
        folder: &str,
        filter: &Arc<Filter>,
        mut options: WalkOptions,
        ahead: Option<Arc<NamesAhead>>,
    ) -> Self {
        let (folder, filter) = (PathBuf::from(folder), Arc::clone(filter));
        let journals = engine.settings.journals.clone();
        Self::start(engine, ahead, move || {
            // Journals are not read: this job's changes all the time, and is needed to resume it.
            let journals = names_below(&folder, &journals);
            options.prune = (!filter.is_all() || !journals.is_empty()).then(|| {
                Arc::new(move |folder: &str| {
                    filter.excludes_all_below(folder) || journals.iter().any(|name| name == folder)
                }) as _
            });
            Walk::tree(&folder, options)
        })
    }

    /// Looks at a single file.
    pub(crate) fn of_file(engine: &Arc<Engine>, path: &str, options: WalkOptions) -> Self {
        let path = PathBuf::from(path);
        Self::start(engine, None, move || Walk::file(Path::new(&path), options))
    }

    fn start(
        engine: &Arc<Engine>,
        ahead: Option<Arc<NamesAhead>>,
        open: impl FnOnce() -> Walk + Send + 'static,
    ) -> Self {
        let (sender, receiver) = async_channel::bounded(BATCHES_AHEAD);
        let engine = Arc::clone(engine);
        let mut walking = Tasks::new();
        walking.spawn(blocking(move || {
            let mut walk = open();
            while let Some(batch) = walk.next_batch() {
                if let Some(ahead) = &ahead {
                    ahead.note(&batch);
                }
                if sender.send_blocking(batch).is_err() {
                    break;
                }
            }
            drop(engine);
        }));
        Self { receiver, walking }
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<FileBatch> {
        if let Ok(batch) = self.receiver.recv().await {
            return Some(batch);
        }
        // A walk that panicked has not come to its end.
        self.walking.next().await;
        None
    }

    /// A stream that ends at once.
    #[cfg(test)]
    pub(crate) fn empty() -> Self {
        Self { receiver: async_channel::bounded(1).1, walking: Tasks::new() }
    }
}

/// The names that folders have below another one, with a `/` at their end, where they lie there: as
/// they are written, and without links.
pub(crate) fn names_below(outer: &Path, inner: &[PathBuf]) -> Vec<String> {
    let resolved = |inner: &Path| {
        // It may not be there yet.
        let there = inner.ancestors().find(|folder| folder.exists())?;
        let inner = there.canonicalize().ok()?.join(inner.strip_prefix(there).ok()?);
        Some(inner.strip_prefix(outer.canonicalize().ok()?).ok()?.to_owned())
    };
    let written = |inner: &Path| {
        let [inner, outer] = [inner, outer].map(std::path::absolute);
        Some(inner.ok()?.strip_prefix(outer.ok()?).ok()?.to_owned())
    };
    let names = inner.iter().flat_map(|inner| [resolved(inner), written(inner)]).flatten();
    names.filter_map(|name| Some(format!("{}/", name.to_str()?))).filter(|it| it != "/").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_the_names_that_are_written_and_those_without_links() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir_all(home.join("real/jobs")).unwrap();
        std::os::unix::fs::symlink("real", home.join("link")).unwrap();
        let below = |inner: &[&str]| {
            let inner: Vec<_> = inner.iter().map(|inner| dir.path().join(inner)).collect();
            names_below(&home, &inner)
        };
        assert_eq!(below(&["home/link/jobs"]), ["real/jobs/", "link/jobs/"]);
        assert_eq!(below(&["elsewhere", "home/none/yet"]), ["none/yet/", "none/yet/"]);
        assert_eq!(below(&["home"]), [""; 0]);
    }
}
