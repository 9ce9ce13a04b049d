//! The media type of an object from its name, as the AWS tools guess it.
//!
//! That is Python's `mimetypes.guess_type`: the ending decides, and an ending that stands for a
//! compression is taken off first, so `a.tar.gz` is `application/x-tar` and `a.gz` has no type.
//! Python also reads the type tables of the system it runs on ([`KNOWN_FILES`]), which then win
//! over the built-in one. Reading them is the caller's: here they are handed in as text.

mod table;

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::{memchr, memrchr};

/// Type tables of a system that Python reads where they exist, the later ones winning.
pub const KNOWN_FILES: &[&str] = &[
    "/etc/mime.types",
    "/etc/httpd/mime.types",
    "/etc/httpd/conf/mime.types",
    "/etc/apache/mime.types",
    "/etc/apache2/mime.types",
    "/usr/local/etc/httpd/conf/mime.types",
    "/usr/local/lib/netscape/mime.types",
    "/usr/local/etc/httpd/conf/mime.types",
    "/usr/local/etc/mime.types",
];

/// Endings that stand for two: type and compression.
const SHORT_FORMS: &[(&str, &str)] = &[
    (".svgz", ".svg.gz"),
    (".taz", ".tar.gz"),
    (".tbz2", ".tar.bz2"),
    (".tgz", ".tar.gz"),
    (".txz", ".tar.xz"),
    (".tz", ".tar.gz"),
];

/// Endings of compressed files; these alone are compared with their case.
const COMPRESSIONS: &[&str] = &[".Z", ".br", ".bz2", ".gz", ".xz"];

/// What endings mean: the built-in table and what the system adds to it.
#[derive(Clone, Debug, Default)]
pub struct ContentTypes {
    added: HashMap<String, String>,
}

impl ContentTypes {
    /// The built-in table alone.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// Adds a table of the form `type/subtype ending ending… # comment`; its entries win over
    /// all before them.
    pub fn add_table(&mut self, text: &str) {
        for line in text.lines() {
            let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
            let Some(kind) = words.next() else { continue };
            for ending in words {
                self.added.insert(format!(".{ending}"), kind.to_owned());
            }
        }
    }

    /// The media type of a file or key, `None` if its name does not determine one.
    pub fn guess(&self, name: &str) -> Option<&str> {
        let ending = deciding_ending(name);
        if ending.is_empty() {
            return None;
        }
        self.added.get(&*ending).map(String::as_str).or_else(|| builtin_type(&ending))
    }
}

/// The media type of a file or key by the built-in table alone.
pub fn guess_content_type(name: &str) -> Option<&'static str> {
    builtin_type(&deciding_ending(name))
}

fn builtin_type(ending: &str) -> Option<&'static str> {
    let found = table::TYPES.binary_search_by_key(&ending, |(known, _)| known).ok()?;
    Some(table::TYPES[found].1)
}

/// The ending that determines the type, in lower case with its dot; empty when there is none.
fn deciding_ending(name: &str) -> Cow<'_, str> {
    let (base, ending) = split_ending(without_scheme(name));
    let lower = lower_case(ending);
    if let Some((_, long)) = SHORT_FORMS.iter().find(|(short, _)| *short == lower) {
        // What is left of the long form once its compression is off.
        split_ending(long).0.into()
    } else if COMPRESSIONS.contains(&ending) {
        lower_case(split_ending(base).1)
    } else {
        lower
    }
}

/// A text in lower case, which most endings are in anyway.
fn lower_case(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// Takes off what looks like the scheme of a URL, as Python does (`a:b.txt` is `b.txt`).
fn without_scheme(name: &str) -> &str {
    let bytes = name.as_bytes();
    match memchr(b':', bytes) {
        Some(colon) if colon > 0 && memchr(b'/', &bytes[..colon]).is_none() => &name[colon + 1..],
        _ => name,
    }
}

/// Splits before the last dot of the last component; dots that lead it do not count.
fn split_ending(name: &str) -> (&str, &str) {
    let component = memrchr(b'/', name.as_bytes()).map_or(0, |slash| slash + 1);
    let leading = name[component..].bytes().take_while(|&byte| byte == b'.').count();
    let start = component + leading;
    match memrchr(b'.', &name.as_bytes()[start..]) {
        Some(dot) => name.split_at(start + dot),
        None => (name, ""),
    }
}

#[cfg(test)]
mod tests;
