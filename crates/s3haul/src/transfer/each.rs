//! Small actions, each by itself, as many at once as there may be requests.

use std::future::Future;
use std::sync::Arc;

use async_channel::Receiver;

use super::engine::Engine;
use super::scheduler::Tasks;

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
    let mut tasks = Tasks::new();
    for _ in 0..engine.workers() {
        let (engine, queue, work) = (Arc::clone(&engine), one_out.clone(), work.clone());
        tasks.spawn(async move {
            while let Ok(action) = queue.recv().await {
                work(Arc::clone(&engine), action).await;
            }
        });
    }
    drop(one_out);
    while let Ok(batch) = actions.recv().await {
        for action in batch {
            let sent = one_in.send(action).await;
            debug_assert!(sent.is_ok(), "workers end after the dispatcher");
        }
    }
    drop(one_in);
    tasks.finish().await;
}
