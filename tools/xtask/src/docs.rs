//! Documents that are made from others or from the command: the site and man pages.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

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

/// Builds the pages of `docs` as a site; `tidy` has looked at the links of their sources.
pub(crate) fn site() -> Result<()> {
    crate::tidy::run()?;
    let tools = Folder::new("tools");
    if !tools.has(&MDBOOK) {
        tools.create()?;
        tools.install_with_cargo(&MDBOOK, &["--no-default-features", "--features", "search"])?;
        tools.clear_up();
    }
    let folder = process::target().join("site");
    let mut build = Command::new(tools.binary(MDBOOK.name));
    build.arg("build").arg(process::root().join("docs")).arg("--dest-dir").arg(&folder);
    process::run(&mut build)?;
    let dead = dead_links(&folder)?;
    if !dead.is_empty() {
        bail!("the site has dead links:\n{}", dead.join("\n"));
    }
    term::line(&format!("the site is in {}", folder.join("index.html").display()));
    Ok(())
}

/// Links and pictures of the built pages that lead to no file.
fn dead_links(folder: &Path) -> Result<Vec<String>> {
    let mut dead = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let text = fs::read_to_string(&path)?;
                let targets = targets(&text).filter(|target| {
                    let file = target.split(['#', '?']).next().unwrap_or_default();
                    !file.is_empty() && !folder.join(file).exists()
                });
                dead.extend(targets.map(|target| format!("{}: {target}", path.display())));
            }
        }
    }
    Ok(dead)
}

/// What a page links to and shows, without other hosts.
fn targets(html: &str) -> impl Iterator<Item = &str> {
    let attributes = ["href=\"", "src=\""];
    let all = attributes.into_iter().flat_map(|attribute| html.split(attribute).skip(1));
    let all = all.filter_map(|rest| rest.split('"').next());
    all.filter(|target| !target.contains(':') && !target.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_of_pages_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let page = r#"<a href="b.html#x">b</a><img src="no.svg"><a href="https://a.b/c">c</a>"#;
        fs::write(folder.path().join("a.html"), page).unwrap();
        fs::write(folder.path().join("b.html"), r#"<a href="gone.html?x">"#).unwrap();
        let dead = dead_links(folder.path()).unwrap();
        let mut names: Vec<_> = dead.iter().filter_map(|line| line.rsplit(' ').next()).collect();
        names.sort_unstable();
        assert_eq!(names, ["gone.html?x", "no.svg"]);
    }
}
