//! Keys as S3 Inventory and S3 Batch Operations write them into CSV: URL-encoded.

/// The key; none where the text is not one. A `+` stands for a space, as programs that encode
/// forms have it: one that is meant is written `%2B` by all of them.
pub(super) fn decoded(text: &str) -> Option<String> {
    if !may_be_encoded(text) {
        return Some(text.to_owned());
    }
    let mut bytes = text.bytes();
    let mut key = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        key.push(match byte {
            b'+' => b' ',
            b'%' => digit(bytes.next()?)? << 4 | digit(bytes.next()?)?,
            other => other,
        });
    }
    String::from_utf8(key).ok()
}

/// Whether a text reads otherwise where it is URL-encoded.
pub(super) fn may_be_encoded(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'%' | b'+'))
}

/// Whether a text may be URL-encoded or not, or has what may come from how the file was written:
/// control characters, and blanks around it.
pub(super) fn is_unclear(text: &str) -> bool {
    may_be_encoded(text)
        || text.trim_matches(' ') != text
        || text.bytes().any(|byte| byte.is_ascii_control())
}

/// Whether a text is not URL-encoded for certain: no encoding leaves some of its characters as they
/// are.
pub(super) fn is_plain(text: &str) -> bool {
    let is_escape = |rest: &[u8]| {
        let digits = rest.get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let bytes = text.trim_matches(' ').as_bytes();
    (0..bytes.len()).any(|at| match bytes[at] {
        b'%' => !is_escape(&bytes[at + 1..]),
        byte => byte == b' ' || !byte.is_ascii(),
    })
}

fn digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_encoding_is_refused() {
        assert_eq!(decoded("a+b%2Fc%2b").as_deref(), Some("a b/c+"));
        for text in ["%", "%2", "%zz", "%FF", "a%+1"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn what_no_encoding_leaves_as_it_is_is_plain() {
        for text in ["a b", "é", " a\tb c", "%", "a%4", "%4g", "50%+", "%+1"] {
            assert!(is_plain(text), "{text}");
        }
        for text in ["", "a/b", "a+b", "%41%4a", "a*(b)'~", "%FF", "a\tb", "a\r", " a", "a "] {
            assert!(!is_plain(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn keys_come_back(key in "(?s).{0,20}") {
            let encoded: String = key.bytes().map(|byte| match byte {
                b'a'..=b'z' | b'/' => char::from(byte).to_string(),
                b' ' => "+".to_owned(),
                other => format!("%{other:02X}"),
            }).collect();
            prop_assert!(!is_plain(&encoded));
            prop_assert_eq!(decoded(&encoded), Some(key));
        }
    }
}
