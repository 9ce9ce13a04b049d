//! What keys look like: their lengths, and what in them makes trouble elsewhere.

use memchr::memmem;

use super::counts::Counts;
use s3haul_wire::ops::ListedObject;

/// Keys have up to 1,024 bytes; longer ones, from servers that are not S3, count as this long.
const LENGTH_MAX: usize = 1025;
/// Names in folders of most file systems have up to this many bytes.
const COMPONENT_BYTES_MAX: usize = 255;

/// Something in a key that file systems, shells or other tools may stumble over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// Bytes beyond ASCII.
    NotAscii,
    /// Combining marks, as in names that macOS decomposed: they look the same as others.
    CombiningMark,
    /// Control characters.
    Control,
    /// Spaces.
    Space,
    /// Backslashes.
    Backslash,
    /// A slash at the start.
    LeadingSlash,
    /// Two slashes in a row.
    DoubleSlash,
    /// A slash at the end: a marker for a folder.
    TrailingSlash,
    /// A component `.` or `..`.
    DotComponent,
    /// A component of more than 255 bytes.
    LongComponent,
}

impl Oddity {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::NotAscii,
        Self::CombiningMark,
        Self::Control,
        Self::Space,
        Self::Backslash,
        Self::LeadingSlash,
        Self::DoubleSlash,
        Self::TrailingSlash,
        Self::DotComponent,
        Self::LongComponent,
    ];

    /// A word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAscii => "not_ascii",
            Self::CombiningMark => "combining_mark",
            Self::Control => "control_character",
            Self::Space => "space",
            Self::Backslash => "backslash",
            Self::LeadingSlash => "leading_slash",
            Self::DoubleSlash => "double_slash",
            Self::TrailingSlash => "trailing_slash",
            Self::DotComponent => "dot_component",
            Self::LongComponent => "long_component",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// What is known of the bytes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing.
    Unknown,
    /// It can only be odd by its ends or its length.
    Plain,
}

impl Look {
    /// That of keys of which these are the bytes, one key right after the other. A look at all of
    /// them costs a small part of a look at each.
    pub(super) fn at(keys: &str) -> Self {
        if is_plain(keys.as_bytes()) { Self::Plain } else { Self::Unknown }
    }
}

/// Lengths and oddities of keys.
#[derive(Clone, Debug)]
pub(super) struct Names {
    lengths: Vec<u64>,
    bytes: u64,
    odd: [(Counts, Option<String>); Oddity::ALL.len()],
}

impl Names {
    pub(super) fn new() -> Self {
        Self { lengths: vec![0; LENGTH_MAX + 1], bytes: 0, odd: Default::default() }
    }

