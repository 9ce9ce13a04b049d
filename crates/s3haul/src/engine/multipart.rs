//! One multipart upload: parts sent in parallel, combined checksum, completion, abort.
//!
//! The caller passes each part in order to [`MultipartUpload::send`] and then calls
//! [`MultipartUpload::complete`]; if anything fails in between, [`MultipartUpload::abandon`].

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::budget::Share;
use super::core::Engine;
use super::integrity::{Piece, combine};
use crate::engine::limits::{Tasks, blocking};
use crate::engine::object::{conditions_of, has_no_conditions, refuse_unexpected};
use crate::engine::open_uploads::OpenUpload;
use crate::engine::parts::parts;
use crate::journal::state::PartsSource;
use crate::plan::expected::Expected;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{CompleteMultipart, CompletedPart, Conditions, UploadPart};
use s3haul_wire::{Checksum, DigestPlan, ObjectProperties, Payload};

/// A part that the server has.
#[derive(Clone, Debug)]
pub(crate) struct SentPart {
    pub(crate) part: CompletedPart,
    pub(crate) size: u64,
}

/// Makes the object of all its parts, in whatever order they arrived. `is_encrypted`: their answers
/// confirmed the encryption that was asked for.
pub(crate) async fn complete_upload(
    engine: &Engine,
    upload: &OpenUpload,
    sent: &mut [SentPart],
    (object_size, expected): (u64, Option<&Expected>),
    is_encrypted: bool,
) -> Result<()> {
    sent.sort_unstable_by_key(|sent| sent.part.part_number);
    let in_order = sent.iter().zip(1..).all(|(sent, n)| sent.part.part_number == n);
    let bytes: u64 = sent.iter().map(|sent| sent.size).sum();
    assert!(in_order && bytes == object_size, "an upload is only completed with all its parts");
    let checksum = full_object_checksum(sent);
    let parts: Vec<_> = sent.iter().map(|sent| sent.part.clone()).collect();
    if expected.is_some() && !engine.heeds_conditions() {
        // It was looked at before the first part, which may be long ago.
        refuse_unexpected(engine, &upload.key, expected).await?;
    }
    let settings = &engine.settings;
    let input = CompleteMultipart {
        bucket: &upload.bucket,
        key: &upload.key,
        upload_id: &upload.id,
        parts: &parts,
        full_object_checksum: checksum.as_ref(),
        object_size: Some(object_size),
        conditions: conditions_of(engine, expected),
        customer_key: settings.properties.customer_key.as_ref(),
        encryption: upload.encryption.as_ref(),
        is_encrypted,
    };
    match engine.send(|| engine.target.complete_multipart(input)).await {
        Err(error) if has_no_conditions(engine, expected, &error) => {
            let conditions = Conditions::default();
            let input = CompleteMultipart { conditions, ..input };
            engine.send(|| engine.target.complete_multipart(input)).await?;
        }
        completed => _ = completed?,
    }
    engine.uploads.completed(upload);
    Ok(())
}

/// Checksum of the whole object, if the server returned those of all parts and they can be
/// combined.
fn full_object_checksum(sent: &[SentPart]) -> Option<Checksum> {
    let pieces: Option<Vec<_>> = sent.iter().map(piece_of).collect();
    combine(pieces?)
}

fn piece_of(sent: &SentPart) -> Option<Piece> {
    Some(Piece { checksum: sent.part.checksum.clone()?, length: sent.size })
}

/// An upload at work.
pub(crate) struct MultipartUpload {
    engine: Arc<Engine>,
    upload: Arc<OpenUpload>,
    plan: DigestPlan,
    tasks: Tasks<Result<SentPart>>,
    sent: Vec<SentPart>,
    /// Numbers of the parts that an earlier run sent.
    before: HashSet<u32>,
    /// Bytes of these that were not reported as moved.
    unreported: u64,
    given_up: Arc<AtomicBool>,
    parts_in_flight_max: usize,
}

impl MultipartUpload {
    /// Begins an upload to a key of the job's target bucket.
    pub(crate) async fn begin(
        engine: &Arc<Engine>,
        key: &str,
        properties: ObjectProperties,
        part_size: u64,
    ) -> Result<Self> {
        engine.settings.check_part_size(part_size)?;
        let plan = engine.target.upload_digests(engine.settings.checksum_algorithm);
        let bucket = &engine.settings.target_bucket;
        let begin = || engine.uploads.begin(bucket, key, properties, plan.checksum, None);
        let upload = engine.send(begin).await?;
        Ok(Self::of(engine, upload, plan, Vec::new()))
    }

