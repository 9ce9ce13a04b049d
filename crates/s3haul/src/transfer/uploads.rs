//! Multipart uploads that are open, so that none is left behind.
//!
//! An upload enters the list inside the task that creates it, which outlives its caller: also a
//! caller that was cancelled while the server's answer was on its way leaves no orphan. A part that
//! the server has or copies may bring an aborted upload back ([abort]: "it might be necessary to
//! abort a given multipart upload multiple times"), so parts on their way are waited for, too, for
//! a bounded time: what is still being sent then never becomes a part. Whatever is still listed at
//! the end of the job is aborted.
//!
//! [abort]: https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::error::{Error, ErrorKind, Result};
use crate::s3::ops::CreateMultipart;
use crate::s3::{ChecksumAlgorithm, Client, ObjectProperties};

/// Time that the end of a job waits for what is under way.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// Time that the end of a job spends on aborting what is open.
const ABORT_TIME_MAX: Duration = Duration::from_secs(15);
/// Aborts in flight at the end of a job.
const ABORTS_MAX: usize = 16;

/// One multipart upload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpenUpload {
    /// Bucket.
    pub(crate) bucket: String,
    /// Key.
    pub(crate) key: String,
    /// Upload id.
    pub(crate) id: String,
}

/// The open uploads of a job.
#[derive(Debug)]
pub(crate) struct OpenUploads {
    client: Client,
    open: Mutex<HashSet<Arc<OpenUpload>>>,
    /// Requests that outlive their callers.
    running: Mutex<JoinSet<()>>,
}

impl OpenUploads {
    /// An empty list of uploads made with `client`.
    pub(crate) fn new(client: Client) -> Arc<Self> {
        Arc::new(Self { client, open: Mutex::default(), running: Mutex::default() })
    }

    /// Begins an upload.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        bucket: &str,
        key: &str,
        properties: ObjectProperties,
        checksum: Option<ChecksumAlgorithm>,
    ) -> Result<Arc<OpenUpload>> {
        let (uploads, bucket, key) = (Arc::clone(self), bucket.to_owned(), key.to_owned());
        let create = async move {
            let properties = &properties;
            let input = CreateMultipart { bucket: &bucket, key: &key, properties, checksum };
            let id = uploads.client.create_multipart(input).await?;
            let upload = Arc::new(OpenUpload { bucket, key, id });
            lock(&uploads.open).insert(Arc::clone(&upload));
            Ok(upload)
        };
        self.outliving(create).await
    }

    /// Carries out a request to its end, also where its caller is cancelled meanwhile.
    pub(crate) async fn outliving<T: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (told, ended) = oneshot::channel();
        let run = async move {
            // Nobody listens when the caller was cancelled.
            let _ = told.send(request.await);
        };
        {
            let mut running = lock(&self.running);
            while running.try_join_next().is_some() {}
            running.spawn(run);
        }
        ended.await.unwrap_or_else(|_| Err(Error::new(ErrorKind::Cancelled, "cancelled")))
    }

    /// The upload has become an object.
    pub(crate) fn completed(&self, upload: &OpenUpload) {
        lock(&self.open).remove(upload);
    }

    /// Drops an upload. If that fails it stays in the list for the end of the job.
    pub(crate) async fn abort(&self, upload: &OpenUpload) {
        let done = self.client.abort_multipart(&upload.bucket, &upload.key, &upload.id).await;
        if done.is_ok() {
            lock(&self.open).remove(upload);
        }
    }

    /// Aborts all that is open, within a bounded time; gives what could not be aborted.
    pub(crate) async fn abort_all(self: &Arc<Self>) -> Vec<Arc<OpenUpload>> {
        let mut running = std::mem::take(&mut *lock(&self.running));
        let ended = async { while running.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(WAIT_MAX, ended).await;
        let left: Vec<_> = lock(&self.open).iter().cloned().collect();
        let aborts = async {
            let mut aborts = JoinSet::new();
            for upload in left {
                let uploads = Arc::clone(self);
                aborts.spawn(async move { uploads.abort(&upload).await });
                while aborts.len() >= ABORTS_MAX {
                    aborts.join_next().await;
                }
            }
            while aborts.join_next().await.is_some() {}
        };
        let _ = tokio::time::timeout(ABORT_TIME_MAX, aborts).await;
        lock(&self.open).drain().collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
