//! `list-buckets`: names, regions and dates of buckets, and on request what is in them.
//!
//! A bucket that cannot be looked into keeps its row; its error goes to standard error (and into
//! the row, as JSON) and the exit status is 1. Rows come in the order of names, each as soon as it
//! and those before are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use s3haul_list::{ListRequest, list, objects};
use s3haul_wire::Client;
use s3haul_wire::Error;
use s3haul_wire::ops::{Bucket, ListBuckets};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::commands::shared::client;
use crate::exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::buckets::{BucketCounts, BucketRow, BucketRows};
use crate::render::escape::push_name;
use crate::settings::ListBucketsSettings;

/// Buckets that are counted at once; all of them share the requests.
const COUNTED_AT_ONCE: usize = 16;

/// Lists buckets.
pub(super) async fn run(
    settings: ListBucketsSettings,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    let client = client(settings.client.clone())?;
    let buckets = named(&client, &settings).await?;
    let mut rows = BucketRows::new(settings.format, settings.task.count, printer);
    let looking = Looking::new(client, &settings);
    let status = show(buckets, &looking, &settings, &mut rows, printer).await?;
    rows.finish(status == exit::SUCCESS);
    Ok(if printer.output_is_closed() { exit::BROKEN_PIPE } else { status })
}

/// The buckets to show. Servers may not know the filters.
async fn named(client: &Client, settings: &ListBucketsSettings) -> Result<Vec<Bucket>, Failure> {
    let (prefix, region) =
        (settings.task.bucket_name_prefix.as_deref(), settings.task.bucket_region.as_deref());
    let mut buckets = client.list_buckets(ListBuckets { prefix, region }).await?;
    let start = prefix.unwrap_or_default();
    buckets.retain(|bucket| bucket.name.starts_with(start));
    buckets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(buckets)
}

async fn show(
    buckets: Vec<Bucket>,
    looking: &Looking,
    settings: &ListBucketsSettings,
    rows: &mut BucketRows<'_>,
    printer: &Printer,
) -> Result<u8, Failure> {
    let mut tasks = JoinSet::new();
    let mut waiting = buckets.into_iter().enumerate();
    let mut known: BTreeMap<usize, (BucketRow, Option<Error>)> = BTreeMap::new();
    let (mut next, mut status) = (0, exit::SUCCESS);
    loop {
        // Rows that wait for one before them are bounded as the requests are.
        while tasks.len() + known.len() < looking.at_once
            && let Some((index, bucket)) = waiting.next()
        {
            let looking = looking.clone();
            tasks.spawn(async move { (index, looking.at(bucket).await) });
        }
        let Some(joined) = tasks.join_next().await else { return Ok(status) };
        let (index, row) =
            joined.map_err(|error| Failure::other(format!("a task failed: {error}")))?;
        known.insert(index, row);
        while let Some((row, error)) = known.remove(&next) {
            next += 1;
            if !is_wanted(&row, settings.task.bucket_region.as_deref()) {
                continue;
            }
            if let Some(error) = &error {
                status = exit::FAILED;
                report(&row.name, error, printer);
            }
            rows.push(&row, error.as_ref());
        }
    }
}

/// Buckets whose region is not known may be of any.
fn is_wanted(row: &BucketRow, region: Option<&str>) -> bool {
    region.is_none_or(|wanted| row.region.as_deref().is_none_or(|region| region == wanted))
}

fn report(bucket: &str, error: &Error, printer: &Printer) {
    printer.error(|buffer| {
        let line = format!("s3haul: error: bucket `{bucket}`: {error}");
        push_name(buffer, &line, printer.error_is_terminal());
        buffer.push(b'\n');
    });
}

/// Looks into buckets.
#[derive(Clone)]
struct Looking {
    client: Client,
    count: bool,
    /// Buckets at once.
    at_once: usize,
    /// Requests at once, for all of them.
    concurrency: usize,
    permits: Arc<Semaphore>,
}

impl Looking {
    fn new(client: Client, settings: &ListBucketsSettings) -> Self {
        let (count, concurrency) = (settings.task.count, settings.concurrency.max(1));
        let at_once = if count { concurrency.min(COUNTED_AT_ONCE) } else { concurrency };
        let permits = Arc::new(Semaphore::new(concurrency));
        Self { client, count, at_once, concurrency, permits }
    }

    async fn at(&self, bucket: Bucket) -> (BucketRow, Option<Error>) {
        let Bucket { name, created_s, region } = bucket;
        let mut error = None;
        let region = match region {
            Some(region) => Some(region),
            None => self.region(&name).await.map_err(|e| error = Some(e)).ok().flatten(),
        };
        let counts = if self.count && error.is_none() {
            self.counts(&name).await.map_err(|e| error = Some(e)).ok()
        } else {
            None
        };
        (BucketRow { name, created_s, region, counts }, error)
    }

    /// HEAD needs the right to list, the location only that to ask for it. Some servers know no
    /// regions at all.
    async fn region(&self, bucket: &str) -> Result<Option<String>, Error> {
        match self.client.head_bucket(bucket).await {
            Ok(Some(region)) => Ok(Some(region)),
            Ok(None) => Ok(self.client.get_bucket_location(bucket).await.ok()),
            // Its error says more than that of HEAD, which has no body.
            Err(_) => self.client.get_bucket_location(bucket).await.map(Some),
        }
    }

    async fn counts(&self, bucket: &str) -> Result<BucketCounts, Error> {
        let request = ListRequest {
            concurrency: self.concurrency,
            permits: Some(Arc::clone(&self.permits)),
            ..ListRequest::default()
        };
        let mut listing = list(objects(self.client.clone(), bucket), request);
        let mut counts = BucketCounts::default();
        while let Some(piece) = listing.next().await {
            let page = piece?.page;
            counts.objects += page.len() as u64;
            let sizes = page.iter().map(|object| object.size);
            counts.bytes = sizes.fold(counts.bytes, u64::saturating_add);
        }
        Ok(counts)
    }
}
