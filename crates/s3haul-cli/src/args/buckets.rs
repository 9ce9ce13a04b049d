//! `mb` and `rb`.

use clap::Args;

use super::OutputArgs;

/// Makes a bucket in the region of --region or of the configuration.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct MbArgs {
    /// The bucket.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Tag the bucket; may be given several times.
    #[arg(long, num_args = 2, value_names = ["KEY", "VALUE"], action = clap::ArgAction::Append)]
    pub(crate) tags: Vec<String>,
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
    /// Printing.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
