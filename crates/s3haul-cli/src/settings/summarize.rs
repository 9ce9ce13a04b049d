//! `summarize`.

use s3haul::job::value::{SummarizeTask, SummaryFormat, Task};

use super::frame::Frame;
use super::{Environment, JobRequest, ListingSettings, Settings};
use crate::args::SummarizeArgs;
use crate::env_vars;
use crate::failure::Failure;

/// Levels of folders at most.
const DEPTH_MAX: u32 = 64;
/// Rows of rankings at most.
const TOP_MAX: u32 = 1000;

/// `summarize`.
#[derive(Clone, Debug)]
pub(crate) struct SummarizeSettings {
    /// What to list.
    pub(crate) listing: ListingSettings,
    /// The options.
    pub(crate) task: SummarizeTask,
    /// How it is written.
    pub(crate) format: SummaryFormat,
    /// Characters beyond ASCII may be written.
    pub(crate) unicode: bool,
}

impl JobRequest {
    /// For `summarize`.
    pub(crate) fn summarize(settings: &Settings, args: &SummarizeArgs) -> Result<Self, Failure> {
        let task = SummarizeTask {
            listing: super::listing::of_args(&args.listing)?,
            depth: args.depth,
            top: args.top,
            format: args.format,
            uploads: args.uploads,
            versions: args.versions,
            output_file: args.output_file.clone(),
        };
        let requests = &args.listing.requests;
        Ok(Self::reading(settings, requests.payer.is_requester(), Task::Summarize(Box::new(task))))
    }
}

impl SummarizeSettings {
    /// For a job.
    pub(crate) fn of_job(
        frame: Frame,
        task: &SummarizeTask,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        if task.depth > DEPTH_MAX || task.top > TOP_MAX {
            return Err(Failure::usage(format!(
                "a summary has at most {DEPTH_MAX} levels of folders and {TOP_MAX} rows"
            )));
        }
        let default = if frame.output.json { SummaryFormat::Json } else { SummaryFormat::Text };
        Ok(Self {
            listing: ListingSettings::new(frame, &task.listing, "summarize")?,
            format: task.format.unwrap_or(default),
            unicode: is_utf8(environment),
            task: task.clone(),
        })
    }
}

/// Whether the locale has UTF-8. Windows has no such variables, but terminals that can.
pub(crate) fn is_utf8(environment: &Environment) -> bool {
    let names = [env_vars::LC_ALL, env_vars::LC_CTYPE, env_vars::LANG];
    environment.first(&names).map_or(cfg!(windows), |locale| {
        let locale = locale.to_ascii_lowercase();
        locale.ends_with("utf-8") || locale.ends_with("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_of_the_locale_decides() {
        let is = |pairs: &[(&str, &str)]| is_utf8(&Environment::of(pairs));
        assert!(is(&[("LANG", "de_DE.UTF-8")]));
        assert!(is(&[("LANG", "C"), ("LC_CTYPE", "C.utf8")]));
        assert!(!is(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]));
        assert_eq!(is(&[]), cfg!(windows));
    }
}
