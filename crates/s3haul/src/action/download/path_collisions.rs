//! Keys that differ only in empty or `.` components share one local file; none may be lost.
//!
//! `a//b` and `a/./b` are written to `a/b`, as the AWS tools do. The file belongs to the key that
//! is spelled like it, whichever is received first, and without such a key to the first of the
//! others; all further keys fail. So keys without such components, nearly all, cost nothing here.
//! For the others the names are remembered ([`NAMES_MAX`] at most; what comes after fails), and
//! whether there is a key of the plain spelling is read from the listing after it, one page for
//! as many of them as it covers. A plain key counts even where filters leave it out of the job:
//! what is in doubt fails rather than being overwritten. So it does in a move where there is a file
//! already, unless a plan says so.

use std::collections::HashMap;

use super::target::DownloadTarget;
use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::plan::action::DownloadAction;
use crate::plan::versions::{VersionRule, VersionSelector};
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{ListObjects, ListVersions};

/// Names remembered at most, about 200 MB of them.
const NAMES_MAX: usize = 1_000_000;

/// The files that belong to keys that are not spelled like them.
#[derive(Debug, Default)]
pub(crate) struct PathClaims {
    /// Key of each relative name.
    keys: HashMap<String, String>,
    listed: Listed,
}

/// Keys of the source that are known: all after `after` up to `until`, or to the end.
#[derive(Debug, Default)]
struct Listed {
    after: String,
    until: Option<String>,
    keys: Option<Vec<String>>,
}

impl PathClaims {
    /// Takes the file of an action for its key; fails where it belongs to another. A move fails
    /// where there is a file already: its key may have been moved away, by an earlier run or a
    /// moment ago, and is not listed any more.
    pub(crate) async fn claim(
        &mut self,
        engine: &Engine,
        target: &DownloadTarget,
        action: &DownloadAction,
    ) -> Result<()> {
        let Some(plain) = &action.plain_key else { return Ok(()) };
        if let Some(owner) = self.keys.get(&action.relative) {
            return Err(taken(action, owner));
        }
        if self.keys.len() >= NAMES_MAX {
            let message = format!("more than {NAMES_MAX} keys have empty or `.` components");
            return Err(Error::new(ErrorKind::Local, message));
        }
        let root = plain.strip_suffix(action.relative.as_str()).unwrap_or_default();
        let is_taken = match engine.settings.versions {
            Some(rule) => has_version(engine, plain, rule).await?,
            None => self.listed.contains(engine, root, plain).await?,
        };
        if is_taken {
            return Err(taken(action, plain));
        }
        // What a plan would write over was looked at.
        if engine.settings.is_move && action.expected.is_none() {
            let (target, relative) = (target.clone(), action.relative.clone());
            if blocking(move || target.exists(&relative)).await {
                let message = format!(
                    "`{}` would overwrite the file `{}`, which may hold an object moved earlier: \
                     remove the file, or move this object by itself under another name",
                    action.key, action.relative
                );
                return Err(Error::new(ErrorKind::Local, message));
            }
        }
        self.keys.insert(action.relative.clone(), action.key.clone());
        Ok(())
    }
}

/// Whether the source has a key among the versions that a rule takes.
async fn has_version(engine: &Engine, key: &str, rule: VersionRule) -> Result<bool> {
    let mut selector = VersionSelector::new(rule);
    let mut markers: (Option<String>, Option<String>) = (None, None);
    loop {
        let input = ListVersions {
            bucket: &engine.settings.source_bucket,
            prefix: key,
            key_marker: markers.0.as_deref(),
            version_id_marker: markers.1.as_deref(),
            ..ListVersions::default()
        };
        let page = engine.send(|| engine.source.list_versions(input)).await?;
        for version in page.versions.iter().filter(|version| version.key == key) {
            if selector.takes_listed(version)? {
                return Ok(true);
            }
        }
        // The key itself is the first that begins like it.
        let is_more = page.is_truncated
            && page.next_key_marker.as_deref() == Some(key)
            && page.next_version_id_marker != markers.1;
        if !is_more {
            return Ok(false);
        }
        markers = (page.next_key_marker, page.next_version_id_marker);
    }
}

fn taken(action: &DownloadAction, owner: &str) -> Error {
    let message = format!(
        "`{}` would overwrite the file `{}`, which is written from key `{owner}`",
        action.key, action.relative
    );
    Error::new(ErrorKind::Local, message)
}

impl Listed {
    /// Whether the source has a key below `root`.
    async fn contains(&mut self, engine: &Engine, root: &str, key: &str) -> Result<bool> {
        let mut next = just_before(key);
        loop {
            if let Some(found) = self.find(key) {
                return Ok(found);
            }
            self.list(engine, root, next).await?;
            // Rarely more than a page lies between: it is read on until the key is passed.
            next = self.until.clone().unwrap_or_default();
        }
    }

    /// Whether a key exists; `None` if the listed keys do not answer that.
    fn find(&self, key: &str) -> Option<bool> {
        let keys = self.keys.as_ref()?;
        let is_covered =
            self.after.as_str() < key && self.until.as_deref().is_none_or(|until| key <= until);
        is_covered.then(|| keys.binary_search_by(|known| known.as_str().cmp(key)).is_ok())
    }

    async fn list(&mut self, engine: &Engine, root: &str, after: String) -> Result<()> {
        let input = ListObjects {
            bucket: &engine.settings.source_bucket,
            prefix: root,
            start_after: Some(&after),
            ..ListObjects::default()
        };
        let page = engine.send(|| engine.source.list_objects(input)).await?;
        let keys: Vec<_> = page.iter().map(|object| object.key.to_owned()).collect();
        let last = keys.last().filter(|last| **last > after).cloned();
        if page.is_truncated && last.is_none() {
            let message = "truncated listing page has no keys";
            return Err(Error::new(ErrorKind::Server, message));
        }
        let until = last.filter(|_| page.is_truncated);
        *self = Self { after, until, keys: Some(keys) };
        Ok(())
    }
}

/// A string that sorts before a key, with few or no keys between.
fn just_before(key: &str) -> String {
    let mut before = key.to_owned();
    if let Some(last @ '"'..='~') = before.pop() {
        before.push(char::from(last as u8 - 1));
        before.push('~');
    }
    before
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_was_listed_is_known() {
        let keys = Some(vec!["b".to_owned(), "d".to_owned()]);
        let page = Listed { after: "a".to_owned(), until: Some("d".to_owned()), keys };
        let found = ["a", "b", "c", "d", "e"].map(|key| page.find(key));
        assert_eq!(found, [None, Some(true), Some(false), Some(true), None]);
        let last = Listed { until: None, ..page };
        assert_eq!(last.find("e"), Some(false));
        assert_eq!(Listed::default().find("e"), None);
    }

    proptest! {
        #[test]
        fn what_is_before_sorts_before(key in "\\PC{1,9}") {
            prop_assert!(just_before(&key) < key);
        }
    }
}
