//! Many objects into and out of memory, one request each.
//!
//! Python submits names and takes results; how many are under way at a time is bounded here, and so
//! are the bytes that are read and not yet used.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_channel::{Receiver, Sender};
use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use s3haul::plan::content_type;
use s3haul_cli::embed::{Failure, ObjectReader};
use s3haul_wire::ops::{Conditions, GetObject, PutObject};
use s3haul_wire::{Client, Error, ObjectProperties, Payload};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::detached::detached;
use crate::failure::{caught, exception};
use crate::runtime::runtime;
use crate::session::{Session, joined, line, shared_bytes};

/// Requests at a time at most, as in a listing.
const AT_ONCE_MAX: usize = 1 << 14;
/// Unit in which memory is counted.
const MEMORY_UNIT: u64 = 1024;
/// Objects that may be opened at the same time at least, as far as memory goes: what one is taken
/// to need is no more than its part.
const GUESSES: u32 = 8;
/// What the first objects are taken to need.
const FIRST_UNITS: u32 = 256;
/// Bodies from this size on are hashed on threads that may block.
const INLINE_HASH_MAX: usize = 1 << 20;

/// What both directions have in common: results, by the number under which they were submitted.
struct Many<T> {
    runtime: Arc<Runtime>,
    client: Client,
    bucket: Arc<str>,
    room: Arc<Semaphore>,
    sender: Sender<(usize, Result<T, Failure>)>,
    results: Receiver<(usize, Result<T, Failure>)>,
    process: u32,
}

impl<T: Send + 'static> Many<T> {
    fn new(
        py: Python<'_>,
        session: &Session,
        bucket: &str,
        words: Vec<OsString>,
        at_once: Option<usize>,
        waiting_max: usize,
    ) -> PyResult<(Self, ObjectProperties)> {
        let runtime = runtime()?;
        let line = line(py, words)?;
        let client = || session.get().and_then(|session| runtime.block_on(session.client(&line)));
        let (client, usual, properties) =
            detached(py, client).map_err(|failure| exception(py, &failure))?;
        let (sender, results) = async_channel::bounded(waiting_max.max(1));
        let room = Arc::new(Semaphore::new(at_once.unwrap_or(usual).clamp(1, AT_ONCE_MAX)));
        let process = std::process::id();
        let bucket = bucket.into();
        Ok((Self { runtime, client, bucket, room, sender, results, process }, properties))
    }

    /// Runs `work` under a number, once there is room for it.
    fn spawn<F>(&self, number: usize, work: impl FnOnce(Client, Arc<str>) -> F)
    where
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let work = work(self.client.clone(), Arc::clone(&self.bucket));
        let (room, sender) = (Arc::clone(&self.room), self.sender.clone());
        self.runtime.spawn(async move {
            // The semaphore is never closed.
            let permit = room.acquire_owned().await.ok();
            let result = tokio::select! {
                result = caught(work) => result,
                // What nothing takes is not worth requests.
                () = sender.closed() => return,
            };
            drop(permit);
            let _ = sender.send((number, result)).await;
        });
    }

    /// Results that have come, at most so many, and no more once they have `bytes`; waits for the
    /// first one.
    fn take(
        &self,
        py: Python<'_>,
        seconds: f64,
        max: usize,
        (mut bytes, size): (u64, fn(&T) -> u64),
    ) -> Vec<(usize, Result<T, Failure>)> {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        detached(py, || {
            let first = || {
                self.runtime.block_on(async {
                    tokio::time::timeout(patience, self.results.recv()).await.ok()?.ok()
                })
            };
            let mut next = self.results.try_recv().ok().or_else(first);
            let mut taken = Vec::new();
            while let Some(result) = next {
                bytes = bytes.saturating_sub(result.1.as_ref().map_or(0, size));
                taken.push(result);
                let is_enough = bytes == 0 || taken.len() >= max;
                next = if is_enough { None } else { self.results.try_recv().ok() };
            }
            taken
        })
    }

    fn check_process(&self) -> PyResult<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let message = "this iterator belongs to the process that this one was forked from";
        Err(pyo3::exceptions::PyValueError::new_err(message))
    }
}

