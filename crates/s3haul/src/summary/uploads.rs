//! Multipart uploads that were begun and neither completed nor aborted. Their parts are billed
//! and no listing of objects shows them.

use std::sync::Arc;

use serde::Serialize;
use tokio::task::JoinSet;

use super::ranking::iso;
use s3haul_wire::Client;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{ListParts, MultipartUpload};

/// An upload under way, or forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenUpload {
    /// Key.
    pub key: String,
    /// Upload id.
    pub upload_id: String,
    /// Start in seconds since 1970.
    #[serde(rename = "initiated", serialize_with = "iso")]
    pub initiated_s: i64,
    /// Parts.
    pub parts: u64,
    /// Bytes of the parts.
    pub bytes: u64,
}

/// Figures of open uploads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UploadFigures {
    /// Uploads.
    pub uploads: u64,
    /// Their parts.
    pub parts: u64,
    /// Bytes of the parts.
    pub bytes: u64,
    /// The oldest uploads.
    pub oldest: Vec<OpenUpload>,
    /// Rows of `oldest` at most.
    #[serde(skip)]
    pub oldest_max: usize,
}

impl UploadFigures {
    fn add(&mut self, upload: OpenUpload) {
        self.uploads += 1;
        self.parts += upload.parts;
        self.bytes = self.bytes.saturating_add(upload.bytes);
        let order = |upload: &OpenUpload| {
            (upload.initiated_s, upload.key.clone(), upload.upload_id.clone())
        };
        let mine = order(&upload);
        let at = self.oldest.partition_point(|other| order(other) < mine);
        if at < self.oldest_max {
            self.oldest.insert(at, upload);
            self.oldest.truncate(self.oldest_max);
        }
    }
}

/// Asks for the open uploads below a prefix of the keys that are wanted, and for the parts of each,
/// that many requests at once; keeps the `top` oldest. Uploads that end meanwhile count as if they
/// had no parts.
pub async fn open_uploads(
    client: Client,
    (bucket, prefix): (&str, &str),
    is_wanted: impl Fn(&str) -> bool,
    concurrency: usize,
    top: usize,
) -> Result<UploadFigures> {
    let bucket: Arc<str> = bucket.into();
    let mut figures = UploadFigures { oldest_max: top, ..UploadFigures::default() };
    let mut asked: JoinSet<Result<OpenUpload>> = JoinSet::new();
    let mut markers: Option<(String, String)> = None;
    loop {
        let after = markers.as_ref().map(|(key, id)| (key.as_str(), id.as_str()));
        let page = client.list_multipart_uploads(&bucket, prefix, after).await?;
        for upload in page.uploads.into_iter().filter(|upload| is_wanted(&upload.key)) {
            if asked.len() >= concurrency.max(1) {
                take(&mut asked, &mut figures).await?;
            }
            asked.spawn(measure(client.clone(), Arc::clone(&bucket), upload));
        }
        // The same markers again would be an endless loop.
        if page.next_markers.is_none() || page.next_markers == markers {
            break;
        }
        markers = page.next_markers;
    }
    while !asked.is_empty() {
        take(&mut asked, &mut figures).await?;
    }
    Ok(figures)
}

async fn take(asked: &mut JoinSet<Result<OpenUpload>>, figures: &mut UploadFigures) -> Result<()> {
    if let Some(answer) = asked.join_next().await {
        let failed = |error| Error::new(ErrorKind::Local, "a task failed").with_source(error);
        figures.add(answer.map_err(failed)??);
    }
    Ok(())
}

async fn measure(client: Client, bucket: Arc<str>, upload: MultipartUpload) -> Result<OpenUpload> {
    let MultipartUpload { key, upload_id, initiated_s } = upload;
    let open = OpenUpload { key, upload_id, initiated_s, parts: 0, bytes: 0 };
    measure_upload(&client, &bucket, open).await
}

/// Counts the parts of an upload; none if it ended meanwhile.
pub(crate) async fn measure_upload(
    client: &Client,
    bucket: &str,
    mut open: OpenUpload,
) -> Result<OpenUpload> {
    let mut part_number_marker = None;
    loop {
        let (key, upload_id) = (open.key.as_str(), open.upload_id.as_str());
        let input = ListParts { bucket, key, upload_id, part_number_marker };
        let page = match client.list_parts(input).await {
            Err(error) if error.code() == "NoSuchUpload" => return Ok(open),
            page => page?,
        };
        open.parts += page.parts.len() as u64;
        open.bytes = page.parts.iter().fold(open.bytes, |sum, part| sum.saturating_add(part.size));
        if page.next_marker.is_none() || page.next_marker == part_number_marker {
            return Ok(open);
        }
        part_number_marker = page.next_marker;
    }
}
