//! What the Python package and the other libraries do: sizes, units, and where the data are. A pure
//! table.

use std::path::Path;

use anyhow::{Result, bail};

use crate::matrix::server::{KEYS_BUCKET, SOURCE_BUCKET, Store, TARGET_BUCKET};
use crate::matrix::shape::{KIB, Shape, count, times};
use crate::record::Unit;

/// Keys that are listed.
const KEYS: u64 = 1_000_000;
/// Objects that are read into memory.
const OBJECTS: Shape = Shape::Folders { folders: 10, files: 1000, bytes: 32 * KIB };
/// Files that are uploaded, downloaded and synced.
const FILES: Shape = Shape::Folders { folders: 20, files: 1000, bytes: 32 * KIB };
/// Where objects that are read lie.
const OBJECTS_PREFIX: &str = "objects/";

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// The interpreter starts, the library is imported and a client is made.
    Start,
    /// A bucket is listed into a `pyarrow.Table`.
    ListArrow,
    /// The same into a `pandas.DataFrame`.
    ListPandas,
    /// Objects are read into memory.
    Read,
    /// Files are uploaded below an empty prefix.
    Upload,
    /// Objects are downloaded to an empty folder.
    Download,
    /// A sync finds nothing to do.
    Sync,
}

/// All of them, in the order of the page.
pub(super) const ALL: [Work; 7] = [
    Work::Start,
    Work::ListArrow,
    Work::ListPandas,
    Work::Read,
    Work::Upload,
    Work::Download,
    Work::Sync,
];

impl Work {
    /// Its name, also for `--only`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::ListArrow => "list-arrow",
            Self::ListPandas => "list-pandas",
            Self::Read => "read",
            Self::Upload => "upload",
            Self::Download => "download",
            Self::Sync => "sync",
        }
    }

    /// The function of a script that does it.
    pub(super) fn function(self) -> String {
        self.name().replace('-', "_")
    }

    /// Keys of a listing at this scale.
    fn keys(scale: f64) -> u64 {
        times(KEYS, scale)
    }

    /// Files of a transfer, or those that objects are made of.
    pub(super) fn shape(self, scale: f64) -> Option<Shape> {
        match self {
            Self::Start | Self::ListArrow | Self::ListPandas => None,
            Self::Read => Some(OBJECTS.scaled(scale)),
            Self::Upload | Self::Download | Self::Sync => Some(FILES.scaled(scale)),
        }
    }

    /// What the server keeps.
    pub(super) fn store(self, scale: f64) -> Store {
        match self {
            Self::ListArrow | Self::ListPandas => {
                Store::Formula(format!("dates:{}", Self::keys(scale)))
            }
            Self::Read | Self::Download => Store::Memory,
            Self::Start | Self::Upload | Self::Sync => Store::Null,
        }
    }

    /// Bucket and prefix, the latter empty or with a slash at its end.
    pub(super) fn place(self, number: u32) -> (&'static str, String) {
        match self {
            Self::ListArrow | Self::ListPandas => (KEYS_BUCKET, String::new()),
            Self::Read | Self::Download => (SOURCE_BUCKET, OBJECTS_PREFIX.to_owned()),
            Self::Sync => (TARGET_BUCKET, OBJECTS_PREFIX.to_owned()),
            Self::Start | Self::Upload => (TARGET_BUCKET, format!("run-{number}/")),
        }
    }

    /// Where the objects are that a run finds.
    pub(super) fn filled(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Read | Self::Download => Some((SOURCE_BUCKET, OBJECTS_PREFIX)),
            Self::Sync => Some((TARGET_BUCKET, OBJECTS_PREFIX)),
            _ => None,
        }
    }

    /// A line about it.
    pub(super) fn title(self, scale: f64) -> String {
        let files = self.shape(scale).map(Shape::about).unwrap_or_default();
        let keys = count(Self::keys(scale));
        match self {
            Self::Start => "start of the interpreter, import of the library, a client".to_owned(),
            Self::ListArrow => format!("{keys} keys into a pyarrow.Table"),
            Self::ListPandas => format!("{keys} keys into a pandas.DataFrame"),
            Self::Read => format!("objects of {files}, read into memory"),
            Self::Upload => format!("{files}, upload"),
            Self::Download => format!("{files}, download"),
            Self::Sync => format!("{files}, sync with nothing to do"),
        }
    }

    /// How much work it is, and in which units.
    #[expect(clippy::cast_precision_loss, reason = "numbers of objects are far below 2^52")]
    pub(super) fn amount(self, scale: f64) -> (f64, Unit) {
        match self {
            Self::Start => (1.0, Unit::Run),
            Self::ListArrow | Self::ListPandas => {
                (Self::keys(scale) as f64 / 1e6, Unit::MillionKeys)
            }
            _ => {
                let files = self.shape(scale).map_or(0, |shape| shape.files().len());
                (files as f64, Unit::Object)
            }
        }
    }

    /// Arguments of our own command that does it.
    pub(super) fn words(self, folder: &Path, url: &str) -> Option<Vec<String>> {
        let folder = folder.to_string_lossy().into_owned();
        let words = |verb: &[&str], paths: [String; 2]| {
            Some(verb.iter().map(|word| (*word).to_owned()).chain(paths).collect())
        };
        match self {
            Self::Upload => words(&["cp", "--recursive", "--quiet"], [folder, url.to_owned()]),
            Self::Download => words(&["cp", "--recursive", "--quiet"], [url.to_owned(), folder]),
            Self::Sync => words(&["sync", "--quiet"], [folder, url.to_owned()]),
            _ => None,
        }
    }
}

