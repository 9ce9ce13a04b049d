//! What a `sync` decides on each name, and the queues that it goes to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::check::{Checked, Checks};
use super::lookup::Targeted;
use crate::action::queue::{Action, Closed, Queue};
use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::entry::{Entry, EntryBatch};
use crate::event::{ActionKind, ObjectEvent};
use crate::fs::collapse;
use crate::job::prepare::Prepared;
use crate::journal::state::Mark;
use crate::plan::compare::{Reason, difference};
use crate::plan::expected::{Expected, State, TargetState};
use crate::plan::filter::Filter;
use crate::plan::join::Presence;
use crate::plan::paths::Side;
use crate::plan::removals::{Permit, RemovalGuard, RemovalLimit};
use crate::select::choose::Taken;
use crate::source::pair::{Joined, Looked, Visitor, merge};
use crate::source::presence::has_any;
use crate::source::side::{SideStream, may_follow};
use crate::task::pipeline::{MakeAction, SLICE_BYTES};
use s3haul_wire::error::{Error, ErrorKind};

/// Actions gathered before they are queued.
const GATHERED_MAX: usize = 256;
/// Removals that may wait for the end of both listings.
const HELD_MAX: usize = 1_000_000;

/// Makes the action for what is to be removed; `None` for an entry of another kind.
pub(crate) type MakeRemoval<D> = fn(Entry<'_>) -> Option<D>;

/// How a `sync` makes its actions and where they go.
pub(crate) struct Plan<A: Action, D> {
    /// Where transfers go.
    pub(crate) place: A::Place,
    pub(crate) make_transfer: MakeAction<A>,
    pub(crate) make_removal: MakeRemoval<D>,
    pub(crate) transfers: Queue<A>,
    pub(crate) removals: Queue<D>,
    /// Cancelled once all removals are done.
    pub(crate) removed: CancellationToken,
}

/// Why removals ended before their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    EmptySource,
    UnreadSource,
    Limit,
    TooManyHeld,
}

/// Decides on each name of a `sync`.
struct Planner<'a, A: Action, D> {
    job: &'a Prepared,
    engine: &'a Arc<Engine>,
    plan: Plan<A, D>,
    checks: Option<Checks>,
    decided: Decided<A, D>,
    guard: RemovalGuard,
    refusal: Option<Refusal>,
    /// Whether a folder that shows no names has some that are left out, once it was asked for.
    has_hidden: Option<bool>,
    /// Whether a warning that source and target overlap was reported.
    has_warned_of_overlap: bool,
    /// What was decided since this was last written to the journal.
    begun: Vec<Mark>,
}

/// What has been decided and not yet queued.
struct Decided<A, D> {
    transfers: Vec<A>,
    /// Transfers whose target was not shown, and their sources.
    unseen: Vec<(usize, State)>,
    removals: Vec<D>,
    /// Removals that wait for the end of the target's listing, for a limit in percent, by name.
    held: BTreeMap<String, D>,
    /// Removals of files that a later key of the source may be written to, by name.
    doubtful: BTreeMap<String, Doubtful<D>>,
    /// Downloads that need a folder where a file stands whose removal waits for the end, or whose
    /// place is a folder that may have no files by then.
    waiting: Vec<A>,
    /// The folders in the place of those, below which no download is.
    folders: BTreeSet<String>,
    /// A download is written to another name than its key, so that it may have come before those.
    has_respelled: bool,
    /// Bytes of the transfers.
    bytes: u64,
}

/// The removal of a file that a key of the source may be written to, though it is spelled otherwise
/// and comes later in order: `a//-b` to `a/-b`.
struct Doubtful<D> {
    mark: Option<Mark>,
    removal: D,
}

