//! A file as the rules see it, and what they find.

use std::fmt;

/// One file of the workspace.
pub(super) struct Source {
    /// Path from the workspace's root, with `/`.
    pub(super) path: String,
    /// What is in it.
    pub(super) text: String,
}

impl Source {
    /// Takes a file's path and text.
    pub(super) fn new(path: &str, text: String) -> Self {
        Self { path: path.to_owned(), text }
    }

    /// Whether it is Rust.
    pub(super) fn is_rust(&self) -> bool {
        std::path::Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }
}

/// A rule broken at a place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Violation {
    /// Path from the workspace's root.
    pub(super) file: String,
    /// Counted from 1.
    pub(super) line: usize,
    /// What is wrong.
    pub(super) rule: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.rule)
    }
}
