//! What is done about what is marked: the commands that one would type. Pure.
//!
//! There is no other way of changing anything here: each command is planned, its plan is shown, and
//! the plan is done.

use std::fmt;

use super::marks::Targets;

/// Folders of one action; each is a command with a plan of its own.
const FOLDERS_MAX: usize = 100;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Remove.
    Delete,
    /// Remove with all versions, for good.
    DeleteVersions,
    /// Bring back what was removed.
    Undelete,
    /// Add tags, as `--tags` takes them.
    Tag(String),
    /// Remove tags: their keys.
    Untag(String),
    /// Move to a storage class.
    Class(String),
    /// Restore from an archive, for this many days.
    Restore(String),
    /// Download to a folder.
    Download(String),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delete => f.write_str("delete"),
            Self::DeleteVersions => f.write_str("delete all versions"),
            Self::Undelete => f.write_str("bring back"),
            Self::Tag(tags) => write!(f, "add the tags {tags}"),
            Self::Untag(keys) => write!(f, "remove the tags {keys}"),
            Self::Class(class) => write!(f, "move to {class}"),
            Self::Restore(days) => write!(f, "restore for {days} days"),
            Self::Download(folder) => write!(f, "download to {folder}"),
        }
    }
}

/// A command of an action, without the flags of all commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Its words.
    pub(crate) words: Vec<String>,
    /// Keys for the file of `--from`, whose path comes behind that flag; nothing where there is no
    /// such flag.
    pub(crate) keys: Vec<String>,
}

impl Action {
    /// Whether objects or versions are removed.
    pub(crate) fn is_removal(&self) -> bool {
        matches!(self, Self::Delete | Self::DeleteVersions)
    }

    /// The commands for what is marked in a bucket.
    pub(crate) fn steps(&self, bucket: &str, targets: &Targets) -> Result<Vec<Step>, String> {
        let Targets { folders, objects } = targets;
        if folders.len() > FOLDERS_MAX {
            return Err(format!("more than {FOLDERS_MAX} folders: mark the folder above them"));
        }
        if !objects.is_empty() && !self.takes_file() && objects.len() > FOLDERS_MAX {
            return Err(format!("more than {FOLDERS_MAX} objects: mark their folder"));
        }
        let above = common_folder(folders.iter().chain(objects).map(String::as_str));
        let steps = folders.iter().map(|path| self.folder_step(bucket, path, above));
        let mut steps: Vec<_> = steps.collect::<Result<_, _>>()?;
        match &objects[..] {
            [] => {}
            [key] if is_plain(key) || !self.takes_file() => {
                steps.push(self.step(bucket, key, "", self.target("", "")));
            }
            keys if self.takes_file() => {
                let mut step = self.step(bucket, above, "", self.target("", ""));
                keys.clone_into(&mut step.keys);
                steps.push(step);
            }
            keys => steps.extend(keys.iter().map(|key| self.step(bucket, key, "", None))),
        }
        Ok(steps)
    }

    /// The command for a folder. A download of one whose path leads elsewhere (`..`) is one of the
    /// folder above, which looks at each name before it makes a path of it.
    fn folder_step(&self, bucket: &str, path: &str, above: &str) -> Result<Step, String> {
        let below = path.strip_prefix(above).unwrap_or(path);
        let is_odd = below.split('/').any(|name| matches!(name, "." | ".."));
        if !is_odd || !matches!(self, Self::Download(_)) {
            return Ok(self.step(bucket, path, "--recursive", self.target(path, above)));
        }
        if above.contains('[') {
            // It would be a pattern, too.
            return Err(format!("mark what is in the folder `{below}`, and not the folder"));
        }
        let mut step = self.step(bucket, above, "--recursive", self.target("", ""));
        step.words.push("--exclude=*".to_owned());
        step.words.push(format!("--include={}*", literal(below)));
        Ok(step)
    }

    /// Whether the command takes `--from`. Versions are not named in files.
    fn takes_file(&self) -> bool {
        !matches!(self, Self::DeleteVersions | Self::Undelete)
    }

    fn step(&self, bucket: &str, path: &str, flag: &str, target: Option<String>) -> Step {
        let mut words: Vec<String> = self.command().map(str::to_owned).to_vec();
        words.retain(|word| !word.is_empty());
        match self {
            Self::DeleteVersions => words.push("--versions".to_owned()),
            Self::Tag(tags) => words.push(format!("--tags={tags}")),
            Self::Untag(keys) => words.push(format!("--keys={keys}")),
            Self::Class(class) => words.push(format!("--storage-class={class}")),
            Self::Restore(days) => words.push(format!("--days={days}")),
            Self::Delete | Self::Undelete | Self::Download(_) => {}
        }
        let has_pattern = path.contains(['*', '?']);
        words.extend(has_pattern.then(|| "--raw".to_owned()));
        words.extend(Some(flag.to_owned()).filter(|flag| !flag.is_empty()));
        words.push(format!("s3://{bucket}/{path}"));
        words.extend(target);
        Step { words, keys: Vec::new() }
    }

    fn command(&self) -> [&'static str; 2] {
        match self {
            Self::Delete | Self::DeleteVersions => ["rm", ""],
            Self::Undelete => ["undelete", ""],
            Self::Tag(_) => ["tag", "add"],
            Self::Untag(_) => ["tag", "remove"],
            Self::Class(_) => ["set", ""],
            Self::Restore(_) => ["restore", ""],
            Self::Download(_) => ["cp", ""],
        }
    }

