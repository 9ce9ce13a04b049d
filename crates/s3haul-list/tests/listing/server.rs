//! A server that only lists, in the ways servers were seen to list.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use s3haul_list::{Objects, Versions};
use s3haul_wire::env::{BoxFuture, Clock, Connector, Env, Io};
use s3haul_wire::{Client, ClientConfig, CredentialsConfig, EndpointConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

const PIPE_BYTES: usize = 64 << 10;

/// How a server lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// As S3 does.
    #[default]
    S3,
    /// Leaves `start-after` out of account, heeds `marker`.
    NoStartAfter,
    /// Leaves `start-after`, `marker` and `key-marker` out of account.
    NoStart,
    /// Refuses version 2 with this code.
    Refuses(&'static str),
    /// Answers with version 1 to any request.
    OnlyVersion1,
    /// `/` sorts before all other characters.
    SlashFirst,
    /// By length first, and starts after nothing but tokens.
    ByLength,
    /// Always returns the same token.
    SameToken,
    /// Truncated pages without a token.
    NoToken,
    /// Always truncated, with another token each time and no key.
    Endless,
    /// Says of full pages that began after a key that there is no more, and leaves out the last.
    EndsEarly,
    /// Says that it is `MinIO`: empty, and the last page, where it starts within a folder.
    LeavesOut,
    /// Begins a page of versions with the last one of the page before.
    RepeatsVersion,
}

/// What a server holds, how it behaves, and what it saw.
#[derive(Debug, Default)]
pub struct State {
    /// Keys and the ids of their versions, the newest first.
    pub keys: BTreeMap<String, Vec<String>>,
    pub manner: Manner,
    /// Most entries of a page; each has a random number up to it.
    pub page_max: usize,
    pub latency_ms_max: u64,
    /// Requests for what comes after a key before this one take a hundred times as long.
    pub slow_before: String,
    /// Requests of a thousand that are throttled.
    pub throttled_permille: u64,
    /// Request (from 1) from which on everything is refused with this code.
    pub refusal: Option<(u64, u16, &'static str)>,
    pub requests: u64,
    pub answered: u64,
    pub in_flight: usize,
    pub in_flight_max: usize,
    pub queries: Vec<HashMap<String, String>>,
    pub random: Option<fastrand::Rng>,
}

/// A handle of the server.
#[derive(Clone)]
pub struct Server(Arc<Mutex<State>>);

impl Server {
    pub fn new(seed: u64, keys: &BTreeSet<String>) -> Self {
        let versions = keys.iter().map(|key| (key.clone(), vec!["null".to_owned()])).collect();
        Self(Arc::new(Mutex::new(State {
            keys: versions,
            page_max: 10,
            latency_ms_max: 50,
            random: Some(fastrand::Rng::with_seed(seed)),
            ..State::default()
        })))
    }

    pub fn with(self, change: impl FnOnce(&mut State)) -> Self {
        change(&mut self.state());
        self
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// A client of it, over pipes and by tokio's clock.
    fn client(&self) -> Client {
        let clock = TokioClock(SystemTime::now(), tokio::time::Instant::now());
        let env = Env::new(Arc::new(self.clone()), Arc::new(clock), 7);
        Client::new(config("http://127.0.0.1:9000", CredentialsConfig::Anonymous), env).unwrap()
    }

    /// Its objects.
    pub fn objects(&self) -> Objects {
        s3haul_list::objects(self.client(), "bucket")
    }

    /// Its versions.
    pub fn versions(&self) -> Versions {
        s3haul_list::versions(self.client(), "bucket")
    }

    async fn serve(self, mut pipe: DuplexStream) -> io::Result<()> {
        let mut head = Vec::new();
        loop {
            while !head.ends_with(b"\r\n\r\n") {
                match pipe.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => return Ok(()),
                }
            }
            let (latency, answer) = self.state().begin(&String::from_utf8_lossy(&head));
            tokio::time::sleep(latency).await;
            let sent = pipe.write_all(answer.as_bytes()).await;
            let mut state = self.state();
            state.in_flight -= 1;
            state.answered += 1;
            head.clear();
            sent?;
        }
    }
}

/// Settings of a client by path-style addresses.
pub fn config(url: &str, credentials: CredentialsConfig) -> ClientConfig {
    ClientConfig {
        endpoint: EndpointConfig {
            url: Some(url.to_owned()),
            region: Some("us-east-1".to_owned()),
            ..EndpointConfig::default()
        },
        credentials,
        ..ClientConfig::default()
    }
}

struct TokioClock(SystemTime, tokio::time::Instant);

impl Clock for TokioClock {
    fn now(&self) -> SystemTime {
        self.0 + self.1.elapsed()
    }
}

impl Connector for Server {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]) })
    }

    fn connect(&self, _: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Io>>> {
        let server = self.clone();
        Box::pin(async move {
            let (near, far) = tokio::io::duplex(PIPE_BYTES);
            tokio::spawn(server.serve(far));
            Ok(Box::new(near) as Box<dyn Io>)
        })
    }
}

