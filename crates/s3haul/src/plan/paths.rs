//! What the path arguments of `cp`, `mv`, `sync` and `rm` mean: roots, names of targets, refusals.
//!
//! The rules are those of the AWS tools. A command on a directory (`--recursive`, or `sync`) adds
//! a separator to both sides, so that `rm --recursive s3://b/pre` touches only `pre/…`. Otherwise
//! a target that ends in a separator or is a local directory takes the source's name, and any
//! other target is the exact name.

mod local;

use std::fmt;
use std::path::{Path, PathBuf};

use super::filter::FilterRoots;
use super::s3_uri;
use crate::event::ActionKind;
use crate::location::{Location, ObjectName};

pub use local::{absolute, directory_text, display_local, normalize, references_parent};

/// A command that takes paths and moves or removes objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Copy.
    Cp,
    /// Copy, then remove the source.
    Mv,
    /// Copy what differs.
    Sync,
    /// Remove objects.
    Rm,
    /// Read or change tags of objects.
    Tag,
    /// Change properties of objects.
    Set,
    /// Restore archived objects.
    Restore,
    /// Remove delete markers.
    Undelete,
}

impl Command {
    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cp => "cp",
            Self::Mv => "mv",
            Self::Sync => "sync",
            Self::Rm => "rm",
            Self::Tag => "tag",
            Self::Set => "set",
            Self::Restore => "restore",
            Self::Undelete => "undelete",
        }
    }

    fn usage(self) -> &'static str {
        match self {
            Self::Rm | Self::Tag | Self::Set | Self::Restore | Self::Undelete => "<S3Uri>",
            _ => "<LocalPath> <S3Uri> or <S3Uri> <LocalPath> or <S3Uri> <S3Uri>",
        }
    }
}

/// What is known of a local path; both false for S3 paths and streams. Existence is that of the
/// path as given, being a directory that of its absolute form (an empty target is the working
/// directory).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalFacts {
    /// Something is there (links followed).
    pub exists: bool,
    /// It is a directory.
    pub is_directory: bool,
}

/// The path arguments of a command, and what they are judged by.
#[derive(Clone, Copy, Debug)]
pub struct PathArguments<'a> {
    /// The command.
    pub command: Command,
    /// First path as given.
    pub source: &'a str,
    /// Second path as given.
    pub target: Option<&'a str>,
    /// `--recursive` was given.
    pub recursive: bool,
    /// Paths that are written alike may name different objects, because names are rewritten or the
    /// sides are two services: a tree may be moved onto itself.
    pub may_meet: bool,
    /// Absolute path of the working directory.
    pub working_directory: &'a str,
    /// Facts of a local source.
    pub source_facts: LocalFacts,
    /// Facts of a local target.
    pub target_facts: LocalFacts,
}

/// Path arguments that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// Text of the AWS tools.
    pub message: String,
    /// Sort of the error, which sets the exit status.
    pub kind: PathErrorKind,
}

/// Sort of a path error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathErrorKind {
    /// The arguments make no sense: exit status 252.
    ParamValidation,
    /// A local source is missing, or a local path cannot be had: exit status 255.
    Missing,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PathError {}

impl PathError {
    fn invalid(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: PathErrorKind::ParamValidation }
    }
}

/// One side of a job: a root that relative names are added to, or an exact name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// An absolute local path; ends in `/` when names are added to it.
    Local(String),
    /// Bucket and key or prefix; ends in `/` when names are added to it, or is empty.
    Object(ObjectName),
    /// Standard input or output.
    Stream,
}

impl Side {
    /// What all paths of this side start with, as filters see them: `bucket/prefix/`, `/dir/`.
    pub fn path_prefix(&self) -> String {
        match self {
            Self::Local(path) => path.clone(),
            Self::Object(name) => format!("{}/{}", name.bucket, name.key),
            Self::Stream => String::new(),
        }
    }

    /// The location itself.
    pub fn location(&self) -> Location {
        self.with("")
    }

    /// The location of a relative name below this root.
    pub fn with(&self, relative: &str) -> Location {
        match self {
            Self::Local(path) => Location::Local(PathBuf::from(format!("{path}{relative}"))),
            Self::Object(name) => Location::Object(ObjectName::new(
                name.bucket.clone(),
                format!("{}{relative}", name.key),
            )),
            Self::Stream => Location::Stream,
        }
    }
}

