//! What changing an object sends, as a server sees it; above all of objects that no test could
//! store.

use super::*;
use crate::engine::reporter::{Counts, Reporter};
use crate::engine::settings::{Settings, Tuning};
use crate::plan::change::ObjectChange;
use s3haul_wire::Encryption;
use s3haul_wire::testing::{Reply, Seen, World, client_with, config};
use s3haul_wire::units::GIB;

/// A server that has an object of a size with these tags.
fn answer(size: u64, tags: &'static str) -> impl Fn(&Seen) -> Reply + Send + Sync {
    move |seen| {
        let line = seen.line();
        match line.split(' ').next().unwrap_or_default() {
            "HEAD" => Reply::raw(format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {size}\r\ncontent-type: text/x-test\r\n\
                 etag: \"state\"\r\nx-amz-meta-colour: blue\r\nx-amz-storage-class: STANDARD_IA\r\n\
                 x-amz-website-redirect-location: /there\r\nx-amz-server-side-encryption: aws:kms\
                 \r\nx-amz-server-side-encryption-aws-kms-key-id: arn/key\r\n\
                 x-amz-object-lock-legal-hold: ON\r\n\r\n"
            )),
            "GET" if line.contains("?acl") => Reply::ok(
                "<AccessControlPolicy><Owner><ID>me</ID></Owner><AccessControlList>\
                 <Grant><Grantee><ID>me</ID></Grantee><Permission>FULL_CONTROL</Permission></Grant>\
                 <Grant><Grantee><ID>you</ID></Grantee><Permission>READ</Permission></Grant>\
                 </AccessControlList></AccessControlPolicy>",
            ),
            "GET" => Reply::ok(&format!("<Tagging><TagSet>{tags}</TagSet></Tagging>")),
            "POST" if line.contains("?uploads") => Reply::ok(
                "<InitiateMultipartUploadResult><UploadId>u</UploadId>\
                 </InitiateMultipartUploadResult>",
            ),
            "POST" => Reply::status(
                200,
                "x-amz-server-side-encryption: aws:kms\r\n",
                "<CompleteMultipartUploadResult><ETag>\"e\"</ETag></CompleteMultipartUploadResult>",
            ),
            "PUT" if line.contains("partNumber") => {
                Reply::ok("<CopyPartResult><ETag>\"e\"</ETag></CopyPartResult>")
            }
            "PUT" => Reply::ok("<CopyObjectResult><ETag>\"e\"</ETag></CopyObjectResult>"),
            _ => Reply::status(204, "", ""),
        }
    }
}

const ONE_TAG: &str = "<Tag><Key>a</Key><Value>1 2</Value></Tag>";

/// Changes one object; gives the requests and what became of it.
async fn set(change: ObjectChange, size: u64, tags: &'static str) -> (Vec<Seen>, Counts) {
    set_at(change, size, answer(size, tags)).await
}

/// The same at another server.
async fn set_at(
    change: ObjectChange,
    size: u64,
    server: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
) -> (Vec<Seen>, Counts) {
    let world = World::new(move |seen| server(seen).confirming(seen));
    let client = client_with(&world, config());
    let report = Arc::new(Reporter::new(Arc::new(crate::event::NoEvents)));
    let settings = Settings {
        source_bucket: "box".to_owned(),
        target_bucket: "box".to_owned(),
        change: Box::new(change),
        tuning: Tuning { multipart_chunksize: GIB, ..Tuning::default() },
        ..Settings::default()
    };
    let (engine, _ended) = Engine::new(settings, client.clone(), client, Arc::clone(&report));
    let (sender, actions) = async_channel::bounded(1);
    sender
        .send(vec![SetAction { key: "k".to_owned(), size, etag: String::new(), expected: None }])
        .await
        .unwrap();
    drop(sender);
    SetAction::run(engine, (), actions).await;
    (world.seen(), report.counts())
}

fn content_type() -> ObjectChange {
    let content_type = Some("image/png".to_owned());
    let properties = ObjectProperties { content_type, ..ObjectProperties::default() };
    ObjectChange { properties, ..ObjectChange::default() }
}

fn class(name: &str) -> ObjectChange {
    let storage_class = Some(name.to_owned());
    let properties = ObjectProperties { storage_class, ..ObjectProperties::default() };
    ObjectChange { properties, ..ObjectChange::default() }
}

/// The request that makes the object says all that is kept.
fn assert_keeps(seen: &Seen) {
    for (name, value) in [
        ("content-type", "image/png"),
        ("x-amz-meta-colour", "blue"),
        ("x-amz-storage-class", "STANDARD_IA"),
        ("x-amz-website-redirect-location", "/there"),
        ("x-amz-server-side-encryption", "aws:kms"),
        ("x-amz-server-side-encryption-aws-kms-key-id", "arn/key"),
        ("x-amz-object-lock-legal-hold", "ON"),
    ] {
        assert_eq!(seen.header(name), Some(value), "{name}: {}", seen.head);
    }
}

