//! Plans what an earlier run named: sources are looked at again, one by one, nothing is listed and
//! nothing is filtered, for that was decided.
//!
//! A name must lie on both sides of the job as the job would name it; what a script or template
//! named keeps that name. Sources that are gone are reported and left out.

mod removals;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use futures_util::future::join_all;

use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::engine::object::{head, is_missing};
use crate::entry::{EntryBatch, Preselected, SourceBatch};
use crate::event::ActionKind;
use crate::fs::{FileBatch, FileInfo, Walk, WalkOptions, collapse, warning};
use crate::job::names::{NameSource, Named, Names};
use crate::job::prepare::Prepared;
use crate::location::Location;
use crate::plan::paths::Side;
use crate::select::choose::tell_collision;
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result};

pub(crate) use removals::remove;

/// Names that are looked at together.
const BATCH_MAX: usize = 64;
/// What is said of a source that is not there any more.
const GONE: &str = "It is no longer there.";

/// The entries that an earlier run named, a few at a time.
pub(crate) struct ReportStream {
    /// `None` once the last was read.
    names: Option<Names>,
}

impl ReportStream {
    pub(crate) async fn open(names: &Arc<dyn NameSource>) -> Result<Self> {
        Ok(Self { names: Some(open(names).await?) })
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn next(
        &mut self,
        job: &Arc<Prepared>,
        engine: &Arc<Engine>,
    ) -> Result<Option<SourceBatch>> {
        let Some(names) = self.names.take() else { return Ok(None) };
        let (rest, batch, is_last) = next(names, job.plan.action).await?;
        self.names = (!is_last).then_some(rest);
        if job.plan.action == ActionKind::Upload {
            let (job, engine) = (Arc::clone(job), Arc::clone(engine));
            return blocking(move || files(&job, &engine, &batch)).await.map(Some);
        }
        objects(job, engine, &batch).await.map(Some)
    }
}

/// The next names with an action, and whether they are the last.
fn take(names: &mut Names, action: ActionKind) -> Result<(Vec<Named>, bool)> {
    let mut batch = Vec::new();
    for named in names {
        let named = named?;
        if named.action == action {
            batch.push(named);
        }
        if batch.len() == BATCH_MAX {
            return Ok((batch, false));
        }
    }
    Ok((batch, true))
}

/// Files that are named, as they are now. Blocks.
fn files(job: &Prepared, engine: &Engine, batch: &[Named]) -> Result<SourceBatch> {
    let Side::Local(source) = &job.plan.source else {
        return Ok(SourceBatch::listed(EntryBatch::empty()));
    };
    let root = Path::new(source);
    let is_tree = job.plan.is_directory;
    let mut found = if is_tree { FileBatch::below(root) } else { FileBatch::of_file(root) };
    let mut keys = Vec::new();
    for named in batch {
        let Location::Local(path) = &named.source else { return Err(foreign(named)) };
        let below = if is_tree { path.strip_prefix(source).ok() } else { None };
        let relative = match below.map(Path::to_str) {
            Some(Some(relative)) if is_plain(relative) => relative,
            None if !is_tree && path == root => job.plan.single_name(),
            _ => return Err(foreign(named)),
        };
        let key = object_target(job, engine, named, relative)?;
        if named.collides {
            refuse_collision(job, engine, named);
        } else if let Some(info) = look_at(job, engine, path) {
            found.push(relative, &info);
            keys.push(Some(key));
        }
    }
    let preselected = Preselected::Names(keys);
    Ok(SourceBatch { preselected, ..SourceBatch::listed(EntryBatch::Files(found)) })
}

/// Looks at a file as a walk does; warns if it is left out.
fn look_at(job: &Prepared, engine: &Engine, path: &Path) -> Option<FileInfo> {
    let options =
        WalkOptions { follow_symlinks: job.spec.follow_symlinks, ..WalkOptions::default() };
    let batch = Walk::file(path, options).next_batch()?;
    let file = batch.get(0).map(|file| file.info());
    for warning in batch.warnings {
        engine.report.warning(warning);
    }
    file
}

/// Whether a name stays below the folder that it is in.
fn is_plain(relative: &str) -> bool {
    Path::new(relative).components().all(|component| matches!(component, Component::Normal(_)))
}

/// Key at the target: the one that the job gives, or one that a script or template gave.
fn object_target(job: &Prepared, engine: &Engine, named: &Named, relative: &str) -> Result<String> {
    let Some(Location::Object(target)) = &named.target else { return Err(foreign(named)) };
    let key = job.target_key(relative);
    let root = match &job.plan.target {
        Some(Side::Object(name)) => name.key.as_str(),
        _ => return Err(foreign(named)),
    };
    let is_renamed = job.spec.to_key.is_some() && target.key.starts_with(root);
    if target.bucket != engine.settings.target_bucket || (target.key != key && !is_renamed) {
        return Err(foreign(named));
    }
    Ok(target.key.clone())
}

/// An object that is named, as it is now.
struct Row<'a> {
    place: NamedPlace<'a>,
    head: Option<Box<ObjectHead>>,
    /// Name at the target, where it is not the one that the job gives.
    name: Option<String>,
}

