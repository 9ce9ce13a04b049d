//! Pairs that the listings cannot decide: looked at many at a time, between the merge and the
//! queue of transfers.

use std::sync::Arc;

use crate::engine::core::{Engine, Place};
use crate::engine::limits::Tasks;
use crate::engine::object::head_at;
use crate::entry::Entry;
use crate::event::ActionKind;
use crate::fs::meta::nanoseconds;
use crate::job::prepare::Prepared;
use crate::plan::compare::{Reason, Rule, difference};
use crate::plan::content::Depth;
use crate::plan::preserve::{self, Preserved};
use crate::source::content::examine;
use crate::source::side::Pair;
use s3haul_wire::env::BoxFuture;
use s3haul_wire::error::{ErrorKind, Result};

/// Looks at a pair of equal size: why the source is to be transferred, or nothing.
type Look = Arc<dyn Fn(Arc<Engine>, Arc<Pair>) -> BoxFuture<'static, Decision> + Send + Sync>;

/// Why a source is to be transferred, or nothing.
pub(crate) type Decision = Result<Option<Reason>>;

/// A pair that was looked at.
pub(crate) struct Checked {
    pub(crate) pair: Arc<Pair>,
    pub(crate) decision: Decision,
}

/// How pairs are looked at.
#[derive(Clone)]
pub(crate) struct Looker {
    look: Look,
    size_min: u64,
}

impl Looker {
    /// What a job needs; none where the listings decide.
    pub(crate) fn of(job: &Prepared) -> Option<Self> {
        let (rule, direction) = (job.spec.sync.rule, job.plan.action);
        let preserves = job.spec.preserve && preserve::decides(rule, direction);
        let look: Look = match rule {
            Rule::Content => Arc::new(|engine, pair| Box::pin(by_content(engine, pair))),
            _ if preserves => Arc::new(move |engine, pair| {
                Box::pin(by_preserved_time(engine, pair, rule, direction))
            }),
            _ => return None,
        };
        // What has no bytes has no other content.
        let size_min = u64::from(rule == Rule::Content);
        Some(Self { look, size_min })
    }

    /// Whether pairs of this size are looked at.
    pub(crate) fn concerns(&self, size: u64) -> bool {
        size >= self.size_min
    }

    /// Looks at a pair of equal size.
    pub(crate) fn look(
        &self,
        engine: &Arc<Engine>,
        pair: &Arc<Pair>,
    ) -> BoxFuture<'static, Decision> {
        (self.look)(Arc::clone(engine), Arc::clone(pair))
    }
}

/// The pairs that are being looked at, as many as there may be requests in flight.
pub(crate) struct Checks {
    engine: Arc<Engine>,
    looker: Looker,
    tasks: Tasks<Checked>,
}

impl Checks {
    /// The stage that a job needs; none where the listings decide.
    pub(crate) fn of(job: &Prepared, engine: &Arc<Engine>) -> Option<Self> {
        let looker = Looker::of(job)?;
        Some(Self { engine: Arc::clone(engine), looker, tasks: Tasks::new() })
    }

    /// The rule by which the listings alone decide.
    pub(crate) fn listing_rule(job: &Prepared) -> Rule {
        let rule = job.spec.sync.rule;
        if job.spec.preserve { preserve::listing_rule(rule, job.plan.action) } else { rule }
    }

    /// Whether pairs of this size are looked at.
    pub(crate) fn concern(&self, size: u64) -> bool {
        self.looker.concerns(size)
    }

    /// Looks at a pair; waits while there are too many. What came out of others is given back.
    pub(crate) async fn submit(&mut self, pair: Pair) -> Vec<Checked> {
        let mut ended = Vec::new();
        while let Some(checked) = self.tasks.try_next() {
            ended.push(checked);
        }
        while self.tasks.len() >= self.engine.limits.at_once() {
            ended.extend(self.tasks.next().await);
        }
        let pair = Arc::new(pair);
        let looking = self.looker.look(&self.engine, &pair);
        self.tasks.spawn(async move { Checked { pair, decision: looking.await } });
        ended
    }

    /// Waits for the next pair; none when all have been looked at.
    pub(crate) async fn next(&mut self) -> Option<Checked> {
        self.tasks.next().await
    }

    /// Reports that a pair could not be looked at: its object failed, the rest goes on.
    pub(crate) fn fail(job: &Prepared, engine: &Engine, pair: &Pair, error: crate::Error) {
        let (source, target) = (
            pair.source.get().location(engine, Place::Source),
            pair.target.get().location(engine, Place::Target),
        );
        engine.conclude_unplanned(job.plan.action, source, Some(target), error);
    }
}

async fn by_content(engine: Arc<Engine>, pair: Arc<Pair>) -> Decision {
    let verdict = examine(&engine, &pair, Depth::Checksums).await?;
    Ok(verdict.err().map(|_| Reason::Content))
}

/// Compares times where the object keeps that of its file; else by the listing, as ever.
async fn by_preserved_time(
    engine: Arc<Engine>,
    pair: Arc<Pair>,
    rule: Rule,
    direction: ActionKind,
) -> Decision {
    let (file, object, place) = match (pair.source.get(), pair.target.get()) {
        (Entry::File(file), Entry::Object(object)) => (file, object, Place::Target),
        (Entry::Object(object), Entry::File(file)) => (file, object, Place::Source),
        // Between two objects the listings decide.
        _ => return Ok(None),
    };
    let head = head_at(&engine, place, object.listed.key, object.version_id).await;
    let head = match head {
        Err(error) if place == Place::Target && error.kind() == ErrorKind::NotFound => {
            return Ok(Some(Reason::Missing));
        }
        head => head?,
    };
    if head.size != object.listed.size {
        return Ok(Some(Reason::Size));
    }
    let metadata = head.properties.metadata.unwrap_or_default();
    let facts = (pair.source.get().facts(), pair.target.get().facts());
    Ok(match Preserved::of(&metadata).modified_ns {
        Some(time) => preserve::difference(rule, direction, nanoseconds(file.modified), time),
        None => difference(rule, direction, facts.0, facts.1),
    })
}
