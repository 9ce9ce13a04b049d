//! Objects to objects through this machine, where the server of the target cannot read the source:
//! another endpoint, other credentials.
//!
//! A small object is one GET and one PUT; a large one is read in ranges of one state (`If-Match`)
//! that are the parts of a multipart upload, in parallel. Each is held in memory until it is sent,
//! so that it can be sent again, within the job's budget. What arrives is held against the
//! checksum that the source has; what is sent carries its own. The target is a new object, so
//! metadata and tags are read and sent ([`crate::engine::copy_props`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::time::Instant;

use crate::engine::copy_props::{CopyPlan, forget_metadata, inherit};
use crate::engine::core::{Engine, Place};
use crate::engine::integrity::{Piece, check, combine, expected_of, may_read_again};
use crate::engine::limits::blocking;
use crate::engine::multipart::MultipartUpload;
use crate::engine::object::{check_source, head, head_at, put, refuse_unexpected};
use crate::engine::parts::{Part, parts};
use crate::engine::portion::Portion;
use crate::engine::range_reader::{ObjectState, RangeReader, back_off, gave_up};
use crate::engine::receive::{Answer, receive};
use crate::engine::server_copy::{
    carry_tags, head_of, part_size, parts_state, refuse_move_onto_itself, said_properties,
    write_tags,
};
use crate::engine::settings::MetadataDirective;
use crate::journal::state::PartsSource;
use crate::plan::action::CopyAction;
use crate::plan::expected::Expected;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::{
    Checksum, ChecksumAlgorithm, CredentialsConfig, DigestPlan, Hasher, ObjectHead,
    ObjectProperties, Payload,
};

/// Relays a small object. The action learns the state that was relayed.
pub(crate) async fn relay_whole(engine: &Arc<Engine>, action: &mut CopyAction) -> Result<()> {
    refuse_move_onto_itself(engine, action)?;
    refuse_unexpected(engine, &action.target_key, action.expected.as_deref()).await?;
    let share = engine.limits.budget.take(action.size).await;
    let version_id = action.version_id.as_deref();
    let listed = (action.size, action.etag.as_str());
    let answer = receive(engine, &action.source_key, version_id, listed).await?;
    check_source(action.expected.as_deref(), answer.head())?;
    match answer {
        Answer::Whole { chunks, head } => {
            send_whole(engine, action, chunks, &head).await?;
            drop(share);
        }
        Answer::Grown(head) => {
            drop(share);
            Box::pin(send_in_parts(engine, action, &head)).await?;
        }
    }
    refuse_one_object(engine, action).await
}

/// Relays a large object in parts. The action learns the state that was relayed.
pub(crate) async fn relay_parts(engine: &Arc<Engine>, action: &mut CopyAction) -> Result<()> {
    refuse_move_onto_itself(engine, action)?;
    refuse_unexpected(engine, &action.target_key, action.expected.as_deref()).await?;
    let head = head_of(engine, action).await?;
    check_source(action.expected.as_deref(), &head)?;
    if head.size == 0 {
        send_whole(engine, action, Vec::new(), &head).await?;
    } else {
        Box::pin(send_in_parts(engine, action, &head)).await?;
    }
    if !engine.uploads.completes() {
        return Ok(());
    }
    refuse_one_object(engine, action).await
}

/// Two endpoints may lead to one server. Where a move would end on its own source, the target just
/// written is the source too, and removing it would lose the object.
async fn refuse_one_object(engine: &Engine, action: &CopyAction) -> Result<()> {
    if !engine.settings.is_move || action.source_key != action.target_key {
        return Ok(());
    }
    let result = async {
        let source = head(engine, &action.source_key, None).await?;
        let target = head_at(engine, Place::Target, &action.target_key, None).await?;
        let state = |head: ObjectHead| (head.etag, head.last_modified_s);
        if state(source) != state(target) {
            return Ok(());
        }
        let message = format!(
            "`{}` was not removed: source and target may be one object, because both endpoints \
             report the same state of it; if they are two, run the command again",
            action.source_key
        );
        Err(Error::new(ErrorKind::Request, message))
    };
    let result = result.await;
    if result.is_err() {
        engine.report.unmoved(action.size);
    }
    result
}

