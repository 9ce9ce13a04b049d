//! Bodies that are read while they are sent, with their checksum behind them.
//!
//! A body that is read as a whole before it is sent passes through memory three times: it is read,
//! digested and encrypted. Read piece by piece it stays in the core's cache, but its checksum is
//! known only at the end, where S3 takes it as a trailer of the content encoding `aws-chunked`:
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html>. A body is one
//! chunk, as the AWS SDK for Go sends it, unless it is longer than any service takes.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::task::JoinHandle;

use super::checksum::{Checksum, ChecksumAlgorithm, Hasher};
use crate::error::{Error, ErrorKind, Result};
use crate::units::ByteRange;

/// Bytes of a read: few enough to stay in a core's cache until they are encrypted.
const READ_BYTES: u64 = 128 * 1024;
/// Bytes of a chunk at most: MinIO takes 16 MiB (<https://github.com/minio/minio/issues/21611>), and
/// S3 at least 8 KiB but for the last.
const CHUNK_BYTES: u64 = 64 * READ_BYTES;

/// Where the bytes of a body come from, each time that it is sent.
pub trait PayloadSource: Send + Sync {
    /// Reads exactly these bytes. Blocks.
    ///
    /// # Errors
    ///
    /// Those of the file, or [`ErrorKind::SourceChanged`].
    fn read(&self, range: ByteRange) -> Result<Bytes>;

    /// The same on the thread that sends, which nothing may block: `None` if it may take long.
    fn read_now(&self, _range: ByteRange) -> Option<Result<Bytes>> {
        None
    }
}

/// A body that is read while it is sent.
#[derive(Clone)]
pub(crate) struct Streamed {
    pub(crate) source: Arc<dyn PayloadSource>,
    pub(crate) length: u64,
    pub(crate) algorithm: ChecksumAlgorithm,
    end: Arc<Mutex<Option<Result<Checksum>>>>,
}

/// Whether a body waits for bytes of its file.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitsForFile(Arc<AtomicBool>);

impl WaitsForFile {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, waits: bool) {
        self.0.store(waits, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Streamed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streamed").field("length", &self.length).finish_non_exhaustive()
    }
}

impl Streamed {
    pub(crate) fn new(
        source: Arc<dyn PayloadSource>,
        length: u64,
        algorithm: ChecksumAlgorithm,
    ) -> Self {
        Self { source, length, algorithm, end: Arc::default() }
    }

    /// Bytes of the encoded body.
    pub(crate) fn encoded_length(&self) -> u64 {
        let trailer = self.trailer_start().len() + self.algorithm.text_length() + TRAILER_END.len();
        let full = self.length.div_ceil(CHUNK_BYTES) - 1;
        let heads = full * self.head(0).len() as u64 + self.head(full * CHUNK_BYTES).len() as u64;
        // The first head has no end of a line before it.
        heads - LINE_END.len() as u64 + trailer as u64 + self.length
    }

    /// Checksum of the bytes when they were last sent to the end.
    pub(crate) fn checksum(&self) -> Option<Checksum> {
        self.end().as_ref()?.as_ref().ok().cloned()
    }

    /// Why the bytes could not be read. A second request for the same body may have read them.
    pub(crate) fn take_error(&self) -> Option<Error> {
        let mut end = self.end();
        if matches!(*end, Some(Err(_))) { end.take()?.err() } else { None }
    }

    fn end(&self) -> MutexGuard<'_, Option<Result<Checksum>>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Head of the chunk that begins here, with the end of the one before.
    fn head(&self, position: u64) -> String {
        let left = self.length - position;
        format!("{LINE_END}{:x}{LINE_END}", left.min(CHUNK_BYTES))
    }

    fn trailer_start(&self) -> String {
        format!("\r\n0\r\n{}:", self.algorithm.header())
    }

    /// All bytes, on a thread that may block.
    pub(crate) fn read_whole(&self) -> Result<Bytes> {
        read_exactly(&*self.source, ByteRange { start: 0, end: self.length })
    }
}

const LINE_END: &str = "\r\n";
const TRAILER_END: &str = "\r\n\r\n";

