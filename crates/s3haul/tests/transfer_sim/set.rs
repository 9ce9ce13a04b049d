//! Properties of many objects, and the requests that changing them takes.

use std::sync::Arc;
use std::time::Duration;

use s3haul::job::{Conditions, NameSource, ObjectChange, Summary, TransferCommand, TransferSpec};
use s3haul_sim::{Effect, Fault};
use s3haul_wire::ops::CreateBucket;
use s3haul_wire::{LockMode, ObjectProperties, Retention};

use crate::world::{Held, World};

fn change(set: impl FnOnce(&mut ObjectProperties)) -> ObjectChange {
    let mut properties = ObjectProperties::default();
    set(&mut properties);
    ObjectChange { properties, ..ObjectChange::default() }
}

fn content_type() -> ObjectChange {
    change(|set| set.content_type = Some("image/png".to_owned()))
}

fn class(name: &str) -> ObjectChange {
    change(|set| set.storage_class = Some(name.to_owned()))
}

fn spec(world: &World, path: &str, change: ObjectChange) -> TransferSpec {
    let (recursive, change) = (path.ends_with('/'), Box::new(change));
    TransferSpec { recursive, change, ..world.spec(TransferCommand::Set, path, None) }
}

/// Runs a job with a clean ledger.
async fn run(world: &World, path: &str, change: ObjectChange) -> Summary {
    world.sim.ledger().clear();
    world.run(spec(world, path, change)).await.unwrap()
}

/// Requests of the ledger: looks, and everything that changes.
fn sent(world: &World) -> [u64; 2] {
    let ledger = world.sim.ledger();
    let listed = ledger.count("ListObjectsV2");
    let looks = ["HeadObject", "GetObjectAcl", "GetObjectLegalHold", "GetObjectTagging"]
        .map(|operation| ledger.count(operation));
    let looks: u64 = looks.iter().sum();
    [looks, ledger.total() - listed - looks]
}

