//! Standard input to an object, an object to standard output.
//!
//! Neither has positions to come back to: input is read once and its parts are kept until they
//! are sent, output is written in order while the next ranges are received ahead.

use std::io::{Read, Write};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use crate::engine::core::Engine;
use crate::engine::integrity::expected_of;
use crate::engine::limits::blocking;
use crate::engine::multipart::MultipartUpload;
use crate::engine::object::put;
use crate::engine::ordered_reader::in_order;
use crate::engine::parts::{self, stream_part_size, stream_size_max};
use crate::engine::range_reader::{ObjectState, open};
use crate::event::ActionKind;
use crate::location::Location;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::units::MIB;
use s3haul_wire::{ObjectProperties, Payload};

/// Parts of a stream in memory.
const PARTS_IN_MEMORY_MAX: usize = 6;
/// Bytes set aside before they are read.
const ROOM_MAX: u64 = 64 * MIB;

type Input = Box<dyn Read + Send>;
type Output = Box<dyn Write + Send>;

/// Uploads standard input to one key.
pub(crate) async fn upload_stream(
    engine: &Arc<Engine>,
    input: Input,
    key: String,
    expected_size: Option<u64>,
) {
    engine.report.planned(expected_size.unwrap_or(0));
    engine.report.plan_complete();
    let sent = send_stream(engine, input, &key, expected_size).await;
    let (size, result) = sent.map_or_else(|error| (0, Err(error)), |size| (size, Ok(())));
    let target = Some(engine.target_object(key));
    let event = engine.event(ActionKind::Upload, Location::Stream, target, size);
    engine.conclude(event, result);
}

async fn send_stream(
    engine: &Arc<Engine>,
    input: Input,
    key: &str,
    expected_size: Option<u64>,
) -> Result<u64> {
    // A type is guessed for files only, as `aws` does: a key says little about a stream.
    let properties = engine.settings.properties.clone();
    let tuning = &engine.settings.tuning;
    let mut reader = StreamReader { input, ahead: BytesMut::new(), ended: false };
    let share = engine.limits.budget.take(tuning.multipart_threshold).await;
    reader = reader.fill(tuning.multipart_threshold.max(1)).await?;
    if reader.ended && !engine.settings.is_multipart(reader.ahead.len() as u64) {
        let bytes = reader.ahead.freeze();
        let size = bytes.len() as u64;
        let plan = engine.target.upload_digests(engine.settings.checksum_algorithm);
        let payload = blocking(move || {
            let mut payload = Payload::from_bytes(bytes);
            payload.digest(plan);
            payload
        });
        put(engine, (key, None), payload.await, &properties).await?;
        return Ok(size);
    }
    drop(share);
    send_in_parts(engine, reader, key, properties, expected_size).await
}

async fn send_in_parts(
    engine: &Arc<Engine>,
    reader: StreamReader,
    key: &str,
    properties: ObjectProperties,
    expected_size: Option<u64>,
) -> Result<u64> {
    let part_size = stream_part_size(engine.settings.tuning.multipart_chunksize, expected_size);
    let mut upload = MultipartUpload::begin(engine, key, properties, part_size).await?;
    upload.limit_parts_in_flight(PARTS_IN_MEMORY_MAX);
    let sent = send_parts(&mut upload, reader, part_size).await;
    if let Err(error) = &sent {
        upload.abandon(error).await;
    }
    sent
}

async fn send_parts(
    upload: &mut MultipartUpload,
    mut reader: StreamReader,
    part_size: u64,
) -> Result<u64> {
    let mut number = 0;
    let mut size = 0;
    loop {
        reader = reader.fill(part_size).await?;
        let bytes = reader.take(part_size);
        if bytes.is_empty() {
            break;
        }
        if u64::from(number) >= parts::PARTS_MAX {
            let max = stream_size_max(part_size);
            let message = format!(
                "standard input is longer than {max} bytes: give its size with --expected-size"
            );
            return Err(Error::new(ErrorKind::Request, message));
        }
        number += 1;
        size += bytes.len() as u64;
        let length = bytes.len() as u64;
        upload.send(number, length, move || Ok(Payload::from_bytes(bytes))).await?;
    }
    upload.complete(number, (size, None)).await?;
    Ok(size)
}

/// Reads a stream in pieces of exact sizes. The blocking read does not hold up the job: a terminal
/// without input would do so for ever.
struct StreamReader {
    input: Input,
    ahead: BytesMut,
    ended: bool,
}

impl StreamReader {
    /// Reads until `size` bytes are there or the stream ends.
    async fn fill(self, size: u64) -> Result<Self> {
        if self.ended || self.ahead.len() as u64 >= size {
            return Ok(self);
        }
        blocking(move || self.fill_blocking(size)).await
    }

