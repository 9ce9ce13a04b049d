//! What the requests of a copy carry, as a server sees them.

use super::*;
use crate::engine::reporter::Reporter;
use crate::engine::settings::{Settings, Tuning};
use s3haul_wire::ObjectProperties;
use s3haul_wire::testing::{Reply, Seen, World, client_with, config};
use s3haul_wire::units::{GIB, MIB};
use s3haul_wire::{CustomerKey, Encryption, Grant};

const ALGORITHM: &str = "x-amz-server-side-encryption-customer-algorithm";
const KEY_MD5: &str = "x-amz-server-side-encryption-customer-key-md5";
const SOURCE_KEY_MD5: &str = "x-amz-copy-source-server-side-encryption-customer-key-md5";

fn key(byte: u8) -> CustomerKey {
    CustomerKey { algorithm: "AES256".to_owned(), key: vec![byte; 32] }
}

/// A server that has the source and takes everything.
fn answer(seen: &Seen, size: u64) -> Reply {
    let line = seen.line();
    let object = "content-type: text/x-test\r\netag: \"state\"\r\nx-amz-meta-colour: blue\r\n\
        x-amz-tagging-count: 1\r\n";
    // The requests that follow the first one of an upload do not say it.
    let of_kms = "x-amz-server-side-encryption: aws:kms\r\n";
    match line.split(' ').next().unwrap_or_default() {
        "HEAD" => Reply::raw(format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n{object}\r\n")),
        "GET" if line.contains("?tagging") => Reply::ok(
            "<Tagging><TagSet><Tag><Key>a</Key><Value>1 2</Value></Tag></TagSet></Tagging>",
        ),
        "GET" => match seen.header("range").and_then(|range| range.strip_prefix("bytes=")) {
            None => Reply::status(200, object, "small"),
            Some(range) => {
                let (first, last) = range.split_once('-').unwrap();
                let length: usize =
                    last.parse::<usize>().unwrap() + 1 - first.parse::<usize>().unwrap();
                let headers = format!("{object}content-range: bytes {range}/{}\r\n", 12 * MIB);
                Reply::status(206, &headers, &"x".repeat(length))
            }
        },
        "POST" if line.contains("?uploads") => Reply::ok(
            "<InitiateMultipartUploadResult><UploadId>u</UploadId>\
             </InitiateMultipartUploadResult>",
        ),
        "POST" => Reply::status(
            200,
            of_kms,
            "<CompleteMultipartUploadResult><ETag>\"e\"</ETag></CompleteMultipartUploadResult>",
        ),
        "PUT" if seen.header("x-amz-copy-source").is_some() => {
            let root =
                if line.contains("partNumber") { "CopyPartResult" } else { "CopyObjectResult" };
            Reply::ok(&format!("<{root}><ETag>\"e\"</ETag></{root}>"))
        }
        "PUT" if line.contains("partNumber") => Reply::status(200, of_kms, ""),
        "PUT" => Reply::ok(""),
        _ => Reply::status(204, "", ""),
    }
}

fn settings() -> Settings {
    let grants = vec![Grant { permission: "read", grantees: "id=1".to_owned() }];
    let properties = ObjectProperties {
        storage_class: Some("STANDARD_IA".to_owned()),
        acl: Some("private".to_owned()),
        grants,
        website_redirect: Some("/there".to_owned()),
        customer_key: Some(key(2)),
        ..ObjectProperties::default()
    };
    Settings {
        source_bucket: "source".to_owned(),
        target_bucket: "target".to_owned(),
        properties,
        source_customer_key: Some(key(1)),
        tuning: Tuning {
            multipart_threshold: 12 * MIB,
            copy_threshold: 12 * MIB,
            ..Tuning::default()
        },
        ..Settings::default()
    }
}

/// Copies one object; gives the requests by their operation and order.
async fn copy(settings: Settings, size: u64, etag: &str) -> Vec<(String, Seen)> {
    let size_of_head = size.max(12 * MIB);
    let world = World::new(move |seen| answer(seen, size_of_head).confirming(seen));
    let config = s3haul_wire::ClientConfig { request_payer: true, ..config() };
    let client = client_with(&world, config);
    let report = Arc::new(Reporter::new(Arc::new(crate::event::NoEvents)));
    let (engine, _ended) = Engine::new(settings, client.clone(), client, Arc::clone(&report));
    let (sender, actions) = async_channel::bounded(1);
    let action = CopyAction {
        reason: None,
        expected: None,
        source_key: "from".to_owned(),
        version_id: None,
        target_key: "to".to_owned(),
        size,
        etag: etag.to_owned(),
        head: None,
    };
    sender.send(vec![action]).await.unwrap();
    drop(sender);
    CopyAction::run(engine, (), actions).await;
    assert_eq!((report.counts().done, report.counts().failed), (1, 0));
    let name = |seen: &Seen| {
        let line = seen.line();
        let verb = line.split(' ').next().unwrap();
        let is_copy = seen.header("x-amz-copy-source").is_some();
        let name = match (verb, is_copy) {
            ("PUT", true) if line.contains("partNumber") => "UploadPartCopy",
            ("PUT", true) => "CopyObject",
            ("PUT", false) if line.contains("partNumber") => "UploadPart",
            ("PUT", false) => "PutObject",
            ("POST", _) if line.contains("?uploads") => "CreateMultipartUpload",
            ("POST", _) => "CompleteMultipartUpload",
            ("GET", _) if line.contains("?tagging") => "GetObjectTagging",
            ("GET", _) => "GetObject",
            ("HEAD", _) => "HeadObject",
            _ => "DeleteObject",
        };
        name.to_owned()
    };
    let seen = world.seen();
    for one in &seen {
        assert_eq!(one.header("x-amz-request-payer"), Some("requester"), "{}", one.line());
    }
    seen.into_iter().map(|seen| (name(&seen), seen)).collect()
}

fn names(seen: &[(String, Seen)]) -> Vec<&str> {
    let mut names: Vec<_> = seen.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names
}

fn of<'a>(seen: &'a [(String, Seen)], name: &str) -> Vec<&'a Seen> {
    seen.iter().filter(|(found, _)| found == name).map(|(_, seen)| seen).collect()
}

