//! Bad input and bad luck: a clear error, the right exit status, and nothing lost or left behind.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::command::Running;
use crate::harness::{Ctx, cases};
use crate::trees::{self, MIB};
use crate::{servers, tools};

cases!["failures":
    missing_bucket,
    wrong_credentials,
    no_credentials,
    unsigned_requests,
    refused_connection,
    special_and_unreadable_files,
    target_that_cannot_be_a_folder,
    one_failure_does_not_stop_the_rest,
    interrupted_upload,
    interrupted_download,
    file_changed_while_uploaded,
    object_changed_while_downloaded,
];

/// Cases that do not depend on the server, or need one of their own.
pub(crate) const EMBEDDED: &[crate::harness::Case] = &[
    case("failures::server_stopped_midway", server_stopped_midway),
    case("failures::full_disk", full_disk),
    case("failures::full_standard_output", full_standard_output),
    case("failures::json_lines", json_lines),
    case("failures::closed_pipe", closed_pipe),
    case("failures::null_server_gives_bytes_back", null_server_gives_bytes_back),
    case("failures::served_objects_outlive_the_server", served_objects_outlive_the_server),
];

const fn case(name: &'static str, run: fn(&Ctx<'_>)) -> crate::harness::Case {
    crate::harness::Case { name, run }
}

/// Large enough that a signal arrives before its end.
const LARGE: usize = 200 * MIB;
const SLOWLY: &str = "multipart_chunksize=5MB max_concurrent_requests=1 max_bandwidth=20MB/s";
const SEEN_MAX: Duration = Duration::from_secs(30);

fn missing_bucket(ctx: &Ctx<'_>) {
    ctx.file("t/a", b"1");
    let missing = format!("s3://{}-missing", ctx.bucket);
    for args in [
        vec!["cp", "t/a", &missing],
        vec!["cp", "--recursive", "t", &missing],
        vec!["cp", "--recursive", &missing, "t"],
        vec!["rm", "--recursive", &missing],
        vec!["rb", &missing],
    ] {
        let done = ctx.haul(&args).code(1);
        let told = done.err().contains("NoSuchBucket") || done.err().contains("bucket");
        assert!(told, "{}", done.report());
    }
    ctx.haul(&["ls", &missing]).code(254);
    assert!(ctx.path("t/a").exists());
}

fn wrong_credentials(ctx: &Ctx<'_>) {
    if !ctx.can(ctx.server.features.signatures, "signatures") {
        return;
    }
    ctx.file("f", b"1");
    ctx.remote.put("k", b"1");
    for (variable, code) in [
        ("AWS_SECRET_ACCESS_KEY", "SignatureDoesNotMatch"),
        ("AWS_ACCESS_KEY_ID", ctx.server.features.unknown_key_code),
    ] {
        let run = |args: &[&str]| ctx.haul_with(args).variable(variable, "wrong").run();
        run(&["cp", "f", &ctx.url("new")]).code(1).says(code);
        run(&["cp", "--recursive", &ctx.url(""), "down"]).code(1).says(code);
        run(&["ls", &ctx.url("")]).code(254).says(code);
        // A HEAD's answer has no body, so only its status is known.
        let done = run(&["mv", &ctx.url("k"), "g"]).code(1);
        assert!(!done.err().contains("wrong-secret"), "{}", done.report());
    }
    assert_eq!(ctx.remote.keys(), ["k"]);
    assert_eq!(trees::names(&ctx.dir()), ["f"]);
}

fn no_credentials(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let run = |args: &[&str]| {
        let bare = ctx.haul_with(args).without("AWS_ACCESS_KEY_ID");
        bare.without("AWS_SECRET_ACCESS_KEY").run()
    };
    let done = run(&["cp", "f", &ctx.url("k")]).code(1);
    assert!(done.err().to_lowercase().contains("credentials"), "{}", done.report());
    let done = run(&["ls", &ctx.url("")]).code(253);
    assert!(done.err().to_lowercase().contains("credentials"), "{}", done.report());
    run(&["presign", &ctx.url("k")]).code(253);
}

fn unsigned_requests(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    let run = |args: &[&str]| {
        let bare = ctx.haul_with(args).without("AWS_ACCESS_KEY_ID");
        bare.without("AWS_SECRET_ACCESS_KEY").run()
    };
    run(&["cp", "--no-sign-request", "f", &ctx.url("k")]).code(1).says("AccessDenied");
    run(&["ls", "--no-sign-request", &ctx.url("")]).code(254).says("AccessDenied");
    assert_eq!(ctx.remote.keys(), [""; 0]);
}

