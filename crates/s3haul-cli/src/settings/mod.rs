//! The only place where flags, the environment and `~/.aws` become plain values.
//!
//! Environment variables are read by [`Environment`] alone, so tests pass their own. The clock, the
//! time zone, the working directory and configuration files are read here, too.

mod again;
mod browse;
mod buckets;
mod check;
mod check_server;
mod client;
mod collector;
mod compare;
mod completion;
mod conditions;
mod environment;
mod find;
mod frame;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod job;
mod job_file;
mod journal;
mod list;
mod list_buckets;
mod manifest;
mod metrics;
mod named_files;
mod object;
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
mod tag;
mod timestamp;
mod transfer;
mod tuning;
mod uploads;
mod versions;

use std::path::PathBuf;

use s3haul::job::Tuning;
use s3haul::job::value::{Limits, Service};
use s3haul_wire::{ClientConfig, Profile};

use crate::args::GlobalArgs;
use crate::failure::Failure;

pub(crate) use again::{Advice, Again, command_line, flags_of, next_report};
pub(crate) use browse::{BrowsePlace, BrowseSettings};
pub(crate) use buckets::{MbSettings, RbSettings, VersioningSettings, WebsiteSettings};
pub(crate) use check_server::CheckServerSettings;
pub(crate) use collector::{CollectorSettings, ParentSpan};
pub(crate) use compare::CompareSettings;
pub(crate) use completion::{CompletionSettings, profiles};
pub(crate) use environment::Environment;
pub(crate) use find::FindSettings;
pub(crate) use frame::Machine;
pub(crate) use job::JobRequest;
pub(crate) use journal::{JournalSettings, KeptJournal, folder as journal_folder, resume_command};
pub(crate) use list::{ListSettings, ListingSettings, LsSettings, Selection};
pub(crate) use list_buckets::ListBucketsSettings;
pub(crate) use manifest::{DryRunOf, ManifestPlace, ManifestSettings};
#[cfg(test)]
pub(crate) use metrics::RESERVED_LABELS;
pub(crate) use metrics::{MetricsFile, MetricsSettings};
pub(crate) use named_files::refuse_overwriting;
pub(crate) use report::{PlanSettings, ReportSettings, price_table_of};
pub(crate) use restore::restore_tier;
pub(crate) use run::RunSettings;
pub(crate) use script::{How, ScriptSettings};
pub(crate) use serve::ServeSettings;
pub(crate) use set::set_copies;
pub(crate) use stream::{CatRange, CatSettings, HeadSettings, PresignSettings};
pub(crate) use summarize::{SummarizeSettings, is_utf8};
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
    /// What the client is made of.
    service: Service,
    /// What the limits are made of.
    limits: Limits,
    /// `--json`.
    pub(crate) json: bool,
    /// `--no-progress` was not given.
    pub(crate) progress: bool,
    /// The environment, for the settings of single commands.
    environment: Environment,
    /// The flags of all commands, for those that have two clients.
    global: GlobalArgs,
    /// `--metrics-file`, of `run` for its lines, too.
    pub(crate) metrics_file: Option<PathBuf>,
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
        let limits = tuning::limits(global, profile)?;
        let service = client::service(global, &environment, name, profile)?;
        let (tuning, load) = frame::within_machine(&limits)?;
        let client = frame::client(&service, &tuning, load, &environment);
        let (json, progress) = (global.json, !global.hides_progress());
        let (global, metrics_file) = (global.clone(), global.metrics_file.clone());
        Ok(Self {
            client,
            tuning,
            service,
            limits,
            json,
            progress,
            environment,
            global,
            metrics_file,
        })
    }

    /// What a job finds where it runs.
    pub(crate) fn machine(&self) -> Machine {
        Machine {
            environment: self.environment.clone(),
            shared: self.tuning.shared.clone(),
            metrics_file: self.metrics_file.clone(),
        }
    }
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
