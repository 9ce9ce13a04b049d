//! What a listing learns for the next one of the same keys: where they are.
//!
//! A listing of unknown keys has to find out where to cut; one that knows keys between which so
//! many others lie begins everywhere at once. Where keys have come or gone meanwhile, a part takes
//! more pages or fewer than expected: nothing depends on it but the time.
//!
//! Parts end within pages, now here, now there. If they ended where pages did, the numbers of keys
//! between most of them would be multiples of a page, and a segment of so many takes a request more
//! to see that there is nothing more.

use crate::keyspace::Keys;
use crate::range::KeyRange;

/// Keys a page where the request says nothing else.
pub(crate) const PAGE_SIZE: u32 = 1000;
/// Listings of fewer pages have nothing to gain.
const PAGES_MIN: u64 = 16;
/// Parts that are kept.
const PARTS_MAX: u64 = 2048;
/// Pages that are remembered one by one; beyond that neighbours are put together.
const RECORDS_MAX: usize = 1 << 14;

/// A part of the listed keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its last key.
    pub through: String,
    /// Keys in it, versions each by itself.
    pub keys: u64,
}

/// Parts that together are the keys up to the last of them, in the order of keys; more keys may
/// follow. For the next listing of the same prefix: [`ListRequest::parts`](crate::ListRequest).
pub type Parts = Vec<Part>;

/// A range of keys that was listed.
#[derive(Debug)]
struct Listed {
    after: String,
    through: Option<String>,
    keys: u64,
}

/// Notes the pages of a listing.
#[derive(Debug, Default)]
pub struct Recorder {
    listed: Vec<Listed>,
    keys: u64,
    /// Where the last page was cut, in parts of a page of 2^32.
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
            self.listed.push(Listed { after: before, through: Some(key.to_owned()), keys });
            from = index + 1;
        }
        let (through, keys) = (covers.through.clone(), (count - from) as u64);
        self.listed.push(Listed { after, through, keys });
        if self.listed.len() >= RECORDS_MAX {
            self.halve();
            // Each part of a listing is received in order: pages have neighbours.
            self.is_lost = self.listed.len() > RECORDS_MAX / 4 * 3;
        }
    }

    fn sort(&mut self) {
        self.listed.sort_unstable_by(|one, other| one.after.cmp(&other.after));
    }

    /// Puts pairs of neighbours together.
    fn halve(&mut self) {
        self.sort();
        let mut halved: Vec<Listed> = Vec::with_capacity(self.listed.len());
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

    /// The parts of what was listed to its end, with so many keys a page, if it was long.
    pub fn parts(mut self, page_size: u32) -> Parts {
        let pages = self.keys / u64::from(page_size.max(1));
        if pages < PAGES_MIN || self.is_lost {
            return Parts::new();
        }
        self.sort();
        let keys_min = (self.keys / PARTS_MAX).max(u64::from(page_size) / 4);
        let mut parts = Parts::new();
        let mut keys = 0;
        for listed in self.listed {
            keys += listed.keys;
            // The end has no last key, and needs none.
            if let Some(through) = listed.through.filter(|_| keys >= keys_min) {
                parts.push(Part { through, keys });
                keys = 0;
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn recorded(mut pages: Vec<(u64, u64)>) -> Parts {
        let mut recorder = Recorder::default();
        fastrand::Rng::with_seed(3).shuffle(&mut pages);
        for (after, through) in pages {
            note(&mut recorder, after, through);
        }
        recorder.parts(PAGE_SIZE)
    }

    #[test]
    fn parts_have_the_keys_up_to_their_ends_and_end_anywhere() {
        let parts = recorded((0..100).map(|n| (n * 1000, (n + 1) * 1000)).collect());
        assert!((150..=300).contains(&parts.len()), "{}", parts.len());
        let (mut before, mut tenths) = (0, [0; 10]);
        for part in &parts {
            let through: usize = part.through.parse().unwrap();
            assert_eq!(part.keys, (through - before) as u64);
            before = through;
            tenths[through / 100 % 10] += 1;
        }
        assert!(tenths.iter().all(|count| *count < parts.len() / 3), "{tenths:?}");
    }

    #[test]
    fn short_listings_have_none() {
        assert_eq!(recorded(vec![(0, 900), (900, u64::MAX)]), []);
        assert_eq!(recorded((0..15).map(|n| (n * 1000, (n + 1) * 1000)).collect()), []);
    }

    #[test]
    fn memory_is_bounded_and_parts_with_it() {
        let mut recorder = Recorder::default();
        // Of 64 parts at a time each in order.
        for n in (0..625).flat_map(|n| (0..64).map(move |part| part * 625 + n)) {
            note(&mut recorder, n * 999, (n + 1) * 999);
            assert!(recorder.listed.len() < RECORDS_MAX);
        }
        let parts = recorder.parts(PAGE_SIZE);
        assert!((500..=1024).contains(&parts.len()), "{}", parts.len());
        assert!(parts.iter().map(|part| part.keys).sum::<u64>() > 39_000 * 999);
        assert!(parts.is_sorted_by_key(|part| &part.through));
    }
}
