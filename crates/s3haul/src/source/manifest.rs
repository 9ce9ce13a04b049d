//! Objects that a manifest names instead of a listing: read in batches, filtered and planned as a
//! listing's pages are.
//!
//! A manifest is a stream that may name any number of objects, in any order and more than once.
//! What lies outside of the source, or is not the current version of an object, is never acted
//! upon: it fails, by itself. Facts that a listing would contain and the manifest lacks are
//! requested with one HEAD per object, if they are needed.

use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::Path;
use std::sync::Arc;

use futures_util::future::join_all;

use super::entries::Pass;
use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::engine::object::{head, head_at};
use crate::entry::{EntryBatch, SourceBatch, listed_as};
use crate::event::ActionKind;
use crate::job::manifest_entry::{Entries, ListedFacts, Manifest, ManifestEntry, Version};
use crate::job::prepare::Prepared;
use crate::journal::{Journal, Subject};
use crate::location::{Location, ObjectName};
use crate::script::rename::Chooser;
use s3haul_list::KeyRange;
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{ListPage, ListedObject};

/// Objects that are planned together.
const BATCH_MAX: usize = 1000;
/// The same where each object takes a HEAD request first.
const ASKED_MAX: usize = 256;
/// The same in a shard, which ends behind a batch.
const SHARD_MAX: usize = 64;

/// The entries of a manifest, many at a time.
pub(crate) struct ManifestStream {
    entries: Option<Entries>,
    count_max: usize,
    pass: Pass,
    /// Rows read.
    rows: u64,
    /// The last row that is read; none: all are.
    through: Option<u64>,
}

impl ManifestStream {
    pub(crate) async fn open(
        job: &Prepared,
        manifest: &Arc<dyn Manifest>,
        (pass, range): (Pass, &KeyRange),
    ) -> Result<Self> {
        let manifest = Arc::clone(manifest);
        let rows: u64 = range.after.parse().unwrap_or(0);
        let through = range.through.as_ref().and_then(|through| through.parse().ok());
        let entries = blocking(move || {
            let mut entries = manifest.entries()?;
            let skipped = usize::try_from(rows).unwrap_or(usize::MAX);
            entries.by_ref().take(skipped).try_for_each(|entry| entry.map(drop))?;
            Ok::<_, Error>(entries)
        })
        .await?;
        let count_max = match &job.spec.shard {
            Some(_) => SHARD_MAX,
            None if needs_facts(job) => ASKED_MAX,
            None => BATCH_MAX,
        };
        Ok(Self { entries: Some(entries), count_max, pass, rows, through })
    }

    /// The number of the last row read, so that later ones come later in order.
    pub(crate) fn position(&self) -> String {
        format!("{:020}", self.rows)
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn next(
        &mut self,
        job: &Prepared,
        engine: &Engine,
    ) -> Result<Option<SourceBatch>> {
        let Some(mut entries) = self.entries.take() else { return Ok(None) };
        let left = self.through.map_or(u64::MAX, |through| through.saturating_sub(self.rows));
        let count_max = self.count_max.min(usize::try_from(left).unwrap_or(usize::MAX));
        let (entries, batch) = blocking(move || {
            let batch: Result<Vec<_>> = entries.by_ref().take(count_max).collect();
            (entries, batch)
        })
        .await;
        let batch = batch?;
        if batch.is_empty() {
            return Ok(None);
        }
        self.entries = Some(entries);
        self.rows += batch.len() as u64;
        let batch = accept(job, engine, batch, self.pass);
        let journal = job.spec.journal.as_deref();
        let earlier = if !engine.settings.is_move {
            Earlier::None
        } else if job.spec.shard.as_ref().is_some_and(|shard| shard.may_be_done()) {
            Earlier::Shard
        } else if let Some(run) = journal.filter(|run| run.has_looked_at(&self.position())) {
            Earlier::Run(run)
        } else {
            Earlier::None
        };
        batch_of(job, engine, batch, self.pass, earlier).await.map(Some)
    }
}

/// Which earlier attempt may have moved rows of a batch.
#[derive(Clone, Copy)]
enum Earlier<'a> {
    None,
    /// A worker that was lost, which may have moved any of them.
    Shard,
    /// A run whose journal has those that are left.
    Run(&'a Journal),
}

impl Earlier<'_> {
    /// Whether an object was in work when the earlier run died, or failed.
    fn has_begun(self, key: &str) -> bool {
        matches!(self, Self::Run(run) if begun(run, key).contains(&true))
    }

