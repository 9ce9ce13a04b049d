//! `compare` and `verify`.

use std::path::PathBuf;

use s3haul::job::{CompareSpec, Depth};
use s3haul::plan::s3_uri;
use s3haul_wire::{ClientConfig, CustomerKey};

use super::Settings;
use super::object::{customer_key, key_pair};
use super::sides::SideSettings;
use crate::args::{CompareArgs, CompareFormat, Shown, TreesArgs, VerifyArgs};
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
}

impl CompareSettings {
    /// For `compare`.
    pub(crate) fn compare(settings: Settings, args: &CompareArgs) -> Result<Self, Failure> {
        let depth = match (args.size_only, args.checksum) {
            (true, _) => Depth::Sizes,
            (false, true) => Depth::Checksums,
            (false, false) => Depth::Listed,
        };
        Self::new(settings, &args.trees, depth)
    }

    /// For `verify`.
    pub(crate) fn verify(settings: Settings, args: &VerifyArgs) -> Result<Self, Failure> {
        Self::new(settings, &args.trees, Depth::Proof)
    }

    fn new(settings: Settings, args: &TreesArgs, depth: Depth) -> Result<Self, Failure> {
        let format = match args.format {
            Some(_) if settings.json => {
                return Err(Failure::usage(
                    "--json prints events and cannot be combined with --format: use --format \
                     jsonl for rows",
                ));
            }
            None if settings.json => ComparedFormat::Events,
            None | Some(CompareFormat::Text) => ComparedFormat::Text,
            Some(CompareFormat::Jsonl) => ComparedFormat::Jsonl,
            Some(CompareFormat::Csv) => ComparedFormat::Csv,
        };
        if args.no_header && format != ComparedFormat::Csv {
            return Err(Failure::usage("--no-header needs --format csv"));
        }
        let working_dir = std::env::current_dir().map_err(|error| {
            Failure::other(format!("cannot determine the working directory: {error}"))
        })?;
        let (source_customer_key, target_customer_key) = keys(args)?;
        let sides = (s3_uri::is_s3(&args.source), s3_uri::is_s3(&args.target));
        let clients = SideSettings::new(&settings, &args.sides, sides)?;
        let (client, source_client) =
            clients.beside(settings.client, args.requests.payer.is_requester());
        let spec = CompareSpec {
            source: args.source.clone(),
            target: args.target.clone(),
            working_dir,
            filters: args.filters.rules.clone(),
            follow_symlinks: !args.no_follow_symlinks,
            page_size: args.requests.page_size,
            depth,
            compares_times: args.times,
            source_customer_key,
            target_customer_key,
            tuning: settings.tuning,
        };
        Ok(Self {
            spec,
            client,
            source_client,
            format,
            header: !args.no_header,
            show: args.show.clone(),
            output_file: args.output_file.clone(),
        })
    }
}

/// Keys of SSE-C of the source and of the target.
fn keys(args: &TreesArgs) -> Result<(Option<CustomerKey>, Option<CustomerKey>), Failure> {
    let key = customer_key(&args.customer_key)?;
    let method = args.sse_c_copy_source.as_deref();
    let source = key_pair("--sse-c-copy-source", method, args.sse_c_copy_source_key.as_ref())?;
    if s3_uri::is_s3(&args.target) {
        return Ok((source, key));
    }
    Ok((source.or_else(|| key.clone()), key))
}
