//! A listing as Apache Parquet: row groups of bounded size, times in milliseconds UTC.
//!
//! Rows are gathered in columns and encoded when a row group is full. Keys of a group stand in
//! one buffer that the encoder borrows from.

use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use bytes::Bytes;

use super::entry::{Entry, Field, Value};

/// Rows of a row group at most.
const GROUP_ROWS: usize = 100_000;
/// Bytes of texts in a row group, after which it ends.
const GROUP_BYTES: usize = 32 << 20;
/// Milliseconds of a second.
const MILLIS: i64 = 1000;

/// Why a table could not be written.
pub(crate) type TableError = ParquetError;

/// Writes rows of a listing.
pub(crate) struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
    text_bytes: usize,
}

impl<W: Write + Send> ParquetTable<W> {
    /// A table with these columns.
    pub(crate) fn new(output: W, fields: &[Field]) -> Result<Self, TableError> {
        let columns: Vec<Column> = fields.iter().copied().map(Column::new).collect();
        let lines: String = columns.iter().map(Column::declaration).collect();
        let schema = parse_message_type(&format!("message listing {{ {lines} }}"))?;
        let properties = properties(fields);
        let writer = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))?;
        Ok(Self { writer, columns, rows: 0, text_bytes: 0 })
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, entry: &Entry<'_>, bucket: &str) -> Result<(), TableError> {
        for column in &mut self.columns {
            self.text_bytes += column.push(column.field.value(entry, bucket));
        }
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.text_bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes what is left and the footer.
    pub(crate) fn finish(mut self) -> Result<(), TableError> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.finish().map(drop)
    }

    fn write_group(&mut self) -> Result<(), TableError> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            column.write(writer.untyped())?;
            writer.close()?;
        }
        group.close()?;
        (self.rows, self.text_bytes) = (0, 0);
        Ok(())
    }
}

fn properties(fields: &[Field]) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("s3haul ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    for field in fields {
        if matches!(field, Field::StorageClass | Field::Bucket) {
            properties = properties.set_column_dictionary_enabled(field.name().into(), true);
        }
    }
    properties.build()
}

/// Values of a column of the row group that is being gathered.
struct Column {
    field: Field,
    values: Values,
    /// For columns that may hold nothing: 1 where there is a value.
    levels: Vec<i16>,
}

enum Values {
    Texts { bytes: Vec<u8>, ends: Vec<usize> },
    Numbers(Vec<i64>),
    Flags(Vec<bool>),
}

impl Column {
    fn new(field: Field) -> Self {
        let values = match field {
            Field::Size | Field::LastModified => Values::Numbers(Vec::new()),
            Field::IsLatest | Field::IsDeleteMarker => Values::Flags(Vec::new()),
            Field::Key | Field::Etag | Field::StorageClass | Field::Bucket | Field::VersionId => {
                Values::Texts { bytes: Vec::new(), ends: Vec::new() }
            }
        };
        Self { field, values, levels: Vec::new() }
    }

    /// Whether a row may have nothing in it.
    fn is_optional(&self) -> bool {
        matches!(self.field, Field::Etag | Field::StorageClass) || self.field.is_of_versions()
    }

    fn declaration(&self) -> String {
        let repetition = if self.is_optional() { "OPTIONAL" } else { "REQUIRED" };
        let name = self.field.name();
        let (kind, annotation) = match self.field {
            Field::Size => ("INT64", ""),
            Field::LastModified => ("INT64", " (TIMESTAMP(MILLIS,true))"),
            Field::IsLatest | Field::IsDeleteMarker => ("BOOLEAN", ""),
            _ => ("BYTE_ARRAY", " (STRING)"),
        };
        format!("{repetition} {kind} {name}{annotation}; ")
    }

    /// Adds a value; gives the bytes of texts it takes.
    fn push(&mut self, value: Value<'_>) -> usize {
        if self.is_optional() {
            self.levels.push(i16::from(value != Value::Nothing));
        }
        match (&mut self.values, value) {
            (Values::Texts { bytes, ends }, Value::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                return text.len();
            }
            (Values::Numbers(numbers), Value::Number(number)) => {
                numbers.push(i64::try_from(number).unwrap_or(i64::MAX));
            }
            (Values::Numbers(numbers), Value::Time(seconds)) => {
                numbers.push(seconds.saturating_mul(MILLIS));
            }
            (Values::Flags(flags), Value::Flag(flag)) => flags.push(flag),
            (_, value) => debug_assert_eq!(value, Value::Nothing, "{:?}", self.field),
        }
        0
    }

    /// Writes the values and forgets them.
    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<(), TableError> {
        let levels = self.is_optional().then_some(self.levels.as_slice());
        match (&mut self.values, writer) {
            (Values::Texts { bytes, ends }, ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let room = bytes.capacity();
                let all = Bytes::from(std::mem::replace(bytes, Vec::with_capacity(room)));
                let mut start = 0;
                let texts = ends.drain(..).map(|end| {
                    let text = all.slice(start..end);
                    start = end;
                    ByteArray::from(text)
                });
                let texts: Vec<ByteArray> = texts.collect();
                writer.write_batch(&texts, levels, None)?;
            }
            (Values::Numbers(numbers), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(numbers, levels, None)?;
                numbers.clear();
            }
            (Values::Flags(flags), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(flags, levels, None)?;
                flags.clear();
            }
            _ => {
                let message = format!("column `{}` has another type", self.field.name());
                return Err(ParquetError::General(message));
            }
        }
        self.levels.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::listing::entry::VersionInfo;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::RowAccessor;
    use s3haul_wire::ops::ListedObject;

    fn object(key: &str, size: u64) -> ListedObject<'_> {
        ListedObject { key, size, last_modified_s: 3, etag: "\"e\"", ..ListedObject::default() }
    }

    #[test]
    fn rows_are_read_back_over_several_groups() {
        let mut bytes = Vec::new();
        let mut table = ParquetTable::new(&mut bytes, &Field::ALL).unwrap();
        for row in 0..GROUP_ROWS as u64 + 5 {
            let version = VersionInfo { id: "v", is_latest: row % 2 == 0, is_delete_marker: false };
            let key = format!("k\n{row}");
            let version = (row != 1).then_some(version);
            table.push(&Entry { object: object(&key, row), version }, "box").unwrap();
        }
        table.finish().unwrap();
        let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let mut rows = 0;
        for (number, row) in (0..).zip(reader.get_row_iter(None).unwrap()) {
            let row = row.unwrap();
            assert_eq!(row.get_string(0).unwrap(), &format!("k\n{number}"));
            assert_eq!(row.get_long(1).unwrap(), number);
            assert_eq!(row.get_timestamp_millis(2).unwrap(), 3000);
            assert_eq!(row.get_string(3).unwrap(), "e");
            assert!(row.get_string(4).is_err(), "no value was returned");
            assert_eq!(row.get_string(5).unwrap(), "box");
            assert_eq!(row.get_bool(7).ok(), (number != 1).then_some(number % 2 == 0));
            rows += 1;
        }
        assert_eq!(rows, GROUP_ROWS + 5);
    }

    #[test]
    fn a_table_without_rows_has_columns() {
        let mut bytes = Vec::new();
        ParquetTable::new(&mut bytes, &Field::OF_OBJECTS).unwrap().finish().unwrap();
        let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
        assert_eq!(reader.metadata().file_metadata().schema().get_fields().len(), 5);
        assert_eq!(reader.get_row_iter(None).unwrap().count(), 0);
    }
}