/// A name in a listing and, for versions, its version.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    is_group: bool,
    version: String,
}

impl State {
    fn random(&mut self) -> &mut fastrand::Rng {
        self.random.as_mut().unwrap()
    }

    /// Counts a request; how long it takes and what it gets.
    fn begin(&mut self, head: &str) -> (Duration, String) {
        self.requests += 1;
        self.in_flight += 1;
        self.in_flight_max = self.in_flight_max.max(self.in_flight);
        let latency_ms = self.latency_ms_max;
        let mut latency = Duration::from_millis(self.random().u64(0..=latency_ms));
        let query = query_of(head);
        let get = |name: &str| query.get(name).map_or("", String::as_str);
        let after = get("continuation-token").strip_prefix("T/").unwrap_or(get("start-after"));
        if after < self.slow_before.as_str() {
            latency *= 100;
        }
        self.queries.push(query.clone());
        let (status, body) = self.answer(&query);
        let server = if self.manner == Manner::LeavesOut { "MinIO" } else { "X" };
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} X\r\nserver: {server}\r\ncontent-length: {length}\r\n\r\n");
        (latency, head + &body)
    }

    fn answer(&mut self, query: &HashMap<String, String>) -> (u16, String) {
        let error = |status, code: &str| {
            (status, format!("<Error><Code>{code}</Code><Message>No</Message></Error>"))
        };
        if let Some((from, status, code)) = self.refusal
            && self.requests >= from
        {
            return error(status, code);
        }
        let throttled = self.throttled_permille;
        if self.random().u64(0..1000) < throttled {
            return error(503, "SlowDown");
        }
        let is_version_2 = query.contains_key("list-type");
        match self.manner {
            Manner::Refuses(code) if is_version_2 => error(501, code),
            Manner::Endless => {
                let token = format!("<NextContinuationToken>T{}</Next", self.requests);
                let more = "<IsTruncated>true</IsTruncated><KeyCount>0</KeyCount>";
                let page = format!("{more}{token}ContinuationToken>");
                (200, format!("<ListBucketResult>{page}</ListBucketResult>"))
            }
            _ if query.contains_key("versions") => (200, self.page(query, "ListVersionsResult")),
            _ => (200, self.page(query, "ListBucketResult")),
        }
    }

    fn compare(&self, left: &str, right: &str) -> Ordering {
        match self.manner {
            Manner::SlashFirst => left.replace('/', "\0").cmp(&right.replace('/', "\0")),
            Manner::ByLength => (left.len(), left).cmp(&(right.len(), right)),
            _ => left.cmp(right),
        }
    }

    /// All names of a listing in the server's order.
    fn entries(&self, query: &HashMap<String, String>, after: &str) -> Vec<Entry> {
        let get = |name: &str| query.get(name).map_or("", String::as_str);
        let (prefix, delimiter) = (get("prefix"), get("delimiter"));
        let mut keys: Vec<_> = self.keys.iter().collect();
        keys.sort_by(|left, right| self.compare(left.0, right.0));
        let mut entries: Vec<Entry> = Vec::new();
        for (key, versions) in keys {
            let is_before = !after.is_empty() && self.compare(key, after) != Ordering::Greater;
            let Some(rest) = key.strip_prefix(prefix).filter(|_| !is_before) else { continue };
            let group = if delimiter.is_empty() { None } else { rest.find(delimiter) };
            if let Some(at) = group {
                let name = key[..prefix.len() + at + delimiter.len()].to_owned();
                let entry = Entry { name, is_group: true, version: String::new() };
                if entries.last() != Some(&entry) {
                    entries.push(entry);
                }
                continue;
            }
            let count = if query.contains_key("versions") { versions.len() } else { 1 };
            entries.extend(versions.iter().take(count).map(|version| Entry {
                name: key.clone(),
                is_group: false,
                version: version.clone(),
            }));
        }
        entries
    }

    fn page(&mut self, query: &HashMap<String, String>, root: &str) -> String {
        let get = |name: &str| query.get(name).map_or("", String::as_str);
        let is_version_2 = query.contains_key("list-type") && self.manner != Manner::OnlyVersion1;
        let after = match self.manner {
            Manner::NoStart | Manner::ByLength => "",
            Manner::NoStartAfter | Manner::OnlyVersion1 => get("marker"),
            _ if query.contains_key("version-id-marker") => "",
            _ if is_version_2 => get("start-after"),
            _ if query.contains_key("versions") => get("key-marker"),
            _ => get("marker"),
        };
        let mut entries = self.entries(query, after);
        if self.manner == Manner::LeavesOut && after.contains('/') {
            entries.clear();
        }
        // What comes after the token, the marker of a group, or the version.
        let marker = if self.manner == Manner::NoStart { "" } else { get("marker") };
        let (name, version) = match get("continuation-token").strip_prefix("T/") {
            Some(token) if is_version_2 => (token, ""),
            _ if query.contains_key("version-id-marker") => {
                (get("key-marker"), get("version-id-marker"))
            }
            _ => (marker, ""),
        };
        let is_last = |entry: &Entry| entry.name == name && entry.version == version;
        let is_named = |entry: &Entry| entry.name == name && version.is_empty();
        let is_repeating = self.manner == Manner::RepeatsVersion && !version.is_empty();
        let repeated = usize::from(is_repeating);
        if let Some(at) = entries.iter().rposition(|entry| is_last(entry) || is_named(entry)) {
            entries.drain(..at + 1 - repeated);
        }
        let page_max = self.page_max;
        let wanted = get("max-keys").parse().unwrap_or(1000);
        let count = self.random().usize(1..=page_max) + repeated;
        let count = count.min(wanted).min(entries.len());
        let ends_early = self.manner == Manner::EndsEarly && !get("start-after").is_empty();
        let is_truncated = count < entries.len() && !(ends_early && count == wanted);
        entries.truncate(if ends_early && count == wanted { count - 1 } else { count });
        self.write(root, &entries, is_truncated, is_version_2)
    }

    fn write(&self, root: &str, entries: &[Entry], is_truncated: bool, is_v2: bool) -> String {
        let mut xml = format!("<{root}><IsTruncated>{is_truncated}</IsTruncated>");
        let is_versions = root == "ListVersionsResult";
        if is_v2 {
            write!(xml, "<KeyCount>{}</KeyCount>", entries.len()).unwrap();
        } else if !is_versions {
            xml.push_str("<Marker></Marker>");
        }
        for entry in entries {
            let Entry { name, is_group, version } = entry;
            if *is_group {
                write!(xml, "<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>").unwrap();
            } else if is_versions {
                let id = format!("<VersionId>{version}</VersionId>");
                write!(xml, "<Version><Key>{name}</Key>{id}</Version>").unwrap();
            } else {
                write!(xml, "<Contents><Key>{name}</Key><Size>1</Size></Contents>").unwrap();
            }
        }
        if let Some(last) = entries.last().filter(|_| is_truncated) {
            let name = if self.manner == Manner::SameToken { "" } else { &last.name };
            if self.manner == Manner::NoToken {
            } else if is_versions {
                write!(xml, "<NextKeyMarker>{name}</NextKeyMarker>").unwrap();
                if !last.version.is_empty() {
                    let id = &last.version;
                    write!(xml, "<NextVersionIdMarker>{id}</NextVersionIdMarker>").unwrap();
                }
            } else if is_v2 {
                let token = format!("T/{name}");
                write!(xml, "<NextContinuationToken>{token}</NextContinuationToken>").unwrap();
            }
        }
        xml + &format!("</{root}>")
    }
}

/// The query of a request's head, decoded.
fn query_of(head: &str) -> HashMap<String, String> {
    let target = head.split(' ').nth(1).unwrap_or_default();
    let query = target.split_once('?').map_or("", |(_, query)| query);
    query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (name.to_owned(), decode(value)))
        .collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(&tail[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).unwrap()
}
