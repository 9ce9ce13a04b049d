//! Digests of files and objects by reading them once, with little memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use md5::{Digest as _, Md5};

use super::changed;
use crate::engine::core::Engine;
use crate::engine::limits::{Tasks, blocking};
use crate::engine::parts::parts;
use crate::engine::range_reader::{ObjectState, RangeReader};
use crate::fs::LocalFile;
use crate::fs::meta::source_changed;
use crate::fs::read::{advise_sequential, open_with_identity, read_range_into};
use crate::plan::content::{Algorithm, Recipe};
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::units::{ByteRange, KIB, hex};
use s3haul_wire::{ChecksumAlgorithm, Hasher};

/// Bytes of a file that are read at once.
const READ_SIZE: u64 = 256 * KIB;
/// Parts of one object that are read at a time.
const PARTS_AT_ONCE: usize = 4;

/// Digest of a file, which must be as it was listed and stay so.
pub(crate) async fn digest_file(
    engine: &Arc<Engine>,
    file: &LocalFile<'_>,
    recipe: Recipe,
) -> Result<String> {
    let share = engine.limits.budget.take(file.size.min(READ_SIZE)).await;
    let (path, size, engine) = (file.path(), file.size, Arc::clone(engine));
    let digest = blocking(move || {
        let digest = read_file(&path, size, recipe);
        drop(engine);
        digest
    });
    let digest = digest.await;
    drop(share);
    digest
}

fn read_file(path: &Path, size: u64, recipe: Recipe) -> Result<String> {
    let (file, identity) = open_with_identity(path)?;
    if identity.size != size {
        let change = format!("it has {} bytes, {size} were listed", identity.size);
        return Err(source_changed(path, &change));
    }
    advise_sequential(&file, size);
    let mut digester = Digester::new(recipe);
    let (mut start, mut buffer) = (0, Vec::new());
    while start < size {
        let end = start.saturating_add(READ_SIZE).min(size);
        buffer.clear();
        buffer = read_range_into(&file, path, ByteRange { start, end }, buffer)?;
        digester.update(&buffer);
        start = end;
    }
    identity.unchanged(&file, path)?;
    Ok(digester.finish())
}

/// Digest of an object; where it is one of parts, several are read at a time.
pub(crate) async fn digest_object(
    engine: &Arc<Engine>,
    object: ObjectState,
    size: u64,
    recipe: Recipe,
) -> Result<String> {
    let whole = ByteRange { start: 0, end: size };
    let Some(part_size) = recipe.part_size.filter(|part_size| *part_size < size) else {
        let mut digester = Digester::new(recipe);
        read(engine, &object, whole, &mut digester).await?;
        return Ok(digester.finish());
    };
    let (mut tasks, mut digests) = (Tasks::new(), BTreeMap::new());
    for part in parts(size, part_size) {
        if tasks.len() >= PARTS_AT_ONCE
            && let Some(ended) = tasks.next().await
        {
            collect(&mut digests, ended)?;
        }
        let (engine, object) = (Arc::clone(engine), object.clone());
        tasks.spawn(async move {
            let mut digester = Digester::new(Recipe { part_size: None, ..recipe });
            read(&engine, &object, part.range, &mut digester).await?;
            Ok((part.number, digester.current.finish()))
        });
    }
    while let Some(ended) = tasks.next().await {
        collect(&mut digests, ended)?;
    }
    let mut digester = Digester::new(recipe);
    for digest in digests.values() {
        digester.parts.update(digest);
    }
    Ok(text(recipe.algorithm, &digester.parts.finish()))
}

/// Digest of a part with its number.
type PartDigest = Result<(u32, Vec<u8>)>;

fn collect(digests: &mut BTreeMap<u32, Vec<u8>>, ended: PartDigest) -> Result<()> {
    let (number, digest) = ended?;
    digests.insert(number, digest);
    Ok(())
}

/// Reads a range; a broken connection costs only what had not arrived.
async fn read(
    engine: &Engine,
    object: &ObjectState,
    range: ByteRange,
    digester: &mut Digester,
) -> Result<()> {
    let mut reader = RangeReader::new(engine, object, range);
    let read = engine.send(async || {
        while let Some(bytes) = reader.next().await? {
            digester.update(&bytes);
        }
        Ok(())
    });
    read.await.map_err(|error: Error| match error.kind() {
        ErrorKind::SourceChanged => changed(&object.key),
        _ => error,
    })
}

