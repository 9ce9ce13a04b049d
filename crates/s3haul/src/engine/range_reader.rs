//! Reads ranges of an object so that a broken connection costs only what had not arrived.
//!
//! A body that stops is taken for broken long before the client's read timeout: see
//! [`silence_max`].

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::core::{Engine, Place};
use s3haul_wire::error::{Effort, Error, ErrorKind, Result};
use s3haul_wire::ops::{Conditions, GetObject, ObjectBody};
use s3haul_wire::units::ByteRange;
use s3haul_wire::{ChecksumMode, ObjectHead, is_progress};

/// Requests for one range that may fail in a row without a new byte.
pub(crate) const ATTEMPTS_MAX: u32 = 5;
/// Wait before the second attempt; doubles each time.
const BACKOFF: Duration = Duration::from_millis(50);

/// Time without a byte after which a body is taken for broken, the first time. Whatever passes by
/// itself has passed by then: a lost packet is sent again after 0.2 s, then twice as long each
/// time, so for the sixth time after 6 to 7 s; servers and balancers that fail over, or collect
/// garbage, take seconds.
const SILENCE: Duration = Duration::from_secs(10);

/// Time without a byte after which a body is taken for broken, after so many failures in a row:
/// going on elsewhere costs one request, but a server that needs its time must not be cut short
/// each time. Before it is given up it has the client's read timeout, which bounds all of these.
pub(crate) fn silence_max(failures: u32) -> Duration {
    if failures + 1 >= ATTEMPTS_MAX { Duration::MAX } else { SILENCE * 2_u32.pow(failures) }
}

/// An object, and the state of it that all ranges must come from.
#[derive(Clone, Debug)]
pub(crate) struct ObjectState {
    /// Key.
    pub(crate) key: String,
    /// Version; the current one where absent.
    pub(crate) version_id: Option<String>,
    /// `ETag` with its quotes; empty where unknown.
    pub(crate) etag: String,
    /// Its size; none where unknown.
    size: Option<u64>,
    /// Where it is.
    place: Place,
    /// `ETag` that the first range came with. Not every server heeds `If-Match`, and not every
    /// listing includes `ETag`s: without this, ranges of two states could make one file.
    seen: Arc<OnceLock<String>>,
}

impl ObjectState {
    /// A state of an object of the source of which no range was read yet.
    pub(crate) fn new(key: String, etag: String) -> Self {
        let (version_id, size, place) = (None, None, Place::Source);
        Self { key, version_id, etag, size, place, seen: Arc::default() }
    }

    /// The same elsewhere.
    pub(crate) fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// The same with the size that it was found with, or is read to.
    pub(crate) fn of_size(self, size: u64) -> Self {
        Self { size: Some(size), ..self }
    }

    /// The `ETag` that ranges came with; empty where there were none.
    pub(crate) fn seen(&self) -> &str {
        self.seen.get().map_or("", String::as_str)
    }

    /// There was an answer: ranges must have its `ETag`, also where the server heeds no condition.
    pub(crate) fn saw(&mut self, etag: &str) {
        etag.clone_into(&mut self.etag);
        self.seen = Arc::new(etag.to_owned().into());
    }

    /// The same of one version.
    pub(crate) fn in_version(self, version_id: Option<String>) -> Self {
        Self { version_id, ..self }
    }
}

/// Whether stored checksums are asked for.
pub(crate) fn wants_checksums(engine: &Engine) -> bool {
    engine.settings.checksum_mode
        || engine.source.config().response_checksums == ChecksumMode::WhenSupported
}

