//! Bounded queue from the planner to the workers, which takes a batch at a time.
//!
//! A channel wakes its sender whenever a place is free, and so once for each item that it carries:
//! for an object of some KiB that is a few percent of the CPU it costs. Here a sender waits until
//! there is room for a whole batch. Receivers are served in the order in which they ask, one item
//! each time, so that no worker holds items while another has none.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

/// The sending end. After the last clone is dropped, receivers get what is left and then `None`.
#[derive(Debug)]
pub(crate) struct BatchSender<T>(Arc<Open<T>>);

/// A receiving end.
#[derive(Debug)]
pub(crate) struct BatchReceiver<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Open<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    queue: Mutex<VecDeque<T>>,
    /// A permit for each item in the queue; closed with the last sender.
    filled: Semaphore,
    /// A permit for each free place.
    room: Semaphore,
}

/// The two ends of a queue that holds at most `places` items.
pub(crate) fn batch_queue<T>(places: usize) -> (BatchSender<T>, BatchReceiver<T>) {
    let shared = Arc::new(Shared {
        queue: Mutex::default(),
        filled: Semaphore::new(0),
        room: Semaphore::new(places),
    });
    (BatchSender(Arc::new(Open(Arc::clone(&shared)))), BatchReceiver(shared))
}

impl<T> Shared<T> {
    fn queue(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> BatchSender<T> {
    /// Waits until there is room for a whole batch, which may not be larger than the queue, and
    /// appends it.
    pub(crate) async fn send(&self, batch: Vec<T>) {
        let Self(open) = self;
        let shared = &open.0;
        let count = batch.len();
        let places = u32::try_from(count).expect("a batch is no larger than the queue");
        let room = shared.room.acquire_many(places).await;
        room.expect("the room is never closed").forget();
        shared.queue().extend(batch);
        shared.filled.add_permits(count);
    }

    /// Whether the queue is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.0.queue().is_empty()
    }
}

impl<T> BatchReceiver<T> {
    /// The next item; `None` if the queue is empty and has no sender.
    pub(crate) async fn recv(&self) -> Option<T> {
        let Self(shared) = self;
        // Without senders there is no permit, but there may still be an item.
        if let Ok(permit) = shared.filled.acquire().await {
            permit.forget();
        }
        let taken = shared.queue().pop_front()?;
        shared.room.add_permits(1);
        Some(taken)
    }
}

impl<T> Clone for BatchSender<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Clone for BatchReceiver<T> {
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
    async fn every_item_is_received_once() {
        let (sender, receiver) = batch_queue(8);
        let mut takers = JoinSet::new();
        for _ in 0..5 {
            let receiver = receiver.clone();
            takers.spawn(async move {
                let mut taken = Vec::new();
                while let Some(number) = receiver.recv().await {
                    taken.push(number);
                    tokio::task::yield_now().await;
                }
                taken
            });
        }
        let mut givers = JoinSet::new();
        for first in [0, 1000] {
            let sender = sender.clone();
            givers.spawn(async move {
                for start in (first..first + 200).step_by(8) {
                    sender.send((start..start + 8).collect()).await;
                }
            });
        }
        drop(sender);
        givers.join_all().await;
        let shares = takers.join_all().await;
        assert!(shares.iter().all(|share| !share.is_empty()), "every worker had work");
        let mut all = shares.concat();
        all.sort_unstable();
        assert_eq!(all, (0..200).chain(1000..1200).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn a_giver_waits_for_room_for_a_whole_batch() {
        let (sender, receiver) = batch_queue(4);
        sender.send(vec![1, 2, 3]).await;
        let mut second = Box::pin(sender.send(vec![4, 5]));
        assert!(timeout(Duration::from_secs(1), &mut second).await.is_err());
        assert_eq!(receiver.recv().await, Some(1));
        timeout(Duration::from_secs(1), second).await.unwrap();
        for expected in 2..=5 {
            assert_eq!(receiver.recv().await, Some(expected));
        }
        assert!(sender.is_empty());
        assert!(timeout(Duration::from_secs(1), receiver.recv()).await.is_err());
        drop(sender);
        assert_eq!(receiver.recv().await, None);
    }
}
