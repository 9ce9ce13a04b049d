//! Small actions, each by itself, as many at once as there may be requests.

use std::future::Future;
use std::sync::Arc;

use async_channel::Receiver;

use super::engine::Engine;
use super::handover::{Giver, Taker, handover};
use super::scheduler::Tasks;

/// How many loops take from a queue: as many as requests are worth making, which nobody knows at
/// the start.
#[derive(Debug, Default)]
pub(super) struct Crew {
    started: usize,
}

impl Crew {
    /// Whether one more is to be started.
    pub(super) fn is_short(&mut self, engine: &Engine) -> bool {
        let is_short = self.started < engine.workers_wanted();
        self.started += usize::from(is_short);
        is_short
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
    F: Future<Output = ()> + Send,
{
    /// Nobody as yet.
    pub(super) fn new(engine: &Arc<Engine>, work: W) -> Self {
        let (giver, taker) = handover(2 * CHUNK);
        let (engine, crew, chunk) = (Arc::clone(engine), Crew::default(), Vec::new());
        Self { engine, work, crew, chunk, giver, taker }
    }

    /// Takes an action, to be done soon, or at the latest after [`Self::flush`].
    pub(super) async fn add(&mut self, action: A, tasks: &mut Tasks) {
        if self.crew.is_short(&self.engine) {
            let (engine, taker) = (Arc::clone(&self.engine), self.taker.clone());
            let work = self.work.clone();
            tasks.spawn(async move {
                while let Some(action) = taker.take().await {
                    work(Arc::clone(&engine), action).await;
                }
            });
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

/// Does the work for all that comes until the channel closes.
pub(super) async fn run_each<A, W>(
    engine: Arc<Engine>,
    actions: Receiver<Vec<A>>,
    work: impl Fn(Arc<Engine>, A) -> W + Clone + Send + 'static,
) where
    A: Send + 'static,
    W: Future<Output = ()> + Send,
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
