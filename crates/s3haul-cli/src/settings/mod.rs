//! The only place where flags, the environment and `~/.aws` become plain values.
//!
//! Everything below `of_process` is a function of its arguments, so tests need no environment.

mod client;
mod compare;
mod conditions;
mod environment;
mod find;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod list;
mod list_buckets;
mod listing;
mod manifest;
mod object;
mod output;
mod prices;
mod profile;
mod report;
mod restore;
mod run;
mod script;
mod serve;
mod set;
mod shorthand;
mod sides;
mod stream;
mod summarize;
mod sync;
mod tag;
mod timestamp;
mod transfer;
mod tuning;
mod uploads;
mod versions;

use s3haul::job::Tuning;
use s3haul_wire::{ClientConfig, Profile};

use crate::args::GlobalArgs;
use crate::failure::Failure;
use crate::{memory, open_files};

pub(crate) use compare::{CompareSettings, ComparedFormat};
pub(crate) use environment::Environment;
pub(crate) use find::FindSettings;
pub(crate) use list::{
    ListSettings, LsSettings, MbSettings, RbSettings, VersioningSettings, WebsiteSettings,
};
pub(crate) use list_buckets::ListBucketsSettings;
pub(crate) use listing::{ListingSettings, Selection};
pub(crate) use manifest::{ManifestPlace, ManifestSettings};
pub(crate) use output::{AwsProgress, Lines, OutputSettings};
pub(crate) use report::ReportSettings;
pub(crate) use run::RunSettings;
pub(crate) use script::{How, ScriptSettings};
pub(crate) use serve::ServeSettings;
pub(crate) use stream::{CatRange, CatSettings, HeadSettings, PresignSettings};
pub(crate) use summarize::SummarizeSettings;
pub(crate) use transfer::TransferSettings;
pub(crate) use uploads::UploadsSettings;

use profile::ProfileName;

/// What all commands that talk to S3 need.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Limits.
    pub(crate) tuning: Tuning,
    /// `--json`.
    pub(crate) json: bool,
    /// `--no-progress` was not given.
    pub(crate) progress: bool,
    /// The environment, for the settings of single commands.
    environment: Environment,
    /// The flags of all commands, for those that have two clients.
    global: GlobalArgs,
}

impl Settings {
    /// Reads the configuration files and puts all together.
    pub(crate) fn load(global: &GlobalArgs, environment: Environment) -> Result<Self, Failure> {
        let name = ProfileName::resolve(global.profile.as_deref(), &environment);
        let profile = profile::load(&name, &environment)?;
        Self::combine(global, environment, &name, &profile)
    }

    fn combine(
        global: &GlobalArgs,
        environment: Environment,
        name: &ProfileName,
        profile: &Profile,
    ) -> Result<Self, Failure> {
        let mut bounds = tuning::bounds(global, profile)?;
        bounds.max_concurrent_requests =
            open_files::requests_within(bounds.max_concurrent_requests);
        let spare = memory::Spare::of(global.max_memory.as_deref())?;
        bounds.max_concurrent_requests = spare.requests_within(bounds.max_concurrent_requests);
        let mut tuning = tuning::tuning(global, profile, bounds)?;
        spare.limit(&mut tuning);
        let mut client = client::config(global, &environment, name, profile)?;
        client.load = bounds;
        let wanted = client.max_connections.max(tuning.max_concurrent_requests);
        client.max_connections = open_files::connections_within(wanted);
        let (json, progress) = (global.json, !global.no_progress);
        Ok(Self { client, tuning, json, progress, environment, global: global.clone() })
    }
}

/// The client that flags ask for.
fn client_of(global: &GlobalArgs, environment: &Environment) -> Result<ClientConfig, Failure> {
    Settings::load(global, environment.clone()).map(|settings| settings.client)
}

/// Refuses flags that are parsed only so that their refusal can be explained.
pub(crate) fn refuse_unsupported(global: &GlobalArgs) -> Result<(), Failure> {
    if global.query.is_some() {
        return Err(Failure::usage(
            "--query is not supported: these commands print no document to query; use --json and \
             a JSON tool such as jq",
        ));
    }
    if global.cli_auto_prompt {
        return Err(Failure::usage(
            "--cli-auto-prompt is not supported: `s3haul --help` lists the commands, and `s3haul \
             COMMAND -h` the flags that are used most",
        ));
    }
    Ok(())
}
