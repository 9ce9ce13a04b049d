//! `restore`.

use clap::Args;

use super::ObjectsArgs;

/// Restores archived objects.
#[derive(Clone, Debug, Default, Args)]
#[command(override_usage = "s3haul restore [OPTIONS] <--days <DAYS>|--status> <S3Uri>")]
pub(crate) struct RestoreArgs {
    /// Keep the restored copies for this many days. Objects that the class `INTELLIGENT_TIERING`
    /// archived are restored permanently.
    #[arg(long, value_name = "DAYS", required_unless_present = "status")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=36500))]
    pub(crate) days: Option<u32>,
    /// How fast: bulk is the cheapest and takes up to 12 hours (48 for `DEEP_ARCHIVE`), standard,
    /// the default, 3 to 5 (12), expedited some minutes (not for `DEEP_ARCHIVE`).
    #[arg(long, value_name = "TIER", value_parser = ["bulk", "standard", "expedited"])]
    pub(crate) tier: Option<String>,
    /// Wait until the objects can be read, and report each one that can. The state of each is
    /// polled, with pauses of up to a minute.
    #[arg(long)]
    pub(crate) wait: bool,
    /// Only print whether objects are archived, in progress, restored (and until when) or not
    /// archived.
    #[arg(long, conflicts_with_all = ["days", "tier", "wait", "plan", "dryrun"])]
    pub(crate) status: bool,
    /// Objects.
    #[command(flatten)]
    pub(crate) selection: ObjectsArgs,
}
