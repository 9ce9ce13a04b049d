//! `--case-conflict`: downloads whose names differ only by case, as the AWS tools handle them.
//!
//! A name conflicts when a file of another spelling answers to it, or when one of another spelling
//! is being downloaded. Names are remembered only from the moment they are queued to the end of
//! their download, so that memory is bounded by the queue and by what is in flight, and on a
//! case-sensitive file system two names conflict only when they are downloaded at the same time. A
//! dry run, where nothing ends, remembers the last names. A name that is there in its very spelling
//! is no conflict: it is replaced.

use serde::{Deserialize, Serialize};

use crate::action::download::target::DownloadTarget;
use crate::action::queue::{Action as _, Screened};
use crate::engine::core::Engine;
use crate::event::{Event, EventSink, ObjectEvent, Outcome};
use crate::location::Location;
use crate::plan::action::DownloadAction;
use s3haul_wire::error::{Error, ErrorKind};
use std::collections::{HashMap, VecDeque};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Names that a dry run remembers.
const DRY_NAMES_MAX: usize = 100_000;
/// Where it is explained.
const TOPIC: &str = "`s3haul cp --help`";

/// What is done about downloads whose names differ only by case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum CaseConflict {
    /// They are not looked for.
    #[default]
    Ignore,
    /// The object is left out, with a warning.
    Skip,
    /// The object is downloaded, with a warning.
    Warn,
    /// The job ends.
    Error,
}

/// Looks for conflicts among the downloads of a job.
#[derive(Debug)]
pub(crate) struct CaseGuard {
    how: CaseConflict,
    folder: PathBuf,
    names: Mutex<NamesInFlight>,
}

impl CaseGuard {
    /// A guard of downloads below a folder; none where conflicts are ignored.
    pub(crate) fn new(how: CaseConflict, folder: &Path, is_dry_run: bool) -> Option<Arc<Self>> {
        let names_max = if is_dry_run { DRY_NAMES_MAX } else { usize::MAX };
        let names = Mutex::new(NamesInFlight { names_max, ..NamesInFlight::default() });
        let guard = Self { how, folder: folder.to_owned(), names };
        (how != CaseConflict::Ignore).then(|| Arc::new(guard))
    }

    /// Reports conflicts among actions and drops those that must not run. Blocks.
    pub(crate) fn screen(
        &self,
        engine: &Engine,
        target: &DownloadTarget,
        actions: Vec<DownloadAction>,
    ) -> Screened<DownloadAction> {
        let mut kept = Vec::with_capacity(actions.len());
        for action in actions {
            match (self.conflicts(target, &action.relative), self.how) {
                (true, CaseConflict::Error) => {
                    engine.report.fatal(self.error(engine, &action));
                    return Screened { actions: kept, is_end: true };
                }
                (true, CaseConflict::Skip) => self.skip(engine, target, action),
                (true, _) => {
                    engine.report.note(self.warning(engine, &action));
                    kept.push(action);
                }
                (false, _) => kept.push(action),
            }
        }
        Screened { actions: kept, is_end: false }
    }

    /// Whether a name conflicts; remembers it unless that means that it is left out.
    fn conflicts(&self, target: &DownloadTarget, relative: &str) -> bool {
        let exists = target.exists(relative);
        if exists && is_spelled_so(&self.folder, relative) {
            return false;
        }
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let conflicts = exists || names.has_other(relative);
        if !conflicts || self.how == CaseConflict::Warn {
            names.insert(relative);
        }
        conflicts
    }

    fn skip(&self, engine: &Engine, target: &DownloadTarget, action: DownloadAction) {
        engine.report.note(format!(
            "Skipping {} because a file whose name differs only by case either exists or is being \
             downloaded.",
            self.way(engine, &action)
        ));
        action.leave_out(engine, target);
    }

    fn warning(&self, engine: &Engine, action: &DownloadAction) -> String {
        format!(
            "Downloading {} despite a file whose name differs only by case either existing or \
             being downloaded. This behavior is not defined on case-insensitive filesystems and \
             may result in overwriting existing files or race conditions between concurrent \
             downloads. For more information, see {TOPIC}.",
            self.way(engine, action)
        )
    }

    fn error(&self, engine: &Engine, action: &DownloadAction) -> Error {
        let message = format!(
            "Failed to download {} because a file whose name differs only by case either exists \
             or is being downloaded.",
            self.way(engine, action)
        );
        Error::new(ErrorKind::Local, message)
    }

    fn way(&self, engine: &Engine, action: &DownloadAction) -> String {
        let target = self.folder.join(&action.relative);
        format!("{}/{} -> {}", engine.settings.source_bucket, action.key, target.display())
    }

    fn release(&self, path: &Path) {
        if let Some(relative) = path.strip_prefix(&self.folder).ok().and_then(Path::to_str) {
            self.names.lock().unwrap_or_else(PoisonError::into_inner).remove(relative);
        }
    }
}

