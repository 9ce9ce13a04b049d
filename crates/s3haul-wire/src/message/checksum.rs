//! Object checksums: CRC64NVME by default, CRC32, CRC32C, SHA-1 and SHA-256 where asked.
//!
//! CRCs of adjacent byte ranges combine into the CRC of both, so a full-object checksum of a
//! multipart upload costs no second pass. The SHAs do not: S3 stores a composite of the parts.
//!
//! Source: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html>.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crc_fast::CrcAlgorithm;
use http::HeaderName;

use crate::error::{Error, ErrorKind};

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

static CRC64NVME_HEADER: HeaderName = HeaderName::from_static("x-amz-checksum-crc64nvme");
static CRC32_HEADER: HeaderName = HeaderName::from_static("x-amz-checksum-crc32");
static CRC32C_HEADER: HeaderName = HeaderName::from_static("x-amz-checksum-crc32c");
static SHA1_HEADER: HeaderName = HeaderName::from_static("x-amz-checksum-sha1");
static SHA256_HEADER: HeaderName = HeaderName::from_static("x-amz-checksum-sha256");

impl ChecksumAlgorithm {
    /// All algorithms, the cheapest to compute first.
    pub const ALL: [Self; 5] =
        [Self::Crc64Nvme, Self::Crc32c, Self::Crc32, Self::Sha1, Self::Sha256];

    /// Name as headers and flags have it, such as `CRC64NVME`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crc64Nvme => "CRC64NVME",
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
        }
    }

    /// Whether checksums of adjacent ranges combine, so that S3 can hold one of the full object
    /// after a multipart upload.
    pub fn is_combinable(self) -> bool {
        self.crc().is_some()
    }

    /// Bytes of a value.
    fn width(self) -> usize {
        match self {
            Self::Crc32 | Self::Crc32c => 4,
            Self::Crc64Nvme => 8,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// Bytes of a value in base64.
    pub(crate) fn text_length(self) -> usize {
        self.width().div_ceil(3) * 4
    }

    /// Header that carries the value.
    pub(crate) fn header(self) -> &'static HeaderName {
        match self {
            Self::Crc64Nvme => &CRC64NVME_HEADER,
            Self::Crc32 => &CRC32_HEADER,
            Self::Crc32c => &CRC32C_HEADER,
            Self::Sha1 => &SHA1_HEADER,
            Self::Sha256 => &SHA256_HEADER,
        }
    }

    /// XML element that carries the value.
    pub(crate) fn element(self) -> &'static str {
        match self {
            Self::Crc64Nvme => "ChecksumCRC64NVME",
            Self::Crc32 => "ChecksumCRC32",
            Self::Crc32c => "ChecksumCRC32C",
            Self::Sha1 => "ChecksumSHA1",
            Self::Sha256 => "ChecksumSHA256",
        }
    }

    fn crc(self) -> Option<CrcAlgorithm> {
        match self {
            Self::Crc64Nvme => Some(CrcAlgorithm::Crc64Nvme),
            Self::Crc32 => Some(CrcAlgorithm::Crc32IsoHdlc),
            Self::Crc32c => Some(CrcAlgorithm::Crc32Iscsi),
            Self::Sha1 | Self::Sha256 => None,
        }
    }
}

impl ChecksumAlgorithm {
    fn polynomial(self) -> Option<Polynomial> {
        match self {
            Self::Crc64Nvme => Some(Polynomial { bits: 64, rest: 0x9A6C_9329_AC4B_C9B5 }),
            Self::Crc32 => Some(Polynomial { bits: 32, rest: 0xEDB8_8320 }),
            Self::Crc32c => Some(Polynomial { bits: 32, rest: 0x82F6_3B78 }),
            Self::Sha1 | Self::Sha256 => None,
        }
    }
}

/// What a CRC is the remainder of a division by. Numbers stand for polynomials over two elements
/// with the highest power in the lowest bit, as in the CRCs of S3.
#[derive(Clone, Copy)]
struct Polynomial {
    bits: u32,
    /// All powers but the highest.
    rest: u64,
}