/// Computes a digest of bytes as they come.
struct Digester {
    recipe: Recipe,
    current: State,
    /// Over the digests of the parts that are complete.
    parts: State,
    /// Bytes of the current part.
    length: u64,
}

impl Digester {
    fn new(recipe: Recipe) -> Self {
        let state = || State::new(recipe.algorithm);
        Self { recipe, current: state(), parts: state(), length: 0 }
    }

    fn update(&mut self, mut bytes: &[u8]) {
        let Some(part_size) = self.recipe.part_size else { return self.current.update(bytes) };
        while !bytes.is_empty() {
            if self.length >= part_size {
                self.close_part();
            }
            let room = usize::try_from(part_size - self.length).unwrap_or(usize::MAX).max(1);
            let (piece, rest) = bytes.split_at(room.min(bytes.len()));
            self.current.update(piece);
            self.length += piece.len() as u64;
            bytes = rest;
        }
    }

    fn close_part(&mut self) {
        let part = std::mem::replace(&mut self.current, State::new(self.recipe.algorithm));
        self.parts.update(&part.finish());
        self.length = 0;
    }

    /// The digest as text, without the number of parts.
    fn finish(mut self) -> String {
        let digest = if self.recipe.part_size.is_some() {
            self.close_part();
            self.parts.finish()
        } else {
            self.current.finish()
        };
        text(self.recipe.algorithm, &digest)
    }
}

/// A digest in the form that stores return.
fn text(algorithm: Algorithm, digest: &[u8]) -> String {
    match algorithm {
        Algorithm::Md5 => hex(digest),
        _ => BASE64.encode(digest),
    }
}

#[expect(clippy::large_enum_variant, reason = "there are two for each object that is read")]
enum State {
    Md5(Md5),
    Other(Hasher),
}

impl State {
    fn new(algorithm: Algorithm) -> Self {
        Self::Other(Hasher::new(match algorithm {
            Algorithm::Md5 => return Self::Md5(Md5::new()),
            Algorithm::Crc64Nvme => ChecksumAlgorithm::Crc64Nvme,
            Algorithm::Crc32c => ChecksumAlgorithm::Crc32c,
            Algorithm::Crc32 => ChecksumAlgorithm::Crc32,
            Algorithm::Sha1 => ChecksumAlgorithm::Sha1,
            Algorithm::Sha256 => ChecksumAlgorithm::Sha256,
        }))
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(md5) => md5.update(bytes),
            Self::Other(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Md5(md5) => md5.finalize().to_vec(),
            Self::Other(hasher) => {
                BASE64.decode(hasher.finish().value).expect("a checksum is written in base64")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use s3haul_wire::Checksum;

    proptest! {
        #[test]
        fn digests_do_not_depend_on_the_pieces(
            bytes in prop::collection::vec(any::<u8>(), 1..600),
            piece in 1..99_usize,
            part_size in 1..200_usize,
        ) {
            let compute = |algorithm, part_size: Option<usize>| {
                let part_size = part_size.map(|size| size as u64);
                let mut digester = Digester::new(Recipe { algorithm, part_size });
                bytes.chunks(piece).for_each(|piece| digester.update(piece));
                digester.finish()
            };
            let parts: Vec<u8> =
                bytes.chunks(part_size).flat_map(|part| Md5::digest(part).to_vec()).collect();
            let md5 = |bytes: &[u8]| hex(&Md5::digest(bytes));
            prop_assert_eq!(compute(Algorithm::Md5, None), md5(&bytes));
            prop_assert_eq!(compute(Algorithm::Md5, Some(part_size)), md5(&parts));
            let sha = ChecksumAlgorithm::Sha256;
            prop_assert_eq!(compute(Algorithm::Sha256, None), Checksum::of(sha, &bytes).value);
            let parts: Vec<_> =
                bytes.chunks(part_size).map(|part| Checksum::of(sha, part)).collect();
            let composite = Checksum::composite(&parts).unwrap().value;
            let computed = compute(Algorithm::Sha256, Some(part_size));
            prop_assert_eq!(format!("{computed}-{}", parts.len()), composite);
        }
    }
}
