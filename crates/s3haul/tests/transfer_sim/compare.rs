//! `compare`, `verify` and `sync --checksum` against the simulated wire.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use s3haul::Result;
use s3haul::job::{
    Clients, CompareSink, CompareSpec, CompareSummary, Compared, Depth, FilterRule, Rule, Status,
    Summary, SyncOptions, TransferCommand, TransferSpec, run_compare,
};
use s3haul_sim::{Effect, Fault};
use s3haul_wire::ops::{CompleteMultipart, Conditions, CreateMultipart, PutObject, UploadPart};
use s3haul_wire::{ChecksumAlgorithm, ObjectProperties, Payload};
use tokio::time::Instant;

use crate::world::{PART, World, bytes};

#[derive(Default)]
struct Seen {
    lines: Mutex<Vec<String>>,
    warnings: Mutex<Vec<String>>,
}

impl CompareSink for Seen {
    fn compared(&self, compared: &Compared) -> ControlFlow<()> {
        let Compared { name, status, .. } = compared;
        let line = match status {
            Status::Failed(error) => format!("{name} failed {error}"),
            _ => format!("{name} {} {}", status.name(), status.reason()).trim_end().to_owned(),
        };
        self.lines.lock().unwrap().push(line);
        ControlFlow::Continue(())
    }

    fn warning(&self, message: &str) {
        self.warnings.lock().unwrap().push(message.to_owned());
    }
}

fn spec(world: &World, source: &str, target: &str, depth: Depth) -> CompareSpec {
    let job = world.spec(TransferCommand::Sync, source, Some(target));
    CompareSpec {
        source: source.to_owned(),
        target: target.to_owned(),
        working_dir: job.working_dir,
        filters: Vec::new(),
        follow_symlinks: true,
        page_size: None,
        depth,
        compares_times: false,
        source_customer_key: None,
        target_customer_key: None,
        tuning: job.tuning,
    }
}

async fn run(world: &World, spec: CompareSpec) -> (Result<CompareSummary>, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let clients = Clients { source: world.client.clone(), target: world.client.clone() };
    let sink = Arc::clone(&seen) as Arc<dyn CompareSink>;
    (run_compare(spec, clients, sink, world.cancel.clone()).await, seen)
}

async fn compare(world: &World, source: &str, target: &str, depth: Depth) -> Vec<String> {
    let (summary, seen) = run(world, spec(world, source, target, depth)).await;
    summary.unwrap();
    let lines = seen.lines.lock().unwrap();
    lines.clone()
}

async fn sync(world: &World, source: &str, target: &str) -> Summary {
    let sync = SyncOptions { rule: Rule::Content, ..SyncOptions::default() };
    let spec = TransferSpec { sync, ..world.spec(TransferCommand::Sync, source, Some(target)) };
    world.run(spec).await.unwrap()
}

/// Requests that read objects or ask for their headers.
fn reads(world: &World) -> (usize, usize) {
    let ledger = world.sim.ledger();
    (ledger.count("HeadObject") as usize, ledger.count("GetObject") as usize)
}