/// Opens an object or a range of it.
pub(crate) async fn open(
    engine: &Engine,
    object: &ObjectState,
    range: Option<ByteRange>,
) -> Result<ObjectBody> {
    let if_match = (range.is_some() && !object.etag.is_empty()).then_some(object.etag.as_str());
    let input = GetObject {
        bucket: object.place.bucket(engine),
        key: &object.key,
        version_id: object.version_id.as_deref(),
        range,
        conditions: Conditions { if_match, if_absent: false },
        known_etag: Some(&object.etag),
        customer_key: object.place.customer_key(engine),
        checksums: wants_checksums(engine),
    };
    let body = object.place.client(engine).get_object(input).await;
    let body = body.map_err(|error| changed(engine, object, error))?;
    if range.is_some() {
        if *object.seen.get_or_init(|| body.head.etag.clone()) != body.head.etag {
            return Err(replaced(engine, object));
        }
        if let Some(size) = object.size.filter(|size| *size != body.head.size) {
            return Err(resized(engine, object, size, &body.head));
        }
    }
    match range {
        Some(range) if body.range != range => Err(Error::new(
            ErrorKind::Integrity,
            format!(
                "asked for bytes {}-{} of `{}`, got {}-{}",
                range.start,
                range.end - 1,
                object.key,
                body.range.start,
                body.range.end.saturating_sub(1)
            ),
        )),
        _ => Ok(body),
    }
}

/// A condition that no longer holds means that the object was replaced.
fn changed(engine: &Engine, object: &ObjectState, error: Error) -> Error {
    if error.kind() != ErrorKind::PreconditionFailed {
        return error;
    }
    replaced(engine, object)
}

/// The object has another state than the one that is read.
pub(crate) fn replaced(engine: &Engine, object: &ObjectState) -> Error {
    let (key, bucket) = (&object.key, object.place.bucket(engine));
    let message = format!(
        "Contents of stored object \"{key}\" in bucket \"{bucket}\" did not match expected ETag."
    );
    Error::new(ErrorKind::SourceChanged, message)
}

/// The answer to a range says that the object has another size. Where its `ETag` is the same, the
/// server contradicts itself.
fn resized(engine: &Engine, object: &ObjectState, size: u64, found: &ObjectHead) -> Error {
    let (key, bucket) = (&object.key, object.place.bucket(engine));
    let (kind, so) = if object.etag == found.etag {
        (ErrorKind::Integrity, ", though its ETag is the same")
    } else {
        (ErrorKind::SourceChanged, "")
    };
    let message = format!("s3://{bucket}/{key} had {size} bytes, and now has {}{so}", found.size);
    Error::new(kind, message)
}

/// Whether reading on with a new request may help: the body broke. A request that brought no answer
/// was tried as often as the client allows.
pub(crate) fn may_resume(error: &Error) -> bool {
    let is_passing = matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout);
    is_passing && error.effort().attempts == 0
}

/// The final error after so many requests since then.
pub(crate) fn gave_up(error: Error, attempts: u32, since: Instant) -> Error {
    let was_repeated =
        matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout | ErrorKind::Integrity);
    if !was_repeated || attempts <= 1 || error.effort().attempts > 0 {
        return error;
    }
    error.with_effort(Effort { attempts, elapsed: since.elapsed(), ..Effort::default() })
}

/// Waits before the next attempt; `failures` is at least 1.
pub(crate) async fn back_off(failures: u32) {
    tokio::time::sleep(BACKOFF * 2_u32.pow(failures.saturating_sub(1).min(6))).await;
}

/// A range that is read from as many requests as it takes.
pub(crate) struct RangeReader<'a> {
    engine: &'a Engine,
    object: &'a ObjectState,
    rest: ByteRange,
    open: Option<ObjectBody>,
    /// Bytes that the present request brought.
    brought: u64,
    failures: u32,
    /// When these failures began.
    since: Instant,
    head: Option<ObjectHead>,
}

impl<'a> RangeReader<'a> {
    /// A reader of a range, which must not be empty.
    pub(crate) fn new(engine: &'a Engine, object: &'a ObjectState, range: ByteRange) -> Self {
        let (open, head, since) = (None, None, Instant::now());
        Self { engine, object, rest: range, open, brought: 0, failures: 0, since, head }
    }

    /// Headers of the first answer, once there was one.
    pub(crate) fn take_head(&mut self) -> Option<ObjectHead> {
        self.head.take()
    }

