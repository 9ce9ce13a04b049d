//! Small actions, each by itself, as many at once as there may be requests.

use std::future::Future;
use std::sync::Arc;

use async_channel::Receiver;

use super::engine::Engine;
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

/// Does the work for all that comes until the channel closes.
pub(super) async fn run_each<A, W>(
    engine: Arc<Engine>,
    actions: Receiver<Vec<A>>,
    work: impl Fn(Arc<Engine>, A) -> W + Clone + Send + 'static,
) where
    A: Send + 'static,
    W: Future<Output = ()> + Send,
{
    let (one_in, one_out) = async_channel::bounded::<A>(1);
    let (mut tasks, mut crew) = (Tasks::new(), Crew::default());
    while let Ok(batch) = actions.recv().await {
        for action in batch {
            if crew.is_short(&engine) {
                let (engine, queue, work) = (Arc::clone(&engine), one_out.clone(), work.clone());
                tasks.spawn(async move {
                    while let Ok(action) = queue.recv().await {
                        work(Arc::clone(&engine), action).await;
                    }
                });
            }
            let sent = one_in.send(action).await;
            debug_assert!(sent.is_ok(), "a receiver is held here");
        }
    }
    drop((one_in, one_out));
    tasks.finish().await;
}
