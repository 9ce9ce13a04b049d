//! What a listing learns for the next one of the same keys: where they are.
//!
//! A listing of unknown keys has to find out where to cut; one that knows keys between which so
//! many others lie begins everywhere at once. Where keys have come or gone meanwhile, a segment
//! takes more pages or fewer than expected: nothing depends on it but the time.
//!
//! Boundaries lie within pages, now here, now there. If they lay at the ends of pages, the numbers
//! of keys between most of them would be multiples of a page, and a segment of so many takes a
//! request more to see that there is nothing more.

use std::fmt;
use std::sync::Arc;

use crate::keyspace::Keys;
use crate::range::KeyRange;

/// Listings of fewer pages have nothing to gain.
const PAGES_MIN: u64 = 16;
/// Boundaries that are kept.
const BOUNDARIES_MAX: u64 = 2048;
/// Pages that are remembered one by one; beyond that neighbours are put together.
const RECORDS_MAX: usize = 1 << 14;

/// A key that was found, for the next listing of the same prefix:
/// [`ListRequest::boundaries`](crate::ListRequest). More keys may follow the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The key.
    pub key: String,
    /// Keys from the boundary before up to this one, itself included; each version counts.
    pub keys: u64,
}

/// Where keys are expected although no earlier listing found them: those of a bucket that is
/// compared with a folder, say, are expected where the folder has files. The function is called
/// once, after the first page, so that what became known while that was listed is used as well.
#[derive(Clone)]
pub struct Expected(Arc<dyn Fn() -> Vec<Boundary> + Send + Sync>);

impl Expected {
    /// Keys in ascending order, as the function returns them. It must not block.
    pub fn new(find: impl Fn() -> Vec<Boundary> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    pub(crate) fn boundaries(&self) -> Vec<Boundary> {
        (self.0)()
    }
}

impl fmt::Debug for Expected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Expected")
    }
}

/// A range of keys that was listed.
#[derive(Debug)]
struct CountedRange {
    after: String,
    through: Option<String>,
    keys: u64,
}

/// Notes the pages of a listing.
#[derive(Debug, Default)]
pub struct Recorder {
    listed: Vec<CountedRange>,
    keys: u64,
    /// Where the last page was cut, in 2^32nds of a page.
    place: u32,
    /// There were too many ranges that are no neighbours.
    is_lost: bool,
}

impl Recorder {
    /// Notes the first `count` keys of a page, which are all of a range.
    pub fn page(&mut self, covers: &KeyRange, keys: &dyn Keys, count: usize) {
        if self.is_lost || covers.through.as_ref() == Some(&covers.after) {
            return;
        }
        self.keys += count as u64;
        // Multiples of the golden ratio are far from each other, however many there are.
        self.place = self.place.wrapping_add(0x9E37_79B9);
        let place = (count as u64 * u64::from(self.place)) >> 32;
        let (mut after, mut from) = (covers.after.clone(), 0);
        for index in [place / 2, place / 2 + count as u64 / 2] {
            let Some(index) = usize::try_from(index).ok().filter(|index| *index + 1 < count) else {
                continue;
            };
            let key = keys.key(index);
            // Versions of one key stay together.
            if key <= after.as_str() || keys.key(index + 1) == key {
                continue;
            }
            let keys = (index + 1 - from) as u64;
            let before = std::mem::replace(&mut after, key.to_owned());
            self.listed.push(CountedRange { after: before, through: Some(key.to_owned()), keys });
            from = index + 1;
        }
        let (through, keys) = (covers.through.clone(), (count - from) as u64);
        self.listed.push(CountedRange { after, through, keys });
        if self.listed.len() >= RECORDS_MAX {
            self.halve();
            // Each segment is received in order: pages have neighbours.
            self.is_lost = self.listed.len() > RECORDS_MAX / 4 * 3;
        }
    }

    fn sort(&mut self) {
        self.listed.sort_unstable_by(|one, other| one.after.cmp(&other.after));
    }

