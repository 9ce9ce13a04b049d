//! Plans where folders, files and links are in the way of each other.

use crate::plan::plan;
use crate::support::{Bench, stderr};

#[test]
fn planning_a_download_makes_no_folder() {
    let bench = Bench::with_objects(&["x/a", "x/b/c"]);
    for command in [
        "cp --recursive s3://box/x/ new/one",
        "cp --recursive s3://box/x/ new/two --no-overwrite",
        "sync s3://box/x/ new/three --delete",
        "sync s3://box/x/ new/four --to-key {name}",
    ] {
        plan(&bench, command);
        assert!(!bench.path("new").exists(), "{command}");
    }
    plan(&bench, "sync s3://box/x/ new/three --delete");
    bench.ok("apply p.parquet");
    assert_eq!(bench.read("new/three/b/c"), "x/b/c");
}

/// Its removal comes before the download; all others come after it.
#[test]
fn a_file_makes_way_for_the_folder_of_a_planned_download() {
    let bench = Bench::with_objects(&["a/b/c", "a/b/d", "e"]);
    for file in ["to/a", "to/f"] {
        bench.file(file, "old");
    }
    plan(&bench, "sync s3://box to --delete");
    let output = bench.ok("apply p.parquet --report r.jsonl");
    let removed = output.find("delete: to/a").unwrap();
    assert!(removed < output.find("download: s3://box/a/b/c").unwrap(), "{output}");
    for relative in ["a/b/c", "a/b/d", "e"] {
        assert_eq!(bench.read(&format!("to/{relative}")), relative);
    }
    assert!(!bench.path("to/f").exists());
    let report = bench.read("r.jsonl");
    assert_eq!(report.matches(r#""action":"delete""#).count(), 2, "{report}");
    // A folder in the place of a file is no reason to fail: the file is gone. What has changed is
    // in the way as before.
    std::fs::remove_dir_all(bench.path("to")).unwrap();
    bench.file("to/a", "old");
    plan(&bench, "sync s3://box to --delete");
    bench.file("to/a", "another");
    assert_eq!(bench.status("apply p.parquet --no-journal"), 1);
    assert_eq!((bench.read("to/a"), bench.read("to/e")), ("another".into(), "e".into()));
    for file in ["to/a", "to/e"] {
        std::fs::remove_file(bench.path(file)).unwrap();
    }
    std::fs::create_dir(bench.path("to/a")).unwrap();
    bench.ok("apply p.parquet");
}

/// It was refused by the folder, whose files were removed at the end, and so was its resumed run.
#[test]
fn a_folder_makes_way_for_the_file_of_a_planned_download() {
    let bench = Bench::with_objects(&["d", "e", "k", "k/new"]);
    let set_up = |is_changed: bool| {
        let _ = std::fs::remove_dir_all(bench.path("to"));
        for file in ["to/d/f", "to/d/sub/g", "to/k/old", "to/z"] {
            bench.file(file, "old");
        }
        std::fs::create_dir_all(bench.path("to/d/empty/deep")).unwrap();
        plan(&bench, "sync s3://box to --delete --exclude k");
        if is_changed {
            bench.file("to/d/f", "another");
        }
    };
    set_up(false);
    let output = bench.ok("apply p.parquet --report r.jsonl");
    assert!(output.find("delete: to/d/f") < output.find("download: s3://box/d to"), "{output}");
    for relative in ["d", "e", "k/new"] {
        assert_eq!(bench.read(&format!("to/{relative}")), relative);
    }
    assert!(!bench.path("to/z").exists());
    assert_eq!(bench.read("r.jsonl").matches(r#""action":"delete""#).count(), 4);
    // What has changed stays, with all of its folder.
    set_up(true);
    assert_eq!(bench.status("apply p.parquet --no-journal"), 1);
    assert_eq!((bench.read("to/d/f"), bench.read("to/e")), ("another".into(), "e".into()));
    assert!(bench.path("to/d/empty/deep").exists());
    // One that is written into stays as well.
    set_up(false);
    plan(&bench, "sync s3://box to --delete");
    assert_eq!(bench.status("apply p.parquet --no-journal"), 1);
    assert_eq!((bench.read("to/d"), bench.read("to/k/new")), ("d".into(), "k/new".into()));
}

#[test]
fn an_object_is_removed_whose_name_is_that_of_a_folder_now() {
    let bench = Bench::with_objects(&["a", "keep"]);
    bench.file("src/a/b", "1");
    bench.file("src/keep", "keep");
    plan(&bench, "sync src s3://box --delete");
    bench.ok("apply p.parquet");
    assert_eq!(bench.ok("list s3://box --format keys --sort"), "a/b\nkeep\n");
}

#[test]
fn links_are_not_followed_where_they_were_not_and_not_replaced() {
    let bench = Bench::with_objects(&["a"]);
    bench.file("files/f", "f");
    bench.file("outside", "o");
    plan(&bench, "cp --recursive files s3://box/up --no-follow-symlinks");
    std::fs::remove_file(bench.path("files/f")).unwrap();
    std::os::unix::fs::symlink(bench.path("outside"), bench.path("files/f")).unwrap();
    let output = bench.run("apply p.parquet");
    assert!(stderr(&output).contains("has changed since"), "{output:?}");
    plan(&bench, "cp s3://box/a down/a");
    std::fs::create_dir_all(bench.path("down")).unwrap();
    std::os::unix::fs::symlink("nowhere", bench.path("down/a")).unwrap();
    let output = bench.run("apply p.parquet");
    assert!(stderr(&output).contains("is a symbolic link"), "{output:?}");
    assert!(bench.path("down/a").is_symlink());
    assert_eq!(bench.lines("list s3://box --format keys"), ["a"]);
}

/// Files behind it were moved, and removed.
#[test]
fn a_folder_that_is_a_link_is_not_followed() {
    let bench = Bench::with_objects(&[]);
    bench.file("real/f", "1");
    std::os::unix::fs::symlink("real", bench.path("link")).unwrap();
    for folder in ["link", "link/"] {
        bench.run(&format!("mv {folder} s3://box/m --recursive --no-follow-symlinks"));
        assert_eq!((bench.read("real/f"), bench.lines("list s3://box").len()), ("1".into(), 0));
    }
    let sync = bench.run("sync link s3://box --delete --no-follow-symlinks");
    assert!(stderr(&sync).contains("is empty") || sync.status.success(), "{sync:?}");
    bench.ok("mv link s3://box/m --recursive");
    assert!(!bench.path("real/f").exists());
}
