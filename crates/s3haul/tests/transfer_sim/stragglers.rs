//! Late requests are raced, and bodies that stop are gone on with.

use std::time::Duration;

use s3haul::job::{TransferCommand, TransferSpec};
use s3haul_sim::{Effect, Fault, Latency, Scenario};
use s3haul_wire::ops::HeadObject;
use tokio::time::Instant;

use crate::world::{PART, World, bytes};

/// One in a hundred requests takes fifty times as long.
fn tail() -> Scenario {
    let latency = Latency {
        median_ms: 30.0,
        sigma: 0.3,
        tail_probability: 0.01,
        tail_factor: 50.0,
        max_ms: 0.0,
    };
    Scenario { latency, ..Scenario::default() }
}

#[tokio::test(start_paused = true)]
async fn late_downloads_are_raced_within_the_bound_of_requests_in_flight() {
    const COUNT: usize = 800;
    let world = World::new();
    for n in 0..COUNT {
        world.object(&format!("x/{n}"), &bytes(1_000, n as u64)).await;
    }
    world.sim.weather().set_scenario(Some(tail()));
    let summary = world.cp_tree("s3://bucket/x", "out").await;
    assert_eq!(summary.done, COUNT as u64, "{:?}", world.log.lines());
    let extra = world.sim.ledger().count("GetObject") as usize - COUNT;
    assert!((3..=COUNT / 50).contains(&extra), "{extra}");
    assert_eq!(world.sim.ledger().max_concurrency(), 8);
    for n in 0..COUNT {
        let file = std::fs::read(world.path(&format!("out/{n}"))).unwrap();
        assert_eq!(file, bytes(1_000, n as u64));
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_that_is_not_answered_is_raced_and_leaves_nothing_open() {
    let world = World::new();
    let large = bytes(22 * PART as usize + 1_000, 3);
    world.file("large", &large);
    world.object("x", b"1").await;
    // These pay for the extra request.
    for _ in 0..50 {
        let head = HeadObject { bucket: "bucket", key: "x", ..HeadObject::default() };
        world.client.head_object(head).await.unwrap();
    }
    world.sim.weather().set_latency(Duration::from_millis(50));
    world.sim.weather().push(Fault::new(Effect::Stall).operation("UploadPart").skip(20));
    let mut spec = world.spec(TransferCommand::Copy, "large", Some("s3://bucket/large"));
    spec.tuning.max_concurrent_requests = 2;
    let began = Instant::now();
    assert_eq!(world.run(spec).await.unwrap().done, 1, "{:?}", world.log.lines());
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(world.sim.ledger().count("UploadPart"), 23 + 1);
    assert_eq!(world.log.moved(), large.len() as i64);
    assert_eq!(world.open_uploads().await, 0);
    assert_eq!(world.get("large").await.unwrap(), large);
}

#[tokio::test(start_paused = true)]
async fn a_part_that_is_raced_when_the_job_is_cancelled_leaves_nothing_open() {
    let world = World::new();
    world.file("large", &bytes(22 * PART as usize, 3));
    world.object("x", b"1").await;
    for _ in 0..50 {
        let head = HeadObject { bucket: "bucket", key: "x", ..HeadObject::default() };
        world.client.head_object(head).await.unwrap();
    }
    let slow = Effect::Delay(Duration::from_secs(3));
    world.sim.weather().push(Fault::new(slow).operation("UploadPart").skip(20).times(4));
    let mut spec = world.spec(TransferCommand::Copy, "large", Some("s3://bucket/large"));
    spec.tuning.max_concurrent_requests = 3;
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        world.cancel.cancel();
    };
    let (summary, ()) = tokio::join!(world.run(spec), cancel);
    assert_eq!(summary.unwrap().done, 0);
    assert_eq!(world.sim.ledger().count("UploadPart"), 22 + 1);
    assert_eq!(world.open_uploads().await, 0);
    // What was under way is over by now: nothing brings the upload back.
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!((world.open_uploads().await, world.keys().await), (0, vec!["x".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stops_is_gone_on_with_where_it_stopped() {
    const REACHED: u64 = 300_000;
    for size in [1_000_000, PART as usize + 1_000_000] {
        let world = World::new();
        let content = bytes(size, 4);
        world.object("x/k", &content).await;
        let pause = Effect::Pause { bytes: REACHED, time: Duration::from_mins(10) };
        world.sim.weather().push(Fault::new(pause).operation("GetObject"));
        let began = Instant::now();
        let spec = world.spec(TransferCommand::Copy, "s3://bucket/x", Some("out"));
        let summary = world.run(TransferSpec { recursive: true, ..spec }).await.unwrap();
        assert_eq!(summary.done, 1, "{:?}", world.log.lines());
        let took = began.elapsed().as_secs_f64();
        assert!((10.0..10.2).contains(&took), "{took}");
        assert_eq!(std::fs::read(world.path("out/k")).unwrap(), content);
        assert_eq!(world.log.moved(), size as i64);
        let records = world.sim.ledger().records();
        let last = records.iter().rfind(|record| record.operation == "GetObject").unwrap();
        let asked = if size > PART as usize { PART } else { size as u64 };
        assert_eq!((last.status, last.response_bytes), (206, asked - REACHED));
    }
}

#[tokio::test(start_paused = true)]
async fn answers_that_trickle_are_asked_for_again() {
    let world = World::new();
    let content = bytes(3_000, 5);
    world.object("x/k", &content).await;
    let trickle = Effect::Trickle { every: Duration::from_millis(500) };
    // The page has more than the 600 bytes that come within the time limit.
    world.object(&format!("x/{}", "l".repeat(200)), b"1").await;
    let fault = |operation| Fault::new(trickle.clone()).operation(operation);
    world.sim.weather().push(fault("ListObjectsV2"));
    world.sim.weather().push(fault("GetObject").key("x/k"));
    let began = Instant::now();
    let spec = world.spec(TransferCommand::Copy, "s3://bucket/x", Some("out"));
    let spec = TransferSpec { recursive: true, ..spec };
    let summary = world.run(spec).await.unwrap();
    assert_eq!(summary.done, 2, "{:?}", world.log.lines());
    let took = began.elapsed();
    assert!(took >= Duration::from_mins(10) && took < Duration::from_mins(11), "{took:?}");
    assert_eq!(std::fs::read(world.path("out/k")).unwrap(), content);
    let records = world.sim.ledger().records();
    let count = |operation| records.iter().filter(|it| it.operation == operation).count();
    assert_eq!((count("ListObjectsV2"), count("GetObject")), (2, 3));
    let last = records.iter().rfind(|record| record.key == "x/k").unwrap();
    assert_eq!((last.status, last.response_bytes), (206, 3_000 - 599));
}

#[tokio::test(start_paused = true)]
async fn a_completion_that_trickles_is_waited_for() {
    let world = World::new();
    let large = bytes(2 * PART as usize, 3);
    world.file("large", &large);
    let trickle = Effect::Trickle { every: Duration::from_secs(4) };
    world.sim.weather().push(Fault::new(trickle).operation("CompleteMultipartUpload"));
    let spec = world.spec(TransferCommand::Copy, "large", Some("s3://bucket/large"));
    let began = Instant::now();
    assert_eq!(world.run(spec).await.unwrap().done, 1, "{:?}", world.log.lines());
    assert!(began.elapsed() > Duration::from_mins(20), "{:?}", began.elapsed());
    assert_eq!(world.sim.ledger().count("CompleteMultipartUpload"), 1);
}
