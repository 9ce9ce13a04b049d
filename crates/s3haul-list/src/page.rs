//! What the lister must know of a page, whatever is listed: its entries in order, and how to cut
//! it.

use crate::keyspace::ask::Keys;

/// A page of a listing: entries in the order of their keys, and common prefixes in theirs.
pub trait Page: Default + Send + Sync + 'static {
    /// Whether several entries may have one key, such as versions.
    const HAS_REPEATS: bool = false;

    /// Number of entries.
    fn count(&self) -> usize;
    /// Key of one of them.
    fn key(&self, index: usize) -> &str;
    /// The keys of all of them in order.
    fn keys(&self) -> impl Iterator<Item = &str> {
        (0..self.count()).map(|index| self.key(index))
    }
    /// Common prefixes.
    fn common_prefixes(&self) -> &[String];
    /// Keeps the first entries and common prefixes only.
    fn truncate(&mut self, entries: usize, common_prefixes: usize);
    /// Keeps the entries and common prefixes whose names are wanted.
    fn retain(&mut self, is_wanted: impl Fn(&str) -> bool);
    /// Bytes of memory, about.
    fn held_bytes(&self) -> usize;
}

/// A page of keys, each with a value such as a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPage<T = ()> {
    /// Keys in the order of their bytes, and what is known of them.
    pub entries: Vec<(String, T)>,
    /// Common prefixes in the order of their bytes.
    pub common_prefixes: Vec<String>,
}

impl<T> Default for KeyPage<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), common_prefixes: Vec::new() }
    }
}

impl<T: Send + Sync + 'static> Page for KeyPage<T> {
    fn count(&self) -> usize {
        self.entries.len()
    }

    fn key(&self, index: usize) -> &str {
        &self.entries[index].0
    }

    fn common_prefixes(&self) -> &[String] {
        &self.common_prefixes
    }

    fn truncate(&mut self, entries: usize, common_prefixes: usize) {
        self.entries.truncate(entries);
        self.common_prefixes.truncate(common_prefixes);
    }

    fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.entries.retain(|(key, _)| is_wanted(key));
        self.common_prefixes.retain(|name| is_wanted(name));
    }

    fn held_bytes(&self) -> usize {
        let names = self.entries.iter().map(|(key, _)| key).chain(&self.common_prefixes);
        let texts: usize = names.map(String::len).sum();
        texts
            + self.entries.len() * size_of::<(String, T)>()
            + self.common_prefixes.len() * size_of::<String>()
    }
}

/// The entries and groups of a page as one sequence in the order of their names.
pub(super) struct Merged<'a, P> {
    page: &'a P,
    /// Where there are groups: what stands at each place.
    slots: Vec<Slot>,
    /// Stands for a first group that begins before the place from which was listed: some of its
    /// keys lie after it.
    first: Option<String>,
}

#[derive(Clone, Copy)]
enum Slot {
    Entry(usize),
    Group(usize),
}

impl<'a, P: Page> Merged<'a, P> {
    /// A page that was listed from after `floor` on.
    pub(super) fn new(page: &'a P, floor: &str) -> Self {
        let groups = page.common_prefixes();
        let mut merged = Self { page, slots: Vec::new(), first: None };
        if groups.is_empty() {
            return merged;
        }
        merged.slots.reserve(page.count() + groups.len());
        let mut entry = 0;
        for (at, group) in groups.iter().enumerate() {
            while entry < page.count() && page.key(entry) < group.as_str() {
                merged.slots.push(Slot::Entry(entry));
                entry += 1;
            }
            merged.slots.push(Slot::Group(at));
        }
        merged.slots.extend((entry..page.count()).map(Slot::Entry));
        let is_open = matches!(merged.slots.first(), Some(Slot::Group(_)));
        if is_open && floor.starts_with(merged.key(0)) {
            merged.first = Some(format!("{floor}\0"));
        }
        merged
    }

    /// How many entries and groups are among the first `count`.
    pub(super) fn split(&self, count: usize) -> (usize, usize) {
        if self.slots.is_empty() {
            return (count, 0);
        }
        let kept = &self.slots[..count.min(self.slots.len())];
        let groups = kept.iter().filter(|slot| matches!(slot, Slot::Group(_))).count();
        (kept.len() - groups, groups)
    }

    /// The first name.
    pub(super) fn first(&self) -> Option<&str> {
        (!self.is_empty()).then(|| self.key(0))
    }

    /// The last name.
    pub(super) fn last(&self) -> Option<&str> {
        Some(self.key(self.len().checked_sub(1)?))
    }

    /// Whether each name is greater than the one before (or the same, for versions).
    pub(super) fn is_ascending(&self) -> bool {
        if self.slots.is_empty() {
            return ascends::<P>(self.page.keys());
        }
        ascends::<P>((0..self.len()).map(|at| self.key(at)))
    }
}

fn ascends<'a, P: Page>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let Some(mut before) = names.next() else { return true };
    names.all(|name| {
        let is_after = before < name || (P::HAS_REPEATS && before == name);
        before = name;
        is_after
    })
}

impl<P: Page> Keys for Merged<'_, P> {
    fn len(&self) -> usize {
        if self.slots.is_empty() { self.page.count() } else { self.slots.len() }
    }

    fn key(&self, index: usize) -> &str {
        match (&self.first, self.slots.get(index)) {
            (Some(first), _) if index == 0 => first,
            (_, None) => self.page.key(index),
            (_, Some(Slot::Entry(at))) => self.page.key(*at),
            (_, Some(Slot::Group(at))) => &self.page.common_prefixes()[*at],
        }
    }
}
