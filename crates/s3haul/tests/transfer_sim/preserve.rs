//! `--preserve`: times and modes of files in metadata, and back.

use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::{Duration, SystemTime};

use s3haul::job::{TransferCommand, TransferSpec};
use s3haul::s3::ObjectProperties;

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
