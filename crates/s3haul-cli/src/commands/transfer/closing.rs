//! What is said at the end of a run in which something failed: how much for which cause, the first
//! of it, and what to type to try it again.

use s3haul::job::Summary;
use s3haul::job::value::OutputLines;

use crate::commands::shared::note_failure;
use crate::printer::Printer;
use crate::render::OutputSettings;
use crate::render::escape::push_name;
use crate::render::events::Failed;
use crate::render::failures::{CHANGED, Failures, IMPOSSIBLE};
use crate::settings::{Advice, Again};

/// Failures that a reader of a pipe or file has in view, so that they are not repeated.
const IN_VIEW_MAX: u64 = 3;

/// The end of a run.
pub(super) struct Closing<'a> {
    pub(super) printer: &'a Printer,
    pub(super) output: OutputSettings,
    pub(super) again: &'a Again,
    pub(super) failures: Failures,
    /// What goes on with the run's journal, where it has one.
    pub(super) resume: Option<Advice>,
    /// It wrote a whole report.
    pub(super) has_report: bool,
}

impl Closing<'_> {
    /// Prints it to standard error, after all else; gives what programs want to know of it.
    pub(super) fn print(self, summary: &Summary) -> Option<Failed> {
        note_failure(self.failures.first(summary.failed));
        let OutputSettings { lines, json, .. } = self.output;
        let is_due = is_due(summary, self.printer.error_is_terminal(), self.again.is_as_aws());
        let is_typed = self.again.is_typed() && self.printer.is_of_process();
        let is_shown = is_due && is_typed && !json;
        let is_resumed = self.resume.is_some();
        let advice = self.lasting(summary).or(self.resume).or_else(|| {
            let fails = summary.failed > 0 && !summary.cancelled;
            fails.then(|| self.again.advice(self.has_report))
        });
        if lines != OutputLines::None {
            self.printer.error(|buffer| {
                if is_shown && !ended_early(summary) {
                    self.failures.push(buffer, summary.failed);
                }
                if let Some(advice) = advice.as_ref().filter(|_| is_shown || is_resumed) {
                    push_name(buffer, &format!("note: {}", advice.text), true);
                    buffer.push(b'\n');
                }
            });
        }
        let causes = self.failures.causes();
        let retry = advice.and_then(|advice| advice.command);
        (summary.failed > 0).then_some(Failed { causes, retry })
    }

    /// What is said where all that failed would fail alike for ever.
    fn lasting(&self, summary: &Summary) -> Option<Advice> {
        if summary.cancelled || ended_early(summary) {
            return None;
        }
        if self.failures.is_all(CHANGED) {
            return Some(self.again.advice(false));
        }
        let text = "what failed is not possible as it was asked for, and fails alike if it is \
                    tried again";
        let is_lasting = self.failures.is_all(IMPOSSIBLE);
        is_lasting.then(|| Advice { command: None, text: text.to_owned() })
    }
}

/// Whether failures are summed up. Scripts that were written for `aws s3` find nothing in a pipe
/// that `aws` does not write; one object has its line, and what ends a job early has one, too.
fn is_due(summary: &Summary, is_terminal: bool, is_as_aws: bool) -> bool {
    let Summary { done, skipped, failed, not_tried, .. } = *summary;
    let has_several = done + skipped + failed + not_tried > 1;
    let is_out_of_view = failed > IN_VIEW_MAX && !ended_early(summary) && !is_as_aws;
    failed > 0 && has_several && (is_terminal || is_out_of_view)
}

/// Whether the rest was not tried, as it would have failed alike.
fn ended_early(summary: &Summary) -> bool {
    summary.fatal || summary.not_tried > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_summed_up_where_they_are_out_of_view() {
        let run = |done, failed| Summary { done, failed, ..Summary::default() };
        let fatal = Summary { fatal: true, ..run(0, 5) };
        let untried = Summary { not_tried: 9, ..run(0, 5) };
        for (summary, is_terminal, is_as_aws, expected) in [
            (run(9, 0), true, false, false),
            (run(0, 1), true, false, false),
            (run(1, 1), true, false, true),
            (run(1, 1), true, true, true),
            (run(1, 3), false, false, false),
            (run(1, 4), false, false, true),
            (run(1, 4), false, true, false),
            (fatal, false, false, false),
            (untried, false, false, false),
            (fatal, true, false, true),
        ] {
            assert_eq!(is_due(&summary, is_terminal, is_as_aws), expected, "{summary:?}");
        }
    }
}
