//! What changed since earlier summaries.

use std::collections::HashMap;

use s3haul::summary::{Counts, Figures};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::{Section, Unit};
use super::Extras;
use crate::render::summary::report::Report;

/// Folders that changed most.
const ROWS_MAX: usize = 50;
/// Changes up to so many percent count as none.
const SAME_PERCENT: u128 = 5;

/// What an earlier summary says, as `summarize --format json` wrote it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Earlier {
    version: u32,
    /// Bucket.
    pub(crate) bucket: String,
    /// Prefix.
    pub(crate) prefix: String,
    /// When it was made.
    pub(crate) at: String,
    total: EarlierCounts,
    folders: Vec<EarlierFolder>,
    folders_merged: bool,
    is_selection: bool,
    versions: Option<IgnoredAny>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct EarlierCounts {
    objects: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct EarlierFolder {
    name: String,
    #[serde(flatten)]
    counts: EarlierCounts,
}

impl Earlier {
    /// Levels of folders that it has.
    fn depth(&self) -> usize {
        self.folders.iter().map(|folder| levels(&folder.name)).max().unwrap_or(0)
    }

    /// Whether this program knows what the figures mean.
    pub(crate) fn is_known(&self) -> bool {
        self.version == Figures::VERSION
    }

    /// What of it is not comparable with a summary of all objects, or of a selection; with versions
    /// or without.
    pub(crate) fn differs(&self, is_selection: bool, has_versions: bool) -> Option<&'static str> {
        if self.is_selection || is_selection {
            return Some("a summary of a selection is compared with no other");
        }
        match (self.versions.is_some(), has_versions) {
            (true, false) => Some("it has versions: give --versions"),
            (false, true) => Some("it has no versions"),
            _ => None,
        }
    }
}

/// Names of changes.
pub(super) fn labels() -> Vec<String> {
    let labels = [
        "less than half",
        "less",
        "about the same",
        "more",
        "more than double",
        "new",
        "not known, as one of the summaries does not have it",
    ];
    labels.map(str::to_owned).to_vec()
}

/// Changes of folders since an earlier summary.
pub(super) struct Changes<'a> {
    bytes: HashMap<&'a str, u64>,
    now: HashMap<&'a str, Counts>,
    /// Levels that the earlier summary has.
    depth: usize,
    is_whole: bool,
}

impl<'a> Changes<'a> {
    /// Since the last one.
    pub(super) fn since(report: &Report<'a>, extras: &Extras<'a>) -> Option<Self> {
        let earlier = extras.earlier.last()?;
        let rows = earlier.folders.iter().map(|folder| (&*folder.name, folder.counts.bytes));
        let bytes = rows.chain([("", earlier.total.bytes)]).collect();
        let depth = earlier.depth();
        let (now, is_whole) = (exact(report, extras), !earlier.folders_merged);
        Some(Self { bytes, now, depth, is_whole })
    }

    /// Index of the label of a folder.
    pub(super) fn of(&self, folder: &str) -> u8 {
        match (self.bytes.get(folder), self.now.get(folder)) {
            (Some(before), Some(now)) => change(*before, now.bytes),
            (None, _) if self.is_whole && levels(folder) <= self.depth => 5,
            _ => 6,
        }
    }
}

/// Folders of which nothing may be missing. Those of the figures have fewer levels, and are folded
/// into those above at other numbers than those of the tree.
fn exact<'a>(report: &Report<'a>, extras: &Extras<'a>) -> HashMap<&'a str, Counts> {
    let folders = report.figures.folders.iter();
    let folders = folders.map(|folder| (&*folder.name, folder.counts, folder.missing_max));
    let tree = extras.details.folders.iter();
    let tree = tree.map(|folder| (&*folder.name, folder.contents.counts, folder.missing_max));
    let all = folders.chain(tree).filter(|(.., missing_max)| missing_max.is_empty());
    all.map(|(name, counts, _)| (name, counts)).collect()
}

fn levels(folder: &str) -> usize {
    folder.matches('/').count()
}

fn change(before: u64, now: u64) -> u8 {
    let (before, now) = (u128::from(before), u128::from(now));
    let margin = before * SAME_PERCENT / 100;
    if now.abs_diff(before) <= margin {
        2
    } else if now < before {
        u8::from(now * 2 >= before)
    } else {
        3 + u8::from(now > before * 2)
    }
}

/// Totals over time, and the folders that changed most since the last summary.
pub(super) fn sections(report: &Report<'_>, extras: &Extras<'_>) -> Vec<Section> {
    let Some(last) = extras.earlier.last() else { return Vec::new() };
    let columns = [("At", Unit::Text), ("Bytes", Unit::Bytes), ("Objects", Unit::Count)];
    let mut growth = Section::new("Growth", &columns).with_bars();
    for earlier in extras.earlier {
        let EarlierCounts { objects, bytes } = earlier.total;
        growth.push([earlier.at.clone().into(), bytes.into(), objects.into()]);
    }
    let total = report.figures.total;
    growth.push(["now".into(), total.bytes.into(), total.objects.into()]);
    let columns = [
        ("Folder", Unit::Name),
        ("Bytes then", Unit::Bytes),
        ("Bytes now", Unit::Bytes),
        ("Change", Unit::Bytes),
        ("Change in objects", Unit::Count),
    ];
    let title = format!("What changed most since {}", last.at);
    let mut changed = Section::new(title, &columns);
    for Change { folder, then, now } in changes(report, extras, last) {
        changed.push([
            folder.into(),
            then.bytes.into(),
            now.bytes.into(),
            difference(then.bytes, now.bytes).into(),
            difference(then.objects, now.objects).into(),
        ]);
    }
    vec![growth, changed]
}

