//! Counts by name in bounded memory, for folders and extensions.
//!
//! A name is a path whose components end in `/`, or a word without one. Beyond a limit of names
//! the small ones go: their counts move to the folder above, at last to the root, so that sums
//! over a tree stay exact as far up as its folders are kept. A folder that went and comes back
//! misses what moved; since at most a threshold moves each time, what it can miss is bounded, and
//! a [`Bloom`] filter of all that went shows which folders can miss anything at all. Input needs
//! no order, and several of these merge into one with the same guarantees.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::bloom::Bloom;
use super::counts::Counts;

/// What is counted under a name: [`Counts`], or more.
pub(super) trait Weight: Clone + Default {
    /// Objects and bytes, which decide what is small.
    fn counts(&self) -> Counts;
    /// Adds what another has.
    fn absorb(&mut self, other: &Self);
}

impl Weight for Counts {
    fn counts(&self) -> Counts {
        *self
    }

    fn absorb(&mut self, other: &Self) {
        self.merge(*other);
    }
}

/// What is known of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Group<W = Counts> {
    /// Counted under this very name.
    pub(super) own: W,
    /// Moved here from names below.
    pub(super) merged: W,
    /// What may have moved away from here at most.
    pub(super) missing: Counts,
}

impl<W: Weight> Group<W> {
    fn counts(&self) -> Counts {
        self.own.counts().plus(self.merged.counts())
    }

    /// All that is counted here.
    pub(super) fn weight(&self) -> W {
        let mut weight = self.own.clone();
        weight.absorb(&self.merged);
        weight
    }

    fn merge(&mut self, other: &Self) {
        self.own.absorb(&other.own);
        self.merged.absorb(&other.merged);
        self.missing.merge(other.missing);
    }
}

/// Counts by name.
#[derive(Clone, Debug)]
pub(super) struct Groups<W = Counts> {
    groups: HashMap<Box<str>, Group<W>>,
    root: Group<W>,
    /// Sum of the thresholds so far: what a name that always went can miss.
    moved_max: Counts,
    gone: Bloom,
    limit: usize,
}

impl<W: Weight> Groups<W> {
    /// Keeps so many names at most.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            groups: HashMap::new(),
            root: Group::default(),
            moved_max: Counts::default(),
            gone: Bloom::default(),
            limit: limit.max(1),
        }
    }

    /// Adds counts to a name; the empty one is the root.
    pub(super) fn add(&mut self, name: &str, weight: &W) {
        if name.is_empty() {
            return self.root.own.absorb(weight);
        }
        if let Some(group) = self.groups.get_mut(name) {
            return group.own.absorb(weight);
        }
        let missing = self.missing_of(name);
        let group = Group { own: weight.clone(), missing, ..Group::default() };
        self.groups.insert(name.into(), group);
        self.prune();
    }

    /// Adds all of another.
    pub(super) fn merge(&mut self, mut other: Self) {
        self.root.merge(&other.root);
        for (name, group) in &mut self.groups {
            if !other.groups.contains_key(name) {
                group.missing.merge(other.missing_of(name));
            }
        }
        let mut groups = std::mem::take(&mut other.groups);
        for (name, theirs) in groups.drain() {
            let missing = self.missing_of(&name);
            match self.groups.entry(name) {
                Entry::Occupied(mut mine) => mine.get_mut().merge(&theirs),
                Entry::Vacant(place) => place.insert(theirs).missing.merge(missing),
            }
        }
        self.gone.merge(&other.gone);
        self.moved_max.merge(other.moved_max);
        self.prune();
    }

    /// The root: what has no name, and what was merged into it.
    pub(super) fn root(&self) -> &Group<W> {
        &self.root
    }

    /// Names and what is known of them, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Group<W>)> {
        self.groups.iter().map(|(name, group)| (&**name, group))
    }

    /// Changes all that is counted; what is large must stay so.
    pub(super) fn for_each_mut(&mut self, mut change: impl FnMut(&mut W)) {
        for group in self.groups.values_mut().chain([&mut self.root]) {
            change(&mut group.own);
            change(&mut group.merged);
        }
    }

    /// Whether any name was merged into another.
    pub(super) fn is_merged(&self) -> bool {
        !self.moved_max.is_empty()
    }

    /// What a name that is not kept may miss at most.
    pub(super) fn missing_of(&self, name: &str) -> Counts {
        if self.gone.may_contain(name) { self.moved_max } else { Counts::default() }
    }

    fn prune(&mut self) {
        while self.groups.len() > self.limit {
            self.move_small_ones_up();
        }
    }

    /// Keeps the greatest eighth by bytes and by objects each, and folders that become as great
    /// by what moves into them: at most five eighths in all, because each of these takes in two
    /// others at least.
    fn move_small_ones_up(&mut self) {
        let rank = self.limit / 8;
        let bytes = nth_greatest(self.groups.values().map(|group| group.counts().bytes), rank);
        let objects = nth_greatest(self.groups.values().map(|group| group.counts().objects), rank);
        let is_small =
            |group: &Group<W>| group.counts().bytes <= bytes && group.counts().objects <= objects;
        let deepest = self.groups.keys().map(|name| depth(name)).max().unwrap_or(0);
        for level in (1..=deepest).rev() {
            let small =
                self.groups.extract_if(|name, group| depth(name) == level && is_small(group));
            let small: Vec<_> = small.collect();
            for (name, group) in small {
                self.move_up(&name, &group.weight());
                self.gone.insert(&name);
            }
        }
        self.moved_max.merge(Counts { objects, bytes });
    }

    fn move_up(&mut self, name: &str, weight: &W) {
        let parent = parent(name);
        if parent.is_empty() {
            self.root.merged.absorb(weight);
        } else if let Some(group) = self.groups.get_mut(parent) {
            group.merged.absorb(weight);
        } else {
            let missing = self.missing_of(parent);
            let group = Group { merged: weight.clone(), missing, ..Group::default() };
            self.groups.insert(parent.into(), group);
        }
    }
}

