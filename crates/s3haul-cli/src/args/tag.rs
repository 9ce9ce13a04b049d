//! `tag get`, `tag set`, `tag add` and `tag remove`.

use clap::{Args, Subcommand};
use s3haul::job::value::RowFormat;

use super::{Deferred, ObjectsArgs};

/// What to do with tags.
#[derive(Debug, Subcommand)]
pub(crate) enum TagCommand {
    /// Print the tags of objects, in the order in which the answers come.
    ///
    /// Takes one request for each object.
    Get(Deferred<TagGetArgs>),
    /// Replace all tags of objects.
    ///
    /// Takes one request for each object.
    Set(Deferred<TagWriteArgs>),
    /// Add tags to objects and keep those that they have; one with the same key gets the new value.
    ///
    /// Takes a request for each object to read its tags, and another one to write them where
    /// something changes. Changes made by other programs between the two are lost.
    Add(Deferred<TagWriteArgs>),
    /// Remove tags from objects and keep the others.
    ///
    /// Takes a request for each object to read its tags, and another one to write them where
    /// something changes; with --all only one, to remove them.
    Remove(Deferred<TagRemoveArgs>),
}

impl TagCommand {
    /// The objects.
    pub(crate) fn selection(&self) -> &ObjectsArgs {
        match self {
            Self::Get(args) => &args.selection,
            Self::Set(args) | Self::Add(args) => &args.selection,
            Self::Remove(args) => &args.selection,
        }
    }
}

/// Shows tags.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TagGetArgs {
    /// Objects.
    #[command(flatten)]
    pub(crate) selection: ObjectsArgs,
    /// Print the address of the object, a tab and its tags as --tags takes them (text), a JSON
    /// object a line with bucket, key and tags (jsonl), or a row for each tag (csv), where an
    /// object without tags has one row whose tag is empty.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: RowFormat,
}

/// Replaces or adds tags.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TagWriteArgs {
    /// Objects.
    #[command(flatten)]
    pub(crate) selection: ObjectsArgs,
    /// The tags: `key=value,key2=value2`, or a JSON object. May be given several times.
    #[arg(long, required = true, value_name = "KEY=VALUE,...")]
    pub(crate) tags: Vec<String>,
}

/// Removes tags.
#[derive(Clone, Debug, Default, Args)]
#[command(override_usage = "s3haul tag remove [OPTIONS] <--keys <KEY,...>|--all> <S3Uri>")]
pub(crate) struct TagRemoveArgs {
    /// Objects.
    #[command(flatten)]
    pub(crate) selection: ObjectsArgs,
    /// Keys of the tags: `key,key2`. May be given several times.
    #[arg(long, required_unless_present = "all", value_name = "KEY,...")]
    pub(crate) keys: Vec<String>,
    /// Remove all tags.
    #[arg(long, conflicts_with = "keys")]
    pub(crate) all: bool,
}
