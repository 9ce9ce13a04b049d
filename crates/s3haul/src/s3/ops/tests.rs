//! Operations against a scripted server: what goes over the wire, and what odd answers become.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;

use super::*;
use crate::error::{Error, ErrorKind};
use crate::s3::testing::{Reply, World, client, client_with, config};
use crate::s3::{
    BodyStream, ChecksumAlgorithm, ChecksumMode, Client, CustomerKey, Encryption, LockMode,
    ObjectProperties, Payload, Retention,
};
use crate::units::ByteRange;

fn put<'a>(key: &'a str, properties: &'a ObjectProperties) -> PutObject<'a> {
    PutObject {
        bucket: "b",
        key,
        payload: Payload::from_bytes(Bytes::from_static(b"hello")),
        properties,
        checksum: None,
        conditions: Conditions::default(),
    }
}

async fn bytes(mut body: BodyStream) -> crate::Result<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(piece) = body.next().await {
        all.extend_from_slice(&piece?);
    }
    Ok(all)
}

#[tokio::test(start_paused = true)]
async fn put_sends_what_the_object_carries() {
    let headers = "etag: \"e\"\r\nx-amz-version-id: v\r\n";
    let world = World::new(move |seen| Reply::status(200, headers, "").confirming(seen));
    let properties = ObjectProperties {
        content_type: Some("text/plain".to_owned()),
        metadata: Some(vec![("Name".to_owned(), "Größe".to_owned())]),
        customer_key: Some(CustomerKey { algorithm: "AES256".to_owned(), key: vec![7; 32] }),
        ..ObjectProperties::default()
    };
    let written = client(&world).put_object(put("ä b+c", &properties)).await.unwrap();
    assert_eq!((written.etag.as_str(), written.version_id.as_deref()), ("\"e\"", Some("v")));
    let seen = &world.seen()[0];
    assert_eq!(seen.line(), "PUT /b/%C3%A4%20b%2Bc HTTP/1.1");
    assert_eq!(seen.header("content-type"), Some("text/plain"));
    assert_eq!(seen.header("x-amz-meta-name"), Some("Größe"));
    assert_eq!(seen.header("x-amz-checksum-crc64nvme"), Some("M3eFcAZSQlc="));
    assert_eq!(seen.header("x-amz-sdk-checksum-algorithm"), Some("CRC64NVME"));
    assert_eq!(seen.body, b"hello");
}

#[tokio::test(start_paused = true)]
async fn locks_lists_and_restores_are_sent_as_s3_takes_them() {
    const NS: &str = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";
    let world = World::new(|_| Reply::ok(""));
    let client = client(&world);
    let retention = Retention { mode: LockMode::Compliance, until_s: 4_070_908_800 };
    client.put_object_retention("b", "k", retention, true).await.unwrap();
    client.put_object_legal_hold("b", "k", true).await.unwrap();
    client.put_object_acl("b", "k", "public-read").await.unwrap();
    let (days, tier) = (Some(3), Some(RestoreTier::Bulk));
    let restore = RestoreObject { bucket: "b", key: "k", days, tier };
    assert_eq!(client.restore_object(restore).await.unwrap(), Restoring::Begun);
    let seen = world.seen();
    for (seen, line, body) in [
        (
            &seen[0],
            "PUT /b/k?retention= ",
            format!(
                "<Retention {NS}><Mode>COMPLIANCE</Mode>\
                 <RetainUntilDate>2099-01-01T00:00:00Z</RetainUntilDate></Retention>"
            ),
        ),
        (
            &seen[1],
            "PUT /b/k?legal-hold= ",
            format!("<LegalHold {NS}><Status>ON</Status></LegalHold>"),
        ),
        (&seen[2], "PUT /b/k?acl= ", String::new()),
        (
            &seen[3],
            "POST /b/k?restore= ",
            format!(
                "<RestoreRequest {NS}><Days>3</Days><GlacierJobParameters><Tier>Bulk</Tier>\
                 </GlacierJobParameters></RestoreRequest>"
            ),
        ),
    ] {
        assert!(seen.line().starts_with(line), "{}", seen.line());
        assert_eq!(String::from_utf8_lossy(&seen.body), body);
        assert!(seen.header("content-md5").is_some(), "{line}");
    }
    assert_eq!(seen[0].header("x-amz-bypass-governance-retention"), Some("true"));
    assert_eq!(seen[2].header("x-amz-acl"), Some("public-read"));
    let busy = World::new(|_| Reply::error(409, "RestoreAlreadyInProgress"));
    let restoring = self::client(&busy).restore_object(restore).await.unwrap();
    assert_eq!((restoring, busy.seen().len()), (Restoring::UnderWay, 1));
}

