//! The workloads, each after a published test, and where each runs.
//!
//! Sizes are the published ones; a run takes a share of them, its own or that of `--scale`. Not
//! every workload runs everywhere by default: the embedded server keeps no bytes and counts
//! requests, so it takes all of them, and the others show that the order of tools is no property
//! of our own server.

use super::options::Options;
use super::shape::{self, GIB, KIB, MIB, Shape, times};
use crate::record::{Place, Unit};

/// Servers by the names that `--servers` takes.
pub(super) const SERVERS: [&str; 3] = ["embedded", "versitygw", "minio"];
/// What the embedded server may wait before each answer.
pub(super) const LATENCIES_MS: [u64; 3] = [0, 10, 50];

/// Files touched before a second sync, and added to it with this size.
pub(super) const TOUCHED: usize = 8;
pub(super) const ADDED: u64 = 5;
pub(super) const ADDED_BYTES: u64 = 5 * MIB;

/// A row of the matrix.
pub(crate) struct Workload {
    /// Letter and variant.
    pub(crate) name: &'static str,
    /// Share of the published sizes where `--scale` is absent.
    scale: f64,
    /// Latencies of the embedded server where `--latencies` is absent.
    latencies_ms: &'static [u64],
    /// Whether it also runs over TLS where neither `--tls` nor `--no-tls` is given.
    is_tls: bool,
    /// Servers beside the embedded one.
    others: &'static [&'static str],
    /// Measured runs of a tool in a round: several where one is short.
    pub(super) repeats: u32,
    job: Job,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Job {
    /// Files to an empty prefix, by the tool's `cp`.
    Upload(Shape),
    /// Objects to an empty folder.
    Download(Shape),
    /// Files to an empty prefix, by the tool's `sync`.
    SyncFirst(Shape),
    /// A sync that finds nothing to do.
    SyncNothing(Shape),
    /// A sync after [`TOUCHED`] files were touched and [`ADDED`] added.
    SyncAgain(Shape),
    /// Objects to another bucket of the server.
    Copy(Shape),
    /// All objects below a prefix.
    Delete(Shape),
    /// A tag for each object below a prefix.
    Tag(Shape),
    /// One file of so many bytes.
    UploadFile(u64),
    /// One object of so many bytes.
    DownloadFile(u64),
    /// All keys of a bucket, printed.
    List(Keys),
    /// Number and size of all objects of a bucket.
    Summarize(Keys),
    /// `--version`.
    Version,
    /// A library is imported and makes a client.
    Start,
    /// All keys of a bucket, into a `pyarrow.Table`.
    ListArrow(Keys),
    /// The same, into a `pandas.DataFrame`.
    ListPandas(Keys),
    /// Objects, into memory.
    Read(Shape),
}

/// Keys of a bucket that is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Keys {
    pub(crate) layout: Layout,
    pub(crate) count: u64,
}

/// Where the keys come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Layout {
    /// A formula of `serve --synthetic`.
    Formula(&'static str),
    /// A key file of [`crate::layouts`].
    File(&'static str),
}

const ALL: &[u64] = &LATENCIES_MS;
const ENDS: &[u64] = &[0, 50];
const NONE: &[u64] = &[0];
const MINIO: &[&str] = &["minio"];
const BOTH: &[&str] = &["versitygw", "minio"];

const FOLDERS: Shape = Shape::Folders { folders: 26, files: 2048, bytes: 32 * KIB };
const FIVE: Shape = Shape::Large { files: 5, bytes: 2 * GIB };
const MIXED: Shape = Shape::Mixed { files: 65_537 };
const CLASSES: Shape = Shape::Classes { files: 8192, bytes: 512 * KIB };
const HUNDRED: Shape = Shape::Numbered { files: 100, bytes: 4 * KIB };
const THOUSAND: Shape = Shape::Numbered { files: 1000, bytes: 4 * KIB };
const TWENTY: Shape = Shape::Numbered { files: 20, bytes: 4 * KIB };
const SMALL: Shape = Shape::Numbered { files: 100_000, bytes: KIB };
const LARGE: Shape = Shape::NumberedLarge { files: 100, bytes: 100 * MIB };
const MILLION: Shape = Shape::Numbered { files: 1_000_000, bytes: 0 };

pub(crate) const fn row(name: &'static str, scale: f64, job: Job) -> Workload {
    Workload { name, scale, latencies_ms: NONE, is_tls: false, others: &[], repeats: 1, job }
}

impl Workload {
    const fn at(mut self, latencies_ms: &'static [u64]) -> Self {
        self.latencies_ms = latencies_ms;
        self
    }

    const fn tls(mut self) -> Self {
        self.is_tls = true;
        self
    }

    const fn on(mut self, others: &'static [&'static str]) -> Self {
        self.others = others;
        self
    }

    const fn repeated(mut self, repeats: u32) -> Self {
        self.repeats = repeats;
        self
    }
}

