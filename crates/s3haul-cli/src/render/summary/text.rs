//! The summary for people. Control characters in names are escaped wherever it goes: nothing reads
//! it but eyes.

use s3haul::summary::{Counts, FolderFigures, RankedObject};
use s3haul_wire::units::{LocalTime, format_size};

use super::table::{Measure, Row, Table, push_title};
use crate::render::escape::push_name;
use crate::render::numbers::grouped;
use crate::render::summary::report::{AGES, ODDITIES, Report, Style, size_range};

/// The whole text, with times as `time` has them.
pub(super) fn render(report: &Report<'_>, style: Style, time: LocalTime) -> Vec<u8> {
    let mut text = Text { buffer: Vec::new(), report, style, time };
    text.head();
    text.notes();
    if report.figures.total.objects > 0 {
        text.folders();
        text.classes();
        text.extensions();
        text.ages();
        text.sizes();
        text.ranking("Largest objects", &report.figures.largest);
        text.ranking("Newest objects", &report.figures.newest);
        text.ranking("Oldest objects", &report.figures.oldest);
        text.keys();
    }
    text.uploads();
    text.approximations();
    text.buffer
}

struct Text<'a> {
    buffer: Vec<u8>,
    report: &'a Report<'a>,
    style: Style,
    time: LocalTime,
}

impl Text<'_> {
    fn line(&mut self, line: &str) {
        push_name(&mut self.buffer, line, true);
        self.buffer.push(b'\n');
    }

    fn total(&self) -> Counts {
        self.report.figures.total
    }

    fn head(&mut self) {
        let Report { bucket, prefix, is_selection, .. } = *self.report;
        let selected = if is_selection { " (only what was selected)" } else { "" };
        self.line(&format!("s3://{bucket}/{prefix}{selected}"));
        let Counts { objects, bytes } = self.total();
        let exact =
            if bytes < 1024 { String::new() } else { format!(" ({} bytes)", grouped(bytes)) };
        let noun = if objects == 1 { "object" } else { "objects" };
        self.line(&format!("{} {noun}, {}{exact}", grouped(objects), format_size(bytes)));
    }

    fn notes(&mut self) {
        let figures = self.report.figures;
        if let Some(versions) = &figures.versions {
            let (noncurrent, markers) = (versions.noncurrent, versions.delete_markers);
            self.line(&format!(
                "{} of them are noncurrent versions, {}; beside them are {} delete markers",
                grouped(noncurrent.objects),
                format_size(noncurrent.bytes),
                grouped(markers)
            ));
        }
        if figures.empty_objects > 0 {
            self.line(&format!("{} of them hold no byte", grouped(figures.empty_objects)));
        }
        let small = figures.below_billing_minimum;
        if small.counts.objects > 0 {
            self.line(&format!(
                "{} of them are billed as 128 KiB for their storage class: {} stored, {} billed",
                grouped(small.counts.objects),
                format_size(small.counts.bytes),
                format_size(small.billed_bytes)
            ));
        }
    }

    /// The folders with the most bytes, each below the one it is in.
    fn folders(&mut self) {
        let figures = self.report.figures;
        if self.report.depth == 0 || figures.folders.is_empty() {
            return;
        }
        let mut table = Table::new(Measure::Bytes, figures.total);
        let shown = &figures.folders[..figures.folders.len().min(self.report.top)];
        for folder in in_tree_order(shown) {
            let level = levels(&folder.name);
            let name = format!("{}{}", "  ".repeat(level - 1), last_component(&folder.name));
            let row = Row::new(folder.counts, name);
            table.push(row.at_least(!folder.missing_max.is_empty()));
        }
        self.other_folders(shown, &mut table);
        table.write(&mut self.buffer, "Folders", self.style);
    }

    /// What the rows of the first level leave of the total.
    fn other_folders(&self, shown: &[FolderFigures], table: &mut Table) {
        let figures = self.report.figures;
        let top_level = |folder: &&FolderFigures| levels(&folder.name) == 1;
        let told = shown.iter().filter(top_level).map(|folder| folder.counts);
        let told = told.fold(figures.outside_folders, add);
        let others = figures.folders[shown.len()..].iter().filter(top_level).count();
        let others = others.try_into().unwrap_or(u64::MAX);
        let rest = Counts {
            objects: figures.total.objects.saturating_sub(told.objects),
            bytes: figures.total.bytes.saturating_sub(told.bytes),
        };
        if rest.objects > 0 {
            table.push(Row::new(rest, more(others, figures.folders_merged, "folder")));
        }
        if figures.outside_folders.objects > 0 {
            table.push(Row::new(figures.outside_folders, "(in no folder)"));
        }
    }

    fn classes(&mut self) {
        let mut table = Table::new(Measure::Bytes, self.total());
        for class in &self.report.figures.storage_classes {
            table.push(Row::new(class.counts, class.name.as_str()));
        }
        table.write(&mut self.buffer, "Storage classes", self.style);
    }

    fn extensions(&mut self) {
        let figures = self.report.figures;
        let mut table = Table::new(Measure::Bytes, figures.total);
        let shown = figures.extensions.len().min(self.report.top);
        for row in &figures.extensions[..shown] {
            let name = if row.name.is_empty() { "(none)".into() } else { format!(".{}", row.name) };
            table.push(Row::new(row.counts, name).at_least(!row.missing_max.is_empty()));
        }
        let rest = &figures.extensions[shown..];
        let counts = rest.iter().map(|row| row.counts).fold(figures.other_extensions, add);
        if counts.objects > 0 {
            let others = rest.len().try_into().unwrap_or(u64::MAX);
            table.push(Row::new(counts, more(others, figures.extensions_merged, "extension")));
        }
        table.write(&mut self.buffer, "Extensions", self.style);
    }

    fn ages(&mut self) {
        let mut table = Table::new(Measure::Bytes, self.total());
        for (age, name) in self.report.figures.ages.iter().zip(AGES) {
            if age.counts.objects > 0 {
                table.push(Row::new(age.counts, name));
            }
        }
        table.write(&mut self.buffer, "Ages", self.style);
    }

    fn sizes(&mut self) {
        let sizes = &self.report.figures.sizes;
        let mut table = Table::new(Measure::Objects, self.total());
        for range in &sizes.histogram {
            if range.counts.objects > 0 {
                table.push(Row::new(range.counts, size_range(range.from)));
            }
        }
        let (min, mean, max) = (sizes.min, sizes.mean, sizes.max);
        let title = format!(
            "Sizes: from {} to {}, {} on average",
            format_size(min),
            format_size(max),
            format_size(mean)
        );
        table.write(&mut self.buffer, &title, self.style);
        let percentiles = sizes.percentiles.iter().filter(|percentile| {
            matches!(percentile.name, "p10" | "p50" | "p90" | "p99" | "p99.9")
        });
        let sign = if self.style.unicode { "≤ " } else { "<= " };
        let percentiles = percentiles.map(|percentile| {
            let share = percentile.name.trim_start_matches('p');
            format!("{share}% {sign}{}", format_size(percentile.bytes))
        });
        let percentiles: Vec<String> = percentiles.collect();
        self.line(&format!("  within 1%: {}", percentiles.join(", ")));
    }

    fn ranking(&mut self, title: &str, rows: &[RankedObject]) {
        if rows.is_empty() {
            return;
        }
        push_title(&mut self.buffer, title);
        for row in rows {
            self.dated(row.size, row.last_modified_s, &row.key);
        }
    }

    fn dated(&mut self, size: u64, seconds: i64, name: &str) {
        self.buffer.extend_from_slice(format!("  {:>10}  ", format_size(size)).as_bytes());
        self.time.push(&mut self.buffer, seconds);
        self.buffer.extend_from_slice(b"  ");
        self.line(name);
    }

    fn keys(&mut self) {
        let keys = &self.report.figures.keys;
        let (min, mean, max) = (keys.length_min, keys.length_mean, keys.length_max);
        push_title(&mut self.buffer, &format!("Keys: {min} to {max} bytes, {mean} on average"));
        for range in &keys.lengths {
            if range.objects == 0 {
                continue;
            }
            let (objects, whole) = (range.objects, self.total().objects);
            let (count, share) = (grouped(objects), super::bars::percent(objects, whole));
            let bar = super::bars::bar(objects, whole, self.style);
            let (from, to) = (range.from, range.to);
            let columns = format!("  {count:>12}  {:>10}  {share:>10}  {bar}", "");
            self.line(&format!("{columns}  {from} to {to} bytes"));
        }
        if keys.oddities.is_empty() {
            return;
        }
        push_title(&mut self.buffer, "Keys that other tools cannot handle");
        for oddity in &keys.oddities {
            let known = ODDITIES.iter().find(|(name, _)| *name == oddity.name);
            let what = known.map_or(oddity.name, |(_, what)| what);
            let count = grouped(oddity.counts.objects);
            self.line(&format!("  {count:>12}  {what:<26}  such as {}", oddity.example));
        }
    }

    fn uploads(&mut self) {
        let Some(uploads) = self.report.uploads else { return };
        let count = grouped(uploads.uploads);
        let (parts, size) = (grouped(uploads.parts), format_size(uploads.bytes));
        push_title(
            &mut self.buffer,
            &format!("Incomplete multipart uploads: {count} with {parts} parts, {size}"),
        );
        for upload in &uploads.oldest {
            self.dated(upload.bytes, upload.initiated_s, &upload.key);
        }
    }

    fn approximations(&mut self) {
        let figures = self.report.figures;
        if !figures.folders_merged && !figures.extensions_merged {
            return;
        }
        let sign = if self.style.unicode { "≥" } else { ">=" };
        self.buffer.push(b'\n');
        self.line(
            "There were too many folders or extensions to keep all: small ones count with what",
        );
        self.line(&format!("is above them, and {sign} marks lower bounds. Totals are exact."));
    }
}

