//! Actions, and the queue between planning and acting: bounded, and where a dry run ends.

use std::sync::Arc;

use async_channel::{Receiver, Sender};

use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::event::{ObjectEvent, Outcome};
use crate::plan::compare::Reason;
use crate::plan::expected::Expected;
use s3haul_wire::units::RequestCounts;

/// What can be counted and queued.
pub(crate) trait Planned: Send + Sized + 'static {
    /// Actions that are queued together at most.
    const BATCH_MAX: usize = 256;

    /// Bytes that it will move.
    fn bytes(&self) -> u64 {
        0
    }

    /// The same with both sides as they were found, which they must still be when it is done.
    #[must_use]
    fn expecting(self, expected: Box<Expected>) -> Self;

    /// Requests that it takes when nothing fails, and keys that are removed together with others.
    fn requests(&self, engine: &Engine) -> (RequestCounts, u64);
}

/// One thing to be done to one object or file.
pub(crate) trait Action: Planned {
    /// What all actions of a queue have in common: where they write, or where they remove.
    type Place: Clone + Send + Sync + 'static;

    /// The same with the reason that a comparison gave; what needs none drops it.
    #[must_use]
    fn because(self, _reason: Reason) -> Self {
        self
    }

    /// Its event; the outcome, which is that of a dry run, is replaced by the real one.
    fn event(self, engine: &Engine, place: &Self::Place) -> ObjectEvent;

    /// Does all that comes until the channel closes.
    fn run(
        engine: Arc<Engine>,
        place: Self::Place,
        actions: Receiver<Vec<Self>>,
    ) -> impl Future<Output = ()> + Send;

    /// Reports that it is left out before it is queued.
    fn leave_out(self, engine: &Engine, place: &Self::Place) {
        engine.report.planned(self.bytes());
        let event = self.event(engine, place);
        engine.report.object(ObjectEvent { outcome: Outcome::Skipped, ..event });
    }
}

/// A queue of actions, and the future that does them.
pub(crate) fn start<A: Action>(
    engine: &Arc<Engine>,
    place: A::Place,
) -> (Queue<A>, impl Future<Output = ()> + Send + use<A>) {
    let described = place.clone();
    let describe = move |engine: &Engine, action: A| action.event(engine, &described);
    let (queue, actions) = Queue::new(engine, Some(Box::new(describe)));
    (queue, A::run(Arc::clone(engine), place, actions))
}

/// The event of an action that is not done: in a dry run, or after the job ended early. The outcome
/// is filled in.
type Describe<A> = Box<dyn Fn(&Engine, A) -> ObjectEvent + Send + Sync>;

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
    fn new(engine: &Arc<Engine>, describe: Option<Describe<A>>) -> (Self, Receiver<Vec<A>>) {
        let batches = engine.settings.tuning.max_queue_size / A::BATCH_MAX;
        let (sender, receiver) = async_channel::bounded(batches.max(1));
        let engine = Arc::clone(engine);
        let (screen, is_silent) = (None, false);
        (Self { engine, sender, describe, screen, is_silent }, receiver)
    }

    /// A queue that passes everything on, also in a dry run and after an early end.
    pub(crate) fn passing(engine: &Arc<Engine>) -> (Self, Receiver<Vec<A>>) {
        Self::new(engine, None)
    }

    /// The same for actions that are reported as planned elsewhere, if at all.
    #[must_use]
    pub(crate) fn silent(self) -> Self {
        Self { is_silent: true, ..self }
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
        self.engine.settings.is_dry_run || self.engine.report.ends_early()
    }

    /// The event of an action that is not done; a dry run counts its requests.
    fn undone(&self, describe: &Describe<A>, action: A) -> ObjectEvent {
        if !self.engine.settings.is_dry_run {
            let event = describe(&self.engine, action);
            return ObjectEvent { outcome: Outcome::NotTried, ..event };
        }
        let (requests, keys) = action.requests(&self.engine);
        self.engine.report.would_send(requests, keys);
        let mut event = describe(&self.engine, action);
        if let Some(expected) = &mut event.expected {
            expected.requests = requests;
        }
        ObjectEvent { outcome: Outcome::DryRun, ..event }
    }

    /// Counts actions and splits them into batches; in a dry run, reports and drops them.
    fn prepare(&self, mut actions: Vec<A>) -> Vec<Vec<A>> {
        for action in actions.iter().filter(|_| !self.is_silent) {
            self.engine.report.planned(action.bytes());
        }
        if let Some(describe) = self.describe.as_ref().filter(|_| self.passes_nothing_on()) {
            for action in actions {
                self.engine.report.object(self.undone(describe, action));
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
