//! How far a job is: counted from its events, shown as a bar on a terminal or as the progress
//! lines of `aws s3` where those were asked for.
//!
//! A thread of its own looks ten times a second, so the engine's threads only add to counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use s3haul::event::{ActionKind, Event, Outcome};
use s3haul::job::value::OutputLines;
use s3haul_wire::units::format_size;

use crate::printer::Printer;
use crate::render::numbers::clock;
use crate::render::{AwsProgress, OutputSettings};

/// Time between looks.
const TICK: Duration = Duration::from_millis(100);

/// Weight of the newest tick in the rate that is shown.
const RATE_WEIGHT: f64 = 0.1;

/// Counters, added to from any thread.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    planned_objects: AtomicU64,
    planned_bytes: AtomicU64,
    ended_objects: AtomicU64,
    moved_bytes: AtomicI64,
    lost_bytes: AtomicU64,
    is_final: AtomicBool,
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Objects planned so far.
    pub(crate) planned_objects: u64,
    /// Bytes planned so far.
    pub(crate) planned_bytes: u64,
    /// Objects that ended in any way.
    pub(crate) ended_objects: u64,
    /// Bytes moved.
    pub(crate) moved_bytes: u64,
    /// Nothing more will be planned.
    pub(crate) is_final: bool,
}

impl Totals {
    /// Counts an event.
    pub(crate) fn observe(&self, event: &Event) {
        match event {
            Event::Planned { bytes } => {
                self.planned_bytes.fetch_add(*bytes, Ordering::Relaxed);
                self.planned_objects.fetch_add(1, Ordering::Relaxed);
            }
            Event::PlanComplete => self.is_final.store(true, Ordering::Relaxed),
            Event::Progress { bytes } => _ = self.moved_bytes.fetch_add(*bytes, Ordering::Relaxed),
            Event::Object(object) => {
                // For what is done in place no bytes were planned.
                let has_bytes = matches!(
                    object.action,
                    ActionKind::Upload | ActionKind::Download | ActionKind::Copy
                );
                let is_lost = matches!(
                    object.outcome,
                    Outcome::Failed(_) | Outcome::NotTried | Outcome::Skipped
                );
                if has_bytes && is_lost {
                    self.lost_bytes.fetch_add(object.bytes, Ordering::Relaxed);
                }
                self.ended_objects.fetch_add(1, Ordering::Relaxed);
            }
            Event::Tags { .. }
            | Event::Archive { .. }
            | Event::Warning { .. }
            | Event::Fatal { .. } => {}
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let ended_objects = self.ended_objects.load(Ordering::Relaxed);
        let planned_bytes = self.planned_bytes.load(Ordering::Relaxed);
        let moved = u64::try_from(self.moved_bytes.load(Ordering::Relaxed)).unwrap_or(0);
        let lost = self.lost_bytes.load(Ordering::Relaxed);
        Snapshot {
            planned_objects: self.planned_objects.load(Ordering::Relaxed).max(ended_objects),
            planned_bytes,
            ended_objects,
            moved_bytes: moved.saturating_add(lost).min(planned_bytes.max(moved)),
            is_final: self.is_final.load(Ordering::Relaxed),
        }
    }
}

impl Snapshot {
    fn objects_left(&self) -> u64 {
        self.planned_objects - self.ended_objects.min(self.planned_objects)
    }

    /// The progress line of `aws s3`; `rate` is in bytes a second.
    fn aws_line(&self, rate: u64) -> String {
        let about = if self.is_final { "" } else { "~" };
        let end = if self.is_final { "" } else { " (calculating...)" };
        let left = self.objects_left();
        if self.planned_bytes == 0 {
            let done = self.ended_objects;
            return format!("Completed {done} file(s) with {about}{left} file(s) remaining{end}");
        }
        format!(
            "Completed {}/{about}{} ({}/s) with {about}{left} file(s) remaining{end}",
            format_size(self.moved_bytes),
            format_size(self.planned_bytes),
            format_size(rate),
        )
    }

