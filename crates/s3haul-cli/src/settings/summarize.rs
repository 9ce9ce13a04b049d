//! `summarize`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Read as _};

use s3haul::job::value::{Service, SummarizeTask, SummaryFormat, Task};
use s3haul::plan::price::PriceTable;

use super::again::service_flags;
use super::frame::Frame;
use super::report::price_table_of;
use super::{Environment, JobRequest, ListingSettings, Settings};
use crate::args::SummarizeArgs;
use crate::env_vars;
use crate::failure::Failure;
use crate::render::html::summary::Earlier;

/// Levels of folders at most.
const DEPTH_MAX: u32 = 64;
/// Rows of rankings at most.
const TOP_MAX: u32 = 1000;
/// Bytes of an earlier summary at most.
const SUMMARY_BYTES_MAX: u64 = 256 << 20;

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
    /// What the page says of costs.
    pub(crate) prices: PriceTable,
    /// Earlier summaries, the earliest first.
    pub(crate) earlier: Vec<Earlier>,
    /// Flags that reach the same service, for the commands of the page.
    pub(crate) flags: Vec<OsString>,
}

impl JobRequest {
    /// For `summarize`.
    pub(crate) fn summarize(settings: &Settings, args: &SummarizeArgs) -> Result<Self, Failure> {
        let task = SummarizeTask {
            listing: super::list::of_args(&args.listing)?,
            depth: args.depth,
            top: args.top,
            format: args.format,
            uploads: args.uploads,
            versions: args.versions,
            output_file: args.output_file.clone(),
            html: args.html.clone(),
            since: args.since.clone(),
            prices: args.prices.clone(),
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
        service: &Service,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        if task.depth > DEPTH_MAX || task.top > TOP_MAX {
            return Err(Failure::usage(format!(
                "a summary has at most {DEPTH_MAX} levels of folders and {TOP_MAX} rows"
            )));
        }
        let default = if frame.output.json { SummaryFormat::Json } else { SummaryFormat::Text };
        let listing = ListingSettings::new(frame, &task.listing, "summarize")?;
        let region = listing.client.endpoint.region.as_deref();
        Ok(Self {
            prices: price_table_of(task.prices.as_deref(), region)?,
            earlier: earlier(task, &listing)?,
            flags: service_flags(service),
            listing,
            format: task.format.unwrap_or(default),
            unicode: is_utf8(environment),
            task: task.clone(),
        })
    }
}

/// Reads the earlier summaries, which have to be of the same address.
fn earlier(task: &SummarizeTask, listing: &ListingSettings) -> Result<Vec<Earlier>, Failure> {
    let paths = &task.since;
    let is_selection = listing.is_selection();
    let mut summaries: Vec<Earlier> = Vec::with_capacity(paths.len());
    for path in paths {
        let fail = |why: String| {
            let path = path.display();
            Failure::usage(format!("the earlier summary `{path}` cannot be used: {why}"))
        };
        let file = File::open(path).map_err(|error| fail(error.to_string()))?;
        let read = BufReader::new(file.take(SUMMARY_BYTES_MAX));
        let earlier: Earlier =
            serde_json::from_reader(read).map_err(|error| fail(error.to_string()))?;
        if !earlier.is_known() {
            return Err(fail("it is of another version".to_owned()));
        }
        if (&earlier.bucket, &earlier.prefix) != (&listing.bucket, &listing.prefix) {
            let Earlier { bucket, prefix, .. } = earlier;
            return Err(fail(format!("it is of `s3://{bucket}/{prefix}`")));
        }
        if let Some(why) = earlier.differs(is_selection, task.versions) {
            return Err(fail(why.to_owned()));
        }
        summaries.push(earlier);
    }
    summaries.sort_by(|a, b| a.at.cmp(&b.at));
    Ok(summaries)
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
