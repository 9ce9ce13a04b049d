//! A client and a simulated server in one process: pipes for connections, tokio's paused clock.

#![expect(unreachable_pub, reason = "a test has no outside")]

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use s3haul::Result;
use s3haul::event::{Event, EventSink, Outcome};
use s3haul::job::{
    COLLISION, CaseConflict, Clients, Conditions, CopyProps, NameSource, Named, Names, RestoreTask,
    Streams, Summary, SyncOptions, TagTask, TransferCommand, TransferSpec, Tuning, run_transfer,
};
use s3haul_sim::{DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY, Sim, SimServer};
use s3haul_wire::env::{BoxFuture, Clock, Connector, Env, Io};
use s3haul_wire::ops::{GetObject, HeadObject, ListObjects, PutObject};
use s3haul_wire::{
    Client, ClientConfig, CredentialsConfig, EndpointConfig, ObjectHead, ObjectProperties, Payload,
};
use tokio_util::sync::CancellationToken;

/// Part size of the tests; the server allows small parts.
pub const PART: u64 = 5 << 20;
/// Bytes that a pipe holds.
const PIPE_BYTES: usize = 256 << 10;

/// Names that are held in memory.
#[derive(Debug)]
pub struct Held(pub Vec<Named>);

impl NameSource for Held {
    fn names(&self) -> Result<Names> {
        Ok(Box::new(self.0.clone().into_iter().map(Ok)))
    }
}

/// Every connection is a pipe to a server.
pub struct Pipes(pub Sim);

impl Connector for Pipes {
    fn resolve<'a>(
        &'a self,
        _host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]) })
    }

    fn connect(&self, _address: SocketAddr) -> BoxFuture<'_, io::Result<Box<dyn Io>>> {
        let sim = self.0.clone();
        Box::pin(async move {
            let (near, far) = tokio::io::duplex(PIPE_BYTES);
            tokio::spawn(async move { sim.serve_connection(far).await });
            Ok(Box::new(near) as Box<dyn Io>)
        })
    }
}

struct TokioClock(SystemTime, tokio::time::Instant);

impl Clock for TokioClock {
    fn now(&self) -> SystemTime {
        self.0 + self.1.elapsed()
    }
}

/// Events, in short lines.
#[derive(Default)]
pub struct Log {
    lines: Mutex<Vec<String>>,
    moved: Mutex<i64>,
    longest_step: AtomicI64,
    planned: Mutex<(u64, u64)>,
    failed: Mutex<Vec<Named>>,
    complete: Mutex<Vec<(u64, u64)>>,
}

impl EventSink for Log {
    fn emit(&self, event: &Event) {
        let line = match event {
            Event::Planned { bytes } => {
                let mut planned = self.planned.lock().unwrap();
                planned.0 += 1;
                planned.1 += bytes;
                return;
            }
            Event::Progress { bytes } => {
                *self.moved.lock().unwrap() += bytes;
                self.longest_step.fetch_max(*bytes, Ordering::Relaxed);
                return;
            }
            Event::PlanComplete => {
                let planned = *self.planned.lock().unwrap();
                self.complete.lock().unwrap().push(planned);
                "planned".to_owned()
            }
            Event::Object(object) => {
                let outcome = match &object.outcome {
                    Outcome::Failed(error) => format!("failed: {error}"),
                    other => format!("{other:?}").to_lowercase(),
                };
                if matches!(object.outcome, Outcome::Failed(_) | Outcome::NotTried) {
                    let (action, source) = (object.action, object.source.clone());
                    let (target, collides) =
                        (object.target.clone(), object.reason == Some(COLLISION));
                    let named = Named { action, source, target, collides, expected: None };
                    self.failed.lock().unwrap().push(named);
                }
                let verb = if object.is_move { "move" } else { "" };
                let target = object.target.as_ref().map_or(String::new(), |t| format!(" to {t}"));
                format!("{verb}{:?} {}{target} {outcome}", object.action, object.source)
            }
            Event::Tags { object, tags } => format!("tags: {object:?} {tags:?}"),
            Event::Archive { object, state, .. } => format!("archive: {object:?} {state}"),
            Event::Warning { message } => format!("warning: {message}"),
            Event::Fatal { error } => format!("fatal error: {error}"),
        };
        self.lines.lock().unwrap().push(line);
    }
}

