//! One pass over every operation with any client, in a bucket that the pass creates and removes.

use std::time::Duration;

use bytes::Bytes;
use s3haul_wire::ErrorKind;
use s3haul_wire::ops::{
    CompleteMultipart, CompletedPart, Conditions, CopyObject, CopySource, CreateBucket,
    CreateMultipart, DeleteObject, DeleteObjects, DeleteOutcome, GetObject, HeadObject,
    ListBuckets, ListObjects, ListParts, ListVersions, ObjectIdentifier, PutObject, UploadPart,
    UploadPartCopy, Written,
};
use s3haul_wire::units::ByteRange;
use s3haul_wire::{Checksum, ChecksumAlgorithm, Client, ObjectProperties, Payload};

/// Keys with everything that URLs, XML and signatures treat in a special way.
pub(crate) const ODD_KEYS: [&str; 10] = [
    " blanks at both ends ",
    "%41 is not A",
    URL_KEY,
    "dots/./../here",
    "folder/",
    "line\nbreak\ttab",
    XML_KEY,
    "slashes//double",
    DEEP_KEY,
    "~tilde*(star)!",
];
/// Those of them that servers on top of file systems take, too.
pub(crate) const FILE_KEYS: [&str; 6] =
    [" blanks at both ends ", "%41 is not A", URL_KEY, XML_KEY, DEEP_KEY, "~tilde*(star)!"];
const URL_KEY: &str = "a b+c&d=e?f#g";
const XML_KEY: &str = "quotes\"'<>&amp;";
const DEEP_KEY: &str = "ünïcödé/漢字/😀";
const LONG_AGO_S: i64 = 1_577_836_800;

/// Uses every operation of the client once or more.
pub(crate) async fn pass(client: &Client, bucket: &str, odd_keys: &[&str]) {
    bucket_comes(client, bucket).await;
    objects(client, bucket, odd_keys).await;
    checksums(client, bucket).await;
    ranges(client, bucket).await;
    conditions(client, bucket).await;
    copies(client, bucket).await;
    tags(client, bucket).await;
    listings(client, bucket, odd_keys).await;
    versions(client, bucket).await;
    multipart(client, bucket).await;
    copied_multipart(client, bucket).await;
    aborted_multipart(client, bucket).await;
    deletes(client, bucket).await;
    bucket_goes(client, bucket).await;
}

async fn bucket_comes(client: &Client, bucket: &str) {
    let missing = client.head_bucket(bucket).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    client.create_bucket(CreateBucket { bucket, ..CreateBucket::default() }).await.unwrap();
    client.head_bucket(bucket).await.unwrap();
    assert_eq!(client.get_bucket_location(bucket).await.unwrap(), "us-east-1");
    let buckets = client.list_buckets(ListBuckets::default()).await.unwrap();
    let found = buckets.iter().find(|found| found.name == bucket).unwrap();
    assert!(found.created_s > LONG_AGO_S, "{found:?}");
}

fn properties() -> ObjectProperties {
    ObjectProperties {
        content_type: Some("text/plain".to_owned()),
        content_encoding: Some("gzip".to_owned()),
        content_language: Some("de".to_owned()),
        content_disposition: Some("inline".to_owned()),
        cache_control: Some("max-age=1".to_owned()),
        metadata: Some(vec![
            ("one".to_owned(), "1".to_owned()),
            ("two".to_owned(), "a  b".to_owned()),
        ]),
        ..ObjectProperties::default()
    }
}

fn putting<'a>(
    bucket: &'a str,
    key: &'a str,
    bytes: &[u8],
    properties: &'a ObjectProperties,
) -> PutObject<'a> {
    PutObject {
        bucket,
        key,
        payload: Payload::from_bytes(Bytes::copy_from_slice(bytes)),
        properties,
        checksum: None,
        conditions: Conditions::default(),
    }
}

async fn put(client: &Client, bucket: &str, key: &str, bytes: &[u8]) -> Written {
    client.put_object(putting(bucket, key, bytes, &properties())).await.unwrap()
}

async fn read(client: &Client, input: GetObject<'_>) -> Vec<u8> {
    let mut object = client.get_object(input).await.unwrap();
    let mut bytes = Vec::new();
    while let Some(piece) = object.body.next().await {
        bytes.extend_from_slice(&piece.unwrap());
    }
    assert_eq!(object.range.len(), bytes.len() as u64);
    bytes
}