#[tokio::test(start_paused = true)]
async fn five_gigabytes_are_copied_at_once() {
    let (seen, counts) = set(content_type(), 5 * GIB, ONE_TAG).await;
    assert_eq!((seen.len(), counts.done), (3, 1), "{seen:?}");
    assert_keeps(&seen[1]);
    for (name, value) in [
        ("x-amz-copy-source", Some("box/k")),
        ("x-amz-copy-source-if-match", Some("\"state\"")),
        ("if-match", Some("\"state\"")),
        ("x-amz-metadata-directive", Some("REPLACE")),
        ("x-amz-tagging-directive", None),
    ] {
        assert_eq!(seen[1].header(name), value, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn larger_ones_go_in_parts_with_all_they_carry() {
    let change = ObjectChange { keep_acl: true, ..content_type() };
    let (seen, counts) = set(change, 5 * GIB + 1, ONE_TAG).await;
    assert_eq!(counts.done, 1, "{seen:?}");
    let begin = seen.iter().find(|seen| seen.line().contains("?uploads")).unwrap();
    assert_keeps(begin);
    assert_eq!(begin.header("x-amz-tagging"), Some("a=1%202"));
    assert_eq!(begin.header("x-amz-grant-full-control"), Some("id=\"me\""));
    assert_eq!(begin.header("x-amz-grant-read"), Some("id=\"you\""));
    let parts: Vec<_> = seen.iter().filter(|seen| seen.line().contains("partNumber")).collect();
    assert_eq!(parts.len(), 6);
    for part in parts {
        assert_eq!(part.header("x-amz-copy-source-if-match"), Some("\"state\""));
    }
    let end = seen.iter().rfind(|seen| seen.line().starts_with("POST")).unwrap();
    assert_eq!(end.header("if-match"), Some("\"state\""), "what other clients wrote stays");
}

#[tokio::test(start_paused = true)]
async fn metadata_that_nobody_can_read_is_not_lost() {
    for (size, is_done) in [(1, true), (6 * GIB, false)] {
        let (seen, counts) = set_at(class("GLACIER_IR"), size, move |seen| {
            if !seen.line().starts_with("HEAD") {
                return answer(size, ONE_TAG)(seen);
            }
            Reply::raw(format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {size}\r\netag: \"state\"\r\n\
                 x-amz-missing-meta: 1\r\n\r\n"
            ))
        })
        .await;
        assert_eq!((counts.done == 1, counts.failed == 1), (is_done, !is_done), "{seen:?}");
        let changes = seen.iter().filter(|seen| seen.line().starts_with('P')).count();
        assert_eq!(changes > 0, is_done);
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_without_conditions_on_what_is_written_is_asked_without() {
    let (seen, counts) = set_at(content_type(), 1, |seen| match seen.header("if-match") {
        Some(_) => Reply::error(501, "NotImplemented"),
        None => answer(1, ONE_TAG)(seen),
    })
    .await;
    assert_eq!((counts.done, counts.failed), (1, 0), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn tags_that_do_not_fit_are_not_lost() {
    let long = format!("<Tag><Key>a</Key><Value>{}</Value></Tag>", "ä".repeat(256));
    let tags: &'static str = Box::leak(long.repeat(3).into_boxed_str());
    let (seen, counts) = set(content_type(), 6 * GIB, tags).await;
    assert_eq!((counts.done, counts.failed), (0, 1));
    assert!(seen.iter().all(|seen| !seen.line().starts_with('P')), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn a_class_alone_keeps_the_headers_where_they_are() {
    let (seen, _) = set(class("GLACIER_IR"), 1, "").await;
    assert_eq!(seen[1].header("x-amz-metadata-directive"), Some("COPY"));
    assert_eq!(seen[1].header("x-amz-storage-class"), Some("GLACIER_IR"));
    assert_eq!(seen[1].header("x-amz-server-side-encryption"), Some("aws:kms"));
    assert_eq!(seen[1].header("x-amz-meta-colour"), None);
    assert_eq!(seen[1].header("x-amz-acl"), None);
}

#[tokio::test(start_paused = true)]
async fn what_is_so_is_only_looked_at() {
    let encryption = Some(Encryption::Kms { key_id: Some("key".to_owned()) });
    let properties = ObjectProperties {
        content_type: Some("text/x-test".to_owned()),
        encryption,
        legal_hold: Some(true),
        ..ObjectProperties::default()
    };
    let change = ObjectChange { properties, ..ObjectChange::default() };
    let (seen, counts) = set(change, 1, "").await;
    assert_eq!((seen.len(), counts.skipped), (1, 1), "{seen:?}");
}
