//! Parts that are read while they are sent, with their checksum behind them.

use super::*;

/// A part of zeros that is read while it is sent; only so many bytes can be read.
struct Zeros {
    readable: u64,
}

impl PayloadSource for Zeros {
    fn read(&self, range: ByteRange) -> crate::Result<Bytes> {
        if range.end > self.readable {
            return Err(Error::new(ErrorKind::SourceChanged, "it shrank"));
        }
        Ok(Bytes::from(vec![0; usize::try_from(range.len()).unwrap()]))
    }

    fn read_now(&self, range: ByteRange) -> Option<crate::Result<Bytes>> {
        Some(self.read(range))
    }
}

const PART_BYTES: u64 = 300_000;

fn zeros() -> Vec<u8> {
    vec![0; usize::try_from(PART_BYTES).unwrap()]
}

async fn send_streamed(client: &Client, readable: u64) -> crate::Result<CompletedPart> {
    let algorithm = ChecksumAlgorithm::Crc64Nvme;
    let payload = Payload::streamed(Arc::new(Zeros { readable }), PART_BYTES, algorithm);
    client.upload_part(part(payload)).await
}

/// Takes a checksum behind the body and repeats it, as S3 does; that of a plain body, too.
fn repeating(seen: &Seen) -> Reply {
    let text = String::from_utf8_lossy(&seen.body);
    let (_, trailer) = text.rsplit_once("\r\n0\r\n").unwrap_or_default();
    let header = seen.header("x-amz-checksum-crc64nvme");
    let line = header.map(|value| format!("x-amz-checksum-crc64nvme: {value}\r\n"));
    Reply::status(200, &line.unwrap_or_else(|| trailer.trim_end().to_owned() + "\r\n"), "")
}

#[tokio::test(start_paused = true)]
async fn a_part_that_is_read_while_it_is_sent_has_its_checksum_behind_it() {
    let world = World::new(repeating);
    let client = client(&world);
    let part = send_streamed(&client, PART_BYTES).await.unwrap();
    let checksum = Checksum::of(ChecksumAlgorithm::Crc64Nvme, &zeros());
    assert_eq!((part.checksum, part.size), (Some(checksum), PART_BYTES));
    let [seen] = world.seen().try_into().unwrap();
    let header = |name| seen.header(name);
    assert_eq!(header("content-encoding"), Some("aws-chunked"));
    assert_eq!(header("x-amz-content-sha256"), Some("STREAMING-UNSIGNED-PAYLOAD-TRAILER"));
    assert_eq!(header("x-amz-decoded-content-length"), Some("300000"));
    assert_eq!(header("x-amz-trailer"), Some("x-amz-checksum-crc64nvme"));
    let signed = "x-amz-date;x-amz-decoded-content-length;x-amz-sdk-checksum-algorithm;\
                  x-amz-trailer,";
    assert!(header("authorization").unwrap().contains(signed), "{}", seen.head);
}

#[tokio::test(start_paused = true)]
async fn a_service_without_trailers_gets_the_part_from_memory() {
    let is_streamed = |seen: &Seen| seen.header("x-amz-trailer").is_some();
    let without: [fn(&Seen) -> Reply; 4] = [
        |_| Reply::error(501, "NotImplemented"),
        |_| Reply::error(403, "SignatureDoesNotMatch"),
        |_| Reply::error(500, "InternalError"),
        // It may have stored the encoding with the bytes.
        |_| Reply::ok(""),
    ];
    for refuse in without {
        let answer =
            move |seen: &Seen| if is_streamed(seen) { refuse(seen) } else { repeating(seen) };
        let world = World::new(answer);
        let client = client(&world);
        let part = send_streamed(&client, PART_BYTES).await.unwrap();
        let seen = world.seen();
        let (last, first) = seen.split_last().unwrap();
        assert!(first.iter().all(is_streamed) && !is_streamed(last), "{seen:?}");
        assert_eq!(last.body, zeros());
        assert_eq!(part.checksum.unwrap().value, last.header("x-amz-checksum-crc64nvme").unwrap());
        // Also of those that had been made ready.
        send_streamed(&client, PART_BYTES).await.unwrap();
        assert_eq!(world.seen().len(), seen.len() + 1);
        assert_eq!(client.inner.takes_trailers.get(), Some(&false));
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_from_memory_has_its_own_checksum() {
    let world = World::new(move |_| Reply::ok(""));
    let part = send_streamed(&client(&world), PART_BYTES).await.unwrap();
    assert_eq!(part.checksum, Some(Checksum::of(ChecksumAlgorithm::Crc64Nvme, &zeros())));
    let wrong = "x-amz-checksum-crc64nvme: AAAAAAAAAAA=\r\n";
    let world = World::new(move |_| Reply::status(200, wrong, ""));
    let error = send_streamed(&client(&world), PART_BYTES).await.unwrap_err();
    assert_eq!((error.kind(), world.seen().len()), (ErrorKind::Integrity, 2));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_was_too_slow_says_nothing_about_trailers() {
    let world = World::new(|_| Reply::error(400, "RequestTimeout"));
    let client = client(&world);
    let error = send_streamed(&client, PART_BYTES).await.unwrap_err();
    assert_eq!(error.code(), "RequestTimeout");
    assert_eq!(client.inner.takes_trailers.get(), None);
}

#[tokio::test(start_paused = true)]
async fn other_refusals_are_final() {
    let world = World::new(|_| Reply::error(404, "NoSuchUpload"));
    let error = send_streamed(&client(&world), PART_BYTES).await.unwrap_err();
    assert_eq!((error.code(), world.seen().len()), ("NoSuchUpload", 1));
    let world = World::new(|seen| match seen.number {
        0 => repeating(seen),
        _ => Reply::error(400, "InvalidArgument"),
    });
    let client = client(&world);
    send_streamed(&client, PART_BYTES).await.unwrap();
    let error = send_streamed(&client, PART_BYTES).await.unwrap_err();
    assert_eq!((error.code(), world.seen().len()), ("InvalidArgument", 2), "trailers are taken");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_shrinks_while_it_is_sent_is_not_sent_again() {
    let world = World::new(repeating);
    let error = send_streamed(&client(&world), PART_BYTES / 2).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SourceChanged, "{error}");
    assert_eq!((error.effort().attempts, world.connections()), (1, 1));
}

/// Of which each read takes longer than a server may be silent.
struct Slow;

impl PayloadSource for Slow {
    fn read(&self, range: ByteRange) -> crate::Result<Bytes> {
        std::thread::sleep(SILENCE * 5);
        Zeros { readable: PART_BYTES }.read(range)
    }
}

const SILENCE: Duration = Duration::from_millis(40);

#[tokio::test]
async fn a_slow_file_is_no_silent_server() {
    let world = World::new(repeating);
    let mut config = config();
    config.timeouts.read = SILENCE;
    let algorithm = ChecksumAlgorithm::Crc64Nvme;
    let payload = Payload::streamed(Arc::new(Slow), PART_BYTES, algorithm);
    client_with(&world, config).upload_part(part(payload)).await.unwrap();
    assert_eq!(world.seen().len(), 1);
}