fn read_exactly(source: &dyn PayloadSource, range: ByteRange) -> Result<Bytes> {
    exactly(source.read(range)?, range)
}

/// The length of a body is announced before it is read.
fn exactly(bytes: Bytes, range: ByteRange) -> Result<Bytes> {
    if bytes.len() as u64 == range.len() {
        return Ok(bytes);
    }
    let message = format!("a source gave {} bytes where {} were read", bytes.len(), range.len());
    Err(Error::new(ErrorKind::SourceChanged, message))
}

pub(super) fn interrupted(error: tokio::task::JoinError) -> Error {
    Error::new(ErrorKind::Cancelled, "a file was not read to its end").with_source(error)
}

/// A body on its way: its pieces in order.
pub(crate) struct Pieces {
    body: Streamed,
    hasher: Option<Hasher>,
    position: u64,
    /// Where the next chunk begins.
    next_chunk: u64,
    reading: Option<JoinHandle<Result<Bytes>>>,
    waits: WaitsForFile,
}

impl std::fmt::Debug for Pieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pieces").field("position", &self.position).finish_non_exhaustive()
    }
}

/// A piece of an encoded body.
pub(crate) enum Piece {
    /// Bytes of the object.
    Data(Bytes),
    /// What is around them.
    Frame(Bytes),
}

impl Pieces {
    pub(crate) fn new(body: Streamed) -> Self {
        let hasher = Some(Hasher::new(body.algorithm));
        let waits = WaitsForFile::default();
        Self { body, hasher, position: 0, next_chunk: 0, reading: None, waits }
    }

    /// Whether they wait for the file, at any time.
    pub(crate) fn waits(&self) -> WaitsForFile {
        self.waits.clone()
    }

    /// The next piece; `None` after the last. Why a read failed is kept for
    /// [`Streamed::take_error`], too, since a connection wraps the error.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece>>> {
        if self.position == self.body.length {
            return Poll::Ready(self.hasher.take().map(|hasher| Ok(self.trailer(hasher))));
        }
        if self.position == self.next_chunk {
            self.next_chunk += CHUNK_BYTES;
            let head = Bytes::from(self.body.head(self.position));
            let is_first = self.position == 0;
            let head = if is_first { head.slice(LINE_END.len()..) } else { head };
            return Poll::Ready(Some(Ok(Piece::Frame(head))));
        }
        let read = ready!(self.poll_read(cx));
        Poll::Ready(Some(match read {
            Ok(bytes) => {
                self.position += bytes.len() as u64;
                if let Some(hasher) = &mut self.hasher {
                    hasher.update(&bytes);
                }
                Ok(Piece::Data(bytes))
            }
            Err(error) => {
                let message = error.to_string();
                let kind = error.kind();
                *self.body.end() = Some(Err(error));
                Err(Error::new(kind, message))
            }
        }))
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes>> {
        let end = self.body.length.min(self.position + READ_BYTES);
        let range = ByteRange { start: self.position, end };
        if self.reading.is_none() {
            if let Some(read) = self.body.source.read_now(range) {
                return Poll::Ready(read.and_then(|bytes| exactly(bytes, range)));
            }
            let source = Arc::clone(&self.body.source);
            let read = move || read_exactly(&*source, range);
            self.reading = Some(tokio::task::spawn_blocking(read));
        }
        let Some(reading) = &mut self.reading else { return Poll::Pending };
        self.waits.set(true);
        let read = ready!(Pin::new(reading).poll(cx));
        self.waits.set(false);
        self.reading = None;
        Poll::Ready(read.unwrap_or_else(|error| Err(interrupted(error))))
    }

