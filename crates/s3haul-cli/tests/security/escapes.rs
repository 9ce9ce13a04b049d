//! Nothing is written or removed outside the folder that was named, whatever the keys are and
//! whatever happens to the folder meanwhile.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};

use super::support::{Bench, stderr, stdout};

/// Keys that climb, stand at the root, or are no names, each with whether it has a place below the
/// target at all.
const EVIL: [(&str, bool); 16] = [
    ("../up", false),
    ("../../up", false),
    ("a/../../up", false),
    ("a/..", false),
    ("..", false),
    ("a/../b", false),
    ("/absolute", true),
    ("//absolute", true),
    ("a\0b", false),
    ("a/./b", true),
    ("./c", true),
    (".", false),
    ("a/.", false),
    ("C:\\windows\\x", true),
    ("..\\up", true),
    ("link/planted", false),
];

/// Files below a folder, links as what they are.
fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            if kind.is_dir() {
                pending.push(path);
            } else if kind.is_symlink() {
                found.insert(path, "link".to_owned());
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(path, text);
            }
        }
    }
    found
}

/// A bucket with evil keys below `p/`, and a target folder three deep with links out of it.
struct Trap {
    bench: Bench,
    /// All that is outside the target, at the start.
    before: BTreeMap<PathBuf, String>,
}

impl Trap {
    fn new() -> Self {
        let bench = Bench::new();
        bench.ok("mb s3://box");
        let this = Self { bench, before: BTreeMap::new() };
        for (key, _) in EVIL {
            this.put(&format!("p/{key}"));
        }
        this.put("p/good");
        this.bench.file("outside/kept", "kept");
        this.bench.file("in/deep/t/old", "old");
        let target = this.target();
        symlink(this.bench.folder().join("outside"), target.join("link")).unwrap();
        symlink("../../../outside/kept", target.join("file")).unwrap();
        let before = this.outside();
        Self { before, ..this }
    }

    fn put(&self, key: &str) {
        self.put_as(key, "evil");
    }

    /// Over HTTP without a shell or a file system between: any key goes.
    fn put_as(&self, key: &str, text: &str) {
        let mut command = self.bench.command("pipe");
        if let Some(name) = key.strip_prefix("p/").filter(|name| name.contains('\0')) {
            // No argument can hold it, but a script can make it.
            self.put_as("seed/x", text);
            let script = format!("js:key=>'{}'", name.replace('\0', "\\0"));
            let args = format!("cp --recursive s3://box/seed/ s3://box/p/ --to-key {script}");
            self.bench.ok(&format!("{args} --only-show-errors"));
            self.bench.ok("rm s3://box/seed/x --only-show-errors");
            return;
        }
        let mut child = command
            .arg(format!("s3://box/{key}"))
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{key}: {output:?}");
    }

    fn target(&self) -> PathBuf {
        self.bench.folder().join("in/deep/t")
    }

    /// All files in the test's folder that are not in the target.
    fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut all = tree(self.bench.folder());
        let target = self.target();
        all.retain(|path, _| !path.starts_with(&target));
        all
    }

    fn assert_nothing_outside(&self, what: &str) {
        assert_eq!(self.outside(), self.before, "{what}");
        for root in ["/absolute", "/up", "/tmp/up"] {
            assert!(!Path::new(root).exists(), "{what}: {root}");
        }
    }

    fn run(&self, args: &str) -> Output {
        let output = self.bench.run(args);
        self.assert_nothing_outside(args);
        output
    }
}

#[test]
fn keys_that_lead_out_are_skipped_by_every_command() {
    for (args, codes) in [
        ("cp --recursive s3://box/p/ in/deep/t", [2, 2]),
        ("sync s3://box/p/ in/deep/t", [2, 2]),
        ("sync s3://box/p/ in/deep/t --delete --exact-timestamps", [2, 2]),
        ("mv --recursive s3://box/p/ in/deep/t", [2, 2]),
    ] {
        let trap = Trap::new();
        // The forecast names nothing outside either.
        let forecast = trap.run(&format!("{args} --dryrun"));
        assert_eq!(forecast.status.code(), Some(2), "{args}: {forecast:?}");
        for line in stdout(&forecast).lines().filter(|line| line.contains("load: s3://")) {
            let (_, target) = line.rsplit_once(" to ").unwrap_or_default();
            assert!(target.starts_with("in/deep/t/") && !target.contains("../"), "{line}");
        }
        let output = trap.run(args);
        assert!(codes.contains(&output.status.code().unwrap()), "{args}: {output:?}");
        let messages = stderr(&output);
        for (key, has_place) in EVIL.iter().filter(|(key, _)| !key.contains('\0')) {
            let is_told = messages.contains(&format!("Skipping file {key}."))
                || messages.contains(&format!("/{key}. "))
                || messages.contains(*key);
            assert!(*has_place || is_told, "{args}: {key} is not reported:\n{messages}");
        }
        assert_eq!(fs::read_to_string(trap.target().join("good")).unwrap(), "evil", "{args}");
        // What was not brought down stays where it was.
        let left = trap.bench.lines("list s3://box/p/ --format keys");
        assert!(left.iter().any(|key| key.ends_with("p/../up")), "{args}: {left:?}");
    }
}

/// Names that are longer than a disk has room for fail by themselves.
#[test]
fn names_that_no_disk_holds_fail_alone() {
    let trap = Trap::new();
    let long = "n".repeat(300);
    for key in [long.clone(), format!("{long}/x"), format!("d/{long}"), "d/short".to_owned()] {
        trap.put(&format!("l/{key}"));
    }
    let output = trap.run("cp --recursive s3://box/l/ in/deep/t");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(stderr(&output).matches("download failed: ").count(), 3, "{output:?}");
    let names =
        fs::read_dir(trap.target().join("d")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["short"]);
}

