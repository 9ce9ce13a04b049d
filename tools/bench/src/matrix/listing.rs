//! Names, sizes and times of objects, as our own reader lists them: what a run has left on a
//! server, and which objects it has written where the server does not count requests.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

/// Between two looks at the clock.
const LOOK: Duration = Duration::from_millis(20);

/// Objects below a prefix; their names are without it.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    objects: BTreeMap<String, Object>,
}

#[derive(Debug, PartialEq)]
struct Object {
    bytes: u64,
    modified: String,
}

impl Listing {
    /// The columns that it is read from.
    pub(super) const COLUMNS: &'static str = "--fields=key,size,last_modified";

    /// Reads lines of these columns.
    pub(super) fn parse(text: &str, prefix: &str) -> Result<Self> {
        let object = |line: &str| {
            let mut columns = line.split('\t');
            let name = columns.next()?.strip_prefix(prefix)?.to_owned();
            let bytes = columns.next()?.parse().ok()?;
            Some((name, Object { bytes, modified: columns.next()?.to_owned() }))
        };
        let object =
            |line| object(line).with_context(|| format!("`{line}` is no line of a listing"));
        Ok(Self { objects: text.lines().map(object).collect::<Result<_>>()? })
    }

    /// Names and sizes.
    pub(crate) fn sizes(&self) -> BTreeMap<String, u64> {
        self.objects.iter().map(|(name, object)| (name.clone(), object.bytes)).collect()
    }

    /// Names that this has not, or with another size or time.
    pub(super) fn written_since(&self, before: &Self) -> BTreeSet<String> {
        let is_other = |(name, object): &(&String, &Object)| {
            before.objects.get(*name).is_none_or(|old| old != *object)
        };
        self.objects.iter().filter(is_other).map(|(name, _)| name.clone()).collect()
    }
}

/// Waits until the clock shows another second.
pub(super) fn wait_for_another_second() -> Result<()> {
    let second = now_s()?;
    while now_s()? <= second {
        std::thread::sleep(LOOK);
    }
    Ok(())
}

fn now_s() -> Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_seen_by_its_time_and_its_size() {
        let before = Listing::parse("p/a\t1\tT1\np/b\t2\tT1\np/c\t3\tT1\n", "p/").unwrap();
        let after = Listing::parse("p/a\t1\tT1\np/b\t2\tT2\np/c\t4\tT1\np/d\t0\tT1\n", "p/");
        let after = after.unwrap();
        assert!(before.written_since(&before).is_empty());
        let written: Vec<String> = after.written_since(&before).into_iter().collect();
        assert_eq!(written, ["b", "c", "d"]);
        assert_eq!(before.sizes()["c"], 3);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_an_error() {
        for bad in ["p/a\t1", "p/a\tx\tT", "q/a\t1\tT"] {
            assert!(Listing::parse(bad, "p/").is_err(), "{bad}");
        }
    }
}
