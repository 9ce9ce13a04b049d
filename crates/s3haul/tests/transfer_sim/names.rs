//! Jobs that take their names from an earlier run: only these are asked for and done.

use std::sync::Arc;

use s3haul::event::ActionKind;
use s3haul::job::{
    Conditions, FilterRule, NameSource, Named, Summary, SyncOptions, TransferCommand, TransferSpec,
};
use s3haul::location::{Location, ObjectName};
use s3haul_sim::{Effect, Fault};

use crate::world::{Held, PART, World, bytes};

/// Lets all requests about some keys be refused.
fn refuse(world: &World, operation: &str, keys: &[&str]) {
    for key in keys {
        let effect = Effect::respond(403, "AccessDenied");
        world.sim.weather().push(Fault::new(effect).operation(operation).key(key).always());
    }
}

/// Does what failed once more, in good weather and with a clean ledger.
async fn retry(world: &World, spec: TransferSpec) -> Summary {
    world.sim.weather().clear();
    world.sim.ledger().clear();
    let names = Some(Arc::new(Held(world.log.failed())) as Arc<dyn NameSource>);
    world.run(TransferSpec { names, ..spec }).await.unwrap()
}

/// Operations and keys of the ledger, sorted.
fn sent(world: &World) -> Vec<String> {
    let records = world.sim.ledger().records();
    let mut sent: Vec<_> =
        records.iter().map(|record| format!("{} {}", record.operation, record.key)).collect();
    sent.sort();
    sent
}

#[tokio::test(start_paused = true)]
async fn only_what_failed_goes_up_again() {
    let world = World::new();
    for name in ["a", "b", "c/d", "e"] {
        world.file(&format!("in/{name}"), name.as_bytes());
    }
    world.file("in/large", &bytes(PART as usize + 1, 1));
    refuse(&world, "PutObject", &["up/b", "up/c/d", "up/e"]);
    refuse(&world, "UploadPart", &["up/large"]);
    let spec = TransferSpec {
        recursive: true,
        ..world.spec(TransferCommand::Move, "in", Some("s3://bucket/up"))
    };
    let summary = world.run(spec.clone()).await.unwrap();
    assert_eq!((summary.done, summary.failed), (1, 4), "{:?}", world.log.lines());
    std::fs::remove_file(world.path("in/e")).unwrap();
    world.file("in/new", b"it is not in the report");
    let summary = retry(&world, spec).await;
    let told = (summary.done, summary.failed, summary.warnings);
    assert_eq!(told, (3, 0, 1), "{:?}", world.log.lines());
    assert_eq!(
        sent(&world),
        [
            "CompleteMultipartUpload up/large",
            "CreateMultipartUpload up/large",
            "PutObject up/b",
            "PutObject up/c/d",
            "UploadPart up/large",
            "UploadPart up/large",
        ]
    );
    assert_eq!(world.files(), ["in/new"]);
}

