//! Jobs end to end: the production client over in-memory pipes, a simulated server, a paused
//! clock.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]
#![expect(
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    reason = "sizes of tests are small"
)]

mod compare;
mod conditions;
mod filters;
mod jobs;
mod load;
mod names;
mod preserve;
mod races;
mod relay;
mod restore;
mod rules;
mod set;
mod stragglers;
mod sync;
mod tags;
mod uploads;
mod versions;
mod weather;
mod world;

use s3haul::job::{Summary, TransferCommand, TransferSpec};
use s3haul_wire::ObjectProperties;
use s3haul_wire::units::RequestCounts;
use world::{World, bytes};

#[tokio::test(start_paused = true)]
async fn trees_go_up_and_come_back() {
    let world = World::new();
    world.file("in/a.txt", b"hello");
    world.file("in/sub/empty", b"");
    let large = bytes(12_000_000, 1);
    world.file("in/sub/large.bin", &large);
    let summary = world.cp_tree("in", "s3://bucket/up").await;
    // Two small files, and the beginning, parts and end of the large one.
    let requests_sent = RequestCounts { write: 2 + 2 + 3, ..RequestCounts::default() };
    assert_eq!(world.sim.ledger().total(), requests_sent.write);
    assert_eq!(
        summary,
        Summary { done: 3, bytes: 12_000_005, requests_sent, ..Summary::default() },
        "{:?}",
        world.log.lines()
    );
    assert_eq!(world.keys().await, ["up/a.txt", "up/sub/empty", "up/sub/large.bin"]);
    assert_eq!(world.get("up/sub/large.bin").await.unwrap(), large);
    assert_eq!(world.head("up/a.txt").await.properties.content_type.as_deref(), Some("text/plain"));
    assert!(world.head("up/sub/large.bin").await.checksum_is_full_object);
    assert_eq!(world.log.moved(), 12_000_005);
    assert_eq!(world.sim.ledger().count("UploadPart"), 3);

    let summary = world.cp_tree("s3://bucket/up", "out").await;
    assert_eq!(summary.done, 3, "{:?}", world.log.lines());
    assert_eq!(std::fs::read(world.path("out/sub/large.bin")).unwrap(), large);
    assert_eq!(std::fs::read(world.path("out/a.txt")).unwrap(), b"hello");
    assert_eq!(world.log.moved(), 24_000_010);
    assert_eq!(world.files().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_tree_is_removed_in_batches() {
    let world = World::new();
    for n in 0..5 {
        world.object(&format!("x/{n}"), b"1").await;
    }
    world.object("y", b"1").await;
    let spec = world.spec(TransferCommand::Remove, "s3://bucket/x", None);
    let summary = world.run(TransferSpec { recursive: true, ..spec }).await.unwrap();
    assert_eq!(summary.done, 5, "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["y"]);
    assert_eq!(world.sim.ledger().count("DeleteObjects"), 1);
}

#[tokio::test(start_paused = true)]
async fn objects_are_copied_whole_and_in_parts() {
    let world = World::new();
    let properties = ObjectProperties {
        content_type: Some("text/x-test".to_owned()),
        metadata: Some(vec![("colour".to_owned(), "blue".to_owned())]),
        tagging: Some("a=1&b=2".to_owned()),
        ..ObjectProperties::default()
    };
    let large = bytes(12_000_000, 2);
    world.object_with("from/small", b"small", &properties).await;
    world.object_with("from/large", &large, &properties).await;
    let summary = world.cp_tree("s3://bucket/from", "s3://bucket/to").await;
    assert_eq!(summary.done, 2, "{:?}", world.log.lines());
    assert_eq!(world.get("to/large").await.unwrap(), large);
    for key in ["to/small", "to/large"] {
        let head = world.head(key).await;
        assert_eq!(head.properties.content_type, properties.content_type, "{key}");
        assert_eq!(head.properties.metadata, properties.metadata, "{key}");
        let tags = world.client.get_object_tagging("bucket", key, None).await.unwrap();
        assert_eq!(tags.len(), 2, "{key}");
    }
    assert_eq!(world.sim.ledger().count("UploadPartCopy"), 3);
    assert_eq!(world.log.moved(), 12_000_005);
}

#[tokio::test(start_paused = true)]
async fn a_move_removes_the_source_after_the_target_is_safe() {
    let world = World::new();
    world.file("in/a", b"1");
    world.file("in/b", b"2");
    let mv = |source: &str, target: &str| {
        let spec = world.spec(TransferCommand::Move, source, Some(target));
        TransferSpec { recursive: true, ..spec }
    };
    world.run(mv("in", "s3://bucket/x")).await.unwrap();
    assert!(world.files().is_empty());
    world.run(mv("s3://bucket/x", "s3://bucket/y")).await.unwrap();
    assert_eq!(world.keys().await, ["y/a", "y/b"]);
    let summary = world.run(mv("s3://bucket/y", "out")).await.unwrap();
    assert_eq!(summary.done, 2, "{:?}", world.log.lines());
    assert!(world.keys().await.is_empty());
    assert_eq!(world.files(), ["out/a", "out/b"]);
    assert_eq!(world.log.count("move"), 6);
}