    fn fill_blocking(mut self, size: u64) -> Result<Self> {
        let missing = size - self.ahead.len() as u64;
        let room = usize::try_from(missing.min(ROOM_MAX)).unwrap_or(0);
        let mut piece = Vec::with_capacity(room);
        let read = (&mut self.input).take(missing).read_to_end(&mut piece);
        let read = read.map_err(|source| {
            Error::new(ErrorKind::Local, "could not read standard input").with_source(source)
        })?;
        self.ended = (read as u64) < missing;
        if self.ahead.is_empty() {
            self.ahead = BytesMut::from(Bytes::from(piece));
        } else {
            self.ahead.extend_from_slice(&piece);
        }
        Ok(self)
    }

    fn take(&mut self, size: u64) -> Bytes {
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(self.ahead.len());
        self.ahead.split_to(size).freeze()
    }
}

/// Downloads one object to standard output. The headers were asked for before.
pub(crate) async fn download_stream(
    engine: &Arc<Engine>,
    output: Output,
    (key, version_id): (String, Option<String>),
    head: &s3haul_wire::ObjectHead,
) {
    engine.report.planned(head.size);
    engine.report.plan_complete();
    let object = ObjectState::new(key.clone(), head.etag.clone()).in_version(version_id.clone());
    let expected = expected_of(head);
    let mut output = output;
    let write = move |_position: u64, bytes: &Bytes| {
        output.write_all(bytes).and_then(|()| output.flush()).map_err(output_error)
    };
    let (size, result) = match size_of(engine, &object, head).await {
        Err(error) => (0, Err(error)),
        Ok(size) => match in_order(engine, object, size, expected, write).await {
            Err(error) if is_broken_pipe(&error) => (size, Ok(())),
            result => (size, result),
        },
    };
    let source = engine.source_version(key, version_id);
    let event = engine.event(ActionKind::Download, source, Some(Location::Stream), size);
    engine.conclude(event, result);
}

/// Size of an object. A response to HEAD may leave out the length: that an object is empty is only
/// certain after a GET; otherwise nothing would be written and no error reported.
async fn size_of(
    engine: &Engine,
    object: &ObjectState,
    head: &s3haul_wire::ObjectHead,
) -> Result<u64> {
    if head.size > 0 {
        return Ok(head.size);
    }
    Ok(engine.send(|| open(engine, object, None)).await?.head.size)
}

fn output_error(source: std::io::Error) -> Error {
    Error::new(ErrorKind::Local, "could not write standard output").with_source(source)
}

/// Whether the reader has closed the output: the job then ends quietly.
fn is_broken_pipe(error: &Error) -> bool {
    std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .is_some_and(|source| source.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::range_reader::tests::ranged;
    use crate::engine::settings::Tuning;
    use crate::engine::testing::engine;
    use s3haul_wire::testing::{Reply, World};
    use s3haul_wire::units::KIB;

    #[tokio::test(start_paused = true)]
    async fn several_outputs_in_order_do_not_wait_for_each_other() {
        let world = World::new(|seen| ranged(seen, "\"a\""));
        let (part, memory_budget) = (16 * KIB, 6 * 16 * KIB);
        let tuning = Tuning { multipart_chunksize: part, memory_budget, ..Tuning::default() };
        let (engine, _ended) = engine(&world, tuning);
        let outputs = (0..5).map(|_| {
            let object = ObjectState::new("k".to_owned(), String::new());
            in_order(&engine, object, MIB, None, |_, _| Ok(()))
        });
        let all = futures_util::future::join_all(outputs);
        let ended = tokio::time::timeout(std::time::Duration::from_hours(1), all).await;
        assert!(ended.expect("they wait for each other").iter().all(Result::is_ok));
    }

    #[derive(Clone, Default)]
    struct Written(Arc<std::sync::atomic::AtomicUsize>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.fetch_add(bytes.len(), std::sync::atomic::Ordering::SeqCst);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_of_untold_size_is_not_taken_for_empty() {
        let world = World::new(|seen| match seen.header("range") {
            Some(_) => ranged(seen, "\"a\""),
            None => Reply::status(200, "etag: \"a\"\r\n", &"x".repeat(1 << 20)),
        });
        let (engine, _ended) = engine(&world, Tuning::default());
        let (written, head) = (Written::default(), s3haul_wire::ObjectHead::default());
        download_stream(&engine, Box::new(written.clone()), ("k".to_owned(), None), &head).await;
        assert_eq!(engine.report.counts().done, 1);
        assert_eq!(written.0.load(std::sync::atomic::Ordering::SeqCst), 1 << 20);
    }
}