    /// Where a download of a folder goes: below the folder that was named, as the folder lies below
    /// what all targets have in common.
    fn target(&self, path: &str, above: &str) -> Option<String> {
        let Self::Download(folder) = self else { return None };
        let folder = folder.trim_end_matches('/');
        let folder = match folder {
            "" => "/".to_owned(),
            // A word that begins so would be a flag.
            _ if folder.starts_with('-') => format!("./{folder}/"),
            _ => format!("{folder}/"),
        };
        Some(format!("{folder}{}", path.strip_prefix(above).unwrap_or("")))
    }
}

/// A pattern of `--include` that matches a text as it is.
fn literal(text: &str) -> String {
    let escaped = |character| match character {
        '*' | '?' | '[' => format!("[{character}]"),
        other => other.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// Whether a key names one object in an address.
fn is_plain(key: &str) -> bool {
    !key.is_empty() && !key.ends_with('/')
}

/// The lowest folder that all paths are in.
fn common_folder<'a>(mut paths: impl Iterator<Item = &'a str>) -> &'a str {
    let parent = |path: &'a str| {
        let inner = path.strip_suffix('/').unwrap_or(path);
        &path[..inner.rfind('/').map_or(0, |slash| slash + 1)]
    };
    let Some(first) = paths.next() else { return "" };
    paths.fold(parent(first), |mut common, path| {
        while !parent(path).starts_with(common) {
            common = parent(common);
        }
        common
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(action: &Action, folders: &[&str], objects: &[&str]) -> Vec<String> {
        let own = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let targets = Targets { folders: own(folders), objects: own(objects) };
        let line = |step: &Step| match step.keys.len() {
            0 => step.words.join(" "),
            count => format!("{} --from {count}", step.words.join(" ")),
        };
        action.steps("b", &targets).unwrap().iter().map(line).collect()
    }

    #[test]
    fn each_action_is_a_command() {
        for (action, expected) in [
            (Action::Delete, "rm s3://b/p/k"),
            (Action::DeleteVersions, "rm --versions s3://b/p/k"),
            (Action::Undelete, "undelete s3://b/p/k"),
            (Action::Tag("a=b".to_owned()), "tag add --tags=a=b s3://b/p/k"),
            (Action::Untag("a".to_owned()), "tag remove --keys=a s3://b/p/k"),
            (Action::Class("GLACIER".to_owned()), "set --storage-class=GLACIER s3://b/p/k"),
            (Action::Restore("3".to_owned()), "restore --days=3 s3://b/p/k"),
            (Action::Download("-d/".to_owned()), "cp s3://b/p/k ./-d/"),
        ] {
            assert_eq!(lines(&action, &[], &["p/k"]), [expected]);
        }
    }

    #[test]
    fn folders_are_commands_and_objects_are_in_a_file() {
        assert_eq!(
            lines(&Action::Delete, &["p/a/", "p/*/"], &["p/k", "p/q/l"]),
            [
                "rm --recursive s3://b/p/a/",
                "rm --raw --recursive s3://b/p/*/",
                "rm s3://b/p/ --from 2"
            ]
        );
        let download = Action::Download(".".to_owned());
        assert_eq!(
            lines(&download, &["p/a/", "p/c/d/"], &["p/k", "p/l"]),
            [
                "cp --recursive s3://b/p/a/ ./a/",
                "cp --recursive s3://b/p/c/d/ ./c/d/",
                "cp s3://b/p/ ./ --from 2"
            ]
        );
        assert_eq!(
            lines(&download, &["p/../", "p/a*/./"], &[]),
            [
                "cp --recursive s3://b/p/ ./ --exclude=* --include=../*",
                "cp --recursive s3://b/p/ ./ --exclude=* --include=a[*]/./*",
            ]
        );
        let targets = Targets { folders: vec!["p[1]/../".to_owned()], objects: Vec::new() };
        assert!(download.steps("b", &targets).unwrap_err().contains("mark what is in"));
        assert_eq!(lines(&Action::Delete, &["p/../"], &[]), ["rm --recursive s3://b/p/../"]);
        assert_eq!(lines(&Action::Delete, &[], &["p/a/"]), ["rm s3://b/p/ --from 1"]);
        let versions = lines(&Action::DeleteVersions, &[], &["a", "c*"]);
        assert_eq!(versions, ["rm --versions s3://b/a", "rm --versions --raw s3://b/c*"]);
    }

    #[test]
    fn too_many_folders_are_refused() {
        let folders = (0..=FOLDERS_MAX).map(|at| format!("{at}/")).collect();
        let targets = Targets { folders, objects: Vec::new() };
        assert!(Action::Delete.steps("b", &targets).unwrap_err().contains("mark the folder above"));
    }

    #[test]
    fn paths_have_a_folder_in_common() {
        let common = |paths: &[&'static str]| common_folder(paths.iter().copied());
        assert_eq!(common(&["a/b/c", "a/b/d/"]), "a/b/");
        assert_eq!(common(&["a/b/c", "a/bc"]), "a/");
        assert_eq!(common(&["a/", "b"]), "");
        assert_eq!(common(&["a/"]), "");
        assert_eq!(common(&["//a", "//b/"]), "//");
    }
}
