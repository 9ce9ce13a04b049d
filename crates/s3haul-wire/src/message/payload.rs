//! Request bodies: bytes in memory that can be sent again, and their digests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use md5::{Digest as _, Md5};

use super::checksum::{Checksum, ChecksumAlgorithm, Hasher};
use super::streamed::{PayloadSource, Streamed, interrupted};
use crate::error::Result;

/// Which digests of a body a request will need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigestPlan {
    /// SHA-256 of the body for the signature (`x-amz-content-sha256`).
    pub sha256: bool,
    /// MD5 of the body (`Content-MD5`).
    pub md5: bool,
    /// Checksum header.
    pub checksum: Option<ChecksumAlgorithm>,
}

/// Digests of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    /// SHA-256, raw.
    pub sha256: Option<[u8; 32]>,
    /// MD5, raw.
    pub md5: Option<[u8; 16]>,
    /// Checksum.
    pub checksum: Option<Checksum>,
}

/// Reports a body's bytes while they are sent: how many more were taken by a connection or, as a
/// negative number, how many of those no longer count because the body is sent again.
///
/// A connection takes a little more than it has sent: what it queues and the kernel buffers. An
/// answer may come before all was taken, so a caller that needs the total adds what
/// [`Self::reported`] lacks in the end.
#[derive(Clone)]
pub struct SendProgress {
    report: Arc<dyn Fn(i64) + Send + Sync>,
    reported: Arc<AtomicU64>,
}

impl SendProgress {
    /// Reports to this callback.
    pub fn new(report: Arc<dyn Fn(i64) + Send + Sync>) -> Self {
        Self { report, reported: Arc::default() }
    }

    /// Bytes reported and not taken back.
    pub fn reported(&self) -> u64 {
        self.reported.load(Ordering::Relaxed)
    }

    /// A connection took bytes.
    pub(crate) fn took(&self, bytes: usize) {
        self.reported.fetch_add(bytes as u64, Ordering::Relaxed);
        (self.report)(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Takes back all bytes reported so far.
    pub fn take_back(&self) {
        let reported = self.reported.swap(0, Ordering::Relaxed);
        if reported > 0 {
            (self.report)(-i64::try_from(reported).unwrap_or(i64::MAX));
        }
    }
}

impl std::fmt::Debug for SendProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SendProgress").field("reported", &self.reported()).finish_non_exhaustive()
    }
}

/// The pieces of a body: one has no list of its own in memory, and some are not there yet.
#[derive(Clone, Debug)]
enum Chunks {
    One(Bytes),
    Many(Vec<Bytes>),
    Streamed(Box<Streamed>),
}

impl Default for Chunks {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

/// A request body: a list of chunks in memory, or what they are read from. Cheap to clone and to
/// send again.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    chunks: Chunks,
    length: u64,
    digests: Digests,
    progress: Option<SendProgress>,
}

impl Payload {
    /// No body.
    pub fn empty() -> Self {
        Self::default()
    }

    /// A body of one piece.
    pub fn from_bytes(bytes: Bytes) -> Self {
        Self { length: bytes.len() as u64, chunks: Chunks::One(bytes), ..Self::default() }
    }

    /// A body of several pieces.
    pub fn from_chunks(chunks: Vec<Bytes>) -> Self {
        let length = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        Self { length, chunks: Chunks::Many(chunks), ..Self::default() }
    }

    /// A body that is read while it is sent, with a checksum behind it, for parts of uploads where
    /// [`Client::streams_parts`](crate::Client::streams_parts). It has no digests of its own.
    pub fn streamed(
        source: Arc<dyn PayloadSource>,
        length: u64,
        algorithm: ChecksumAlgorithm,
    ) -> Self {
        if length == 0 {
            return Self::from_bytes(Bytes::new());
        }
        let chunks = Chunks::Streamed(Box::new(Streamed::new(source, length, algorithm)));
        Self { chunks, length, ..Self::default() }
    }

    /// How it is read while it is sent, if it is.
    pub(crate) fn as_streamed(&self) -> Option<&Streamed> {
        match &self.chunks {
            Chunks::Streamed(streamed) => Some(streamed),
            Chunks::One(_) | Chunks::Many(_) => None,
        }
    }

    /// The same in memory, with the checksum that would have been behind it.
    pub(crate) async fn in_memory(self) -> Result<Self> {
        let Chunks::Streamed(streamed) = &self.chunks else { return Ok(self) };
        let streamed = streamed.clone();
        let read = move || {
            let mut payload = Self::from_bytes(streamed.read_whole()?);
            let checksum = Some(streamed.algorithm);
            payload.digest(DigestPlan { checksum, ..DigestPlan::default() });
            Ok(payload)
        };
        let read = tokio::task::spawn_blocking(read).await;
        let payload = read.unwrap_or_else(|error| Err(interrupted(error)))?;
        Ok(Self { progress: self.progress, ..payload })
    }

