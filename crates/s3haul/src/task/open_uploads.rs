//! Incomplete multipart uploads: listed, measured or aborted, in the order of their keys.
//!
//! A page of them is listed, then as many requests as are allowed go out for it at once; pages
//! follow each other, so that no more than one is held.

use futures_util::StreamExt as _;
use futures_util::stream::iter;

use crate::job::value::UploadsAction;
use crate::summary::{OpenUpload, measure_upload};
use s3haul_wire::Client;
use s3haul_wire::error::Result;
use s3haul_wire::ops::MultipartUpload;

/// Which uploads, and what for.
#[derive(Clone, Debug)]
pub struct UploadsSpec {
    /// Bucket.
    pub bucket: String,
    /// Beginning of the keys.
    pub prefix: String,
    /// Only those that were begun at this time or before, in seconds since 1970.
    pub begun_until_s: Option<i64>,
    /// What is done.
    pub action: UploadsAction,
    /// Requests in flight.
    pub concurrency: usize,
}

impl UploadsSpec {
    fn takes(&self, upload: &MultipartUpload) -> bool {
        self.begun_until_s.is_none_or(|until| upload.initiated_s <= until)
            && upload.key.starts_with(&self.prefix)
    }
}

/// Processes the uploads and reports the outcome of each. `Err` if the listing fails.
pub async fn run_uploads(
    client: &Client,
    spec: &UploadsSpec,
    tell: &mut (dyn FnMut(&OpenUpload, Result<()>) + Send),
) -> Result<()> {
    let mut markers: Option<(String, String)> = None;
    loop {
        let after = markers.as_ref().map(|(key, id)| (key.as_str(), id.as_str()));
        let page = client.list_multipart_uploads(&spec.bucket, &spec.prefix, after).await?;
        let mut acts = Vec::new();
        for upload in page.uploads.into_iter().filter(|upload| spec.takes(upload)) {
            acts.push(act(client, spec, upload));
        }
        let mut ended = iter(acts).buffered(spec.concurrency.max(1));
        while let Some((upload, result)) = ended.next().await {
            tell(&upload, result);
        }
        // The same markers again would be an endless loop.
        if page.next_markers.is_none() || page.next_markers == markers {
            return Ok(());
        }
        markers = page.next_markers;
    }
}

async fn act(
    client: &Client,
    spec: &UploadsSpec,
    upload: MultipartUpload,
) -> (OpenUpload, Result<()>) {
    let MultipartUpload { key, upload_id, initiated_s } = upload;
    let open = OpenUpload { key, upload_id, initiated_s, parts: 0, bytes: 0 };
    match spec.action {
        UploadsAction::List => (open, Ok(())),
        UploadsAction::Measure => match measure_upload(client, &spec.bucket, open.clone()).await {
            Ok(measured) => (measured, Ok(())),
            Err(error) => (open, Err(error)),
        },
        UploadsAction::Abort => {
            let result = client.abort_multipart(&spec.bucket, &open.key, &open.upload_id).await;
            (open, result)
        }
    }
}
