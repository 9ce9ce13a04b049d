//! Writing: row groups of bounded size, times in milliseconds UTC.
//!
//! Rows are gathered in columns and encoded when a row group is full. Texts of a group stand in
//! one buffer that the encoder borrows from.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use ::parquet::basic::Compression;
use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use bytes::Bytes;
use tempfile::{NamedTempFile, TempPath};

use super::{Cell, TableError};

/// Rows of a row group at most.
pub(crate) const GROUP_ROWS: usize = 100_000;
/// Bytes of texts in a row group, after which it ends.
const GROUP_BYTES: usize = 32 << 20;
/// Milliseconds of a second.
const MILLIS: i64 = 1000;

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct ColumnSpec {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnKind,
    /// A row may have nothing in it.
    pub(crate) is_optional: bool,
}

/// What the cells of a column hold.
#[derive(Clone, Debug)]
pub(crate) enum ColumnKind {
    /// Texts that are all different, or nearly.
    Text,
    /// Texts of which there are few.
    Word,
    /// Each row has this text; it is given no cells.
    Constant(Arc<str>),
    /// Numbers.
    Number,
    /// Seconds since 1970.
    Time,
    /// Yes or no.
    Flag,
}

/// A file for a table that gets its name when it is complete; removed when dropped before.
pub(crate) fn unfinished_file(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    // The errors of `tempfile_in` have the temporary name; it makes files for their owner alone.
    let create = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
    tempfile::Builder::new().prefix(prefix).make_in(folder, create)
}

/// A table in a file that gets its name when it is complete; removed when dropped before.
pub(crate) struct TableFile {
    table: TableWriter<BufWriter<File>>,
    temporary: TempPath,
}

impl TableFile {
    /// Begins a table in a folder.
    pub(crate) fn create(
        (folder, prefix): (&Path, &str),
        name: &str,
        specs: Vec<ColumnSpec>,
        values: &[(&str, &str)],
    ) -> io::Result<Self> {
        let (file, temporary) = unfinished_file(folder, prefix)?.into_parts();
        let table = TableWriter::new(BufWriter::new(file), name, specs, values)?;
        Ok(Self { table, temporary })
    }

    /// Adds a row: the cells of its columns in order, but for constants.
    pub(crate) fn push<'a>(&mut self, cell: impl FnMut(usize) -> Cell<'a>) -> io::Result<()> {
        self.table.push(cell)
    }

    /// Writes what is left, and gives the file its name once it is on the disk.
    pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
        let file = self.table.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(self.temporary.persist(path)?)
    }
}

/// An output that keeps why it could not be written: later, the encoder only reports that a row
/// group was not closed.
struct Watched<W> {
    output: W,
    failure: Arc<OnceLock<io::Error>>,
}

impl<W: Write> Watched<W> {
    fn watch<T>(&mut self, write: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        write(&mut self.output).map_err(|error| {
            // It is tried again.
            if error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            same(self.failure.get_or_init(|| error))
        })
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.watch(|output| output.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.watch(W::flush)
    }
}

/// The same error once more.
fn same(error: &io::Error) -> io::Error {
    let copied = || io::Error::new(error.kind(), error.to_string());
    error.raw_os_error().map_or_else(copied, io::Error::from_raw_os_error)
}

/// Why a table could not be written.
fn cause(failure: &OnceLock<io::Error>, error: TableError) -> io::Error {
    failure.get().map_or_else(|| io::Error::other(error), same)
}

/// Writes the rows of a table.
pub(crate) struct TableWriter<W: Write + Send> {
    writer: SerializedFileWriter<Watched<W>>,
    /// Why the output could not be written.
    failure: Arc<OnceLock<io::Error>>,
    columns: Vec<Column>,
    rows: usize,
    text_bytes: usize,
}

impl<W: Write + Send> TableWriter<W> {
    /// A table with these columns, and with these values in its footer.
    pub(crate) fn new(
        output: W,
        name: &str,
        specs: Vec<ColumnSpec>,
        values: &[(&str, &str)],
    ) -> io::Result<Self> {
        let columns: Vec<Column> = specs.into_iter().map(Column::new).collect();
        let lines: String = columns.iter().map(Column::declaration).collect();
        let schema = parse_message_type(&format!("message {name} {{ {lines} }}"))
            .map_err(io::Error::other)?;
        let properties = properties(&columns, values);
        let failure = Arc::<OnceLock<io::Error>>::default();
        let output = Watched { output, failure: Arc::clone(&failure) };
        let writer = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
            .map_err(|error| cause(&failure, error))?;
        Ok(Self { writer, failure, columns, rows: 0, text_bytes: 0 })
    }

