//! What a dry run reports of each action.

use crate::action::download::target::DownloadTarget;
use crate::engine::core::{Engine, Place};
use crate::engine::remove_object::removal_kind;
use crate::event::ActionKind;
use crate::event::ObjectEvent;
use crate::event::Outcome;
use crate::fs::TargetRoot;
use crate::location::Location;
use crate::plan::action::CopyAction;
use crate::plan::action::DeleteAction;
use crate::plan::action::DownloadAction;
use crate::plan::action::RemoveFileAction;
use crate::plan::action::TagAction;
use crate::plan::action::UploadAction;
use crate::plan::compare::Reason;

pub(crate) fn event(
    engine: &Engine,
    action: ActionKind,
    source: Location,
    target: Option<Location>,
    bytes: u64,
) -> ObjectEvent {
    let is_move = engine.settings.is_move;
    let outcome = Outcome::DryRun;
    ObjectEvent { action, is_move, source, target, bytes, reason: None, outcome }
}

/// The event of an upload in a dry run.
pub(crate) fn describe_upload(engine: &Engine, action: UploadAction) -> ObjectEvent {
    let target = Some(engine.target_object(action.key));
    let reason = action.reason.map(Reason::name);
    let source = Location::Local(action.path);
    let event = event(engine, ActionKind::Upload, source, target, action.size);
    ObjectEvent { reason, ..event }
}

/// The event of a download in a dry run.
pub(crate) fn describe_download(
    place: DownloadTarget,
) -> impl Fn(&Engine, DownloadAction) -> ObjectEvent + Send + Sync {
    move |engine, action| {
        let path = Location::Local(place.path_of(&action.relative));
        let source = engine.source_version(action.key, action.version_id);
        let reason = action.reason.map(Reason::name);
        let event = event(engine, ActionKind::Download, source, Some(path), action.size);
        ObjectEvent { reason, ..event }
    }
}

/// The event of a copy in a dry run.
pub(crate) fn describe_copy(engine: &Engine, action: CopyAction) -> ObjectEvent {
    let target = Some(engine.target_object(action.target_key));
    let source = engine.source_version(action.source_key, action.version_id);
    let reason = action.reason.map(Reason::name);
    let event = event(engine, ActionKind::Copy, source, target, action.size);
    ObjectEvent { reason, ..event }
}

/// The event of a removal in a dry run.
pub(crate) fn describe_delete(
    place: Place,
) -> impl Fn(&Engine, DeleteAction) -> ObjectEvent + Send + Sync {
    move |engine, action| {
        let source = place.version(engine, action.key, action.version_id);
        event(engine, removal_kind(engine), source, None, action.size)
    }
}

/// The event of an action on tags in a dry run.
pub(crate) fn describe_tag(engine: &Engine, action: TagAction) -> ObjectEvent {
    let source = engine.source_object(action.key);
    event(engine, ActionKind::Tag, source, None, action.size)
}

/// The event of the removal of a file in a dry run.
pub(crate) fn describe_file_removal(
    root: TargetRoot,
) -> impl Fn(&Engine, RemoveFileAction) -> ObjectEvent + Send + Sync {
    move |engine, action| {
        let source = Location::Local(root.path_of(&action.relative));
        event(engine, ActionKind::Delete, source, None, action.size)
    }
}
