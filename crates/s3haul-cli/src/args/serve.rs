//! `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Serves a folder as an S3 endpoint: the folders in it are buckets, their files are objects. The
/// lines printed to standard output set the environment that reaches it; use eval.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    /// The folder; it is made where it is missing.
    #[arg(value_name = "DIR", required_unless_present_any = ["memory", "null", "synthetic"])]
    #[arg(conflicts_with_all = ["memory", "null", "synthetic"])]
    pub(crate) directory: Option<PathBuf>,
    /// Listen here; port 0 takes a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9000")]
    pub(crate) address: SocketAddr,
    /// Keep objects in memory and lose them at the end.
    #[arg(long, conflicts_with_all = ["null", "synthetic"])]
    pub(crate) memory: bool,
    /// Take uploads and drop their bytes.
    #[arg(long, conflicts_with = "synthetic")]
    pub(crate) null: bool,
    /// Serve objects that are computed, never stored; see the documentation for the form.
    #[arg(long, value_name = "SPEC")]
    pub(crate) synthetic: Option<String>,
    /// Take the keys of the synthetic objects from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    /// Append a JSON line for each request to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,
    /// Let each request wait this long, such as 30ms.
    #[arg(long, value_name = "TIME")]
    pub(crate) latency: Option<String>,
    /// The access key id that requests must be signed with.
    #[arg(long, value_name = "ID")]
    pub(crate) access_key: Option<String>,
    /// The secret access key that requests must be signed with.
    #[arg(long, value_name = "SECRET")]
    pub(crate) secret_key: Option<String>,
    /// Stop when standard input ends.
    #[arg(long)]
    pub(crate) stop_with_stdin: bool,
}
