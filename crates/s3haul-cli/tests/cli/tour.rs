//! The tour in docs/start.md runs as written, in order, in an empty folder.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{BINARY, stderr, stdout};

/// The shell commands of a section of the page, one block after the other.
fn commands(heading: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/start.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (_, section) = text.split_once(heading).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

#[test]
fn the_tour_runs_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let programs = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(BINARY, programs.path().join("s3haul")).unwrap();
    let path = std::env::join_paths([programs.path(), "/usr/bin".as_ref(), "/bin".as_ref()]);
    // The server does not outlive a tour that fails, nor keep this test's pipes open.
    let script = format!(
        "set -e -o pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n{}",
        commands("\n## A quick tour\n")
    );
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .env("PATH", path.unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}\n{}", stdout(&output), stderr(&output));
    let text = stdout(&output);
    for line in [
        "make_bucket: photos",
        "upload: ./holiday.jpg to s3://photos/2026/holiday.jpg",
        "download: s3://photos/2025/beach.jpg to back/beach.jpg",
        "copy: s3://photos/2025/notes.txt to s3://archive/notes.txt",
        "move: s3://photos/2026/holiday.jpg to s3://photos/b.jpg",
        "delete: s3://photos/2025/notes.txt",
        "upload: 2025/dune.jpg to s3://photos/2025/dune.jpg",
        "Total Objects: 3",
        "tag add: s3://photos/2025/beach.jpg",
        "swim",
        "(dryrun) delete: s3://photos/2025/dune.jpg",
        "delete: s3://photos/2026.tar",
        "remove_bucket: photos",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}:\n{text}");
    }
    assert_eq!(text.matches("X-Amz-Expires=600").count(), 1, "{text}");
    let back: Vec<_> = std::fs::read_dir(folder.path().join("back")).unwrap().collect();
    assert_eq!(back.len(), 1, "{back:?}");
    assert!(folder.path().join("data/archive/notes.txt").is_file(), "the server keeps files");
}
