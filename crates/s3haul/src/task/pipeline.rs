//! One pipeline for every task that acts on single entries: batches of a source are selected,
//! become actions, and these are queued for the workers.

use std::sync::Arc;

use crate::action::planned::Planned;
use crate::engine::core::Engine;
use crate::job::prepare::Prepared;
use crate::job::queue::{Closed, Queue};
use crate::plan::removals::{Permit, RemovalGuard, RemovalLimit};
use crate::select::choose::{Taken, chooser_that_learns, learn, select};
use crate::source::entries::{Entries, Pass, is_listed};
use crate::source::versions::{check_limit, limit_reached};
use s3haul_wire::error::Result;

/// Makes the action of an entry; `None` if it is left out.
pub(crate) type MakeAction<A> = fn(&Prepared, &Engine, Taken<'_>) -> Option<A>;

/// Plans all actions of a job while they are done.
pub(crate) async fn pipeline<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    (queue, acting): (Queue<A>, impl Future<Output = ()>),
    make: MakeAction<A>,
) {
    let planned = async {
        plan(job, engine, &queue, make).await;
        drop(queue);
    };
    tokio::join!(planned, acting);
}

/// Plans all actions of a job. A failure to list or to find the one object ends the planning and is
/// reported as fatal; what was queued before goes on.
pub(crate) async fn plan<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: MakeAction<A>,
) {
    match try_plan(job, engine, queue, make).await {
        Ok(Ok(())) if job.removes_named() => {}
        Ok(Ok(())) => engine.report.plan_complete(),
        Ok(Err(Closed)) => {}
        Err(error) => engine.report.fatal(error),
    }
}

/// Like [`plan`], without reporting its end.
pub(crate) async fn try_plan<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: MakeAction<A>,
) -> Result<Result<(), Closed>> {
    learn_sources(job, engine).await?;
    let limit = limit_of_removals(job, engine, make).await?;
    let mut gathered = Vec::new();
    let planned = queue_all(job, engine, queue, make, (limit, &mut gathered)).await;
    // What was planned before a failure is done.
    let is_queued = queue.push(gathered).await.is_ok();
    if is_queued { planned } else { Ok(Err(Closed)) }
}

/// Queues what the source gives. Removals wait until there are as many as one request takes; those
/// that still wait at the end are left in `gathered`.
async fn queue_all<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    queue: &Queue<A>,
    make: MakeAction<A>,
    (limit, gathered): (RemovalLimit, &mut Vec<A>),
) -> Result<Result<(), Closed>> {
    let together = if job.removes() && is_listed(job) { A::BATCH_MAX } else { 1 };
    let mut guard = RemovalGuard::new(limit);
    let mut entries = Entries::open(job, engine, Pass::Act).await?;
    while let Some(batch) = entries.next().await? {
        let mut actions = select(job, engine, batch).await?.map(|taken| make(job, engine, taken));
        let allowed = actions.iter().take_while(|_| guard.ask() == Permit::Now).count();
        let is_refused = allowed < actions.len();
        actions.truncate(allowed);
        gathered.append(&mut actions);
        let rest = gathered.split_off(gathered.len() - gathered.len() % together);
        if queue.push(std::mem::replace(gathered, rest)).await.is_err() {
            return Ok(Err(Closed));
        }
        if is_refused {
            return Err(limit_reached());
        }
    }
    Ok(Ok(()))
}

/// Goes through what is to be removed once before, where there is a limit: nothing is held, and
/// nothing is removed when it is too much.
async fn limit_of_removals<A: Planned>(
    job: &Arc<Prepared>,
    engine: &Arc<Engine>,
    make: MakeAction<A>,
) -> Result<RemovalLimit> {
    if !job.removes() || job.spec.sync.max_delete == RemovalLimit::None {
        return Ok(RemovalLimit::None);
    }
    if !is_listed(job) {
        if job.names_one() && job.filter.includes(job.plan.single_name()) {
            check_limit(job, 1, 1)?;
        }
        return Ok(RemovalLimit::None);
    }
    let mut entries = Entries::open(job, engine, Pass::Ahead).await?;
    let mut wanted = 0;
    while let Some(batch) = entries.next().await? {
        let selected = select(job, engine, batch).await?;
        wanted += selected.map(|taken| make(job, engine, taken)).len() as u64;
    }
    check_limit(job, wanted, entries.listed())
}

/// Goes through the sources once before, where new names may be names of sources.
async fn learn_sources(job: &Arc<Prepared>, engine: &Arc<Engine>) -> Result<()> {
    let is_stream = is_listed(job) || (job.spec.manifest.is_some() && job.spec.names.is_none());
    let Some(chooser) = chooser_that_learns(job).filter(|_| is_stream) else { return Ok(()) };
    let mut entries = Entries::open(job, engine, Pass::Ahead).await?;
    while let Some(batch) = entries.next().await? {
        learn(job, chooser, batch.entries).await?;
    }
    Ok(())
}
