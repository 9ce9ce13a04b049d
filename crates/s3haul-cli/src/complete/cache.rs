//! Names that were listed a moment ago, so that completing a path takes one request a folder.
//!
//! One small file a listing, readable by its owner only, in the folder of caches. A file is used
//! for half a minute and removed later; whatever goes wrong here, the names are listed anew.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use md5::{Digest as _, Md5};
use s3haul_wire::units::hex;

/// How long names are used.
const FRESH: Duration = Duration::from_secs(30);
/// Files that are looked at to remove old ones.
const LOOKED_AT_MAX: usize = 1000;
/// First line of a file with all names, and with some of them.
const WHOLE: &str = "whole";
const CUT: &str = "cut";

/// Names below an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// The names, in order.
    pub(super) names: Vec<String>,
    /// Whether these are all.
    pub(super) is_whole: bool,
}

/// Listings of one service with one set of credentials.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    identity: String,
}

impl Cache {
    /// Those in a folder, which need not be there.
    pub(super) fn new(folder: PathBuf, identity: String) -> Self {
        Self { folder, identity }
    }

    fn file(&self, address: &str) -> PathBuf {
        let digest = Md5::digest(format!("{}\0{address}", self.identity));
        self.folder.join(hex(&digest))
    }

    /// The names below an address, if they were listed a moment ago.
    pub(super) fn get(&self, address: &str) -> Option<Names> {
        let file = self.file(address);
        if !is_fresh(&file) {
            return None;
        }
        let text = fs::read_to_string(file).ok()?;
        let mut lines = text.lines();
        let is_whole = lines.next()? == WHOLE;
        Some(Names { names: lines.map(str::to_owned).collect(), is_whole })
    }

    /// Keeps the names below an address.
    pub(super) fn put(&self, address: &str, names: &Names) {
        // It only spares requests.
        let _ = self.write(&self.file(address), names);
    }

    fn write(&self, file: &Path, names: &Names) -> std::io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder)?;
        let mut written = tempfile::NamedTempFile::new_in(&self.folder)?;
        writeln!(written, "{}", if names.is_whole { WHOLE } else { CUT })?;
        for name in &names.names {
            writeln!(written, "{name}")?;
        }
        written.persist(file)?;
        for entry in fs::read_dir(&self.folder)?.take(LOOKED_AT_MAX) {
            let path = entry?.path();
            if !is_fresh(&path) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

fn is_fresh(file: &Path) -> bool {
    let modified = file.metadata().and_then(|data| data.modified());
    let age = modified.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    age.is_some_and(|age| age < FRESH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_for_a_while_and_apart() {
        let folder = tempfile::tempdir().unwrap();
        let cache = |identity: &str| Cache::new(folder.path().join("c"), identity.to_owned());
        let names = Names { names: vec!["a b".to_owned(), "ü/".to_owned()], is_whole: true };
        let ours = cache("me");
        ours.put("s3://b/", &names);
        let cut = Names { is_whole: false, ..names.clone() };
        ours.put("s3://b/x", &cut);
        assert_eq!((ours.get("s3://b/"), ours.get("s3://b/x")), (Some(names), Some(cut.clone())));
        assert_eq!((cache("you").get("s3://b/"), ours.get("s3://c/")), (None, None));
        let old = SystemTime::now() - FRESH;
        let file = fs::File::options().append(true).open(ours.file("s3://b/")).unwrap();
        file.set_modified(old).unwrap();
        assert_eq!(ours.get("s3://b/"), None);
        ours.put("s3://b/y", &cut);
        assert!(!ours.file("s3://b/").exists(), "what is old is removed");
        assert!(ours.file("s3://b/x").exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&ours.folder), mode(&ours.file("s3://b/x"))), (0o700, 0o600));
        }
    }
}
