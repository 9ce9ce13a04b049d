//! Checksums: computing, comparing with what the client said, and combining those of parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crc_fast::{CrcAlgorithm, checksum_combine};
use http::HeaderMap;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Crc32, Crc32c, Crc64Nvme, Sha1, Sha256};
use s3s::{S3Error, S3Result, s3_error};

use crate::store::Checksums;

/// Checksum over the whole object.
pub(super) const FULL_OBJECT: &str = "FULL_OBJECT";
/// Checksum over the checksums of the parts.
pub(super) const COMPOSITE: &str = "COMPOSITE";

/// The five algorithms of S3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Crc32,
    Crc32c,
    Crc64Nvme,
    Sha1,
    Sha256,
}

/// All algorithms.
pub(super) const ALGORITHMS: [Algorithm; 5] =
    [Algorithm::Crc32, Algorithm::Crc32c, Algorithm::Crc64Nvme, Algorithm::Sha1, Algorithm::Sha256];

impl Algorithm {
    /// Reads S3's name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        ALGORITHMS.into_iter().find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }

    /// S3's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
            Self::Crc64Nvme => "CRC64NVME",
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
        }
    }

    fn header(self) -> &'static str {
        match self {
            Self::Crc32 => "x-amz-checksum-crc32",
            Self::Crc32c => "x-amz-checksum-crc32c",
            Self::Crc64Nvme => "x-amz-checksum-crc64nvme",
            Self::Sha1 => "x-amz-checksum-sha1",
            Self::Sha256 => "x-amz-checksum-sha256",
        }
    }

    /// The kind that S3 takes when the client names none.
    pub(super) fn default_kind(self) -> &'static str {
        if self == Self::Crc64Nvme { FULL_OBJECT } else { COMPOSITE }
    }

    fn crc(self) -> Option<CrcAlgorithm> {
        match self {
            Self::Crc32 => Some(CrcAlgorithm::Crc32IsoHdlc),
            Self::Crc32c => Some(CrcAlgorithm::Crc32Iscsi),
            Self::Crc64Nvme => Some(CrcAlgorithm::Crc64Nvme),
            Self::Sha1 | Self::Sha256 => None,
        }
    }

    /// Whether this algorithm can be of that kind.
    pub(super) fn can_be(self, kind: &str) -> bool {
        match self {
            Self::Crc64Nvme => kind == FULL_OBJECT,
            Self::Sha1 | Self::Sha256 => kind == COMPOSITE,
            Self::Crc32 | Self::Crc32c => true,
        }
    }
}

impl Checksums {
    /// The value of one algorithm.
    pub(super) fn get(&self, algorithm: Algorithm) -> Option<&String> {
        match algorithm {
            Algorithm::Crc32 => self.crc32.as_ref(),
            Algorithm::Crc32c => self.crc32c.as_ref(),
            Algorithm::Crc64Nvme => self.crc64nvme.as_ref(),
            Algorithm::Sha1 => self.sha1.as_ref(),
            Algorithm::Sha256 => self.sha256.as_ref(),
        }
    }

    /// Sets the value of one algorithm.
    pub(super) fn set(&mut self, algorithm: Algorithm, value: String) {
        let field = match algorithm {
            Algorithm::Crc32 => &mut self.crc32,
            Algorithm::Crc32c => &mut self.crc32c,
            Algorithm::Crc64Nvme => &mut self.crc64nvme,
            Algorithm::Sha1 => &mut self.sha1,
            Algorithm::Sha256 => &mut self.sha256,
        };
        *field = Some(value);
    }

    /// The algorithms that have a value.
    pub(super) fn present(&self) -> impl Iterator<Item = Algorithm> + '_ {
        ALGORITHMS.into_iter().filter(|algorithm| self.get(*algorithm).is_some())
    }

    /// Takes values from trailing headers.
    pub(super) fn add_trailers(&mut self, trailers: &HeaderMap) {
        for algorithm in ALGORITHMS {
            let value = trailers.get(algorithm.header()).and_then(|value| value.to_str().ok());
            if let Some(value) = value {
                self.set(algorithm, value.trim().to_owned());
            }
        }
    }

    /// Checks that every value that the client said is what was computed.
    pub(super) fn check_said(&self, said: &Self) -> S3Result<()> {
        for algorithm in said.present() {
            if self.get(algorithm) != said.get(algorithm) {
                let name = algorithm.name();
                return Err(s3_error!(
                    BadDigest,
                    "The {name} you specified did not match the calculated checksum."
                ));
            }
        }
        Ok(())
    }
}

