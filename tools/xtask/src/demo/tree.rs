//! The tree that the demo moves: about 2,000 files of 0 bytes to 40 MB, some with names that
//! have broken such tools before. The same seed makes the same tree.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use support::dice::Dice;

const SEED: u64 = 0x5333_6861_756c;

/// A name may have 255 bytes on common file systems; a temporary name made from it must not grow.
const LONGEST_NAME_BYTES: usize = 255;
const DEEP_FOLDERS: usize = 40;

/// How many plain files there are of which sizes in bytes.
const PLAIN: [(&str, usize, u64, u64); 4] = [
    ("empty", 20, 0, 0),
    ("small", 1_700, 1, 32 * 1024),
    ("middle", 200, 32 * 1024, 900 * 1024),
    ("large", 6, 3_000_000, 6_000_000),
];

/// Age of the files made.
const AGE: Duration = Duration::from_secs(10);

/// Around the sizes where transfers are cut into parts, and the largest.
const EXACT_SIZES: [u64; 7] =
    [5 << 20, (8 << 20) - 1, 8 << 20, (8 << 20) + 1, 16 << 20, 20_000_000, 40_000_000];

/// Names that need quoting, encoding or care somewhere between the disk and the server.
const ODD_NAMES: [&str; 44] = [
    "with space",
    " leading space",
    "trailing space ",
    "plus+plus",
    "100%",
    "%41%2F%00",
    "a&b=c;d",
    "single'quote",
    "double\"quote",
    "back`tick",
    "[x]",
    "[a-z]*",
    "star*",
    "hash#tag",
    "what?",
    "back\\slash",
    "dollar$HOME",
    "at@sign",
    "colon:colon",
    "semi;colon",
    "comma,comma",
    "less<",
    "greater>",
    "pipe|pipe",
    "caret^",
    "curly{brace}",
    "tilde~",
    "-dash",
    "--recursive",
    ".hidden",
    "...dots",
    "party🎉",
    "漢字かな",
    "кириллица",
    "عربى",
    "e\u{301} combined",
    "é composed",
    "no\u{a0}break",
    "left\u{200e}right",
    "embed\u{202f}narrow",
    "delete\u{7f}",
    "new\nline",
    "tab\ttab",
    "carriage\rreturn",
];

/// What was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// Files.
    pub(super) files: u64,
    /// Bytes in them.
    pub(super) bytes: u64,
}

/// Makes the tree in a new folder.
pub(super) fn create(root: &Path) -> Result<Totals> {
    let mut maker =
        Maker { root: root.to_owned(), random: Dice::new(SEED), totals: Totals::default() };
    for (name, count, smallest, largest) in PLAIN {
        for index in 0..count {
            let size = maker.random.between(smallest, largest);
            let folder = index / 100;
            maker.file(&format!("{name}/{folder:02}/{name}-{index:04}.bin"), size)?;
        }
    }
    for size in EXACT_SIZES {
        maker.file(&format!("exact/{size}.bin"), size)?;
    }
    for (index, name) in ODD_NAMES.iter().enumerate() {
        let size = maker.random.between(0, 5_000);
        maker.file(&format!("odd/{name}"), size)?;
        maker.file(&format!("odd folders/{name}/{index}.txt"), size)?;
    }
    maker.file(&format!("long/{}", "漢".repeat(LONGEST_NAME_BYTES / 3)), 77)?;
    maker.file(&format!("long/{}", "n".repeat(LONGEST_NAME_BYTES)), 9 << 20)?;
    maker.file(&format!("deep/{}leaf", "folder/".repeat(DEEP_FOLDERS)), 1_000)?;
    maker.file("readme.txt", 1_234)?;
    Ok(maker.totals)
}

struct Maker {
    root: PathBuf,
    random: Dice,
    totals: Totals,
}

impl Maker {
    fn file(&mut self, name: &str, size: u64) -> Result<()> {
        let path = self.root.join(name);
        self.write(&path, size).with_context(|| format!("could not write {}", path.display()))?;
        self.totals.files += 1;
        self.totals.bytes += size;
        Ok(())
    }

    fn write(&mut self, path: &Path, size: u64) -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut bytes = vec![0; usize::try_from(size).expect("the largest file fits into memory")];
        self.random.fill(&mut bytes);
        let mut file = fs::File::create_new(path)?;
        file.write_all(&bytes)?;
        // S3 keeps whole seconds: a file of the second of its upload would look newer than that.
        file.set_modified(SystemTime::now() - AGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_names_and_differ() {
        let mut names = ODD_NAMES.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ODD_NAMES.len());
        assert!(ODD_NAMES.iter().all(|name| !name.contains('/') && !name.is_empty()));
    }
}