async fn send_whole(
    engine: &Engine,
    action: &mut CopyAction,
    chunks: Vec<Bytes>,
    head: &ObjectHead,
) -> Result<()> {
    action.size = head.size;
    action.etag.clone_from(&head.etag);
    let plan = CopyPlan::relayed(&engine.settings);
    let mut properties = properties_of(engine, action, plan, head);
    // A GET returns the number of tags to callers with permission to read them: so tags are not
    // requested if there are none or if they cannot be read. The first object of a job determines
    // that; a move, which leaves no other copy, requests them each time.
    let asks = head
        .tagging_count
        .map_or_else(|| engine.settings.is_move || !engine.has_asked_tags(), |count| count > 0);
    let later_tags =
        if asks { relay_tags(engine, action, plan, &mut properties).await? } else { None };
    let digests = engine.target.upload_digests(engine.settings.checksum_algorithm);
    let (payload, _) = digest(chunks, digests, None).await;
    let target = (action.target_key.as_str(), action.expected.as_deref());
    put(engine, target, payload, &properties).await?;
    match later_tags {
        Some(tags) => write_tags(engine, action, &tags).await,
        None => Ok(()),
    }
}

/// Copies tags as far as they can be read. Permission to read an object does not imply permission
/// to read its tags, least of all for unsigned requests. A move fails then: it would lose them.
async fn relay_tags(
    engine: &Engine,
    action: &CopyAction,
    plan: CopyPlan,
    properties: &mut ObjectProperties,
) -> Result<Option<Vec<(String, String)>>> {
    match carry_tags(engine, action, plan, properties).await {
        Err(error) if error.kind() == ErrorKind::AccessDenied && !engine.settings.is_move => {
            let is_anonymous =
                matches!(engine.source.config().credentials, CredentialsConfig::Anonymous);
            if !is_anonymous && !engine.tags_warned.swap(true, Ordering::Relaxed) {
                engine.report.warning(format!(
                    "tags of `s3://{}` cannot be read and are not copied (--copy-props \
                     metadata-directive leaves them out): {error}",
                    engine.settings.source_bucket
                ));
            }
            Ok(None)
        }
        carried => carried,
    }
}

/// What the target carries, but for the tags.
fn properties_of(
    engine: &Engine,
    action: &CopyAction,
    plan: CopyPlan,
    head: &ObjectHead,
) -> ObjectProperties {
    let mut properties = said_properties(engine, action, plan);
    if engine.settings.metadata_directive == Some(MetadataDirective::Copy) {
        forget_metadata(&mut properties);
    }
    if plan.inherit_properties {
        inherit(&mut properties, head.properties.clone());
    }
    properties
}

async fn send_in_parts(
    engine: &Arc<Engine>,
    action: &mut CopyAction,
    head: &ObjectHead,
) -> Result<()> {
    action.size = head.size;
    action.etag.clone_from(&head.etag);
    let plan = CopyPlan::relayed(&engine.settings);
    let mut properties = properties_of(engine, action, plan, head);
    let later_tags = relay_tags(engine, action, plan, &mut properties).await?;
    let began = Instant::now();
    for times in 1.. {
        match Box::pin(relay_object(engine, action, head, properties.clone())).await {
            Err(error) if may_read_again(&error, times) => back_off(times).await,
            result => {
                result.map_err(|error| gave_up(error, times, began))?;
                break;
            }
        }
    }
    match later_tags {
        Some(tags) if engine.uploads.completes() => write_tags(engine, action, &tags).await,
        _ => Ok(()),
    }
}

/// Reads all parts of an object and sends them.
async fn relay_object(
    engine: &Arc<Engine>,
    action: &CopyAction,
    head: &ObjectHead,
    properties: ObjectProperties,
) -> Result<()> {
    let Some(mut upload) = begin(engine, action, head, properties).await? else { return Ok(()) };
    let relay = Arc::new(PartsRelay {
        engine: Arc::clone(engine),
        object: ObjectState::new(action.source_key.clone(), head.etag.clone())
            .in_version(action.version_id.clone())
            .of_size(action.size),
        expected: expected_of(head),
        plan: upload.plan(),
        given_up: upload.given_up(),
        pieces: Mutex::default(),
    });
    let result = relay.run(&mut upload, (action.size, action.expected.as_deref())).await;
    if let Err(error) = &result {
        upload.abandon(error).await;
    }
    result
}

