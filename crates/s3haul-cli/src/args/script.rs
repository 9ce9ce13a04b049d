//! `map` and `each`: JavaScript functions over the objects under an address.

use clap::Args;

use super::ListingArgs;

/// Prints what a JavaScript function makes of each object, or what others make of all.
#[derive(Clone, Debug, Default, Args)]
#[command(override_usage = "s3haul map [OPTIONS] <--map|--reduce|--finally> <SCRIPT> <S3Uri>")]
pub(crate) struct MapArgs {
    /// What to list.
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
    /// Called with each object: `js:({Key, Size, LastModified, ETag, StorageClass}) => …` or
    /// `js:(key, object) => …`. What it returns is printed as a line: text as it is, other values
    /// as JSON, nothing for null and undefined. By default the object itself is printed.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) map: Option<String>,
    /// Joins two results into one, `js:(a, b) => …`; the last result is printed. Calls come one
    /// after another, in no defined order unless --sort is given.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) reduce: Option<String>,
    /// Computes the output from the result of --reduce, or else from a list of all results:
    /// `js:(result) => …`.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) finally: Option<String>,
    /// Print this if there is no result, for example because there are no objects.
    #[arg(long, value_name = "TEXT")]
    pub(crate) default: Option<String>,
    /// Process objects in the order of their keys instead of the order of arrival.
    #[arg(long)]
    pub(crate) sort: bool,
}

/// Calls a JavaScript function for each object; what it prints and returns is the output.
#[derive(Clone, Debug, Default, Args)]
#[command(override_usage = "s3haul each [OPTIONS] <--each|--map-list> <SCRIPT> <S3Uri>")]
pub(crate) struct EachArgs {
    /// What to list.
    #[command(flatten)]
    pub(crate) listing: ListingArgs,
    /// Called with each object: `js:(object) => console.log(object.Key)` or
    /// `js:(key, object) => …`. What it returns is printed, too.
    #[arg(long, visible_alias = "map", value_name = "SCRIPT")]
    #[arg(required_unless_present = "map_list", conflicts_with = "map_list")]
    pub(crate) each: Option<String>,
    /// Called with a list of objects, those of one page: `js:(objects) => …`.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) map_list: Option<String>,
    /// Process objects in the order of their keys instead of the order of arrival.
    #[arg(long)]
    pub(crate) sort: bool,
}
