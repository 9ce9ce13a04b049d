//! Whole jobs that are killed at any moment and resumed from their journals.
//!
//! A kill is the end of the runtime: nothing of the client runs on, and the server keeps what it
//! has. The job is then resumed by a client that knows the journal and nothing else, and in the end
//! all must be as if nobody had killed it.

#![expect(unreachable_pub, reason = "a test has no outside")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use s3haul::event::{Event, EventSink};
use s3haul::job::{Clients, Streams, Summary, TransferCommand, TransferSpec, run_transfer};
use s3haul::journal::{Journal, JournalError, JournalRequest};
use s3haul_sim::{Sim, SimServer};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use super::model::unknown_uploads;
use super::plan::{Contents, Plan, Route};
use super::run::{BYSTANDERS, bystanders, files, lay_out, objects, pipes, spec, split, tagged};
use crate::world::{PART, World, bytes};

const URL: &str = "http://127.0.0.1:9000";

/// What a bad journal would say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// That something was done before it was.
    DoneBeforeItIs,
    /// That the job looked further than it did.
    LooksTooFar,
    /// What is pending of another listing.
    OfAnotherListing,
    /// That removals which wait for the end were done.
    ForgetsRemovals,
    /// The id of another object's upload.
    SwapsUploads,
}

pub const BUGS: [Bug; 5] = [
    Bug::DoneBeforeItIs,
    Bug::LooksTooFar,
    Bug::OfAnotherListing,
    Bug::ForgetsRemovals,
    Bug::SwapsUploads,
];

impl Bug {
    /// The plan of a seed in which the bug can show, if it can.
    pub fn plan(self, seed: u64) -> Option<Plan> {
        let mut plan = Plan::of(seed);
        let is_large = |bytes: &Vec<u8>| bytes.len() as u64 >= PART;
        let has_large = plan.source.values().any(is_large);
        let matters = match self {
            Self::DoneBeforeItIs | Self::LooksTooFar | Self::OfAnotherListing => !has_large,
            Self::ForgetsRemovals => !has_large && plan.route != Route::InPlace,
            Self::SwapsUploads => has_large && plan.route == Route::Up,
        };
        if self == Self::SwapsUploads {
            let more = (0..3).map(|number| (format!("large/{number}"), bytes(PART as usize, seed)));
            plan.source.extend(more);
            plan.requests_max = 16;
        }
        if self == Self::ForgetsRemovals {
            (plan.command, plan.keeps) = (TransferCommand::Sync, false);
            (plan.deletes, plan.holds_removals) = (true, true);
            plan.target.extend((0..5).map(|number| (format!("!/{number}"), bytes(9, seed))));
        }
        (matters && plan.must_finish()).then_some(plan)
    }
}

/// Bytes of a mark in a log.
const MARK_BYTES: usize = 16;
/// The changes of a log that bugs are planted in: what is begun, how far it was looked, and what is
/// done.
const BEGUN: u8 = 1;
const LOOKED: u8 = 2;
const DONE: u8 = 3;
const SAME: u8 = 6;
const PARTS_BEGUN: u8 = 8;
const PART_DONE: u8 = 9;
const PARTS_ENDED: u8 = 10;
/// Stands for removals that wait for the end.
const HELD: [u8; MARK_BYTES] = [0; MARK_BYTES];

/// What a log says.
#[derive(Default)]
struct Found {
    /// Marks of what is begun and not done.
    pending: Vec<Vec<u8>>,
    /// Where the ids of uploads stand.
    uploads: Vec<std::ops::Range<usize>>,
}

/// Reads a log: the length and name of the boot, and then changes.
fn read(bytes: &mut [u8], changes_marks: bool) -> Found {
    let length = |at: usize, bytes: &[u8]| {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    };
    let text = |at: usize, bytes: &[u8]| at..at + 4 + length(at, bytes);
    let mut at = text(0, bytes).end;
    let mut found = Found::default();
    while at < bytes.len() {
        let kind = bytes[at];
        at += 1;
        match kind {
            BEGUN => {
                let count = length(at, bytes);
                at += 4;
                for mark in bytes[at..at + count * MARK_BYTES].chunks_exact_mut(MARK_BYTES) {
                    found.pending.push(mark.to_vec());
                    if changes_marks {
                        mark[0] ^= 0xff;
                    }
                }
                at += count * MARK_BYTES;
            }
            LOOKED => at = text(at, bytes).end + 16,
            PARTS_BEGUN => {
                let state = text(at, bytes).end;
                let upload = text(text(state, bytes).end, bytes);
                at = upload.end + 16;
                found.uploads.push(upload);
                assert_eq!(length(at, bytes), 0, "a part is done before it is begun");
                at += 4;
            }
            PART_DONE => at = text(text(at, bytes).end + 4, bytes).end,
            PARTS_ENDED => at = text(at, bytes).end,
            _ => {
                let mark = &bytes[at..at + MARK_BYTES];
                found.pending.retain(|pending| pending != mark);
                at += MARK_BYTES + if kind == DONE { 8 } else { 0 };
            }
        }
    }
    found
}

