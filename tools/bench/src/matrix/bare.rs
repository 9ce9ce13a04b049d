//! The bare limit of each workload: requests of the same number, kind and size, sent by
//! `tools/bench/bare` without planning, output or more of files than reads and writes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use serde::Deserialize;

use super::check::Verdict;
use super::environment::{Environment, Slot, objects};
use super::output::Printed;
use super::server::{KEYS_BUCKET, SOURCE_BUCKET, TARGET_BUCKET};
use super::shape::{MIB, Shape};
use super::table::Kind;
use crate::layouts;
use support::process;

/// Its names among the tools: as a sender, and as one that also reads or writes the small files
/// of uploads and downloads.
pub(super) const NAMES: [&str; 2] = [SENDER, FILES];
const SENDER: &str = "bare";
const FILES: &str = "bare-files";

/// Keys of a page of a listing.
const PAGE_KEYS: usize = 1000;
/// Size of the parts of large objects.
const PART_BYTES: u64 = 8 * MIB;
/// Requests in flight without a latency, and with one, where they wait more than they work.
const CONCURRENCY: u64 = 64;
const CONCURRENCY_FAR: u64 = 512;
/// The same for parts.
const CONCURRENCY_PARTS: u64 = 16;

/// The line that it prints; more is there.
#[derive(Deserialize)]
struct Line {
    count: u64,
}

/// The bare sender in one of its forms.
pub(crate) struct Bare {
    name: &'static str,
    program: PathBuf,
}

impl Bare {
    pub(super) fn new(name: &'static str, program: &Path) -> Self {
        Self { name, program: program.to_owned() }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn about(&self) -> &'static str {
        match self.name {
            FILES => "bare-files: the same, and opens, reads or writes and closes small files",
            _ => "bare: does what must be done and nothing else",
        }
    }

    /// The command with the work of a run; none where the work has no such form.
    pub(super) fn command(
        &self,
        environment: &Environment<'_>,
        slot: &Slot,
    ) -> Result<Option<Command>> {
        let command = command(&self.program, environment, slot)?;
        if self.name != FILES {
            return Ok(command);
        }
        let Some(mut command) = command else { return Ok(None) };
        let root = match environment.job.kind {
            _ if is_large(environment) => return Ok(None),
            Kind::Upload | Kind::SyncFirst => &environment.tree.root,
            Kind::Download => &slot.folder,
            _ => return Ok(None),
        };
        command.arg("--paths").arg(small_files(environment, root)?);
        Ok(Some(command))
    }
}

fn is_large(environment: &Environment<'_>) -> bool {
    matches!(environment.job.files, Some(Shape::Large { .. }))
}

fn command(program: &Path, environment: &Environment<'_>, slot: &Slot) -> Result<Option<Command>> {
    let mut bare = Builder::new(program, environment);
    let (files, bytes) = environment.tree.totals();
    let near = bare.concurrency();
    match environment.job.kind {
        Kind::Upload if is_large(environment) => {
            bare.begin("put-parts", TARGET_BUCKET, &slot.prefix, CONCURRENCY_PARTS).parts();
            for (name, _) in &environment.tree.files {
                bare.command.arg("--file").arg(environment.tree.path(name));
            }
        }
        Kind::Upload | Kind::SyncFirst => {
            bare.begin("put", TARGET_BUCKET, &slot.prefix, near).count(files);
            bare.set("--size", bytes / files.max(1));
        }
        Kind::Download | Kind::DownloadFile if is_large(environment) => {
            let keys = object_keys(environment, true)?;
            bare.begin("get-parts", SOURCE_BUCKET, "", CONCURRENCY_PARTS).parts();
            bare.command.arg("--keys").arg(keys);
            for index in 0..files {
                bare.command.arg("--file").arg(slot.folder.join(index.to_string()));
            }
        }
        Kind::Download => {
            let keys = object_keys(environment, false)?;
            bare.begin("get", SOURCE_BUCKET, "", near);
            bare.command.arg("--keys").arg(keys);
        }
        Kind::SyncNothing => {
            let keys = synced_pages(environment, slot)?;
            bare.begin("sync", TARGET_BUCKET, &slot.prefix, near);
            bare.command.arg("--keys").arg(keys).arg("--file").arg(&environment.tree.root);
        }
        Kind::List | Kind::Summarize => {
            let keys = listed_pages(environment)?;
            bare.begin("list", KEYS_BUCKET, "", near);
            bare.command.arg("--keys").arg(keys);
        }
        _ => return Ok(None),
    }
    Ok(Some(bare.command))
}

/// Whether it sent what it should have.
pub(super) fn check(
    environment: &Environment<'_>,
    slot: &Slot,
    printed: &Printed,
) -> Result<Verdict> {
    let Printed::End(text) = printed else { bail!("its output was not read") };
    let Some(line) = text.lines().last().and_then(|line| serde_json::from_str::<Line>(line).ok())
    else {
        return Ok(Err("it did not say what it did".to_owned()));
    };
    let files = environment.tree.totals().0;
    let (what, found, wanted) = match environment.job.kind {
        Kind::Upload | Kind::SyncFirst => {
            ("objects arrived", environment.server.totals(TARGET_BUCKET, &slot.prefix)?.0, files)
        }
        // Keys or pages: it knows the number of neither beforehand.
        Kind::List | Kind::Summarize | Kind::SyncNothing => {
            ("pages or more were read", line.count.min(1), 1)
        }
        _ => ("objects were worked on", line.count, files),
    };
    Ok(if found == wanted { Ok(()) } else { Err(format!("{found} {what}, not {wanted}")) })
}

