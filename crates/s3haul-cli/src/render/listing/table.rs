//! Tables as text: CSV after RFC 4180, TSV with escapes, and keys one a line.

use s3haul_wire::units::{LocalTime, is_plain};

use crate::render::csv::push_cell;
use crate::render::escape::push_name;

use super::entry::{Entry, Field, Value};

/// How cells are separated and kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cells {
    /// Commas; what holds a comma, a quote or a line break is quoted.
    Comma,
    /// Tabs; tabs, line breaks and backslashes in a text are escaped by a backslash.
    Tab,
}

impl Cells {
    fn separator(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Tab => b'\t',
        }
    }

    fn line_end(self) -> &'static [u8] {
        match self {
            Self::Comma => b"\r\n",
            Self::Tab => b"\n",
        }
    }

    /// Appends the names of the columns.
    pub(super) fn push_header(self, buffer: &mut Vec<u8>, fields: &[Field]) {
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let separator = char::from(self.separator()).to_string();
        buffer.extend_from_slice(names.join(&separator).as_bytes());
        buffer.extend_from_slice(self.line_end());
    }

    /// Appends a row. On a terminal control characters are shown as escapes.
    pub(super) fn push_row(
        self,
        buffer: &mut Vec<u8>,
        row: &Row<'_, '_>,
        time: &mut LocalTime,
        is_terminal: bool,
    ) {
        for (index, field) in row.fields.iter().enumerate() {
            if index > 0 {
                buffer.push(self.separator());
            }
            match field.value(row.entry, row.bucket) {
                Value::Nothing => {}
                Value::Text(text) => self.push_text(buffer, text, is_terminal),
                Value::Number(number) => {
                    buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
                }
                Value::Time(seconds) => time.push_iso(buffer, seconds),
                Value::Flag(flag) => {
                    buffer.extend_from_slice(if flag { b"true" } else { b"false" });
                }
            }
        }
        buffer.extend_from_slice(self.line_end());
    }

    fn push_text(self, buffer: &mut Vec<u8>, text: &str, is_terminal: bool) {
        if is_terminal && text.chars().any(char::is_control) {
            let mut visible = Vec::new();
            push_name(&mut visible, text, true);
            return self.push_text(buffer, &String::from_utf8_lossy(&visible), false);
        }
        match self {
            Self::Comma => push_cell(buffer, text),
            Self::Tab => push_escaped(buffer, text),
        }
    }
}

/// What a row is made of.
pub(super) struct Row<'r, 'a> {
    /// Columns.
    pub(super) fields: &'r [Field],
    /// Object or version.
    pub(super) entry: &'r Entry<'a>,
    /// Bucket.
    pub(super) bucket: &'a str,
}

fn push_escaped(buffer: &mut Vec<u8>, text: &str) {
    if is_plain(text) {
        return buffer.extend_from_slice(text.as_bytes());
    }
    for byte in text.bytes() {
        match byte {
            b'\t' => buffer.extend_from_slice(b"\\t"),
            b'\n' => buffer.extend_from_slice(b"\\n"),
            b'\r' => buffer.extend_from_slice(b"\\r"),
            b'\\' => buffer.extend_from_slice(b"\\\\"),
            byte => buffer.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(cells: Cells, text: &str) -> String {
        let mut buffer = Vec::new();
        cells.push_text(&mut buffer, text, false);
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn cells_are_quoted_only_where_they_must_be() {
        assert_eq!(written(Cells::Comma, "a b\tc"), "a b\tc");
        assert_eq!(written(Cells::Comma, "a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
        assert_eq!(written(Cells::Tab, "a,\"b\""), "a,\"b\"");
        assert_eq!(written(Cells::Tab, "a\tb\\n\r\n"), "a\\tb\\\\n\\r\\n");
        let mut shown = Vec::new();
        Cells::Tab.push_text(&mut shown, "a\x1b[2Jb", true);
        assert_eq!(shown, b"a\\\\u{1b}[2Jb");
    }

    proptest! {
        #[test]
        fn a_cell_of_a_tsv_is_one_line_and_read_back(text in "(?s).*|[\\\\\\t\\n\\rnrt]*") {
            let line = written(Cells::Tab, &text);
            prop_assert!(!line.contains(['\n', '\r', '\t']));
            let mut read = String::new();
            let mut characters = line.chars();
            while let Some(character) = characters.next() {
                read.push(match character {
                    '\\' => match characters.next().unwrap() {
                        't' => '\t',
                        'n' => '\n',
                        'r' => '\r',
                        other => other,
                    },
                    other => other,
                });
            }
            prop_assert_eq!(read, text);
        }
    }
}
