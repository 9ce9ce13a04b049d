//! Versions and delete markers: what is removed of them, what is brought back, and a bucket read
//! as it was.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use s3haul::event::ActionKind;
use s3haul::job::{
    Conditions, FilterRule, NameSource, Named, RemovalLimit, Rule, Streams, Summary, SyncOptions,
    TransferCommand, TransferSpec, Tuning, VersionRule,
};
use s3haul::journal::Journal;
use s3haul::location::Location;
use s3haul::plan::expected::{Expected, State, TargetState};
use s3haul_sim::{Effect, Fault, Latency, Scenario};
use s3haul_wire::ObjectProperties;
use s3haul_wire::ops::{DeleteObject, HeadObject, ListVersions};

use crate::load::journal;
use crate::world::{Held, PART, World, bytes};

/// A world whose bucket keeps versions.
async fn versioned() -> World {
    let world = World::new();
    world.client.put_bucket_versioning("bucket", true).await.unwrap();
    world
}

/// Lets the clock go on by more than a second, so that times distinguish before from after;
/// returns the second between.
async fn moment(world: &World) -> i64 {
    tokio::time::sleep(Duration::from_secs(2)).await;
    let at_s = world.sim.clock().now_ms() / 1000;
    tokio::time::sleep(Duration::from_secs(2)).await;
    at_s
}

async fn delete(world: &World, key: &str) {
    let input = DeleteObject { bucket: "bucket", key, ..DeleteObject::default() };
    world.client.delete_object(input).await.unwrap();
}

/// Keys with the sizes of their versions, the newest first; `x` is a delete marker.
async fn versions(world: &World) -> Vec<String> {
    let input = ListVersions { bucket: "bucket", ..ListVersions::default() };
    let page = world.client.list_versions(input).await.unwrap();
    let mut keys: Vec<(String, String)> = Vec::new();
    for version in page.versions {
        let shown =
            if version.is_delete_marker { "x".to_owned() } else { version.size.to_string() };
        match keys.last_mut() {
            Some((key, all)) if *key == version.key => all.extend([" ", &shown]),
            _ => keys.push((version.key, shown)),
        }
    }
    keys.into_iter().map(|(key, all)| format!("{key}: {all}")).collect()
}

/// Writes an object of so many bytes.
async fn put(world: &World, key: &str, size: usize) {
    world.object(key, &bytes(size, size as u64)).await;
}

fn removal(world: &World, path: &str, rule: VersionRule) -> TransferSpec {
    let recursive = path.ends_with('/');
    let spec = world.spec(TransferCommand::Remove, path, None);
    TransferSpec { recursive, versions: Some(rule), ..spec }
}

fn as_of(world: &World, command: TransferCommand, target: &str, at_s: i64) -> TransferSpec {
    let spec = world.spec(command, "s3://bucket/d", Some(target));
    let rule = if target.starts_with("s3:") { Rule::Content } else { Rule::ExactTimes };
    TransferSpec {
        recursive: command != TransferCommand::Sync,
        versions: Some(VersionRule::AsOf { at_s }),
        sync: SyncOptions { rule, delete: true, ..SyncOptions::default() },
        ..spec
    }
}

const ALL: VersionRule = VersionRule::All { older_than_s: None };

/// `d/a` with three versions, `d/b` removed, `d/a2` and `e` beside.
async fn some_versions() -> World {
    let world = versioned().await;
    for size in 1..=3 {
        put(&world, "d/a", size).await;
    }
    put(&world, "d/a2", 9).await;
    put(&world, "d/b", 4).await;
    delete(&world, "d/b").await;
    put(&world, "e", 5).await;
    world
}

