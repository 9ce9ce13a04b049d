//! How files look: lines, length, words that must not stay.

use super::source::{Source, Violation};

const LINE_MAX: usize = 100;
const FILE_LINES_MAX: usize = 1000;

/// Files that may be longer, because they are tables.
const LONG_FILES: [&str; 0] = [];

const LIBRARIES: [&str; 3] =
    ["crates/s3haul/src/", "crates/s3haul-list/src/", "crates/s3haul-wire/src/"];

/// What must not be in code, outside comments: text, the folders where it is forbidden, why. The
/// words are in two pieces so that this file passes. `.unwrap()` is clippy's business.
const BANNED_CODE: [(&str, &[&str], &str); 3] = [
    (concat!("todo", "!("), &[""], "finish it or leave it out"),
    (concat!("unimplemented", "!("), &[""], "finish it or leave it out"),
    (
        concat!("tokio::", "fs"),
        &LIBRARIES,
        "file work goes through `crate::fs`, in few fat blocking calls",
    ),
];

/// What no line begins with.
const BANNED_ATTRIBUTES: [&str; 2] = ["#[allow(", "#![allow("];

/// Words that must not be anywhere in Rust files, comments included. Written in two pieces so that
/// this file passes.
const BANNED_WORDS: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];

/// Adds what breaks the rules above.
pub(super) fn check(file: &Source, violations: &mut Vec<Violation>) {
    let mut report = |line: usize, rule: String| {
        violations.push(Violation { file: file.path.clone(), line, rule });
    };
    check_any_text(file, &mut report);
    if file.is_rust() {
        check_shape(file, &mut report);
        check_words(file, &mut report);
        check_code(file, &mut report);
    }
}

/// Rules for every text file: it is the same on every machine and in every diff.
fn check_any_text(file: &Source, report: &mut impl FnMut(usize, String)) {
    // What fuzz targets are fed is as it is.
    if file.path == "LICENSE" || file.path.starts_with("fuzz/corpus/") {
        return;
    }
    for (number, line) in (1..).zip(file.text.split('\n')) {
        if line.ends_with([' ', '\t', '\r']) {
            report(number, "trailing blanks".to_owned());
        }
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        report(file.text.lines().count(), "no newline at the end of the file".to_owned());
    }
}

fn check_shape(file: &Source, report: &mut impl FnMut(usize, String)) {
    if !file.text.starts_with("//!") {
        report(1, "a file opens with `//!`: what it owns and what it refuses to know".to_owned());
    }
    let count = file.text.lines().count();
    if count > FILE_LINES_MAX && !LONG_FILES.contains(&file.path.as_str()) {
        report(count, format!("{count} lines; split it (the limit is {FILE_LINES_MAX})"));
    }
    for (number, line) in (1..).zip(file.text.lines()) {
        if line.contains('\t') {
            report(number, "a tab; write `\\t` in literals".to_owned());
        }
        let length = line.chars().count();
        if length > LINE_MAX && !may_be_long(line) {
            report(number, format!("{length} characters (the limit is {LINE_MAX})"));
        }
    }
}

/// Addresses and rows of tables in documentation cannot be broken.
fn may_be_long(line: &str) -> bool {
    let line = line.trim_start();
    let has_url = line.contains("http://") || line.contains("https://");
    has_url || line.starts_with("//! |") || line.starts_with("/// |")
}

fn check_words(file: &Source, report: &mut impl FnMut(usize, String)) {
    for (number, line) in (1..).zip(file.text.lines()) {
        let mut words = line.split(|character: char| !character.is_alphanumeric());
        if let Some(word) = words.find(|word| BANNED_WORDS.contains(word)) {
            report(number, format!("`{word}`: do it or write an issue"));
        }
    }
}

fn check_code(file: &Source, report: &mut impl FnMut(usize, String)) {
    for (number, line) in (1..).zip(file.text.lines()) {
        let code = line.split("//").next().unwrap_or_default();
        for (text, folders, why) in BANNED_CODE {
            let applies = folders.iter().any(|folder| file.path.starts_with(folder));
            if applies && contains_code(code, text) {
                report(number, format!("`{text}`: {why}"));
            }
        }
        if BANNED_ATTRIBUTES.iter().any(|begin| code.trim_start().starts_with(begin)) {
            report(number, "use `expect` with a reason in place of `allow`".to_owned());
        }
    }
}

/// Whether the text is there as a word of its own.
fn contains_code(line: &str, text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(text).any(|(at, _)| !line[..at].ends_with(is_word))
}

#[cfg(test)]
mod tests {
    use super::super::violations_of;

    /// Rules broken by a file of the library with a proper head.
    fn broken(text: &str) -> Vec<String> {
        let found = violations_of("crates/s3haul/src/error.rs", &format!("//! Head.\n{text}\n"));
        found.iter().map(|line| line.split_once(": ").unwrap().1.to_owned()).collect()
    }

    #[test]
    fn a_clean_file_passes() {
        let text = "/// Says todo!(), only in prose.\nfn f() { g(\"#[allow(\") }";
        assert_eq!(broken(text), Vec::<String>::new());
    }

    #[test]
    fn each_rule_of_shape_fires() {
        assert_eq!(violations_of("a.rs", "fn f() {}\n").len(), 1);
        assert_eq!(broken(&"x".repeat(101)).len(), 1);
        assert_eq!(broken(&"é".repeat(100)).len(), 0);
        assert_eq!(broken(&format!("// https://example.org/{}", "x".repeat(100))).len(), 0);
        assert_eq!(broken(&format!("/// | {} |", "x".repeat(100))).len(), 0);
        assert_eq!(broken("fn f() {}\t//").len(), 1);
        assert_eq!(broken("fn f() {} ").len(), 1);
        assert_eq!(violations_of("README.md", "no newline").len(), 1);
        assert_eq!(violations_of("README.md", "blank \n").len(), 1);
        assert_eq!(violations_of("a.rs", &format!("//! Head.\n{}", "\n".repeat(1000))).len(), 1);
        assert_eq!(violations_of("a.rs", &format!("//! Head.\n{}", "\n".repeat(999))).len(), 0);
    }

    #[test]
    fn each_banned_text_fires() {
        let planted = [
            "#[allow(dead_code)]",
            "#![allow(dead_code)]",
            concat!("fn f() { todo", "!() }"),
            concat!("fn f() { unimplemented", "!() }"),
            concat!("use tokio::", "fs;"),
            concat!("// FIX", "ME later"),
            concat!("// XX", "X: later"),
        ];
        for text in planted {
            assert_eq!(broken(text).len(), 1, "{text}");
        }
        assert_eq!(broken(concat!("fn f() { mytodo", "!() } // suffix XXXX")).len(), 0);
    }

    #[test]
    fn the_async_file_system_is_banned_in_the_library_only() {
        let text = concat!("//! Head.\nuse tokio::", "fs;\n");
        assert_eq!(violations_of("crates/s3haul-sim/src/disk.rs", text).len(), 0);
    }
}
