//! `uploads`.

use s3haul::job::UploadsSpec;
use s3haul::job::value::{Moment, Output, Task, UploadsAction, UploadsTask};
use s3haul::plan::s3_uri;
use s3haul_wire::ClientConfig;

use super::check::{address, check_bucket, invalid_argument_type};
use super::frame::Frame;
use super::timestamp::age;
use super::{JobRequest, Settings};
use crate::args::{UploadsCommand, UploadsSelectionArgs};
use crate::failure::Failure;

/// `uploads`.
#[derive(Clone, Debug)]
pub(crate) struct UploadsSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// What to do.
    pub(crate) spec: UploadsSpec,
    /// The options.
    pub(crate) task: UploadsTask,
    /// Printing.
    pub(crate) output: Output,
}

impl JobRequest {
    /// For `uploads`.
    pub(crate) fn uploads(settings: &Settings, command: &UploadsCommand) -> Result<Self, Failure> {
        let request = |args: &UploadsSelectionArgs, action, dry_run| {
            let begun_until = args.older_than.as_deref().map(begun_until).transpose()?;
            let task = UploadsTask { source: args.path.clone(), action, begun_until, dry_run };
            Ok(Self::reading(settings, false, Task::Uploads(task)))
        };
        match command {
            UploadsCommand::Ls(args) => {
                let action = if args.sizes { UploadsAction::Measure } else { UploadsAction::List };
                request(&args.selection, action, false)
            }
            UploadsCommand::Abort(args) => {
                let mut request = request(&args.selection, UploadsAction::Abort, args.dryrun)?;
                request.job.output.lines = super::job::lines(&args.output);
                Ok(request)
            }
        }
    }
}

impl UploadsSettings {
    /// Whether uploads are aborted, or would be without `--dryrun`.
    pub(crate) fn aborts(&self) -> bool {
        self.task.action == UploadsAction::Abort
    }

    /// For a job.
    pub(crate) fn of_job(frame: Frame, task: &UploadsTask) -> Result<Self, Failure> {
        if !s3_uri::is_s3(&task.source) {
            return Err(invalid_argument_type("uploads", "<S3Uri>"));
        }
        check_bucket(&task.source)?;
        let object = address(&task.source)?;
        let spec = UploadsSpec {
            bucket: object.bucket,
            prefix: object.key,
            begun_until_s: task.begun_until.map(Moment::seconds),
            action: match task.action {
                UploadsAction::Abort if task.dry_run => UploadsAction::List,
                action => action,
            },
            concurrency: frame.tuning.requests_at_once(),
        };
        Ok(Self { client: frame.client, spec, task: task.clone(), output: frame.output })
    }
}

/// The moment that lies an age such as `7d` back.
fn begun_until(text: &str) -> Result<Moment, Failure> {
    let age = age(text).ok_or_else(|| {
        let message =
            format!("--older-than `{text}`: write a number and s, m, h, d or w, such as 7d");
        Failure::usage(message)
    })?;
    let now_s = jiff::Timestamp::now().as_second();
    Ok(Moment::from_seconds(now_s.saturating_sub(age)))
}
