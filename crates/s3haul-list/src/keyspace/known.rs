//! Where an earlier listing found keys: places to cut at without a guess.
//!
//! A segment costs a request more than its keys fill pages where its last page is not full. So of
//! places that are equally good for the balance that one is taken up to which the pages are nearly
//! full; not quite, or another request would be needed to see that there is nothing more.

use super::segment::Segment;
use crate::Boundary;

/// How far from where a cut is wanted it may be: as a share of the pages that are cut, and in
/// pages.
const LEEWAY: (f64, f64) = (0.15, 1.5);

/// The boundaries in the order of keys, without the listing's prefix.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// With the pages up to each.
    boundaries: Vec<(String, f64)>,
}

impl Known {
    /// In a listing with this prefix and so many keys a page.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    pub(super) fn new(boundaries: Vec<Boundary>, prefix: &str, page_size: u32) -> Self {
        let mut keys = 0;
        let boundaries = boundaries.into_iter().filter_map(|boundary| {
            keys = boundary.keys.saturating_add(keys);
            let pages = keys as f64 / f64::from(page_size.max(1));
            Some((boundary.key.strip_prefix(prefix)?.to_owned(), pages))
        });
        let mut boundaries: Vec<_> = boundaries.collect();
        // What is in no order is of no use.
        boundaries.dedup_by(|later, earlier| later.0 <= earlier.0 || later.1 <= earlier.1);
        Self { boundaries }
    }

    /// Pages up to the beginning of a segment, about, and up to the last boundary in it.
    pub(super) fn within(&self, segment: &Segment) -> (f64, f64) {
        let up_to = |count: usize| count.checked_sub(1).map_or(0.0, |last| self.boundaries[last].1);
        let before = self.boundaries.partition_point(|(key, _)| *key <= segment.after);
        let through = segment.through.as_deref();
        let end =
            self.boundaries.partition_point(|(key, _)| through.is_none_or(|it| key.as_str() < it));
        (up_to(before), up_to(end))
    }

    /// Pages from one boundary to the next.
    #[expect(clippy::cast_precision_loss, reason = "few")]
    pub(super) fn mean_pages(&self) -> f64 {
        self.boundaries.last().map_or(0.0, |(_, pages)| *pages)
            / self.boundaries.len().max(1) as f64
    }

    /// The boundary at the end of a segment that begins after `from` pages and is to have so many,
    /// with the pages up to it.
    pub(super) fn next(&self, from: f64, pages: f64) -> Option<(&str, f64)> {
        let behind = self.boundaries.partition_point(|(_, up_to)| *up_to <= from);
        let boundaries = self.boundaries.get(behind..)?;
        let off = |up_to: f64| (up_to - from - pages).abs();
        let (key, up_to) = best(boundaries, pages, off, |up_to| unused(up_to - from))?;
        Some((key, *up_to))
    }

    /// Where a segment with so many pages left has about half of them before and behind, and the
    /// pages behind.
    pub(super) fn middle(&self, segment: &Segment, pages: f64) -> Option<(String, f64)> {
        let through = segment.through.as_deref()?;
        let first = self.boundaries.partition_point(|(key, _)| *key <= segment.after);
        let end = self.boundaries.partition_point(|(key, _)| key.as_str() < through);
        let all = self.boundaries.get(end).filter(|(key, _)| key == through)?.1;
        let inside = self.boundaries.get(first..end)?;
        let off = |up_to: f64| (all - up_to - pages / 2.0).abs();
        let unused = |up_to: f64| unused(all - up_to) + unused(pages - (all - up_to));
        let (key, up_to) = best(inside, pages, off, unused)?;
        Some((key.clone(), all - up_to))
    }
}

/// Of boundaries that are off by little, the one that leaves the least unused; else the least off.
fn best(
    boundaries: &[(String, f64)],
    pages: f64,
    off: impl Fn(f64) -> f64,
    unused: impl Fn(f64) -> f64,
) -> Option<&(String, f64)> {
    let leeway = (pages * LEEWAY.0).max(LEEWAY.1.min(pages / 2.0));
    let near = boundaries.iter().filter(|(_, up_to)| off(*up_to) <= leeway);
    let near = near.min_by(|one, other| unused(one.1).total_cmp(&unused(other.1)));
    near.or_else(|| boundaries.iter().min_by(|one, other| off(one.1).total_cmp(&off(other.1))))
}

/// What is not used of the last of so many pages.
fn unused(pages: f64) -> f64 {
    let used = pages.fract();
    if used < 1e-9 { 1.0 } else { 1.0 - used }
}
