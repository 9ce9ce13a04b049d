//! Keys as file names: an encoding that no key escapes from.
//!
//! `encode` is injective and its result is a relative path of plain components: no `.`, `..`,
//! empty or over-long name, whatever UTF-8 the key holds. A component that stands for a piece of
//! the key before a `/` ends in `%`; one that only breaks up a long piece ends in `%+`; an empty
//! last piece is `%_`. Any other `%` is followed by two hexadecimal digits, so the forms never
//! meet, and `x` can lie beside `x/y` and `x/`.
//!
//! Some file systems take names for one that differ in case, or in the form of accented letters.
//! For these, all letters but a to z are escaped.

use std::fmt::Write as _;

/// Longest component made here, below the 255 bytes of common file systems, with room for a
/// suffix.
const COMPONENT_BYTES_MAX: usize = 200;

/// Marks a component that is followed by `/` in the key.
const SLASH_MARK: &str = "%";
/// Marks a component that is continued by the next without a `/`.
const CONTINUED_MARK: &str = "%+";
/// Stands for an empty last component.
const EMPTY_LAST: &str = "%_";

/// Which names a file system distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// All that differ in a byte.
    Exact,
    /// Not those that differ only in case or in the form of letters.
    Folded,
}

/// Encodes a key as a relative path, components separated by `/`.
pub(crate) fn encode(key: &str, names: Names) -> String {
    let mut path = String::with_capacity(key.len() + 8);
    let mut component = 0;
    for c in key.chars() {
        if c == '/' {
            path.push_str(SLASH_MARK);
            path.push('/');
            component = 0;
            continue;
        }
        let before = path.len();
        push_encoded(&mut path, c, component == 0, names);
        component += path.len() - before;
        if component >= COMPONENT_BYTES_MAX {
            path.push_str(CONTINUED_MARK);
            path.push('/');
            component = 0;
        }
    }
    if component == 0 {
        path.push_str(EMPTY_LAST);
    }
    path
}

/// Decodes what `encode` made for any file system; `None` for any other path.
pub(crate) fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let (parents, last) = path.rsplit_once('/').map_or((None, path), |(p, l)| (Some(p), l));
    for component in parents.into_iter().flat_map(|p| p.split('/')) {
        if let Some(piece) = component.strip_suffix(CONTINUED_MARK) {
            unescape(piece, &mut bytes)?;
        } else {
            unescape(component.strip_suffix(SLASH_MARK)?, &mut bytes)?;
            bytes.push(b'/');
        }
    }
    if last != EMPTY_LAST {
        unescape(last, &mut bytes)?;
    }
    let key = String::from_utf8(bytes).ok()?;
    let is_form = |names| encode(&key, names) == path;
    (is_form(Names::Exact) || is_form(Names::Folded)).then_some(key)
}

/// The path that a person would give the key's data file, where that is safe: every piece is a
/// plain name that needs no escape.
pub(crate) fn natural_path(key: &str) -> Option<&str> {
    let plain = |piece: &str| {
        let mut encoded = String::with_capacity(piece.len());
        for (at, c) in piece.chars().enumerate() {
            push_encoded(&mut encoded, c, at == 0, Names::Exact);
        }
        !piece.is_empty() && piece.len() < COMPONENT_BYTES_MAX && encoded == piece
    };
    key.split('/').all(plain).then_some(key)
}

fn push_encoded(path: &mut String, c: char, first: bool, names: Names) {
    let hidden = first && c == '.';
    let folded = names == Names::Folded && (c.is_ascii_uppercase() || !c.is_ascii());
    let safe = c.is_ascii_alphanumeric()
        || matches!(c, '-' | '_' | '.' | ' ' | '+' | '=' | ',' | '@' | '~' | '(' | ')' | '#' | '!')
        || (!c.is_ascii() && !c.is_control());
    if safe && !hidden && !folded {
        path.push(c);
        return;
    }
    let mut buffer = [0; 4];
    for byte in c.encode_utf8(&mut buffer).bytes() {
        write!(path, "%{byte:02X}").expect("writing to a string cannot fail");
    }
}

fn unescape(piece: &str, out: &mut Vec<u8>) -> Option<()> {
    let mut bytes = piece.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Keys made of the pieces that break naive encodings.
    fn keys() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("/".to_owned()),
            Just("..".to_owned()),
            Just(".".to_owned()),
            Just("%".to_owned()),
            Just("%_".to_owned()),
            Just("%+".to_owned()),
            Just("\n".to_owned()),
            Just("\u{0}".to_owned()),
            Just("\u{ffff}".to_owned()),
            Just("a".repeat(199)),
            ".{0,3}",
            any::<char>().prop_map(String::from),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| {
            let mut key = pieces.concat();
            while key.len() > 1024 {
                key.pop();
            }
            key
        })
    }

    fn assert_safe(path: &str) {
        assert!(path.len() < 3500, "{} bytes", path.len());
        for component in path.split('/') {
            assert!(!component.is_empty() && component != "." && component != "..", "{path:?}");
            assert!(component.len() <= 220, "{path:?}");
            assert!(!component.contains('\0') && !component.starts_with('.'), "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn every_key_comes_back(key in keys()) {
            for names in [Names::Exact, Names::Folded] {
                let path = encode(&key, names);
                assert_safe(&path);
                prop_assert_eq!(decode(&path), Some(key.clone()));
            }
        }

        #[test]
        fn folded_names_differ_in_more_than_case(a in keys(), b in keys()) {
            let lower = |key| encode(key, Names::Folded).to_ascii_lowercase();
            prop_assert!(lower(&a).is_ascii());
            prop_assert_eq!(lower(&a) == lower(&b), a == b);
        }

        #[test]
        fn a_file_is_never_another_keys_directory(a in keys(), b in keys()) {
            for names in [Names::Exact, Names::Folded] {
                let (file, other) = (encode(&a, names), encode(&b, names));
                let inside = format!("{file}/");
                prop_assert!(!other.starts_with(&inside), "{} {}", file, other);
            }
        }

        #[test]
        fn a_natural_path_stays_inside(key in keys()) {
            if let Some(path) = natural_path(&key) {
                assert_safe(path);
            }
        }
    }

    #[test]
    fn the_longest_and_strangest_keys_fit() {
        for key in ["/".repeat(1024), "\u{1}".repeat(1024), "é".repeat(512), String::new()] {
            for names in [Names::Exact, Names::Folded] {
                let path = encode(&key, names);
                assert_safe(&path);
                assert_eq!(decode(&path).as_deref(), Some(key.as_str()));
            }
        }
        assert_eq!(natural_path("a/../b"), None);
        assert_eq!(natural_path("a//b"), None);
        assert_eq!(natural_path("photos/2024/a b.jpg"), Some("photos/2024/a b.jpg"));
    }
}