fn add(sum: Counts, counts: Counts) -> Counts {
    Counts {
        objects: sum.objects.saturating_add(counts.objects),
        bytes: sum.bytes.saturating_add(counts.bytes),
    }
}

/// Names the row of what has none of its own.
fn more(others: u64, are_merged: bool, noun: &str) -> String {
    if are_merged {
        // They were not counted.
        return format!("(all other {noun}s)");
    }
    let plural = if others == 1 { "" } else { "s" };
    format!("({} more {noun}{plural})", grouped(others))
}

/// Components of a folder.
fn levels(folder: &str) -> usize {
    folder.matches('/').count().max(1)
}

fn last_component(folder: &str) -> &str {
    let stem = folder.strip_suffix('/').unwrap_or(folder);
    &folder[stem.rfind('/').map_or(0, |slash| slash + 1)..]
}

/// Each folder before those in it, otherwise in the given order. Given are the greatest, so that
/// the folder that one of them is in was given before.
fn in_tree_order(folders: &[FolderFigures]) -> Vec<&FolderFigures> {
    let mut rows: Vec<&FolderFigures> = Vec::with_capacity(folders.len());
    for folder in folders {
        let above = folder.name.len() - last_component(&folder.name).len();
        let above = &folder.name[..above];
        // After the last row that is in the same folder, or is that folder.
        let is_near = |row: &&FolderFigures| row.name.starts_with(above);
        let at = rows.iter().rposition(is_near).map_or(rows.len(), |last| last + 1);
        rows.insert(at, folder);
    }
    rows
}