    /// Whether an object that is gone was moved, as far as is known of its target.
    async fn has_moved(
        self,
        job: &Prepared,
        engine: &Engine,
        entry: &ManifestEntry,
    ) -> Result<bool> {
        let is_in_doubt = match self {
            Self::None => return Ok(false),
            Self::Shard => true,
            Self::Run(run) => match begun(run, &entry.key) {
                // It was not there when it was tried.
                [_, true] => return Ok(false),
                [is_begun, _] => is_begun,
            },
        };
        if is_in_doubt { is_at_target(job, engine, entry).await } else { Ok(true) }
    }
}

/// Whether an earlier run left the move of an object undone, and whether it found it missing.
fn begun(run: &Journal, key: &str) -> [bool; 2] {
    let mark = run.mark(Subject::Object(key, None), false);
    [mark, mark.missing()].map(|mark| run.has_begun(mark))
}

/// Whether more than names has to be known of the objects: also whether one is archived.
fn needs_facts(job: &Prepared) -> bool {
    !job.acts_in_place()
        || job.plan.action == ActionKind::Restore
        || job.chooser.is_some()
        || job.spec.conditions.needs_facts()
        || job.spec.plans
}

/// Entries of a batch that may be acted upon and are not left out by name. The others are reported
/// as failed by the pass that acts.
fn accept(
    job: &Prepared,
    engine: &Engine,
    batch: Vec<ManifestEntry>,
    pass: Pass,
) -> Vec<ManifestEntry> {
    let is_accepted = |entry: &ManifestEntry| match refusal(job, engine, entry) {
        None => {
            let is_current = entry.version == Version::Current;
            is_current && is_included(job, &entry.key) && is_wanted(job, engine, &entry.key)
        }
        Some(reason) => {
            if pass == Pass::Act {
                refuse(job, engine, entry, reason);
            }
            false
        }
    };
    batch.into_iter().filter(is_accepted).collect()
}

/// Whether a retry of a shard is about an object.
fn is_wanted(job: &Prepared, engine: &Engine, key: &str) -> bool {
    let source = || engine.source_object(key.to_owned()).to_string();
    job.spec.shard.as_ref().is_none_or(|shard| shard.wants(source))
}

fn is_included(job: &Prepared, key: &str) -> bool {
    job.wildcard.as_ref().is_none_or(|wildcard| wildcard.matches(key))
        && key.strip_prefix(job.source_key()).is_some_and(|below| job.filter.includes(below))
}

/// Why an entry must not be acted upon.
fn refusal(job: &Prepared, engine: &Engine, entry: &ManifestEntry) -> Option<&'static str> {
    let bucket = &engine.settings.source_bucket;
    if entry.bucket.as_ref().is_some_and(|named| named != bucket) {
        return Some("the manifest names it in another bucket than the command");
    }
    if entry.key.is_empty() {
        return Some("the manifest has no key in this row");
    }
    if !entry.key.starts_with(job.source_key()) {
        return Some("it lies outside of the address that the command was given");
    }
    (entry.version == Version::Named).then_some(
        "the manifest names a version of it, and this command acts on current objects only",
    )
}

fn refuse(job: &Prepared, engine: &Engine, entry: &ManifestEntry, reason: &str) {
    let bucket = entry.bucket.as_ref().unwrap_or(&engine.settings.source_bucket);
    let source = Location::Object(ObjectName::new(bucket.clone(), entry.key.clone()));
    let error = Error::new(ErrorKind::Config, reason);
    engine.conclude_unplanned(job.plan.action, source, None, error);
}

