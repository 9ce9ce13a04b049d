//! What is on the disk when the power fails, by a trace of the system calls of a run.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::HashMap;
use std::time::Duration;

use crate::jobs::{FILES, PACE, bench, wait_for};

/// The system calls that decide what a disk has when its power fails.
const TRACED: &str = "trace=renameat,syncfs,pwrite64";

/// The files that a run had finished, by a trace of it: those that are on the disk when the power
/// fails, and those that are not. The journal may be as it was written last; what was renamed since
/// the file system was synced before that is lost.
fn synced_and_lost(trace: &str) -> (Vec<String>, Vec<String>) {
    let (mut renamed, mut before_sync, mut is_synced, mut synced) = (Vec::new(), 0, 0, 0);
    for line in trace.lines() {
        if line.contains("renameat(") && line.contains(".s3haul-tmp") {
            let folder = line.split(['<', '>']).nth(1).unwrap();
            renamed.push(format!("{folder}/{}", line.rsplit('"').nth(1).unwrap()));
        } else if line.contains("syncfs(") {
            // What was renamed while it ran may or may not be on the disk.
            before_sync = renamed.len();
            if !line.contains("unfinished") {
                is_synced = before_sync;
            }
        } else if line.contains("syncfs resumed") {
            is_synced = before_sync;
        } else if line.contains("pwrite64(") && line.contains(".db-wal") {
            synced = is_synced;
        }
    }
    let lost = renamed.split_off(synced);
    (renamed, lost)
}

/// By a trace: a thread that names a file syncs the file before and the folder right after.
#[test]
fn a_moved_file_and_its_name_are_on_the_disk_before_its_object_is_removed() {
    let bench = bench();
    bench.ok("cp --recursive in/0 s3://box/x/ --no-progress --quiet");
    let probe = bench.program("strace").args(["-f", "-o", "trace", "true"]).output();
    if !probe.as_ref().is_ok_and(|output| output.status.success()) {
        return println!("skipped: strace may not trace here: {probe:?}");
    }
    let mut strace = bench.program("strace");
    let traced = "trace=renameat,fsync,fdatasync";
    strace.args(["-f", "-y", "-qq", "-o", "trace", "-e", traced, "-e", "signal=none"]);
    strace.arg(env!("CARGO_BIN_EXE_s3haul"));
    strace.args(["mv", "--recursive", "s3://box/x/", "down", "--no-progress", "--no-journal"]);
    let output = strace.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut calls: HashMap<String, Vec<String>> = HashMap::new();
    for line in bench.read("trace").lines().filter(|line| !line.contains("resumed>")) {
        let (thread, call) = line.split_once(' ').unwrap();
        calls.entry(thread.to_owned()).or_default().push(call.trim().to_owned());
    }
    let mut moved = 0;
    for calls in calls.values() {
        for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.starts_with("renameat"))
        {
            let folder = call.split(['<', '>']).nth(1).unwrap();
            let is_file = |call: &str| call.starts_with("fdatasync(") && call.contains(folder);
            assert!(at > 0 && is_file(&calls[at - 1]), "{calls:?}");
            let end = format!("<{folder}>");
            let is_folder = |call: &String| call.starts_with("fsync(") && call.contains(&end);
            assert!(calls.get(at + 1).is_some_and(is_folder), "{calls:?}");
            moved += 1;
        }
    }
    assert_eq!(moved, FILES.div_ceil(7));
    assert!(bench.lines("ls s3://box/").is_empty());
}

#[test]
fn a_power_cut_takes_nothing_that_the_journal_has() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    // On a busy machine it takes seconds to see how far the job is.
    let pace = PACE.replace("400", "100");
    let job = format!("cp --recursive s3://box/x/ down {pace}");
    let mut strace = bench.program("strace");
    strace.args(["-f", "-y", "-qq", "-s", "200", "-o", "trace", "-e", TRACED, "-e", "signal=none"]);
    strace.arg(env!("CARGO_BIN_EXE_s3haul")).args(job.split_whitespace());
    let Ok(mut child) = strace.spawn() else { return println!("skipped: there is no strace") };
    std::thread::sleep(Duration::from_millis(200));
    if child.try_wait().unwrap().is_some() {
        return println!("skipped: strace may not trace here");
    }
    let id = wait_for(&bench, 800, &mut child);
    let process = bench.read("trace").split_whitespace().next().unwrap().to_owned();
    let kill = std::process::Command::new("kill").args(["-9", &process]).status().unwrap();
    assert!(kill.success());
    child.wait().unwrap();
    // The power fails: what was not synced is not there, and the log is of another boot.
    let (mut synced, lost) = synced_and_lost(&bench.read("trace"));
    println!("{} files are on the disk, {} are not", synced.len(), lost.len());
    assert!(synced.len() > 200 && !lost.is_empty());
    // That what the journal has is not looked at again shows that the rest was lost to it, too.
    let held = synced.remove(0);
    for file in lost.iter().chain([&held]) {
        std::fs::remove_file(file).unwrap();
    }
    let mut logs = 0;
    for entry in bench.journals().read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains(".log.") {
            let mut bytes = std::fs::read(&path).unwrap();
            // The identity of the boot comes behind its length.
            bytes[4] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            logs += 1;
        }
    }
    assert!(logs > 0, "a job that runs has a log");
    let resumed = bench.run(&format!("jobs resume {id} --max-requests-per-second 100000"));
    assert!(resumed.status.success(), "{resumed:?}");
    let missing = bench.lines("sync s3://box/x/ down --dryrun");
    let name = held.rsplit('/').next().unwrap();
    assert!(missing.len() == 1 && missing[0].ends_with(name), "{held}: {missing:?}");
}
