//! Texts as they are shown: names and content of others, numbers. Pure.

use std::fmt::Write as _;

use s3haul_wire::units::{LocalTime, format_size};

use crate::render::escape::push_name;
use crate::render::numbers::grouped;

/// Bytes of a line of a hexadecimal dump.
const HEX_COLUMNS: usize = 16;
/// Length of `YYYY-MM-DD HH:MM`.
const MINUTE_BYTES: usize = 16;

/// A text of others, with escapes for what a terminal would obey.
pub(crate) fn safe(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    push_name(&mut bytes, text, true);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Bytes, with a unit.
pub(crate) fn size(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "?".to_owned(), format_size)
}

/// A number and its noun.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {}", grouped(number), plural(number, noun))
}

/// The same for lines that programs read, too.
pub(crate) fn number_of(number: u64, noun: &str) -> String {
    format!("{number} {}", plural(number, noun))
}

fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{noun}{ending}")
}

/// A time to the minute, in the local zone.
pub(crate) fn minute(seconds: Option<i64>, zone: &mut LocalTime) -> String {
    let Some(seconds) = seconds else { return String::new() };
    String::from_utf8_lossy(&zone.text(seconds, b' ')[..MINUTE_BYTES]).into_owned()
}

/// A bar of so many columns for a part of a whole.
pub(crate) fn bar(part: u64, whole: u64, columns: usize, unicode: bool) -> String {
    let scaled = u128::from(part) * columns as u128 * 2 + u128::from(whole);
    let filled = scaled.checked_div(u128::from(whole) * 2).unwrap_or(0);
    let filled = usize::try_from(filled).unwrap_or(columns).min(columns);
    let filled = filled.max(usize::from(part > 0)).min(columns);
    let (full, empty) = if unicode { ("█", "·") } else { ("#", ".") };
    full.repeat(filled) + &empty.repeat(columns - filled)
}

/// The last figures as so many columns of different heights, the highest of them as high as it
/// goes; figures that are not known are blank.
pub(crate) fn sparkline(figures: &[Option<u64>], columns: usize, unicode: bool) -> String {
    let levels = if unicode { "▁▂▃▄▅▆▇█" } else { "_.-=+*%#" };
    let levels: Vec<char> = levels.chars().collect();
    let shown = &figures[figures.len().saturating_sub(columns)..];
    let highest = shown.iter().copied().flatten().max().unwrap_or(0);
    let level = |figure: u64| {
        let scaled = u128::from(figure) * (levels.len() as u128 - 1);
        let level = scaled.div_ceil(u128::from(highest.max(1)));
        levels[usize::try_from(level).unwrap_or(0).min(levels.len() - 1)]
    };
    let blanks = columns - shown.len();
    let drawn = shown.iter().map(|figure| figure.map_or(' ', level));
    std::iter::repeat_n(' ', blanks).chain(drawn).collect()
}

/// The beginning of an object: lines of text, or of a hexadecimal dump where it is no text.
pub(crate) fn content(bytes: &[u8]) -> Vec<String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // A character may be cut off at the end of what was read.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return hex(bytes),
    };
    let is_binary =
        |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}');
    if text.chars().any(is_binary) {
        return hex(bytes);
    }
    text.lines().map(|line| safe(&line.replace('\t', "    "))).collect()
}

fn hex(bytes: &[u8]) -> Vec<String> {
    let line = |(at, row): (usize, &[u8])| {
        let mut text = format!("{:04x} ", at * HEX_COLUMNS);
        for column in 0..HEX_COLUMNS {
            // Writing to a string cannot fail.
            _ = match row.get(column) {
                Some(byte) => write!(text, " {byte:02x}"),
                None => write!(text, "   "),
            };
        }
        let shown = |byte: &u8| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '.' };
        text.push_str("  ");
        text.extend(row.iter().map(shown));
        text
    };
    bytes.chunks(HEX_COLUMNS).enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(counted(1, "object"), "1 object");
        assert_eq!(counted(2000, "object"), "2,000 objects");
        assert_eq!((size(None), size(Some(0))), ("?".to_owned(), format_size(0)));
        assert_eq!(minute(Some(0), &mut LocalTime::utc()), "1970-01-01 00:00");
        assert_eq!(minute(None, &mut LocalTime::utc()), "");
    }

    #[test]
    fn bars_have_their_width() {
        assert_eq!(bar(1, 2, 4, false), "##..");
        assert_eq!(bar(1, 1_000_000, 4, true), "█···");
        assert_eq!(bar(0, 0, 3, false), "...");
        assert_eq!(bar(u64::MAX, 1, 3, false), "###");
    }

    #[test]
    fn sparklines_end_with_the_newest() {
        let figures = [Some(9), None, Some(0), Some(1), Some(4), Some(8)];
        assert_eq!(sparkline(&figures, 5, false), " _.+#");
        assert_eq!(sparkline(&figures[2..], 6, true), "  ▁▂▅█");
        assert_eq!(sparkline(&[Some(0), Some(u64::MAX)], 2, true), "▁█");
        assert_eq!(sparkline(&[], 3, true), "   ");
    }

    #[test]
    fn content_is_text_or_hexadecimal() {
        assert_eq!(content("a\tü\r\nb\u{1b}[2J".as_bytes()), ["a    ü", "b\\u{1b}[2J"]);
        assert_eq!(content(b"caf\xc3"), ["caf"], "the last character is cut off");
        let dump = content(b"\x00\x01ab\xff0123456789abcdef");
        assert_eq!(
            dump[0],
            "0000  00 01 61 62 ff 30 31 32 33 34 35 36 37 38 39 61  ..ab.0123456789a"
        );
        assert_eq!(dump[1].trim_end(), format!("0010  62 63 64 65 66{}  bcdef", " ".repeat(33)));
        assert!(content(b"").is_empty());
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        let wild: String = (0..0x2100u32).filter_map(char::from_u32).collect();
        let lines = content(wild.as_bytes()).join("") + &safe(&wild);
        assert!(lines.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{lines:?}");
    }
}
