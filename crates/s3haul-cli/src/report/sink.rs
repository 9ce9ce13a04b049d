//! Events to two places: those that print, and the report.

use std::sync::Arc;

use s3haul::event::{Event, EventSink};

use super::row::Row;
use super::writer::ReportWriter;
use crate::render::CommandSink;

/// Hands events on and writes them down.
pub(crate) struct Recorded {
    /// Prints.
    pub(crate) sink: Arc<CommandSink>,
    /// Writes down.
    pub(crate) report: Arc<ReportWriter>,
}

impl EventSink for Recorded {
    fn emit(&self, event: &Event) {
        self.sink.emit(event);
        match event {
            Event::Object(object) => self.report.push(&Row::of(object)),
            Event::Warning { message } => self.report.push(&Row::text("warning", message)),
            Event::Fatal { error } => self.report.push(&Row::text("fatal", error.to_string())),
            Event::Planned { .. }
            | Event::PlanComplete
            | Event::Progress { .. }
            | Event::Tags { .. }
            | Event::Archive { .. } => {}
        }
    }

    fn wants_untried(&self) -> bool {
        true
    }
}
