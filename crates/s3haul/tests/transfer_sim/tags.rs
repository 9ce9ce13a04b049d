//! Tags of many objects, and the requests that they take.

use std::sync::Arc;
use std::time::Duration;

use s3haul::job::{
    FilterRule, NameSource, Summary, TagKeys, TagTask, Tags, TransferCommand, TransferSpec,
};
use s3haul_sim::{Effect, Fault};
use s3haul_wire::ObjectProperties;

use crate::world::{Held, World};

fn set(text: &str) -> TagTask {
    TagTask::Set(Tags::parse([text]).unwrap())
}

fn add(text: &str) -> TagTask {
    TagTask::Add(Tags::parse([text]).unwrap())
}

fn remove(text: &str) -> TagTask {
    TagTask::Remove(TagKeys::parse([text]).unwrap())
}

fn spec(world: &World, path: &str, tags: TagTask) -> TransferSpec {
    let recursive = path.ends_with('/');
    TransferSpec { recursive, tags, ..world.spec(TransferCommand::Tag, path, None) }
}

/// Runs a job with a clean ledger.
async fn run(world: &World, path: &str, tags: TagTask) -> Summary {
    world.sim.ledger().clear();
    world.run(spec(world, path, tags)).await.unwrap()
}

async fn put(world: &World, key: &str, tags: &str) {
    let tagging = Some(tags.to_owned()).filter(|tags| !tags.is_empty());
    let properties = ObjectProperties { tagging, ..ObjectProperties::default() };
    world.object_with(key, b"1", &properties).await;
}

/// Tags of an object as they are typed, in order.
async fn tags_of(world: &World, key: &str) -> String {
    let mut tags = world.client.get_object_tagging("bucket", key, None).await.unwrap();
    tags.sort();
    let tags: Vec<_> = tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    tags.join(",")
}

/// Requests of the ledger: to read tags, to write them and to remove them.
fn sent(world: &World) -> [usize; 3] {
    ["GetObjectTagging", "PutObjectTagging", "DeleteObjectTagging"]
        .map(|operation| world.sim.ledger().count(operation) as usize)
}

#[tokio::test(start_paused = true)]
async fn an_object_takes_one_request_and_all_permits_are_used() {
    const OBJECTS: u32 = 3_000;
    const LATENCY: Duration = Duration::from_millis(20);
    let world = World::new();
    for n in 0..OBJECTS {
        world.object(&format!("x/{n:05}"), b"1").await;
    }
    put(&world, "y", "old=1").await;
    world.sim.weather().set_latency(LATENCY);
    let before = tokio::time::Instant::now();
    let summary = run(&world, "s3://bucket/x/", set("type=daily,ünï=ß 1:2")).await;
    let took = before.elapsed();
    assert_eq!((summary.done, summary.failed), (u64::from(OBJECTS), 0), "{summary:?}");
    let ledger = world.sim.ledger();
    let listed = ledger.count("ListObjectsV2");
    assert_eq!(ledger.total() - listed, u64::from(OBJECTS), "one request an object");
    assert!(listed <= 8, "{listed}");
    // By Little's law, 8 requests in flight; the first page comes before the first object.
    let least = LATENCY * OBJECTS / 8;
    assert!(took < least.mul_f64(1.1), "{took:?} instead of {least:?}");
    assert_eq!(tags_of(&world, "x/02999").await, "type=daily,ünï=ß 1:2");
    assert_eq!(tags_of(&world, "y").await, "old=1");
}

