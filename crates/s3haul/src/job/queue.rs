//! The queue between planning and acting: bounded, and where a dry run ends.

use std::sync::Arc;

use async_channel::{Receiver, Sender};

use crate::action::download::in_parts::asks_for_checksum;
use crate::action::request_counts::{
    of_copy, of_download, of_relay, of_restore, of_set, of_tags, of_upload,
};
use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::event::{ObjectEvent, Outcome};
use crate::plan::action::{
    CopyAction, DeleteAction, DownloadAction, RemoveFileAction, RestoreAction, SetAction,
    TagAction, UploadAction,
};
use crate::plan::compare::Reason;
use s3haul_wire::units::RequestCounts;

/// Actions that are handed over together, except deletions.
const BATCH_MAX: usize = 256;

/// An action that can be counted and reported.
pub(crate) trait Planned: Send + 'static {
    /// Actions that are handed over together at most.
    const BATCH_MAX: usize = BATCH_MAX;

    /// Bytes that it will move.
    fn bytes(&self) -> u64;

    /// Requests that it takes when nothing fails, and keys that are removed together with others.
    fn requests(&self, engine: &Engine) -> (RequestCounts, u64);

    /// The same with the reason that a comparison gave; what needs none drops it.
    #[must_use]
    fn because(self, _reason: Reason) -> Self
    where
        Self: Sized,
    {
        self
    }
}

impl Planned for UploadAction {
    fn bytes(&self) -> u64 {
        self.size
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_upload(&engine.settings, self.size), 0)
    }

    fn because(self, reason: Reason) -> Self {
        Self { reason: Some(reason), ..self }
    }
}

impl Planned for DownloadAction {
    fn bytes(&self) -> u64 {
        self.size
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_download(&engine.settings, self.size, asks_for_checksum(engine, self)), 0)
    }

    fn because(self, reason: Reason) -> Self {
        Self { reason: Some(reason), ..self }
    }
}

impl Planned for CopyAction {
    fn bytes(&self) -> u64 {
        self.size
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        let of = if engine.relays { of_relay } else { of_copy };
        (of(&engine.settings, self.size, self.head.is_some()), 0)
    }

    fn because(self, reason: Reason) -> Self {
        Self { reason: Some(reason), ..self }
    }
}

impl Planned for DeleteAction {
    /// One `DeleteObjects` takes as many.
    const BATCH_MAX: usize = 1000;

    fn bytes(&self) -> u64 {
        0
    }

    fn requests(&self, _: &Engine) -> (RequestCounts, u64) {
        (RequestCounts::default(), 1)
    }
}

impl Planned for TagAction {
    fn bytes(&self) -> u64 {
        0
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_tags(&engine.settings), 0)
    }
}

impl Planned for SetAction {
    fn bytes(&self) -> u64 {
        0
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_set(&engine.settings, self.size), 0)
    }
}

impl Planned for RestoreAction {
    fn bytes(&self) -> u64 {
        0
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_restore(&engine.settings, &self.storage_class), 0)
    }
}

impl Planned for RemoveFileAction {
    fn bytes(&self) -> u64 {
        0
    }

    fn requests(&self, _: &Engine) -> (RequestCounts, u64) {
        (RequestCounts::default(), 0)
    }
}

/// The event of an action that is not done: in a dry run, or after the job ended early. The outcome
/// is filled in.
pub(crate) type Describe<A> = Box<dyn Fn(&Engine, A) -> ObjectEvent + Send + Sync>;

/// Drops actions that need not be done, and reports them. Blocks.
type Screen<A> = Arc<dyn Fn(&Engine, Vec<A>) -> Screened<A> + Send + Sync>;

/// What is left of actions that were looked at.
pub(crate) struct Screened<A> {
    /// Those that are to be done.
    pub(crate) actions: Vec<A>,
    /// The job ends after them, and what is in flight is given up.
    pub(crate) is_end: bool,
}

