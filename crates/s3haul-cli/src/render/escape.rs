//! Names on a terminal: control characters are shown as escapes, so that a key cannot move the
//! cursor, recolour the screen or turn a line around. Elsewhere names are written as they are.
//!
//! [`push_name`] is for names and for texts of others. [`tame`] is the net behind it, for all that
//! goes to a terminal: nothing passes but what is printable, line ends and, where we use them,
//! colours.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt as _;

/// Characters beside control characters that change what stands around them: they end lines, or
/// turn the direction of writing.
const UNSAFE: [RangeInclusive<char>; 5] = [
    '\u{61c}'..='\u{61c}',
    '\u{200e}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2066}'..='\u{2069}',
    '\u{fff9}'..='\u{fffb}',
];

/// Characters that are not seen, which pages write out (`html/basics.js`): those that Unicode calls
/// formats or ignorable, and a blank pattern of braille.
const UNSEEN: [RangeInclusive<char>; 26] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{600}'..='\u{605}',
    '\u{61c}'..='\u{61c}',
    '\u{6dd}'..='\u{6dd}',
    '\u{70f}'..='\u{70f}',
    '\u{890}'..='\u{891}',
    '\u{8e2}'..='\u{8e2}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{110bd}'..='\u{110bd}',
    '\u{110cd}'..='\u{110cd}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

fn is_unseen(character: char) -> bool {
    character.is_control() || UNSEEN.iter().any(|range| range.contains(&character))
}

/// Whether a character must not reach a terminal as it is.
pub(crate) fn is_unsafe(character: char) -> bool {
    character.is_control() || UNSAFE.iter().any(|range| range.contains(&character))
}

/// Whether a terminal shows a name as it is.
pub(crate) fn is_printable(name: &str) -> bool {
    !name.chars().any(is_unsafe)
}

/// Appends a name.
pub(crate) fn push_name(buffer: &mut Vec<u8>, name: &str, escape: bool) {
    if !escape || is_printable(name) {
        buffer.extend_from_slice(name.as_bytes());
        return;
    }
    for character in name.chars() {
        if is_unsafe(character) {
            buffer.extend(character.escape_default().map(|c| c as u8));
        } else {
            push_character(buffer, character);
        }
    }
}

/// A word as a shell reads it, without characters that a terminal would obey or a page write out.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    match std::str::from_utf8(bytes) {
        Ok(word) if !word.chars().any(is_unseen) => format!("'{}'", word.replace('\'', r"'\''")),
        _ => ansi_quoted(bytes),
    }
}

/// Bytes as bash, zsh and POSIX since 2024 read them: `$'a\nb'`. Other characters than plain ones
/// are octal numbers.
fn ansi_quoted(bytes: &[u8]) -> String {
    let escape = |byte: &u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        byte => format!("\\{byte:03o}"),
    };
    format!("$'{}'", bytes.iter().map(escape).collect::<String>())
}

/// Escapes what a terminal would obey in the bytes from `start` on, colours too unless they may
/// stay. Escapes are those of JSON, so that lines of JSON stay so.
pub(crate) fn tame(buffer: &mut Vec<u8>, start: usize, keeps_colours: bool) {
    let is_plain = |byte: &u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    if buffer[start..].iter().all(is_plain) {
        return;
    }
    let wild = buffer.split_off(start);
    for chunk in wild.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(character) = rest.chars().next() {
            let colour = colour_length(rest).filter(|_| keeps_colours);
            let length = colour.unwrap_or(character.len_utf8());
            if rest.starts_with("\r\n") {
                // Lines of CSV end so; a terminal needs the line feed only.
            } else if length > character.len_utf8() || !is_obeyed(character) {
                buffer.extend_from_slice(&rest.as_bytes()[..length]);
            } else {
                buffer.extend_from_slice(format!("\\u{:04x}", u32::from(character)).as_bytes());
            }
            rest = &rest[length..];
        }
        for byte in chunk.invalid() {
            buffer.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
        }
    }
}

fn is_obeyed(character: char) -> bool {
    is_unsafe(character) && !matches!(character, '\n' | '\t')
}

/// Length of the colour that a text begins with: `ESC [ 1 ; 31 m`.
fn colour_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("\x1b[")?;
    let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    (rest.as_bytes().get(digits) == Some(&b'm')).then_some(2 + digits + 1)
}

fn push_character(buffer: &mut Vec<u8>, character: char) {
    buffer.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_only_on_request() {
        let push = |escape| {
            let mut buffer = Vec::new();
            push_name(&mut buffer, "a\x1b[31m\nü\u{85}\u{202e}", escape);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(push(false), "a\x1b[31m\nü\u{85}\u{202e}");
        assert_eq!(push(true), "a\\u{1b}[31m\\nü\\u{85}\\u{202e}");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_passes() {
        let tamed = |text: &[u8]| {
            let mut buffer = b"\x07".to_vec();
            buffer.extend_from_slice(text);
            tame(&mut buffer, 1, true);
            assert_eq!(buffer.remove(0), b'\x07', "what was there before stays");
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(tamed("a\tü\n".as_bytes()), "a\tü\n");
        assert_eq!(tamed(b"a,b\r\n\r\r\n"), "a,b\n\\u000d\n");
        assert_eq!(tamed(b"\x1b[1;31merror\x1b[0m: \x1b[2J"), "\x1b[1;31merror\x1b[0m: \\u001b[2J");
        assert_eq!(tamed(b"\x1b]0;title\x07\r\x08"), "\\u001b]0;title\\u0007\\u000d\\u0008");
        assert_eq!(tamed("\u{9b}31m\u{7f}\u{202e}".as_bytes()), "\\u009b31m\\u007f\\u202e");
        assert_eq!(tamed(b"\x9b2J\xff"), "\\u009b2J\\u00ff");
        assert_eq!(tamed(b"\x1b[31"), "\\u001b[31");
        let mut coloured = b"\x1b[31m".to_vec();
        tame(&mut coloured, 0, false);
        assert_eq!(coloured, b"\\u001b[31m");
        let json = serde_json::to_vec("\u{9b}\u{2028}\u{7f}").unwrap();
        let shown = tamed(&json);
        assert!(shown.is_ascii());
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), "\u{9b}\u{2028}\u{7f}");
    }

    #[test]
    fn words_are_what_a_shell_makes_of_them() {
        for word in [
            &b"plain-_./:=@%+,9"[..],
            b"",
            b"two words",
            b"it's",
            b"$HOME `x` \\ \" *",
            "\u{fc}ml\u{e4}ut".as_bytes(),
            b"a\nb\x1b[2J'\\9",
            "\u{202e}9 turned".as_bytes(),
            "\u{1f469}\u{200d}\u{1f680} \u{2764}\u{fe0f}".as_bytes(),
            b"\xff\xfe7",
        ] {
            let text = quoted(OsStr::from_bytes(word));
            assert!(!text.chars().any(|c| is_unsafe(c) || is_unseen(c)), "{text}");
            let script = format!("printf %s {text}");
            let output = std::process::Command::new("bash").args(["-c", &script]).output();
            assert_eq!(output.unwrap().stdout, word, "{text}");
        }
    }
}
