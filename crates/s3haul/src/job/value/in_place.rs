//! Commands on objects where they are, and their options.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{ManifestFile, Moment, ObjectEncryption, RowFormat, Select, is_default};

/// Objects that a command works on where they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// An address `s3://bucket/key`.
    pub source: String,
    /// All objects under the address are taken.
    pub recursive: bool,
    /// Nothing is changed: what would be done is printed.
    pub dry_run: bool,
    /// Objects are read from this file instead of listed.
    pub from: Option<ManifestFile>,
    /// Which objects are taken.
    pub select: Select,
}

/// Adds the fields of [`Objects`] to a task, which unlike `serde(flatten)` refuses unknown ones.
macro_rules! in_place {
    ($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub struct $name {
            /// An address `s3://bucket/key`.
            pub source: String,
            /// All objects under the address are taken.
            #[serde(default, skip_serializing_if = "is_default")]
            pub recursive: bool,
            /// Nothing is changed: what would be done is printed.
            #[serde(default, skip_serializing_if = "is_default")]
            pub dry_run: bool,
            /// Objects are read from this file instead of listed.
            #[serde(default, skip_serializing_if = "is_default")]
            pub from: Option<ManifestFile>,
            /// Which objects are taken.
            #[serde(default, skip_serializing_if = "is_default")]
            pub select: Select,
            $($fields)*
        }

        impl From<Objects> for $name {
            fn from(objects: Objects) -> Self {
                let Objects { source, recursive, dry_run, from, select } = objects;
                Self { source, recursive, dry_run, from, select, ..Self::default() }
            }
        }

        impl $name {
            /// The objects.
            pub fn objects(&self) -> Objects {
                Objects {
                    source: self.source.clone(),
                    recursive: self.recursive,
                    dry_run: self.dry_run,
                    from: self.from.clone(),
                    select: self.select.clone(),
                }
            }
        }
    };
}

in_place! {
    /// Removes objects or versions.
    pub struct RemoveTask {
        /// Versions and delete markers are removed for good.
        #[serde(default, skip_serializing_if = "is_default")]
        pub versions: Option<RemovedVersions>,
        /// Versions that are locked in governance mode are removed, too.
        #[serde(default, skip_serializing_if = "is_default")]
        pub bypass_governance: bool,
        /// Nothing is removed if it would be more: a number, or a percentage such as `10%`.
        #[serde(default, skip_serializing_if = "is_default")]
        pub max_delete: Option<String>,
        /// Confirmation is not requested, also on a terminal.
        #[serde(default, skip_serializing_if = "is_default")]
        pub yes: bool,
    }
}

in_place! {
    /// Brings back objects that were removed, by removing delete markers.
    pub struct UndeleteTask {
        /// Only what was removed at this moment or later.
        #[serde(default, skip_serializing_if = "is_default")]
        pub since: Option<Moment>,
    }
}

in_place! {
    /// Shows or changes tags.
    pub struct TagTask {
        /// What is done.
        pub action: TagAction,
    }
}

in_place! {
    /// Changes properties. What is not named stays as it is.
    pub struct SetTask {
        /// The storage class.
        #[serde(default, skip_serializing_if = "is_default")]
        pub storage_class: Option<String>,
        /// The encryption with a key that the service has.
        #[serde(default, skip_serializing_if = "is_default")]
        pub encryption: Option<ObjectEncryption>,
        /// `Content-Type`.
        #[serde(default, skip_serializing_if = "is_default")]
        pub content_type: Option<String>,
        /// `Content-Encoding`; an empty text removes it.
        #[serde(default, skip_serializing_if = "is_default")]
        pub content_encoding: Option<String>,
        /// `Content-Language`; an empty text removes it.
        #[serde(default, skip_serializing_if = "is_default")]
        pub content_language: Option<String>,
        /// `Content-Disposition`; an empty text removes it.
        #[serde(default, skip_serializing_if = "is_default")]
        pub content_disposition: Option<String>,
        /// `Cache-Control`; an empty text removes it.
        #[serde(default, skip_serializing_if = "is_default")]
        pub cache_control: Option<String>,
        /// `Expires`, as an HTTP date; an empty text removes it.
        #[serde(default, skip_serializing_if = "is_default")]
        pub expires: Option<String>,
        /// Metadata by name, instead of all that there is.
        #[serde(default, skip_serializing_if = "is_default")]
        pub metadata: Option<BTreeMap<String, String>>,
        /// Metadata that is added, by name.
        #[serde(default, skip_serializing_if = "is_default")]
        pub add_metadata: BTreeMap<String, String>,
        /// Names of metadata that is removed.
        #[serde(default, skip_serializing_if = "is_default")]
        pub remove_metadata: Vec<String>,
        /// A canned ACL such as `private`.
        #[serde(default, skip_serializing_if = "is_default")]
        pub acl: Option<String>,
        /// The ACL of objects that are copied onto themselves is kept.
        #[serde(default, skip_serializing_if = "is_default")]
        pub keep_acl: bool,
        /// Objects are locked.
        #[serde(default, skip_serializing_if = "is_default")]
        pub retention: Option<LockUntil>,
        /// A retention in governance mode may be replaced or shortened.
        #[serde(default, skip_serializing_if = "is_default")]
        pub bypass_governance: bool,
        /// A legal hold is set or ended.
        #[serde(default, skip_serializing_if = "is_default")]
        pub legal_hold: Option<bool>,
    }
}

in_place! {
    /// Restores archived objects, or shows whether they are restored.
    pub struct RestoreTask {
        /// What is done.
        pub action: RestoreAction,
    }
}

/// Versions and delete markers that are removed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum RemovedVersions {
    /// All versions and delete markers.
    All,
    /// Delete markers.
    DeleteMarkers,
    /// What is not current.
    Noncurrent {
        /// So many of the newest noncurrent versions of each object are kept.
        #[serde(default, skip_serializing_if = "is_default")]
        keep: u64,
    },
}

/// What is done with tags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum TagAction {
    /// They are printed.
    Get {
        /// How.
        #[serde(default, skip_serializing_if = "is_default")]
        format: RowFormat,
    },
    /// They are replaced by these.
    Set(BTreeMap<String, String>),
    /// These are added; those of the same key get the new value.
    Add(BTreeMap<String, String>),
    /// Those of these keys are removed.
    Remove(Vec<String>),
    /// All are removed.
    Clear,
}

impl Default for TagAction {
    fn default() -> Self {
        Self::Get { format: RowFormat::Text }
    }
}

/// A retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockUntil {
    /// Whether it can be shortened.
    pub mode: RetentionMode,
    /// When it ends.
    pub until: Moment,
}

/// Modes of a retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum RetentionMode {
    /// It can be shortened with a permission of its own.
    Governance,
    /// It cannot be shortened.
    Compliance,
}

/// What is done with archived objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum RestoreAction {
    /// It is printed whether they are restored.
    #[default]
    Status,
    /// They are restored.
    Begin {
        /// Days for which the restored copies stay.
        days: NonZeroU32,
        /// How fast; the default is that of the service.
        #[serde(default, skip_serializing_if = "is_default")]
        tier: Option<RestoreSpeed>,
        /// The job ends when all objects can be read.
        #[serde(default, skip_serializing_if = "is_default")]
        wait: bool,
    },
}

/// How fast archived objects are restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum RestoreSpeed {
    /// The cheapest.
    Bulk,
    /// Some hours.
    Standard,
    /// Some minutes.
    Expedited,
}