/// An object in memory, and its part of what may be there.
struct Body {
    pieces: Vec<Bytes>,
    memory: Option<OwnedSemaphorePermit>,
}

impl Body {
    fn size(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }
}

/// What may be read and not yet used.
///
/// Nothing waits for memory while it has an open body: that holds one of the client's requests, and
/// what takes the results may need one, too.
struct Memory {
    units: Arc<Semaphore>,
    units_max: u32,
    /// What the last object needed: what the next is taken to need.
    usual: AtomicU32,
}

impl Memory {
    fn new(bytes: u64) -> Self {
        let units_max = units(bytes).max(1);
        let usual = AtomicU32::new(FIRST_UNITS.min(units_max));
        Self { units: Arc::new(Semaphore::new(units_max as usize)), units_max, usual }
    }

    /// Opens an object that there is memory for, which it holds.
    async fn open<'a>(
        &self,
        client: &'a Client,
        (bucket, key): (&'a str, &'a str),
    ) -> Result<(ObjectReader<'a>, Option<OwnedSemaphorePermit>), Error> {
        let mut expected = self.usual.load(Ordering::Relaxed);
        loop {
            // The semaphore is never closed.
            let mut held = Arc::clone(&self.units).acquire_many_owned(expected).await.ok();
            let input = GetObject { bucket, key, ..GetObject::default() };
            let reader = ObjectReader::open(client, input).await?;
            let wanted = units(reader.left()).min(self.units_max);
            // A guess that is too large would have small objects wait for one another.
            let usual = wanted.clamp(1, (self.units_max / GUESSES).max(1));
            self.usual.store(usual, Ordering::Relaxed);
            if wanted <= expected {
                drop(held.as_mut().and_then(|held| held.split((expected - wanted) as usize)));
                return Ok((reader, held));
            }
            if let Ok(more) = Arc::clone(&self.units).try_acquire_many_owned(wanted - expected) {
                match &mut held {
                    Some(held) => held.merge(more),
                    None => held = Some(more),
                }
                return Ok((reader, held));
            }
            // Closed, and asked for again once there is room.
            expected = wanted;
        }
    }
}

/// Reads objects.
#[pyclass(frozen, module = "s3haul._s3haul")]
pub(crate) struct Getter {
    many: Many<Body>,
    memory: Arc<Memory>,
    /// Bytes of one take: meanwhile there is room to read others.
    taken_max: u64,
    /// Memory of what the last take returned, in use until the next.
    taken: Mutex<Vec<OwnedSemaphorePermit>>,
}

#[pymethods]
impl Getter {
    /// `at_once` requests at a time, and at most `memory` bytes read, up to the take that follows
    /// the one that returned them. `words` are those of a transfer.
    #[new]
    fn new(
        py: Python<'_>,
        session: &Session,
        bucket: &str,
        words: Vec<OsString>,
        at_once: Option<usize>,
        waiting_max: usize,
        memory: u64,
    ) -> PyResult<Self> {
        let (many, _) = Many::new(py, session, bucket, words, at_once, waiting_max)?;
        let (taken_max, taken) = ((memory / 2).max(1), Mutex::default());
        Ok(Self { many, memory: Arc::new(Memory::new(memory)), taken_max, taken })
    }

    /// Asks for objects, numbered from `first` on.
    fn submit(&self, first: usize, keys: Vec<String>) -> PyResult<()> {
        self.many.check_process()?;
        for (number, key) in (first..).zip(keys) {
            let memory = Arc::clone(&self.memory);
            self.many.spawn(number, move |client, bucket| async move {
                let (mut reader, memory) = memory.open(&client, (&bucket, &key)).await?;
                let mut pieces = Vec::new();
                while let Some(piece) = reader.next().await {
                    pieces.push(piece?);
                }
                Ok(Body { pieces, memory })
            });
        }
        Ok(())
    }