#[tokio::test(start_paused = true)]
async fn only_what_changes_is_written() {
    let world = World::new();
    for (key, tags) in [("x/a", ""), ("x/b", "t=1"), ("x/c", "t=2&u=3"), ("x/dir/", "u=3")] {
        put(&world, key, tags).await;
    }
    let summary = run(&world, "s3://bucket/x/", add("t=1")).await;
    assert_eq!((summary.done, summary.skipped, summary.failed), (3, 1, 0));
    assert_eq!(sent(&world), [4, 3, 0]);
    assert_eq!(tags_of(&world, "x/c").await, "t=1,u=3");
    assert_eq!(tags_of(&world, "x/dir/").await, "t=1,u=3");
    let summary = run(&world, "s3://bucket/x/", add("t=1")).await;
    assert_eq!((summary.done, summary.skipped), (0, 4), "a second run changes nothing");
    assert_eq!(sent(&world), [4, 0, 0]);
    let summary = run(&world, "s3://bucket/x/", remove("t,nope")).await;
    assert_eq!((summary.done, summary.skipped), (4, 0));
    assert_eq!(sent(&world), [4, 2, 2], "what has no tag left loses them all");
    assert_eq!(tags_of(&world, "x/c").await, "u=3");
    run(&world, "s3://bucket/x/", TagTask::Clear).await;
    assert_eq!(sent(&world), [0, 0, 4]);
    assert_eq!(tags_of(&world, "x/c").await, "");
}

#[tokio::test(start_paused = true)]
async fn one_object_is_not_looked_for() {
    let world = World::new();
    put(&world, "a", "t=1&u=2").await;
    let summary = run(&world, "s3://bucket/a", TagTask::Get).await;
    assert_eq!((summary.done, world.sim.ledger().total()), (1, 1));
    assert_eq!(world.log.count("(\"t\", \"1\"), (\"u\", \"2\")"), 1, "{:?}", world.log.lines());
    let summary = run(&world, "s3://bucket/none", set("t=1")).await;
    assert_eq!((summary.done, summary.failed, world.sim.ledger().total()), (0, 1, 1));
    assert_eq!(world.log.count("NoSuchKey"), 1, "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn too_many_together_are_refused_before_they_are_written() {
    let world = World::new();
    let full: Vec<_> = (0..10).map(|n| format!("k{n}=v")).collect();
    put(&world, "x/full", &full.join("&")).await;
    put(&world, "x/free", "").await;
    let summary = run(&world, "s3://bucket/x/", add("new=1")).await;
    assert_eq!((summary.done, summary.failed), (1, 1), "{:?}", world.log.lines());
    assert_eq!(sent(&world), [2, 1, 0]);
    assert_eq!(world.log.count("x/full failed: 11 tags are more than the 10"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_only_counts() {
    let world = World::new();
    for key in ["x/a", "x/b.log", "x/c"] {
        put(&world, key, "").await;
    }
    let filters = vec![FilterRule::Exclude("*.log".to_owned())];
    let dry = TransferSpec { filters, dry_run: true, ..spec(&world, "s3://bucket/x/", add("t=1")) };
    world.sim.ledger().clear();
    let summary = world.run(dry.clone()).await.unwrap();
    assert_eq!(sent(&world), [0, 0, 0]);
    let planned = summary.requests_planned;
    assert_eq!((planned.write, planned.read, planned.delete), (2, 2, 0));
    assert_eq!(world.log.count("Tag s3://bucket/x/"), 2, "{:?}", world.log.lines());
    world.run(TransferSpec { dry_run: false, ..dry }).await.unwrap();
    assert_eq!(sent(&world), [2, 2, 0], "as it was said");
}

#[tokio::test(start_paused = true)]
async fn what_failed_is_tagged_without_a_listing() {
    let world = World::new();
    for key in ["x/a", "x/b", "x/c"] {
        put(&world, key, "").await;
    }
    for key in ["x/a", "x/c"] {
        let effect = Effect::respond(403, "AccessDenied");
        let fault = Fault::new(effect).operation("PutObjectTagging").key(key).always();
        world.sim.weather().push(fault);
    }
    let summary = run(&world, "s3://bucket/x/", add("t=1")).await;
    assert_eq!((summary.done, summary.failed), (1, 2), "{:?}", world.log.lines());
    world.sim.weather().clear();
    world.sim.ledger().clear();
    let names = Some(Arc::new(Held(world.log.failed())) as Arc<dyn NameSource>);
    let again = TransferSpec { names, ..spec(&world, "s3://bucket/x/", add("t=1")) };
    assert_eq!(world.run(again).await.unwrap().done, 2, "{:?}", world.log.lines());
    assert_eq!(world.sim.ledger().total(), 4);
    assert_eq!(tags_of(&world, "x/c").await, "t=1");
}