/// The workloads of these names; all where there are none.
pub(super) fn selected(only: &[String]) -> Result<Vec<Work>> {
    let names = ALL.map(Work::name);
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no workload `{unknown}`, but {}", names.join(", "));
    }
    let is_wanted = |work: &Work| only.is_empty() || only.iter().any(|name| name == work.name());
    Ok(ALL.into_iter().filter(is_wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_titles_and_follow_the_scale() {
        let total = |work: Work, scale| work.shape(scale).map_or(0, |shape| shape.files().len());
        assert_eq!(total(Work::Read, 1.0), 10_000);
        assert_eq!(total(Work::Upload, 1.0), 20_000);
        assert_eq!(total(Work::Sync, 0.1), 2000);
        assert_eq!(Work::ListArrow.title(1.0), "1,000,000 keys into a pyarrow.Table");
        assert_eq!(Work::ListPandas.store(0.01), Store::Formula("dates:10000".to_owned()));
        assert_eq!(Work::ListArrow.amount(0.5), (0.5, Unit::MillionKeys));
        assert_eq!(Work::Download.amount(0.5), (10_000.0, Unit::Object));
    }

    #[test]
    fn workloads_are_picked_by_name() {
        let named = |names: &[&str]| {
            selected(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(named(&[]).unwrap(), ALL);
        assert_eq!(named(&["sync", "read"]).unwrap(), [Work::Read, Work::Sync]);
        let told = named(&["list"]).unwrap_err().to_string();
        assert!(told.starts_with("there is no workload `list`, but start, list-arrow"), "{told}");
    }

    #[test]
    fn the_command_does_transfers_and_syncs() {
        let words = |work: Work| work.words(Path::new("/f"), "s3://b/p/").map(|w| w.join(" "));
        assert_eq!(words(Work::Upload).unwrap(), "cp --recursive --quiet /f s3://b/p/");
        assert_eq!(words(Work::Download).unwrap(), "cp --recursive --quiet s3://b/p/ /f");
        assert_eq!(words(Work::Sync).unwrap(), "sync --quiet /f s3://b/p/");
        assert_eq!(words(Work::Read), None);
    }
}
