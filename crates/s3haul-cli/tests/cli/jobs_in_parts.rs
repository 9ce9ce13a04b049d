//! Large objects of jobs: they are shown on the way, go on from their parts or leave none behind.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::jobs::{WAIT_MAX, jobs, wait_for};
use crate::support::Bench;

/// So slow that a large object is killed amid its parts.
const SLOW: &str = "--max-bandwidth 12MB/s --max-concurrent-requests 2 --no-progress --quiet";

/// Starts a command that moves one large object and kills it once some parts are done; gives the
/// name of its job.
fn kill_in_parts(bench: &Bench, args: &str) -> String {
    let mut child = bench.spawn(args);
    let begun = Instant::now();
    // Some parts are done once the journal has seen three seconds.
    while jobs(bench).iter().all(|job| job["in_parts"] != 1)
        || begun.elapsed() < Duration::from_secs(3)
    {
        assert!(child.try_wait().unwrap().is_none(), "the command ended too early");
        assert!(begun.elapsed() < WAIT_MAX);
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    jobs(bench)[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_large_file_goes_on_from_its_parts() {
    let mut bench = Bench::recorded();
    let text = "0123456789abcdef".repeat(4 << 20);
    bench.file("in/large", &text);
    let begin = |args: &str| kill_in_parts(&bench, args);
    let id = begin(&format!("cp --recursive in s3://box/x/ {SLOW}"));
    bench.ok(&format!("jobs resume {id} --max-bandwidth 10GB/s"));
    assert_eq!(bench.ok("uploads ls s3://box"), "");
    let id = begin(&format!("cp --recursive s3://box/x/ down {SLOW}"));
    assert_eq!(bench.names_in("down"), [".large.s3haul-tmp"]);
    bench.ok(&format!("jobs resume {id} --max-bandwidth 10GB/s"));
    assert_eq!(bench.read("down/large"), text);
    assert_eq!(bench.names_in("down"), ["large"]);
    // Also where the command names the file.
    let id = begin(&format!("cp s3://box/x/large named/file {SLOW}"));
    assert_eq!(bench.names_in("named"), [".file.s3haul-tmp"]);
    bench.ok(&format!("jobs resume {id} --max-bandwidth 10GB/s"));
    assert_eq!((bench.read("named/file"), bench.names_in("named")), (text, vec!["file".into()]));
    bench.end();
    let (mut sent, mut received) = (0, 0);
    for line in bench.read("ledger").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        sent += usize::from(line["operation"] == "UploadPart");
        received += usize::from(line["operation"] == "GetObject");
    }
    // Eight parts each; what was in flight when the process was killed comes again.
    assert!((8..=11).contains(&sent), "{sent} parts were sent");
    assert!((16..=22).contains(&received), "{received} ranges were received");
}

/// The second one took the upload of the first for that of an earlier run.
#[test]
fn a_large_object_may_be_named_twice() {
    let bench = Bench::recorded();
    bench.file("in/large", &"0123456789abcdef".repeat(2 << 20));
    bench.ok("cp --recursive in s3://box/x/ --quiet");
    bench.file("keys", "x/large\nx/large\n");
    for target in ["s3://box/y/ --stream", "down"] {
        let args = format!("cp s3://box/x/ {target} --from keys --journal j --quiet");
        let output = bench.run(&args);
        let text = crate::support::stderr(&output);
        let is_refused = target == "down" && text.contains("same file");
        assert!(output.status.success() || is_refused, "{target}: {text}");
        assert_eq!(bench.lines("uploads ls s3://box"), [""; 0]);
    }
    assert_eq!(bench.status("verify in s3://box/y/"), 0);
}

/// Its upload stayed open. With a checksum of the kind that parts are sent with it goes on.
#[test]
fn a_killed_copy_through_this_machine_leaves_no_upload_behind() {
    for (algorithm, sent_max) in [("CRC64NVME", 11), ("CRC32", 16)] {
        let mut bench = Bench::recorded();
        bench.file("in/large", &"0123456789abcdef".repeat(4 << 20));
        bench
            .ok(&format!("cp --recursive in s3://box/x/ --checksum-algorithm {algorithm} --quiet"));
        let before = bench.read("ledger").matches("\"UploadPart\"").count();
        let id = kill_in_parts(
            &bench,
            &format!("cp --recursive s3://box/x/ s3://box/y/ --stream {SLOW}"),
        );
        bench.ok(&format!("jobs resume {id} --max-bandwidth 10GB/s"));
        assert_eq!(bench.ok("uploads ls s3://box"), "", "{algorithm}");
        assert_eq!(bench.status("verify in s3://box/y/"), 0, "{algorithm}");
        bench.end();
        let sent = bench.read("ledger").matches("\"UploadPart\"").count() - before;
        assert!((8..=sent_max).contains(&sent), "{algorithm}: {sent} parts were sent");
    }
}

#[test]
fn parts_of_what_has_changed_or_gone_are_dropped() {
    let bench = Bench::recorded();
    let text = "0123456789abcdef".repeat(4 << 20);
    bench.file("in/small", "small");
    bench.file("in/large", &text);
    let id = kill_in_parts(&bench, &format!("cp --recursive in s3://box/x/ {SLOW}"));
    assert_eq!(bench.lines("uploads ls s3://box").len(), 1);
    let changed = text.replace('a', "A");
    bench.file("in/large", &changed);
    bench.ok(&format!("jobs resume {id} --max-bandwidth 10GB/s"));
    assert_eq!(bench.ok("uploads ls s3://box"), "");
    assert_eq!(bench.ok("cat s3://box/x/large"), changed);
    let id = kill_in_parts(&bench, &format!("cp --recursive s3://box/x/ down {SLOW}"));
    bench.ok("rm s3://box/x/large --quiet");
    bench.ok(&format!("jobs resume {id} --max-bandwidth 10GB/s"));
    assert_eq!(bench.names_in("down"), ["small"]);
    let id = kill_in_parts(&bench, &format!("cp --recursive in s3://box/y/ {SLOW}"));
    bench.remove("in/large");
    bench.ok(&format!("jobs resume {id} --max-bandwidth 10GB/s"));
    assert_eq!(bench.ok("uploads ls s3://box"), "");
    assert_eq!(bench.lines("ls s3://box/y/").len(), 1);
}

#[test]
fn bytes_of_a_large_object_are_shown_while_it_is_under_way() {
    let bench = Bench::recorded();
    std::fs::write(bench.path("large"), vec![1; 64 << 20]).unwrap();
    let flags = "--max-bandwidth 8MB/s --no-progress";
    let mut child = bench.spawn(&format!("cp large s3://box/large {flags}"));
    let id = wait_for(&bench, 0, &mut child);
    let begun = Instant::now();
    let bytes = loop {
        let shown = bench.ok(&format!("jobs show {id}"));
        let done = shown.lines().find_map(|line| line.strip_prefix("done:       0 objects, "));
        let bytes = done.unwrap_or_else(|| panic!("{shown}")).strip_suffix(" bytes").unwrap();
        let bytes: u64 = bytes.parse().unwrap();
        if bytes > 0 || begun.elapsed() > WAIT_MAX {
            break bytes;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let lines =
        bench.ok(&format!("jobs show {id} --json --html page")) + &bench.ok("jobs ls --json");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!((1..64 << 20).contains(&bytes), "{bytes}");
    let jobs = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let jobs: Vec<_> = jobs.filter(|line| line["event"] == "job").collect();
    assert_eq!(jobs.len(), 2, "{lines}");
    assert!(jobs.iter().all(|job| job["bytes"].as_u64().unwrap() >= bytes), "{lines}");
    let page = bench.read("page");
    let fact = r#"{"name":"Bytes","unit":"bytes","value":"#;
    assert!(page.contains(fact) && !page.contains(&format!("{fact}0}}")), "{id}");
}
