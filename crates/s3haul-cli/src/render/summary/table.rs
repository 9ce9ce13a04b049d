//! Rows whose names stand last, so that names of any width and script cannot break columns.

use s3haul::summary::Counts;
use s3haul_wire::units::format_size;

use super::bars::{bar, percent};
use crate::render::escape::push_name;
use crate::render::numbers::grouped;
use crate::render::summary::report::Style;

/// Columns of objects, sizes and shares at least, so that tables stand below one another.
const WIDTHS_MIN: [usize; 3] = [12, 10, 10];

/// What shares are about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Bytes.
    Bytes,
    /// Objects.
    Objects,
}

/// A row.
pub(super) struct Row {
    counts: Counts,
    is_lower_bound: bool,
    name: String,
}

impl Row {
    pub(super) fn new(counts: Counts, name: impl Into<String>) -> Self {
        Self { counts, is_lower_bound: false, name: name.into() }
    }

    /// Marks figures that may be short.
    pub(super) fn at_least(self, is_lower_bound: bool) -> Self {
        Self { is_lower_bound, ..self }
    }
}

/// Rows with objects, sizes, shares of the total, bars and names.
pub(super) struct Table {
    measure: Measure,
    total: Counts,
    rows: Vec<Row>,
}

impl Table {
    /// Without rows yet. Shares are of objects where there are no bytes to share.
    pub(super) fn new(measure: Measure, total: Counts) -> Self {
        let measure = if total.bytes == 0 { Measure::Objects } else { measure };
        Self { measure, total, rows: Vec::new() }
    }

    pub(super) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Appends a title and the rows.
    pub(super) fn write(&self, buffer: &mut Vec<u8>, title: &str, style: Style) {
        let sign = if style.unicode { "≥" } else { ">=" };
        let cells: Vec<[String; 3]> = self.rows.iter().map(|row| self.cells(row, sign)).collect();
        let heads = ["objects", "size", self.head()];
        let width = |column: usize| {
            let widths = cells.iter().map(|cells| cells[column].chars().count());
            widths.chain([WIDTHS_MIN[column]]).max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2)];
        push_title(buffer, title);
        push_cells(buffer, heads, widths);
        buffer.push(b'\n');
        for (row, cells) in self.rows.iter().zip(&cells) {
            push_cells(buffer, cells.each_ref().map(String::as_str), widths);
            let (part, whole) = self.share(row);
            buffer.extend_from_slice(format!("  {}  ", bar(part, whole, style)).as_bytes());
            push_name(buffer, &row.name, true);
            buffer.push(b'\n');
        }
    }

    fn head(&self) -> &'static str {
        match self.measure {
            Measure::Bytes => "of bytes",
            Measure::Objects => "of objects",
        }
    }

    fn share(&self, row: &Row) -> (u64, u64) {
        match self.measure {
            Measure::Bytes => (row.counts.bytes, self.total.bytes),
            Measure::Objects => (row.counts.objects, self.total.objects),
        }
    }

    fn cells(&self, row: &Row, sign: &str) -> [String; 3] {
        let (part, whole) = self.share(row);
        let sign = if row.is_lower_bound { sign } else { "" };
        let (objects, size) = (grouped(row.counts.objects), format_size(row.counts.bytes));
        [format!("{sign}{objects}"), format!("{sign}{size}"), percent(part, whole)]
    }
}

/// Appends an empty line and a title.
pub(super) fn push_title(buffer: &mut Vec<u8>, title: &str) {
    buffer.extend_from_slice(format!("\n{title}\n").as_bytes());
}

fn push_cells(buffer: &mut Vec<u8>, cells: [&str; 3], widths: [usize; 3]) {
    for (cell, width) in cells.iter().zip(widths) {
        buffer.extend_from_slice(format!("  {cell:>width$}").as_bytes());
    }
}
