//! `--from`: objects that a file names.

use clap::{Args, ValueEnum};

/// What a file of keys is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FromFormat {
    /// A key or an s3:// address a line, taken as it is.
    Lines,
    /// Comma-separated values: with a line of names of which one is key, as `list` writes them, or
    /// without as S3 Batch Operations has it: bucket, URL-encoded key, version.
    Csv,
    /// A JSON object a line with key or Key, as `list`, `tag get` and others print it.
    Jsonl,
    /// The manifest.json of an S3 Inventory. The files that it names, in CSV or Parquet, are
    /// read from its bucket and held against their MD5.
    Inventory,
    /// A table in Parquet, as `list` writes it.
    Parquet,
    /// The report of another command (--report): what it did, or a dry run would have done. The
    /// source where that is in S3, else the target.
    Report,
}

/// Objects from a file.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FromArgs {
    /// Use the objects that this file names (- for standard input, or an s3:// address) instead of
    /// a listing. The address is then a prefix, as with --recursive; objects outside of it fail.
    /// Filters apply. For cp and mv, and where a script needs them, size, `ETag`, time and storage
    /// class are read with a HEAD request for each object, unless the file has them. Gzip files are
    /// unpacked.
    #[arg(long, value_name = "FILE")]
    #[arg(help_heading = "Objects from a file")]
    pub(crate) from: Option<String>,
    /// Format of the file, where it cannot be recognized from its name and beginning.
    #[arg(long, value_enum, value_name = "FORMAT", requires = "from")]
    #[arg(help_heading = "Objects from a file")]
    pub(crate) from_format: Option<FromFormat>,
}
