//! `find`.

use clap::Args;
use s3haul::job::value::ListFormat;

use super::conditions::HEADING;
use super::{ListingArgs, TableArgs};

/// Finds objects on conditions, all of which must hold.
#[derive(Clone, Debug, Default, Args)]
#[command(mut_arg("path", |path| path.help(PATH_HELP)))]
pub(crate) struct FindArgs {
    /// What to list.
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
    /// Select only keys whose last component (of `a/b/` it is `b`) matches this pattern, which is
    /// written as for --exclude. With several patterns, one has to match.
    #[arg(long = "name", value_name = "GLOB", help_heading = HEADING)]
    pub(crate) names: Vec<String>,
    /// Select only objects that have this tag, with this value where one is given. Costs a request
    /// (`GetObjectTagging`) for each object that meets the other conditions. May be given several
    /// times; then all are required.
    #[arg(long = "tag", value_name = "KEY[=VALUE]", help_heading = HEADING)]
    pub(crate) tags: Vec<String>,
    /// Select only objects that have this metadata, with this value where one is given; the case of
    /// keys does not matter. Costs a request (`HeadObject`) for each object that meets the other
    /// conditions. May be given several times; then all are required.
    #[arg(long, value_name = "KEY[=VALUE]", help_heading = HEADING)]
    pub(crate) metadata: Vec<String>,
    /// Find all versions and delete markers. A delete marker has no size, storage class, tags nor
    /// metadata, and meets no condition on these.
    #[arg(long)]
    pub(crate) versions: bool,
    /// Print in this format.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ListFormat>,
    /// Table.
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Print at the end how many objects were found and how many requests that took.
    #[arg(long)]
    pub(crate) summarize: bool,
}

/// Files are not looked through.
const PATH_HELP: &str = "Bucket, and what the keys start with. It may hold * and ?, which match \
    any characters";
