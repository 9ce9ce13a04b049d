//! `sync`.

use clap::Args;

use super::{AsOfArgs, CopyArgs};

/// Copies what differs from one folder or prefix to another.
#[derive(Clone, Debug, Default, Args)]
#[command(override_usage = "s3haul sync [OPTIONS] <LocalPath> <S3Uri>\n       \
    s3haul sync [OPTIONS] <S3Uri> <LocalPath>\n       s3haul sync [OPTIONS] <S3Uri> <S3Uri>")]
pub(crate) struct SyncArgs {
    /// Flags shared with `cp`.
    #[command(flatten)]
    pub(crate) copy: CopyArgs,
    /// Remove from the target what the source does not have. Nothing is removed past an error of
    /// the source's listing, nor what could not be looked at.
    #[arg(long)]
    pub(crate) delete: bool,
    /// Compare sizes only.
    #[arg(long, visible_alias = "if-size-differ")]
    pub(crate) size_only: bool,
    /// Download whenever the times differ, not only when the local file is the newer one.
    #[arg(long)]
    pub(crate) exact_timestamps: bool,
    /// Transfer what is newer in the source, downloads too. Without it a download of the same
    /// size is made only when the local file is newer than the object, as `aws s3 sync` has it.
    #[arg(long)]
    pub(crate) newer: bool,
    /// Compare the content of what has the same size, not times: by stored checksums and `ETag`s,
    /// and where these do not suffice by reading.
    #[arg(long, conflicts_with_all = ["size_only", "exact_timestamps", "newer"])]
    pub(crate) checksum: bool,
    /// Only consider what a function selects: `js:(object) => …`, or `js:/…/` for keys that match.
    /// What it does not select is neither transferred nor removed. So it is with other conditions:
    /// a name whose source does not meet them stays as it is, and --delete removes only what meets
    /// them itself.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) filter: Option<String>,
    /// Give what is transferred another name at the target, by a JavaScript function or a template
    /// as with cp. Each is then looked up there by a request of its own, or on the disk, instead
    /// of listing the target.
    #[arg(long, value_name = "SCRIPT or TEMPLATE", conflicts_with = "delete")]
    pub(crate) to_key: Option<String>,
    /// Stop before removing more than so many names, or with % so many of a hundred in the
    /// target; then nothing is removed before the whole target is known.
    #[arg(long, value_name = "NUMBER|PERCENT%", requires = "delete")]
    pub(crate) max_delete: Option<String>,
    /// Allow a source that has nothing to empty the target.
    #[arg(long, requires = "delete")]
    pub(crate) allow_empty_source: bool,
    /// Versions.
    #[command(flatten)]
    pub(crate) as_of: AsOfArgs,
}