#[tokio::test(start_paused = true)]
async fn checksums_are_left_out_where_not_required() {
    let world = World::new(|_| Reply::ok(""));
    let config = crate::s3::ClientConfig {
        request_checksums: ChecksumMode::WhenRequired,
        response_checksums: ChecksumMode::WhenRequired,
        ..config()
    };
    let client = client_with(&world, config);
    let properties = ObjectProperties::default();
    client.put_object(put("k", &properties)).await.unwrap();
    let named = PutObject { checksum: Some(ChecksumAlgorithm::Sha1), ..put("k", &properties) };
    client.put_object(named).await.unwrap();
    let get = GetObject { bucket: "b", key: "k", ..GetObject::default() };
    client.get_object(get).await.unwrap();
    let seen = world.seen();
    assert!(!seen[0].head.contains("checksum"), "{}", seen[0].head);
    assert_eq!(seen[1].header("x-amz-checksum-sha1"), Some("qvTGHdzF6KLavt4PO0gs2a6pQ00="));
    assert!(!seen[2].head.contains("checksum"), "{}", seen[2].head);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_to_a_conditional_put_is_found_out() {
    // The first PUT is carried out but its answer is lost; the second is refused for it.
    for (etag, is_ours) in [("5d41402abc4b2a76b9719d911017c592", true), ("other", false)] {
        let world = World::new(move |seen| match seen.number {
            0 => Reply::raw("").closing(),
            1 => Reply::error(412, "PreconditionFailed"),
            _ => Reply::raw(format!(
                "HTTP/1.1 200 X\r\ncontent-length: 5\r\netag: \"{etag}\"\r\n\r\n"
            )),
        });
        let properties = ObjectProperties::default();
        let conditions = Conditions { if_absent: true, ..Conditions::default() };
        let input = PutObject { conditions, ..put("k", &properties) };
        let result = client(&world).put_object(input).await;
        assert_eq!(world.seen()[0].header("if-none-match"), Some("*"));
        match result {
            Ok(written) => assert!(is_ours && written.etag.contains(etag)),
            Err(error) => assert!(!is_ours && error.kind() == ErrorKind::PreconditionFailed),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_conditional_put_over_a_connection_that_died_is_found_out() {
    // A reused connection dies with the PUT, which the client then sends once more by itself.
    let world = World::new(|seen| match seen.number {
        0 => Reply::ok(""),
        1 => Reply::raw("").closing(),
        2 => Reply::error(412, "PreconditionFailed"),
        _ => Reply::raw(
            "HTTP/1.1 200 X\r\netag: e\r\ncontent-length: 5\r\n\
             x-amz-checksum-crc64nvme: M3eFcAZSQlc=\r\n\r\n",
        ),
    });
    let client = client(&world);
    let properties = ObjectProperties::default();
    client.put_object(put("first", &properties)).await.unwrap();
    let conditions = Conditions { if_absent: true, ..Conditions::default() };
    client.put_object(PutObject { conditions, ..put("k", &properties) }).await.unwrap();
    assert_eq!(world.connections(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_conditional_put_that_is_refused_at_once_is_refused() {
    let world = World::new(|_| Reply::error(412, "PreconditionFailed"));
    let properties = ObjectProperties::default();
    let conditions = Conditions { if_absent: true, ..Conditions::default() };
    let input = PutObject { conditions, ..put("k", &properties) };
    let error = client(&world).put_object(input).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert_eq!(world.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn whole_bodies_are_validated_and_ranges_are_not() {
    let right = "x-amz-checksum-crc64nvme: M3eFcAZSQlc=\r\n";
    let wrong = "x-amz-checksum-crc64nvme: AAAAAAAAAAA=\r\n";
    let composite = "x-amz-checksum-sha256: AAAA=-2\r\nx-amz-checksum-type: COMPOSITE\r\n";
    for (headers, is_right) in [(right, true), (wrong, false), (composite, true), ("", true)] {
        let world = World::new(move |_| Reply::status(200, headers, "hello"));
        let get = GetObject { bucket: "b", key: "k", checksums: true, ..GetObject::default() };
        let object = client(&world).get_object(get).await.unwrap();
        assert_eq!((object.head.size, object.range), (5, ByteRange { start: 0, end: 5 }));
        assert_eq!(bytes(object.body).await.is_ok(), is_right, "{headers}");
        assert_eq!(world.seen()[0].header("x-amz-checksum-mode"), Some("ENABLED"));
    }
    let world = World::new(move |_| {
        Reply::status(206, &format!("content-range: bytes 1-3/5\r\n{wrong}"), "ell")
    });
    let range = Some(ByteRange { start: 1, end: 4 });
    let get = GetObject { bucket: "b", key: "k", range, ..GetObject::default() };
    let object = client(&world).get_object(get).await.unwrap();
    assert_eq!(bytes(object.body).await.unwrap(), b"ell");
    assert_eq!(world.seen()[0].header("range"), Some("bytes=1-3"));
}

#[tokio::test(start_paused = true)]
async fn a_missing_object_reads_as_in_the_aws_tools() {
    let world = World::new(|_| Reply::status(404, "", ""));
    let head = HeadObject { bucket: "b", key: "k", ..HeadObject::default() };
    let error = client(&world).head_object(head).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        error.to_string(),
        "An error occurred (404) when calling the HeadObject operation: Not Found"
    );
}

#[tokio::test(start_paused = true)]
async fn errors_in_200_answers_are_errors() {
    let body = "<Error><Code>InternalError</Code><Message>m</Message></Error>";
    let world = World::new(move |seen| match seen.number {
        0 | 2 => Reply::ok(body),
        1 => Reply::ok("<CopyObjectResult><ETag>&quot;e&quot;</ETag></CopyObjectResult>"),
        4 => Reply::status(200, "etag: \"m-1\"\r\n", ""),
        _ => Reply::ok(
            "<CompleteMultipartUploadResult><ETag>\"m-1\"</ETag></CompleteMultipartUploadResult>",
        ),
    });
    let client = client(&world);
    let properties = ObjectProperties::default();
    let written = client
        .copy_object(CopyObject {
            bucket: "b",
            key: "k",
            source: CopySource { bucket: "s", key: "a b", ..CopySource::default() },
            properties: &properties,
            replace_metadata: Some(true),
            replace_tagging: None,
            checksum: None,
            conditions: Conditions::default(),
        })
        .await
        .unwrap();
    assert_eq!(written.etag, "\"e\"");
    let seen = &world.seen()[1];
    assert_eq!(seen.header("x-amz-copy-source"), Some("s/a%20b"));
    assert_eq!(seen.header("x-amz-metadata-directive"), Some("REPLACE"));
    assert_eq!(client.complete_multipart(complete(&[])).await.unwrap().etag, "\"m-1\"");
}

fn complete(parts: &[CompletedPart]) -> CompleteMultipart<'_> {
    CompleteMultipart {
        bucket: "b",
        key: "k",
        upload_id: "u",
        parts,
        full_object_checksum: None,
        object_size: Some(10),
        conditions: Conditions::default(),
        customer_key: None,
        encryption: None,
        is_encrypted: false,
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_to_complete_is_found_out() {
    // The first request completes the upload but its answer is lost.
    let part = CompletedPart {
        part_number: 1,
        etag: "\"d41d8cd98f00b204e9800998ecf8427e\"".to_owned(),
        checksum: None,
        size: 0,
    };
    let etag = "\"59adb24ef3cdbe0297f05b395827453f-1\"";
    for (size, is_ours) in [(10, true), (11, false)] {
        let world = World::new(move |seen| match seen.number {
            0 => Reply::raw("").closing(),
            1 => Reply::error(404, "NoSuchUpload"),
            _ => Reply::raw(format!(
                "HTTP/1.1 200 X\r\ncontent-length: {size}\r\netag: {etag}\r\n\r\n"
            )),
        });
        let result = client(&world).complete_multipart(complete(std::slice::from_ref(&part))).await;
        assert_eq!(world.seen()[0].header("x-amz-mp-object-size"), Some("10"));
        match result {
            Ok(written) => assert!(is_ours && written.etag == etag),
            Err(error) => assert!(!is_ours && error.code() == "NoSuchUpload"),
        }
    }
}

/// The answer to the second attempt is as good as what the server then has.
#[tokio::test(start_paused = true)]
async fn a_completion_that_was_asked_for_twice_is_looked_at() {
    let head = |etag: &str| {
        Reply::raw(format!("HTTP/1.1 200 X\r\ncontent-length: 10\r\netag: {etag}\r\n\r\n"))
    };
    let table = [(200, true), (201, false), (202, true), (404, false), (403, true)];
    for (found, is_done) in table {
        let world = World::new(move |seen| match (seen.number, found) {
            (0, _) => Reply::raw("").closing(),
            // As Ceph tells it.
            (1, 202) => Reply::ok(
                "<CompleteMultipartUploadResult><ETag>m-1</ETag></CompleteMultipartUploadResult>",
            ),
            (1, _) => Reply::ok(
                "<CompleteMultipartUploadResult><ETag>&quot;m-1&quot;</ETag>\
                 </CompleteMultipartUploadResult>",
            ),
            (_, 200 | 202) => head("\"m-1\""),
            (_, 201) => head("\"other\""),
            (_, status) => Reply::status(status, "", ""),
        });
        let result = client(&world).complete_multipart(complete(&[])).await;
        assert_eq!(world.seen().len(), 3, "{found}");
        match result {
            Ok(_) => assert!(is_done, "{found}"),
            Err(error) => {
                assert!(!is_done && error.to_string().contains("does not have it"), "{error}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn deletes_are_sent_again_for_what_was_throttled() {
    let world = World::new(|seen| match (seen.number, seen.line().starts_with("POST")) {
        (_, false) => Reply::status(204, "", ""),
        (1, true) => Reply::ok(
            "<DeleteResult><Error><Key>a</Key><Code>SlowDown</Code></Error>\
             <Error><Key>b</Key><Code>AccessDenied</Code><Message>no</Message></Error>\
             </DeleteResult>",
        ),
        _ => Reply::ok("<DeleteResult/>"),
    });
    let objects: Vec<_> = ["a", "b", "c", "odd\u{1}"]
        .iter()
        .map(|key| ObjectIdentifier { key: (*key).to_owned(), ..ObjectIdentifier::default() })
        .collect();
    let outcome = client(&world)
        .delete_objects(DeleteObjects {
            bucket: "b",
            objects: &objects,
            ..DeleteObjects::default()
        })
        .await
        .unwrap();
    assert_eq!(outcome.refused.len(), 1);
    assert_eq!(
        (outcome.refused[0].key.as_str(), outcome.refused[0].code.as_str()),
        ("b", "AccessDenied")
    );
    let seen = world.seen();
    assert_eq!(seen[0].line(), "DELETE /b/odd%01 HTTP/1.1");
    assert!(seen[1].header("content-md5").is_some());
    assert_eq!(seen[1].line(), "POST /b?delete= HTTP/1.1");
    assert_eq!(seen.len(), 3);
    let again = String::from_utf8(seen[2].body.clone()).unwrap();
    assert!(again.contains("<Key>a</Key>") && !again.contains("<Key>c</Key>"), "{again}");
}

#[tokio::test(start_paused = true)]
async fn versions_are_removed_past_their_lock_only_where_that_is_asked_for() {
    let world = World::new(|seen| {
        if seen.line().starts_with("POST") {
            Reply::ok("<DeleteResult/>")
        } else {
            Reply::status(204, "", "")
        }
    });
    let client = client(&world);
    let object = |key: &str| ObjectIdentifier {
        key: key.to_owned(),
        version_id: Some("v".to_owned()),
        etag: None,
    };
    // The second key goes alone, as XML cannot carry it.
    let objects = [object("a"), object("odd\u{1}")];
    for bypass_governance in [false, true] {
        let input = DeleteObjects { bucket: "b", objects: &objects, bypass_governance };
        assert!(client.delete_objects(input).await.unwrap().refused.is_empty());
    }
    let told: Vec<_> = world
        .seen()
        .iter()
        .map(|seen| seen.header("x-amz-bypass-governance-retention").map(str::to_owned))
        .collect();
    let yes = Some("true".to_owned());
    assert_eq!(told, [None, None, yes.clone(), yes]);
    assert_eq!(world.seen()[0].line(), "DELETE /b/odd%01?versionId=v HTTP/1.1");
}

#[tokio::test(start_paused = true)]
async fn buckets_are_listed_to_the_last_page() {
    let page = |names: &str, token: &str| {
        let created = "<CreationDate>1970-01-01T00:00:07Z</CreationDate>";
        let mut buckets = String::new();
        for name in names.chars() {
            write!(buckets, "<Bucket><Name>{name}</Name>{created}</Bucket>").unwrap();
        }
        format!(
            "<ListAllMyBucketsResult><Buckets>{buckets}</Buckets>{token}</ListAllMyBucketsResult>"
        )
    };
    let world = World::new(move |seen| match seen.number {
        0 => Reply::ok(&page("ab", "<ContinuationToken>t/1</ContinuationToken>")),
        _ => Reply::ok(&page("c", "")),
    });
    let buckets = client(&world).list_buckets(ListBuckets::default()).await.unwrap();
    let names: Vec<_> = buckets.iter().map(|bucket| bucket.name.as_str()).collect();
    assert_eq!((names, buckets[0].created_s), (vec!["a", "b", "c"], 7));
    assert_eq!(world.seen()[1].line(), "GET /?continuation-token=t%2F1&max-buckets=1000 HTTP/1.1");
}

#[tokio::test(start_paused = true)]
async fn listings_ask_for_what_they_are_told_to() {
    let world = World::new(|_| {
        Reply::ok(
            "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>\
             <Contents><Key>a+b</Key><Size>1</Size></Contents></ListBucketResult>",
        )
    });
    let client = client(&world);
    let input = ListObjects {
        bucket: "b",
        prefix: "p/",
        delimiter: Some("/"),
        start_after: Some("p/0 1"),
        max_keys: Some(10),
        ..ListObjects::default()
    };
    // A page that says there is more without saying where must not end the listing.
    let error = client.list_objects(input).await.unwrap_err();
    assert_eq!((error.kind(), error.subject()), (ErrorKind::Server, Some("s3://b")));
    let page = client.list_objects_v1(input).await.unwrap();
    assert_eq!(page.next_token.as_deref(), Some("a b"));
    let seen = world.seen();
    assert_eq!(
        seen[0].line(),
        "GET /b?delimiter=%2F&encoding-type=url&list-type=2&max-keys=10&prefix=p%2F&\
         start-after=p%2F0%201 HTTP/1.1"
    );
}

#[tokio::test(start_paused = true)]
async fn presigned_urls_have_limits() {
    let world = World::new(|_| Reply::ok(""));
    let client = client(&world);
    let url = client.presign_get("b", "a b", Duration::from_mins(1)).await.unwrap();
    assert!(
        url.starts_with("http://store.test/b/a%20b?X-Amz-Algorithm=AWS4-HMAC-SHA256&"),
        "{url}"
    );
    for wrong in [Duration::ZERO, Duration::from_hours(7 * 24 + 1)] {
        assert!(client.presign_get("b", "k", wrong).await.is_err());
    }
    assert!(world.seen().is_empty());
}

type Ends = Vec<(&'static str, Option<Error>)>;

/// How each operation that makes objects ends.
async fn writes(client: &Client) -> Ends {
    let properties = ObjectProperties::default();
    let source = CopySource { bucket: "s", key: "k", ..CopySource::default() };
    let copy = CopyObject {
        bucket: "b",
        key: "k",
        source,
        properties: &properties,
        replace_metadata: None,
        replace_tagging: None,
        checksum: None,
        conditions: Conditions::default(),
    };
    let part = UploadPart {
        bucket: "b",
        key: "k",
        upload_id: "u",
        part_number: 1,
        payload: Payload::from_bytes("hello".into()),
        checksum: None,
        encryption: None,
        customer_key: None,
    };
    let part_copy = UploadPartCopy {
        bucket: "b",
        key: "k",
        upload_id: "u",
        part_number: 1,
        source,
        range: ByteRange { start: 0, end: 1 },
        customer_key: None,
    };
    let create = CreateMultipart { bucket: "b", key: "k", properties: &properties, checksum: None };
    vec![
        ("PutObject", client.put_object(put("k", &properties)).await.err()),
        ("CopyObject", client.copy_object(copy).await.err()),
        ("CreateMultipartUpload", client.create_multipart(create).await.err()),
        ("UploadPart", client.upload_part(part).await.err()),
        ("UploadPartCopy", client.upload_part_copy(part_copy).await.err()),
        ("CompleteMultipartUpload", client.complete_multipart(complete(&[])).await.err()),
    ]
}

/// How each other operation that changes something ends.
async fn changes(client: &Client) -> Ends {
    let retention = Retention { mode: LockMode::Governance, until_s: 1_893_456_000 };
    let website = Website::default();
    let objects = [ObjectIdentifier { key: "k".to_owned(), ..ObjectIdentifier::default() }];
    let delete = DeleteObject { bucket: "b", key: "k", ..DeleteObject::default() };
    let deletes = DeleteObjects { bucket: "b", objects: &objects, ..DeleteObjects::default() };
    let bucket = CreateBucket { bucket: "b", ..CreateBucket::default() };
    let restore = RestoreObject { bucket: "b", key: "k", ..RestoreObject::default() };
    vec![
        ("AbortMultipartUpload", client.abort_multipart("b", "k", "u").await.err()),
        ("DeleteObject", client.delete_object(delete).await.err()),
        ("DeleteObjects", client.delete_objects(deletes).await.err()),
        ("PutObjectTagging", client.put_object_tagging("b", "k", None, &[]).await.err()),
        ("DeleteObjectTagging", client.delete_object_tagging("b", "k", None).await.err()),
        ("PutObjectAcl", client.put_object_acl("b", "k", "private").await.err()),
        ("PutObjectRetention", client.put_object_retention("b", "k", retention, false).await.err()),
        ("PutObjectLegalHold", client.put_object_legal_hold("b", "k", true).await.err()),
        ("RestoreObject", client.restore_object(restore).await.err()),
        ("CreateBucket", client.create_bucket(bucket).await.err()),
        ("DeleteBucket", client.delete_bucket("b").await.err()),
        ("HeadBucket", client.head_bucket("b").await.err()),
        ("PutBucketWebsite", client.put_bucket_website("b", &website).await.err()),
        ("PutBucketVersioning", client.put_bucket_versioning("b", true).await.err()),
    ]
}

/// How each operation that gives something ends.
async fn reads(client: &Client) -> Ends {
    let list = ListObjects { bucket: "b", ..ListObjects::default() };
    let versions = ListVersions { bucket: "b", ..ListVersions::default() };
    let parts = ListParts { bucket: "b", key: "k", upload_id: "u", part_number_marker: None };
    let head = HeadObject { bucket: "b", key: "k", ..HeadObject::default() };
    let get = GetObject { bucket: "b", key: "k", ..GetObject::default() };
    let range = Some(ByteRange { start: 0, end: 5 });
    let get_range = GetObject { range, ..get };
    vec![
        ("HeadObject", client.head_object(head).await.err()),
        ("GetObject", client.get_object(get).await.err()),
        ("GetObject", client.get_object(get_range).await.err()),
        ("GetObjectTagging", client.get_object_tagging("b", "k", None).await.err()),
        ("GetObjectAcl", client.get_object_acl("b", "k").await.err()),
        ("GetObjectLegalHold", client.get_object_legal_hold("b", "k").await.err()),
        ("GetBucketWebsite", client.get_bucket_website("b").await.err()),
        ("GetBucketVersioning", client.get_bucket_versioning("b").await.err()),
        ("GetBucketLocation", client.get_bucket_location("b").await.err()),
        ("ListBuckets", client.list_buckets(ListBuckets::default()).await.err()),
        ("ListObjectsV2", client.list_objects(list).await.err()),
        ("ListObjects", client.list_objects_v1(list).await.err()),
        ("ListObjectVersions", client.list_versions(versions).await.err()),
        ("ListParts", client.list_parts(parts).await.err()),
        ("ListMultipartUploads", client.list_multipart_uploads("b", "", None).await.err()),
    ]
}

#[tokio::test(start_paused = true)]
async fn no_operation_believes_a_server_that_is_no_s3() {
    let html = "content-type: text/html\r\nlast-modified: Sun, 22 Nov 2026 16:19:41 GMT\r\n";
    let xml = "content-type: application/xml\r\n";
    for (status, headers, body) in [
        (200, html, "<!DOCTYPE html><html><title>Log in</title></html>"),
        (200, "", ""),
        (204, "", ""),
        (200, xml, "<Other><ETag>e</ETag></Other>"),
        (200, xml, "<Other><ETag>e"),
        (200, "", "noise"),
    ] {
        let world = World::new(move |seen| {
            let is_head = seen.line().starts_with("HEAD");
            let (length, body) = (body.len(), if is_head { "" } else { body });
            Reply::raw(format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
            ))
        });
        let client = client(&world);
        let mut requests = 0;
        let mut ends = writes(&client).await;
        ends.extend(changes(&client).await);
        ends.extend(reads(&client).await);
        for (operation, error) in ends {
            let error = error.unwrap_or_else(|| panic!("{operation} believes {status} {body}"));
            assert_eq!(error.kind(), ErrorKind::NotS3, "{operation}: {error}");
            assert_eq!(error.operation(), Some(operation));
            let told = error.to_string();
            assert!(told.contains("http://store.test/"), "{operation}: {told}");
            assert!(told.contains(&status.to_string()), "{operation}: {told}");
            let words = body.split_whitespace().next().unwrap_or_default();
            let is_shown = told.contains(words) || operation.starts_with("Head");
            assert!(is_shown, "{operation}: {told}");
            requests += 1;
        }
        let asked = world.seen().iter().filter(|seen| seen.line().contains("location")).count();
        // The operation itself, and for empty answers, as HEAD has them, who could vouch for them.
        assert!(asked <= 2 || body.is_empty(), "{asked}");
        assert_eq!(world.seen().len() - asked + 1, requests, "each was sent once");
    }
}

#[tokio::test(start_paused = true)]
async fn documents_that_end_early_are_no_answers() {
    let world = World::new(|seen| {
        let roots = [
            ("x-amz-copy-source: s/k\r\nx-amz-copy-source-range", "CopyPartResult"),
            ("x-amz-copy-source", "CopyObjectResult"),
            ("uploads=", "InitiateMultipartUploadResult"),
            ("uploadId=", "CompleteMultipartUploadResult"),
        ];
        let root =
            roots.iter().find(|(word, _)| seen.head.contains(word)).map_or("", |found| found.1);
        Reply::ok(&format!("<{root}><ETag>e"))
    });
    for (operation, error) in writes(&client(&world)).await {
        if !matches!(operation, "PutObject" | "UploadPart") {
            let told = error.unwrap().to_string();
            assert!(told.contains("200 OK, an incomplete or damaged"), "{told}");
        }
    }
}

/// As Garage and R2 do.
#[tokio::test(start_paused = true)]
async fn a_service_that_marks_no_answer_is_asked_once() {
    let bare = |status: u16, body: &str| {
        Reply::raw(format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
    };
    let delete = DeleteObject { bucket: "b", key: "k", ..DeleteObject::default() };
    let world = World::new(move |seen| {
        if seen.line().contains("location") {
            bare(403, "<Error><Code>AccessDenied</Code></Error>")
        } else {
            bare(204, "")
        }
    });
    let asking = client(&world);
    for _ in 0..3 {
        asking.delete_object(delete).await.unwrap();
    }
    assert_eq!(world.seen().len(), 4, "an error in a document is an answer, too");

    // A service that marks its answers is not asked: it would have marked this one.
    let world = World::new(move |seen| match seen.number {
        0 => Reply::ok("<LocationConstraint/>"),
        _ => bare(204, ""),
    });
    let knowing = client(&world);
    knowing.get_bucket_location("b").await.unwrap();
    let error = knowing.delete_object(delete).await.unwrap_err();
    assert_eq!((error.kind(), world.seen().len()), (ErrorKind::NotS3, 2), "{error}");
}

/// The first answer is lost, the second attempt is refused because of what the first has written.
#[tokio::test(start_paused = true)]
async fn encryption_of_what_a_lost_answer_wrote_is_confirmed_too() {
    let aes =
        ObjectProperties { encryption: Some(Encryption::Aes256), ..ObjectProperties::default() };
    for is_encrypted in [false, true] {
        let world = World::new(move |seen| {
            let mark = if is_encrypted { "x-amz-server-side-encryption: AES256\r\n" } else { "" };
            match (seen.number, seen.line().starts_with("HEAD")) {
                (0, _) => Reply::error(500, "InternalError"),
                (_, false) => Reply::error(412, "PreconditionFailed"),
                // The MD5 of `hello`.
                (_, true) => Reply::raw(format!(
                    "HTTP/1.1 200 X\r\netag: \"5d41402abc4b2a76b9719d911017c592\"\r\n\
                     content-length: 5\r\n{mark}\r\n"
                )),
            }
        });
        let conditions = Conditions { if_absent: true, ..Conditions::default() };
        let input = PutObject { conditions, ..put("k", &aes) };
        let result = client(&world).put_object(input).await;
        assert_eq!(result.is_ok(), is_encrypted, "{result:?}");
    }
}

/// Encryption that the server ignores, and that it confirms in one way or another.
#[tokio::test(start_paused = true)]
async fn encryption_that_was_asked_for_is_confirmed() {
    let key = CustomerKey { algorithm: "AES256".to_owned(), key: vec![7; 32] };
    let (_, md5) = key.encoded();
    let of_customer = format!(
        "x-amz-server-side-encryption-customer-algorithm: AES256\r\n\
         x-amz-server-side-encryption-customer-key-md5: {md5}\r\n"
    );
    let of_server = "x-amz-server-side-encryption: AES256\r\n".to_owned();
    let aes =
        ObjectProperties { encryption: Some(Encryption::Aes256), ..ObjectProperties::default() };
    let own = ObjectProperties { customer_key: Some(key), ..ObjectProperties::default() };
    for (properties, told, other) in
        [(&aes, &of_server, &of_customer), (&own, &of_customer, &of_server)]
    {
        for (in_answer, in_head, is_confirmed) in [
            (told, None, true),
            (other, Some(told), true),
            (other, Some(other), false),
            (other, None, false),
        ] {
            let (is_in_answer, is_known) = (in_answer == told, in_head.is_some());
            let (in_answer, in_head) = (in_answer.clone(), in_head.cloned());
            let world = World::new(move |seen| match (seen.line().starts_with("HEAD"), &in_head) {
                (false, _) => Reply::status(200, &in_answer, ""),
                (true, Some(told)) => {
                    Reply::raw(format!("HTTP/1.1 200 X\r\netag: e\r\n{told}\r\n"))
                }
                (true, None) => Reply::status(404, "", ""),
            });
            let client = client(&world);
            let result = client.put_object(put("k", properties)).await;
            assert_eq!(result.is_ok(), is_confirmed, "{result:?}");
            let part = UploadPart {
                bucket: "b",
                key: "k",
                upload_id: "u",
                part_number: 1,
                payload: Payload::from_bytes("hello".into()),
                checksum: None,
                encryption: properties.encryption.as_ref(),
                customer_key: properties.customer_key.as_ref(),
            };
            let sent = client.upload_part(part).await;
            assert_eq!(sent.is_ok(), is_in_answer, "parts are confirmed by their answers");
            if let Err(error) = result {
                let message = error.to_string();
                let says = if is_known { "and is not encrypted" } else { "could not be confirmed" };
                assert!(message.contains("s3://b/k was written"), "{message}");
                assert!(message.contains(says), "{message}");
            }
        }
    }
}
