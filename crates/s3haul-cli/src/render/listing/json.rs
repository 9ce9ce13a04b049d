//! JSON by hand: a serializer that asks each value what it is costs more than the listing.

use s3haul_wire::units::{LocalTime, RequestCounts};
use serde::Serialize;

use crate::render::estimate::Requests;
use crate::render::json;

use super::entry::{Entry, Field, Value};

/// Appends the event with the totals.
pub(crate) fn push_summary_event(
    buffer: &mut Vec<u8>,
    objects: u64,
    bytes: u64,
    requests: Option<RequestCounts>,
) {
    #[derive(Serialize)]
    struct SummaryLine {
        objects: u64,
        bytes: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        requests: Option<Requests>,
    }
    let requests = requests.map(Requests::of);
    json::push(buffer, "listing_summary", SummaryLine { objects, bytes, requests });
}

/// Appends one object of the wanted fields and a line feed.
pub(super) fn push_row(
    buffer: &mut Vec<u8>,
    fields: &[Field],
    entry: &Entry<'_>,
    bucket: &str,
    time: &mut LocalTime,
) {
    let mut before = b'{';
    for field in fields {
        buffer.push(before);
        before = b',';
        buffer.push(b'"');
        buffer.extend_from_slice(field.name().as_bytes());
        buffer.extend_from_slice(b"\":");
        push_value(buffer, field.value(entry, bucket), time);
    }
    buffer.extend_from_slice(b"}\n");
}

/// Appends the event of an object: what `ls --json` and `list --json` print.
pub(super) fn push_event(buffer: &mut Vec<u8>, entry: &Entry<'_>, time: &mut LocalTime) {
    let object = &entry.object;
    buffer.extend_from_slice(b"{\"v\":1,\"event\":\"listed\",\"key\":");
    push_string(buffer, object.key);
    buffer.extend_from_slice(b",\"size\":");
    buffer.extend_from_slice(itoa::Buffer::new().format(object.size).as_bytes());
    buffer.extend_from_slice(b",\"last_modified\":");
    push_value(buffer, Value::Time(object.last_modified_s), time);
    buffer.extend_from_slice(b",\"etag\":");
    push_string(buffer, object.etag);
    if !object.storage_class.is_empty() {
        buffer.extend_from_slice(b",\"storage_class\":");
        push_string(buffer, object.storage_class);
    }
    if let Some(version) = &entry.version {
        buffer.extend_from_slice(b",\"version_id\":");
        push_string(buffer, version.id);
        buffer.extend_from_slice(b",\"is_latest\":");
        buffer.extend_from_slice(flag(version.is_latest));
        buffer.extend_from_slice(b",\"is_delete_marker\":");
        buffer.extend_from_slice(flag(version.is_delete_marker));
    }
    buffer.extend_from_slice(b"}\n");
}

fn push_value(buffer: &mut Vec<u8>, value: Value<'_>, time: &mut LocalTime) {
    match value {
        Value::Nothing => buffer.extend_from_slice(b"null"),
        Value::Text(text) => push_string(buffer, text),
        Value::Number(number) => {
            buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
        Value::Time(seconds) => {
            buffer.push(b'"');
            time.push_iso(buffer, seconds);
            buffer.push(b'"');
        }
        Value::Flag(value) => buffer.extend_from_slice(flag(value)),
    }
}

fn flag(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}

/// Appends a string. Control characters of all kinds and U+2028 and U+2029 are escapes, so that a
/// line is a line for every reader and a terminal shows it as it is.
pub(super) fn push_string(buffer: &mut Vec<u8>, text: &str) {
    buffer.push(b'"');
    if may_need_escapes(text) {
        text.chars().for_each(|character| push_escaped(buffer, character));
    } else {
        buffer.extend_from_slice(text.as_bytes());
    }
    buffer.push(b'"');
}

/// Looks at bytes without stopping early, which compilers turn into a few instructions. The lead
/// bytes of U+0080 and U+2028 stand for all characters that share them.
fn may_need_escapes(text: &str) -> bool {
    let special = |byte: u8| {
        u8::from(byte < b' ') | u8::from(matches!(byte, b'"' | b'\\' | 0x7f | 0xc2 | 0xe2))
    };
    text.bytes().fold(0, |found, byte| found | special(byte)) != 0
}

fn push_escaped(buffer: &mut Vec<u8>, character: char) {
    match character {
        '"' => buffer.extend_from_slice(b"\\\""),
        '\\' => buffer.extend_from_slice(b"\\\\"),
        '\n' => buffer.extend_from_slice(b"\\n"),
        '\r' => buffer.extend_from_slice(b"\\r"),
        '\t' => buffer.extend_from_slice(b"\\t"),
        '\u{2028}' | '\u{2029}' => push_unicode(buffer, character),
        _ if character.is_control() => push_unicode(buffer, character),
        _ => buffer.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// Appends `\uXXXX` for a character that has four digits at most.
fn push_unicode(buffer: &mut Vec<u8>, character: char) {
    buffer.extend_from_slice(format!("\\u{:04x}", u32::from(character)).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn strings_are_read_back_and_hold_no_control_character(
            text in "(?s).*|[a-z\\x00-\\xff\u{2028}]*",
        ) {
            let mut buffer = Vec::new();
            push_string(&mut buffer, &text);
            let written = String::from_utf8(buffer).unwrap();
            prop_assert_eq!(&serde_json::from_str::<String>(&written).unwrap(), &text);
            let is_line_end = |c: char| matches!(c, '\u{2028}' | '\u{2029}');
            prop_assert!(!written.chars().any(|c| c.is_control() || is_line_end(c)));
        }
    }
}
