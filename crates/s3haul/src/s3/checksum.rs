//! Object checksums: CRC64NVME by default, CRC32, CRC32C, SHA-1 and SHA-256 where asked.
//!
//! Source: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html>.

/// Algorithms that S3 stores with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumAlgorithm {
    /// 64-bit CRC with the NVME polynomial; full-object, combinable over parts. The default.
    Crc64Nvme,
    /// CRC-32 (ISO-HDLC).
    Crc32,
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

/// When checksums are sent or validated (`request_checksum_calculation`,
/// `response_checksum_validation`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumMode {
    /// Wherever the operation supports one. The default of the AWS SDKs.
    #[default]
    WhenSupported,
    /// Only where the operation demands one or the caller names an algorithm.
    WhenRequired,
}

/// A checksum value with its algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// Algorithm.
    pub algorithm: ChecksumAlgorithm,
    /// The value as it travels in headers: base64 of the big-endian bytes, with `-N` appended for
    /// a composite checksum of N parts.
    pub value: String,
}
