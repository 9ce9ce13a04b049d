//! Local paths as Python's `os.path` handles them: by their text alone.

use std::borrow::Cow;
use std::path::Path;

use super::{PathError, PathErrorKind};
use crate::plan::s3_uri;

/// The text of the working directory, with which these path arguments become absolute. Text cannot
/// name one that is not UTF-8: what is relative to it would lead to another directory. One that is
/// empty could not be determined.
pub fn directory_text<'d, 'p>(
    directory: &'d Path,
    paths: impl IntoIterator<Item = &'p str>,
) -> Result<Cow<'d, str>, PathError> {
    let is_relative = |path: &&str| !s3_uri::is_s3(path) && !path.starts_with('/') && *path != "-";
    let why = match directory.to_str() {
        None => "a working directory whose name is not UTF-8",
        Some("") => "the working directory, which cannot be determined (was it removed?)",
        Some(text) => return Ok(text.into()),
    };
    let Some(path) = paths.into_iter().find(is_relative) else {
        return Ok(directory.to_string_lossy());
    };
    Err(PathError {
        message: format!(
            "`{path}` is relative to {why}: give an absolute path, or start from another directory"
        ),
        kind: PathErrorKind::Missing,
    })
}

/// Removes `.`, empty and `..` components without looking at the disk (`os.path.normpath`).
pub fn normalize(path: &str) -> String {
    // Exactly two slashes at the start stay two: POSIX leaves their meaning open.
    let root = match path.bytes().take_while(|&byte| byte == b'/').count() {
        0 => "",
        2 => "//",
        _ => "/",
    };
    let mut components: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." if components.last().is_some_and(|last| *last != "..") => {
                components.pop();
            }
            ".." if !root.is_empty() => {}
            _ => components.push(component),
        }
    }
    let joined = format!("{root}{}", components.join("/"));
    if joined.is_empty() { ".".to_owned() } else { joined }
}

/// The absolute path of a path argument (`os.path.abspath`): links are not resolved.
pub fn absolute(path: &str, working_directory: &str) -> String {
    if path.starts_with('/') {
        normalize(path)
    } else {
        normalize(&format!("{}/{path}", working_directory.trim_end_matches('/')))
    }
}

/// How a local path is printed in output lines: its directory relative to the working directory,
/// and its name: `./f`, `../d/f`. Both paths are absolute; without a working directory, the path is
/// printed as it is.
pub fn display_local(path: &str, working_directory: &str) -> String {
    if working_directory.is_empty() {
        return path.to_owned();
    }
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let directory = normalize(&format!("{directory}/"));
    let relative = relative_to(&directory, &normalize(working_directory));
    format!("{relative}/{name}")
}

/// `os.path.relpath` of absolute, normalized paths.
fn relative_to(path: &str, start: &str) -> String {
    fn components(text: &str) -> Vec<&str> {
        text.split('/').filter(|component| !component.is_empty()).collect()
    }
    let (path, start) = (components(path), components(start));
    let common = path.iter().zip(&start).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", start.len() - common);
    let joined: Vec<&str> = up.chain(path[common..].iter().copied()).collect();
    if joined.is_empty() { ".".to_owned() } else { joined.join("/") }
}

/// Whether a relative key would climb out of the directory it is put below: such objects are
/// skipped with a warning.
pub fn references_parent(key: &str) -> bool {
    key.contains("..") && normalize(&format!("./{key}")).starts_with("../")
}
