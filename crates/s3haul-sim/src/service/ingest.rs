//! Taking in a body: into the store chunk by chunk, hashed on the way, checked at the end.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::HeaderMap;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::StreamingBlob;
use s3s::{S3Error, S3Result, StdError, TrailingHeaders, s3_error};

use super::SimService;
use super::checksum::{self, Algorithm};
use super::convert::custom_error;
use crate::store::{Blob, Checksums};

/// What a request says about its body.
pub(super) struct Said {
    /// `Content-MD5`.
    pub(super) md5: Option<String>,
    /// Checksums in headers.
    pub(super) checksums: Checksums,
    /// Algorithms to compute besides those; CRC64NVME where there is none at all.
    pub(super) algorithms: [Option<Algorithm>; 2],
    /// Present where the body came in chunks.
    pub(super) chunked: Option<Chunked>,
}

/// What the head of a request says about a body in chunks of its own format. `s3s` does not notice
/// where its end is missing.
pub(super) struct Chunked {
    /// Bytes without the chunks' heads.
    size: Option<u64>,
    /// Names of the headers that follow the last chunk.
    announced: Vec<String>,
    /// Where those will be.
    trailers: TrailingHeaders,
}

impl Chunked {
    /// `None` for a body in one piece.
    pub(super) fn new(headers: &HeaderMap, trailers: Option<TrailingHeaders>) -> Option<Self> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let announced = text("x-amz-trailer").unwrap_or_default().split(',').map(str::trim);
        Some(Self {
            size: text("x-amz-decoded-content-length").and_then(|size| size.parse().ok()),
            announced: announced.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            trailers: trailers?,
        })
    }

    /// The headers after a body of this size; an error if it ended before it was whole.
    fn finish(self, size: u64) -> S3Result<HeaderMap> {
        if self.size != Some(size) {
            return Err(incomplete_body());
        }
        let trailers = self.trailers.take().unwrap_or_default();
        if !self.announced.iter().all(|name| trailers.contains_key(name)) {
            let message = "The request contained trailing data that was not well-formed or did \
                           not conform to our published schema.";
            let status = http::StatusCode::BAD_REQUEST;
            return Err(custom_error("MalformedTrailerError", status, message));
        }
        Ok(trailers)
    }
}

/// A body that has been taken in.
pub(super) struct Received {
    pub(super) blob: Blob,
    pub(super) size: u64,
    pub(super) etag: String,
    pub(super) checksums: Checksums,
}

/// Hashes a body.
pub(super) struct Digests {
    md5: Option<Md5>,
    sums: ChecksumHasher,
    size: u64,
}

impl Digests {
    pub(super) fn new(md5: bool, algorithms: impl Iterator<Item = Algorithm>) -> Self {
        Self { md5: md5.then(Md5::new), sums: checksum::hasher(algorithms), size: 0 }
    }

    pub(super) fn update(&mut self, data: &[u8]) {
        self.size += data.len() as u64;
        if let Some(md5) = &mut self.md5 {
            md5.update(data);
        }
        self.sums.update(data);
    }

    /// Size, MD5 and checksums.
    pub(super) fn finish(self) -> (u64, Option<[u8; 16]>, Checksums) {
        let md5 = self.md5.map(|md5| {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(md5.finalize().as_ref());
            bytes
        });
        (self.size, md5, checksum::finish(self.sums))
    }
}

/// Hexadecimal text of bytes.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

impl SimService {
    /// Takes a body into the store; leaves nothing behind where it is not what was said.
    pub(super) async fn receive(
        &self,
        body: Option<StreamingBlob>,
        mut said: Said,
    ) -> S3Result<Received> {
        let wanted_md5 = said.md5.as_deref().map(parse_md5).transpose()?;
        let besides = said.algorithms.iter().flatten().copied();
        let mut algorithms: Vec<_> = said.checksums.present().chain(besides).collect();
        if algorithms.is_empty() {
            algorithms.push(Algorithm::Crc64Nvme);
        }
        let skips = self.store.skips_hashing();
        if skips && said.chunked.is_none() {
            algorithms.retain(|algorithm| said.checksums.get(*algorithm).is_some());
        }
        let hashes_md5 = !skips || wanted_md5.is_some();
        let mut digests = Digests::new(hashes_md5, algorithms.into_iter());
        let mut sink = self.store.stage()?;
        if let Some(mut body) = body {
            while let Some(chunk) = body.next().await {
                let chunk: Bytes = chunk.map_err(body_error)?;
                digests.update(&chunk);
                sink.write(chunk)?;
            }
        }
        let (size, md5, checksums) = digests.finish();
        if let Some(chunked) = said.chunked.take() {
            said.checksums.add_trailers(&chunked.finish(size)?);
        }
        if wanted_md5.is_some() && wanted_md5 != md5 {
            return Err(s3_error!(
                BadDigest,
                "The Content-MD5 you specified did not match what we received."
            ));
        }
        checksums.check_said(&said.checksums)?;
        let etag = md5.map_or_else(unhashed_etag, |md5| hex(&md5));
        let checksums =
            if checksums.present().next().is_some() { checksums } else { Checksums::default() };
        Ok(Received { blob: sink.finish()?, size, etag, checksums })
    }
}

/// An `ETag` that cannot be mistaken for an MD5.
pub(super) fn unhashed_etag() -> String {
    format!("{:016x}{:016x}-1", fastrand::u64(..), fastrand::u64(..))
}

pub(super) fn parse_md5(header: &str) -> S3Result<[u8; 16]> {
    let invalid = || s3_error!(InvalidDigest, "The Content-MD5 you specified was invalid.");
    let bytes = BASE64.decode(header.trim()).map_err(|_| invalid())?;
    bytes.try_into().map_err(|_| invalid())
}

/// What the end of a body means to S3.
#[expect(clippy::needless_pass_by_value, reason = "used as a function for map_err")]
fn body_error(error: StdError) -> S3Error {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    let bad_request = http::StatusCode::BAD_REQUEST;
    if text.contains("Sha256Mismatch") {
        let message =
            "The provided 'x-amz-content-sha256' header does not match what was computed.";
        custom_error("XAmzContentSHA256Mismatch", bad_request, message)
    } else if text.contains("SignatureMismatch") {
        s3_error!(
            SignatureDoesNotMatch,
            "The request signature we calculated does not match the signature you provided."
        )
    } else if text.contains("RequestTimeout") {
        let message = "Your socket connection to the server was not read from or written to \
                       within the timeout period.";
        custom_error("RequestTimeout", bad_request, message)
    } else if text.contains("EntityTooLarge") {
        s3_error!(EntityTooLarge, "Your proposed upload exceeds the maximum allowed object size.")
    } else {
        incomplete_body()
    }
}

fn incomplete_body() -> S3Error {
    s3_error!(IncompleteBody, "The request body terminated unexpectedly")
}
