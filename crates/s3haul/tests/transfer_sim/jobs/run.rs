//! Lays out a plan's world, runs the job, and looks at what came of it.

#![expect(unreachable_pub, reason = "a test has no outside")]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use s3haul::event::{ActionKind, Event, EventSink, Outcome};
use s3haul::job::{
    Clients, RemovalLimit, Rule, Streams, Summary, SyncOptions, TagTask, Tags, TransferCommand,
    TransferSpec, Tuning, run_transfer,
};
use s3haul::location::Location;
use s3haul_sim::{FaultKind, Record, Sim, SimServer};
use s3haul_wire::env::Connector;

use super::plan::{Contents, Meddling, Plan, Route};
use crate::world::{PART, Pipes, World};

/// No job takes longer, in simulated time.
const JOB_TIME_MAX: Duration = Duration::from_hours(6);
/// How often a meddler looks whether its moment has come.
const MEDDLER_LOOKS_EVERY: Duration = Duration::from_millis(2);
/// Objects that no job has any business with.
pub const BYSTANDERS: [&str; 4] = ["from", "from.txt", "fromage/x", "to"];

/// How an object ended, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    Skipped,
    Failed,
}

/// Events of a job.
#[derive(Default)]
pub struct Told {
    /// By name within the tree; removals apart.
    pub transfers: BTreeMap<String, Vec<End>>,
    pub removals: BTreeMap<String, Vec<End>>,
    pub moved: i64,
    /// Bytes of what was moved and is done; of what was removed and is done.
    pub bytes_moved: u64,
    pub bytes_removed: u64,
    pub warnings: u64,
    pub failures: Vec<String>,
}

struct Listener {
    root: std::path::PathBuf,
    reported: Mutex<Told>,
}

impl Listener {
    fn name(&self, location: &Location) -> String {
        match location {
            Location::Object(name) => {
                let key = name.key.strip_prefix("from/").or_else(|| name.key.strip_prefix("to/"));
                key.unwrap_or(&name.key).to_owned()
            }
            Location::Local(path) => {
                let path = path.strip_prefix(&self.root).unwrap_or(path);
                let inner = path.strip_prefix("in").or_else(|_| path.strip_prefix("out"));
                inner.unwrap_or(path).to_string_lossy().into_owned()
            }
            Location::Stream => "-".to_owned(),
        }
    }
}

impl EventSink for Listener {
    fn emit(&self, event: &Event) {
        let reported = &mut *self.reported.lock().unwrap();
        match event {
            Event::Object(object) => {
                let end = match &object.outcome {
                    Outcome::Done => End::Done,
                    Outcome::Skipped | Outcome::DryRun => End::Skipped,
                    Outcome::Failed(error) => {
                        reported.failures.push(format!("{}: {error}", object.source));
                        End::Failed
                    }
                    Outcome::NotTried => {
                        reported.failures.push(format!("{}: not tried", object.source));
                        End::Failed
                    }
                };
                let is_removal = object.action == ActionKind::Delete;
                if end == End::Done && is_removal {
                    reported.bytes_removed += object.bytes;
                } else if end == End::Done {
                    reported.bytes_moved += object.bytes;
                }
                let ends =
                    if is_removal { &mut reported.removals } else { &mut reported.transfers };
                ends.entry(self.name(&object.source)).or_default().push(end);
            }
            Event::Progress { bytes } => reported.moved += bytes,
            Event::Warning { message } => {
                reported.warnings += 1;
                reported.failures.push(format!("warning: {message}"));
            }
            Event::Fatal { error } => reported.failures.push(format!("fatal: {error}")),
            Event::Planned { .. }
            | Event::PlanComplete
            | Event::Tags { .. }
            | Event::Archive { .. } => {}
        }
    }
}

/// What came of a job.
pub struct Aftermath {
    /// None where nothing was begun.
    pub summary: Option<Summary>,
    pub reported: Told,
    pub source: Contents,
    pub target: Contents,
    /// Names of everything else in the bucket and the folder.
    pub others: Vec<String>,
    pub tagged: Vec<String>,
    pub open_uploads: usize,
    pub records: Vec<Record>,
    pub in_flight_max: u32,
    /// An object of the source was replaced.
    pub is_meddled: bool,
    pub is_hung: bool,
    /// How often what weather befell the job.
    pub met: BTreeMap<&'static str, u64>,
}