    /// The text beside the bar; `rate` is in bytes a second. Once no bytes are left, what is left
    /// are removals and empty objects: their end is estimated from how many ended so far.
    fn bar_text(&self, rate: u64, elapsed: Duration) -> String {
        let about = if self.is_final { "" } else { "~" };
        let (done, left) = (self.ended_objects, self.objects_left());
        let left_bytes = self.planned_bytes.saturating_sub(self.moved_bytes);
        let seconds = if left_bytes > 0 {
            left_bytes.checked_div(rate)
        } else {
            left.saturating_mul(elapsed.as_secs()).checked_div(done)
        };
        let eta = seconds.map_or_else(|| "--:--".to_owned(), clock);
        if self.planned_bytes == 0 {
            return format!("{about}{eta}  {done} done, {about}{left} left");
        }
        format!(
            "{} of {about}{}  {}/s  {about}{eta}  {done} done, {about}{left} left",
            format_size(self.moved_bytes),
            format_size(self.planned_bytes),
            format_size(rate),
        )
    }
}

/// A smoothed rate.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    bytes: u64,
    per_second: Option<f64>,
}

impl Rate {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shown with two or three digits"
    )]
    fn step(&mut self, bytes: u64, elapsed: Duration) -> u64 {
        let moved = bytes.saturating_sub(self.bytes) as f64;
        let now = moved / elapsed.as_secs_f64().max(1e-6);
        let smooth = self.per_second.map_or(now, |old| old + RATE_WEIGHT * (now - old));
        // Nothing is shown as a rate before anything moved.
        self.per_second = (bytes > 0).then_some(smooth);
        self.bytes = bytes;
        self.per_second.unwrap_or(0.0) as u64
    }
}

/// The thread that shows progress and flushes lines; ends when dropped.
pub(crate) struct Ticker {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Flushes lines for all commands of the process; those that show nothing need no thread.
    pub(crate) fn for_all(printer: &Arc<Printer>) -> Self {
        let settings = OutputSettings {
            lines: OutputLines::Errors,
            json: false,
            bar: false,
            aws_progress: None,
            tag_change: None,
            tags: None,
            archive_states: false,
        };
        let ticker = Self::start(Arc::clone(printer), Arc::default(), settings);
        printer.set_flushed();
        ticker
    }

    /// Starts showing.
    pub(crate) fn start(
        printer: Arc<Printer>,
        totals: Arc<Totals>,
        settings: OutputSettings,
    ) -> Self {
        let mut display = Display::new(&printer, settings);
        // A thread costs more than a small command of `run`.
        if matches!(display, Display::Nothing) && printer.is_flushed() {
            return Self { stop: None, thread: None };
        }
        let (stop, stopped) = sync_channel::<()>(1);
        let run = move || {
            let mut last = Instant::now();
            loop {
                let ended = stopped.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout);
                let now = Instant::now();
                display.show(&printer, &totals.snapshot(), now - last, ended);
                last = now;
                printer.flush();
                if ended {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(run);
        // Without a thread there is no progress; lines are flushed when their buffer is full.
        Self { stop: Some(stop), thread: thread.ok() }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has printed itself.
            _ = thread.join();
        }
    }
}

/// What is shown.
enum Display {
    Nothing,
    Bar { bar: ProgressBar, rate: Rate, elapsed: Duration },
    Aws { settings: AwsProgress, rate: Rate, waited: Duration, last: Option<Snapshot> },
}

impl Display {
    fn new(printer: &Printer, settings: OutputSettings) -> Self {
        if settings.json {
            return Self::Nothing;
        }
        if let Some(settings) = settings.aws_progress {
            let (rate, waited) = (Rate::default(), Duration::MAX);
            return Self::Aws { settings, rate, waited, last: None };
        }
        let all = settings.lines == OutputLines::All;
        if !(settings.bar && all && printer.error_is_terminal()) {
            return Self::Nothing;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:16} {wide_msg}") {
            bar.set_style(style);
        }
        printer.set_bar(Some(bar.clone()));
        Self::Bar { bar, rate: Rate::default(), elapsed: Duration::ZERO }
    }