#[tokio::test(start_paused = true)]
async fn versions_are_removed_by_rule() {
    let noncurrent = |keep| VersionRule::Noncurrent { keep, older_than_s: None };
    let markers = VersionRule::DeleteMarkers { older_than_s: None };
    for (path, rule, expected) in [
        ("s3://bucket/", ALL, &[][..]),
        ("s3://bucket/d/", ALL, &["e: 5"]),
        ("s3://bucket/d/a", ALL, &["d/a2: 9", "d/b: x 4", "e: 5"]),
        ("s3://bucket/d/*2", ALL, &["d/a: 3 2 1", "d/b: x 4", "e: 5"]),
        ("s3://bucket/d/", noncurrent(0), &["d/a: 3", "d/a2: 9", "d/b: x", "e: 5"]),
        ("s3://bucket/d/", noncurrent(1), &["d/a: 3 2", "d/a2: 9", "d/b: x 4", "e: 5"]),
        ("s3://bucket/d/a", noncurrent(0), &["d/a: 3", "d/a2: 9", "d/b: x 4", "e: 5"]),
        ("s3://bucket/d/", markers, &["d/a: 3 2 1", "d/a2: 9", "d/b: 4", "e: 5"]),
    ] {
        let world = some_versions().await;
        let summary = world.run(removal(&world, path, rule)).await.unwrap();
        assert!(!summary.fatal && summary.failed == 0, "{:?}", world.log.lines());
        assert_eq!(versions(&world).await, expected, "{path} {rule:?}");
        let again = world.run(removal(&world, path, rule)).await.unwrap();
        assert_eq!(again.done, 0, "{path} {rule:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn patterns_leave_versions_out_and_ranges_are_listed_apart() {
    let world = some_versions().await;
    for n in 0..30 {
        for size in 1..3 {
            put(&world, &format!("t{}/{n:02}", n % 3), size).await;
        }
    }
    let rule = |include, pattern: &str| {
        let rule = if include { FilterRule::Include } else { FilterRule::Exclude };
        rule(pattern.to_owned())
    };
    let filters = vec![rule(false, "*"), rule(true, "t0/*"), rule(true, "t2/*"), rule(true, "d/b")];
    let spec =
        removal(&world, "s3://bucket/", VersionRule::Noncurrent { keep: 0, older_than_s: None });
    let spec = TransferSpec { filters, page_size: Some(3), ..spec };
    let summary = world.run(spec).await.unwrap();
    assert_eq!(summary.done, 21, "{:?}", world.log.lines());
    // Although they are from more pages.
    assert_eq!(world.sim.ledger().count("DeleteObjects"), 1);
    let left = versions(&world).await;
    assert_eq!(left[..4], ["d/a: 3 2 1", "d/a2: 9", "d/b: x", "e: 5"]);
    let kept = left.iter().filter(|line| line.ends_with(": 2 1")).count();
    assert!(kept == 10 && left.iter().filter(|line| line.starts_with("t1/")).count() == 10);
}

#[tokio::test(start_paused = true)]
async fn a_version_is_as_old_as_its_end() {
    let world = versioned().await;
    put(&world, "k", 1).await;
    let first = moment(&world).await;
    put(&world, "k", 2).await;
    put(&world, "other", 1).await;
    let second = moment(&world).await;
    put(&world, "k", 3).await;
    let noncurrent = |at| VersionRule::Noncurrent { keep: 0, older_than_s: Some(at) };
    for (rule, expected) in [
        // The first version was made before, but was current until the second.
        (noncurrent(first), ["k: 3 2 1", "other: 1"]),
        (noncurrent(second), ["k: 3 2", "other: 1"]),
    ] {
        world.run(removal(&world, "s3://bucket/", rule)).await.unwrap();
        assert_eq!(versions(&world).await, expected);
    }
    let all = VersionRule::All { older_than_s: Some(second) };
    world.run(removal(&world, "s3://bucket/", all)).await.unwrap();
    assert_eq!(versions(&world).await, ["k: 3 2"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_removed_since_a_time_comes_back() {
    let world = versioned().await;
    for key in ["d/a", "d/b", "d/c"] {
        put(&world, key, 1).await;
    }
    delete(&world, "d/a").await;
    let since = moment(&world).await;
    for key in ["d/b", "d/c", "d/c"] {
        delete(&world, key).await;
    }
    let undelete = |since_s| TransferSpec {
        command: TransferCommand::Undelete,
        ..removal(&world, "s3://bucket/d/", VersionRule::Hiding { since_s })
    };
    let summary = world.run(undelete(Some(since))).await.unwrap();
    assert_eq!(summary.done, 3, "{:?}", world.log.lines());
    assert_eq!(world.log.count("Undelete s3://bucket/d/c done"), 2);
    assert_eq!(world.keys().await, ["d/b", "d/c"]);
    assert_eq!(world.run(undelete(None)).await.unwrap().done, 1);
    assert_eq!(versions(&world).await, ["d/a: 1", "d/b: 1", "d/c: 1"]);

    let plain = World::new();
    let error = plain.run(undelete(None)).await.unwrap_err();
    assert!(error.to_string().contains("`s3://bucket` has no versions"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn more_than_the_limit_removes_nothing() {
    let limited = |spec: TransferSpec, max_delete| {
        let sync = SyncOptions { max_delete, ..SyncOptions::default() };
        TransferSpec { sync, ..spec }
    };
    let world = some_versions().await;
    let all = removal(&world, "s3://bucket/", ALL);
    let plain = TransferSpec { versions: None, ..all.clone() };
    for (spec, limit, told) in [
        (&all, RemovalLimit::Count(6), "7 versions and delete markers would be removed"),
        (&plain, RemovalLimit::Count(2), "3 objects would be removed"),
        (&plain, RemovalLimit::Percent(99.0), "3 of 3 objects would be removed"),
        (&all, RemovalLimit::Percent(50.0), "more than 50 %"),
    ] {
        let summary = world.run(limited(spec.clone(), limit)).await.unwrap();
        assert!(summary.fatal && summary.done == 0, "{summary:?}");
        assert_eq!(world.log.count(told), 1, "{:?}", world.log.lines());
    }
    let one = world.spec(TransferCommand::Remove, "s3://bucket/e", None);
    assert!(world.run(limited(one, RemovalLimit::Count(0))).await.unwrap().fatal);
    let noncurrent = VersionRule::Noncurrent { keep: 0, older_than_s: None };
    let noncurrent = removal(&world, "s3://bucket/", noncurrent);
    // Three of seven.
    let summary = world.run(limited(noncurrent, RemovalLimit::Percent(50.0))).await.unwrap();
    assert_eq!((summary.done, summary.fatal), (3, false), "{:?}", world.log.lines());
    let summary = world.run(limited(all, RemovalLimit::Count(4))).await.unwrap();
    assert_eq!((summary.done, summary.fatal), (4, false));
    assert!(versions(&world).await.is_empty());
}

/// What earlier runs removed counts, and what has appeared since: behind where they were it would
/// be removed, before that it is left in place.
#[tokio::test(start_paused = true)]
async fn a_limit_holds_for_a_removal_that_is_resumed() {
    const NAMES: u32 = 3_000;
    for (appeared, limit, left) in [(600, 3_500, None), (500, 3_500, Some(1)), (500, 3_499, None)] {
        let world = World::new();
        for n in 0..NAMES {
            world.object(&format!("x/{n:05}"), b"1").await;
        }
        let latency = Latency { median_ms: 30.0, ..Latency::default() };
        world.sim.weather().set_scenario(Some(Scenario { latency, ..Scenario::default() }));
        let spec = |world: &World, journal| {
            let spec = world.spec(TransferCommand::Remove, "s3://bucket/x/", None);
            let max_delete = RemovalLimit::Count(limit);
            let sync = SyncOptions { max_delete, ..SyncOptions::default() };
            let tuning = Tuning { max_concurrent_requests: 1, ..Tuning::default() };
            TransferSpec { recursive: true, page_size: Some(100), sync, tuning, journal, ..spec }
        };
        let ledger = world.sim.ledger();
        let journals = tempfile::tempdir().unwrap();
        let (id, journal) = journal(journals.path());
        let killer = async {
            while ledger.count("DeleteObjects") < 2 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            _ = world.run(spec(&world, Some(journal))) => panic!("it should not have ended"),
            () = killer => {}
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        world.object("x/+before", b"1").await;
        for n in 0..appeared {
            world.object(&format!("x/new{n:05}"), b"1").await;
        }
        let there = world.keys().await.len();
        let later = world.under("http://127.0.0.1:9000");
        let resumed = Journal::resume(journals.path(), &id).unwrap().journal;
        let summary = later.run(spec(&later, Some(resumed))).await.unwrap();
        assert_eq!(summary.fatal, left.is_none(), "{appeared} {limit} {summary:?}");
        assert_eq!(world.keys().await.len(), left.unwrap_or(there), "{appeared} {limit}");
    }
}

/// Lets the removal of all noncurrent versions, so many, be refused; gives the job.
async fn refused(world: &World, count: u64) -> TransferSpec {
    let effect = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(effect).operation("DeleteObjects").always());
    let noncurrent = VersionRule::Noncurrent { keep: 0, older_than_s: None };
    let spec = removal(world, "s3://bucket/", noncurrent);
    assert_eq!(world.run(spec.clone()).await.unwrap().failed, count);
    world.sim.weather().clear();
    spec
}

/// Removes the current version of an object for good.
async fn remove_current(world: &World, key: &str) {
    let head = HeadObject { bucket: "bucket", key, ..HeadObject::default() };
    let current = world.client.head_object(head).await.unwrap().version_id;
    let version_id = current.as_deref();
    let removal = DeleteObject { bucket: "bucket", key, version_id, ..DeleteObject::default() };
    world.client.delete_object(removal).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_version_that_was_not_removed_is_removed_the_next_time() {
    let world = some_versions().await;
    let spec = refused(&world, 3).await;
    put(&world, "d/a", 7).await;
    let names: Arc<dyn NameSource> = Arc::new(Held(world.log.failed()));
    world.sim.ledger().clear();
    let retry = TransferSpec { names: Some(names), ..spec.clone() };
    assert_eq!(world.run(retry).await.unwrap().done, 3, "{:?}", world.log.lines());
    assert_eq!(world.sim.ledger().count("ListObjectVersions"), 2, "each key is listed once");
    // Exactly those, although another one is not current any more.
    assert_eq!(versions(&world).await, ["d/a: 7 3", "d/a2: 9", "d/b: x", "e: 5"]);
    // A name without a version would be the current one.
    let mut failed = world.log.failed();
    if let s3haul::location::Location::Object(name) = &mut failed[0].source {
        name.version_id = None;
    }
    let names: Arc<dyn NameSource> = Arc::new(Held(failed));
    let summary = world.run(TransferSpec { names: Some(names), ..spec }).await.unwrap();
    assert!(summary.fatal && summary.done == 0, "{summary:?}");
}

#[tokio::test(start_paused = true)]
async fn an_old_version_that_is_current_by_now_is_not_removed() {
    let world = some_versions().await;
    let spec = refused(&world, 3).await;
    remove_current(&world, "d/a").await;
    let names: Arc<dyn NameSource> = Arc::new(Held(world.log.failed()));
    let summary = world.run(TransferSpec { names: Some(names), ..spec }).await.unwrap();
    assert_eq!((summary.done, summary.warnings), (2, 1), "{:?}", world.log.lines());
    assert_eq!(versions(&world).await, ["d/a: 2", "d/a2: 9", "d/b: x", "e: 5"]);
}

/// The rows may be those of another command, or edited.
#[tokio::test(start_paused = true)]
async fn what_never_was_a_delete_marker_is_not_removed_as_one() {
    for is_planned in [false, true] {
        let world = some_versions().await;
        let spec = refused(&world, 3).await;
        let mut failed = world.log.failed();
        for named in failed.iter_mut().filter(|_| is_planned) {
            named.expected = Some(Expected::new(State::default(), TargetState::Unknown));
        }
        let names: Arc<dyn NameSource> = Arc::new(Held(failed));
        let markers = Some(VersionRule::DeleteMarkers { older_than_s: None });
        let retry = TransferSpec { names: Some(names), versions: markers, ..spec };
        let summary = world.run(retry).await.unwrap();
        let told = (summary.done, summary.warnings, summary.failed);
        let expected = if is_planned { (0, 0, 3) } else { (0, 3, 0) };
        assert_eq!(told, expected, "{:?}", world.log.lines());
        assert_eq!(versions(&world).await, ["d/a: 3 2 1", "d/a2: 9", "d/b: x 4", "e: 5"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_removal_of_versions_obeys_the_conditions_of_this_run() {
    let noncurrent = |keep, older_than_s| VersionRule::Noncurrent { keep, older_than_s };
    let all = noncurrent(0, None);
    let large = Conditions { size_min: Some(2), ..Conditions::default() };
    let cold = Conditions { storage_classes: vec!["GLACIER".to_owned()], ..Conditions::default() };
    for (rule, conditions, left) in [
        (noncurrent(1, None), Conditions::default(), ["d/a: 3 2", "d/b: x 4"]),
        (noncurrent(0, Some(0)), Conditions::default(), ["d/a: 3 2 1", "d/b: x 4"]),
        (
            VersionRule::All { older_than_s: Some(0) },
            Conditions::default(),
            ["d/a: 3 2 1", "d/b: x 4"],
        ),
        (all, large, ["d/a: 3 1", "d/b: x"]),
        (all, cold, ["d/a: 3 2 1", "d/b: x 4"]),
        (all, Conditions::default(), ["d/a: 3", "d/b: x"]),
    ] {
        let world = some_versions().await;
        let spec = refused(&world, 3).await;
        let names: Arc<dyn NameSource> = Arc::new(Held(world.log.failed()));
        let retry = TransferSpec { names: Some(names), versions: Some(rule), conditions, ..spec };
        let summary = world.run(retry).await.unwrap();
        assert_eq!(summary.done + summary.warnings, 3, "{:?}", world.log.lines());
        assert_eq!(versions(&world).await, [left[0], "d/a2: 9", left[1], "e: 5"], "{rule:?}");
    }
}

/// Without the marker the key would be back.
#[tokio::test(start_paused = true)]
async fn an_old_delete_marker_that_is_current_by_now_is_not_removed() {
    let world = versioned().await;
    put(&world, "k", 1).await;
    delete(&world, "k").await;
    put(&world, "k", 2).await;
    let spec = refused(&world, 2).await;
    remove_current(&world, "k").await;
    world.sim.ledger().clear();
    let names: Arc<dyn NameSource> = Arc::new(Held(world.log.failed()));
    let summary = world.run(TransferSpec { names: Some(names), ..spec }).await.unwrap();
    assert_eq!((summary.done, summary.warnings), (1, 1), "{:?}", world.log.lines());
    assert_eq!(versions(&world).await, ["k: x"]);
    assert_eq!(world.sim.ledger().count("ListObjectVersions"), 2, "one of them is the test's");
}

/// A small and a large object that are replaced, one that is removed, and one that is new; gives
/// the time before, and the bytes of the large one at that time.
async fn changed_since() -> (World, i64, Vec<u8>) {
    let world = versioned().await;
    let large = bytes(2 * PART as usize + 1000, 3);
    let properties = ObjectProperties {
        metadata: Some(vec![("colour".to_owned(), "blue".to_owned())]),
        tagging: Some("a=1".to_owned()),
        ..ObjectProperties::default()
    };
    world.object_with("d/large", &large, &properties).await;
    world.object_with("d/small", b"old", &properties).await;
    world.object("d/removed", b"was here").await;
    world.object("d/same", b"same").await;
    let at_s = moment(&world).await;
    world.object("d/large", &bytes(large.len(), 4)).await;
    world.object("d/small", b"new").await;
    world.object("d/new", b"not yet").await;
    delete(&world, "d/removed").await;
    (world, at_s, large)
}

#[tokio::test(start_paused = true)]
async fn a_bucket_comes_down_as_it_was() {
    let (world, at_s, large) = changed_since().await;
    for command in [TransferCommand::Copy, TransferCommand::Sync, TransferCommand::Sync] {
        world.sim.ledger().clear();
        let summary = world.run(as_of(&world, command, "out", at_s)).await.unwrap();
        assert!(!summary.fatal && summary.failed == 0, "{:?}", world.log.lines());
        assert_eq!(world.files(), ["out/large", "out/removed", "out/same", "out/small"]);
        assert_eq!(std::fs::read(world.path("out/large")).unwrap(), large);
        assert_eq!(std::fs::read(world.path("out/small")).unwrap(), b"old");
    }
    assert_eq!(world.sim.ledger().count("GetObject"), 0, "it is there already");
    world.run(as_of(&world, TransferCommand::Sync, "out", at_s + 4)).await.unwrap();
    assert_eq!(world.files(), ["out/large", "out/new", "out/same", "out/small"]);
    assert_eq!(std::fs::read(world.path("out/small")).unwrap(), b"new");
}

#[tokio::test(start_paused = true)]
async fn a_bucket_is_copied_as_it_was_by_the_server_and_through_this_machine() {
    for is_far in [false, true] {
        let (world, at_s, large) = changed_since().await;
        let far = if is_far { World::at("http://127.0.0.1:9001") } else { world.under(URL) };
        for command in [TransferCommand::Copy, TransferCommand::Sync] {
            let spec = as_of(&world, command, "s3://bucket/to", at_s);
            let summary = world.run_to(&far, spec).await;
            assert!(!summary.fatal && summary.failed == 0, "{:?}", world.log.lines());
            let keys = far.keys().await;
            let keys: Vec<_> = keys.iter().filter(|key| key.starts_with("to/")).collect();
            assert_eq!(keys, ["to/large", "to/removed", "to/same", "to/small"]);
            assert_eq!(far.get("to/large").await.unwrap(), large);
            assert_eq!(far.get("to/small").await.unwrap(), b"old");
            for key in ["to/large", "to/small"] {
                let head = far.head(key).await;
                assert_eq!(head.properties.metadata.unwrap()[0].1, "blue", "{key}");
                let tags = far.client.get_object_tagging("bucket", key, None).await.unwrap();
                assert_eq!(tags.len(), 1, "{key}");
            }
            far.object("to/small", b"odd").await;
            far.object("to/more", b"gone with the sync").await;
            delete(&far, "to/more").await;
        }
    }
}

const URL: &str = "http://127.0.0.1:9000";

#[tokio::test(start_paused = true)]
async fn a_prefix_is_put_back_to_what_it_was() {
    let (world, at_s, large) = changed_since().await;
    let spec = as_of(&world, TransferCommand::Sync, "s3://bucket/d", at_s);
    let told = |summary: &Summary| (summary.done, summary.failed, summary.fatal);
    let summary = world.run(spec.clone()).await.unwrap();
    // Two are replaced, one is there again, one is removed, one stays.
    assert_eq!(told(&summary), (4, 0, false), "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["d/large", "d/removed", "d/same", "d/small"]);
    assert_eq!(world.get("d/large").await.unwrap(), large);
    assert_eq!(world.get("d/small").await.unwrap(), b"old");
    let tags = world.client.get_object_tagging("bucket", "d/large", None).await.unwrap();
    assert_eq!(tags.len(), 1);
    let summary = world.run(spec).await.unwrap();
    assert_eq!(told(&summary), (0, 0, false), "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn what_failed_to_come_as_it_was_comes_so_the_next_time() {
    let (world, at_s, _) = changed_since().await;
    let effect = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(effect).operation("GetObject").key("d/small").always());
    let spec = as_of(&world, TransferCommand::Sync, "out", at_s);
    assert_eq!(world.run(spec.clone()).await.unwrap().failed, 1);
    world.sim.weather().clear();
    let names: Arc<dyn NameSource> = Arc::new(Held(world.log.failed()));
    let summary = world.run(TransferSpec { names: Some(names), ..spec }).await.unwrap();
    assert_eq!((summary.done, summary.failed), (1, 0), "{:?}", world.log.lines());
    assert_eq!(std::fs::read(world.path("out/small")).unwrap(), b"old");
}

/// They were left, "because the source has it by now": the current objects were asked.
#[tokio::test(start_paused = true)]
async fn removals_are_asked_of_the_source_as_it_was() {
    for is_empty_now in [false, true] {
        let (world, at_s, _) = changed_since().await;
        if is_empty_now {
            for key in ["d/large", "d/small", "d/new", "d/same"] {
                delete(&world, key).await;
            }
        }
        let files = ["out/new", "out/removed", "out/same"];
        for name in files {
            world.file(name, b"1");
        }
        let removal = |name: &&str| Named {
            action: ActionKind::Delete,
            source: Location::Local(world.path(name)),
            target: None,
            collides: false,
            expected: None,
        };
        let names: Arc<dyn NameSource> = Arc::new(Held(files.iter().map(removal).collect()));
        let spec = as_of(&world, TransferCommand::Sync, "out", at_s);
        let spec = TransferSpec { names: Some(names), ..spec };
        let summary = world.run(spec.clone()).await.unwrap();
        assert_eq!((summary.done, summary.warnings), (1, 2), "{:?}", world.log.lines());
        assert_eq!(world.files(), ["out/removed", "out/same"]);
        // Before that the source had nothing, and a source that has nothing empties nothing.
        let before = Some(VersionRule::AsOf { at_s: at_s - 60 });
        let summary = world.run(TransferSpec { versions: before, ..spec }).await.unwrap();
        assert!(summary.fatal, "{:?}", world.log.lines());
        assert_eq!(world.files(), ["out/removed", "out/same"]);
    }
}

#[tokio::test(start_paused = true)]
async fn keys_that_are_no_names_of_files_meet_those_of_their_time() {
    let world = versioned().await;
    world.object("d/a/b", b"plain").await;
    world.object("d/a//b", b"odd").await;
    world.object("d/c//d", b"odd").await;
    let at_s = moment(&world).await;
    delete(&world, "d/a/b").await;
    world.object("d/c/d", b"plain").await;
    let summary = world.run(as_of(&world, TransferCommand::Copy, "out", at_s)).await.unwrap();
    assert_eq!((summary.done, summary.failed), (2, 1), "{:?}", world.log.lines());
    assert_eq!(std::fs::read(world.path("out/a/b")).unwrap(), b"plain");
    assert_eq!(std::fs::read(world.path("out/c/d")).unwrap(), b"odd");
}

#[tokio::test(start_paused = true)]
async fn one_object_is_read_as_it_was() {
    let (world, at_s, large) = changed_since().await;
    let one = |key: &str, target: &str| TransferSpec {
        source: format!("s3://bucket/{key}"),
        recursive: false,
        ..as_of(&world, TransferCommand::Copy, target, at_s)
    };
    for (key, expected) in
        [("d/small", &b"old"[..]), ("d/large", &large), ("d/removed", b"was here")]
    {
        world.run(one(key, "one")).await.unwrap();
        assert_eq!(std::fs::read(world.path("one")).unwrap(), expected, "{key}");
        world.run(one(key, "s3://bucket/one")).await.unwrap();
        assert_eq!(world.get("one").await.unwrap(), expected, "{key}");
    }
    let output = tempfile::NamedTempFile::new().unwrap();
    let streams =
        Streams { input: Box::new(std::io::empty()), output: Box::new(output.reopen().unwrap()) };
    let summary = world.run_with(one("d/large", "-"), streams).await.unwrap();
    assert_eq!(summary.done, 1, "{:?}", world.log.lines());
    assert!(std::fs::read(output.path()).unwrap() == large);
    let summary = world.run(one("d/new", "one")).await.unwrap();
    assert!(summary.fatal && world.log.count("did not exist at that time") == 1);
}

#[tokio::test(start_paused = true)]
async fn the_past_of_a_bucket_without_versions_is_not_known() {
    let world = World::new();
    world.object("d/a", b"1").await;
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let spec = as_of(&world, TransferCommand::Sync, "out", now_s as i64 + 5);
    let error = world.run(spec.clone()).await.unwrap_err();
    assert!(error.to_string().contains("--as-of"), "{error}");
    // Without permission to look it up, the job goes on with a warning.
    let effect = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(effect).operation("GetBucketVersioning").always());
    let summary = world.run(spec).await.unwrap();
    assert_eq!((summary.done, summary.warnings), (1, 1), "{:?}", world.log.lines());
}
