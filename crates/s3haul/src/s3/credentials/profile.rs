//! The files of the AWS tools: sections and their settings. Pure, but for the reading.
//!
//! In `~/.aws/config` a profile is `[profile NAME]` (or `[default]`), in `~/.aws/credentials`
//! `[NAME]`; `[sso-session NAME]` stands beside. Indented lines belong to a nested setting and
//! hold nothing for credentials.

use std::collections::HashMap;

use reqsign_core::Context;

type Section = HashMap<String, String>;

/// Both files.
#[derive(Default)]
pub(super) struct Files {
    config: HashMap<String, Section>,
    credentials: HashMap<String, Section>,
}

/// One profile: what the config file says of it, and the credentials file.
pub(super) struct Profile<'f> {
    config: Option<&'f Section>,
    credentials: Option<&'f Section>,
}

impl Files {
    /// Reads what there is; absent files are empty.
    pub(super) async fn read(context: &Context) -> Self {
        let config = text(context, "AWS_CONFIG_FILE", "~/.aws/config").await;
        let credentials = text(context, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials").await;
        Self { config: parse(&config), credentials: parse(&credentials) }
    }

    pub(super) fn profile(&self, name: &str) -> Option<Profile<'_>> {
        let config = if name == "default" {
            self.config.get("profile default").or_else(|| self.config.get("default"))
        } else {
            self.config.get(&format!("profile {name}"))
        };
        let credentials = self.credentials.get(name);
        (config.is_some() || credentials.is_some()).then_some(Profile { config, credentials })
    }

    pub(super) fn sso_session(&self, name: &str) -> Option<&Section> {
        self.config.get(&format!("sso-session {name}"))
    }
}

impl Files {
    /// Values that no message may show.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        const NAMES: [&str; 3] =
            ["aws_secret_access_key", "aws_session_token", "aws_security_token"];
        self.values(&NAMES)
    }

    /// Files with tokens.
    pub(super) fn token_files(&self) -> impl Iterator<Item = &str> {
        self.values(&["web_identity_token_file"])
    }

    fn values<'f>(&'f self, names: &'static [&str]) -> impl Iterator<Item = &'f str> {
        let sections = self.config.values().chain(self.credentials.values());
        sections
            .flat_map(move |section| names.iter().filter_map(|name| section.get(*name)))
            .map(String::as_str)
    }
}

/// A key pair as it stands in a file.
pub(super) struct Keys {
    pub(super) access_key_id: String,
    pub(super) secret_access_key: String,
    pub(super) session_token: Option<String>,
}

impl Profile<'_> {
    /// A setting, from the credentials file where both have it.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        [self.credentials, self.config]
            .into_iter()
            .flatten()
            .find_map(|section| section.get(name))
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Keys in the credentials file.
    pub(super) fn shared_keys(&self) -> Option<Keys> {
        keys(self.credentials?)
    }

    /// Keys in the config file.
    pub(super) fn config_keys(&self) -> Option<Keys> {
        keys(self.config?)
    }
}

fn keys(section: &Section) -> Option<Keys> {
    let get = |name: &str| section.get(name).filter(|value| !value.is_empty()).cloned();
    Some(Keys {
        access_key_id: get("aws_access_key_id")?,
        secret_access_key: get("aws_secret_access_key")?,
        session_token: get("aws_session_token").or_else(|| get("aws_security_token")),
    })
}

async fn text(context: &Context, variable: &str, default: &str) -> String {
    let path = context.env_var(variable).unwrap_or_else(|| default.to_owned());
    let Some(path) = context.expand_home_dir(&path) else { return String::new() };
    context.file_read_as_string(&path).await.unwrap_or_default()
}

/// Reads sections of `name = value` lines.
pub(super) fn parse(text: &str) -> HashMap<String, Section> {
    let mut sections: HashMap<String, Section> = HashMap::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        let is_nested = line.starts_with([' ', '\t']);
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) || is_nested {
            continue;
        }
        if let Some(rest) = trimmed.strip_prefix('[') {
            let name = rest.split(']').next().unwrap_or_default();
            let name = section_name(name);
            sections.entry(name.clone()).or_default();
            current = Some(name);
        } else if let (Some(section), Some((name, value))) = (&current, trimmed.split_once('=')) {
            let value = value.split(" #").next().unwrap_or_default().trim();
            if let Some(section) = sections.get_mut(section) {
                section.insert(name.trim().to_ascii_lowercase(), value.to_owned());
            }
        }
    }
    sections
}

/// `profile "a b"` and `profile   x` in one form.
fn section_name(name: &str) -> String {
    let mut words = name.trim().splitn(2, char::is_whitespace);
    let first = words.next().unwrap_or_default();
    match words.next() {
        Some(rest) => format!("{first} {}", rest.trim().trim_matches(['"', '\''])),
        None => first.trim_matches(['"', '\'']).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_comments_and_nesting() {
        let text = "; comment\n[profile  \"a b\"]\nregion = eu-west-1 # near\ns3 =\n  region = no\n\
                    [default]\naws_access_key_id=A=B\n";
        let sections = parse(text);
        assert_eq!(sections["profile a b"]["region"], "eu-west-1");
        assert_eq!(sections["default"]["aws_access_key_id"], "A=B");
    }
}
