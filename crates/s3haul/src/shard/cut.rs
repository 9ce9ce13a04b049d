//! Where a source is cut into shards of about the same size.

use std::path::Path;
use std::time::Duration;

use s3haul_list::{KeyRange, ListRequest, Page, Source, list};
use s3haul_wire::error::{Error, Result};
use tokio::time::{Instant, timeout_at};

use crate::engine::limits::blocking;
use crate::location::ObjectName;

/// One in so many of the keys listed is remembered.
const SAMPLED: usize = 100;
/// Requests in flight.
const CONCURRENCY: usize = 64;
/// Directories are opened until there are so many names for each cut.
const NAMES_PER_CUT: usize = 8;
/// Directories are opened at most so deep.
const DEPTH_MAX: usize = 4;

/// A name, and how many come with it.
type Sample = (String, usize);

/// Names below a root behind which a range is cut into so many shards at most. What begins with
/// the prefix is listed for a while. If all is known by then, the parts are of the same size; else
/// the cuts are those that the lister made for itself. A service that lists in no order has none.
/// Versions of a key are not cut.
pub async fn cut_keys<S: Source<Error = Error>>(
    source: S,
    (root, prefix): (&ObjectName, &str),
    range: &KeyRange,
    (shards, time): (usize, Duration),
) -> Result<Vec<String>> {
    let below = |name: &String| format!("{}{name}", root.key);
    let after = if range.after.is_empty() { String::new() } else { below(&range.after) };
    let request = ListRequest {
        prefix: prefix.to_owned(),
        range: KeyRange { after, through: range.through.as_ref().map(below) },
        concurrency: CONCURRENCY,
        is_eager: true,
        ..ListRequest::default()
    };
    let mut listing = list(source, request);
    let deadline = Instant::now() + time;
    let (mut samples, mut covered) = (Vec::new(), Vec::new());
    let is_whole = loop {
        let Ok(page_range) = timeout_at(deadline, listing.next()).await else { break false };
        let Some(page_range) = page_range.transpose()? else { break true };
        if listing.take_notices().iter().any(s3haul_list::Notice::is_unordered) {
            return Ok(Vec::new());
        }
        let (page, covers) = (page_range.page, page_range.covers);
        samples.extend(sample(page.keys()));
        covered.push(covers);
    };
    let cuts = if is_whole { quantiles(samples, shards) } else { thin(begins(covered), shards) };
    let name = |key: String| Some(key.strip_prefix(&root.key)?.to_owned());
    let is_inside = |name: &String| {
        !name.is_empty() && range.contains(name) && range.through.as_ref() != Some(name)
    };
    Ok(cuts.into_iter().filter_map(name).filter(is_inside).collect())
}

/// Some of the keys of a page, the last among them.
fn sample<'k>(keys: impl Iterator<Item = &'k str>) -> Vec<Sample> {
    let mut samples = Vec::new();
    let (mut last, mut count) = ("", 0);
    for key in keys {
        (last, count) = (key, count + 1);
        if count == SAMPLED {
            samples.push((key.to_owned(), count));
            count = 0;
        }
    }
    if count > 0 {
        samples.push((last.to_owned(), count));
    }
    samples
}

/// Names behind which there are equal parts.
fn quantiles(mut samples: Vec<Sample>, shards: usize) -> Vec<String> {
    samples.sort();
    samples.dedup_by(|next, one| {
        let is_same = next.0 == one.0;
        one.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    let total: usize = samples.iter().map(|(_, count)| count).sum();
    samples.pop();
    let (mut cuts, mut before) = (Vec::new(), 0);
    for (name, count) in samples {
        before += count;
        let next = (cuts.len() + 1) * total / shards.max(1);
        if before >= next && cuts.len() + 1 < shards {
            cuts.push(name);
        }
    }
    cuts
}

/// Where those begin that were listed one after the other, each by itself.
fn begins(mut covered: Vec<KeyRange>) -> Vec<String> {
    covered.sort_by(|one, other| one.after.cmp(&other.after));
    let mut begins = Vec::new();
    let mut before: Option<String> = None;
    for KeyRange { after, through } in covered {
        if !after.is_empty() && before.as_ref() != Some(&after) {
            begins.push(after);
        }
        before = through;
    }
    begins
}

/// So many of them that there are no more shards, evenly chosen.
fn thin(names: Vec<String>, shards: usize) -> Vec<String> {
    let (count, wanted) = (names.len(), shards.saturating_sub(1));
    if count <= wanted {
        return names;
    }
    let chosen = (0..wanted).map(|index| (2 * index + 1) * count / (2 * wanted));
    chosen.filter_map(|index| names.get(index).cloned()).collect()
}

/// Names of files and directories of a tree behind which it is cut. Only directories near the root
/// are read.
pub async fn cut_files(folder: &Path, range: &KeyRange, shards: usize) -> Vec<String> {
    let (folder, range) = (folder.to_owned(), range.clone());
    let names = blocking(move || {
        let mut names = names_in(&folder, "");
        for _ in 1..DEPTH_MAX {
            if names.len() >= shards * NAMES_PER_CUT {
                break;
            }
            let is_directory = |name: &&String| name.ends_with('/');
            let below: Vec<_> = names
                .iter()
                .filter(is_directory)
                .flat_map(|name| names_in(&folder, name))
                .collect();
            names.extend(below);
            names.sort();
            names.dedup();
        }
        names.retain(|name| range.contains(name) && range.through.as_ref() != Some(name));
        names
    });
    thin(names.await, shards)
}

/// The names in a directory, those of directories with a slash behind them, in order. What cannot
/// be read has none: the walk says so.
fn names_in(root: &Path, directory: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root.join(directory)) else { return Vec::new() };
    let mut names: Vec<_> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let slash = if entry.path().is_dir() { "/" } else { "" };
            Some(format!("{directory}{name}{slash}"))
        })
        .collect();
    names.sort();
    names
}

