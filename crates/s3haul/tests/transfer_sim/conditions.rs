//! Conditions on size, age and storage class in every command that takes them.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use s3haul::ErrorKind;
use s3haul::job::{
    Conditions, Rule, SyncOptions, TagTask, Tags, ToKey, TransferCommand, TransferSpec,
};
use s3haul::plan::conditions::Pattern;
use s3haul::script::Template;
use s3haul_sim::{Effect, Fault};
use s3haul_wire::ObjectProperties;

use crate::world::World;

fn pattern(text: &str) -> Vec<Pattern> {
    vec![Pattern::parse(text).unwrap()]
}

fn at_least(bytes: u64) -> Conditions {
    Conditions { size_min: Some(bytes), ..Conditions::default() }
}

async fn object(world: &World, key: &str, size: usize, class: &str) {
    let storage_class = Some(class.to_owned()).filter(|class| !class.is_empty());
    let properties = ObjectProperties { storage_class, ..ObjectProperties::default() };
    world.object_with(key, &vec![b'x'; size], &properties).await;
}

/// Keys that a command leaves, and those of its dry run that would have been removed or moved.
async fn run(world: &World, spec: &TransferSpec) -> Vec<String> {
    let before = world.keys().await;
    let dry = TransferSpec { dry_run: true, ..spec.clone() };
    let planned = world.run(dry).await.unwrap();
    assert_eq!(world.keys().await, before, "a dry run does nothing");
    let reported = world.log.count("dryrun");
    let summary = world.run(spec.clone()).await.unwrap();
    assert_eq!((summary.failed, planned.failed), (0, 0), "{:?}", world.log.lines());
    let done = world.log.count("done");
    assert_eq!(reported, done, "a dry run lists what a run does: {:?}", world.log.lines());
    world.keys().await
}

/// Removes what has at least two bytes.
fn large_ones(world: &World) -> TransferSpec {
    let spec = world.spec(TransferCommand::Remove, "s3://bucket/d", None);
    TransferSpec { recursive: true, conditions: at_least(2), ..spec }
}

#[tokio::test(start_paused = true)]
async fn what_replaced_an_object_since_its_conditions_were_checked_stays() {
    for replaced in [&["d/a"][..], &["d/a", "d/b"]] {
        let world = World::new();
        for key in replaced {
            object(&world, key, 5, "").await;
        }
        let fault = Fault::new(Effect::Delay(Duration::from_secs(5)));
        for operation in ["DeleteObject", "DeleteObjects"] {
            world.sim.weather().push(fault.clone().operation(operation).times(1));
        }
        let replacing = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            object(&world, "d/a", 1, "").await;
        };
        let (summary, ()) = tokio::join!(world.run(large_ones(&world)), replacing);
        assert_eq!(summary.unwrap().failed, 1, "{:?}", world.log.lines());
        assert!(world.log.lines().iter().any(|line| line.contains("was replaced")));
        assert_eq!(world.keys().await, ["d/a"]);
    }
}

#[tokio::test(start_paused = true)]
async fn removals_do_not_wait_for_the_end_of_a_long_listing() {
    let world = World::new();
    for n in 0..3000 {
        object(&world, &format!("d/{n:04}"), if n == 0 { 2 } else { 1 }, "").await;
    }
    let fault = Fault::new(Effect::Delay(Duration::from_secs(6)));
    world.sim.weather().push(fault.operation("ListObjectsV2").always());
    let looking = async {
        tokio::time::sleep(Duration::from_secs(9)).await;
        world.sim.ledger().count("DeleteObject")
    };
    let (summary, removed) = tokio::join!(world.run(large_ones(&world)), looking);
    assert_eq!((summary.unwrap().done, removed), (1, 1), "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn removals_take_what_meets_all_conditions() {
    let world = World::new();
    for (key, size, class) in
        [("d/a", 1, ""), ("d/b", 5, ""), ("d/c", 5, "STANDARD_IA"), ("d/e/b", 9, "STANDARD")]
    {
        object(&world, key, size, class).await;
    }
    let conditions = Conditions {
        size_max: Some(8),
        storage_classes: vec!["STANDARD".to_owned()],
        ..at_least(2)
    };
    let spec = TransferSpec {
        recursive: true,
        conditions,
        ..world.spec(TransferCommand::Remove, "s3://bucket/d", None)
    };
    assert_eq!(run(&world, &spec).await, ["d/a", "d/c", "d/e/b"]);
}

#[tokio::test(start_paused = true)]
async fn ages_are_those_of_the_listing() {
    let world = World::new();
    object(&world, "old", 1, "").await;
    tokio::time::advance(Duration::from_hours(1)).await;
    let between = world.head("old").await.last_modified_s + 1800;
    object(&world, "new", 1, "").await;
    let all = world.spec(TransferCommand::Copy, "s3://bucket/", Some("s3://bucket/to/"));
    for (newer_than_s, older_than_s, expected) in
        [(Some(between), None, "to/new"), (None, Some(between), "to/old")]
    {
        let conditions = Conditions { newer_than_s, older_than_s, ..Conditions::default() };
        let spec = TransferSpec { recursive: true, conditions, ..all.clone() };
        world.run(spec).await.unwrap();
        let keys = world.keys().await;
        assert_eq!(keys, ["new", "old", expected], "{:?}", world.log.lines());
        world.client.delete_object(removal(expected)).await.unwrap();
    }
}

fn removal(key: &str) -> s3haul_wire::ops::DeleteObject<'_> {
    s3haul_wire::ops::DeleteObject { bucket: "bucket", key, ..Default::default() }
}

