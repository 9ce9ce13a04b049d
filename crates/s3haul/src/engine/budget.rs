//! The bytes of object data that a job may hold in memory.
//!
//! One semaphore for the whole job, counted in units of 16 KiB so that any budget fits. A share is
//! acquired in one step before the bytes are read or received, and travels with them: a task
//! holding budget never waits for more of it, nor does a task holding a request permit wait for
//! budget, so the two cannot deadlock.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use s3haul_wire::units::KIB;

/// Bytes a unit.
const UNIT_BYTES: u64 = 16 * KIB;

/// Bytes that may be held at once.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    units: Arc<Semaphore>,
    units_total: u32,
}

/// Leave to hold some bytes; given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    permit: OwnedSemaphorePermit,
}

impl Budget {
    /// A budget of at least one unit.
    pub(crate) fn new(bytes: u64) -> Self {
        let units_max = u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX);
        let units_total = units_of(bytes).min(units_max);
        Self { units: Arc::new(Semaphore::new(units_total as usize)), units_total }
    }

    /// Waits for leave to hold `bytes`. More than the whole budget counts as the whole budget, so
    /// that one part larger than it still goes, alone.
    pub(crate) async fn take(&self, bytes: u64) -> Share {
        self.take_units(units_of(bytes)).await
    }

    /// Acquires a share for `bytes` without waiting, for a caller that may already hold one.
    pub(crate) fn try_take(&self, bytes: u64) -> Option<Share> {
        let units = units_of(bytes).min(self.units_total);
        let permit = Arc::clone(&self.units).try_acquire_many_owned(units).ok()?;
        Some(Share { permit })
    }

    /// Waits for leave to hold several pieces that are later given back one by one.
    pub(crate) async fn take_all(&self, sizes: impl Iterator<Item = u64>) -> Share {
        let units = sizes.map(units_of).fold(0_u32, u32::saturating_add);
        self.take_units(units).await
    }

    async fn take_units(&self, units: u32) -> Share {
        let units = units.min(self.units_total);
        let permit = Arc::clone(&self.units)
            .acquire_many_owned(units)
            .await
            .expect("the semaphore of the budget is never closed");
        Share { permit }
    }

    /// Bytes that may be held at once.
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.units_total) * UNIT_BYTES
    }

    /// Bytes held by shares.
    pub(crate) fn taken_bytes(&self) -> u64 {
        let free = self.units.available_permits() as u64 * UNIT_BYTES;
        self.bytes().saturating_sub(free)
    }

    /// Bytes not held by any share.
    #[cfg(test)]
    pub(crate) fn free_bytes(&self) -> u64 {
        self.units.available_permits() as u64 * UNIT_BYTES
    }
}

impl Share {
    /// Splits off the part for one piece, or what is left of it.
    pub(crate) fn split(&mut self, bytes: u64) -> Self {
        let units = (units_of(bytes) as usize).min(self.permit.num_permits());
        let permit = self.permit.split(units).expect("no more than there is was asked for");
        Self { permit }
    }
}

/// What a piece counts in a budget: whole units.
pub(crate) fn counted(bytes: u64) -> u64 {
    u64::from(units_of(bytes)) * UNIT_BYTES
}

fn units_of(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT_BYTES).max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul_wire::units::MIB;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn a_part_larger_than_the_budget_goes_alone() {
        let budget = Budget::new(MIB);
        let share = budget.take(8 * MIB).await;
        assert_eq!(budget.free_bytes(), 0);
        assert!(timeout(Duration::from_secs(1), budget.take(1)).await.is_err());
        drop(share);
        assert_eq!(budget.free_bytes(), MIB);
    }

    #[tokio::test]
    async fn pieces_are_given_back_one_by_one() {
        let budget = Budget::new(MIB);
        let sizes = [1, 16 * KIB, 16 * KIB + 1];
        let mut all = budget.take_all(sizes.iter().copied()).await;
        let shares: Vec<_> = sizes.iter().map(|size| all.split(*size)).collect();
        assert_eq!(budget.free_bytes(), MIB - 4 * UNIT_BYTES);
        drop(all);
        drop(shares);
        assert_eq!(budget.free_bytes(), MIB);
    }

    #[tokio::test]
    async fn splitting_a_capped_share_never_fails() {
        let budget = Budget::new(2 * UNIT_BYTES);
        let mut all = budget.take_all([MIB, MIB].into_iter()).await;
        let first = all.split(MIB);
        let second = all.split(MIB);
        drop((all, first, second));
        assert_eq!(budget.free_bytes(), 2 * UNIT_BYTES);
    }
}
