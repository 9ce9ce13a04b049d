//! What others do meanwhile: objects that are replaced, files that change, memory that is short.

use std::time::Duration;

use s3haul::job::{Summary, TransferCommand, TransferSpec, Tuning};
use s3haul::journal::Journal;
use s3haul_sim::{Effect, Fault};

use crate::load::journal;
use crate::world::{PART, World, bytes};

/// Runs `mv x/k` while `x/k` is replaced at the first request for `operation`.
async fn move_while_replaced(world: &World, target: &str, operation: &'static str) -> Summary {
    let spec = world.spec(TransferCommand::Move, "s3://bucket/x/k", Some(target));
    run_while_replaced(world, spec, operation).await
}

/// Runs a job while `x/k` is replaced at the first request for `operation`.
async fn run_while_replaced(world: &World, spec: TransferSpec, operation: &'static str) -> Summary {
    world.sim.weather().push(Fault::new(Effect::slow_down()).operation(operation).times(4));
    let before = world.sim.ledger().count(operation);
    let meddle = async {
        while world.sim.ledger().count(operation) == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        world.object("x/k", b"new").await;
    };
    let meddle = tokio::time::timeout(Duration::from_hours(1), meddle);
    let (summary, meddled) = tokio::join!(Box::pin(world.run(spec)), meddle);
    meddled.expect("the request never came");
    summary.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_move_never_removes_what_it_did_not_move() {
    for (size, operation, target) in [
        (3, "DeleteObject", "out"),
        (PART as usize + 1, "DeleteObject", "out"),
        (3, "DeleteObject", "s3://bucket/y"),
        (PART as usize + 1, "DeleteObject", "s3://bucket/y"),
        (3, "CopyObject", "s3://bucket/y"),
    ] {
        let world = World::new();
        world.object("x/k", &bytes(size, 1)).await;
        let summary = move_while_replaced(&world, target, operation).await;
        let what = format!("{size} {operation} {target}: {:?}", world.log.lines());
        assert_eq!((summary.done, summary.failed), (0, 1), "{what}");
        assert_eq!(world.get("x/k").await.as_deref(), Some(&b"new"[..]), "{what}");
        assert_eq!(world.log.moved(), 0, "{what}");
    }
}

/// There was no plan, and the failure spoke of one.
#[tokio::test(start_paused = true)]
async fn a_resumed_move_whose_source_changes_says_so_without_a_plan() {
    let world = World::new();
    world.object("x/k", b"old").await;
    let journals = tempfile::tempdir().unwrap();
    let (id, journal) = journal(journals.path());
    let spec = |journal| {
        let spec = world.spec(TransferCommand::Move, "s3://bucket/x/", Some("s3://bucket/y/"));
        let journal = Some(journal);
        TransferSpec { recursive: true, no_overwrite: true, journal, ..spec }
    };
    // It is copied, and its source is not removed.
    let denied = Fault::new(Effect::respond(403, "AccessDenied"));
    world.sim.weather().push(denied.operation("DeleteObject").times(1));
    assert_eq!(world.run(spec(journal)).await.unwrap().failed, 1, "{:?}", world.log.lines());
    let resumed = Journal::resume(journals.path(), &id).unwrap().journal;
    let summary = run_while_replaced(&world, spec(resumed), "CopyObject").await;
    assert_eq!((summary.done, summary.failed), (0, 1), "{:?}", world.log.lines());
    assert_eq!(world.log.count("has changed since it was looked at"), 1, "{:?}", world.log.lines());
    assert_eq!(world.get("x/k").await.as_deref(), Some(&b"new"[..]));
}

/// One prefix lies within the other: what is moved may be in the place of what is not moved yet.
#[tokio::test(start_paused = true)]
async fn a_move_within_a_prefix_puts_no_object_over_another_one_of_its_own() {
    let prefixes = [
        ("s3://bucket/a/b/", "s3://bucket/a/", "a/b/b/f", "a/b/f"),
        ("s3://bucket/a/", "s3://bucket/a/old/", "a/old/f", "a/f"),
    ];
    let cases = prefixes.into_iter().flat_map(|prefixes| [(prefixes, true), (prefixes, false)]);
    for ((source, target, first, second), is_one) in cases {
        let world = World::new();
        world.object(first, b"1").await;
        world.object(second, b"2").await;
        world.object("a/b/else", b"3").await;
        // One service may be reached by two names.
        let other =
            world.under(if is_one { "http://127.0.0.1:9000" } else { "http://localhost:9000" });
        let spec = world.spec(TransferCommand::Move, source, Some(target));
        let spec = TransferSpec { recursive: true, ..spec };
        let summary = world.run_to(&other, spec).await;
        assert_eq!((summary.done, summary.failed), (2, 1), "{:?}", world.log.lines());
        let mut kept = Vec::new();
        for key in world.keys().await {
            kept.extend(world.get(&key).await.unwrap());
        }
        kept.sort_unstable();
        assert_eq!(kept, b"123", "{:?}", world.keys().await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_to_the_removal_is_no_failure() {
    let world = World::new();
    world.object("x/k", b"old").await;
    world.sim.weather().push(Fault::new(Effect::LostResponse).operation("DeleteObject").times(2));
    let spec = world.spec(TransferCommand::Move, "s3://bucket/x/k", Some("s3://bucket/y"));
    let summary = world.run(spec).await.unwrap();
    assert_eq!((summary.done, summary.failed), (1, 0), "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["y"]);
}

/// The second attempt finds what the first one has written.
#[tokio::test(start_paused = true)]
async fn a_lost_answer_to_the_copy_of_a_move_that_must_not_overwrite_is_no_failure() {
    let world = World::new();
    world.object("x/k", b"old").await;
    world.sim.weather().push(Fault::new(Effect::LostResponse).operation("CopyObject").times(1));
    let spec = world.spec(TransferCommand::Move, "s3://bucket/x/k", Some("s3://bucket/y"));
    let summary = world.run(TransferSpec { no_overwrite: true, ..spec }).await.unwrap();
    assert_eq!(
        (summary.done, summary.skipped, summary.failed),
        (1, 0, 0),
        "{:?}",
        world.log.lines()
    );
    assert_eq!(world.keys().await, ["y"]);
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_changed_file_does_not_wait_for_memory_that_waits_for_it() {
    let world = World::new();
    for number in 0..40 {
        world.file(&format!("in/b{number}"), &bytes(16 << 10, number));
    }
    // Its size is 0 and it has contents: it seems to change at every look.
    std::os::unix::fs::symlink("/proc/version", world.path("in/a")).unwrap();
    let spec = world.spec(TransferCommand::Copy, "in", Some("s3://bucket"));
    let tuning =
        Tuning { max_concurrent_requests: 1, memory_budget: 64 << 10, ..spec.tuning.clone() };
    let summary = world.run(TransferSpec { recursive: true, tuning, ..spec }).await.unwrap();
    assert_eq!((summary.done, summary.failed), (40, 1), "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn a_damaged_download_is_not_kept_because_its_checksum_is_gone() {
    let world = World::new();
    world.object("x/k", &bytes(PART as usize + 1, 1)).await;
    let damage = Fault::new(Effect::CorruptByte { offset: 3 }).operation("GetObject").times(1);
    world.sim.weather().push(damage);
    // Listed, so that the checksum is not known beforehand.
    let spec = world.spec(TransferCommand::Move, "s3://bucket/x", Some("out"));
    let spec = TransferSpec { recursive: true, ..spec };
    let summary = run_while_replaced(&world, spec, "HeadObject").await;
    assert_eq!((summary.done, summary.failed), (0, 1), "{:?}", world.log.lines());
    assert!(world.files().is_empty(), "{:?}", world.files());
    assert_eq!(world.log.count("did not match expected ETag"), 1, "{:?}", world.log.lines());
}

/// It is looked for before the object is received, and not replaced afterwards.
#[tokio::test(start_paused = true)]
async fn a_file_that_appears_is_not_overwritten() {
    for (command, size) in [
        (TransferCommand::Copy, 10),
        (TransferCommand::Copy, 3 * PART as usize),
        (TransferCommand::Move, 10),
        (TransferCommand::Sync, 10),
    ] {
        let world = World::new();
        world.object("d/a", &bytes(size, 1)).await;
        let late = Effect::Delay(Duration::from_secs(5));
        world.sim.weather().push(Fault::new(late).operation("GetObject").always());
        let spec = world.spec(command, "s3://bucket/d", Some("out"));
        let recursive = command != TransferCommand::Sync;
        let spec = TransferSpec { recursive, no_overwrite: true, ..spec };
        let appear = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            world.file("out/a", b"appeared");
        };
        let (summary, ()) = tokio::join!(world.run(spec), appear);
        let summary = summary.unwrap();
        assert_eq!((summary.done, summary.failed), (0, 0), "{:?}", world.log.lines());
        assert_eq!(std::fs::read(world.path("out/a")).unwrap(), b"appeared");
        assert_eq!(world.files(), ["out/a"]);
        assert_eq!(world.keys().await, ["d/a"]);
    }
}
