//! Key sets to list: made ones of the shapes that buckets have, and real ones that are not tuned
//! for. Each becomes a file of unique keys in the order of their bytes, one a line, below
//! `target/layouts`, where the next run finds it.
//!
//! A made layout is a pure function of its number of keys. Ten million keys take well under a
//! minute and at most about 2 GB.

mod folders;
mod made;
mod real;

use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use support::dice::Dice;
use support::{process, term};

/// Appends the next key.
type Next = Box<dyn FnMut(&mut Dice, &mut String)>;

/// A key set by its name.
struct Layout {
    name: &'static str,
    about: &'static str,
    keys: Keys,
}

/// Where keys come from.
enum Keys {
    /// Made, for a wanted number of keys, behind a prefix that all of them share.
    Made { prefix: &'static str, begin: fn(u64, &mut Dice) -> Next },
    /// Found on this machine, or fetched by its package manager.
    Found(fn(&Path, &mut Vec<String>)),
}

const fn made(
    name: &'static str,
    about: &'static str,
    begin: fn(u64, &mut Dice) -> Next,
) -> Layout {
    Layout { name, about, keys: Keys::Made { prefix: "", begin } }
}

const LAYOUTS: &[Layout] = &[
    made("seq", "padded numbers in one folder", made::seq),
    Layout {
        name: "seqraw",
        about: "unpadded numbers after a common prefix of 216 bytes",
        keys: Keys::Made { prefix: made::SEQRAW_PREFIX, begin: made::seqraw },
    },
    made("dates", "a folder an hour for three years", made::dates),
    made("flatdates", "times at a growing rate, no slash", made::flatdates),
    made("uuid", "random UUIDs", made::uuid),
    made("hashp", "four hex digits, then folders of dates and users", made::hashp),
    made("onebig", "nine tenths in one folder, the rest in thousands", folders::onebig),
    made("cjk", "Chinese, Japanese, Korean, Cyrillic and emoji", folders::cjk),
    made("trie", "deep folders of one letter, skewed", folders::trie),
    made("heavy", "20,000 folders of very different size", folders::heavy),
    made("hive", "partitioned tables of very different size", folders::hive),
    Layout {
        name: "paths",
        about: "paths of files of Debian packages, or of this machine",
        keys: Keys::Found(real::paths),
    },
];

/// Names of all layouts.
pub(crate) fn names() -> Vec<&'static str> {
    LAYOUTS.iter().map(|layout| layout.name).collect()
}

/// A file of keys.
pub(crate) struct KeyFile {
    pub(crate) path: PathBuf,
    /// Number of keys; fewer than wanted where a found set has no more.
    pub(crate) count: u64,
}

/// The key file of a layout, made where it is not there yet.
pub(crate) fn ensure(name: &str, count: u64) -> Result<KeyFile> {
    let Some(layout) = LAYOUTS.iter().find(|layout| layout.name == name) else {
        let known: Vec<String> = LAYOUTS
            .iter()
            .map(|layout| format!("  {:<10} {}", layout.name, layout.about))
            .collect();
        bail!("unknown layout `{name}`; these exist:\n{}", known.join("\n"));
    };
    let folder = process::target().join("layouts");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("could not make {}", folder.display()))?;
    let path = folder.join(format!("{name}-{count}.keys"));
    if !path.exists() {
        term::dim(&format!("layouts: making {}", path.display()));
        write(&path, make(layout, count, &folder)?)?;
    }
    let count = count_lines(File::open(&path)?)?;
    Ok(KeyFile { path, count })
}

/// The keys of a layout, sorted.
fn make(layout: &Layout, count: u64, folder: &Path) -> Result<Vec<String>> {
    let wanted = usize::try_from(count)?;
    // Any number will do; it is the layout's own, so that no two layouts share their dice.
    let mut dice = Dice::new(layout.name.bytes().fold(7, |seed, b| seed * 31 + u64::from(b)));
    let mut keys = Vec::new();
    match layout.keys {
        Keys::Made { prefix, begin } => {
            let mut next = begin(count, &mut dice);
            while keys.len() < wanted {
                keys.reserve_exact(wanted - keys.len());
                while keys.len() < wanted {
                    let mut key = prefix.to_owned();
                    next(&mut dice, &mut key);
                    keys.push(key);
                }
                sort(&mut keys);
            }
        }
        Keys::Found(find) => {
            find(folder, &mut keys);
            sort(&mut keys);
            dice.shuffle(&mut keys);
            keys.truncate(wanted);
            sort(&mut keys);
        }
    }
    Ok(keys)
}

fn sort(keys: &mut Vec<String>) {
    keys.sort_unstable();
    keys.dedup();
}

/// Writes lines beside the path first, so that what stands there is whole.
pub(crate) fn write(path: &Path, lines: impl IntoIterator<Item = impl Display>) -> Result<()> {
    let part = path.with_extension("part");
    let mut file = BufWriter::with_capacity(1 << 20, File::create(&part)?);
    lines
        .into_iter()
        .try_for_each(|line| writeln!(file, "{line}"))
        .and_then(|()| file.flush())
        .with_context(|| format!("could not write `{}`", path.display()))?;
    Ok(std::fs::rename(&part, path)?)
}

/// How many lines there are.
pub(crate) fn count_lines(input: impl Read) -> Result<u64> {
    let mut input = BufReader::with_capacity(1 << 20, input);
    let mut lines = 0;
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(lines);
        }
        lines += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        let length = bytes.len();
        input.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(layout: &Layout, count: u64) -> Vec<String> {
        make(layout, count, Path::new("/nonexistent")).unwrap()
    }

    #[test]
    fn made_layouts_are_sorted_unique_and_the_same_every_time() {
        for layout in LAYOUTS.iter().filter(|layout| matches!(layout.keys, Keys::Made { .. })) {
            let first = keys(layout, 5000);
            assert_eq!(first.len(), 5000, "{}", layout.name);
            assert!(first.windows(2).all(|pair| pair[0] < pair[1]), "{}", layout.name);
            assert!(first.iter().all(|key| (1..=1024).contains(&key.len())), "{}", layout.name);
            assert_eq!(first, keys(layout, 5000), "{}", layout.name);
        }
    }

    #[test]
    fn shapes_are_what_they_say() {
        let of = |name: &str| {
            let layout = LAYOUTS.iter().find(|layout| layout.name == name).unwrap();
            keys(layout, 3000)
        };
        assert_eq!(of("seq")[7], "prod/data/export/v2/batch/file-000000000007.json");
        assert!(of("seqraw")[0].len() == 217 && of("seqraw")[2999].ends_with("-9996"));
        assert!(of("flatdates")[0].starts_with("evt-202"));
        assert!(of("dates")[0].starts_with("logs/2022/01/01/00/host-"));
        let onebig = of("onebig");
        let big = onebig.iter().filter(|key| key.starts_with("uploads/")).count();
        assert_eq!(big, 2700);
        assert!(of("trie").iter().all(|key| key.split('/').count() >= 9));
        assert!(of("cjk").iter().any(|key| key.starts_with("写真/")));
    }
}
