//! The files of the AWS tools and the profiles in them, for settings and credentials alike.
//!
//! In `~/.aws/config` a profile is `[profile NAME]` (or `[default]`), in `~/.aws/credentials`
//! `[NAME]`; `[services NAME]` and `[sso-session NAME]` stand beside. Names are words of a shell,
//! and of two sections with one name the last counts, as in botocore. Values of the credentials
//! file win.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::ini::{self, Section, Sections, Value};
use crate::error::{Error, ErrorKind, Result};

/// Both files.
#[derive(Clone, Default)]
pub struct ConfigFiles {
    profiles: HashMap<String, Section>,
    services: HashMap<String, Section>,
    sso_sessions: HashMap<String, Section>,
    /// Those of the credentials file.
    shared: HashMap<String, Section>,
}

/// One profile: what each file says of it.
#[derive(Clone, Default)]
pub struct Profile {
    config: Option<Section>,
    shared: Option<Section>,
    /// The section that its `services` names, where there is one.
    services: Option<Section>,
}

impl std::fmt::Debug for ConfigFiles {
    /// Values may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfigFiles")
            .field("profiles", &self.profiles.len())
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profile").finish_non_exhaustive()
    }
}

impl ConfigFiles {
    /// Reads the files that variables (`AWS_CONFIG_FILE`, `AWS_SHARED_CREDENTIALS_FILE`, `HOME`)
    /// name; absent ones are empty. Blocks.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let get = |name: &str| variable(name).filter(|value| !value.is_empty());
        let home = get("HOME").or_else(|| get("USERPROFILE")).map(PathBuf::from);
        let path = |name: &str, file: &str| match get(name) {
            Some(path) => Some(expand(&path, home.as_deref())),
            None => home.as_ref().map(|home| home.join(".aws").join(file)),
        };
        let config = sections(path("AWS_CONFIG_FILE", "config"))?;
        let credentials = sections(path("AWS_SHARED_CREDENTIALS_FILE", "credentials"))?;
        Ok(Self::of(config, credentials))
    }

    pub(crate) fn of(config: Sections, credentials: Sections) -> Self {
        let mut files = Self { shared: credentials.into_iter().collect(), ..Self::default() };
        for (title, values) in config {
            let (kind, name) = match shell_words(&title).as_deref() {
                _ if title == "default" => (&mut files.profiles, title),
                Some([_, name]) if title.starts_with("profile") => {
                    (&mut files.profiles, name.clone())
                }
                Some([_, name]) if title.starts_with("services") => {
                    (&mut files.services, name.clone())
                }
                Some([_, name]) if title.starts_with("sso-session") => {
                    (&mut files.sso_sessions, name.clone())
                }
                _ => continue,
            };
            kind.insert(name, values);
        }
        files
    }

    /// A profile; `None` where neither file has it.
    pub fn profile(&self, name: &str) -> Option<Profile> {
        let (config, shared) = (self.profiles.get(name), self.shared.get(name));
        if config.is_none() && shared.is_none() {
            return None;
        }
        let mut profile =
            Profile { config: config.cloned(), shared: shared.cloned(), services: None };
        profile.services =
            profile.get("services").and_then(|name| self.services.get(name)).cloned();
        Some(profile)
    }

    /// Names of the profiles, in no order; one that both files have comes twice.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.profiles.keys().chain(self.shared.keys()).map(String::as_str)
    }

    /// A session of single sign-on.
    pub(crate) fn sso_session(&self, name: &str) -> Option<&Section> {
        self.sso_sessions.get(name)
    }

    /// Values that no message may show.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        const NAMES: [&str; 3] =
            ["aws_secret_access_key", "aws_session_token", "aws_security_token"];
        self.values(&NAMES)
    }

    /// Files with tokens.
    pub(crate) fn token_files(&self) -> impl Iterator<Item = &str> {
        self.values(&["web_identity_token_file"])
    }

    fn values<'f>(&'f self, names: &'static [&str]) -> impl Iterator<Item = &'f str> {
        let sections = self.profiles.values().chain(self.shared.values());
        sections.flat_map(move |section| names.iter().filter_map(|name| text(section, name)))
    }
}