    fn trailer(&self, hasher: Hasher) -> Piece {
        let checksum = hasher.finish();
        let trailer = format!("{}{}{TRAILER_END}", self.body.trailer_start(), checksum.value);
        *self.body.end() = Some(Ok(checksum));
        Piece::Frame(trailer.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file of these bytes that shrinks to a length.
    struct File {
        bytes: Vec<u8>,
        readable: u64,
        is_quick: bool,
    }

    impl PayloadSource for File {
        fn read(&self, range: ByteRange) -> Result<Bytes> {
            if range.end > self.readable {
                return Err(Error::new(ErrorKind::SourceChanged, "it shrank"));
            }
            let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
            Ok(Bytes::copy_from_slice(&self.bytes[range]))
        }

        fn read_now(&self, range: ByteRange) -> Option<Result<Bytes>> {
            self.is_quick.then(|| self.read(range))
        }
    }

    async fn all(body: &Streamed) -> Result<Vec<u8>> {
        let mut pieces = Pieces::new(body.clone());
        let mut sent = Vec::new();
        while let Some(piece) = std::future::poll_fn(|cx| pieces.poll_next(cx)).await {
            let (Piece::Data(bytes) | Piece::Frame(bytes)) = piece?;
            sent.extend_from_slice(&bytes);
        }
        Ok(sent)
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
    }

    fn body(length: u64, readable: u64, is_quick: bool) -> Streamed {
        let bytes = (0..length).map(|at| (at * 31 % 251) as u8).collect();
        let file = File { bytes, readable, is_quick };
        Streamed::new(Arc::new(file), length, ChecksumAlgorithm::Crc64Nvme)
    }

    #[test]
    fn a_body_looks_as_documented() {
        let file = File { bytes: b"hello".to_vec(), readable: 5, is_quick: true };
        let body = Streamed::new(Arc::new(file), 5, ChecksumAlgorithm::Crc32);
        let sent = run(all(&body)).unwrap();
        let meant = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
        assert_eq!(String::from_utf8(sent).unwrap(), meant);
    }

    /// Gives more or less than it was asked for.
    struct Wrong(usize);

    impl PayloadSource for Wrong {
        fn read(&self, _: ByteRange) -> Result<Bytes> {
            Ok(Bytes::from(vec![0; self.0]))
        }
    }

    #[test]
    fn a_source_that_gives_too_much_or_too_little_is_an_error() {
        for given in [0, 4, 6] {
            let body = Streamed::new(Arc::new(Wrong(given)), 5, ChecksumAlgorithm::Crc32);
            assert_eq!(run(all(&body)).unwrap_err().kind(), ErrorKind::SourceChanged);
            assert!(body.read_whole().is_err());
        }
    }

    #[test]
    fn why_a_read_failed_is_known_afterwards() {
        let body = body(READ_BYTES * 2, READ_BYTES, true);
        assert_eq!(run(all(&body)).unwrap_err().kind(), ErrorKind::SourceChanged);
        assert_eq!(body.checksum(), None);
        assert_eq!(body.take_error().unwrap().kind(), ErrorKind::SourceChanged);
        assert!(body.take_error().is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn lengths_and_checksums_are_right(
            length in prop_oneof![
                1..READ_BYTES * 3,
                CHUNK_BYTES - 2..CHUNK_BYTES + 3,
                2 * CHUNK_BYTES - 2..2 * CHUNK_BYTES + 3,
            ],
            is_quick in any::<bool>(),
            algorithm in prop::sample::select(ChecksumAlgorithm::ALL.to_vec()),
        ) {
            let body = Streamed { algorithm, ..body(length, length, is_quick) };
            // As often as it is sent.
            for _ in 0..2 {
                let sent = run(all(&body)).unwrap();
                prop_assert_eq!(sent.len() as u64, body.encoded_length());
                let whole = body.read_whole().unwrap();
                let checksum = Checksum::of(algorithm, &whole);
                let mut meant = Vec::new();
                for chunk in whole.chunks(usize::try_from(CHUNK_BYTES).unwrap()) {
                    meant.extend(format!("{:x}\r\n", chunk.len()).bytes());
                    meant.extend_from_slice(chunk);
                    meant.extend(b"\r\n");
                }
                let trailer = format!("0\r\n{}:{}\r\n\r\n", algorithm.header(), checksum.value);
                meant.extend(trailer.bytes());
                prop_assert!(sent == meant);
                prop_assert!(body.take_error().is_none());
                prop_assert_eq!(body.checksum(), Some(checksum));
            }
        }
    }
}
