//! `--preserve`: times and modes of files in metadata, and back.

use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::{Duration, SystemTime};

use s3haul::job::{Rule, SyncOptions, TransferCommand, TransferSpec};
use s3haul::journal::Journal;
use s3haul_sim::{Effect, Fault};
use s3haul_wire::ObjectProperties;

use crate::load::journal;
use crate::world::{PART, World, bytes};

const LARGE: usize = 2 * PART as usize + 1000;

fn time() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::new(1_354_040_105, 123_456_700)
}

/// A small and a large file with an odd time and mode.
fn laid_out() -> World {
    let world = World::new();
    for (name, size) in [("in/small", 5), ("in/large", LARGE)] {
        world.file(name, &bytes(size, 1));
        let path = world.path(name);
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time()).unwrap();
    }
    world
}

fn spec(world: &World, source: &str, target: &str) -> TransferSpec {
    let spec = world.spec(TransferCommand::Copy, source, Some(target));
    TransferSpec { recursive: true, preserve: true, ..spec }
}

fn metadata(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

#[tokio::test(start_paused = true)]
async fn times_and_modes_go_up_and_come_back() {
    let world = laid_out();
    let summary = world.run(spec(&world, "in", "s3://bucket/x")).await.unwrap();
    assert_eq!(summary.done, 2, "{:?}", world.log.lines());
    let stat = std::fs::metadata(world.path("in/small")).unwrap();
    let (user, group) = (stat.uid().to_string(), stat.gid().to_string());
    let expected = metadata(&[
        ("gid", &group),
        ("mode", "100640"),
        ("mtime", "1354040105.1234567"),
        ("uid", &user),
    ]);
    for key in ["x/small", "x/large"] {
        assert_eq!(world.head(key).await.properties.metadata.unwrap(), expected, "{key}");
    }
    // Over to another place, and down from there.
    world.run(spec(&world, "s3://bucket/x", "s3://bucket/y")).await.unwrap();
    world.run(spec(&world, "s3://bucket/y", "out")).await.unwrap();
    for name in ["out/small", "out/large"] {
        let stat = std::fs::metadata(world.path(name)).unwrap();
        assert_eq!(stat.permissions().mode() & 0o7777, 0o640, "{name}");
        assert_eq!(stat.modified().unwrap(), time(), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_flag_nothing_is_kept() {
    let world = laid_out();
    world.run(spec(&world, "in", "s3://bucket/x")).await.unwrap();
    world.cp_tree("s3://bucket/x", "out").await;
    for name in ["out/small", "out/large"] {
        let stat = std::fs::metadata(world.path(name)).unwrap();
        assert_ne!(stat.modified().unwrap(), time(), "{name}");
        assert_ne!(stat.permissions().mode() & 0o777, 0o640, "{name}");
    }
    world.cp_tree("in", "s3://bucket/plain").await;
    assert_eq!(world.head("plain/small").await.properties.metadata.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn metadata_of_the_user_stays_and_each_file_has_its_own() {
    let world = laid_out();
    world.file("in/other", b"1");
    let properties = ObjectProperties {
        metadata: Some(metadata(&[("colour", "blue"), ("uid", "me")])),
        ..ObjectProperties::default()
    };
    let mut spec = spec(&world, "in", "s3://bucket/x");
    spec.properties = properties;
    // One sender, so that all small files go through the same hands.
    spec.tuning.max_concurrent_requests = 1;
    world.run(spec).await.unwrap();
    for (key, is_old) in [("x/small", true), ("x/other", false), ("x/large", true)] {
        let found = world.head(key).await.properties.metadata.unwrap();
        let value = |name: &str| {
            let found: Vec<_> = found.iter().filter(|pair| pair.0 == name).collect();
            assert_eq!(found.len(), 1, "{name} {key}");
            found[0].1.clone()
        };
        assert_eq!((value("colour"), value("uid")), ("blue".to_owned(), "me".to_owned()), "{key}");
        assert_eq!(value("mtime") == "1354040105.1234567", is_old, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_permissions_are_restored() {
    let world = World::new();
    for (key, mode) in [("setuid", "104755"), ("decimal", "33152"), ("nonsense", "drwx")] {
        let properties = ObjectProperties {
            metadata: Some(metadata(&[("mode", mode), ("uid", "0"), ("mtime", "long ago")])),
            ..ObjectProperties::default()
        };
        world.object_with(key, b"1", &properties).await;
    }
    world.object("plain", b"1").await;
    let summary = world.run(spec(&world, "s3://bucket", "out")).await.unwrap();
    assert_eq!((summary.done, summary.warnings), (4, 0), "{:?}", world.log.lines());
    let mode = |name: &str| {
        let path = world.path(&format!("out/{name}"));
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    };
    assert_eq!((mode("setuid"), mode("decimal")), (0o755, 0o600));
    assert_eq!(mode("nonsense"), mode("plain"));
}

/// All ranges of the file were there, and what it keeps came with none of them any more.
#[tokio::test(start_paused = true)]
async fn what_a_resumed_download_has_whole_already_keeps_its_time_and_mode() {
    let world = laid_out();
    world.run(spec(&world, "in", "s3://bucket/x")).await.unwrap();
    let weather = world.sim.weather();
    weather.push(Fault::new(Effect::slow_down()).operation("HeadObject").times(1000));
    let journals = tempfile::tempdir().unwrap();
    let (id, journal) = journal(journals.path());
    let down = spec(&world, "s3://bucket/x", "out");
    let summary = world.run(TransferSpec { journal: Some(journal), ..down.clone() }).await.unwrap();
    assert_eq!(world.log.failed().len(), 1, "{summary:?}");

    let later = world.under("http://127.0.0.1:9000");
    later.sim.weather().clear();
    later.sim.ledger().clear();
    let journal = Journal::resume(journals.path(), &id).unwrap().journal;
    let summary = later.run(TransferSpec { journal: Some(journal), ..down }).await.unwrap();
    assert_eq!((summary.done, summary.failed), (1, 0), "{:?}", later.log.lines());
    assert_eq!(later.sim.ledger().count("GetObject"), 0);
    let stat = std::fs::metadata(world.path("out/large")).unwrap();
    assert_eq!(stat.permissions().mode() & 0o7777, 0o640);
    assert_eq!(stat.modified().unwrap(), time());
}

#[tokio::test(start_paused = true)]
async fn a_sync_compares_the_times_that_are_kept() {
    let world = laid_out();
    world.file("in/empty", b"");
    let sync = async |source: &str, target: &str, rule| {
        let sync = SyncOptions { rule, ..SyncOptions::default() };
        let spec = world.spec(TransferCommand::Sync, source, Some(target));
        let summary = world.run(TransferSpec { sync, preserve: true, ..spec }).await.unwrap();
        assert!(!summary.fatal && summary.failed == 0, "{:?}", world.log.lines());
        summary.done
    };
    let set = |name: &str, time: SystemTime| {
        File::options().write(true).open(world.path(name)).unwrap().set_modified(time).unwrap();
    };
    for rule in [Rule::SizeAndTime, Rule::ExactTimes, Rule::NewerSource] {
        let x = format!("s3://bucket/{rule:?}");
        let out = format!("out-{rule:?}");
        assert_eq!(sync("in", &x, rule).await, 3);
        assert_eq!(sync("in", &x, rule).await, 0);
        assert_eq!(sync(&x, &out, rule).await, 3);
        // What came down has the time of what went up, and nothing is to be done either way.
        assert_eq!(sync(&x, &out, rule).await, 0, "{rule:?}");
        assert_eq!(sync(&out, &x, rule).await, 0, "{rule:?}");
        // An older file of the same size, which no listing shows.
        set(&format!("{out}/small"), time() - Duration::from_secs(100));
        let is_different = u64::from(rule != Rule::NewerSource);
        assert_eq!(sync(&out, &x, rule).await, is_different, "{rule:?}");
        set(&format!("{out}/small"), time() - Duration::from_secs(200));
        assert_eq!(sync(&x, &out, rule).await, 1, "{rule:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sync_without_kept_times_goes_by_the_listing() {
    let world = laid_out();
    world.object("x/small", b"12345").await;
    let spec = world.spec(TransferCommand::Sync, "in", Some("s3://bucket/x"));
    let spec = TransferSpec { preserve: true, ..spec };
    // The file is older than the object: to `aws s3 sync` that is the same.
    assert_eq!(world.run(spec.clone()).await.unwrap().done, 1, "{:?}", world.log.lines());
    let refusal = Fault::new(Effect::respond(403, "AccessDenied"));
    world.sim.weather().push(refusal.operation("HeadObject").key("x/small").times(1));
    let summary = world.run(spec).await.unwrap();
    assert_eq!((summary.done, summary.failed), (0, 1), "{:?}", world.log.lines());
}
