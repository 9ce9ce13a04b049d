//! How far a job is: counted from its events, shown as a bar on a terminal, as a line every ten
//! seconds (`--progress plain`), or as the progress lines of `aws s3` where those were asked for.
//!
//! A thread of its own looks ten times a second, so the engine's threads only add to counters.

mod estimate;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use s3haul::event::{ActionKind, Event, Outcome};
use s3haul::job::Tuning;
use s3haul::job::value::OutputLines;
use s3haul_wire::units::format_size;

use crate::observe::{Observer, View};
use crate::printer::{Printer, ProgressStyle as Style};
use crate::render::{AwsProgress, OutputSettings};
use estimate::{Estimator, TimeLeft};

/// Time between looks.
const TICK: Duration = Duration::from_millis(100);

/// Time between the lines of `--progress plain`.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Weight of the newest tick in the rate of the progress lines of `aws s3`.
const RATE_WEIGHT: f64 = 0.1;
/// The same in the rate that is shown otherwise, which is about that of the last five seconds.
const SMOOTH_RATE_WEIGHT: f64 = 0.02;

/// Planned actions that may wait where it is shown how much is left: the more of them are known,
/// the better.
const LOOK_AHEAD: usize = 32 * 1024;

/// Counters, added to from any thread.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    planned_objects: AtomicU64,
    planned_bytes: AtomicU64,
    ended: [AtomicU64; ENDS.len()],
    moved_bytes: AtomicI64,
    lost_bytes: AtomicU64,
    is_final: AtomicBool,
    /// Those of the process, which count all of its jobs.
    all: Option<Arc<Self>>,
}

/// How objects end, in the order in which they are counted.
pub(crate) const ENDS: [&str; 5] = ["done", "planned", "skipped", "failed", "not_tried"];

fn end_of(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Done => 0,
        Outcome::DryRun => 1,
        Outcome::Skipped => 2,
        Outcome::Failed(_) => 3,
        Outcome::NotTried => 4,
    }
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
    /// Those among them that were done, or would be in a dry run.
    pub(crate) done_objects: u64,
    /// Bytes moved.
    pub(crate) moved_bytes: u64,
    /// Bytes that are not left to be moved: those moved, and those of objects that were not.
    pub(crate) settled_bytes: u64,
    /// Nothing more will be planned.
    pub(crate) is_final: bool,
}

impl Totals {
    /// Those of a job, which are counted in those of the process, too.
    pub(crate) fn within(all: Option<Arc<Self>>) -> Self {
        Self { all, ..Self::default() }
    }

    /// Objects that ended so far, in each of the ways of [`ENDS`].
    pub(crate) fn ends(&self) -> [u64; ENDS.len()] {
        std::array::from_fn(|end| self.ended[end].load(Ordering::Relaxed))
    }

    /// Bytes moved, without those of objects that failed.
    pub(crate) fn bytes(&self) -> u64 {
        u64::try_from(self.moved_bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Counts an event.
    pub(crate) fn observe(&self, event: &Event) {
        if let Some(all) = &self.all {
            all.observe(event);
        }
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
                self.ended[end_of(&object.outcome)].fetch_add(1, Ordering::Relaxed);
            }
            Event::Tags { .. }
            | Event::Archive { .. }
            | Event::Warning { .. }
            | Event::Fatal { .. } => {}
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let ends @ [done, planned, ..] = self.ends();
        let ended_objects = ends.iter().sum();
        let planned_bytes = self.planned_bytes.load(Ordering::Relaxed);
        let moved = self.bytes();
        let lost = self.lost_bytes.load(Ordering::Relaxed);
        Snapshot {
            planned_objects: self.planned_objects.load(Ordering::Relaxed).max(ended_objects),
            planned_bytes,
            ended_objects,
            done_objects: done + planned,
            moved_bytes: moved,
            settled_bytes: moved.saturating_add(lost).min(planned_bytes.max(moved)),
            is_final: self.is_final.load(Ordering::Relaxed),
        }
    }
}

impl Snapshot {
    fn objects_left(&self) -> u64 {
        self.planned_objects - self.ended_objects.min(self.planned_objects)
    }