/// A move removes its source.
#[tokio::test(start_paused = true)]
async fn a_retry_moves_nothing_that_is_left_out_by_now() {
    let large = Conditions { size_min: Some(2), ..Conditions::default() };
    let without = vec![FilterRule::Exclude("a".to_owned())];
    for (source, target) in
        [("in", "s3://bucket/up"), ("s3://bucket/x", "out"), ("s3://bucket/x", "s3://bucket/y")]
    {
        for (filters, conditions) in
            [(without.clone(), Conditions::default()), (vec![], large.clone())]
        {
            let world = World::new();
            for (name, bytes) in [("a", "1"), ("b", "22")] {
                world.file(&format!("in/{name}"), bytes.as_bytes());
                world.object(&format!("x/{name}"), bytes.as_bytes()).await;
            }
            for operation in ["PutObject", "GetObject", "CopyObject"] {
                let effect = Effect::respond(403, "AccessDenied");
                world.sim.weather().push(Fault::new(effect).operation(operation).always());
            }
            let spec = TransferSpec {
                recursive: true,
                ..world.spec(TransferCommand::Move, source, Some(target))
            };
            assert_eq!(world.run(spec.clone()).await.unwrap().failed, 2);
            let summary = retry(&world, TransferSpec { filters, conditions, ..spec }).await;
            let told = (summary.done, summary.failed, summary.warnings);
            assert_eq!(told, (1, 0, 1), "{source} {target} {:?}", world.log.lines());
            let (files, keys) = (world.files(), world.keys().await);
            let is_left = files.contains(&"in/a".to_owned()) && keys.contains(&"x/a".to_owned());
            assert!(is_left, "{source} {target} {files:?} {keys:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_failed_comes_down_or_is_copied_again() {
    for (target, operation) in [("out", "GetObject"), ("s3://bucket/y", "CopyObject")] {
        let world = World::new();
        for key in ["x/a", "x/b", "x/c//odd", "x/gone"] {
            world.object(key, key.as_bytes()).await;
        }
        let prefix = if operation == "GetObject" { "x" } else { "y" };
        let keys = ["b", "c//odd", "gone"].map(|name| format!("{prefix}/{name}"));
        refuse(&world, operation, &keys.each_ref().map(String::as_str));
        let spec = TransferSpec {
            recursive: true,
            ..world.spec(TransferCommand::Copy, "s3://bucket/x", Some(target))
        };
        let summary = world.run(spec.clone()).await.unwrap();
        assert_eq!((summary.done, summary.failed), (1, 3), "{:?}", world.log.lines());
        let remove = world.spec(TransferCommand::Remove, "s3://bucket/x/gone", None);
        world.run(remove).await.unwrap();
        let summary = retry(&world, spec).await;
        let told = (summary.done, summary.failed, summary.warnings);
        assert_eq!(told, (2, 0, 1), "{:?}", world.log.lines());
        assert_eq!(
            world.log.count("warning: Skipping file s3://bucket/x/gone. It is no longer"),
            1
        );
        let heads = ["x/c//odd", "x/b", "x/gone"].map(|key| format!("HeadObject {key}"));
        let again = keys[..2].iter().map(|key| format!("{operation} {key}"));
        let mut expected: Vec<_> = heads.into_iter().chain(again).collect();
        if operation == "GetObject" {
            // Whether `x/c/odd` would be the same file.
            expected.push("ListObjectsV2 ".to_owned());
        }
        expected.sort();
        assert_eq!(sent(&world), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_not_removed_is_removed_without_a_listing() {
    let world = World::new();
    for key in ["x/a", "x/b", "y"] {
        world.object(key, b"1").await;
    }
    let effect = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(effect).operation("DeleteObjects").always());
    let spec = TransferSpec {
        recursive: true,
        ..world.spec(TransferCommand::Remove, "s3://bucket/x", None)
    };
    assert_eq!(world.run(spec.clone()).await.unwrap().failed, 2);
    assert_eq!(retry(&world, spec).await.done, 2, "{:?}", world.log.lines());
    assert_eq!(sent(&world), ["DeleteObjects "]);
    assert_eq!(world.keys().await, ["y"]);
}

#[tokio::test(start_paused = true)]
async fn a_sync_does_not_remove_what_its_source_has_by_now() {
    let world = World::new();
    world.file("in/a", b"1");
    for key in ["x/back", "x/gone", "x/other"] {
        world.object(key, b"2").await;
    }
    refuse(&world, "PutObject", &["x/a"]);
    let effect = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(effect).operation("DeleteObjects").always());
    let sync = SyncOptions { delete: true, ..SyncOptions::default() };
    let spec =
        TransferSpec { sync, ..world.spec(TransferCommand::Sync, "in", Some("s3://bucket/x")) };
    let summary = world.run(spec.clone()).await.unwrap();
    assert_eq!(summary.failed, 4, "{:?}", world.log.lines());
    world.file("in/back", b"3");
    let summary = retry(&world, spec).await;
    let told = (summary.done, summary.failed, summary.warnings);
    assert_eq!(told, (3, 0, 1), "{:?}", world.log.lines());
    assert!(world.log.reported_totals(2), "{:?}", world.log.lines());
    let expected = ["DeleteObjects ", "HeadObject x/gone", "HeadObject x/other", "PutObject x/a"];
    assert_eq!(sent(&world), expected);
    assert_eq!(world.keys().await, ["x/a", "x/back"]);
}

#[tokio::test(start_paused = true)]
async fn names_of_elsewhere_end_the_job() {
    let world = World::new();
    world.object("x/a", b"1").await;
    world.object("other/a", b"1").await;
    let object = |bucket: &str, key: &str| Location::Object(ObjectName::new(bucket, key));
    let spec = TransferSpec {
        recursive: true,
        ..world.spec(TransferCommand::Copy, "s3://bucket/x", Some("s3://bucket/y"))
    };
    for (source, target) in [
        (object("bucket", "other/a"), object("bucket", "y/a")),
        (object("elsewhere", "x/a"), object("bucket", "y/a")),
        (object("bucket", "x/a"), object("bucket", "z/a")),
        (object("bucket", "x/a"), object("elsewhere", "y/a")),
        (Location::Local("/x/a".into()), object("bucket", "y/a")),
    ] {
        let named = Named {
            action: ActionKind::Copy,
            source,
            target: Some(target),
            collides: false,
            expected: None,
        };
        let names = Some(Arc::new(Held(vec![named])) as Arc<dyn NameSource>);
        let summary = world.run(TransferSpec { names, ..spec.clone() }).await.unwrap();
        assert!(summary.fatal && summary.done == 0, "{:?}", world.log.lines());
    }
    assert_eq!(world.keys().await, ["other/a", "x/a"]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_has_nothing_by_now_empties_nothing() {
    let world = World::new();
    for key in ["s/a", "x/a", "x/gone", "x/other"] {
        world.object(key, b"1").await;
    }
    let effect = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(effect).operation("DeleteObjects").always());
    let sync = SyncOptions { delete: true, ..SyncOptions::default() };
    let spec = |sync| TransferSpec {
        sync,
        ..world.spec(TransferCommand::Sync, "s3://bucket/s", Some("s3://bucket/x"))
    };
    assert_eq!(world.run(spec(sync.clone())).await.unwrap().failed, 2);
    world.run(world.spec(TransferCommand::Remove, "s3://bucket/s/a", None)).await.unwrap();
    let summary = retry(&world, spec(sync.clone())).await;
    assert!(summary.fatal && summary.done == 0, "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/a", "x/gone", "x/other"]);
    let sync = SyncOptions { allow_empty_source: true, ..sync };
    assert_eq!(retry(&world, spec(sync)).await.done, 2, "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/a"]);
}

/// What a filter leaves out is something, too.
#[tokio::test(start_paused = true)]
async fn a_source_of_which_a_filter_takes_nothing_is_not_empty() {
    for source in ["s3://bucket/s", "in"] {
        let world = World::new();
        world.file("in/y/1", b"1");
        for key in ["s/y/1", "t/x/1"] {
            world.object(key, b"1").await;
        }
        let removed = Location::Object(ObjectName::new("bucket", "t/x/1"));
        let action = ActionKind::Delete;
        let named =
            Named { action, source: removed, target: None, collides: false, expected: None };
        let filters = vec![FilterRule::Exclude("*".into()), FilterRule::Include("x/*".into())];
        let summary = removing(&world, (source, "s3://bucket/t"), vec![named], filters).await;
        assert_eq!((summary.done, summary.fatal), (1, false), "{:?}", world.log.lines());
        assert_eq!(world.keys().await, ["s/y/1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_path_that_leaves_the_folder_is_not_uploaded() {
    let world = World::new();
    world.file("in/a", b"1");
    world.file("secret", b"2");
    let source = Location::Local(world.path("in").join("../secret"));
    let target = Some(Location::Object(ObjectName::new("bucket", "up/../secret")));
    let named =
        Named { action: ActionKind::Upload, source, target, collides: false, expected: None };
    let names = Some(Arc::new(Held(vec![named])) as Arc<dyn NameSource>);
    let spec = world.spec(TransferCommand::Copy, "in", Some("s3://bucket/up"));
    let summary = world.run(TransferSpec { recursive: true, names, ..spec }).await.unwrap();
    assert!(summary.fatal && summary.done == 0, "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn a_removal_is_done_only_where_the_source_is_known_not_to_have_it() {
    let world = World::new();
    world.file("in/a", b"1");
    std::os::unix::fs::symlink("loop", world.path("in/loop")).unwrap();
    for key in ["x/gone", "x/kept/y", "x/loop/y"] {
        world.object(key, b"1").await;
    }
    let names = ["gone", "kept/y", "loop/y"].map(|name| {
        let source = Location::Object(ObjectName::new("bucket", format!("x/{name}")));
        Named { action: ActionKind::Delete, source, target: None, collides: false, expected: None }
    });
    let filters = vec![FilterRule::Exclude("kept/*".to_owned())];
    let summary = removing(&world, ("in", "s3://bucket/x"), names.into(), filters).await;
    let told = (summary.done, summary.failed, summary.warnings);
    assert_eq!(told, (1, 1, 1), "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/kept/y", "x/loop/y"]);
}

/// What was unlike what the conditions take then may be like it now, and the other way round.
#[tokio::test(start_paused = true)]
async fn a_removal_obeys_the_conditions_of_this_run() {
    let world = World::new();
    world.object("s/a", b"1").await;
    for (name, bytes) in [("large", "12345"), ("small", "1")] {
        world.object(&format!("x/{name}"), bytes.as_bytes()).await;
        world.file(&format!("out/{name}"), bytes.as_bytes());
    }
    for target in ["s3://bucket/x", "out"] {
        let names = ["large", "small"].map(|name| {
            let source = match target {
                "out" => Location::Local(world.path("out").join(name)),
                _ => Location::Object(ObjectName::new("bucket", format!("x/{name}"))),
            };
            Named {
                action: ActionKind::Delete,
                source,
                target: None,
                collides: false,
                expected: None,
            }
        });
        let spec = TransferSpec {
            names: Some(Arc::new(Held(names.into())) as Arc<dyn NameSource>),
            sync: SyncOptions { delete: true, ..SyncOptions::default() },
            conditions: Conditions { size_min: Some(2), ..Conditions::default() },
            ..world.spec(TransferCommand::Sync, "s3://bucket/s", Some(target))
        };
        let summary = world.run(spec).await.unwrap();
        assert_eq!((summary.done, summary.warnings), (1, 1), "{:?}", world.log.lines());
    }
    assert_eq!(world.keys().await, ["s/a", "x/small"]);
    assert_eq!(world.files(), ["out/small"]);
}

#[tokio::test(start_paused = true)]
async fn no_removal_hits_the_source() {
    let world = World::new();
    world.object("in/a", b"1").await;
    let source = Location::Object(ObjectName::new("bucket", "in/a"));
    let named =
        Named { action: ActionKind::Delete, source, target: None, collides: false, expected: None };
    let sides = ("s3://bucket/in", "s3://bucket");
    let summary = removing(&world, sides, vec![named], Vec::new()).await;
    assert_eq!((summary.done, summary.warnings), (0, 1), "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["in/a"]);
}

#[tokio::test(start_paused = true)]
async fn a_path_that_goes_up_is_not_removed() {
    let world = World::new();
    world.object("x/a", b"1").await;
    world.file("out/a", b"1");
    world.file("out/d/b", b"1");
    let source = Location::Local(world.path("out/d").join("../a"));
    let named =
        Named { action: ActionKind::Delete, source, target: None, collides: false, expected: None };
    let sides = ("s3://bucket/x", "out");
    let summary = removing(&world, sides, vec![named], Vec::new()).await;
    assert!(summary.fatal && summary.done == 0, "{:?}", world.log.lines());
    assert_eq!(world.files(), ["out/a", "out/d/b"]);
}

async fn removing(
    world: &World,
    (source, target): (&str, &str),
    names: Vec<Named>,
    filters: Vec<FilterRule>,
) -> Summary {
    let names = Some(Arc::new(Held(names)) as Arc<dyn NameSource>);
    let sync = SyncOptions { delete: true, ..SyncOptions::default() };
    let spec = world.spec(TransferCommand::Sync, source, Some(target));
    world.run(TransferSpec { names, sync, filters, ..spec }).await.unwrap()
}

/// Removals that a report names, as another run does them.
async fn remove_again(
    world: &World,
    (source, target): (&str, &str),
    names: Vec<Location>,
) -> Summary {
    let named = |source| Named {
        action: ActionKind::Delete,
        source,
        target: None,
        collides: false,
        expected: None,
    };
    let names = Held(names.into_iter().map(named).collect());
    let sync = SyncOptions { delete: true, ..SyncOptions::default() };
    let spec = TransferSpec {
        names: Some(Arc::new(names) as Arc<dyn NameSource>),
        sync,
        ..world.spec(TransferCommand::Sync, source, Some(target))
    };
    world.run(spec).await.unwrap()
}

/// They were left: the path of such a key leads to a file of another name.
#[tokio::test(start_paused = true)]
async fn a_folder_has_no_key_with_a_component_that_is_no_name() {
    let world = World::new();
    world.file("in/a", b"1");
    world.file("in/s/b", b"1");
    let keys = ["x/./a", "x/s//b", "x/s/../a", "x/s/b"];
    for key in keys {
        world.object(key, b"1").await;
    }
    let object = |key: &str| ObjectName {
        bucket: "bucket".to_owned(),
        key: key.to_owned(),
        version_id: None,
    };
    let names = keys.iter().map(|key| Location::Object(object(key))).collect();
    let summary = remove_again(&world, ("in", "s3://bucket/x"), names).await;
    assert_eq!((summary.done, summary.warnings), (3, 1), "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/s/b"]);
}

/// It was removed, because no key is spelled like it.
#[tokio::test(start_paused = true)]
async fn the_file_of_a_key_that_is_spelled_otherwise_is_not_removed_again() {
    let world = World::new();
    for key in ["x/a//b", "x/./c", "x/d//other", "x/e"] {
        world.object(key, b"1").await;
    }
    let files = ["out/a/b", "out/c", "out/d/b"];
    for name in files {
        world.file(name, b"1");
    }
    let names = files.iter().map(|name| Location::Local(world.path(name))).collect();
    let summary = remove_again(&world, ("s3://bucket/x", "out"), names).await;
    assert_eq!((summary.done, summary.warnings), (1, 2), "{:?}", world.log.lines());
    assert_eq!(world.files(), ["out/a/b", "out/c"]);
}
