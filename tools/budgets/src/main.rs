//! The hot paths, one at a time, for a counter of instructions.
//!
//! `hot_paths PATH COUNT` does one of them so many times: `put`, `get`, `list`, `put-tls`,
//! `part-tls`, `join`, `filter`, `journal`.
//! The difference of two counts is the cost of the path without that of starting up. Requests go
//! to a second process of this program, so that the server is not counted, one at a time, so that
//! the order of events is always the same.

mod server;

use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use s3haul::event::ActionKind;
use s3haul::plan::compare::{Facts, Rule, difference};
use s3haul::plan::filter::{Filter, FilterRoots, FilterRule};
use s3haul::plan::join::{Presence, presence};
use s3haul_wire::controller::Bounds;
use s3haul_wire::env::Env;
use s3haul_wire::ops::{Conditions, GetObject, ListObjects, ListPage, PutObject, UploadPart};
use s3haul_wire::units::ByteRange;
use s3haul_wire::{
    Client, ClientConfig, CredentialsConfig, EndpointConfig, ObjectProperties, Payload,
    PayloadSource, TlsConfig,
};
use support::process::{self, Running};

const BUCKET: &str = "bucket";
const KEY: &str = "some/folder/key-0001";
/// Bytes of an object: few, because hashing them depends on the machine and is not ours.
const BODY_BYTES: usize = 512;
const BODY: &[u8] = &[b'x'; BODY_BYTES];
/// Bytes of a part.
const PART_BYTES: usize = 1 << 20;
static ZEROS: [u8; PART_BYTES] = [0; PART_BYTES];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be built");
    match arguments.as_slice() {
        [mode] if mode == "serve" => runtime.block_on(server::serve(false)),
        [mode] if mode == "serve-tls" => runtime.block_on(server::serve(true)),
        [path, count] => {
            let count = count.parse().expect("COUNT is a number");
            match path.as_str() {
                "filter" => filter(count),
                "journal" => journal(count),
                "put" | "get" | "list" | "join" => {
                    let (_server, address) = server("serve");
                    let client = client(&format!("http://{address}"));
                    runtime.block_on(requests(path, count, &client));
                }
                "put-tls" | "part-tls" => {
                    let (_server, address) = server("serve-tls");
                    let client = client(&format!("https://{address}"));
                    runtime.block_on(requests(path, count, &client));
                }
                _ => panic!("no path is called `{path}`"),
            }
        }
        _ => panic!("usage: hot_paths put|get|list|put-tls|part-tls|join|filter|journal COUNT"),
    }
}

/// Batches of objects in the journal of a job.
fn journal(count: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    s3haul::fuzzing::journal_batches(folder.path(), count);
}

/// This program a second time, and its address.
fn server(mode: &str) -> (Running, String) {
    let own = std::env::current_exe().expect("this program has a path");
    let address = |line: &str| Some(line.to_owned());
    process::start_until(Command::new(own).arg(mode), address).expect("it prints its address")
}

fn client(url: &str) -> Client {
    let config = ClientConfig {
        endpoint: EndpointConfig { url: Some(url.to_owned()), ..EndpointConfig::default() },
        credentials: CredentialsConfig::Static {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: "secret".to_owned(),
            session_token: None,
        },
        tls: TlsConfig { verify: false, ca_bundle: None },
        hedging: false,
        load: Bounds { is_adaptive: false, ..Bounds::default() },
        ..ClientConfig::default()
    };
    Client::new(config, Env::system()).expect("the settings are sound")
}

async fn requests(path: &str, count: usize, client: &Client) {
    match path {
        "put" | "put-tls" => {
            let properties = ObjectProperties::default();
            for _ in 0..count {
                put(client, &properties).await;
            }
        }
        "part-tls" => {
            for _ in 0..count {
                part(client).await;
            }
        }
        "get" => {
            for _ in 0..count {
                let input = GetObject { bucket: BUCKET, key: KEY, ..GetObject::default() };
                let mut got = client.get_object(input).await.expect("GET works");
                let bytes = got.body.collect(8192).await.expect("the body comes");
                assert_eq!(bytes.len(), BODY_BYTES);
            }
        }
        "list" => {
            for _ in 0..count {
                assert_eq!(page(client).await.len(), server::PAGE_KEYS);
            }
        }
        _ => join(&page(client).await, count),
    }
}

async fn put(client: &Client, properties: &ObjectProperties) {
    let mut payload = Payload::from_bytes(Bytes::from_static(BODY));
    payload.digest(client.upload_digests(None));
    let conditions = Conditions::default();
    let input =
        PutObject { bucket: BUCKET, key: KEY, payload, properties, checksum: None, conditions };
    client.put_object(input).await.expect("PUT works");
}

/// A file in memory.
struct Memory(Bytes);

impl PayloadSource for Memory {
    fn read(&self, range: ByteRange) -> s3haul_wire::Result<Bytes> {
        let at = |position| usize::try_from(position).expect("it is within the part");
        Ok(self.0.slice(at(range.start)..at(range.end)))
    }

    fn read_now(&self, range: ByteRange) -> Option<s3haul_wire::Result<Bytes>> {
        Some(self.read(range))
    }
}

async fn part(client: &Client) {
    let plan = client.upload_digests(None);
    let algorithm = client.streams_parts(plan).expect("the server takes trailers");
    let source = Arc::new(Memory(Bytes::from_static(&ZEROS)));
    let input = UploadPart {
        bucket: BUCKET,
        key: KEY,
        upload_id: "upload",
        part_number: 1,
        payload: Payload::streamed(source, PART_BYTES as u64, algorithm),
        checksum: plan.checksum,
        encryption: None,
        customer_key: None,
    };
    client.upload_part(input).await.expect("UploadPart works");
}

async fn page(client: &Client) -> ListPage {
    let input = ListObjects { bucket: BUCKET, ..ListObjects::default() };
    client.list_objects(input).await.expect("LIST works")
}

/// Rows of a sync between two equal sides, out of pages.
fn join(page: &ListPage, rows: usize) {
    for row in 0..rows {
        let index = row % page.len();
        let source = page.get(index).expect("a row of the page");
        let target = page.get(index).expect("a row of the page");
        let found = presence(black_box(Some(source.key)), black_box(Some(target.key)));
        assert_eq!(found, Some(Presence::Both));
        let facts = |object: &s3haul_wire::ops::ListedObject<'_>| {
            Facts::of_object(object.size, object.last_modified_s, object.last_modified_us)
        };
        let reason =
            difference(Rule::default(), ActionKind::Upload, facts(&source), facts(&target));
        assert_eq!(black_box(reason), None);
    }
}

/// Names against a usual set of rules.
fn filter(names: usize) {
    let rules = [
        FilterRule::Exclude("*".to_owned()),
        FilterRule::Include("*.jpg".to_owned()),
        FilterRule::Include("photos/20[0-9][0-9]/*".to_owned()),
        FilterRule::Exclude("*/.thumbnails/*".to_owned()),
    ];
    let roots = FilterRoots { source: "/data".to_owned(), target: "bucket".to_owned() };
    let filter = Filter::new(&rules, &roots, "/data/");
    let mut taken = 0;
    for number in 0..names {
        let name = ["photos/2024/summer.png", "notes/todo.txt", "photos/a.jpg"][number % 3];
        taken += usize::from(filter.includes(black_box(name)));
    }
    assert_eq!(taken, names - (names + 1) / 3);
}