impl Polynomial {
    /// The CRC as it counts when `length` bytes follow: multiplied by as many powers of 256. A few
    /// thousand steps; the general way of the library costs a hundred times as many for each part
    /// of an object.
    fn moved(self, crc: u64, length: u64) -> u64 {
        let one = 1 << (self.bits - 1);
        let (mut factor, mut power, mut left) = (one, one >> 8, length);
        while left > 0 {
            if left & 1 == 1 {
                factor = self.multiply(factor, power);
            }
            power = self.multiply(power, power);
            left >>= 1;
        }
        self.multiply(factor, crc)
    }

    /// The remainder of a product.
    fn multiply(self, a: u64, b: u64) -> u64 {
        let (mut product, mut shifted) = (0, b);
        for bit in (0..self.bits).rev() {
            product ^= shifted & 0_u64.wrapping_sub(a >> bit & 1);
            shifted = (shifted >> 1) ^ (self.rest & 0_u64.wrapping_sub(shifted & 1));
        }
        product
    }
}

impl fmt::Display for ChecksumAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ChecksumAlgorithm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                Error::new(ErrorKind::Config, format!("no checksum algorithm is named `{name}`"))
            })
    }
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

impl Checksum {
    /// Checksum of some bytes.
    pub fn of(algorithm: ChecksumAlgorithm, bytes: &[u8]) -> Self {
        let mut hasher = Hasher::new(algorithm);
        hasher.update(bytes);
        hasher.finish()
    }

    /// Whether this is a checksum of checksums of parts.
    pub fn is_composite(&self) -> bool {
        self.value.contains('-')
    }

    /// Whether the value has as many bytes as its algorithm gives.
    pub(crate) fn has_the_right_width(&self) -> bool {
        let plain = self.value.split('-').next().unwrap_or_default();
        let mut bytes = [0; 48];
        BASE64.decode_slice(plain, &mut bytes).is_ok_and(|length| length == self.algorithm.width())
    }

    /// Checksum of what `self` covers followed by the `length` bytes that `next` covers; `None`
    /// unless both are plain CRCs of one algorithm.
    #[must_use]
    pub fn combine(&self, next: &Self, length: u64) -> Option<Self> {
        let crc = self.algorithm.polynomial()?;
        if next.algorithm != self.algorithm {
            return None;
        }
        let moved = crc.moved(self.crc_value()?, length);
        let value = crc_text(self.algorithm, moved ^ next.crc_value()?);
        Some(Self { algorithm: self.algorithm, value })
    }

    /// Composite checksum of an object of parts: the checksum of their checksums, with `-N`.
    /// `None` without parts or if they are not all plain and of one algorithm.
    pub fn composite(parts: &[Self]) -> Option<Self> {
        let algorithm = parts.first()?.algorithm;
        let mut hasher = Hasher::new(algorithm);
        for part in parts {
            if part.algorithm != algorithm {
                return None;
            }
            hasher.update(&BASE64.decode(&part.value).ok()?);
        }
        let mut whole = hasher.finish();
        whole.value.push('-');
        whole.value.push_str(&parts.len().to_string());
        Some(whole)
    }

    fn crc_value(&self) -> Option<u64> {
        let bytes = BASE64.decode(&self.value).ok()?;
        (bytes.len() == self.algorithm.width())
            .then(|| bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }
}

fn crc_text(algorithm: ChecksumAlgorithm, value: u64) -> String {
    let bytes = value.to_be_bytes();
    let skip = if algorithm == ChecksumAlgorithm::Crc64Nvme { 0 } else { 4 };
    BASE64.encode(&bytes[skip..])
}

/// Computes a checksum of bytes as they come.
#[derive(Clone)]
pub struct Hasher {
    algorithm: ChecksumAlgorithm,
    state: State,
}

#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "hashers are few and the CRC is the usual case")]
enum State {
    Crc(crc_fast::Digest),
    Sha(digest::Context),
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hasher").field(&self.algorithm).finish()
    }
}