    /// The next bytes; `None` when the range is complete.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>> {
        while !self.rest.is_empty() {
            match self.step().await {
                Ok(bytes) if !bytes.is_empty() => {
                    self.brought += bytes.len() as u64;
                    self.rest.start += bytes.len() as u64;
                    self.engine.bandwidth.take(bytes.len() as u64).await;
                    return Ok(Some(bytes));
                }
                Ok(_) => {}
                Err(error) => {
                    self.open = None;
                    if is_progress(&error, std::mem::take(&mut self.brought)) {
                        (self.failures, self.since) = (0, Instant::now());
                    }
                    self.failures += 1;
                    if !may_resume(&error) || self.failures >= ATTEMPTS_MAX {
                        return Err(gave_up(error, self.failures, self.since));
                    }
                    back_off(self.failures).await;
                }
            }
        }
        Ok(None)
    }

    /// The next bytes, at least so many unless the range ends; nothing at the end.
    pub(crate) async fn gather(&mut self, bytes_min: u64) -> Result<Vec<Bytes>> {
        let (mut chunks, mut length) = (Vec::new(), 0);
        while length < bytes_min
            && let Some(bytes) = self.next().await?
        {
            length += bytes.len() as u64;
            chunks.push(bytes);
        }
        Ok(chunks)
    }

    async fn step(&mut self) -> Result<Bytes> {
        if self.open.is_none() {
            let mut body = open(self.engine, self.object, Some(self.rest)).await?;
            body.body.limit_silence(silence_max(self.failures));
            self.head.get_or_insert_with(|| std::mem::take(&mut body.head));
            self.open = Some(body);
        }
        let early = || Error::new(ErrorKind::Transport, "the body ended early");
        let Some(body) = &mut self.open else { return Err(early()) };
        let bytes = body.body.next().await.ok_or_else(early)??;
        if bytes.len() as u64 > self.rest.len() {
            return Err(Error::new(ErrorKind::Integrity, "the body is longer than requested"));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::engine::settings::Tuning;
    use crate::engine::testing::engine;
    use s3haul_wire::testing::{Reply, Seen, World};

    /// The range that was asked for of an object of 1 MiB, whose `ETag` is `etag`.
    pub(crate) fn ranged(seen: &Seen, etag: &str) -> Reply {
        let asked = seen.header("range").unwrap().strip_prefix("bytes=").unwrap();
        let (first, last) = asked.split_once('-').unwrap();
        let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
        let headers = format!("content-range: bytes {first}-{last}/1048576\r\netag: {etag}\r\n");
        Reply::status(206, &headers, &"x".repeat(last + 1 - first))
    }

    #[tokio::test(start_paused = true)]
    async fn another_size_is_named_and_no_other_etag() {
        let world = World::new(|seen| ranged(seen, "\"a\""));
        let (engine, _ended) = engine(&world, Tuning::default());
        for (etag, kind, end) in [
            ("\"a\"", ErrorKind::Integrity, "1048576, though its ETag is the same"),
            ("\"b\"", ErrorKind::SourceChanged, "1048576"),
            ("", ErrorKind::SourceChanged, "1048576"),
        ] {
            let object = ObjectState::new("k".to_owned(), etag.to_owned()).of_size(100);
            let range = ByteRange { start: 0, end: 10 };
            let error = RangeReader::new(&engine, &object, range).next().await.unwrap_err();
            assert_eq!(error.kind(), kind);
            let text = error.to_string();
            assert!(
                text.contains("/k had 100 bytes, and now has ") && text.ends_with(end),
                "{text}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn ranges_of_two_states_are_not_put_together() {
        // The server heeds no condition, and the object is replaced after the second range.
        let world =
            World::new(|seen| ranged(seen, if seen.number < 2 { "\"a\"" } else { "\"b\"" }));
        let (engine, _ended) = engine(&world, Tuning::default());
        let object = ObjectState::new("k".to_owned(), String::new());
        for (start, is_whole) in [(0, true), (10, true), (20, false)] {
            let copy = object.clone();
            let mut reader = RangeReader::new(&engine, &copy, ByteRange { start, end: start + 10 });
            match reader.next().await {
                Ok(bytes) => assert!(is_whole && bytes.unwrap().len() == 10),
                Err(error) => {
                    assert!(!is_whole && error.kind() == ErrorKind::SourceChanged, "{error}");
                }
            }
        }
    }
}
