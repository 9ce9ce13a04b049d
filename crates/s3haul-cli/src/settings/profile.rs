//! The profile that counts.

use s3haul_wire::{ConfigFiles, Profile};

use super::environment::Environment;
use crate::env_vars;
use crate::failure::Failure;

/// Which profile is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProfileName {
    /// Its name.
    pub(crate) name: String,
    /// It was named by `--profile`.
    pub(crate) by_flag: bool,
    /// It was named by anything, and so has to exist.
    must_exist: bool,
}

impl ProfileName {
    /// `--profile`, then the environment, then `default`.
    pub(crate) fn resolve(flag: Option<&str>, environment: &Environment) -> Self {
        const VARIABLES: [&str; 2] = [env_vars::AWS_DEFAULT_PROFILE, env_vars::AWS_PROFILE];
        let (name, by_flag) = match flag {
            Some(name) => (Some(name), true),
            None => (environment.first(&VARIABLES), false),
        };
        let must_exist = name.is_some();
        Self { name: name.unwrap_or("default").to_owned(), by_flag, must_exist }
    }
}

/// Reads the configuration files and picks the profile.
pub(crate) fn load(name: &ProfileName, environment: &Environment) -> Result<Profile, Failure> {
    let files = ConfigFiles::read(|name| environment.get(name).map(str::to_owned))?;
    match files.profile(&name.name) {
        None if name.must_exist => {
            let message = format!("The config profile ({}) could not be found", name.name);
            Err(Failure::other(message))
        }
        found => Ok(found.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(flag: Option<&str>, pairs: &[(&str, &str)]) -> Result<String, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let config = "[default]\nregion = d\n[profile work]\nregion = w\n[stray]\nregion = no\n";
        let (config, keys) = (file("config", config), file("keys", "[keys]\nregion = k\n"));
        let files =
            [(env_vars::AWS_CONFIG_FILE, &*config), (env_vars::AWS_SHARED_CREDENTIALS_FILE, &keys)];
        let environment = Environment::of(&[pairs, &files].concat());
        let profile = load(&ProfileName::resolve(flag, &environment), &environment)?;
        Ok(profile.get("region").unwrap_or_default().to_owned())
    }

    #[test]
    fn the_flag_wins_over_the_environment() {
        let environment = [("AWS_PROFILE", "keys"), ("AWS_DEFAULT_PROFILE", "work")];
        assert_eq!(region(None, &[]).unwrap(), "d");
        assert_eq!(region(None, &environment[..1]).unwrap(), "k");
        assert_eq!(region(None, &environment).unwrap(), "w");
        assert_eq!(region(Some("keys"), &environment).unwrap(), "k");
    }

    #[test]
    fn an_unknown_profile_is_an_error_and_a_missing_default_is_not() {
        let failure = region(Some("stray"), &[]).unwrap_err();
        assert_eq!(failure.status, crate::exit::OTHER);
        assert_eq!(failure.message, "The config profile (stray) could not be found");
        let environment = Environment::default();
        let name = ProfileName::resolve(None, &environment);
        assert!(load(&name, &environment).is_ok());
        let named = Environment::of(&[("AWS_PROFILE", "default")]);
        assert!(load(&ProfileName::resolve(None, &named), &named).is_err());
    }
}
