//! Clients of the two sides of a command, where they differ.

use s3haul::job::value::{Service, Services};

use super::Settings;
use crate::args::{GlobalArgs, SideProfile, SidesArgs};
use crate::failure::Failure;

/// What is said of one side.
struct Side<'a> {
    name: &'static str,
    profile: Option<&'a str>,
    endpoint_url: Option<&'a str>,
    region: Option<&'a str>,
    no_sign_request: bool,
}

/// Settings of source and target that are not what the plain flags say.
#[derive(Debug, Default)]
pub(super) struct SideSettings {
    source: Option<Settings>,
    target: Option<Settings>,
}

impl SideSettings {
    /// Works out what flags of the sides mean; those of a side that is not in S3 are refused.
    pub(super) fn new(
        settings: &Settings,
        args: &SidesArgs,
        (has_source, has_target): (bool, bool),
    ) -> Result<Self, Failure> {
        let source = Side {
            name: "source",
            profile: args.source_profile.as_deref(),
            endpoint_url: args.source_endpoint_url.as_deref(),
            region: args.source_region.as_deref(),
            no_sign_request: args.source_no_sign_request,
        };
        let target = Side {
            name: "target",
            profile: args.target_profile.as_deref(),
            endpoint_url: args.target_endpoint_url.as_deref(),
            region: args.target_region.as_deref(),
            no_sign_request: args.target_no_sign_request,
        };
        Ok(Self {
            source: source.settings(settings, has_source)?,
            target: target.settings(settings, has_target)?,
        })
    }
}

impl SideSettings {
    /// The services of both sides; `plain` is what the plain flags say.
    pub(super) fn services(self, plain: &Service, request_payer: bool) -> Services {
        let service = |side: Option<Settings>| {
            let service = side.map_or_else(|| plain.clone(), |side| side.service);
            Service { request_payer, ..service }
        };
        Services { source: service(self.source), target: service(self.target) }
    }
}

impl Side<'_> {
    fn is_said(&self) -> bool {
        let values = [self.profile, self.endpoint_url, self.region];
        self.no_sign_request || values.iter().any(Option::is_some)
    }

    fn settings(&self, settings: &Settings, is_remote: bool) -> Result<Option<Settings>, Failure> {
        if !self.is_said() {
            return Ok(None);
        }
        if !is_remote {
            return Err(Failure::usage(format!(
                "the --{0}-… flags are for a {0} in S3, and the {0} is local",
                self.name
            )));
        }
        Settings::load(&self.global(&settings.global), settings.environment.clone()).map(Some)
    }

    /// The plain flags with what is said of this side in their place.
    fn global(&self, plain: &GlobalArgs) -> GlobalArgs {
        let or = |own: Option<&str>, plain: &Option<String>| {
            own.map(str::to_owned).or_else(|| plain.clone())
        };
        // The AWS tools have it so: `--source-region` takes the source from the custom endpoint.
        let leaves_endpoint = self.name == "source" && self.region.is_some();
        let plain_url = if leaves_endpoint { &None } else { &plain.endpoint_url };
        GlobalArgs {
            profile: or(self.profile, &plain.profile),
            side_profile: SideProfile {
                credentials: self.profile.is_some(),
                endpoint_url: self.profile.is_some() && self.endpoint_url.is_none(),
                region: self.profile.is_some() && self.region.is_none(),
            },
            endpoint_url: or(self.endpoint_url, plain_url),
            region: or(self.region, &plain.region),
            no_sign_request: self.no_sign_request
                || (plain.no_sign_request && self.profile.is_none()),
            ..plain.clone()
        }
    }
}
