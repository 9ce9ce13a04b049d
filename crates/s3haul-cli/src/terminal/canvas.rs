//! Cells, and the few styles that are used. Without colours all of them are bold or reversed.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Span;

/// Stands where a text was cut off.
const CUT: &str = "~";

/// Columns of a text.
pub(crate) fn width(text: &str) -> u16 {
    u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX)
}

/// As much of a text as so many columns hold, and the rest.
pub(crate) fn split(text: &str, columns: u16) -> (&str, &str) {
    let mut end = text.len();
    while width(&text[..end]) > columns {
        end = text.floor_char_boundary(end - 1);
    }
    text.split_at(end)
}

/// What is drawn into.
pub(crate) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    has_color: bool,
}

impl<'a> Canvas<'a> {
    pub(crate) fn new(buffer: &'a mut Buffer, has_color: bool) -> Self {
        Self { buffer, has_color }
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (u16, u16) {
        (self.buffer.area.width, self.buffer.area.height)
    }

    fn put(&mut self, (x, y): (u16, u16), text: &str, columns: u16, style: Style) {
        let (all_columns, rows) = self.size();
        if y >= rows || x >= all_columns {
            return;
        }
        let columns = columns.min(all_columns - x);
        self.buffer.set_stringn(x, y, text, usize::from(columns), style);
        if width(text) > columns && columns > 0 {
            self.buffer.set_stringn(x + columns - 1, y, CUT, 1, style);
        }
    }

    fn colored(&self, color: Color, modifier: Modifier) -> Style {
        let style = Style::new().add_modifier(modifier);
        if self.has_color { style.fg(color) } else { style }
    }

    /// A text as it is.
    pub(crate) fn plain(&mut self, x: u16, y: u16, text: &str) {
        self.put((x, y), text, u16::MAX, Style::new());
    }

    /// The same in so many columns.
    pub(crate) fn within(&mut self, x: u16, y: u16, text: &str, columns: u16) {
        self.put((x, y), text, columns, Style::new());
    }

    /// The same at the right end of so many columns.
    pub(crate) fn right(&mut self, x: u16, y: u16, text: &str, columns: u16) {
        let start = x + columns.saturating_sub(width(text));
        self.put((start, y), text, columns, Style::new());
    }

    /// A text that stands out.
    pub(crate) fn strong(&mut self, x: u16, y: u16, text: &str) {
        self.strong_within(x, y, text, u16::MAX);
    }

    /// The same in so many columns.
    pub(crate) fn strong_within(&mut self, x: u16, y: u16, text: &str, columns: u16) {
        self.put((x, y), text, columns, Style::new().add_modifier(Modifier::BOLD));
    }

    /// The name of a folder.
    pub(crate) fn folder(&mut self, x: u16, y: u16, text: &str, columns: u16) {
        let style = self.colored(Color::Blue, Modifier::BOLD);
        self.put((x, y), text, columns, style);
    }

    /// A share.
    pub(crate) fn share(&mut self, x: u16, y: u16, text: &str) {
        let style = self.colored(Color::Cyan, Modifier::empty());
        self.put((x, y), text, u16::MAX, style);
    }

    /// What failed.
    pub(crate) fn error(&mut self, x: u16, y: u16, text: &str) {
        let style = self.colored(Color::Red, Modifier::BOLD);
        self.put((x, y), text, u16::MAX, style);
    }

    /// Makes a row a bar that headings are written on.
    pub(crate) fn bar(&mut self, y: u16) {
        let area = Rect::new(0, y, self.buffer.area.width, 1);
        self.buffer.set_style(area, Style::new().add_modifier(Modifier::REVERSED));
    }

    /// Takes away what is in a row.
    pub(crate) fn clear(&mut self, y: u16) {
        let blank = " ".repeat(usize::from(self.buffer.area.width));
        self.put((0, y), &blank, u16::MAX, Style::new());
    }

    /// A text on a bar.
    pub(crate) fn heading(&mut self, x: u16, y: u16, text: &str) {
        self.put((x, y), text, u16::MAX, Style::new().add_modifier(Modifier::REVERSED));
    }

    /// The end of a text on a bar, where it is too long for so many columns.
    pub(crate) fn tail(&mut self, x: u16, y: u16, text: &str, columns: u16) {
        let mut rest = text;
        while width(rest) + u16::from(rest.len() < text.len()) > columns && !rest.is_empty() {
            let mut characters = rest.chars();
            characters.next();
            rest = characters.as_str();
        }
        if rest.len() < text.len() {
            self.heading(x, y, CUT);
            self.heading(x + 1, y, rest);
        } else {
            self.heading(x, y, text);
        }
    }

    /// A question, and the end of what was typed so far.
    pub(crate) fn typed(&mut self, y: u16, question: &str, typed: &str) {
        let (columns, _) = self.size();
        let question_columns = width(question).min(columns.saturating_sub(8));
        self.strong_within(0, y, question, question_columns);
        let room = columns.saturating_sub(question_columns + 3);
        let mut rest = typed;
        while width(rest) > room && !rest.is_empty() {
            let mut characters = rest.chars();
            characters.next();
            rest = characters.as_str();
        }
        let at = question_columns + 2;
        self.plain(question_columns, y, ":");
        self.plain(at, y, rest);
        let cursor = Style::new().add_modifier(Modifier::REVERSED);
        self.put((at + width(rest), y), " ", 1, cursor);
    }

    /// Shows where the cursor is: turns a row round.
    pub(crate) fn select(&mut self, y: u16) {
        let area = Rect::new(0, y, self.buffer.area.width, 1);
        self.buffer.set_style(area, Style::new().add_modifier(Modifier::REVERSED));
    }
}
