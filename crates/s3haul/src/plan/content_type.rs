//! The media type of an object from its name, as the AWS tools guess it.
//!
//! That is Python's `mimetypes.guess_type`: the ending decides, and an ending that tells of a
//! compression is taken off first, so `a.tar.gz` is `application/x-tar` and `a.gz` has no type.
//! Python also reads the type tables of the system it runs on; we do not, so that the same file
//! has the same type everywhere.

mod table;

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

/// The media type of a file or key, `None` when its name tells nothing.
pub fn guess_content_type(name: &str) -> Option<&'static str> {
    let (mut base, mut ending) = split_ending(without_scheme(name));
    let lower = ending.to_ascii_lowercase();
    if let Some((_, long)) = SHORT_FORMS.iter().find(|(short, _)| *short == lower) {
        // What is left of the long form once its compression is off.
        ending = split_ending(long).0;
    } else if COMPRESSIONS.contains(&ending) {
        (base, ending) = split_ending(base);
        let _ = base;
    }
    let lower = ending.to_lowercase();
    let found = table::TYPES.binary_search_by_key(&lower.as_str(), |(known, _)| known).ok()?;
    Some(table::TYPES[found].1)
}

/// Takes off what looks like the scheme of a URL, as Python does (`a:b.txt` is `b.txt`).
fn without_scheme(name: &str) -> &str {
    match name.split_once(':') {
        Some((scheme, rest)) if !scheme.is_empty() && !scheme.contains('/') => rest,
        _ => name,
    }
}

/// Splits before the last dot of the last component; dots that lead it do not count.
fn split_ending(name: &str) -> (&str, &str) {
    let component = name.rfind('/').map_or(0, |slash| slash + 1);
    let leading = name[component..].bytes().take_while(|&byte| byte == b'.').count();
    let start = component + leading;
    match name[start..].rfind('.') {
        Some(dot) => name.split_at(start + dot),
        None => (name, ""),
    }
}

#[cfg(test)]
mod tests;
