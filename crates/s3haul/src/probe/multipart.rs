//! Probes of uploads in parts.

use bytes::Bytes;
use http::Method;
use s3haul_wire::Payload;
use s3haul_wire::ops::{Conditions, CopySource, HeadObject, ListParts, UploadPartCopy};
use s3haul_wire::units::{ByteRange, MIB};

use super::judged::{Judged, Mismatch, ensure, ensure_answer};
use super::question::{Probe, probe};
use super::room::{Room, status};

pub(super) const PROBES: &[Probe] = &[
    probe!(Multipart Data "multipart" multipart:
        "An object is made of parts that were uploaded one by one.",
        "Uploads above `multipart_threshold` (8 MiB) fail."),
    probe!(Multipart Feature "multipart-parts" parts:
        "The parts of an open upload are listed.",
        "Large uploads cannot be resumed, and `uploads ls --sizes` fails."),
    probe!(Multipart Feature "multipart-uploads" uploads:
        "An open upload is listed below a prefix of its key until it is aborted.",
        "`uploads` and `summarize --uploads` may miss uploads that are billed."),
    probe!(Multipart Feature "multipart-copy" part_copy:
        "A part is copied from a range of an object.",
        "Objects above 5 GB are not copied within the service."),
    probe!(Multipart Nothing "multipart-head" part_head:
        "HEAD of one part of an object returns the size of the part.",
        "`verify` reads both sides where files and objects have other parts."),
];

/// Bytes of the first part: the least that S3 takes for one that is not the last.
const FIRST: u64 = 5 * MIB;

fn bytes(body: impl Into<Bytes>) -> Payload {
    Payload::from_bytes(body.into())
}

async fn multipart(room: &Room<'_>) -> Judged {
    made_of_parts(room).await?;
    let head = room.expect(Method::HEAD, "k", &[], Bytes::new()).await?;
    let length = head.header("content-length");
    ensure(length == (FIRST + 3).to_string(), || format!("HEAD returns {length} bytes"))?;
    let range = format!("bytes={}-", FIRST - 1);
    let end = room.expect(Method::GET, "k", &[("range", &range)], Bytes::new()).await?;
    ensure(end.body == b"\0end"[..], || "GET returns other bytes than those of the parts".into())
}

/// Makes the object `k` of a part of 5 MiB and one of 3 bytes.
async fn made_of_parts(room: &Room<'_>) -> Result<(), Mismatch> {
    let upload_id = room.begin("k", None).await?;
    let first = vec![0; usize::try_from(FIRST).unwrap_or_default()];
    let parts = [
        room.part("k", &upload_id, 1, bytes(first)).await?,
        room.part("k", &upload_id, 2, bytes("end")).await?,
    ];
    room.complete(("k", &upload_id), &parts, Conditions::default(), None).await
}

async fn parts(room: &Room<'_>) -> Judged {
    let upload_id = room.begin("k", None).await?;
    for number in [2, 1] {
        room.part("k", &upload_id, number, bytes("part")).await?;
    }
    let key = room.key("k");
    let input = ListParts {
        bucket: room.bucket(),
        key: &key,
        upload_id: &upload_id,
        part_number_marker: None,
    };
    let listed = room.client().list_parts(input).await?;
    let found: Vec<_> = listed.parts.iter().map(|part| (part.part_number, part.size)).collect();
    ensure(found == [(1, 4), (2, 4)], || format!("parts and sizes are listed as {found:?}"))
}

async fn uploads(room: &Room<'_>) -> Judged {
    let upload_id = room.begin("k", None).await?;
    let (client, bucket, key) = (room.client(), room.bucket(), room.key("k"));
    // Not by the client's method, which helps itself where a service lists them otherwise.
    let folder = room.key("");
    let query = [("uploads", ""), ("prefix", folder.as_str())];
    let listed = async || {
        let page = room.ask_bucket(Method::GET, &query, Bytes::new()).await?;
        ensure_answer(page.is_ok(), &page, || {
            format!("ListMultipartUploads answers {}", status(&page))
        })?;
        Ok::<_, Mismatch>(String::from_utf8_lossy(&page.body).contains(&upload_id))
    };
    ensure(listed().await?, || "an open upload is not listed".to_owned())?;
    client.abort_multipart(bucket, &key, &upload_id).await?;
    ensure(!listed().await?, || "an upload is listed after it was aborted".to_owned())
}

async fn part_copy(room: &Room<'_>) -> Judged {
    // S3 copies ranges of objects of more than 5 MiB only, and Garage heeds that:
    // <https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html>.
    let mut body = b"0123456789".to_vec();
    body.resize(usize::try_from(FIRST).unwrap_or_default() + 1, 0);
    room.put("from", body).await?;
    let upload_id = room.begin("k", None).await?;
    let source = room.key("from");
    let input = UploadPartCopy {
        bucket: room.bucket(),
        key: &room.key("k"),
        upload_id: &upload_id,
        part_number: 1,
        source: CopySource { bucket: room.bucket(), key: &source, ..<_>::default() },
        range: ByteRange { start: 2, end: 5 },
        customer_key: None,
    };
    let part = room.client().upload_part_copy(input).await?;
    room.complete(("k", &upload_id), &[part], Conditions::default(), None).await?;
    room.holds("k", b"234").await
}

async fn part_head(room: &Room<'_>) -> Judged {
    made_of_parts(room).await?;
    let key = room.key("k");
    let input = HeadObject { bucket: room.bucket(), key: &key, ..<_>::default() };
    let size = room.client().head_part(input, 2).await?.size;
    ensure(size == 3, || format!("HEAD of a part of 3 bytes returns {size}"))
}