/// Hands events on, and lets the guard forget what has ended.
pub(crate) struct Releasing {
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) guard: Arc<CaseGuard>,
}

impl EventSink for Releasing {
    fn emit(&self, event: &Event) {
        if let Event::Object(ObjectEvent { target: Some(Location::Local(path)), outcome, .. }) =
            event
            && !matches!(outcome, Outcome::DryRun)
        {
            self.guard.release(path);
        }
        self.sink.emit(event);
    }

    fn wants_untried(&self) -> bool {
        self.sink.wants_untried()
    }
}

/// Names that are queued or being downloaded, by their lower case.
#[derive(Debug, Default)]
struct NamesInFlight {
    spellings: HashMap<String, Vec<String>>,
    /// Names in the order they came, where there may not be all of them.
    order: VecDeque<String>,
    names_max: usize,
}

impl NamesInFlight {
    fn has_other(&self, name: &str) -> bool {
        let spellings = self.spellings.get(&name.to_lowercase());
        spellings.is_some_and(|spellings| spellings.iter().any(|other| other != name))
    }

    fn insert(&mut self, name: &str) {
        self.spellings.entry(name.to_lowercase()).or_default().push(name.to_owned());
        if self.names_max == usize::MAX {
            return;
        }
        self.order.push_back(name.to_owned());
        if self.order.len() > self.names_max
            && let Some(oldest) = self.order.pop_front()
        {
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, name: &str) {
        let lower = name.to_lowercase();
        let Some(spellings) = self.spellings.get_mut(&lower) else { return };
        if let Some(index) = spellings.iter().position(|other| other == name) {
            spellings.swap_remove(index);
        }
        if spellings.is_empty() {
            self.spellings.remove(&lower);
        }
    }
}

/// Whether a name that exists below a folder has exactly this spelling there. Blocks.
pub(crate) fn is_spelled_so(folder: &Path, relative: &str) -> bool {
    let mut parent = folder.to_owned();
    for name in relative.split('/').filter(|name| !name.is_empty()) {
        let swapped: String = name.chars().map(swap_case).collect();
        let id = |path: &Path| path.symlink_metadata().ok().map(|facts| (facts.dev(), facts.ino()));
        let here = id(&parent.join(name));
        let has_both = swapped != name && here.is_some() && here == id(&parent.join(&swapped));
        // One file of two names: either the file system is case-insensitive, or there are two
        // links. The folder's own list says.
        if has_both && !lists(&parent, name) {
            return false;
        }
        parent.push(name);
    }
    true
}

fn lists(folder: &Path, name: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|listed| listed == name)
}

fn swap_case(character: char) -> char {
    let mut lower = character.to_lowercase();
    let mut upper = character.to_uppercase();
    match (lower.next(), lower.next(), upper.next(), upper.next()) {
        (Some(lower), None, _, _) if lower != character => lower,
        (_, _, Some(upper), None) => upper,
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_other_spellings_in_flight_conflict() {
        let mut names = NamesInFlight { names_max: usize::MAX, ..NamesInFlight::default() };
        names.insert("D/ä");
        assert!(names.has_other("d/Ä") && !names.has_other("D/ä") && !names.has_other("D/a"));
        names.insert("d/Ä");
        names.remove("D/ä");
        assert!(names.has_other("D/ä") && !names.has_other("d/Ä"));
        names.remove("d/Ä");
        assert!(names.spellings.is_empty());
    }

    #[test]
    fn a_dry_run_remembers_the_last_names() {
        let mut names = NamesInFlight { names_max: 2, ..NamesInFlight::default() };
        for name in ["a", "b", "c"] {
            names.insert(name);
        }
        assert!(!names.has_other("A") && names.has_other("B") && names.has_other("C"));
        assert_eq!((names.spellings.len(), names.order.len()), (2, 2));
    }

    #[test]
    fn what_is_there_in_its_spelling_is_found_so() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("D")).unwrap();
        std::fs::write(folder.path().join("D/File"), "").unwrap();
        assert!(is_spelled_so(folder.path(), "D/File"));
        // Two links to one file look as on a case-insensitive file system.
        std::fs::hard_link(folder.path().join("D/File"), folder.path().join("D/fILE")).unwrap();
        assert!(is_spelled_so(folder.path(), "D/File"));
        std::os::unix::fs::symlink("D", folder.path().join("d")).unwrap();
        assert!(is_spelled_so(folder.path(), "d/File"));
        assert!(lists(folder.path(), "D") && !lists(folder.path(), "file"));
        let found = ['a', 'Z', 'ß', '1', 'é'].map(swap_case);
        assert_eq!(found, ['A', 'z', 'ß', '1', 'É']);
    }
}
