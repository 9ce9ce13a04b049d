//! What the planner decides for one object. The buckets are the same for all and not repeated.

use std::path::PathBuf;

use crate::plan::compare::Reason;
use crate::plan::expected::Expected;
use s3haul_wire::ObjectHead;

/// A file to be written to S3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UploadAction {
    /// The file.
    pub(crate) path: PathBuf,
    /// Key in the target bucket.
    pub(crate) key: String,
    /// Size in bytes when it was planned.
    pub(crate) size: u64,
    /// Why it is written, where that was compared.
    pub(crate) reason: Option<Reason>,
    /// Both sides as they were found: it is done only while they are still so.
    pub(crate) expected: Option<Box<Expected>>,
}

/// An object to be written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DownloadAction {
    /// Key in the source bucket.
    pub(crate) key: String,
    /// Version of it; the current one where absent.
    pub(crate) version_id: Option<String>,
    /// Name below the target folder; not used where the target is one exact file.
    pub(crate) relative: String,
    /// The key that is spelled like the file, where `key` is not: it has empty or `.` components.
    pub(crate) plain_key: Option<String>,
    /// Size in bytes.
    pub(crate) size: u64,
    /// `ETag` with its quotes; empty where unknown.
    pub(crate) etag: String,
    /// Last modification in seconds since 1970.
    pub(crate) last_modified_s: i64,
    /// Headers, where the object was asked for by itself.
    pub(crate) head: Option<Box<ObjectHead>>,
    /// Why it is written, where that was compared.
    pub(crate) reason: Option<Reason>,
    /// Both sides as they were found: it is done only while they are still so.
    pub(crate) expected: Option<Box<Expected>>,
}

/// An object to be copied by the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyAction {
    /// Key in the source bucket.
    pub(crate) source_key: String,
    /// Version of it; the current one where absent.
    pub(crate) version_id: Option<String>,
    /// Key in the target bucket.
    pub(crate) target_key: String,
    /// Size in bytes.
    pub(crate) size: u64,
    /// `ETag` with its quotes; empty where unknown.
    pub(crate) etag: String,
    /// Headers, where the object was asked for by itself.
    pub(crate) head: Option<Box<ObjectHead>>,
    /// Why it is written, where that was compared.
    pub(crate) reason: Option<Reason>,
    /// Both sides as they were found: it is done only while they are still so.
    pub(crate) expected: Option<Box<Expected>>,
}

/// An object, or a version of it, to be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeleteAction {
    /// Key.
    pub(crate) key: String,
    /// The version or delete marker that is removed for good; without it S3 does what removing an
    /// object is in its bucket.
    pub(crate) version_id: Option<String>,
    /// Size in bytes, 0 where unknown.
    pub(crate) size: u64,
    /// Only if it still has this `ETag`; empty: in any case.
    pub(crate) etag: String,
    /// A manifest has the `ETag`, which may be old: where a service may ignore the condition the
    /// object is looked at first.
    pub(crate) is_of_manifest: bool,
    /// Both sides as they were found: it is done only while they are still so.
    pub(crate) expected: Option<Box<Expected>>,
}

impl DeleteAction {
    /// The state that the object must have.
    pub(crate) fn if_match(&self) -> Option<&str> {
        Some(self.etag.as_str()).filter(|etag| !etag.is_empty())
    }
}

/// An object whose tags are read or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TagAction {
    /// Key.
    pub(crate) key: String,
    /// Size in bytes, 0 where unknown.
    pub(crate) size: u64,
    /// Both sides as they were found: it is done only while they are still so.
    pub(crate) expected: Option<Box<Expected>>,
}

/// An object of which something is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetAction {
    /// Key.
    pub(crate) key: String,
    /// Size in bytes, 0 where unknown.
    pub(crate) size: u64,
    /// Only if it still has this `ETag`; empty: in any case.
    pub(crate) etag: String,
    /// Both sides as they were found: it is done only while they are still so.
    pub(crate) expected: Option<Box<Expected>>,
}

/// An object that is restored from an archive, or looked at whether it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RestoreAction {
    /// Key.
    pub(crate) key: String,
    /// Size in bytes, 0 where unknown.
    pub(crate) size: u64,
    /// Storage class as the listing has it; empty where unknown.
    pub(crate) storage_class: String,
    /// Both sides as they were found: it is done only while they are still so.
    pub(crate) expected: Option<Box<Expected>>,
}

/// A local file to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoveFileAction {
    /// Name below the target folder.
    pub(crate) relative: String,
    /// Size in bytes.
    pub(crate) size: u64,
    /// Both sides as they were found: it is done only while they are still so.
    pub(crate) expected: Option<Box<Expected>>,
}
