//! Parquet files row by row: only the columns that mean something are read.
//!
//! Row groups are read piece by piece. Only the types that these columns have are named here: each
//! brings some 30 KB of code along.
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
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use super::{Cell, TableError};

/// Rows that are read together.
const ROWS_MAX: usize = 1024;
/// A column of a row group that has more bytes must not have more for a value than these: some
/// writers make a page of a thousand values however long they are, and pages are unpacked whole.
const COLUMN_BYTES: i64 = 64 * 1024 * 1024;
const VALUE_BYTES_MAX: i64 = 64 * 1024;

/// Takes a cell: its row among those that are read together, its column, and what it holds. False
/// where it makes no sense.
pub(crate) type TakeCell<'a> = dyn FnMut(usize, usize, Cell<'_>) -> bool + 'a;

/// The rows of a file.
pub(crate) struct TableReader {
    file: Arc<File>,
    metadata: ParquetMetaData,
    /// The columns that mean something: their places and their numbers.
    columns: Vec<(usize, usize)>,
    /// The next row group.
    group: usize,
    chunks: Vec<Chunk>,
}

/// A column of the present row group.
struct Chunk {
    /// Its number.
    column: usize,
    reader: Reader,
    /// The level at which there is a value.
    level: i16,
    /// What a second has, where it holds times.
    ticks: i64,
    /// Numbers of 32 bits are never negative.
    is_unsigned: bool,
}

impl TableReader {
    /// Reads the footer. `number` gives the number of a column by its name; columns without one
    /// are not read.
    pub(crate) fn open(
        file: File,
        number: impl Fn(&str) -> Option<usize>,
    ) -> Result<Self, TableError> {
        guarded(|| {
            let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
            check(&metadata)?;
            let schema = metadata.file_metadata().schema_descr();
            let places = schema.columns().iter().enumerate();
            let columns = places
                .filter(|(_, column)| {
                    column.path().parts().len() == 1 && column.max_rep_level() == 0
                })
                .filter_map(|(place, column)| Some((place, number(column.name())?)))
                .collect();
            Ok(Self { file: Arc::new(file), metadata, columns, group: 0, chunks: Vec::new() })
        })
    }

    /// The numbers of the columns that are read.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(|(_, column)| *column)
    }

    /// The names of all columns.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let schema = self.metadata.file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.name())
    }

    /// A value of the footer.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        let values = self.metadata.file_metadata().key_value_metadata()?;
        values.iter().find(|value| value.key == key)?.value.as_deref()
    }

    /// Reads the next rows; gives their number, 0 at the end of the file.
    pub(crate) fn read(&mut self, take: &mut TakeCell<'_>) -> Result<usize, TableError> {
        guarded(|| self.read_unguarded(take))
    }

    fn read_unguarded(&mut self, take: &mut TakeCell<'_>) -> Result<usize, TableError> {
        loop {
            let mut count = 0;
            for chunk in &mut self.chunks {
                count = count.max(chunk.read(take)?);
            }
            if count > 0 || self.group == self.metadata.num_row_groups() {
                return Ok(count);
            }
            let group = self.metadata.row_group(self.group);
            self.group += 1;
            let row_count = usize::try_from(group.num_rows()).unwrap_or_default();
            let schema = self.metadata.file_metadata().schema_descr();
            let chunk = |(place, column): &(usize, usize)| {
                let file = Arc::clone(&self.file);
                let stored = group.column(*place);
                check_size(stored)?;
                let pages = SerializedPageReader::new(file, stored, row_count, None)?;
                let described = schema.column(*place);
                Ok(Chunk {
                    column: *column,
                    level: described.max_def_level(),
                    ticks: ticks(&described),
                    is_unsigned: described.converted_type() == ConvertedType::UINT_32,
                    reader: Reader::new(described, Box::new(pages))?,
                })
            };
            self.chunks = self.columns.iter().map(chunk).collect::<Result<_, TableError>>()?;
        }
    }
}

/// Runs what may panic in the library.
fn guarded<T>(run: impl FnOnce() -> Result<T, TableError>) -> Result<T, TableError> {
    let result = catch_unwind(AssertUnwindSafe(run));
    result.unwrap_or_else(|_| Err(TableError::General("it is broken".to_owned())))
}

/// Finds places and numbers below 0, which the library does not expect.
fn check(metadata: &ParquetMetaData) -> Result<(), TableError> {
    for group in metadata.row_groups() {
        let is_sound = group.num_rows() >= 0
            && group.columns().iter().all(|column| {
                let start = column.dictionary_page_offset().unwrap_or(0);
                let numbers = [column.data_page_offset(), column.compressed_size(), start];
                numbers.iter().all(|number| *number >= 0) && column.num_values() >= 0
            });
        if !is_sound {
            return Err(TableError::General("its footer is broken".to_owned()));
        }
    }
    Ok(())
}

