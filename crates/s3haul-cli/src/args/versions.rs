//! Versions: which ones `rm` removes, `undelete`, `versions`, and reading a bucket as it was.

use clap::{Arg, ArgGroup, Args};

use super::{ListArgs, ObjectsArgs};

/// Which versions and delete markers `rm` removes for good.
#[derive(Clone, Debug, Default, Args)]
#[command(group = ArgGroup::new("which_versions"))]
pub(crate) struct RemovedVersionsArgs {
    /// Remove all versions and delete markers for good. Without this and the flags below, removing
    /// from a bucket with versioning makes delete markers.
    #[arg(long, group = "which_versions")]
    #[arg(help_heading = "Versions")]
    pub(crate) versions: bool,
    /// Remove delete markers only, which brings back the objects that they hide.
    #[arg(long, group = "which_versions")]
    #[arg(help_heading = "Versions")]
    pub(crate) delete_markers_only: bool,
    /// Remove what is not current for good: old versions, and the delete markers between them. With
    /// --older-than only what was replaced or removed before that time.
    #[arg(long, group = "which_versions")]
    #[arg(help_heading = "Versions")]
    pub(crate) noncurrent: bool,
    /// With --noncurrent, keep this many of the newest old versions of each object, and the delete
    /// markers that are newer than the oldest of these.
    // Clap drops what an argument requires where that conflicts with another one.
    #[arg(long, value_name = "NUMBER", requires = "noncurrent")]
    #[arg(conflicts_with_all = ["versions", "delete_markers_only"])]
    #[arg(help_heading = "Versions")]
    pub(crate) keep: Option<u64>,
    /// Remove versions that are locked in governance mode, too. Needs the permission
    /// `s3:BypassGovernanceRetention`.
    #[arg(long, requires = "which_versions")]
    #[arg(help_heading = "Versions")]
    pub(crate) bypass_governance: bool,
}

/// Guards of `rm`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RemovalGuardArgs {
    /// Remove nothing if more than this many objects or versions would be removed or, with %, more
    /// than this share of those under the address. An additional listing counts them first.
    #[arg(long, value_name = "NUMBER|PERCENT%")]
    pub(crate) max_delete: Option<String>,
    /// Do not ask for confirmation before a whole bucket or versions are removed. Without a
    /// terminal there is no confirmation anyway.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What of a bucket is read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AsOfArgs {
    /// Read a source that has versions as it was at this time: a date such as 2026-01-31T12:00:00Z
    /// or 2026-01-31 (local where it names no zone), or an age (a number and s, m, h, d or w) such
    /// as 2h. What was removed since then is included, what was made since then is not. A sync then
    /// compares content, and in downloads exact times, unless a flag says otherwise.
    #[arg(long, value_name = "TIME", help_heading = "Versions")]
    pub(crate) as_of: Option<String>,
}

/// Brings back what was removed, by removing delete markers.
#[derive(Clone, Debug, Default, Args)]
#[command(mut_args(hide_inapplicable))]
pub(crate) struct UndeleteArgs {
    /// What to bring back.
    #[command(flatten)]
    pub(crate) objects: ObjectsArgs,
    /// Only what was removed since this time: an age (a number and s, m, h, d or w) such as 2h, or
    /// a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date without a time zone is local.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
}

/// Hides conditions that no delete marker could meet, and lists of objects as they are now.
fn hide_inapplicable(arg: Arg) -> Arg {
    let is_inapplicable = matches!(
        arg.get_id().as_str(),
        "from" | "from_format" | "storage_classes" | "min_size" | "max_size"
    );
    if is_inapplicable { arg.hide(true) } else { arg }
}

/// Lists versions and delete markers.
#[derive(Clone, Debug, Default, Args)]
#[command(mut_args(hide_implied))]
pub(crate) struct VersionsArgs {
    /// The flags of `list`, of which two go without saying.
    #[command(flatten)]
    pub(crate) list: ListArgs,
    /// List the versions of all objects under the address.
    #[arg(long)]
    pub(crate) recursive: bool,
}

/// Does not show the flags of `list` that go without saying.
fn hide_implied(arg: Arg) -> Arg {
    let is_implied = matches!(arg.get_id().as_str(), "versions" | "sort");
    if is_implied { arg.hide(true) } else { arg }
}
