//! Files in Parquet: what `list` writes, and parts of inventories.

use std::fs::File;

use s3haul::job::ManifestEntry;
use s3haul::{Error, ErrorKind};
use s3haul_wire::error::Result;

use super::row::{Column, Row, TEXT_MAX, TOO_LONG};
use crate::table::{Cell, TableError, TableReader};

/// Names of columns that a message has.
const NAMES_MAX: usize = 8;

/// Ends the message about a report in Parquet.
pub(super) const REPORT_REFUSED: &str = "--from reads no reports in Parquet: write the report as \
                                         JSON lines or CSV (--report FILE.csv)";

/// The entries of a file. After an error there are no more.
pub(super) struct ParquetEntries {
    reader: TableReader,
    rows: std::vec::IntoIter<Row>,
    name: String,
    is_over: bool,
}

impl ParquetEntries {
    /// Reads the footer.
    pub(super) fn open(file: File, name: &str) -> Result<Self> {
        let number = |name: &str| Column::of(name).map(|column| column as usize);
        let reader = TableReader::open(file, number).map_err(|error| unreadable(name, &error))?;
        let refused = |why: String| {
            let message = format!("the manifest `{name}` {why}");
            Error::new(ErrorKind::Config, message)
        };
        let mut found = Vec::new();
        for column in reader.columns().map(|number| Column::ALL[number]) {
            // It is unknown which one is meant, and thousands would take as many buffers.
            if found.contains(&column) {
                return Err(refused(format!("has two columns of the meaning {column:?}")));
            }
            found.push(column);
        }
        if !found.contains(&Column::Key) {
            return Err(refused(without_key(&reader)));
        }
        let (rows, name) = (Vec::new().into_iter(), name.to_owned());
        Ok(Self { reader, rows, name, is_over: false })
    }

    /// Reads the next rows.
    fn read(&mut self) -> std::result::Result<Vec<Row>, TableError> {
        let (mut rows, mut wrong) = (Vec::<Row>::new(), None);
        let read = self.reader.read(&mut |row, column, cell| {
            if rows.len() <= row {
                rows.resize_with(row + 1, Row::default);
            }
            let column = Column::ALL[column];
            let is_long = matches!(cell, Cell::Text(text) if text.len() > TEXT_MAX);
            let is_right = !is_long && rows[row].take(column, cell);
            if !is_right {
                wrong = Some((column.meaning(), is_long));
            }
            is_right
        });
        match (read, wrong) {
            (_, Some((meaning, true))) => {
                Err(TableError::General(format!("it has {meaning} {TOO_LONG}")))
            }
            (_, Some((meaning, false))) => {
                Err(TableError::General(format!("it has a value that is not {meaning}")))
            }
            (read, None) => read.map(|_| rows),
        }
    }
}

impl Iterator for ParquetEntries {
    type Item = Result<ManifestEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(row) = self.rows.next() {
            return Some(Ok(row.into_entry()));
        }
        if self.is_over {
            return None;
        }
        match self.read() {
            Ok(rows) => {
                self.is_over = rows.is_empty();
                self.rows = rows.into_iter();
                self.rows.next().map(|row| Ok(row.into_entry()))
            }
            Err(error) => {
                self.is_over = true;
                Some(Err(unreadable(&self.name, &error)))
            }
        }
    }
}

/// What a table without a column of keys is.
fn without_key(reader: &TableReader) -> String {
    let names: Vec<_> = reader.names().collect();
    let has_all = |wanted: [&str; 3]| wanted.iter().all(|name| names.contains(name));
    if has_all(["action", "source", "target_state"]) {
        return "is a plan, and no list of objects: `s3haul apply` does what it says".to_owned();
    }
    if has_all(["event", "outcome", "source"]) {
        return format!("is part of a report; {REPORT_REFUSED}");
    }
    let shown = names.iter().take(NAMES_MAX).map(|name| format!("`{}`", name.escape_debug()));
    format!("has no column `key`, but {}", shown.collect::<Vec<_>>().join(", "))
}

/// The error for a file that is not what it should be.
fn unreadable(name: &str, error: &TableError) -> Error {
    let message = format!("the manifest `{name}` cannot be read as Parquet: {error}");
    Error::new(ErrorKind::Config, message)
}