/// What a command is to do with its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPlan {
    /// The command.
    pub command: Command,
    /// What is done to each object.
    pub action: ActionKind,
    /// Whether all below the source is meant, not one name.
    pub is_directory: bool,
    /// Whether targets are the target's root and the source's relative name; otherwise the target
    /// is the exact name.
    pub use_source_name: bool,
    /// The source: a root when `is_directory`, else one name.
    pub source: Side,
    /// The target; `None` for `rm`.
    pub target: Option<Side>,
    /// Roots that filter patterns are joined to.
    pub filter_roots: FilterRoots,
}

impl PathPlan {
    /// Works out what path arguments mean.
    pub fn new(arguments: &PathArguments<'_>) -> Result<Self, PathError> {
        let action = action_of(arguments)?;
        let source_text = with_bucket_slash(arguments.source)?;
        let target_text = arguments.target.map(with_bucket_slash).transpose()?;
        let is_stream = arguments.source == "-" || arguments.target == Some("-");
        check_stream(arguments, is_stream)?;
        let stays = !arguments.may_meet;
        if arguments.command == Command::Mv && action == ActionKind::Copy && stays {
            check_not_onto_itself(&source_text, target_text.as_deref().unwrap_or_default())?;
        }
        // An empty path, perhaps a variable that is not set, is not the working directory.
        let is_there = arguments.source_facts.exists && !arguments.source.is_empty();
        if action == ActionKind::Upload && !is_stream && !is_there {
            let message = format!("The user-provided path {} does not exist.", arguments.source);
            return Err(PathError { message, kind: PathErrorKind::Missing });
        }
        check_directory_buckets(arguments)?;

        let is_directory = arguments.command == Command::Sync || arguments.recursive;
        if is_directory && arguments.target == Some("") {
            let message = "the target path is empty: `.` is the working directory".to_owned();
            return Err(PathError { message, kind: PathErrorKind::Missing });
        }
        let format = |text: &str, facts| format_side(text, facts, is_directory, arguments);
        let (source, source_takes_name) = format(&source_text, arguments.source_facts)?;
        let target = target_text.as_deref().map(|text| format(text, arguments.target_facts));
        let target = target.transpose()?;
        let root = |text: &str| filter_root(text, is_directory, arguments.working_directory);
        let source_root = root(&source_text)?;
        let target_root = target_text.as_deref().map_or(Ok(source_root.clone()), root)?;
        Ok(Self {
            command: arguments.command,
            action,
            is_directory,
            use_source_name: target
                .as_ref()
                .map_or(source_takes_name, |(_, takes_name)| *takes_name),
            source,
            target: target.map(|(side, _)| side),
            filter_roots: FilterRoots { source: source_root, target: target_root },
        })
    }

    /// Whether one side is standard input or output.
    pub fn is_stream(&self) -> bool {
        self.source == Side::Stream || self.target == Some(Side::Stream)
    }

    /// Relative name of a single source: its last component.
    pub fn single_name(&self) -> &str {
        let path = match &self.source {
            Side::Local(path) => path,
            Side::Object(name) => &name.key,
            Side::Stream => "-",
        };
        path.rsplit_once('/').map_or(path, |(_, name)| name)
    }

    /// What all source paths start with before their relative names, as filters see them.
    pub fn source_path_prefix(&self) -> String {
        parent_prefix(self.source.path_prefix(), self.is_directory)
    }

    /// What all target paths start with before their relative names, as filters see them.
    pub fn target_path_prefix(&self) -> String {
        let target = self.target.as_ref().unwrap_or(&self.source);
        parent_prefix(target.path_prefix(), self.is_directory)
    }

    /// Location of the target for a relative name; `None` for `rm`.
    pub fn target_for(&self, relative: &str) -> Option<Location> {
        let target = self.target.as_ref()?;
        Some(if self.use_source_name { target.with(relative) } else { target.location() })
    }

    /// The directory that a download writes below, when names are added to it: to be opened (and
    /// created) as a target root. `None` when the target is one exact file, or no local path.
    pub fn target_directory(&self) -> Option<&Path> {
        match &self.target {
            Some(Side::Local(path)) if self.use_source_name => Some(Path::new(path)),
            _ => None,
        }
    }
}

fn action_of(arguments: &PathArguments<'_>) -> Result<ActionKind, PathError> {
    let source = s3_uri::is_s3(arguments.source);
    let target = arguments.target.map(s3_uri::is_s3);
    match (arguments.command, source, target) {
        (Command::Rm, true, None) => Ok(ActionKind::Delete),
        (Command::Tag, true, None) => Ok(ActionKind::Tag),
        (Command::Set, true, None) => Ok(ActionKind::Set),
        (Command::Restore, true, None) => Ok(ActionKind::Restore),
        (Command::Undelete, true, None) => Ok(ActionKind::Undelete),
        (Command::Cp | Command::Mv | Command::Sync, source, Some(target)) if source || target => {
            Ok(match (source, target) {
                (true, true) => ActionKind::Copy,
                (true, false) => ActionKind::Download,
                _ => ActionKind::Upload,
            })
        }
        (command, ..) => Err(PathError::invalid(format!(
            "usage: s3haul {} {}\nError: Invalid argument type",
            command.name(),
            command.usage()
        ))),
    }
}

