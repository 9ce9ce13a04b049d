//! `jobs watch` on a terminal: tmux types and reads the screen while other processes do the job.

#![expect(clippy::unwrap_used, reason = "helpers of tests: they may fail them")]

use std::process::Child;
use std::time::Instant;

use crate::support::{Bench, send};
use crate::terminal::{DEADLINE, SIZES, Terminal, has_tmux};

/// Files of a job; as slow as [`PACE`], they are still at it when a test ends.
const FILES: usize = 900;
const PACE: &str = "--max-requests-per-second 10";

/// A server with the buckets `box` and `ops`, and a folder of small files.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.ok("mb s3://ops");
    (0..FILES).for_each(|number| bench.file(&format!("in/{}/{number:04}", number % 7), "text"));
    bench
}

/// Starts a job that keeps a journal from the beginning; gives its name.
fn slow_job(bench: &Bench, command: &str) -> (Child, String) {
    let journals = bench.journals().display();
    let ids = || -> Vec<String> {
        let lines = bench.lines("jobs ls --json");
        let job = |line: &String| serde_json::from_str::<serde_json::Value>(line).unwrap();
        lines.iter().map(|line| job(line)["id"].as_str().unwrap().to_owned()).collect()
    };
    // On a slow machine, a job before this one has lasted long enough to keep a journal, too.
    let before = ids();
    let mut job = bench.spawn(&format!("{command} {PACE} --journal {journals}"));
    let begun = Instant::now();
    loop {
        if let Some(id) = ids().into_iter().find(|id| !before.contains(id)) {
            return (job, id);
        }
        assert!(job.try_wait().unwrap().is_none() && begun.elapsed() < DEADLINE, "no journal");
    }
}

#[test]
fn a_job_is_watched_until_it_is_interrupted() {
    if !has_tmux() {
        return;
    }
    let bench = bench();
    let (mut job, id) = slow_job(&bench, "cp --recursive in s3://box/x/");
    let terminals = SIZES.map(|size| {
        let terminal = Terminal::start(&bench, &format!("jobs watch {id}"), size);
        terminal.until("figures", |screen| {
            let first = screen.lines().next().unwrap_or_default();
            first.starts_with('2') && first.contains("running") && screen.contains(" objects/s, ")
        });
        terminal
    });
    let [small, large] = &terminals;
    let screen = large.until("requests", |screen| {
        let requests = screen.lines().find(|line| line.starts_with("requests "));
        requests.is_some_and(|line| line.trim_end().ends_with("/s"))
    });
    for text in [" of 900 objects", "no range is known to be slow", "looked at: all names up to"] {
        large.until(text, |screen| screen.contains(text));
    }
    assert!(screen.contains("cp --recursive in s3://box/x/"), "{screen}");
    large.press(&["?"]);
    large.shows("leave: the job goes on");
    large.press(&["x"]);
    large.shows("requests");
    large.tmux(&["resize-window", "-x", "70", "-y", "12"]);
    large.until("fewer lines", |screen| {
        screen.lines().count() == 12 && screen.contains("rows 1 to 9 of ")
    });
    small.press(&["End"]);
    small.shows("started in: ");
    small.press(&["Home"]);
    small.shows("rows 1 to 7 of ");
    // One that is left changes nothing.
    small.leave("q");
    small.shows("running: ");
    send("-INT", &job);
    assert_eq!(job.wait().unwrap().code(), Some(1));
    large.shows("the job has ended: interrupted");
    large.shows(&format!("to go on: s3haul jobs resume {id}"));
    large.leave("Escape");
    large.shows("interrupted: ");
}

#[test]
fn what_fails_is_shown_while_the_job_goes_on() {
    if !has_tmux() {
        return;
    }
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --quiet");
    bench.file("down/0", "a file is in the way of a folder");
    let (mut job, id) = slow_job(&bench, "cp --recursive s3://box/x/ down");
    let terminal = Terminal::start(&bench, &format!("jobs watch {id}"), SIZES[1]);
    terminal.until("a cause", |screen| {
        screen.contains("failures by cause")
            && screen.contains(" file or folder in the way")
            && screen.contains("last failures")
            && screen.contains("s3://box/x/0/")
    });
    terminal.leave("q");
    send("-KILL", &job);
    job.wait().unwrap();
    // One that was killed is watched too, and has ended.
    let terminal = Terminal::start(&bench, &format!("jobs watch {id}"), SIZES[0]);
    terminal.shows("the job has ended: killed");
    terminal.leave("q");
}

#[test]
fn workers_are_watched_to_the_end() {
    if !has_tmux() {
        return;
    }
    let bench = bench();
    bench.file("job.json", &bench.ok("cp --recursive in s3://box/x/ --print-job"));
    let started = bench.run("job start job.json --at s3://ops/a --shards 5");
    assert!(started.status.success(), "{started:?}");
    let terminal = Terminal::start(&bench, "jobs watch s3://ops/a", SIZES[1]);
    let screen = terminal.shows("no shard has ended yet");
    assert!(screen.contains(" shards (as far as known)") && screen.contains("~0%"), "{screen}");
    let worker = bench.spawn("worker --job s3://ops/a --max-requests-per-second 300");
    terminal.shows("workers: 1");
    terminal
        .until("a shard", |screen| screen.contains("slowest prefixes") && screen.contains("/s  "));
    let output = worker.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let screen = terminal.shows("the job has ended: done");
    assert!(screen.contains("900 objects done") && screen.contains(" 100%"), "{screen}");
    assert!(screen.contains("has left"), "{screen}");
    terminal.leave("q");
    terminal.shows("done: 900 objects");
}

#[test]
fn figures_stay_where_the_server_dies() {
    if !has_tmux() {
        return;
    }
    let mut bench = bench();
    bench.file("job.json", &bench.ok("cp --recursive in s3://box/x/ --print-job"));
    assert!(bench.run("job start job.json --at s3://ops/a --shards 3").status.success());
    assert!(bench.run("worker --job s3://ops/a --once").status.success());
    let terminals = SIZES.map(|size| {
        let terminal = Terminal::start(&bench, "jobs watch s3://ops/a", size);
        terminal.shows(" objects done");
        terminal
    });
    bench.end();
    for terminal in &terminals {
        let screen = terminal.shows("cannot look, and tries again: ");
        assert!(screen.contains(" objects done"), "{screen}");
        terminal.leave("q");
    }
}

#[test]
fn without_a_screen_there_are_lines() {
    if !has_tmux() {
        return;
    }
    let bench = bench();
    let (mut job, id) = slow_job(&bench, "cp --recursive in s3://box/x/");
    let terminal = Terminal::start(&bench, &format!("jobs watch {id} --no-progress"), SIZES[1]);
    let lines = terminal.shows(" objects/s, at ");
    assert!(lines.starts_with("running: "), "{lines}");
    send("-INT", &job);
    job.wait().unwrap();
    terminal.is_left("status: 0");
    // What is not there is said without a screen.
    drop(terminal);
    let terminal = Terminal::start(&bench, "jobs watch 20260101-000000-nosuchjb", SIZES[0]);
    let screen = terminal.shows("status: 252");
    assert!(screen.contains("there is no job"), "{screen}");
}
