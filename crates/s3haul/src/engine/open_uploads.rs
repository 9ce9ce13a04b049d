//! Multipart uploads that are open, so that none is left behind.
//!
//! An upload enters the list inside the task that creates it, which outlives its caller: also a
//! caller that was cancelled while the server's answer was on its way leaves no orphan. A part that
//! the server has or copies may bring an aborted upload back ([abort]: "it might be necessary to
//! abort a given multipart upload multiple times"). So whatever is still listed at the end of the
//! job is aborted, after which servers refuse parts, then those on their way are waited for, for a
//! bounded time (what is still being sent then never becomes a part), and it is aborted again.
//!
//! [abort]: https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::engine::portion::Portion;
use crate::engine::reporter::Reporter;
use crate::journal::Journal;
use crate::journal::state::{PartsInProgress, PartsSource};
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{CompletedPart, CreateMultipart, ListParts};
use s3haul_wire::{ChecksumAlgorithm, Client, Encryption, ObjectProperties};

/// Time that the end of a job waits for uploads that are being begun.
const BEGIN_TIME_MAX: Duration = Duration::from_secs(5);
/// Maximum wait for parts of uploads being aborted: after Ctrl-C the user is waiting, too.
const PARTS_TIME_MAX: Duration = Duration::from_secs(1);
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
    /// Encryption that it was begun with, beside SSE-C.
    pub(crate) encryption: Option<Encryption>,
}

/// Beginnings of uploads that were sent and not answered. Each may have left an upload whose id is
/// unknown. It is not searched for: another writer may have begun one to the same key just as well.
#[derive(Debug, Default)]
pub(crate) struct LostBeginnings {
    count: u32,
    /// The bucket, and what all the keys begin with.
    place: Option<(String, String)>,
}

impl LostBeginnings {
    fn note(&mut self, count: u32, bucket: &str, key: &str) {
        if count == 0 {
            return;
        }
        self.count += count;
        let (_, prefix) = self.place.get_or_insert_with(|| (bucket.to_owned(), key.to_owned()));
        let same = prefix.chars().zip(key.chars()).take_while(|(a, b)| a == b);
        prefix.truncate(same.map(|(char, _)| char.len_utf8()).sum());
    }

    /// What the user should know, if anything.
    pub(crate) fn warning(&self) -> Option<String> {
        let (bucket, prefix) = self.place.as_ref()?;
        let (lost, left, them) = match self.count {
            1 => ("a CreateMultipartUpload request was".to_owned(), "an empty upload", "it"),
            count => {
                (format!("{count} CreateMultipartUpload requests were"), "empty uploads", "them")
            }
        };
        let address = format!("s3://{bucket}/{prefix}");
        Some(format!(
            "{lost} not answered: {left} may be left; `s3haul uploads ls {address}` shows {them}, \
             `s3haul uploads abort --older-than 1d {address}` removes {them}"
        ))
    }
}

/// The beginning of an upload. It counts as lost if it is dropped before its answer.
struct Beginning<'a> {
    uploads: &'a OpenUploads,
    bucket: &'a str,
    key: &'a str,
    /// Requests of it that were not answered.
    unanswered: u32,
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        lock(&self.uploads.lost).note(self.unanswered, self.bucket, self.key);
    }
}

/// The open uploads of a job.
#[derive(Debug)]
pub(crate) struct OpenUploads {
    client: Client,
    journal: Option<Arc<Journal>>,
    /// What this process does of an object, where others do the rest.
    portion: Option<Arc<Portion>>,
    open: Mutex<HashSet<Arc<OpenUpload>>>,
    lost: Mutex<LostBeginnings>,
    /// Requests that outlive their callers: those that begin uploads, and others.
    beginning: Mutex<JoinSet<()>>,
    running: Mutex<JoinSet<()>>,
}

