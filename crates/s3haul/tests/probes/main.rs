//! Probes against the simulator: none fails there as it is, and behind a proxy that breaks one
//! thing exactly those fail that should notice.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod faults;
mod proxy;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use faults::{FAULTS, Fault, QUIRKS};
use http::Method;
use proxy::Proxy;
use s3haul::probe::{self, Ground, Outcome, Report, catalogue};
use s3haul_sim::{RunningServer, SimBuilder};
use s3haul_wire::env::Env;
use s3haul_wire::ops::{Conditions, CreateMultipart, ListVersions, PlainRequest, PutObject};
use s3haul_wire::{
    Client, ClientConfig, CredentialsConfig, EndpointConfig, ObjectProperties, Payload, RetryConfig,
};

fn builder() -> SimBuilder {
    // The proxy changes what was signed.
    SimBuilder::default().allow_anonymous(true).bucket("named")
}

fn client(url: String) -> Client {
    let config = ClientConfig {
        endpoint: EndpointConfig {
            url: Some(url),
            region: Some("us-east-1".to_owned()),
            ..EndpointConfig::default()
        },
        credentials: CredentialsConfig::Static {
            access_key_id: s3haul_sim::DEFAULT_ACCESS_KEY.to_owned(),
            secret_access_key: s3haul_sim::DEFAULT_SECRET_KEY.to_owned(),
            session_token: None,
        },
        retry: RetryConfig { max_attempts: 1, ..RetryConfig::default() },
        hedging: false,
        ..ClientConfig::default()
    };
    Client::new(config, Env::system()).unwrap()
}

fn url(sim: &RunningServer) -> String {
    sim.endpoint_url()
}

/// What was found, and what is left.
async fn check(url: String) -> (Report, Vec<String>) {
    let ground = Ground::new(client(url), None);
    ground.open().await.unwrap();
    let report = probe::run(&ground).await;
    (report, ground.clear().await)
}

/// Names of what fails, and what is wrong with that.
fn judge(fault: &str, report: &Report, expected: &[&str]) -> (BTreeSet<&'static str>, String) {
    let mut wrong = String::new();
    let mut found = BTreeSet::new();
    for finding in report.failing() {
        let name = finding.probe.name;
        found.insert(name);
        if !expected.contains(&name) {
            _ = writeln!(wrong, "{fault}: {name} fails: {:?}", finding.outcome);
        }
    }
    for name in expected.iter().filter(|name| !found.contains(**name)) {
        _ = writeln!(wrong, "{fault}: {name} does not fail");
    }
    (found, wrong)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_holds_on_the_simulator_and_nothing_is_left() {
    let sim = builder().start().await.unwrap();
    let ground = Ground::new(client(url(&sim)), None);
    ground.open().await.unwrap();
    let report = probe::run(&ground).await;
    let failing: Vec<_> =
        report.failing().iter().map(|it| (it.probe.name, it.outcome.clone())).collect();
    assert_eq!(failing, [], "on the simulator");
    assert!(report.is_sound());
    assert_eq!(report.holding(), catalogue().count());
    assert_eq!(report.server, "s3haul-sim");
    assert_eq!(report.matrix_row("it"), "| it | all | all | all | all | all | all | – |");
    assert_eq!(ground.clear().await, Vec::<String>::new());
    let buckets = client(url(&sim)).list_buckets(<_>::default()).await.unwrap();
    let buckets: Vec<_> = buckets.iter().map(|bucket| bucket.name.as_str()).collect();
    assert_eq!(buckets, ["named"]);
}

/// Its versioning stays as it is, and no version is left where it has them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_named_bucket_is_left_as_it_was() {
    let sim = builder().start().await.unwrap();
    let client = client(url(&sim));
    client.put_bucket_versioning("named", true).await.unwrap();
    let ground = Ground::new(client.clone(), Some(("named".to_owned(), "a/b".to_owned())));
    ground.open().await.unwrap();
    let report = probe::run(&ground).await;
    for finding in &report.findings {
        let is_skipped = matches!(finding.outcome, Outcome::Skipped(_));
        assert_eq!(is_skipped, finding.probe.name == "versions", "{:?}", finding.outcome);
    }
    assert!(report.is_sound());
    assert_eq!(ground.clear().await, Vec::<String>::new());
    let input = ListVersions { bucket: "named", ..<_>::default() };
    assert_eq!(client.list_versions(input).await.unwrap().versions, []);
}

