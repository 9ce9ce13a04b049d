//! Files whose rows are read many at a time, as entries one by one.

use std::fmt::Display;

use s3haul::job::ManifestEntry;
use s3haul::{Error, ErrorKind};
use s3haul_wire::error::Result;

use super::row::{Column, Row};

/// Reads the rows of a file.
pub(super) trait RowReader {
    /// What the format is called.
    const FORMAT: &str;
    /// Why it cannot be read.
    type Error: Display;

    /// The next rows; none at the end of the file.
    fn read(&mut self) -> std::result::Result<Vec<Row>, Self::Error>;
}

/// The entries of a file. After an error there are no more.
pub(super) struct TableEntries<R> {
    reader: R,
    rows: std::vec::IntoIter<Row>,
    name: String,
    is_over: bool,
}

impl<R: RowReader> TableEntries<R> {
    /// Starts at the first row of a file that has these columns.
    pub(super) fn new(
        reader: R,
        columns: impl Iterator<Item = Column>,
        name: &str,
    ) -> Result<Self> {
        let refused = |why: String| {
            let message = format!("the manifest `{name}` {why}");
            Error::new(ErrorKind::Config, message)
        };
        let mut found = Vec::new();
        for column in columns {
            // Which one is meant nobody knows, and thousands would take as many buffers.
            if found.contains(&column) {
                return Err(refused(format!("has two columns of the meaning {column:?}")));
            }
            found.push(column);
        }
        if !found.contains(&Column::Key) {
            return Err(refused("has no column `key`".to_owned()));
        }
        let (rows, name) = (Vec::new().into_iter(), name.to_owned());
        Ok(Self { reader, rows, name, is_over: false })
    }
}

impl<R: RowReader> Iterator for TableEntries<R> {
    type Item = Result<ManifestEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(row) = self.rows.next() {
            return Some(Ok(row.into_entry()));
        }
        if self.is_over {
            return None;
        }
        match self.reader.read() {
            Ok(rows) => {
                self.is_over = rows.is_empty();
                self.rows = rows.into_iter();
                self.rows.next().map(|row| Ok(row.into_entry()))
            }
            Err(error) => {
                self.is_over = true;
                Some(Err(unreadable(R::FORMAT, &self.name, &error)))
            }
        }
    }
}

/// The error for a file that is not what it should be.
pub(super) fn unreadable(format: &str, name: &str, error: &impl Display) -> Error {
    let message = format!("the manifest `{name}` cannot be read as {format}: {error}");
    Error::new(ErrorKind::Config, message)
}
