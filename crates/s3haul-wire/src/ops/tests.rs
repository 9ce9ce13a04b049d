//! Operations against a scripted server: what goes over the wire, and what odd answers become.

mod belief;
mod encryption;
mod streamed;

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt as _;

use super::*;
use crate::env::{BoxFuture, Connector, Env, Io};
use crate::error::{Error, ErrorKind};
use crate::testing::{PausedClock, Reply, Seen, World, client, client_with, config};
use crate::units::ByteRange;
use crate::{
    BodyStream, Checksum, ChecksumAlgorithm, ChecksumMode, Client, CredentialsConfig, CustomerKey,
    Encryption, LockMode, ObjectProperties, Payload, PayloadSource, Retention,
};

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

fn part(payload: Payload) -> UploadPart<'static> {
    UploadPart {
        bucket: "b",
        key: "k",
        upload_id: "u",
        part_number: 1,
        payload,
        checksum: Some(ChecksumAlgorithm::Crc64Nvme),
        encryption: None,
        customer_key: None,
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
async fn a_head_without_a_length_says_no_size() {
    let world =
        World::new(|_| Reply::raw("HTTP/1.1 200 OK\r\netag: \"e\"\r\nx-amz-request-id: 1\r\n\r\n"));
    let input = HeadObject { bucket: "b", key: "k", ..HeadObject::default() };
    let error = client(&world).head_object(input).await.unwrap_err();
    assert_eq!((error.kind(), error.subject()), (ErrorKind::NotS3, Some("s3://b/k")));
    assert_eq!(
        error.to_string(),
        "the answer to HeadObject s3://b/k has no Content-Length, so its size is unknown: the \
         server, or a proxy before it, does not answer as S3 does"
    );
    assert_eq!(world.seen().len(), 1);
    let empty = World::new(|_| {
        let etag = "etag: \"d41d8cd98f00b204e9800998ecf8427e\"";
        Reply::raw(format!("HTTP/1.1 200 OK\r\n{etag}\r\nx-amz-request-id: 1\r\n\r\n"))
    });
    assert_eq!(client(&empty).head_object(input).await.unwrap().size, 0);
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
async fn uploads_of_a_server_that_takes_a_prefix_for_a_key_are_found() {
    for (server, expected) in [("MinIO", &["x/", "x/a", "x/b"][..]), ("other", &["x/"])] {
        let headers = format!("server: {server}\r\nx-amz-request-id: 1\r\n");
        let world = World::new(move |seen| {
            // In the order of their time.
            let keys: &[_] =
                if seen.line().contains("prefix=") { &["x/"] } else { &["x/b", "y", "x/", "x/a"] };
            let mut body = "<ListMultipartUploadsResult>".to_owned();
            for key in keys {
                let _ = write!(
                    body,
                    "<Upload><Key>{key}</Key><UploadId>{key}</UploadId>\
                     <Initiated>2026-11-25T00:00:00Z</Initiated></Upload>"
                );
            }
            Reply::status(200, &headers, &(body + "</ListMultipartUploadsResult>"))
        });
        let page = client(&world).list_multipart_uploads("b", "x/", None).await.unwrap();
        let keys: Vec<_> = page.uploads.iter().map(|upload| upload.key.as_str()).collect();
        assert_eq!(keys, expected, "{server}");
    }
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
    let config = crate::config::ClientConfig {
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
async fn a_put_whose_checksum_is_answered_otherwise_has_failed() {
    for (headers, is_right) in [
        ("x-amz-checksum-crc64nvme: M3eFcAZSQlc=\r\n", true),
        ("x-amz-checksum-crc64nvme: AAAAAAAAAAA=\r\n", false),
        ("x-amz-checksum-crc32: AAAAAA==\r\n", true),
        ("", true),
    ] {
        let world = World::new(move |_| Reply::status(200, headers, ""));
        let (client, properties) = (client(&world), ObjectProperties::default());
        let mut payload = Payload::from_bytes(Bytes::from_static(b"hello"));
        payload.digest(client.upload_digests(None));
        let input = PutObject { payload: payload.clone(), ..put("k", &properties) };
        let put = client.put_object(input).await.map(drop);
        for result in [put, client.upload_part(part(payload)).await.map(drop)] {
            let kind = result.err().map(|error| error.kind());
            assert_eq!(kind, (!is_right).then_some(ErrorKind::Integrity), "{headers}");
        }
    }
}

/// A world whose first connection answers before it has read a body.
struct Hasty(World);

impl Connector for Hasty {
    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        self.0.resolve(host, port)
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Io>>> {
        if self.0.connections.fetch_add(1, Ordering::SeqCst) > 0 {
            return self.0.connect(address);
        }
        let (near, mut far) = tokio::io::duplex(4096);
        tokio::spawn(async move {
            far.write_all(&Reply::ok("").bytes).await.unwrap();
            std::future::pending::<()>().await;
        });
        Box::pin(async { Ok(Box::new(near) as Box<dyn Io>) })
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_sent_yet_is_not_stored() {
    let world = World::new(|_| Reply::ok(""));
    let env = Env::new(Arc::new(Hasty(world.clone())), Arc::new(PausedClock::new()), 7);
    let client = Client::new(config(), env).unwrap();
    let properties = ObjectProperties::default();
    let payload = Payload::from_bytes(Bytes::from(vec![7; 100_000]));
    client.put_object(PutObject { payload, ..put("k", &properties) }).await.unwrap();
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

#[tokio::test(start_paused = true)]
async fn a_completion_whose_checksum_is_answered_otherwise_has_failed() {
    let sent =
        Checksum { algorithm: ChecksumAlgorithm::Crc64Nvme, value: "M3eFcAZSQlc=".to_owned() };
    for (value, kind, is_right) in [
        ("M3eFcAZSQlc=", "FULL_OBJECT", true),
        ("AAAAAAAAAAA=", "FULL_OBJECT", false),
        // That of the parts' checksums, or it is not said of what.
        ("AAAAAAAAAAA=", "COMPOSITE", true),
        ("AAAAAAAAAAA=", "", true),
    ] {
        let world = World::new(move |_| {
            Reply::ok(&format!(
                "<CompleteMultipartUploadResult><ETag>&quot;m-1&quot;</ETag>\
                 <ChecksumCRC64NVME>{value}</ChecksumCRC64NVME>\
                 <ChecksumType>{kind}</ChecksumType></CompleteMultipartUploadResult>"
            ))
        });
        let input = CompleteMultipart { full_object_checksum: Some(&sent), ..complete(&[]) };
        let result = client(&world).complete_multipart(input).await;
        let failed = result.err().map(|error| error.kind());
        assert_eq!(failed, (!is_right).then_some(ErrorKind::Integrity), "{value} {kind}");
    }
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
        Reply::raw(format!(
            "HTTP/1.1 200 X\r\ncontent-length: 10\r\nx-amz-request-id: 1\r\netag: {etag}\r\n\r\n"
        ))
    };
    let table = [(200, true), (201, false), (202, true), (404, false), (403, true)];
    for (found, is_done) in table {
        let world = World::new(move |seen| match (seen.number, found) {
            (0, _) => Reply::raw("").closing(),
            // As Ceph returns it.
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
async fn listings_send_the_given_parameters() {
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

#[tokio::test(start_paused = true)]
async fn urls_without_credentials_are_plain_and_only_read() {
    let world = World::new(|_| Reply::ok(""));
    let credentials = CredentialsConfig::Anonymous;
    let client = client_with(&world, crate::ClientConfig { credentials, ..config() });
    let minute = Duration::from_mins(1);
    let url = client.presign_get("b", "a b", minute).await.unwrap();
    assert_eq!(url, "http://store.test/b/a%20b");
    let properties = ObjectProperties::default();
    let refused = client.presign_put("b", "a b", &properties, minute).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Config);
}

#[tokio::test(start_paused = true)]
async fn an_accepted_listing_shows_that_signatures_are_right() {
    for (credentials, is_known) in
        [(config().credentials, true), (CredentialsConfig::Anonymous, false)]
    {
        let world = World::new(|seen| match seen.number {
            0 => Reply::error(403, "SignatureDoesNotMatch"),
            _ => Reply::ok("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"),
        });
        let client = client_with(&world, crate::ClientConfig { credentials, ..config() });
        let list = ListObjects { bucket: "b", ..ListObjects::default() };
        let has_listed = client.has_listed();
        client.list_objects(list).await.unwrap_err();
        assert!(!has_listed.load(Ordering::Relaxed));
        client.list_objects(list).await.unwrap();
        assert_eq!(has_listed.load(Ordering::Relaxed), is_known);
    }
}