/// Plants a bug in the last log of a journal, as it is after a kill.
fn plant(bug: Bug, journals: &Path) {
    let paths = journals.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let number = |path: &PathBuf| path.extension()?.to_str()?.parse::<u64>().ok();
    let Some(path) = paths.filter(|path| number(path).is_some()).max_by_key(number) else { return };
    let mut bytes = std::fs::read(&path).unwrap();
    let found = read(&mut bytes, bug == Bug::OfAnotherListing);
    match bug {
        Bug::DoneBeforeItIs => {
            for mark in &found.pending {
                bytes.push(DONE);
                bytes.extend(mark);
                bytes.extend(0_u64.to_le_bytes());
            }
        }
        Bug::LooksTooFar => {
            let name = "\u{10ffff}";
            bytes.push(LOOKED);
            bytes.extend((name.len() as u32).to_le_bytes());
            bytes.extend(name.as_bytes());
            bytes.extend([0; 16]);
        }
        Bug::ForgetsRemovals => {
            bytes.push(SAME);
            bytes.extend(HELD);
        }
        Bug::SwapsUploads => {
            if let [first, .., last] = &found.uploads[..] {
                let (before, between) = (&bytes[..first.start], &bytes[first.end..last.start]);
                let (one, other) = (&bytes[first.clone()], &bytes[last.clone()]);
                bytes = [before, other, between, one, &bytes[last.end..]].concat();
            }
        }
        Bug::OfAnotherListing => {}
    }
    std::fs::write(path, bytes).unwrap();
}

/// Nobody listens.
struct Deaf;

impl EventSink for Deaf {
    fn emit(&self, _: &Event) {}
}

fn paused() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// A job that was killed.
struct Struck {
    sim: Sim,
    folder: TempDir,
    id: String,
    is_over: bool,
    /// The clock, which goes on.
    at: Instant,
}

/// Runs a job, kills it, and resumes it; gives all that is wrong then, and whether the job was not
/// over when it was killed.
pub fn killed_and_resumed(plan: &Plan, bug: Option<Bug>) -> (Vec<String>, bool) {
    let journals = tempfile::tempdir().unwrap();
    let runtime = paused();
    let struck = runtime.block_on(Box::pin(first_run(plan, journals.path())));
    drop(runtime);
    if let Some(bug) = bug {
        plant(bug, journals.path());
    }
    let is_hit = !struck.is_over;
    (paused().block_on(Box::pin(second_run(plan, journals.path(), struck))), is_hit)
}

fn world(sim: &Sim, plan: &Plan) -> World {
    World::built(sim.clone(), URL, pipes(sim.clone()), plan.seed)
}

/// The server without its weather.
fn calm(sim: &Sim, plan: &Plan) -> World {
    world(&sim.calm().unwrap(), plan)
}

async fn transfer(world: &World, spec: TransferSpec) -> s3haul::Result<Summary> {
    let clients = Clients { source: world.client.clone(), target: world.client.clone() };
    let streams = Streams { input: Box::new(std::io::empty()), output: Box::new(std::io::sink()) };
    let cancel = world.cancel.clone();
    Box::pin(run_transfer(spec, clients, streams, Arc::new(Deaf), cancel)).await
}