fn check_size(stored: &ColumnChunkMetaData) -> Result<(), TableError> {
    let (bytes, values) = (stored.uncompressed_size(), stored.num_values().max(1));
    if bytes > COLUMN_BYTES && bytes / values > VALUE_BYTES_MAX {
        return Err(TableError::General("its values are far too long".to_owned()));
    }
    Ok(())
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
    fn new(column: ColumnDescPtr, pages: Box<dyn PageReader>) -> Result<Self, TableError> {
        if !is_plain(&column) {
            let name = column.name();
            let message =
                format!("the column `{name}` holds dates, times of day or decimal fractions");
            return Err(TableError::General(message));
        }
        Ok(match column.physical_type() {
            Type::BYTE_ARRAY => Self::Text(ColumnReaderImpl::new(column, pages)),
            Type::BOOLEAN => Self::Flag(ColumnReaderImpl::new(column, pages)),
            Type::INT32 => Self::Int32(ColumnReaderImpl::new(column, pages)),
            Type::INT64 => Self::Int64(ColumnReaderImpl::new(column, pages)),
            Type::INT96 => Self::Int96(ColumnReaderImpl::new(column, pages)),
            other => {
                let name = column.name();
                let message = format!("the column `{name}` has the type {other}");
                return Err(TableError::General(message));
            }
        })
    }
}

impl Chunk {
    /// Reads the next values; gives their number.
    fn read(&mut self, take: &mut TakeCell<'_>) -> Result<usize, TableError> {
        let Self { column, level, ticks, is_unsigned, .. } = *self;
        let level = Some(level).filter(|level| *level > 0);
        let take = &mut |row: usize, cell: Cell<'_>| take(row, column, cell);
        match &mut self.reader {
            Reader::Text(reader) => {
                values(reader, level, take, |value| value.as_utf8().map(Cell::Text))
            }
            Reader::Flag(reader) => values(reader, level, take, |value| Ok(Cell::Flag(*value))),
            Reader::Int32(reader) => values(reader, level, take, |value| {
                let unsigned = is_unsigned.then(|| value.cast_unsigned().into());
                Ok(Cell::Number(unsigned.unwrap_or((*value).into())))
            }),
            Reader::Int64(reader) => {
                values(reader, level, take, |value| Ok(Cell::Number(value.div_euclid(ticks))))
            }
            Reader::Int96(reader) => {
                values(reader, level, take, |value| Ok(Cell::Number(value.to_seconds())))
            }
        }
    }
}

/// Reads values of one type.
fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    level: Option<i16>,
    take: &mut dyn FnMut(usize, Cell<'_>) -> bool,
    cell: impl for<'a> Fn(&'a T::T) -> Result<Cell<'a>, TableError>,
) -> Result<usize, TableError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let (count, ..) = reader.read_records(ROWS_MAX, Some(&mut levels), None, &mut values)?;
    let mut values = values.iter();
    for row in 0..count {
        let is_there = level.is_none_or(|level| levels.get(row) == Some(&level));
        let value = is_there.then(|| values.next()).flatten();
        let cell = value.map_or(Ok(Cell::Nothing), &cell)?;
        if !take(row, cell) {
            return Err(TableError::General(format!("its row {} makes no sense", row + 1)));
        }
    }
    Ok(count)
}

/// Whether the numbers of a column are what they look like: dates count days, decimals have a
/// scale.
fn is_plain(column: &ColumnDescriptor) -> bool {
    let is_number = matches!(column.physical_type(), Type::INT32 | Type::INT64);
    let is_time = match column.logical_type_ref() {
        Some(logical) => matches!(logical, LogicalType::Date | LogicalType::Time(_)),
        None => matches!(
            column.converted_type(),
            ConvertedType::DATE | ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS
        ),
    };
    // Only decimals have a scale.
    !(is_number && (is_time || column.type_scale() > 0))
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

#[cfg(test)]
mod tests {
    use ::parquet::schema::parser::parse_message_type;
    use ::parquet::schema::types::SchemaDescriptor;

    use super::*;

    #[test]
    fn days_and_decimals_are_not_taken_for_numbers() {
        let message = "message m { required int32 n; required int32 u (INTEGER(32, false)); \
                       required int64 t (TIMESTAMP(MILLIS, true)); required int64 o \
                       (TIMESTAMP_MICROS); required byte_array s (UTF8); required int32 d (DATE); \
                       required int64 e (DECIMAL(10, 2)); required int64 c (TIME(MICROS, true)); \
                       required int64 w (DECIMAL(10, 0)); optional int32 x (UNKNOWN); }";
        let schema = SchemaDescriptor::new(Arc::new(parse_message_type(message).unwrap()));
        let plain = schema.columns().iter().filter(|column| is_plain(column));
        let names: String = plain.map(|column| column.name()).collect();
        assert_eq!(names, "nutoswx");
    }
}
