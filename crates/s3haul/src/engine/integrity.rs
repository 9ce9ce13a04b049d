//! Checksums of whole objects, put together from those of their parts.
//!
//! CRCs of consecutive pieces combine to the CRC of the whole without seeing the bytes again;
//! SHA checksums do not, and composite checksums (`…-N`) say nothing of other part boundaries.

use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::{Checksum, ObjectHead};

/// Times that a large object is read again from its start because its checksum did not match: the
/// bytes may have been damaged on the way.
const AGAIN_MAX: u32 = 2;

/// Whether an object that was read `times` times should be read again from its start.
pub(crate) fn may_read_again(error: &Error, times: u32) -> bool {
    error.kind() == ErrorKind::Integrity && times <= AGAIN_MAX
}

/// The checksum of one piece of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) checksum: Checksum,
    /// Length in bytes.
    pub(crate) length: u64,
}

/// The checksum of pieces that follow each other; `None` where they do not combine.
pub(crate) fn combine(pieces: impl IntoIterator<Item = Piece>) -> Option<Checksum> {
    let mut pieces = pieces.into_iter();
    let first = pieces.next()?.checksum;
    let is_plain_crc = first.algorithm.is_combinable() && !first.is_composite();
    let whole = pieces.try_fold(first, |whole, next| whole.combine(&next.checksum, next.length));
    whole.filter(|_| is_plain_crc)
}

/// The checksum of a stored object that a download in parts can be held against.
pub(crate) fn expected_of(head: &ObjectHead) -> Option<Checksum> {
    let is_usable =
        |checksum: &&Checksum| checksum.algorithm.is_combinable() && !checksum.is_composite();
    let checksum = head.checksums.iter().find(is_usable)?;
    head.checksum_is_full_object.then(|| checksum.clone())
}

/// Fails when the checksums of an object differ.
pub(crate) fn check(key: &str, expected: &Checksum, computed: Option<&Checksum>) -> Result<()> {
    if computed == Some(expected) {
        return Ok(());
    }
    let computed = computed.map_or("none", |checksum| checksum.value.as_str());
    let message = format!(
        "the checksum of `{key}` does not match: stored {}, computed {computed}",
        expected.value
    );
    Err(Error::new(ErrorKind::Integrity, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use s3haul_wire::ChecksumAlgorithm;

    const CRCS: [ChecksumAlgorithm; 3] =
        [ChecksumAlgorithm::Crc64Nvme, ChecksumAlgorithm::Crc32, ChecksumAlgorithm::Crc32c];

    fn piece(algorithm: ChecksumAlgorithm, bytes: &[u8]) -> Piece {
        Piece { checksum: Checksum::of(algorithm, bytes), length: bytes.len() as u64 }
    }

    proptest! {
        #[test]
        fn parts_combine_to_the_whole(
            bytes in prop::collection::vec(any::<u8>(), 1..2000),
            part in 1_usize..700,
        ) {
            for algorithm in CRCS {
                let combined = combine(bytes.chunks(part).map(|chunk| piece(algorithm, chunk)));
                prop_assert_eq!(combined, Some(Checksum::of(algorithm, &bytes)));
            }
        }
    }

    #[test]
    fn what_does_not_combine_is_not_combined() {
        let sha = piece(ChecksumAlgorithm::Sha256, b"1");
        assert_eq!(combine([sha.clone()]), None);
        assert_eq!(combine([sha.clone(), sha.clone()]), None);
        assert_eq!(combine([piece(ChecksumAlgorithm::Crc32, b"1"), sha]), None);
        assert_eq!(combine([]), None);
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
