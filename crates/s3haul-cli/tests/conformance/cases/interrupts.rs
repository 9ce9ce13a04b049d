//! A `sync` that is interrupted, again and again, at any point: both sides stay valid, nothing is
//! left behind, and the next run goes on.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::command::Running;
use crate::harness::{Ctx, cases};
use crate::trees::{self, MIB};

cases!["interrupts": sync_up_interrupted, sync_down_interrupted, sync_across_interrupted];

/// Slow enough that signals arrive while something is under way: about four seconds in all.
const SLOWLY: &str = "multipart_chunksize=5MB max_concurrent_requests=4 max_bandwidth=10MB/s";
const ROUNDS: usize = 4;
const SEEN_MAX: Duration = Duration::from_mins(1);

type Files = BTreeMap<String, Vec<u8>>;

fn tree(folder: &Path) -> Files {
    for number in 0..40_u64 {
        let bytes = trees::bytes(number, 1 + 4_000 * usize::try_from(number).unwrap());
        trees::write(folder, &format!("f{}/n{number:02}", number % 3), &bytes);
    }
    for name in ["f0/large", "f1/z-large", "large"] {
        trees::write(folder, name, &trees::bytes(77, 12 * MIB));
    }
    trees::read(folder)
}

/// Starts the command, and interrupts it as soon as more has arrived than had before. False when
/// it ended before that.
fn interrupt(ctx: &Ctx<'_>, args: &[&str], mut arrived: impl FnMut() -> usize) -> bool {
    let before = arrived();
    let mut running = start(ctx, args);
    let deadline = Instant::now() + SEEN_MAX;
    while arrived() <= before {
        if running.has_ended() {
            running.finish().ok();
            return false;
        }
        assert!(Instant::now() < deadline, "nothing arrived in time");
        std::thread::sleep(Duration::from_millis(20));
    }
    if !running.has_ended() {
        running.signal("INT");
    }
    running.finish().code_in(&[0, 1, 130]);
    true
}

fn start(ctx: &Ctx<'_>, args: &[&str]) -> Running {
    ctx.haul_with(args).variable("AWS_CONFIG_FILE", ctx.config(SLOWLY)).start()
}

/// What is there is whole.
fn assert_part_of(found: &Files, expected: &Files) {
    for (name, bytes) in found {
        assert!(expected.get(name) == Some(bytes), "`{name}`: {} bytes", bytes.len());
    }
}

fn below(prefix: &str, objects: Files) -> Files {
    let strip =
        |(key, bytes): (String, Vec<u8>)| Some((key.strip_prefix(prefix)?.to_owned(), bytes));
    objects.into_iter().filter_map(strip).collect()
}

fn assert_no_uploads(ctx: &Ctx<'_>, prefix: &str) {
    for name in ["f0/large", "f1/z-large", "large"] {
        assert_eq!(ctx.remote.uploads(&format!("{prefix}{name}")), [""; 0]);
    }
}

/// Interrupts a sync into the bucket some times, then lets it end.
fn into_bucket(ctx: &Ctx<'_>, source: &str, files: &Files) {
    let target = ctx.url("t/");
    let args = ["sync", "--delete", source, &target];
    let arrived = || ctx.remote.keys().iter().filter(|key| key.starts_with("t/")).count();
    for _ in 0..ROUNDS {
        let was_interrupted = interrupt(ctx, &args, arrived);
        assert_part_of(&below("t/", ctx.remote.objects()), files);
        assert_no_uploads(ctx, "t/");
        if !was_interrupted {
            break;
        }
    }
    ctx.haul(&args).ok();
    trees::assert_same(&below("t/", ctx.remote.objects()), files);
}

fn sync_up_interrupted(ctx: &Ctx<'_>) {
    let files = tree(&ctx.path("tree"));
    into_bucket(ctx, "tree", &files);
    trees::assert_same(&trees::read(&ctx.path("tree")), &files);
}

fn sync_across_interrupted(ctx: &Ctx<'_>) {
    let files = tree(&ctx.path("tree"));
    let source = ctx.url("s/");
    ctx.haul(&["sync", "tree", &source]).ok();
    into_bucket(ctx, &source, &files);
    trees::assert_same(&below("s/", ctx.remote.objects()), &files);
}

fn sync_down_interrupted(ctx: &Ctx<'_>) {
    let files = tree(&ctx.path("tree"));
    let source = ctx.url("s/");
    ctx.haul(&["sync", "tree", &source]).ok();
    let target = ctx.path("down");
    std::fs::create_dir(&target).unwrap();
    let args = ["sync", "--delete", &source, "down"];
    for _ in 0..ROUNDS {
        let was_interrupted = interrupt(ctx, &args, || trees::names(&target).len());
        // A temporary file would be a name that the source does not have.
        assert_part_of(&trees::read(&target), &files);
        if !was_interrupted {
            break;
        }
    }
    ctx.haul(&args).ok();
    trees::assert_same(&trees::read(&target), &files);
    trees::assert_same(&below("s/", ctx.remote.objects()), &files);
}
