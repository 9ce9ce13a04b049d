//! Contents by name, made of random bytes, written to a folder and read back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use support::dice::Dice;
use support::files;

/// Contents by name, with `/` between folders.
pub(super) type Contents = BTreeMap<String, Vec<u8>>;

/// Random bytes.
pub(super) fn bytes(dice: &mut Dice, length: u64) -> Vec<u8> {
    let length = usize::try_from(length).expect("contents are small");
    let mut bytes = vec![0; length];
    dice.fill(&mut bytes);
    bytes
}

/// Writes contents below a folder, which is made.
pub(super) fn write(folder: &Path, contents: &Contents) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, bytes) in contents {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// All files below a folder; none where it is missing.
pub(super) fn read(folder: &Path) -> Result<Contents> {
    let read = |name: String| {
        let bytes = fs::read(folder.join(&name)).with_context(|| name.clone())?;
        Ok((name, bytes))
    };
    files::below(folder)?.into_iter().map(read).collect()
}

/// Takes the entries whose names have a prefix out, without it.
pub(super) fn split(contents: &mut Contents, prefix: &str) -> Contents {
    let taken = contents.extract_if(.., |name, _| name.starts_with(prefix));
    taken.map(|(name, bytes)| (name[prefix.len()..].to_owned(), bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut dice = Dice::new(1);
        let names = ["a/b/c", "a/d", "e"];
        let contents: Contents =
            names.iter().map(|name| ((*name).to_owned(), bytes(&mut dice, 13))).collect();
        write(folder.path(), &contents).unwrap();
        let mut found = read(folder.path()).unwrap();
        assert_eq!(found, contents);
        assert_eq!(split(&mut found, "a/").len(), 2);
        assert_eq!(found.len(), 1);
        assert!(read(&folder.path().join("missing")).unwrap().is_empty());
    }
}
