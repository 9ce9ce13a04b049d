//! Draws a [`Watch`] into a buffer of cells. All texts of others come through `safe`.

use ratatui_core::buffer::Buffer;
use s3haul_wire::units::format_size;

use super::Watch;
use super::history::Figure;
use super::reading::{Reading, Slowest, Whole, WorkerRow};
use crate::render::numbers::{clock, grouped};
use crate::terminal::{self, Canvas, Line, bar, counted, safe, size, sparkline, width};

/// Fewer columns or rows than these are not drawn into.
const COLUMNS_MIN: u16 = 16;
const ROWS_MIN: u16 = 5;
/// Columns of names of figures.
const NAME_COLUMNS: usize = 9;
/// Columns of the figure behind a sparkline.
const FIGURE_COLUMNS: usize = 16;
/// Columns of a figure that stands before a name.
const BEFORE_COLUMNS: usize = 20;

const HELP: [(&str, &str); 5] = [
    ("Up Down PgUp PgDn", "move through what does not fit"),
    ("Home End", "the first rows; the last"),
    ("?", "this help"),
    ("q Esc Ctrl-C", "leave: the job goes on"),
    ("", "rates are those since the screen was opened"),
];

/// Draws everything.
pub(crate) fn draw(watch: &mut Watch, has_color: bool, buffer: &mut Buffer) {
    buffer.reset();
    let mut canvas = Canvas::new(buffer, has_color);
    let (columns, rows) = canvas.size();
    if columns < COLUMNS_MIN || rows < ROWS_MIN {
        canvas.plain(0, 0, "too small");
        return;
    }
    watch.page = usize::from(rows - 3);
    heading(watch, &mut canvas);
    if let Some(scrolled) = &mut watch.help {
        terminal::help(&HELP, scrolled, &mut canvas);
    } else {
        let lines = lines(watch, usize::from(columns));
        watch.rows = lines.len();
        terminal::scroll(&lines, &mut watch.scrolled, (1, watch.page), &mut canvas);
    }
    footing(watch, &mut canvas);
}

/// The job and its state.
fn heading(watch: &Watch, canvas: &mut Canvas<'_>) {
    let (columns, _) = canvas.size();
    let state = watch.reading.state;
    canvas.bar(0);
    canvas.tail(0, 0, &safe(&watch.name), columns.saturating_sub(width(state) + 2));
    canvas.heading(columns - width(state), 0, state);
}

/// What is wrong or over, and the keys.
fn footing(watch: &Watch, canvas: &mut Canvas<'_>) {
    let (_, rows) = canvas.size();
    if let Some(trouble) = &watch.trouble {
        canvas.error(0, rows - 2, &safe(&format!("cannot look, and tries again: {trouble}")));
    } else if watch.reading.is_over {
        canvas.strong(0, rows - 2, &format!("the job has ended: {}", watch.reading.state));
    } else if watch.rows > watch.page && watch.help.is_none() {
        let last = (watch.scrolled + watch.page).min(watch.rows);
        canvas.plain(
            0,
            rows - 2,
            &format!("rows {} to {last} of {}", watch.scrolled + 1, watch.rows),
        );
    }
    let keys =
        if watch.help.is_some() { "other keys: back" } else { "?:help q:leave Up Down:more" };
    canvas.plain(0, rows - 1, keys);
}

/// All that is known, from top to bottom.
fn lines(watch: &Watch, columns: usize) -> Vec<Line> {
    let Watch { reading, .. } = watch;
    let mut lines = Vec::new();
    overall(watch, columns, &mut lines);
    sparklines(watch, columns, &mut lines);
    if let Some(resume) = &reading.resume {
        lines.push(Line::Strong(safe(&format!("to go on: {resume}"))));
    }
    failures(reading, &mut lines);
    slowest(&reading.slowest, &mut lines);
    workers(&reading.workers, columns, &mut lines);
    lines.push(Line::Plain(String::new()));
    lines.push(Line::Plain(safe(&format!("job: {}", reading.task))));
    for (name, value) in &reading.facts {
        lines.push(Line::Plain(safe(&format!("{name}: {value}"))));
    }
    lines
}