    /// The progress line of `aws s3`, where what failed counts as completed; `rate` is in bytes a
    /// second.
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
            format_size(self.settled_bytes),
            format_size(self.planned_bytes),
            format_size(rate),
        )
    }

    /// How much there is, how fast it goes, when it ends and what limits, the most important first.
    /// `rate` is in bytes a second.
    fn words(&self, rate: u64, left: String, view: &View) -> [String; 7] {
        let about = if self.is_final { "" } else { "~" };
        let (done, objects) = (self.done_objects, self.objects_left());
        let (bytes, speed) = if self.planned_bytes == 0 {
            (String::new(), String::new())
        } else {
            let planned = format_size(self.planned_bytes);
            let bytes = format!("{} of {about}{planned}", format_size(self.moved_bytes));
            (bytes, format!("{}/s", format_size(rate)))
        };
        let limit = view.limit.map(|limit| format!("limit: {}", limit.word())).unwrap_or_default();
        let objects = format!("{done} done, {about}{objects} left");
        let in_flight = format!("{} in flight", view.in_flight);
        let refusals =
            if view.refusals > 0 { format!("{} refused", view.refusals) } else { String::new() };
        [bytes, speed, left, limit, objects, in_flight, refusals]
    }

    /// The text beside the bar.
    fn bar_text(&self, rate: u64, left: TimeLeft, view: &View) -> String {
        join(self.words(rate, left.to_string(), view), "  ")
    }

    /// A line of `--progress plain`.
    fn plain_line(&self, rate: u64, left: TimeLeft, view: &View) -> String {
        format!("progress: {}", join(self.words(rate, format!("time left {left}"), view), ", "))
    }
}

/// What is not empty.
fn join(words: [String; 7], between: &str) -> String {
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(between)
}

/// A smoothed rate.
#[derive(Clone, Copy, Debug)]
struct Rate {
    weight: f64,
    bytes: u64,
    ticks: f64,
    per_second: f64,
}

