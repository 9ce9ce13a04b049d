//! Which objects a command takes, by name, size, age and storage class.

use clap::{Arg, Args};

/// Conditions, all of which must hold beside the filters.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConditionArgs {
    /// Select only names that this regular expression matches somewhere; ^ and $ are the ends of
    /// the name. As with --exclude, names are relative to the folder or prefix that the command is
    /// given. With several expressions, one has to match.
    #[arg(long, help_heading = HEADING, value_name = "REGEX")]
    pub(crate) regex: Vec<String>,
    /// Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB. Units are
    /// powers of 1,024, with or without the i.
    #[arg(long, help_heading = HEADING, value_name = "SIZE")]
    pub(crate) min_size: Option<String>,
    /// Select only what has at most this size, in the same forms.
    #[arg(long, help_heading = HEADING, value_name = "SIZE")]
    pub(crate) max_size: Option<String>,
    /// Select only what was modified since this time: an age (a number and s, m, h, d or w) such as
    /// 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date without a time zone is
    /// local.
    #[arg(long, help_heading = HEADING, value_name = "TIME")]
    pub(crate) newer_than: Option<String>,
    /// Select only what was modified before this time, in the same forms.
    #[arg(long, help_heading = HEADING, value_name = "TIME")]
    pub(crate) older_than: Option<String>,
    /// Select only objects of this storage class, or of several separated by commas. Objects for
    /// which the server names no class count as STANDARD.
    #[arg(long = "storage-class", alias = SOURCE_STORAGE_CLASS, help_heading = HEADING)]
    #[arg(value_name = "CLASS", value_delimiter = ',', num_args = 1)]
    pub(crate) storage_classes: Vec<String>,
}

/// What the flags stand under in a help text.
pub(super) const HEADING: &str = "Conditions";

/// Name of the flag where `--storage-class` is that of the objects written.
const SOURCE_STORAGE_CLASS: &str = "source-storage-class";

/// `--storage-class` of [`ConditionArgs`] for commands that have another flag of that name: say
/// `#[command(mut_arg("storage_classes", as_source_class))]`.
pub(crate) fn as_source_class(arg: Arg) -> Arg {
    arg.alias(None::<&str>).long(SOURCE_STORAGE_CLASS)
}