const fn list(name: &'static str, scale: f64, millions: u64, layout: Layout) -> Workload {
    row(name, scale, Job::List(Keys { layout, count: millions * 1_000_000 }))
}

const fn summarize(name: &'static str, scale: f64, millions: u64) -> Workload {
    let keys = Keys { layout: Layout::Formula("uuid"), count: millions * 1_000_000 };
    row(name, scale, Job::Summarize(keys))
}

/// All workloads, in the order in which they run.
pub(super) const WORKLOADS: &[Workload] = &[
    row("a", 0.04, Job::Upload(FOLDERS)).at(ALL).tls().on(BOTH),
    row("a-down", 0.04, Job::Download(FOLDERS)).at(ENDS).tls().on(MINIO),
    row("b", 0.02, Job::Upload(FIVE)).tls().on(MINIO),
    row("b-down", 0.02, Job::Download(FIVE)).tls().on(MINIO),
    row("c-first", 0.02, Job::SyncFirst(MIXED)).at(ENDS),
    row("c-noop", 0.05, Job::SyncNothing(MIXED)).at(ENDS).tls().on(BOTH),
    row("c-again", 0.02, Job::SyncAgain(MIXED)).on(MINIO),
    row("d-100", 1.0, Job::Upload(HUNDRED)).at(ENDS),
    row("d-1000", 1.0, Job::Upload(THOUSAND)).at(ENDS).tls().on(MINIO),
    row("e", 1.0, Job::Tag(THOUSAND)).at(ENDS).on(MINIO),
    // As many as a process for each object can tag within the limit.
    row("e-few", 1.0, Job::Tag(TWENTY)),
    row("f-cp", 0.005, Job::Upload(CLASSES)).tls(),
    row("f-sync", 0.005, Job::SyncFirst(CLASSES)),
    list("g-list-uuid", 0.1, 1, Layout::Formula("uuid")).at(ENDS).tls(),
    list("g-list-seq", 0.05, 1, Layout::Formula("seq")),
    list("g-list-dates", 0.05, 1, Layout::Formula("dates")),
    list("g-list-deep", 0.05, 1, Layout::Formula("deep")),
    list("g-list-onebig", 0.05, 1, Layout::File("onebig")),
    list("g-list-heavy", 0.05, 1, Layout::File("heavy")),
    list("g-list-hive", 0.05, 1, Layout::File("hive")),
    list("g-list10-uuid", 0.05, 10, Layout::Formula("uuid")),
    summarize("g-sum-uuid", 0.1, 1),
    summarize("g-sum10-uuid", 0.05, 10),
    row("h-small", 0.02, Job::Copy(SMALL)).at(ENDS).on(MINIO),
    row("h-large", 0.02, Job::Copy(LARGE)).at(ENDS),
    row("i", 0.005, Job::Delete(MILLION)).at(ENDS),
    row("j", 0.02, Job::DownloadFile(10 * GIB)).tls(),
    row("k-version", 1.0, Job::Version).repeated(3),
    row("k-cp", 1.0, Job::UploadFile(4 * KIB)).at(ALL).tls().repeated(2),
];

impl Workload {
    /// What it does at the chosen scale.
    pub(crate) fn job(&self, options: &Options) -> Job {
        self.job.scaled(options.scale.unwrap_or(self.scale))
    }

