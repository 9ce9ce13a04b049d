//! Small objects, received whole into memory.
//!
//! A body that breaks off, or stops, is gone on with from the byte reached, as long as the object
//! is the same; its checksum is then computed over all of it.
//!
//! Whoever asks holds a share of the memory budget for the size that was planned. An object that
//! is larger by now is not received, so the share holds in any case.

use bytes::Bytes;

use super::engine::Engine;
use super::fetch::{ATTEMPTS_MAX, ObjectState, back_off, may_resume, open, silence_max};
use super::integrity::check;
use crate::error::{Error, ErrorKind, Result};
use crate::s3::{Hasher, ObjectHead};
use crate::units::ByteRange;

/// What a GET of a small object gave.
pub(super) enum Answer {
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

/// Receives an object of `size_max` bytes at most.
pub(super) async fn receive(
    engine: &Engine,
    key: &str,
    version_id: Option<&str>,
    size_max: u64,
) -> Result<Answer> {
    let (mut restarts, mut failures) = (0, 0);
    let mut receiving = Receiving::of(key, version_id);
    loop {
        let before = receiving.received;
        let permit = engine.limits.request().await;
        let result = receiving.attempt(engine, size_max, failures).await;
        drop(permit);
        let Err(error) = result else { return Ok(receiving.answer(size_max)) };
        failures = if receiving.received > before { 1 } else { failures + 1 };
        let goes_on = may_resume(&error) && receiving.can_go_on();
        if !goes_on {
            restarts += 1;
            receiving = Receiving::of(key, version_id);
        }
        if failures.max(restarts) >= ATTEMPTS_MAX || !(goes_on || may_restart(&error)) {
            return Err(error);
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
    async fn attempt(&mut self, engine: &Engine, size_max: u64, failures: u32) -> Result<()> {
        let (start, end) = (self.received, self.size());
        let rest = (start > 0).then_some(ByteRange { start, end });
        if let (Some(_), Some(head)) = (rest, &self.head) {
            self.object.saw(&head.etag);
        }
        let mut answer = open(engine, &self.object, rest).await?;
        answer.body.limit_silence(silence_max(failures));
        if rest.is_none() {
            let head = self.head.insert(Box::new(answer.head));
            if head.size > size_max {
                return Ok(());
            }
        }
        while let Some(bytes) = answer.body.next().await {
            let bytes = bytes?;
            self.received += bytes.len() as u64;
            engine.bandwidth.take(bytes.len() as u64).await;
            self.chunks.push(bytes);
        }
        if self.received != self.size() {
            let (received, size, key) = (self.received, self.size(), &self.object.key);
            let message = format!("received {received} of {size} bytes of `{key}`");
            return Err(Error::new(ErrorKind::Transport, message));
        }
        match rest {
            Some(_) => self.verify(),
            None => Ok(()),
        }
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

    fn answer(self, size_max: u64) -> Answer {
        let head = self.head.unwrap_or_default();
        if head.size > size_max {
            return Answer::Grown(head);
        }
        Answer::Whole { chunks: self.chunks, head }
    }
}
