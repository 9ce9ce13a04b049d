//! `summarize` and `list-buckets` through the real binary.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Output;

use serde_json::Value;

use crate::support::{Bench, stderr, stdout};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_bucket_is_summarized_in_three_formats() {
    let bench = Bench::with_objects(&["a/1.txt", "a/b/22.TXT", "c", "d//e", "ü"]);
    let text = bench.ok("summarize s3://box");
    assert!(text.starts_with("s3://box/\n5 objects, 24 Bytes\n"), "{text}");
    assert!(text.contains("  ##############        a/\n"), "no locale, so plain bars: {text}");
    assert_eq!(bench.ok("du box"), text);
    let value = json(&bench.ok("du s3://box --format json --depth 2"));
    assert_eq!(value["total"]["objects"], 5);
    assert_eq!(value["total"]["bytes"], 24);
    let folders: Vec<_> =
        value["folders"].as_array().unwrap().iter().map(|row| row["name"].clone()).collect();
    assert_eq!(folders, ["a/", "a/b/", "d/", "d//"]);
    assert_eq!(value["extensions"][0]["name"], "txt");
    assert_eq!(value["extensions"][0]["objects"], 2);
    let odd = value["keys"]["oddities"].as_array().unwrap();
    let odd: Vec<_> = odd.iter().map(|row| row["name"].clone()).collect();
    assert_eq!(odd, ["not_ascii", "double_slash"]);
    assert_eq!(json(&bench.ok("du s3://box --json"))["version"], 1);
    assert_eq!(bench.ok("du s3://box --format csv --output-file out.csv"), "");
    assert!(bench.read("out.csv").contains("\ntotal,,5,24,,,\n"));
}

#[test]
fn only_what_was_asked_for_is_counted() {
    let bench = Bench::with_objects(&["a/1.txt", "a/2.jpg", "ab", "b/3.txt"]);
    let objects = |args: &str| json(&bench.ok(args))["total"]["objects"].as_u64().unwrap();
    assert_eq!(objects("du s3://box/a --json"), 3);
    assert_eq!(objects("du s3://box/a/ --json"), 2);
    assert_eq!(objects("du s3://box/*.txt --json"), 2);
    assert_eq!(objects("du s3://box --json --exclude * --include *.jpg"), 1);
    assert_eq!(objects("du s3://box --json --start-after a/2.jpg --stop-at ab"), 1);
    assert_eq!(objects("du s3://box --json --serial --page-size 1"), 4);
    assert_eq!(objects("du s3://box --json --page-size 1"), 4);
    assert_eq!(bench.status("du s3://box/none"), 1);
    assert!(bench.ok("du s3://box/*.txt").starts_with("s3://box/ (only what was selected)"));
}

#[test]
fn versions_can_be_counted() {
    let bench = Bench::with_objects(&["k", "l"]);
    let value = json(&bench.ok("du s3://box --versions --json"));
    assert_eq!(value["total"]["objects"], 2);
    assert_eq!(value["versions"]["noncurrent"]["objects"], 0);
}

/// A listing that fails prints nothing that could be taken for the whole.
#[test]
fn no_figures_without_the_whole_listing() {
    let bench = Bench::with_objects(&["k"]);
    let output = bench.run("du s3://nobox --output-file out");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(254), ""));
    assert!(stderr(&output).contains("NoSuchBucket"), "{output:?}");
    let page = "<ListBucketResult><IsTruncated>true</IsTruncated>\
        <NextContinuationToken>t</NextContinuationToken><Contents><Key>a</Key>\
        <LastModified>2026-01-01T00:00:00Z</LastModified><Size>5</Size></Contents>\
        </ListBucketResult>";
    let answer = move |request: &str| match request {
        _ if request.contains("continuation-token") || request.contains("start-after") => {
            (403, "<Error><Code>AccessDenied</Code><Message>no</Message></Error>")
        }
        _ if request.contains("delimiter") => (200, "<ListBucketResult></ListBucketResult>"),
        _ => (200, page),
    };
    let output = against(&bench, "du s3://box --serial", answer);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(254), ""), "{output:?}");
    assert!(stderr(&output).contains("AccessDenied"), "{output:?}");
}

