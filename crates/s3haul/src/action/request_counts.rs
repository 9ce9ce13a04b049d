//! Number of requests that an action takes when nothing fails. Pure; `--dryrun` reports their sum.

use crate::engine::copy_props::CopyPlan;
use crate::engine::parts::upload_part_size;
use crate::engine::settings::{Settings, must_copy_in_parts};
use crate::plan::restore::RestoreTask;
use crate::plan::restore::is_never_archived;
use crate::plan::tags::TagTask;
use s3haul_wire::units::RequestCounts;

/// A file to S3.
pub(crate) fn of_upload(settings: &Settings, size: u64) -> RequestCounts {
    if !settings.is_multipart(size) {
        return RequestCounts { write: 1, ..RequestCounts::default() };
    }
    let write = in_parts(settings, size);
    RequestCounts { write, read: u64::from(settings.no_overwrite), delete: 0 }
}

/// An object to a file; `asks` if the checksum of one received in ranges takes a request of its
/// own, because no response to a range contains it.
pub(crate) fn of_download(settings: &Settings, size: u64, asks: bool) -> RequestCounts {
    let part_size = settings.tuning.multipart_chunksize.max(1);
    let is_multipart = settings.is_multipart(size);
    let read = if is_multipart { size.div_ceil(part_size) + u64::from(asks) } else { 1 };
    RequestCounts { write: 0, read, delete: u64::from(settings.is_move) }
}

/// An object to an object; `has_head` when its headers are known.
pub(crate) fn of_copy(settings: &Settings, size: u64, has_head: bool) -> RequestCounts {
    let is_multipart = settings.is_multipart_copy(size);
    let plan = if is_multipart { CopyPlan::in_parts(settings) } else { CopyPlan::whole(settings) };
    let write = if is_multipart { in_parts(settings, size) } else { 1 };
    let read = u64::from(settings.no_overwrite)
        + u64::from(plan.inherit_properties && !has_head)
        + u64::from(plan.inherit_tags && settings.properties.tagging.is_none());
    RequestCounts { write, read, delete: u64::from(settings.is_move) }
}

/// An object to an object through this machine; the tags of objects that have some are not counted.
pub(crate) fn of_relay(settings: &Settings, size: u64, has_head: bool) -> RequestCounts {
    let delete = u64::from(settings.is_move);
    let condition = u64::from(settings.no_overwrite);
    if !settings.is_multipart(size) {
        return RequestCounts { write: 1, read: 1 + condition, delete };
    }
    let write = in_parts(settings, size);
    RequestCounts { write, read: write - 2 + condition + u64::from(!has_head), delete }
}

/// The tags of an object, as if they had to be changed.
pub(crate) fn of_tags(settings: &Settings) -> RequestCounts {
    let (write, read, delete) = match settings.tags {
        TagTask::Get => (0, 1, 0),
        TagTask::Set(_) => (1, 0, 0),
        TagTask::Add(_) | TagTask::Remove(_) => (1, 1, 0),
        TagTask::Clear => (0, 0, 1),
    };
    RequestCounts { write, read, delete }
}

/// The properties of an object, as if they had to be changed.
pub(crate) fn of_set(settings: &Settings, size: u64) -> RequestCounts {
    let change = &settings.change;
    if change.copies() {
        let is_multipart = must_copy_in_parts(size);
        let write = if is_multipart { in_parts(settings, size) } else { 1 };
        let read = 1 + u64::from(change.keep_acl) + u64::from(is_multipart);
        return RequestCounts { write, read, delete: 0 };
    }
    let properties = &change.properties;
    let sets_acl = u64::from(properties.acl.is_some());
    let locks =
        u64::from(properties.retention.is_some()) + u64::from(properties.legal_hold.is_some());
    let read = u64::from(change.changes_lock()) + sets_acl;
    RequestCounts { write: sets_acl + locks, read, delete: 0 }
}

/// A restore, as if the object were archived, and looked at once where it is waited for.
pub(crate) fn of_restore(settings: &Settings, storage_class: &str) -> RequestCounts {
    let (write, read) = match settings.restore {
        RestoreTask::Tell => (0, u64::from(!is_never_archived(storage_class))),
        RestoreTask::Begin { waits, .. } => (1, 1 + u64::from(waits)),
    };
    RequestCounts { write, read, delete: 0 }
}

/// The beginning, the parts and the completion.
fn in_parts(settings: &Settings, size: u64) -> u64 {
    2 + size.div_ceil(upload_part_size(settings.tuning.multipart_chunksize, Some(size)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul_wire::units::{GIB, MIB};

    fn counts(write: u64, read: u64, delete: u64) -> RequestCounts {
        RequestCounts { write, read, delete }
    }

    #[test]
    fn parts_are_counted_with_their_beginning_and_end() {
        let settings = Settings::default();
        assert_eq!(of_upload(&settings, 0), counts(1, 0, 0));
        assert_eq!(of_upload(&settings, 8 * MIB - 1), counts(1, 0, 0));
        assert_eq!(of_upload(&settings, 8 * MIB), counts(3, 0, 0));
        assert_eq!(of_upload(&settings, GIB + 1), counts(2 + 129, 0, 0));
        assert_eq!(of_download(&settings, 1, true), counts(0, 1, 0));
        assert_eq!(of_download(&settings, GIB, false), counts(0, 128, 0));
        assert_eq!(of_download(&settings, GIB, true), counts(0, 129, 0));
        assert_eq!(of_copy(&settings, 1, false), counts(1, 0, 0));
        assert_eq!(of_copy(&settings, 64 * MIB - 1, false), counts(1, 0, 0));
        assert_eq!(of_copy(&settings, 64 * MIB, false), counts(2 + 8, 2, 0));
        assert_eq!(of_copy(&settings, 64 * MIB, true), counts(2 + 8, 1, 0));
    }

    #[test]
    fn what_goes_through_this_machine_is_read_and_written() {
        let settings = Settings::default();
        assert_eq!(of_relay(&settings, 1, false), counts(1, 1, 0));
        assert_eq!(of_relay(&settings, 16 * MIB, false), counts(4, 3, 0));
        assert_eq!(of_relay(&settings, 16 * MIB, true), counts(4, 2, 0));
    }

    #[test]
    fn moves_remove_and_conditions_ask() {
        let settings = Settings { is_move: true, no_overwrite: true, ..Settings::default() };
        assert_eq!(of_upload(&settings, 1), counts(1, 0, 0), "the file costs nothing");
        assert_eq!(of_upload(&settings, 8 * MIB), counts(3, 1, 0));
        assert_eq!(of_download(&settings, 1, true), counts(0, 1, 1));
        assert_eq!(of_copy(&settings, 1, false), counts(1, 1, 1));
    }
}
