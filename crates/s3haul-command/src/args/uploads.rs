//! `uploads ls` and `uploads abort`.

use clap::{Args, Subcommand};

use super::OutputArgs;

/// What to do with multipart uploads.
#[derive(Debug, Subcommand)]
pub(crate) enum UploadsCommand {
    /// List open multipart uploads: when they were begun, their ids and keys.
    Ls(UploadsLsArgs),
    /// Abort open multipart uploads and free what their parts take.
    ///
    /// Without --older-than also those that somebody is working on: an upload is not distinguished
    /// from a forgotten one by anything but its age.
    Abort(UploadsAbortArgs),
}

/// Which uploads.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UploadsSelectionArgs {
    /// A bucket and the beginning of the keys.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Only take uploads that were begun so long ago: a number and s, m, h, d or w, such as 7d.
    #[arg(long, value_name = "AGE")]
    pub(crate) older_than: Option<String>,
}

/// Lists uploads.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UploadsLsArgs {
    /// Uploads.
    #[command(flatten)]
    pub(crate) selection: UploadsSelectionArgs,
    /// Show bytes and parts, too, which takes a request or more for each upload.
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
