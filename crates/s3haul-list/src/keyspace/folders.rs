//! Folders: names that are known, where they are known, and how many keys folders hold.

#![expect(clippy::cast_precision_loss, reason = "estimates need no more precision")]

use std::collections::BTreeMap;

use super::aged::Aged;
use super::mass::Span;
use super::model::Model;
use super::place::Place;
use super::utf8;
use crate::keyspace::ask::ProbeId;
use crate::keyspace::utf8::folder_of;

/// Folder names remembered; with more, those already listed are forgotten.
const NAMES_MAX: usize = 200_000;
/// Folders whose number of keys a name is remembered.
const SIZES_MAX: usize = 20_000;

pub(super) fn depth_of(folder: &str) -> usize {
    folder.bytes().filter(|byte| *byte == b'/').count()
}

/// What is known of one folder's names. Names are whole folders, ending in `/`.
#[derive(Debug, Default)]
struct Names {
    /// Sorted.
    names: Vec<String>,
    /// Ranges (after, through] in which all names are known; none: to the folder's end.
    known: Vec<(String, Option<String>)>,
}

/// Keys and boundaries between folders' names counted somewhere.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    keys: f64,
    boundaries: f64,
}

/// All that is known of folders.
#[derive(Debug)]
pub(super) struct Folders {
    known: BTreeMap<String, Names>,
    names: usize,
    asked: BTreeMap<ProbeId, (String, String)>,
    probes: u64,
    by_depth: Vec<Counted>,
    by_folder: Aged<Counted>,
}

impl Folders {
    pub(super) fn new() -> Self {
        Self {
            known: BTreeMap::new(),
            names: 0,
            asked: BTreeMap::new(),
            probes: 0,
            by_depth: Vec::new(),
            by_folder: Aged::new(SIZES_MAX),
        }
    }

    /// Requests for names so far.
    pub(super) fn probes(&self) -> u64 {
        self.probes
    }

    /// Folders of which a request for names is under way, with the key it begins after.
    pub(super) fn asked(&self) -> impl Iterator<Item = &(String, String)> {
        self.asked.values()
    }

    /// Notes a request for names.
    pub(super) fn ask(&mut self, folder: &str, after: &str) -> ProbeId {
        let probe = ProbeId(self.probes);
        self.probes += 1;
        self.asked.insert(probe, (folder.to_owned(), after.to_owned()));
        probe
    }

    /// Takes an answer; the names are known up to `truncated_at` or the folder's end.
    pub(super) fn answer(&mut self, probe: ProbeId, names: &[&str], truncated_at: Option<&str>) {
        let Some((folder, after)) = self.asked.remove(&probe) else { return };
        let entry = self.known.entry(folder.clone()).or_default();
        self.names -= entry.names.len();
        let new = names.iter().filter(|name| name.starts_with(&folder));
        entry.names.extend(new.map(|name| (*name).to_owned()));
        entry.names.sort();
        entry.names.dedup();
        self.names += entry.names.len();
        let through = truncated_at.map(str::to_owned);
        entry.known.push((after.max(folder), through));
        merge(&mut entry.known);
    }

    /// Whether there is room for more names.
    pub(super) fn has_room(&self) -> bool {
        self.names < NAMES_MAX
    }

    /// Forgets names for which `is_needed` is false once there are too many.
    pub(super) fn forget(&mut self, mut is_needed: impl FnMut(&str) -> bool) {
        for entry in self.known.values_mut() {
            entry.names.retain(|name| is_needed(name));
        }
        self.known.retain(|_, entry| !entry.names.is_empty());
        self.names = self.known.values().map(|entry| entry.names.len()).sum();
    }

    /// Whether anything is known of the folder's names.
    pub(super) fn is_known(&self, folder: &str) -> bool {
        self.known.contains_key(folder)
    }

    /// Known names in a folder, after a key and before another.
    pub(super) fn names(&self, folder: &str, after: &str, before: Option<&str>) -> &[String] {
        let Some(entry) = self.known.get(folder) else { return &[] };
        let from = entry.names.partition_point(|name| name.as_str() <= after);
        let to = before.map_or(entry.names.len(), |before| {
            entry.names.partition_point(|name| name.as_str() < before)
        });
        &entry.names[from..to.max(from)]
    }

