//! Columns as Arrow record batches: buffers are handed over, not copied.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use s3haul_cli::embed::{Columns, ComparedColumns, Text};
use s3haul_wire::Error;

/// Columns that can be handed over.
pub(crate) trait Table: Send + 'static {
    /// The columns as Arrow has them.
    fn into_batch(self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError>;
}

fn text(name: &str, is_optional: bool) -> Field {
    Field::new(name, DataType::Utf8, is_optional)
}

fn number(name: &str, is_optional: bool) -> Field {
    Field::new(name, DataType::Int64, is_optional)
}

fn time(name: &str, is_optional: bool) -> Field {
    let kind = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    Field::new(name, kind, is_optional)
}

/// The columns of a listing of objects, or of versions.
pub(crate) fn listing(has_versions: bool) -> SchemaRef {
    let mut fields = vec![
        text("key", false),
        number("size", false),
        time("last_modified", false),
        text("etag", true),
        text("storage_class", true),
    ];
    if has_versions {
        fields.push(text("version_id", false));
        fields.push(Field::new("is_latest", DataType::Boolean, false));
        fields.push(Field::new("is_delete_marker", DataType::Boolean, false));
    }
    Arc::new(Schema::new(fields))
}

/// The columns of a comparison.
pub(crate) fn comparison() -> SchemaRef {
    Arc::new(Schema::new(vec![
        text("name", false),
        text("status", false),
        text("reason", true),
        number("source_size", true),
        time("source_modified", true),
        number("target_size", true),
        time("target_modified", true),
    ]))
}

/// The columns of failures.
pub(crate) fn failures() -> SchemaRef {
    Arc::new(Schema::new(vec![
        text("action", false),
        text("source", false),
        text("target", true),
        text("kind", false),
        text("code", true),
        text("message", false),
        text("operation", true),
        text("request_id", true),
        number("http_status", true),
    ]))
}

impl Table for Columns {
    fn into_batch(self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let mut columns: Vec<ArrayRef> = vec![
            texts(self.keys, false)?,
            Arc::new(Int64Array::from(self.sizes)),
            times(self.modified_us),
            texts(self.etags, true)?,
            texts(self.storage_classes, true)?,
        ];
        if schema.fields().len() > columns.len() {
            columns.push(texts(self.version_ids, false)?);
            columns.push(Arc::new(BooleanArray::from(self.are_latest)));
            columns.push(Arc::new(BooleanArray::from(self.are_delete_markers)));
        }
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

impl Table for ComparedColumns {
    fn into_batch(self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let mut columns = vec![
            texts(self.names, false)?,
            texts(self.statuses, false)?,
            texts(self.reasons, true)?,
        ];
        for side in self.sides {
            let times = TimestampMicrosecondArray::from(side.modified_us).with_timezone("UTC");
            columns.push(Arc::new(Int64Array::from(side.sizes)));
            columns.push(Arc::new(times));
        }
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

/// Failures of objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailureColumns {
    actions: Text,
    sources: Text,
    targets: Text,
    kinds: Text,
    codes: Text,
    messages: Text,
    operations: Text,
    request_ids: Text,
    http_statuses: Vec<Option<i64>>,
}

impl FailureColumns {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.actions.ends.len()
    }

    /// Bytes of the messages, which are the longest of them.
    pub(crate) fn message_bytes(&self) -> usize {
        self.messages.bytes.len()
    }

    /// Adds a failure.
    pub(crate) fn push(&mut self, action: &str, source: &str, target: Option<&str>, error: &Error) {
        self.actions.push(action);
        self.sources.push(source);
        self.targets.push(target.unwrap_or_default());
        self.kinds.push(error.kind().name());
        self.codes.push(error.code());
        self.messages.push(&error.to_string());
        let service = error.service_error();
        self.operations.push(error.operation().unwrap_or_default());
        self.request_ids.push(service.map_or("", |service| &service.request_id));
        self.http_statuses.push(service.map(|service| service.status.into()));
    }
}

impl Table for FailureColumns {
    fn into_batch(self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let columns = vec![
            texts(self.actions, false)?,
            texts(self.sources, false)?,
            texts(self.targets, true)?,
            texts(self.kinds, false)?,
            texts(self.codes, true)?,
            texts(self.messages, false)?,
            texts(self.operations, true)?,
            texts(self.request_ids, true)?,
            Arc::new(Int64Array::from(self.http_statuses)),
        ];
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

fn times(micros: Vec<i64>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("UTC"))
}

/// A column of texts; in one that is optional, empty texts are missing.
fn texts(column: Text, is_optional: bool) -> Result<ArrayRef, ArrowError> {
    let Text { bytes, ends } = column;
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(0);
    offsets.extend_from_slice(&ends);
    let are_there = || offsets.windows(2).map(|pair: &[i32]| pair[1] > pair[0]);
    let is_complete = !is_optional || are_there().all(|is_there| is_there);
    let nulls = if is_complete { None } else { Some(are_there().collect::<NullBuffer>()) };
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(StringArray::try_new(offsets, Buffer::from_vec(bytes), nulls)?))
}
