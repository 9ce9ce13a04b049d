//! `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::Secret;

/// Serves a folder as an S3 endpoint for trying and testing: the folders in it are buckets, their
/// files are objects. What it prints to standard output are shell commands that set the
/// environment which reaches it.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("store").required(true)
    .args(["directory", "memory", "null", "synthetic", "keys"]))]
#[command(override_usage = "s3haul serve [OPTIONS] <DIR>\n       \
    s3haul serve [OPTIONS] --memory|--null|--synthetic <SPEC>|--keys <FILE>")]
pub(crate) struct ServeArgs {
    /// The folder; it is created if it does not exist.
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Listen on this IP address or `localhost`; port 0 takes a free one. An address that other
    /// machines reach needs --access-key and --secret-key as well.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9000", value_parser = address)]
    pub(crate) address: SocketAddr,
    /// Keep objects in memory and lose them at the end.
    #[arg(long)]
    pub(crate) memory: bool,
    /// Keep the names and sizes of objects, but not their bytes.
    #[arg(long)]
    pub(crate) null: bool,
    /// Serve objects that are computed and never stored, in the bucket `synthetic`:
    /// `KIND:COUNT[:SEED][:size=BYTES]`, where KIND is seq (padded numbers), uuid, hex (16 digits),
    /// dates (a folder a day for ten years) or deep (a thousand entries in each folder). A billion
    /// objects take no more memory than one.
    #[arg(long, value_name = "SPEC")]
    pub(crate) synthetic: Option<String>,
    /// Serve computed objects with the keys of this file, one a line, in the bucket `synthetic`;
    /// a size may follow a tab. The file is mapped; in the order of its keys' bytes (`LC_ALL=C
    /// sort`) it needs no memory, else eight bytes a key.
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    /// Write a JSON line for each request to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) ledger: Option<PathBuf>,
    /// Delay each request by this much, such as 30ms.
    #[arg(long, value_name = "TIME")]
    pub(crate) latency: Option<String>,
    /// Let the restore of an archived object take this long, such as 30s.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) restore_time: String,
    /// Simulate bad weather: latency, limits of rate and bandwidth, refusals, broken connections
    /// and damaged answers, as the scenario in this JSON file says. Its settings are described in
    /// docs/weather.md; the same seed gives the same weather.
    #[arg(long, value_name = "FILE")]
    pub(crate) weather: Option<PathBuf>,
    /// The access key id that requests must be signed with.
    #[arg(long, value_name = "ID")]
    pub(crate) access_key: Option<String>,
    /// The secret access key that requests must be signed with. Other users of this machine can
    /// see flags: `S3HAUL_SERVE_SECRET_KEY` in the environment is kept from them.
    #[arg(long, value_name = "SECRET")]
    pub(crate) secret_key: Option<Secret>,
    /// Speak TLS: a PEM file with the server's certificate, then those between it and the root.
    /// On 127.0.0.1 the printed endpoint is `https://localhost:PORT`.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The PEM file with the private key of the certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Stop when standard input ends: for programs that start a server. Standard error is empty
    /// unless something fails.
    #[arg(long)]
    pub(crate) stop_with_stdin: bool,
}

/// An IP address with a port, or `localhost` with one.
fn address(text: &str) -> Result<SocketAddr, std::net::AddrParseError> {
    match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => text.parse(),
    }
}