#[test]
fn single_objects_cannot_lead_out_either() {
    for args in [
        "cp s3://box/p/../up in/deep/t/",
        "cp s3://box/p/a/.. in/deep/t/",
        "cp s3://box/p/.. in/deep/t/",
        "cp s3://box/p/. in/deep/t/",
        "cp s3://box/p/link/planted in/deep/t/",
        "mv s3://box/p/a/.. in/deep/t/",
    ] {
        let trap = Trap::new();
        let output = trap.run(args);
        // The last component alone is the name: those that are none are refused.
        let is_name = args.contains("/up") || args.contains("planted");
        assert_eq!(output.status.success(), is_name, "{args}: {output:?}");
    }
}

#[test]
fn manifests_scripts_and_the_past_cannot_lead_out() {
    let trap = Trap::new();
    let keys =
        EVIL.map(|(key, _)| format!("{{\"key\":{}}}\n", serde_json::json!(format!("p/{key}"))));
    trap.bench.file("in/deep/t/keys.jsonl", &keys.concat());
    trap.run("cp --recursive s3://box/p/ in/deep/t --from in/deep/t/keys.jsonl");
    for script in ["../{name}", "../../{name}", "/{name}", "a/../../{name}", "link/{name}"] {
        let args = format!("cp --recursive s3://box/p/good in/deep/t --to-key {script}");
        let output = trap.run(&args.replace("p/good", "p/"));
        assert!(!output.status.success(), "{args}: {output:?}");
    }
    trap.bench.file("in/deep/t/names.js", "key => '../'.repeat(3) + 'outside/' + key");
    let script = "js:key=>'../../../outside/'+key";
    trap.run(&format!("sync s3://box/p/ in/deep/t --to-key {script}"));
    trap.run("cp --recursive s3://box/p/ in/deep/t --as-of 0s");
}

#[test]
fn what_a_link_leads_to_is_not_removed() {
    let trap = Trap::new();
    fs::create_dir(trap.target().join("real")).unwrap();
    fs::write(trap.target().join("real/f"), "real").unwrap();
    symlink("real", trap.target().join("inner")).unwrap();
    let output = trap.run("sync s3://box/none/ in/deep/t --delete --allow-empty-source");
    assert_eq!(fs::read_to_string(trap.bench.folder().join("outside/kept")).unwrap(), "kept");
    assert!(stderr(&output).contains("link"), "{output:?}");
    assert!(!trap.target().join("old").exists() && !trap.target().join("real/f").exists());
    // The link itself may go, what it leads to stays.
    assert!(!trap.target().join("file").exists());
}

/// Uploads follow links, as those of `aws s3` do, unless switched off.
#[test]
fn uploads_follow_links_only_as_long_as_they_may() {
    let trap = Trap::new();
    let listed = |args: &str| {
        trap.bench.ok(args);
        let mut keys = trap.bench.lines("list s3://box/q/ --format keys");
        trap.bench.ok("rm --recursive s3://box/q/ --only-show-errors");
        keys.sort();
        keys
    };
    let all = listed("cp --recursive in/deep/t s3://box/q/ --only-show-errors");
    assert_eq!(all, ["q/file", "q/link/kept", "q/old"]);
    let few =
        listed("cp --recursive in/deep/t s3://box/q/ --no-follow-symlinks --only-show-errors");
    assert_eq!(few, ["q/old"]);
}

/// A folder in the target becomes a link and a folder again, all the time.
#[test]
fn a_race_for_a_folder_cannot_be_won() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    for number in 0..300 {
        bench.file(&format!("up/d/{number}"), "evil");
        bench.file(&format!("up/d/e{}/{number}", number % 7), "evil");
    }
    bench.file("up/d/large", &"x".repeat(20 << 20));
    bench.ok("cp --recursive up s3://box --only-show-errors");
    bench.file("outside/e0/kept", "kept");
    bench.file("t/d/first", "1");
    let (target, outside) = (bench.folder().join("t"), bench.folder().join("outside"));
    let ended = AtomicBool::new(false);
    let flips = std::thread::scope(|scope| {
        let flipper = scope.spawn(|| {
            let (folder, hidden) = (target.join("d"), target.join("hidden"));
            let mut flips = 0_u32;
            while !ended.load(Ordering::Relaxed) {
                if fs::rename(&folder, &hidden).is_ok() {
                    if symlink(&outside, &folder).is_ok() {
                        std::thread::yield_now();
                        fs::remove_file(&folder).unwrap();
                    }
                    // Meanwhile the command may have made it anew.
                    if fs::rename(&hidden, &folder).is_err() {
                        fs::remove_dir_all(&hidden).unwrap();
                    }
                    flips += 1;
                }
            }
            flips
        });
        for round in 0..6 {
            for args in [
                "cp --recursive s3://box t --only-show-errors",
                "sync s3://box t --delete --only-show-errors",
                "sync s3://box/none t --delete --allow-empty-source --only-show-errors",
            ] {
                let output = bench.run(args);
                let code = output.status.code().unwrap();
                assert!((0..=2).contains(&code) || code == 255, "{round} {args}: {output:?}");
            }
        }
        ended.store(true, Ordering::Relaxed);
        flipper.join().unwrap()
    });
    assert!(flips > 50, "{flips}");
    let kept = BTreeMap::from([(outside.join("e0/kept"), "kept".to_owned())]);
    assert_eq!(tree(&outside), kept, "after {flips} flips");
}
