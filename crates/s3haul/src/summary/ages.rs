//! Objects by the time since they were written.

use super::counts::Counts;

const DAY_S: i64 = 24 * 3600;

/// Names of the ages and the days that end them, the day itself excluded; the last has no end.
pub const AGE_LIMITS: [(&str, Option<i64>); 10] = [
    ("day", Some(1)),
    ("week", Some(7)),
    ("month", Some(30)),
    ("quarter", Some(91)),
    ("year", Some(365)),
    ("2 years", Some(2 * 365)),
    ("3 years", Some(3 * 365)),
    ("5 years", Some(5 * 365)),
    ("10 years", Some(10 * 365)),
    ("older", None),
];

/// The ends of all ages but the last, in seconds.
const ENDS_S: [i64; AGE_LIMITS.len() - 1] = {
    let mut ends_s = [0; AGE_LIMITS.len() - 1];
    let mut age = 0;
    while age < ends_s.len() {
        ends_s[age] = match AGE_LIMITS[age].1 {
            Some(days) => days * DAY_S,
            None => i64::MAX,
        };
        age += 1;
    }
    ends_s
};

/// Which of [`AGE_LIMITS`] an age belongs to.
pub fn age_index(age_s: i64) -> usize {
    ENDS_S.partition_point(|end_s| age_s >= *end_s)
}

/// Counts by age, relative to a time that is given. What is newer than that is of age zero.
#[derive(Clone, Debug)]
pub(super) struct Ages {
    now_s: i64,
    counts: [Counts; AGE_LIMITS.len()],
}

impl Ages {
    pub(super) fn new(now_s: i64) -> Self {
        Self { now_s, counts: [Counts::default(); AGE_LIMITS.len()] }
    }

    pub(super) fn add(&mut self, modified_s: i64, size: u64) {
        self.counts[age_index(self.now_s.saturating_sub(modified_s))].add(size);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            mine.merge(theirs);
        }
    }

    /// All ages, the youngest first, also those of no object.
    pub(super) fn counts(&self) -> [Counts; AGE_LIMITS.len()] {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_ends_before_its_last_day() {
        let now_s = 2_000_000_000;
        let index_of = |age_s: i64| {
            let mut ages = Ages::new(now_s);
            ages.add(now_s - age_s, 1);
            ages.counts().iter().position(|counts| counts.objects == 1).unwrap()
        };
        for (age_s, name) in [
            (-5, "day"),
            (0, "day"),
            (DAY_S - 1, "day"),
            (DAY_S, "week"),
            (7 * DAY_S, "month"),
            (364 * DAY_S, "year"),
            (365 * DAY_S, "2 years"),
            (3651 * DAY_S, "older"),
            (i64::MAX, "older"),
        ] {
            assert_eq!(AGE_LIMITS[index_of(age_s)].0, name, "{age_s}");
        }
    }
}