/// The value that `rank` others exceed or equal; 0 where there are not so many.
fn nth_greatest(values: impl Iterator<Item = u64>, rank: usize) -> u64 {
    let mut values: Vec<u64> = values.collect();
    if rank >= values.len() {
        return 0;
    }
    *values.select_nth_unstable_by(rank, |a, b| b.cmp(a)).1
}

/// Components of a name.
pub(super) fn depth(name: &str) -> usize {
    memchr::memchr_iter(b'/', name.as_bytes()).count().max(1)
}

/// The folder above; empty for the root.
pub(super) fn parent(name: &str) -> &str {
    let name = name.strip_suffix('/').unwrap_or(name);
    name.rfind('/').map_or("", |at| &name[..=at])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    /// Exact counts of the trees below all folders.
    fn trees(rows: &[(String, u64)]) -> BTreeMap<String, Counts> {
        let mut trees: BTreeMap<String, Counts> = BTreeMap::new();
        for (name, bytes) in rows {
            let mut name = name.as_str();
            loop {
                trees.entry(name.to_owned()).or_default().add(*bytes);
                if name.is_empty() {
                    break;
                }
                name = parent(name);
            }
        }
        trees
    }

    /// The same from what was kept.
    fn kept_trees(groups: &Groups) -> BTreeMap<String, Counts> {
        let mut trees = BTreeMap::from([(String::new(), groups.root().weight())]);
        for (name, group) in groups.iter() {
            let mut name = name;
            loop {
                trees.entry(name.to_owned()).or_default().merge(group.weight());
                if name.is_empty() {
                    break;
                }
                name = parent(name);
            }
        }
        trees
    }

    fn check(groups: &Groups, rows: &[(String, u64)]) {
        let (exact, kept) = (trees(rows), kept_trees(groups));
        assert!(groups.groups.len() <= groups.limit);
        assert_eq!(kept.get(""), exact.get("").or(Some(&Counts::default())), "the total");
        for (name, counts) in &kept {
            let known = groups.groups.get(name.as_str()).map(|group| group.missing);
            let missing = known.unwrap_or_else(|| groups.missing_of(name));
            let missing = if name.is_empty() { Counts::default() } else { missing };
            let exact = exact.get(name).copied().unwrap_or_default();
            assert!(counts.objects <= exact.objects && counts.bytes <= exact.bytes, "{name}");
            let most = counts.plus(missing);
            assert!(
                most.objects >= exact.objects && most.bytes >= exact.bytes,
                "{name} {missing:?}"
            );
        }
    }

    fn rows() -> impl Strategy<Value = Vec<(String, u64)>> {
        let name = prop::collection::vec(0..6_u32, 0..4).prop_map(|path| {
            path.iter().fold(String::new(), |path, component| format!("{path}{component}/"))
        });
        prop::collection::vec((name, 0..100_u64), 0..400)
    }

    proptest! {
        #[test]
        fn figures_are_short_by_no_more_than_reported(
            rows in rows(),
            limit in 1..300_usize,
            pieces in 1..5_usize,
        ) {
            let mut parts: Vec<Groups> = (0..pieces).map(|_| Groups::new(limit)).collect();
            for (index, (name, bytes)) in rows.iter().enumerate() {
                parts[index * 7 / 3 % pieces].add(name, &Counts::one(*bytes));
            }
            let mut whole = parts.pop().unwrap();
            for part in parts {
                whole.merge(part);
            }
            check(&whole, &rows);
        }
    }

    #[test]
    fn great_ones_stay_among_many_small_ones() {
        let mut groups = Groups::new(100);
        let mut rows = Vec::new();
        for n in 0..5_000 {
            rows.push((format!("small/{n}/"), 1));
            rows.push((format!("great/{}/", n % 3), 1_000));
        }
        for (name, bytes) in &rows {
            groups.add(name, &Counts::one(*bytes));
        }
        check(&groups, &rows);
        assert!(groups.is_merged());
        let kept = kept_trees(&groups);
        assert_eq!(kept["great/1/"], trees(&rows)["great/1/"], "never moved, so exact");
        assert_eq!(kept["small/"].objects, 5_000, "what moved went to the folder above");
    }
}
