//! A listing as Apache Parquet.

use std::io::{self, Write};

use super::entry::{Entry, Field, Value};
use crate::table::{Cell, ColumnKind, ColumnSpec, TableWriter};

/// Writes rows of a listing.
pub(crate) struct ParquetTable<W: Write + Send> {
    table: TableWriter<W>,
    fields: Vec<Field>,
}

impl<W: Write + Send> ParquetTable<W> {
    /// A table with these columns.
    pub(crate) fn new(output: W, fields: &[Field]) -> io::Result<Self> {
        let columns = fields.iter().copied().map(column).collect();
        let table = TableWriter::new(output, "listing", columns, &[])?;
        Ok(Self { table, fields: fields.to_owned() })
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, entry: &Entry<'_>, bucket: &str) -> io::Result<()> {
        self.table.push(|column| match self.fields[column].value(entry, bucket) {
            Value::Nothing => Cell::Nothing,
            Value::Text(text) => Cell::Text(text),
            Value::Number(number) => Cell::Number(i64::try_from(number).unwrap_or(i64::MAX)),
            Value::Time(seconds) => Cell::Number(seconds),
            Value::Flag(flag) => Cell::Flag(flag),
        })
    }

    /// Writes what is left and the footer.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.table.finish().map(drop)
    }
}

fn column(field: Field) -> ColumnSpec {
    let kind = match field {
        Field::Size => ColumnKind::Number,
        Field::LastModified => ColumnKind::Time,
        Field::IsLatest | Field::IsDeleteMarker => ColumnKind::Flag,
        Field::StorageClass | Field::Bucket => ColumnKind::Word,
        Field::Key | Field::Etag | Field::VersionId => ColumnKind::Text,
    };
    let is_optional = matches!(field, Field::Etag | Field::StorageClass) || field.is_of_versions();
    ColumnSpec { name: field.name(), kind, is_optional }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::listing::entry::VersionInfo;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::RowAccessor;
    use bytes::Bytes;
    use s3haul_wire::ops::ListedObject;

    /// More than a row group has.
    const ROWS: usize = 100_005;

    fn object(key: &str, size: u64) -> ListedObject<'_> {
        ListedObject { key, size, last_modified_s: 3, etag: "\"e\"", ..ListedObject::default() }
    }

    #[test]
    fn rows_are_read_back_over_several_groups() {
        let mut bytes = Vec::new();
        let mut table = ParquetTable::new(&mut bytes, &Field::ALL).unwrap();
        for row in 0..ROWS as u64 {
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
        assert_eq!(rows, ROWS);
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
