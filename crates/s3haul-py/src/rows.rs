//! Rows that come while they are found: a stream of Arrow record batches.
//!
//! Each consumer starts a listing of its own, so that a program that asks for the stream twice, as
//! databases do, sees all rows twice. Between the listing and the consumer is a bounded queue; a
//! consumer that goes away ends the listing.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, SchemaRef};
use async_channel::{Receiver, Sender};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use s3haul_cli::embed::Failure;
use tokio::time::timeout;

use crate::detached::detached;
use crate::failure::{exception, internal};
use crate::log;
use crate::runtime::runtime;
use crate::table::Table;

/// Batches that wait at most.
const BATCHES_MAX: usize = 4;
/// Longest wait with the interpreter's lock, where a consumer holds it.
const LOCKED_MAX: Duration = Duration::from_millis(20);
/// Time between two looks at what the user pressed.
const SIGNALS_EVERY: Duration = Duration::from_millis(100);

/// Rows, or `None` at the end.
type Item = Result<Option<RecordBatch>, Failure>;

/// Starts what rows come from.
pub(crate) type Start = Arc<dyn Fn(Rowsender) -> PyResult<()> + Send + Sync>;

/// Takes the rows of one run.
#[derive(Clone)]
pub(crate) struct Rowsender {
    schema: SchemaRef,
    sender: Sender<Item>,
}

impl Rowsender {
    /// Hands on rows, waiting for room; `Break` where nothing takes them any more.
    pub(crate) fn send(&self, rows: impl Table) -> ControlFlow<()> {
        let batch = rows.into_batch(&self.schema).map(Some).map_err(internal);
        match self.sender.send_blocking(batch) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Ends the rows: there are no more.
    pub(crate) async fn end(self) {
        let _ = self.sender.send(Ok(None)).await;
    }

    /// Ends the rows with a failure.
    pub(crate) async fn fail(self, failure: Failure) {
        // A consumer that has gone needs no failure.
        let _ = self.sender.send(Err(failure)).await;
    }

    /// Resolves once nothing takes rows any more.
    pub(crate) async fn closed(&self) {
        self.sender.closed().await;
    }
}

/// Nothing has come yet.
struct TimedOut;

/// The failure of rows that were begun before a fork.
fn of_parent() -> Failure {
    let message = "these rows belong to the process that this one was forked from";
    Failure {
        status: s3haul_cli::exit::USAGE,
        message: message.to_owned(),
        hint: None,
        cause: None,
    }
}

/// What was received. Rows whose sender went away without their end are not all.
fn received(item: Option<Item>) -> Item {
    item.unwrap_or_else(|| Err(internal("rows ended early")))
}

/// The consumer's end of one run.
struct Reader {
    schema: SchemaRef,
    start: Start,
    batches: Option<Receiver<Item>>,
    is_over: bool,
    process: u32,
}

impl Reader {
    /// Starts what has not begun.
    fn begin(&mut self) -> Result<&Receiver<Item>, Failure> {
        if self.batches.is_some() && self.process != std::process::id() {
            return Err(of_parent());
        }
        let batches = if let Some(batches) = self.batches.take() {
            batches
        } else {
            let (sender, batches) = async_channel::bounded(BATCHES_MAX);
            let rows = Rowsender { schema: Arc::clone(&self.schema), sender };
            (self.start)(rows).map_err(internal)?;
            self.process = std::process::id();
            batches
        };
        Ok(self.batches.insert(batches))
    }

    fn next_batch(&mut self) -> Item {
        if self.is_over {
            return Ok(None);
        }
        let item = self.begin().and_then(wait_for);
        self.noted(item)
    }

    /// The same, waiting no longer than this.
    fn next_within(&mut self, patience: Duration) -> Result<Item, TimedOut> {
        if self.is_over {
            return Ok(Ok(None));
        }
        let within = |batches: &Receiver<Item>| {
            let runtime = runtime().map_err(internal)?;
            Ok(runtime.block_on(async { timeout(patience, batches.recv()).await }))
        };
        let item = match self.begin().and_then(within) {
            Ok(waited) => received(waited.map_err(|_| TimedOut)?.ok()),
            Err(failure) => Err(failure),
        };
        Ok(self.noted(item))
    }

