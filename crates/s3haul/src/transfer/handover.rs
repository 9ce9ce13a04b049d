//! Work on its way from who finds it to many who do it, a batch at a time.
//!
//! A channel wakes its sender whenever a place is free, and so once for each thing that it carries:
//! for an object of some KiB that is a few percent of the CPU it costs. Here a giver waits until
//! there is room for a whole batch. Takers are served in the order in which they ask, one thing
//! each time, so that nobody holds work while another has none.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

/// Who hands over. When the last clone is gone, takers are told so once nothing is left.
#[derive(Debug)]
pub(super) struct Giver<T>(Arc<Open<T>>);

/// Who takes.
#[derive(Debug)]
pub(super) struct Taker<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Open<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    queue: Mutex<VecDeque<T>>,
    /// A permit for each thing in the queue; closed when nothing more will come.
    filled: Semaphore,
    /// A permit for each free place.
    room: Semaphore,
}

/// Two ends of a queue with so many places.
pub(super) fn handover<T>(places: usize) -> (Giver<T>, Taker<T>) {
    let shared = Arc::new(Shared {
        queue: Mutex::default(),
        filled: Semaphore::new(0),
        room: Semaphore::new(places),
    });
    (Giver(Arc::new(Open(Arc::clone(&shared)))), Taker(shared))
}

impl<T> Shared<T> {
    fn queue(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Giver<T> {
    /// Waits until there is room for all of a batch, which may not be larger than the queue, and
    /// hands it over.
    pub(super) async fn give(&self, batch: Vec<T>) {
        let Self(open) = self;
        let shared = &open.0;
        let count = batch.len();
        let places = u32::try_from(count).expect("a batch is no larger than the queue");
        let room = shared.room.acquire_many(places).await;
        room.expect("the room is never closed").forget();
        shared.queue().extend(batch);
        shared.filled.add_permits(count);
    }

    /// Whether all was taken.
    pub(super) fn is_empty(&self) -> bool {
        self.0.0.queue().is_empty()
    }
}

impl<T> Taker<T> {
    /// The next thing; `None` when nothing will come any more.
    pub(super) async fn take(&self) -> Option<T> {
        let Self(shared) = self;
        // Without givers there is no permit, but there may still be something.
        if let Ok(permit) = shared.filled.acquire().await {
            permit.forget();
        }
        let taken = shared.queue().pop_front()?;
        shared.room.add_permits(1);
        Some(taken)
    }
}

impl<T> Clone for Giver<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Clone for Taker<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Open<T> {
    fn drop(&mut self) {
        self.0.filled.close();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::task::JoinSet;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn all_is_taken_once_by_whoever_asks() {
        let (giver, taker) = handover(8);
        let mut takers = JoinSet::new();
        for _ in 0..5 {
            let taker = taker.clone();
            takers.spawn(async move {
                let mut taken = Vec::new();
                while let Some(number) = taker.take().await {
                    taken.push(number);
                    tokio::task::yield_now().await;
                }
                taken
            });
        }
        let mut givers = JoinSet::new();
        for first in [0, 1000] {
            let giver = giver.clone();
            givers.spawn(async move {
                for start in (first..first + 200).step_by(8) {
                    giver.give((start..start + 8).collect()).await;
                }
            });
        }
        drop(giver);
        givers.join_all().await;
        let shares = takers.join_all().await;
        assert!(shares.iter().all(|share| !share.is_empty()), "nobody was left without work");
        let mut all = shares.concat();
        all.sort_unstable();
        assert_eq!(all, (0..200).chain(1000..1200).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn a_giver_waits_for_room_for_a_whole_batch() {
        let (giver, taker) = handover(4);
        giver.give(vec![1, 2, 3]).await;
        let mut second = Box::pin(giver.give(vec![4, 5]));
        assert!(timeout(Duration::from_secs(1), &mut second).await.is_err());
        assert_eq!(taker.take().await, Some(1));
        timeout(Duration::from_secs(1), second).await.unwrap();
        for expected in 2..=5 {
            assert_eq!(taker.take().await, Some(expected));
        }
        assert!(giver.is_empty());
        assert!(timeout(Duration::from_secs(1), taker.take()).await.is_err());
        drop(giver);
        assert_eq!(taker.take().await, None);
    }
}
