//! What is concluded where a server's answers about parts do not fit together.

use std::fmt::Write as _;

use md5::{Digest as _, Md5};

use super::*;
use crate::engine::reporter::Reporter;
use crate::engine::settings::Settings;
use crate::entry::{EntryBatch, OwnedEntry, Root};
use crate::fs::{FileBatch, FileInfo};
use s3haul_wire::error::ErrorKind;
use s3haul_wire::testing::{Reply, Seen, World, client};

const PART: usize = 700;
const COUNT: usize = 3;

fn content() -> Vec<u8> {
    (0..COUNT * PART - 100).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// The `ETag` of an object in parts of `PART` bytes.
fn etag(content: &[u8]) -> String {
    let parts: Vec<u8> = content.chunks(PART).flat_map(|part| Md5::digest(part).to_vec()).collect();
    format!("\"{}-{COUNT}\"", hex(&Md5::digest(&parts)))
}

/// What a server says about part 1.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// Its size and the object's `ETag`, as S3 does.
    Sound,
    /// Its size and its own `ETag`, as moto does.
    EtagOfPart,
    /// Another number of parts than the `ETag` has.
    OtherCount,
    /// A size that is not that of the parts, with the right number of parts.
    OtherSize,
    /// The whole object.
    Ignored,
    /// The object has changed meanwhile, and all answers are about the new one.
    Changed,
}

fn answer(seen: &Seen, content: &[u8], how: Answer) -> Reply {
    let is_changed = matches!(how, Answer::Changed);
    let is_part = seen.line().contains("partNumber");
    let (whole, new) = (etag(content), "\"00112233445566778899aabbccddeeff-3\"".to_owned());
    if seen.line().starts_with("HEAD") {
        let (size, etag, count) = match how {
            _ if !is_part => (content.len(), whole, 0),
            Answer::Sound => (PART, whole, COUNT),
            Answer::EtagOfPart => {
                (PART, format!("\"{}\"", hex(&Md5::digest(&content[..PART]))), COUNT)
            }
            Answer::OtherCount => (PART, whole, COUNT + 1),
            Answer::OtherSize => (PART - 1, whole, COUNT),
            Answer::Ignored => (content.len(), whole, 0),
            Answer::Changed => (PART, new, COUNT),
        };
        let count =
            if count > 0 { format!("x-amz-mp-parts-count: {count}\r\n") } else { String::new() };
        return Reply::raw(format!(
            "HTTP/1.1 200 OK\r\nx-amz-request-id: 1\r\ncontent-length: {size}\r\n\
             etag: {etag}\r\n{count}\r\n"
        ));
    }
    if is_changed {
        return Reply::error(412, "PreconditionFailed");
    }
    let last = content.len() - 1;
    let size = content.len();
    let head = format!(
        "HTTP/1.1 206 Partial\r\ncontent-length: {size}\r\netag: {whole}\r\n\
         content-range: bytes 0-{last}/{size}\r\n\r\n"
    );
    Reply::raw([head.as_bytes(), content].concat())
}

/// Compares a file with the object, and says whether the object was read.
async fn verdict(file: &[u8], how: Answer) -> (Result<Verdict>, bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k");
    std::fs::write(&path, file).unwrap();
    let stored = content();
    let world = World::new(move |seen| answer(seen, &stored, how));
    let report = Arc::new(Reporter::new(Arc::new(crate::event::NoEvents)));
    let settings = Settings { target_bucket: "target".to_owned(), ..Settings::default() };
    let (engine, _ended) = Engine::new(settings, client(&world), client(&world), report);
    let head = ObjectHead {
        size: content().len() as u64,
        etag: etag(&content()),
        ..ObjectHead::default()
    };
    let mut files = FileBatch::below(folder.path());
    files.push("k", &FileInfo::of_path(&path).unwrap());
    let root = Arc::new(Root::Prefix(String::new()));
    let objects = EntryBatch::of_heads([("k", None, &head)], root).unwrap();
    let [source, target] =
        [EntryBatch::Files(files), objects].map(|batch| OwnedEntry::of_row(&batch, 0).unwrap());
    let pair = Pair { source, target };
    let verdict = examine(&engine, &pair, Depth::Proof).await;
    let is_read = world.seen().iter().any(|seen| seen.line().starts_with("GET"));
    (verdict, is_read)
}

/// `verify` of an untouched object in parts on moto: "changed while it was compared".
#[tokio::test]
async fn where_answers_about_parts_disagree_the_bytes_are_read() {
    use Answer::{Changed, EtagOfPart, Ignored, OtherCount, OtherSize, Sound};
    let (same, mut other) = (content(), content());
    other[5] ^= 1;
    let (verdict_of_sound, is_read) = Box::pin(verdict(&same, Sound)).await;
    assert_eq!(verdict_of_sound.unwrap(), Ok(Evidence::Etag));
    assert!(!is_read, "the digests of the parts suffice");
    for how in [EtagOfPart, OtherCount, OtherSize, Ignored] {
        let (found, is_read) = Box::pin(verdict(&same, how)).await;
        assert_eq!(found.unwrap(), Ok(Evidence::Content), "{how:?}");
        assert!(is_read, "{how:?}");
    }
    for how in [Sound, EtagOfPart, OtherCount, OtherSize, Ignored] {
        let (found, is_read) = Box::pin(verdict(&other, how)).await;
        assert_eq!(found.unwrap(), Err(Evidence::Content), "{how:?}");
        assert!(is_read, "a proof of a difference needs the bytes: {how:?}");
    }
    let (found, _) = Box::pin(verdict(&same, Changed)).await;
    assert_eq!(found.unwrap_err().kind(), ErrorKind::SourceChanged);
}
