//! The commands and their options.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::in_place::{RemoveTask, RestoreTask, SetTask, TagTask, UndeleteTask};
use super::reading::{
    CompareTask, EachTask, ListBucketsTask, ListTask, LsTask, MapTask, SummarizeTask, UploadsTask,
};
use super::single::{
    CatTask, HeadTask, MakeBucketTask, PresignTask, RemoveBucketTask, VersioningTask, WebsiteTask,
};
use super::{Moment, is_default, is_true};
use crate::engine::settings::{CopyProps, MetadataDirective};
use crate::job::case_conflict::CaseConflict;
use crate::plan::filter::FilterRule;

/// The command and its options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Task {
    /// `cp`: copy files to S3, objects to files, or objects to objects.
    Copy(Box<CopyTask>),
    /// `mv`: like `copy`, and each source is removed once its target is safe.
    Move(Box<MoveTask>),
    /// `sync`: copy what differs.
    Sync(Box<SyncTask>),
    /// `rm`: remove objects or versions.
    Remove(Box<RemoveTask>),
    /// `undelete`: bring back objects that were removed.
    Undelete(Box<UndeleteTask>),
    /// `tag`: show or change tags.
    Tag(Box<TagTask>),
    /// `set`: change properties.
    Set(Box<SetTask>),
    /// `restore`: restore archived objects, or show whether they are restored.
    Restore(Box<RestoreTask>),
    /// `list`, `versions` and `find`: list objects or versions.
    List(Box<ListTask>),
    /// `summarize`: count what is under an address.
    Summarize(Box<SummarizeTask>),
    /// `compare` and `verify`: report where two trees differ.
    Compare(Box<CompareTask>),
    /// `map`: print what functions make of objects.
    Map(Box<MapTask>),
    /// `each`: call a function for each object.
    Each(Box<EachTask>),
    /// `ls`: list buckets, or objects and common prefixes.
    Ls(Box<LsTask>),
    /// `list-buckets`: list buckets, and count what is in them.
    ListBuckets(ListBucketsTask),
    /// `uploads`: list or abort incomplete multipart uploads.
    Uploads(UploadsTask),
    /// `cat`: write objects to standard output.
    Cat(CatTask),
    /// `head`: show what is known of an object.
    Head(HeadTask),
    /// `presign`: print a URL with which an object can be read or written.
    Presign(PresignTask),
    /// `mb`: make a bucket.
    MakeBucket(MakeBucketTask),
    /// `rb`: remove a bucket.
    RemoveBucket(RemoveBucketTask),
    /// `versioning`: show or change whether a bucket keeps versions.
    Versioning(VersioningTask),
    /// `website`: set what the website of a bucket serves.
    Website(WebsiteTask),
}

impl Task {
    /// Whether nothing is changed and what would be done is printed.
    pub fn is_dry_run(&self) -> bool {
        match self {
            Self::Copy(task) => task.dry_run,
            Self::Move(task) => task.dry_run,
            Self::Sync(task) => task.dry_run,
            Self::Remove(task) => task.dry_run,
            Self::Undelete(task) => task.dry_run,
            Self::Tag(task) => task.dry_run,
            Self::Set(task) => task.dry_run,
            Self::Restore(task) => task.dry_run,
            Self::Uploads(task) => task.dry_run,
            _ => false,
        }
    }

    /// Whether it transfers or changes objects one by one: only then it has reports and can be
    /// resumed.
    pub fn is_transfer(&self) -> bool {
        matches!(
            self,
            Self::Copy(_)
                | Self::Move(_)
                | Self::Sync(_)
                | Self::Remove(_)
                | Self::Undelete(_)
                | Self::Tag(_)
                | Self::Set(_)
                | Self::Restore(_)
        )
    }

