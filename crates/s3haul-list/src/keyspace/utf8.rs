//! UTF-8 as a sequence of bytes: what may follow what, and how a cut-off key is made valid again.

/// Number of bytes that follow the first byte of a character.
pub(super) fn continuation_count(lead: u8) -> u8 {
    match lead {
        0..0xC2 => 0,
        0xC2..0xE0 => 1,
        0xE0..0xF0 => 2,
        _ => 3,
    }
}

/// The bytes that may follow `lead` when `pending` bytes of its character are missing.
pub(super) fn continuation_range(lead: u8, pending: u8) -> (u8, u8) {
    if pending < continuation_count(lead) {
        return (0x80, 0xBF);
    }
    match lead {
        0xE0 => (0xA0, 0xBF),
        0xED => (0x80, 0x9F),
        0xF0 => (0x90, 0xBF),
        0xF4 => (0x80, 0x8F),
        _ => (0x80, 0xBF),
    }
}

/// Completes a cut-off last character with its smallest form. None where the bytes before it are
/// no UTF-8.
pub(super) fn complete(mut bytes: Vec<u8>) -> Option<String> {
    if let Err(error) = std::str::from_utf8(&bytes) {
        let start = error.valid_up_to();
        let lead = bytes[start];
        let count = continuation_count(lead);
        let present = u8::try_from(bytes.len() - start - 1).ok()?;
        for pending in (1..=count.checked_sub(present)?).rev() {
            bytes.push(continuation_range(lead, pending).0);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Whether servers and XML parsers take the character without fuss.
pub(super) fn is_plain(character: char) -> bool {
    !character.is_control() && !matches!(character, '\u{FFFE}' | '\u{FFFF}')
}

/// Number of bytes that two strings have in common at their beginning.
pub(super) fn common_prefix(left: &str, right: &str) -> usize {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let words = left.chunks_exact(8).zip(right.chunks_exact(8));
    let equal = words.take_while(|(left, right)| left == right).count() * 8;
    let rest = left[equal..].iter().zip(&right[equal..]);
    equal + rest.take_while(|(left, right)| left == right).count()
}

/// The folder of a key: the part up to and with the last `/` before `end`.
pub(super) fn folder_of(key: &str, end: usize) -> &str {
    let slash = memchr::memrchr(b'/', &key.as_bytes()[..end]);
    &key[..slash.map_or(0, |slash| slash + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completes_every_cut_off_character_to_its_smallest_form() {
        for character in ['a', 'é', '写', '\u{800}', '\u{D7FF}', '🚀', '\u{10FFFF}', '\u{10000}']
        {
            let text = format!("x{character}");
            for end in 1..=text.len() {
                let completed = complete(text.as_bytes()[..end].to_vec()).unwrap();
                assert!(completed.as_bytes().starts_with(&text.as_bytes()[..end]), "{text} {end}");
                assert!(completed <= text);
            }
        }
        assert_eq!(complete(vec![b'a', 0xE0]).unwrap(), "a\u{800}");
        assert_eq!(complete(vec![0x80]), None);
    }

    #[test]
    fn counts_common_bytes() {
        assert_eq!(common_prefix("", "a"), 0);
        assert_eq!(common_prefix("0123456789abc", "0123456789abd"), 12);
        assert_eq!(common_prefix("0123456789abc", "0123456789abcdef"), 13);
    }
}
