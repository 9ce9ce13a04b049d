//! `tag`: flags into a job, and that into a [`TagTask`].

use std::collections::BTreeMap;

use s3haul::job::value::{self, TagAction, Task};
use s3haul::job::{TagKeys, TagTask, Tags, TransferCommand};
use s3haul::plan::tags::TagError;

use super::frame::Frame;
use super::job::objects;
use super::shorthand;
use super::transfer::require_object;
use super::{JobRequest, ReportSettings, Settings, TransferSettings};
use crate::args::{TagCommand, TagRemoveArgs};
use crate::failure::Failure;

impl JobRequest {
    /// For `tag`.
    pub(crate) fn tag(settings: &Settings, command: &TagCommand) -> Result<Self, Failure> {
        let action = match command {
            TagCommand::Get(args) => TagAction::Get { format: args.format },
            TagCommand::Set(args) => TagAction::Set(typed(&args.tags)?.into_iter().collect()),
            TagCommand::Add(args) => TagAction::Add(typed(&args.tags)?.into_iter().collect()),
            TagCommand::Remove(args) => removal(args)?,
        };
        let selection = command.selection();
        let task = value::TagTask { action, ..objects(selection)?.into() };
        Ok(Self::in_place(settings, selection, Task::Tag(Box::new(task))))
    }
}

impl TransferSettings {
    /// For `tag`.
    pub(super) fn tag(frame: Frame, task: &value::TagTask) -> Result<Self, Failure> {
        let (tags, change, format) = match &task.action {
            TagAction::Get { format } => (TagTask::Get, None, Some(*format)),
            TagAction::Set(map) => (TagTask::Set(tags(map)?), Some("set"), None),
            TagAction::Add(map) => (TagTask::Add(tags(map)?), Some("add"), None),
            TagAction::Remove(keys) => {
                let keys = TagKeys::new(keys.clone());
                let keys = keys.map_err(|error| Failure::usage(format!("--keys: {error}")))?;
                (TagTask::Remove(keys), Some("remove"), None)
            }
            TagAction::Clear => (TagTask::Clear, Some("remove"), None),
        };
        let (objects, reports) = (task.objects(), frame.reports.clone());
        let mut transfer = Self::in_place(frame, TransferCommand::Tag, "tag", &objects)?;
        require_object(&objects)?;
        transfer.spec.tags = tags;
        transfer.output.tags = format;
        transfer.output.tag_change = change;
        // It names what is done with tags.
        transfer.report = ReportSettings::new(&reports, &transfer.spec, &transfer.client)?;
        Ok(transfer)
    }
}

/// Tags as [`Tags::parse`] has them or, for keys with a `=`, as JSON objects.
fn typed(texts: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let is_json = |text: &&String| text.trim_start().starts_with('{');
    let (json, plain): (Vec<_>, Vec<_>) = texts.iter().partition(is_json);
    let mut typed = Vec::new();
    if !plain.is_empty() || json.is_empty() {
        let tags = Tags::parse(plain.into_iter().map(String::as_str));
        typed.extend(Vec::from(tags.map_err(|error| refusal(&error))?));
    }
    for text in json {
        typed.extend(shorthand::map("--tags", text)?);
    }
    Tags::new(typed).map(Into::into).map_err(|error| refusal(&error))
}

fn tags(map: &BTreeMap<String, String>) -> Result<Tags, Failure> {
    let tags = map.iter().map(|(key, value)| (key.clone(), value.clone()));
    Tags::new(tags.collect()).map_err(|error| refusal(&error))
}

fn refusal(error: &TagError) -> Failure {
    Failure::usage(format!("--tags: {error}"))
}

fn removal(args: &TagRemoveArgs) -> Result<TagAction, Failure> {
    if args.all {
        return Ok(TagAction::Clear);
    }
    TagKeys::parse(args.keys.iter().map(String::as_str))
        .map(|keys| TagAction::Remove(keys.into()))
        .map_err(|error| Failure::usage(format!("--keys: {error}")))
}
