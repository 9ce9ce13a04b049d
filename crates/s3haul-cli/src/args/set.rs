//! `set`.

use clap::{ArgGroup, Args};

use super::{ObjectsArgs, as_source_class};

/// Changes properties of objects.
#[derive(Clone, Debug, Default, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args(["storage_class",
    "content_type", "content_encoding", "content_language", "content_disposition",
    "cache_control", "expires", "metadata", "add_metadata", "remove_metadata", "sse", "acl",
    "retention", "legal_hold"]))]
#[command(mut_arg("storage_classes", as_source_class))]
#[command(override_usage = "s3haul set [OPTIONS] <CHANGES> <S3Uri>")]
pub(crate) struct SetArgs {
    /// Objects.
    #[command(flatten)]
    pub(crate) selection: ObjectsArgs,
    /// Changes.
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// What is changed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ChangeArgs {
    /// Move the objects to this storage class.
    #[arg(long, value_name = "CLASS")]
    #[arg(value_parser = ["STANDARD", "REDUCED_REDUNDANCY", "STANDARD_IA", "ONEZONE_IA",
        "INTELLIGENT_TIERING", "GLACIER", "DEEP_ARCHIVE", "GLACIER_IR"])]
    #[arg(help_heading = "Changes")]
    pub(crate) storage_class: Option<String>,
    /// Set Content-Type.
    #[arg(long, value_name = "TYPE")]
    #[arg(help_heading = "Changes")]
    pub(crate) content_type: Option<String>,
    /// Set Content-Encoding; an empty value removes it.
    #[arg(long, value_name = "ENCODING")]
    #[arg(help_heading = "Changes")]
    pub(crate) content_encoding: Option<String>,
    /// Set Content-Language; an empty value removes it.
    #[arg(long, value_name = "LANGUAGE")]
    #[arg(help_heading = "Changes")]
    pub(crate) content_language: Option<String>,
    /// Set Content-Disposition; an empty value removes it.
    #[arg(long, value_name = "DISPOSITION")]
    #[arg(help_heading = "Changes")]
    pub(crate) content_disposition: Option<String>,
    /// Set Cache-Control; an empty value removes it.
    #[arg(long, value_name = "DIRECTIVES")]
    #[arg(help_heading = "Changes")]
    pub(crate) cache_control: Option<String>,
    /// Set the time after which the objects must no longer be cached, as an ISO 8601 or HTTP date;
    /// an empty value removes it.
    #[arg(long, value_name = "TIME")]
    #[arg(help_heading = "Changes")]
    pub(crate) expires: Option<String>,
    /// Replace all metadata with this, as name=value,name2=value2 or as a JSON object; an empty
    /// value removes all.
    #[arg(long, value_name = "MAP")]
    #[arg(help_heading = "Changes")]
    pub(crate) metadata: Option<String>,
    /// Add metadata and keep the other, as name=value,name2=value2 or as a JSON object; a name that
    /// is there gets the new value.
    #[arg(long, value_name = "MAP", conflicts_with = "metadata")]
    #[arg(help_heading = "Changes")]
    pub(crate) add_metadata: Option<String>,
    /// Remove metadata of these names, as name,name2, and keep the other.
    #[arg(long, value_name = "NAME,...", conflicts_with = "metadata")]
    #[arg(help_heading = "Changes")]
    pub(crate) remove_metadata: Option<String>,
    /// Encrypt with keys of S3 (AES256, also if no value is given) or of KMS (aws:kms). With
    /// aws:kms and no key, objects under any key of KMS stay as they are.
    #[arg(long, num_args = 0..=1, default_missing_value = "AES256", value_name = "METHOD")]
    #[arg(value_parser = ["AES256", "aws:kms"])]
    #[arg(help_heading = "Changes")]
    pub(crate) sse: Option<String>,
    /// Encrypt with this KMS key; needs --sse aws:kms. Objects under this key, named by its id or
    /// ARN, stay as they are.
    #[arg(long, value_name = "ID", requires = "sse")]
    #[arg(help_heading = "Changes")]
    pub(crate) sse_kms_key_id: Option<String>,
    /// Set this canned access control list.
    #[arg(long, value_name = "ACL")]
    #[arg(value_parser = ["private", "public-read", "public-read-write", "authenticated-read",
        "aws-exec-read", "bucket-owner-read", "bucket-owner-full-control"])]
    #[arg(help_heading = "Changes")]
    pub(crate) acl: Option<String>,
    /// Keep the access control list of objects that are copied onto themselves, which S3 would
    /// reset. Takes one more request for each of them.
    #[arg(long, conflicts_with = "acl")]
    #[arg(help_heading = "Changes")]
    pub(crate) keep_acl: bool,
    /// Lock objects against removal until --retain-until: with governance, users with a special
    /// permission can still remove them; with compliance, no one can. The bucket needs object lock.
    #[arg(long, value_name = "MODE", value_parser = ["governance", "compliance"])]
    #[arg(requires = "until")]
    #[arg(help_heading = "Changes")]
    pub(crate) retention: Option<String>,
    /// Lock objects until this time, in the forms of --expires.
    #[arg(long, value_name = "TIME", requires = "retention", group = "until")]
    #[arg(help_heading = "Changes")]
    pub(crate) retain_until: Option<String>,
    /// Lock objects for this many days from now, up to the end of the day in UTC, so that a second
    /// run on the same day finds nothing to change.
    #[arg(long, value_name = "DAYS", requires = "retention", group = "until")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=36500))]
    #[arg(help_heading = "Changes")]
    pub(crate) retain_days: Option<u32>,
    /// Replace or shorten a retention in governance mode. Needs the permission
    /// `s3:BypassGovernanceRetention`.
    #[arg(long, requires = "retention")]
    #[arg(help_heading = "Changes")]
    pub(crate) bypass_governance: bool,
    /// Set or end a legal hold, under which a version of an object cannot be removed. The bucket
    /// needs object lock.
    #[arg(long, value_name = "STATE", value_parser = ["on", "off"])]
    #[arg(help_heading = "Changes")]
    pub(crate) legal_hold: Option<String>,
}
