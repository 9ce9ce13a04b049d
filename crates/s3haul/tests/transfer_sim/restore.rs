//! Archived objects: restored, waited for, reported.

use std::time::Duration;

use s3haul::job::{RestoreTask, Summary, TransferCommand, TransferSpec};
use s3haul_sim::{Effect, Fault};
use s3haul_wire::ObjectProperties;

use crate::world::World;

fn begin(waits: bool) -> RestoreTask {
    RestoreTask::Begin { days: 3, tier: None, waits }
}

fn spec(world: &World, path: &str, restore: RestoreTask) -> TransferSpec {
    let recursive = path.ends_with('/');
    TransferSpec { recursive, restore, ..world.spec(TransferCommand::Restore, path, None) }
}

/// Runs a job with a clean ledger.
async fn run(world: &World, path: &str, restore: RestoreTask) -> Summary {
    world.sim.ledger().clear();
    world.run(spec(world, path, restore)).await.unwrap()
}

async fn put(world: &World, key: &str, class: &str) {
    let storage_class = Some(class.to_owned());
    let properties = ObjectProperties { storage_class, ..ObjectProperties::default() };
    world.object_with(key, b"frozen", &properties).await;
}

async fn some_objects() -> World {
    let world = World::new();
    for (key, class) in
        [("x/a", "GLACIER"), ("x/b", "DEEP_ARCHIVE"), ("x/c", "STANDARD"), ("x/d", "GLACIER_IR")]
    {
        put(&world, key, class).await;
    }
    world
}

/// Looks and restores in the ledger.
fn sent(world: &World) -> [u64; 2] {
    ["HeadObject", "RestoreObject"].map(|operation| world.sim.ledger().count(operation))
}

#[tokio::test(start_paused = true)]
async fn what_is_archived_is_restored_and_nothing_else() {
    let world = some_objects().await;
    assert_eq!(world.get("x/a").await, None, "it is archived");
    let summary = run(&world, "s3://bucket/x/", begin(false)).await;
    assert_eq!((summary.done, summary.skipped, summary.failed), (2, 2, 0));
    assert_eq!(sent(&world), [2, 2]);
    let summary = run(&world, "s3://bucket/x/", begin(false)).await;
    assert_eq!((summary.done, sent(&world)), (2, [2, 0]), "under way counts as done");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.get("x/b").await.unwrap(), b"frozen");
    let summary = run(&world, "s3://bucket/x/", begin(false)).await;
    assert_eq!((summary.skipped, sent(&world)), (4, [2, 0]));
    assert!(world.log.reported_totals(3), "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_when_all_can_be_read() {
    const OBJECTS: u64 = 100;
    const TAKES: Duration = Duration::from_mins(30);
    let world = World::with_restores(TAKES);
    for n in 0..OBJECTS {
        put(&world, &format!("x/{n:03}"), "GLACIER").await;
    }
    let before = tokio::time::Instant::now();
    let summary = run(&world, "s3://bucket/x/", begin(true)).await;
    assert_eq!((summary.done, summary.failed), (OBJECTS, 0), "{:?}", world.log.lines());
    let took = before.elapsed();
    assert!(took >= TAKES && took < TAKES + Duration::from_mins(2), "{took:?}");
    let [looks, begun] = sent(&world);
    assert_eq!(begun, OBJECTS);
    // Two for each, and those of the eight at work that are waited for.
    let polls = 8 * (6 + TAKES.as_secs() / 60);
    assert!((2 * OBJECTS..2 * OBJECTS + polls + 8).contains(&looks), "{looks}");
    assert_eq!(world.get("x/099").await.unwrap(), b"frozen");
    assert!(world.log.reported_totals(1), "each is planned once");
    let summary = run(&world, "s3://bucket/x/", begin(true)).await;
    assert_eq!((summary.done, sent(&world)[1]), (OBJECTS, 0));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_restored_is_told_once() {
    let world = some_objects().await;
    let effect = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(effect).operation("RestoreObject").key("x/a").always());
    let summary = run(&world, "s3://bucket/x/", begin(true)).await;
    assert_eq!((summary.done, summary.skipped, summary.failed), (1, 2, 1));
    assert_eq!(world.log.count("x/a failed"), 1, "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn the_state_is_told() {
    let world = some_objects().await;
    run(&world, "s3://bucket/x/", RestoreTask::Tell).await;
    assert_eq!(sent(&world), [2, 0]);
    assert_eq!(world.log.count(" archived"), 4, "{:?}", world.log.lines());
    assert_eq!(world.log.count(" not archived"), 2, "{:?}", world.log.lines());
    run(&world, "s3://bucket/x/a", begin(false)).await;
    run(&world, "s3://bucket/x/a", RestoreTask::Tell).await;
    assert_eq!(world.log.count("in progress"), 1, "{:?}", world.log.lines());
    tokio::time::sleep(Duration::from_secs(2)).await;
    run(&world, "s3://bucket/x/a", RestoreTask::Tell).await;
    assert_eq!(world.log.count("restored"), 1, "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_only_counts() {
    let world = some_objects().await;
    for waits in [false, true] {
        let dry = TransferSpec { dry_run: true, ..spec(&world, "s3://bucket/x/", begin(waits)) };
        world.sim.ledger().clear();
        let summary = world.run(dry).await.unwrap();
        let planned = summary.requests_planned;
        let again = u64::from(waits);
        assert_eq!((planned.read, planned.write), (2 + 2 * again, 2 + again), "listed again");
        assert_eq!((sent(&world), summary.skipped), ([0, 0], 2));
    }
}