impl OpenUploads {
    /// An empty list of uploads made with `client`.
    pub(crate) fn new(
        client: Client,
        journal: Option<Arc<Journal>>,
        portion: Option<Arc<Portion>>,
    ) -> Arc<Self> {
        let (open, lost) = (Mutex::default(), Mutex::default());
        let (beginning, running) = (Mutex::default(), Mutex::default());
        Arc::new(Self { client, journal, portion, open, lost, beginning, running })
    }

    /// What this process does of an object, where others do the rest.
    pub(crate) fn portion(&self) -> Option<&Portion> {
        self.portion.as_deref()
    }

    /// Whether this process sends a part.
    pub(crate) fn sends(&self, part_number: u32) -> bool {
        self.portion().is_none_or(|portion| portion.sends(part_number))
    }

    /// Whether this process makes the object of its parts.
    pub(crate) fn completes(&self) -> bool {
        self.portion().is_none_or(Portion::is_end)
    }

    /// The upload that an earlier run or another process began.
    fn known(&self, key: &str) -> Option<PartsInProgress> {
        match &self.portion {
            Some(portion) => portion.upload(),
            None => self.journal.as_ref()?.parts(key),
        }
    }

    /// Goes on with an upload that an earlier run began of the same source, where it is still open;
    /// gives the parts that it has, in order. One of another source is dropped.
    pub(crate) async fn resume(
        &self,
        bucket: &str,
        key: &str,
        properties: &ObjectProperties,
        source: &PartsSource,
    ) -> Result<Option<(Arc<OpenUpload>, Vec<CompletedPart>)>> {
        let Some(found) = self.known(key) else { return Ok(None) };
        let (bucket, key) = (bucket.to_owned(), key.to_owned());
        let encryption = properties.encryption.clone();
        let upload = Arc::new(OpenUpload { bucket, key, id: found.handle.clone(), encryption });
        // A list may name an object twice: what this run does of it already is its own.
        if !self.enter(&upload) && self.portion.is_none() {
            return Ok(None);
        }
        let parts = self.parts_left(&upload, found.source == *source).await.inspect_err(|_| {
            lock(&self.open).remove(&upload);
        })?;
        let Some(parts) = parts else {
            self.abort(&upload).await;
            return Ok(None);
        };
        Ok(Some((upload, parts)))
    }

    /// Takes an upload into the list; whether it was not there.
    fn enter(&self, upload: &Arc<OpenUpload>) -> bool {
        let mut open = lock(&self.open);
        let is_new = open.iter().all(|other| other.id != upload.id);
        open.insert(Arc::clone(upload));
        is_new
    }

    /// The parts that an upload has; none where it is of no use.
    async fn parts_left(
        &self,
        upload: &OpenUpload,
        is_of_source: bool,
    ) -> Result<Option<Vec<CompletedPart>>> {
        let OpenUpload { bucket, key, id, .. } = upload;
        let parts = if is_of_source {
            match self.list_parts(bucket, key, id).await {
                Err(error) if error.may_pass() && error.code() != "NotImplemented" => {
                    return Err(error);
                }
                // It is for the process that completes the upload to give it up.
                Err(error) if !self.completes() => return Err(error),
                // A service that does not list parts, or not for us, goes on without.
                parts => parts.ok(),
            }
        } else {
            None
        };
        if parts.is_none() && !self.completes() {
            let message = "the source has changed since its upload was begun";
            return Err(Error::new(ErrorKind::SourceChanged, message));
        }
        Ok(parts)
    }

    async fn list_parts(&self, bucket: &str, key: &str, id: &str) -> Result<Vec<CompletedPart>> {
        let mut parts: Vec<CompletedPart> = Vec::new();
        let mut part_number_marker = None;
        loop {
            let input = ListParts { bucket, key, upload_id: id, part_number_marker };
            let page = self.client.list_parts(input).await?;
            parts.extend(page.parts);
            match page.next_marker {
                None => {
                    parts.sort_by_key(|part| part.part_number);
                    parts.dedup_by_key(|part| part.part_number);
                    return Ok(parts);
                }
                next if next <= part_number_marker => {
                    let message = format!("the list of parts of an upload of `{key}` has no end");
                    return Err(Error::new(ErrorKind::Integrity, message));
                }
                next => part_number_marker = next,
            }
        }
    }