fn refused_connection(ctx: &Ctx<'_>) {
    ctx.file("f", b"1");
    // Bound and closed again: nothing listens there.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let run = |args: &[&str]| {
        ctx.haul_with(args)
            .variable("AWS_ENDPOINT_URL", &endpoint)
            .variable("AWS_MAX_ATTEMPTS", "2")
            .run()
    };
    let done = run(&["cp", "f", &ctx.url("k")]).code(1);
    assert!(done.err().contains("127.0.0.1"), "{}", done.report());
    run(&["ls", &ctx.url("")]).code_in(&[253, 254, 255]);
    run(&["mv", "f", &ctx.url("k")]).code(1);
    assert!(ctx.path("f").exists());
}

fn special_and_unreadable_files(ctx: &Ctx<'_>) {
    ctx.file("t/good", b"1");
    let made = Command::new("mkfifo").arg(ctx.path("t/pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    if tools::is_root() {
        ctx.skip("root may read every file");
    } else {
        let secret = ctx.file("t/secret", b"2");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
        fs::set_permissions(secret, mode).unwrap();
    }
    let done = ctx.haul(&["cp", "--recursive", "t", &ctx.url("")]).code(2);
    assert!(done.err().contains("warning: Skipping file") && done.err().contains("t/pipe"));
    assert_eq!(ctx.remote.keys(), ["good"]);
    ctx.haul(&["mv", "--recursive", "t", &ctx.url("moved")]).code(2);
    assert!(ctx.path("t/pipe").exists() && !ctx.path("t/good").exists());
}

fn target_that_cannot_be_a_folder(ctx: &Ctx<'_>) {
    ctx.file("wall", b"kept");
    ctx.remote.put("k", b"1");
    let tree = ctx.haul(&["cp", "--recursive", &ctx.url(""), "wall/t"]);
    let tree = tree.code_in(&[1, 255]);
    assert!(tree.err().contains("wall"), "{}", tree.report());
    let single = ctx.haul(&["cp", &ctx.url("k"), "wall/x"]).code_in(&[1, 255]);
    assert!(single.err().contains("wall"), "{}", single.report());
    ctx.haul(&["mv", &ctx.url("k"), "wall/x"]).code_in(&[1, 255]);
    assert_eq!(ctx.remote.keys(), ["k"], "what could not be written stays at its source");
    assert_eq!(fs::read(ctx.path("wall")).unwrap(), b"kept");
}

fn one_failure_does_not_stop_the_rest(ctx: &Ctx<'_>) {
    for key in ["a", "b/x", "c", "d"] {
        ctx.remote.put(key, key.as_bytes());
    }
    ctx.file("t/b", b"a file where a folder must be");
    let done = ctx.haul(&["cp", "--recursive", &ctx.url(""), "t"]).code(1);
    assert!(done.err().contains("download failed: "), "{}", done.report());
    assert_eq!(trees::names(&ctx.path("t")), ["a", "b", "c", "d"]);
}

/// Waits for a sign that a command is in the middle of its work.
fn wait_until(running: &mut Running, mut seen: impl FnMut() -> bool) {
    let deadline = Instant::now() + SEEN_MAX;
    while !seen() {
        assert!(!running.has_ended(), "it ended before anything could be seen of it");
        assert!(Instant::now() < deadline, "nothing was seen of it in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn large_file(ctx: &Ctx<'_>, name: &str) {
    let file = fs::File::create(ctx.path(name)).unwrap();
    file.set_len(LARGE as u64).unwrap();
}

fn slow(ctx: &Ctx<'_>, args: &[&str]) -> Running {
    ctx.haul_with(args).variable("AWS_CONFIG_FILE", ctx.config(SLOWLY)).start()
}

fn interrupted_upload(ctx: &Ctx<'_>) {
    large_file(ctx, "large");
    let mut running = slow(ctx, &["mv", "large", &ctx.url("large")]);
    wait_until(&mut running, || !ctx.remote.uploads("large").is_empty());
    running.signal("INT");
    let done = running.finish().code_in(&[1, 130]);
    assert_eq!(ctx.remote.uploads("large"), [""; 0], "{}", done.report());
    assert_eq!(ctx.remote.keys(), [""; 0]);
    assert!(ctx.path("large").exists());
}

fn interrupted_download(ctx: &Ctx<'_>) {
    large_file(ctx, "large");
    ctx.haul(&["mv", "large", &ctx.url("large")]).ok();
    let mut running = slow(ctx, &["mv", &ctx.url("large"), "down/got"]);
    let down = ctx.path("down");
    wait_until(&mut running, || fs::read_dir(&down).is_ok_and(|mut names| names.next().is_some()));
    running.signal("INT");
    let done = running.finish().code_in(&[1, 130]);
    let left: Vec<_> = fs::read_dir(&down).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.is_empty(), "left behind: {left:?}\n{}", done.report());
    assert_eq!(ctx.remote.keys(), ["large"]);
}

/// A file that grows or shrinks under the upload gives its new bytes or none, never a mixture. A
/// second try may find it while it is written: empty, or with the first of its new bytes.
fn file_changed_while_uploaded(ctx: &Ctx<'_>) {
    for (key, new) in [("shrunk", 6 * MIB), ("grown", 48 * MIB)] {
        let file = ctx.file("f", &vec![1; 40 * MIB]);
        let mut running = slow(ctx, &["cp", "f", &ctx.url(key)]);
        wait_until(&mut running, || !ctx.remote.uploads(key).is_empty());
        fs::write(&file, vec![2; new]).unwrap();
        let done = running.finish().code_in(&[0, 1]);
        assert_eq!(ctx.remote.uploads(key), [""; 0], "{}", done.report());
        if ctx.remote.keys().iter().any(|known| known == key) {
            let bytes = ctx.remote.get(key);
            let is_new = bytes.len() <= new && bytes.iter().all(|byte| *byte == 2);
            assert!(is_new, "{key}: {} bytes\n{}", bytes.len(), done.report());
        }
        ctx.remote.delete(key);
    }
}

fn object_changed_while_downloaded(ctx: &Ctx<'_>) {
    ctx.remote.put("k", &vec![1; 60 * MIB]);
    let mut running = slow(ctx, &["cp", &ctx.url("k"), "down/got"]);
    let down = ctx.path("down");
    wait_until(&mut running, || fs::read_dir(&down).is_ok_and(|mut names| names.next().is_some()));
    ctx.remote.put("k", &vec![2; 60 * MIB]);
    let done = running.finish().code_in(&[0, 1]);
    let found = trees::read(&down);
    // On a busy machine the download may end before the new object is there.
    let whole = found.values().all(|bytes| bytes.iter().all(|byte| *byte == bytes[0]));
    assert!(found.len() <= 1 && whole, "a mixture of two objects\n{}", done.report());
}

fn server_stopped_midway(ctx: &Ctx<'_>) {
    let mut server = servers::Server::start(servers::Kind::EmbeddedMemory).unwrap();
    let endpoint = server.url.clone();
    let start = |args: &[&str]| {
        ctx.haul_with(args)
            .variable("AWS_CONFIG_FILE", ctx.config(SLOWLY))
            .variable("AWS_ENDPOINT_URL", &endpoint)
            .variable("AWS_MAX_ATTEMPTS", "2")
            .start()
    };
    large_file(ctx, "large");
    {
        let remote = crate::remote::Remote::new(&server, "stopped");
        remote.create_bucket();
        remote.put("source", &vec![0; 100 * MIB]);
        let mut up = start(&["mv", "large", "s3://stopped/large"]);
        wait_until(&mut up, || !remote.uploads("large").is_empty());
        let mut down = start(&["cp", "s3://stopped/source", "down/got"]);
        let folder = ctx.path("down");
        wait_until(&mut down, || {
            fs::read_dir(&folder).is_ok_and(|mut names| names.next().is_some())
        });
        drop(remote);
        server.kill();
        up.finish().code(1);
        down.finish().code(1);
    }
    assert!(ctx.path("large").exists());
    assert!(trees::names(&ctx.path("down")).is_empty(), "nothing is left of the download");
}

/// A small file system in memory, mounted for one case.
pub(super) struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    pub(super) fn mount(folder: &'a Path) -> Option<Self> {
        fs::create_dir_all(folder).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"]).arg(folder);
        let mounted = command.output().is_ok_and(|output| output.status.success());
        mounted.then_some(Self(folder))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

fn full_disk(ctx: &Ctx<'_>) {
    let folder = ctx.path("disk");
    let Some(_disk) = SmallDisk::mount(&folder) else {
        return ctx.skip("no right to mount a small file system");
    };
    ctx.remote.put("t/a-big", &trees::bytes(1, 20 * MIB));
    ctx.remote.put("t/b-medium", &trees::bytes(2, 4 * MIB));
    ctx.remote.put("t/c-small", &trees::bytes(3, 1_000));
    let done = ctx.haul(&["cp", "--recursive", &ctx.url("t"), "disk"]).code(1);
    assert!(done.err().to_lowercase().contains("no space left"), "{}", done.report());
    // The small one finds room unless a large one fills the disk just then.
    let found = trees::names(&folder);
    assert!(found.is_empty() || found == ["c-small"], "{found:?}\n{}", done.report());
    assert_eq!(found.is_empty(), done.err().contains("t/c-small"), "{}", done.report());
    // What failed has given its room back.
    ctx.haul(&["cp", &ctx.url("t/c-small"), "disk/c-small"]).ok();
    assert_eq!(trees::read(&folder)["c-small"], trees::bytes(3, 1_000));
}

fn json_lines(ctx: &Ctx<'_>) {
    ctx.file("t/a", b"1");
    ctx.file("t/b", b"2");
    let done = ctx.haul(&["--json", "cp", "--recursive", "t", &ctx.url("")]).ok();
    let events: Vec<serde_json::Value> =
        done.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.len() >= 2, "{}", done.report());
    ctx.haul(&["--json", "cp", &ctx.url("missing"), "x"]).code(1);
    let listed = ctx.haul(&["--json", "ls", &ctx.url("")]).ok();
    for line in listed.out().lines() {
        let _: serde_json::Value = serde_json::from_str(line).unwrap();
    }
}

/// Lost lines are reported, and the exit status is not 0.
fn full_standard_output(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"1");
    if !Path::new("/dev/full").exists() {
        return ctx.skip("no /dev/full");
    }
    let subject = tools::subject();
    for command in ["ls", "cat"] {
        let script = format!("\"$0\" {command} {} > /dev/full", ctx.url("k"));
        let shell = ctx.haul_with(&[]).program(Path::new("sh"));
        let done = shell.args(&["-c", &script, subject.to_str().unwrap()]).run().code(255);
        assert!(done.err().contains("No space left"), "{}", done.report());
    }
}

/// A reader that has seen enough ends the command quietly.
fn closed_pipe(ctx: &Ctx<'_>) {
    let keys: Vec<String> = (0..1_500).map(|n| format!("k{n:05}")).collect();
    ctx.remote.put_all(&keys);
    ctx.remote.put("big", &vec![b'x'; 9 * MIB]);
    let subject = tools::subject();
    for command in [format!("ls {}", ctx.url("")), format!("cat {}", ctx.url("big"))] {
        let script = format!("\"$0\" {command} | head -c 1 > /dev/null");
        let shell = ctx.haul_with(&[]).program(Path::new("sh"));
        let done = shell.args(&["-c", &script, subject.to_str().unwrap()]).run().ok();
        assert_eq!(done.err(), "", "{}", done.report());
    }
}

fn served_objects_outlive_the_server(_: &Ctx<'_>) {
    let server = servers::Server::start(servers::Kind::EmbeddedDisk).unwrap();
    let big = trees::bytes(1, 9 * MIB);
    let expected = [("../a/%2F", b"odd".as_slice()), ("d/", b""), ("d/x", &big), ("é 中", b"2")];
    let server = {
        let remote = crate::remote::Remote::new(&server, "durable");
        remote.create_bucket();
        for (key, bytes) in expected {
            remote.put(key, bytes);
        }
        remote.put("gone", b"1");
        remote.delete("gone");
        drop(remote);
        server.restart().unwrap()
    };
    let remote = crate::remote::Remote::new(&server, "durable");
    let expected =
        expected.iter().map(|(key, bytes)| ((*key).to_owned(), bytes.to_vec())).collect();
    trees::assert_same(&remote.objects(), &expected);
}

/// A server for measuring throws bytes away; those it gives back instead must not look damaged.
fn null_server_gives_bytes_back(ctx: &Ctx<'_>) {
    let server = servers::Server::start(servers::Kind::EmbeddedNull).unwrap();
    let run =
        |args: &[&str]| ctx.haul_with(args).variable("AWS_ENDPOINT_URL", &server.url).run().ok();
    run(&["mb", "s3://null"]);
    for (name, size) in [("small", 1_000), ("big", 20 * MIB)] {
        ctx.file(name, &trees::bytes(1, size));
        run(&["cp", name, &format!("s3://null/{name}")]);
        run(&["cp", &format!("s3://null/{name}"), "back"]);
        assert_eq!(fs::metadata(ctx.path("back")).unwrap().len(), size as u64);
    }
}