fn carried() -> ObjectProperties {
    ObjectProperties {
        content_type: Some("text/x-test".to_owned()),
        cache_control: Some("no-store".to_owned()),
        metadata: Some(vec![("a".to_owned(), "1".to_owned())]),
        storage_class: Some("STANDARD_IA".to_owned()),
        website_redirect: Some("/there".to_owned()),
        tagging: Some("t=1".to_owned()),
        acl: Some("public-read".to_owned()),
        ..ObjectProperties::default()
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_named_is_kept() {
    let world = World::new();
    for key in ["x/a", "x/b", "x/dir/"] {
        world.object_with(key, b"1", &carried()).await;
    }
    let summary = run(&world, "s3://bucket/x/", content_type()).await;
    assert_eq!((summary.done, summary.failed), (3, 0), "{:?}", world.log.lines());
    assert_eq!(sent(&world), [3 + 1, 3], "the first is looked at again");
    let head = world.head("x/a").await.properties;
    assert_eq!(head.content_type.as_deref(), Some("image/png"));
    let expected = ObjectProperties {
        content_type: Some("image/png".to_owned()),
        tagging: None,
        acl: None,
        ..carried()
    };
    assert_eq!(head, expected);
    let tags = world.client.get_object_tagging("bucket", "x/a", None).await.unwrap();
    assert_eq!(tags, [("t".to_owned(), "1".to_owned())]);
    assert_eq!(world.get("x/a").await.unwrap(), b"1");
    let acl = world.client.get_object_acl("bucket", "x/a").await.unwrap();
    assert_eq!(acl.is_canned("private"), Some(true), "a copy resets it");
    let summary = run(&world, "s3://bucket/x/", content_type()).await;
    assert_eq!((summary.done, summary.skipped), (0, 3), "a second run changes nothing");
    assert_eq!(sent(&world), [3, 0]);
}

#[tokio::test(start_paused = true)]
async fn an_acl_is_kept_where_asked_and_changed_without_a_copy() {
    let world = World::new();
    world.object_with("x/a", b"1", &carried()).await;
    let keep = ObjectChange { keep_acl: true, ..content_type() };
    run(&world, "s3://bucket/x/", keep).await;
    assert_eq!(sent(&world), [2 + 1, 1]);
    let is = async |name| {
        let acl = world.client.get_object_acl("bucket", "x/a").await.unwrap();
        acl.is_canned(name).unwrap()
    };
    assert!(is("public-read").await);
    let private = || change(|set| set.acl = Some("private".to_owned()));
    run(&world, "s3://bucket/x/", private()).await;
    assert_eq!((sent(&world), world.sim.ledger().count("PutObjectAcl")), ([1, 1], 1));
    assert!(is("private").await);
    let summary = run(&world, "s3://bucket/x/", private()).await;
    assert_eq!((summary.skipped, sent(&world)), (1, [1, 0]));
}

#[tokio::test(start_paused = true)]
async fn a_class_that_the_listing_tells_needs_no_look() {
    let world = World::new();
    for (key, storage_class) in [("x/a", None), ("x/b", Some("STANDARD_IA")), ("x/c", None)] {
        let storage_class = storage_class.map(str::to_owned);
        let properties = ObjectProperties { storage_class, ..ObjectProperties::default() };
        world.object_with(key, b"1", &properties).await;
    }
    let summary = run(&world, "s3://bucket/x/", class("STANDARD_IA")).await;
    assert_eq!((summary.done, summary.skipped), (2, 1), "{:?}", world.log.lines());
    assert_eq!(sent(&world), [2 + 1, 2]);
    let summary = run(&world, "s3://bucket/x/", class("STANDARD_IA")).await;
    assert_eq!((summary.skipped, sent(&world)), (3, [0, 0]));
    assert!(world.log.reported_totals(2), "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn what_is_archived_is_told_and_left() {
    let world = World::new();
    let storage_class = Some("GLACIER".to_owned());
    let frozen = ObjectProperties { storage_class, ..ObjectProperties::default() };
    world.object_with("x/frozen", b"1", &frozen).await;
    world.object("x/warm", b"1").await;
    let summary = run(&world, "s3://bucket/x/", content_type()).await;
    assert_eq!((summary.done, summary.failed), (1, 1));
    let told = "x/frozen failed: the object is archived (GLACIER): restore it first, with `s3haul";
    assert_eq!(world.log.count(told), 1, "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn locks_are_set_kept_and_ended() {
    let world = World::new();
    let locked = CreateBucket { bucket: "locked", object_lock: true, ..CreateBucket::default() };
    world.client.create_bucket(locked).await.unwrap();
    for bucket in ["locked", "bucket"] {
        let input = s3haul_wire::ops::PutObject {
            bucket,
            key: "x/a",
            payload: s3haul_wire::Payload::empty(),
            properties: &ObjectProperties::default(),
            checksum: None,
            conditions: s3haul_wire::ops::Conditions::default(),
        };
        world.client.put_object(input).await.unwrap();
    }
    let head = async || {
        let input = s3haul_wire::ops::HeadObject {
            bucket: "locked",
            key: "x/a",
            ..s3haul_wire::ops::HeadObject::default()
        };
        world.client.head_object(input).await.unwrap().properties
    };
    let retention = |until_s| Some(Retention { mode: LockMode::Governance, until_s });
    let (near, far) = (4_000_000_000, 4_100_000_000);
    let lock = |until_s| change(|set| set.retention = retention(until_s));
    let hold = |is_on| change(|set| set.legal_hold = Some(is_on));
    run(&world, "s3://locked/x/", lock(far)).await;
    run(&world, "s3://locked/x/", hold(true)).await;
    assert_eq!((head().await.retention, head().await.legal_hold), (retention(far), Some(true)));
    run(&world, "s3://locked/x/", content_type()).await;
    assert_eq!((head().await.retention, head().await.legal_hold), (retention(far), Some(true)));
    assert_eq!(run(&world, "s3://locked/x/", lock(far)).await.skipped, 1);
    assert_eq!(run(&world, "s3://locked/x/", hold(true)).await.skipped, 1);
    assert_eq!(run(&world, "s3://locked/x/", lock(near)).await.failed, 1, "it is shorter");
    let bypass = ObjectChange { bypass_governance: true, ..lock(near) };
    assert_eq!(run(&world, "s3://locked/x/", bypass).await.done, 1);
    assert_eq!(run(&world, "s3://locked/x/", hold(false)).await.done, 1);
    assert_eq!(head().await.legal_hold, Some(false));
    assert_eq!(run(&world, "s3://bucket/x/", lock(far)).await.failed, 1);
    assert_eq!(world.log.count("Bucket is missing Object Lock Configuration"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_only_counts() {
    let world = World::new();
    for key in ["x/a", "x/b"] {
        world.object(key, b"1").await;
    }
    let cache_control = change(|set| set.cache_control = Some("no-store".to_owned()));
    for change in [
        content_type(),
        ObjectChange { keep_acl: true, ..cache_control },
        class("STANDARD_IA"),
        change(|set| set.acl = Some("public-read".to_owned())),
    ] {
        let dry = TransferSpec { dry_run: true, ..spec(&world, "s3://bucket/x/", change) };
        world.sim.ledger().clear();
        let planned = world.run(dry.clone()).await.unwrap().requests_planned;
        assert_eq!(sent(&world), [0, 0]);
        world.run(TransferSpec { dry_run: false, ..dry }).await.unwrap();
        assert_eq!(sent(&world), [planned.read, planned.write], "as it was said");
    }
    assert_eq!(world.log.count("Set s3://bucket/x/a dryrun"), 4, "{:?}", world.log.lines());
}

/// A run that is given up at any point and begun again ends with every object changed and whole.
#[tokio::test(start_paused = true)]
async fn whatever_was_done_the_next_run_does_the_rest() {
    let world = World::new();
    for n in 0..50 {
        world.object_with(&format!("x/{n:02}"), b"1", &carried()).await;
    }
    world.sim.weather().set_latency(std::time::Duration::from_millis(20));
    let mut done = 0;
    for ms in [30, 70, 110, 150] {
        let running = world.run(spec(&world, "s3://bucket/x/", content_type()));
        let cut = tokio::time::timeout(std::time::Duration::from_millis(ms), running).await;
        assert!(cut.is_err(), "it is not killed at {ms} ms");
    }
    let keep = ObjectChange { keep_acl: true, ..content_type() };
    let summary = run(&world, "s3://bucket/x/", keep).await;
    done += summary.done;
    assert!((1..50).contains(&done) && summary.skipped == 50 - done, "{summary:?}");
    for n in 0..50 {
        let key = format!("x/{n:02}");
        let head = world.head(&key).await.properties;
        assert_eq!(head.content_type.as_deref(), Some("image/png"), "{key}");
        assert_eq!(
            (head.metadata, head.storage_class),
            (carried().metadata, carried().storage_class)
        );
        assert_eq!(world.client.get_object_tagging("bucket", &key, None).await.unwrap().len(), 1);
    }
    assert_eq!(run(&world, "s3://bucket/x/", content_type()).await.skipped, 50);
    assert_eq!(sent(&world), [50, 0]);
}

#[tokio::test(start_paused = true)]
async fn only_what_failed_is_tried_again() {
    let world = World::new();
    for key in ["x/a", "x/b", "x/c"] {
        world.object(key, b"1").await;
    }
    let effect = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(effect).operation("CopyObject").key("x/b").always());
    let summary = run(&world, "s3://bucket/x/", content_type()).await;
    assert_eq!((summary.done, summary.failed), (2, 1), "{:?}", world.log.lines());
    world.sim.weather().clear();
    world.sim.ledger().clear();
    let names = Some(Arc::new(Held(world.log.failed())) as Arc<dyn NameSource>);
    let again = TransferSpec { names, ..spec(&world, "s3://bucket/x/", content_type()) };
    assert_eq!(world.run(again).await.unwrap().done, 1, "{:?}", world.log.lines());
    assert_eq!(world.sim.ledger().total(), 3);
}

/// A copy in one piece has another `ETag` than the object in parts that it is made of.
#[tokio::test(start_paused = true)]
async fn a_copy_whose_answer_was_lost_is_no_failure() {
    let world = World::new();
    world.file("large", &crate::world::bytes(12_000_000, 1));
    world.cp("large", "s3://bucket/large").await;
    assert!(world.head("large").await.etag.contains('-'));
    world.sim.weather().push(Fault::new(Effect::LostResponse).operation("CopyObject"));
    let summary = run(&world, "s3://bucket/large", content_type()).await;
    assert_eq!((summary.done, summary.failed), (1, 0), "{:?}", world.log.lines());
    assert_eq!(world.sim.ledger().count("CopyObject"), 2);
}

/// The listing takes a second, and the look at the object comes after it was replaced.
#[tokio::test(start_paused = true)]
async fn conditions_hold_for_the_object_that_they_were_checked_on() {
    for change in [content_type(), change(|set| set.acl = Some("public-read".to_owned()))] {
        let world = World::new();
        world.object("x/a", b"12").await;
        let fault = Fault::new(Effect::Delay(Duration::from_secs(2))).operation("HeadObject");
        world.sim.weather().push(fault.times(1));
        let conditions = Conditions { size_min: Some(2), ..Conditions::default() };
        let spec = TransferSpec { conditions, ..spec(&world, "s3://bucket/x/", change) };
        let replacing = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            world.object("x/a", b"34").await;
        };
        let (summary, ()) = tokio::join!(world.run(spec), replacing);
        assert_eq!(summary.unwrap().failed, 1, "{:?}", world.log.lines());
        let content_type = world.head("x/a").await.properties.content_type;
        assert_eq!(content_type.as_deref(), Some("binary/octet-stream"));
        let acl = world.client.get_object_acl("bucket", "x/a").await.unwrap();
        assert_eq!(acl.is_canned("private"), Some(true));
    }
}

#[tokio::test(start_paused = true)]
async fn what_somebody_else_writes_meanwhile_is_not_undone() {
    let world = World::new();
    world.object("a", b"1").await;
    let effect = Effect::respond(412, "PreconditionFailed");
    world.sim.weather().push(Fault::new(effect).operation("CopyObject").always());
    let summary = run(&world, "s3://bucket/a", content_type()).await;
    assert_eq!((summary.done, summary.failed), (0, 1), "{:?}", world.log.lines());
}
