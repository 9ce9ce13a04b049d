//! Jobs end to end: the production client over in-memory pipes, a simulated server, a paused
//! clock.

mod world;

use s3haul::job::{Summary, TransferCommand, TransferSpec};
use world::{World, bytes};

#[tokio::test(start_paused = true)]
async fn trees_go_up_and_come_back() {
    let world = World::new();
    world.file("in/a.txt", b"hello");
    world.file("in/sub/empty", b"");
    let large = bytes(12_000_000, 1);
    world.file("in/sub/large.bin", &large);
    let summary = world.cp_tree("in", "s3://bucket/up").await;
    assert_eq!(
        summary,
        Summary { done: 3, bytes: 12_000_005, ..Summary::default() },
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