struct Change<'a> {
    folder: &'a str,
    then: Counts,
    now: Counts,
}

fn difference(then: u64, now: u64) -> i64 {
    let difference = i128::from(now) - i128::from(then);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}

/// Folders of both summaries with the greatest change in bytes, or else in objects.
fn changes<'a>(report: &Report<'a>, extras: &Extras<'a>, last: &'a Earlier) -> Vec<Change<'a>> {
    let now = exact(report, extras);
    let figures_depth = if report.figures.folders_merged { 0 } else { report.depth };
    // One that is not there may have been folded into the one above.
    let is_gone = |name: &str| !extras.details.folders_merged || levels(name) <= figures_depth;
    let mut rows: HashMap<&str, Change<'_>> = HashMap::new();
    for folder in &last.folders {
        let EarlierCounts { objects, bytes } = folder.counts;
        let then = Counts { objects, bytes };
        let name = &*folder.name;
        let now = now.get(name).copied().or_else(|| is_gone(name).then(Counts::default));
        rows.extend(now.map(|now| (name, Change { folder: name, then, now })));
    }
    let depth = last.depth();
    let then = Counts::default();
    for (folder, now) in now {
        let is_new = !last.folders_merged && !folder.is_empty() && levels(folder) <= depth;
        if is_new {
            rows.entry(folder).or_insert(Change { folder, then, now });
        }
    }
    let mut rows: Vec<Change<'_>> = rows.into_values().filter(|row| row.then != row.now).collect();
    let size = |row: &Change<'_>| {
        (row.now.bytes.abs_diff(row.then.bytes), row.now.objects.abs_diff(row.then.objects))
    };
    rows.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| a.folder.cmp(b.folder)));
    rows.truncate(ROWS_MAX);
    rows
}

#[cfg(test)]
mod tests {
    use s3haul::plan::price::PriceTable;
    use s3haul::summary::{Summary, SummaryOptions};
    use s3haul_wire::ops::{ListPage, ListedObject};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_folded_is_neither_gone_nor_less() {
        let keys: Vec<String> = (0..20).map(|n| format!("{n:02}/x/k")).collect();
        let objects = keys.iter().zip(1..);
        let listed = objects.clone().map(|(key, size)| ListedObject {
            key,
            size,
            ..ListedObject::default()
        });
        let options = SummaryOptions { depth: 1, tree_folders_max: 8, ..SummaryOptions::default() };
        let mut summary = Summary::new(options);
        summary.add_page(&ListPage::from_objects(listed).unwrap());
        let (figures, details) = (summary.figures(), summary.details().unwrap());
        assert!(details.folders_merged && !figures.folders_merged);
        let row = |name: &str, bytes| json!({ "name": name, "objects": 1, "bytes": bytes });
        let folders = objects.flat_map(|(key, size)| [row(&key[..3], size), row(&key[..5], size)]);
        let earlier = json!({
            "version": Figures::VERSION,
            "bucket": "b",
            "prefix": "",
            "at": "then",
            "total": { "objects": 21, "bytes": 219 },
            "folders": folders.chain([row("z/", 9)]).collect::<Vec<_>>(),
            "folders_merged": false,
            "is_selection": false,
        });
        let earlier = [serde_json::from_value(earlier).unwrap()];
        let report = Report {
            bucket: "b",
            prefix: "",
            is_selection: false,
            at_s: 0,
            depth: 1,
            top: 1,
            figures: &figures,
            uploads: None,
        };
        let prices = PriceTable::default();
        let extras = Extras { details: &details, prices: &prices, earlier: &earlier, flags: &[] };
        let changed = changes(&report, &extras, &earlier[0]);
        assert_eq!(changed.iter().map(|change| change.folder).collect::<Vec<_>>(), ["z/"]);
        let colours = Changes::since(&report, &extras).unwrap();
        let colours = details.folders.iter().map(|folder| colours.of(&folder.name));
        assert!(colours.clone().all(|colour| colour == 2 || colour == 6), "{colours:?}");
    }

    #[test]
    fn changes_have_names() {
        let labels = labels();
        for (before, now, label) in [
            (100, 0, "less than half"),
            (100, 49, "less than half"),
            (100, 50, "less"),
            (100, 94, "less"),
            (100, 95, "about the same"),
            (0, 0, "about the same"),
            (100, 106, "more"),
            (100, 200, "more"),
            (100, 201, "more than double"),
            (0, 1, "more than double"),
            (u64::MAX, u64::MAX, "about the same"),
        ] {
            assert_eq!(labels[usize::from(change(before, now))], label, "{before} {now}");
        }
    }
}
