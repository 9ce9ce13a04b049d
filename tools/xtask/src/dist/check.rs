//! Tries each package as a newcomer does: in a clean root it is installed, the ten tasks of README
//! run against its own server, it is uninstalled, and nothing is left. Needs root, for `chroot`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use support::server::Server;
use support::{install, process, term};

use super::files::{fresh, package, sha256};
use super::{image, tree};

/// What the clean root is made of: Debian's smallest, and what wheels are installed with.
const SUITE: &str = "bookworm";
const INCLUDED: &str = "ca-certificates,python3-pip";

/// Says that a root is whole and clean.
const MADE: &str = "made";

/// Runs a program with a root of its own and what it may see of the machine.
const ENTER: &str = "mkdir -p \"$0/proc\" && mount -t proc proc \"$0/proc\" && exec ";

/// A package and its ways in and out; `$PACKAGE` is the file.
const WAYS: [(&str, &str, &str); 3] = [
    (
        "-linux.tar.gz",
        "tar -xzf $PACKAGE -C /opt && ln -s /opt/s3haul-*/bin/s3haul /usr/local/bin/",
        "rm -r /opt/s3haul-* /usr/local/bin/s3haul",
    ),
    (".deb", "dpkg -i $PACKAGE", "dpkg --purge s3haul"),
    (
        ".whl",
        "pip install --no-index --break-system-packages --root-user-action=ignore $PACKAGE",
        // pip takes an empty folder with it.
        "pip uninstall --yes --break-system-packages --root-user-action=ignore s3haul && \
         mkdir -p /usr/local/bin",
    ),
];

/// What `dpkg` writes for itself.
const OF_DPKG: [&str; 2] = ["./var/log/dpkg.log", "./var/lib/dpkg/status-old"];

/// Tries all packages of a folder that are for this machine.
pub(super) fn run(packages: &Path) -> Result<()> {
    let tasks = tasks(&fs::read_to_string(process::root().join("README.md"))?)?;
    let image = package(packages, &format!("{}.oci.tar", std::env::consts::ARCH))?;
    try_image(&image, &tasks).with_context(|| format!("the image {}", image.display()))?;
    term::good(&format!("{}: used by a user without rights", image.display()));
    let root = clean_root()?;
    // Whatever ends this early leaves a root that the next run does not take for clean.
    fs::remove_file(root.join(MADE))?;
    for (end, install, uninstall) in WAYS {
        let end = match end {
            ".deb" => format!("_{}.deb", tree::debian_architecture(std::env::consts::ARCH)),
            other => format!("{}{other}", std::env::consts::ARCH),
        };
        let package = package(packages, &end)?;
        let left = tried(&root, &package, install, uninstall, &tasks)
            .with_context(|| format!("{} in a clean root", package.display()))?;
        if !left.is_empty() {
            bail!("{} leaves behind: {}", package.display(), left.join(", "));
        }
        term::good(&format!("{}: installed, used, and gone", package.display()));
    }
    Ok(fs::write(root.join(MADE), "")?)
}

/// The setup and the ten tasks of README as a script.
fn tasks(readme: &str) -> Result<String> {
    let section = readme.split_once("## What people come for").map(|(_, rest)| rest);
    let between = |text: &str, start: &str, end: &str| {
        let (_, rest) = text.split_once(start)?;
        rest.split_once(end).map(|(inner, _)| inner.to_owned())
    };
    let found = section.and_then(|section| {
        Some((between(section, "<!-- setup\n", "-->")?, between(section, "```sh\n", "```")?))
    });
    let (setup, commands) = found.context("README has no tasks")?;
    ensure!(commands.contains("# 10. "), "README has fewer than ten tasks");
    Ok(format!("set -e -o pipefail\n{setup}\nset -v\ns3haul --version\n{commands}"))
}

/// A root in which nothing was installed, made where it is missing.
fn clean_root() -> Result<PathBuf> {
    let root = process::target().join("dist-root");
    if root.join(MADE).exists() {
        return Ok(root);
    }
    install::need("debootstrap", "debootstrap")?;
    term::line("dist: making a clean root (minutes, once)");
    let mut make = Command::new("debootstrap");
    make.args(["--variant=minbase", "--include", INCLUDED, SUITE]).arg(fresh(&root)?);
    process::run_quietly(&mut make)?;
    fs::write(root.join(MADE), "")?;
    Ok(root)
}