/// A key pair as it stands in a file.
pub(crate) struct Keys {
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: String,
    pub(crate) session_token: Option<String>,
}

impl Profile {
    /// The last word on a key: that of the credentials file where both have it.
    fn value(&self, key: &str) -> Option<&Value> {
        let sections = [&self.shared, &self.config];
        sections.into_iter().flatten().find_map(|section| section.get(key))
    }

    /// A setting; one that is set to nothing counts as not set.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.value(key).and_then(plain)
    }

    fn block(&self, name: &str) -> Option<&BTreeMap<String, String>> {
        self.value(name).and_then(block)
    }

    /// A setting of the profile's `s3 =` block.
    pub fn s3(&self, key: &str) -> Option<&str> {
        self.block("s3")?.get(key).map(String::as_str)
    }

    /// Names in the profile's `s3 =` block.
    pub fn s3_names(&self) -> impl Iterator<Item = &str> {
        self.block("s3").into_iter().flat_map(BTreeMap::keys).map(String::as_str)
    }

    /// The endpoint that the profile's `services` section names for S3, or its own. A section that
    /// is missing or empty is an error of kind [`ErrorKind::Config`].
    pub fn endpoint_url(&self) -> Result<Option<&str>> {
        self.endpoint_url_of("s3")
    }

    /// The same of another service.
    pub(crate) fn endpoint_url_of(&self, service: &str) -> Result<Option<&str>> {
        let of_services = match (self.get("services"), &self.services) {
            (None, _) => None,
            (Some(_), Some(services)) if !services.is_empty() => {
                services.get(service).and_then(block)
            }
            (Some(name), _) => {
                let message = format!(
                    "The profile is configured to use the services section but the \"{name}\" \
                     services configuration does not exist."
                );
                return Err(Error::new(ErrorKind::Config, message));
            }
        };
        let url = of_services.and_then(|own| own.get("endpoint_url")).map(String::as_str);
        Ok(url.or_else(|| self.get("endpoint_url")))
    }

    /// Keys in the credentials file.
    pub(crate) fn shared_keys(&self) -> Result<Option<Keys>> {
        keys(self.shared.as_ref(), "shared-credentials-file")
    }

    /// Keys in the config file.
    pub(crate) fn config_keys(&self) -> Result<Option<Keys>> {
        keys(self.config.as_ref(), "config-file")
    }
}

fn plain(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
        Value::Nested(_) => None,
    }
}

fn block(value: &Value) -> Option<&BTreeMap<String, String>> {
    match value {
        Value::Nested(values) => Some(values),
        Value::Text(_) => None,
    }
}

/// A value that is there and not nothing.
pub(crate) fn text<'s>(section: &'s Section, key: &str) -> Option<&'s str> {
    section.get(key).and_then(plain)
}

fn keys(section: Option<&Section>, source: &str) -> Result<Option<Keys>> {
    let get = |key: &str| text(section?, key).map(str::to_owned);
    let Some(access_key_id) = get("aws_access_key_id") else { return Ok(None) };
    let secret_access_key =
        get("aws_secret_access_key").ok_or_else(|| partial(source, "aws_secret_access_key"))?;
    let session_token = get("aws_security_token").or_else(|| get("aws_session_token"));
    Ok(Some(Keys { access_key_id, secret_access_key, session_token }))
}

/// The error for a key without its secret.
pub(crate) fn partial(source: &str, missing: &str) -> Error {
    failed(format!("Partial credentials found in {source}, missing: {missing}"))
}

/// An error about credentials.
pub(super) fn failed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Credentials, message)
}

/// A path with `~` for the home directory.
fn expand(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with(['/', '\\']) => home.join(&rest[1..]),
        _ => PathBuf::from(path),
    }
}

