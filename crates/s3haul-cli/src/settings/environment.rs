//! The environment as a value, so that settings are a pure function of what they read.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use s3haul_wire::CredentialsConfig;

use crate::env_vars;

/// What a command finds in its process: environment variables, of which those that are not Unicode
/// are left out, its command line, and credentials that the program has which runs it.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    variables: HashMap<String, String>,
    words: Vec<OsString>,
    credentials: Option<CredentialsConfig>,
}

impl std::fmt::Debug for Environment {
    /// Values may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.len())
            .finish_non_exhaustive()
    }
}

impl Environment {
    /// That of this process, with the words of its command line.
    pub(crate) fn of_process(words: Vec<OsString>) -> Self {
        let unicode = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self::of_program(std::env::vars_os().filter_map(unicode).collect(), words, None)
    }

    /// That of a program that runs a command line, given without the program's name.
    pub(crate) fn of_program(
        mut variables: HashMap<String, String>,
        words: Vec<OsString>,
        credentials: Option<CredentialsConfig>,
    ) -> Self {
        if ![env_vars::HOME, env_vars::USERPROFILE].iter().any(|name| variables.contains_key(*name))
        {
            // Services of a system often have no HOME. Like the AWS tools: that of the user then.
            let home =
                std::env::home_dir().and_then(|home| home.into_os_string().into_string().ok());
            variables.extend(home.map(|home| (env_vars::HOME.to_owned(), home)));
        }
        Self { variables, words, credentials }
    }

    /// The same for another command line.
    pub(crate) fn with_words(&self, words: Vec<OsString>) -> Self {
        Self { words, ..self.clone() }
    }

    /// One of the caller's making.
    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { variables: pairs.iter().map(own).collect(), ..Self::default() }
    }

    /// The command line, without the program's name.
    pub(crate) fn words(&self) -> &[OsString] {
        &self.words
    }

    /// Whether the program that runs this brings credentials.
    pub(crate) fn has_credentials(&self) -> bool {
        self.credentials.is_some()
    }

    /// Credentials of jobs that name no profile.
    pub(crate) fn credentials(&self) -> CredentialsConfig {
        self.credentials.clone().unwrap_or(CredentialsConfig::Chain)
    }

    /// A number that changes with the variables by which credentials are looked up.
    pub(crate) fn credentials_key(&self) -> u64 {
        let is_read = |name: &str| {
            name.starts_with("AWS_") || [env_vars::HOME, env_vars::USERPROFILE].contains(&name)
        };
        let read: BTreeMap<_, _> =
            self.variables.iter().filter(|(name, _)| is_read(name)).collect();
        let mut hasher = DefaultHasher::new();
        read.hash(&mut hasher);
        hasher.finish()
    }

    /// A variable; one that is set to nothing counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The first of several variables that is set.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// Whether a variable is set to `true`, `1`, `yes` or `on`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| {
            matches!(value.trim().to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "on")
        })
    }

    /// The home directory.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.first(&[env_vars::HOME, env_vars::USERPROFILE]).map(PathBuf::from)
    }

    /// A folder for what can be found out again.
    pub(crate) fn cache(&self, name: &str) -> Option<PathBuf> {
        let caches = self.get(env_vars::XDG_CACHE_HOME).map(PathBuf::from);
        let caches = caches.filter(|path| path.is_absolute());
        let caches = caches.or_else(|| Some(self.home()?.join(".cache")))?;
        Some(caches.join("s3haul").join(name))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_home_it_is_that_of_the_user() {
        let of = |pairs: &[(&str, &str)]| {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            Environment::of_program(pairs.iter().map(own).collect(), Vec::new(), None)
        };
        // There is none where the user has no entry in the password database.
        let of_user = std::env::home_dir();
        let below = of_user.as_ref().map_or("~/.aws".into(), |home| home.join(".aws"));
        assert_eq!(of(&[]).home(), of_user);
        assert_eq!(of(&[]).expand_path("~/.aws"), below);
        assert_eq!(of(&[("HOME", "/a")]).home(), Some("/a".into()));
        assert_eq!(of(&[("HOME", "")]).home(), None);
    }
}
