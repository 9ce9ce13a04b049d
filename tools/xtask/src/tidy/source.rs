//! A file as the rules see it.

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
