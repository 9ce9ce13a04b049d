//! What answers are believed, and what an answer of something that is no S3 becomes.

use super::*;

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
    let part = UploadPart { checksum: None, ..part(Payload::from_bytes("hello".into())) };
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
            let message = error.to_string();
            assert!(message.contains("http://store.test/"), "{operation}: {message}");
            assert!(message.contains(&status.to_string()), "{operation}: {message}");
            let words = body.split_whitespace().next().unwrap_or_default();
            let is_shown = message.contains(words) || operation.starts_with("Head");
            assert!(is_shown, "{operation}: {message}");
            requests += 1;
        }
        let asked = world.seen().iter().filter(|seen| seen.line().contains("location")).count();
        // `GetBucketLocation` itself, and the requests that check the host of empty answers (HEAD).
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
            let error = error.unwrap();
            let message = error.to_string();
            assert!(message.contains("200 OK, an incomplete or damaged"), "{message}");
            let is_counted = operation == "CreateMultipartUpload";
            assert_eq!(error.effort().unanswered, u32::from(is_counted), "{operation}");
        }
    }
}

/// As Garage and R2 do.
#[tokio::test(start_paused = true)]
async fn a_service_that_marks_no_answer_is_asked_once() {
    let delete = DeleteObject { bucket: "b", key: "k", ..DeleteObject::default() };
    let world = World::new(move |seen| {
        if seen.line().contains("location") {
            bare(403, "", "<Error><Code>AccessDenied</Code></Error>")
        } else {
            bare(204, "", "")
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
        _ => bare(204, "", ""),
    });
    let knowing = client(&world);
    knowing.get_bucket_location("b").await.unwrap();
    let error = knowing.delete_object(delete).await.unwrap_err();
    assert_eq!((error.kind(), world.seen().len()), (ErrorKind::NotS3, 2), "{error}");
}

fn bare(status: u16, headers: &str, body: &str) -> Reply {
    let length = body.len();
    Reply::raw(format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n{body}"))
}

/// A server of files: nginx takes a PUT (`WebDAV`), Apache answers a GET, and both have strong
/// `ETag`s and `Last-Modified`.
#[tokio::test(start_paused = true)]
async fn an_etag_alone_is_no_mark_of_s3() {
    let headers = "etag: \"5d-62\"\r\nlast-modified: Sun, 22 Nov 2026 16:19:41 GMT\r\n";
    let properties = ObjectProperties::default();
    let head = HeadObject { bucket: "b", key: "k", ..HeadObject::default() };
    let get = GetObject { bucket: "b", key: "k", ..GetObject::default() };
    let world = World::new(move |seen| match seen.line() {
        line if line.contains("location") => bare(404, "content-type: text/html\r\n", "<html>"),
        line if line.starts_with("GET") => bare(200, headers, "hello"),
        _ => bare(200, headers, ""),
    });
    let client = client(&world);
    let put = client.put_object(put("k", &properties)).await.unwrap_err();
    let head = client.head_object(head).await.unwrap_err();
    let got = client.get_object(get).await.unwrap_err();
    for error in [put, head, got] {
        assert_eq!(error.kind(), ErrorKind::NotS3, "{error}");
        assert!(error.to_string().contains("no x-amz-request-id"), "{error}");
    }
}

/// As Garage and R2 do.
#[tokio::test(start_paused = true)]
async fn writes_to_a_service_that_marks_no_answer_ask_once() {
    let world = World::new(|seen| match seen.line() {
        line if line.contains("location") => {
            let body = "<LocationConstraint>garage</LocationConstraint>";
            bare(200, "", body).after(Duration::from_secs(1))
        }
        line if line.starts_with("GET") => bare(200, "etag: \"e\"\r\n", "hello"),
        _ => bare(200, "etag: \"e\"\r\n", ""),
    });
    let properties = ObjectProperties::default();
    let client = client(&world);
    let get = GetObject { bucket: "b", key: "k", ..GetObject::default() };
    // All three are answered before it is known what the service is.
    let (first, second, got) = tokio::join!(
        client.put_object(put("k", &properties)),
        client.put_object(put("l", &properties)),
        client.get_object(get),
    );
    assert_eq!((first.unwrap().etag, second.unwrap().etag), ("\"e\"".into(), "\"e\"".into()));
    assert_eq!(bytes(got.unwrap().body).await.unwrap(), b"hello");
    client.put_object(put("m", &properties)).await.unwrap();
    let asked = world.seen().iter().filter(|seen| seen.line().contains("location")).count();
    assert_eq!(asked, 1);
    assert_eq!(world.seen().len(), 6, "the GET is sent again");
}

/// Also a page of HTML, which a server of files has an `ETag` for, too.
#[tokio::test(start_paused = true)]
async fn a_known_etag_is_proof_enough_of_an_object() {
    for kind in ["text/html", "text/plain"] {
        let headers = format!("etag: \"e\"\r\ncontent-type: {kind}\r\n");
        let world = World::new(move |seen| match seen.number {
            0 => Reply::ok("<LocationConstraint/>"),
            _ => bare(200, &headers, "<html>"),
        });
        let client = client(&world);
        // It marks its answers, as far as is known.
        client.get_bucket_location("b").await.unwrap();
        let get = GetObject { bucket: "b", key: "k", ..GetObject::default() };
        let known = GetObject { known_etag: Some("\"e\""), ..get };
        let conditions = Conditions { if_match: Some("\"e\""), ..Conditions::default() };
        client.get_object(known).await.unwrap();
        client.get_object(GetObject { conditions, ..get }).await.unwrap();
        for etag in [None, Some(""), Some("\"other\"")] {
            let error = client.get_object(GetObject { known_etag: etag, ..get }).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotS3, "{kind} {etag:?}: {error}");
        }
        assert_eq!(world.seen().len(), 6);
    }
}

/// A cache or a server of files refuses a condition, too; nothing is skipped for that.
#[tokio::test(start_paused = true)]
async fn a_refused_condition_without_a_mark_is_no_s3s() {
    let properties = ObjectProperties::default();
    let conditions = Conditions { if_absent: true, ..Conditions::default() };
    let request_id = "x-amz-request-id: 1\r\n";
    let document = "<Error><Code>PreconditionFailed</Code></Error>";
    for (status, headers, body, expected) in [
        (412, "", "", ErrorKind::NotS3),
        (412, "content-type: text/html\r\n", "<html>412</html>", ErrorKind::NotS3),
        (304, "etag: \"e\"\r\n", "", ErrorKind::NotS3),
        (412, request_id, "", ErrorKind::PreconditionFailed),
        (304, request_id, "", ErrorKind::PreconditionFailed),
        (412, "", document, ErrorKind::PreconditionFailed),
    ] {
        let world = World::new(move |_| bare(status, headers, body));
        let input = PutObject { conditions, ..put("k", &properties) };
        let error = client(&world).put_object(input).await.unwrap_err();
        assert_eq!(error.kind(), expected, "{status} {headers} {body}: {error}");
        assert_eq!(world.seen().len(), 1);
    }
}

/// As Garage does.
#[tokio::test(start_paused = true)]
async fn a_service_that_marks_no_answer_refuses_conditions_without_a_document() {
    for (body, expected) in
        [("", ErrorKind::PreconditionFailed), ("<html>412</html>", ErrorKind::NotS3)]
    {
        let world = World::new(move |seen| match seen.number {
            0 => bare(200, "", "<LocationConstraint>garage</LocationConstraint>"),
            _ => bare(412, "", body),
        });
        let client = client(&world);
        client.get_bucket_location("b").await.unwrap();
        let get = GetObject { bucket: "b", key: "k", ..GetObject::default() };
        let error = client.get_object(get).await.unwrap_err();
        assert_eq!(error.kind(), expected, "{error}");
    }
}
