//! `uploads ls` and `uploads abort`.

use clap::{Args, Subcommand};

use super::{OutputArgs, PrintJobArgs};

/// What to do with multipart uploads.
#[derive(Debug, Subcommand)]
pub(crate) enum UploadsCommand {
    /// List incomplete multipart uploads: when they began, their ids and keys.
    Ls(UploadsLsArgs),
    /// Abort incomplete multipart uploads and free the space of their parts.
    ///
    /// Without --older-than, uploads that are still in progress are aborted, too: nothing but its
    /// age distinguishes a forgotten upload from an active one.
    Abort(UploadsAbortArgs),
}

impl UploadsCommand {
    /// The uploads.
    pub(crate) fn selection(&self) -> &UploadsSelectionArgs {
        match self {
            Self::Ls(args) => &args.selection,
            Self::Abort(args) => &args.selection,
        }
    }
}

/// Which uploads.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UploadsSelectionArgs {
    /// A bucket and the beginning of the keys.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Select only uploads that began at least this long ago: a number and s, m, h, d or w, such as
    /// 7d.
    #[arg(long, value_name = "AGE")]
    pub(crate) older_than: Option<String>,
    /// Job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}

/// Lists uploads.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UploadsLsArgs {
    /// Uploads.
    #[command(flatten)]
    pub(crate) selection: UploadsSelectionArgs,
    /// Also show bytes and parts, which takes at least one request for each upload.
    #[arg(long)]
    pub(crate) sizes: bool,
}

/// Aborts uploads.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UploadsAbortArgs {
    /// Uploads.
    #[command(flatten)]
    pub(crate) selection: UploadsSelectionArgs,
    /// Only print what would be aborted.
    #[arg(long)]
    pub(crate) dryrun: bool,
    /// Printing.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