/// What is written there could not be removed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_locks_new_objects_is_refused_before_any_is_written() {
    let sim = builder().start().await.unwrap();
    let client = client(url(&sim));
    client.put_bucket_versioning("named", true).await.unwrap();
    let retention = "<DefaultRetention><Mode>COMPLIANCE</Mode><Days>1</Days></DefaultRetention>";
    for (rule, is_refused) in [(String::new(), false), (format!("<Rule>{retention}</Rule>"), true)]
    {
        let lock = PlainRequest {
            method: Method::PUT,
            bucket: "named",
            key: None,
            query: &[("object-lock", "")],
            headers: &[],
            body: format!(
                "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>{rule}\
                 </ObjectLockConfiguration>"
            )
            .into(),
            md5: true,
        };
        assert!(client.send_plain(lock).await.unwrap().is_ok());
        let ground = Ground::new(client.clone(), Some(("named".to_owned(), String::new())));
        let opened = ground.open().await;
        assert_eq!(opened.is_err(), is_refused, "{opened:?}");
        if let Err(error) = opened {
            assert!(error.to_string().contains("locks new objects"), "{error}");
        }
    }
    let input = ListVersions { bucket: "named", ..<_>::default() };
    assert_eq!(client.list_versions(input).await.unwrap().versions, []);
}

/// Names that XML, headers and URLs have to encode, and the longest that is taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_holds_below_any_folder() {
    let sim = builder().start().await.unwrap();
    for folder in ["a&ü %<\"+".to_owned(), "f".repeat(600)] {
        let ground = Ground::new(client(url(&sim)), Some(("named".to_owned(), folder)));
        ground.open().await.unwrap();
        let report = probe::run(&ground).await;
        let others = report.findings.iter().filter(|it| it.outcome != Outcome::Holds);
        let others: Vec<_> = others.map(|it| (it.probe.name, it.outcome.name())).collect();
        assert_eq!(others, [("versions", "skipped")]);
        assert_eq!(report.matrix_row("it"), "| it | all | all | all | all | all | all | – |");
        assert_eq!(ground.clear().await, Vec::<String>::new());
        let input = ListVersions { bucket: "named", ..<_>::default() };
        assert_eq!(client(url(&sim)).list_versions(input).await.unwrap().versions, []);
    }
}

/// A refusal of the credentials is no answer to a question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_that_may_not_write_are_not_a_fault_of_the_service() {
    fn writes(it: &proxy::Message) -> bool {
        it.is("PUT") && it.path().matches('/').count() > 1
    }
    let denied =
        |it: &mut proxy::Message| writes(it).then(|| proxy::Message::refusal(403, "AccessDenied"));
    let sim = builder().start().await.unwrap();
    let proxy = Proxy::start(sim.addr(), denied, |_, _| {}).await;
    let (report, left) = check(proxy.url()).await;
    let failing: Vec<_> = report.failing().iter().map(|it| it.probe.name).collect();
    assert_eq!((failing, left), (Vec::new(), Vec::new()));
    assert!(report.unknown() > 40 && !report.is_sound(), "{}", report.unknown());
    let missing = |it: &mut proxy::Message| {
        writes(it).then(|| proxy::Message::refusal(501, "NotImplemented"))
    };
    let proxy = Proxy::start(sim.addr(), missing, |_, _| {}).await;
    let (report, _) = check(proxy.url()).await;
    let failing: Vec<_> = report.failing().iter().map(|it| it.probe.name).collect();
    assert!(failing.contains(&"upload-checksum"), "{failing:?}");
    assert!(report.profile().is_empty(), "it is not the checksum");
}