/// Plans a `sync`: merges both sides to their end, or to the first error. That is reported as
/// fatal, and nothing is decided about the names from there on.
pub(crate) async fn plan<A: Targeted, D: Action>(
    job: &Prepared,
    engine: &Arc<Engine>,
    (mut source, mut target): (SideStream, SideStream),
    plan: Plan<A, D>,
) {
    let limit = job.spec.sync.max_delete;
    let journal = engine.report.journal().filter(|_| limit != RemovalLimit::None);
    let removed = journal.map_or(0, |journal| {
        journal.count_removals();
        journal.removed()
    });
    let mut planner = Planner {
        job,
        engine,
        plan,
        checks: Checks::of(job, engine),
        decided: Decided {
            transfers: Vec::new(),
            unseen: Vec::new(),
            removals: Vec::new(),
            held: BTreeMap::new(),
            doubtful: BTreeMap::new(),
            waiting: Vec::new(),
            folders: BTreeSet::new(),
            has_respelled: false,
            bytes: 0,
        },
        guard: RemovalGuard::new(limit).after(removed),
        refusal: None,
        has_hidden: None,
        has_warned_of_overlap: false,
        begun: Vec::new(),
    };
    let merged = merge(engine, (&mut source, &mut target), &mut planner).await;
    planner.finish_checks().await;
    let flushed = planner.push_all().await;
    match merged {
        Err(error) => engine.report.fatal(error),
        Ok(ControlFlow::Continue(())) if flushed.is_ok() => {
            planner.release(&source, target.seen).await;
            let Plan { removals, transfers, removed, place, .. } = planner.plan;
            if !planner.decided.waiting.is_empty() {
                drop(removals);
                removed.cancelled().await;
                // Where files stay, these fail.
                let Decided { waiting, mut folders, .. } = planner.decided;
                keep_folders_of(&waiting, &mut folders);
                remove_folders::<A>(engine, &place, folders).await;
                let _ = transfers.push(waiting).await;
            }
            engine.report.plan_complete();
        }
        // The receiving side is closed, or a shard has ended.
        Ok(_) => {}
    }
    if let Some(refusal) = planner.refusal {
        engine.report.fatal(refusal.error(job));
    }
}

impl<A: Targeted, D: Action> Visitor for Planner<'_, A, D> {
    async fn flush(&mut self, looked: Looked<'_>) -> ControlFlow<()> {
        self.note(looked);
        let is_last = self.ends_at(looked);
        flow(self.push_all().await.is_ok() && !is_last)
    }

    async fn visit(&mut self, mut joined: Joined<'_>) -> ControlFlow<()> {
        match joined.presence {
            _ if self.is_settled(&joined) => {}
            Presence::Source if joined.is_source_wanted() => {
                if self.may_hide(&mut joined) {
                    self.transfer_unseen(joined.source_row());
                } else {
                    self.transfer(joined.source_row(), None, Reason::Missing);
                }
            }
            Presence::Both if joined.is_source_wanted() => self.compare(&joined).await,
            Presence::Target if self.job.spec.sync.delete && joined.is_target_wanted() => {
                self.remove_alone(&mut joined).await;
            }
            _ => {}
        }
        let is_heavy = self.job.spec.shard.is_some() && self.decided.bytes >= SLICE_BYTES;
        let is_shown = self.job.spec.dry_run && !self.job.spec.plans;
        if self.decided.is_full() || is_shown || is_heavy {
            self.note(joined.looked());
            let is_last = self.ends_at(joined.looked());
            return flow(self.push_all().await.is_ok() && !is_last);
        }
        ControlFlow::Continue(())
    }
}

/// Whether a folder without files gives way to a file.
fn may_remove_folders(job: &Prepared) -> bool {
    let spec = &job.spec;
    let is_kept = spec.dry_run || spec.no_overwrite;
    spec.sync.delete && job.plan.action == ActionKind::Download && !is_kept
}

/// Takes out the folders that something is written below.
fn keep_folders_of<A: Targeted>(actions: &[A], folders: &mut BTreeSet<String>) {
    if !folders.is_empty() {
        for folder in actions.iter().flat_map(|action| folders_of(action.target_name())) {
            folders.remove(folder);
        }
    }
}

