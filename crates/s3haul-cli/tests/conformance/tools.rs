//! Programs that the suite uses where they are installed: other servers and other clients.

use std::io::Write as _;
use std::path::PathBuf;

/// Path in a variable.
pub(crate) fn find(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The same, and says loudly where there is none, so that a skipped test is seen.
pub(crate) fn path(variable: &str) -> Option<PathBuf> {
    let path = find(variable);
    if path.is_none() {
        say(&format!("skipped: {variable} is not set (run `cargo xtask servers`)"));
    }
    path
}

/// Prints a line past the capture of tests that pass.
pub(crate) fn say(line: &str) {
    // A line of a report is not worth failing for.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The command under test.
pub(crate) fn subject() -> PathBuf {
    std::env::var_os("S3HAUL_TEST_SUBJECT")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_s3haul")), PathBuf::from)
}

/// Whether this process is root, so that permissions have no effect.
pub(crate) fn is_root() -> bool {
    std::process::Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