    /// Reports the bytes while they are sent. Then they are handed to the connection in slices.
    #[must_use]
    pub fn with_progress(mut self, progress: SendProgress) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Progress reporter of the body; `None` if progress is not reported.
    pub(crate) fn progress(&self) -> Option<&SendProgress> {
        self.progress.as_ref()
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Bytes that a connection sends for it.
    pub(crate) fn encoded_length(&self) -> u64 {
        self.as_streamed().map_or(self.length, Streamed::encoded_length)
    }

    /// Whether there is no byte to send.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The pieces that are in memory.
    pub fn chunks(&self) -> &[Bytes] {
        match &self.chunks {
            Chunks::One(one) => std::slice::from_ref(one),
            Chunks::Many(many) => many,
            Chunks::Streamed(_) => &[],
        }
    }

    /// Digests computed so far.
    pub fn digests(&self) -> &Digests {
        &self.digests
    }

    /// Computes what the plan asks for and is not there yet. Costs CPU in proportion to the
    /// length: call it on a thread that may block. A request whose payload lacks a digest it
    /// needs computes it itself, on the calling task.
    pub fn digest(&mut self, plan: DigestPlan) {
        let mut pass = Pass::new(plan, &self.digests);
        if pass.is_empty() || self.as_streamed().is_some() {
            return;
        }
        for chunk in self.chunks() {
            for block in chunk.chunks(pass.block_bytes()) {
                pass.update(block);
            }
        }
        pass.finish(&mut self.digests);
    }
}

/// Bytes that several digests read one after the other, so that all but the first find them in
/// the first-level cache.
const BLOCK_BYTES: usize = 16 * 1024;

/// One pass over a body.
struct Pass {
    sha256: Option<digest::Context>,
    md5: Option<Md5>,
    checksum: Option<Hasher>,
    /// The checksum is the SHA-256 that is computed or there anyway.
    sha256_is_checksum: bool,
}

impl Pass {
    fn new(plan: DigestPlan, have: &Digests) -> Self {
        let wanted = plan.checksum.filter(|algorithm| {
            have.checksum.as_ref().is_none_or(|checksum| checksum.algorithm != *algorithm)
        });
        let sha256_is_checksum = wanted == Some(ChecksumAlgorithm::Sha256);
        let sha256 = (plan.sha256 || sha256_is_checksum) && have.sha256.is_none();
        Self {
            sha256: sha256.then(|| digest::Context::new(&digest::SHA256)),
            md5: (plan.md5 && have.md5.is_none()).then(Md5::new),
            checksum: wanted.filter(|_| !sha256_is_checksum).map(Hasher::new),
            sha256_is_checksum,
        }
    }

    fn is_empty(&self) -> bool {
        self.count() == 0 && !self.sha256_is_checksum
    }

    fn count(&self) -> usize {
        usize::from(self.sha256.is_some())
            + usize::from(self.md5.is_some())
            + usize::from(self.checksum.is_some())
    }

    fn block_bytes(&self) -> usize {
        match self.count() {
            0 | 1 => usize::MAX,
            _ => BLOCK_BYTES,
        }
    }

    fn update(&mut self, block: &[u8]) {
        if let Some(checksum) = &mut self.checksum {
            checksum.update(block);
        }
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(block);
        }
        if let Some(md5) = &mut self.md5 {
            md5.update(block);
        }
    }

    fn finish(self, into: &mut Digests) {
        if let Some(sha256) = self.sha256 {
            into.sha256 = sha256.finish().as_ref().try_into().ok();
        }
        if let Some(md5) = self.md5 {
            into.md5 = Some(md5.finalize().into());
        }
        if let Some(checksum) = self.checksum {
            into.checksum = Some(checksum.finish());
        }
        if let (true, Some(hash)) = (self.sha256_is_checksum, into.sha256) {
            let value = BASE64.encode(hash);
            into.checksum = Some(Checksum { algorithm: ChecksumAlgorithm::Sha256, value });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: DigestPlan =
        DigestPlan { sha256: true, md5: true, checksum: Some(ChecksumAlgorithm::Crc64Nvme) };

    #[test]
    fn digests_of_no_bytes() {
        let mut payload = Payload::empty();
        payload.digest(ALL);
        let digests = payload.digests();
        assert_eq!(BASE64.encode(digests.md5.unwrap()), "1B2M2Y8AsgTpgAmY7PhCfg==");
        assert_eq!(digests.sha256.unwrap()[..4], [0xe3, 0xb0, 0xc4, 0x42]);
        assert_eq!(digests.checksum.as_ref().unwrap().value, "AAAAAAAAAAA=");
    }

    #[test]
    fn another_algorithm_replaces_the_checksum() {
        let mut payload = Payload::from_bytes(Bytes::from_static(b"hello"));
        payload.digest(ALL);
        for algorithm in [ChecksumAlgorithm::Sha256, ChecksumAlgorithm::Crc32] {
            payload.digest(DigestPlan { checksum: Some(algorithm), ..DigestPlan::default() });
            assert_eq!(payload.digests().checksum, Some(Checksum::of(algorithm, b"hello")));
        }
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            chunks in proptest::collection::vec(
                proptest::collection::vec(any::<u8>(), 0..40_000), 0..4),
        ) {
            let whole = chunks.concat();
            let mut one = Payload::from_bytes(Bytes::from(whole));
            let mut many = Payload::from_chunks(chunks.into_iter().map(Bytes::from).collect());
            one.digest(ALL);
            // In two steps: what is there already stays.
            many.digest(DigestPlan { md5: true, ..DigestPlan::default() });
            many.digest(ALL);
            prop_assert_eq!(one.digests(), many.digests());
        }
    }
}