/// The request that makes the target says what was set.
fn assert_sets(seen: &Seen) {
    for (name, value) in [
        ("x-amz-storage-class", "STANDARD_IA"),
        ("x-amz-acl", "private"),
        ("x-amz-grant-read", "id=1"),
        ("x-amz-website-redirect-location", "/there"),
        (ALGORITHM, "AES256"),
    ] {
        assert_eq!(seen.header(name), Some(value), "{}", seen.line());
    }
    assert_eq!(seen.header(KEY_MD5), Some(key(2).encoded().1.as_str()));
}

#[tokio::test(start_paused = true)]
async fn a_whole_copy_carries_both_keys_and_what_is_set() {
    let mut moving = settings();
    moving.is_move = true;
    let seen = copy(moving, 5, "\"state\"").await;
    assert_eq!(names(&seen), ["CopyObject", "DeleteObject"]);
    let copied = of(&seen, "CopyObject")[0];
    assert_sets(copied);
    assert_eq!(copied.header(SOURCE_KEY_MD5), Some(key(1).encoded().1.as_str()));
    assert_eq!(copied.header("x-amz-copy-source-if-match"), Some("\"state\""));
    assert_eq!(copied.header("x-amz-metadata-directive"), None);
    assert_eq!(of(&seen, "DeleteObject")[0].header("if-match"), Some("\"state\""));
}

#[tokio::test(start_paused = true)]
async fn a_copy_in_parts_reads_with_one_key_and_writes_with_the_other() {
    let seen = copy(settings(), 12 * MIB, "\"state\"").await;
    let steps = [
        "HeadObject",
        "GetObjectTagging",
        "CreateMultipartUpload",
        "UploadPartCopy",
        "CompleteMultipartUpload",
    ];
    assert_eq!(names(&seen), steps);
    let (one, two) = (key(1).encoded().1, key(2).encoded().1);
    assert_eq!(of(&seen, "HeadObject")[0].header(KEY_MD5), Some(one.as_str()));
    let created = of(&seen, "CreateMultipartUpload")[0];
    assert_sets(created);
    assert_eq!(created.header("x-amz-tagging"), Some("a=1%202"));
    assert_eq!(created.header("content-type"), Some("text/x-test"));
    assert_eq!(created.header("x-amz-meta-colour"), Some("blue"));
    let parts = of(&seen, "UploadPartCopy");
    assert_eq!(parts.len(), 2);
    for part in parts {
        assert_eq!(part.header("x-amz-copy-source-if-match"), Some("\"state\""));
        assert_eq!(part.header(SOURCE_KEY_MD5), Some(one.as_str()));
        assert_eq!(part.header(KEY_MD5), Some(two.as_str()));
    }
    assert_eq!(of(&seen, "CompleteMultipartUpload")[0].header(KEY_MD5), Some(two.as_str()));
}

