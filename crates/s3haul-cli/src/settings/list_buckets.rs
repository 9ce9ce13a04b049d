//! `list-buckets`.

use s3haul_wire::ClientConfig;

use super::Settings;
use crate::args::ListBucketsArgs;
use crate::open_files;
use crate::render::buckets::BucketsFormat;

/// `list-buckets`.
#[derive(Clone, Debug)]
pub(crate) struct ListBucketsSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Only these buckets.
    pub(crate) prefix: Option<String>,
    /// Only buckets of this region.
    pub(crate) region: Option<String>,
    /// Objects and bytes, too.
    pub(crate) count: bool,
    /// How they are written.
    pub(crate) format: BucketsFormat,
    /// Requests in flight.
    pub(crate) concurrency: usize,
}

impl ListBucketsSettings {
    /// From flags.
    pub(crate) fn new(settings: Settings, args: &ListBucketsArgs) -> Self {
        let default = if settings.json { BucketsFormat::Jsonl } else { BucketsFormat::Text };
        let concurrency = args.concurrency.map(|requests| requests as usize);
        let concurrency = concurrency.unwrap_or(settings.tuning.requests_at_once());
        let wanted = settings.client.max_connections.max(concurrency);
        let max_connections = open_files::connections_within(wanted);
        Self {
            client: ClientConfig { max_connections, ..settings.client },
            prefix: args.bucket_name_prefix.clone(),
            region: args.bucket_region.clone(),
            count: args.count,
            format: args.format.unwrap_or(default),
            concurrency,
        }
    }
}