/// The planner's end of the queue.
pub(crate) struct Queue<A> {
    engine: Arc<Engine>,
    sender: Sender<Vec<A>>,
    describe: Option<Describe<A>>,
    is_dry_run: bool,
    screen: Option<Screen<A>>,
    /// Queued actions are not reported.
    is_silent: bool,
}

/// The receiving side of the queue is closed.
#[derive(Debug)]
pub(crate) struct Closed;

impl<A: Planned> Queue<A> {
    /// A queue that holds `max_queue_size` actions, about. In a dry run it passes nothing on, and
    /// neither does it after an early end; without `describe` it always does.
    pub(crate) fn new(
        engine: &Arc<Engine>,
        describe: Option<Describe<A>>,
        is_dry_run: bool,
    ) -> (Self, Receiver<Vec<A>>) {
        let batches = engine.settings.tuning.max_queue_size / A::BATCH_MAX;
        let (sender, receiver) = async_channel::bounded(batches.max(1));
        let engine = Arc::clone(engine);
        let (screen, is_silent) = (None, false);
        (Self { engine, sender, describe, is_dry_run, screen, is_silent }, receiver)
    }

    /// A queue of actions that are reported as planned elsewhere, if at all.
    pub(crate) fn silent(
        engine: &Arc<Engine>,
        describe: Option<Describe<A>>,
    ) -> (Self, Receiver<Vec<A>>) {
        let (queue, actions) = Self::new(engine, describe, false);
        (Self { is_silent: true, ..queue }, actions)
    }

    /// Looks at actions on a thread that may block before they are queued by [`Self::push`].
    pub(crate) fn screen_with(&mut self, screen: Screen<A>) {
        self.screen = Some(screen);
    }

    /// Queues actions; waits while the queue is full.
    pub(crate) async fn push(&self, mut actions: Vec<A>) -> Result<(), Closed> {
        let mut is_end = false;
        if let Some(screen) = &self.screen {
            let (screen, engine) = (Arc::clone(screen), Arc::clone(&self.engine));
            Screened { actions, is_end } = blocking(move || screen(&engine, actions)).await;
        }
        for batch in self.prepare(actions) {
            self.sender.send(batch).await.map_err(|_| Closed)?;
        }
        if is_end {
            self.engine.stop.cancel();
            return Err(Closed);
        }
        self.check_open()
    }

    /// Whether planning has a purpose still.
    fn check_open(&self) -> Result<(), Closed> {
        let report = &self.engine.report;
        let is_over = report.ends_early() && !report.wants_untried();
        if is_over || self.sender.is_closed() { Err(Closed) } else { Ok(()) }
    }

    fn passes_nothing_on(&self) -> bool {
        self.is_dry_run || self.engine.report.ends_early()
    }

    /// The outcome of an action that is not done; a dry run counts its requests.
    fn undone(&self, action: &A) -> Outcome {
        if !self.is_dry_run {
            return Outcome::NotTried;
        }
        let (requests, keys) = action.requests(&self.engine);
        self.engine.report.would_send(requests, keys);
        Outcome::DryRun
    }

    /// Counts actions and splits them into batches; in a dry run, reports and drops them.
    fn prepare(&self, mut actions: Vec<A>) -> Vec<Vec<A>> {
        for action in actions.iter().filter(|_| !self.is_silent) {
            self.engine.report.planned(action.bytes());
        }
        if let Some(describe) = self.describe.as_ref().filter(|_| self.passes_nothing_on()) {
            for action in actions {
                let outcome = self.undone(&action);
                let event = describe(&self.engine, action);
                self.engine.report.object(ObjectEvent { outcome, ..event });
            }
            return Vec::new();
        }
        let mut batches = Vec::new();
        while actions.len() > A::BATCH_MAX {
            let rest = actions.split_off(A::BATCH_MAX);
            batches.push(std::mem::replace(&mut actions, rest));
        }
        if !actions.is_empty() {
            batches.push(actions);
        }
        batches
    }
}
