//! Small actions, each by itself, as many at once as there may be requests.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_channel::Receiver;

use super::engine::Engine;
use super::handover::{Giver, Taker, handover};
use super::scheduler::Tasks;

/// How many loops take from a queue: as many as requests are worth making, which nobody knows at
/// the start. Whoever takes something looks whether one more is worth it, because who fills the
/// queue is ahead of them and may long have ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Crew {
    started: Arc<AtomicUsize>,
}

impl Crew {
    /// Whether one more is to be started.
    pub(super) fn is_short(&self, engine: &Engine) -> bool {
        let wanted = engine.workers_wanted();
        let one_more = |started| (started < wanted).then_some(started + 1);
        self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// Whether none was started.
    pub(super) fn is_empty(&self) -> bool {
        self.started.load(Ordering::Relaxed) == 0
    }
}

/// Actions that are handed over together, and half of those that may wait.
const CHUNK: usize = 16;

/// Loops that each do the work of one action after the other.
pub(super) struct Hands<A, W> {
    engine: Arc<Engine>,
    work: W,
    crew: Crew,
    chunk: Vec<A>,
    giver: Giver<A>,
    taker: Taker<A>,
}

impl<A, W, F> Hands<A, W>
where
    A: Send + 'static,
    W: Fn(Arc<Engine>, A) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    /// Nobody as yet.
    pub(super) fn new(engine: &Arc<Engine>, work: W) -> Self {
        let (giver, taker) = handover(2 * CHUNK);
        let (engine, crew, chunk) = (Arc::clone(engine), Crew::default(), Vec::new());
        Self { engine, work, crew, chunk, giver, taker }
    }

    /// Takes an action, to be done soon, or at the latest after [`Self::flush`].
    pub(super) async fn add(&mut self, action: A, tasks: &mut Tasks) {
        if self.crew.is_empty() && self.crew.is_short(&self.engine) {
            let (engine, taker) = (Arc::clone(&self.engine), self.taker.clone());
            tasks.spawn(take_all(engine, self.crew.clone(), taker, self.work.clone()));
        }
        self.chunk.push(action);
        if self.chunk.len() >= CHUNK {
            self.flush().await;
        }
    }

    /// Sees to it that all that was added is done.
    pub(super) async fn flush(&mut self) {
        if !self.chunk.is_empty() {
            self.giver.give(std::mem::take(&mut self.chunk)).await;
        }
    }
}

/// One loop, and those that it calls for.
fn take_all<A, W, F>(
    engine: Arc<Engine>,
    crew: Crew,
    taker: Taker<A>,
    work: W,
) -> Pin<Box<dyn Future<Output = ()> + Send>>
where
    A: Send + 'static,
    W: Fn(Arc<Engine>, A) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    Box::pin(async move {
        let mut hired = Tasks::new();
        while let Some(action) = taker.take().await {
            if crew.is_short(&engine) {
                let (engine, crew, taker) = (Arc::clone(&engine), crew.clone(), taker.clone());
                hired.spawn(take_all(engine, crew, taker, work.clone()));
            }
            work(Arc::clone(&engine), action).await;
        }
        hired.finish().await;
    })
}

/// Does the work for all that comes until the channel closes.
pub(super) async fn run_each<A, W>(
    engine: Arc<Engine>,
    actions: Receiver<Vec<A>>,
    work: impl Fn(Arc<Engine>, A) -> W + Clone + Send + 'static,
) where
    A: Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let mut hands = Hands::new(&engine, work);
    let mut tasks = Tasks::new();
    while let Ok(batch) = actions.recv().await {
        for action in batch {
            hands.add(action, &mut tasks).await;
        }
        hands.flush().await;
    }
    drop(hands);
    tasks.finish().await;
}

#[cfg(test)]
mod tests {
    use tokio::sync::Barrier;

    use super::*;
    use crate::transfer::settings::Tuning;
    use crate::transfer::testing::engine;
    use s3haul_wire::testing::{Reply, World};

    #[tokio::test(start_paused = true)]
    async fn who_takes_calls_for_more_though_nothing_is_added() {
        let world = World::new(|_| Reply::status(200, "", ""));
        let (engine, _ended) = engine(&world, Tuning::default());
        let wanted = engine.workers_wanted();
        assert!((2..CHUNK).contains(&wanted), "{wanted}");
        let met = Arc::new(Barrier::new(wanted));
        let work = move |_, ()| {
            let met = Arc::clone(&met);
            async move {
                met.wait().await;
            }
        };
        let (giver, taker) = handover(wanted);
        giver.give(vec![(); wanted]).await;
        drop(giver);
        let crew = Crew::default();
        assert!(crew.is_empty() && crew.is_short(&engine));
        // The barrier lets nobody through before as many as are wanted are at work.
        take_all(Arc::clone(&engine), crew.clone(), taker, work).await;
        assert!(!crew.is_short(&engine));
    }
}
