//! A record of every request, for assertions and for looking at afterwards.
//!
//! A record is made when a request's head has arrived and completed when its response has ended;
//! its status is known before the first byte of the response leaves, so a client that has seen an
//! answer finds it here. The number of kept records is bounded; the counts are not.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::classify::Target;

/// Records kept in memory unless set otherwise.
pub const LEDGER_RECORDS_DEFAULT: usize = 1_000_000;

/// One request.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Record {
    /// Arrival in microseconds since the server was made.
    pub at_us: u64,
    /// Arrival in milliseconds since 1970 by the server's clock.
    pub wall_ms: i64,
    /// S3's name of the operation.
    pub operation: &'static str,
    /// Bucket, or empty.
    pub bucket: String,
    /// Key, or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// A listing's prefix.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// A listing's `start-after`, token or marker.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub position: String,
    /// Status of the response; 0 where there was none.
    pub status: u16,
    /// Bytes of the request's body that were read.
    pub request_bytes: u64,
    /// Bytes of the response's body that were handed to the connection.
    pub response_bytes: u64,
    /// Requests under way at the arrival, this one included.
    pub concurrency: u32,
    /// Arrival to end of the response.
    pub duration_us: u64,
    /// Name of the fault that was played on this request, or empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub fault: &'static str,
    /// Whether the response has ended (well or badly).
    #[serde(skip)]
    pub ended: bool,
}

#[derive(Default)]
struct Inner {
    records: VecDeque<Record>,
    /// Number of the first kept record.
    base: u64,
    in_flight: u32,
    max_in_flight: u32,
    counts: BTreeMap<&'static str, u64>,
    file: Option<BufWriter<File>>,
}

/// The records of a server.
pub struct Ledger {
    inner: Mutex<Inner>,
    keep: usize,
}

/// What a finished request adds to its record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
    pub(crate) at_us: u64,
}

impl Ledger {
    pub(crate) fn new(keep: usize, file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(File::create).transpose()?.map(BufWriter::new);
        // A file is written from whole records, so one must be kept while it is under way.
        let keep = if file.is_some() { keep.max(4096) } else { keep };
        Ok(Self { inner: Mutex::new(Inner { file, ..Inner::default() }), keep })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an arrival; gives the record's number.
    pub(crate) fn start(&self, at_us: u64, wall_ms: i64, target: &Target) -> u64 {
        let mut inner = self.lock();
        inner.in_flight += 1;
        inner.max_in_flight = inner.max_in_flight.max(inner.in_flight);
        *inner.counts.entry(target.operation).or_default() += 1;
        let number = inner.base + inner.records.len() as u64;
        if self.keep == 0 {
            return number;
        }
        if inner.records.len() >= self.keep {
            inner.records.pop_front();
            inner.base += 1;
        }
        let concurrency = inner.in_flight;
        inner.records.push_back(Record {
            at_us,
            wall_ms,
            operation: target.operation,
            bucket: target.bucket.clone(),
            key: target.key.clone(),
            prefix: target.prefix.clone(),
            position: target.position.clone(),
            concurrency,
            ..Record::default()
        });
        number
    }

    /// Notes the status before the response leaves.
    pub(crate) fn answer(&self, number: u64, status: u16, fault: &'static str) {
        self.change(number, |record| {
            record.status = status;
            record.fault = fault;
        });
    }

    /// Notes the end of the response.
    pub(crate) fn end(&self, number: u64, ending: Ending) {
        self.lock().in_flight -= 1;
        self.change(number, |record| {
            record.request_bytes = ending.request_bytes;
            record.response_bytes = ending.response_bytes;
            record.duration_us = ending.at_us.saturating_sub(record.at_us);
            record.ended = true;
        });
        self.write_line(number);
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut Record)) {
        if self.keep == 0 {
            return;
        }
        let mut inner = self.lock();
        let index = number.checked_sub(inner.base).and_then(|index| usize::try_from(index).ok());
        if let Some(record) = index.and_then(|index| inner.records.get_mut(index)) {
            change(record);
        }
    }

    fn write_line(&self, number: u64) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let index = number.checked_sub(inner.base).and_then(|index| usize::try_from(index).ok());
        let record = index.and_then(|index| inner.records.get(index));
        if let (Some(file), Some(record)) = (&mut inner.file, record) {
            let written = serde_json::to_writer(&mut *file, record).map_err(io::Error::from);
            let written = written.and_then(|()| file.write_all(b"\n"));
            // A reader of the file sees all of it as soon as the server is idle.
            let is_idle = inner.in_flight == 0;
            if let Err(error) = written.and_then(|()| if is_idle { file.flush() } else { Ok(()) }) {
                tracing::warn!(%error, "could not write the ledger's file");
                inner.file = None;
            }
        }
    }

    /// Writes buffered lines of the ledger's file.
    pub fn flush(&self) -> io::Result<()> {
        self.lock().file.as_mut().map_or(Ok(()), BufWriter::flush)
    }

    /// The kept records, oldest first.
    pub fn records(&self) -> Vec<Record> {
        self.lock().records.iter().cloned().collect()
    }

    /// The kept records of one operation, oldest first.
    pub fn of(&self, operation: &str) -> Vec<Record> {
        let inner = self.lock();
        inner.records.iter().filter(|record| record.operation == operation).cloned().collect()
    }

    /// Number of requests of one operation.
    pub fn count(&self, operation: &str) -> u64 {
        self.lock().counts.get(operation).copied().unwrap_or_default()
    }

    /// Number of requests of each operation.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.lock().counts.clone()
    }

    /// Number of requests.
    pub fn total(&self) -> u64 {
        self.lock().counts.values().sum()
    }

    /// Number of kept records that a test accepts.
    pub fn count_where(&self, accept: impl Fn(&Record) -> bool) -> u64 {
        self.lock().records.iter().filter(|record| accept(record)).count() as u64
    }

    /// The most requests that were under way at once.
    pub fn max_concurrency(&self) -> u32 {
        self.lock().max_in_flight
    }

    /// Requests under way now.
    pub fn in_flight(&self) -> u32 {
        self.lock().in_flight
    }

    /// Forgets all records and counts (requests under way still end properly).
    pub fn clear(&self) {
        let mut inner = self.lock();
        inner.base += inner.records.len() as u64;
        inner.records.clear();
        inner.counts.clear();
        inner.max_in_flight = inner.in_flight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(operation: &'static str) -> Target {
        Target { operation, ..Target::default() }
    }

    #[test]
    fn the_ring_is_bounded_and_late_endings_are_harmless() {
        let ledger = Ledger::new(2, None).unwrap();
        let numbers: Vec<_> = (0..3).map(|at| ledger.start(at, 0, &target("PutObject"))).collect();
        for number in &numbers {
            ledger.answer(*number, 200, "");
            ledger.end(*number, Ending { request_bytes: 5, response_bytes: 0, at_us: 10 });
        }
        let records = ledger.records();
        assert_eq!(records.iter().map(|r| r.at_us).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(records.iter().map(|r| r.duration_us).collect::<Vec<_>>(), [9, 8]);
        assert_eq!((ledger.count("PutObject"), ledger.max_concurrency()), (3, 3));
        assert_eq!(ledger.in_flight(), 0);
    }

    #[test]
    fn a_disabled_ledger_still_counts() {
        let ledger = Ledger::new(0, None).unwrap();
        let number = ledger.start(0, 0, &target("GetObject"));
        ledger.end(number, Ending { request_bytes: 0, response_bytes: 0, at_us: 1 });
        assert_eq!((ledger.total(), ledger.records().len()), (1, 0));
    }
}
