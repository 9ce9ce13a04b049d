//! How many requests a job sends: at once, and a second.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use s3haul::job::{
    Rule, Summary, SyncOptions, TagTask, Tags, TransferCommand, TransferSpec, Tuning,
};
use s3haul::journal::{self, Journal, JournalRequest, LearntRate};
use s3haul_sim::{FaultKind, FaultRule, Latency, Partitions, Scenario};

use crate::world::World;

/// One partition that never splits.
fn one_partition(writes_per_s: f64) -> Scenario {
    let latency = Latency {
        median_ms: 30.0,
        sigma: 0.35,
        tail_probability: 0.01,
        tail_factor: 8.0,
        max_ms: 0.0,
    };
    let limits = Partitions { writes_per_s, split_after_s: 0.0, ..Partitions::default() };
    Scenario { seed: 5, latency, partitions: Some(limits), ..Scenario::default() }
}

/// So many objects in this weather.
async fn filled(objects: u64, weather: Scenario) -> World {
    let world = World::new();
    world.sim.weather().set_scenario(Some(weather));
    for n in 0..objects {
        world.object(&format!("x/{n:05}"), b"1").await;
    }
    world.sim.ledger().clear();
    world
}

/// A journal that is kept from the beginning, and its name.
pub(crate) fn journal(folder: &Path) -> (String, Arc<Journal>) {
    let journal = Journal::new(JournalRequest {
        folder: folder.to_owned(),
        command: "job".to_owned(),
        directory: PathBuf::new(),
        job: "{}".to_owned(),
        identity: String::new(),
        manifest: String::new(),
        from_beginning: true,
        is_of_plan: false,
    });
    (journal.id().to_owned(), journal)
}

async fn tag_all(world: &World, tuning: Tuning) -> Summary {
    world.run(TransferSpec { tuning, ..tagging(world) }).await.unwrap()
}

fn tagging(world: &World) -> TransferSpec {
    let tags = TagTask::Set(Tags::parse(["a=1"]).unwrap());
    let spec = world.spec(TransferCommand::Tag, "s3://bucket/x/", None);
    TransferSpec { recursive: true, tags, tuning: Tuning::default(), ..spec }
}

#[tokio::test(start_paused = true)]
async fn what_the_service_takes_is_found_and_few_are_refused() {
    const OBJECTS: u64 = 9_000;
    let world = filled(OBJECTS, one_partition(600.0)).await;
    let begun = tokio::time::Instant::now();
    let summary = tag_all(&world, Tuning::default()).await;
    let took = begun.elapsed();
    assert_eq!((summary.done, summary.failed), (OBJECTS, 0), "{summary:?}");
    // A second to find out how much is too much; then few are refused for the rest of the time.
    let ledger = world.sim.ledger();
    let refused = ledger.count("PutObjectTagging") - OBJECTS;
    assert!(refused < 1_200, "{refused} refused");
    let first = ledger.of("PutObjectTagging")[0].at_us;
    let later =
        ledger.count_where(|record| record.status == 503 && record.at_us > first + 2_000_000);
    assert!(later * 100 < OBJECTS * 2, "{later} of {refused} refused after two seconds");
    // 15 s are the least.
    assert!(took < Duration::from_millis(16_500), "{took:?}");
}

/// Nothing is tried out again that an earlier run of a job has learnt.
#[tokio::test(start_paused = true)]
async fn a_resumed_job_begins_at_the_rate_it_had() {
    const OBJECTS: u64 = 9_000;
    let world = filled(OBJECTS, one_partition(600.0)).await;
    let journals = tempfile::tempdir().unwrap();
    let (id, journal) = journal(journals.path());
    let job = world.run(TransferSpec { journal: Some(journal), ..tagging(&world) });
    let interrupt = async {
        tokio::time::sleep(Duration::from_secs(6)).await;
        world.cancel.cancel();
    };
    let (summary, ()) = tokio::join!(job, interrupt);
    assert!(summary.unwrap().cancelled);
    let learnt = journal::rates(journals.path(), &id).unwrap();
    let near = |rate: &LearntRate| rate.range.per_second.is_some_and(|rate| rate < 900.0);
    assert!(learnt.iter().any(near), "{learnt:?}");

    // What the service refused in the first two seconds of each run.
    let refused = |world: &World| {
        let begun = world.sim.ledger().of("PutObjectTagging")[0].at_us;
        let is_early = |at_us: u64| at_us < begun + 2_000_000;
        world.sim.ledger().count_where(|record| record.status == 503 && is_early(record.at_us))
    };
    let first = refused(&world);
    assert!(first > 300, "{first} refused while the rate was found out");
    // A process of its own: nothing is known to this client but what is in the journal.
    let later = world.under("http://127.0.0.1:9000");
    later.sim.ledger().clear();
    let resumed = Journal::resume(journals.path(), &id).unwrap().journal;
    let spec = TransferSpec { journal: Some(resumed), ..tagging(&later) };
    let summary = later.run(spec).await.unwrap();
    assert_eq!(summary.failed, 0, "{summary:?}");
    let again = refused(&later);
    assert!(again * 10 < first, "{again} refused, {first} when nothing was known");
}

