//! Checksums of whole objects, put together from those of their parts.
//!
//! CRCs of consecutive pieces combine to the CRC of the whole without seeing the bytes again;
//! SHA checksums do not, and composite checksums (`…-N`) say nothing of other part boundaries.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crc_fast::{CrcAlgorithm, Digest, checksum_combine};

use crate::s3::{Checksum, ChecksumAlgorithm, ObjectHead};

/// The CRC of one piece of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PieceCrc {
    pub(crate) value: u64,
    pub(crate) length: u64,
}

/// A CRC that S3 stores and that combines over parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CombinableCrc {
    algorithm: ChecksumAlgorithm,
    parameters: CrcAlgorithm,
    width_bytes: usize,
}

impl PartialEq for CombinableCrc {
    fn eq(&self, other: &Self) -> bool {
        self.algorithm == other.algorithm
    }
}

impl CombinableCrc {
    /// The CRC behind an algorithm, if it is one.
    pub(crate) fn of(algorithm: ChecksumAlgorithm) -> Option<Self> {
        let (parameters, width_bytes) = match algorithm {
            ChecksumAlgorithm::Crc64Nvme => (CrcAlgorithm::Crc64Nvme, 8),
            ChecksumAlgorithm::Crc32 => (CrcAlgorithm::Crc32IsoHdlc, 4),
            ChecksumAlgorithm::Crc32c => (CrcAlgorithm::Crc32Iscsi, 4),
            _ => return None,
        };
        Some(Self { algorithm, parameters, width_bytes })
    }

    /// Starts the CRC of a piece.
    pub(crate) fn digest(self) -> Digest {
        Digest::new(self.parameters)
    }

    /// The CRC of pieces that follow each other.
    pub(crate) fn combine(self, pieces: impl IntoIterator<Item = PieceCrc>) -> Option<Checksum> {
        let whole = pieces.into_iter().reduce(|left, right| PieceCrc {
            value: checksum_combine(self.parameters, left.value, right.value, right.length),
            length: left.length + right.length,
        })?;
        Some(self.checksum(whole.value))
    }

    /// Reads a checksum of this algorithm.
    pub(crate) fn value_of(self, checksum: &Checksum) -> Option<u64> {
        let bytes = STANDARD.decode(&checksum.value).ok()?;
        let is_mine = checksum.algorithm == self.algorithm && bytes.len() == self.width_bytes;
        is_mine.then(|| bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn checksum(self, value: u64) -> Checksum {
        let bytes = value.to_be_bytes();
        let value = STANDARD.encode(&bytes[bytes.len() - self.width_bytes..]);
        Checksum { algorithm: self.algorithm, value }
    }
}

/// The checksum of a stored object that a download in parts can be held against.
pub(crate) fn expected_of(head: &ObjectHead) -> Option<(CombinableCrc, Checksum)> {
    if !head.checksum_is_full_object {
        return None;
    }
    head.checksums
        .iter()
        .filter(|checksum| !checksum.value.contains('-'))
        .find_map(|checksum| Some((CombinableCrc::of(checksum.algorithm)?, checksum.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CRCS: [ChecksumAlgorithm; 3] =
        [ChecksumAlgorithm::Crc64Nvme, ChecksumAlgorithm::Crc32, ChecksumAlgorithm::Crc32c];

    proptest! {
        #[test]
        fn parts_combine_to_the_whole(
            bytes in prop::collection::vec(any::<u8>(), 0..2000),
            part in 1_usize..700,
        ) {
            for algorithm in CRCS {
                let crc = CombinableCrc::of(algorithm).unwrap();
                let mut whole = crc.digest();
                whole.update(&bytes);
                let pieces: Vec<_> = bytes
                    .chunks(part)
                    .map(|chunk| {
                        let mut digest = crc.digest();
                        digest.update(chunk);
                        PieceCrc { value: digest.finalize(), length: chunk.len() as u64 }
                    })
                    .collect();
                let combined = crc.combine(pieces);
                prop_assert_eq!(combined.is_none(), bytes.is_empty());
                if let Some(combined) = combined {
                    prop_assert_eq!(crc.value_of(&combined), Some(whole.finalize()));
                }
            }
        }
    }

    #[test]
    fn the_value_travels_as_base64_of_its_bytes() {
        let crc = CombinableCrc::of(ChecksumAlgorithm::Crc32).unwrap();
        let mut digest = crc.digest();
        digest.update(b"123456789");
        let piece = PieceCrc { value: digest.finalize(), length: 9 };
        // The check value of CRC-32 is cbf43926.
        assert_eq!(crc.combine([piece]).unwrap().value, "y/Q5Jg==");
    }

    #[test]
    fn composite_and_foreign_checksums_are_not_compared() {
        let checksum = |algorithm, value: &str| Checksum { algorithm, value: value.to_owned() };
        let head = |checksums, is_full| ObjectHead {
            checksums,
            checksum_is_full_object: is_full,
            ..ObjectHead::default()
        };
        let crc = checksum(ChecksumAlgorithm::Crc32, "y/Q5Jg==");
        assert!(expected_of(&head(vec![crc.clone()], true)).is_some());
        assert!(expected_of(&head(vec![crc], false)).is_none());
        let composite = checksum(ChecksumAlgorithm::Crc32, "y/Q5Jg==-3");
        assert!(expected_of(&head(vec![composite], true)).is_none());
        let sha = checksum(ChecksumAlgorithm::Sha256, "AAAA");
        assert!(expected_of(&head(vec![sha], true)).is_none());
    }
}
