//! Documents that are made from others or from the command: the site and man pages.

use std::process::Command;

use anyhow::Result;

use support::install::{Folder, Program};
use support::{process, term};

/// Installed into `target/tools` when missing: some minutes on two cores.
const MDBOOK: Program = Program { name: "mdbook", package: "mdbook", version: "0.5.4" };

/// Writes a man page for each command into `target/man`.
pub(crate) fn man() -> Result<()> {
    let folder = process::target().join("man");
    let mut cargo = process::cargo(&["run", "-q", "-p", "s3haul-cli", "--example", "man", "--"]);
    process::run(cargo.arg(&folder))?;
    term::line(&format!("man pages are in {}", folder.display()));
    Ok(())
}

/// Builds the pages of `docs` as a site, after a look at their links.
pub(crate) fn site() -> Result<()> {
    crate::tidy::run()?;
    let features = ["--no-default-features", "--features", "search"];
    let mdbook = Folder::new("tools").need_with_cargo(&MDBOOK, &features)?;
    let folder = process::target().join("site");
    let mut build = Command::new(mdbook);
    build.arg("build").arg(process::root().join("docs")).arg("--dest-dir").arg(&folder);
    process::run(&mut build)?;
    term::line(&format!("the site is in {}", folder.join("index.html").display()));
    Ok(())
}
