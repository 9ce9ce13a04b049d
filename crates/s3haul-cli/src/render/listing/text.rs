//! The lines of `aws s3 ls`, one by one or, where a page is whole and plain, all of it at once:
//! there are millions of them, so that each is put together from parts of fixed places instead of
//! being formatted.

use s3haul::plan::s3_uri;
use s3haul_wire::ops::ListPage;
use s3haul_wire::units::{LocalTime, RequestCounts, TIME_BYTES, format_size};

use super::Entry;
use super::json::push_string;
use super::rows::RowStyle;
use crate::render::escape::push_name;

/// Columns of a size at least.
const SIZE_BYTES: usize = 10;
/// What stands before a key: time and size, each with a space.
const HEAD_BYTES: usize = TIME_BYTES + 1 + SIZE_BYTES + 1;
/// The first size that does not fit into its columns.
const SIZE_TOO_WIDE: u64 = 10_000_000_000;

/// Appends a line for each object of a page: when it was modified, its size, and its key as it is.
pub(super) fn push_lines(buffer: &mut Vec<u8>, page: &ListPage, time: &mut LocalTime) {
    buffer.reserve(page.len() * (HEAD_BYTES + 1) + page.text_of_keys().len());
    for ((key, size), (last_modified_s, _)) in page.keys().zip(page.sizes()).zip(page.times()) {
        let mut head = [b' '; HEAD_BYTES];
        head[..TIME_BYTES].copy_from_slice(&time.text(last_modified_s, b' '));
        if size < SIZE_TOO_WIDE {
            write_size(size, &mut head[..HEAD_BYTES - 1]);
            buffer.extend_from_slice(&head);
        } else {
            buffer.extend_from_slice(&head[..=TIME_BYTES]);
            buffer.extend_from_slice(size.to_string().as_bytes());
            buffer.push(b' ');
        }
        buffer.extend_from_slice(key.as_bytes());
        buffer.push(b'\n');
    }
}

/// Writes a number to the end of a text.
fn write_size(mut size: u64, text: &mut [u8]) {
    for place in text.iter_mut().rev() {
        *place = b'0' + u8::try_from(size % 10).unwrap_or_default();
        size /= 10;
        if size == 0 {
            break;
        }
    }
}

/// Appends the line of an object, or of a version, under this name.
pub(crate) fn push_text_line(
    buffer: &mut Vec<u8>,
    entry: &Entry<'_>,
    name: &str,
    time: &mut LocalTime,
    style: RowStyle,
) {
    time.push(buffer, entry.object.last_modified_s);
    buffer.push(b' ');
    push_size(buffer, entry.object.size, style.human_readable);
    buffer.push(b' ');
    if let Some(version) = &entry.version {
        buffer.push(if version.is_latest { b'L' } else { b'-' });
        buffer.push(if version.is_delete_marker { b'D' } else { b'-' });
        buffer.push(b' ');
        push_name(buffer, version.id, style.escape);
        buffer.push(b' ');
    }
    push_name(buffer, name, style.escape);
    buffer.push(b'\n');
}

/// Appends the line of a common prefix under this name.
pub(crate) fn push_prefix_line(buffer: &mut Vec<u8>, name: &str, style: RowStyle) {
    buffer.extend_from_slice(b"                           PRE ");
    push_name(buffer, name, style.escape);
    buffer.extend_from_slice(b"/\n");
}

/// Appends the totals at the end.
pub(crate) fn push_summary(buffer: &mut Vec<u8>, objects: u64, bytes: u64, style: RowStyle) {
    let size = if style.human_readable { format_size(bytes) } else { bytes.to_string() };
    let text = format!("\nTotal Objects: {objects}\n   Total Size: {size}\n");
    buffer.extend_from_slice(text.as_bytes());
}

/// Appends how many requests it took.
pub(crate) fn push_requests(buffer: &mut Vec<u8>, requests: RequestCounts) {
    let RequestCounts { write, read, .. } = requests;
    let text = format!("     Requests: {write} LIST, {read} HEAD and GET\n");
    buffer.extend_from_slice(text.as_bytes());
}

/// Appends a key and a line end. A line that would be read as something else is an address instead:
/// what begins as an address, with a quote, a brace or a byte order mark, and what a list of keys
/// would not be known by.
pub(super) fn push_key(
    buffer: &mut Vec<u8>,
    key: &str,
    bucket: &str,
    is_ambiguous: bool,
    escape: bool,
) {
    let is_other = s3_uri::is_s3(key) || key.starts_with(['"', '{', '\u{feff}']);
    if is_other || is_ambiguous || !is_line(key) {
        push_one_line(buffer, key, bucket, escape);
    } else {
        push_name(buffer, key, escape);
    }
    buffer.push(b'\n');
}

/// Whether a key can be a line, or the cell of one.
fn is_line(key: &str) -> bool {
    !key.contains(['\n', '\r', '\t', '\0'])
}

/// The address that a line has as a string of JSON: no key could be a line of its own there.
pub(crate) fn quoted_address(line: &str) -> Option<String> {
    let address = line.starts_with('"').then(|| serde_json::from_str::<String>(line).ok())??;
    (s3_uri::is_s3(&address) && !is_line(&address)).then_some(address)
}

