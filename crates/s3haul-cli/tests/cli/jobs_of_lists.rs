//! Jobs whose objects a list names: they go on while the list is the one that they began with.

use serde_json::Value;

use super::from::{gzip, put_inventory};
use super::jobs::{FILES, bench, kill_at};
use crate::support::stderr;

#[test]
fn what_a_list_names_and_was_moved_does_not_fail_where_the_move_goes_on() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --quiet --no-progress");
    let row = |n: usize| format!("x/{}/{n:04}\n", n % 7);
    bench.file("rows", &(0..FILES).map(row).collect::<String>());
    // An older object is where it would be moved to: that does not show that it was moved.
    bench.ok("cp s3://box/x/5/0005 s3://box/y/5/0005 --quiet");
    bench.ok("rm s3://box/x/5/0005 --quiet");
    let moved = bench.run("mv --from rows s3://box/x/ s3://box/y/ --no-progress --journal kept");
    assert_eq!(moved.status.code(), Some(1), "{moved:?}");
    let job: Value = serde_json::from_str(&bench.ok("jobs ls --json --journal kept")).unwrap();
    let resume =
        format!("jobs resume {} --no-progress --journal kept", job["id"].as_str().unwrap());
    for _ in 0..2 {
        let resumed = bench.run(&resume);
        assert_eq!(resumed.status.code(), Some(1), "{resumed:?}");
        let said = stderr(&resumed);
        assert_eq!(said.matches("move failed: ").count(), 1, "{said}");
        assert!(said.contains("move failed: s3://box/x/5/0005"), "{said}");
    }
    bench.ok("cp in/5/0005 s3://box/x/5/0005 --quiet");
    let resumed = bench.lines(&resume);
    assert_eq!(resumed, ["move: s3://box/x/5/0005 to s3://box/y/5/0005"]);
}

/// The row says what the object was when the list was made.
#[test]
fn a_row_with_facts_that_was_moved_when_the_run_died_is_done_where_its_size_is_at_the_target() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --quiet --no-progress");
    bench.file("rows.csv", &bench.ok("list s3://box/x/ --format csv"));
    let pace = "--max-requests-per-second 400 --no-progress --only-show-errors";
    let id = kill_at(&bench, 500, &format!("mv --from rows.csv s3://box/x/ s3://box/y/ {pace}"));
    // The first in order are in work: of some the source was removed, which is not in the journal.
    let left = bench.lines("list s3://box/x/ --format keys");
    let name = |key: &String| key.strip_prefix("x/").unwrap().to_owned();
    for name in left[..10].iter().map(name) {
        bench.ok(&format!("mv s3://box/x/{name} s3://box/y/{name} --quiet"));
    }
    let other = name(&left[7]);
    bench.file("other", "this is longer than any other");
    bench.ok(&format!("cp other s3://box/y/{other} --quiet"));
    let resume = format!("jobs resume {id} --max-requests-per-second 100000");
    for _ in 0..2 {
        let resumed = bench.run(&resume);
        assert_eq!(resumed.status.code(), Some(1), "{resumed:?}");
        let said = stderr(&resumed);
        assert_eq!(said.matches("move failed: ").count(), 1, "{said}");
        assert!(said.contains(&format!("move failed: s3://box/x/{other}")), "{said}");
    }
    assert_eq!(bench.lines("list s3://box/y/ --format keys").len(), FILES);
}

/// What cannot be looked at is not missing for ever.
#[test]
fn what_may_have_been_moved_is_looked_at_again_after_an_error_of_the_target() {
    let bench = bench();
    bench.ok("cp in/0/0000 s3://box/x/0/0000 --quiet");
    bench.file("rows", "x/0/0000\n");
    // It fails because a file stands where its folder has to be.
    bench.file("y/0", "in the way");
    let moved = bench.run("mv --from rows s3://box/x/ y --no-progress --journal kept");
    assert_eq!(moved.status.code(), Some(1), "{moved:?}");
    let job: Value = serde_json::from_str(&bench.ok("jobs ls --json --journal kept")).unwrap();
    let resume =
        format!("jobs resume {} --no-progress --journal kept", job["id"].as_str().unwrap());
    std::fs::remove_file(bench.path("y/0")).unwrap();
    bench.ok("mv s3://box/x/0/0000 y/0/0000 --quiet");
    let (file, away) = (bench.path("y/0/0000"), bench.path("away"));
    std::fs::rename(&file, &away).unwrap();
    std::os::unix::fs::symlink(&file, &file).unwrap();
    let failed = bench.run(&resume);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert_eq!(stderr(&failed).matches("move failed: ").count(), 1, "{failed:?}");
    assert!(stderr(&failed).contains("could not examine"), "{failed:?}");
    std::fs::rename(&away, &file).unwrap();
    assert_eq!(bench.status(&resume), 0);
}

#[test]
fn a_manifest_that_has_changed_is_not_resumed() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --quiet --no-progress");
    let key = |n: usize| format!("box,x/{}/{n:04}\n", n % 7);
    let rows = |from: usize| (from..FILES).map(key).collect::<String>();
    bench.file("rows.csv", &rows(0));
    let command = "cp --from rows.csv s3://box/ s3://box/y/ --no-progress --quiet";
    let id = kill_at(&bench, 300, &format!("{command} --max-requests-per-second 400"));
    bench.file("rows.csv", &rows(500));
    let refused = bench.run(&format!("jobs resume {id}"));
    assert!(stderr(&refused).contains("`rows.csv`, which names its objects, has changed"));
    assert_eq!(refused.status.code(), Some(255), "{refused:?}");
    // The command itself begins anew.
    bench.ok(&format!("{command} --resume"));
    let copied = bench.lines("list s3://box/y/ --format text");
    let is_copied = |n: &usize| {
        let end = format!("x/{}/{n:04}", n % 7);
        copied.iter().any(|line| line.ends_with(&end))
    };
    assert_eq!((500..FILES).filter(is_copied).count(), FILES - 500);
}

#[test]
fn a_part_of_an_inventory_that_is_gone_ends_a_resumed_run() {
    let bench = bench();
    bench.ok("cp --recursive in s3://box/x/ --quiet --no-progress");
    bench.ok("mb s3://inv");
    let row = |n: usize| format!("\"box\",\"x/{}/{n:04}\"\n", n % 7);
    let rows = |from: usize, to: usize| gzip(&(from..to).map(row).collect::<String>());
    let (first, second) = (rows(0, 900), rows(900, FILES));
    let parts = [("1.csv.gz", first.as_slice()), ("2.csv.gz", second.as_slice())];
    bench.file("manifest.json", &put_inventory(&bench, "CSV", "Bucket, Key", &parts));
    let command = "cp --from manifest.json s3://box/ s3://box/y/ --only-show-errors";
    let id = kill_at(&bench, 600, &format!("{command} --max-requests-per-second 400"));
    bench.ok("mv s3://inv/box/daily/data/1.csv.gz s3://inv/away --quiet");
    let failed = bench.run(&format!("jobs resume {id}"));
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert!(stderr(&failed).contains("could not read `s3://inv/box/daily/data/1"), "{failed:?}");
    bench.ok("mv s3://inv/away s3://inv/box/daily/data/1.csv.gz --quiet");
    bench.ok(&format!("jobs resume {id}"));
    assert_eq!(bench.lines("list s3://box/y/ --format keys").len(), FILES);
}