async fn objects(client: &Client, bucket: &str, odd_keys: &[&str]) {
    let written = put(client, bucket, "object", b"hello").await;
    assert_eq!(written.etag, "\"5d41402abc4b2a76b9719d911017c592\"");
    let input = HeadObject { bucket, key: "object", checksums: true, ..HeadObject::default() };
    let head = client.head_object(input).await.unwrap();
    assert_eq!((head.size, &head.etag), (5, &written.etag));
    assert!(head.last_modified_s > LONG_AGO_S);
    let expected = properties();
    assert_eq!(head.properties.content_type, expected.content_type);
    assert_eq!(head.properties.content_encoding, expected.content_encoding);
    assert_eq!(head.properties.content_language, expected.content_language);
    assert_eq!(head.properties.content_disposition, expected.content_disposition);
    assert_eq!(head.properties.cache_control, expected.cache_control);
    assert_eq!(head.properties.metadata.unwrap()[0], ("one".to_owned(), "1".to_owned()));
    for key in odd_keys.iter().copied() {
        put(client, bucket, key, key.as_bytes()).await;
        let get = GetObject { bucket, key, checksums: true, ..GetObject::default() };
        assert_eq!(read(client, get).await, key.as_bytes());
    }
    put(client, bucket, "empty", b"").await;
    let empty = GetObject { bucket, key: "empty", ..GetObject::default() };
    assert!(read(client, empty).await.is_empty());
    let url = client.presign_get(bucket, URL_KEY, Duration::from_mins(1)).await.unwrap();
    assert!(url.contains("/a%20b%2Bc%26d%3De%3Ff%23g?X-Amz-"), "{url}");
}

async fn checksums(client: &Client, bucket: &str) {
    let properties = ObjectProperties::default();
    for algorithm in ChecksumAlgorithm::ALL {
        let mut input = putting(bucket, "checked", b"checked", &properties);
        input.checksum = Some(algorithm);
        client.put_object(input).await.unwrap();
        let head = HeadObject { bucket, key: "checked", checksums: true, ..HeadObject::default() };
        let returned = client.head_object(head).await.unwrap().checksums;
        let expected = Checksum::of(algorithm, b"checked");
        assert!(returned.is_empty() || returned == [expected], "{algorithm}: {returned:?}");
        let get = GetObject { bucket, key: "checked", checksums: true, ..GetObject::default() };
        assert_eq!(read(client, get).await, b"checked", "{algorithm}");
    }
}

async fn ranges(client: &Client, bucket: &str) {
    let get = GetObject { bucket, key: "object", ..GetObject::default() };
    for (start, end, expected) in [(0, 1, "h"), (1, 4, "ell"), (3, 50, "lo"), (0, 5, "hello")] {
        let range = Some(ByteRange { start, end });
        assert_eq!(read(client, GetObject { range, ..get }).await, expected.as_bytes());
    }
    let range = Some(ByteRange { start: 5, end: 6 });
    let error = client.get_object(GetObject { range, ..get }).await.unwrap_err();
    assert_eq!(error.code(), "InvalidRange");
}

async fn conditions(client: &Client, bucket: &str) {
    let get = GetObject { bucket, key: "object", ..GetObject::default() };
    let error = client.get_object(GetObject { key: "missing", ..get }).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::NotFound, "NoSuchKey"));
    let conditions = Conditions { if_match: Some("\"other\""), ..Conditions::default() };
    let error = client.get_object(GetObject { conditions, ..get }).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    let properties = ObjectProperties::default();
    let absent = |key| PutObject {
        conditions: Conditions { if_absent: true, ..Conditions::default() },
        ..putting(bucket, key, b"new", &properties)
    };
    let error = client.put_object(absent("object")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    client.put_object(absent("new")).await.unwrap();
}

