//! Probes of digests: which the service stores, and whether it refuses bytes that have another.

use bytes::Bytes;
use http::Method;
use s3haul_wire::ops::{CompletedPart, Conditions, HeadObject, PutObject};
use s3haul_wire::{Checksum, ChecksumAlgorithm, Error, ErrorKind, ObjectProperties, Payload};

use super::judged::{Judged, Mismatch, ensure};
use super::question::{Probe, probe};
use super::room::Room;

pub(super) const PROBES: &[Probe] = &[
    probe!(Checksums Data "upload-checksum" upload:
        "An upload with the checksum that s3haul sends by itself is taken.",
        "Uploads fail until `request_checksum_calculation = when_required` stands in the profile."),
    probe!(Checksums Feature "content-md5" content_md5:
        "Bytes that do not have the `Content-MD5` of their request are refused.",
        "Bulk removals and tags are sent without a digest that counts."),
    probe!(Checksums Feature "crc64nvme" crc64nvme:
        "CRC64NVME is stored with an object, and other bytes are refused.",
        "Only TLS (over http, the signed SHA-256) shows that an upload was stored as sent, and \
         `verify` reads more objects."),
    probe!(Checksums Feature "crc32c" crc32c:
        "CRC32C is stored with an object, and other bytes are refused.",
        "`--checksum-algorithm CRC32C` has no effect or fails."),
    probe!(Checksums Feature "crc32" crc32:
        "CRC32 is stored with an object, and other bytes are refused.",
        "`--checksum-algorithm CRC32` has no effect or fails."),
    probe!(Checksums Feature "sha1" sha1:
        "SHA-1 is stored with an object, and other bytes are refused.",
        "`--checksum-algorithm SHA1` has no effect or fails."),
    probe!(Checksums Feature "sha256" sha256:
        "SHA-256 is stored with an object, and other bytes are refused.",
        "`--checksum-algorithm SHA256` has no effect or fails."),
    probe!(Checksums Feature "multipart-checksum" multipart:
        "The CRC64NVME of an object in parts is stored, and a wrong one is refused.",
        "Large uploads are checked part by part only."),
];

const BODY: &[u8] = b"0123456789";
const OTHER: &[u8] = b"9876543210";

async fn upload(room: &Room<'_>) -> Judged {
    let key = room.key("k");
    room.ground().note_key(&key);
    let mut payload = Payload::from_bytes(Bytes::from_static(BODY));
    payload.digest(room.client().upload_digests(None));
    let input = PutObject {
        bucket: room.bucket(),
        key: &key,
        payload,
        properties: &ObjectProperties::default(),
        checksum: None,
        conditions: Conditions::default(),
    };
    room.client().put_object(input).await?;
    room.holds("k", BODY).await
}

async fn content_md5(room: &Room<'_>) -> Judged {
    let value = md5_of(OTHER);
    room.refused((Method::PUT, "k"), &[("content-md5", &value)], BODY, &[400]).await?;
    let value = md5_of(BODY);
    room.expect(Method::PUT, "k", &[("content-md5", &value)], BODY).await?;
    Ok(())
}

fn md5_of(bytes: &[u8]) -> String {
    use base64::Engine as _;
    use md5::Digest as _;
    base64::engine::general_purpose::STANDARD.encode(md5::Md5::digest(bytes))
}

async fn crc64nvme(room: &Room<'_>) -> Judged {
    stored(room, ChecksumAlgorithm::Crc64Nvme, "x-amz-checksum-crc64nvme").await
}

async fn crc32c(room: &Room<'_>) -> Judged {
    stored(room, ChecksumAlgorithm::Crc32c, "x-amz-checksum-crc32c").await
}

async fn crc32(room: &Room<'_>) -> Judged {
    stored(room, ChecksumAlgorithm::Crc32, "x-amz-checksum-crc32").await
}

async fn sha1(room: &Room<'_>) -> Judged {
    stored(room, ChecksumAlgorithm::Sha1, "x-amz-checksum-sha1").await
}

async fn sha256(room: &Room<'_>) -> Judged {
    stored(room, ChecksumAlgorithm::Sha256, "x-amz-checksum-sha256").await
}

async fn stored(room: &Room<'_>, algorithm: ChecksumAlgorithm, field: &'static str) -> Judged {
    let right = Checksum::of(algorithm, BODY);
    room.expect(Method::PUT, "k", &[(field, &right.value)], BODY).await?;
    has_checksum(room, "k", &right).await?;
    let wrong = Checksum::of(algorithm, OTHER);
    room.refused((Method::PUT, "wrong"), &[(field, &wrong.value)], BODY, &[400]).await
}

async fn has_checksum(room: &Room<'_>, name: &str, expected: &Checksum) -> Judged {
    let key = room.key(name);
    let input = HeadObject { bucket: room.bucket(), key: &key, checksums: true, ..<_>::default() };
    let head = room.client().head_object(input).await?;
    ensure(head.checksums.contains(expected), || {
        let algorithm = expected.algorithm.name();
        let shown = head.checksums.iter().find(|it| it.algorithm == expected.algorithm);
        shown.map_or(format!("HEAD returns no {algorithm}"), |shown| {
            format!("HEAD returns {algorithm} {} instead of {}", shown.value, expected.value)
        })
    })
}

async fn multipart(room: &Room<'_>) -> Judged {
    let right = Checksum::of(ChecksumAlgorithm::Crc64Nvme, BODY);
    let (upload_id, part) = in_one_part(room, "k", right.algorithm).await?;
    room.complete(("k", &upload_id), &[part], Conditions::default(), Some(&right)).await?;
    has_checksum(room, "k", &right).await?;
    let wrong = Checksum::of(ChecksumAlgorithm::Crc64Nvme, OTHER);
    let (upload_id, part) = in_one_part(room, "wrong", wrong.algorithm).await?;
    let upload = ("wrong", upload_id.as_str());
    match room.complete(upload, &[part], Conditions::default(), Some(&wrong)).await {
        Err(Mismatch::Error(error)) if is_refusal(&error) => Ok(()),
        Err(mismatch) => Err(mismatch),
        Ok(()) => Err(Mismatch::Other("a wrong CRC64NVME of the whole is taken".to_owned())),
    }
}

/// Whether the service refused what was sent, and did not just fail or refuse the credentials.
fn is_refusal(error: &Error) -> bool {
    let is_about_else = matches!(
        error.kind(),
        ErrorKind::AccessDenied | ErrorKind::Throttled | ErrorKind::NotFound
    );
    !is_about_else
        && error.service_error().is_some_and(|answer| (400..500).contains(&answer.status))
}

/// Begins an upload of one part; returns its id and the part.
async fn in_one_part(
    room: &Room<'_>,
    name: &str,
    algorithm: ChecksumAlgorithm,
) -> Result<(String, CompletedPart), Mismatch> {
    let upload_id = room.begin(name, Some(algorithm)).await?;
    let mut payload = Payload::from_bytes(Bytes::from_static(BODY));
    payload.digest(room.client().upload_digests(Some(algorithm)));
    let part = room.part(name, &upload_id, 1, payload).await?;
    Ok((upload_id, part))
}
