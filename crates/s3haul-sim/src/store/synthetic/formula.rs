//! Keys computed from their number, so that a thousand million of them need no memory.
//!
//! Each kind ascends with its number, so a search bisects the numbers.

use std::fmt::Write as _;

use super::{KeySource, Read, bisect, is_before, mix};

/// Most keys: more would not all have the same number of digits, and so not ascend.
const COUNT_MAX: u64 = 1_000_000_000_000;

/// Kinds of formulas; each is ascending in its number.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Seq,
    Uuid,
    Dates,
    Deep,
    Hex,
}

/// Keys computed from their number.
#[derive(Debug)]
pub(super) struct Formula {
    kind: Kind,
    count: u64,
    seed: u64,
}

/// Reads `KIND:COUNT[:SEED][:size=BYTES]`; gives the formula and the size of its objects.
pub(super) fn parse_spec(spec: &str, default_size: u64) -> Option<(Formula, u64)> {
    let mut fields = spec.split(':');
    let kind = match fields.next()? {
        "seq" => Kind::Seq,
        "uuid" => Kind::Uuid,
        "dates" => Kind::Dates,
        "deep" => Kind::Deep,
        "hex" => Kind::Hex,
        _ => return None,
    };
    let count = fields.next()?.replace('_', "").parse().ok().filter(|count| *count <= COUNT_MAX)?;
    let (mut seed, mut size) = (0, default_size);
    for field in fields {
        match field.strip_prefix("size=") {
            Some(bytes) => size = bytes.parse().ok()?,
            None => seed = field.parse().ok()?,
        }
    }
    Some((Formula { kind, count, seed }, size))
}

impl Formula {
    fn key(&self, number: u64, key: &mut String) {
        key.clear();
        let written = match self.kind {
            Kind::Seq => write!(key, "key-{number:012}"),
            Kind::Hex => write!(key, "{:016x}", self.spread(number)),
            Kind::Uuid => self.write_uuid(number, key),
            Kind::Dates => self.write_date(number, key),
            Kind::Deep => write!(
                key,
                "d{:04}/e{:03}/f{:03}/file-{:03}.bin",
                number / 1_000_000_000,
                number / 1_000_000 % 1000,
                number / 1000 % 1000,
                number % 1000
            ),
        };
        written.expect("writing to a string cannot fail");
    }

    /// Spreads the numbers evenly over 64 bits, with a random place inside each step.
    fn spread(&self, number: u64) -> u64 {
        let step = u64::MAX / self.count.max(1);
        number * step + mix(self.seed ^ mix(number)) % step.max(1)
    }

    fn write_uuid(&self, number: u64, key: &mut String) -> std::fmt::Result {
        let (high, low) = (self.spread(number), mix(self.seed.wrapping_add(number) ^ 0x5bd1));
        write!(
            key,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    /// Ten years of folders by day, the objects spread over the days.
    fn write_date(&self, number: u64, key: &mut String) -> std::fmt::Result {
        const DAYS: u64 = 3653;
        let per_day = self.count.div_ceil(DAYS).max(1);
        let first = jiff::civil::date(2015, 1, 1);
        let day =
            first.saturating_add(jiff::Span::new().days(
                i64::try_from((number / per_day).min(DAYS)).expect("a few thousand days fit"),
            ));
        let (year, month, date) = (day.year(), day.month(), day.day());
        write!(key, "{year:04}/{month:02}/{date:02}/object-{:09}.dat", number % per_day)
    }
}

impl KeySource for Formula {
    fn seek(&self, target: &[u8], after: bool) -> u64 {
        let mut key = String::new();
        bisect(self.count, |number| {
            self.key(number, &mut key);
            is_before(key.as_bytes(), target, after)
        })
    }

    fn read<'a>(&'a self, position: u64, buffer: &'a mut String) -> Option<Read<'a>> {
        (position < self.count).then(|| {
            self.key(position, buffer);
            Read { key: buffer, size: None, next: position + 1 }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::all_keys;
    use super::super::{Entry, Seek, Step, Store as _, SyntheticStore};

    const KINDS: [&str; 5] = ["seq", "uuid", "dates", "deep", "hex"];

    #[test]
    fn every_formula_ascends_and_can_be_entered_anywhere() {
        for kind in KINDS {
            let store = SyntheticStore::from_spec(&format!("{kind}:5000:7"), "b", "r").unwrap();
            let keys = all_keys(&store, Seek::At(Vec::new()));
            assert_eq!(keys.len(), 5000, "{kind}");
            assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{kind}");
            let rest = all_keys(&store, Seek::After(keys[1234].clone().into_bytes()));
            assert_eq!(rest, keys[1235..], "{kind}");
            assert_eq!(store.versions("b", &keys[77]).unwrap().len(), 1, "{kind}");
        }
    }

    #[test]
    fn a_thousand_million_keys_are_entered_in_their_middle() {
        for kind in KINDS {
            let store = SyntheticStore::from_spec(&format!("{kind}:1_000_000_000"), "b", "r");
            let store = store.unwrap();
            let (mut shown, mut first) = (0, String::new());
            let mut visit = |entry: Entry<'_>| {
                shown += 1;
                if shown == 1 {
                    entry.key.clone_into(&mut first);
                }
                if shown == 10 { Step::Stop } else { Step::Next }
            };
            let middle = match kind {
                "seq" => "key-000500000000",
                "dates" => "2020",
                "deep" => "d0000/e500",
                _ => "8",
            };
            store.scan("b", Seek::At(middle.as_bytes().to_vec()), &mut visit).unwrap();
            assert_eq!(shown, 10, "{kind}");
            assert!(first.starts_with(middle), "{kind}: {first}");
        }
    }
}
