//! Previews, versions and plans.

use super::Look;
use crate::browse::app::App;
use crate::browse::panes::{Pane, PlanPane, PreviewPane, RunPane, VersionsPane};
use crate::render::numbers::grouped;
use crate::terminal::{Canvas, Line, bar, counted, minute, safe, scroll, size};

/// The first row of a pane.
const TOP: u16 = 1;
/// Columns of names of fields.
const FIELD_COLUMNS: usize = 16;

/// Draws the pane.
pub(super) fn draw(app: &mut App, look: &mut Look, canvas: &mut Canvas<'_>) {
    let page = app.page + 1;
    match &mut app.pane {
        Pane::None | Pane::Prompt(_) => {}
        Pane::Preview(pane) => {
            let lines = preview(pane);
            scroll(&lines, &mut pane.scrolled, (TOP, page), canvas);
        }
        Pane::Versions(pane) => versions(pane, look, page, canvas),
        Pane::Planning(action) => {
            canvas.strong(0, TOP, &safe(&format!("making a plan: {action} ...")));
        }
        Pane::Plan(pane) => {
            let lines = plan(pane, canvas.size().0);
            scroll(&lines, &mut pane.scrolled, (TOP, page), canvas);
        }
        Pane::Running(pane) => {
            let lines = running(pane, look.unicode);
            scroll(&lines, &mut 0, (TOP, page), canvas);
        }
    }
}

fn field(name: &str, value: &str) -> Line {
    Line::Plain(format!("{:<FIELD_COLUMNS$} {}", safe(name), safe(value)))
}

fn preview(pane: &PreviewPane) -> Vec<Line> {
    let mut lines = vec![Line::Strong(safe(&pane.key))];
    match &pane.preview {
        None => lines.push(Line::Plain("asking ...".to_owned())),
        Some(Err(error)) => lines.push(Line::Error(safe(error))),
        Some(Ok(preview)) => {
            lines.extend(preview.fields.iter().map(|(name, value)| field(name, value)));
            tags(pane, &mut lines);
            if !preview.content.is_empty() {
                lines.push(Line::Strong("Content".to_owned()));
            }
            // These were made safe when they were made lines.
            lines.extend(preview.content.iter().cloned().map(Line::Plain));
        }
    }
    lines
}

fn tags(pane: &PreviewPane, lines: &mut Vec<Line>) {
    match &pane.tags {
        None => {}
        Some(Err(error)) => lines.push(Line::Error(safe(error))),
        Some(Ok(tags)) if tags.is_empty() => lines.push(field("Tag", "none")),
        Some(Ok(tags)) => {
            lines.extend(tags.iter().map(|(key, value)| field("Tag", &format!("{key}={value}"))));
        }
    }
}

fn versions(pane: &VersionsPane, look: &mut Look, page: usize, canvas: &mut Canvas<'_>) {
    let title = format!("versions of {}", safe(&pane.path));
    canvas.strong(0, TOP, &title);
    match &pane.listed {
        None => return canvas.plain(0, TOP + 1, "asking ..."),
        Some(Err(error)) => return canvas.error(0, TOP + 1, &safe(error)),
        Some(Ok(listed)) if listed.rows.is_empty() => {
            return canvas.plain(0, TOP + 1, "there are none");
        }
        Some(Ok(listed)) if listed.next.is_some() => {
            canvas.strong(0, TOP, &format!("the first {title}"));
        }
        Some(Ok(_)) => {}
    }
    let page = page.saturating_sub(1).max(1);
    let scrolled = (pane.cursor + 1).saturating_sub(page);
    for (y, row) in (TOP + 1..).zip(pane.rows().iter().skip(scrolled).take(page)) {
        let state = match (row.is_delete_marker, row.is_latest) {
            (true, true) => "removed",
            (true, false) => "marker",
            (false, true) => "current",
            (false, false) => "old",
        };
        let bytes = if row.is_delete_marker { String::new() } else { size(Some(row.size)) };
        let time = minute(Some(row.modified_s), &mut look.zone);
        // The key without the path that all have, so that there is room for it.
        let name = row.key.strip_prefix(&pane.path).unwrap_or(&row.key);
        let (name, id, class) = (safe(name), safe(&row.version_id), safe(&row.class));
        let text = format!("{time} {state:<7} {bytes:>10} {name} {class} {id}");
        canvas.plain(0, y, text.trim_end());
    }
    if let Ok(at) = u16::try_from(pane.cursor - scrolled) {
        canvas.select(TOP + 1 + at);
    }
}

fn plan(pane: &PlanPane, columns: u16) -> Vec<Line> {
    let title = format!("plan: {}", pane.action);
    let mut lines = vec![Line::Strong(safe(&title))];
    if pane.planned.actions == 0 {
        lines.push(Line::Plain("there is nothing to do".to_owned()));
    }
    let columns = usize::from(columns.max(1));
    // Prices and commands are worth more than one line of a narrow terminal.
    let mut wrapped = |text: &str| {
        let characters: Vec<char> = safe(text).chars().collect();
        for piece in characters.chunks(columns) {
            lines.push(Line::Plain(piece.iter().collect()));
        }
    };
    pane.planned.lines.iter().for_each(|line| wrapped(line));
    wrapped("the same on the command line:");
    pane.planned.commands.iter().for_each(|command| wrapped(command));
    lines
}

fn running(pane: &RunPane, unicode: bool) -> Vec<Line> {
    let mut lines = vec![Line::Strong(safe(&pane.action.to_string()))];
    let Some(outcome) = &pane.outcome else {
        let progress = format!("{} of {}", grouped(pane.ended), counted(pane.actions, "object"));
        lines.push(Line::Plain(bar(pane.ended, pane.actions, 30, unicode)));
        lines.push(Line::Plain(progress));
        if pane.is_cancelled {
            lines.push(Line::Strong("ending what was begun ...".to_owned()));
        }
        return lines;
    };
    lines.push(Line::Strong(format!("done: {}", counted(outcome.done, "object"))));
    if outcome.failed > 0 {
        lines.push(Line::Error(format!("failed or not tried: {}", grouped(outcome.failed))));
    }
    lines.extend(outcome.messages.iter().map(|message| Line::Plain(safe(message))));
    lines
}
