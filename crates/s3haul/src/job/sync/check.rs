//! Pairs that the listings cannot decide: looked at many at a time, between the merge and the
//! queue of transfers.

use std::sync::Arc;

use super::super::content::examine;
use super::super::prepare::Prepared;
use super::super::side::Pair;
use crate::env::BoxFuture;
use crate::error::Result;
use crate::plan::compare::{Reason, Rule};
use crate::plan::content::Depth;
use crate::transfer::delete::Place;
use crate::transfer::engine::Engine;
use crate::transfer::scheduler::Tasks;

/// Looks at a pair of equal size: why the source is to be transferred, or nothing.
type Look = Arc<dyn Fn(Arc<Engine>, Arc<Pair>) -> BoxFuture<'static, Decision> + Send + Sync>;

/// Why a source is to be transferred, or nothing.
pub(super) type Decision = Result<Option<Reason>>;

/// A pair that was looked at.
pub(super) struct Checked {
    pub(super) pair: Arc<Pair>,
    pub(super) decision: Decision,
}

/// The pairs that are being looked at, as many as there may be requests in flight.
pub(super) struct Checks {
    engine: Arc<Engine>,
    look: Look,
    tasks: Tasks<Checked>,
}

impl Checks {
    /// The stage that a job needs; none where the listings decide.
    pub(super) fn of(job: &Prepared, engine: &Arc<Engine>) -> Option<Self> {
        let look: Look = match job.spec.sync.rule {
            Rule::Content => Arc::new(|engine, pair| Box::pin(by_content(engine, pair))),
            _ => return None,
        };
        Some(Self { engine: Arc::clone(engine), look, tasks: Tasks::new() })
    }

    /// Looks at a pair; waits while there are too many. What came out of others is given back.
    pub(super) async fn submit(&mut self, pair: Pair) -> Vec<Checked> {
        let mut ended = Vec::new();
        while let Some(checked) = self.tasks.try_next() {
            ended.push(checked);
        }
        while self.tasks.len() >= self.engine.limits.requests_max() {
            ended.extend(self.tasks.next().await);
        }
        let pair = Arc::new(pair);
        let looking = (self.look)(Arc::clone(&self.engine), Arc::clone(&pair));
        self.tasks.spawn(async move { Checked { pair, decision: looking.await } });
        ended
    }

    /// Waits for the next pair; none when all have been looked at.
    pub(super) async fn next(&mut self) -> Option<Checked> {
        self.tasks.next().await
    }

    /// Tells that a pair could not be looked at: its object failed, the rest goes on.
    pub(super) fn fail(job: &Prepared, engine: &Engine, pair: &Pair, error: crate::Error) {
        let (source, target) = (
            pair.source.location(engine, Place::Source),
            pair.target.location(engine, Place::Target),
        );
        engine.report.planned(0);
        engine.conclude(job.plan.action, source, Some(target), 0, Err(error));
    }
}

async fn by_content(engine: Arc<Engine>, pair: Arc<Pair>) -> Decision {
    let verdict = examine(&engine, &pair, Depth::Checksums).await?;
    Ok(verdict.err().map(|_| Reason::Content))
}
