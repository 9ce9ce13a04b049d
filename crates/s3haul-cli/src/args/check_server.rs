//! `check-server`.

use clap::{Args, ValueEnum};

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    /// A table, and what follows in words.
    Text,
    /// One JSON document.
    Json,
    /// A row of the matrix of services.
    Markdown,
}

/// Finds out what a service does of what s3haul relies on.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CheckServerArgs {
    /// Work below this bucket or prefix instead of in a new bucket.
    #[arg(value_name = "S3Uri")]
    pub(crate) path: Option<String>,
    /// Write a table (text), one JSON document (json) or a row of the matrix of services
    /// (markdown).
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FindingsFormat>,
    /// Call the service by this name in its row.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}
