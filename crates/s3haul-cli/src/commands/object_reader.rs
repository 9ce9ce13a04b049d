//! The bytes of an object, piece by piece.
//!
//! Where its connection breaks, an object is continued where it stopped, on the condition that it
//! is still the same, and held against its checksum at the end.

use bytes::Bytes;
use s3haul::{Error, ErrorKind};
use s3haul_wire::ops::{Conditions, GetObject};
use s3haul_wire::units::ByteRange;
use s3haul_wire::{BodyStream, Checksum, Client, Hasher, is_progress};

/// Times in a row that one object is continued after its connection broke, without progress.
const RESUMES_MAX: u32 = 5;

/// Reads an object.
pub struct ObjectReader<'a> {
    client: &'a Client,
    object: GetObject<'a>,
    etag: String,
    body: BodyStream,
    /// Bytes that are still to come.
    left: ByteRange,
    /// Requests since one made progress.
    resumes: u32,
    /// Bytes that the present answer brought.
    brought: u64,
    was_resumed: bool,
    /// What all of its bytes must have; a body that breaks is not held against it by itself.
    whole: Option<(Checksum, Hasher)>,
}

impl<'a> ObjectReader<'a> {
    /// Asks for an object, or a range of its bytes.
    pub async fn open(client: &'a Client, object: GetObject<'a>) -> Result<Self, Error> {
        let object = GetObject { checksums: true, ..object };
        let answer = client.get_object(object).await?;
        let head = answer.head;
        let is_whole = object.range.is_none() && head.checksum_is_full_object;
        let whole = head.checksums.into_iter().find(|_| is_whole).map(|expected| {
            let hasher = Hasher::new(expected.algorithm);
            (expected, hasher)
        });
        let (etag, body, left) = (head.etag, answer.body, answer.range);
        Ok(Self {
            client,
            object,
            etag,
            body,
            left,
            resumes: 0,
            brought: 0,
            was_resumed: false,
            whole,
        })
    }

    /// Bytes that are still to come.
    pub fn left(&self) -> u64 {
        self.left.end.saturating_sub(self.left.start)
    }

    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        loop {
            let error = match self.body.next().await {
                None => return self.verify().err().map(Err),
                Some(Ok(piece)) => {
                    self.left.start += piece.len() as u64;
                    self.brought += piece.len() as u64;
                    if let Some((_, hasher)) = &mut self.whole {
                        hasher.update(&piece);
                    }
                    return Some(Ok(piece));
                }
                Some(Err(error)) => error,
            };
            if is_progress(&error, std::mem::take(&mut self.brought)) {
                self.resumes = 0;
            }
            let may_resume = matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout);
            if self.resumes == RESUMES_MAX || !may_resume || self.left() == 0 {
                return Some(Err(error));
            }
            self.resumes += 1;
            self.was_resumed = true;
            if let Err(error) = self.resume().await {
                return Some(Err(error));
            }
        }
    }

    /// Holds what came in several answers against the checksum of the object.
    fn verify(&mut self) -> Result<(), Error> {
        let Some((expected, hasher)) = self.whole.take().filter(|_| self.was_resumed) else {
            return Ok(());
        };
        let computed = hasher.finish();
        if computed == expected {
            return Ok(());
        }
        let message = format!(
            "the checksum of what was received of `{}` is {}, and that of the object {}",
            self.object.key, computed.value, expected.value
        );
        Err(Error::new(ErrorKind::Integrity, message))
    }

    async fn resume(&mut self) -> Result<(), Error> {
        let input = GetObject {
            range: Some(self.left),
            conditions: Conditions { if_match: Some(&self.etag), if_absent: false },
            ..self.object
        };
        let answer = self.client.get_object(input).await?;
        // Not every server heeds the condition.
        if answer.head.etag != self.etag || answer.range != self.left {
            let message = format!("`{}` was replaced while it was read", self.object.key);
            return Err(Error::new(ErrorKind::SourceChanged, message));
        }
        self.body = answer.body;
        Ok(())
    }
}
