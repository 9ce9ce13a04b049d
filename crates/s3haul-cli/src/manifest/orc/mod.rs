//! Files in ORC, as parts of inventories: version 1 of the format, with the types and encodings
//! that names, numbers, flags and times have. <https://orc.apache.org/specification/ORCv1/>
//!
//! A stripe is read in pieces: of each column's streams one compressed block is held at a time,
//! beside its dictionary. Compression is none, ZLIB or Snappy.

mod column;
mod error;
mod proto;
mod rle;
mod stream;
mod tail;

use std::fs::File;

use crate::manifest::orc::error::Orc;
use crate::manifest::orc::error::OrcError;
use s3haul_wire::error::Result;

use self::column::ColumnReader;
use self::stream::Region;
use self::tail::{Stripe, Tail};
use super::row::{Column, Row};
use super::table::{RowReader, TableEntries, unreadable};

/// Rows that are read together.
const ROWS_MAX: u64 = 1024;

/// The entries of a file.
pub(super) type OrcEntries = TableEntries<OrcRows>;

impl OrcEntries {
    /// Reads the end of a file, where it says what is in it.
    pub(super) fn open(file: File, name: &str) -> Result<Self> {
        let rows = OrcRows::new(file).map_err(|error| unreadable(OrcRows::FORMAT, name, &error))?;
        let columns: Vec<_> = rows.columns.iter().map(|(column, ..)| *column).collect();
        Self::new(rows, columns.into_iter(), name)
    }
}

/// The rows of a file.
pub(super) struct OrcRows {
    region: Region,
    /// The columns that mean something, by their numbers, and the kinds of their types.
    columns: Vec<(Column, u64, u64)>,
    stripes: std::vec::IntoIter<Stripe>,
    readers: Vec<ColumnReader>,
    /// Rows of the present stripe that are still to be read.
    rows_left: u64,
}

impl OrcRows {
    fn new(file: File) -> Orc<Self> {
        let (region, tail) = Tail::read(file)?;
        let named = tail.columns.into_iter();
        let columns = named
            .filter_map(|(name, number, kind)| Some((Column::of(&name)?, number, kind)))
            .collect();
        let stripes = tail.stripes.into_iter();
        Ok(Self { region, columns, stripes, readers: Vec::new(), rows_left: 0 })
    }
}

impl RowReader for OrcRows {
    const FORMAT: &str = "ORC";
    type Error = OrcError;

    fn read(&mut self) -> Orc<Vec<Row>> {
        while self.rows_left == 0 {
            let Some(stripe) = self.stripes.next() else { return Ok(Vec::new()) };
            let footer = stripe.footer(&self.region)?;
            let mut held = 0;
            let open = |(column, number, kind): &(Column, u64, u64)| {
                ColumnReader::open(*column, *number, *kind, &footer, &self.region, &mut held)
            };
            self.readers = self.columns.iter().map(open).collect::<Orc<_>>()?;
            self.rows_left = stripe.rows;
        }
        let count = self.rows_left.min(ROWS_MAX);
        self.rows_left -= count;
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut row = Row::default();
            for reader in &mut self.readers {
                reader.read_into(&mut row)?;
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests;
