//! Texts that are not ASCII as S3 returns them in headers of metadata: encoded words of RFC 2047,
//! `=?UTF-8?B?w7w=?=` or `=?UTF-8?Q?=C3=BC?=`. S3 decodes what it is sent so, too, so that one
//! text has several forms.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// The text that is meant; what is no encoded word, or of another character set, stays as it is.
pub fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains("=?") {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut follows_word = false;
    let mut rest = text;
    while let Some(at) = rest.find("=?") {
        let Some((word, length)) = word(&rest[at..]) else {
            bytes.extend_from_slice(&rest.as_bytes()[..at + 2]);
            rest = &rest[at + 2..];
            follows_word = false;
            continue;
        };
        // Blanks between two words only separate them.
        if !(follows_word && rest[..at].trim().is_empty()) {
            bytes.extend_from_slice(&rest.as_bytes()[..at]);
        }
        bytes.extend_from_slice(&word);
        rest = &rest[at + length..];
        follows_word = true;
    }
    bytes.extend_from_slice(rest.as_bytes());
    // A character may be spread over two words, so that only the whole is a text.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The bytes of the word that a text begins with, and the word's length. No part of a word holds a
/// `?`, so that a text of many beginnings is not searched to its end for each of them.
fn word(text: &str) -> Option<(Vec<u8>, usize)> {
    let mut pieces = text.strip_prefix("=?")?.splitn(4, '?');
    let (charset, encoding) = (pieces.next()?, pieces.next()?);
    let (encoded, rest) = (pieces.next()?, pieces.next()?);
    if !rest.starts_with('=') {
        return None;
    }
    if !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    let bytes = match encoding {
        "B" | "b" => BASE64.decode(encoded).ok()?,
        "Q" | "q" => quoted(encoded)?,
        _ => return None,
    };
    let length = "=?".len() + charset.len() + 1 + encoding.len() + 1 + encoded.len() + "?=".len();
    Some((bytes, length))
}

fn quoted(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'_' => b' ',
            b'=' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            other => other,
        });
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_servers_tell_is_read() {
        for (encoded, expected) in [
            ("plain", "plain"),
            ("=?UTF-8?B?w7wgMw==?=", "ü 3"),
            ("=?UTF-8?q?=C3=BC_3?=", "ü 3"),
            ("=?utf-8?Q?=c3?= =?utf-8?Q?=bc?= x", "ü x"),
            ("a =?UTF-8?B?w7w=?= b", "a ü b"),
            ("=?ISO-8859-1?Q?=FC?=", "=?ISO-8859-1?Q?=FC?="),
            ("=?UTF-8?B?%%?=", "=?UTF-8?B?%%?="),
            ("=?UTF-8?Q?=FC?=", "=?UTF-8?Q?=FC?="),
            ("a=?b", "a=?b"),
            ("=?utf-8?B?=?utf-8?B?w7w=?=", "=?utf-8?B?ü"),
        ] {
            assert_eq!(decode(encoded), expected, "{encoded}");
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in ".{0,12}", is_base64 in any::<bool>()) {
            let word = if is_base64 {
                format!("=?UTF-8?B?{}?=", BASE64.encode(&text))
            } else {
                let hex: Vec<_> = text.bytes().map(|byte| format!("={byte:02X}")).collect();
                format!("=?UTF-8?Q?{}?=", hex.concat())
            };
            prop_assert_eq!(decode(&word), text);
        }

        #[test]
        fn nothing_breaks_it(text in "[=?UTF8Bq é_-]{0,20}") {
            decode(&text);
        }
    }
}