    /// Begins an upload. With the state of a source it is written to the journal, so that a later
    /// run can go on with it.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        bucket: &str,
        key: &str,
        properties: ObjectProperties,
        checksum: Option<ChecksumAlgorithm>,
        source: Option<PartsSource>,
    ) -> Result<Arc<OpenUpload>> {
        let (uploads, bucket, key) = (Arc::clone(self), bucket.to_owned(), key.to_owned());
        let create = async move {
            let properties = &properties;
            let input = CreateMultipart { bucket: &bucket, key: &key, properties, checksum };
            let mut beginning =
                Beginning { uploads: &uploads, bucket: &bucket, key: &key, unanswered: 1 };
            let begun = uploads.client.begin_multipart(input).await;
            beginning.unanswered = match &begun {
                Ok(begun) => begun.unanswered,
                Err(error) => error.effort().unanswered,
            };
            drop(beginning);
            let id = begun?.id;
            let encryption = properties.encryption.clone();
            let upload = Arc::new(OpenUpload { bucket, key, id, encryption });
            uploads.enter(&upload);
            if let Some(source) = source {
                let (target, handle) = (upload.key.clone(), upload.id.clone());
                uploads.begun(PartsInProgress { target, source, handle, done: Vec::new() });
            }
            Ok(upload)
        };
        outlive(&self.beginning, create).await
    }

    /// Carries out a request to its end, also where its caller is cancelled meanwhile.
    pub(crate) async fn outliving<T: Send + 'static>(
        &self,
        request: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        outlive(&self.running, request).await
    }

    /// The upload has become an object.
    pub(crate) fn completed(&self, upload: &OpenUpload) {
        lock(&self.open).remove(upload);
        self.forget(upload);
        if let Some(portion) = self.portion.as_ref().filter(|it| it.shares(&upload.id)) {
            portion.completed();
        }
    }

    /// Reports parts that are there already as moved, and gives the bytes so reported: other
    /// processes reported what they sent.
    pub(crate) fn resumed(&self, report: &Reporter, bytes: u64) -> u64 {
        let bytes = if self.portion.is_none() { bytes } else { 0 };
        report.moved(bytes);
        bytes
    }

    /// Takes back what was reported of parts, unless others go on with them.
    pub(crate) fn abandoned(&self, report: &Reporter, bytes: u64) {
        if self.completes() {
            report.unmoved(bytes);
        }
    }

    /// Notes an upload for a later run. Of several to one key the first is noted, and the others
    /// are aborted at the end.
    fn begun(&self, upload: PartsInProgress) {
        match (&self.portion, &self.journal) {
            (Some(portion), _) => portion.begun(upload),
            (None, Some(journal)) => {
                let open = lock(&self.open);
                let noted = journal.parts(&upload.target);
                if !noted.is_some_and(|noted| open.iter().any(|open| open.id == noted.handle)) {
                    journal.parts_begun(upload);
                }
            }
            (None, None) => {}
        }
    }

    fn forget(&self, upload: &OpenUpload) {
        if let Some(journal) = self.journal.as_ref().filter(|it| is_noted(it, upload)) {
            journal.parts_ended(&upload.key);
        }
    }

    /// Takes in what an earlier run left and nothing goes on with: it is aborted at the end.
    pub(crate) fn leave(&self, upload: OpenUpload) {
        self.forget(&upload);
        lock(&self.open).insert(Arc::new(upload));
    }

    /// Drops an upload to the key of an object that was begun by another process, if it is open.
    pub(crate) async fn drop_begun(&self, bucket: &str, begun: PartsInProgress) {
        let PartsInProgress { target: key, handle: id, .. } = begun;
        let bucket = bucket.to_owned();
        self.abort(&OpenUpload { bucket, key, id, encryption: None }).await;
    }

    /// Whether a later run or another process can go on with an upload.
    fn can_resume(&self, upload: &OpenUpload) -> bool {
        if let Some(portion) = &self.portion {
            return portion.shares(&upload.id);
        }
        self.journal
            .as_ref()
            .is_some_and(|journal| is_noted(journal, upload) && journal.keeps_parts(&upload.key))
    }

    /// Gives up an upload that failed: drops it, unless that was the network's or the server's
    /// doing and a later run can go on with it.
    pub(crate) async fn give_up(&self, upload: &OpenUpload, error: &Error) {
        let is_kept = if self.portion.is_some() { !self.completes() } else { error.may_pass() };
        if !(is_kept && self.can_resume(upload)) {
            self.abort(upload).await;
        }
    }

    /// Beginnings that were not answered since the last call.
    pub(crate) fn take_lost(&self) -> LostBeginnings {
        std::mem::take(&mut *lock(&self.lost))
    }

    /// Drops an upload. If that fails it stays in the list for the end of the job.
    pub(crate) async fn abort(&self, upload: &OpenUpload) {
        let done = self.client.abort_multipart(&upload.bucket, &upload.key, &upload.id).await;
        if done.is_ok() {
            lock(&self.open).remove(upload);
            self.forget(upload);
        }
    }

    /// Aborts all that is open and that no later run can go on with, within a bounded time; gives
    /// what could not be aborted.
    pub(crate) async fn abort_all(self: &Arc<Self>) -> Vec<Arc<OpenUpload>> {
        lock(&self.open).retain(|upload| !self.can_resume(upload));
        let [mut beginning, mut running] =
            [&self.beginning, &self.running].map(|set| std::mem::take(&mut *lock(set)));
        let begun = async { while beginning.join_next().await.is_some() {} };
        let parts = async {
            while running.try_join_next().is_some() {}
            if !running.is_empty() {
                let ended = async { while running.join_next().await.is_some() {} };
                tokio::join!(self.abort_each(false), ended);
            }
        };
        let _ = tokio::join!(
            tokio::time::timeout(BEGIN_TIME_MAX, begun),
            tokio::time::timeout(PARTS_TIME_MAX, parts)
        );
        // What is still on its way ends here, with its connection, and is noted as lost.
        beginning.shutdown().await;
        drop(running);
        let _ = tokio::time::timeout(ABORT_TIME_MAX, self.abort_each(true)).await;
        lock(&self.open).drain().collect()
    }

    /// Aborts all that is open now. It stays in the list where it is to be aborted again.
    async fn abort_each(self: &Arc<Self>, is_last: bool) {
        let left: Vec<_> = lock(&self.open).iter().cloned().collect();
        let mut aborts = JoinSet::new();
        for upload in left {
            let uploads = Arc::clone(self);
            aborts.spawn(async move {
                uploads.abort(&upload).await;
                if !is_last {
                    lock(&uploads.open).insert(upload);
                }
            });
            while aborts.len() >= ABORTS_MAX {
                aborts.join_next().await;
            }
        }
        while aborts.join_next().await.is_some() {}
    }
}

/// Carries out a request as a task of this set.
async fn outlive<T: Send + 'static>(
    set: &Mutex<JoinSet<()>>,
    request: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let (told, ended) = oneshot::channel();
    let run = async move {
        // The receiver is gone if the caller was cancelled.
        let _ = told.send(request.await);
    };
    {
        let mut set = lock(set);
        while set.try_join_next().is_some() {}
        set.spawn(run);
    }
    ended.await.unwrap_or_else(|_| Err(Error::new(ErrorKind::Cancelled, "cancelled")))
}

/// Whether the journal has an upload, and not another to its key.
fn is_noted(journal: &Journal, upload: &OpenUpload) -> bool {
    journal.parts(&upload.key).is_some_and(|noted| noted.handle == upload.id)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
