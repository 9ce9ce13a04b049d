//! `sync` against the simulated wire.

use std::time::{Duration, SystemTime};

use s3haul::job::{
    FilterRule, RemovalLimit, Rule, Summary, SyncOptions, TransferCommand, TransferSpec,
};
use s3haul_sim::{Effect, Fault};
use s3haul_wire::ObjectProperties;

use crate::world::World;

fn spec(world: &World, source: &str, target: &str, sync: SyncOptions) -> TransferSpec {
    TransferSpec { sync, ..world.spec(TransferCommand::Sync, source, Some(target)) }
}

fn deleting() -> SyncOptions {
    SyncOptions { delete: true, ..SyncOptions::default() }
}

/// Sets a file's time: seconds before (negative) or after now.
fn age(world: &World, name: &str, seconds: i64) {
    let shift = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    let time = if seconds < 0 { now - shift } else { now + shift };
    std::fs::File::open(world.path(name)).unwrap().set_modified(time).unwrap();
}

async fn sync(world: &World, source: &str, target: &str, options: SyncOptions) -> Summary {
    world.run(spec(world, source, target, options)).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn only_what_differs_goes_up_and_only_asked_for_removals_are_done() {
    let world = World::new();
    for (name, bytes) in [("in/a", "1"), ("in/b/c", "22"), ("in/new", "3"), ("in/size", "4")] {
        world.file(name, bytes.as_bytes());
        age(&world, name, -3600);
    }
    for (key, bytes) in [("x/a", "1"), ("x/b/c", "22"), ("x/size", "44"), ("x/gone", "5")] {
        world.object(key, bytes.as_bytes()).await;
    }
    let summary = sync(&world, "in", "s3://bucket/x", SyncOptions::default()).await;
    assert_eq!(summary.done, 2, "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/a", "x/b/c", "x/gone", "x/new", "x/size"]);
    let summary = sync(&world, "in", "s3://bucket/x", deleting()).await;
    assert_eq!(summary.done, 1, "{:?}", world.log.lines());
    assert!(world.log.reported_totals(2), "totals are reported once planning is over");
    assert_eq!(world.keys().await, ["x/a", "x/b/c", "x/new", "x/size"]);
    age(&world, "in/a", 3600);
    let summary = sync(&world, "in", "s3://bucket/x", deleting()).await;
    assert_eq!(summary.done, 1, "a newer source goes up: {:?}", world.log.lines());
    let size_only = SyncOptions { rule: Rule::SizeOnly, ..deleting() };
    assert_eq!(sync(&world, "in", "s3://bucket/x", size_only).await.done, 0);
}

/// The file of `a//-x` is no leftover, though no key is spelled like it, and the place of its own
/// name comes before that key: removals that this could be wait for the end of the listing.
#[tokio::test(start_paused = true)]
async fn the_file_of_a_key_with_an_empty_component_is_not_removed() {
    let world = World::new();
    world.object("x/a/.between", b"1").await;
    world.object("x/a//-x", b"1").await;
    for n in 0..2500 {
        world.object(&format!("x/b/{n:04}"), b"1").await;
    }
    let limits = [RemovalLimit::Percent(50.0), RemovalLimit::Count(1), RemovalLimit::None];
    assert_eq!(sync(&world, "s3://bucket/x", "out", SyncOptions::default()).await.done, 2502);
    for max_delete in limits {
        let options = SyncOptions { max_delete, ..deleting() };
        let slow = Fault::new(Effect::Delay(Duration::from_secs(5)));
        world.sim.weather().push(slow.operation("ListObjectsV2").skip(1).times(4));
        world.file("out/a/b", b"1");
        let summary = sync(&world, "s3://bucket/x", "out", options).await;
        assert_eq!((summary.failed, summary.warnings), (0, 0), "{:?}", world.log.lines());
        assert!(world.path("out/a/-x").is_file(), "{:?}", world.log.lines());
        let removed: Vec<_> = world.log.lines();
        assert!(!removed.iter().any(|line| line.starts_with("Delete ") && line.contains("/-x ")));
        assert!(!world.path("out/a/b").exists());
    }
}

