//! Slots: connections that take the next piece of work until none is left.
//!
//! Each thread has a runtime of its own and its share of the slots; nothing is handed from one
//! thread to another. Work may come in phases: all slots wait for the end of each.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;

use crate::body::Buffer;
use crate::wire::{Link, Server};

/// Numbered pieces of work.
pub(crate) trait Work: Send + Sync + 'static {
    /// How many phases there are; pieces are counted anew in each.
    const PHASES: usize = 1;

    /// Pieces of a phase. Asked once the phase before has ended.
    fn pieces(&self, phase: usize) -> u64;

    /// How many objects all of it is.
    fn objects(&self) -> u64 {
        self.pieces(0)
    }

    /// Does one.
    fn step(
        &self,
        slot: &mut Slot,
        phase: usize,
        index: u64,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// A connection, and memory that is used again for each piece.
pub(crate) struct Slot {
    pub(crate) server: Arc<Server>,
    pub(crate) link: Link,
    pub(crate) buffer: Buffer,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
    pub(crate) requests: u64,
}

/// How work is done.
pub(crate) struct Run<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) concurrency: usize,
    pub(crate) threads: usize,
}

struct Shared<W> {
    work: W,
    next: Vec<AtomicU64>,
    barrier: Barrier,
    /// Closed by the first failure, so that no task waits for a slot that is gone.
    failed: Semaphore,
}

impl Run<'_> {
    /// A thread for each core, for large bodies.
    pub(crate) fn on_all_cores(self) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads: cores.min(self.concurrency), ..self }
    }

    /// Does all of it.
    pub(crate) fn of<W: Work>(&self, work: W) -> Result<Totals> {
        let first = usize::try_from(work.pieces(0))?;
        let slots =
            if W::PHASES == 1 { first.clamp(1, self.concurrency) } else { self.concurrency };
        let shared = Arc::new(Shared {
            work,
            next: (0..W::PHASES).map(|_| AtomicU64::new(0)).collect(),
            barrier: Barrier::new(slots),
            failed: Semaphore::new(0),
        });
        let threads = self.threads.min(slots);
        let share = |thread: usize| slots / threads + usize::from(thread < slots % threads);
        let totals = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads)
                .map(|thread| {
                    let shared = &shared;
                    scope.spawn(move || on_this_thread(self.server, shared, share(thread)))
                })
                .collect();
            let mut totals = vec![on_this_thread(self.server, &shared, share(0))];
            totals.extend(
                others.into_iter().map(|thread| thread.join().unwrap_or(Err(anyhow!("a panic")))),
            );
            totals.into_iter().collect::<Result<Vec<Totals>>>()
        })?;
        Ok(Totals {
            count: shared.work.objects(),
            bytes: totals.iter().map(|totals| totals.bytes).sum(),
            requests: totals.iter().map(|totals| totals.requests).sum(),
        })
    }
}

fn on_this_thread<W: Work>(
    server: &Arc<Server>,
    shared: &Arc<Shared<W>>,
    slots: usize,
) -> Result<Totals> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..slots {
            tasks.spawn(work(Arc::clone(server), Arc::clone(shared)));
        }
        let mut totals = Totals::default();
        while let Some(ended) = tasks.join_next().await {
            let part = ended.context("a slot panicked")??;
            totals.bytes += part.bytes;
            totals.requests += part.requests;
        }
        Ok(totals)
    })
}

async fn work<W: Work>(server: Arc<Server>, shared: Arc<Shared<W>>) -> Result<Totals> {
    let totals = all_phases(server, &shared).await;
    if totals.is_err() {
        shared.failed.close();
    }
    totals
}

async fn all_phases<W: Work>(server: Arc<Server>, shared: &Shared<W>) -> Result<Totals> {
    let link = server.connect().await?;
    let mut slot = Slot { server, link, buffer: Buffer::default() };
    for (phase, next) in shared.next.iter().enumerate() {
        let pieces = shared.work.pieces(phase);
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= pieces {
                break;
            }
            shared.work.step(&mut slot, phase, index).await?;
        }
        if W::PHASES > 1 {
            tokio::select! {
                _ = shared.barrier.wait() => {}
                _ = shared.failed.acquire() => bail!("another slot failed"),
            }
        }
    }
    Ok(Totals { count: 0, bytes: slot.link.bytes, requests: slot.link.requests })
}