fn sections(path: Option<PathBuf>) -> Result<Sections> {
    let Some(path) = path.filter(|path| path.is_file()) else { return Ok(Sections::new()) };
    let unreadable = |problem: &dyn std::fmt::Display| {
        let message = format!("Unable to parse config file: {}: {problem}", path.display());
        Error::new(ErrorKind::Config, message)
    };
    let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&error))?;
    ini::parse(&text).map_err(|error| unreadable(&error))
}

/// Splits text at blanks, with `'…'`, `"…"` and backslashes as in a POSIX shell. `None` where a
/// quote is not closed or a backslash comes last.
pub(crate) fn shell_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().push(characters.next()?),
            (Some('"'), '\\') if matches!(characters.peek(), Some('"' | '\\')) => {
                word.get_or_insert_default().extend(characters.next());
            }
            (None, ' ' | '\t' | '\r' | '\n') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[default]\nregion = old\n[profile default]\nregion: new\n\
        [profile work]\nregion = us-west-2\nservices = local\ns3 =\n  addressing_style = path\n\
        [profile \"two words\"]\nregion = x # y\nservices = none\n\
        [profile three more words]\nregion = no\n\
        [profile hollow]\nservices = hollow\n[services hollow]\n\
        [services local]\ns3 =\n  endpoint_url = http://localhost:9000\n[stray]\nregion = no\n";

    fn files(credentials: &str) -> ConfigFiles {
        ConfigFiles::of(ini::parse(CONFIG).unwrap(), ini::parse(credentials).unwrap())
    }

    #[test]
    fn profiles_are_found_by_the_words_of_their_sections() {
        let files = files("[work]\nregion = shared\n[keys]\noutput = text\n");
        let region = |name: &str| files.profile(name)?.get("region").map(str::to_owned);
        assert_eq!(region("default").as_deref(), Some("new"));
        assert_eq!(region("work").as_deref(), Some("shared"));
        assert_eq!(region("two words").as_deref(), Some("x # y"));
        assert_eq!(region("keys"), None);
        assert!(files.profile("keys").is_some());
        for missing in ["stray", "three", "three more words", "profile work"] {
            assert!(files.profile(missing).is_none(), "{missing}");
        }
    }

    #[test]
    fn blocks_and_services_are_found() {
        let files = files("");
        let work = files.profile("work").unwrap();
        assert_eq!(work.s3("addressing_style"), Some("path"));
        assert_eq!(work.s3_names().collect::<Vec<_>>(), ["addressing_style"]);
        assert_eq!(work.endpoint_url().unwrap(), Some("http://localhost:9000"));
        for (profile, services) in [("two words", "none"), ("hollow", "hollow")] {
            let error = files.profile(profile).unwrap().endpoint_url().unwrap_err();
            let named = format!("the \"{services}\" services configuration does not exist");
            assert!(error.to_string().contains(&named), "{error}");
        }
    }

    #[test]
    fn half_a_key_is_an_error() {
        let files = files(
            "[work]\naws_access_key_id: a\n[two words]\naws_access_key_id: a\n\
             aws_secret_access_key: b:=#\n",
        );
        let error = files.profile("work").unwrap().shared_keys().err().unwrap();
        assert!(error.to_string().ends_with("missing: aws_secret_access_key"), "{error}");
        let keys = files.profile("two words").unwrap().shared_keys().unwrap().unwrap();
        assert_eq!(keys.secret_access_key, "b:=#");
    }

    #[test]
    fn words_are_split_as_in_a_shell() {
        let split = |text| shell_words(text).unwrap();
        assert_eq!(split(r#"a "b c" 'd "e"' f\ g """#), ["a", "b c", "d \"e\"", "f g", ""]);
        assert_eq!(split(r#""a\b\"\\" '\'"#), [r#"a\b"\"#, r"\"]);
        assert!(split("  ").is_empty());
        assert_eq!([shell_words("a 'b"), shell_words("a\\")], [None, None]);
    }
}
