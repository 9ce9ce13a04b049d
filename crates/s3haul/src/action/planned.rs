//! What all actions have in common: how they are counted, reported and done.

use std::sync::Arc;

use async_channel::Receiver;

use crate::engine::core::Engine;
use crate::event::{ObjectEvent, Outcome};
use crate::plan::compare::Reason;
use s3haul_wire::units::RequestCounts;

/// What can be counted and queued.
pub(crate) trait Planned: Send + Sized + 'static {
    /// Actions that are queued together at most.
    const BATCH_MAX: usize = 256;

    /// Bytes that it will move.
    fn bytes(&self) -> u64 {
        0
    }

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
