//! Compares two trees byte for byte with a walk of its own, so that the demo does not trust the
//! code it shows.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

const CHUNK_BYTES: usize = 1 << 20;
/// How many differences a message names.
const SHOWN_MAX: usize = 5;

/// Fails unless both trees hold the same names with the same bytes.
pub(super) fn trees(left: &Path, right: &Path) -> Result<()> {
    let left_files = walk(left)?;
    let right_files = walk(right)?;
    let mut differences: Vec<String> = Vec::new();
    for name in left_files.keys().filter(|name| !right_files.contains_key(*name)) {
        differences.push(format!("{} is missing", name.display()));
    }
    for name in right_files.keys().filter(|name| !left_files.contains_key(*name)) {
        differences.push(format!("{} should not be there", name.display()));
    }
    for (name, size) in &left_files {
        match right_files.get(name) {
            Some(other) if other != size => {
                differences.push(format!("{} has {other} bytes, not {size}", name.display()));
            }
            Some(_) if !same_bytes(&left.join(name), &right.join(name))? => {
                differences.push(format!("{} has other bytes", name.display()));
            }
            _ => {}
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> =
        differences.iter().take(SHOWN_MAX).map(|text| text.escape_debug().to_string()).collect();
    bail!("{} files differ, among them:\n  {}", differences.len(), shown.join("\n  "))
}

/// Files below a folder with their sizes, by their path from it.
fn walk(root: &Path) -> Result<BTreeMap<PathBuf, u64>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let doing = || format!("could not list {}", folder.display());
        for entry in fs::read_dir(&folder).with_context(doing)? {
            let entry = entry.with_context(doing)?;
            let path = entry.path();
            let metadata = fs::symlink_metadata(&path).with_context(doing)?;
            if metadata.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).expect("a walk stays below its root");
                files.insert(name.to_owned(), metadata.len());
            }
        }
    }
    Ok(files)
}

fn same_bytes(left: &Path, right: &Path) -> Result<bool> {
    let mut left = File::open(left).with_context(|| left.display().to_string())?;
    let mut right = File::open(right).with_context(|| right.display().to_string())?;
    let mut left_chunk = Vec::with_capacity(CHUNK_BYTES);
    let mut right_chunk = Vec::with_capacity(CHUNK_BYTES);
    loop {
        read_chunk(&mut left, &mut left_chunk)?;
        read_chunk(&mut right, &mut right_chunk)?;
        if left_chunk != right_chunk {
            return Ok(false);
        }
        if left_chunk.is_empty() {
            return Ok(true);
        }
    }
}

fn read_chunk(file: &mut File, chunk: &mut Vec<u8>) -> Result<()> {
    chunk.clear();
    file.take(CHUNK_BYTES as u64).read_to_end(chunk)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::scratch::Scratch;

    #[test]
    fn every_kind_of_difference_is_seen() {
        let scratch = Scratch::new("compare").unwrap();
        let (left, right) = (scratch.path("left"), scratch.path("right"));
        for (folder, files) in [
            (&left, &[("same", "x"), ("bytes", "abc"), ("size", "ab"), ("gone", "")][..]),
            (&right, &[("same", "x"), ("bytes", "abd"), ("size", "abc"), ("extra", "")][..]),
        ] {
            fs::create_dir_all(folder).unwrap();
            for (name, text) in files {
                fs::write(folder.join(name), text).unwrap();
            }
        }
        let error = trees(&left, &right).unwrap_err().to_string();
        for part in ["4 files", "gone is missing", "extra should", "3 bytes, not 2", "bytes has o"]
        {
            assert!(error.contains(part), "`{part}` is not in {error}");
        }
        trees(&left, &left).unwrap();
    }
}
