//! What is completed from: profiles of the configuration files, and a service that is asked for a
//! moment only.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use s3haul_wire::{ClientConfig, ConfigFiles};

use super::{Environment, ProfileName, Settings};
use crate::args::GlobalArgs;
use crate::env_vars;

/// Profiles that lead to each other at most.
const PROFILES_MAX: usize = 8;

/// The service whose buckets and keys complete an address.
pub(crate) struct CompletionSettings {
    /// A client that tries once and gives up soon.
    pub(crate) client: ClientConfig,
    /// Folder of what is known for a while.
    pub(crate) cache: Option<PathBuf>,
    /// What differs between services and their users, among them no secret.
    pub(crate) identity: String,
}

impl CompletionSettings {
    /// `None` if the service cannot be asked silently: the configuration is broken, or its
    /// credentials come from a program, which may ask for a password.
    pub(crate) fn new(
        global: &GlobalArgs,
        environment: &Environment,
        limit: Duration,
    ) -> Option<Self> {
        let name = ProfileName::resolve(global.profile.as_deref(), environment);
        let has_keys = !name.by_flag && environment.get(env_vars::AWS_ACCESS_KEY_ID).is_some();
        if !has_keys && !global.no_sign_request && runs_program(&name.name, environment)? {
            return None;
        }
        let Settings { mut client, .. } = Settings::load(global, environment.clone()).ok()?;
        client.retry.max_attempts = 1;
        client.hedging = false;
        client.timeouts.connect = limit;
        client.timeouts.read = limit;
        let key = environment.get(env_vars::AWS_ACCESS_KEY_ID).filter(|_| has_keys);
        let identity = format!(
            "{:?} {:?} {} {key:?} {}",
            client.endpoint.url, client.endpoint.region, name.name, global.no_sign_request
        );
        Some(Self { client, cache: environment.cache("complete"), identity })
    }
}

/// Names of all profiles.
pub(crate) fn profiles(environment: &Environment) -> BTreeSet<String> {
    let files = ConfigFiles::read(|name| environment.get(name).map(str::to_owned));
    files.map(|files| files.names().map(str::to_owned).collect()).unwrap_or_default()
}

/// Whether a program makes the credentials of a profile or of those that it builds on.
fn runs_program(name: &str, environment: &Environment) -> Option<bool> {
    let files = ConfigFiles::read(|name| environment.get(name).map(str::to_owned)).ok()?;
    let mut next = files.profile(name);
    for _ in 0..PROFILES_MAX {
        let Some(profile) = next else { return Some(false) };
        if profile.get("credential_process").is_some() {
            return Some(true);
        }
        next = profile.get("source_profile").and_then(|name| files.profile(name));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(config: &str, pairs: &[(&str, &str)], global: &GlobalArgs) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, config).unwrap();
        let file = [(env_vars::AWS_CONFIG_FILE, path.to_str().unwrap())];
        let environment = Environment::of(&[pairs, &file].concat());
        CompletionSettings::new(global, &environment, Duration::from_secs(1)).is_some()
    }

    #[test]
    fn programs_that_might_ask_for_a_password_are_not_run() {
        let config = "[default]\ncredential_process = p\n[profile a]\nsource_profile = default\n\
                      [profile b]\nregion = r\n[profile c]\nsource_profile = c\n";
        let profile =
            |name: &str| GlobalArgs { profile: Some(name.to_owned()), ..GlobalArgs::default() };
        let keys = [("AWS_ACCESS_KEY_ID", "k"), ("AWS_SECRET_ACCESS_KEY", "s")];
        let plain = GlobalArgs::default();
        assert!(!settings(config, &[], &plain));
        assert!(settings(config, &keys, &plain), "the environment has keys");
        assert!(settings(config, &[], &GlobalArgs { no_sign_request: true, ..plain }));
        assert!(!settings(config, &keys, &profile("a")), "a flag wins over the environment");
        assert!(settings(config, &[], &profile("b")));
        assert!(!settings(config, &[], &profile("c")), "a circle");
        assert!(!settings(config, &[], &profile("none")));
    }
}