/// How much is done, how fast, and when it ends.
fn overall(watch: &Watch, columns: usize, lines: &mut Vec<Line>) {
    let Watch { reading, history, .. } = watch;
    if let Some(whole) = &reading.whole {
        let (done, all) = whole.share();
        let percent = u128::from(done.min(all)) * 100 / u128::from(all.max(1));
        // While more may become known, it is of what is known.
        let about = if whole.is_final { "" } else { "~" };
        let share = format!(" {about}{percent}%");
        let room = columns.saturating_sub(share.len());
        lines.push(Line::Strong(bar(done.min(all), all, room, watch.unicode) + &share));
        lines.push(Line::Plain(parts_of(whole, about)));
    }
    let failed = if reading.failed > 0 {
        format!(", {} failed", grouped(reading.failed))
    } else {
        String::new()
    };
    let objects = counted(reading.objects, "object");
    lines.push(Line::Plain(format!("{objects} done, {}{failed}", size(Some(reading.bytes)))));
    let seconds = reading.whole.as_ref().and_then(|whole| history.seconds_left(whole));
    let is_final = reading.whole.as_ref().is_some_and(|whole| whole.is_final);
    let left = match seconds.filter(|_| !reading.is_over) {
        Some(seconds) if is_final => format!("ends in {}", clock(seconds)),
        // What is not known yet comes on top.
        Some(seconds) => format!("ends in {} or later", clock(seconds)),
        None => "end not known".to_owned(),
    };
    if !reading.is_over {
        let bytes = history.rate(Figure::Bytes).map_or("?".to_owned(), format_size);
        let objects = history.rate(Figure::Objects).map_or("?".to_owned(), grouped);
        lines.push(Line::Plain(format!("{bytes}/s, {objects} objects/s, {left}")));
    }
}

fn parts_of(whole: &Whole, about: &str) -> String {
    let Whole { noun, done, all, bytes, .. } = whole;
    let known = if whole.is_final { "" } else { " (as far as known)" };
    let counts = format!("{} of {about}{}{known}", grouped(*done), counted(*all, noun));
    match bytes {
        Some((moved, all)) => {
            format!("{} of {about}{}, {counts}", format_size(*moved), format_size(*all))
        }
        None => counts,
    }
}

/// How figures changed.
fn sparklines(watch: &Watch, columns: usize, lines: &mut Vec<Line>) {
    let room = columns.saturating_sub(NAME_COLUMNS + FIGURE_COLUMNS + 2);
    for (name, figure) in [
        ("bytes", Figure::Bytes),
        ("objects", Figure::Objects),
        ("requests", Figure::Requests),
        ("refused", Figure::Refused),
    ] {
        let rates = watch.history.rates(figure);
        // What a job does not note is not shown as nothing.
        let is_noted = rates.iter().any(Option::is_some)
            || watch.reading.requests.is_some()
            || matches!(figure, Figure::Bytes | Figure::Objects);
        if !is_noted {
            continue;
        }
        let now = rates.last().copied().flatten();
        let now = match (now, figure) {
            (None, _) => String::new(),
            (Some(rate), Figure::Bytes) => format!("{}/s", format_size(rate)),
            (Some(rate), _) => format!("{}/s", grouped(rate)),
        };
        let drawn = sparkline(&rates, room, watch.unicode);
        lines.push(Line::Plain(format!("{name:<NAME_COLUMNS$} {drawn} {now:>FIGURE_COLUMNS$}")));
    }
}

fn title(text: &str, lines: &mut Vec<Line>) {
    lines.push(Line::Plain(String::new()));
    lines.push(Line::Strong(text.to_owned()));
}

fn failures(reading: &Reading, lines: &mut Vec<Line>) {
    let causes = reading.failures.causes();
    if causes.is_empty() {
        return;
    }
    title("failures by cause", lines);
    for cause in causes {
        let number = grouped(cause.count);
        lines.push(Line::Error(safe(&format!("{number:>9} {}", cause.cause))));
    }
    title(reading.failed_title, lines);
    for (subject, error) in &reading.failed_named {
        lines.push(Line::Plain(safe(&format!("{subject}: {error}"))));
    }
}

fn slowest(slowest: &Slowest, lines: &mut Vec<Line>) {
    title(slowest.title, lines);
    for (place, figure) in &slowest.rows {
        lines.push(Line::Plain(safe(&format!("{figure:>BEFORE_COLUMNS$}  {place}"))));
    }
    if slowest.rows.is_empty() {
        lines.push(Line::Plain(slowest.none.to_owned()));
    }
}

fn workers(workers: &[WorkerRow], columns: usize, lines: &mut Vec<Line>) {
    if workers.is_empty() {
        return;
    }
    title(&format!("workers: {}", workers.len()), lines);
    let name_columns = workers.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let name_columns = name_columns.min(columns / 3);
    for WorkerRow { name, state, shards, objects, bytes, seconds } in workers {
        let rate = rate_of(*objects, *bytes, *seconds);
        let done = format!("{}, {}", counted(*shards, "shard"), counted(*objects, "object"));
        lines.push(Line::Plain(safe(&format!(
            "{name:<name_columns$}  {rate:>14}  {done}  {state}"
        ))));
    }
}

/// A pace: in bytes, where there were any.
pub(crate) fn rate_of(objects: u64, bytes: u64, seconds: f64) -> String {
    let Some(rate) = per_second(if bytes > 0 { bytes } else { objects }, seconds) else {
        return String::new();
    };
    if bytes > 0 { format!("{}/s", format_size(rate)) } else { format!("{}/s", grouped(rate)) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "shown with two or three digits"
)]
fn per_second(amount: u64, seconds: f64) -> Option<u64> {
    (seconds > 0.0).then(|| (amount as f64 / seconds).round() as u64)
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