    /// The paths and addresses of a transfer.
    pub fn paths_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Copy(task) => vec![&mut task.source, &mut task.target],
            Self::Move(task) => vec![&mut task.source, &mut task.target],
            Self::Sync(task) => vec![&mut task.source, &mut task.target],
            // What is changed where it is lies in S3.
            _ => Vec::new(),
        }
    }

    /// The file that names the objects, where they are not listed.
    pub fn manifest(&self) -> Option<&ManifestFile> {
        match self {
            Self::Copy(task) => task.from.as_ref(),
            Self::Move(task) => task.from.as_ref(),
            Self::Remove(task) => task.from.as_ref(),
            Self::Undelete(task) => task.from.as_ref(),
            Self::Tag(task) => task.from.as_ref(),
            Self::Set(task) => task.from.as_ref(),
            Self::Restore(task) => task.from.as_ref(),
            _ => None,
        }
    }
}

/// Copies files to S3, objects to files, or objects to objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CopyTask {
    /// A path, an address `s3://bucket/key`, or `-` for standard input.
    pub source: String,
    /// A path, an address `s3://bucket/key`, or `-` for standard output.
    pub target: String,
    /// All files or objects under the source are copied.
    #[serde(default, skip_serializing_if = "is_default")]
    pub recursive: bool,
    /// Nothing is written: what would be done is printed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dry_run: bool,
    /// Objects are read from this file instead of listed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<ManifestFile>,
    /// Which files or objects of the source are taken.
    #[serde(default, skip_serializing_if = "is_default")]
    pub select: Select,
    /// New names at the target: a JavaScript function that begins with `js:`, or a template.
    #[serde(default, skip_serializing_if = "is_default")]
    pub to_key: Option<String>,
    /// A source that has versions is read as it was at this moment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub as_of: Option<Moment>,
    /// Size of standard input in bytes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expected_size: Option<u64>,
    /// How files and objects are transferred.
    #[serde(default, skip_serializing_if = "is_default")]
    pub transfer: TransferOptions,
    /// What the objects written carry.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write: WriteOptions,
}

/// Moves files to S3, objects to files, or objects to objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MoveTask {
    /// A path or an address `s3://bucket/key`.
    pub source: String,
    /// A path or an address `s3://bucket/key`.
    pub target: String,
    /// All files or objects under the source are moved.
    #[serde(default, skip_serializing_if = "is_default")]
    pub recursive: bool,
    /// Nothing is written: what would be done is printed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dry_run: bool,
    /// Objects are read from this file instead of listed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<ManifestFile>,
    /// Which files or objects of the source are taken.
    #[serde(default, skip_serializing_if = "is_default")]
    pub select: Select,
    /// New names at the target: a JavaScript function that begins with `js:`, or a template.
    #[serde(default, skip_serializing_if = "is_default")]
    pub to_key: Option<String>,
    /// A move that might be from an object to itself is refused.
    #[serde(default, skip_serializing_if = "is_default")]
    pub validate_same_s3_paths: bool,
    /// How files and objects are transferred.
    #[serde(default, skip_serializing_if = "is_default")]
    pub transfer: TransferOptions,
    /// What the objects written carry.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write: WriteOptions,
}

/// Copies what differs from one folder or prefix to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SyncTask {
    /// A path or an address `s3://bucket/prefix`.
    pub source: String,
    /// A path or an address `s3://bucket/prefix`.
    pub target: String,
    /// Nothing is written: what would be done is printed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dry_run: bool,
    /// What counts as a difference.
    #[serde(default, skip_serializing_if = "is_default")]
    pub compare: Compare,
    /// What the source does not have is removed from the target.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delete: bool,
    /// Nothing is removed if it would be more: a number, or a percentage such as `10%`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_delete: Option<String>,
    /// An empty source may empty the target.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allow_empty_source: bool,
    /// Which files or objects are looked at.
    #[serde(default, skip_serializing_if = "is_default")]
    pub select: Select,
    /// New names at the target: a JavaScript function that begins with `js:`, or a template.
    #[serde(default, skip_serializing_if = "is_default")]
    pub to_key: Option<String>,
    /// A source that has versions is read as it was at this moment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub as_of: Option<Moment>,
    /// How files and objects are transferred.
    #[serde(default, skip_serializing_if = "is_default")]
    pub transfer: TransferOptions,
    /// What the objects written carry.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write: WriteOptions,
}

