//! Where an earlier listing found keys: places to cut at without a guess.
//!
//! A segment costs a request more than its keys fill pages where its last page is not full. So of
//! places that are equally good for the balance that one is taken up to which the pages are nearly
//! full; not quite, or another request would be needed to see that there is nothing more.

use super::segment::Segment;
use crate::parts::Parts;

/// How far from where a cut is wanted it may be, in parts of the pages that are cut, and in pages.
const LEEWAY: (f64, f64) = (0.15, 1.5);

/// The ends of parts in the order of keys, without the listing's prefix.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// With the pages up to each.
    ends: Vec<(String, f64)>,
}

impl Known {
    /// Of the parts of a listing with this prefix and so many keys a page.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    pub(super) fn new(parts: Parts, prefix: &str, page_size: u32) -> Self {
        let mut keys = 0;
        let ends = parts.into_iter().filter_map(|part| {
            keys = part.keys.saturating_add(keys);
            let pages = keys as f64 / f64::from(page_size.max(1));
            Some((part.through.strip_prefix(prefix)?.to_owned(), pages))
        });
        let mut ends: Vec<_> = ends.collect();
        // What is in no order is of no use.
        ends.dedup_by(|later, earlier| later.0 <= earlier.0 || later.1 <= earlier.1);
        Self { ends }
    }

    /// Pages up to the beginning of a segment, about, and up to the last end in it.
    pub(super) fn within(&self, segment: &Segment) -> (f64, f64) {
        let up_to = |ends: usize| ends.checked_sub(1).map_or(0.0, |last| self.ends[last].1);
        let before = self.ends.partition_point(|(key, _)| *key <= segment.after);
        let through = segment.through.as_deref();
        let end = self.ends.partition_point(|(key, _)| through.is_none_or(|it| key.as_str() < it));
        (up_to(before), up_to(end))
    }

    /// Pages from one end to the next.
    #[expect(clippy::cast_precision_loss, reason = "few")]
    pub(super) fn mean_pages(&self) -> f64 {
        self.ends.last().map_or(0.0, |(_, pages)| *pages) / self.ends.len().max(1) as f64
    }

    /// The end of a segment that begins after `from` pages and is to have so many, with the pages
    /// up to it.
    pub(super) fn next(&self, from: f64, pages: f64) -> Option<(&str, f64)> {
        let behind = self.ends.partition_point(|(_, up_to)| *up_to <= from);
        let ends = self.ends.get(behind..)?;
        let off = |up_to: f64| (up_to - from - pages).abs();
        let (key, up_to) = best(ends, pages, off, |up_to| unused(up_to - from))?;
        Some((key, *up_to))
    }

    /// Where a segment with so many pages left has about half of them before and behind, and the
    /// pages behind.
    pub(super) fn middle(&self, segment: &Segment, pages: f64) -> Option<(String, f64)> {
        let through = segment.through.as_deref()?;
        let first = self.ends.partition_point(|(key, _)| *key <= segment.after);
        let end = self.ends.partition_point(|(key, _)| key.as_str() < through);
        let all = self.ends.get(end).filter(|(key, _)| key == through)?.1;
        let inside = self.ends.get(first..end)?;
        let off = |up_to: f64| (all - up_to - pages / 2.0).abs();
        let unused = |up_to: f64| unused(all - up_to) + unused(pages - (all - up_to));
        let (key, up_to) = best(inside, pages, off, unused)?;
        Some((key.clone(), all - up_to))
    }
}

/// Of ends that are off by little the one that leaves the least unused; else the least off.
fn best(
    ends: &[(String, f64)],
    pages: f64,
    off: impl Fn(f64) -> f64,
    unused: impl Fn(f64) -> f64,
) -> Option<&(String, f64)> {
    let leeway = (pages * LEEWAY.0).max(LEEWAY.1.min(pages / 2.0));
    let near = ends.iter().filter(|(_, up_to)| off(*up_to) <= leeway);
    let near = near.min_by(|one, other| unused(one.1).total_cmp(&unused(other.1)));
    near.or_else(|| ends.iter().min_by(|one, other| off(one.1).total_cmp(&off(other.1))))
}

/// What is not used of the last of so many pages.
fn unused(pages: f64) -> f64 {
    let used = pages.fract();
    if used < 1e-9 { 1.0 } else { 1.0 - used }
}
