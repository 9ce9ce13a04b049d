//! The environment as a value, so that settings are a pure function of what they read.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::env_vars;

/// Environment variables. Those that are not Unicode are left out.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    variables: HashMap<String, String>,
}

impl std::fmt::Debug for Environment {
    /// Values may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("variables", &self.variables.len()).finish()
    }
}

impl Environment {
    /// That of this process.
    pub(crate) fn of_process() -> Self {
        let unicode = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self { variables: std::env::vars_os().filter_map(unicode).collect() }
    }

    /// One of the caller's making.
    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { variables: pairs.iter().map(own).collect() }
    }

    /// A variable; one that is set to nothing counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The first of several variables that is set.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// Whether a variable is set to `true`, `1` or `yes`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| {
            matches!(value.trim().to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on")
        })
    }

    /// The home directory.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.first(&[env_vars::HOME, env_vars::USERPROFILE]).map(PathBuf::from)
    }

    /// A path with `~` for the home directory.
    pub(crate) fn expand_path(&self, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), self.home()) {
            (Some(""), Some(home)) => home,
            (Some(rest), Some(home)) if rest.starts_with(['/', '\\']) => home.join(&rest[1..]),
            _ => PathBuf::from(path),
        }
    }
}
