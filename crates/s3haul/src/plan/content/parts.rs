//! How large the parts of an object may be.

use s3haul_wire::units::MIB;

/// Sizes in MiB that tools use by default.
const USUAL_MIB: [u64; 14] = [8, 5, 16, 64, 10, 15, 25, 32, 50, 100, 128, 256, 512, 1024];
/// Most sizes that are tried.
const TRIED_MAX: usize = 3;

/// Sizes that the parts of an object of `size` bytes and `count` parts may have, the likeliest
/// first; `configured` is that of this program.
pub fn likely_part_sizes(size: u64, count: u32, configured: u64) -> Vec<u64> {
    let count = u64::from(count.max(1));
    if count == 1 {
        return vec![size.max(1)];
    }
    let even = size.div_ceil(count).max(1);
    let usual = USUAL_MIB.into_iter().map(|size| size * MIB);
    // Where the parts became too many their size was doubled, or made as small as can be.
    let doubled = [configured, 8 * MIB, 5 * MIB].into_iter().map(|start| {
        let mut part_size = start.max(1);
        while part_size < even {
            part_size = part_size.saturating_mul(2);
        }
        part_size
    });
    let rounded = even.div_ceil(MIB).saturating_mul(MIB);
    let candidates =
        std::iter::once(configured.max(1)).chain(usual).chain(doubled).chain([rounded, even]);
    let mut sizes: Vec<u64> = Vec::new();
    for part_size in candidates.filter(|part_size| size.div_ceil(*part_size) == count) {
        if !sizes.contains(&part_size) && sizes.len() < TRIED_MAX {
            sizes.push(part_size);
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn usual_sizes_come_first() {
        let likely = |size, count| likely_part_sizes(size, count, 8 * MIB);
        assert_eq!(likely(20 * MIB, 3)[0], 8 * MIB);
        assert_eq!(likely(20 * MIB, 4)[0], 5 * MIB);
        assert_eq!(likely(100_000 * MIB, 6_250)[0], 16 * MIB);
        assert_eq!(likely(20 * MIB, 1), [20 * MIB]);
        assert_eq!(likely_part_sizes(20 * MIB, 3, 7 * MIB)[..2], [7 * MIB, 8 * MIB]);
        assert_eq!(likely(10, 20), Vec::<u64>::new(), "more parts than bytes");
    }

    proptest! {
        #[test]
        fn every_size_gives_the_number_of_parts(
            size in 1..10_000_000_000_u64,
            count in 1..10_000_u32,
            configured in 1..1_000_000_000_u64,
        ) {
            let sizes = likely_part_sizes(size, count, configured);
            prop_assert!(sizes.len() <= TRIED_MAX);
            for part_size in sizes {
                prop_assert_eq!(size.div_ceil(part_size), u64::from(count));
            }
        }
    }
}
