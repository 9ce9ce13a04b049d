//! Files in Parquet: what `list` writes, and parts of inventories.
//!
//! Row groups are read piece by piece; only the columns that mean something are. Only the types
//! that these have are named here: each brings some 30 KB of code along.
//!
//! The library behind this panics on some broken files. Such files are recognized by their
//! footer or, after a panic, reported as broken as well: after an error nothing more is read.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use ::parquet::column::page::PageReader;
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{BoolType, ByteArrayType, DataType, Int32Type, Int64Type, Int96Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use s3haul::job::ManifestEntry;
use s3haul::{Error, ErrorKind};
use s3haul_wire::error::Result;

use super::row::{Cell, Column, Row};

/// Rows that are read together.
const ROWS_MAX: usize = 1024;

/// The entries of a file. After an error there are no more.
pub(super) struct ParquetEntries {
    reader: ParquetRows,
    rows: std::vec::IntoIter<Row>,
    name: String,
    is_over: bool,
}

impl ParquetEntries {
    /// Reads the footer.
    pub(super) fn open(file: File, name: &str) -> Result<Self> {
        let reader = guarded(|| ParquetRows::new(file));
        let reader = reader.map_err(|error| unreadable(name, &error))?;
        let refused = |why: String| {
            let message = format!("the manifest `{name}` {why}");
            Error::new(ErrorKind::Config, message)
        };
        let mut found = Vec::new();
        for (_, column) in &reader.columns {
            // It is unknown which one is meant, and thousands would take as many buffers.
            if found.contains(column) {
                return Err(refused(format!("has two columns of the meaning {column:?}")));
            }
            found.push(*column);
        }
        if !found.contains(&Column::Key) {
            return Err(refused("has no column `key`".to_owned()));
        }
        let (rows, name) = (Vec::new().into_iter(), name.to_owned());
        Ok(Self { reader, rows, name, is_over: false })
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
        match guarded(|| self.reader.read_rows()) {
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

/// The error for a file that is not what it should be.
fn unreadable(name: &str, error: &ParquetError) -> Error {
    let message = format!("the manifest `{name}` cannot be read as Parquet: {error}");
    Error::new(ErrorKind::Config, message)
}

/// The rows of a file.
struct ParquetRows {
    file: Arc<File>,
    metadata: ParquetMetaData,
    /// The columns that mean something, by their places.
    columns: Vec<(usize, Column)>,
    /// The next row group.
    group: usize,
    chunks: Vec<Chunk>,
}

/// A column of the present row group.
struct Chunk {
    column: Column,
    reader: Reader,
    /// The level at which there is a value.
    level: i16,
    /// What a second has, where it holds times.
    ticks: i64,
    /// Numbers of 32 bits are never negative.
    is_unsigned: bool,
}

impl ParquetRows {
    fn new(file: File) -> std::result::Result<Self, ParquetError> {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
        check(&metadata)?;
        let schema = metadata.file_metadata().schema_descr();
        let places = schema.columns().iter().enumerate();
        let columns: Vec<_> = places
            .filter(|(_, column)| column.path().parts().len() == 1 && column.max_rep_level() == 0)
            .filter_map(|(index, column)| Some((index, Column::of(column.name())?)))
            .collect();
        Ok(Self { file: Arc::new(file), metadata, columns, group: 0, chunks: Vec::new() })
    }
}

/// Runs what may panic in the library.
fn guarded<T>(
    run: impl FnOnce() -> std::result::Result<T, ParquetError>,
) -> std::result::Result<T, ParquetError> {
    let result = catch_unwind(AssertUnwindSafe(run));
    result.unwrap_or_else(|_| Err(ParquetError::General("it is broken".to_owned())))
}

/// Finds places and numbers below 0, which the library does not expect.
fn check(metadata: &ParquetMetaData) -> std::result::Result<(), ParquetError> {
    for group in metadata.row_groups() {
        let is_sound = group.num_rows() >= 0
            && group.columns().iter().all(|column| {
                let start = column.dictionary_page_offset().unwrap_or(0);
                let numbers = [column.data_page_offset(), column.compressed_size(), start];
                numbers.iter().all(|number| *number >= 0) && column.num_values() >= 0
            });
        if !is_sound {
            return Err(ParquetError::General("its footer is broken".to_owned()));
        }
    }
    Ok(())
}

impl ParquetRows {
    /// The next rows; none at the end of the file.
    fn read_rows(&mut self) -> std::result::Result<Vec<Row>, ParquetError> {
        loop {
            let mut rows = Vec::new();
            for chunk in &mut self.chunks {
                chunk.read(&mut rows)?;
            }
            if !rows.is_empty() || self.group == self.metadata.num_row_groups() {
                return Ok(rows);
            }
            let group = self.metadata.row_group(self.group);
            self.group += 1;
            let row_count = usize::try_from(group.num_rows()).unwrap_or_default();
            let schema = self.metadata.file_metadata().schema_descr();
            let chunk = |(index, column): &(usize, Column)| {
                let file = Arc::clone(&self.file);
                let stored = group.column(*index);
                let pages = SerializedPageReader::new(file, stored, row_count, None)?;
                let described = schema.column(*index);
                Ok(Chunk {
                    column: *column,
                    level: described.max_def_level(),
                    ticks: ticks(&described),
                    is_unsigned: described.converted_type() == ConvertedType::UINT_32,
                    reader: Reader::new(described, Box::new(pages))?,
                })
            };
            self.chunks = self.columns.iter().map(chunk).collect::<Result<_, ParquetError>>()?;
        }
    }
}

/// Values of a column by the type that they are stored in.
enum Reader {
    Text(ColumnReaderImpl<ByteArrayType>),
    Flag(ColumnReaderImpl<BoolType>),
    Int32(ColumnReaderImpl<Int32Type>),
    Int64(ColumnReaderImpl<Int64Type>),
    Int96(ColumnReaderImpl<Int96Type>),
}

impl Reader {
    fn new(
        column: ColumnDescPtr,
        pages: Box<dyn PageReader>,
    ) -> std::result::Result<Self, ParquetError> {
        Ok(match column.physical_type() {
            Type::BYTE_ARRAY => Self::Text(ColumnReaderImpl::new(column, pages)),
            Type::BOOLEAN => Self::Flag(ColumnReaderImpl::new(column, pages)),
            Type::INT32 => Self::Int32(ColumnReaderImpl::new(column, pages)),
            Type::INT64 => Self::Int64(ColumnReaderImpl::new(column, pages)),
            Type::INT96 => Self::Int96(ColumnReaderImpl::new(column, pages)),
            other => {
                let name = column.name();
                let message = format!("the column `{name}` has the type {other}");
                return Err(ParquetError::General(message));
            }
        })
    }
}

impl Chunk {
    /// Reads the next values into rows.
    fn read(&mut self, rows: &mut Vec<Row>) -> std::result::Result<(), ParquetError> {
        let Self { column, level, ticks, is_unsigned, .. } = *self;
        let level = Some(level).filter(|level| *level > 0);
        match &mut self.reader {
            Reader::Text(reader) => values(reader, column, level, rows, |value| {
                value.as_utf8().map(|text| Cell::Text(text.to_owned()))
            }),
            Reader::Flag(reader) => {
                values(reader, column, level, rows, |value| Ok(Cell::Flag(*value)))
            }
            Reader::Int32(reader) => values(reader, column, level, rows, |value| {
                let unsigned = is_unsigned.then(|| value.cast_unsigned().into());
                Ok(Cell::Number(unsigned.unwrap_or((*value).into())))
            }),
            Reader::Int64(reader) => values(reader, column, level, rows, |value| {
                Ok(Cell::Number(value.div_euclid(ticks)))
            }),
            Reader::Int96(reader) => {
                values(reader, column, level, rows, |value| Ok(Cell::Number(value.to_seconds())))
            }
        }
    }
}

/// Reads values of one type; the first column makes the rows.
fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    column: Column,
    level: Option<i16>,
    rows: &mut Vec<Row>,
    cell: impl Fn(&T::T) -> std::result::Result<Cell, ParquetError>,
) -> std::result::Result<(), ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let (count, ..) = reader.read_records(ROWS_MAX, Some(&mut levels), None, &mut values)?;
    rows.resize_with(rows.len().max(count), Row::default);
    let mut values = values.iter();
    for (index, row) in rows.iter_mut().enumerate().take(count) {
        let is_there = level.is_none_or(|level| levels.get(index) == Some(&level));
        let Some(value) = is_there.then(|| values.next()).flatten() else {
            row.take(column, Cell::Nothing);
            continue;
        };
        if !row.take(column, cell(value)?) {
            let meaning = column.meaning();
            return Err(ParquetError::General(format!("it has a value that is not {meaning}")));
        }
    }
    Ok(())
}

/// What a second has in a column of times; 1 elsewhere.
fn ticks(column: &ColumnDescriptor) -> i64 {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Timestamp(time)), _) => match time.unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        },
        (_, ConvertedType::TIMESTAMP_MILLIS) => 1_000,
        (_, ConvertedType::TIMESTAMP_MICROS) => 1_000_000,
        _ => 1,
    }
}
