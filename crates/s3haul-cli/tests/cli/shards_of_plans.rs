//! Plans that several workers carry out.

use std::time::{Duration, Instant};

use super::shards::{FILES, PACE, WAIT_MAX, bench, objects, run_of, shown, work};
use crate::support::{Bench, stderr};

/// Begins a job that does what a plan says.
fn start_plan(bench: &Bench, plan: &str, folder: &str, flags: &str) {
    let started = bench.run(&format!("job start {plan} --apply --at {folder} {flags}"));
    assert!(started.status.success(), "{started:?}");
}

/// Rows have numbers, and keys names: the source was asked for keys up to a number.
#[test]
fn removals_of_a_plan_are_done_whatever_the_source_is_called() {
    let bench = Bench::with_objects(&["s/a", "s/b", "t/c", "t/d", "t/e", "t/f"]);
    bench.ok("mb s3://ops");
    bench.ok("sync --delete s3://box/s/ s3://box/t/ --plan p.parquet --quiet");
    start_plan(&bench, "p.parquet", "s3://ops/plan", "--shards 4");
    let worker = bench.run("worker --job s3://ops/plan");
    assert!(worker.status.success(), "{worker:?}");
    assert_eq!(bench.status("compare s3://box/s/ s3://box/t/"), 0);
}

#[test]
fn what_a_plan_says_is_done_by_workers_also_after_kills() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --no-progress --quiet");
    bench.ok("cp --recursive in s3://box/y/ --no-progress --quiet --exclude half/*");
    for key in ["0", "half/9999", "zzz"] {
        bench.ok(&format!("cp in/half/0000 s3://box/y/{key} --no-progress --quiet"));
    }
    for (n, (command, check)) in [
        ("sync --delete s3://box/x/ s3://box/y/ --plan", "compare s3://box/x/ s3://box/y/"),
        ("mv --recursive s3://box/y/ s3://box/z/ --plan", "compare s3://box/x/ s3://box/z/"),
        ("cp --recursive s3://box/z/ down --plan", "compare s3://box/z/ down"),
        ("cp --recursive in s3://box/up/ --plan", "compare in s3://box/up/"),
        ("tag set --recursive s3://box/z/ --tags a=b --plan", "compare s3://box/x/ s3://box/z/"),
        (
            "mv --recursive s3://box/up/ s3://box/ --to-key new/{key} --plan",
            "compare in s3://box/new/",
        ),
        ("sync s3://box/x/ s3://ops/a/ --to-key b/{key} --plan", "compare in s3://ops/b/a/"),
    ]
    .into_iter()
    .enumerate()
    {
        let (plan, folder) = (format!("plan-{n}.parquet"), format!("s3://ops/plan-{n}"));
        let planned = bench.run(&format!("{command} {plan} --quiet"));
        assert!(planned.status.success(), "{planned:?}");
        start_plan(&bench, &plan, &folder, "--shards 4 --budget 0.2 --lease 0.5");
        let mut killed =
            bench.spawn(&format!("worker --job {folder} --max-requests-per-second 150"));
        let claims = format!("{}/claim/", run_of(&bench, &folder));
        let begun = Instant::now();
        while objects(&bench, &claims) == 0 && begun.elapsed() < WAIT_MAX {
            std::thread::sleep(Duration::from_millis(10));
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        work(&bench, &folder, 2, PACE);
        let job = shown(&bench, &folder);
        assert_eq!(
            (&job["state"], &job["failed"]),
            (&"done".into(), &0.into()),
            "{command}: {job}"
        );
        assert!(job["shards_done"].as_u64().unwrap() > 3, "{command}: {job}");
        assert_eq!(bench.status(check), 0, "{command}");
    }
    let tags = bench.lines("tag get --recursive s3://box/z/");
    assert_eq!(tags.iter().filter(|line| line.ends_with("\ta=b")).count(), FILES);
}

#[test]
fn workers_do_only_the_plan_that_was_looked_at() {
    let bench = bench();
    let plan = "cp --recursive in s3://box/x/ --quiet --plan";
    assert!(bench.run(&format!("{plan} p.parquet")).status.success());
    bench.ok("list s3://box --format parquet --output-file l.parquet");
    let refused = bench.run("job start l.parquet --apply --at s3://ops/a");
    assert!(stderr(&refused).contains("it has no column `action`"), "{refused:?}");
    start_plan(&bench, "p.parquet", "s3://ops/a", "");
    // What changed since the plan was made fails, and nothing else.
    bench.file("in/half/0000", "another text");
    assert_eq!(bench.status("worker --job s3://ops/a"), 1);
    let job = shown(&bench, "s3://ops/a");
    assert_eq!((&job["objects"], &job["failed"]), (&(FILES - 1).into(), &1.into()), "{job}");
    start_plan(&bench, "p.parquet", "s3://ops/b", "");
    assert!(bench.run(&format!("{plan} p.parquet")).status.success());
    let changed = bench.run("worker --job s3://ops/b");
    assert!(stderr(&changed).contains("has changed since the job was begun"), "{changed:?}");
    assert_eq!(shown(&bench, "s3://ops/b")["shards_done"], 0);
}