/// It is received no more, and what is there was received before.
#[tokio::test(start_paused = true)]
async fn the_file_of_an_archived_key_with_an_empty_component_is_not_removed() {
    let world = World::new();
    world.object("x/a/.between", b"1").await;
    let storage_class = Some("GLACIER".to_owned());
    let archived = ObjectProperties { storage_class, ..ObjectProperties::default() };
    world.object_with("x/a//-x", b"1", &archived).await;
    world.file("out/a/-x", b"1");
    let summary = sync(&world, "s3://bucket/x", "out", deleting()).await;
    assert_eq!((summary.done, summary.failed), (1, 0), "{:?}", world.log.lines());
    assert_eq!(world.files(), ["out/a/-x", "out/a/.between"]);
}

/// What a killed download left is nothing that anybody wants: it does not go up, and goes where a
/// target is to be as its source.
#[tokio::test(start_paused = true)]
async fn leftovers_of_downloads_are_removed_and_never_go_up() {
    let world = World::new();
    for name in ["out/.a.s3haul-tmp", "out/.gone.s3haul-tmp", "out/b"] {
        world.file(name, b"1");
    }
    assert_eq!(sync(&world, "out", "s3://bucket/x", SyncOptions::default()).await.done, 1);
    assert_eq!(world.cp_tree("out", "s3://bucket/x").await.done, 1);
    assert_eq!(world.keys().await, ["x/b"]);
    world.object("x/a", b"2").await;
    world.object("x/.key.s3haul-tmp", b"3").await;
    let size_only = SyncOptions { rule: Rule::SizeOnly, ..SyncOptions::default() };
    let summary = sync(&world, "s3://bucket/x", "out", size_only).await;
    assert_eq!((summary.done, summary.warnings), (1, 1), "{:?}", world.log.lines());
    assert_eq!(world.files(), ["out/.gone.s3haul-tmp", "out/a", "out/b"]);
    world.file("out/.held.s3haul-tmp", b"1");
    let held = std::fs::File::open(world.path("out/.held.s3haul-tmp")).unwrap();
    held.lock().unwrap();
    let warnings = summary.warnings;
    let summary = sync(&world, "s3://bucket/x", "out", deleting()).await;
    assert_eq!((summary.warnings, summary.failed), (warnings, 0), "{:?}", world.log.lines());
    assert_eq!(world.files(), ["out/.held.s3haul-tmp", "out/a", "out/b"]);
}