impl Log {
    /// All lines, sorted.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.lines.lock().unwrap().clone();
        lines.sort();
        lines
    }

    /// All lines as they came.
    pub fn in_order(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// Lines that contain a text.
    pub fn count(&self, text: &str) -> usize {
        self.lines.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }

    /// Whether the end of planning was reported once for each of `jobs`, the last time when all was
    /// planned.
    pub fn reported_totals(&self, jobs: usize) -> bool {
        let complete = self.complete.lock().unwrap();
        complete.len() == jobs && complete.last() == Some(&*self.planned.lock().unwrap())
    }

    /// What failed, as names for another run.
    pub fn failed(&self) -> Vec<Named> {
        self.failed.lock().unwrap().clone()
    }

    /// Bytes moved, by the reported progress.
    pub fn moved(&self) -> i64 {
        *self.moved.lock().unwrap()
    }

    /// Most bytes reported at once.
    pub fn longest_step(&self) -> i64 {
        self.longest_step.load(Ordering::Relaxed)
    }
}

/// A server, a client of it, a folder and a log.
pub struct World {
    pub sim: Sim,
    pub client: Client,
    pub folder: tempfile::TempDir,
    pub log: Arc<Log>,
    pub cancel: CancellationToken,
}

impl World {
    /// A world with one bucket `bucket`.
    pub fn new() -> Self {
        Self::at("http://127.0.0.1:9000")
    }

    /// The same where the restore of an archived object takes this long.
    pub fn with_restores(time: Duration) -> Self {
        let sim = SimServer::builder()
            .bucket("bucket")
            .virtual_clock(true)
            .limits(|limits| limits.restore_time = time)
            .build()
            .unwrap();
        Self::of(sim, "http://127.0.0.1:9000")
    }

    /// The same where a completion that is repeated finds no upload.
    pub fn that_forgets_completions() -> Self {
        let sim = SimServer::builder()
            .bucket("bucket")
            .virtual_clock(true)
            .limits(|limits| limits.completions_kept = 0)
            .build()
            .unwrap();
        Self::of(sim, "http://127.0.0.1:9000")
    }

    /// The same with a server that lists `/` before all other characters.
    pub fn out_of_order() -> Self {
        let sim = SimServer::builder()
            .bucket("bucket")
            .virtual_clock(true)
            .list_quirks(|quirks| quirks.folders_first = true)
            .build()
            .unwrap();
        Self::of(sim, "http://127.0.0.1:9000")
    }

    /// The same at another address.
    pub fn at(url: &str) -> Self {
        Self::of(Self::sim(), url)
    }

    /// The same server at another address.
    pub fn under(&self, url: &str) -> Self {
        Self::of(self.sim.clone(), url)
    }

    fn sim() -> Sim {
        SimServer::builder()
            .bucket("bucket")
            .virtual_clock(true)
            .limits(|limits| limits.part_bytes_min = 1)
            .build()
            .unwrap()
    }

    fn of(sim: Sim, url: &str) -> Self {
        let connector = Arc::new(Pipes(sim.clone()));
        Self::built(sim, url, connector, 7)
    }

    /// A world with connections and randomness of the caller's making.
    pub fn built(sim: Sim, url: &str, connector: Arc<dyn Connector>, seed: u64) -> Self {
        let clock = TokioClock(SystemTime::now(), tokio::time::Instant::now());
        let env = Env::new(connector, Arc::new(clock), seed);
        let config = ClientConfig {
            endpoint: EndpointConfig {
                url: Some(url.to_owned()),
                region: Some("us-east-1".to_owned()),
                ..EndpointConfig::default()
            },
            credentials: CredentialsConfig::Static {
                access_key_id: DEFAULT_ACCESS_KEY.to_owned(),
                secret_access_key: DEFAULT_SECRET_KEY.to_owned(),
                session_token: None,
            },
            ..ClientConfig::default()
        };
        let client = Client::new(config, env).unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self { sim, client, folder, log: Arc::default(), cancel: CancellationToken::new() }
    }

    /// A path below the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Writes an object.
    pub async fn object(&self, key: &str, bytes: &[u8]) {
        let properties = ObjectProperties::default();
        self.object_with(key, bytes, &properties).await;
    }

    /// Writes an object with properties.
    pub async fn object_with(&self, key: &str, bytes: &[u8], properties: &ObjectProperties) {
        let input = PutObject {
            bucket: "bucket",
            key,
            payload: Payload::from_bytes(bytes.to_vec().into()),
            properties,
            checksum: None,
            conditions: s3haul_wire::ops::Conditions::default(),
        };
        self.client.put_object(input).await.unwrap();
    }

    /// Bytes of an object.
    pub async fn get(&self, key: &str) -> Option<Vec<u8>> {
        let input = GetObject { bucket: "bucket", key, ..GetObject::default() };
        let mut answer = self.client.get_object(input).await.ok()?;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.body.next().await {
            bytes.extend_from_slice(&chunk.unwrap());
        }
        Some(bytes)
    }