/// A hasher for some algorithms.
pub(super) fn hasher(algorithms: impl Iterator<Item = Algorithm>) -> ChecksumHasher {
    let mut hasher = ChecksumHasher::default();
    for algorithm in algorithms {
        match algorithm {
            Algorithm::Crc32 => hasher.crc32 = Some(Crc32::new()),
            Algorithm::Crc32c => hasher.crc32c = Some(Crc32c::new()),
            Algorithm::Crc64Nvme => hasher.crc64nvme = Some(Crc64Nvme::new()),
            Algorithm::Sha1 => hasher.sha1 = Some(Sha1::new()),
            Algorithm::Sha256 => hasher.sha256 = Some(Sha256::new()),
        }
    }
    hasher
}

/// What a hasher computed, of the kind that a whole body has.
pub(super) fn finish(hasher: ChecksumHasher) -> Checksums {
    let sums = hasher.finalize();
    Checksums {
        crc32: sums.checksum_crc32,
        crc32c: sums.checksum_crc32c,
        crc64nvme: sums.checksum_crc64nvme,
        sha1: sums.checksum_sha1,
        sha256: sums.checksum_sha256,
        kind: Some(FULL_OBJECT.to_owned()),
    }
}

fn decode(value: &str) -> S3Result<Vec<u8>> {
    BASE64.decode(value).map_err(|_| s3_error!(InvalidRequest, "A checksum is not valid base64."))
}

fn to_number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The checksum of a whole object from those of its parts.
pub(super) fn combine_full(algorithm: Algorithm, parts: &[(&str, u64)]) -> S3Result<String> {
    let crc = algorithm.crc().ok_or_else(|| {
        let name = algorithm.name();
        S3Error::with_message(
            s3s::S3ErrorCode::InvalidRequest,
            format!("The FULL_OBJECT checksum type cannot be used with the {name} algorithm."),
        )
    })?;
    let mut whole = None;
    let mut width = 8;
    for (value, length) in parts {
        let bytes = decode(value)?;
        width = bytes.len().min(8);
        let part = to_number(&bytes);
        whole = Some(match whole {
            None => part,
            Some(whole) => checksum_combine(crc, whole, part, *length),
        });
    }
    let whole = whole.unwrap_or_default().to_be_bytes();
    Ok(BASE64.encode(&whole[8 - width..]))
}

/// The checksum of the parts' checksums, with their number.
pub(super) fn combine_composite(algorithm: Algorithm, parts: &[(&str, u64)]) -> S3Result<String> {
    let mut hasher = hasher(std::iter::once(algorithm));
    for (value, _) in parts {
        hasher.update(&decode(value)?);
    }
    let sums = finish(hasher);
    let sum = sums.get(algorithm).cloned().unwrap_or_default();
    Ok(format!("{sum}-{}", parts.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(algorithm: Algorithm, data: &[u8]) -> String {
        let mut hasher = hasher(std::iter::once(algorithm));
        hasher.update(data);
        finish(hasher).get(algorithm).unwrap().clone()
    }

    #[test]
    fn parts_combine_to_the_whole() {
        let data: Vec<u8> = (0..5000_u32).map(|i| (i * 7 % 251) as u8).collect();
        let (a, rest) = data.split_at(1234);
        let (b, c) = rest.split_at(1);
        for algorithm in [Algorithm::Crc32, Algorithm::Crc32c, Algorithm::Crc64Nvme] {
            let sums = [a, b, c].map(|part| (sum(algorithm, part), part.len() as u64));
            let parts: Vec<_> = sums.iter().map(|(s, n)| (s.as_str(), *n)).collect();
            assert_eq!(combine_full(algorithm, &parts).unwrap(), sum(algorithm, &data));
        }
        assert!(combine_full(Algorithm::Sha1, &[]).is_err());
    }

    #[test]
    fn known_values() {
        assert_eq!(sum(Algorithm::Crc64Nvme, b"123456789"), "rosUhgp5mIg=");
        assert_eq!(sum(Algorithm::Crc32c, b"123456789"), "4waSgw==");
    }
}
