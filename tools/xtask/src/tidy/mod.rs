//! Rules of this codebase that neither rustfmt nor clippy knows: cycles of imports, how files
//! look, that the guide names files that exist, that links lead somewhere. Reads the files git
//! knows or would add, so
//! build output is never looked at.
//!
//! Rules live in [`graph`] (import cycles), [`links`] (between documents), [`names`] (files that
//! the guide names), [`secrets`]
//! (what `Debug` must not print) and [`text`] (lines and files). Each rule has a test that plants
//! a violation.

mod graph;
mod links;
mod names;
mod secrets;
mod source;
mod text;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::source::{Source, Violation};
use support::{process, term};

/// Checks the workspace.
pub(crate) fn run() -> Result<()> {
    let files = load(&process::root())?;
    let violations = check(&files);
    for violation in &violations {
        term::line(&violation.to_string());
    }
    if !violations.is_empty() {
        bail!("tidy: {} violations in {} files looked at", violations.len(), files.len());
    }
    term::line(&format!("tidy: {} files follow the rules", files.len()));
    Ok(())
}

fn check(files: &[Source]) -> Vec<Violation> {
    let mut violations = Vec::new();
    graph::check(files, &mut violations);
    links::check(files, &mut violations);
    names::check(files, &mut violations);
    for file in files {
        secrets::check(file, &mut violations);
        text::check(file, &mut violations);
    }
    violations.sort();
    violations.dedup();
    violations
}

/// Text files that git tracks or would track; binary ones are left out.
fn load(root: &Path) -> Result<Vec<Source>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let names = process::run_quietly(&mut git)?;
    let mut files = Vec::new();
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        let path = root.join(name);
        if !path.is_file() {
            continue;
        }
        let bytes = std::fs::read(&path).with_context(|| format!("could not read `{name}`"))?;
        // Of pictures and the like only the names count, for links.
        files.push(Source::new(name, String::from_utf8(bytes).unwrap_or_default()));
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files.dedup_by(|left, right| left.path == right.path);
    Ok(files)
}

#[cfg(test)]
fn violations_of(path: &str, text: &str) -> Vec<String> {
    let files = [Source::new(path, text.to_owned())];
    check(&files).iter().map(ToString::to_string).collect()
}