    fn noted(&mut self, item: Item) -> Item {
        self.is_over = !matches!(item, Ok(Some(_)));
        item
    }
}

/// The next item.
///
/// Some consumers read a stream with the interpreter's lock held, which a function for credentials
/// needs, too: whatever takes longer is waited for without it.
fn wait_for(batches: &Receiver<Item>) -> Item {
    let runtime = runtime().map_err(internal)?;
    let within = |patience| runtime.block_on(async { timeout(patience, batches.recv()).await });
    if let Ok(item) = within(LOCKED_MAX) {
        return received(item.ok());
    }
    loop {
        let waited = Python::try_attach(|py| match detached(py, || within(SIGNALS_EVERY)) {
            Ok(item) => Some(received(item.ok())),
            Err(_) => interruption(py).map(Err),
        });
        match waited {
            Some(None) => {}
            Some(Some(item)) => return item,
            // The interpreter has ended.
            None => return received(batches.recv_blocking().ok()),
        }
    }
}

/// What a handler of signals raised. A consumer makes an error of its own of that, so that one
/// that the user interrupts is interrupted once more.
fn interruption(py: Python<'_>) -> Option<Failure> {
    let error = py.check_signals().err()?;
    let is_interrupt = error.is_instance_of::<PyKeyboardInterrupt>(py);
    let failure = Failure {
        status: s3haul_cli::exit::INTERRUPTED,
        message: if is_interrupt { "interrupted".to_owned() } else { error.to_string() },
        hint: None,
        cause: None,
    };
    if is_interrupt {
        // After the text was made: any code of Python's would raise it.
        let module = py.import("_thread").and_then(|module| module.call_method0("interrupt_main"));
        drop(module);
    }
    Some(failure)
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let failed = |failure: Failure| ArrowError::ExternalError(failure.message.into());
        self.next_batch().map_err(failed).transpose()
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A stream of rows.
#[pyclass(frozen, module = "s3haul._s3haul")]
pub(crate) struct Rows {
    schema: SchemaRef,
    start: Start,
    /// The run that `next_batch` reads.
    own: Mutex<Reader>,
}

impl Rows {
    pub(crate) fn new(schema: SchemaRef, start: Start) -> Self {
        let own = Mutex::new(reader(&schema, &start));
        Self { schema, start, own }
    }
}

fn reader(schema: &SchemaRef, start: &Start) -> Reader {
    let (schema, start) = (Arc::clone(schema), Arc::clone(start));
    Reader { schema, start, batches: None, is_over: false, process: std::process::id() }
}

#[pymethods]
impl Rows {
    /// The stream as the Arrow `PyCapsule` interface has it:
    /// <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>. The schema that a
    /// consumer asks for is not heeded, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader(&self.schema, &self.start)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The schema, likewise.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// Names of the columns.
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// A batch of no rows.
    fn empty(&self) -> Batch {
        Batch(RecordBatch::new_empty(Arc::clone(&self.schema)))
    }

    /// The next batch, waiting so many seconds for it; `None` at the end.
    fn next_batch(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<Batch>> {
        let patience = Duration::try_from_secs_f64(seconds)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let next = || self.own.lock().unwrap_or_else(PoisonError::into_inner).next_within(patience);
        let item = detached(py, || {
            let item = next();
            if matches!(item, Ok(Ok(None) | Err(_))) {
                log::flush();
            }
            item
        });
        match item {
            Err(TimedOut) => Err(PyTimeoutError::new_err("no rows have come yet")),
            Ok(Ok(batch)) => Ok(batch.map(Batch)),
            Ok(Err(failure)) => Err(exception(py, &failure)),
        }
    }
}

/// Rows that are there.
#[pyclass(frozen, module = "s3haul._s3haul")]
pub(crate) struct Batch(pub(crate) RecordBatch);

#[pymethods]
impl Batch {
    /// Number of rows.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Names of the columns.
    fn names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The rows as tuples of `str`, `int`, `bool` and `None`; times are microseconds since 1970.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let columns = self.0.columns();
        let row = |row| {
            let cells = columns.iter().map(|column| cell(py, column.as_ref(), row));
            PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?)
        };
        (0..self.0.num_rows()).map(row).collect()
    }

    /// The batch as the Arrow `PyCapsule` interface has it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let schema = schema_capsule(py, &self.0.schema())?;
        let array = FFI_ArrowArray::new(&StructArray::from(self.0.clone()).into_data());
        Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    /// The batch as a stream of one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = arrow_array::RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref());
    let schema = schema.map_err(|error| exception(py, &internal(error)))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

fn cell<'py>(py: Python<'py>, column: &dyn Array, row: usize) -> PyResult<Bound<'py, PyAny>> {
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{Int64Type, TimestampMicrosecondType};
    use arrow_schema::DataType;
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
        DataType::Boolean => {
            column.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any()
        }
        DataType::Timestamp(..) => column
            .as_primitive::<TimestampMicrosecondType>()
            .value(row)
            .into_pyobject(py)?
            .into_any(),
        _ => column.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any(),
    })
}
