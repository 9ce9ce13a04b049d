//! How much runs at once: request permits, large objects, worker loops.
//!
//! Requests in flight over the whole job are bounded by one semaphore. The fixed order of acquiring
//! is: large-object slots, then memory budget, then bandwidth, then a request permit; no task waits
//! for an earlier one while holding a later one.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::task::{JoinError, JoinSet};

use super::budget::Budget;
use super::settings::Tuning;
use crate::engine::settings::AT_ONCE;

/// Bounds that all executors of a job share.
#[derive(Debug)]
pub(crate) struct Limits {
    /// Bytes in memory.
    pub(crate) budget: Budget,
    requests: Arc<Semaphore>,
    requests_max: usize,
    large_slots: Arc<Semaphore>,
}

impl Limits {
    /// Bounds as the settings say.
    pub(crate) fn new(tuning: &Tuning) -> Self {
        let requests_max = tuning.max_concurrent_requests.clamp(1, 1 << 16);
        Self {
            budget: Budget::new(tuning.memory_budget),
            requests: Arc::new(Semaphore::new(requests_max)),
            requests_max,
            large_slots: Arc::new(Semaphore::new(2 * requests_max.min(AT_ONCE))),
        }
    }

    /// Requests in flight at most.
    pub(crate) fn requests_max(&self) -> usize {
        self.requests_max
    }

    /// The same where the concurrency is not adjusted by measurement.
    pub(crate) fn at_once(&self) -> usize {
        self.requests_max.min(AT_ONCE)
    }

    /// Waits for leave to send one request: [`Engine::send`](super::core::Engine::send), which all
    /// requests of actions and of plans go through.
    pub(super) async fn request(&self) -> SemaphorePermit<'_> {
        self.requests.acquire().await.expect("the semaphore of requests is never closed")
    }

    /// The same for a request that may outlive its task.
    pub(crate) async fn owned_request(&self) -> OwnedSemaphorePermit {
        self.requests().acquire_owned().await.expect("the semaphore of requests is never closed")
    }

    /// The permits themselves, for what has no engine and takes them by itself: the client's hedged
    /// requests, and listings, which go on in tasks of their own.
    pub(crate) fn requests(&self) -> Arc<Semaphore> {
        Arc::clone(&self.requests)
    }

    /// Waits until an object of `parts` parts may start. The objects at work have parts for twice
    /// the requests that are made at once, so that these never run out at the end of one object,
    /// and a few huge objects are not all begun at once.
    pub(crate) async fn large(&self, parts: u64) -> OwnedSemaphorePermit {
        let slots = parts.clamp(1, self.at_once() as u64);
        Arc::clone(&self.large_slots)
            .acquire_many_owned(u32::try_from(slots).unwrap_or(u32::MAX))
            .await
            .expect("the semaphore of large objects is never closed")
    }
}

/// Tasks of one stage. Dropping it stops them; a panic in one is carried on.
#[derive(Debug, Default)]
pub(crate) struct Tasks<T: 'static = ()> {
    set: JoinSet<T>,
}

impl<T: Send + 'static> Tasks<T> {
    /// No tasks.
    pub(crate) fn new() -> Self {
        Self { set: JoinSet::new() }
    }

    /// Starts a task.
    pub(crate) fn spawn(&mut self, task: impl Future<Output = T> + Send + 'static) {
        self.set.spawn(task);
    }

    /// Number of tasks whose result was not taken yet.
    pub(crate) fn len(&self) -> usize {
        self.set.len()
    }

    /// Result of a task that has ended, if there is one.
    pub(crate) fn try_next(&mut self) -> Option<T> {
        self.set.try_join_next().map(carry_on_panic)
    }

    /// Result of the next task to end; `None` when there is none left.
    pub(crate) async fn next(&mut self) -> Option<T> {
        self.set.join_next().await.map(carry_on_panic)
    }
}

impl Tasks {
    /// Forgets tasks that have ended.
    pub(crate) fn reap(&mut self) {
        while self.try_next().is_some() {}
    }

    /// Waits for all tasks.
    pub(crate) async fn finish(mut self) {
        while self.next().await.is_some() {}
    }
}

fn carry_on_panic<T>(joined: Result<T, JoinError>) -> T {
    joined.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => unreachable!("tasks are only cancelled by dropping their set: {error}"),
    })
}

/// A future that, dropped after its first poll, goes on in a task of its own. It holds the engine,
/// for which the end of a job waits.
pub(crate) struct DetachOnDrop<F: Future<Output: Send> + Send + 'static> {
    work: Option<Pin<Box<F>>>,
    has_begun: bool,
}

impl<F: Future<Output: Send> + Send + 'static> DetachOnDrop<F> {
    pub(crate) fn new(work: F) -> Self {
        Self { work: Some(Box::pin(work)), has_begun: false }
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for DetachOnDrop<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // Taken while it is polled: after a panic it is not detached.
        let mut work = self.work.take().expect("a future is not polled after its end");
        self.has_begun = true;
        let polled = work.as_mut().poll(context);
        self.work = polled.is_pending().then_some(work);
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for DetachOnDrop<F> {
    fn drop(&mut self) {
        if let (Some(work), true, Ok(runtime)) =
            (self.work.take(), self.has_begun, Handle::try_current())
        {
            runtime.spawn(work);
        }
    }
}

/// Runs blocking work on a thread made for it.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    carry_on_panic(tokio::task::spawn_blocking(work).await)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn large_objects_fill_the_permits_twice_and_no_more() {
        let tuning = Tuning { max_concurrent_requests: 4, ..Tuning::default() };
        let limits = Limits::new(&tuning);
        let huge = limits.large(10_000).await;
        let second = limits.large(3).await;
        let third = limits.large(1).await;
        assert!(timeout(Duration::from_secs(1), limits.large(1)).await.is_err());
        drop(second);
        let fourth = limits.large(2).await;
        drop((huge, third, fourth));
    }

    #[tokio::test]
    #[should_panic(expected = "broken")]
    async fn a_panic_in_a_task_is_not_swallowed() {
        let mut tasks = Tasks::new();
        tasks.spawn(async { panic!("broken") });
        tasks.finish().await;
    }
}
