//! The files of an installation as they lie below `/usr` or `~/.local`; the archive and the Debian
//! package that are made of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use support::process;

use super::files::{VERSION, fresh, gzip, names, set_modes, tar};
use super::notices;
use crate::builders;

/// Where each shell looks for completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/s3haul"),
    ("zsh", "share/zsh/site-functions/_s3haul"),
    ("fish", "share/fish/vendor_completions.d/s3haul.fish"),
];

/// The licence and what else belongs to the package and is not used by it.
pub(super) const DOCUMENTS: &str = "share/doc/s3haul";

/// The list of crates, and their licences.
pub(super) const SBOM: &str = "s3haul.cdx.json";
pub(super) const NOTICES: &str = "THIRD-PARTY.txt";

/// The folders of the documentation, which help texts, the README and other pages name.
const PAGES: [&str; 6] =
    ["docs", "docs/images", "docs/design", "docs/bench", "docs/bench/limit", "docs/grafana"];

/// Whether a file of the documentation is a page, or something that a page shows or hands out.
fn is_shipped(name: &str) -> bool {
    [".md", ".svg", ".png", ".json"].iter().any(|end| name.ends_with(end))
}

/// A staged installation.
pub(super) struct Tree {
    /// The architecture, as in `x86_64`.
    pub(super) machine: String,
    /// The name of the archive without its ending, and of the folder in it.
    pub(super) name: String,
    /// Where it lies.
    pub(super) path: PathBuf,
}

impl Tree {
    /// Lays it out. Completions are printed by a binary that runs here.
    pub(super) fn stage(
        machine: &str,
        binary: &Path,
        runs_here: &Path,
        manual: &Path,
    ) -> Result<Self> {
        let name = format!("s3haul-{VERSION}-{machine}-linux");
        let path = fresh(&process::target().join("dist-tree").join(machine))?.join(&name);
        let tree = Self { machine: machine.to_owned(), name, path };
        let copy = |from: &Path, to: &str| -> Result<()> {
            fs::copy(from, tree.place(to)?)
                .with_context(|| format!("could not copy `{}`", from.display()))?;
            Ok(())
        };
        copy(binary, "bin/s3haul")?;
        for name in ["LICENSE", "README.md", "CHANGELOG.md"] {
            copy(&process::root().join(name), &format!("{DOCUMENTS}/{name}"))?;
        }
        for folder in PAGES {
            let pages = process::root().join(folder);
            for page in names(&pages)?.iter().filter(|name| is_shipped(name)) {
                copy(&pages.join(page), &format!("{DOCUMENTS}/{folder}/{page}"))?;
            }
        }
        let sbom = builders::sbom(binary)?;
        fs::write(tree.place(&format!("{DOCUMENTS}/{NOTICES}"))?, notices::of(&sbom)?)?;
        fs::write(tree.place(&format!("{DOCUMENTS}/{SBOM}"))?, sbom)?;
        for (shell, place) in COMPLETIONS {
            let script =
                process::run_quietly(Command::new(runs_here).args(["completions", shell]))?;
            fs::write(tree.place(place)?, script)?;
        }
        for page in names(manual)? {
            let place = format!("share/man/man1/{page}");
            copy(&manual.join(page), &place)?;
            gzip(&tree.path.join(place))?;
        }
        set_modes(&tree.path)?;
        Ok(tree)
    }

    /// The path of a file, whose folder is made.
    fn place(&self, file: &str) -> Result<PathBuf> {
        let path = self.path.join(file);
        fs::create_dir_all(path.parent().context("a file lies in no folder")?)?;
        Ok(path)
    }

    /// Writes the archive, to be unpacked in any folder that has `bin` and `share`.
    pub(super) fn archive(&self, folder: &Path) -> Result<()> {
        let archive = folder.join(format!("{}.tar", self.name));
        let parent = self.path.parent().context("the tree lies in no folder")?;
        let mut tar = tar("-cf", &archive, parent)?;
        process::run_quietly(tar.args(["--owner=0", "--group=0"]).arg(&self.name))?;
        gzip(&archive)
    }

    /// Writes the Debian package.
    pub(super) fn debian(&self, folder: &Path) -> Result<()> {
        let root = fresh(&self.path.with_file_name("deb"))?;
        let usr = root.join("usr");
        process::run_quietly(Command::new("cp").arg("-a").arg(&self.path).arg(&usr))?;
        // As Debian names them.
        let documents = usr.join(DOCUMENTS);
        fs::rename(documents.join("LICENSE"), documents.join("copyright"))?;
        let functions = usr.join("share/zsh");
        fs::rename(functions.join("site-functions"), functions.join("vendor-completions"))?;
        let mut sizes = Command::new("find");
        let sizes = sizes.arg(&usr).args(["-type", "f", "-printf", "%s\n"]);
        let sizes = process::run_quietly(sizes)?;
        let bytes: u64 = sizes.lines().filter_map(|size| size.parse::<u64>().ok()).sum();
        let architecture = debian_architecture(&self.machine);
        fs::create_dir(root.join("DEBIAN"))?;
        fs::write(root.join("DEBIAN/control"), control(architecture, bytes.div_ceil(1024)))?;
        set_modes(&root)?;
        let package = folder.join(format!("s3haul_{VERSION}_{architecture}.deb"));
        let mut build = Command::new("dpkg-deb");
        build.args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"]);
        build.arg(&root).arg(package).env("SOURCE_DATE_EPOCH", builders::epoch()?);
        process::run_quietly(&mut build).map(drop)
    }
}

/// What Debian and OCI call an architecture.
pub(super) fn debian_architecture(machine: &str) -> &str {
    match machine {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn control(architecture: &str, size_kib: u64) -> String {
    format!(
        "\
Package: s3haul
Version: {VERSION}
Architecture: {architecture}
Maintainer: s3haul <https://github.com/s3haul/s3haul>
Installed-Size: {size_kib}
Depends: libc6 (>= {})
Recommends: ca-certificates
Section: net
Priority: optional
Homepage: https://github.com/s3haul/s3haul
Description: move, list, compare and change S3 data in bulk
 A command that takes the commands and flags of `aws s3`, for buckets of
 millions of objects: it finds out how much a service can take, stays within
 fixed limits of memory, goes on with runs that were interrupted, and proves
 that both sides hold the same bytes. It brings an S3 server for trying out.
",
        builders::GLIBC
    )
}
