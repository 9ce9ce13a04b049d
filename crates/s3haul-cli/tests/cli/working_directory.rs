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
