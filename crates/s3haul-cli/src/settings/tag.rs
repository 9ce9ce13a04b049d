//! `tag`: flags into a [`TransferSpec`].

use s3haul::job::{TagKeys, TagTask, Tags, TransferCommand};
use s3haul::plan::s3_uri;

use super::stream::address;
use super::transfer::{
    TransferSettings, assemble, blank_spec, check_bucket, invalid_argument_type, output,
};
use super::{Lines, OutputSettings, ReportSettings, Settings, script};
use crate::args::{TagCommand, TagRemoveArgs, TagSelectionArgs, TagsFormat};
use crate::failure::Failure;

impl TransferSettings {
    /// For `tag`.
    pub(crate) fn tag(settings: Settings, command: &TagCommand) -> Result<Self, Failure> {
        match command {
            TagCommand::Get(args) => {
                tagging(settings, &args.selection, TagTask::Get, Some(args.format))
            }
            TagCommand::Set(args) => {
                tagging(settings, &args.selection, TagTask::Set(tags(&args.tags)?), None)
            }
            TagCommand::Add(args) => {
                tagging(settings, &args.selection, TagTask::Add(tags(&args.tags)?), None)
            }
            TagCommand::Remove(args) => tagging(settings, &args.selection, removal(args)?, None),
        }
    }
}

fn tags(texts: &[String]) -> Result<Tags, Failure> {
    Tags::parse(texts.iter().map(String::as_str))
        .map_err(|error| Failure::usage(format!("--tags: {error}")))
}

fn removal(args: &TagRemoveArgs) -> Result<TagTask, Failure> {
    if args.all {
        return Ok(TagTask::Clear);
    }
    TagKeys::parse(args.keys.iter().map(String::as_str))
        .map(TagTask::Remove)
        .map_err(|error| Failure::usage(format!("--keys: {error}")))
}

fn tagging(
    settings: Settings,
    args: &TagSelectionArgs,
    task: TagTask,
    tags: Option<TagsFormat>,
) -> Result<TransferSettings, Failure> {
    if !s3_uri::is_s3(&args.path) {
        return Err(invalid_argument_type("tag", "<S3Uri>"));
    }
    let lines = Lines::from(&args.output);
    let output = OutputSettings { lines, tags, ..output(&settings) };
    check_bucket(&args.path)?;
    if !args.recursive && address(&args.path)?.key.is_empty() {
        return Err(Failure::usage(format!(
            "`{}` names no object: give --recursive for all objects of the bucket",
            args.path
        )));
    }
    let mut spec = blank_spec(&settings, TransferCommand::Tag, &args.path)?;
    spec.tags = task;
    spec.recursive = args.recursive;
    spec.dry_run = args.dryrun;
    spec.raw = args.raw;
    spec.filters.clone_from(&args.filters.rules);
    spec.filter = script::filter(args.filter.as_deref())?;
    spec.page_size = args.page_size;
    let report = ReportSettings::new(&args.report, &spec)?;
    let transfer = assemble(settings, spec, args.request_payer.is_some(), output);
    Ok(TransferSettings { report, ..transfer })
}
