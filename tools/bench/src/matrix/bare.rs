//! The bare limit of each workload: requests of the same number, kind and size, sent by
//! `tools/bench/bare` without planning, output or more of files than reads and writes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

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
        let Some(mut options) = options(environment, slot)? else { return Ok(None) };
        if self.name == FILES {
            let root = match environment.job.kind {
                _ if is_large(environment) => return Ok(None),
                Kind::Upload | Kind::SyncFirst => &environment.tree.root,
                Kind::Download => &slot.folder,
                _ => return Ok(None),
            };
            options["paths"] = json!(small_files(environment, root)?);
        }
        let endpoint = &environment.server.endpoint;
        let mut command = Command::new(&self.program);
        command
            .arg(options.to_string())
            .env("AWS_ACCESS_KEY_ID", &endpoint.access_key)
            .env("AWS_SECRET_ACCESS_KEY", &endpoint.secret_key)
            .env("AWS_REGION", &endpoint.region);
        Ok(Some(command))
    }
}

/// Whether it is sent in parts.
fn is_large(environment: &Environment<'_>) -> bool {
    matches!(environment.job.files, Some(Shape::Large { .. }))
}

/// What the sender does, as it reads it; none where it does no such work.
fn options(environment: &Environment<'_>, slot: &Slot) -> Result<Option<Value>> {
    let tree = environment.tree;
    let (files, bytes) = tree.totals();
    let prefix = &slot.prefix;
    let mut options = match environment.job.kind {
        Kind::Upload if is_large(environment) => {
            let files: Vec<PathBuf> = tree.files.iter().map(|(name, _)| tree.path(name)).collect();
            json!({
                "operation": "put-parts", "bucket": TARGET_BUCKET, "prefix": prefix,
                "files": files,
            })
        }
        Kind::Upload | Kind::SyncFirst => {
            let size = bytes / files.max(1);
            json!({
                "operation": "put", "bucket": TARGET_BUCKET, "prefix": prefix,
                "count": files, "size": size,
            })
        }
        Kind::Download | Kind::DownloadFile if is_large(environment) => {
            let keys = object_keys(environment, true)?;
            let files: Vec<PathBuf> =
                (0..files).map(|index| slot.folder.join(index.to_string())).collect();
            json!({
                "operation": "get-parts", "bucket": SOURCE_BUCKET, "keys": keys, "files": files,
            })
        }
        Kind::Download => {
            let keys = object_keys(environment, false)?;
            json!({"operation": "get", "bucket": SOURCE_BUCKET, "keys": keys})
        }
        Kind::SyncNothing => {
            let keys = synced_pages(environment, slot)?;
            json!({
                "operation": "sync", "bucket": TARGET_BUCKET, "prefix": prefix,
                "keys": keys, "files": [tree.root],
            })
        }
        Kind::List | Kind::Summarize => {
            let keys = listed_pages(environment)?;
            json!({"operation": "list", "bucket": KEYS_BUCKET, "keys": keys})
        }
        _ => return Ok(None),
    };
    let server = &environment.server;
    options["endpoint"] = json!(server.endpoint.url);
    options["ca"] = json!(server.endpoint.ca_file);
    options["part_size"] = json!(PART_BYTES);
    options["concurrency"] = json!(match server.place.latency_ms {
        _ if is_large(environment) => CONCURRENCY_PARTS,
        0 => CONCURRENCY,
        _ => CONCURRENCY_FAR,
    });
    Ok(Some(options))
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
