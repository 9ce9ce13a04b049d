//! Takes the events of a job and prints them: as the lines of `aws s3`, byte for byte, or as JSON.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use s3haul::event::{ActionKind, Event, EventSink, ObjectEvent, Outcome};
use s3haul::job::value::OutputLines;
use s3haul::location::{Location, ObjectName};
use s3haul::plan::paths::display_local;
use s3haul_wire::Error;

use super::archive::ArchiveRow;
use super::escape::push_name;
use super::events;
use super::failures::{self, Failures};
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
    failures: Mutex<Failures>,
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
            failures: Mutex::default(),
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
        if error.is_missing_object() {
            self.lacks_object.store(true, Ordering::Relaxed);
        }
        self.keep(hints::for_error(error));
    }

    fn count_failure(&self, event: &ObjectEvent, error: &Error) {
        let mut subject = Vec::new();
        self.error.push_location(&mut subject, &event.source);
        self.error.push_version(&mut subject, event);
        let (cause, message) = (failures::of_error(error), reason(error, event));
        self.failures().add(cause, &String::from_utf8_lossy(&subject), &message);
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What failed so far, which is counted anew from here.
    pub(crate) fn take_failures(&self) -> Failures {
        std::mem::take(&mut *self.failures())
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
        match event {
            Event::Object(object) => {
                if let Outcome::Failed(error) = &object.outcome {
                    self.count_failure(object, error);
                }
            }
            Event::Fatal { error } => self.failures().end_by(error.to_string()),
            _ => {}
        }
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

/// How names are shown.
#[derive(Clone, Debug)]
struct LineStyle {
    /// Working directory that local paths are shown relative to.
    working_dir: String,
    /// Control characters are escaped.
    escape: bool,
    /// What a command on tags does to them, after the word `tag`.
    tag_change: Option<&'static str>,
}

impl LineStyle {
    /// Appends the line of an object: `upload: ./a to s3://b/a`, `(dryrun) delete: s3://b/a`,
    /// `download failed: s3://b/a to ./a REASON`.
    fn push_object(&self, buffer: &mut Vec<u8>, event: &ObjectEvent) {
        if matches!(event.outcome, Outcome::DryRun) {
            buffer.extend_from_slice(b"(dryrun) ");
        }
        buffer.extend_from_slice(verb(event).as_bytes());
        if let Some(change) = self.tag_change {
            buffer.push(b' ');
            buffer.extend_from_slice(change.as_bytes());
        }
        let failed = matches!(event.outcome, Outcome::Failed(_));
        buffer.extend_from_slice(if failed { b" failed: " } else { b": " });
        self.push_location(buffer, &event.source);
        self.push_version(buffer, event);
        if let Some(target) = &event.target {
            buffer.extend_from_slice(b" to ");
            self.push_location(buffer, target);
        }
        if let Outcome::Failed(error) = &event.outcome {
            buffer.push(b' ');
            push_name(buffer, &reason(error, event), self.escape);
        }
        buffer.push(b'\n');
    }

    /// Appends which version was removed.
    fn push_version(&self, buffer: &mut Vec<u8>, event: &ObjectEvent) {
        let is_removal = matches!(event.action, ActionKind::Delete | ActionKind::Undelete);
        if let Some(version_id) = event.source.version_id().filter(|_| is_removal) {
            buffer.extend_from_slice(b" (version ");
            push_name(buffer, version_id, self.escape);
            buffer.push(b')');
        }
    }

    fn push_location(&self, buffer: &mut Vec<u8>, location: &Location) {
        match location {
            Location::Object(name) => {
                buffer.extend_from_slice(b"s3://");
                push_name(buffer, &name.bucket, self.escape);
                buffer.push(b'/');
                push_name(buffer, &name.key, self.escape);
            }
            Location::Local(path) => {
                let shown = display_local(&path.to_string_lossy(), &self.working_dir);
                push_name(buffer, &shown, self.escape);
            }
            Location::Stream => buffer.push(b'-'),
        }
    }

    /// Appends free text and a line feed.
    fn push_text(&self, buffer: &mut Vec<u8>, prefix: &str, text: &str) {
        buffer.extend_from_slice(prefix.as_bytes());
        push_name(buffer, text, self.escape);
        buffer.push(b'\n');
    }
}

/// Why an object failed. The path of its file, which stands in the line already, is not repeated.
fn reason(error: &Error, event: &ObjectEvent) -> String {
    let text = error.to_string();
    let sides = [Some(&event.source), event.target.as_ref()];
    sides.into_iter().flatten().fold(text, |text, side| match side {
        Location::Local(path) => text.replace(&format!("`{}`", path.display()), "the file"),
        _ => text,
    })
}

/// The word that `aws s3` has for an action.
fn verb(event: &ObjectEvent) -> &'static str {
    match event.action {
        ActionKind::Delete => "delete",
        ActionKind::Tag => "tag",
        ActionKind::Set => "set",
        ActionKind::Restore => "restore",
        ActionKind::Undelete => "undelete",
        _ if event.is_move => "move",
        ActionKind::Upload => "upload",
        ActionKind::Download => "download",
        ActionKind::Copy => "copy",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul_wire::ErrorKind;
    use s3haul_wire::error::ServiceError;

    fn line(
        action: ActionKind,
        is_move: bool,
        source: Location,
        target: Option<Location>,
        outcome: Outcome,
    ) -> String {
        let (bytes, reason, expected) = (0, None, None);
        let event =
            ObjectEvent { action, is_move, source, target, bytes, reason, expected, outcome };
        let tag_change = (action == ActionKind::Tag).then_some("add");
        let style = LineStyle { working_dir: "/w/d".into(), escape: false, tag_change };
        let mut buffer = Vec::new();
        style.push_object(&mut buffer, &event);
        String::from_utf8(buffer).unwrap()
    }

    fn local(path: &str) -> Location {
        Location::Local(path.into())
    }

    fn object(bucket: &str, key: &str) -> Location {
        Location::Object(ObjectName::new(bucket, key))
    }

    #[test]
    fn lines_are_those_of_aws() {
        use ActionKind::{Copy, Delete, Download, Tag, Undelete, Upload};
        let v = || Location::Object(ObjectName::new("b", "k").in_version(Some("1".into())));
        let b = || object("b", "k/l");
        let lines = [
            (
                line(Upload, false, local("/w/d/f"), Some(b()), Outcome::Done),
                "upload: ./f to s3://b/k/l\n",
            ),
            (
                line(Download, false, b(), Some(local("/w/x/f")), Outcome::Done),
                "download: s3://b/k/l to ../x/f\n",
            ),
            (
                line(Download, false, b(), Some(local("/w/d/e/f")), Outcome::DryRun),
                "(dryrun) download: s3://b/k/l to e/f\n",
            ),
            (
                line(Copy, false, b(), Some(object("c", "k")), Outcome::Done),
                "copy: s3://b/k/l to s3://c/k\n",
            ),
            (
                line(Upload, true, local("/w/d/f"), Some(b()), Outcome::Done),
                "move: ./f to s3://b/k/l\n",
            ),
            (line(Delete, false, b(), None, Outcome::DryRun), "(dryrun) delete: s3://b/k/l\n"),
            (line(Tag, false, b(), None, Outcome::Done), "tag add: s3://b/k/l\n"),
            (line(Delete, false, v(), None, Outcome::Done), "delete: s3://b/k (version 1)\n"),
            (line(Undelete, false, v(), None, Outcome::Done), "undelete: s3://b/k (version 1)\n"),
            (
                line(Download, false, v(), Some(local("/w/d/f")), Outcome::Done),
                "download: s3://b/k to ./f\n",
            ),
            (
                line(Upload, false, Location::Stream, Some(b()), Outcome::Done),
                "upload: - to s3://b/k/l\n",
            ),
        ];
        for (line, expected) in lines {
            assert_eq!(line, expected);
        }
    }

    #[test]
    fn a_long_name_stands_in_a_line_for_each_side_and_no_more() {
        let name = "n".repeat(300);
        let path = format!("/w/d/{name}");
        let cause = std::io::Error::other("File name too long");
        let error = Error::local("could not create", path.as_ref(), cause);
        let (source, target) = (object("b", &name), Some(local(&path)));
        assert_eq!(
            line(ActionKind::Download, false, source, target, Outcome::Failed(error)),
            format!(
                "download failed: s3://b/{name} to ./{name} could not create the file: File name \
                 too long\n"
            )
        );
    }

    #[test]
    fn failures_end_with_the_reason() {
        let service = ServiceError {
            code: "AccessDenied".into(),
            message: "Access Denied".into(),
            ..ServiceError::default()
        };
        let error = Error::service(ErrorKind::AccessDenied, "PutObject", service);
        let (source, target) = (local("/w/d/f"), Some(object("b", "k")));
        assert_eq!(
            line(ActionKind::Upload, false, source, target, Outcome::Failed(error)),
            "upload failed: ./f to s3://b/k An error occurred (AccessDenied) when calling the \
             PutObject operation: Access Denied\n"
        );
    }
}
