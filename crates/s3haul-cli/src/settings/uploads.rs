//! `uploads`.

use s3haul::job::value::OutputLines;
use s3haul::job::{UploadsSpec, UploadsTask};
use s3haul::plan::s3_uri;
use s3haul_wire::ClientConfig;

use super::Settings;
use super::check::check_bucket;
use super::timestamp::age;
use crate::args::{UploadsCommand, UploadsSelectionArgs};
use crate::failure::Failure;
use crate::settings::check::address;
use crate::settings::check::invalid_argument_type;

/// `uploads`.
#[derive(Clone, Debug)]
pub(crate) struct UploadsSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// What to do; the age is not in it.
    pub(crate) spec: UploadsSpec,
    /// Only uploads that are so old, in seconds.
    pub(crate) age_s: Option<i64>,
    /// Aborting; in a dry run nothing but lines.
    pub(crate) aborts: bool,
    /// Bytes and parts are shown.
    pub(crate) sizes: bool,
    /// Nothing is aborted.
    pub(crate) dry_run: bool,
    /// Lines of what is aborted.
    pub(crate) lines: OutputLines,
    /// JSON output.
    pub(crate) json: bool,
}

impl UploadsSettings {
    /// From flags.
    pub(crate) fn new(settings: Settings, command: &UploadsCommand) -> Result<Self, Failure> {
        match command {
            UploadsCommand::Ls(args) => {
                let task = if args.sizes { UploadsTask::Measure } else { UploadsTask::List };
                let plain = Self::plain(settings, &args.selection, task)?;
                Ok(Self { sizes: args.sizes, ..plain })
            }
            UploadsCommand::Abort(args) => {
                let task = if args.dryrun { UploadsTask::List } else { UploadsTask::Abort };
                let plain = Self::plain(settings, &args.selection, task)?;
                let (dry_run, lines) = (args.dryrun, super::job::lines(&args.output));
                Ok(Self { aborts: true, dry_run, lines, ..plain })
            }
        }
    }

    fn plain(
        settings: Settings,
        args: &UploadsSelectionArgs,
        task: UploadsTask,
    ) -> Result<Self, Failure> {
        if !s3_uri::is_s3(&args.path) {
            return Err(invalid_argument_type("uploads", "<S3Uri>"));
        }
        check_bucket(&args.path)?;
        let object = address(&args.path)?;
        Ok(Self {
            client: settings.client,
            spec: UploadsSpec {
                bucket: object.bucket,
                prefix: object.key,
                begun_until_s: None,
                task,
                concurrency: settings.tuning.requests_at_once(),
            },
            age_s: args.older_than.as_deref().map(age_s).transpose()?,
            aborts: false,
            sizes: false,
            dry_run: false,
            lines: OutputLines::All,
            json: settings.json,
        })
    }
}

/// Seconds of an age such as `7d`.
fn age_s(text: &str) -> Result<i64, Failure> {
    age(text).ok_or_else(|| {
        let message =
            format!("--older-than `{text}`: write a number and s, m, h, d or w, such as 7d");
        Failure::usage(message)
    })
}