    /// The same for a source of which a state is known; goes on with the upload of an earlier run,
    /// where there is one of the same state.
    pub(crate) async fn begin_or_resume(
        engine: &Arc<Engine>,
        key: &str,
        properties: ObjectProperties,
        source: PartsSource,
    ) -> Result<Self> {
        engine.settings.check_part_size(source.part_size)?;
        let plan = engine.target.upload_digests(engine.settings.checksum_algorithm);
        let bucket = &engine.settings.target_bucket;
        let resume = || engine.uploads.resume(bucket, key, &properties, &source);
        if let Some((upload, listed)) = engine.send(resume).await? {
            let sent = sent_before(listed, &source, |part| {
                part.checksum.as_ref().map(|checksum| checksum.algorithm) == plan.checksum
            });
            let before_bytes = bytes_of(&sent);
            let reported = engine.uploads.resumed(&engine.report, before_bytes);
            let unreported = before_bytes - reported;
            return Ok(Self { unreported, ..Self::of(engine, upload, plan, sent) });
        }
        let source = Some(source);
        let begin = || engine.uploads.begin(bucket, key, properties, plan.checksum, source);
        let upload = engine.send(begin).await?;
        Ok(Self::of(engine, upload, plan, Vec::new()))
    }

    /// Whether this process has to send a part: the server has none, and no other sends it.
    pub(crate) fn needs(&self, part_number: u32) -> bool {
        !self.before.contains(&part_number) && self.engine.uploads.sends(part_number)
    }

    /// Checksums of the parts that the server had before, with their numbers.
    pub(crate) fn pieces_before(&self) -> Vec<(u32, Piece)> {
        let before = self.sent.iter().filter(|sent| self.before.contains(&sent.part.part_number));
        before.filter_map(|sent| Some((sent.part.part_number, piece_of(sent)?))).collect()
    }

    fn of(
        engine: &Arc<Engine>,
        upload: Arc<OpenUpload>,
        plan: DigestPlan,
        sent: Vec<SentPart>,
    ) -> Self {
        Self {
            engine: Arc::clone(engine),
            upload,
            plan,
            tasks: Tasks::new(),
            before: sent.iter().map(|sent| sent.part.part_number).collect(),
            unreported: 0,
            sent,
            given_up: Arc::default(),
            parts_in_flight_max: usize::MAX,
        }
    }

    /// The digests that parts are sent with.
    pub(crate) fn plan(&self) -> DigestPlan {
        self.plan
    }

