//! Where relative paths begin.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::support::{Bench, stderr, stdout};

/// Paths are text: joined to the text of such a folder's name they led to another folder.
#[test]
fn relative_paths_in_a_folder_whose_name_is_not_utf8_are_refused() {
    let bench = Bench::with_objects(&["k"]);
    let folder = bench.folder().join(OsStr::from_bytes(b"bad\xff"));
    std::fs::create_dir_all(folder.join("d")).unwrap();
    std::fs::write(folder.join("f"), "x").unwrap();
    bench.file("g", "y");
    bench.file("job.json", &bench.ok("sync s3://box o --print-job"));
    let run = |args: &str| {
        let args = args.replace("BENCH", bench.folder().to_str().unwrap());
        bench.command(&args).current_dir(&folder).output().unwrap()
    };
    for (args, path) in [
        ("cp f s3://box/f", "f"),
        ("cp s3://box/k out", "out"),
        ("cp s3://box/k .", "."),
        ("mv --recursive d s3://box/d", "d"),
        ("sync s3://box ./o", "./o"),
        ("sync d s3://box --plan p", "d"),
        ("compare d s3://box", "d"),
        ("verify s3://box d", "d"),
        ("job start BENCH/job.json --at BENCH/jobs", "o"),
    ] {
        let output = run(args);
        let expected = format!(
            "s3haul: error: `{path}` is relative to a working directory whose name is not UTF-8: \
             give an absolute path, or start from another directory\n"
        );
        assert_eq!(stderr(&output), expected, "{args}");
        assert_eq!(output.status.code(), Some(255), "{args}: {output:?}");
    }
    let entries = std::fs::read_dir(bench.folder()).unwrap();
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "nothing was written elsewhere: {names:?}");
    for (args, line) in [
        ("cp BENCH/g s3://box/g", "upload: ../g to s3://box/g\n"),
        ("cp s3://box/k BENCH/h", "download: s3://box/k to ../h\n"),
        ("cp s3://box/k s3://box/l", "copy: s3://box/k to s3://box/l\n"),
        ("cp s3://box/k -", "k"),
    ] {
        let output = run(args);
        assert_eq!((stdout(&output).as_str(), stderr(&output).as_str()), (line, ""), "{args}");
    }
    assert_eq!(bench.read("h"), "k");
}

/// Commands without any relative path failed, too.
#[test]
fn a_working_directory_that_was_removed_is_missed_by_relative_paths_only() {
    let bench = Bench::with_objects(&["d/k"]);
    bench.file("f", "x");
    let folder = bench.folder().join("gone");
    let run = |args: &str| {
        let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
        let args = args.replace("BENCH", bench.folder().to_str().unwrap());
        let command = bench.command(&args);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", script, "sh"]).arg(command.get_program()).args(command.get_args());
        shell.current_dir(bench.folder());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.output().unwrap()
    };
    let home = bench.folder().to_str().unwrap();
    for (args, lines) in [
        ("cp s3://box/d/k s3://box/e/l", "copy: s3://box/d/k to s3://box/e/l\n"),
        ("sync s3://box/d s3://box/e", "copy: s3://box/d/k to s3://box/e/k\n"),
        ("mv s3://box/e/l s3://box/e/m", "move: s3://box/e/l to s3://box/e/m\n"),
        ("rm s3://box/e --recursive", "delete: s3://box/e/k\ndelete: s3://box/e/m\n"),
        ("cp s3://box/d/k -", "d/k"),
        ("cp BENCH/f s3://box/f", "upload: BENCH/f to s3://box/f\n"),
        ("cp s3://box/d BENCH/out --recursive", "download: s3://box/d/k to BENCH/out/k\n"),
    ] {
        let output = run(args);
        let mut found: Vec<_> = stdout(&output).split_inclusive('\n').map(str::to_owned).collect();
        found.sort();
        assert_eq!(found.concat(), lines.replace("BENCH", home), "{args}: {output:?}");
        assert_eq!((stderr(&output).as_str(), output.status.code()), ("", Some(0)), "{args}");
    }
    for args in
        ["cp s3://box/d/k out", "cp f s3://box/g", "sync . s3://box/g", "compare d s3://box"]
    {
        let output = run(args);
        let message = "is relative to the working directory, which cannot be determined";
        assert!(stderr(&output).contains(message), "{args}: {output:?}");
        assert_eq!(output.status.code(), Some(255), "{args}");
    }
    assert_eq!(run("compare s3://box/d s3://box/d").status.code(), Some(0));
    // A job that fails is resumed as advised, from anywhere.
    bench.file("list", "d/k\nd/late");
    let from = "cp --from BENCH/list s3://box s3://box/e --journal BENCH/kept --no-progress";
    assert_eq!(run(from).status.code(), Some(1));
    bench.ok("cp s3://box/d/k s3://box/d/late");
    let job: serde_json::Value =
        serde_json::from_str(&bench.ok("jobs ls --json --journal kept")).unwrap();
    let id = job["id"].as_str().unwrap();
    let resumed = bench.ok(&format!("jobs resume {id} --journal kept"));
    assert_eq!(resumed, "copy: s3://box/d/late to s3://box/e/d/late\n");
    bench.ok("rm s3://box/e --recursive");
    bench.ok("rm s3://box/d/late");
    let output = run("rm s3://box/d --recursive --report r.jsonl");
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    assert!(!folder.exists());
    assert_eq!(bench.lines("list s3://box --format keys"), ["d/k", "f"]);
}
