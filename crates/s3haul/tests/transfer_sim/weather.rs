//! Jobs in bad weather: refusals, broken connections, damaged bodies, cancellation.

use std::time::Duration;

use s3haul::job::{TransferCommand, TransferSpec};
use s3haul_sim::{Effect, Fault, ListingWeather, Scenario};
use tokio::time::Instant;

use crate::world::{PART, World, bytes};

/// Two parts and a bit.
const LARGE: usize = 2 * PART as usize + 1000;

fn large_world() -> (World, Vec<u8>) {
    let world = World::new();
    let large = bytes(LARGE, 3);
    world.file("large", &large);
    (world, large)
}

#[tokio::test(start_paused = true)]
async fn uploads_survive_what_passes() {
    let faults = [
        ("PutObject", Effect::slow_down()),
        ("PutObject", Effect::ResetBeforeResponse),
        ("PutObject", Effect::LostResponse),
        ("CreateMultipartUpload", Effect::internal_error()),
        ("UploadPart", Effect::slow_down()),
        ("UploadPart", Effect::ResetAfter { bytes: 10 }),
        ("UploadPart", Effect::LostResponse),
        ("CompleteMultipartUpload", Effect::internal_error()),
        ("CompleteMultipartUpload", Effect::LostResponse),
        ("CompleteMultipartUpload", Effect::ok_with_error("InternalError")),
    ];
    for (operation, effect) in faults {
        let (world, large) = large_world();
        world.file("small", b"small");
        let name = format!("{operation} {effect:?}");
        world.sim.weather().push(Fault::new(effect).operation(operation).times(2));
        let summary = world.cp_tree(".", "s3://bucket").await;
        assert_eq!(summary.done, 2, "{name}: {:?}", world.log.lines());
        assert_eq!(world.get("large").await.unwrap(), large, "{name}");
        assert_eq!(world.get("small").await.unwrap(), b"small", "{name}");
        assert_eq!(world.log.moved(), LARGE as i64 + 5, "{name}");
        let open = world.open_uploads().await;
        // A lost answer to the beginning of an upload leaves one whose id is unknown.
        assert_eq!(open, 0, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn beginnings_without_an_answer_are_said_once_at_the_end() {
    let (world, large) = large_world();
    let lost = |effect| Fault::new(effect).operation("CreateMultipartUpload");
    world.sim.weather().push(lost(Effect::slow_down()));
    world.sim.weather().push(lost(Effect::LostResponse).times(2));
    assert_eq!(world.cp_tree(".", "s3://bucket").await.done, 1, "{:?}", world.log.lines());
    assert_eq!(world.get("large").await.unwrap(), large);
    assert_eq!(world.open_uploads().await, 2);
    for text in [
        "2 CreateMultipartUpload requests were not answered: ",
        "`s3haul uploads ls s3://bucket/large` ",
        "`s3haul uploads abort --older-than 1d s3://bucket/large` ",
    ] {
        assert_eq!(world.log.count(text), 1, "{:?}", world.log.lines());
    }
    // A refusal is an answer.
    let (world, _) = large_world();
    world.sim.weather().push(lost(Effect::slow_down()).times(2));
    assert_eq!(world.cp_tree(".", "s3://bucket").await.done, 1, "{:?}", world.log.lines());
    assert_eq!(world.log.count("not answered"), 0, "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn beginnings_without_an_answer_when_the_job_is_cancelled_are_said() {
    for (names, lost, address) in [
        (&["large"][..], "a CreateMultipartUpload request was", "s3://bucket/large"),
        (&["large", "lark"], "2 CreateMultipartUpload requests were", "s3://bucket/lar"),
    ] {
        let (world, large) = large_world();
        for name in names {
            world.file(name, &large);
        }
        let stall = Fault::new(Effect::Stall).operation("CreateMultipartUpload");
        world.sim.weather().push(stall.times(2));
        let spec = world.spec(TransferCommand::Copy, ".", Some("s3://bucket"));
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            world.cancel.cancel();
        };
        let running = world.run(TransferSpec { recursive: true, ..spec });
        assert!(tokio::join!(running, cancel).0.unwrap().cancelled);
        let lines = world.log.lines();
        assert_eq!(world.log.count(&format!("{lost} not answered: ")), 1, "{lines:?}");
        assert_eq!(world.log.count(&format!("--older-than 1d {address}` ")), 1, "{lines:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_completion_is_found_where_the_server_forgot_it() {
    let world = World::that_forgets_completions();
    let large = bytes(LARGE, 3);
    world.file("large", &large);
    let lost = Fault::new(Effect::LostResponse).operation("CompleteMultipartUpload").times(2);
    world.sim.weather().push(lost);
    let summary = world.cp("large", "s3://bucket/large").await;
    assert_eq!(summary.done, 1, "{:?}", world.log.lines());
    assert_eq!(world.get("large").await.unwrap(), large);
    assert_eq!(world.open_uploads().await, 0);
}

#[tokio::test(start_paused = true)]
async fn the_progress_of_an_upload_is_continuous_and_exact() {
    let (world, _) = large_world();
    world.sim.weather().push(
        Fault::new(Effect::ResetAfter { bytes: 2 * 1024 * 1024 }).operation("UploadPart").times(2),
    );
    assert_eq!(world.cp("large", "s3://bucket/large").await.done, 1, "{:?}", world.log.lines());
    assert_eq!(world.log.moved(), LARGE as i64);
    assert_eq!(world.log.longest_step(), 256 * 1024);

    let (world, _) = large_world();
    let refusal = Fault::new(Effect::respond(403, "AccessDenied"));
    world.sim.weather().push(refusal.operation("UploadPart").times(100));
    assert_eq!(world.cp("large", "s3://bucket/large").await.failed, 1, "{:?}", world.log.lines());
    assert_eq!(world.log.moved(), 0);
}

#[tokio::test(start_paused = true)]
async fn downloads_survive_what_passes() {
    let effects = [
        Effect::slow_down(),
        Effect::internal_error(),
        Effect::ResetBeforeResponse,
        Effect::ResetAfter { bytes: 3 },
        Effect::Truncate { bytes: 2 },
        Effect::Stall,
    ];
    for effect in effects {
        let (world, large) = large_world();
        world.object("x/large", &large).await;
        world.object("x/small", b"small").await;
        let name = format!("{effect:?}");
        world.sim.weather().push(Fault::new(effect).operation("GetObject").times(3));
        let summary = world.cp_tree("s3://bucket/x", "out").await;
        assert_eq!(summary.done, 2, "{name}: {:?}", world.log.lines());
        assert_eq!(std::fs::read(world.path("out/large")).unwrap(), large, "{name}");
        assert_eq!(std::fs::read(world.path("out/small")).unwrap(), b"small", "{name}");
        assert_eq!(world.log.moved(), LARGE as i64 + 5, "{name}");
        assert_eq!(world.files(), ["large", "out/large", "out/small"], "{name}");
    }
}

/// The checksum of a large object is checked at the end: it is read again, twice at most.
#[tokio::test(start_paused = true)]
async fn a_large_object_is_read_again_when_it_was_damaged() {
    let (world, large) = large_world();
    world.object("x/large", &large).await;
    let corrupt = Fault::new(Effect::CorruptByte { offset: 500 }).operation("GetObject");
    for damaged in [1, 4] {
        world.sim.weather().push(corrupt.clone().times(damaged));
        world.sim.ledger().clear();
        let summary = world.cp_tree("s3://bucket/x", "out").await;
        assert_eq!(summary.done, 1, "{:?}", world.log.lines());
        assert_eq!(std::fs::read(world.path("out/large")).unwrap(), large);
        let times = if damaged == 1 { 2 } else { 3 };
        assert_eq!(world.sim.ledger().count("GetObject"), 3 * times);
        assert_eq!(world.log.moved(), large.len() as i64 * if damaged == 1 { 1 } else { 2 });
    }
    world.sim.weather().push(corrupt.always());
    world.sim.ledger().clear();
    assert_eq!(world.cp_tree("s3://bucket/x", "other").await.failed, 1);
    assert_eq!(world.sim.ledger().count("GetObject"), 3 * 3);
}

#[tokio::test(start_paused = true)]
async fn a_damaged_body_never_becomes_a_file() {
    for size in [1000, LARGE] {
        let world = World::new();
        world.object("k", &bytes(size, 4)).await;
        world.object("other", b"fine").await;
        let corrupt = Effect::CorruptByte { offset: 500 };
        world.sim.weather().push(Fault::new(corrupt).operation("GetObject").key("k").always());
        let summary = world.cp_tree("s3://bucket", "out").await;
        assert_eq!((summary.done, summary.failed), (1, 1), "{:?}", world.log.lines());
        assert_eq!(world.log.count("checksum"), 1, "{:?}", world.log.lines());
        assert_eq!(world.files(), ["out/other"]);
        assert_eq!(world.log.moved(), 4);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_upload_leaves_nothing_open() {
    for operation in ["UploadPart", "CompleteMultipartUpload"] {
        let (world, _) = large_world();
        world.file("small", b"1");
        let refusal = Effect::respond(403, "AccessDenied");
        world.sim.weather().push(Fault::new(refusal).operation(operation).always());
        let summary = world.cp_tree(".", "s3://bucket").await;
        assert_eq!((summary.done, summary.failed), (1, 1), "{:?}", world.log.lines());
        assert_eq!(world.log.count("AccessDenied"), 1, "{:?}", world.log.lines());
        assert_eq!(world.open_uploads().await, 0);
        assert_eq!(world.sim.ledger().count("AbortMultipartUpload"), 1);
        assert_eq!(world.log.moved(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_copy_in_parts_leaves_nothing_open() {
    let (world, large) = large_world();
    world.object("x/large", &large).await;
    let refusal = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(refusal).operation("UploadPartCopy").skip(1).always());
    let summary = world.cp_tree("s3://bucket/x", "s3://bucket/y").await;
    assert_eq!(summary.failed, 1, "{:?}", world.log.lines());
    assert_eq!(world.open_uploads().await, 0);
    assert_eq!(world.log.moved(), 0);
    assert_eq!(world.keys().await, ["x/large"]);
}

#[tokio::test(start_paused = true)]
async fn permits_bound_the_requests_in_flight() {
    let world = World::new();
    for n in 0..100 {
        world.file(&format!("in/{n}"), &bytes(1000, n));
    }
    world.file("in/large", &bytes(LARGE, 5));
    world.sim.weather().set_latency(Duration::from_millis(100));
    let summary = world.cp_tree("in", "s3://bucket/x").await;
    assert_eq!(summary.done, 101, "{:?}", world.log.lines());
    assert_eq!(world.sim.ledger().max_concurrency(), 8);
    world.cp_tree("s3://bucket/x", "out").await;
    world.cp_tree("s3://bucket/x", "s3://bucket/y").await;
    assert_eq!(world.sim.ledger().max_concurrency(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_tiny_budget_slows_and_does_not_stop() {
    let world = World::new();
    for n in 0..20 {
        world.file(&format!("in/{n}"), &bytes(300_000, n));
    }
    let large = bytes(LARGE, 6);
    world.file("in/large", &large);
    let run = async |source: &str, target: &str| {
        let mut spec = world.spec(TransferCommand::Copy, source, Some(target));
        spec.recursive = true;
        spec.tuning.memory_budget = 1 << 20;
        world.run(spec).await.unwrap()
    };
    assert_eq!(run("in", "s3://bucket/x").await.done, 21, "{:?}", world.log.lines());
    assert_eq!(run("s3://bucket/x", "out").await.done, 21, "{:?}", world.log.lines());
    assert_eq!(std::fs::read(world.path("out/large")).unwrap(), large);
}

/// A batch of files that is more than the budget is not read as if it were all of it.
#[tokio::test(start_paused = true)]
async fn small_files_at_once_stay_within_the_budget() {
    let world = World::new();
    for n in 0..30 {
        world.file(&format!("in/{n}"), &bytes(64 << 10, n));
    }
    world.sim.weather().set_latency(Duration::from_millis(100));
    let mut spec = world.spec(TransferCommand::Copy, "in", Some("s3://bucket/x"));
    (spec.recursive, spec.tuning.memory_budget) = (true, 256 << 10);
    assert_eq!(world.run(spec).await.unwrap().done, 30, "{:?}", world.log.lines());
    assert_eq!(world.sim.ledger().max_concurrency(), 4);
}

#[tokio::test(start_paused = true)]
async fn bandwidth_is_kept() {
    let world = World::new();
    for n in 0..20 {
        world.file(&format!("in/{n}"), &bytes(100_000, n));
    }
    for (source, target) in [("in", "s3://bucket/x"), ("s3://bucket/x", "out")] {
        let mut spec = world.spec(TransferCommand::Copy, source, Some(target));
        spec.recursive = true;
        spec.tuning.max_bandwidth = Some(1_000_000);
        let began = tokio::time::Instant::now();
        world.run(spec).await.unwrap();
        let took = began.elapsed().as_secs_f64();
        assert!((1.7..2.5).contains(&took), "{took}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_changes_meanwhile_is_sent_whole_or_not_at_all() {
    for changes in [1, 2] {
        let (world, _) = large_world();
        let slow = Effect::Delay(Duration::from_secs(5));
        world.sim.weather().push(Fault::new(slow).operation("UploadPart").always());
        let content = bytes(LARGE, 9);
        let change = async {
            for _ in 0..changes {
                tokio::time::sleep(Duration::from_secs(4)).await;
                world.file("large", &content);
            }
        };
        let (summary, ()) = tokio::join!(world.cp("large", "s3://bucket/k"), change);
        if changes == 1 {
            assert_eq!(summary.done, 1, "{:?}", world.log.lines());
            assert_eq!(world.get("k").await.unwrap(), content);
            assert_eq!(world.log.moved(), LARGE as i64);
        } else {
            assert_eq!(summary.failed, 1, "{:?}", world.log.lines());
            assert_eq!(world.get("k").await, None);
            assert_eq!(world.log.moved(), 0);
        }
        assert_eq!(world.open_uploads().await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_replaced_meanwhile_is_not_mixed() {
    let (world, large) = large_world();
    world.object("k", &large).await;
    let mut spec = world.spec(TransferCommand::Copy, "s3://bucket/k", Some("out"));
    spec.tuning.max_concurrent_requests = 1;
    let slow = Effect::Delay(Duration::from_secs(5));
    world.sim.weather().push(Fault::new(slow).operation("GetObject").key("k").always());
    let replace = async {
        tokio::time::sleep(Duration::from_secs(7)).await;
        world.object("k", &bytes(LARGE, 10)).await;
    };
    let (summary, ()) = tokio::join!(world.run(spec), replace);
    assert_eq!(summary.unwrap().failed, 1, "{:?}", world.log.lines());
    assert_eq!(world.log.count("did not match expected ETag"), 1, "{:?}", world.log.lines());
    assert_eq!(world.files(), ["large"]);
}

#[tokio::test(start_paused = true)]
async fn cancelling_at_any_moment_leaves_nothing_behind() {
    let seed = std::env::var("S3HAUL_TEST_SEED").map_or(20_261_121, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..24 {
        let (world, large) = large_world();
        world.object("x/large", &large).await;
        for n in 0..40 {
            world.file(&format!("in/{n}"), &bytes(1000, n));
            world.object(&format!("x/{n}"), b"1").await;
        }
        world.file("in/large", &large);
        let before = world.files().len();
        world.sim.weather().set_latency(Duration::from_millis(50));
        let (source, target) =
            [("in", "s3://bucket/y"), ("s3://bucket/x", "out"), ("s3://bucket/x", "s3://bucket/y")]
                [round % 3];
        let spec = world.spec(TransferCommand::Copy, source, Some(target));
        let after = Duration::from_micros(random.u64(0..450_000));
        let cancel = async {
            tokio::time::sleep(after).await;
            world.cancel.cancel();
        };
        let running = world.run(TransferSpec { recursive: true, ..spec });
        let (summary, ()) = tokio::join!(running, cancel);
        let summary = summary.unwrap();
        world.sim.weather().set_latency(Duration::ZERO);
        let name = format!("round {round} after {after:?}: {summary:?}");
        assert_eq!(world.open_uploads().await, 0, "{name}");
        let temporary = |name: &&String| name.contains('.');
        let files = world.files();
        assert_eq!(files.iter().filter(temporary).count(), 0, "{name}: {files:?}");
        if source == "in" {
            assert_eq!(files.len(), before);
        }
        if world.keys().await.contains(&"y/large".to_owned()) {
            assert_eq!(world.get("y/large").await.unwrap(), large, "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_copy_in_parts_ends_soon_and_is_aborted() {
    for at_once in [1, 64] {
        let (world, large) = large_world();
        world.object("k", &large).await;
        let slow = Effect::Delay(Duration::from_secs(30));
        world.sim.weather().push(Fault::new(slow).operation("UploadPartCopy").always());
        world.sim.weather().set_latency(Duration::from_millis(50));
        let mut spec = world.spec(TransferCommand::Copy, "s3://bucket/k", Some("s3://bucket/l"));
        spec.tuning.max_concurrent_requests = at_once;
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(3)).await;
            world.cancel.cancel();
        };
        let began = Instant::now();
        let (summary, ()) = tokio::join!(world.run(spec), cancel);
        let took = began.elapsed().as_secs_f64() - 3.0;
        assert!(summary.unwrap().cancelled);
        assert!(world.sim.ledger().count("AbortMultipartUpload") > 0);
        assert!(took < 1.5, "{took} s after the signal, {at_once} at once");
        // Parts that were being copied have been by now, and do not bring the upload back.
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!((world.open_uploads().await, world.keys().await), (0, vec!["k".to_owned()]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_written_to_during_a_move_stays() {
    for size in [10, LARGE] {
        let world = World::new();
        world.file("f", &bytes(size, 1));
        let operation = if size == LARGE { "CompleteMultipartUpload" } else { "PutObject" };
        let slow = Effect::Delay(Duration::from_secs(5));
        world.sim.weather().push(Fault::new(slow).operation(operation));
        let write = async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            world.file("f", b"written by another process");
        };
        let spec = world.spec(TransferCommand::Move, "f", Some("s3://bucket/f"));
        let (summary, ()) = tokio::join!(world.run(spec), write);
        assert_eq!(summary.unwrap().failed, 1, "{:?}", world.log.lines());
        assert_eq!(std::fs::read(world.path("f")).unwrap(), b"written by another process");
        assert_eq!(world.log.moved(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_small_object_that_became_large_is_received_in_parts() {
    let (world, large) = large_world();
    world.object("x/k", b"small").await;
    let slow = Effect::Delay(Duration::from_secs(5));
    world.sim.weather().push(Fault::new(slow).operation("GetObject").key("x/k"));
    let replace = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        world.object("x/k", &large).await;
    };
    let (summary, ()) = tokio::join!(world.cp_tree("s3://bucket/x", "out"), replace);
    assert_eq!((summary.done, summary.bytes), (1, LARGE as u64), "{:?}", world.log.lines());
    assert_eq!(std::fs::read(world.path("out/k")).unwrap(), large);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_does_not_cost_every_object_all_its_attempts() {
    let world = World::new();
    for n in 0..300 {
        world.file(&format!("f{n:03}"), b"1");
    }
    world.object("up", b"1").await;
    world.sim.weather().push(Fault::new(Effect::Stall).always());
    let start = tokio::time::Instant::now();
    let summary = world.cp_tree(".", "s3://bucket").await;
    assert_eq!((summary.done, summary.failed, summary.not_tried), (0, 5, 295));
    // Each of the first is given up after three times 20 s, not after ten times.
    assert!(start.elapsed() < Duration::from_secs(90), "{:?}", start.elapsed());
    let ended = world.log.count("ended early, because every object would fail in the same way");
    assert_eq!(ended, 1, "{:?}", world.log.lines());

    // What comes later finds out that the server is back.
    world.sim.weather().clear();
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(world.get("up").await.unwrap(), b"1");
    assert_eq!(world.cp_tree(".", "s3://bucket").await.done, 300);
}

#[tokio::test(start_paused = true)]
async fn a_slow_object_is_tried_to_the_end() {
    let (world, large) = large_world();
    world.object("x", b"1").await;
    let slow = Fault::new(Effect::Stall).operation("UploadPart").key("large");
    world.sim.weather().push(slow.times(8));
    let summary = world.cp("large", "s3://bucket/large").await;
    assert_eq!(summary.done, 1, "{:?}", world.log.lines());
    assert_eq!(world.get("large").await.unwrap(), large);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_two_pages_list_is_one_object() {
    let world = World::new();
    for n in 0..30 {
        world.object(&format!("x/{n:02}"), b"1").await;
    }
    let listing = ListingWeather { repeated_key: 1.0, ..ListingWeather::default() };
    let scenario = Scenario { listing, ..Scenario::default() };
    world.sim.weather().set_scenario(Some(scenario));
    let spec = world.spec(TransferCommand::Move, "s3://bucket/x", Some("out"));
    let spec = TransferSpec { recursive: true, page_size: Some(4), ..spec };
    let summary = world.run(spec).await.unwrap();
    assert_eq!((summary.done, summary.failed), (30, 0), "{:?}", world.log.lines());
    assert!(world.sim.ledger().count("ListObjectsV2") > 8);
}