/// Rows behind which a range of a manifest is cut, as positions.
pub fn cut_rows(rows: u64, range: &KeyRange, shards: usize) -> Vec<String> {
    let first: u64 = range.after.parse().unwrap_or(0);
    let last = range.through.as_ref().and_then(|through| through.parse().ok());
    let count = last.unwrap_or(rows).saturating_sub(first);
    let shards = u64::try_from(shards).unwrap_or(u64::MAX).min(count).max(1);
    // Wide enough for any product.
    let cut = |index: u64| u128::from(count) * u128::from(index) / u128::from(shards);
    (1..shards).map(|index| format!("{:020}", u128::from(first) + cut(index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(number: usize) -> String {
        format!("{number:06}")
    }

    #[test]
    fn directories_are_opened_until_there_are_enough_names() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/1/x", "a/2/x", "b/1/y", "b/z", "c"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let cut = |range, shards| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(cut_files(folder.path(), &range, shards))
        };
        let all = cut(KeyRange::default(), 100);
        assert_eq!(
            all,
            ["a/", "a/1/", "a/1/x", "a/2/", "a/2/x", "b/", "b/1/", "b/1/y", "b/z", "c"]
        );
        assert_eq!(cut(KeyRange::default(), 1), Vec::<String>::new());
        let behind = KeyRange { after: "b/1/".to_owned(), through: Some("c".to_owned()) };
        assert_eq!(cut(behind, 100), ["b/1/y", "b/z"]);
    }

    #[test]
    fn what_was_listed_one_after_the_other_is_not_cut() {
        let range = |after: &str, through: &str| KeyRange {
            after: after.to_owned(),
            through: Some(through.to_owned()),
        };
        let covered = vec![range("m", "n"), range("", "c"), range("c", "d"), range("n", "p")];
        assert_eq!(begins(covered), ["m"]);
    }

    #[test]
    fn versions_of_a_key_are_not_cut() {
        let keys = (0..5).flat_map(|number| std::iter::repeat_n(key(number), 3 * SAMPLED));
        let keys: Vec<_> = keys.collect();
        let cut = |shards| quantiles(sample(keys.iter().map(|key| &**key)), shards);
        assert_eq!(cut(5), [0, 1, 2, 3].map(key));
        assert_eq!(cut(100), [0, 1, 2, 3].map(key));
    }

    #[test]
    fn rows_are_cut_evenly() {
        let all = KeyRange::default();
        assert_eq!(cut_rows(10, &all, 3), ["00000000000000000003", "00000000000000000006"]);
        let behind = KeyRange { after: "00000000000000000004".to_owned(), through: None };
        assert_eq!(cut_rows(10, &behind, 2), ["00000000000000000007"]);
        assert_eq!(cut_rows(2, &all, 9).len(), 1);
        assert_eq!(cut_rows(0, &all, 9).len(), 0);
    }

    proptest! {
        #[test]
        fn what_was_listed_whole_is_cut_evenly(pages in 1_usize..40, shards in 1_usize..20) {
            let keys: Vec<_> = (0..pages * 700).map(key).collect();
            let samples = keys.chunks(700).flat_map(|page| sample(page.iter().map(|key| &**key)));
            let cuts = quantiles(samples.collect(), shards);
            prop_assert!(cuts.len() < shards);
            let mut sizes = Vec::new();
            let mut before = 0;
            for cut in &cuts {
                let through = keys.iter().position(|key| key == cut).unwrap() + 1;
                sizes.push(through - before);
                before = through;
            }
            sizes.push(keys.len() - before);
            let most = keys.len() / shards + 2 * SAMPLED;
            prop_assert!(sizes.iter().all(|size| *size <= most && *size > 0), "{:?}", sizes);
        }

        #[test]
        fn names_are_chosen_evenly(names in 0_usize..300, shards in 1_usize..40) {
            let chosen = thin((0..names).map(key).collect(), shards);
            prop_assert_eq!(chosen.len(), names.min(shards - 1));
            prop_assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