async fn first_run(plan: &Plan, journals: &Path) -> Struck {
    let begun = std::time::Instant::now();
    let sim = SimServer::builder()
        .bucket("bucket")
        .virtual_clock(true)
        .allow_anonymous(true)
        .scenario(plan.scenario.clone())
        .limits(|limits| limits.part_bytes_min = 1)
        .build()
        .unwrap();
    let world = world(&sim, plan);
    lay_out(plan, &calm(&sim, plan), &world).await;
    // The journal has the time of the machine, on which laying out may take long. The clock of the
    // server must not be behind that.
    tokio::time::advance(begun.elapsed()).await;
    let journal = Journal::new(JournalRequest {
        folder: journals.to_owned(),
        command: "job".to_owned(),
        directory: world.folder.path().to_owned(),
        job: "{}".to_owned(),
        identity: plan.seed.to_string(),
        manifest: String::new(),
        from_beginning: true,
        is_of_plan: false,
    });
    let id = journal.id().to_owned();
    let job = transfer(&world, TransferSpec { journal: Some(journal), ..spec(plan, &world) });
    let mut random = fastrand::Rng::with_seed(plan.seed ^ 0x6b69_6c6c);
    let many = plan.source.len() as u64 + 4;
    let (requests, steps) = (random.u64(0..many), random.u32(0..60));
    let killer = async {
        while sim.ledger().count_where(|_| true) < requests {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        for _ in 0..steps {
            tokio::task::yield_now().await;
        }
    };
    let is_over = tokio::select! {
        biased;
        () = killer => false,
        _ = job => true,
    };
    Struck { folder: world.folder, sim, id, is_over, at: Instant::now() }
}

async fn second_run(plan: &Plan, journals: &Path, struck: Struck) -> Vec<String> {
    let Struck { sim, folder, id, at, .. } = struck;
    tokio::time::advance(at.saturating_duration_since(Instant::now())).await;
    let world = World { folder, ..world(&sim, plan) };
    let mut wrong = Vec::new();
    let journal = match Journal::resume(journals, &id) {
        Ok(resumed) => Some(resumed.journal),
        Err(JournalError::Complete { .. }) => None,
        // It was killed before it had a journal, and begins anew.
        Err(_) if !journals.join(format!("{id}.db")).exists() => None,
        Err(error) => return vec![format!("not resumed: {error}")],
    };
    let spec = spec(plan, &world);
    // What is complete is done again, and finds nothing to be done.
    match transfer(&world, TransferSpec { journal, ..spec }).await {
        Ok(summary) if !summary.fatal && summary.failed == 0 && !summary.cancelled => {}
        ended => wrong.push(format!("the second run ended with {ended:?}")),
    }
    wrong.extend(apart(plan, &calm(&sim, plan), &world).await);
    wrong
}

/// Where things are not as an unbroken run leaves them.
async fn apart(plan: &Plan, calm: &World, world: &World) -> Vec<String> {
    let mut objects = objects(calm).await;
    let mut files = files(world.folder.path(), world);
    let (inputs, outputs) = (split(&mut files, "in/"), split(&mut files, "out/"));
    let (from, to) = (split(&mut objects, "from/"), split(&mut objects, "to/"));
    let tagged = tagged(plan, calm, &from).await;
    let source = if plan.route == Route::Up { inputs } else { from };
    let target = if plan.route == Route::Down { outputs } else { to };
    let (expected_source, expected_target) = unbroken(plan);
    let mut wrong = Vec::new();
    for (side, found, expected) in
        [("source", &source, &expected_source), ("target", &target, &expected_target)]
    {
        for name in found.keys().chain(expected.keys()) {
            // What is there already stays with `--no-overwrite`, and so does its source: which of
            // them the job wrote cannot be known where the bytes are the same.
            let is_either = plan.keeps && plan.target.get(name) == plan.source.get(name);
            if found.get(name) != expected.get(name) && !(is_either && side == "source") {
                let length = |side: &Contents| side.get(name).map(Vec::len);
                let (found, expected) = (length(found), length(expected));
                wrong.push(format!("{side} {name}: {found:?} bytes, {expected:?} expected"));
            }
        }
    }
    if plan.command == TransferCommand::Tag && tagged.len() != plan.source.len() {
        wrong.push(format!("{} of {} are tagged", tagged.len(), plan.source.len()));
    }
    let others: Vec<_> = objects.keys().chain(files.keys()).cloned().collect();
    if others.len() != BYSTANDERS.len() + 1 {
        wrong.push(format!("instead of {:?} there are {others:?}", bystanders()));
    }
    // One that the server had begun when the client was killed is unknown, too.
    let (open, unknown) =
        (calm.open_uploads().await, unknown_uploads(&world.sim.ledger().records()) + 1);
    if open > unknown {
        wrong.push(format!("{open} uploads are open, {unknown} may be"));
    }
    wrong.dedup();
    wrong
}

/// Source and target after a run in which nothing fails.
fn unbroken(plan: &Plan) -> (Contents, Contents) {
    let (mut source, mut target) = (plan.source.clone(), plan.target.clone());
    for (name, content) in &plan.source {
        let before = plan.target.get(name);
        let is_same = |old: &Vec<u8>| match plan.command {
            TransferCommand::Sync => old.len() == content.len(),
            _ => plan.keeps,
        };
        let is_kept = before.is_some_and(is_same);
        if plan.route != Route::InPlace && !is_kept {
            target.insert(name.clone(), content.clone());
        }
        let goes = match plan.command {
            TransferCommand::Move => !is_kept,
            TransferCommand::Remove => true,
            _ => false,
        };
        if goes {
            source.remove(name);
        }
    }
    if plan.deletes {
        target.retain(|name, _| plan.source.contains_key(name));
    }
    (source, target)
}