impl Rate {
    /// A rate in which the newest tick has this weight, once there were enough of them.
    fn new(weight: f64) -> Self {
        Self { weight, bytes: 0, ticks: 0.0, per_second: 0.0 }
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shown with two or three digits"
    )]
    fn step(&mut self, bytes: u64, elapsed: Duration) -> u64 {
        let moved = bytes.saturating_sub(self.bytes) as f64;
        let now = moved / elapsed.as_secs_f64().max(1e-6);
        self.bytes = bytes;
        // Nothing is a rate before anything moved.
        if bytes > 0 {
            self.ticks += 1.0;
            let weight = self.weight.max(1.0 / self.ticks);
            self.per_second += weight * (now - self.per_second);
        }
        self.per_second as u64
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
        let observer = Observer::get().filter(|_| !matches!(display, Display::Nothing));
        // A thread costs more than a small command of `run`.
        if matches!(display, Display::Nothing) && printer.is_flushed() {
            return Self { stop: None, thread: None };
        }
        let (stop, stopped) = sync_channel::<()>(1);
        let run = move || {
            let mut last = Instant::now();
            loop {
                let ended = stopped.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout);
                let (now, mut view) = (Instant::now(), View::default());
                if let Some(observer) = observer {
                    observer.sample();
                    view = observer.view();
                }
                let look = Look { now: &totals.snapshot(), view, elapsed: now - last, ended };
                display.show(&printer, &look);
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

/// What is seen at one tick.
struct Look<'a> {
    now: &'a Snapshot,
    view: View,
    /// Since the last tick.
    elapsed: Duration,
    ended: bool,
}

/// Rate and time left, with what they are made of.
#[derive(Debug)]
struct Course {
    rate: Rate,
    estimator: Estimator,
    elapsed: Duration,
}

impl Default for Course {
    fn default() -> Self {
        let (rate, estimator) = (Rate::new(SMOOTH_RATE_WEIGHT), Estimator::default());
        Self { rate, estimator, elapsed: Duration::ZERO }
    }
}

impl Course {
    fn step(&mut self, look: &Look<'_>) -> (u64, TimeLeft) {
        self.elapsed += look.elapsed;
        let left = self.estimator.step(self.elapsed, look.now);
        (self.rate.step(look.now.moved_bytes, look.elapsed), left)
    }
}

/// What is shown.
enum Display {
    Nothing,
    Bar { bar: ProgressBar, course: Course },
    Plain { course: Course, due: Duration },
    Aws { settings: AwsProgress, rate: Rate, waited: Duration, last: Option<Snapshot> },
}

/// Prepares a job for what is shown of it: requests are counted, and more is planned ahead, unless
/// its memory is limited. To be called before its clients are made.
pub(crate) fn prepare(printer: &Printer, settings: &OutputSettings, tuning: &mut Tuning) {
    if !is_shown(printer, settings) {
        return;
    }
    Observer::begin();
    if may_look_ahead(tuning) {
        tuning.max_queue_size = LOOK_AHEAD;
    }
}

/// Whether neither the queue nor the memory is limited.
fn may_look_ahead(tuning: &Tuning) -> bool {
    let usual = Tuning::default();
    tuning.max_queue_size == usual.max_queue_size && tuning.memory_budget >= usual.memory_budget
}

/// Whether more is shown than lines about objects.
fn is_shown(printer: &Printer, settings: &OutputSettings) -> bool {
    let is_asked = settings.bar && settings.lines == OutputLines::All;
    is_asked
        && match printer.progress_style() {
            Style::Plain => true,
            Style::Auto => {
                !settings.json && settings.aws_progress.is_none() && printer.error_is_terminal()
            }
        }
}

impl Display {
    fn new(printer: &Printer, settings: OutputSettings) -> Self {
        if is_shown(printer, &settings) && printer.progress_style() == Style::Plain {
            return Self::Plain { course: Course::default(), due: PLAIN_EVERY };
        }
        if settings.json {
            return Self::Nothing;
        }
        if let Some(settings) = settings.aws_progress {
            let (rate, waited) = (Rate::new(RATE_WEIGHT), Duration::MAX);
            return Self::Aws { settings, rate, waited, last: None };
        }
        if !is_shown(printer, &settings) {
            return Self::Nothing;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:16} {wide_msg}") {
            bar.set_style(style);
        }
        printer.set_bar(Some(bar.clone()));
        Self::Bar { bar, course: Course::default() }
    }

    fn show(&mut self, printer: &Printer, look: &Look<'_>) {
        let Look { now, elapsed, ended, .. } = *look;
        match self {
            Self::Nothing => {}
            Self::Bar { bar, .. } if ended => {
                printer.set_bar(None);
                bar.finish_and_clear();
            }
            Self::Bar { bar, course } => {
                let (rate, left) = course.step(look);
                if printer.is_held() {
                    return;
                }
                show_bar(bar, now, now.bar_text(rate, left, &look.view));
            }
            Self::Plain { course, due } => {
                let (rate, left) = course.step(look);
                if course.elapsed >= *due {
                    *due = course.elapsed + PLAIN_EVERY;
                    let line = now.plain_line(rate, left, &look.view);
                    printer.error(|buffer| {
                        buffer.extend_from_slice(line.as_bytes());
                        buffer.push(b'\n');
                    });
                }
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

fn show_bar(bar: &ProgressBar, now: &Snapshot, text: String) {
    let (length, position) = match now.planned_bytes {
        0 => (now.planned_objects, now.ended_objects),
        bytes => (bytes, now.settled_bytes),
    };
    bar.set_length(length);
    bar.set_position(position);
    bar.set_message(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Limit;

    #[test]
    fn aws_lines_tell_what_is_known() {
        let now = Snapshot {
            planned_objects: 3,
            planned_bytes: 2048,
            ended_objects: 1,
            done_objects: 1,
            moved_bytes: 1024,
            settled_bytes: 1024,
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
        let deletes =
            Snapshot { planned_bytes: 0, moved_bytes: 0, settled_bytes: 0, is_final: true, ..now };
        let view = View { in_flight: 3, refusals: 0, limit: None };
        let left = TimeLeft::AtLeast(Duration::from_secs(2));
        assert_eq!(
            now.bar_text(512, left, &view),
            "1.0 KiB of ~2.0 KiB  512 Bytes/s  00:02+  1 done, ~2 left  3 in flight"
        );
        let left = TimeLeft::About(Duration::from_mins(2));
        let view = View { in_flight: 3, refusals: 4, limit: Some(Limit::Service) };
        assert_eq!(
            deletes.plain_line(0, left, &view),
            "progress: time left 02:00, limit: service, 1 done, 2 left, 3 in flight, 4 refused"
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

    fn failed(action: ActionKind, bytes: u64) -> Event {
        let error = s3haul_wire::Error::new(s3haul_wire::ErrorKind::Local, "no");
        Event::Object(s3haul::event::ObjectEvent {
            action,
            is_move: false,
            source: s3haul::location::Location::Stream,
            target: None,
            bytes,
            reason: None,
            expected: None,
            outcome: Outcome::Failed(error),
        })
    }

    #[test]
    fn a_removal_that_fails_has_no_bytes() {
        let totals = Totals::default();
        totals.observe(&Event::Planned { bytes: 100 });
        totals.observe(&Event::Planned { bytes: 0 });
        totals.observe(&failed(ActionKind::Delete, 30));
        assert_eq!(totals.snapshot().settled_bytes, 0);
        totals.observe(&failed(ActionKind::Upload, 30));
        assert_eq!(totals.snapshot().settled_bytes, 30);
        totals.observe(&Event::PlanComplete);
        assert!(totals.snapshot().is_final);
    }

    #[test]
    fn what_failed_is_neither_moved_nor_done() {
        let totals = Totals::default();
        totals.observe(&Event::Planned { bytes: 2048 });
        totals.observe(&Event::Planned { bytes: 1024 });
        totals.observe(&Event::Progress { bytes: 1024 });
        totals.observe(&failed(ActionKind::Upload, 2048));
        let now = totals.snapshot();
        assert_eq!((now.moved_bytes, now.settled_bytes), (1024, 3072));
        assert_eq!((now.done_objects, now.ended_objects), (0, 1));
        let text = now.bar_text(512, TimeLeft::Unknown, &View::default());
        assert_eq!(text, "1.0 KiB of ~3.0 KiB  512 Bytes/s  --:--  0 done, ~1 left  0 in flight");
    }

    #[test]
    fn limited_jobs_look_no_further_ahead() {
        let usual = Tuning::default();
        assert!(may_look_ahead(&usual));
        let memory_budget = usual.memory_budget / 2;
        assert!(!may_look_ahead(&Tuning { memory_budget, ..Tuning::default() }));
        assert!(!may_look_ahead(&Tuning { max_queue_size: 10, ..usual }));
    }

    #[test]
    fn rates_are_smooth() {
        let mut rate = Rate::new(0.1);
        let second = Duration::from_secs(1);
        assert_eq!(rate.step(0, second), 0);
        assert_eq!(rate.step(1000, second), 1000);
        assert_eq!(rate.step(1000, second), 500);
        for _ in 0..8 {
            rate.step(1000, second);
        }
        assert_eq!(rate.step(1000, second), 90, "as of ten ticks");
    }
}
