//! The lines of `aws s3 ls`.

use s3haul::units::format_size;

use super::Entry;
use super::rows::RowStyle;
use crate::render::escape::push_name;
use crate::render::time::LocalTime;

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
    use super::*;
    use crate::render::listing::entry::VersionInfo;
    use s3haul::s3::ops::ListedObject;

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
    fn versions_have_marks_and_ids() {
        let object =
            ListedObject { key: "k", size: 3, last_modified_s: 1, etag: "", storage_class: "" };
        let version = Some(VersionInfo { id: "v1", is_latest: true, is_delete_marker: true });
        let mut buffer = Vec::new();
        let entry = Entry { object, version };
        push_text_line(&mut buffer, &entry, "k", &mut LocalTime::utc(), RowStyle::default());
        assert_eq!(buffer, b"1970-01-01 00:00:01          3 LD v1 k\n");
    }
}
