//! What a filter leaves out whole is not listed.

use s3haul::job::{FilterRule, RemovalLimit, SyncOptions, TransferCommand, TransferSpec};

use crate::world::World;

fn rules(patterns: &[(bool, &str)]) -> Vec<FilterRule> {
    let rule = |(include, pattern): &(bool, &str)| {
        let rule = if *include { FilterRule::Include } else { FilterRule::Exclude };
        rule((*pattern).to_owned())
    };
    patterns.iter().map(rule).collect()
}

fn copy(world: &World, patterns: &[(bool, &str)], page_size: Option<u32>) -> TransferSpec {
    let spec = world.spec(TransferCommand::Copy, "s3://bucket/from", Some("s3://bucket/to"));
    let (recursive, filters) = (true, rules(patterns));
    TransferSpec { recursive, dry_run: true, filters, page_size, ..spec }
}

fn sync(world: &World, patterns: &[(bool, &str)], sync: SyncOptions) -> TransferSpec {
    let spec = world.spec(TransferCommand::Sync, "s3://bucket/from", Some("s3://bucket/to"));
    TransferSpec { filters: rules(patterns), sync, ..spec }
}

/// A hundred objects in each of some folders.
async fn laid_out() -> World {
    let world = World::new();
    for folder in ["from/a", "from/logs/2023", "from/logs/2024", "from/tmp", "from/z"] {
        for n in 0..100 {
            world.object(&format!("{folder}/{n:02}"), b"1").await;
        }
    }
    world
}

/// Objects that would be copied, and pages asked for.
async fn copies(world: &World, patterns: &[(bool, &str)], page_size: Option<u32>) -> (usize, u64) {
    world.sim.ledger().clear();
    let before = world.log.lines().len();
    let summary = world.run(copy(world, patterns, page_size)).await.unwrap();
    assert!(!summary.fatal, "{:?}", world.log.lines());
    let lines = world.log.in_order().split_off(before);
    let found = lines.iter().filter(|line| line.contains("dryrun")).count();
    (found, world.sim.ledger().count("ListObjectsV2"))
}

#[tokio::test(start_paused = true)]
async fn only_what_may_be_included_is_listed() {
    let world = laid_out().await;
    let (out, take) = (false, true);
    let (all, pages) = copies(&world, &[], Some(10)).await;
    assert!(all == 500 && pages >= 50, "{all} {pages}");

    let one = [(out, "*"), (take, "logs/2024*")];
    let (found, pages) = copies(&world, &one, Some(10)).await;
    assert!(found == 100 && pages < 20, "{found} {pages}");

    let two = [(out, "logs/*"), (out, "tmp/*")];
    let (found, pages) = copies(&world, &two, Some(10)).await;
    assert!(found == 200 && pages < 35, "{found} {pages}");

    // What is a page costs one request, however many ranges it has.
    assert_eq!(copies(&world, &two, None).await, (200, 1));
    // Nothing is listed for nothing but one page, for there may be no bucket.
    assert_eq!(copies(&world, &[(out, "*")], Some(10)).await, (0, 1));
    let spec = TransferSpec {
        source: "s3://missing/from".to_owned(),
        ..copy(&world, &[(out, "*")], None)
    };
    assert!(world.run(spec).await.unwrap().fatal, "{:?}", world.log.lines());
    assert_eq!(world.log.count("NoSuchBucket"), 1, "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn how_it_is_listed_changes_nothing() {
    let seed = std::env::var("S3HAUL_TEST_SEED").map_or(20_261_121, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let world = World::new();
    let folders = ["", "a/", "a/b/", "ab/", "b/", "tmp/", "tmp0/", "é/"];
    for folder in folders {
        for n in 0..6 {
            world.object(&format!("from/{folder}{n}"), b"1").await;
        }
    }
    let endings = ["*", "0", "?", "1*", "*2", "[13]"];
    for round in 0..60 {
        let patterns: Vec<(bool, String)> = (0..random.usize(0..5))
            .map(|_| {
                let folder = folders[random.usize(..folders.len())];
                (random.bool(), format!("{folder}{}", endings[random.usize(..endings.len())]))
            })
            .collect();
        let patterns: Vec<_> = patterns.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        let mut found = Vec::new();
        for page_size in [None, Some(3)] {
            let before = world.log.lines().len();
            world.run(copy(&world, &patterns, page_size)).await.unwrap();
            let mut lines = world.log.in_order().split_off(before);
            lines.sort();
            found.push(lines);
        }
        assert_eq!(found[0], found[1], "round {round}: {patterns:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_with_nothing_but_what_is_left_out_is_not_empty() {
    let world = World::new();
    world.object("to/logs/old", b"1").await;
    let delete = || SyncOptions { delete: true, ..SyncOptions::default() };
    let patterns = [(false, "*"), (true, "logs/*")];
    let summary = world.run(sync(&world, &patterns, delete())).await.unwrap();
    assert!(summary.fatal && world.log.count("is empty") == 1, "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["to/logs/old"]);
    world.object("from/other", b"1").await;
    let summary = world.run(sync(&world, &patterns, delete())).await.unwrap();
    assert_eq!((summary.done, summary.fatal), (1, false), "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["from/other"]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_in_percent_is_one_of_all_names() {
    let world = World::new();
    world.object("from/logs/new", b"1").await;
    world.object("to/logs/old", b"1").await;
    for n in 0..9 {
        world.object(&format!("to/other/{n}"), b"1").await;
    }
    let patterns = [(false, "*"), (true, "logs/*")];
    let max_delete = RemovalLimit::Percent(10.0);
    let options = SyncOptions { delete: true, max_delete, ..SyncOptions::default() };
    let summary = world.run(sync(&world, &patterns, options)).await.unwrap();
    assert_eq!((summary.done, summary.fatal), (2, false), "{:?}", world.log.lines());
    assert_eq!(world.keys().await.len(), 1 + 1 + 9);
}

#[tokio::test(start_paused = true)]
async fn wildcards_and_filters_are_listed_together() {
    let world = laid_out().await;
    let spec = TransferSpec {
        source: "s3://bucket/from/logs/202*".to_owned(),
        ..copy(&world, &[(false, "2023*")], Some(10))
    };
    world.sim.ledger().clear();
    let summary = world.run(spec).await;
    assert!(summary.is_ok_and(|summary| !summary.fatal), "{:?}", world.log.lines());
    assert_eq!(world.log.count("dryrun"), 100, "{:?}", world.log.lines());
    let pages = world.sim.ledger().count("ListObjectsV2");
    assert!(pages < 20, "{pages}");
}