/// Installs, uses and removes a package; returns what is there afterwards and was not before.
fn tried(
    root: &Path,
    package: &Path,
    install: &str,
    uninstall: &str,
    tasks: &str,
) -> Result<Vec<String>> {
    let inside = Path::new("/tmp").join(package.file_name().context("a package has no name")?);
    let outside = root.join(inside.strip_prefix("/")?);
    let before = paths(root)?;
    fs::copy(package, &outside)?;
    let scratch = tempfile::tempdir()?;
    let way = format!("{ENTER}chroot \"$0\" \"$@\"");
    let chroot = program(scratch.path(), "chroot", &way, root)?;
    let shell = |command: &mut Command, script: &str| {
        command.args(["bash", "-c", script]).env("PACKAGE", &inside).env("HOME", "/tmp/home");
        command
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("LC_ALL", "C.UTF-8");
        command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("AWS_CONFIG_FILE");
        process::run_quietly(command)
    };
    shell(&mut Command::new(&chroot), install)?;
    let way = format!("{ENTER}chroot \"$0\" s3haul \"$@\"");
    let server = Server::start(&program(scratch.path(), "s3haul", &way, root)?, &["--memory"])?;
    let script = format!("mkdir /tmp/home && cd /tmp/home\n{tasks}\nrm -r /tmp/home");
    shell(&mut server.command(&chroot), &script)?;
    server.stop()?;
    shell(&mut Command::new(&chroot), uninstall)?;
    fs::remove_file(outside)?;
    let after = paths(root)?;
    let left = after.difference(&before).filter(|path| !OF_DPKG.contains(&path.as_str()));
    Ok(left.cloned().collect())
}

/// A program that has a root of its own.
fn program(folder: &Path, name: &str, way: &str, root: &Path) -> Result<PathBuf> {
    let path = folder.join(name);
    let root = root.display();
    let script = format!("#!/bin/sh\nexec unshare --mount sh -c '{way}' '{root}' \"$@\"\n");
    fs::write(&path, script)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// All paths of a root.
fn paths(root: &Path) -> Result<BTreeSet<String>> {
    let all = process::run_quietly(Command::new("find").args([".", "-xdev"]).current_dir(root))?;
    Ok(all.lines().map(str::to_owned).collect())
}

/// Unpacks an image and runs the tasks with the user, home and command that it names.
fn try_image(package: &Path, tasks: &str) -> Result<()> {
    let work = fresh(&process::target().join("dist-image"))?;
    let (layout, root) = (fresh(&work.join("layout"))?, fresh(&work.join("root"))?);
    process::run_quietly(Command::new("tar").arg("-xf").arg(package).arg("-C").arg(&layout))?;
    let blob = |value: &Value| -> Result<PathBuf> {
        let digest = value["digest"].as_str().context("a blob has no digest")?;
        let digest = digest.trim_start_matches("sha256:");
        let path = layout.join("blobs/sha256").join(digest);
        ensure!(sha256(&path)? == digest, "blob {digest} has other bytes");
        Ok(path)
    };
    let json = |path: &Path| -> Result<Value> { Ok(serde_json::from_slice(&fs::read(path)?)?) };
    let manifest = json(&blob(&json(&layout.join("index.json"))?["manifests"][0])?)?;
    let config = json(&blob(&manifest["config"])?)?;
    ensure!(config["config"]["User"] == image::USER, "the image does not name its user");
    let layer = blob(&manifest["layers"][0])?;
    let mut unpack = Command::new("tar");
    process::run_quietly(unpack.arg("-xpzf").arg(layer).arg("-C").arg(&root))?;

    let (user, home) = (image::USER, image::HOME);
    let scratch = tempfile::tempdir()?;
    let way = format!(
        "{ENTER}env HOME=/{home} unshare --root=\"$0\" --wd=/{home} --setgid {user} \
         --setuid {user} /usr/bin/s3haul \"$@\""
    );
    let s3haul = program(scratch.path(), "s3haul", &way, &root)?;
    let server = Server::start(&s3haul, &["--memory"])?;
    let mut shell = server.command(Path::new("bash"));
    shell.args(["-c", tasks]).current_dir(root.join(home)).env("HOME", root.join(home));
    shell.env_remove("AWS_CONFIG_FILE");
    process::search_first(&mut shell, &[scratch.path()])?;
    process::run_quietly(&mut shell)?;
    server.stop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_of_readme_are_a_script() {
        let readme = fs::read_to_string(process::root().join("README.md")).unwrap();
        let script = tasks(&readme).unwrap();
        assert!(script.contains("\nmkdir -p ~/.aws"), "{script}");
        assert!(script.contains("\ns3haul cp --recursive ./data"), "{script}");
        assert!(!script.contains("```") && !script.contains("-->"), "{script}");
        assert!(tasks("# Nothing").is_err());
    }
}
