//! JSON by hand: a serializer that asks each value what it is costs more than the listing.

use s3haul_wire::units::{LocalTime, RequestCounts, is_plain};
use serde::Serialize;

use crate::render::estimate::Requests;
use crate::render::json;

use super::entry::{Entry, Field, Value, bare_etag};

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
    push_etag(buffer, object.etag);
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

/// Appends an `ETag` with its quotes, between which there is hardly ever anything to escape.
fn push_etag(buffer: &mut Vec<u8>, etag: &str) {
    let bare = bare_etag(etag);
    if bare.len() == etag.len() || !is_plain(bare) {
        return push_string(buffer, etag);
    }
    buffer.extend_from_slice(b"\"\\\"");
    buffer.extend_from_slice(bare.as_bytes());
    buffer.extend_from_slice(b"\\\"\"");
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
    let mut start = 0;
    buffer.push(b'"');
    if !is_plain(text) {
        for (at, character) in text.char_indices().filter(|(_, character)| needs_escape(*character))
        {
            buffer.extend_from_slice(&text.as_bytes()[start..at]);
            push_escape(buffer, character);
            start = at + character.len_utf8();
        }
    }
    buffer.extend_from_slice(&text.as_bytes()[start..]);
    buffer.push(b'"');
}

fn needs_escape(character: char) -> bool {
    character.is_control() || matches!(character, '"' | '\\' | '\u{2028}' | '\u{2029}')
}

fn push_escape(buffer: &mut Vec<u8>, character: char) {
    match character {
        '"' => buffer.extend_from_slice(b"\\\""),
        '\\' => buffer.extend_from_slice(b"\\\\"),
        '\n' => buffer.extend_from_slice(b"\\n"),
        '\r' => buffer.extend_from_slice(b"\\r"),
        '\t' => buffer.extend_from_slice(b"\\t"),
        _ => push_unicode(buffer, character),
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
