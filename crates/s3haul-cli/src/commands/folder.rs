//! A key that is not there and stands for a folder: `cp s3://bucket/folder .` without
//! `--recursive`.

use s3haul::job::{TransferCommand, TransferSpec};
use s3haul::location::ObjectName;
use s3haul::plan::s3_uri;
use s3haul::plan::wildcard::Wildcard;
use s3haul_wire::Client;
use s3haul_wire::ops::ListObjects;

/// The one object that a command names to read it, where it names one.
pub(super) fn named_object(spec: &TransferSpec) -> Option<ObjectName> {
    use TransferCommand::{Copy, Move, Restore, Set, Tag};
    let is_read = matches!(spec.command, Copy | Move | Tag | Set | Restore);
    let is_other = spec.recursive || spec.names.is_some() || spec.manifest.is_some();
    if !is_read || is_other || !s3_uri::is_s3(&spec.source) {
        return None;
    }
    let object = s3_uri::parse(&spec.source).ok()?;
    let is_pattern = !spec.raw && Wildcard::parse(&object.key).is_some();
    (!is_pattern && !object.key.is_empty()).then_some(object)
}

/// What to type for what lies below a key, where something does; one request.
pub(super) async fn hint(client: &Client, object: &ObjectName, advice: Advice) -> Option<String> {
    let (bucket, folder) = (&object.bucket, object.key.trim_end_matches('/'));
    let prefix = format!("{folder}/");
    let input =
        ListObjects { bucket, prefix: &prefix, max_keys: Some(1), ..ListObjects::default() };
    // The failure that led here was shown already; one of this listing adds nothing.
    let page = client.list_objects(input).await.ok()?;
    if page.iter().len() == 0 {
        return None;
    }
    let advice = match advice {
        Advice::Recursive => "add `--recursive` for all of them".to_owned(),
        Advice::Pattern => format!("`s3haul cat 's3://{bucket}/{prefix}*'` writes all of them"),
        Advice::List => format!("`s3haul ls s3://{bucket}/{prefix}` lists them"),
    };
    Some(format!("there is no object `{folder}`, but there are keys below `{prefix}`: {advice}"))
}

/// What can be done with many objects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Advice {
    /// The command takes them with `--recursive`.
    Recursive,
    /// `cat` takes a pattern.
    Pattern,
    /// They can be listed.
    List,
}
