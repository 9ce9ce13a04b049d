//! `tag`: flags into a [`TransferSpec`].

use s3haul::job::{TagKeys, TagTask, Tags, TransferCommand};

use super::transfer::require_object;
use super::{Settings, TransferSettings};
use crate::args::{ObjectsArgs, TagCommand, TagRemoveArgs, TagsFormat};
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
    args: &ObjectsArgs,
    task: TagTask,
    tags: Option<TagsFormat>,
) -> Result<TransferSettings, Failure> {
    let tag_change = match task {
        TagTask::Get => None,
        TagTask::Set(_) => Some("set"),
        TagTask::Add(_) => Some("add"),
        TagTask::Remove(_) | TagTask::Clear => Some("remove"),
    };
    let mut transfer = TransferSettings::in_place(settings, TransferCommand::Tag, "tag", args)?;
    require_object(args)?;
    transfer.spec.tags = task;
    transfer.output.tags = tags;
    transfer.output.tag_change = tag_change;
    Ok(transfer)
}