    /// Where it runs.
    pub(super) fn places(&self, options: &Options) -> Vec<Place> {
        let wanted = |server: &str| options.servers.iter().any(|name| name == server);
        let place = |server: &str, latency_ms, is_tls| Place {
            server: server.to_owned(),
            latency_ms,
            is_tls,
        };
        let mut places = Vec::new();
        if wanted("embedded") {
            let latencies_ms = options.latencies_ms.as_deref().unwrap_or(self.latencies_ms);
            // A start without a request is the same everywhere.
            let is_start = matches!(self.job, Job::Version | Job::Start);
            let count = if is_start { 1 } else { latencies_ms.len() };
            places.extend(latencies_ms.iter().take(count).map(|ms| place("embedded", *ms, false)));
            if options.tls().unwrap_or(self.is_tls) && !is_start {
                places.extend(latencies_ms.iter().map(|ms| place("embedded", *ms, true)));
            }
        }
        let others = self.others.iter().filter(|server| wanted(server));
        places.extend(others.map(|server| place(server, 0, false)));
        places
    }
}

impl Job {
    /// The same at a share of its size. One small file stays one.
    fn scaled(self, scale: f64) -> Self {
        let shape = |shape: Shape| shape.scaled(scale);
        let keys = |keys: Keys| Keys { count: times(keys.count, scale).max(10), ..keys };
        match self {
            Self::Upload(files) => Self::Upload(shape(files)),
            Self::Download(files) => Self::Download(shape(files)),
            Self::SyncFirst(files) => Self::SyncFirst(shape(files)),
            Self::SyncNothing(files) => Self::SyncNothing(shape(files)),
            Self::SyncAgain(files) => Self::SyncAgain(shape(files)),
            Self::Copy(files) => Self::Copy(shape(files)),
            Self::Delete(files) => Self::Delete(shape(files)),
            Self::Tag(files) => Self::Tag(shape(files)),
            Self::DownloadFile(bytes) => Self::DownloadFile(times(bytes, scale)),
            Self::List(of) => Self::List(keys(of)),
            Self::Summarize(of) => Self::Summarize(keys(of)),
            Self::ListArrow(of) => Self::ListArrow(keys(of)),
            Self::ListPandas(of) => Self::ListPandas(keys(of)),
            Self::Read(files) => Self::Read(shape(files)),
            Self::UploadFile(_) | Self::Version | Self::Start => self,
        }
    }

    /// The files or objects it works on, where they are files or objects.
    pub(super) fn shape(&self) -> Option<Shape> {
        match *self {
            Self::Upload(shape)
            | Self::Download(shape)
            | Self::SyncFirst(shape)
            | Self::SyncNothing(shape)
            | Self::SyncAgain(shape)
            | Self::Copy(shape)
            | Self::Delete(shape)
            | Self::Tag(shape)
            | Self::Read(shape) => Some(shape),
            Self::UploadFile(bytes) | Self::DownloadFile(bytes) => {
                Some(Shape::Large { files: 1, bytes })
            }
            _ => None,
        }
    }

    /// The computed keys that it lists.
    pub(super) fn keys(&self) -> Option<Keys> {
        match *self {
            Self::List(keys)
            | Self::Summarize(keys)
            | Self::ListArrow(keys)
            | Self::ListPandas(keys) => Some(keys),
            _ => None,
        }
    }

    /// What it does, in a line.
    pub(crate) fn title(&self) -> String {
        let shape = self.shape().map_or(String::new(), Shape::about);
        match self {
            Self::Upload(_) | Self::UploadFile(_) => format!("{shape}, upload"),
            Self::Download(_) | Self::DownloadFile(_) => format!("{shape}, download"),
            Self::SyncFirst(_) => format!("{shape}, first sync"),
            Self::SyncNothing(_) => format!("{shape}, sync with nothing to do"),
            Self::SyncAgain(_) => {
                let added = shape::size(ADDED_BYTES);
                format!("{shape}, sync after {TOUCHED} were touched and {ADDED} of {added} added")
            }
            Self::Copy(_) => format!("{shape}, copied from bucket to bucket"),
            Self::Delete(_) => format!("{shape}, deleted"),
            Self::Tag(_) => format!("{shape}, tagged"),
            Self::List(keys) => format!("{}, listed", keys.about()),
            Self::Summarize(keys) => format!("{}, counted", keys.about()),
            Self::Version => "start and `--version`".to_owned(),
            Self::Start => "start of the interpreter, import of the library, a client".to_owned(),
            Self::ListArrow(keys) => format!("{} into a pyarrow.Table", keys.about()),
            Self::ListPandas(keys) => format!("{} into a pandas.DataFrame", keys.about()),
            Self::Read(_) => format!("objects of {shape}, read into memory"),
        }
    }