/// A file that names objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ManifestFile {
    /// A path, an address `s3://bucket/key`, or `-` for standard input.
    pub file: String,
    /// Its format, where it cannot be recognized.
    #[serde(default, skip_serializing_if = "is_default")]
    pub format: Option<ManifestFormat>,
}

/// Formats of a file that names objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ManifestFormat {
    /// A key or an s3:// address a line, taken as it is.
    Lines,
    /// Comma-separated values: with a line of names of which one is key, as `list` writes them, or
    /// without such a line: bucket, key, and perhaps version.
    Csv,
    /// The manifest of S3 Batch Operations: bucket, URL-encoded key, and perhaps version, without a
    /// line of names.
    S3Batch,
    /// A JSON object a line with key or Key, as `list`, `tag get` and others print it.
    Jsonl,
    /// The manifest.json of an S3 Inventory. The files that it names, in CSV or Parquet, are
    /// read from its bucket and held against their MD5.
    Inventory,
    /// A table in Parquet, as `list` writes it.
    Parquet,
    /// The report of another command (--report): what it did, or a dry run would have done. The
    /// source where that is in S3, else the target.
    Report,
}

/// Which files or objects are taken, and how they are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Select {
    /// Patterns in the order in which they count: the last one that matches a name decides.
    #[serde(skip_serializing_if = "is_default")]
    pub filters: Vec<FilterRule>,
    /// Regular expressions, one of which has to be found in the name below the source.
    #[serde(skip_serializing_if = "is_default")]
    pub regex: Vec<String>,
    /// The least size in bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub min_size: Option<u64>,
    /// The greatest size in bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub max_size: Option<u64>,
    /// Only what was modified at this moment or later.
    #[serde(skip_serializing_if = "is_default")]
    pub newer_than: Option<Moment>,
    /// Only what was modified before this moment.
    #[serde(skip_serializing_if = "is_default")]
    pub older_than: Option<Moment>,
    /// Storage classes, one of which the object has to have.
    #[serde(skip_serializing_if = "is_default")]
    pub storage_classes: Vec<String>,
    /// A JavaScript function that begins with `js:` and has to be true for the object.
    #[serde(skip_serializing_if = "is_default")]
    pub script: Option<String>,
    /// The characters * and ? in an address stand for themselves.
    #[serde(skip_serializing_if = "is_default")]
    pub raw: bool,
    /// Keys in a page of a listing.
    #[serde(skip_serializing_if = "is_default")]
    pub page_size: Option<NonZeroU32>,
}

/// How files and objects are transferred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TransferOptions {
    /// What exists at the target is never replaced.
    #[serde(skip_serializing_if = "is_default")]
    pub no_overwrite: bool,
    /// Symbolic links are followed.
    #[serde(skip_serializing_if = "is_true")]
    pub follow_symlinks: bool,
    /// Times, modes and owners of files are stored in metadata, and set from there.
    #[serde(skip_serializing_if = "is_default")]
    pub preserve: bool,
    /// Copies pass through this machine even where the server could make them.
    #[serde(skip_serializing_if = "is_default")]
    pub stream: bool,
    /// Archived objects are transferred without a check whether they are restored.
    #[serde(skip_serializing_if = "is_default")]
    pub force_glacier_transfer: bool,
    /// Archived objects are skipped without a warning.
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_glacier_warnings: bool,
    /// Checksums of downloads are requested and verified.
    #[serde(skip_serializing_if = "is_default")]
    pub checksum_mode: bool,
    /// Where the metadata of a copy is from.
    #[serde(skip_serializing_if = "is_default")]
    pub metadata_directive: Option<MetadataDirective>,
    /// What a copy carries over.
    #[serde(skip_serializing_if = "is_default")]
    pub copy_props: CopyProps,
    /// What is done about downloads whose names differ only by case.
    #[serde(skip_serializing_if = "is_default")]
    pub case_conflict: CaseConflict,
}

