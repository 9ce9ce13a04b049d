//! Many keys in one buffer, sorted and freed of duplicates.
//!
//! A key costs its bytes and 16 more. Sorting compares eight bytes of each key at a time, held
//! beside its place, so that it seldom goes to the keys themselves.

use std::io::{self, Write};

use anyhow::{Context, Result};

use support::dice::Dice;

/// Below this many keys, comparing them whole is quicker.
const SMALL: usize = 32;

/// Where a key lies, and eight of its bytes.
#[derive(Clone, Copy)]
struct Place {
    head: u64,
    start: u32,
    length: u16,
}

/// Keys, without the prefix that all of them share.
pub(super) struct KeySet {
    prefix: &'static str,
    bytes: Vec<u8>,
    places: Vec<Place>,
}

impl KeySet {
    pub(super) fn new(prefix: &'static str) -> Self {
        Self { prefix, bytes: Vec::new(), places: Vec::new() }
    }

    /// Number of keys, duplicates included until they are sorted out.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Adds a key.
    pub(super) fn add(&mut self, key: &str) -> Result<()> {
        let start = u32::try_from(self.bytes.len()).context("a key set holds at most 4 GiB")?;
        let length = u16::try_from(key.len()).context("a key has at most 1,024 bytes")?;
        self.bytes.extend_from_slice(key.as_bytes());
        self.places.push(Place { head: 0, start, length });
        Ok(())
    }

    /// Sorts the keys and drops duplicates.
    pub(super) fn sort(&mut self) {
        sort(&self.bytes, &mut self.places, 0);
        let bytes = &self.bytes;
        self.places.dedup_by(|a, b| key(bytes, *a) == key(bytes, *b));
    }

    /// Keeps at most so many keys, each with the same chance.
    pub(super) fn thin_out(&mut self, wanted: usize, dice: &mut Dice) {
        let (mut left, mut needed) = (self.places.len() as u64, wanted as u64);
        self.places.retain(|_| {
            let stays = needed > 0 && dice.below(left) < needed;
            left -= 1;
            needed -= u64::from(stays);
            stays
        });
    }

    /// Writes one key a line.
    pub(super) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        for place in &self.places {
            out.write_all(self.prefix.as_bytes())?;
            out.write_all(key(&self.bytes, *place))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

fn key(bytes: &[u8], place: Place) -> &[u8] {
    let start = place.start as usize;
    &bytes[start..start + usize::from(place.length)]
}

/// Sorts places by the bytes of their keys from a depth on.
fn sort(bytes: &[u8], places: &mut [Place], depth: usize) {
    if places.len() < SMALL {
        places.sort_unstable_by(|a, b| key(bytes, *a).cmp(key(bytes, *b)));
        return;
    }
    for place in &mut *places {
        place.head = head(key(bytes, *place), depth);
    }
    places.sort_unstable_by_key(|place| place.head);
    for same in places.chunk_by_mut(|a, b| a.head == b.head) {
        let next = depth + 8;
        if same.len() > 1 && same.iter().any(|place| usize::from(place.length) > next) {
            sort(bytes, same, next);
        }
    }
}

/// Eight bytes of a key; zeros, which no key holds, stand beyond its end.
fn head(key: &[u8], depth: usize) -> u64 {
    let mut head = [0; 8];
    let rest = key.get(depth..).unwrap_or_default();
    let length = rest.len().min(8);
    head[..length].copy_from_slice(&rest[..length]);
    u64::from_be_bytes(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_are_sorted_by_bytes_and_thinned_out_to_the_number() {
        let mut dice = Dice::new(3);
        let (mut set, mut wanted) = (KeySet::new(""), BTreeSet::new());
        for _ in 0..3000 {
            let length = dice.between(1, 30);
            let key: String = (0..length).map(|_| *dice.pick(&['a', 'b', 'é', '/'])).collect();
            set.add(&key).unwrap();
            wanted.insert(key);
        }
        set.sort();
        let mut text = Vec::new();
        set.write_to(&mut text).unwrap();
        let sorted: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
        assert_eq!(sorted, wanted.iter().map(String::as_str).collect::<Vec<_>>());
        set.thin_out(100, &mut dice);
        assert_eq!(set.len(), 100);
        set.thin_out(200, &mut dice);
        assert_eq!(set.len(), 100);
    }
}