#[test]
fn open_uploads_are_counted_on_request() {
    let bench = Bench::with_objects(&["k"]);
    let answer = move |request: &str| match request {
        _ if request.contains("uploadId=") => (
            200,
            "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>e</ETag><Size>7</Size></Part>\
             <Part><PartNumber>2</PartNumber><ETag>e</ETag><Size>5</Size></Part></ListPartsResult>",
        ),
        _ if request.contains("uploads=") => (
            200,
            "<ListMultipartUploadsResult><Upload><Key>new</Key><UploadId>1</UploadId>\
             <Initiated>2026-01-02T00:00:00Z</Initiated></Upload><Upload><Key>old</Key>\
             <UploadId>2</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload>\
             </ListMultipartUploadsResult>",
        ),
        _ => (200, "<ListBucketResult></ListBucketResult>"),
    };
    let output = against(&bench, "du s3://box --uploads --top 1", answer);
    assert!(output.status.success(), "{output:?}");
    let text = stdout(&output);
    assert!(text.contains("Incomplete multipart uploads: 2 with 4 parts, 24 Bytes\n"), "{text}");
    assert!(text.ends_with("    12 Bytes  2026-01-01 00:00:00  old\n"), "{text}");
    for selection in ["s3://box --exclude n*", "s3://box/*d"] {
        let output = against(&bench, &format!("du {selection} --uploads"), answer);
        let text = stdout(&output);
        assert!(text.contains("uploads: 1 with 2 parts, 12 Bytes\n"), "{text}");
    }
}

#[test]
fn buckets_are_listed_with_what_is_in_them() {
    let bench = Bench::with_objects(&["a", "b/c"]);
    bench.ok("mb s3://another");
    let lines = bench.lines("list-buckets");
    assert_eq!(lines.len(), 2);
    assert!(lines[0].ends_with("  us-east-1       another"), "{lines:?}");
    let lines = bench.lines("list-buckets --count");
    let words = |line: &str| -> Vec<String> {
        line.split_whitespace().skip(2).map(str::to_owned).collect()
    };
    assert_eq!(words(&lines[0]), ["us-east-1", "0", "0", "Bytes", "another"]);
    assert_eq!(words(&lines[1]), ["us-east-1", "2", "4", "Bytes", "box"]);
    assert_eq!(words(&lines[3]), ["2", "4", "Bytes"]);
    assert!(lines[3].starts_with("2 buckets "), "{lines:?}");
    let csv = bench.lines("list-buckets --count --format csv --bucket-name-prefix b");
    assert_eq!(csv[0], "bucket,region,created,objects,bytes");
    assert!(csv[1].starts_with("box,us-east-1,2") && csv[1].ends_with("Z,2,4"), "{csv:?}");
    let row = json(&bench.ok("list-buckets --json --bucket-name-prefix box"));
    assert_eq!((&row["event"], &row["bucket"]), (&"bucket".into(), &"box".into()));
    assert_eq!(row["region"], "us-east-1");
    assert_eq!(bench.ok("list-buckets --bucket-region eu-west-1"), "");
    assert_eq!(bench.status("list-buckets --json --format csv"), 252);
}

#[test]
fn a_bucket_that_is_closed_does_not_hide_the_others() {
    let bench = Bench::new();
    let answer = |request: &str| {
        let line = request.lines().next().unwrap_or_default();
        if line.contains("/closed") {
            return (403, "<Error><Code>AccessDenied</Code><Message>no</Message></Error>");
        }
        if line.contains("/open") && line.contains("location") {
            return (200, "<LocationConstraint>eu-west-1</LocationConstraint>");
        }
        if line.starts_with("HEAD") {
            return (200, "");
        }
        if line.contains("list-type") {
            return (200, "<ListBucketResult></ListBucketResult>");
        }
        let buckets = "<ListAllMyBucketsResult><Buckets><Bucket><Name>closed</Name>\
            <CreationDate>2026-01-01T00:00:00Z</CreationDate></Bucket><Bucket><Name>open</Name>\
            <CreationDate>2026-01-02T00:00:00Z</CreationDate></Bucket></Buckets>\
            </ListAllMyBucketsResult>";
        (200, buckets)
    };
    let output = against(&bench, "list-buckets --count --format csv", answer);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(
        stdout(&output),
        "bucket,region,created,objects,bytes\n\
         closed,,2026-01-01T00:00:00Z,,\n\
         open,eu-west-1,2026-01-02T00:00:00Z,0,0\n"
    );
    let said = stderr(&output);
    assert!(said.contains("bucket `closed`: ") && said.contains("AccessDenied"), "{output:?}");
}

/// Runs a command against a server that answers each request with a status and a document.
fn against(
    bench: &Bench,
    args: &str,
    answer: impl Fn(&str) -> (u16, &'static str) + Send + Sync + 'static,
) -> Output {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the test: nothing waits for it.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
                request.push(byte[0]);
            }
            let (status, body) = answer(&String::from_utf8_lossy(&request));
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            let body = if request.starts_with(b"HEAD") { "" } else { body };
            _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    bench.command(args).env("AWS_ENDPOINT_URL", url).output().unwrap()
}