impl Default for TransferOptions {
    fn default() -> Self {
        Self {
            no_overwrite: false,
            follow_symlinks: true,
            preserve: false,
            stream: false,
            force_glacier_transfer: false,
            ignore_glacier_warnings: false,
            checksum_mode: false,
            metadata_directive: None,
            copy_props: CopyProps::default(),
            case_conflict: CaseConflict::default(),
        }
    }
}

/// What the objects written carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WriteOptions {
    /// A canned ACL such as `private`.
    #[serde(skip_serializing_if = "is_default")]
    pub acl: Option<String>,
    /// Grants in the form `read=id=…`; permissions are `read`, `readacl`, `writeacl` and `full`.
    #[serde(skip_serializing_if = "is_default")]
    pub grants: Vec<String>,
    /// The storage class.
    #[serde(skip_serializing_if = "is_default")]
    pub storage_class: Option<String>,
    /// The encryption with a key that the service has.
    #[serde(skip_serializing_if = "is_default")]
    pub encryption: Option<ObjectEncryption>,
    /// `Content-Type`.
    #[serde(skip_serializing_if = "is_default")]
    pub content_type: Option<String>,
    /// `Content-Type` is guessed from the name where it is not given.
    #[serde(skip_serializing_if = "is_true")]
    pub guess_mime_type: bool,
    /// `Content-Encoding`.
    #[serde(skip_serializing_if = "is_default")]
    pub content_encoding: Option<String>,
    /// `Content-Language`.
    #[serde(skip_serializing_if = "is_default")]
    pub content_language: Option<String>,
    /// `Content-Disposition`.
    #[serde(skip_serializing_if = "is_default")]
    pub content_disposition: Option<String>,
    /// `Cache-Control`.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_control: Option<String>,
    /// `Expires`, as an HTTP date.
    #[serde(skip_serializing_if = "is_default")]
    pub expires: Option<String>,
    /// Metadata by name.
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: Option<BTreeMap<String, String>>,
    /// Where a website redirects requests for the object to.
    #[serde(skip_serializing_if = "is_default")]
    pub website_redirect: Option<String>,
    /// The checksum that uploads carry.
    #[serde(skip_serializing_if = "is_default")]
    pub checksum_algorithm: Option<Checksum>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            acl: None,
            grants: Vec::new(),
            storage_class: None,
            encryption: None,
            content_type: None,
            guess_mime_type: true,
            content_encoding: None,
            content_language: None,
            content_disposition: None,
            cache_control: None,
            expires: None,
            metadata: None,
            website_redirect: None,
            checksum_algorithm: None,
        }
    }
}

/// Encryption with a key that the service has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ObjectEncryption {
    /// With a key of S3.
    Aes256,
    /// With a key of KMS.
    Kms {
        /// The key; without it, the default one of the account.
        #[serde(default, skip_serializing_if = "is_default")]
        key_id: Option<String>,
    },
}

/// Algorithms of checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Checksum {
    /// CRC-64 with the NVME polynomial.
    Crc64Nvme,
    /// CRC-32.
    Crc32,
    /// CRC-32C.
    Crc32c,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

/// What counts as a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Compare {
    /// Another size, or a time that says so, as `aws s3 sync` has it.
    #[default]
    SizeAndTime,
    /// Another size, or a source that is newer.
    Newer,
    /// Another size.
    SizeOnly,
    /// Another size, or for downloads any other time.
    ExactTimestamps,
    /// Another size, or other content.
    Checksum,
}