impl Hasher {
    /// Begins with no byte seen.
    pub fn new(algorithm: ChecksumAlgorithm) -> Self {
        let state = match (algorithm.crc(), algorithm) {
            (Some(crc), _) => State::Crc(crc_fast::Digest::new(crc)),
            (None, ChecksumAlgorithm::Sha1) => {
                State::Sha(digest::Context::new(&digest::SHA1_FOR_LEGACY_USE_ONLY))
            }
            (None, _) => State::Sha(digest::Context::new(&digest::SHA256)),
        };
        Self { algorithm, state }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Crc(crc) => crc.update(bytes),
            State::Sha(sha) => sha.update(bytes),
        }
    }

    /// The checksum of all bytes taken.
    pub fn finish(self) -> Checksum {
        let value = match self.state {
            State::Crc(crc) => crc_text(self.algorithm, crc.finalize()),
            State::Sha(sha) => BASE64.encode(sha.finish()),
        };
        Checksum { algorithm: self.algorithm, value }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        // `123456789`, the check input of the CRC catalogue.
        let check = |algorithm, value: &str| {
            assert_eq!(Checksum::of(algorithm, b"123456789").value, value, "{algorithm}");
        };
        let hex = |bytes: &[u8]| BASE64.encode(bytes);
        check(ChecksumAlgorithm::Crc32, &hex(&0xCBF4_3926_u32.to_be_bytes()));
        check(ChecksumAlgorithm::Crc32c, &hex(&0xE306_9283_u32.to_be_bytes()));
        check(ChecksumAlgorithm::Crc64Nvme, &hex(&0xAE8B_1486_0A79_9888_u64.to_be_bytes()));
        check(ChecksumAlgorithm::Sha1, "98O8HYCOBHMq32eZZczDTKeuNEE=");
        check(ChecksumAlgorithm::Sha256, "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
    }

    #[test]
    fn names_are_read_in_any_case() {
        for algorithm in ChecksumAlgorithm::ALL {
            assert_eq!(
                algorithm.name().to_lowercase().parse::<ChecksumAlgorithm>().unwrap(),
                algorithm
            );
        }
        assert!("MD5".parse::<ChecksumAlgorithm>().is_err());
    }

    #[test]
    fn composite_is_the_hash_of_hashes() {
        let parts: Vec<_> = [b"a", b"b"]
            .iter()
            .map(|part| Checksum::of(ChecksumAlgorithm::Sha256, *part))
            .collect();
        let raw: Vec<u8> =
            parts.iter().flat_map(|part| BASE64.decode(&part.value).unwrap()).collect();
        let whole = Checksum::composite(&parts).unwrap();
        assert_eq!(whole.value, Checksum::of(ChecksumAlgorithm::Sha256, &raw).value + "-2");
        assert!(whole.is_composite());
        assert_eq!(Checksum::composite(&[]), None);
        assert_eq!(Checksum::composite(&[whole.clone(), whole]), None);
    }

    proptest! {
        #[test]
        fn crcs_of_ranges_combine(
            bytes in proptest::collection::vec(any::<u8>(), 0..4000),
            at in any::<prop::sample::Index>(),
        ) {
            let (first, second) = bytes.split_at(at.index(bytes.len() + 1));
            for algorithm in ChecksumAlgorithm::ALL {
                let combined = Checksum::of(algorithm, first)
                    .combine(&Checksum::of(algorithm, second), second.len() as u64);
                let whole = Checksum::of(algorithm, &bytes);
                prop_assert_eq!(combined, algorithm.is_combinable().then_some(whole));
            }
        }

        #[test]
        fn pieces_do_not_matter(
            bytes in proptest::collection::vec(any::<u8>(), 0..2000), piece in 1_usize..700,
        ) {
            for algorithm in ChecksumAlgorithm::ALL {
                let mut hasher = Hasher::new(algorithm);
                bytes.chunks(piece).for_each(|chunk| hasher.update(chunk));
                prop_assert_eq!(hasher.finish(), Checksum::of(algorithm, &bytes));
            }
        }
    }
}
