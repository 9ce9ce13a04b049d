//! Small objects, received whole into memory.
//!
//! A body that ends early or stalls is resumed from the byte reached, as long as the object is the
//! same; its checksum is then computed over all of it.
//!
//! The caller holds a share of the memory budget for the planned size. An object that has grown
//! since is not received, so the share is always sufficient.

use bytes::Bytes;
use md5::{Digest as _, Md5};
use tokio::time::Instant;

use super::core::Engine;
use super::integrity::check;
use crate::engine::inline_io::INLINE_SIZE_MAX;
use crate::engine::limits::blocking;
use crate::engine::range_reader::{
    ATTEMPTS_MAX, ObjectState, back_off, gave_up, may_resume, open, silence_max, wants_checksums,
};
use crate::plan::content::md5_of_etag;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::units::{ByteRange, hex};
use s3haul_wire::{Hasher, ObjectHead, is_progress};

/// What a GET of a small object gave.
pub(crate) enum Answer {
    /// All of it.
    Whole {
        /// The bytes.
        chunks: Vec<Bytes>,
        /// Headers.
        head: Box<ObjectHead>,
    },
    /// Only headers: the object was replaced by a larger one since it was planned.
    Grown(Box<ObjectHead>),
}

impl Answer {
    /// Headers of the object.
    pub(crate) fn head(&self) -> &ObjectHead {
        let (Self::Whole { head, .. } | Self::Grown(head)) = self;
        head
    }
}

/// Receives an object that was planned with a size and an `ETag`: at most that many bytes, and
/// exactly that many if the object is still the same.
pub(crate) async fn receive(
    engine: &Engine,
    key: &str,
    version_id: Option<&str>,
    (size_max, etag): (u64, &str),
) -> Result<Answer> {
    let (mut restarts, mut failures, mut attempts, began) = (0, 0, 0, Instant::now());
    let mut receiving = Receiving::of(key, version_id);
    loop {
        let before = receiving.received;
        attempts += 1;
        let result = engine.send(|| receiving.attempt(engine, (size_max, etag), failures)).await;
        let Err(error) = result else { return Ok(receiving.answer(size_max)) };
        let is_progress = is_progress(&error, receiving.received - before);
        failures = if is_progress { 1 } else { failures + 1 };
        let goes_on = may_resume(&error) && receiving.can_go_on();
        if !goes_on {
            restarts += 1;
            receiving = Receiving::of(key, version_id);
        }
        if failures.max(restarts) >= ATTEMPTS_MAX || !(goes_on || may_restart(&error)) {
            return Err(gave_up(error, attempts, began));
        }
        back_off(failures.max(restarts)).await;
    }
}

/// A small object is received from the start again where there is no way to go on, where it was
/// replaced meanwhile, and when its checksum did not match: the bytes may have been damaged on the
/// way.
fn may_restart(error: &Error) -> bool {
    may_resume(error) || matches!(error.kind(), ErrorKind::Integrity | ErrorKind::SourceChanged)
}

/// What was received so far of an object.
struct Receiving {
    object: ObjectState,
    head: Option<Box<ObjectHead>>,
    chunks: Vec<Bytes>,
    received: u64,
}

impl Receiving {
    fn of(key: &str, version_id: Option<&str>) -> Self {
        let object = ObjectState::new(key.to_owned(), String::new());
        let object = object.in_version(version_id.map(str::to_owned));
        Self { object, head: None, chunks: Vec::new(), received: 0 }
    }

    fn size(&self) -> u64 {
        self.head.as_ref().map_or(0, |head| head.size)
    }

    /// Whether the rest can be asked for: without a state to name, bytes of two objects could make
    /// one.
    fn can_go_on(&self) -> bool {
        let is_named = self.head.as_ref().is_some_and(|head| !head.etag.is_empty());
        is_named && self.received > 0 && self.received < self.size()
    }

