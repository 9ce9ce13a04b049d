//! Flags that commands share: request settings, what is printed, and the choice of objects changed
//! in place.

use clap::Args;

use super::{ConditionArgs, FilterArgs, FromArgs, JournalArgs, PrintJobArgs, ReportArgs};

/// Requester pays.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PayerArgs {
    /// Accept being charged for requests to buckets whose owner lets requesters pay.
    #[arg(long, num_args = 0..=1, default_missing_value = "requester", value_name = "WHO")]
    #[arg(value_parser = ["requester"])]
    pub(crate) request_payer: Option<String>,
}

impl PayerArgs {
    /// Whether the requester pays.
    pub(crate) fn is_requester(&self) -> bool {
        self.request_payer.is_some()
    }
}

/// How objects are listed and asked for.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RequestArgs {
    /// Ask for this many keys a page of a listing, at most 1,000.
    #[arg(long, value_name = "KEYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page_size: Option<u32>,
    /// Requester pays.
    #[command(flatten)]
    pub(crate) payer: PayerArgs,
}

/// What is printed.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// Print nothing at all; the exit status is the only result.
    #[arg(long)]
    #[arg(help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Print only errors and warnings.
    #[arg(long)]
    #[arg(help_heading = "Output")]
    pub(crate) only_show_errors: bool,
}

/// Objects that are removed or changed in place, and the output about them.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ObjectsArgs {
    /// An object, or with --recursive a prefix.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: String,
    /// Take all objects under the address.
    #[arg(long)]
    pub(crate) recursive: bool,
    /// Only print what would be done.
    #[arg(long)]
    pub(crate) dryrun: bool,
    /// Treat * and ? in the address literally, not as patterns.
    #[arg(long)]
    pub(crate) raw: bool,
    /// Filters.
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    /// Conditions.
    #[command(flatten)]
    pub(crate) conditions: ConditionArgs,
    /// Select only objects for which this JavaScript function returns true: `js:(key, object) =>
    /// …`.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) filter: Option<String>,
    /// Objects from a file.
    #[command(flatten)]
    pub(crate) from: FromArgs,
    /// Requests.
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
    /// Printing.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Reports.
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// Journal.
    #[command(flatten)]
    pub(crate) journal: JournalArgs,
    /// The job.
    #[command(flatten)]
    pub(crate) print: PrintJobArgs,
}
