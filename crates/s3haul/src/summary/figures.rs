//! The figures as plain data, sorted for reading. Their serialized form is what `summarize
//! --format json` prints: a change of names or meanings needs a new [`Figures::VERSION`].

use std::collections::HashMap;

use serde::Serialize;

use super::ages::AGE_LIMITS;
use super::counts::Counts;
use super::groups::{Groups, depth, parent};
use super::ranking::RankedObject;
use super::summarize::Summary;
use crate::plan::price::BILLED_BYTES_MIN;

/// Percentiles that are reported, in permille and by name.
const PERCENTILES: [(u64, &str); 9] = [
    (10, "p1"),
    (100, "p10"),
    (250, "p25"),
    (500, "p50"),
    (750, "p75"),
    (900, "p90"),
    (950, "p95"),
    (990, "p99"),
    (999, "p99.9"),
];

/// All figures. Lists are sorted by bytes where they have no order of their own.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Objects and bytes.
    pub total: Counts,
    /// Current and noncurrent versions, where versions were listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<VersionFigures>,
    /// Objects without a byte.
    pub empty_objects: u64,
    /// By storage class.
    pub storage_classes: Vec<ClassFigures>,
    /// Small objects in storage classes that bill a minimum.
    pub below_billing_minimum: SmallFigures,
    /// By extension, in lower case; the empty name is that of names without one.
    pub extensions: Vec<FolderFigures>,
    /// Extensions that were merged because there were too many.
    pub other_extensions: Counts,
    /// Whether there were, so that some rows may be missing and others a lower bound.
    pub extensions_merged: bool,
    /// By age.
    pub ages: Vec<AgeFigures>,
    /// By folder.
    pub folders: Vec<FolderFigures>,
    /// Objects in no folder.
    pub outside_folders: Counts,
    /// Folders without a folder above that were merged because there were too many.
    pub other_folders: Counts,
    /// Whether folders were merged, so that some rows may be missing and others a lower bound.
    pub folders_merged: bool,
    /// Sizes.
    pub sizes: SizeFigures,
    /// The largest objects.
    pub largest: Vec<RankedObject>,
    /// The newest objects.
    pub newest: Vec<RankedObject>,
    /// The oldest objects.
    pub oldest: Vec<RankedObject>,
    /// Keys.
    pub keys: NameFigures,
}

/// Versions of a bucket. All of them are objects of the other figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct VersionFigures {
    /// Versions that a plain listing shows.
    pub current: Counts,
    /// The others.
    pub noncurrent: Counts,
    /// Delete markers.
    pub delete_markers: u64,
}

/// A storage class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassFigures {
    /// Its name.
    pub name: String,
    /// What is in it.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Objects that are billed as larger than they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SmallFigures {
    /// Objects and their true bytes.
    #[serde(flatten)]
    pub counts: Counts,
    /// Bytes that are billed.
    pub billed_bytes: u64,
}

/// An age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AgeFigures {
    /// Its name.
    pub name: &'static str,
    /// Days that end it; none for the oldest.
    pub days_max: Option<i64>,
    /// Objects of that age.
    #[serde(flatten)]
    pub counts: Counts,
}

/// A folder with all that is below it, or an extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FolderFigures {
    /// Path with a slash at its end, from the prefix's last slash; or the extension.
    pub name: String,
    /// What is in it; exact where `missing_max` is nothing, else a lower bound.
    #[serde(flatten)]
    pub counts: Counts,
    /// What may be missing at most.
    #[serde(skip_serializing_if = "is_nothing")]
    pub missing_max: Counts,
}

/// Sizes of objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeFigures {
    /// Least.
    pub min: u64,
    /// Greatest.
    pub max: u64,
    /// Mean, rounded down.
    pub mean: u64,
    /// Percentiles, within 1 %.
    pub percentiles: Vec<Percentile>,
    /// Powers of two between the extremes.
    pub histogram: Vec<SizeRange>,
}

/// A size that a part of the objects does not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Percentile {
    /// Such as `p50`.
    pub name: &'static str,
    /// Size in bytes.
    pub bytes: u64,
}

/// Objects of some sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeRange {
    /// First size.
    pub from: u64,
    /// Last size.
    pub to: u64,
    /// Objects.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NameFigures {
    /// Bytes of the shortest.
    pub length_min: u64,
    /// Bytes of the longest; 1,025 stands for all that are longer than S3 allows.
    pub length_max: u64,
    /// Mean, rounded down.
    pub length_mean: u64,
    /// Lengths by powers of two.
    pub lengths: Vec<LengthFigures>,
    /// What may make trouble elsewhere.
    pub oddities: Vec<OddityFigures>,
}

/// Keys of some lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LengthFigures {
    /// First length in bytes.
    pub from: u64,
    /// Last length.
    pub to: u64,
    /// Keys.
    pub objects: u64,
}

/// Objects with something odd in their keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OddityFigures {
    /// What.
    pub name: &'static str,
    /// Objects.
    #[serde(flatten)]
    pub counts: Counts,
    /// The first key with it.
    pub example: String,
}

fn is_nothing(counts: &Counts) -> bool {
    counts.is_empty()
}

impl Figures {
    /// Version of the serialized form.
    pub const VERSION: u32 = 1;
}