async fn copies(client: &Client, bucket: &str) {
    let copy = |key, source, replace_metadata, properties| CopyObject {
        bucket,
        key,
        source: CopySource { bucket, key: source, ..CopySource::default() },
        properties,
        replace_metadata,
        replace_tagging: None,
        checksum: None,
        conditions: Conditions::default(),
    };
    let head = |key| HeadObject { bucket, key, ..HeadObject::default() };
    let (odd, none) = (URL_KEY, ObjectProperties::default());
    client.copy_object(copy("copy/kept", odd, None, &none)).await.unwrap();
    let kept = client.head_object(head("copy/kept")).await.unwrap();
    assert_eq!(kept.properties.metadata.unwrap().len(), 2);
    let other = ObjectProperties {
        content_type: Some("image/png".to_owned()),
        ..ObjectProperties::default()
    };
    client.copy_object(copy("copy/replaced", odd, Some(true), &other)).await.unwrap();
    let replaced = client.head_object(head("copy/replaced")).await.unwrap();
    assert_eq!(replaced.properties.content_type.as_deref(), Some("image/png"));
    assert_eq!(replaced.properties.metadata, Some(Vec::new()));
    let error = client.copy_object(copy("copy/x", "nothing", None, &none)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

async fn tags(client: &Client, bucket: &str) {
    let tags = [("a".to_owned(), "1".to_owned()), ("b + c".to_owned(), String::new())];
    client.put_object_tagging(bucket, "object", None, &tags).await.unwrap();
    let mut read = client.get_object_tagging(bucket, "object", None).await.unwrap();
    read.sort();
    assert_eq!(read, tags);
    client.delete_object_tagging(bucket, "object", None).await.unwrap();
    assert!(client.get_object_tagging(bucket, "object", None).await.unwrap().is_empty());
}

/// All keys with their sizes, a few a page.
async fn keys(client: &Client, bucket: &str, is_first_version: bool) -> Vec<(String, u64)> {
    let (mut keys, mut token) = (Vec::new(), None);
    loop {
        let input = ListObjects {
            bucket,
            max_keys: Some(3),
            continuation_token: token.as_deref(),
            ..ListObjects::default()
        };
        let page = if is_first_version {
            client.list_objects_v1(input).await.unwrap()
        } else {
            client.list_objects(input).await.unwrap()
        };
        assert!(page.len() <= 3);
        keys.extend(page.iter().map(|object| (object.key.to_owned(), object.size)));
        if !page.is_truncated {
            return keys;
        }
        token = page.next_token;
    }
}

async fn listings(client: &Client, bucket: &str, odd_keys: &[&str]) {
    let found = keys(client, bucket, false).await;
    assert!(found.is_sorted(), "{found:?}");
    for key in odd_keys {
        let is_found = found.iter().any(|(name, size)| name == key && *size == key.len() as u64);
        assert!(is_found, "{key:?} in {found:?}");
    }
    assert_eq!(keys(client, bucket, true).await, found);
    let all = ListObjects { bucket, ..ListObjects::default() };
    let input = ListObjects { delimiter: Some("/"), ..all };
    let page = client.list_objects(input).await.unwrap();
    let mut prefixes: Vec<_> = found
        .iter()
        .filter_map(|(key, _)| key.split_once('/').map(|(start, _)| format!("{start}/")))
        .collect();
    prefixes.dedup();
    assert_eq!(page.common_prefixes, prefixes);
    let input = ListObjects { prefix: "ünïcödé/", ..all };
    let page = client.list_objects(input).await.unwrap();
    assert_eq!(page.last().unwrap().key, DEEP_KEY);
    assert!(
        page.last().unwrap().etag.len() == 34 && page.last().unwrap().last_modified_s > LONG_AGO_S
    );
    let input = ListObjects { start_after: Some(XML_KEY), ..all };
    let page = client.list_objects(input).await.unwrap();
    assert!(page.iter().all(|object| object.key > XML_KEY) && !page.is_empty());
}

async fn versions(client: &Client, bucket: &str) {
    let found = keys(client, bucket, false).await;
    let (mut listed, mut markers) = (Vec::new(), (None, None));
    loop {
        let (key_marker, version_id_marker): (Option<String>, Option<String>) = markers;
        let input = ListVersions {
            bucket,
            max_keys: Some(4),
            key_marker: key_marker.as_deref(),
            version_id_marker: version_id_marker.as_deref(),
            ..ListVersions::default()
        };
        let page = client.list_versions(input).await.unwrap();
        assert!(page.versions.iter().all(|entry| entry.is_latest && !entry.is_delete_marker));
        listed.extend(page.versions.into_iter().map(|entry| (entry.key, entry.size)));
        if !page.is_truncated {
            break;
        }
        markers = (page.next_key_marker, page.next_version_id_marker);
    }
    // A server was seen to begin a page with the last entry of the page before.
    listed.dedup();
    assert_eq!(listed, found);
}

const PART_BYTES: usize = 5 * 1024 * 1024;

/// Bytes of two parts.
fn two_parts() -> Vec<u8> {
    (0..PART_BYTES + 5).map(|n| u8::try_from(n % 251).unwrap()).collect()
}

async fn multipart(client: &Client, bucket: &str) {
    let (key, bytes, plan) = ("multipart ä", two_parts(), client.upload_digests(None));
    let checksum = plan.checksum;
    let create = CreateMultipart { bucket, key, properties: &properties(), checksum };
    let upload_id = client.create_multipart(create).await.unwrap();
    let upload_id = upload_id.as_str();
    let uploads = client.list_multipart_uploads(bucket, key, None).await.unwrap().uploads;
    assert_eq!((uploads[0].key.as_str(), uploads[0].upload_id.as_str()), (key, upload_id));
    let mut parts = Vec::new();
    for (part_number, piece) in (1..).zip(bytes.chunks(PART_BYTES)) {
        let mut payload = Payload::from_bytes(Bytes::copy_from_slice(piece));
        payload.digest(plan);
        let part = UploadPart {
            bucket,
            key,
            upload_id,
            part_number,
            payload,
            checksum,
            encryption: None,
            customer_key: None,
        };
        parts.push(client.upload_part(part).await.unwrap());
    }
    let list = ListParts { bucket, key, upload_id, part_number_marker: None };
    let listed = client.list_parts(list).await.unwrap();
    let sizes: Vec<_> = listed.parts.iter().map(|part| part.size).collect();
    assert_eq!((sizes, listed.next_marker), (vec![PART_BYTES as u64, 5], None));
    let crc = |bytes| Checksum::of(ChecksumAlgorithm::Crc64Nvme, bytes);
    let whole = crc(&bytes[..PART_BYTES]).combine(&crc(&bytes[PART_BYTES..]), 5).unwrap();
    let complete = completing(bucket, key, upload_id, &parts, Some(&whole));
    let written = client.complete_multipart(complete).await.unwrap();
    assert!(written.etag.ends_with("-2\""), "{}", written.etag);
    let get = GetObject { bucket, key, checksums: true, ..GetObject::default() };
    assert!(read(client, get).await == bytes, "other bytes were read than written");
}

fn completing<'a>(
    bucket: &'a str,
    key: &'a str,
    upload_id: &'a str,
    parts: &'a [CompletedPart],
    full_object_checksum: Option<&'a Checksum>,
) -> CompleteMultipart<'a> {
    CompleteMultipart {
        bucket,
        key,
        upload_id,
        parts,
        full_object_checksum,
        object_size: Some(PART_BYTES as u64 + 5),
        conditions: Conditions::default(),
        customer_key: None,
        encryption: None,
        is_encrypted: false,
    }
}