/// A HEAD request is sent only where the name does not decide.
#[tokio::test(start_paused = true)]
async fn a_single_object_obeys_too() {
    let world = World::new();
    object(&world, "d/k", 3, "").await;
    let rm = world.spec(TransferCommand::Remove, "s3://bucket/d/k", None);
    let tags = TagTask::Set(Tags::parse(["t=1"]).unwrap());
    let tag = TransferSpec { tags, ..world.spec(TransferCommand::Tag, "s3://bucket/d/k", None) };
    let cp = world.spec(TransferCommand::Copy, "s3://bucket/d/k", Some("out"));
    let named = Conditions { patterns: pattern("^K$"), ..Conditions::default() };
    for (conditions, requests) in [(at_least(4), 1), (named.clone(), 0)] {
        for spec in [&rm, &tag] {
            world.sim.ledger().clear();
            let spec = TransferSpec { conditions: conditions.clone(), ..spec.clone() };
            let summary = world.run(spec).await.unwrap();
            assert_eq!((summary.done, summary.failed), (0, 0), "{:?}", world.log.lines());
            assert_eq!(world.sim.ledger().total(), requests);
        }
        let spec = TransferSpec { conditions, ..cp.clone() };
        assert_eq!(world.run(spec).await.unwrap().done, 0);
    }
    assert_eq!((world.keys().await, world.files()), (vec!["d/k".to_owned()], vec![]));
    let met = Conditions { patterns: pattern("^k$"), ..at_least(3) };
    let missing = TransferSpec { source: "s3://bucket/none".into(), ..rm.clone() };
    for (spec, done) in [(&cp, 1), (&tag, 1), (&missing, 0), (&rm, 1)] {
        let spec = TransferSpec { conditions: met.clone(), ..spec.clone() };
        assert_eq!(world.run(spec).await.unwrap().done, done, "{:?}", world.log.lines());
    }
    assert_eq!((world.keys().await.len(), world.files()), (0, vec!["out".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn files_have_sizes_and_times_but_no_class() {
    let world = World::new();
    for (name, size, modified_s) in [("in/a", 1, 1000), ("in/b", 5, 1000), ("in/d/c", 5, 2000)] {
        world.file(name, &vec![b'x'; size]);
        let time: SystemTime = UNIX_EPOCH + Duration::from_secs(modified_s);
        std::fs::File::open(world.path(name)).unwrap().set_modified(time).unwrap();
    }
    let up = TransferSpec {
        recursive: true,
        conditions: Conditions { older_than_s: Some(2000), ..at_least(2) },
        ..world.spec(TransferCommand::Move, "in", Some("s3://bucket/"))
    };
    assert_eq!(run(&world, &up).await, ["b"]);
    assert_eq!(world.files(), ["in/a", "in/d/c"]);
    let classes = Conditions { storage_classes: vec!["GLACIER".into()], ..Conditions::default() };
    world.sim.ledger().clear();
    for spec in [
        TransferSpec { conditions: classes.clone(), ..up },
        TransferSpec {
            conditions: classes,
            ..world.spec(TransferCommand::Sync, "in", Some("s3://bucket/"))
        },
        TransferSpec {
            conditions: at_least(1),
            ..world.spec(TransferCommand::Copy, "-", Some("s3://bucket/k"))
        },
    ] {
        let error = world.run(spec).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{error}");
    }
    assert_eq!(world.sim.ledger().total(), 0);
}

/// Where all sources are learned before, those that are left out are none.
#[tokio::test(start_paused = true)]
async fn what_is_left_out_takes_no_name() {
    let world = World::new();
    object(&world, "a", 1, "").await;
    object(&world, "b", 5, "").await;
    let to_key = Some(ToKey::Template(Template::parse("a").unwrap()));
    let spec = TransferSpec {
        recursive: true,
        to_key,
        conditions: at_least(2),
        ..world.spec(TransferCommand::Copy, "s3://bucket/", Some("s3://bucket/"))
    };
    assert_eq!(world.run(spec).await.unwrap().done, 1, "{:?}", world.log.lines());
    assert_eq!(world.get("a").await.unwrap().len(), 5);
}

/// What an object or file is to the model: its size and, where it has one, its class.
type Tree = BTreeMap<String, (usize, &'static str)>;

/// The rules of a `sync` once more, name by name. Nothing that is unselected is touched.
fn model(source: &Tree, target: &Tree, is_selected: impl Fn(&str, (usize, &str)) -> bool) -> Tree {
    let mut after = target.clone();
    for (name, facts) in target {
        if !source.contains_key(name) && is_selected(name, *facts) {
            after.remove(name);
        }
    }
    for (name, facts) in source {
        let differs = target.get(name).is_none_or(|there| there.0 != facts.0);
        if differs && is_selected(name, *facts) {
            after.insert(name.clone(), *facts);
        }
    }
    after
}

fn random_tree(random: &mut fastrand::Rng, has_classes: bool) -> Tree {
    let names = ["a", "a/b", "a0", "b", "c/d", "c/d0", "e"];
    let classes = if has_classes { &["", "STANDARD_IA", "GLACIER_IR"][..] } else { &["file"] };
    let mut tree = Tree::new();
    for name in names {
        // A folder is no file.
        if random.u8(..3) > 0 && (has_classes || name != "a") {
            tree.insert(
                name.to_owned(),
                (random.usize(1..5), classes[random.usize(..classes.len())]),
            );
        }
    }
    tree
}

/// Random conditions, and the same for the model.
fn random_conditions(random: &mut fastrand::Rng, may_have_class: bool) -> Conditions {
    let mut conditions = Conditions::default();
    if random.bool() {
        conditions.size_min = Some(random.u64(1..5));
    }
    if random.bool() {
        conditions.size_max = Some(random.u64(1..5));
    }
    if random.bool() {
        conditions.patterns = pattern("[ab]");
    }
    if may_have_class && random.bool() {
        conditions.storage_classes =
            vec![["STANDARD", "STANDARD_IA"][random.usize(..2)].to_owned()];
    }
    conditions
}

fn is_selected(conditions: &Conditions, name: &str, (size, class): (usize, &str)) -> bool {
    let size = size as u64;
    let class = if class.is_empty() { "STANDARD" } else { class };
    size >= conditions.size_min.unwrap_or(0)
        && size <= conditions.size_max.unwrap_or(9)
        && (conditions.patterns.is_empty() || name.contains(['a', 'b']))
        && (conditions.storage_classes.is_empty()
            || conditions.storage_classes.iter().any(|wanted| wanted == class))
}

async fn lay_out(world: &World, root: &str, tree: &Tree) {
    for (name, (size, class)) in tree {
        match root.strip_prefix("s3://bucket/") {
            Some(prefix) => object(world, &format!("{prefix}/{name}"), *size, class).await,
            None => world.file(&format!("{root}/{name}"), &vec![b'x'; *size]),
        }
    }
}

/// Names below a root with their sizes.
async fn found(world: &World, root: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    if let Some(prefix) = root.strip_prefix("s3://bucket/") {
        for key in world.keys().await {
            if let Some(name) = key.strip_prefix(&format!("{prefix}/")) {
                found.insert(name.to_owned(), world.get(&key).await.unwrap().len());
            }
        }
    } else {
        for file in world.files() {
            if let Some(name) = file.strip_prefix(&format!("{root}/")) {
                let bytes = std::fs::read(world.path(&file)).unwrap();
                found.insert(name.to_owned(), bytes.len());
            }
        }
    }
    found
}

#[tokio::test(start_paused = true)]
async fn a_sync_touches_nothing_that_is_not_selected() {
    let seed = std::env::var("S3HAUL_TEST_SEED").map_or(20_261_121, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..90 {
        let world = World::new();
        let (from, to) =
            [("s3://bucket/x", "s3://bucket/y"), ("in", "s3://bucket/y"), ("s3://bucket/x", "out")]
                [round % 3];
        let is_remote = |root: &str| root.starts_with("s3:");
        // Keys that come down cannot be files and folders at once.
        let both = is_remote(from) && is_remote(to);
        let mut source = random_tree(&mut random, is_remote(from));
        let mut target = random_tree(&mut random, is_remote(to));
        if !both {
            source.remove("a");
            target.remove("a");
        }
        lay_out(&world, from, &source).await;
        lay_out(&world, to, &target).await;
        std::fs::create_dir_all(world.path("in")).unwrap();
        let conditions = random_conditions(&mut random, is_remote(from));
        let options = SyncOptions {
            rule: Rule::SizeOnly,
            delete: true,
            allow_empty_source: true,
            ..Default::default()
        };
        let spec = TransferSpec {
            sync: options,
            conditions: conditions.clone(),
            page_size: Some(2),
            ..world.spec(TransferCommand::Sync, from, Some(to))
        };
        let dry = TransferSpec { dry_run: true, ..spec.clone() };
        let selected = |name: &str, facts: (usize, &str)| is_selected(&conditions, name, facts);
        let expected = model(&source, &target, selected);
        let sizes = |tree: &Tree| -> BTreeMap<String, usize> {
            tree.iter().map(|(name, (size, _))| (name.clone(), *size)).collect()
        };
        let context = format!("round {round}: {source:?} to {target:?} on {conditions:?}");
        world.run(dry).await.unwrap();
        assert_eq!(found(&world, to).await, sizes(&target), "dry run, {context}");
        let summary = world.run(spec).await.unwrap();
        assert!(summary.failed == 0 && !summary.fatal, "{context}: {:?}", world.log.lines());
        assert_eq!(found(&world, to).await, sizes(&expected), "{context}");
        assert_eq!(found(&world, from).await, sizes(&source), "{context}");
    }
}