    /// Adds a row: the cells of its columns in order, but for constants.
    pub(crate) fn push<'a>(&mut self, mut cell: impl FnMut(usize) -> Cell<'a>) -> io::Result<()> {
        for (number, column) in self.columns.iter_mut().enumerate() {
            if !matches!(column.spec.kind, ColumnKind::Constant(_)) {
                self.text_bytes += column.push(cell(number));
            }
        }
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.text_bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes what is left and the footer; gives the output.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        let written = self.writer.into_inner().map(|watched| watched.output);
        written.map_err(|error| cause(&self.failure, error))
    }

    fn write_group(&mut self) -> io::Result<()> {
        self.encode_group().map_err(|error| cause(&self.failure, error))
    }

    fn encode_group(&mut self) -> Result<(), TableError> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            column.write(self.rows, writer.untyped())?;
            writer.close()?;
        }
        group.close()?;
        (self.rows, self.text_bytes) = (0, 0);
        Ok(())
    }
}

fn properties(columns: &[Column], values: &[(&str, &str)]) -> WriterProperties {
    let pair = |(key, value): &(&str, &str)| KeyValue::new((*key).to_owned(), (*value).to_owned());
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("s3haul ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    if !values.is_empty() {
        properties = properties.set_key_value_metadata(Some(values.iter().map(pair).collect()));
    }
    for column in columns {
        if matches!(column.spec.kind, ColumnKind::Word | ColumnKind::Constant(_)) {
            properties = properties.set_column_dictionary_enabled(column.spec.name.into(), true);
        }
    }
    properties.build()
}

/// Values of a column of the row group that is being gathered.
struct Column {
    spec: ColumnSpec,
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
    fn new(spec: ColumnSpec) -> Self {
        let values = match spec.kind {
            ColumnKind::Number | ColumnKind::Time => Values::Numbers(Vec::new()),
            ColumnKind::Flag => Values::Flags(Vec::new()),
            ColumnKind::Text | ColumnKind::Word | ColumnKind::Constant(_) => {
                Values::Texts { bytes: Vec::new(), ends: Vec::new() }
            }
        };
        Self { spec, values, levels: Vec::new() }
    }

    fn declaration(&self) -> String {
        let ColumnSpec { name, kind, is_optional } = &self.spec;
        let repetition = if *is_optional { "OPTIONAL" } else { "REQUIRED" };
        let (kind, annotation) = match kind {
            ColumnKind::Number => ("INT64", ""),
            ColumnKind::Time => ("INT64", " (TIMESTAMP(MILLIS,true))"),
            ColumnKind::Flag => ("BOOLEAN", ""),
            ColumnKind::Text | ColumnKind::Word | ColumnKind::Constant(_) => {
                ("BYTE_ARRAY", " (STRING)")
            }
        };
        format!("{repetition} {kind} {name}{annotation}; ")
    }

    /// Adds a value; gives the bytes of texts it takes.
    fn push(&mut self, cell: Cell<'_>) -> usize {
        if self.spec.is_optional {
            self.levels.push(i16::from(cell != Cell::Nothing));
        }
        match (&mut self.values, cell) {
            (Values::Texts { bytes, ends }, Cell::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                return text.len();
            }
            (Values::Numbers(numbers), Cell::Number(number)) => {
                let is_time = matches!(self.spec.kind, ColumnKind::Time);
                numbers.push(if is_time { number.saturating_mul(MILLIS) } else { number });
            }
            (Values::Flags(flags), Cell::Flag(flag)) => flags.push(flag),
            (_, cell) => debug_assert_eq!(cell, Cell::Nothing, "{:?}", self.spec),
        }
        0
    }

    /// Writes the values of so many rows and forgets them.
    fn write(&mut self, rows: usize, writer: &mut ColumnWriter<'_>) -> Result<(), TableError> {
        let levels = self.spec.is_optional.then_some(self.levels.as_slice());
        match (&mut self.values, writer) {
            (Values::Texts { bytes, ends }, ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let texts: Vec<ByteArray> = if let ColumnKind::Constant(text) = &self.spec.kind {
                    let text = Bytes::copy_from_slice(text.as_bytes());
                    vec![ByteArray::from(text); rows]
                } else {
                    let room = bytes.capacity();
                    let all = Bytes::from(std::mem::replace(bytes, Vec::with_capacity(room)));
                    let mut start = 0;
                    let text = |end| {
                        let text = all.slice(start..end);
                        start = end;
                        ByteArray::from(text)
                    };
                    ends.drain(..).map(text).collect()
                };
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
                let message = format!("column `{}` has another type", self.spec.name);
                return Err(TableError::General(message));
            }
        }
        self.levels.clear();
        Ok(())
    }
}
