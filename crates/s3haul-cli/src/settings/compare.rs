//! `compare` and `verify`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use s3haul::job::value::{CompareTask, OutputLines, RowFormat, Service, Shown, Task};
use s3haul::job::{CompareSpec, Depth};
use s3haul::plan::s3_uri;
use s3haul_wire::ClientConfig;

use super::frame::{self, Frame, Keys, Machine};
use super::job::two_services;
use super::list::events_or_rows;
use super::object::{customer_key, key_pair};
use super::{JobRequest, Settings};
use crate::args::{CompareArgs, TreesArgs, VerifyArgs};
use crate::failure::Failure;
use crate::render::compare::ComparedFormat;

/// A comparison, ready to run.
#[derive(Debug)]
pub(crate) struct CompareSettings {
    /// The job.
    pub(crate) spec: CompareSpec,
    /// Client of the target, and of the source where that has none of its own.
    pub(crate) client: ClientConfig,
    /// Client of the source, where it differs.
    pub(crate) source_client: Option<ClientConfig>,
    /// Format.
    pub(crate) format: ComparedFormat,
    /// Names of the columns come first.
    pub(crate) header: bool,
    /// What is shown.
    pub(crate) show: Vec<Shown>,
    /// File instead of standard output.
    pub(crate) output_file: Option<PathBuf>,
    /// A page beside it.
    pub(crate) html: Option<PathBuf>,
}

impl JobRequest {
    /// For `compare`.
    pub(crate) fn compare(settings: &Settings, args: &CompareArgs) -> Result<Self, Failure> {
        let depth = match (args.size_only, args.checksum) {
            (true, _) => Depth::Sizes,
            (false, true) => Depth::Checksums,
            (false, false) => Depth::Listed,
        };
        Self::comparison(settings, &args.trees, depth)
    }

    /// For `verify`.
    pub(crate) fn verify(settings: &Settings, args: &VerifyArgs) -> Result<Self, Failure> {
        Self::comparison(settings, &args.trees, Depth::Proof)
    }

    fn comparison(settings: &Settings, args: &TreesArgs, depth: Depth) -> Result<Self, Failure> {
        let task = CompareTask {
            source: args.source.clone(),
            target: args.target.clone(),
            depth,
            times: args.times,
            filters: args.filters.rules.clone(),
            page_size: args.requests.page_size.and_then(NonZeroU32::new),
            follow_symlinks: !args.no_follow_symlinks,
            show: args.show.clone(),
            format: args.format,
            header: !args.no_header,
            output_file: args.output_file.clone(),
            html: args.html.clone(),
        };
        let sides = [&args.source, &args.target].map(|path| s3_uri::is_s3(path));
        let mut services = two_services(settings, &args.sides, &args.requests, sides)?;
        let [source_is_remote, target_is_remote] = sides;
        if !source_is_remote {
            services.source = Service::default();
        }
        if !target_is_remote {
            services.target = Service::default();
        }
        let output = frame::output(settings, OutputLines::All);
        let request = Self::plain(settings, services, output, Task::Compare(Box::new(task)));
        Ok(Self { keys: keys(args)?, ..request })
    }
}

impl CompareSettings {
    /// What is said where neither side has anything.
    pub(crate) fn nothing(&self) -> String {
        let CompareSpec { source, target, .. } = &self.spec;
        format!(
            "nothing was found in `{source}` and `{target}` that could be compared, and nothing is \
             proved: folders, prefixes and buckets are compared, single objects are not"
        )
    }

    /// For a job.
    pub(crate) fn of_job(
        request: &JobRequest,
        machine: &Machine,
        task: &CompareTask,
    ) -> Result<Self, Failure> {
        let sides = (s3_uri::is_s3(&task.source), s3_uri::is_s3(&task.target));
        let frame = Frame::of_job(&request.job, request.keys.clone(), machine, sides)?;
        let format = match task.format {
            Some(_) if frame.output.json => return Err(events_or_rows()),
            None if frame.output.json => ComparedFormat::Events,
            None | Some(RowFormat::Text) => ComparedFormat::Text,
            Some(RowFormat::Jsonl) => ComparedFormat::Jsonl,
            Some(RowFormat::Csv) => ComparedFormat::Csv,
        };
        if !task.header && format != ComparedFormat::Csv {
            return Err(Failure::usage("--no-header needs --format csv"));
        }
        // Without one, relative paths are refused, and all else is done.
        let working_dir = std::env::current_dir().unwrap_or_default();
        let spec = CompareSpec {
            source: task.source.clone(),
            target: task.target.clone(),
            working_dir,
            filters: task.filters.clone(),
            follow_symlinks: task.follow_symlinks,
            page_size: task.page_size.map(NonZeroU32::get),
            depth: task.depth,
            compares_times: task.times,
            source_customer_key: frame.keys.source,
            target_customer_key: frame.keys.target,
            tuning: frame.tuning,
        };
        Ok(Self {
            spec,
            client: frame.client,
            source_client: frame.source_client,
            format,
            header: task.header,
            show: task.show.clone(),
            output_file: task.output_file.clone(),
            html: task.html.clone(),
        })
    }
}

/// Keys of SSE-C of the source and of the target.
fn keys(args: &TreesArgs) -> Result<Keys, Failure> {
    let target = customer_key(&args.customer_key)?;
    let method = args.sse_c_copy_source.as_deref();
    let source = key_pair("--sse-c-copy-source", method, args.sse_c_copy_source_key.as_ref())?;
    if s3_uri::is_s3(&args.target) {
        return Ok(Keys { target, source });
    }
    Ok(Keys { source: source.or_else(|| target.clone()), target })
}