/// A `sync` of many names of which one in a hundred differs, ended when half of these are done.
#[tokio::test(start_paused = true)]
async fn a_resumed_sync_lists_and_copies_only_what_is_left() {
    const NAMES: u64 = 8_000;
    const CHANGED: u64 = NAMES / 50;
    let world = World::new();
    for n in 0..NAMES {
        let is_changed = n.is_multiple_of(50);
        world.object(&format!("from/{n:05}"), b"1").await;
        world.object(&format!("to/{n:05}"), if is_changed { b"" } else { b"2" }).await;
    }
    let latency = Latency { median_ms: 30.0, ..Latency::default() };
    world.sim.weather().set_scenario(Some(Scenario { latency, ..Scenario::default() }));
    let spec = |world: &World, journal| {
        let spec = world.spec(TransferCommand::Sync, "s3://bucket/from/", Some("s3://bucket/to/"));
        let sync = SyncOptions { rule: Rule::SizeOnly, ..SyncOptions::default() };
        TransferSpec { sync, page_size: Some(20), journal, ..spec }
    };
    let ledger = world.sim.ledger();
    // What an unbroken run would send.
    let dry = world.under("http://127.0.0.1:9000");
    dry.run(TransferSpec { dry_run: true, ..spec(&dry, None) }).await.unwrap();
    let lists = ledger.count("ListObjectsV2");
    ledger.clear();

    let journals = tempfile::tempdir().unwrap();
    let (id, journal) = journal(journals.path());
    let killer = async {
        while ledger.count("CopyObject") < CHANGED * 55 / 100 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        _ = world.run(spec(&world, Some(journal))) => panic!("it should not have ended"),
        () = killer => {}
    }
    // What was in flight arrives, or never does.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let copied = ledger.count("CopyObject");
    ledger.clear();
    let later = world.under("http://127.0.0.1:9000");
    let resumed = Journal::resume(journals.path(), &id).unwrap().journal;
    let summary = later.run(spec(&later, Some(resumed))).await.unwrap();
    assert_eq!(summary.failed, 0, "{summary:?}");
    let again = ledger.count("ListObjectsV2");
    assert!(again * 100 <= lists * 55, "{again} of {lists} LISTs");
    let in_flight = u64::from(spec(&later, None).tuning.max_concurrent_requests as u32);
    let copies = copied + ledger.count("CopyObject");
    assert!(copies <= CHANGED + in_flight, "{copies} copies for {CHANGED}");
    // It acts before it has listed what is left.
    let first = ledger.of("CopyObject")[0].at_us;
    let before = ledger.count_where(|it| it.operation == "ListObjectsV2" && it.at_us < first);
    assert!(before * 10 < lists, "{before} of {lists} LISTs before the first copy");
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_as_many_are_in_flight_as_pay() {
    let latency = Latency { median_ms: 100.0, ..Latency::default() };
    let world = filled(6_000, Scenario { latency, ..Scenario::default() }).await;
    let begun = tokio::time::Instant::now();
    let summary = tag_all(&world, Tuning::default()).await;
    assert_eq!((summary.done, summary.failed), (6_000, 0), "{summary:?}");
    // Sixty-four at once would take more than 9 s.
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    let most = world.sim.ledger().max_concurrency();
    assert!((65..=512).contains(&most), "{most}");

    world.sim.ledger().clear();
    let tuning = Tuning { max_concurrent_requests: 5, ..Tuning::default() };
    assert_eq!(tag_all(&world, tuning).await.done, 6_000);
    assert!(world.sim.ledger().max_concurrency() <= 5, "what is configured caps");
}

/// A service that refuses three of ten requests, however few are sent. A job that slowed down for
/// that went on at the slowest rate there is, and held all its loops in pauses: minutes.
#[tokio::test(start_paused = true)]
async fn refusals_that_come_whatever_is_sent_do_not_stop_a_job() {
    const OBJECTS: u64 = 2_000;
    let latency = Latency { median_ms: 30.0, ..Latency::default() };
    let faults = vec![FaultRule::new(FaultKind::SlowDown, 0.3)];
    let world = filled(OBJECTS, Scenario { seed: 9, latency, faults, ..Scenario::default() }).await;
    let begun = tokio::time::Instant::now();
    let summary = tag_all(&world, Tuning::default()).await;
    let took = begun.elapsed();
    assert_eq!((summary.done, summary.failed), (OBJECTS, 0), "{summary:?}");
    // Of this some seconds are the pauses of those that are refused several times.
    assert!(took < Duration::from_secs(15), "{took:?}");
}