/// How connections are made.
pub type Connect = dyn Fn(Sim) -> Arc<dyn Connector>;

/// The usual way.
pub fn pipes(sim: Sim) -> Arc<dyn Connector> {
    Arc::new(Pipes(sim))
}

/// Objects of the bucket, by key.
pub async fn objects(calm: &World) -> Contents {
    // Fewer than a page has room for.
    let keys = calm.keys().await;
    let mut contents = Contents::new();
    for key in keys {
        let content = calm.get(&key).await.unwrap();
        contents.insert(key, content);
    }
    contents
}

pub fn files(root: &Path, world: &World) -> Contents {
    let read = |name: String| {
        let content = std::fs::read(root.join(&name)).unwrap();
        (name, content)
    };
    world.files().into_iter().map(read).collect()
}

/// Takes the entries with a prefix out, without it.
pub fn split(contents: &mut Contents, prefix: &str) -> Contents {
    let names: Vec<_> = contents.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
    let take = |name: String| {
        let content = contents.remove(&name).unwrap();
        (name[prefix.len()..].to_owned(), content)
    };
    names.into_iter().map(take).collect()
}

pub async fn lay_out(plan: &Plan, calm: &World, world: &World) {
    for key in BYSTANDERS {
        calm.object(key, key.as_bytes()).await;
    }
    world.file("bystander", b"bystander");
    for (name, content) in &plan.source {
        match plan.route {
            Route::Up => world.file(&format!("in/{name}"), content),
            _ => calm.object(&format!("from/{name}"), content).await,
        }
    }
    for (name, content) in &plan.target {
        match plan.route {
            Route::Down => world.file(&format!("out/{name}"), content),
            _ => calm.object(&format!("to/{name}"), content).await,
        }
    }
    for folder in ["in", "out"] {
        std::fs::create_dir_all(world.path(folder)).unwrap();
    }
}

pub fn spec(plan: &Plan, world: &World) -> TransferSpec {
    let source = if plan.route == Route::Up { "in" } else { "s3://bucket/from/" };
    let target = match plan.route {
        Route::InPlace => None,
        Route::Down => Some("out"),
        Route::Up | Route::Over => Some("s3://bucket/to/"),
    };
    let spec = world.spec(plan.command, source, target);
    TransferSpec {
        recursive: plan.command != TransferCommand::Sync,
        no_overwrite: plan.keeps,
        streams_copies: plan.streams,
        page_size: plan.page_size,
        sync: SyncOptions {
            rule: Rule::SizeOnly,
            delete: plan.deletes,
            max_delete: if plan.holds_removals {
                RemovalLimit::Percent(100.0)
            } else {
                RemovalLimit::default()
            },
            ..SyncOptions::default()
        },
        tags: TagTask::Set(Tags::parse(["colour=blue"]).unwrap()),
        tuning: Tuning {
            max_concurrent_requests: plan.requests_max,
            multipart_threshold: PART,
            copy_threshold: PART,
            multipart_chunksize: PART,
            memory_budget: plan.memory_budget,
            ..Tuning::default()
        },
        ..spec
    }
}

/// Names of the objects that have tags by now.
pub async fn tagged(plan: &Plan, calm: &World, from: &Contents) -> Vec<String> {
    let mut tagged = Vec::new();
    if plan.command != TransferCommand::Tag {
        return tagged;
    }
    for name in from.keys() {
        let key = format!("from/{name}");
        if !calm.client.get_object_tagging("bucket", &key, None).await.unwrap().is_empty() {
            tagged.push(name.clone());
        }
    }
    tagged
}

/// Replaces an object. One that is gone already does not come back.
async fn meddle(plan: &Plan, calm: &World, sim: &Sim, is_meddled: &AtomicBool) {
    let Some(Meddling { name, content, requests, after }) = &plan.meddling else { return };
    let key = format!("from/{name}");
    while sim.ledger().count_where(|record| record.key == key) < *requests {
        tokio::time::sleep(MEDDLER_LOOKS_EVERY).await;
    }
    tokio::time::sleep(*after).await;
    if calm.get(&key).await.is_some() {
        calm.object(&key, content).await;
        is_meddled.store(true, Ordering::Relaxed);
    }
}