    /// Set once a part has failed, so that the others need not be fetched.
    pub(crate) fn given_up(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.given_up)
    }

    /// Bounds the parts in memory below what the budget allows.
    pub(crate) fn limit_parts_in_flight(&mut self, parts_max: usize) {
        self.parts_in_flight_max = parts_max.max(1);
    }

    /// Sends a part that `read` gives on a thread that may block. Returns when the part has its
    /// share of the memory budget, not when it is sent; fails when an earlier part failed.
    pub(crate) async fn send(
        &mut self,
        part_number: u32,
        size: u64,
        read: impl FnOnce() -> Result<Payload> + Send + 'static,
    ) -> Result<()> {
        let plan = self.plan;
        let read = move || {
            let mut payload = read()?;
            payload.digest(plan);
            Ok(payload)
        };
        self.send_fetched(part_number, size, blocking(read)).await
    }

    /// The same for a part that `fetch` brings, best with the digests of [`Self::plan`], and of
    /// which so many bytes are in memory at once.
    pub(crate) async fn send_fetched(
        &mut self,
        part_number: u32,
        held: u64,
        fetch: impl Future<Output = Result<Payload>> + Send + 'static,
    ) -> Result<()> {
        while self.tasks.len() >= self.parts_in_flight_max {
            self.collect_next().await?;
        }
        let share = self.engine.limits.budget.take(held).await;
        while let Some(result) = self.tasks.try_next() {
            self.sent.push(result?);
        }
        let task = PartTask {
            engine: Arc::clone(&self.engine),
            upload: Arc::clone(&self.upload),
            plan: self.plan,
            given_up: Arc::clone(&self.given_up),
            part_number,
            _share: share,
        };
        self.tasks.spawn(task.run(fetch));
        Ok(())
    }

    /// Waits until all parts are sent; gives the bytes sent.
    pub(crate) async fn all_sent(&mut self) -> Result<u64> {
        while self.tasks.len() > 0 {
            self.collect_next().await?;
        }
        self.sent.sort_unstable_by_key(|sent| sent.part.part_number);
        Ok(bytes_of(&self.sent))
    }

    async fn collect_next(&mut self) -> Result<()> {
        if let Some(result) = self.tasks.next().await {
            self.sent.push(result?);
        }
        Ok(())
    }

    /// Makes the object of its parts, unless another process does that. All of them were sent
    /// before.
    pub(crate) async fn complete(
        &mut self,
        parts_expected: u32,
        (object_size, expected): (u64, Option<&Expected>),
    ) -> Result<()> {
        self.all_sent().await?;
        if !self.engine.uploads.completes() {
            return Ok(());
        }
        assert!(
            self.sent.len() == parts_expected as usize,
            "an upload is only completed with all its parts"
        );
        let object = (object_size, expected);
        complete_upload(&self.engine, &self.upload, &mut self.sent, object, true).await
    }

    /// Lets the parts in flight end, takes back their progress and drops the upload.
    pub(crate) async fn abandon(mut self, error: &Error) {
        self.given_up.store(true, Ordering::Relaxed);
        while let Some(result) = self.tasks.next().await {
            self.sent.extend(result.ok());
        }
        let uploads = &self.engine.uploads;
        uploads.abandoned(&self.engine.report, bytes_of(&self.sent) - self.unreported);
        self.engine.send(|| uploads.give_up(&self.upload, error)).await;
    }
}

fn bytes_of(sent: &[SentPart]) -> u64 {
    sent.iter().map(|sent| sent.size).sum()
}

/// The parts of an upload that an earlier run sent and that are of use: of the size that they have
/// to have, and with what they are held against.
pub(crate) fn sent_before(
    listed: Vec<CompletedPart>,
    source: &PartsSource,
    is_of_use: impl Fn(&CompletedPart) -> bool,
) -> Vec<SentPart> {
    let parts = parts(source.size, source.part_size);
    let sent = listed.into_iter().filter_map(|part| {
        let size = parts.get(part.part_number)?.range.len();
        (part.size == size && is_of_use(&part)).then_some(SentPart { part, size })
    });
    sent.collect()
}

/// One part on its way.
struct PartTask {
    engine: Arc<Engine>,
    upload: Arc<OpenUpload>,
    plan: DigestPlan,
    given_up: Arc<AtomicBool>,
    part_number: u32,
    _share: Share,
}

impl PartTask {
    async fn run(
        self,
        fetch: impl Future<Output = Result<Payload>> + Send + 'static,
    ) -> Result<SentPart> {
        self.check()?;
        let payload = fetch.await?;
        let size = payload.len();
        let checksum = payload.digests().checksum.clone();
        self.engine.bandwidth.take(size).await;
        self.check()?;
        let (payload, sending) = self.engine.report.sending(payload);
        let part = self.engine.send(|| self.engine.uploads.outliving(self.request(payload))).await;
        let mut part = part?;
        part.checksum = checksum.or(part.checksum);
        sending.done();
        Ok(SentPart { part, size })
    }

    /// The request, which holds nothing of the engine, so that it may outlive the job.
    fn request(
        &self,
        payload: Payload,
    ) -> impl Future<Output = Result<CompletedPart>> + Send + 'static {
        let (client, upload) = (self.engine.target.clone(), Arc::clone(&self.upload));
        let customer_key = self.engine.settings.properties.customer_key.clone();
        let (part_number, checksum) = (self.part_number, self.plan.checksum);
        async move {
            let input = UploadPart {
                bucket: &upload.bucket,
                key: &upload.key,
                upload_id: &upload.id,
                part_number,
                payload,
                checksum,
                encryption: upload.encryption.as_ref(),
                customer_key: customer_key.as_ref(),
            };
            client.upload_part(input).await
        }
    }

    fn check(&self) -> Result<()> {
        if self.given_up.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Cancelled, "another part failed"));
        }
        Ok(())
    }
}
