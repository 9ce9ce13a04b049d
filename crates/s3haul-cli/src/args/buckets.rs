//! `mb`, `rb`, `versioning` and `website`.

use clap::{Args, Subcommand};

use super::{OutputArgs, PrintJobArgs};

/// Makes a bucket in the region of --region or of the configuration.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct MbArgs {
    /// The bucket.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Tag the bucket; may be given several times.
    #[arg(long, num_args = 2, value_names = ["KEY", "VALUE"], action = clap::ArgAction::Append)]
    pub(crate) tags: Vec<String>,
    /// Let objects of the bucket be locked against removal, which turns versioning on and can never
    /// be undone.
    #[arg(long)]
    pub(crate) object_lock: bool,
    /// Turn versioning on: the bucket keeps what is replaced or removed.
    #[arg(long)]
    pub(crate) versioning: bool,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// What to do with the versioning of a bucket.
#[derive(Debug, Subcommand)]
pub(crate) enum VersioningCommand {
    /// Print whether a bucket keeps versions: `enabled`, `suspended`, or `off` where it never did.
    Get(VersioningArgs),
    /// Keep what is replaced or removed from now on.
    Enable(VersioningArgs),
    /// Keep no new versions from now on; existing ones stay.
    Suspend(VersioningArgs),
}

impl VersioningCommand {
    /// The bucket.
    pub(crate) fn bucket(&self) -> &VersioningArgs {
        match self {
            Self::Get(args) | Self::Enable(args) | Self::Suspend(args) => args,
        }
    }
}

/// The bucket.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct VersioningArgs {
    /// The bucket.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// Removes a bucket, which must be empty unless --force is given.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RbArgs {
    /// The bucket.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Remove all objects first. Versions are not removed, so a versioned bucket stays.
    #[arg(long)]
    pub(crate) force: bool,
    /// With --force, remove all versions and delete markers, too, for good.
    #[arg(long, requires = "force")]
    pub(crate) versions: bool,
    /// Do not ask for confirmation before versions are removed. Without a terminal there is no
    /// confirmation anyway.
    #[arg(long, requires = "versions")]
    pub(crate) yes: bool,
    /// Printing.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// Sets what a bucket's website serves for folders and for errors.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WebsiteArgs {
    /// The bucket, with s3:// or without.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Serve this object of a folder when an address ends in /, such as index.html.
    #[arg(long, value_name = "NAME")]
    pub(crate) index_document: Option<String>,
    /// Serve the object with this key for errors of class 4XX.
    #[arg(long, value_name = "KEY")]
    pub(crate) error_document: Option<String>,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}
