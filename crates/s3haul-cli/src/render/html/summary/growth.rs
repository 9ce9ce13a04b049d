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
        "not known, as the earlier summary does not have it",
    ];
    labels.map(str::to_owned).to_vec()
}

/// Changes of folders since an earlier summary.
pub(super) struct Changes<'a> {
    bytes: HashMap<&'a str, u64>,
    /// Levels that the earlier summary has.
    depth: usize,
    is_whole: bool,
}

impl<'a> Changes<'a> {
    /// Since this one.
    pub(super) fn since(earlier: Option<&'a Earlier>) -> Option<Self> {
        let earlier = earlier?;
        let rows = earlier.folders.iter().map(|folder| (&*folder.name, folder.counts.bytes));
        let bytes = rows.chain([("", earlier.total.bytes)]).collect();
        let depth = earlier.depth();
        Some(Self { bytes, depth, is_whole: !earlier.folders_merged })
    }

    /// Index of the label of a folder.
    pub(super) fn of(&self, folder: &str, now: Counts) -> u8 {
        match self.bytes.get(folder) {
            Some(before) => change(*before, now.bytes),
            None if self.is_whole && levels(folder) <= self.depth => 5,
            None => 6,
        }
    }
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
    for Change { folder, then, now } in changes(extras, last) {
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
fn changes<'a>(extras: &Extras<'a>, last: &'a Earlier) -> Vec<Change<'a>> {
    let mut rows: HashMap<&str, Change<'_>> = HashMap::new();
    for folder in &last.folders {
        let EarlierCounts { objects, bytes } = folder.counts;
        let then = Counts { objects, bytes };
        rows.insert(&folder.name, Change { folder: &folder.name, then, now: Counts::default() });
    }
    let depth = last.depth();
    for folder in &extras.details.folders[1..] {
        let now = folder.contents.counts;
        if let Some(row) = rows.get_mut(&*folder.name) {
            row.now = now;
        } else if !last.folders_merged && levels(&folder.name) <= depth {
            let then = Counts::default();
            rows.insert(&folder.name, Change { folder: &folder.name, then, now });
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
    use super::*;

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