async fn cancel(plan: &Plan, world: &World) {
    if let Some(after) = plan.cancelled_after {
        tokio::time::sleep(after).await;
        world.cancel.cancel();
    }
}

/// The weather that the server counts, and what else is against a job.
fn met(plan: &Plan, sim: &Sim, is_meddled: &AtomicBool) -> BTreeMap<&'static str, u64> {
    let mut met = sim.weather().met();
    let refuses = plan.scenario.faults.iter().any(|rule| rule.fault == FaultKind::Respond);
    let skewed = sim.ledger().count_where(|record| record.status == 403);
    if plan.scenario.clock_skew_ms != 0 && !refuses && skewed > 0 {
        met.insert("clock_skew", skewed);
    }
    if is_meddled.load(Ordering::Relaxed) {
        met.insert("replaced", 1);
    }
    let replaced = |record: &Record| record.status == 412;
    if met.contains_key("replaced") && sim.ledger().count_where(replaced) > 0 {
        met.insert("replaced_between_parts", 1);
    }
    met
}

/// Runs a plan.
pub async fn run(plan: &Plan, connect: &Connect) -> Aftermath {
    let sim = SimServer::builder()
        .bucket("bucket")
        .virtual_clock(true)
        .allow_anonymous(true)
        .scenario(plan.scenario.clone())
        .limits(|limits| limits.part_bytes_min = 1)
        .build()
        .unwrap();
    let url = "http://127.0.0.1:9000";
    let world = World::built(sim.clone(), url, connect(sim.clone()), plan.seed);
    let calm_sim = sim.calm().unwrap();
    let calm = World::built(calm_sim.clone(), url, pipes(calm_sim), plan.seed);
    lay_out(plan, &calm, &world).await;
    let root = world.folder.path().to_owned();
    let listener = Arc::new(Listener { root: root.clone(), reported: Mutex::default() });
    let clients = Clients { source: world.client.clone(), target: world.client.clone() };
    let streams = Streams { input: Box::new(io::empty()), output: Box::new(io::sink()) };
    let sink = Arc::clone(&listener) as Arc<dyn EventSink>;
    let cancel = world.cancel.clone();
    let job = run_transfer(spec(plan, &world), clients, streams, sink, cancel);
    let job = tokio::time::timeout(JOB_TIME_MAX, Box::pin(job));
    let is_meddled = AtomicBool::new(false);
    let others = async {
        tokio::join!(meddle(plan, &calm, &sim, &is_meddled), self::cancel(plan, &world));
        std::future::pending::<()>().await;
    };
    // Others stop where the job ends.
    let ended = tokio::select! {
        ended = job => ended,
        () = others => unreachable!(),
    };
    let records = sim.ledger().records();
    let in_flight_max = sim.ledger().max_concurrency();
    let met = met(plan, &sim, &is_meddled);
    let mut objects = objects(&calm).await;
    let mut files = files(&root, &world);
    let (inputs, outputs) = (split(&mut files, "in/"), split(&mut files, "out/"));
    let (from, to) = (split(&mut objects, "from/"), split(&mut objects, "to/"));
    let tagged = tagged(plan, &calm, &from).await;
    let reported = std::mem::take(&mut *listener.reported.lock().unwrap());
    let others = objects.keys().chain(files.keys()).cloned().collect();
    Aftermath {
        is_meddled: is_meddled.into_inner(),
        is_hung: ended.is_err(),
        summary: ended.ok().and_then(Result::ok),
        reported,
        source: if plan.route == Route::Up { inputs } else { from },
        target: if plan.route == Route::Down { outputs } else { to },
        others,
        tagged,
        open_uploads: calm.open_uploads().await,
        records,
        in_flight_max,
        met,
    }
}

/// Names that must be there besides those of the job.
pub fn bystanders() -> Vec<String> {
    let mut names: Vec<String> = BYSTANDERS.iter().map(|&name| name.to_owned()).collect();
    names.push("bystander".to_owned());
    names
}
