//! The examples in the documentation, and its pages without a warning.
//!
//! `cargo doc` compiles every dependency once more, as it needs no more than their metadata. The
//! examples are run with what the tests have compiled already, and rustdoc takes the same for its
//! pages: `cargo test --doc` is given this program as rustdoc, which has the real one do both.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use support::process;

/// Set where cargo calls this program as rustdoc.
const ASKED: &str = "XTASK_IS_RUSTDOC";

/// Options of `rustdoc --test` that have no meaning for pages, and whether a value follows.
const OF_TESTS: [(&str, bool); 5] = [
    ("--test", false),
    ("--nocapture", false),
    ("--test-args", true),
    ("--test-run-directory", true),
    ("--test-runtool", true),
];

/// The command that runs the examples of all libraries and makes their pages, after the tests were
/// built.
pub(crate) fn examples_and_pages() -> Command {
    let mut cargo = process::cargo(&["test", "-q", "--workspace", "--doc"]);
    process::strict(&mut cargo);
    // Not by the path of this process: what was built with the tests has taken its place.
    cargo.env("RUSTDOC", process::target().join("debug/xtask")).env(ASKED, "1");
    cargo
}

pub(crate) fn is_asked_for() -> bool {
    std::env::var_os(ASKED).is_some()
}

/// Runs the examples of a library, then makes its pages in `target/doc`.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let rustdoc = || {
        let mut command = Command::new("rustdoc");
        command.env_remove(ASKED);
        command
    };
    process::run(rustdoc().args(args))?;
    if !args.iter().any(|arg| arg == "--test") {
        bail!("cargo asks rustdoc for examples in another way than by `--test`: {args:?}");
    }
    let folder = process::target().join("doc");
    process::run(rustdoc().args(of_pages(args, &folder)))
}

/// Turns the arguments of a test of the examples into those that make the pages.
fn of_pages(args: &[String], folder: &Path) -> Vec<String> {
    let mut pages = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let name = arg.split_once('=').map_or(arg.as_str(), |(name, _)| name);
        match OF_TESTS.iter().find(|(of_tests, _)| *of_tests == name) {
            None => pages.push(arg.clone()),
            Some((_, true)) if name == arg => drop(args.next()),
            Some(_) => {}
        }
    }
    pages.extend(["--out-dir".to_owned(), folder.display().to_string(), "-Dwarnings".to_owned()]);
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_made_without_the_options_of_tests() {
        let args = [
            "--edition=2024",
            "--test",
            "src/lib.rs",
            "--test-run-directory",
            "/w",
            "--extern",
            "a=/t/liba.rlib",
            "--test-args=-q",
        ];
        let args = args.map(str::to_owned);
        let pages = of_pages(&args, Path::new("/t/doc"));
        let expected = [
            "--edition=2024",
            "src/lib.rs",
            "--extern",
            "a=/t/liba.rlib",
            "--out-dir",
            "/t/doc",
            "-Dwarnings",
        ];
        assert_eq!(pages, expected);
    }
}