/// Removes folders that downloads wait for, where no files are left in them.
async fn remove_folders<A: Targeted>(engine: &Engine, place: &A::Place, folders: BTreeSet<String>) {
    if folders.is_empty() || engine.report.ends_early() || engine.stop.is_cancelled() {
        return;
    }
    let place = place.clone();
    blocking(move || folders.iter().for_each(|folder| A::remove_folder(&place, folder))).await;
}

/// An action of a plan, with both sides as they were found.
fn with_states<A: Action>(
    (action, source): (A, State),
    target: Option<State>,
    reason: Reason,
) -> A {
    action.because(reason).expecting(Expected::new(source, TargetState::of(target)))
}

/// Names of the folders that a file lies in.
fn folders_of(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| &name[..at])
}

fn flow(is_open: bool) -> ControlFlow<()> {
    if is_open { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

impl<A: Targeted, D: Action> Planner<'_, A, D> {
    /// Whether an earlier run dealt with a name.
    fn is_settled(&self, joined: &Joined<'_>) -> bool {
        let Some(journal) = self.engine.report.journal() else { return false };
        let source = joined.source();
        let Some(entry) = source.or(joined.target()) else { return false };
        let name = entry.relative();
        if !journal.has_looked_at(name) {
            return false;
        }
        // Removals that wait for the end are decided anew; none has been done before it.
        let is_held = matches!(self.job.spec.sync.max_delete, RemovalLimit::Percent(_))
            || self.is_doubtful(name);
        match source {
            None if is_held => journal.settled().is_some_and(|settled| name <= &*settled.name),
            None => journal.has_settled(name, entry.mark(journal, true), false),
            Some(_) => journal.has_settled(name, entry.mark(journal, false), false),
        }
    }

    /// Whether a key that comes later in order may be written to the file of this name.
    fn is_doubtful(&self, name: &str) -> bool {
        self.job.plan.action == ActionKind::Download && may_follow(name)
    }

    /// What was decided on an entry of the source has to be done.
    fn begin(&mut self, entry: Entry<'_>) {
        if let Some(journal) = self.engine.report.journal() {
            self.begun.push(entry.mark(journal, false));
        }
    }

    /// Notes what has to be done, and how far both sides were looked through. A run that is resumed
    /// asks again for what was refused, and again for what a source without names did not have.
    fn note(&mut self, looked: Looked<'_>) {
        let may_be_missing = looked.source_seen == 0 && !self.job.spec.sync.allow_empty_source;
        if let Some(journal) = self.engine.report.journal() {
            journal.begun(std::mem::take(&mut self.begun));
            let position = looked.position();
            // Without a name, nothing has been visited yet.
            if !position.name.is_empty() && self.refusal.is_none() && !may_be_missing {
                journal.looked(position);
            }
        }
    }

    /// Whether a shard ends here.
    fn ends_at(&self, looked: Looked<'_>) -> bool {
        let shard = self.job.spec.shard.as_ref();
        shard.is_some_and(|shard| shard.ends_at(&looked.position().name))
    }

    fn transfer(&mut self, row: (&EntryBatch, usize), target: Option<Entry<'_>>, reason: Reason) {
        if let Some((action, source)) = self.make(row) {
            self.decide((action, source), target.map(|target| target.state()), reason);
        }
    }

    fn make(&mut self, (batch, row): (&EntryBatch, usize)) -> Option<(A, State)> {
        let taken = Taken::of_row(batch, row)?;
        let source = taken.entry;
        self.begin(source);
        let action = (self.plan.make_transfer)(self.job, self.engine, taken)?;
        Some((action, source.state()))
    }

    fn decide(&mut self, (action, source): (A, State), target: Option<State>, reason: Reason) {
        self.decided.bytes += action.bytes();
        let action = if self.job.spec.says_states() {
            with_states((action, source), target, reason)
        } else {
            action.because(reason)
        };
        if self.waits(action.target_name()) {
            self.decided.waiting.push(action);
        } else {
            self.decided.transfers.push(action);
        }
    }

    /// Whether a download waits for the end, because a file whose removal waits for that stands
    /// where it needs a folder.
    fn waits(&self, name: &str) -> bool {
        let Decided { held, doubtful, waiting, .. } = &self.decided;
        let is_held = |file| held.contains_key(file) || doubtful.contains_key(file);
        self.job.plan.action == ActionKind::Download
            && waiting.len() < HELD_MAX
            && !(held.is_empty() && doubtful.is_empty())
            && folders_of(name).any(is_held)
    }

    /// Whether a plan has to look for what the target did not show: its filter leaves the name
    /// out, the file has another name than the key, or the place could not be read.
    fn may_hide(&self, joined: &mut Joined<'_>) -> bool {
        if !self.job.spec.plans {
            return false;
        }
        let is_download = self.job.plan.action == ActionKind::Download;
        let is_respelled = |name| is_download && matches!(collapse(name), Cow::Owned(_));
        let is_hidden = joined.source().is_some_and(|source| {
            let name = source.relative();
            !self.job.target_filter.includes(name) || is_respelled(name)
        });
        is_hidden || joined.may_be_on_both()
    }

    /// Plans what the target did not show; what is there is looked up when it is queued.
    fn transfer_unseen(&mut self, row: (&EntryBatch, usize)) {
        let Some((action, source)) = self.make(row) else { return };
        self.decided.bytes += action.bytes();
        if self.waits(action.target_name()) {
            let action = with_states((action, source), None, Reason::Missing);
            return self.decided.waiting.push(action);
        }
        let Decided { transfers, unseen, .. } = &mut self.decided;
        unseen.push((transfers.len(), source));
        transfers.push(action);
    }

    /// What is to be queued, with what was found of the targets that were not shown.
    async fn looked_up(&mut self) -> Vec<A> {
        let transfers = std::mem::take(&mut self.decided.transfers);
        let unseen = std::mem::take(&mut self.decided.unseen);
        if unseen.is_empty() {
            return transfers;
        }
        let (engine, place) = (self.engine, &self.plan.place);
        let looks =
            unseen.iter().map(|(at, _)| A::find(engine, place, transfers[*at].target_name()));
        let found = join_all(looks).await;
        let mut transfers: Vec<_> = transfers.into_iter().map(Some).collect();
        for ((at, source), found) in unseen.into_iter().zip(found) {
            let Some(action) = transfers[at].take() else { continue };
            transfers[at] = match found {
                Ok(None) => Some(with_states((action, source), None, Reason::Missing)),
                Ok(Some(_)) if self.job.spec.no_overwrite => None,
                Ok(Some(found)) => {
                    let found = Some(found.get().state());
                    Some(with_states((action, source), found, Reason::Overwrite))
                }
                Err(error) => {
                    engine.report.planned(0);
                    let event = ObjectEvent { bytes: 0, ..action.event(engine, place) };
                    engine.conclude(event, Err(error));
                    None
                }
            };
        }
        transfers.into_iter().flatten().collect()
    }

    /// Compares what both sides have under one name.
    async fn compare(&mut self, joined: &Joined<'_>) {
        let (Some(source), Some(target)) = (joined.source(), joined.target()) else { return };
        let (facts, other) = (source.facts(), target.facts());
        let rule = Checks::listing_rule(self.job);
        if let Some(reason) = difference(rule, self.job.plan.action, facts, other) {
            self.transfer(joined.source_row(), Some(target), reason);
        } else if let Some(checks) = &mut self.checks
            && checks.concern(facts.size)
            && let Some(pair) = joined.pair()
        {
            let ended = checks.submit(pair).await;
            self.begin(source);
            self.take(ended);
        }
    }

    /// Plans what was found to differ.
    fn take(&mut self, ended: impl IntoIterator<Item = Checked>) {
        for Checked { pair, decision } in ended {
            match decision {
                Ok(Some(reason)) => {
                    let target = Some(pair.target.get());
                    self.transfer((pair.source.batch(), 0), target, reason);
                }
                Ok(None) => {
                    if let Some(journal) = self.engine.report.journal() {
                        // A pair may be looked at before its page has been written down.
                        journal.begun(std::mem::take(&mut self.begun));
                        journal.same(pair.source.get().mark(journal, false));
                    }
                }
                Err(error) => Checks::fail(self.job, self.engine, &pair, error),
            }
        }
    }

    /// Waits for the pairs that are still being looked at. If the receiving side is closed the job
    /// was cancelled, and the rest does not matter.
    async fn finish_checks(&mut self) {
        let Some(mut checks) = self.checks.take() else { return };
        while let Some(checked) = checks.next().await {
            self.take([checked]);
            if self.decided.is_full() && self.push_all().await.is_err() {
                return;
            }
        }
    }

    /// Queues what has been decided.
    async fn push_all(&mut self) -> Result<(), Closed> {
        if let Some(journal) = self.engine.report.journal() {
            journal.begun(std::mem::take(&mut self.begun));
        }
        self.decided.bytes = 0;
        let transfers = self.looked_up().await;
        let transfers = self.without_folders(transfers).await;
        // A file may stand where a download needs a folder.
        self.plan.removals.push(std::mem::take(&mut self.decided.removals)).await?;
        self.plan.transfers.push(transfers).await
    }

    /// Has downloads wait for the end where a folder is in their place, whose files come later in
    /// order.
    async fn without_folders(&mut self, transfers: Vec<A>) -> Vec<A> {
        if transfers.is_empty() || !may_remove_folders(self.job) {
            return transfers;
        }
        let is_respelled = |action: &A| matches!(collapse(action.target_name()), Cow::Owned(_));
        self.decided.has_respelled |= transfers.iter().any(is_respelled);
        let (mut late, mut now) = (Vec::new(), transfers);
        if self.decided.waiting.len() < HELD_MAX && now.iter().any(A::is_of_missing) {
            let place = self.plan.place.clone();
            let meets = move |action: &A| action.is_of_missing() && action.meets_folder(&place);
            (late, now) = blocking(move || now.into_iter().partition(meets)).await;
        }
        let Decided { waiting, folders, has_respelled, .. } = &mut self.decided;
        folders.extend(late.iter().map(|action| action.target_name().to_owned()));
        waiting.extend(late);
        // One below which something is written stays.
        if *has_respelled {
            folders.clear();
        }
        keep_folders_of(&now, folders);
        now
    }

    /// Whether a name that only the target has stays nonetheless: the source's filter leaves it
    /// out, or it is of the source itself.
    fn keeps(&mut self, entry: Entry<'_>) -> bool {
        let name = entry.relative();
        let is_of_source = self.job.is_of_source(name);
        if is_of_source && !std::mem::replace(&mut self.has_warned_of_overlap, true) {
            let source = &self.job.spec.source;
            self.engine.report.warning(format!(
                "the source `{source}` and the target overlap: nothing is removed from the source"
            ));
        }
        is_of_source || !self.job.filter.includes(name)
    }

    /// Removes what only the target has, unless the source may have it.
    async fn remove_alone(&mut self, joined: &mut Joined<'_>) {
        if joined.may_be_on_both() || joined.target().is_none_or(|entry| self.keeps(entry)) {
            return;
        }
        self.refuse_empty(joined).await;
        if let Some(entry) = joined.target() {
            self.remove(entry);
        }
    }

    /// Refuses all removals if the source has nothing at all, unless that was asked for. What is
    /// left out of it is something, too; a folder that is left out as a whole was not looked into.
    async fn refuse_empty(&mut self, joined: &Joined<'_>) {
        if self.refusal.is_some()
            || self.job.spec.sync.allow_empty_source
            || !joined.is_source_empty()
        {
            return;
        }
        if self.has_hidden.is_none() {
            let is_folder = matches!(self.job.plan.source, Side::Local(_));
            let all = Arc::new(Filter::all());
            let asked = is_folder && has_any(self.job, self.engine, &all).await.unwrap_or(false);
            self.has_hidden = Some(asked);
        }
        if self.has_hidden == Some(false) {
            let is_unread = joined.has_source_gaps();
            let refusal = if is_unread { Refusal::UnreadSource } else { Refusal::EmptySource };
            self.refusal = Some(refusal);
        }
    }

    fn remove(&mut self, entry: Entry<'_>) {
        if self.refusal.is_some() {
            return;
        }
        let mut removal = (self.plan.make_removal)(entry);
        if self.job.spec.says_states() {
            let expected = Expected::new(entry.state(), TargetState::Unknown);
            removal = removal.map(|removal| removal.expecting(expected));
        }
        let Some(removal) = removal else { return };
        let mark = self.engine.report.journal().map(|journal| entry.mark(journal, true));
        if !self.is_doubtful(entry.relative()) {
            return self.ask_for(entry.relative(), removal, mark);
        }
        if self.may_hold() {
            let file = entry.relative().to_owned();
            self.decided.doubtful.insert(file, Doubtful { mark, removal });
        }
    }

    /// Has something removed, now or at the end, if it is within the limit.
    fn ask_for(&mut self, name: &str, removal: D, mark: Option<Mark>) {
        match self.guard.ask() {
            Permit::Now => {
                self.begun.extend(mark);
                self.decided.removals.push(removal);
            }
            Permit::Later => {
                if self.may_hold() {
                    self.decided.held.insert(name.to_owned(), removal);
                }
            }
            Permit::Refused => self.refusal = Some(Refusal::Limit),
        }
    }

    /// Whether one removal more may wait for the end.
    fn may_hold(&mut self) -> bool {
        let Decided { held, doubtful, .. } = &self.decided;
        match held.len() + doubtful.len() {
            // One that is never done keeps the job from going on behind it.
            0 => self.begun.push(Mark::HELD),
            HELD_MAX.. => self.refusal = Some(Refusal::TooManyHeld),
            _ => {}
        }
        self.refusal.is_none()
    }

    /// Removes what waited for the end, if it is within the limit.
    async fn release(&mut self, source: &SideStream, names: u64) {
        for (file, Doubtful { mark, removal }) in std::mem::take(&mut self.decided.doubtful) {
            if self.refusal.is_none() && !source.may_be_respelled(&file) {
                self.ask_for(&file, removal, mark);
            }
        }
        if self.push_all().await.is_err() {
            return;
        }
        let held = std::mem::take(&mut self.decided.held);
        if self.refusal.is_some() {
            return;
        }
        if self.guard.allows_all(held.len() as u64, names) {
            // The receiving side is closed if the job was cancelled.
            let _ = self.plan.removals.push(held.into_values().collect()).await;
        } else {
            self.refusal = Some(Refusal::Limit);
        }
    }
}

impl<A, D> Decided<A, D> {
    fn is_full(&self) -> bool {
        self.transfers.len() >= GATHERED_MAX || self.removals.len() >= GATHERED_MAX
    }
}

impl Refusal {
    fn error(self, job: &Prepared) -> Error {
        let message = match (self, job.spec.sync.max_delete) {
            (Self::EmptySource, _) => format!(
                "the source `{}` is empty, so everything in the target would be removed: nothing \
                 was removed; if that is intended, give --allow-empty-source",
                job.spec.source
            ),
            (Self::UnreadSource, _) => format!(
                "nothing could be read in the source `{}`, so everything in the target would be \
                 removed: nothing was removed; if that is intended, give --allow-empty-source",
                job.spec.source
            ),
            (Self::TooManyHeld, _) => format!(
                "more than {HELD_MAX} removals are waiting for the end of the listing: these were \
                 left in place; with a percentage as --max-delete, give a number instead"
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
        Error::new(ErrorKind::RemovalRefused, message)
    }
}