/// Appends the address of an object, of a version with a tab and its id.
pub(super) fn push_address(buffer: &mut Vec<u8>, entry: &Entry<'_>, bucket: &str, escape: bool) {
    let start = buffer.len();
    push_one_line(buffer, entry.object.key, bucket, escape);
    if let Some(version) = &entry.version {
        buffer.push(b'\t');
        push_name(buffer, version.id, true);
    }
    debug_assert!(!buffer[start..].contains(&b'\n'), "one line for an object");
    buffer.push(b'\n');
}

/// Appends an address. A line is a line whatever the key has: where it has a line break or a tab,
/// the address is a string of JSON, with its quotes, which nothing takes for that of another key.
fn push_one_line(buffer: &mut Vec<u8>, key: &str, bucket: &str, escape: bool) {
    if !is_line(key) {
        return push_string(buffer, &format!("s3://{bucket}/{key}"));
    }
    buffer.extend_from_slice(b"s3://");
    buffer.extend_from_slice(bucket.as_bytes());
    buffer.push(b'/');
    push_name(buffer, key, escape);
}

/// Appends a size, ten columns wide at least, right-aligned.
fn push_size(buffer: &mut Vec<u8>, size: u64, human_readable: bool) {
    const BLANK: &[u8; 10] = b"          ";
    let mut digits = itoa::Buffer::new();
    let readable;
    let text = if human_readable {
        readable = format_size(size);
        readable.as_str()
    } else {
        digits.format(size)
    };
    buffer.extend_from_slice(BLANK.get(text.len()..).unwrap_or_default());
    buffer.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::render::listing::entry::VersionInfo;
    use s3haul_wire::ops::ListedObject;

    #[test]
    fn sizes_fill_ten_columns() {
        let shown = |size, human| {
            let mut buffer = Vec::new();
            push_size(&mut buffer, size, human);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(shown(0, false), "         0");
        assert_eq!(shown(1_234_567_890, false), "1234567890");
        assert_eq!(shown(12_345_678_901, false), "12345678901");
        assert_eq!(shown(1536, true), "   1.5 KiB");
    }

    #[test]
    fn an_address_is_one_line() {
        let line = |key, version, escape| {
            let object =
                ListedObject { key, size: 3, last_modified_s: 1, ..ListedObject::default() };
            let mut buffer = Vec::new();
            push_address(&mut buffer, &Entry { object, version }, "b", escape);
            String::from_utf8(buffer).unwrap()
        };
        let version = Some(VersionInfo { id: "v1", is_latest: true, is_delete_marker: false });
        assert_eq!(line("a b/\\", None, false), "s3://b/a b/\\\n");
        assert_eq!(line("a\u{1b}", None, true), "s3://b/a\\u{1b}\n");
        // It was the line of a key with a backslash and a letter.
        for escape in [false, true] {
            let quoted = line("a\nb\r\\n\u{1b}", None, escape);
            assert_eq!(quoted, "\"s3://b/a\\nb\\r\\\\n\\u001b\"\n");
            assert_eq!(line("a\tb", None, escape), "\"s3://b/a\\tb\"\n");
        }
        assert_eq!(line("k", version, false), "s3://b/k\tv1\n");
    }

    #[test]
    fn versions_have_marks_and_ids() {
        let object =
            ListedObject { key: "k", size: 3, last_modified_s: 1, ..ListedObject::default() };
        let version = Some(VersionInfo { id: "v1", is_latest: true, is_delete_marker: true });
        let mut buffer = Vec::new();
        let entry = Entry { object, version };
        push_text_line(&mut buffer, &entry, "k", &mut LocalTime::utc(), RowStyle::default());
        assert_eq!(buffer, b"1970-01-01 00:00:01          3 LD v1 k\n");
    }

    proptest! {
        #[test]
        fn a_line_is_what_formatting_would_make_of_it(
            rows in prop::collection::vec(("[a-zé \n]{0,9}", any::<u64>(), 0..64_u32), 0..9),
            times in prop::collection::vec(0..4_000_000_000_i64, 9),
        ) {
            let rows: Vec<_> = rows
                .into_iter()
                .zip(times)
                .map(|((key, bits, shift), time_s)| (key, bits >> shift, time_s))
                .collect();
            let objects = rows.iter().map(|(key, size, last_modified_s)| ListedObject {
                key,
                size: *size,
                last_modified_s: *last_modified_s,
                etag: "",
                storage_class: "", ..ListedObject::default() });
            let page = ListPage::from_objects(objects).unwrap();
            let mut lines = b"before".to_vec();
            push_lines(&mut lines, &page, &mut LocalTime::utc());
            let expected: Vec<_> = rows
                .iter()
                .map(|(key, size, time_s)| {
                    let time = jiff::Timestamp::from_second(*time_s).unwrap();
                    format!("{} {size:>10} {key}\n", time.strftime("%Y-%m-%d %H:%M:%S"))
                })
                .collect();
            let expected = "before".to_owned() + &expected.concat();
            prop_assert_eq!(String::from_utf8(lines).unwrap(), expected);
        }
    }
}
