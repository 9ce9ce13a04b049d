//! What the two paths of a comparison mean: folders, prefixes or buckets, of any kind each.

use std::path::Path;
use std::sync::Arc;

use super::CompareSpec;
use crate::fs::{FileInfo, FileKind};
use crate::plan::filter::{Filter, FilterRoots};
use crate::plan::paths::{Side, absolute, directory_text};
use crate::plan::s3_uri;
use s3haul_wire::error::{Error, ErrorKind, Result};

/// A tree that is compared.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) side: Side,
    /// Which of its names count.
    pub(crate) filter: Arc<Filter>,
}

/// Source and target. Blocks.
pub(crate) fn roots(spec: &CompareSpec) -> Result<[Root; 2]> {
    let directory = directory_text(&spec.working_dir, [&*spec.source, &*spec.target])
        .map_err(|error| Error::new(ErrorKind::Local, error.message))?;
    let source = side(&spec.source, &directory)?;
    let target = side(&spec.target, &directory)?;
    let roots = FilterRoots { source: filter_root(&source), target: filter_root(&target) };
    let filter = |side: &Side| {
        if spec.filters.is_empty() {
            Filter::all()
        } else {
            Filter::new(&spec.filters, &roots, &side.path_prefix())
        }
    };
    let root = |side: Side| Root { filter: Arc::new(filter(&side)), side };
    Ok([root(source), root(target)])
}

fn side(path: &str, working_directory: &str) -> Result<Side> {
    let refuse = |message: String| Err(Error::new(ErrorKind::Config, message));
    if path == "-" {
        return refuse("standard input and output cannot be compared".to_owned());
    }
    if s3_uri::is_s3(path) {
        let mut name = s3_uri::parse(path)
            .map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        if name.bucket.is_empty() {
            return refuse(format!("`{path}` names no bucket"));
        }
        if s3_uri::is_directory_bucket(&name.bucket) {
            return refuse("directory buckets are not listed in order: use a copy".to_owned());
        }
        if !name.key.is_empty() && !name.key.ends_with('/') {
            name.key.push('/');
        }
        return Ok(Side::Object(name));
    }
    let mut folder = absolute(path, working_directory);
    let info = FileInfo::of_path(Path::new(&folder)).ok().filter(|_| !path.is_empty());
    let Some(info) = info else {
        let message = format!("The user-provided path {path} does not exist.");
        return Err(Error::new(ErrorKind::Local, message));
    };
    if info.kind != FileKind::Directory {
        return refuse(format!(
            "`{path}` is not a folder: folders, prefixes and buckets are compared"
        ));
    }
    if !folder.ends_with('/') {
        folder.push('/');
    }
    Ok(Side::Local(folder))
}

/// What patterns are joined to, as for a `sync`.
fn filter_root(side: &Side) -> String {
    match side {
        Side::Object(name) => format!("{}/{}", name.bucket, name.key),
        Side::Local(folder) => folder.trim_end_matches('/').to_owned(),
        Side::Stream => String::new(),
    }
}