    /// Puts pairs of neighbours together.
    fn halve(&mut self) {
        self.sort();
        let mut halved: Vec<CountedRange> = Vec::with_capacity(self.listed.len());
        let mut may_grow = false;
        for listed in self.listed.drain(..) {
            let before = halved.last_mut();
            let before =
                before.filter(|before| may_grow && before.through.as_ref() == Some(&listed.after));
            may_grow = before.is_none();
            match before {
                Some(before) => {
                    before.through = listed.through;
                    before.keys += listed.keys;
                }
                None => halved.push(listed),
            }
        }
        self.listed = halved;
    }

    /// The boundaries of what was listed to its end, with so many keys a page, if it was long.
    pub fn boundaries(mut self, page_size: u32) -> Vec<Boundary> {
        let pages = self.keys / u64::from(page_size.max(1));
        if pages < PAGES_MIN || self.is_lost {
            return Vec::new();
        }
        self.sort();
        let keys_min = (self.keys / BOUNDARIES_MAX).max(u64::from(page_size) / 4);
        let mut boundaries = Vec::new();
        let mut keys = 0;
        for listed in self.listed {
            keys += listed.keys;
            // The end has no last key, and needs none.
            if let Some(key) = listed.through.filter(|_| keys >= keys_min) {
                boundaries.push(Boundary { key, keys });
                keys = 0;
            }
        }
        boundaries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::PAGE_SIZE;

    fn covers(after: u64, through: u64) -> KeyRange {
        let through = (through < u64::MAX).then(|| format!("{through:09}"));
        KeyRange { after: format!("{after:09}"), through }
    }

    struct Page(Vec<String>);

    impl Keys for Page {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn key(&self, index: usize) -> &str {
            &self.0[index]
        }
    }

    fn note(recorder: &mut Recorder, after: u64, through: u64) {
        let last = through.min(after + 1000);
        let page = Page((after + 1..=last).map(|key| format!("{key:09}")).collect());
        recorder.page(&covers(after, through), &page, page.len());
    }

    /// Pages that begin so many keys after one another, in any order.
    fn recorded(mut pages: Vec<(u64, u64)>) -> Vec<Boundary> {
        let mut recorder = Recorder::default();
        fastrand::Rng::with_seed(3).shuffle(&mut pages);
        for (after, through) in pages {
            note(&mut recorder, after, through);
        }
        recorder.boundaries(PAGE_SIZE)
    }

    #[test]
    fn boundaries_lie_anywhere_and_know_the_keys_before_them() {
        let boundaries = recorded((0..100).map(|n| (n * 1000, (n + 1) * 1000)).collect());
        assert!((150..=300).contains(&boundaries.len()), "{}", boundaries.len());
        let (mut before, mut tenths) = (0, [0; 10]);
        for boundary in &boundaries {
            let through: usize = boundary.key.parse().unwrap();
            assert_eq!(boundary.keys, (through - before) as u64);
            before = through;
            tenths[through / 100 % 10] += 1;
        }
        assert!(tenths.iter().all(|count| *count < boundaries.len() / 3), "{tenths:?}");
    }

    #[test]
    fn short_listings_have_none() {
        assert_eq!(recorded(vec![(0, 900), (900, u64::MAX)]), []);
        assert_eq!(recorded((0..15).map(|n| (n * 1000, (n + 1) * 1000)).collect()), []);
    }

    #[test]
    fn memory_is_bounded_and_so_are_boundaries() {
        let mut recorder = Recorder::default();
        // Of 64 ranges at a time, each in order.
        for n in (0..625).flat_map(|n| (0..64).map(move |part| part * 625 + n)) {
            note(&mut recorder, n * 999, (n + 1) * 999);
            assert!(recorder.listed.len() < RECORDS_MAX);
        }
        let boundaries = recorder.boundaries(PAGE_SIZE);
        assert!((500..=1024).contains(&boundaries.len()), "{}", boundaries.len());
        assert!(boundaries.iter().map(|boundary| boundary.keys).sum::<u64>() > 39_000 * 999);
        assert!(boundaries.is_sorted_by_key(|boundary| &boundary.key));
    }
}