/// `s3://bucket` is `s3://bucket/`.
fn with_bucket_slash(path: &str) -> Result<String, PathError> {
    if s3_uri::is_s3(path) {
        let name = s3_uri::parse(path).map_err(|error| PathError::invalid(error.to_string()))?;
        if name.key.is_empty() && !path.ends_with('/') {
            return Ok(format!("{path}/"));
        }
    }
    Ok(path.to_owned())
}

fn check_stream(arguments: &PathArguments<'_>, is_stream: bool) -> Result<(), PathError> {
    if is_stream && (arguments.command != Command::Cp || arguments.recursive) {
        let message = "Streaming currently is only compatible with non-recursive cp commands";
        return Err(PathError::invalid(message));
    }
    Ok(())
}

fn check_not_onto_itself(source: &str, target: &str) -> Result<(), PathError> {
    if is_same_path(source, target) {
        let message = format!("Cannot mv a file onto itself: {source} - {target}");
        return Err(PathError::invalid(message));
    }
    Ok(())
}

/// Whether moving `source` to `target` would end where it began.
fn is_same_path(source: &str, target: &str) -> bool {
    let name = source.rsplit_once('/').map_or(source, |(_, name)| name);
    source == target || (target.ends_with('/') && source == format!("{target}{name}"))
}

/// Whether two S3 paths have the same key and one of them is an access point, so that a move may be
/// a move onto itself: the AWS tools warn then.
pub fn may_be_same_object(source: &ObjectName, target: &ObjectName) -> bool {
    let has_alias = s3_uri::is_alias(&source.bucket) || s3_uri::is_alias(&target.bucket);
    has_alias && is_same_path(&format!("/{}", source.key), &format!("/{}", target.key))
}

fn check_directory_buckets(arguments: &PathArguments<'_>) -> Result<(), PathError> {
    let is_directory_bucket = |path: &str| {
        s3_uri::is_s3(path)
            && s3_uri::parse(path).is_ok_and(|name| s3_uri::is_directory_bucket(&name.bucket))
    };
    let mut paths = [Some(arguments.source), arguments.target].into_iter().flatten();
    if arguments.command == Command::Sync && paths.any(is_directory_bucket) {
        return Err(PathError::invalid("Cannot use sync command with a directory bucket."));
    }
    Ok(())
}

/// The side a path names, and whether it would take the source's name.
fn format_side(
    text: &str,
    facts: LocalFacts,
    is_directory: bool,
    arguments: &PathArguments<'_>,
) -> Result<(Side, bool), PathError> {
    if text == "-" {
        return Ok((Side::Stream, false));
    }
    if s3_uri::is_s3(text) {
        let separator = if is_directory && !text.ends_with('/') { "/" } else { "" };
        let name = s3_uri::parse(&format!("{text}{separator}"))
            .map_err(|error| PathError::invalid(error.to_string()))?;
        return Ok((Side::Object(name), is_directory || text.ends_with('/')));
    }
    let mut path = absolute(text, arguments.working_directory);
    let takes_name = is_directory || facts.is_directory || text.ends_with('/');
    if takes_name && !path.ends_with('/') {
        path.push('/');
    }
    Ok((Side::Local(path), takes_name))
}

/// The root that filter patterns are joined to.
fn filter_root(
    text: &str,
    is_directory: bool,
    working_directory: &str,
) -> Result<String, PathError> {
    if s3_uri::is_s3(text) {
        let name = s3_uri::parse(text).map_err(|error| PathError::invalid(error.to_string()))?;
        let key = match name.key.rsplit_once('/') {
            _ if is_directory || name.key.ends_with('/') => name.key.as_str(),
            Some((parent, _)) => parent,
            None => "",
        };
        return Ok(format!("{}/{key}", name.bucket));
    }
    let directory = if is_directory {
        text
    } else {
        // Python's dirname: what stands before the last slash.
        match text.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((parent, _)) => parent,
            None => "",
        }
    };
    Ok(absolute(directory, working_directory))
}

fn parent_prefix(mut path: String, is_directory: bool) -> String {
    if !is_directory {
        path.truncate(path.rfind('/').map_or(0, |slash| slash + 1));
    }
    path
}

#[cfg(test)]
mod tests;
