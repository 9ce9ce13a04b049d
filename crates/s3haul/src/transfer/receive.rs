//! Small objects, received whole into memory.
//!
//! Whoever asks holds a share of the memory budget for the size that was planned. An object that
//! is larger by now is not received, so the share holds in any case.

use bytes::Bytes;

use super::engine::Engine;
use super::fetch::{ATTEMPTS_MAX, ObjectState, back_off, may_resume, open};
use crate::error::{Error, ErrorKind, Result};
use crate::s3::ObjectHead;

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
    let object = ObjectState::new(key.to_owned(), String::new());
    let object = object.in_version(version_id.map(str::to_owned));
    let mut failures = 0;
    loop {
        let permit = engine.limits.request().await;
        let result = receive_once(engine, &object, size_max).await;
        drop(permit);
        match result {
            Err(error) if failures + 1 < ATTEMPTS_MAX && may_retry(&error) => {
                failures += 1;
                back_off(failures).await;
            }
            result => return result,
        }
    }
}

/// A small object is received from the start again, also when its checksum did not match: the
/// bytes may have been damaged on the way.
fn may_retry(error: &Error) -> bool {
    may_resume(error) || error.kind() == ErrorKind::Integrity
}

async fn receive_once(engine: &Engine, object: &ObjectState, size_max: u64) -> Result<Answer> {
    let mut answer = open(engine, object, None).await?;
    let head = Box::new(answer.head);
    if head.size > size_max {
        return Ok(Answer::Grown(head));
    }
    let mut chunks = Vec::new();
    let mut received = 0;
    while let Some(bytes) = answer.body.next().await {
        let bytes = bytes?;
        received += bytes.len() as u64;
        engine.bandwidth.take(bytes.len() as u64).await;
        chunks.push(bytes);
    }
    if received != head.size {
        let message = format!("received {received} of {} bytes of `{}`", head.size, object.key);
        return Err(Error::new(ErrorKind::Transport, message));
    }
    Ok(Answer::Whole { chunks, head })
}
