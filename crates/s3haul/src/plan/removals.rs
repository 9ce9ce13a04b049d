//! The guard before `sync --delete` and `rm`: how many removals there may be.

/// How many removals a job may do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RemovalLimit {
    /// Any number.
    #[default]
    None,
    /// So many.
    Count(u64),
    /// So many of a hundred names in the target.
    Percent(f64),
}

impl RemovalLimit {
    /// Whether `wanted` removals among `names` are within it.
    pub fn allows(self, wanted: u64, names: u64) -> bool {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 names")]
            Self::Percent(percent) => wanted as f64 * 100.0 <= percent * names as f64,
            Self::Count(count) => wanted <= count,
            Self::None => true,
        }
    }
}

/// What may be done with a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Remove it now.
    Now,
    /// Ask again when all of the target has been seen.
    Later,
    /// Never: the limit is reached.
    Refused,
}

/// Counts removals against a limit.
#[derive(Debug)]
pub struct RemovalGuard {
    limit: RemovalLimit,
    allowed: u64,
}

impl RemovalGuard {
    /// A guard that has allowed nothing yet.
    pub fn new(limit: RemovalLimit) -> Self {
        Self { limit, allowed: 0 }
    }

    /// A guard of a job of which an earlier run did some removals.
    #[must_use]
    pub fn after(self, removed: u64) -> Self {
        Self { allowed: self.allowed + removed, ..self }
    }

    /// Asks for one removal.
    pub fn ask(&mut self) -> Permit {
        match self.limit {
            RemovalLimit::Count(limit) if self.allowed >= limit => return Permit::Refused,
            RemovalLimit::Percent(_) => return Permit::Later,
            RemovalLimit::Count(_) | RemovalLimit::None => self.allowed += 1,
        }
        Permit::Now
    }

    /// Whether `held` removals of a target of `names` are within a limit in percent.
    pub fn allows_all(&self, held: u64, names: u64) -> bool {
        // What counts names was asked for each of them.
        !matches!(self.limit, RemovalLimit::Percent(_)) || self.limit.allows(held, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_never_exceeded() {
        let mut guard = RemovalGuard::new(RemovalLimit::Count(2));
        let asked: Vec<_> = (0..4).map(|_| guard.ask()).collect();
        assert_eq!(asked, [Permit::Now, Permit::Now, Permit::Refused, Permit::Refused]);
        assert_eq!(RemovalGuard::new(RemovalLimit::Count(0)).ask(), Permit::Refused);
    }

    #[test]
    fn a_percentage_waits_for_the_whole_target() {
        let mut guard = RemovalGuard::new(RemovalLimit::Percent(10.0));
        assert_eq!(guard.ask(), Permit::Later);
        assert!(guard.allows_all(10, 100));
        assert!(!guard.allows_all(11, 100));
        assert!(guard.allows_all(0, 0));
        assert!(!RemovalGuard::new(RemovalLimit::Percent(0.5)).allows_all(1, 199));
    }

    #[test]
    fn what_was_counted_before_is_within_a_limit_or_not() {
        let allows = |limit: RemovalLimit, wanted| limit.allows(wanted, 10);
        assert_eq!([2, 3].map(|n| allows(RemovalLimit::Count(2), n)), [true, false]);
        assert_eq!([2, 3].map(|n| allows(RemovalLimit::Percent(20.0), n)), [true, false]);
        assert!(allows(RemovalLimit::None, 10) && allows(RemovalLimit::Count(0), 0));
    }

    #[test]
    fn without_a_limit_all_go() {
        let mut guard = RemovalGuard::new(RemovalLimit::None);
        assert!((0..1000).all(|_| guard.ask() == Permit::Now));
    }
}
