//! Lines that are scrolled, and the keys as a help shows them.

use super::canvas::{Canvas, width};

/// A line and how it looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Plain(String),
    Strong(String),
    Error(String),
}

/// Draws lines from the row `top`, from the first that is not scrolled away, which is never the
/// last page's.
pub(crate) fn scroll(
    lines: &[Line],
    scrolled: &mut usize,
    (top, page): (u16, usize),
    canvas: &mut Canvas<'_>,
) {
    *scrolled = (*scrolled).min(lines.len().saturating_sub(page));
    for (y, line) in (top..).zip(lines.iter().skip(*scrolled).take(page)) {
        match line {
            Line::Plain(text) => canvas.plain(0, y, text),
            Line::Strong(text) => canvas.strong(0, y, text),
            Line::Error(text) => canvas.error(0, y, text),
        }
    }
}

/// Draws keys and what they mean, from the first that is not scrolled away.
pub(crate) fn help(keys: &[(&str, &str)], scrolled: &mut usize, canvas: &mut Canvas<'_>) {
    let (columns, rows) = canvas.size();
    let longest = keys.iter().map(|(keys, _)| width(keys)).max().unwrap_or(0);
    let key_columns = longest.min(columns / 3) + 1;
    let room = usize::from(rows.saturating_sub(3));
    *scrolled = (*scrolled).min(keys.len().saturating_sub(room));
    for (y, (keys, meaning)) in (1..).zip(keys.iter().skip(*scrolled).take(room)) {
        canvas.strong_within(0, y, keys, key_columns - 1);
        canvas.plain(key_columns, y, meaning);
    }
}
