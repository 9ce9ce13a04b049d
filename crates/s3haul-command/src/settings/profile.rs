//! The configuration files and the profile that counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::ini::{self, Section, Sections, Value};
use crate::env_vars;
use crate::failure::Failure;

/// The values of one profile, of both files, and the sections that it points to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    values: Section,
    services: BTreeMap<String, Section>,
}

/// Which profile is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProfileName {
    /// Its name.
    pub(crate) name: String,
    /// It was named by `--profile`.
    pub(crate) by_flag: bool,
    /// It was named by anything, and so has to exist.
    pub(crate) must_exist: bool,
}

impl ProfileName {
    /// `--profile`, then the environment, then `default`.
    pub(crate) fn resolve(flag: Option<&str>, environment: &Environment) -> Self {
        const VARIABLES: [&str; 2] = [env_vars::AWS_DEFAULT_PROFILE, env_vars::AWS_PROFILE];
        let (name, by_flag) = match flag {
            Some(name) => (Some(name), true),
            None => (environment.first(&VARIABLES), false),
        };
        let must_exist = name.is_some_and(|name| name != "default");
        Self { name: name.unwrap_or("default").to_owned(), by_flag, must_exist }
    }
}

impl Profile {
    /// Reads the files and picks the profile.
    pub(crate) fn load(name: &ProfileName, environment: &Environment) -> Result<Self, Failure> {
        let path = |variable: &str, file: &str| match environment.get(variable) {
            Some(path) => Some(environment.expand_path(path)),
            None => environment.home().map(|home| home.join(".aws").join(file)),
        };
        let config = read(path(env_vars::AWS_CONFIG_FILE, "config"))?;
        let credentials = read(path(env_vars::AWS_SHARED_CREDENTIALS_FILE, "credentials"))?;
        Self::pick(name, config, credentials)
    }

    fn pick(
        name: &ProfileName,
        config: Sections,
        mut credentials: Sections,
    ) -> Result<Self, Failure> {
        let mut profiles = BTreeMap::new();
        let mut services = BTreeMap::new();
        for (section, values) in config {
            match section_name(&section) {
                SectionName::Profile(profile) => _ = profiles.insert(profile, values),
                SectionName::Services(service) => _ = services.insert(service, values),
                SectionName::Other => {}
            }
        }
        let found = (profiles.remove(&name.name), credentials.remove(&name.name));
        if name.must_exist && found == (None, None) {
            let message = format!("The config profile ({}) could not be found", name.name);
            return Err(Failure::other(message));
        }
        let mut values = found.0.unwrap_or_default();
        values.extend(found.1.unwrap_or_default());
        Ok(Self { values, services })
    }

    /// A value of the profile.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        text(&self.values, key)
    }

    /// A value of the profile's `s3 =` section.
    pub(crate) fn s3(&self, key: &str) -> Option<&str> {
        nested(&self.values, "s3", key)
    }

    /// Names in the profile's `s3 =` section.
    pub(crate) fn s3_names(&self) -> impl Iterator<Item = &str> {
        let values = match self.values.get("s3") {
            Some(Value::Nested(values)) => Some(values),
            Some(Value::Text(_)) | None => None,
        };
        values.into_iter().flat_map(|values| values.keys()).map(String::as_str)
    }

    /// The endpoint that the profile's `services` section names for S3, or its own.
    pub(crate) fn endpoint_url(&self) -> Option<&str> {
        let of_services = self
            .get("services")
            .and_then(|name| self.services.get(name))
            .and_then(|services| nested(services, "s3", "endpoint_url"));
        of_services.or_else(|| self.get("endpoint_url"))
    }
}

fn text<'a>(section: &'a Section, key: &str) -> Option<&'a str> {
    match section.get(key)? {
        Value::Text(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
        Value::Nested(_) => None,
    }
}

fn nested<'a>(section: &'a Section, block: &str, key: &str) -> Option<&'a str> {
    match section.get(block)? {
        Value::Nested(values) => values.get(key).map(String::as_str),
        Value::Text(_) => None,
    }
}

enum SectionName {
    Profile(String),
    Services(String),
    Other,
}

/// `default`, `profile x`, `profile "x y"` and `services x`.
fn section_name(section: &str) -> SectionName {
    if section == "default" {
        return SectionName::Profile("default".to_owned());
    }
    let Some((kind, rest)) = section.split_once(char::is_whitespace) else {
        return SectionName::Other;
    };
    let name = rest.trim();
    let quoted = ['"', '\'']
        .iter()
        .find_map(|quote| name.strip_prefix(*quote).and_then(|inner| inner.strip_suffix(*quote)));
    let name = quoted.unwrap_or(name).to_owned();
    match kind {
        "profile" => SectionName::Profile(name),
        "services" => SectionName::Services(name),
        _ => SectionName::Other,
    }
}

/// Reads a file; one that is not there is empty.
fn read(path: Option<PathBuf>) -> Result<Sections, Failure> {
    let Some(path) = path.filter(|path| path.is_file()) else { return Ok(Sections::new()) };
    let unreadable = |problem: &dyn std::fmt::Display, path: &Path| {
        Failure::other(format!("Unable to parse config file: {}: {problem}", path.display()))
    };
    let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&error, &path))?;
    ini::parse(&text).map_err(|error| unreadable(&error, &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[default]\nregion = eu-west-1\n\n[profile work]\nregion = us-west-2\n\
        services = local\ns3 =\n  addressing_style = path\n\n\
        [profile \"two words\"]\nregion = x\n\n\
        [services local]\ns3 =\n  endpoint_url = http://localhost:9000\n\n[stray]\nregion = no\n";

    fn pick(flag: Option<&str>, pairs: &[(&str, &str)]) -> Result<Profile, Failure> {
        let name = ProfileName::resolve(flag, &Environment::of(pairs));
        let credentials = ini::parse("[keys]\naws_access_key_id = a\nregion = r\n").unwrap();
        Profile::pick(&name, ini::parse(CONFIG).unwrap(), credentials)
    }

    #[test]
    fn the_flag_wins_over_the_environment() {
        let environment = [("AWS_PROFILE", "keys"), ("AWS_DEFAULT_PROFILE", "work")];
        assert_eq!(pick(None, &[]).unwrap().get("region"), Some("eu-west-1"));
        assert_eq!(pick(None, &environment[..1]).unwrap().get("region"), Some("r"));
        assert_eq!(pick(None, &environment).unwrap().get("region"), Some("us-west-2"));
        assert_eq!(pick(Some("two words"), &environment).unwrap().get("region"), Some("x"));
    }

    #[test]
    fn nested_sections_are_found() {
        let work = pick(Some("work"), &[]).unwrap();
        assert_eq!(work.s3("addressing_style"), Some("path"));
        assert_eq!(work.endpoint_url(), Some("http://localhost:9000"));
    }

    #[test]
    fn an_unknown_profile_is_an_error_and_a_missing_default_is_not() {
        let failure = pick(Some("stray"), &[]).unwrap_err();
        assert_eq!(failure.status, crate::exit::OTHER);
        assert_eq!(failure.message, "The config profile (stray) could not be found");
        let name = ProfileName::resolve(None, &Environment::default());
        assert!(Profile::pick(&name, Sections::new(), Sections::new()).is_ok());
    }
}