/// Begins the upload of an object, or goes on with what another process or run began. What
/// arrives at several processes can be held against the source's checksum only where the parts are
/// sent with the same: else nothing is begun, and one process sends all.
async fn begin(
    engine: &Arc<Engine>,
    action: &CopyAction,
    head: &ObjectHead,
    properties: ObjectProperties,
) -> Result<Option<MultipartUpload>> {
    let (key, part_size) = (&action.target_key, part_size(engine, action.size));
    let portion = engine.uploads.portion();
    if portion.is_none() && engine.report.journal().is_none() {
        return MultipartUpload::begin(engine, key, properties, part_size).await.map(Some);
    }
    let plan = engine.target.upload_digests(engine.settings.checksum_algorithm);
    let is_other = |expected: Checksum| Some(expected.algorithm) != plan.checksum;
    let is_all_sent_by_one = expected_of(head).is_some_and(is_other);
    if is_all_sent_by_one && portion.is_some_and(Portion::is_begin) {
        return Ok(None);
    }
    let is_of_no_state = is_all_sent_by_one || head.etag.is_empty();
    let state = if is_of_no_state && portion.is_none() {
        // A later run finds the upload, and as it is of no state that it knows, aborts it.
        format!("{:032x}", fastrand::u128(..))
    } else {
        let version = action.version_id.as_deref();
        parts_state(&engine.settings, (&head.etag, version), &properties)
    };
    let source = PartsSource { state, size: action.size, part_size };
    MultipartUpload::begin_or_resume(engine, key, properties, source).await.map(Some)
}

/// A large object on its way.
struct PartsRelay {
    engine: Arc<Engine>,
    object: ObjectState,
    /// What the whole must have.
    expected: Option<Checksum>,
    plan: DigestPlan,
    given_up: Arc<AtomicBool>,
    /// Checksums of the parts that arrived, by their numbers.
    pieces: Mutex<Vec<(u32, Piece)>>,
}

impl PartsRelay {
    async fn run(
        self: &Arc<Self>,
        upload: &mut MultipartUpload,
        (size, expected): (u64, Option<&Expected>),
    ) -> Result<()> {
        let mut count = 0;
        for part in parts(size, part_size(&self.engine, size)) {
            count = part.number;
            if !upload.needs(part.number) {
                continue;
            }
            let relay = Arc::clone(self);
            let fetch = async move { relay.fetch(part).await };
            upload.send_fetched(part.number, part.range.len(), fetch).await?;
        }
        upload.all_sent().await?;
        if self.engine.uploads.completes() {
            self.verify(upload.pieces_before())?;
        }
        upload.complete(count, (size, expected)).await
    }

    /// Receives one part. The caller holds its share of the budget.
    async fn fetch(&self, part: Part) -> Result<Payload> {
        let chunks = self.engine.send(|| self.receive(part)).await?;
        let wanted = self.expected.as_ref().map(|expected| expected.algorithm);
        let (payload, checksum) = digest(chunks, self.plan, wanted).await;
        if let Some(checksum) = checksum {
            let piece = Piece { checksum, length: part.range.len() };
            let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
            pieces.push((part.number, piece));
        }
        Ok(payload)
    }

    async fn receive(&self, part: Part) -> Result<Vec<Bytes>> {
        let mut reader = RangeReader::new(&self.engine, &self.object, part.range);
        let mut chunks = Vec::new();
        while let Some(bytes) = reader.next().await? {
            if self.given_up.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Cancelled, "another part failed"));
            }
            chunks.push(bytes);
        }
        Ok(chunks)
    }

    /// Holds what arrived, here and before, against the source's checksum.
    fn verify(&self, mut pieces: Vec<(u32, Piece)>) -> Result<()> {
        let Some(expected) = &self.expected else { return Ok(()) };
        pieces.append(&mut self.pieces.lock().unwrap_or_else(PoisonError::into_inner));
        pieces.sort_unstable_by_key(|(number, _)| *number);
        let computed = combine(pieces.into_iter().map(|(_, piece)| piece));
        check(&self.object.key, expected, computed.as_ref())
    }
}

/// Computes the digests that a body is sent with, and the checksum that it is verified by.
async fn digest(
    chunks: Vec<Bytes>,
    plan: DigestPlan,
    wanted: Option<ChecksumAlgorithm>,
) -> (Payload, Option<Checksum>) {
    let compute = move || {
        let mut payload = Payload::from_chunks(chunks);
        payload.digest(plan);
        let sent = payload.digests().checksum.clone();
        let checksum = wanted.map(|algorithm| match sent {
            Some(sent) if sent.algorithm == algorithm => sent,
            _ => {
                let mut hasher = Hasher::new(algorithm);
                payload.chunks().iter().for_each(|chunk| hasher.update(chunk));
                hasher.finish()
            }
        });
        (payload, checksum)
    };
    blocking(compute).await
}