#[tokio::test(start_paused = true)]
async fn all_pairs_of_sides_tell_the_same_in_order() {
    let world = World::new();
    for (name, left, right) in [
        ("a", "1", ""),
        ("b/c", "same", "same"),
        ("b/d", "size", "other size"),
        ("é", "1234", "1243"),
        ("z", "", "1"),
    ] {
        for (root, content) in [("left", left), ("right", right)] {
            if !content.is_empty() {
                world.file(&format!("{root}/{name}"), content.as_bytes());
                world.object(&format!("{root}/{name}"), content.as_bytes()).await;
            }
        }
    }
    let listed = ["a only-source", "b/d different size", "z only-target"];
    for left in ["left", "s3://bucket/left"] {
        for right in ["right", "s3://bucket/right/"] {
            let remote = left.starts_with("s3") && right.starts_with("s3");
            let lines = compare(&world, left, right, Depth::Sizes).await;
            assert!(listed.iter().all(|line| lines.contains(&(*line).to_owned())), "{lines:?}");
            assert!(lines.contains(&"é same size".to_owned()), "{lines:?}");
            let listed = compare(&world, left, right, Depth::Listed).await;
            let told = listed.contains(&"é different etag".to_owned());
            assert_eq!(told, remote, "nothing is read that costs: {listed:?}");
            for depth in [Depth::Checksums, Depth::Proof] {
                let lines = compare(&world, left, right, depth).await;
                let names: Vec<_> = lines.iter().map(|line| line.split(' ').next()).collect();
                assert!(names.is_sorted(), "{lines:?}");
                assert!(lines[1].starts_with("b/c same"), "{lines:?}");
                assert!(lines[4].starts_with("é different"), "{left} {right} {lines:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn content_is_compared_at_the_least_cost() {
    let world = World::new();
    let large = bytes(12_000_000, 1);
    world.file("in/small", b"small");
    world.file("in/large", &large);
    world.file("in/other/size", b"1");
    world.cp_tree("in", "s3://bucket/x").await;
    world.object("x/other/size", b"22").await;
    let summary = sync(&world, "in", "s3://bucket/x").await;
    assert_eq!(summary.done, 1, "{:?}", world.log.lines());
    assert_eq!(reads(&world), (1, 0), "headers of the object in parts, no content");
    let mut changed = large.clone();
    changed[11_999_999] ^= 1;
    world.file("in/large", &changed);
    world.file("in/small", b"smalL");
    assert_eq!(sync(&world, "in", "s3://bucket/x").await.done, 2, "{:?}", world.log.lines());
    assert_eq!(world.get("x/large").await.unwrap(), changed);
    assert_eq!(sync(&world, "in", "s3://bucket/x").await.done, 0);
    // The other way round, and from bucket to bucket.
    assert_eq!(sync(&world, "s3://bucket/x", "in").await.done, 0);
    world.file("in/small", b"sMall");
    assert_eq!(sync(&world, "s3://bucket/x", "in").await.done, 1);
    assert_eq!(std::fs::read(world.path("in/small")).unwrap(), b"smalL");
    world.cp_tree("s3://bucket/x", "s3://bucket/y").await;
    world.object("y/small", b"Small").await;
    assert_eq!(sync(&world, "s3://bucket/x", "s3://bucket/y").await.done, 1);
}

#[tokio::test(start_paused = true)]
async fn parts_of_another_size_are_no_difference() {
    let world = World::new();
    let large = bytes(12_000_000, 3);
    world.file("in/large", &large);
    let mut spec = world.spec(TransferCommand::Copy, "in/large", Some("s3://bucket/x/large"));
    spec.tuning.multipart_chunksize = 7 << 20;
    assert_eq!(world.run(spec).await.unwrap().done, 1);
    world.object("y/large", &large).await;
    world.cp_tree("in", "s3://bucket/z").await;
    let same = |evidence: &str| [format!("large same {evidence}")];
    assert_eq!(compare(&world, "in", "s3://bucket/x", Depth::Proof).await, same("checksum"));
    let lines = compare(&world, "s3://bucket/x", "s3://bucket/y", Depth::Checksums).await;
    assert_eq!(lines, same("checksum"));
    let lines = compare(&world, "s3://bucket/x", "s3://bucket/z", Depth::Listed).await;
    assert_eq!(lines, same("size"), "ETags of parts say nothing");
    assert_eq!(reads(&world).1, 0, "nothing was downloaded");
}

/// Writes an object of parts that has no checksum of the whole.
async fn in_parts(world: &World, key: &str, parts: &[&[u8]]) {
    let properties = ObjectProperties::default();
    let (bucket, client) = ("bucket", &world.client);
    let checksum = Some(ChecksumAlgorithm::Sha256);
    let input = CreateMultipart { bucket, key, properties: &properties, checksum };
    let upload_id = client.create_multipart(input).await.unwrap();
    let mut done = Vec::new();
    for (part_number, bytes) in (1..).zip(parts) {
        let input = UploadPart {
            bucket,
            key,
            upload_id: &upload_id,
            part_number,
            payload: Payload::from_bytes(bytes.to_vec().into()),
            checksum,
            encryption: None,
            customer_key: None,
        };
        done.push(client.upload_part(input).await.unwrap());
    }
    let input = CompleteMultipart {
        bucket,
        key,
        upload_id: &upload_id,
        parts: &done,
        full_object_checksum: None,
        object_size: None,
        conditions: Conditions::default(),
        customer_key: None,
        encryption: None,
        is_encrypted: false,
    };
    client.complete_multipart(input).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn digests_of_parts_are_computed_for_files() {
    let world = World::new();
    let content = bytes(100_000, 4);
    world.file("in/a", &content);
    in_parts(&world, "x/a", &content.chunks(33_333).collect::<Vec<_>>()).await;
    let compared = |depth| compare(&world, "in", "s3://bucket/x", depth);
    assert_eq!(compared(Depth::Proof).await, ["a same etag"]);
    assert_eq!(reads(&world), (2, 0), "the headers, and the size of the first part");
    // Parts of any size: only a proof needs the bytes, and less errs on the safe side.
    let (first, rest) = content.split_at(33_334);
    let (second, third) = rest.split_at(33_000);
    in_parts(&world, "x/a", &[first, second, third]).await;
    assert_eq!(compared(Depth::Checksums).await, ["a different etag"]);
    assert_eq!(reads(&world).1, 0);
    assert_eq!(compared(Depth::Proof).await, ["a same content"]);
    assert_eq!(reads(&world).1, 1);
}

#[tokio::test(start_paused = true)]
async fn large_objects_are_read_in_parts_at_a_time() {
    let world = World::new();
    let content = bytes(70 << 20, 6);
    let mut other = content.clone();
    other[69 << 20] ^= 1;
    let uneven = |content: &[u8], at: usize| {
        let (first, rest) = content.split_at(at);
        let (second, third) = rest.split_at(7 * at);
        [first.to_vec(), second.to_vec(), third.to_vec()]
    };
    for (key, content, at) in
        [("x/a", &content, 3 << 20), ("y/a", &content, 4 << 20), ("z/a", &other, 4 << 20)]
    {
        let parts = uneven(content, at);
        in_parts(&world, key, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>()).await;
    }
    let lines = compare(&world, "s3://bucket/x", "s3://bucket/y", Depth::Proof).await;
    assert_eq!(lines, ["a same content"]);
    assert_eq!(reads(&world).1, 6, "32 MiB at a time");
    let lines = compare(&world, "s3://bucket/x", "s3://bucket/z", Depth::Checksums).await;
    assert_eq!(lines, ["a different content"]);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_of_checksums_changes_nothing() {
    let world = World::new();
    world.file("in/a", b"1");
    world.file("in/b", b"2");
    world.object("x/a", b"1").await;
    world.object("x/b", b"3").await;
    let sync = SyncOptions { rule: Rule::Content, ..SyncOptions::default() };
    let spec = world.spec(TransferCommand::Sync, "in", Some("s3://bucket/x"));
    world.run(TransferSpec { sync, dry_run: true, ..spec }).await.unwrap();
    assert_eq!(world.log.count("dryrun"), 1, "{:?}", world.log.lines());
    assert_eq!(world.get("x/b").await.unwrap(), b"3");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_compared_fails_by_itself() {
    let world = World::new();
    for n in 0..20 {
        world.file(&format!("in/{n:02}"), b"22");
        world.object(&format!("x/{n:02}"), format!("{}", n % 2 + 10).as_bytes()).await;
    }
    let refusal = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(refusal).operation("HeadObject").times(1));
    let summary = sync(&world, "in", "s3://bucket/x").await;
    assert_eq!((summary.done, summary.failed), (19, 1), "{:?}", world.log.lines());
    assert!(!summary.fatal);
    let refusal = Effect::respond(403, "AccessDenied");
    world.object("x/05", b"23").await;
    world.sim.weather().push(Fault::new(refusal).operation("HeadObject").times(1));
    let (summary, seen) = run(&world, spec(&world, "in", "s3://bucket/x", Depth::Proof)).await;
    let summary = summary.unwrap();
    assert_eq!(summary.failed.objects, 1, "{:?}", seen.lines);
    assert_eq!(summary.different.objects + summary.same_total().objects, 19);
}

#[tokio::test(start_paused = true)]
async fn pairs_are_looked_at_as_many_at_a_time_as_requests_may_be() {
    let world = World::new();
    for n in 0..64 {
        // Only the headers show that the `ETag` is an MD5.
        world.file(&format!("in/{n:02}"), b"old");
        world.object(&format!("x/{n:02}"), b"new").await;
    }
    let slow = Fault::new(Effect::Delay(Duration::from_secs(10))).operation("HeadObject").always();
    world.sim.weather().push(slow);
    let begin = Instant::now();
    let lines = compare(&world, "in", "s3://bucket/x", Depth::Checksums).await;
    assert!(lines.len() == 64 && lines.is_sorted(), "{lines:?}");
    assert_eq!(begin.elapsed().as_secs() / 10, 8, "eight at a time");
    let begin = Instant::now();
    assert_eq!(sync(&world, "in", "s3://bucket/x").await.done, 64);
    assert_eq!(begin.elapsed().as_secs() / 10, 8, "eight at a time");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_comparison_ends_at_once() {
    let world = World::new();
    world.file("in/a", b"old");
    world.object("x/a", b"new").await;
    world.sim.weather().push(Fault::new(Effect::Stall).operation("HeadObject").always());
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        world.cancel.cancel();
    };
    let begin = Instant::now();
    let job = run(&world, spec(&world, "in", "s3://bucket/x", Depth::Proof));
    let ((summary, _), ()) = tokio::join!(job, cancel);
    assert!(summary.unwrap().cancelled);
    assert!(begin.elapsed() < Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_side_that_cannot_be_listed_ends_it_after_what_was_known() {
    let world = World::new();
    for n in 0..12 {
        world.object(&format!("x/{n:02}"), b"1").await;
        world.file(&format!("in/{n:02}"), b"1");
    }
    let refusal = Effect::respond(403, "AccessDenied");
    let fault = Fault::new(refusal).operation("ListObjectsV2").skip(2).always();
    world.sim.weather().push(fault);
    let spec = spec(&world, "in", "s3://bucket/x", Depth::Checksums);
    let (result, seen) = run(&world, CompareSpec { page_size: Some(3), ..spec }).await;
    assert_eq!(result.unwrap_err().code(), "AccessDenied");
    let lines = seen.lines.lock().unwrap();
    assert!(lines.iter().all(|line| line.ends_with("same etag")), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn filters_times_and_what_cannot_be_looked_at() {
    let world = World::new();
    world.file("in/a.txt", b"1");
    world.file("in/b.log", b"1");
    std::os::unix::fs::symlink("nowhere", world.path("in/c")).unwrap();
    for key in ["x/a.txt", "x/c", "x/d.log"] {
        world.object(key, b"1").await;
    }
    let mut spec = spec(&world, "in", "s3://bucket/x", Depth::Listed);
    spec.filters = vec![FilterRule::Exclude("*.log".to_owned())];
    let (summary, seen) = run(&world, spec.clone()).await;
    assert_eq!(*seen.lines.lock().unwrap(), ["a.txt same size"]);
    assert_eq!((summary.unwrap().warnings, seen.warnings.lock().unwrap().len()), (1, 1));
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(9);
    std::fs::File::open(world.path("in/a.txt")).unwrap().set_modified(past).unwrap();
    let (_, seen) = run(&world, CompareSpec { compares_times: true, ..spec }).await;
    assert_eq!(*seen.lines.lock().unwrap(), ["a.txt different time"]);
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_costs_only_the_rest() {
    let world = World::new();
    let content = bytes(2 * PART as usize, 5);
    // One object in parts and one that is whole, with checksums of different kinds: one is read.
    world.file("in/a", &content);
    world.cp_tree("in", "s3://bucket/x").await;
    let input = PutObject {
        bucket: "bucket",
        key: "y/a",
        payload: Payload::from_bytes(content.into()),
        properties: &ObjectProperties::default(),
        checksum: Some(ChecksumAlgorithm::Crc32),
        conditions: Conditions::default(),
    };
    world.client.put_object(input).await.unwrap();
    let reset = Effect::ResetAfter { bytes: PART };
    world.sim.weather().push(Fault::new(reset).operation("GetObject").times(1));
    let lines = compare(&world, "s3://bucket/x", "s3://bucket/y", Depth::Proof).await;
    assert_eq!(lines, ["a same etag"]);
    assert_eq!(reads(&world).1, 2, "the second goes on where the first ended");
}

/// A pattern with an absolute path matches on one side only.
#[tokio::test(start_paused = true)]
async fn what_a_filter_leaves_out_on_one_side_is_not_missing() {
    let world = World::new();
    for name in ["a", "b"] {
        world.file(&format!("in/{name}"), b"1");
        world.object(&format!("x/{name}"), b"1").await;
    }
    world.object("x/c", b"1").await;
    let filter = format!("{}/in/*b", world.folder.path().display());
    for (source, target, lone) in
        [("in", "s3://bucket/x", "c only-target"), ("s3://bucket/x", "in", "c only-source")]
    {
        let mut spec = spec(&world, source, target, Depth::Sizes);
        spec.filters = vec![FilterRule::Exclude(filter.clone())];
        let (_, seen) = run(&world, spec).await;
        assert_eq!(*seen.lines.lock().unwrap(), ["a same size", lone]);
    }
}

/// It is left out of an upload, and cannot be called the same.
#[tokio::test(start_paused = true)]
async fn a_store_of_a_server_is_not_passed_over_in_silence() {
    let world = World::new();
    for name in ["a", ".s3haul/meta/box/k.json", ".s3haul/buckets/box.json", "box/k"] {
        world.file(&format!("in/{name}"), b"1");
    }
    world.object("x/a", b"1").await;
    for (source, target) in [("in", "s3://bucket/x"), ("s3://bucket/x", "in")] {
        let (summary, seen) = run(&world, spec(&world, source, target, Depth::Sizes)).await;
        assert_eq!(*seen.lines.lock().unwrap(), ["a same size"]);
        assert_eq!(summary.unwrap().warnings, 1);
    }
}
