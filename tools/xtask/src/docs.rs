//! Documents that are made from the command: man pages.

use anyhow::Result;

use support::{process, term};

/// Writes a man page for each command into `target/man`.
pub(crate) fn man() -> Result<()> {
    let folder = process::target().join("man");
    let mut cargo = process::cargo(&["run", "-q", "-p", "s3haul-cli", "--example", "man", "--"]);
    process::run(cargo.arg(&folder))?;
    term::line(&format!("man pages are in {}", folder.display()));
    Ok(())
}