async fn copied_multipart(client: &Client, bucket: &str) {
    let (key, source_key, properties) = ("copied", "multipart ä", ObjectProperties::default());
    let create = CreateMultipart { bucket, key, properties: &properties, checksum: None };
    let upload_id = client.create_multipart(create).await.unwrap();
    let part_bytes = PART_BYTES as u64;
    let mut parts = Vec::new();
    for (part_number, (start, end)) in (1..).zip([(0, part_bytes), (part_bytes, part_bytes + 5)]) {
        let copy = UploadPartCopy {
            bucket,
            key,
            upload_id: &upload_id,
            part_number,
            source: CopySource { bucket, key: source_key, ..CopySource::default() },
            range: ByteRange { start, end },
            customer_key: None,
        };
        parts.push(client.upload_part_copy(copy).await.unwrap());
    }
    let complete = completing(bucket, key, &upload_id, &parts, None);
    client.complete_multipart(complete).await.unwrap();
    let get = GetObject { bucket, key, checksums: true, ..GetObject::default() };
    assert!(read(client, get).await == two_parts(), "other bytes were copied");
}

async fn aborted_multipart(client: &Client, bucket: &str) {
    let (key, properties) = ("aborted", ObjectProperties::default());
    let create = CreateMultipart { bucket, key, properties: &properties, checksum: None };
    let upload_id = client.create_multipart(create).await.unwrap();
    client.abort_multipart(bucket, key, &upload_id).await.unwrap();
    client.abort_multipart(bucket, key, &upload_id).await.unwrap();
    assert!(client.list_multipart_uploads(bucket, "", None).await.unwrap().uploads.is_empty());
}

async fn deletes(client: &Client, bucket: &str) {
    let delete = DeleteObject { bucket, key: "object", ..DeleteObject::default() };
    client.delete_object(delete).await.unwrap();
    client.delete_object(delete).await.unwrap();
    let full = client.delete_bucket(bucket).await.unwrap_err();
    assert_eq!(full.code(), "BucketNotEmpty");
    let all = ListObjects { bucket, ..ListObjects::default() };
    let page = client.list_objects(all).await.unwrap();
    let objects: Vec<_> = page
        .iter()
        .map(|object| object.key)
        .chain(["missing"])
        .map(|key| ObjectIdentifier { key: key.to_owned(), ..ObjectIdentifier::default() })
        .collect();
    let outcome = client
        .delete_objects(DeleteObjects { bucket, objects: &objects, ..DeleteObjects::default() })
        .await
        .unwrap();
    assert_eq!(outcome, DeleteOutcome::default());
    let page = client.list_objects(all).await.unwrap();
    assert!(page.is_empty(), "{:?}", page.iter().collect::<Vec<_>>());
}

async fn bucket_goes(client: &Client, bucket: &str) {
    client.delete_bucket(bucket).await.unwrap();
    let all = ListObjects { bucket, ..ListObjects::default() };
    let error = client.list_objects(all).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::NotFound, "NoSuchBucket"));
}