    /// How much work it is.
    pub(crate) fn amount(&self) -> (f64, Unit) {
        if let Some(keys) = self.keys() {
            return (float(keys.count) / 1e6, Unit::MillionKeys);
        }
        let files = self.shape().map_or(Vec::new(), Shape::files);
        let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        match self {
            Self::Version | Self::Start | Self::UploadFile(_) => (1.0, Unit::Run),
            Self::DownloadFile(_)
            | Self::Upload(Shape::Large { .. } | Shape::Classes { .. })
            | Self::Download(Shape::Large { .. })
            | Self::SyncFirst(Shape::Classes { .. }) => (float(bytes) / 1e9, Unit::Gigabyte),
            Self::SyncAgain(_) => (float(files.len() as u64 + ADDED), Unit::Object),
            _ => (float(files.len() as u64), Unit::Object),
        }
    }
}

impl Keys {
    fn about(self) -> String {
        let (Layout::Formula(name) | Layout::File(name)) = self.layout;
        format!("{} keys like `{name}`", shape::count(self.count))
    }
}

#[expect(clippy::cast_precision_loss, reason = "amounts of benchmarks are far below 2^52")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::super::options::parse;
    use super::*;

    fn find(name: &str) -> &'static Workload {
        WORKLOADS.iter().find(|workload| workload.name == name).unwrap()
    }

    #[test]
    fn every_letter_of_the_published_list_is_there_once_each() {
        let letters: std::collections::BTreeSet<char> =
            WORKLOADS.iter().filter_map(|workload| workload.name.chars().next()).collect();
        assert_eq!(letters, ('a'..='k').collect());
        let names: std::collections::BTreeSet<_> = WORKLOADS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), WORKLOADS.len());
    }

    #[test]
    fn scale_one_is_what_was_published() {
        let one = parse("--scale 1").unwrap();
        let of = |name| find(name).job(&one).title();
        assert_eq!(of("a"), "26 folders of 2,048 files of 32 KiB, upload");
        assert_eq!(of("b"), "5 files of 2 GiB, upload");
        assert!(of("c-noop").starts_with("65,537 files of "));
        assert!(of("f-cp").starts_with("16,368 files of 512 KiB to 256 MiB"));
        assert_eq!(of("g-list10-uuid"), "10,000,000 keys like `uuid`, listed");
        assert_eq!(of("j"), "1 file of 10 GiB, download");
        assert_eq!(find("a").job(&one).amount(), (53_248.0, Unit::Object));
        assert_eq!(find("g-sum-uuid").job(&one).amount(), (1.0, Unit::MillionKeys));
    }

    #[test]
    fn places_follow_the_options() {
        let of = |name: &str, text: &str| -> Vec<String> {
            let told = |place: Place| {
                format!(
                    "{}{}{}",
                    place.server,
                    place.latency_ms,
                    if place.is_tls { "s" } else { "" }
                )
            };
            find(name).places(&parse(text).unwrap()).into_iter().map(told).collect()
        };
        assert_eq!(of("d-100", ""), ["embedded0", "embedded50"]);
        assert_eq!(of("d-100", "--tls --latencies 10"), ["embedded10", "embedded10s"]);
        assert_eq!(
            of("a", "--no-tls --servers embedded"),
            ["embedded0", "embedded10", "embedded50"]
        );
        assert_eq!(of("a", "--servers minio"), ["minio0"]);
        assert_eq!(of("k-version", "--tls --latencies 0,10"), ["embedded0"]);
        assert!(of("g-list-seq", "--servers minio").is_empty());
    }
}
