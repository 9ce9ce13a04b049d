//! The merge itself: reads both sides in step and queues what is to be done.

use std::sync::Arc;

use super::check::{Checked, Checks};
use crate::engine::core::Engine;
use crate::job::prepare::Prepared;
use crate::job::queue::{Closed, Planned, Queue};
use crate::plan::compare::{Reason, difference};
use crate::plan::join::{Presence, presence};
use crate::plan::removals::{Permit, RemovalGuard, RemovalLimit};
use crate::source::side::{Item, Pair, SideStream};
use s3haul_wire::error::{Error, ErrorKind, Result};

/// Actions gathered before they are queued.
const GATHERED_MAX: usize = 256;
/// Removals that may wait for the end of the target's listing, for a limit in percent.
const HELD_MAX: usize = 1_000_000;

/// Makes the action for a file or object that is to be transferred; nothing where it is left out.
pub(crate) type MakeTransfer<A> =
    Box<dyn Fn(&Prepared, &Engine, Item<'_>) -> Option<A> + Send + Sync>;
/// Makes the action for what is to be removed.
pub(crate) type MakeRemoval<D> = Box<dyn Fn(&Prepared, Item<'_>) -> Option<D> + Send + Sync>;

/// How a merge makes its actions and where they go.
pub(crate) struct Merge<A, D> {
    pub(crate) make_transfer: MakeTransfer<A>,
    pub(crate) make_removal: MakeRemoval<D>,
    pub(crate) transfers: Queue<A>,
    pub(crate) removals: Queue<D>,
}

/// Why removals ended before their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    EmptySource,
    Limit,
    TooManyHeld,
}

/// What has been decided and not yet queued.
struct Decided<A, D> {
    transfers: Vec<A>,
    removals: Vec<D>,
    held: Vec<D>,
    guard: RemovalGuard,
    refusal: Option<Refusal>,
    checks: Option<Checks>,
    /// Whether a warning that the source lies inside of the target was reported.
    is_overlap_told: bool,
}

impl<A: Planned, D: Planned> Merge<A, D> {
    /// Merges both sides to their end, or to the first error: that is reported as fatal, and
    /// nothing is decided about the names from there on.
    pub(crate) async fn run(
        self,
        job: &Prepared,
        engine: &Arc<Engine>,
        mut source: SideStream,
        mut target: SideStream,
    ) {
        let mut decided = Decided {
            transfers: Vec::new(),
            removals: Vec::new(),
            held: Vec::new(),
            guard: RemovalGuard::new(job.spec.sync.max_delete),
            refusal: None,
            checks: Checks::of(job, engine),
            is_overlap_told: false,
        };
        let result = self.merge(job, engine, (&mut source, &mut target), &mut decided).await;
        self.finish_checks(job, engine, &mut decided).await;
        let flushed = self.flush(&mut decided).await;
        match result {
            Err(error) => engine.report.fatal(error),
            Ok(Ok(())) if flushed.is_ok() => {
                self.release(&mut decided, target.seen).await;
                engine.report.plan_complete();
            }
            // The receiving side is closed.
            Ok(_) => {}
        }
        if let Some(refusal) = decided.refusal {
            engine.report.fatal(refusal.error(job));
        }
    }

    async fn merge(
        &self,
        job: &Prepared,
        engine: &Engine,
        (source, target): (&mut SideStream, &mut SideStream),
        decided: &mut Decided<A, D>,
    ) -> Result<Result<(), Closed>> {
        let warn = |text| engine.report.warning(text);
        loop {
            if !(source.settle(warn)? & target.settle(warn)?) {
                if self.flush(decided).await.is_err() {
                    return Ok(Err(Closed));
                }
                let (left, right) = tokio::join!(source.ready(warn), target.ready(warn));
                left?;
                right?;
            }
            let (left, right) = (source.head(), target.head());
            let names = (left.map(|item| item.relative()), right.map(|item| item.relative()));
            let Some(found) = presence(names.0, names.1) else { return Ok(Ok(())) };
            let (is_left_wanted, is_right_wanted) = (source.is_wanted(), target.is_wanted());
            match (found, left, right) {
                (Presence::Source, Some(item), _) if is_left_wanted => {
                    let transfer = (self.make_transfer)(job, engine, item);
                    decided.transfers.extend(transfer.map(|it| it.because(Reason::Missing)));
                }
                (Presence::Both, Some(left), Some(right)) if is_left_wanted => {
                    let rule = Checks::listing_rule(job);
                    let direction = job.plan.action;
                    let (facts, other) = (left.facts(), right.facts());
                    if let Some(reason) = difference(rule, direction, facts, other) {
                        let transfer = (self.make_transfer)(job, engine, left);
                        decided.transfers.extend(transfer.map(|it| it.because(reason)));
                    } else if let Some(checks) = &mut decided.checks
                        && checks.concern(facts.size)
                    {
                        let pair = Pair { source: left.to_entry(), target: right.to_entry() };
                        let ended = checks.submit(pair).await;
                        self.take(job, engine, decided, ended);
                    }
                }
                (Presence::Target, _, Some(item)) if job.spec.sync.delete && is_right_wanted => {
                    let may_be_there = source.may_have(item.relative());
                    if !may_be_there && !keeps(job, engine, item, decided) {
                        let is_empty = source.seen == 0 && !job.spec.sync.allow_empty_source;
                        decided.remove((self.make_removal)(job, item), is_empty);
                    }
                }
                _ => {}
            }
            if found != Presence::Target {
                source.advance();
            }
            if found != Presence::Source {
                target.advance();
            }
            if (decided.is_full() || job.spec.dry_run) && self.flush(decided).await.is_err() {
                return Ok(Err(Closed));
            }
        }
    }

    /// Plans what was found to differ.
    fn take(
        &self,
        job: &Prepared,
        engine: &Engine,
        decided: &mut Decided<A, D>,
        ended: impl IntoIterator<Item = Checked>,
    ) {
        for Checked { pair, decision } in ended {
            match decision {
                Ok(Some(reason)) => {
                    let transfer = (self.make_transfer)(job, engine, pair.source.item());
                    decided.transfers.extend(transfer.map(|it| it.because(reason)));
                }
                Ok(None) => {}
                Err(error) => Checks::fail(job, engine, &pair, error),
            }
        }
    }

    /// Waits for the pairs that are still being looked at. If the receiving side is closed the job
    /// was cancelled, and the rest does not matter.
    async fn finish_checks(&self, job: &Prepared, engine: &Engine, decided: &mut Decided<A, D>) {
        let Some(mut checks) = decided.checks.take() else { return };
        while let Some(checked) = checks.next().await {
            self.take(job, engine, decided, [checked]);
            if decided.is_full() && self.flush(decided).await.is_err() {
                return;
            }
        }
    }

    async fn flush(&self, decided: &mut Decided<A, D>) -> Result<(), Closed> {
        self.transfers.push(std::mem::take(&mut decided.transfers)).await?;
        self.removals.push(std::mem::take(&mut decided.removals)).await
    }

    /// Removes what waited for the end, if it is within the limit.
    async fn release(&self, decided: &mut Decided<A, D>, names: u64) {
        let held = std::mem::take(&mut decided.held);
        if decided.refusal.is_some() {
            return;
        }
        if decided.guard.allows_all(held.len() as u64, names) {
            // The receiving side is closed if the job was cancelled.
            let _ = self.removals.push(held).await;
        } else {
            decided.refusal = Some(Refusal::Limit);
        }
    }
}

/// Whether a name that only the target has stays nonetheless: the source's filter leaves it out,
/// or it is of the source itself.
fn keeps<A, D>(
    job: &Prepared,
    engine: &Engine,
    item: Item<'_>,
    decided: &mut Decided<A, D>,
) -> bool {
    let is_of_source = job.is_of_source(item.relative());
    if is_of_source && !std::mem::replace(&mut decided.is_overlap_told, true) {
        engine.report.warning(overlap(&job.spec.source));
    }
    is_of_source || !job.filter.includes(item.relative())
}

/// What is said once where removals would hit the source.
fn overlap(source: &str) -> String {
    format!("the source `{source}` lies inside of the target: nothing is removed from it")
}

impl<A, D> Decided<A, D> {
    fn is_full(&self) -> bool {
        self.transfers.len() >= GATHERED_MAX || self.removals.len() >= GATHERED_MAX
    }

    fn remove(&mut self, removal: Option<D>, is_source_empty: bool) {
        if self.refusal.is_some() {
            return;
        }
        if is_source_empty {
            self.refusal = Some(Refusal::EmptySource);
            return;
        }
        match self.guard.ask() {
            Permit::Now => self.removals.extend(removal),
            Permit::Later if self.held.len() < HELD_MAX => self.held.extend(removal),
            Permit::Later => self.refusal = Some(Refusal::TooManyHeld),
            Permit::Refused => self.refusal = Some(Refusal::Limit),
        }
    }
}

impl Refusal {
    fn error(self, job: &Prepared) -> Error {
        let message = match (self, job.spec.sync.max_delete) {
            (Self::EmptySource, _) => format!(
                "the source `{}` has nothing, so that all of the target would be removed: nothing \
                 was removed; if it is meant, give --allow-empty-source",
                job.spec.source
            ),
            (Self::TooManyHeld, _) => format!(
                "more than {HELD_MAX} removals wait for the end of the listing: nothing was \
                 removed; give --max-delete a number instead of a percentage"
            ),
            (Self::Limit, RemovalLimit::Percent(percent)) => format!(
                "more than {percent} % of the target would be removed (--max-delete): nothing was \
                 removed"
            ),
            (Self::Limit, RemovalLimit::Count(count)) => format!(
                "more than {count} names would be removed (--max-delete): the rest was left in \
                 place"
            ),
            (Self::Limit, RemovalLimit::None) => "removals were refused".to_owned(),
        };
        Error::new(ErrorKind::Local, message)
    }
}