    /// Numbers of objects that have come, each with its bytes or an exception.
    fn take<'py>(
        &self,
        py: Python<'py>,
        seconds: f64,
        max: usize,
    ) -> PyResult<Vec<(usize, Bound<'py, PyAny>)>> {
        self.many.check_process()?;
        self.taken().clear();
        let taken = self.many.take(py, seconds, max, (self.taken_max, Body::size));
        let value = |result: Result<Body, Failure>| match result {
            Ok(body) => {
                self.taken().extend(body.memory);
                joined(py, &body.pieces).map(Bound::into_any)
            }
            Err(failure) => Ok(value_of(py, &failure)),
        };
        taken.into_iter().map(|(number, result)| Ok((number, value(result)?))).collect()
    }
}

impl Getter {
    fn taken(&self) -> MutexGuard<'_, Vec<OwnedSemaphorePermit>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Getter {
    fn drop(&mut self) {
        self.many.results.close();
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(MEMORY_UNIT)).unwrap_or(u32::MAX >> 3).min(u32::MAX >> 3)
}

/// Writes objects.
#[pyclass(frozen, module = "s3haul._s3haul")]
pub(crate) struct Putter {
    many: Many<()>,
    properties: ObjectProperties,
}

#[pymethods]
impl Putter {
    /// `at_once` requests at a time. `words` are those of a transfer; without a content type in
    /// them it is guessed from the key.
    #[new]
    fn new(
        py: Python<'_>,
        session: &Session,
        bucket: &str,
        words: Vec<OsString>,
        at_once: Option<usize>,
        waiting_max: usize,
    ) -> PyResult<Self> {
        let (many, properties) = Many::new(py, session, bucket, words, at_once, waiting_max)?;
        Ok(Self { many, properties })
    }

    /// Writes objects, numbered from `first` on.
    fn submit(&self, first: usize, objects: Vec<(String, PyBackedBytes)>) -> PyResult<()> {
        self.many.check_process()?;
        for (number, (key, bytes)) in (first..).zip(objects) {
            let guess = || content_type::guess_content_type(&key).map(str::to_owned);
            let mut properties = self.properties.clone();
            properties.content_type = properties.content_type.or_else(guess);
            let payload = Payload::from_bytes(shared_bytes(bytes));
            self.many.spawn(number, move |client, bucket| async move {
                let payload = hashed(&client, payload).await?;
                let input = PutObject {
                    bucket: &bucket,
                    key: &key,
                    payload,
                    properties: &properties,
                    checksum: None,
                    conditions: Conditions::default(),
                };
                client.put_object(input).await.map(drop)
            });
        }
        Ok(())
    }

    /// Numbers of objects that were written, each with `None` or an exception.
    fn take<'py>(
        &self,
        py: Python<'py>,
        seconds: f64,
        max: usize,
    ) -> PyResult<Vec<(usize, Option<Bound<'py, PyAny>>)>> {
        self.many.check_process()?;
        let taken = self.many.take(py, seconds, max, (1, |()| 0));
        let answer = |(number, result): (_, Result<(), Failure>)| {
            (number, result.err().map(|failure| value_of(py, &failure)))
        };
        Ok(taken.into_iter().map(answer).collect())
    }
}

impl Drop for Putter {
    fn drop(&mut self) {
        self.many.results.close();
    }
}

/// The exception for a failure, as a value.
fn value_of<'py>(py: Python<'py>, failure: &Failure) -> Bound<'py, PyAny> {
    exception(py, failure).into_value(py).into_bound(py).into_any()
}

/// A body with the digests that its upload needs.
async fn hashed(client: &Client, mut payload: Payload) -> Result<Payload, Error> {
    let plan = client.upload_digests(None);
    if payload.len() <= INLINE_HASH_MAX as u64 {
        payload.digest(plan);
        return Ok(payload);
    }
    let hash = tokio::task::spawn_blocking(move || {
        payload.digest(plan);
        payload
    });
    hash.await.map_err(|error| {
        Error::new(s3haul_wire::ErrorKind::Local, "a checksum could not be computed")
            .with_source(error)
    })
}
