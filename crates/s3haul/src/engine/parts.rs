//! Sizes and positions of parts. Pure.
//!
//! Limits are S3's (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html>): at most
//! 10,000 parts of 5 MiB to 5 GiB, the last may be smaller. The rules are those of the AWS tools,
//! so that the same file has the same `ETag`.

use s3haul_wire::units::{ByteRange, GIB, MIB};

/// Most parts of one object.
pub const PARTS_MAX: u64 = 10_000;
/// Smallest part of an upload except the last.
pub const PART_SIZE_MIN: u64 = 5 * MIB;
/// Largest part of an upload or copy.
pub const PART_SIZE_MAX: u64 = 5 * GIB;

/// Part size for an upload or copy: the configured one, doubled until the parts are few enough,
/// then brought within S3's limits. Without a size (a stream) only the limits hold.
pub fn upload_part_size(configured: u64, size: Option<u64>) -> u64 {
    let mut part_size = configured.max(1);
    if let Some(size) = size {
        while size.div_ceil(part_size) > PARTS_MAX {
            part_size = part_size.saturating_mul(2);
        }
    }
    part_size.clamp(PART_SIZE_MIN, PART_SIZE_MAX)
}

/// Part size for a stream of unknown length: `--expected-size` adjusts it as a size would,
/// without it 10,000 parts of the configured size are the most that can be uploaded.
pub fn stream_part_size(configured: u64, expected_size: Option<u64>) -> u64 {
    upload_part_size(configured, expected_size)
}

/// Most bytes that a stream can hold with this part size.
pub fn stream_size_max(part_size: u64) -> u64 {
    part_size.saturating_mul(PARTS_MAX)
}

/// One part: its number, counted from 1 as S3 does, and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number, 1 to 10,000 for an upload.
    pub number: u32,
    /// Bytes of the object.
    pub range: ByteRange,
}

/// The parts of an object in order; all but the last have the same size.
#[derive(Clone, Debug)]
pub struct Parts {
    size: u64,
    part_size: u64,
    next: u32,
}

/// Splits a size into parts. An empty object has none.
pub fn parts(size: u64, part_size: u64) -> Parts {
    // Parts so tiny that their number does not fit are made larger.
    let part_size_min = size.div_ceil(u64::from(u32::MAX) - 1).max(1);
    Parts { size, part_size: part_size.max(part_size_min), next: 1 }
}

impl Parts {
    /// Parts that are still to come.
    pub fn count_left(&self) -> u64 {
        self.size.div_ceil(self.part_size).saturating_sub(u64::from(self.next) - 1)
    }

    /// The part with a number, `None` beyond the last.
    pub fn get(&self, number: u32) -> Option<Part> {
        let start = u64::from(number.checked_sub(1)?).checked_mul(self.part_size)?;
        if start >= self.size {
            return None;
        }
        let end = start.saturating_add(self.part_size).min(self.size);
        Some(Part { number, range: ByteRange { start, end } })
    }
}

impl Iterator for Parts {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let part = self.get(self.next)?;
        self.next += 1;
        Some(part)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.count_left()).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

/// The ranges of a download in parts: of the configured size, however many that gives, as the
/// number of ranged reads has no limit. The same iterator as for uploads.
pub fn download_parts(size: u64, configured: u64) -> Parts {
    parts(size, configured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn part_sizes_follow_the_aws_tools() {
        // Worked out with s3transfer's ChunksizeAdjuster.
        let cases = [
            (8 * MIB, Some(0), 8 * MIB),
            (8 * MIB, Some(80_000 * MIB), 8 * MIB),
            (8 * MIB, Some(80_000 * MIB + 1), 16 * MIB),
            (8 * MIB, Some(5 * 1024 * GIB), 1024 * MIB),
            (1, Some(100), 5 * MIB),
            (1, Some(60_000 * MIB), 8 * MIB),
            (6 * GIB, Some(100), 5 * GIB),
            (8 * MIB, None, 8 * MIB),
            (MIB, None, 5 * MIB),
        ];
        for (configured, size, expected) in cases {
            assert_eq!(upload_part_size(configured, size), expected, "{configured} {size:?}");
        }
    }

    proptest! {
        #[test]
        fn parts_cover_the_object_exactly(size in 0..100_000_u64, part_size in 1..5_000_u64) {
            let mut position = 0;
            let mut number = 0;
            let all = parts(size, part_size);
            prop_assert_eq!(all.size_hint().0 as u64, all.count_left());
            for part in all.clone() {
                number += 1;
                prop_assert_eq!(part.number, number);
                prop_assert_eq!(part.range.start, position);
                prop_assert!(!part.range.is_empty());
                position = part.range.end;
                prop_assert!(part.range.len() == part_size || position == size);
            }
            prop_assert_eq!(position, size);
            prop_assert_eq!(u64::from(number), all.count_left());
            prop_assert_eq!(all.get(number + 1), None);
        }

        #[test]
        fn uploads_stay_within_the_limits(
            configured in 1..=PART_SIZE_MAX * 2,
            size in 0..=PART_SIZE_MAX * PARTS_MAX,
        ) {
            let part_size = upload_part_size(configured, Some(size));
            prop_assert!((PART_SIZE_MIN..=PART_SIZE_MAX).contains(&part_size));
            prop_assert!(size.div_ceil(part_size) <= PARTS_MAX);
        }
    }
}
