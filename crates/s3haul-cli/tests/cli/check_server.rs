//! `check-server`: what it prints, and that it leaves nothing behind.

use serde_json::Value;

use crate::support::{Bench, stderr, stdout};

#[test]
fn nothing_is_found_on_our_own_server_in_memory_and_on_disk() {
    for bench in [Bench::new(), Bench::on_disk()] {
        let text = bench.ok("check-server --name ours");
        assert!(text.contains("\nours: "), "{text}");
        assert!(text.contains("all that s3haul relies on is there\n"), "{text}");
        assert!(!text.contains("FAILS"), "{text}");
        assert!(text.ends_with("| ours | all | all | all | all | all | all | – |\n"), "{text}");
        assert_eq!(bench.ok("ls"), "", "its bucket is removed");
    }
}

#[test]
fn a_named_bucket_keeps_what_it_has() {
    let bench = Bench::with_objects(&["a/k"]);
    let host = bench.endpoint().trim_start_matches("http://");
    let line =
        format!("check-server s3://box/a --format json --endpoint-url http://me:pw-7@{host}");
    let output = bench.run(&line);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!stdout(&output).contains("pw-7"), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["event"], "check_server");
    assert_eq!(document["server"], "s3haul-sim");
    let probes = document["probes"].as_array().unwrap();
    let others: Vec<_> = probes.iter().filter(|probe| probe["outcome"] != "holds").collect();
    assert_eq!(others.len(), 1, "{others:?}");
    assert_eq!(others[0]["name"], "versions");
    assert_eq!(others[0]["outcome"], "skipped");
    assert!(probes.iter().all(|probe| probe["outcome"] != "holds" || probe["without"].is_null()));
    assert_eq!(document["holding"], probes.len() - 1);
    assert_eq!(bench.ok("list s3://box --format keys"), "a/k\n");
    assert_eq!(bench.ok("uploads ls s3://box"), "");
}

#[test]
fn what_cannot_begin_says_why() {
    let bench = Bench::new();
    let output = bench.run("check-server s3://missing");
    assert_eq!(output.status.code(), Some(254), "{output:?}");
    assert!(stdout(&output).is_empty() && stderr(&output).contains("HeadBucket"), "{output:?}");
    let output = bench.run("check-server s3://");
    assert_eq!(output.status.code(), Some(252), "{output:?}");
    let output = bench.run(&format!("check-server s3://box/{}", "f".repeat(601)));
    assert_eq!(output.status.code(), Some(252), "{output:?}");
    assert!(stderr(&output).contains("the folder has 601 bytes"), "{output:?}");
    let synthetic = Bench::synthetic("seq:10");
    let output = synthetic.run("check-server");
    assert!(stderr(&output).contains("hint: name a bucket"), "{output:?}");
    assert!(!stderr(&output).contains("not removed"), "nothing was made: {output:?}");
    let mut nobody = bench.command("check-server");
    nobody.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    let output = nobody.output().unwrap();
    assert_eq!(output.status.code(), Some(253), "{output:?}");
    assert!(!stderr(&output).contains("not removed"), "nothing was made: {output:?}");
    let mut stranger = bench.command("check-server");
    let output = stranger.env("AWS_SECRET_ACCESS_KEY", "wrong").output().unwrap();
    assert_eq!(output.status.code(), Some(254), "{output:?}");
    let text = stderr(&output);
    assert!(!text.contains("not removed") && !text.contains("name a bucket"), "{text}");
}

/// Wherever it is at, what it wrote is removed.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    use crate::support::send;
    use std::io::Read as _;
    let bench = Bench::slow("20ms");
    let mut child = bench.spawn("check-server");
    let is_writing = || {
        let buckets = bench.ok("ls");
        let name = buckets.split_whitespace().last().unwrap_or_default().to_owned();
        !name.is_empty() && !bench.ok(&format!("list s3://{name} --format keys")).is_empty()
    };
    while !is_writing() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
    }
    send("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(!text.contains("not removed"), "{text}");
    assert_eq!(bench.ok("ls"), "");
}
