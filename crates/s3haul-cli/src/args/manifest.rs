//! `--from`: objects that a file names.

use clap::Args;
use s3haul::job::value::ManifestFormat;

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
    pub(crate) from_format: Option<ManifestFormat>,
}