/// The command being put together.
struct Builder<'a> {
    command: Command,
    environment: &'a Environment<'a>,
}

impl<'a> Builder<'a> {
    fn new(program: &Path, environment: &'a Environment<'a>) -> Self {
        let mut command = Command::new(program);
        let endpoint = &environment.server.endpoint;
        command
            .env("AWS_ACCESS_KEY_ID", &endpoint.access_key)
            .env("AWS_SECRET_ACCESS_KEY", &endpoint.secret_key)
            .env("AWS_REGION", &endpoint.region);
        Self { command, environment }
    }

    fn concurrency(&self) -> u64 {
        if self.environment.server.place.latency_ms > 0 { CONCURRENCY_FAR } else { CONCURRENCY }
    }

    fn begin(&mut self, name: &str, bucket: &str, prefix: &str, concurrency: u64) -> &mut Self {
        let endpoint = &self.environment.server.endpoint;
        self.command.arg(name).args(["--endpoint", &endpoint.url, "--bucket", bucket]);
        if let Some(file) = &endpoint.ca_file {
            self.command.arg("--ca").arg(file);
        }
        if !prefix.is_empty() {
            self.command.args(["--prefix", prefix]);
        }
        self.set("--concurrency", concurrency)
    }

    fn set(&mut self, flag: &str, value: impl std::fmt::Display) -> &mut Self {
        self.command.args([flag, &value.to_string()]);
        self
    }

    fn count(&mut self, count: u64) -> &mut Self {
        self.set("--count", count)
    }

    fn parts(&mut self) -> &mut Self {
        self.set("--part-size", PART_BYTES)
    }
}

/// Keys of the objects to read, one a line, with their sizes or without.
fn object_keys(environment: &Environment<'_>, with_sizes: bool) -> Result<PathBuf> {
    let path = environment.folder().join("objects.keys");
    let line = |(name, bytes): &(String, u64)| {
        let size = if with_sizes { format!("\t{bytes}") } else { String::new() };
        format!("{}{name}{size}", objects().1)
    };
    layouts::write(&path, environment.tree.files.iter().map(line))?;
    Ok(path)
}

/// The tree's files below a folder, one a line. The folders of downloads are made: they are few.
fn small_files(environment: &Environment<'_>, root: &Path) -> Result<PathBuf> {
    let list = environment.folder().join("small.files");
    let paths: Vec<PathBuf> =
        environment.tree.files.iter().map(|(name, _)| root.join(name)).collect();
    for folder in paths.iter().filter_map(|path| path.parent()).collect::<BTreeSet<_>>() {
        std::fs::create_dir_all(folder)?;
    }
    layouts::write(&list, paths.iter().map(|path| path.display()))?;
    Ok(list)
}

/// Keys behind which the pages of a synced tree begin.
fn synced_pages(environment: &Environment<'_>, slot: &Slot) -> Result<PathBuf> {
    let path = environment.folder().join("synced.pages");
    let mut keys: Vec<String> =
        environment.tree.files.iter().map(|(name, _)| format!("{}{name}", slot.prefix)).collect();
    keys.sort_unstable();
    let total = keys.len();
    let pages = (1..).zip(keys).filter(|(number, _)| ends_page(*number, total));
    layouts::write(&path, pages.map(|(_, key)| key))?;
    Ok(path)
}

/// The same for all keys of the bucket of computed ones, which are listed once.
fn listed_pages(environment: &Environment<'_>) -> Result<PathBuf> {
    let path = environment.folder().join("listed.pages");
    if path.exists() {
        return Ok(path);
    }
    let address = format!("s3://{KEYS_BUCKET}");
    let mut list = environment.server.command(&["list", &address, "--sort", "--format", "keys"]);
    let total = usize::try_from(environment.job.keys.map_or(0, |keys| keys.count))?;
    let (mut number, mut pages) = (0, Vec::new());
    process::run_with_lines(&mut list, |key| {
        number += 1;
        if ends_page(number, total) {
            pages.push(key.to_owned());
        }
    })?;
    layouts::write(&path, pages)?;
    Ok(path)
}

/// Whether a page begins behind this key, by its number from 1: behind the last none does.
fn ends_page(number: usize, total: usize) -> bool {
    number.is_multiple_of(PAGE_KEYS) && number < total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_behind_every_thousandth_key() {
        let pages = |total: usize| -> Vec<usize> {
            (1..=total).filter(|number| ends_page(*number, total)).collect()
        };
        assert!(pages(1000).is_empty());
        assert_eq!(pages(1001), [1000]);
        assert_eq!(pages(2000), [1000]);
        assert_eq!(pages(2500), [1000, 2000]);
    }
}