#[tokio::test(start_paused = true)]
async fn downloads_take_over_the_time_so_that_a_second_run_does_nothing() {
    let world = World::new();
    for key in ["x/a", "x/b/c", "x/é/ü"] {
        world.object(key, key.as_bytes()).await;
    }
    world.file("out/left", b"1");
    world.file("out/b/left", b"1");
    let summary = sync(&world, "s3://bucket/x", "out", deleting()).await;
    assert_eq!(summary.done, 5, "{:?}", world.log.lines());
    assert_eq!(world.files(), ["out/a", "out/b/c", "out/é/ü"]);
    for options in [deleting(), SyncOptions { rule: Rule::ExactTimes, ..deleting() }] {
        assert_eq!(sync(&world, "s3://bucket/x", "out", options).await.done, 0);
    }
    age(&world, "out/a", -3600);
    assert_eq!(sync(&world, "s3://bucket/x", "out", SyncOptions::default()).await.done, 0);
    for rule in [Rule::NewerSource, Rule::ExactTimes] {
        age(&world, "out/a", -3600);
        let options = SyncOptions { rule, ..SyncOptions::default() };
        assert_eq!(sync(&world, "s3://bucket/x", "out", options).await.done, 1, "{rule:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn buckets_are_synced_by_copies() {
    let world = World::new();
    for n in 0..30 {
        world.object(&format!("x/{n:02}"), b"1").await;
    }
    world.object("y/00", b"1").await;
    world.object("y/zz", b"1").await;
    let options = spec(&world, "s3://bucket/x", "s3://bucket/y", deleting());
    let summary = world.run(TransferSpec { page_size: Some(7), ..options }).await.unwrap();
    assert_eq!(summary.done, 30, "{:?}", world.log.lines());
    assert_eq!(world.keys().await.len(), 60);
    assert_eq!(world.sim.ledger().count("CopyObject"), 29);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_removed_where_the_source_was_not_listed() {
    for skip in 0..12 {
        let world = World::new();
        for n in 0..12 {
            world.object(&format!("x/{n:02}"), b"1").await;
            world.file(&format!("out/{n:02}"), b"1");
            world.file(&format!("out/{n:02}.left"), b"1");
        }
        let refusal = Effect::respond(403, "AccessDenied");
        let fault = Fault::new(refusal).operation("ListObjectsV2").skip(skip).always();
        world.sim.weather().push(fault);
        let options = spec(&world, "s3://bucket/x", "out", deleting());
        let summary = world.run(TransferSpec { page_size: Some(3), ..options }).await.unwrap();
        let files = world.files();
        let left: Vec<_> = files.iter().filter(|name| name.contains("left")).collect();
        // At most names up to the last one that was listed are known; those after it stay.
        let known = if summary.fatal { (skip * 3).saturating_sub(1) } else { 12 };
        assert!(left.len() as u64 >= 12 - known, "{skip} pages: {left:?}");
        let last: Vec<_> = (0..12).map(|n| format!("out/{n:02}.left")).collect();
        assert!(last.iter().skip(12 - left.len()).eq(left.iter().copied()), "{left:?}");
        assert_eq!(files.len(), 12 + left.len());
        assert!(summary.fatal || left.is_empty());
        assert!(summary.fatal || skip >= 4, "four pages are the least");
    }
}

/// Before a removal, the page that passes its name and the one behind it are known to be in order.
#[tokio::test(start_paused = true)]
async fn nothing_is_removed_where_the_source_lists_out_of_order() {
    for page_size in [None, Some(5), Some(3), Some(2)] {
        for target in ["out", "s3://bucket/y"] {
            let world = World::out_of_order();
            for name in ["a", "d/x", "d/y", "d-1", "d-2", "e"] {
                world.object(&format!("x/{name}"), b"1").await;
                match target {
                    "out" => world.file(&format!("out/{name}"), b"1"),
                    _ => world.object(&format!("y/{name}"), b"1").await,
                }
            }
            let options = spec(&world, "s3://bucket/x", target, deleting());
            let summary = world.run(TransferSpec { page_size, ..options }).await.unwrap();
            assert!(summary.fatal, "{page_size:?}: {:?}", world.log.lines());
            assert_eq!(world.log.count("Delete "), 0, "{page_size:?}: {:?}", world.log.lines());
            let told = "not in the order of keys: `d-1` came after `d/y`";
            assert_eq!(world.log.count(told), 1, "{:?}", world.log.lines());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_that_cannot_be_listed_loses_nothing() {
    let world = World::new();
    world.file("in/a", b"1");
    world.object("x/b", b"1").await;
    let refusal = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(refusal).operation("ListObjectsV2").times(1));
    let summary = sync(&world, "in", "s3://bucket/x", deleting()).await;
    assert!(summary.fatal, "{:?}", world.log.lines());
    assert_eq!(summary.done, 0);
    assert_eq!(world.keys().await, ["x/b"]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_looked_at_is_not_taken_for_missing() {
    let world = World::new();
    world.file("in/a", b"1");
    std::os::unix::fs::symlink("nowhere", world.path("in/b")).unwrap();
    std::os::unix::fs::symlink(".", world.path("in/loop")).unwrap();
    for key in ["x/a", "x/b", "x/loop/y", "x/z"] {
        world.object(key, b"1").await;
    }
    let summary = sync(&world, "in", "s3://bucket/x", deleting()).await;
    assert_eq!(summary.warnings, 2, "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/a", "x/b", "x/loop/y"]);
}

#[tokio::test(start_paused = true)]
async fn an_empty_source_empties_nothing_unless_told() {
    let world = World::new();
    world.object("x/a", b"1").await;
    std::fs::create_dir(world.path("in")).unwrap();
    let summary = sync(&world, "in", "s3://bucket/x", deleting()).await;
    assert!(summary.fatal);
    assert_eq!(world.log.count("--allow-empty-source"), 1);
    assert_eq!(world.keys().await, ["x/a"]);
    let allowed = SyncOptions { allow_empty_source: true, ..deleting() };
    assert_eq!(sync(&world, "in", "s3://bucket/x", allowed).await.done, 1);
    assert!(world.keys().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn removals_end_at_their_limit() {
    for (max_delete, left) in [
        (RemovalLimit::Count(0), 10),
        (RemovalLimit::Count(4), 6),
        (RemovalLimit::Count(10), 0),
        (RemovalLimit::Percent(50.0), 10),
        (RemovalLimit::Percent(91.0), 0),
    ] {
        let world = World::new();
        world.file("in/a", b"1");
        world.file("in/b", b"1");
        world.object("x/a", b"1").await;
        for n in 0..10 {
            world.object(&format!("x/{n}"), b"1").await;
        }
        let options = SyncOptions { max_delete, ..deleting() };
        let summary = sync(&world, "in", "s3://bucket/x", options).await;
        assert_eq!(summary.fatal, left > 0, "{max_delete:?} {:?}", world.log.lines());
        assert_eq!(world.keys().await.len(), left + 2, "{max_delete:?}: the new file goes up");
    }
}

#[tokio::test(start_paused = true)]
async fn filters_hold_for_both_sides() {
    let world = World::new();
    world.file("in/a.txt", b"1");
    world.file("in/b.log", b"1");
    for key in ["x/c.log", "x/d.txt"] {
        world.object(key, b"1").await;
    }
    let filters = vec![FilterRule::Exclude("*.log".to_owned())];
    let options = spec(&world, "in", "s3://bucket/x", deleting());
    world.run(TransferSpec { filters, ..options }).await.unwrap();
    assert_eq!(world.keys().await, ["x/a.txt", "x/c.log"]);
}

#[tokio::test(start_paused = true)]
async fn a_replaced_object_is_not_removed() {
    let world = World::new();
    world.file("in/a", b"1");
    for key in ["x/b", "x/c"] {
        world.object(key, b"1").await;
    }
    let fault = Fault::new(Effect::Delay(Duration::from_secs(5)));
    world.sim.weather().push(fault.operation("DeleteObjects").times(1));
    let options = spec(&world, "in", "s3://bucket/x", deleting());
    let replaced = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        world.object("x/b", b"22").await;
    };
    let (summary, ()) = tokio::join!(world.run(options), replaced);
    assert_eq!(summary.unwrap().failed, 1, "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/a", "x/b"]);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_tells_in_order_and_does_nothing() {
    let world = World::new();
    world.file("in/a", b"1");
    world.file("in/c", b"1");
    world.object("x/b", b"1").await;
    let options = spec(&world, "in", "s3://bucket/x", deleting());
    world.run(TransferSpec { dry_run: true, ..options }).await.unwrap();
    assert_eq!(world.keys().await, ["x/b"]);
    let reported = world.log.in_order();
    let objects: Vec<_> = reported.iter().filter(|line| line.ends_with("dryrun")).collect();
    assert_eq!(objects.len(), 3, "{reported:?}");
    assert!(objects[1].starts_with("Delete"), "{reported:?}");
}

#[tokio::test(start_paused = true)]
async fn a_source_inside_of_the_target_is_not_removed() {
    let near = World::new();
    let other = near.under("http://127.0.0.1:9001");
    for far in [&near, &other] {
        for key in ["in/a", "in/b", "in2/x", "old"] {
            near.object(key, b"1").await;
        }
        let options = spec(&near, "s3://bucket/in", "s3://bucket", deleting());
        let summary = near.run_to(far, options).await;
        assert_eq!((summary.failed, summary.warnings), (0, 1), "{:?}", near.log.lines());
        assert_eq!(near.keys().await, ["a", "b", "in/a", "in/b"]);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_source_around_the_target_is_removed() {
    let world = World::new();
    for key in ["a", "out/old"] {
        world.object(key, b"1").await;
    }
    let options = spec(&world, "s3://bucket", "s3://bucket/out", deleting());
    let exclude = vec![FilterRule::Exclude("out/*".to_owned())];
    let summary = world.run(TransferSpec { filters: exclude, ..options.clone() }).await.unwrap();
    assert_eq!((summary.failed, summary.warnings), (0, 0), "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["a", "out/a", "out/old"], "a filter holds for both sides");
    let summary = world.run(options).await.unwrap();
    assert_eq!((summary.failed, summary.warnings), (0, 1), "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["a", "out/a", "out/old", "out/out/a", "out/out/old"]);
}

#[tokio::test(start_paused = true)]
async fn what_the_filter_leaves_out_of_the_source_alone_is_not_removed() {
    let world = World::new();
    // A bracket in a folder's name makes a pattern of it, on that side only.
    world.file("out[1]/tmp/x", b"1");
    world.file("out[1]/left", b"1");
    for key in ["x/a", "x/tmp/x"] {
        world.object(key, b"1").await;
    }
    let filters = vec![FilterRule::Exclude("tmp/*".to_owned())];
    let options = spec(&world, "s3://bucket/x", "out[1]", deleting());
    world.run(TransferSpec { filters, ..options }).await.unwrap();
    assert_eq!(world.files(), ["out[1]/a", "out[1]/tmp/x"]);
}

#[tokio::test(start_paused = true)]
async fn a_link_to_nothing_may_have_been_a_folder() {
    let world = World::new();
    world.file("in/a", b"1");
    std::os::unix::fs::symlink("nowhere", world.path("in/link")).unwrap();
    for key in ["x/a", "x/link-x", "x/link/y", "x/link0"] {
        world.object(key, b"1").await;
    }
    sync(&world, "in", "s3://bucket/x", deleting()).await;
    assert_eq!(world.keys().await, ["x/a", "x/link/y"], "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn a_source_of_nothing_but_folder_markers_is_empty() {
    for rules in [&[][..], &[("*", false), ("a*", true)]] {
        let world = World::new();
        for key in ["s/", "s/d/", "x/", "x/a"] {
            world.object(key, if key.ends_with('/') { b"" } else { b"1" }).await;
        }
        let filters = rules.iter().map(|(pattern, include)| {
            let rule = if *include { FilterRule::Include } else { FilterRule::Exclude };
            rule((*pattern).to_owned())
        });
        let options = spec(&world, "s3://bucket/s", "s3://bucket/x", deleting());
        let options = TransferSpec { filters: filters.collect(), ..options };
        let summary = world.run(options.clone()).await.unwrap();
        assert!(summary.fatal, "{:?}", world.log.lines());
        assert_eq!(world.keys().await, ["s/", "s/d/", "x/", "x/a"]);
        world.object("s/e", b"1").await;
        let summary = world.run(options).await.unwrap();
        assert!(!summary.fatal, "{:?}", world.log.lines());
        assert!(!world.keys().await.contains(&"x/a".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn files_that_odd_keys_become_are_not_removed() {
    let world = World::new();
    for key in ["x/a//b", "x/c/./d", "x/e"] {
        world.object(key, b"1").await;
    }
    world.file("out/left", b"1");
    for _ in 0..2 {
        sync(&world, "s3://bucket/x", "out", deleting()).await;
        assert_eq!(world.files(), ["out/a/b", "out/c/d", "out/e"], "{:?}", world.log.lines());
        assert_eq!(world.log.count("Delete"), 1, "{:?}", world.log.lines());
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_link_leads_to_is_not_removed_under_the_name_of_the_link() {
    let world = World::new();
    world.object("x/real/f", b"1").await;
    world.file("out/real/f", b"1");
    world.file("out/left", b"1");
    std::os::unix::fs::symlink("real", world.path("out/link")).unwrap();
    let options = SyncOptions { rule: Rule::SizeOnly, ..deleting() };
    let summary = sync(&world, "s3://bucket/x", "out", options).await;
    assert_eq!((summary.done, summary.warnings), (1, 1), "{:?}", world.log.lines());
    assert!(world.path("out/real/f").exists() && !world.path("out/left").exists());
}

/// The folder of journals is left out of both sides, also by a run that keeps none.
#[tokio::test(start_paused = true)]
async fn journals_are_neither_removed_nor_replaced_nor_added() {
    let world = World::new();
    for name in ["in/a", "in/jobs/1.db", "out/jobs/1.db"] {
        world.file(name, b"1");
    }
    for key in ["x/a", "x/gone", "x/jobs/1.db", "x/jobs/2.db", "x/./jobs/3.db"] {
        world.object(key, b"22").await;
    }
    for dry_run in [true, false] {
        for (source, target, journals) in
            [("in", "s3://bucket/x", "in/jobs"), ("s3://bucket/x", "out", "out/jobs")]
        {
            let options = SyncOptions { rule: Rule::SizeOnly, ..deleting() };
            let journal_folder = Some(world.path(journals));
            let spec =
                TransferSpec { journal_folder, dry_run, ..spec(&world, source, target, options) };
            let before = world.log.lines().len();
            world.run(spec).await.unwrap();
            let lines = world.log.in_order().split_off(before);
            let jobs = lines.iter().filter(|line| line.contains("jobs")).count();
            assert!(jobs == 0 && lines.len() > 1, "{lines:?}");
        }
    }
    assert_eq!(world.keys().await, ["x/./jobs/3.db", "x/a", "x/jobs/1.db", "x/jobs/2.db"]);
    assert_eq!(std::fs::read(world.path("out/jobs/1.db")).unwrap(), b"1");
    assert!(!world.path("out/jobs/2.db").exists() && world.path("out/a").exists());
}

/// Two keys were one file, and each run replaced what the one before had written.
#[tokio::test(start_paused = true)]
async fn nothing_is_written_through_a_link_to_another_folder_of_the_target() {
    let world = World::new();
    for (key, bytes) in [("x/lnk/x", "22"), ("x/lnk/y", "333"), ("x/real/x", "1")] {
        world.object(key, bytes.as_bytes()).await;
    }
    world.file("out/real/x", b"1");
    std::os::unix::fs::symlink("real", world.path("out/lnk")).unwrap();
    for _ in 0..2 {
        let options = SyncOptions { rule: Rule::SizeOnly, ..deleting() };
        let summary = sync(&world, "s3://bucket/x", "out", options).await;
        assert_eq!((summary.done, summary.failed, summary.warnings), (0, 0, 2));
    }
    assert_eq!(world.log.count("leads to another folder"), 4, "{:?}", world.log.lines());
    let copied = TransferSpec {
        recursive: true,
        no_overwrite: true,
        ..world.spec(TransferCommand::Move, "s3://bucket/x", Some("out"))
    };
    assert_eq!(world.run(copied).await.unwrap().warnings, 1, "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/lnk/x", "x/lnk/y", "x/real/x"]);
    assert_eq!(std::fs::read(world.path("out/real/x")).unwrap(), b"1");
    assert!(!world.path("out/real/y").exists());
}

/// A file whose removal waits for the end was in the way of what the source has below its name.
#[tokio::test(start_paused = true)]
async fn a_file_makes_way_for_a_folder_whatever_its_removal_waits_for() {
    let percent = RemovalLimit::Percent(60.0);
    for (name, max_delete) in
        [("conf", percent), (".conf", percent), (".conf", RemovalLimit::None), ("a/-b", percent)]
    {
        for dry_run in [true, false] {
            let world = World::new();
            world.object(&format!("x/{name}/y//z"), b"new").await;
            world.object("x/kept", b"1").await;
            world.file(&format!("out/{name}"), b"old");
            world.file("out/kept", b"1");
            let options = SyncOptions { max_delete, rule: Rule::SizeOnly, ..deleting() };
            let spec = spec(&world, "s3://bucket/x", "out", options);
            let summary = world.run(TransferSpec { dry_run, ..spec }).await.unwrap();
            assert!(!summary.fatal && summary.failed == 0, "{:?}", world.log.lines());
            let gone = world.path("out").join(name).is_dir();
            assert_eq!(gone, !dry_run, "{name}: {:?}", world.log.lines());
            assert_eq!(world.log.count("Delete"), 1, "{name}: {:?}", world.log.lines());
        }
    }
}

/// A folder stayed, empty, and the file that belongs there failed.
#[tokio::test(start_paused = true)]
async fn a_folder_without_files_makes_way_for_a_file() {
    for max_delete in [RemovalLimit::None, RemovalLimit::Percent(80.0)] {
        for (left, is_removed) in [(None, true), (Some("out/d/sub/left.log"), false)] {
            let world = World::new();
            for key in ["x/d", "x/d.txt", "x/d-/e", "x/kept"] {
                world.object(key, b"new").await;
            }
            for file in ["out/d/f", "out/d/sub/g", "out/kept"] {
                world.file(file, b"old");
            }
            std::fs::create_dir_all(world.path("out/d/empty/deep")).unwrap();
            if let Some(left) = left {
                world.file(left, b"1");
            }
            let options = SyncOptions { max_delete, rule: Rule::SizeOnly, ..deleting() };
            let filters = vec![FilterRule::Exclude("*.log".to_owned())];
            let spec = spec(&world, "s3://bucket/x", "out", options);
            let summary = world.run(TransferSpec { filters, ..spec }).await.unwrap();
            let failed = u64::from(!is_removed);
            assert_eq!((summary.failed, summary.fatal), (failed, false), "{:?}", world.log.lines());
            assert_eq!(std::fs::read(world.path("out/d")).is_ok(), is_removed);
            // What stays keeps all of its folder.
            assert_eq!(world.path("out/d/empty/deep").exists(), !is_removed);
            assert!(left.is_none_or(|left| world.path(left).exists()));
            assert_eq!(std::fs::read(world.path("out/d.txt")).unwrap(), b"new");
        }
    }
}

/// It could be removed while something was written into it.
#[tokio::test(start_paused = true)]
async fn a_folder_stays_where_it_is_written_to_holds_a_link_or_nothing_is_done() {
    for (key, is_dry, is_link) in [
        (Some("x/d/e"), false, false),
        (Some("x/./d/e"), false, false),
        (None, false, true),
        (None, true, false),
    ] {
        let world = World::new();
        world.object("x/d", b"new").await;
        if let Some(key) = key {
            world.object(key, b"new").await;
            // So that it comes after the removals.
            let late = Fault::new(Effect::slow_down()).operation("GetObject").key(key);
            world.sim.weather().push(late.times(1));
        }
        std::fs::create_dir_all(world.path("out/d/empty")).unwrap();
        if is_link {
            std::os::unix::fs::symlink("gone", world.path("out/d/link")).unwrap();
        }
        let spec = spec(&world, "s3://bucket/x", "out", deleting());
        let spec = TransferSpec { dry_run: is_dry, ..spec };
        let summary = world.run(spec).await.unwrap();
        let failed = u64::from(!is_dry);
        assert_eq!((summary.failed, summary.fatal), (failed, false), "{:?}", world.log.lines());
        assert!(world.path("out/d/empty").is_dir(), "{key:?} {is_dry} {is_link}");
        assert_eq!(world.path("out/d/e").exists(), key.is_some());
    }
}

/// One in the way of a download stays, if it may not be removed.
#[tokio::test(start_paused = true)]
async fn what_a_limit_in_percent_refuses_is_not_in_the_way_of_others() {
    let world = World::new();
    world.object("x/.conf/y", b"new").await;
    world.object("x/other", b"new").await;
    world.file("out/.conf", b"old");
    let options = SyncOptions { max_delete: RemovalLimit::Percent(10.0), ..deleting() };
    let summary = sync(&world, "s3://bucket/x", "out", options).await;
    assert!(summary.fatal, "{:?}", world.log.lines());
    assert_eq!((summary.done, summary.failed), (1, 1), "{:?}", world.log.lines());
    assert_eq!(std::fs::read(world.path("out/.conf")).unwrap(), b"old");
}

/// Whether a pattern leaves out a folder as a whole or its files makes no difference.
#[tokio::test(start_paused = true)]
async fn a_folder_with_nothing_but_what_is_left_out_is_not_empty() {
    for pattern in ["ex/*", "ex/f*"] {
        let world = World::new();
        world.file("in/ex/f", b"1");
        world.object("x/gone", b"1").await;
        let spec = spec(&world, "in", "s3://bucket/x", deleting());
        let filters = vec![FilterRule::Exclude(pattern.to_owned())];
        let summary = world.run(TransferSpec { filters, ..spec }).await.unwrap();
        assert!(!summary.fatal, "{:?}", world.log.lines());
        assert!(world.keys().await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_folder_that_cannot_be_read_is_not_called_empty() {
    let world = World::new();
    std::fs::create_dir(world.path("in")).unwrap();
    std::os::unix::fs::symlink("nowhere", world.path("in/b")).unwrap();
    world.object("x/a", b"1").await;
    assert!(sync(&world, "in", "s3://bucket/x", deleting()).await.fatal);
    assert_eq!(world.log.count("nothing could be read in the source"), 1);
    assert_eq!(world.keys().await, ["x/a"]);
}
