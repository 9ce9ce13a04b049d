//! The action for an entry that was taken.

use std::borrow::Cow;

use crate::engine::core::Engine;
use crate::event::ActionKind;
use crate::fs::LocalFile;
use crate::fs::collapse;
use crate::fs::warning;
use crate::job::prepare::Prepared;
use crate::job::spec::TransferCommand;
use crate::plan::action::CopyAction;
use crate::plan::action::DeleteAction;
use crate::plan::action::DownloadAction;
use crate::plan::action::TagAction;
use crate::plan::action::UploadAction;
use crate::plan::paths::references_parent;
use crate::source::page_plan::Found;

/// The action for an upload.
pub(crate) fn upload_action(file: LocalFile, key: String) -> UploadAction {
    UploadAction { path: file.path, key, size: file.size, reason: None }
}

/// The action for a download.
pub(crate) fn download_action(
    job: &Prepared,
    engine: &Engine,
    found: Found<'_>,
) -> Option<DownloadAction> {
    if is_archived(job, engine, &found) {
        return None;
    }
    let name = found.name.as_deref().unwrap_or(found.relative);
    if references_parent(name) {
        engine.report.warning(warning::skipping(name, warning::PARENT_REFERENCE));
        return None;
    }
    let relative = collapse(name);
    let is_respelled = found.name.is_none() && matches!(relative, Cow::Owned(_));
    let plain_key = is_respelled.then(|| {
        let root = found.object.key.strip_suffix(found.relative).unwrap_or_default();
        format!("{root}{relative}")
    });
    Some(DownloadAction {
        key: found.object.key.to_owned(),
        version_id: found.version_id.map(str::to_owned),
        relative: relative.into_owned(),
        plain_key,
        size: found.object.size,
        etag: found.object.etag.to_owned(),
        last_modified_s: found.object.last_modified_s,
        head: found.head,
        reason: None,
    })
}

/// The action for a copy.
pub(crate) fn copy_action(job: &Prepared, engine: &Engine, found: Found<'_>) -> Option<CopyAction> {
    if is_archived(job, engine, &found) {
        return None;
    }
    Some(CopyAction {
        source_key: found.object.key.to_owned(),
        version_id: found.version_id.map(str::to_owned),
        target_key: found.name.unwrap_or_else(|| job.target_key(found.relative)),
        size: found.object.size,
        etag: found.object.etag.to_owned(),
        head: found.head,
        reason: None,
    })
}

/// The action for a removal.
pub(crate) fn delete_action(job: &Prepared, found: &Found<'_>) -> DeleteAction {
    // `rm` removes whatever is there, as the AWS tools do. But if conditions were checked, they may
    // have been checked against an old manifest: then the object must still be the same.
    let is_looked_at = job.chooser.is_some() || job.spec.conditions.needs_facts();
    let is_told = job.spec.manifest.is_some() && is_looked_at;
    DeleteAction {
        key: found.object.key.to_owned(),
        version_id: found.version_id.map(str::to_owned),
        size: found.object.size,
        etag: if is_told { found.object.etag.to_owned() } else { String::new() },
    }
}

/// The action for tags.
pub(crate) fn tag_action(found: &Found<'_>) -> TagAction {
    TagAction { key: found.object.key.to_owned(), size: found.object.size }
}

/// Whether an object is archived and not restored, so that it cannot be read; warns.
fn is_archived(job: &Prepared, engine: &Engine, found: &Found<'_>) -> bool {
    let is_archive = matches!(found.object.storage_class, "GLACIER" | "DEEP_ARCHIVE");
    let restore = found.head.as_ref().and_then(|head| head.restore.as_deref());
    let is_restored = restore.is_some_and(|told| told.contains("ongoing-request=\"false\""));
    if !is_archive || is_restored || job.spec.force_glacier_transfer {
        return false;
    }
    if !job.spec.ignore_glacier_warnings {
        let operation = match (engine.settings.is_move, job.plan.action) {
            (true, _) => "move",
            (false, ActionKind::Download) => "download",
            (false, _) => "copy",
        };
        let command = match job.spec.command {
            TransferCommand::Sync => "sync",
            TransferCommand::Move => "mv",
            _ => "cp",
        };
        let path = format!("s3://{}/{}", engine.settings.source_bucket, found.object.key);
        let reason = format!(
            "Object is of storage class GLACIER. Unable to perform {operation} operations on \
             GLACIER objects. You must restore the object to be able to perform the operation. \
             See `s3haul {command} --help` for additional parameter options to ignore or force \
             these transfers."
        );
        engine.report.warning(warning::skipping(path, &reason));
    }
    true
}