/// Nor is one that concerns reading: what cannot be looked at is neither wrong nor right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_that_may_not_read_are_not_a_fault_of_the_service() {
    let denied = |it: &mut proxy::Message| {
        let is_read = it.is("GET") || it.is("HEAD");
        let is_object = it.path().matches('/').count() > 1;
        let is_other = ["tagging", "acl", "uploadId"].iter().any(|name| it.has_query(name));
        (is_read && is_object && !is_other).then(|| proxy::Message::refusal(403, "AccessDenied"))
    };
    let sim = builder().start().await.unwrap();
    let proxy = Proxy::start(sim.addr(), denied, |_, _| {}).await;
    let (report, left) = check(proxy.url()).await;
    let failing: Vec<_> =
        report.failing().iter().map(|it| (it.probe.name, it.outcome.clone())).collect();
    assert_eq!((failing, left), (Vec::new(), Vec::new()));
    for name in ["delete", "delete-many-if-match", "presigned", "signature", "versions"] {
        let finding = report.findings.iter().find(|it| it.probe.name == name).unwrap();
        assert_eq!(finding.outcome.name(), "unknown", "{name}");
    }
}

/// Open uploads are billed: where they can be neither aborted nor listed, that is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_that_cannot_be_aborted_are_said_to_be_left() {
    fn aborts(it: &proxy::Message) -> bool {
        it.is("DELETE") && it.has_query("uploadId")
    }
    let unlisted = |it: &mut proxy::Message| {
        let lists = it.is("GET") && it.has_query("uploads");
        (lists || aborts(it)).then(|| proxy::Message::refusal(403, "AccessDenied"))
    };
    let listed =
        |it: &mut proxy::Message| aborts(it).then(|| proxy::Message::refusal(403, "AccessDenied"));
    for before in [unlisted as proxy::Before, listed] {
        let sim = builder().start().await.unwrap();
        let proxy = Proxy::start(sim.addr(), before, |_, _| {}).await;
        let place = Some(("named".to_owned(), "a".to_owned()));
        let ground = Ground::new(client(proxy.url()), place);
        ground.open().await.unwrap();
        probe::run(&ground).await;
        let left = ground.clear().await;
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(left[0].contains("AbortMultipartUpload"), "{left:?}");
    }
}

/// It may be open, and nothing shows it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_begun_without_an_answer_is_said_to_be_left_where_none_are_listed() {
    let unlisted = |it: &mut proxy::Message| {
        let lists = it.is("GET") && it.has_query("uploads");
        lists.then(|| proxy::Message::refusal(403, "AccessDenied"))
    };
    let lost: proxy::After = |asked, answer| {
        if asked.is("POST") && asked.has_query("uploads") {
            *answer = proxy::Message::refusal(500, "InternalError");
        }
    };
    for (after, is_left) in [(lost, true), (|_, _| {}, false)] {
        let sim = builder().start().await.unwrap();
        let proxy = Proxy::start(sim.addr(), unlisted, after).await;
        let place = Some(("named".to_owned(), "a".to_owned()));
        let ground = Ground::new(client(proxy.url()), place);
        ground.open().await.unwrap();
        probe::run(&ground).await;
        let left = ground.clear().await;
        let is_said = left.iter().any(|what| what.contains("ListMultipartUploads"));
        assert_eq!((left.len(), is_said), (usize::from(is_left), is_left), "{left:?}");
    }
}

/// Writes an object and begins an upload in the bucket `named`.
async fn write_as_others(direct: &Client) {
    let properties = ObjectProperties::default();
    let object = PutObject {
        bucket: "named",
        key: "others/k",
        payload: Payload::from_bytes("1".into()),
        properties: &properties,
        checksum: None,
        conditions: Conditions::default(),
    };
    direct.put_object(object).await.unwrap();
    let upload = CreateMultipart {
        bucket: "named",
        key: "others/u",
        properties: &properties,
        checksum: None,
    };
    direct.create_multipart(upload).await.unwrap();
}

/// Keys of all versions and of all open uploads in the bucket `named`.
async fn keys_left(direct: &Client) -> Vec<String> {
    let input = ListVersions { bucket: "named", ..<_>::default() };
    let versions = direct.list_versions(input).await.unwrap().versions;
    let uploads = direct.list_multipart_uploads("named", "", None).await.unwrap().uploads;
    let versions = versions.into_iter().map(|version| version.key);
    versions.chain(uploads.into_iter().map(|upload| upload.key)).collect()
}

