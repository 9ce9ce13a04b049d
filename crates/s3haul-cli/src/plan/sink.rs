//! Events of a command that is planned: what it would do is written down, the rest is printed.

use std::sync::Arc;

use s3haul::event::{Event, EventSink, Outcome};

use super::writer::PlanWriter;
use crate::render::CommandSink;

/// Writes a plan.
pub(crate) struct Planning {
    /// Prints.
    pub(crate) sink: Arc<CommandSink>,
    /// Writes down.
    pub(crate) plan: Arc<PlanWriter>,
}

impl EventSink for Planning {
    fn emit(&self, event: &Event) {
        match event {
            Event::Object(object) if matches!(object.outcome, Outcome::DryRun) => {
                self.plan.push(object);
            }
            event => self.sink.emit(event),
        }
    }
}