    pub(super) fn add(&mut self, object: &ListedObject<'_>, look: Look) {
        let length = object.key.len();
        self.lengths[length.min(LENGTH_MAX)] += 1;
        self.bytes = self.bytes.saturating_add(length as u64);
        let is_plain = look == Look::Plain && !has_odd_ends(object.key.as_bytes());
        let mut found = if is_plain { 0 } else { oddities(object.key) };
        while found != 0 {
            let index = found.trailing_zeros() as usize;
            found &= found - 1;
            let (counts, example) = &mut self.odd[index];
            counts.add(object.size);
            keep_first(example, object.key);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.lengths.iter_mut().zip(&other.lengths) {
            *mine += theirs;
        }
        self.bytes = self.bytes.saturating_add(other.bytes);
        for ((counts, example), (more, key)) in self.odd.iter_mut().zip(&other.odd) {
            counts.merge(*more);
            if let Some(key) = key {
                keep_first(example, key);
            }
        }
    }

    /// Keys of each length; the last place holds all that are longer than S3 allows.
    pub(super) fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// Bytes of all keys.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What was found, with the first key in which it was.
    pub(super) fn odd(&self) -> impl Iterator<Item = (Oddity, Counts, &str)> {
        Oddity::ALL.into_iter().zip(&self.odd).filter_map(|(oddity, (counts, example))| {
            example.as_deref().map(|example| (oddity, *counts, example))
        })
    }
}

/// Keeps the lesser of two keys, so that the example does not depend on the order.
fn keep_first(example: &mut Option<String>, key: &str) {
    match example {
        Some(kept) if kept.as_str() <= key => {}
        Some(kept) => key.clone_into(kept),
        None => *example = Some(key.to_owned()),
    }
}

const CONTROL: u8 = 1;
const SPACE: u8 = 2;
const BACKSLASH: u8 = 4;
const HIGH: u8 = 8;
const SLASHES: u8 = 16;
const DOT: u8 = 32;

/// Bits of what is odd in a key.
fn oddities(key: &str) -> u16 {
    let bytes = key.as_bytes();
    let flags = byte_flags(bytes);
    if flags == 0 && !has_odd_ends(bytes) {
        return 0;
    }
    let starts = bytes.first() == Some(&b'/');
    let ends = bytes.last() == Some(&b'/');
    let may_have_dots = flags & DOT != 0 || bytes.first() == Some(&b'.');
    let is_long = bytes.len() > COMPONENT_BYTES_MAX;
    let high = flags & HIGH != 0;
    let control = flags & CONTROL != 0 || (high && key.chars().any(char::is_control));
    let dots = may_have_dots && key.split('/').any(|part| part == "." || part == "..");
    let long = is_long && key.split('/').any(|part| part.len() > COMPONENT_BYTES_MAX);
    [
        (Oddity::NotAscii, high),
        (Oddity::CombiningMark, high && has_combining_mark(bytes)),
        (Oddity::Control, control),
        (Oddity::Space, flags & SPACE != 0),
        (Oddity::Backslash, flags & BACKSLASH != 0),
        (Oddity::LeadingSlash, starts),
        (Oddity::DoubleSlash, flags & SLASHES != 0),
        (Oddity::TrailingSlash, ends),
        (Oddity::DotComponent, dots),
        (Oddity::LongComponent, long),
    ]
    .iter()
    .fold(0, |bits, (oddity, found)| if *found { bits | oddity.bit() } else { bits })
}

/// Whether a key may be odd by its length, or by its first or last byte.
fn has_odd_ends(bytes: &[u8]) -> bool {
    let starts = matches!(bytes.first(), Some(b'/' | b'.'));
    starts || bytes.last() == Some(&b'/') || bytes.len() > COMPONENT_BYTES_MAX
}

/// Whether [`byte_flags`] finds nothing: made for long texts.
fn is_plain(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // Control characters borrow from their highest bit; that of bytes beyond ASCII is set.
    let odd = |word: [u8; 8]| {
        let word = u64::from_le_bytes(word);
        (word | word.wrapping_sub(ONES * u64::from(b' '))) & HIGH
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [b'a'; 8];
    last[..rest.len()].copy_from_slice(rest);
    words.iter().fold(odd(last), |any, word| any | odd(*word)) == 0
        && memchr::memchr3(b' ', b'\\', 0x7f, bytes).is_none()
        && memmem::find(bytes, b"//").is_none()
        && memmem::find(bytes, b"/.").is_none()
}

/// One pass without branches, which the compiler makes into a few wide instructions.
fn byte_flags(bytes: &[u8]) -> u8 {
    let flag = |found: bool, flag: u8| u8::from(found) * flag;
    let alone = bytes.iter().fold(0, |flags, byte| {
        let control = flag(*byte < b' ' || *byte == 0x7f, CONTROL);
        let (space, backslash) = (flag(*byte == b' ', SPACE), flag(*byte == b'\\', BACKSLASH));
        flags | control | space | backslash | flag(*byte >= 0x80, HIGH)
    });
    let after = bytes.get(1..).unwrap_or_default();
    bytes.iter().zip(after).fold(alone, |flags, (byte, next)| {
        let slash = *byte == b'/';
        flags | flag(slash && *next == b'/', SLASHES) | flag(slash && *next == b'.', DOT)
    })
}

/// Whether there is one of U+0300 to U+036F, in UTF-8 `CC 80` to `CD AF`.
fn has_combining_mark(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair[0] == 0xcc || (pair[0] == 0xcd && pair[1] <= 0xaf))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by the words of the definitions.
    fn naive(key: &str) -> Vec<Oddity> {
        let has = |found: fn(char) -> bool| key.chars().any(found);
        let components: Vec<&str> = key.split('/').collect();
        let is = |oddity: &Oddity| match oddity {
            Oddity::NotAscii => !key.is_ascii(),
            Oddity::CombiningMark => has(|c| ('\u{300}'..='\u{36f}').contains(&c)),
            Oddity::Control => has(char::is_control),
            Oddity::Space => key.contains(' '),
            Oddity::Backslash => key.contains('\\'),
            Oddity::LeadingSlash => key.starts_with('/'),
            Oddity::DoubleSlash => key.contains("//"),
            Oddity::TrailingSlash => key.ends_with('/'),
            Oddity::DotComponent => components.iter().any(|part| *part == "." || *part == ".."),
            Oddity::LongComponent => components.iter().any(|part| part.len() > 255),
        };
        Oddity::ALL.into_iter().filter(is).collect()
    }

    fn found(key: &str) -> Vec<Oddity> {
        let bits = oddities(key);
        Oddity::ALL.into_iter().filter(|oddity| bits & oddity.bit() != 0).collect()
    }

    proptest! {
        #[test]
        fn oddities_are_what_they_say(
            key in "[a./ \\\\\u{1}\u{7f}\u{85}é\u{301}\u{37f}中]{0,40}",
            long in 0..300_usize,
        ) {
            prop_assert_eq!(found(&key), naive(&key));
            let key = format!("{key}{}", "b".repeat(long));
            prop_assert_eq!(found(&key), naive(&key));
        }
    }

    proptest! {
        #[test]
        fn a_look_at_all_keys_sees_what_a_look_at_each_would(
            plain in "[a-z0-9/._-]{0,100}",
            odd in prop::option::of((any::<prop::sample::Index>(), any::<char>())),
        ) {
            let mut text = plain.replace("//", "/a").replace("/.", "/b");
            if let Some((at, character)) = odd {
                text.insert(at.index(text.len() + 1), character);
            }
            let is_plain = byte_flags(text.as_bytes()) == 0;
            prop_assert_eq!(Look::at(&text) == Look::Plain, is_plain);
        }
    }

    #[test]
    fn plain_keys_are_not_odd() {
        for key in ["a", "a/b.c", "logs/2026-01-01/part-0001.json.gz", "a/.hidden", ""] {
            assert!(found(key).is_empty(), "{key}");
        }
    }
}