/// Objects that are named, as they are now.
async fn objects(job: &Prepared, engine: &Engine, batch: &[Named]) -> Result<SourceBatch> {
    let looked = batch.iter().map(|named| object(job, engine, named));
    let mut rows = Vec::with_capacity(batch.len());
    for row in join_all(looked).await {
        rows.extend(row?);
    }
    let unknown = ObjectHead::default();
    let listed = rows.iter().map(|row| {
        let head = row.head.as_deref().unwrap_or(&unknown);
        (row.place.key, row.place.version_id, head)
    });
    let entries = EntryBatch::of_heads(listed, Arc::clone(&job.root))?;
    let (heads, names) = rows.into_iter().map(|row| (row.head, row.name)).unzip();
    Ok(SourceBatch { entries, heads, preselected: Preselected::Names(names) })
}

async fn open(names: &Arc<dyn NameSource>) -> Result<Names> {
    let names = Arc::clone(names);
    blocking(move || names.names()).await
}

async fn next(mut names: Names, action: ActionKind) -> Result<(Names, Vec<Named>, bool)> {
    blocking(move || take(&mut names, action).map(|(batch, is_last)| (names, batch, is_last))).await
}

async fn object<'a>(
    job: &'a Prepared,
    engine: &Engine,
    named: &'a Named,
) -> Result<Option<Row<'a>>> {
    let action = job.plan.action;
    let place = match place(job, engine, named) {
        Ok(place) => place,
        // A manifest had this name, and it was refused then, too.
        Err(error) if job.spec.manifest.is_some() => {
            engine.conclude_unplanned(action, named.source.clone(), named.target.clone(), error);
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if job.removes() && !removals::is_still_taken(job, engine, named, &place).await {
        return Ok(None);
    }
    if job.acts_in_place() {
        return Ok(Some(Row { place, head: None, name: None }));
    }
    let name = match action {
        ActionKind::Copy => Some(object_target(job, engine, named, place.relative)?),
        _ => file_target(job, named, place.relative)?,
    };
    if named.collides {
        refuse_collision(job, engine, named);
        return Ok(None);
    }
    match head(engine, place.key, place.version_id).await {
        Ok(head) => Ok(Some(Row { place, head: Some(Box::new(head)), name })),
        Err(error) if is_missing(&error) => {
            engine.report.warning(warning::skipping(&named.source, GONE));
            Ok(None)
        }
        Err(error) => {
            let (source, target) = (named.source.clone(), named.target.clone());
            engine.conclude_unplanned(action, source, target, error);
            Ok(None)
        }
    }
}

/// Reports again that the new name of a source is also that of another: it is no longer known which
/// of them is there.
fn refuse_collision(job: &Prepared, engine: &Engine, named: &Named) {
    let Some(target) = named.target.clone() else { return };
    let name = match &target {
        Location::Object(object) => object.key.clone(),
        other => other.to_string(),
    };
    tell_collision(job, engine, named.source.clone(), target, &name, 0);
}

/// Which object of the source is named.
struct NamedPlace<'a> {
    key: &'a str,
    relative: &'a str,
    version_id: Option<&'a str>,
}

/// Key of a name, what of it lies below the source, and its version. A job on versions never takes
/// the current one instead, and one on objects never removes a version for good.
fn place<'a>(job: &'a Prepared, engine: &Engine, named: &'a Named) -> Result<NamedPlace<'a>> {
    let Location::Object(name) = &named.source else { return Err(foreign(named)) };
    let (is_about_versions, has_version) = (job.spec.versions.is_some(), name.version_id.is_some());
    let is_other_kind = is_about_versions != has_version && (is_about_versions || job.removes());
    if name.bucket != engine.settings.source_bucket || is_other_kind {
        return Err(foreign(named));
    }
    let relative = match name.key.strip_prefix(job.source_key()) {
        Some(relative) if job.plan.is_directory => relative,
        Some("") => job.plan.single_name(),
        _ => return Err(foreign(named)),
    };
    Ok(NamedPlace { key: &name.key, relative, version_id: name.version_id.as_deref() })
}

/// Name of a file below the target folder, where it is not the one that the job gives.
fn file_target(job: &Prepared, named: &Named, relative: &str) -> Result<Option<String>> {
    let Some(Location::Local(path)) = &named.target else { return Err(foreign(named)) };
    let expected = match (job.plan.target_directory(), &job.plan.target) {
        (Some(folder), _) => folder.join(&*collapse(relative)),
        (None, Some(Side::Local(path))) => PathBuf::from(path),
        _ => return Err(foreign(named)),
    };
    if *path == expected {
        return Ok(None);
    }
    let folder = job.plan.target_directory().filter(|_| job.spec.to_key.is_some());
    let name = folder.and_then(|folder| path.strip_prefix(folder).ok()).and_then(Path::to_str);
    name.map(|name| Some(name.to_owned())).ok_or_else(|| foreign(named))
}

fn foreign(named: &Named) -> Error {
    let Named { source, target, .. } = named;
    let target = target.as_ref().map(|target| format!(" to `{target}`")).unwrap_or_default();
    let message = format!(
        "`{source}`{target} is not what this command would do: the \
         remaining names are not processed"
    );
    Error::new(ErrorKind::Config, message)
}
