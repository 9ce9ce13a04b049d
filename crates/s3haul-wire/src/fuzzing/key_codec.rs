//! Encodings of keys against plain ones.

use std::fmt::Write as _;

use crate::sign::signature::{encode_path, encode_query};
use crate::xml::list_reader::decode_url;

/// Keys in paths, in queries and in listings of `encoding-type=url`: what is encoded comes back,
/// and is encoded as a plain loop does it.
///
/// # Panics
///
/// Where that does not hold.
pub fn key_codec(data: &[u8]) {
    let mut decoded = Vec::new();
    decode_url(data, &mut decoded);
    assert_eq!(decoded, plain_decode(data));

    let text = String::from_utf8_lossy(data);
    let mut path = String::new();
    encode_path(&text, &mut path);
    assert_eq!(path, plain_encode(&text, "/"));
    decoded.clear();
    decode_url(path.as_bytes(), &mut decoded);
    assert_eq!(decoded, text.as_bytes());

    let pairs: Vec<_> =
        text.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
    let query = encode_query(&pairs);
    let mut plain: Vec<_> = pairs
        .iter()
        .map(|(name, value)| (plain_encode(name, ""), plain_encode(value, "")))
        .collect();
    plain.sort();
    let plain: Vec<_> = plain.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(query, plain.join("&"));
}

/// Unreserved characters of RFC 3986 and those of `kept` stay, every other byte is `%XX`.
pub(super) fn plain_encode(text: &str, kept: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        let character = char::from(byte);
        if character.is_ascii_alphanumeric()
            || "-._~".contains(character)
            || (byte.is_ascii() && kept.contains(character))
        {
            encoded.push(character);
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn plain_decode(text: &[u8]) -> Vec<u8> {
    let hexadecimal = |at: usize| {
        let digits = text.get(at..at + 2).filter(|two| two.iter().all(u8::is_ascii_hexdigit))?;
        u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut decoded = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match (text[at], hexadecimal(at + 1)) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            (other, _) => decoded.push(other),
        }
        at += 1;
    }
    decoded
}