/// Entries as a listing would have them. Objects of which more has to be known take a HEAD request;
/// those that cannot be had are reported as failed by the pass that acts, unless an earlier run may
/// have moved them.
async fn batch_of(
    job: &Prepared,
    engine: &Engine,
    batch: Vec<ManifestEntry>,
    pass: Pass,
    earlier: Earlier<'_>,
) -> Result<SourceBatch> {
    let root = Arc::clone(&job.root);
    let is_asked = match pass {
        Pass::Learn => job.spec.conditions.needs_facts() || job.spec.filter.is_some(),
        Pass::Ahead | Pass::Act => needs_facts(job),
    };
    if !is_asked {
        // Of unknown size, it may be more than the marker of a folder.
        let is_unknown = |entry: &ManifestEntry| pass == Pass::Learn && entry.facts.is_none();
        let objects = batch.iter().map(|entry| {
            let object = listed(entry);
            if is_unknown(entry) { ListedObject { size: 1, ..object } } else { object }
        });
        let page = ListPage::from_objects(objects)?;
        return Ok(SourceBatch::listed(EntryBatch::Objects { page, root }));
    }
    let asked = batch.into_iter().map(|entry| async move {
        // A plan says what is there, and not what a manifest said of it.
        let is_known = entry.facts.is_some() && !job.spec.plans;
        if is_known && !earlier.has_begun(&entry.key) {
            return Some((entry, None));
        }
        match head(engine, &entry.key, None).await {
            Ok(_) if is_known => Some((entry, None)),
            Ok(head) => {
                let facts = Some(facts_of(&head));
                Some((ManifestEntry { facts, ..entry }, Some(Box::new(head))))
            }
            Err(error) => {
                if let (Pass::Learn, false, Some(chooser)) =
                    (pass, error.is_missing_object(), &job.chooser)
                {
                    // It may be there, and then nothing may be written over it.
                    Chooser::learn_name(chooser, &entry.key);
                }
                let error = match error {
                    missing if missing.is_missing_object() => {
                        match earlier.has_moved(job, engine, &entry).await {
                            Ok(true) => return None,
                            Ok(false) => missing,
                            // It is not missing for the next run, which looks again.
                            Err(of_target) => of_target,
                        }
                    }
                    _ if is_known => return Some((entry, None)),
                    error => error,
                };
                if pass == Pass::Act {
                    report_missing(job, engine, entry.key, error);
                }
                None
            }
        }
    });
    let found = join_all(asked).await.into_iter().flatten();
    let (entries, heads): (Vec<_>, Vec<_>) = found.unzip();
    let page = ListPage::from_objects(entries.iter().map(listed))?;
    Ok(SourceBatch { heads, ..SourceBatch::listed(EntryBatch::Objects { page, root }) })
}

fn facts_of(head: &ObjectHead) -> ListedFacts {
    ListedFacts {
        size: head.size,
        last_modified_s: head.last_modified_s,
        etag: head.etag.clone(),
        storage_class: listed_as("", head).storage_class.to_owned(),
    }
}

fn listed(entry: &ManifestEntry) -> ListedObject<'_> {
    let key = entry.key.as_str();
    match &entry.facts {
        Some(facts) => ListedObject {
            key,
            size: facts.size,
            last_modified_s: facts.last_modified_s,
            etag: &facts.etag,
            storage_class: &facts.storage_class,
            ..ListedObject::default()
        },
        None => ListedObject { key, ..ListedObject::default() },
    }
}

/// Whether the target of an object is there, with the size that the manifest says, if any.
async fn is_at_target(job: &Prepared, engine: &Engine, entry: &ManifestEntry) -> Result<bool> {
    let relative = entry.key.strip_prefix(job.source_key()).unwrap_or_default();
    let size = match job.plan.action {
        ActionKind::Copy => {
            match head_at(engine, Place::Target, &job.target_key(relative), None).await {
                Err(error) if error.is_missing_object() => None,
                head => Some(head?.size),
            }
        }
        ActionKind::Download => match job.plan.target.as_ref().map(|side| side.with(relative)) {
            Some(Location::Local(path)) => size_of_file(&path)?,
            _ => None,
        },
        _ => None,
    };
    let is_meant = |size| entry.facts.as_ref().is_none_or(|facts| facts.size == size);
    Ok(size.is_some_and(is_meant))
}

fn size_of_file(path: &Path) -> Result<Option<u64>> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(error) => Err(Error::local("could not examine", path, error)),
    }
}

/// Reports an object whose HEAD request failed. Removing what is not there is a success.
fn report_missing(job: &Prepared, engine: &Engine, key: String, error: Error) {
    if error.is_missing_object() && job.plan.action == ActionKind::Delete {
        return;
    }
    let relative = key.strip_prefix(job.source_key()).unwrap_or_default();
    let target = match job.plan.action {
        ActionKind::Copy => Some(engine.target_object(job.target_key(relative))),
        ActionKind::Download => job.plan.target.as_ref().map(|target| target.with(relative)),
        _ => None,
    };
    engine.conclude_unplanned(job.plan.action, engine.source_object(key), target, error);
}
