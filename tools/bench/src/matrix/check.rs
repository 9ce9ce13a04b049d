//! Whether a tool did the work: by what is on the server and on disk afterwards, by what it
//! printed, and by the requests that it sent, or by the times of objects where the server does not
//! count requests.
//!
//! A check answers with what is wrong. Its own failure to look is an error of the bench.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use serde::Deserialize;

use super::environment::{Environment, SINGLE_KEY, Slot, added_file, objects};
use super::ledger::Requests;
use super::listing::Listing;
use super::output::Printed;
use super::server::{KEYS_BUCKET, TARGET_BUCKET};
use super::shape::MIB;
use super::table::{ADDED, ADDED_BYTES, Kind, TOUCHED};
use super::tree::{sample, sizes};
use support::process;
use support::term::count;

/// What a check found: nothing, or what is wrong.
pub(super) type Verdict = Result<(), String>;

/// Downloaded files whose bytes are compared.
const SAMPLE_FILES: usize = 8;
/// Compared of each where the server computes them.
const BEGINNING_BYTES: u64 = 32 * MIB;
/// Headings and totals that a listing may have beside its keys.
const LINES_BESIDE_MAX: u64 = 5;

/// What was seen of a run.
pub(super) struct Seen {
    pub(super) printed: Printed,
    /// The requests that arrived, where the server counts them.
    pub(super) requests: Option<Requests>,
    /// What a sync found, where it does not.
    pub(super) before: Option<Listing>,
}

/// Whether the work of a run is done.
pub(super) fn check(environment: &Environment<'_>, slot: &Slot, seen: &Seen) -> Result<Verdict> {
    let printed = &seen.printed;
    let keys = environment.job.keys.map_or(0, |keys| keys.count);
    Ok(match environment.job.kind {
        Kind::Upload | Kind::UploadFile | Kind::SyncFirst | Kind::Copy => {
            let found = environment.server.listing(TARGET_BUCKET, &slot.prefix)?;
            same_names(&found.sizes(), &names(environment))
        }
        Kind::Delete => same(
            "objects and bytes are left",
            environment.server.totals(TARGET_BUCKET, &slot.prefix)?,
            (0, 0),
        ),
        Kind::SyncNothing => {
            let found = environment.server.listing(TARGET_BUCKET, &slot.prefix)?;
            same_names(&found.sizes(), &names(environment))
                .and_then(|()| no_writes(seen.requests.as_ref()))
                .and_then(|()| only_written(seen, &found, &BTreeSet::new()))
        }
        Kind::SyncAgain => again(environment, slot, seen)?,
        Kind::Tag => {
            let address = format!("s3://{TARGET_BUCKET}/{}", slot.prefix);
            let told = environment.server.run(&["tag", "get", "--recursive", &address])?;
            same("objects have a tag", tagged(&told), environment.tree.totals().0)
        }
        Kind::Download => downloaded(environment, slot)?,
        Kind::DownloadFile => {
            let (name, bytes) = &environment.tree.files[0];
            match std::fs::metadata(&slot.file) {
                Err(_) => Err("there is no file".to_owned()),
                Ok(meta) if meta.len() != *bytes => {
                    Err(format!("the file has {} bytes, not {}", count(meta.len()), count(*bytes)))
                }
                Ok(_) => same_bytes(environment, &slot.file, name, SINGLE_KEY)?,
            }
        }
        Kind::List => listed(printed, keys),
        Kind::Summarize => counted(printed, keys),
        Kind::Version => match printed {
            Printed::End(text) if text.trim().is_empty() => Err("it printed nothing".to_owned()),
            _ => Ok(()),
        },
        // What the script of a library reports says it.
        Kind::Start | Kind::ListArrow | Kind::ListPandas | Kind::Read => Ok(()),
    })
}

/// Objects and bytes that a library's script has worked on.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Report {
    objects: u64,
    bytes: u64,
}

/// Whether the script of a library reports what there was to do.
pub(super) fn reported(environment: &Environment<'_>, printed: &Printed) -> Result<Verdict> {
    let (objects, bytes) = match environment.job.kind {
        Kind::Start | Kind::SyncNothing => (0, 0),
        Kind::ListArrow | Kind::ListPandas => environment.server.totals(KEYS_BUCKET, "")?,
        _ => environment.tree.totals(),
    };
    Ok(report(printed).and_then(|found| same("is reported", found, Report { objects, bytes })))
}

/// The last line that a script printed.
fn report(printed: &Printed) -> Result<Report, String> {
    let Printed::End(text) = printed else { return Err("its output was not read".to_owned()) };
    let line = text.lines().next_back().unwrap_or_default();
    serde_json::from_str(line).map_err(|_| format!("it reports no result, but `{line}`"))
}

fn same<T: Copy + PartialEq + std::fmt::Debug>(what: &str, found: T, wanted: T) -> Verdict {
    if found == wanted { Ok(()) } else { Err(format!("{found:?} {what}, not {wanted:?}")) }
}