    /// Headers of an object.
    pub async fn head(&self, key: &str) -> ObjectHead {
        let input = HeadObject { bucket: "bucket", key, checksums: true, ..HeadObject::default() };
        self.client.head_object(input).await.unwrap()
    }

    /// All keys of the bucket.
    pub async fn keys(&self) -> Vec<String> {
        let input = ListObjects { bucket: "bucket", ..ListObjects::default() };
        let page = self.client.list_objects(input).await.unwrap();
        page.iter().map(|object| object.key.to_owned()).collect()
    }

    /// Uploads that are open in the bucket.
    pub async fn open_uploads(&self) -> usize {
        self.client.list_multipart_uploads("bucket", "", None).await.unwrap().uploads.len()
    }

    /// A job.
    pub fn spec(
        &self,
        command: TransferCommand,
        source: &str,
        target: Option<&str>,
    ) -> TransferSpec {
        TransferSpec {
            command,
            journal: None,
            journal_folder: None,
            shard: None,
            source: source.to_owned(),
            target: target.map(str::to_owned),
            working_dir: self.folder.path().to_owned(),
            recursive: false,
            dry_run: false,
            plans: false,
            raw: false,
            filters: Vec::new(),
            names: None,
            manifest: None,
            filter: None,
            to_key: None,
            follow_symlinks: true,
            page_size: None,
            no_overwrite: false,
            conditions: Conditions::default(),
            case_conflict: CaseConflict::Ignore,
            force_glacier_transfer: false,
            ignore_glacier_warnings: false,
            guess_mime_type: true,
            media_type_tables: Vec::new(),
            properties: ObjectProperties::default(),
            streams_copies: false,
            preserve: false,
            metadata_directive: None,
            copy_props: CopyProps::Default,
            source_customer_key: None,
            checksum_algorithm: None,
            checksum_mode: false,
            expected_size: None,
            sync: SyncOptions::default(),
            versions: None,
            bypass_governance: false,
            tags: TagTask::default(),
            change: Box::default(),
            restore: RestoreTask::default(),
            tuning: Tuning {
                max_concurrent_requests: 8,
                multipart_threshold: PART,
                copy_threshold: PART,
                multipart_chunksize: PART,
                ..Tuning::default()
            },
        }
    }

    /// Runs `cp`.
    pub async fn cp(&self, source: &str, target: &str) -> Summary {
        self.run(self.spec(TransferCommand::Copy, source, Some(target))).await.unwrap()
    }

    /// Runs `cp --recursive`.
    pub async fn cp_tree(&self, source: &str, target: &str) -> Summary {
        let spec = self.spec(TransferCommand::Copy, source, Some(target));
        self.run(TransferSpec { recursive: true, ..spec }).await.unwrap()
    }

    /// Runs a job.
    pub async fn run(&self, spec: TransferSpec) -> Result<Summary> {
        let streams = Streams { input: Box::new(io::empty()), output: Box::new(io::sink()) };
        self.run_with(spec, streams).await
    }

    /// Runs a job whose target is in another world.
    pub async fn run_to(&self, target: &Self, spec: TransferSpec) -> Summary {
        let streams = Streams { input: Box::new(io::empty()), output: Box::new(io::sink()) };
        self.run_between(target, spec, streams).await.unwrap()
    }

    /// Runs a job with standard streams.
    pub async fn run_with(&self, spec: TransferSpec, streams: Streams) -> Result<Summary> {
        self.run_between(self, spec, streams).await
    }

    /// Runs a job whose target is in another world.
    pub async fn run_between(
        &self,
        target: &Self,
        spec: TransferSpec,
        streams: Streams,
    ) -> Result<Summary> {
        let clients = Clients { source: self.client.clone(), target: target.client.clone() };
        let sink = Arc::clone(&self.log) as Arc<dyn EventSink>;
        // Boxed: it is as large as all stages together.
        let running = Box::pin(run_transfer(spec, clients, streams, sink, self.cancel.clone()));
        let limit = Duration::from_hours(1);
        tokio::time::timeout(limit, running).await.expect("the job hangs")
    }

    /// Names of all files below the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(self.folder.path(), self.folder.path(), &mut files);
        files.sort();
        files
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            files.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        }
    }
}

/// Bytes that differ from place to place. Drawing each of them took a quarter of the time of all
/// tests: what is longer than a block repeats it, and no part but the first begins where one does.
pub fn bytes(length: usize, seed: u64) -> Vec<u8> {
    /// A prime.
    const BLOCK: usize = 65_521;
    let mut block = vec![0; length.min(BLOCK)];
    fastrand::Rng::with_seed(seed).fill(&mut block);
    let mut bytes = block.repeat(length.div_ceil(BLOCK));
    bytes.truncate(length);
    bytes
}
