//! How many requests a client sent, by what a service charges for them.

use std::sync::atomic::{AtomicU64, Ordering};

use http::Method;

use crate::message::request::Operation;
use crate::units::RequestCounts;

/// Counters of a client.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    write: AtomicU64,
    read: AtomicU64,
    delete: AtomicU64,
    refused: AtomicU64,
}

impl Counters {
    /// Counts a request that was refused because there were too many.
    pub(crate) fn note_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// How many were refused so far.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts one request that is about to be sent.
    pub(crate) fn note(&self, operation: Operation, method: &Method) {
        let counter = match *method {
            Method::DELETE => &self.delete,
            Method::GET if operation.name.starts_with("List") => &self.write,
            Method::GET | Method::HEAD => &self.read,
            _ if operation.name == "DeleteObjects" => &self.delete,
            _ => &self.write,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// What was counted so far.
    pub(crate) fn counts(&self) -> RequestCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RequestCounts {
            write: read(&self.write),
            read: read(&self.read),
            delete: read(&self.delete),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::operation;

    #[test]
    fn requests_are_distinguished_as_they_are_charged() {
        let counters = Counters::default();
        for (name, method) in [
            ("PutObject", Method::PUT),
            ("UploadPartCopy", Method::PUT),
            ("CompleteMultipartUpload", Method::POST),
            ("ListObjectsV2", Method::GET),
            ("GetObject", Method::GET),
            ("HeadObject", Method::HEAD),
            ("DeleteObject", Method::DELETE),
            ("DeleteObjects", Method::POST),
            ("AbortMultipartUpload", Method::DELETE),
        ] {
            counters.note(operation(name), &method);
        }
        assert_eq!(counters.counts(), RequestCounts { write: 4, read: 2, delete: 3 });
    }
}
