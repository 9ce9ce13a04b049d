//! Looks whether what both sides have under one name holds the same bytes: takes the steps that
//! [`crate::plan::content`] asks for.

mod digest;

use std::sync::Arc;

use crate::engine::core::{Engine, Place};
use crate::engine::range_reader::ObjectState;
use crate::entry::{Entry, ObjectEntry, OwnedEntry};
use crate::plan::content::{
    Algorithm, Conclusion, Depth, Evidence, Known, PartSizes, Recipe, Step, StoredChecksum, Which,
    conclude,
};
use crate::source::side::Pair;
use digest::{digest_file, digest_object};
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::HeadObject;
use s3haul_wire::{Checksum, ChecksumAlgorithm, ObjectHead};

/// Steps to a conclusion at most; there is none that takes as many.
const STEPS_MAX: usize = 24;

/// Whether bytes are the same, and what shows it.
pub(crate) type Verdict = Result<Evidence, Evidence>;

/// What is known of a file or object before any request.
pub(crate) fn known(entry: Entry<'_>) -> Known {
    match entry {
        Entry::File(file) => Known::of_file(file.size),
        Entry::Object(ObjectEntry { listed, .. }) => Known::of_object(listed.size, listed.etag),
    }
}

/// Finds out whether a pair holds the same bytes.
pub(crate) async fn examine(engine: &Arc<Engine>, pair: &Pair, depth: Depth) -> Result<Verdict> {
    let mut source = End::new(engine, &pair.source, Place::Source);
    let mut target = End::new(engine, &pair.target, Place::Target);
    let sizes = PartSizes::of(engine.settings.tuning.multipart_chunksize);
    for _ in 0..STEPS_MAX {
        match conclude(&source.known, &target.known, depth, sizes) {
            Conclusion::Same(evidence) => return Ok(Ok(evidence)),
            Conclusion::Different(evidence) => return Ok(Err(evidence)),
            Conclusion::Unknown(Step::Headers(_)) => {
                let (left, right) = tokio::join!(source.ask_headers(), target.ask_headers());
                left.and(right)?;
            }
            Conclusion::Unknown(Step::PartSize(Which::Source)) => source.ask_part_size().await?,
            Conclusion::Unknown(Step::PartSize(Which::Target)) => target.ask_part_size().await?,
            Conclusion::Unknown(Step::Digest(which, recipe)) => {
                // Where nothing is known of either, both have to be read.
                if recipe == sizes.last_resort(source.known.size())
                    && source.lacks(recipe)
                    && target.lacks(recipe)
                {
                    let read = tokio::join!(source.read(recipe), target.read(recipe));
                    read.0.and(read.1)?;
                    continue;
                }
                match which {
                    Which::Source => source.read(recipe).await?,
                    Which::Target => target.read(recipe).await?,
                }
            }
        }
    }
    let message = "could not determine whether the content is the same";
    Err(Error::new(ErrorKind::Integrity, message))
}

/// One of the two, and what became known of it.
struct End<'a> {
    engine: &'a Arc<Engine>,
    entry: &'a OwnedEntry,
    place: Place,
    known: Known,
    /// State of the object that everything must be about; empty where unknown.
    etag: String,
}

impl<'a> End<'a> {
    fn new(engine: &'a Arc<Engine>, entry: &'a OwnedEntry, place: Place) -> Self {
        let etag = match entry.get() {
            Entry::Object(object) => object.listed.etag.to_owned(),
            Entry::File(_) => String::new(),
        };
        Self { engine, entry, place, known: known(entry.get()), etag }
    }

    fn lacks(&self, recipe: Recipe) -> bool {
        !self.known.has_computed(recipe)
    }

    async fn ask_headers(&mut self) -> Result<()> {
        let Entry::Object(object) = self.entry.get() else { return Ok(()) };
        if !self.known.lacks_headers() {
            return Ok(());
        }
        let head = self.head(&object, None).await?;
        if head.size != object.listed.size {
            return Err(changed(object.listed.key));
        }
        self.known.learn_headers(&head.etag, head.may_have_md5_etag, stored(&head));
        self.etag = head.etag;
        Ok(())
    }

    async fn ask_part_size(&mut self) -> Result<()> {
        let Entry::Object(object) = self.entry.get() else { return Ok(()) };
        let told = match self.head(&object, Some(1)).await {
            // A server that ignores the number answers with the size of the whole. Some answer with
            // the `ETag` of the part (moto), and then nothing of the answer is about the object. If
            // the object has changed, whatever reads it finds out.
            Ok(head) => Some(head.size)
                .filter(|_| head.etag == self.etag && self.known.has_parts_of(head.parts_count)),
            // Nor does every server know the question.
            Err(error) if matches!(error.kind(), ErrorKind::Request | ErrorKind::NotFound) => None,
            Err(error) => return Err(error),
        };
        self.known.learn_part_size(told);
        Ok(())
    }

    async fn read(&mut self, recipe: Recipe) -> Result<()> {
        let value = match self.entry.get() {
            Entry::File(file) => digest_file(self.engine, &file, recipe).await?,
            Entry::Object(object) => {
                let size = object.listed.size;
                let object = ObjectState::new(object.listed.key.to_owned(), self.etag.clone())
                    .in_version(object.version_id.map(str::to_owned))
                    .at(self.place);
                Box::pin(digest_object(self.engine, object, size, recipe)).await?
            }
        };
        self.known.learn_digest(recipe, value);
        Ok(())
    }

    async fn head(&self, object: &ObjectEntry<'_>, part: Option<u32>) -> Result<ObjectHead> {
        let (engine, client) = (self.engine, self.place.client(self.engine));
        let input = HeadObject {
            bucket: self.place.bucket(engine),
            key: object.listed.key,
            version_id: object.version_id,
            customer_key: self.place.customer_key(engine),
            checksums: true,
        };
        match part {
            Some(number) => engine.send(|| client.head_part(input, number)).await,
            None => engine.send(|| client.head_object(input)).await,
        }
    }
}

fn stored(head: &ObjectHead) -> impl Iterator<Item = StoredChecksum> {
    head.checksums.iter().map(|Checksum { algorithm, value }| StoredChecksum {
        algorithm: match algorithm {
            ChecksumAlgorithm::Crc64Nvme => Algorithm::Crc64Nvme,
            ChecksumAlgorithm::Crc32 => Algorithm::Crc32,
            ChecksumAlgorithm::Crc32c => Algorithm::Crc32c,
            ChecksumAlgorithm::Sha1 => Algorithm::Sha1,
            ChecksumAlgorithm::Sha256 => Algorithm::Sha256,
        },
        value: value.clone(),
        is_full_object: head.checksum_is_full_object,
    })
}

fn changed(key: &str) -> Error {
    let message = format!("`{key}` changed while it was compared");
    Error::new(ErrorKind::SourceChanged, message)
}

#[cfg(test)]
mod tests;
