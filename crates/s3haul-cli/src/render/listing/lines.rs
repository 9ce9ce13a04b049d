//! The lines of `aws s3 ls`, a page at a time: millions of them, so that each is put together from
//! parts of fixed places instead of being formatted.

use s3haul_wire::ops::ListPage;
use s3haul_wire::units::{LocalTime, TIME_BYTES};

/// Columns of a size at least.
const SIZE_BYTES: usize = 10;
/// What stands before a key: time and size, each with a space.
const HEAD_BYTES: usize = TIME_BYTES + 1 + SIZE_BYTES + 1;
/// The first size that does not fit into its columns.
const SIZE_TOO_WIDE: u64 = 10_000_000_000;

/// Appends a line for each object of a page: when it was modified, its size, and its key as it is.
pub(super) fn push_lines(buffer: &mut Vec<u8>, page: &ListPage, time: &mut LocalTime) {
    buffer.reserve(page.len() * (HEAD_BYTES + 1) + page.text_of_keys().len());
    for object in page.iter() {
        let mut head = [b' '; HEAD_BYTES];
        head[..TIME_BYTES].copy_from_slice(&time.text(object.last_modified_s, b' '));
        if object.size < SIZE_TOO_WIDE {
            write_size(object.size, &mut head[..HEAD_BYTES - 1]);
            buffer.extend_from_slice(&head);
        } else {
            buffer.extend_from_slice(&head[..=TIME_BYTES]);
            buffer.extend_from_slice(object.size.to_string().as_bytes());
            buffer.push(b' ');
        }
        buffer.extend_from_slice(object.key.as_bytes());
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use s3haul_wire::ops::ListedObject;

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