impl Summary {
    /// The figures of what was added.
    pub fn figures(&self) -> Figures {
        let extensions = rolled_up(&self.extensions);
        let no_extension = (String::new(), self.extensions.root().own, Counts::default());
        let no_extension = Some(no_extension).filter(|(_, counts, _)| !counts.is_empty());
        Figures {
            total: self.total,
            versions: self.has_versions.then(|| self.version_figures()),
            empty_objects: self.empty,
            storage_classes: self.class_figures(),
            below_billing_minimum: SmallFigures {
                counts: self.below_minimum,
                billed_bytes: self.below_minimum.objects.saturating_mul(BILLED_BYTES_MIN),
            },
            extensions: sorted(extensions.into_iter().chain(no_extension)),
            other_extensions: self.extensions.root().merged,
            extensions_merged: self.extensions.is_merged(),
            ages: self.age_figures(),
            folders: sorted(rolled_up(&self.folders)),
            outside_folders: self.folders.root().own,
            other_folders: self.folders.root().merged,
            folders_merged: self.folders.is_merged(),
            sizes: self.size_figures(),
            largest: self.largest.rows(),
            newest: self.newest.rows(),
            oldest: self.oldest.rows(),
            keys: self.name_figures(),
        }
    }

    fn version_figures(&self) -> VersionFigures {
        let current = Counts {
            objects: self.total.objects.saturating_sub(self.noncurrent.objects),
            bytes: self.total.bytes.saturating_sub(self.noncurrent.bytes),
        };
        let (noncurrent, delete_markers) = (self.noncurrent, self.delete_markers);
        VersionFigures { current, noncurrent, delete_markers }
    }

    fn class_figures(&self) -> Vec<ClassFigures> {
        let rows =
            self.classes.iter().map(|(name, counts)| (name.clone(), *counts, Counts::default()));
        let rows = sorted(rows);
        rows.into_iter().map(|row| ClassFigures { name: row.name, counts: row.counts }).collect()
    }

    fn age_figures(&self) -> Vec<AgeFigures> {
        let rows = AGE_LIMITS.iter().zip(self.ages.counts());
        rows.map(|(&(name, days_max), counts)| AgeFigures { name, days_max, counts }).collect()
    }

    fn size_figures(&self) -> SizeFigures {
        let (min, max) = self.sizes.extremes().unwrap_or_default();
        let sizes = self.sizes.percentiles(&PERCENTILES.map(|(permille, _)| permille));
        let named = PERCENTILES.iter().zip(sizes);
        let ranges = self.sizes.powers().into_iter();
        SizeFigures {
            min,
            max,
            mean: self.total.bytes.checked_div(self.total.objects).unwrap_or(0),
            percentiles: named.map(|(&(_, name), bytes)| Percentile { name, bytes }).collect(),
            histogram: ranges.map(|(from, to, counts)| SizeRange { from, to, counts }).collect(),
        }
    }

    fn name_figures(&self) -> NameFigures {
        let lengths = self.names.lengths();
        let used = || lengths.iter().enumerate().filter(|(_, keys)| **keys > 0);
        let odd = self.names.odd().map(|(oddity, counts, example)| OddityFigures {
            name: oddity.name(),
            counts,
            example: example.to_owned(),
        });
        NameFigures {
            length_min: used().next().map_or(0, |(length, _)| length as u64),
            length_max: used().next_back().map_or(0, |(length, _)| length as u64),
            length_mean: self.names.bytes().checked_div(self.total.objects).unwrap_or(0),
            lengths: length_ranges(lengths),
            oddities: odd.collect(),
        }
    }
}

/// Keys by powers of two of their lengths, from the shortest to the longest.
fn length_ranges(lengths: &[u64]) -> Vec<LengthFigures> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while from < lengths.len() {
        let end = (from * 2).max(1).min(lengths.len());
        let objects = lengths[from..end].iter().sum();
        ranges.push(LengthFigures { from: from as u64, to: end as u64 - 1, objects });
        from = end;
    }
    let first = ranges.iter().position(|range| range.objects > 0).unwrap_or(ranges.len());
    let last = ranges.iter().rposition(|range| range.objects > 0).map_or(first, |last| last + 1);
    ranges.truncate(last);
    ranges.drain(..first);
    ranges
}

type Row = (String, Counts, Counts);

/// Names with all that is below them, and what they may miss.
fn rolled_up(groups: &Groups) -> Vec<Row> {
    let mut totals: HashMap<&str, Counts> = HashMap::new();
    let mut missing: HashMap<&str, Counts> = HashMap::new();
    for (name, group) in groups.iter() {
        missing.insert(name, group.missing);
        let mut above = name;
        for _ in 0..depth(name) {
            totals.entry(above).or_default().merge(group.weight());
            above = parent(above);
        }
    }
    let miss = |name: &str| missing.get(name).copied().unwrap_or_else(|| groups.missing_of(name));
    totals.iter().map(|(name, counts)| ((*name).to_owned(), *counts, miss(name))).collect()
}

/// Most bytes first, then most objects, then by name: folders stand before what is in them.
fn sorted(rows: impl IntoIterator<Item = Row>) -> Vec<FolderFigures> {
    let mut rows: Vec<Row> = rows.into_iter().collect();
    rows.sort_unstable_by(|(name, counts, _), (others, more, _)| {
        let measure = (more.bytes, more.objects).cmp(&(counts.bytes, counts.objects));
        measure.then_with(|| name.cmp(others))
    });
    let figures = |(name, counts, missing_max)| FolderFigures { name, counts, missing_max };
    rows.into_iter().map(figures).collect()
}
