//! What commands mean: skips, warnings, names, streams, dry runs, properties of copies.

use std::time::Duration;

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex};

use s3haul::ErrorKind;
use s3haul::job::{FilterRule, Streams, Summary, TransferCommand, TransferSpec};
use s3haul_sim::{Effect, Fault};
use s3haul_wire::ObjectProperties;
use s3haul_wire::units::RequestCounts;

use crate::world::{PART, World, bytes};

fn tree(
    world: &World,
    command: TransferCommand,
    source: &str,
    target: Option<&str>,
) -> TransferSpec {
    TransferSpec { recursive: true, ..world.spec(command, source, target) }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_replaced_with_no_overwrite() {
    let world = World::new();
    let large = bytes(PART as usize, 1);
    world.file("in/a", b"new");
    world.file("in/large", &large);
    world.file("in/other", b"new");
    world.object("x/a", b"old").await;
    world.object("x/large", b"old").await;
    let no_overwrite = |source: &str, target: &str| {
        let spec = tree(&world, TransferCommand::Copy, source, Some(target));
        TransferSpec { no_overwrite: true, ..spec }
    };
    let summary = world.run(no_overwrite("in", "s3://bucket/x")).await.unwrap();
    assert_eq!(
        (summary.done, summary.skipped, summary.failed),
        (1, 2, 0),
        "{:?}",
        world.log.lines()
    );
    assert_eq!(world.get("x/a").await.unwrap(), b"old");
    assert_eq!(world.sim.ledger().count("UploadPart"), 0);
    assert_eq!(world.log.moved(), 3);

    world.file("out/a", b"mine");
    let summary = world.run(no_overwrite("s3://bucket/x", "out")).await.unwrap();
    assert_eq!((summary.done, summary.skipped), (2, 1), "{:?}", world.log.lines());
    assert_eq!(std::fs::read(world.path("out/a")).unwrap(), b"mine");

    world.object("y/a", b"there").await;
    let summary = world.run(no_overwrite("s3://bucket/x", "s3://bucket/y")).await.unwrap();
    assert_eq!((summary.done, summary.skipped), (2, 1), "{:?}", world.log.lines());
    assert_eq!(world.get("y/a").await.unwrap(), b"there");
}

#[tokio::test(start_paused = true)]
async fn keys_that_lead_out_of_the_target_are_warnings() {
    let world = World::new();
    for key in ["x/ok", "x/../evil", "x/a/../../../evil", "x//double"] {
        world.object(key, b"1").await;
    }
    let summary = world.cp_tree("s3://bucket/x/", "out").await;
    assert_eq!(
        (summary.done, summary.failed, summary.warnings),
        (1, 0, 3),
        "{:?}",
        world.log.lines()
    );
    assert_eq!(world.files(), ["out/ok"]);
    let text = "warning: Skipping file a/../../../evil. File references a parent directory.";
    assert_eq!(world.log.count(text), 1, "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn keys_that_share_a_file_lose_nothing() {
    let world = World::new();
    for key in ["a//b", "a/./b", "a/b", "a//c", "a/./c", "./d", "e/.//f/g", "-/./-x", "-/-x"] {
        world.object(&format!("x/{key}"), key.as_bytes()).await;
    }
    let summary = world.cp_tree("s3://bucket/x/", "out").await;
    assert_eq!((summary.done, summary.failed), (5, 4), "{:?}", world.log.lines());
    assert_eq!(world.files(), ["out/-/-x", "out/a/b", "out/a/c", "out/d", "out/e/f/g"]);
    let read = |name: &str| std::fs::read_to_string(world.path(name)).unwrap();
    // The key that is spelled like the file, else the first.
    assert_eq!(read("out/a/b"), "a/b");
    assert_eq!(read("out/-/-x"), "-/-x");
    assert_eq!(read("out/a/c"), "a/./c");
    assert_eq!(read("out/e/f/g"), "e/.//f/g");
    let text = "`x/a//b` would overwrite the file `a/b`, which is written from key `x/a/b`";
    assert_eq!(world.log.count(text), 1, "{:?}", world.log.lines());
    let pages = world.sim.ledger().count("ListObjectsV2");
    assert!(pages < 9, "one page answers for many: {pages} listings");
}

#[tokio::test(start_paused = true)]
async fn tables_of_the_system_win_over_the_built_in_one() {
    let world = World::new();
    for name in ["in/a.html", "in/b.odd", "in/c.txt"] {
        world.file(name, b"1");
    }
    world.file("first", b"text/first odd html\n");
    world.file("second", b"# comment\ntext/second odd # more \xff\n");
    let tables = ["none", "first", "second"].map(|name| world.path(name)).to_vec();
    let spec = tree(&world, TransferCommand::Copy, "in", Some("s3://bucket/x"));
    let spec = TransferSpec { media_type_tables: tables, ..spec };
    assert_eq!(world.run(spec).await.unwrap().done, 3, "{:?}", world.log.lines());
    let mut types = Vec::new();
    for key in ["x/a.html", "x/b.odd", "x/c.txt"] {
        types.push(world.head(key).await.properties.content_type.unwrap());
    }
    assert_eq!(types, ["text/first", "text/second", "text/plain"]);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_also_a_folder_fails_alone() {
    let world = World::new();
    world.object("x/a", b"1").await;
    world.object("x/a/b", b"2").await;
    world.object("x/c", b"3").await;
    let summary = world.cp_tree("s3://bucket/x", "out").await;
    assert_eq!((summary.done, summary.failed), (2, 1), "{:?}", world.log.lines());
    assert!(world.files().contains(&"out/c".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn folder_markers_are_only_removed() {
    let world = World::new();
    world.object("x/dir/", b"").await;
    world.object("x/dir/f", b"").await;
    let summary = world.cp_tree("s3://bucket/x", "out").await;
    let told = Summary { requests_sent: RequestCounts::default(), ..summary };
    assert_eq!(told, Summary { done: 1, ..Summary::default() }, "{:?}", world.log.lines());
    assert_eq!(std::fs::read(world.path("out/dir/f")).unwrap(), b"");
    let spec = tree(&world, TransferCommand::Remove, "s3://bucket/x", None);
    assert_eq!(world.run(spec).await.unwrap().done, 2);
}

#[tokio::test(start_paused = true)]
async fn single_names_follow_the_target() {
    let world = World::new();
    world.file("f.txt", b"1");
    world.cp("f.txt", "s3://bucket").await;
    world.cp("f.txt", "s3://bucket/d").await;
    world.cp("f.txt", "s3://bucket/d/").await;
    assert_eq!(world.keys().await, ["d", "d/f.txt", "f.txt"]);
    std::fs::create_dir(world.path("dir")).unwrap();
    world.cp("s3://bucket/d/f.txt", "dir").await;
    world.cp("s3://bucket/d/f.txt", "new/g").await;
    assert_eq!(world.files(), ["dir/f.txt", "f.txt", "new/g"]);
}

#[tokio::test(start_paused = true)]
async fn a_missing_key_is_fatal_and_a_missing_file_an_error() {
    let world = World::new();
    let summary = world.cp("s3://bucket/none", "out").await;
    assert!(summary.fatal && summary.failed == 0);
    let text = "fatal error: An error occurred (404) when calling the HeadObject operation: \
                Key \"none\" does not exist";
    assert_eq!(world.log.lines(), [text]);
    let spec = world.spec(TransferCommand::Copy, "none", Some("s3://bucket"));
    let error = world.run(spec).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Local);
    assert_eq!(error.to_string(), "The user-provided path none does not exist.");
    // The system does not find these, though they name a file when they are made plain.
    world.file("there", b"1");
    for path in ["there/", "none/../there"] {
        let spec = world.spec(TransferCommand::Copy, path, Some("s3://bucket"));
        let error = world.run(spec).await.unwrap_err();
        assert_eq!(error.to_string(), format!("The user-provided path {path} does not exist."));
    }
    let spec = world.spec(TransferCommand::Move, "s3://bucket/k", Some("s3://bucket/k"));
    let error = world.run(spec).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().starts_with("Cannot mv a file onto itself"), "{error}");
    let spec = world.spec(TransferCommand::Remove, "s3://bucket/none", None);
    assert_eq!(world.run(spec).await.unwrap().done, 1);
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_breaks_off_is_fatal_after_what_was_listed() {
    let world = World::new();
    for n in 0..10 {
        world.object(&format!("x/{n}"), b"1").await;
    }
    let refusal = Effect::respond(403, "AccessDenied");
    world.sim.weather().push(Fault::new(refusal).operation("ListObjectsV2").skip(2).always());
    let spec = tree(&world, TransferCommand::Copy, "s3://bucket/x", Some("out"));
    let summary = world.run(TransferSpec { page_size: Some(3), ..spec }).await.unwrap();
    assert!(summary.fatal);
    assert_eq!(summary.done, 6, "{:?}", world.log.lines());
    assert_eq!(world.log.count("fatal error"), 1);
    assert_eq!(world.log.count("planned"), 0);
}

#[tokio::test(start_paused = true)]
async fn prefixes_of_many_pages_are_listed_within_the_limit_and_small_ones_at_once() {
    let world = World::new();
    for n in 0..120 {
        world.object(&format!("x/{n:03}"), b"1").await;
    }
    world.sim.weather().set_latency(Duration::from_millis(100));
    for (page_size, least) in [(None, 1), (Some(3), 40)] {
        let before = world.sim.ledger().count("ListObjectsV2");
        let target = format!("s3://bucket/y{least}");
        let spec = tree(&world, TransferCommand::Copy, "s3://bucket/x", Some(&target));
        let summary = world.run(TransferSpec { page_size, ..spec }).await.unwrap();
        assert_eq!(summary.done, 120, "{:?}", world.log.lines());
        let listings = world.sim.ledger().count("ListObjectsV2") - before;
        assert!((least..=2 * least - 1).contains(&listings), "{listings} listings");
        assert_eq!(world.sim.ledger().max_concurrency(), 8);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_writes_nothing() {
    let world = World::new();
    world.file("in/a", b"1");
    world.object("x/a", b"1").await;
    let moves =
        [("in", "s3://bucket/y"), ("s3://bucket/x", "out"), ("s3://bucket/x", "s3://bucket/z")];
    for (source, target) in moves {
        let spec = tree(&world, TransferCommand::Move, source, Some(target));
        let summary = world.run(TransferSpec { dry_run: true, ..spec }).await.unwrap();
        let Summary { requests_sent, requests_planned, .. } = summary;
        assert_eq!(requests_planned.write + requests_planned.read, 1);
        assert_eq!(summary, Summary { requests_sent, requests_planned, ..Summary::default() });
    }
    let spec = tree(&world, TransferCommand::Remove, "s3://bucket", None);
    world.run(TransferSpec { dry_run: true, ..spec }).await.unwrap();
    assert_eq!(world.log.count("dryrun"), 4, "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/a"]);
    assert_eq!(world.files(), ["in/a"]);
    assert!(world.path("out").is_dir());
}

#[tokio::test(start_paused = true)]
async fn wildcards_choose_keys_unless_raw() {
    let world = World::new();
    for key in ["logs/a.gz", "logs/b.txt", "logs/deep/c.gz", "other/d.gz", "logs/*.gz"] {
        world.object(key, b"1").await;
    }
    assert_eq!(world.cp("s3://bucket/logs/*.gz", "out").await.done, 3, "{:?}", world.log.lines());
    assert_eq!(world.files(), ["out/*.gz", "out/a.gz", "out/deep/c.gz"]);
    let spec = tree(&world, TransferCommand::Copy, "s3://bucket/*/d?ep", Some("deep"));
    world.run(spec).await.unwrap();
    let spec = tree(&world, TransferCommand::Copy, "s3://bucket/logs/*.txt", Some("deep"));
    world.run(spec).await.unwrap();
    assert_eq!(world.files()[..2], ["deep/b.txt", "deep/logs/deep/c.gz"]);
    let spec = world.spec(TransferCommand::Remove, "s3://bucket/logs/*.gz", None);
    world.run(TransferSpec { raw: true, ..spec.clone() }).await.unwrap();
    assert_eq!(world.keys().await.len(), 4);
    world.run(spec).await.unwrap();
    assert_eq!(world.keys().await, ["logs/b.txt", "other/d.gz"]);
}

#[tokio::test(start_paused = true)]
async fn a_move_writes_over_no_file_of_a_key_that_was_moved_before() {
    let world = World::new();
    world.object("x/a/b", b"plain").await;
    let spec = tree(&world, TransferCommand::Move, "s3://bucket/x", Some("out"));
    assert_eq!(world.run(spec.clone()).await.unwrap().done, 1);
    world.object("x/a//b", b"other").await;
    let summary = world.run(spec).await.unwrap();
    assert_eq!((summary.done, summary.failed), (0, 1), "{:?}", world.log.lines());
    assert_eq!(world.keys().await, ["x/a//b"]);
    assert_eq!(std::fs::read(world.path("out/a/b")).unwrap(), b"plain");
}

#[tokio::test(start_paused = true)]
async fn filters_hold_for_every_source() {
    let world = World::new();
    for name in ["a.txt", "b.jpg", "sub/c.txt"] {
        world.file(&format!("in/{name}"), b"1");
        world.object(&format!("x/{name}"), b"1").await;
    }
    let rule = |include, pattern: &str| {
        let rule = if include { FilterRule::Include } else { FilterRule::Exclude };
        rule(pattern.to_owned())
    };
    let filters = vec![rule(false, "*"), rule(true, "*.txt")];
    for (source, target) in
        [("in", "s3://bucket/y"), ("s3://bucket/x", "out"), ("s3://bucket/x", "s3://bucket/z")]
    {
        let spec = tree(&world, TransferCommand::Copy, source, Some(target));
        let summary = world.run(TransferSpec { filters: filters.clone(), ..spec }).await.unwrap();
        assert_eq!(summary.done, 2, "{source}: {:?}", world.log.lines());
    }
}

/// Collects what is written.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes some bytes and is then closed.
struct Closing(usize);

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn streams_go_up_and_come_back() {
    for size in [0, 10, PART as usize, 3 * PART as usize + 7] {
        let world = World::new();
        let content = bytes(size, 8);
        let input = Box::new(io::Cursor::new(content.clone()));
        let streams = Streams { input, output: Box::new(io::sink()) };
        let spec = world.spec(TransferCommand::Copy, "-", Some("s3://bucket/k.txt"));
        let summary = world.run_with(spec, streams).await.unwrap();
        assert_eq!((summary.done, summary.bytes), (1, size as u64), "{:?}", world.log.lines());
        assert_eq!(world.get("k.txt").await.unwrap(), content);
        assert_eq!(world.log.moved(), size as i64);

        let output = Output::default();
        let streams = Streams { input: Box::new(io::empty()), output: Box::new(output.clone()) };
        let spec = world.spec(TransferCommand::Copy, "s3://bucket/k.txt", Some("-"));
        let summary = world.run_with(spec, streams).await.unwrap();
        assert_eq!(summary.done, 1, "{:?}", world.log.lines());
        assert_eq!(*output.0.lock().unwrap(), content);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_has_enough_ends_the_output_quietly() {
    let world = World::new();
    world.object("k", &bytes(3 * PART as usize, 8)).await;
    let streams = Streams { input: Box::new(io::empty()), output: Box::new(Closing(1000)) };
    let spec = world.spec(TransferCommand::Copy, "s3://bucket/k", Some("-"));
    let summary = world.run_with(spec, streams).await.unwrap();
    assert_eq!((summary.failed, summary.fatal), (0, false), "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn names_that_are_no_keys_are_warnings() {
    let world = World::new();
    world.file("in/ok", b"1");
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    std::fs::write(world.path("in").join(name), b"2").unwrap();
    std::os::unix::fs::symlink("nowhere", world.path("in/broken")).unwrap();
    let summary = world.cp_tree("in", "s3://bucket").await;
    assert_eq!((summary.done, summary.warnings), (1, 2), "{:?}", world.log.lines());
}

#[tokio::test(start_paused = true)]
async fn servers_without_batch_deletion_are_asked_key_by_key() {
    let world = World::new();
    for n in 0..5 {
        world.object(&format!("x/{n}"), b"1").await;
    }
    let refusal = Effect::respond(501, "NotImplemented");
    world.sim.weather().push(Fault::new(refusal).operation("DeleteObjects").always());
    let spec = tree(&world, TransferCommand::Remove, "s3://bucket", None);
    assert_eq!(world.run(spec).await.unwrap().done, 5, "{:?}", world.log.lines());
    assert!(world.keys().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn keys_that_refuse_to_go_fail_one_by_one() {
    let world = World::new();
    for n in 0..3 {
        world.object(&format!("x/{n}"), b"1").await;
    }
    let refusal = Effect::ok_with_error("AccessDenied");
    world.sim.weather().push(Fault::new(refusal).operation("DeleteObjects").always());
    let spec = tree(&world, TransferCommand::Remove, "s3://bucket", None);
    assert_eq!(world.run(spec).await.unwrap().failed, 3, "{:?}", world.log.lines());
    assert_eq!(world.log.count("AccessDenied"), 3);
}

#[tokio::test(start_paused = true)]
async fn tags_too_long_for_a_header_follow_or_the_target_goes() {
    let tags: Vec<_> =
        (0..10).map(|n| (format!("name-{n}-{}", "x".repeat(100)), "v".repeat(200))).collect();
    for refused in [false, true] {
        let world = World::new();
        world.object("x/large", &bytes(PART as usize, 1)).await;
        world.client.put_object_tagging("bucket", "x/large", None, &tags).await.unwrap();
        if refused {
            let refusal = Effect::respond(403, "AccessDenied");
            world.sim.weather().push(Fault::new(refusal).operation("PutObjectTagging").always());
        }
        let summary = world.cp_tree("s3://bucket/x", "s3://bucket/y").await;
        if refused {
            assert_eq!(summary.failed, 1, "{:?}", world.log.lines());
            assert_eq!(world.keys().await, ["x/large"]);
        } else {
            assert_eq!(summary.done, 1, "{:?}", world.log.lines());
            let copied = world.client.get_object_tagging("bucket", "y/large", None).await;
            assert_eq!(copied.unwrap().len(), 10);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_header_of_a_copy_keeps_the_others() {
    let world = World::new();
    let properties = ObjectProperties {
        cache_control: Some("no-cache".to_owned()),
        metadata: Some(vec![("colour".to_owned(), "blue".to_owned())]),
        ..ObjectProperties::default()
    };
    world.object_with("k", b"1", &properties).await;
    let mut spec = world.spec(TransferCommand::Copy, "s3://bucket/k", Some("s3://bucket/l"));
    spec.properties.content_type = Some("text/css".to_owned());
    world.run(spec).await.unwrap();
    let copied = world.head("l").await.properties;
    assert_eq!(copied.content_type.as_deref(), Some("text/css"));
    assert_eq!(copied.cache_control, properties.cache_control);
    assert_eq!(copied.metadata, properties.metadata);
}

#[tokio::test(start_paused = true)]
async fn devices_take_their_bytes_in_order() {
    let world = World::new();
    for size in [10, 3 * PART as usize + 7] {
        world.object("k", &bytes(size, 8)).await;
        let summary = world.cp("s3://bucket/k", "/dev/null").await;
        assert_eq!((summary.done, summary.bytes), (1, size as u64), "{:?}", world.log.lines());
    }
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

/// A FIFO in the target was written to, or waited for without end.
#[tokio::test(start_paused = true)]
async fn a_fifo_in_the_target_folder_is_not_waited_for() {
    let world = World::new();
    world.object("x/a", b"1").await;
    world.object("x/b//c", b"1").await;
    world.file("out/b/c", b"mine");
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, world.path("out/a"), fifo, 0o600.into(), 0).unwrap();
    for command in [TransferCommand::Sync, TransferCommand::Copy] {
        let spec = tree(&world, command, "s3://bucket/x", Some("out"));
        let spec = TransferSpec { no_overwrite: true, ..spec };
        let summary = world.run(spec).await.unwrap();
        assert_eq!((summary.skipped, summary.failed), (2, 0), "{:?}", world.log.lines());
        assert_eq!(std::fs::read(world.path("out/b/c")).unwrap(), b"mine");
    }
    let replaced = tree(&world, TransferCommand::Sync, "s3://bucket/x", Some("out"));
    let summary = world.run(replaced).await.unwrap();
    assert_eq!((summary.done, summary.failed), (1, 1), "{:?}", world.log.lines());
    assert_eq!(world.log.count("nothing reads from the FIFO"), 1, "{:?}", world.log.lines());
}