/// A sync that finds nothing to do looks and changes nothing.
pub(super) fn no_writes(requests: Option<&Requests>) -> Verdict {
    match requests.map(|requests| (requests.count(), requests.writes())) {
        Some((0, _)) => Err("it sent no requests".to_owned()),
        Some((_, writes)) if writes > 0 => Err(format!("it sent {writes} requests that write")),
        _ => Ok(()),
    }
}

/// A later sync uploads what was added and what was touched, and nothing else.
fn again(environment: &Environment<'_>, slot: &Slot, seen: &Seen) -> Result<Verdict> {
    let found = environment.server.listing(TARGET_BUCKET, &slot.prefix)?;
    let added: Vec<String> = (0..ADDED).map(added_file).collect();
    let mut wanted = names(environment);
    wanted.extend(added.iter().map(|name| (name.clone(), ADDED_BYTES)));
    let changed = environment.touched().into_iter().chain(added).collect();
    Ok(same_names(&found.sizes(), &wanted)
        .and_then(|()| seen.requests.as_ref().map_or(Ok(()), written))
        .and_then(|()| only_written(seen, &found, &changed)))
}

/// By the times of objects, where the server counts no requests.
fn only_written(seen: &Seen, after: &Listing, wanted: &BTreeSet<String>) -> Verdict {
    let Some(before) = &seen.before else { return Ok(()) };
    let found = after.written_since(before);
    match found.symmetric_difference(wanted).next() {
        None => Ok(()),
        Some(name) if wanted.contains(name) => Err(format!("`{name}` was not written")),
        Some(name) => Err(format!("`{name}` was written anew, one of {}", found.len())),
    }
}

/// Names and sizes of the tree.
fn names(environment: &Environment<'_>) -> BTreeMap<String, u64> {
    environment.tree.files.iter().cloned().collect()
}

/// Objects that were written whole or in parts: those touched and those added.
fn written(requests: &Requests) -> Verdict {
    // A tool may find that only a time has changed, and say so to the server by a copy in place.
    let kinds = ["PutObject", "CompleteMultipartUpload", "CopyObject"];
    let written: u64 = kinds.iter().map(|kind| requests.good(kind)).sum();
    same("objects were written", written, TOUCHED as u64 + ADDED)
}

/// Lines of `tag get` with something behind the object's address.
fn tagged(told: &str) -> u64 {
    let is_tagged = |line: &&str| line.split_once('\t').is_some_and(|(_, tags)| !tags.is_empty());
    told.lines().filter(is_tagged).count() as u64
}

/// A listing has a line for each key.
pub(super) fn listed(printed: &Printed, keys: u64) -> Verdict {
    match printed {
        Printed::Lines(lines) if (keys..=keys + LINES_BESIDE_MAX).contains(lines) => Ok(()),
        Printed::Lines(lines) => {
            Err(format!("{} lines were printed for {} keys", count(*lines), count(keys)))
        }
        _ => Err("its output was not counted".to_owned()),
    }
}

/// A summary names the number of keys, with or without marks between the thousands.
pub(super) fn counted(printed: &Printed, keys: u64) -> Verdict {
    let Printed::End(text) = printed else { return Err("its output was not read".to_owned()) };
    let plain: String = text.chars().filter(|c| !matches!(c, ',' | '_' | '\'')).collect();
    let wanted = keys.to_string();
    if plain.split(|c: char| !c.is_ascii_digit()).any(|number| number == wanted) {
        Ok(())
    } else {
        Err(format!("its summary does not have the number {wanted}"))
    }
}

/// Names and sizes of all files, and bytes of some.
fn downloaded(environment: &Environment<'_>, slot: &Slot) -> Result<Verdict> {
    if let Err(difference) = same_names(&sizes(&slot.folder)?, &names(environment)) {
        return Ok(Err(difference));
    }
    for (name, _) in sample(&environment.tree.files, SAMPLE_FILES) {
        let key = format!("{}{name}", objects().1);
        let verdict = same_bytes(environment, &slot.folder.join(&name), &name, &key)?;
        if verdict.is_err() {
            return Ok(verdict);
        }
    }
    Ok(Ok(()))
}

fn same_names(found: &BTreeMap<String, u64>, wanted: &BTreeMap<String, u64>) -> Verdict {
    for (name, bytes) in wanted {
        match found.get(name) {
            None => return Err(format!("`{name}` is missing, with {} there", found.len())),
            Some(size) if size != bytes => {
                return Err(format!("`{name}` has {size} bytes, not {bytes}"));
            }
            Some(_) => {}
        }
    }
    same("names are there", found.len(), wanted.len())
}

/// Compares a downloaded file with the tree's, or with the beginning of the computed object.
fn same_bytes(
    environment: &Environment<'_>,
    file: &Path,
    name: &str,
    key: &str,
) -> Result<Verdict> {
    let is_same = if environment.keeps_bytes {
        files_are_same(file, &environment.tree.path(name))?
    } else {
        let wanted = environment.server.beginning(objects().0, key, BEGINNING_BYTES)?;
        let mut found = Vec::new();
        File::open(file)?.take(BEGINNING_BYTES).read_to_end(&mut found)?;
        found == wanted
    };
    Ok(if is_same { Ok(()) } else { Err(format!("the bytes of `{name}` are others")) })
}