    /// Receives all of it, or what is missing.
    async fn attempt(
        &mut self,
        engine: &Engine,
        (size_max, etag): (u64, &str),
        failures: u32,
    ) -> Result<()> {
        let (start, end) = (self.received, self.size());
        let rest = (start > 0).then_some(ByteRange { start, end });
        if let (Some(_), Some(head)) = (rest, &self.head) {
            self.object.saw(&head.etag);
        }
        let mut answer = open(engine, &self.object, rest).await?;
        answer.body.limit_silence(silence_max(failures));
        if rest.is_none() {
            let head = self.head.insert(Box::new(answer.head));
            check_size(&self.object.key, head, size_max, etag)?;
            if head.size > size_max {
                return Ok(());
            }
        }
        while let Some(bytes) = answer.body.next().await {
            let bytes = bytes?;
            self.received += bytes.len() as u64;
            if self.received > self.size() {
                // No more than there is a share of memory for.
                let message = format!("the body of `{}` is longer than announced", self.object.key);
                return Err(Error::new(ErrorKind::Integrity, message));
            }
            engine.bandwidth.take(bytes.len() as u64).await;
            self.chunks.push(bytes);
        }
        if self.received != self.size() {
            let (received, size, key) = (self.received, self.size(), &self.object.key);
            let message = format!("received {received} of {size} bytes of `{key}`");
            return Err(Error::new(ErrorKind::Transport, message));
        }
        if rest.is_some() {
            self.verify()?;
        }
        self.verify_etag(engine).await
    }

    /// Holds all bytes against the checksum of the object, which its first answer was to be held
    /// against at the end of its body.
    fn verify(&self) -> Result<()> {
        let head = self.head.as_ref().filter(|head| head.checksum_is_full_object);
        let Some(expected) = head.and_then(|head| head.checksums.first()) else { return Ok(()) };
        let mut hasher = Hasher::new(expected.algorithm);
        self.chunks.iter().for_each(|chunk| hasher.update(chunk));
        check(&self.object.key, expected, Some(&hasher.finish()))
    }

    /// Holds what is moved against an `ETag` that is an MD5, where nothing else has protected the
    /// bytes on their way: S3 keeps no checksum of the object, and they came over plain http.
    async fn verify_etag(&self, engine: &Engine) -> Result<()> {
        let is_unprotected =
            engine.settings.is_move && engine.source.config().is_plain() && wants_checksums(engine);
        let head = self
            .head
            .as_ref()
            .filter(|head| is_unprotected && head.may_have_md5_etag && head.checksums.is_empty());
        let Some(expected) = head.and_then(|head| md5_of_etag(&head.etag, head.size)) else {
            return Ok(());
        };
        let chunks = self.chunks.clone();
        let digest = move || {
            let mut hasher = Md5::new();
            for chunk in chunks {
                hasher.update(chunk);
            }
            hex(&hasher.finalize())
        };
        let is_small = self.received <= INLINE_SIZE_MAX;
        let computed = if is_small { digest() } else { blocking(digest).await };
        if computed == expected {
            return Ok(());
        }
        let key = &self.object.key;
        let message = format!(
            "the MD5 of `{key}` is {computed}, and its `ETag` is {expected}: if ETags are not MD5s \
             on this service, set response_checksum_validation = when_required"
        );
        Err(Error::new(ErrorKind::Integrity, message))
    }

    fn answer(self, size_max: u64) -> Answer {
        let head = self.head.unwrap_or_default();
        if head.size > size_max {
            return Answer::Grown(head);
        }
        Answer::Whole { chunks: self.chunks, head }
    }
}

