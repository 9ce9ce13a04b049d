//! The workloads, each after a published test, and where each runs.
//!
//! Sizes are the published ones; a run takes a share of them, its own or that of `--scale`. Not
//! every workload runs everywhere by default: the embedded server keeps no bytes and counts
//! requests, so it takes all of them, and the others show that the order of tools is no property
//! of our own server.

use super::options::Options;
use super::shape::{self, GIB, KIB, MIB, Shape, times};
use crate::record::{Place, Unit};
use support::term;

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

/// What is done, and to what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Job {
    pub(crate) kind: Kind,
    /// The files or objects it works on, where they are files or objects.
    pub(super) files: Option<Shape>,
    /// The computed keys that it lists.
    pub(super) keys: Option<Keys>,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Files to an empty prefix, by the tool's `cp`.
    Upload,
    /// Objects to an empty folder.
    Download,
    /// Files to an empty prefix, by the tool's `sync`.
    SyncFirst,
    /// A sync that finds nothing to do.
    SyncNothing,
    /// A sync after [`TOUCHED`] files were touched and [`ADDED`] added.
    SyncAgain,
    /// Objects to another bucket of the server.
    Copy,
    /// All objects below a prefix.
    Delete,
    /// A tag for each object below a prefix.
    Tag,
    /// One file.
    UploadFile,
    /// One object.
    DownloadFile,
    /// All keys of a bucket, printed.
    List,
    /// Number and size of all objects of a bucket.
    Summarize,
    /// `--version`.
    Version,
    /// A library is imported and makes a client.
    Start,
    /// All keys of a bucket, into a `pyarrow.Table`.
    ListArrow,
    /// The same, into a `pandas.DataFrame`.
    ListPandas,
    /// Objects, into memory.
    Read,
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

const fn workload(name: &'static str, scale: f64, job: Job) -> Workload {
    Workload { name, scale, latencies_ms: NONE, is_tls: false, others: &[], repeats: 1, job }
}

pub(crate) const fn row(name: &'static str, scale: f64, kind: Kind, files: Shape) -> Workload {
    workload(name, scale, Job { kind, files: Some(files), keys: None })
}

const fn one(bytes: u64) -> Shape {
    Shape::Large { files: 1, bytes }
}

pub(crate) const fn listing(name: &'static str, scale: f64, kind: Kind, keys: Keys) -> Workload {
    workload(name, scale, Job { kind, files: None, keys: Some(keys) })
}

pub(crate) const fn start(name: &'static str, kind: Kind) -> Workload {
    workload(name, 1.0, Job { kind, files: None, keys: None })
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
    listing(name, scale, Kind::List, Keys { layout, count: millions * 1_000_000 })
}

const fn summarize(name: &'static str, scale: f64, millions: u64) -> Workload {
    let keys = Keys { layout: Layout::Formula("uuid"), count: millions * 1_000_000 };
    listing(name, scale, Kind::Summarize, keys)
}

/// All workloads, in the order in which they run.
pub(super) const WORKLOADS: &[Workload] = &[
    row("a", 0.04, Kind::Upload, FOLDERS).at(ALL).tls().on(BOTH),
    row("a-down", 0.04, Kind::Download, FOLDERS).at(ENDS).tls().on(MINIO),
    row("b", 0.02, Kind::Upload, FIVE).tls().on(MINIO),
    row("b-down", 0.02, Kind::Download, FIVE).tls().on(MINIO),
    row("c-first", 0.02, Kind::SyncFirst, MIXED).at(ENDS),
    row("c-noop", 0.05, Kind::SyncNothing, MIXED).at(ENDS).tls().on(BOTH),
    row("c-again", 0.02, Kind::SyncAgain, MIXED).on(MINIO),
    row("d-100", 1.0, Kind::Upload, HUNDRED).at(ENDS),
    row("d-1000", 1.0, Kind::Upload, THOUSAND).at(ENDS).tls().on(MINIO),
    row("e", 1.0, Kind::Tag, THOUSAND).at(ENDS).on(MINIO),
    // As many as a process for each object can tag within the limit.
    row("e-few", 1.0, Kind::Tag, TWENTY),
    row("f-cp", 0.005, Kind::Upload, CLASSES).tls(),
    row("f-sync", 0.005, Kind::SyncFirst, CLASSES),
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
    row("h-small", 0.02, Kind::Copy, SMALL).at(ENDS).on(MINIO),
    row("h-large", 0.02, Kind::Copy, LARGE).at(ENDS),
    row("i", 0.005, Kind::Delete, MILLION).at(ENDS),
    row("j", 0.02, Kind::DownloadFile, one(10 * GIB)).tls(),
    start("k-version", Kind::Version).repeated(3),
    row("k-cp", 1.0, Kind::UploadFile, one(4 * KIB)).at(ALL).tls().repeated(2),
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
            let is_start = matches!(self.job.kind, Kind::Version | Kind::Start);
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
        if self.kind == Kind::UploadFile {
            return self;
        }
        let keys = |keys: Keys| Keys { count: times(keys.count, scale).max(10), ..keys };
        let files = self.files.map(|files| files.scaled(scale));
        Self { files, keys: self.keys.map(keys), ..self }
    }

    /// What it does, in a line.
    pub(crate) fn title(&self) -> String {
        let what = self.files.map(Shape::about).or(self.keys.map(Keys::about)).unwrap_or_default();
        match self.kind {
            Kind::Upload | Kind::UploadFile => format!("{what}, upload"),
            Kind::Download | Kind::DownloadFile => format!("{what}, download"),
            Kind::SyncFirst => format!("{what}, first sync"),
            Kind::SyncNothing => format!("{what}, sync with nothing to do"),
            Kind::SyncAgain => {
                let added = shape::size(ADDED_BYTES);
                format!("{what}, sync after {TOUCHED} were touched and {ADDED} of {added} added")
            }
            Kind::Copy => format!("{what}, copied from bucket to bucket"),
            Kind::Delete => format!("{what}, deleted"),
            Kind::Tag => format!("{what}, tagged"),
            Kind::List => format!("{what}, listed"),
            Kind::Summarize => format!("{what}, counted"),
            Kind::Version => "start and `--version`".to_owned(),
            Kind::Start => "start of the interpreter, import of the library, a client".to_owned(),
            Kind::ListArrow => format!("{what} into a pyarrow.Table"),
            Kind::ListPandas => format!("{what} into a pandas.DataFrame"),
            Kind::Read => format!("objects of {what}, read into memory"),
        }
    }

    /// How much work it is.
    pub(crate) fn amount(&self) -> (f64, Unit) {
        let files = self.files.map_or(Vec::new(), Shape::files);
        let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        match (self.kind, self.files, self.keys) {
            (_, _, Some(keys)) => (float(keys.count) / 1e6, Unit::MillionKeys),
            (Kind::Version | Kind::Start | Kind::UploadFile, ..) => (1.0, Unit::Run),
            (
                Kind::DownloadFile | Kind::Upload | Kind::Download | Kind::SyncFirst,
                Some(Shape::Large { .. } | Shape::Classes { .. }),
                _,
            ) => (float(bytes) / 1e9, Unit::Gigabyte),
            (Kind::SyncAgain, ..) => (float(files.len() as u64 + ADDED), Unit::Object),
            _ => (float(files.len() as u64), Unit::Object),
        }
    }
}

impl Keys {
    fn about(self) -> String {
        let (Layout::Formula(name) | Layout::File(name)) = self.layout;
        format!("{} keys like `{name}`", term::count(self.count))
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