#[tokio::test(start_paused = true)]
async fn a_relay_reads_with_one_key_and_writes_with_the_other() {
    let (one, two) = (key(1).encoded().1, key(2).encoded().1);
    let relaying = || Settings { streams_copies: true, ..settings() };
    let seen = copy(relaying(), 5, "\"state\"").await;
    assert_eq!(names(&seen), ["GetObject", "GetObjectTagging", "PutObject"]);
    assert_eq!(of(&seen, "GetObject")[0].header(KEY_MD5), Some(one.as_str()));
    let put = of(&seen, "PutObject")[0];
    assert_sets(put);
    assert_eq!(put.header("x-amz-tagging"), Some("a=1%202"));
    assert_eq!(put.header("x-amz-meta-colour"), Some("blue"));

    let seen = copy(relaying(), 12 * MIB, "").await;
    assert_sets(of(&seen, "CreateMultipartUpload")[0]);
    let ranges = of(&seen, "GetObject");
    assert_eq!(ranges.len(), 2);
    for range in ranges {
        assert_eq!(range.header("if-match"), Some("\"state\""), "{}", range.head);
        assert_eq!(range.header(KEY_MD5), Some(one.as_str()));
    }
    for part in of(&seen, "UploadPart") {
        assert_eq!(part.header(KEY_MD5), Some(two.as_str()));
    }
    assert_eq!(of(&seen, "CompleteMultipartUpload")[0].header(KEY_MD5), Some(two.as_str()));
}

#[tokio::test(start_paused = true)]
async fn what_no_copy_request_takes_goes_by_parts_of_one_state() {
    let mut large = settings();
    large.tuning.copy_threshold = 100 * GIB;
    large.tuning.multipart_chunksize = GIB;
    large.copy_props = crate::engine::settings::CopyProps::None;
    let at_limit = copy(large.clone(), 5 * GIB, "\"state\"").await;
    assert_eq!(names(&at_limit), ["CopyObject"]);
    assert_eq!(of(&at_limit, "CopyObject")[0].header("x-amz-tagging-directive"), Some("REPLACE"));
    // The listing had no `ETag`: it is requested, though nothing is carried over.
    let seen = copy(large, 5 * GIB + 1, "").await;
    assert_eq!(names(&seen)[..2], ["HeadObject", "CreateMultipartUpload"]);
    let created = of(&seen, "CreateMultipartUpload")[0];
    assert_eq!(
        (created.header("x-amz-tagging"), created.header("x-amz-meta-colour")),
        (None, None)
    );
    let parts = of(&seen, "UploadPartCopy");
    assert_eq!(parts.len(), 6);
    for part in parts {
        assert_eq!(part.header("x-amz-copy-source-if-match"), Some("\"state\""));
    }
}

#[tokio::test(start_paused = true)]
async fn headers_that_were_read_go_with_the_bytes_that_they_were_of() {
    let said = |cache_control: Option<String>| ObjectProperties {
        cache_control,
        ..ObjectProperties::default()
    };
    for (properties, if_match) in
        [(said(Some("no-cache".to_owned())), Some("\"state\"")), (said(None), None)]
    {
        let settings = Settings { properties, source_customer_key: None, ..settings() };
        let seen = copy(settings, 5, "\"listed\"").await;
        let copied = of(&seen, "CopyObject")[0];
        assert_eq!(copied.header("x-amz-copy-source-if-match"), if_match);
    }
}

/// A copy in parts begins with the headers and the tags of the source, and ends with a request: six
/// requests for an object of 14 MiB, which one makes as well.
#[tokio::test(start_paused = true)]
async fn one_request_copies_what_is_not_very_large() {
    let by_default = Settings { tuning: Tuning::default(), ..settings() };
    let seen = copy(by_default.clone(), 64 * MIB - 1, "\"state\"").await;
    assert_eq!(names(&seen), ["CopyObject"]);
    let seen = copy(by_default.clone(), 64 * MIB, "\"state\"").await;
    assert!(names(&seen).contains(&"CreateMultipartUpload"), "{:?}", names(&seen));
    // A directive means something else in parts: there the threshold is that of the AWS tools.
    let metadata_directive = Some(crate::engine::settings::MetadataDirective::Copy);
    let seen = copy(Settings { metadata_directive, ..by_default }, 14 * MIB, "\"state\"").await;
    assert!(names(&seen).contains(&"CreateMultipartUpload"), "{:?}", names(&seen));
}

#[tokio::test(start_paused = true)]
async fn keys_of_the_server_are_named_where_the_target_is_made() {
    for (streams_copies, size, operation) in [
        (false, 5, "CopyObject"),
        (false, 12 * MIB, "CreateMultipartUpload"),
        (true, 5, "PutObject"),
        (true, 12 * MIB, "CreateMultipartUpload"),
    ] {
        let mut settings = Settings { streams_copies, ..settings() };
        settings.properties = ObjectProperties {
            encryption: Some(Encryption::Kms { key_id: Some("key".to_owned()) }),
            ..ObjectProperties::default()
        };
        let seen = copy(settings, size, "\"state\"").await;
        let made = of(&seen, operation)[0];
        assert_eq!(made.header("x-amz-server-side-encryption"), Some("aws:kms"), "{operation}");
        let key = made.header("x-amz-server-side-encryption-aws-kms-key-id");
        assert_eq!(key, Some("key"), "{operation}");
    }
}