fn files_are_same(left: &Path, right: &Path) -> Result<bool> {
    let output = process::output(Command::new("cmp").arg("--quiet").args([left, right]))?;
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => bail!("could not compare: {}", String::from_utf8_lossy(&output.stderr).trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_that_is_short_or_long_is_seen() {
        let check = |lines| listed(&Printed::Lines(lines), 1000);
        assert!(check(1000).is_ok() && check(1002).is_ok());
        for wrong in [0, 999, 1006, 2000] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        assert!(listed(&Printed::Unread, 0).is_err());
    }

    #[test]
    fn a_summary_has_to_name_the_number() {
        let check = |text: &str| counted(&Printed::End(text.to_owned()), 1_000_000);
        for good in ["Total Objects: 1000000\n", "1,000,000 objects", "count=1000000B"] {
            assert!(check(good).is_ok(), "{good}");
        }
        for wrong in ["", "Total Objects: 100000\n", "10000000 objects", "999,999"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn missing_cut_and_foreign_files_are_seen() {
        let of = |files: &[(&str, u64)]| -> BTreeMap<String, u64> {
            files.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect()
        };
        let wanted = of(&[("a/1", 5), ("a/2", 6)]);
        assert!(same_names(&wanted, &wanted).is_ok());
        for wrong in [
            of(&[("a/1", 5)]),
            of(&[("a/1", 5), ("a/2", 5)]),
            of(&[("a/1", 5), ("a/2", 6), ("a/2.tmp", 0)]),
        ] {
            assert!(same_names(&wrong, &wanted).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_changed_byte_is_seen() {
        let scratch = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = scratch.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let mut bytes = vec![7_u8; 3 << 20];
        let left = write("left", &bytes);
        assert!(files_are_same(&left, &write("same", &bytes)).unwrap());
        bytes[(2 << 20) + 5] = 8;
        assert!(!files_are_same(&left, &write("changed", &bytes)).unwrap());
        assert!(!files_are_same(&left, &write("short", &bytes[..100])).unwrap());
        assert!(files_are_same(&left, Path::new("/nonexistent")).is_err());
    }

    #[test]
    fn a_sync_that_writes_too_much_or_too_little_is_seen() {
        let requests = |lines: &[(&str, u64)]| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            for (operation, count) in lines {
                for _ in 0..*count {
                    let line = format!("{{\"operation\":\"{operation}\",\"status\":200}}\n");
                    std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
                }
            }
            super::super::ledger::Ledger::new(file.path()).take().unwrap()
        };
        let reads = [("ListObjectsV2", 3), ("HeadObject", 2)];
        assert!(no_writes(Some(&requests(&reads))).is_ok());
        assert!(no_writes(Some(&requests(&[("ListObjectsV2", 1), ("PutObject", 1)]))).is_err());
        assert!(no_writes(Some(&requests(&[("DeleteObjects", 1)]))).is_err());
        assert!(no_writes(Some(&requests(&[]))).is_err());
        let again = [("PutObject", 8), ("UploadPart", 10), ("CompleteMultipartUpload", 5)];
        assert!(written(&requests(&again)).is_ok());
        assert!(written(&requests(&again[..2])).is_err());
        assert!(written(&requests(&[("PutObject", 100)])).is_err());
    }

    #[test]
    fn objects_that_were_written_for_nothing_are_seen_by_their_times() {
        let listing = |text: &str| Listing::parse(text, "").unwrap();
        let names = |names: &[&str]| -> BTreeSet<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let seen = |before| Seen { printed: Printed::Unread, requests: None, before };
        let before = || Some(listing("a\t1\tT1\nb\t1\tT1\n"));
        let after = listing("a\t1\tT1\nb\t1\tT2\n");
        assert!(only_written(&seen(before()), &after, &names(&["b"])).is_ok());
        for wrong in [names(&[]), names(&["a"]), names(&["a", "b"])] {
            assert!(only_written(&seen(before()), &after, &wrong).is_err(), "{wrong:?}");
        }
        assert!(only_written(&seen(None), &after, &names(&[])).is_ok());
    }

    #[test]
    fn objects_without_a_tag_are_not_counted() {
        assert_eq!(tagged("s3://b/1\tbench=yes\ns3://b/2\t\ns3://b/3\n"), 1);
    }

    #[test]
    fn a_report_is_the_last_line() {
        let read = |text: &str| report(&Printed::End(text.to_owned()));
        let told = "a warning\n{\"objects\": 2, \"bytes\": 7}\n";
        assert_eq!(read(told), Ok(Report { objects: 2, bytes: 7 }));
        assert_eq!(read("").unwrap_err(), "it reports no result, but ``");
        assert!(read("{\"objects\": 2.5, \"bytes\": 7}\n").is_err());
    }

    #[test]
    fn totals_must_be_the_same() {
        assert!(same("objects", (3, 9), (3, 9)).is_ok());
        assert_eq!(same("objects", (2, 9), (3, 9)), Err("(2, 9) objects, not (3, 9)".to_owned()));
    }
}