/// Nothing of others is removed from it where listings show more than was asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_ignores_prefixes_keeps_what_others_wrote() {
    let ignore = |it: &mut proxy::Message| {
        it.replace_in_line("prefix=", "ignored=");
        None
    };
    for is_versioned in [false, true] {
        let sim = builder().start().await.unwrap();
        let direct = client(url(&sim));
        direct.put_bucket_versioning("named", is_versioned).await.unwrap();
        write_as_others(&direct).await;
        let proxy = Proxy::start(sim.addr(), ignore, |_, _| {}).await;
        let place = Some(("named".to_owned(), "a".to_owned()));
        let ground = Ground::new(client(proxy.url()), place);
        ground.open().await.unwrap();
        let report = probe::run(&ground).await;
        let fails: Vec<_> = report.failing().iter().map(|it| it.probe.name).collect();
        assert!(fails.contains(&"list-complete"), "{fails:?}");
        assert_eq!(ground.clear().await, Vec::<String>::new());
        assert_eq!(keys_left(&direct).await, ["others/k", "others/u"], "{is_versioned}");
    }
}

/// Such a one takes any name, also the one of the bucket that is made for the check.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_of_one_bucket_keeps_what_others_wrote() {
    let of_named = |it: &mut proxy::Message| {
        let mut parts = it.target().splitn(3, '/').skip(1);
        let (bucket, rest) = (parts.next()?.to_owned(), parts.next().unwrap_or_default());
        if it.is("PUT") && rest.is_empty() {
            return Some(proxy::Message::refusal(200, ""));
        }
        let end = bucket.find('?').unwrap_or(bucket.len());
        it.line = it.line.replacen(&bucket[..end], "named", 1);
        None
    };
    let sim = builder().start().await.unwrap();
    let direct = client(url(&sim));
    write_as_others(&direct).await;
    let proxy = Proxy::start(sim.addr(), of_named, |_, _| {}).await;
    let (_, left) = check(proxy.url()).await;
    assert_eq!(left.len(), 1, "the bucket is not empty: {left:?}");
    assert_eq!(keys_left(&direct).await, ["others/k", "others/u"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_fault_fails_the_probes_that_should_tell() {
    let (mut noticed, mut wrong) = (BTreeSet::new(), String::new());
    for Fault { name, before, after, expected } in FAULTS {
        let sim = builder().start().await.unwrap();
        let proxy = Proxy::start(sim.addr(), *before, *after).await;
        let (report, left) = check(proxy.url()).await;
        assert_eq!(report.profile().is_empty(), *name != "checksums are refused", "{name}");
        let (found, why) = judge(name, &report, expected);
        noticed.extend(found);
        wrong += &why;
        assert_eq!(left.is_empty(), *name != "removals do nothing", "{name}: left is {left:?}");
    }
    for (name, change, expected) in QUIRKS {
        let sim = builder().list_quirks(*change).start().await.unwrap();
        let (report, _) = check(sim.endpoint_url()).await;
        let (found, why) = judge(name, &report, expected);
        noticed.extend(found);
        wrong += &why;
    }
    assert!(wrong.is_empty(), "{wrong}");
    let all: BTreeSet<_> = catalogue().map(|probe| probe.name).collect();
    let silent: Vec<_> = all.difference(&noticed).collect();
    assert!(silent.is_empty(), "no fault makes them fail: {silent:?}");
}

/// The words for what cannot be asked.
#[tokio::test]
async fn a_service_that_is_gone_is_not_judged() {
    let sim = builder().start().await.unwrap();
    let gone = url(&sim);
    let ground = Ground::new(client(gone), Some(("named".to_owned(), String::new())));
    ground.open().await.unwrap();
    drop(sim);
    let report = probe::run(&ground).await;
    for finding in &report.findings {
        let (name, outcome) = (finding.probe.name, &finding.outcome);
        assert!(matches!(outcome, Outcome::Unknown(_) | Outcome::Skipped(_)), "{name} {outcome:?}");
    }
    assert!(!report.is_sound());
}
