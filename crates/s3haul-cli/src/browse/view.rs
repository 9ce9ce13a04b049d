//! Draws an [`App`] into a buffer of cells. All texts of others come through `safe`.

mod over;
mod table;

use ratatui_core::buffer::Buffer;
use s3haul_wire::units::LocalTime;

use super::app::App;
use super::help::HELP;
use super::panes::Pane;
use super::tree::Listing;
use crate::render::numbers::grouped;
use crate::terminal::{self, Canvas, counted, safe, size, width};

/// Fewer columns or rows than these are not drawn into.
const COLUMNS_MIN: u16 = 16;
const ROWS_MIN: u16 = 5;
/// Rows that are not of the list: above it address and headings, below it message and keys.
const FRAME_ROWS: u16 = 4;

/// How it looks.
pub(crate) struct Look {
    /// Colours may be used.
    pub(crate) color: bool,
    /// Characters beyond ASCII may be drawn.
    pub(crate) unicode: bool,
    /// The zone of times.
    pub(crate) zone: LocalTime,
}

/// Draws everything.
pub(crate) fn draw(app: &mut App, look: &mut Look, buffer: &mut Buffer) {
    buffer.reset();
    let mut canvas = Canvas::new(buffer, look.color);
    let (columns, rows) = canvas.size();
    if columns < COLUMNS_MIN || rows < ROWS_MIN {
        canvas.plain(0, 0, "too small");
        return;
    }
    app.page = usize::from(rows - FRAME_ROWS);
    heading(app, &mut canvas);
    if let Some(scrolled) = &mut app.help {
        terminal::help(&HELP, scrolled, &mut canvas);
    } else if matches!(app.pane, Pane::None | Pane::Prompt(_)) {
        table::draw(app, look, &mut canvas);
    } else {
        over::draw(app, look, &mut canvas);
    }
    footing(app, &mut canvas);
}

/// The address, and what is known of all.
fn heading(app: &App, canvas: &mut Canvas<'_>) {
    let (columns, _) = canvas.size();
    let sum = size(Some(app.totals.bytes));
    let state = match &app.listing {
        Listing::Running => format!("still listing: {}", grouped(app.totals.objects)),
        Listing::Failed(_) => format!("incomplete: {}", grouped(app.totals.objects)),
        Listing::Complete => format!("{sum}, {}", counted(app.totals.objects, "object")),
    };
    let bytes =
        format!("{}, {}", size(Some(app.figures.bytes)), counted(app.figures.objects, "object"));
    canvas.bar(0);
    let space = columns.saturating_sub(width(&state) + 2);
    let label = format!("{}{}", safe(&app.place.label), safe(&app.path));
    canvas.tail(0, 0, &label, space);
    // In the topmost folder that is the same as the sum of all.
    if !app.is_at_top() && width(&label) + width(&bytes) + 4 < space {
        canvas.heading(space - width(&bytes) - 2, 0, &bytes);
    }
    canvas.heading(columns - width(&state), 0, &state);
}

/// The last message or question, and the keys.
fn footing(app: &App, canvas: &mut Canvas<'_>) {
    let (_, rows) = canvas.size();
    let at = rows - 2;
    canvas.plain(0, rows - 1, keys(app));
    if let Pane::Prompt(prompt) = &app.pane {
        canvas.typed(at, prompt.question(), &safe(&prompt.typed));
    } else if let Pane::Plan(pane) = &app.pane
        && pane.planned.actions > 0
        && app.status.is_empty()
    {
        let question = format!("type {} to {}", pane.word(), pane.action);
        canvas.typed(at, &safe(&question), &safe(&pane.typed));
    } else if app.is_filtering {
        canvas.typed(at, "names that hold", &safe(&app.filter));
    } else if !app.status.is_empty() {
        message(&app.status, canvas);
    } else if let Listing::Failed(error) = &app.listing {
        message(&format!("the listing ended early: {error}"), canvas);
    } else {
        canvas.plain(0, at, &standing(app));
    }
}

/// A message, with the keys below it unless it takes both rows.
fn message(text: &str, canvas: &mut Canvas<'_>) {
    let (columns, rows) = canvas.size();
    let text = safe(text);
    let (start, rest) = terminal::split(&text, columns);
    canvas.error(0, rows - 2, start);
    if !rest.is_empty() {
        canvas.clear(rows - 1);
        canvas.error(0, rows - 1, rest);
    }
}

/// What holds as long as nothing happens.
fn standing(app: &App) -> String {
    let mut parts = Vec::new();
    if !app.marks.is_empty() {
        parts.push(format!("{} marked", grouped(app.marks.len() as u64)));
    }
    if !app.filter.is_empty() {
        let (shown, all) = (app.shown_rows().len() as u64, app.row_count() as u64);
        parts.push(format!("{} of {} hold `{}`", grouped(shown), grouped(all), safe(&app.filter)));
    }
    parts.extend(app.opened_note().map(str::to_owned));
    parts.join(", ")
}

fn keys(app: &App) -> &'static str {
    match &app.pane {
        _ if app.help.is_some() => "Up Down: more  other keys: back",
        Pane::None if app.is_filtering => "Enter: keep  Esc: all names",
        Pane::None => "?:help q:leave /:filter s:sort space:mark d:delete g:get t:tag v:versions",
        Pane::Preview(_) => "Esc:back T:tags y:copy the address",
        Pane::Versions(_) => "Esc:back Enter:preview u:bring back D:delete all",
        Pane::Prompt(_) => "Enter: plan it  Esc: back",
        Pane::Plan(_) => "Enter: do it  Esc: back  Y: copy the commands",
        Pane::Running(pane) if pane.outcome.is_some() => "Enter: back",
        Pane::Planning(_) | Pane::Running(_) => "Esc: cancel",
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
