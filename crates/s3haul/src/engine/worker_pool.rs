//! Workers for small actions: as many as requests are worth making at once.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_channel::Receiver;
use futures_util::future::{Either, select};

use super::core::Engine;
use crate::engine::batch_queue::{BatchReceiver, BatchSender, batch_queue};
use crate::engine::limits::Tasks;

/// Number of workers that receive from a queue. The limit of requests grows while they run, so each
/// worker checks after each item whether another is worth starting; the sender may have ended long
/// before.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerCount {
    started: Arc<AtomicUsize>,
}

impl WorkerCount {
    /// Whether to start one more; counts it.
    pub(crate) fn should_grow(&self, engine: &Engine) -> bool {
        let wanted = engine.workers_wanted();
        let one_more = |started| (started < wanted).then_some(started + 1);
        self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// Does the work of a worker. Where more of them become worth starting before anything has been
    /// answered, `grow` is called, to start one that starts the others.
    pub(crate) async fn growing<T>(
        &self,
        engine: &Engine,
        mut work: Pin<&mut impl Future<Output = T>>,
        grow: impl FnOnce(),
    ) -> T {
        if let Some(grown) = engine.target.grown_early() {
            match select(work.as_mut(), pin!(grown)).await {
                Either::Left((done, _)) => return done,
                Either::Right(_) if self.should_grow(engine) => grow(),
                Either::Right(_) => {}
            }
        }
        work.await
    }

    /// Whether no worker was started.
    pub(crate) fn is_empty(&self) -> bool {
        self.started.load(Ordering::Relaxed) == 0
    }
}

/// Actions sent together; the queue holds twice as many.
const CHUNK: usize = 16;

/// Workers that each process one action after the other.
pub(crate) struct WorkerPool<A, W> {
    engine: Arc<Engine>,
    work: W,
    workers: WorkerCount,
    chunk: Vec<A>,
    sender: BatchSender<A>,
    receiver: BatchReceiver<A>,
}

impl<A, W, F> WorkerPool<A, W>
where
    A: Send + 'static,
    W: Fn(Arc<Engine>, A) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    /// Creates an empty pool.
    pub(crate) fn new(engine: &Arc<Engine>, work: W) -> Self {
        let (sender, receiver) = batch_queue(2 * CHUNK);
        let (engine, workers, chunk) = (Arc::clone(engine), WorkerCount::default(), Vec::new());
        Self { engine, work, workers, chunk, sender, receiver }
    }

    /// Adds an action, which starts after [`Self::flush`] at the latest.
    pub(crate) async fn add(&mut self, action: A, tasks: &mut Tasks) {
        if self.workers.is_empty() && self.workers.should_grow(&self.engine) {
            let (engine, receiver) = (Arc::clone(&self.engine), self.receiver.clone());
            tasks.spawn(run_worker(engine, self.workers.clone(), receiver, self.work.clone()));
        }
        self.chunk.push(action);
        if self.chunk.len() >= CHUNK {
            self.flush().await;
        }
    }

    /// Sends what was added and not sent yet.
    pub(crate) async fn flush(&mut self) {
        if !self.chunk.is_empty() {
            self.sender.send(std::mem::take(&mut self.chunk)).await;
        }
    }
}

/// One worker, and those that it starts.
fn run_worker<A, W, F>(
    engine: Arc<Engine>,
    workers: WorkerCount,
    receiver: BatchReceiver<A>,
    work: W,
) -> Pin<Box<dyn Future<Output = ()> + Send>>
where
    A: Send + 'static,
    W: Fn(Arc<Engine>, A) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    Box::pin(async move {
        let mut spawned = Tasks::new();
        while let Some(action) = receiver.recv().await {
            let mut grow = || {
                let (engine, workers, receiver) =
                    (Arc::clone(&engine), workers.clone(), receiver.clone());
                spawned.spawn(run_worker(engine, workers, receiver, work.clone()));
            };
            if workers.should_grow(&engine) {
                grow();
            }
            let acting = pin!(work(Arc::clone(&engine), action));
            workers.growing(&engine, acting, grow).await;
        }
        spawned.finish().await;
    })
}

/// Runs `work` for each action until the channel closes.
pub(crate) async fn run_each<A, W>(
    engine: Arc<Engine>,
    actions: Receiver<Vec<A>>,
    work: impl Fn(Arc<Engine>, A) -> W + Clone + Send + Sync + 'static,
) where
    A: Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let mut pool = WorkerPool::new(&engine, work);
    let mut tasks = Tasks::new();
    while let Ok(batch) = actions.recv().await {
        for action in batch {
            pool.add(action, &mut tasks).await;
        }
        pool.flush().await;
    }
    drop(pool);
    tasks.finish().await;
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::Barrier;

    use super::*;
    use crate::engine::settings::Tuning;
    use crate::engine::testing::engine;
    use s3haul_wire::ops::{Conditions, PutObject};
    use s3haul_wire::testing::{Reply, World};
    use s3haul_wire::{ObjectProperties, Payload};

    #[tokio::test(start_paused = true)]
    async fn a_hundred_small_requests_go_before_the_first_answer() {
        let world = World::new(|_| Reply::ok("").after(Duration::from_millis(50)));
        let (engine, _ended) = engine(&world, Tuning::default());
        let work = |engine: Arc<Engine>, number: u32| async move {
            let (key, properties) = (number.to_string(), ObjectProperties::default());
            let input = PutObject {
                bucket: "b",
                key: &key,
                payload: Payload::empty(),
                properties: &properties,
                checksum: None,
                conditions: Conditions::default(),
            };
            engine.target.put_object(input).await.unwrap();
        };
        let (actions, waiting) = async_channel::bounded(1);
        let begun = tokio::time::Instant::now();
        let running = run_each(engine, waiting, work);
        let feeding = async {
            actions.send((0..100).collect()).await.unwrap();
            drop(actions);
        };
        tokio::join!(running, feeding);
        assert_eq!(world.open_max.load(Ordering::SeqCst), 100);
        assert!(begun.elapsed() < Duration::from_millis(100), "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn receiving_grows_the_pool_without_new_items() {
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
        let (sender, receiver) = batch_queue(wanted);
        sender.send(vec![(); wanted]).await;
        drop(sender);
        let workers = WorkerCount::default();
        assert!(workers.is_empty() && workers.should_grow(&engine));
        // The barrier opens only once the wanted number of workers is running.
        run_worker(Arc::clone(&engine), workers.clone(), receiver, work).await;
        assert!(!workers.should_grow(&engine));
    }
}
