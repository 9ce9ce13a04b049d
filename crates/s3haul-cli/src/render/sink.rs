//! Takes the events of a job and prints them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use s3haul::event::{Event, EventSink, ObjectEvent, Outcome};
use s3haul::job::value::OutputLines;
use s3haul::location::{Location, ObjectName};
use s3haul_wire::Error;

use super::archive::ArchiveRow;
use super::events;
use super::lines::LineStyle;
use super::output::OutputSettings;
use super::tags;
use crate::hints;
use crate::printer::Printer;
use crate::progress::Totals;

/// Different hints that are shown at the end at most.
const HINTS_MAX: usize = 3;

/// Prints events as they come and counts them for the progress.
pub(crate) struct CommandSink {
    printer: Arc<Printer>,
    settings: OutputSettings,
    output: LineStyle,
    error: LineStyle,
    totals: Arc<Totals>,
    hints: Mutex<BTreeSet<String>>,
    /// An object was not there.
    lacks_object: AtomicBool,
}

impl CommandSink {
    /// Makes a sink.
    pub(crate) fn new(
        printer: Arc<Printer>,
        settings: OutputSettings,
        working_dir: &str,
        totals: Arc<Totals>,
    ) -> Self {
        let style = |escape| LineStyle {
            working_dir: working_dir.to_owned(),
            escape,
            tag_change: settings.tag_change,
        };
        let (output, error) =
            (style(printer.output_is_terminal()), style(printer.error_is_terminal()));
        Self {
            printer,
            settings,
            output,
            error,
            totals,
            hints: Mutex::default(),
            lacks_object: AtomicBool::new(false),
        }
    }

    fn object(&self, event: &ObjectEvent) {
        match &event.outcome {
            Outcome::Skipped | Outcome::NotTried => {}
            Outcome::Done if self.hides_done() => {}
            Outcome::Done | Outcome::DryRun => {
                self.printer.output(|buffer| self.output.push_object(buffer, event));
            }
            Outcome::Failed(error) => {
                // The reader of the data stopped reading: that is no failure to report.
                if event.target == Some(Location::Stream) && self.printer.output_is_closed() {
                    return;
                }
                self.printer.error(|buffer| self.error.push_object(buffer, event));
                self.keep_hint(error);
            }
        }
    }

    fn json(&self, event: &Event) {
        let is_line = match event {
            Event::Object(object) if self.settings.lines == OutputLines::Errors => {
                matches!(object.outcome, Outcome::Failed(_) | Outcome::NotTried | Outcome::DryRun)
            }
            Event::Tags { .. } | Event::Archive { .. } => self.settings.lines == OutputLines::All,
            Event::Object(_) | Event::Warning { .. } | Event::Fatal { .. } => true,
            Event::Planned { .. } | Event::PlanComplete | Event::Progress { .. } => false,
        };
        if is_line {
            self.printer
                .output(|buffer| events::push_event(buffer, event, self.settings.tag_change));
        }
    }

    /// Whether nothing is printed of an object that is done, or something else.
    fn hides_done(&self) -> bool {
        let OutputSettings { lines, tags, archive_states, .. } = self.settings;
        lines == OutputLines::Errors || tags.is_some() || archive_states
    }

    /// Whether tags are printed in a format of their own.
    pub(crate) fn prints_tags(&self) -> bool {
        self.settings.lines == OutputLines::All && !self.settings.json
    }

    fn tags(&self, object: &ObjectName, tags: &[(String, String)]) {
        if let Some(format) = self.settings.tags.filter(|_| self.prints_tags()) {
            let escape = self.output.escape;
            self.printer.output(|buffer| tags::push(buffer, format, escape, object, tags));
        }
    }

    fn keep_hint(&self, error: &Error) {
        if hints::is_missing_object(error) {
            self.lacks_object.store(true, Ordering::Relaxed);
        }
        self.keep(hints::for_error(error));
    }

    /// Whether a failure was shown for an object that is not there.
    pub(crate) fn lacks_object(&self) -> bool {
        self.lacks_object.load(Ordering::Relaxed)
    }

    /// Keeps a hint for the end.
    pub(crate) fn keep(&self, hint: Option<String>) {
        let mut kept = self.hints.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < HINTS_MAX {
            kept.extend(hint);
        }
    }

    fn text(&self, prefix: &str, text: &str) {
        self.printer.error(|buffer| self.error.push_text(buffer, prefix, text));
    }

    /// Prints a line to standard error unless the user wants silence.
    pub(crate) fn notice(&self, text: &str) {
        if self.settings.lines != OutputLines::None {
            self.text("", text);
        }
    }

    /// Prints the hints that were kept, each once.
    pub(crate) fn finish(&self) {
        for hint in std::mem::take(&mut *self.hints.lock().unwrap_or_else(PoisonError::into_inner))
        {
            self.text("hint: ", &hint);
        }
    }
}

impl EventSink for CommandSink {
    fn emit(&self, event: &Event) {
        self.totals.observe(event);
        if self.settings.lines == OutputLines::None {
            return;
        }
        if self.settings.json {
            return self.json(event);
        }
        match event {
            Event::Object(object) => self.object(object),
            Event::Tags { object, tags } => self.tags(object, tags),
            Event::Archive { object, storage_class, state, until } => {
                let row = ArchiveRow { object, storage_class, state, until: until.as_deref() };
                if self.settings.lines == OutputLines::All {
                    self.printer.output(|buffer| row.push(buffer, self.output.escape));
                }
            }
            Event::Warning { message } => self.text("warning: ", message),
            Event::Fatal { error } => {
                self.text("fatal error: ", &error.to_string());
                self.keep_hint(error);
            }
            Event::Planned { .. } | Event::PlanComplete | Event::Progress { .. } => {}
        }
    }
}