    /// The first point from `key` on after which names are not known; none: all are, to the
    /// folder's end.
    pub(super) fn unknown_from<'a>(&'a self, folder: &str, key: &'a str) -> Option<&'a str> {
        let ranges = self.known.get(folder).map_or(&[][..], |entry| &entry.known);
        let range = ranges.iter().find(|(from, through)| {
            from.as_str() <= key && through.as_deref().is_none_or(|through| key < through)
        });
        range.map_or(Some(key), |(_, through)| through.as_deref())
    }

    /// How many names to expect between two keys, from how dense they are where they are known.
    pub(super) fn expected(&self, model: &Model, span: &Span<'_>, folder: &str) -> f64 {
        let Some(entry) = self.known.get(folder) else { return 0.0 };
        let (mut names, mut mass) = (0, 0.0);
        for (from, through) in &entry.known {
            let through = through.as_deref();
            let count = self.names(folder, from, through).len();
            if count > 0 {
                names += count;
                let end = through.map_or(1.0, |through| model.position(folder, through));
                mass += end - model.position(folder, from);
            }
        }
        if names < 2 || mass <= 0.0 {
            return 0.0;
        }
        let end = span.through.map_or(1.0, |through| model.position(folder, through));
        names as f64 * (end - model.position(folder, span.from)).max(0.0) / mass
    }

    /// Counts a page's keys and the boundaries between folders in it. Gives the number of names
    /// seen in the folder that the page did not leave, 0 where that was less than two.
    pub(super) fn count_page<'a>(
        &mut self,
        first: &'a str,
        last: &str,
        keys: impl ExactSizeIterator<Item = &'a str>,
    ) -> f64 {
        let count = keys.len() as f64;
        let boundaries = boundaries_by_depth(keys);
        let within = folder_of(first, utf8::common_prefix(first, last));
        let names = boundaries.get(depth_of(within) + 1).copied().unwrap_or(0.0);
        self.by_folder.touch(Place::after(within.as_bytes()).folder()).boundaries += names;
        let mut folder = within;
        loop {
            self.by_folder.touch(Place::after(folder.as_bytes()).folder()).keys += count;
            if folder.is_empty() {
                break;
            }
            folder = folder_of(folder, folder.len() - 1);
        }
        let depth = boundaries.len().max(depth_of(last) + 1);
        if self.by_depth.len() < depth {
            self.by_depth.resize(depth, Counted::default());
        }
        for (depth, counted) in self.by_depth.iter_mut().enumerate().take(depth) {
            counted.keys += count;
            counted.boundaries += boundaries.get(depth).copied().unwrap_or(0.0);
        }
        self.by_folder.advance();
        names
    }

    /// Keys to expect for each name in a folder: from this folder and from others as deep.
    pub(super) fn keys_each(&self, folder: &str, page_keys: f64) -> f64 {
        let all = self.by_depth.get(depth_of(folder) + 1).copied().unwrap_or_default();
        let others = (all.keys + page_keys) / (all.boundaries + 1.0);
        let own = self.by_folder.get(Place::after(folder.as_bytes()).folder());
        let own = own.copied().unwrap_or_default();
        (own.keys + others) / (own.boundaries + 1.0)
    }
}

/// For each depth how often a name at that depth follows another.
fn boundaries_by_depth<'a>(keys: impl Iterator<Item = &'a str>) -> Vec<f64> {
    let mut boundaries = Vec::new();
    let mut previous: Option<&str> = None;
    for key in keys {
        if let Some(folder) = previous
            && key.starts_with(folder)
            && memchr::memchr(b'/', &key.as_bytes()[folder.len()..]).is_none()
        {
            continue;
        }
        let folder = folder_of(key, key.len());
        if let Some(previous) = previous {
            let common = utf8::common_prefix(previous, folder);
            let common = depth_of(folder_of(folder, common));
            let depth = depth_of(folder);
            if boundaries.len() <= depth {
                boundaries.resize(depth + 1, 0.0);
            }
            boundaries[common + 1..].iter_mut().take(depth - common).for_each(|it| *it += 1.0);
        }
        previous = Some(folder);
    }
    boundaries
}

/// Sorts ranges and joins those that touch.
fn merge(ranges: &mut Vec<(String, Option<String>)>) {
    ranges.sort();
    let mut merged: Vec<(String, Option<String>)> = Vec::with_capacity(ranges.len());
    for (from, through) in ranges.drain(..) {
        match merged.last_mut() {
            Some((_, last)) if last.as_ref().is_none_or(|last| from <= *last) => {
                if last.is_some() && (through.is_none() || through > *last) {
                    *last = through;
                }
            }
            _ => merged.push((from, through)),
        }
    }
    *ranges = merged;
}