    fn show(&mut self, printer: &Printer, now: &Snapshot, elapsed: Duration, ended: bool) {
        match self {
            Self::Nothing => {}
            Self::Bar { bar, .. } if ended => {
                printer.set_bar(None);
                bar.finish_and_clear();
            }
            Self::Bar { bar, rate, elapsed: total } => {
                *total += elapsed;
                show_bar(bar, now, rate.step(now.moved_bytes, elapsed), *total);
            }
            Self::Aws { settings, rate, waited, last } => {
                let rate = rate.step(now.moved_bytes, elapsed);
                *waited = waited.saturating_add(elapsed);
                let is_due = ended || waited.as_secs() >= settings.frequency_s;
                if is_due && now.planned_objects > 0 && *last != Some(*now) {
                    printer.progress_line(&now.aws_line(rate), settings.multiline);
                    *waited = Duration::ZERO;
                    *last = Some(*now);
                }
                if ended && !settings.multiline && last.is_some() {
                    printer.progress_line("", true);
                }
            }
        }
    }
}

fn show_bar(bar: &ProgressBar, now: &Snapshot, rate: u64, elapsed: Duration) {
    let (length, position) = match now.planned_bytes {
        0 => (now.planned_objects, now.ended_objects),
        bytes => (bytes, now.moved_bytes),
    };
    bar.set_length(length);
    bar.set_position(position);
    bar.set_message(now.bar_text(rate, elapsed));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aws_lines_tell_what_is_known() {
        let now = Snapshot {
            planned_objects: 3,
            planned_bytes: 2048,
            ended_objects: 1,
            moved_bytes: 1024,
            is_final: false,
        };
        assert_eq!(
            now.aws_line(512),
            "Completed 1.0 KiB/~2.0 KiB (512 Bytes/s) with ~2 file(s) remaining (calculating...)"
        );
        assert_eq!(
            Snapshot { is_final: true, ..now }.aws_line(512),
            "Completed 1.0 KiB/2.0 KiB (512 Bytes/s) with 2 file(s) remaining"
        );
        let deletes = Snapshot { planned_bytes: 0, moved_bytes: 0, is_final: true, ..now };
        let minute = Duration::from_mins(1);
        assert_eq!(
            now.bar_text(512, minute),
            "1.0 KiB of ~2.0 KiB  512 Bytes/s  ~00:02  1 done, ~2 left"
        );
        assert_eq!(deletes.bar_text(0, minute), "02:00  1 done, 2 left");
        let rest = Snapshot { moved_bytes: 2048, is_final: true, ..now };
        assert_eq!(
            rest.bar_text(0, minute),
            "2.0 KiB of 2.0 KiB  0 Bytes/s  02:00  1 done, 2 left"
        );
        assert_eq!(deletes.aws_line(0), "Completed 1 file(s) with 2 file(s) remaining");
    }

    #[test]
    fn redone_parts_are_taken_back() {
        let totals = Totals::default();
        for event in [
            Event::Planned { bytes: 100 },
            Event::Progress { bytes: 80 },
            Event::Progress { bytes: -50 },
        ] {
            totals.observe(&event);
        }
        assert_eq!(totals.snapshot().moved_bytes, 30);
        assert_eq!(totals.snapshot().objects_left(), 1);
    }

    #[test]
    fn a_removal_that_fails_has_no_bytes() {
        let totals = Totals::default();
        let failed = |action| {
            let error = s3haul_wire::Error::new(s3haul_wire::ErrorKind::Local, "no");
            Event::Object(s3haul::event::ObjectEvent {
                action,
                is_move: false,
                source: s3haul::location::Location::Stream,
                target: None,
                bytes: 30,
                reason: None,
                expected: None,
                outcome: Outcome::Failed(error),
            })
        };
        totals.observe(&Event::Planned { bytes: 100 });
        totals.observe(&Event::Planned { bytes: 0 });
        totals.observe(&failed(ActionKind::Delete));
        assert_eq!(totals.snapshot().moved_bytes, 0);
        totals.observe(&failed(ActionKind::Upload));
        assert_eq!(totals.snapshot().moved_bytes, 30);
        totals.observe(&Event::PlanComplete);
        assert!(totals.snapshot().is_final);
    }

    #[test]
    fn rates_are_smooth() {
        let mut rate = Rate::default();
        let second = Duration::from_secs(1);
        assert_eq!(rate.step(0, second), 0);
        assert_eq!(rate.step(1000, second), 1000);
        assert_eq!(rate.step(1000, second), 900);
        assert_eq!(clock(3723), "1:02:03");
        assert_eq!(clock(62), "01:02");
    }
}
