//! Carries times and modes of files between disks and user metadata (`--preserve`).

use std::path::Path;

use super::settings::Settings;
use crate::fs::{FileAttributes, FileIdentity, Finish, meta};
use crate::plan::expected::{Expected, TargetState};
use crate::plan::preserve::{Attributes, Preserved};
use s3haul_wire::error::Result;
use s3haul_wire::{ObjectHead, ObjectProperties};

/// Nanoseconds a second.
const SECOND_NS: i128 = 1_000_000_000;

/// Attributes of a file in the state that was read; nothing where they are not preserved. Blocks.
pub(crate) fn attributes_of(
    preserves: bool,
    path: &Path,
    read: &FileIdentity,
) -> Result<Option<Attributes>> {
    if !preserves {
        return Ok(None);
    }
    let FileAttributes { mode, user, group } = FileAttributes::of_path(path, read)?;
    let modified_ns = i128::from(read.modified_s) * SECOND_NS + i128::from(read.modified_ns);
    Ok(Some(Attributes { modified_ns, mode, user, group }))
}

/// Puts attributes into the metadata that is sent, in place of those of the file before.
pub(crate) fn set_attributes(
    settings: &Settings,
    attributes: Option<Attributes>,
    properties: &mut ObjectProperties,
) {
    let Some(attributes) = attributes else { return };
    let mut metadata = settings.properties.metadata.clone().unwrap_or_default();
    attributes.add_to(&mut metadata);
    properties.metadata = Some(metadata);
}

/// What the file of an object gets: the object's time, or what its metadata preserves.
pub(crate) fn finish_of(settings: &Settings, head: &ObjectHead) -> Finish {
    let is_new = settings.no_overwrite;
    let plain = Finish { is_new, ..Finish::at(head.last_modified_s) };
    if !settings.preserves {
        return plain;
    }
    let metadata = head.properties.metadata.as_deref().unwrap_or_default();
    let preserved = Preserved::of(metadata);
    let time = preserved.modified_ns.and_then(|nanoseconds| {
        let seconds = i64::try_from(nanoseconds.div_euclid(SECOND_NS)).ok()?;
        meta::system_time(seconds, u32::try_from(nanoseconds.rem_euclid(SECOND_NS)).ok()?)
    });
    let modified = time.or(plain.modified);
    Finish { modified, is_exact: time.is_some(), permissions: preserved.permissions, is_new }
}

/// The same, but a file that is expected at the target may be replaced, even with `--no-overwrite`.
pub(crate) fn finish_over(finish: Finish, expected: Option<&Expected>) -> Finish {
    let is_over = matches!(expected, Some(Expected { target: TargetState::Found(_), .. }));
    Finish { is_new: finish.is_new && !is_over, ..finish }
}