/// The size of an object is that of the listing, unless it has become another one since.
fn check_size(key: &str, head: &ObjectHead, size: u64, etag: &str) -> Result<()> {
    let plain = |etag: &str| etag.trim_matches('"').to_owned();
    let is_same = head.etag.is_empty() || (!etag.is_empty() && plain(&head.etag) == plain(etag));
    if head.size == size || !is_same {
        return Ok(());
    }
    let message =
        format!("`{key}` was listed with {size} bytes, but the server sends {}", head.size);
    Err(Error::new(ErrorKind::Integrity, message))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::settings::{Settings, Tuning};
    use crate::engine::testing::{engine, engine_with};
    use s3haul_wire::testing::{self, Reply, Seen, World};
    use s3haul_wire::{Checksum, ChecksumAlgorithm};

    const CONTENT: &str = "0123456789";

    /// An answer with all from `start` on that stops before `end`.
    fn from(start: usize, end: usize, etag: &str, content: &str) -> Reply {
        let checksum = Checksum::of(ChecksumAlgorithm::Crc64Nvme, content.as_bytes());
        let (status, length) = if start > 0 { (206, content.len() - start) } else { (200, 10) };
        let reply = Reply::raw(format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\netag: {etag}\r\n\
             content-range: bytes {start}-9/10\r\n\
             x-amz-checksum-crc64nvme: {}\r\n\r\n{}",
            checksum.value,
            &content[start..end]
        ));
        if end < 10 { reply.hanging() } else { reply }
    }

    fn start_of(seen: &Seen) -> usize {
        let range = seen.header("range").map(|range| range.strip_prefix("bytes=").unwrap());
        range.map_or(0, |range| range.split_once('-').unwrap().0.parse().unwrap())
    }

    async fn receive_from(world: &World) -> (Result<Vec<u8>>, Duration) {
        let (engine, _ended) = engine(world, Tuning::default());
        let began = Instant::now();
        let answer = receive(&engine, "k", None, (10, "\"a\"")).await.map(|answer| match answer {
            Answer::Whole { chunks, .. } => chunks.concat(),
            Answer::Grown(_) => panic!("it did not grow"),
        });
        (answer, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn the_rest_is_asked_for_of_the_same_object() {
        let world = World::new(|seen| {
            let stops_at = [3, 7, 10][seen.number];
            from(start_of(seen), stops_at, "\"a\"", CONTENT)
        });
        let (answer, took) = receive_from(&world).await;
        assert_eq!(answer.unwrap(), CONTENT.as_bytes());
        let seen = world.seen();
        let asked = |number: usize| (seen[number].header("range"), seen[number].header("if-match"));
        assert_eq!(seen.len(), 3);
        assert_eq!(asked(0), (None, None));
        assert_eq!(asked(1), (Some("bytes=3-9"), Some("\"a\"")));
        assert_eq!(asked(2), (Some("bytes=7-9"), Some("\"a\"")));
        // The second pause is taken for broken later, but for what the client allows.
        assert!((30.0..30.5).contains(&took.as_secs_f64()), "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_without_an_answer_is_tried_no_more_often_than_the_client_allows() {
        let attempts_max = usize::try_from(testing::config().retry.max_attempts).unwrap();
        let mute = World::new(|_| Reply::error(500, "InternalError"));
        let lost = World::new(|seen| match seen.number {
            0 => from(0, 3, "\"a\"", CONTENT),
            _ => Reply::raw("").closing(),
        });
        for (world, before) in [(mute, 0), (lost, 1)] {
            let error = receive_from(&world).await.0.unwrap_err();
            assert_eq!(world.seen().len() - before, attempts_max, "{error}");
            assert_eq!(error.effort().attempts as usize, attempts_max, "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_of_which_each_request_brings_a_byte_is_given_up() {
        let content = "x".repeat(20_000);
        let world = World::new(move |seen| {
            let start = start_of(seen);
            let (status, length) = (if start > 0 { 206 } else { 200 }, content.len() - start);
            Reply::raw(format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\netag: \"a\"\r\n\
                 x-amz-request-id: 1\r\ncontent-range: bytes {start}-19999/20000\r\n\r\n{}",
                &content[start..]
            ))
            .trickling(Duration::from_millis(500))
        });
        let (engine, _ended) = engine(&world, Tuning::default());
        let began = Instant::now();
        let Err(error) = receive(&engine, "k", None, (20_000, "\"a\"")).await else {
            panic!("it came whole");
        };
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert_eq!(world.seen().len(), ATTEMPTS_MAX as usize);
        assert!(began.elapsed() < Duration::from_mins(26), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_of_two_objects_are_not_put_together() {
        // Replaced after the first answer; the server heeds no condition.
        let world = World::new(|seen| {
            let (etag, content) =
                if seen.number == 0 { ("\"a\"", CONTENT) } else { ("\"b\"", "abcdefghij") };
            from(start_of(seen), if seen.number == 0 { 3 } else { 10 }, etag, content)
        });
        let (answer, _) = receive_from(&world).await;
        assert_eq!(answer.unwrap(), b"abcdefghij");
        assert_eq!(world.seen().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_put_together_is_held_against_the_checksum() {
        let world = World::new(|seen| {
            let start = start_of(seen);
            let content = if start > 0 { "xxxxxxxxxx" } else { CONTENT };
            from(start, if start > 0 { 10 } else { 3 }, "\"a\"", content)
        });
        let error = receive_from(&world).await.0.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Integrity, "{error}");
        assert_eq!(world.seen().len(), 2 * ATTEMPTS_MAX as usize);
        assert!(error.to_string().contains("(gave up after 10 attempts in "), "{error}");
    }

    #[tokio::test]
    async fn what_is_moved_without_a_checksum_is_held_against_its_etag() {
        // The MD5 of the content.
        const ETAG: &str = "781e5e245d69b566979b86e28d23f2c7";
        let kms = "x-amz-server-side-encryption: aws:kms\r\n";
        let cases = [
            (true, ETAG, "", Some(2)),
            // Neither of these is an MD5.
            (true, "00000000000000000000000000000000", "", Some(1)),
            (true, "781e5e245d69b566979b86e28d23f2c7-1", "", Some(1)),
            (true, ETAG, kms, Some(1)),
            (false, ETAG, "", Some(1)),
            // Never its MD5.
            (true, "881e5e245d69b566979b86e28d23f2c7", "", None),
        ];
        for (is_move, etag, headers, attempts) in cases {
            let world = World::new(move |seen| {
                let body = if seen.number == 0 { "x123456789" } else { CONTENT };
                let headers = format!("etag: \"{etag}\"\r\n{headers}");
                Reply::status(200, &headers, body)
            });
            let settings = Settings { is_move, ..Settings::default() };
            let (engine, _ended) = engine_with(&world, settings);
            let answer = receive(&engine, "k", None, (10, "")).await;
            let Some(attempts) = attempts else {
                let Err(error) = answer else { panic!("{etag}") };
                assert_eq!(error.kind(), ErrorKind::Integrity, "{error}");
                continue;
            };
            assert!(answer.is_ok(), "{etag} {headers}");
            assert_eq!(world.seen().len(), attempts, "{etag} {headers}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_without_an_etag_is_received_anew() {
        let world = World::new(|seen| {
            let end = if seen.number == 0 { 3 } else { 10 };
            Reply::raw(format!(
                "HTTP/1.1 200 X\r\nx-amz-request-id: 1\r\nlast-modified: x\r\n\
                 content-length: 10\r\n\r\n{}",
                &CONTENT[..end]
            ))
            .hanging()
        });
        let (answer, _) = receive_from(&world).await;
        assert_eq!(answer.unwrap(), CONTENT.as_bytes());
        assert!(world.seen().iter().all(|seen| seen.header("range").is_none()));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_of_another_length_than_was_listed_is_refused() {
        for (etag, is_refused) in
            [("etag: \"a\"", true), ("last-modified: x", true), ("etag: b", false)]
        {
            let world = World::new(move |_| {
                Reply::raw(format!(
                    "HTTP/1.1 200 X\r\nx-amz-request-id: 1\r\ncontent-length: 3\r\n{etag}\r\n\
                     \r\nabc"
                ))
            });
            match receive_from(&world).await.0 {
                Ok(bytes) => assert!(!is_refused && bytes == b"abc"),
                Err(error) => assert!(is_refused && error.kind() == ErrorKind::Integrity),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_is_received_than_announced() {
        let world = World::new(|seen| match start_of(seen) {
            0 => from(0, 3, "\"a\"", CONTENT),
            start => Reply::raw(format!(
                "HTTP/1.1 206 X\r\ntransfer-encoding: chunked\r\netag: \"a\"\r\n\
                 content-range: bytes {start}-9/10\r\n\r\n8\r\n34567890\r\n8\r\n12345678\r\n"
            ))
            .hanging(),
        });
        let (answer, took) = receive_from(&world).await;
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Integrity);
        assert!(took < Duration::from_mins(2), "the end is not waited for: {took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_that_never_goes_on_is_given_up() {
        let world = World::new(|seen| from(start_of(seen), 3, "\"a\"", CONTENT));
        let (answer, took) = receive_from(&world).await;
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Timeout);
        assert_eq!(world.seen().len(), ATTEMPTS_MAX as usize);
        assert!(took < Duration::from_secs(10 + 4 * 20 + 2), "{took:?}");
    }
}
