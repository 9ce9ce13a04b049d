//! The entries of a job, wherever they come from: one stream of batches.

use std::sync::Arc;

use super::listing::{NameListing, NamesRequest};
use super::manifest::ManifestStream;
use super::report::ReportStream;
use super::versions::version_of_source;
use super::walk::FileStream;
use crate::engine::core::Engine;
use crate::engine::object::head;
use crate::entry::{EntryBatch, Preselected, SourceBatch};
use crate::fs::WalkOptions;
use crate::job::prepare::Prepared;
use crate::journal::Journal;
use crate::journal::state::Position;
use crate::plan::paths::Side;
use crate::plan::removals::RemovalLimit;
use s3haul_list::KeyRange;
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result, ServiceError};
use s3haul_wire::ops::{ListPage, ListedObject};

/// What a pass through a source is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// To look ahead: entries that fail are reported by a later pass.
    Ahead,
    /// To learn all names before the first is written: the same, but an entry that is left out
    /// could be overwritten.
    Learn,
    /// To act on the entries.
    Act,
}

/// The entries of a job; dropping it ends what runs behind it.
pub(crate) struct Entries<'j> {
    job: &'j Arc<Prepared>,
    engine: &'j Arc<Engine>,
    source: Source,
    /// How far the last batch goes.
    position: Option<String>,
}

enum Source {
    Listing(Box<NameListing>),
    Walk(FileStream),
    Manifest(ManifestStream),
    Report(ReportStream),
    /// The one object that the command names; false once it was given.
    Object(bool),
}

impl<'j> Entries<'j> {
    /// Opens the source of a job.
    pub(crate) async fn open(
        job: &'j Arc<Prepared>,
        engine: &'j Arc<Engine>,
        pass: Pass,
    ) -> Result<Self> {
        // A pass that looks ahead has to see all.
        let settled = engine.report.journal().filter(|_| pass == Pass::Act);
        let settled = settled.and_then(Journal::settled);
        let range = job.range();
        let after = settled.map_or(&range.after, |position| &position.name).clone();
        let settled_name = after.clone();
        let source = if let Some(names) = &job.spec.names {
            let range = KeyRange { after, ..range };
            Source::Report(ReportStream::open(names, &range).await?)
        } else if let Some(manifest) = &job.spec.manifest {
            let range = KeyRange { after, ..range };
            Source::Manifest(ManifestStream::open(job, manifest, (pass, &range)).await?)
        } else if let Side::Local(path) = &job.plan.source {
            let follow_symlinks = job.spec.follow_symlinks;
            let through = range.through;
            let options = WalkOptions { follow_symlinks, after, through, ..WalkOptions::default() };
            Source::Walk(if job.plan.is_directory {
                FileStream::of_folder(engine, path, &job.filter, options, None)
            } else {
                FileStream::of_file(engine, path, options)
            })
        } else if is_listed(job) {
            Source::Listing(Box::new(list(job, engine, &after)))
        } else {
            Source::Object(true)
        };
        Ok(Self { job, engine, source, position: Some(settled_name) })
    }

    /// The next batch; `None` at the end. After an error there is nothing more.
    pub(crate) async fn next(&mut self) -> Result<Option<SourceBatch>> {
        let (job, engine) = (self.job, self.engine);
        let batch = match &mut self.source {
            Source::Listing(listing) => listing.next().await?.map(|page| {
                let root = Arc::clone(&job.root);
                SourceBatch::listed(EntryBatch::Objects { page, root })
            }),
            Source::Walk(files) => files.next().await.map(|mut batch| {
                for warning in batch.warnings.drain(..) {
                    engine.report.warning(warning);
                }
                SourceBatch::listed(EntryBatch::Files(batch))
            }),
            Source::Manifest(manifest) => manifest.next(job, engine).await?,
            Source::Report(report) => report.next(job, engine).await?,
            Source::Object(is_left @ true) => {
                *is_left = false;
                named_object(job, engine).await?
            }
            Source::Object(false) => None,
        };
        let Some(batch) = batch else { return Ok(None) };
        self.position = match (&self.source, self.position.take()) {
            // A batch without entries goes no further than the one before.
            (Source::Listing(listing), before) if job.spec.shard.is_some() => {
                let is_of_versions = job.spec.versions.is_some();
                let through = if is_of_versions {
                    NameListing::through_whole_keys
                } else {
                    NameListing::through
                };
                through(listing, before)
            }
            (Source::Listing(listing), before) => listing.through(before),
            (Source::Walk(_), before) => {
                batch.entries.last().map(|entry| entry.relative().to_owned()).or(before)
            }
            (Source::Manifest(manifest), _) => Some(manifest.position()),
            (Source::Report(report), _) => report.position(),
            (Source::Object(_), _) => None,
        };
        Ok(Some(batch))
    }

    /// How far the last batch goes, for a journal; none where the source has no order that could be
    /// gone on with.
    pub(crate) fn position(&self) -> Option<Position> {
        let name = self.position.clone()?;
        Some(Position { name, source_seen: self.listed(), target_seen: 0 })
    }

    /// Whether positions are numbers of rows and not names.
    pub(crate) fn is_numbered(&self) -> bool {
        matches!(self.source, Source::Manifest(_) | Source::Report(_))
    }

    /// Objects or versions that were listed so far, taken or not.
    pub(crate) fn listed(&self) -> u64 {
        match &self.source {
            Source::Listing(listing) => listing.listed(),
            _ => 0,
        }
    }
}

/// Whether the entries of a job are listed.
pub(crate) fn is_listed(job: &Prepared) -> bool {
    let is_given = job.spec.names.is_some() || job.spec.manifest.is_some();
    let is_tree = job.plan.is_directory || job.source_key().is_empty() || job.removes_versions();
    !is_given && is_tree && matches!(job.plan.source, Side::Object(_))
}

/// Lists what patterns can take in.
fn list(job: &Prepared, engine: &Engine, after: &str) -> NameListing {
    // So many of a hundred under the address: of all of them, also those that are left out.
    let counts_all = matches!(job.spec.sync.max_delete, RemovalLimit::Percent(_));
    let range = job.range();
    let request = NamesRequest {
        after,
        through: range.through.as_deref(),
        filter: (!counts_all).then_some(&*job.filter),
        ..NamesRequest::of_source(job)
    };
    NameListing::new(engine, request)
}

/// The one object that a command names. `None` where it is to be removed and does not exist.
///
/// A removal needs no HEAD, unless a script, a condition or a plan has to know more: removing what
/// is not there is a success. Tagging needs none either, but fails if the object is missing.
async fn named_object(job: &Prepared, engine: &Engine) -> Result<Option<SourceBatch>> {
    let key = job.source_key();
    let preselected = Preselected::Entry;
    let needs_facts = job.spec.conditions.needs_facts() || job.spec.plans;
    if job.acts_in_place() && job.chooser.is_none() && !needs_facts {
        let page = ListPage::from_objects([ListedObject { key, ..ListedObject::default() }])?;
        let entries = EntryBatch::Objects { page, root: Arc::clone(&job.root) };
        return Ok(Some(SourceBatch { preselected, ..SourceBatch::listed(entries) }));
    }
    let version_id = version_of_source(job, engine).await?;
    let head = match find(engine, key, version_id.as_deref()).await {
        Err(error) if job.removes() && error.kind() == ErrorKind::NotFound => return Ok(None),
        head => head?,
    };
    let entries =
        EntryBatch::of_heads([(key, version_id.as_deref(), &head)], Arc::clone(&job.root))?;
    let heads = vec![Some(Box::new(head))];
    Ok(Some(SourceBatch { heads, preselected, ..SourceBatch::listed(entries) }))
}

/// Headers of the one object that a command names.
async fn find(engine: &Engine, key: &str, version_id: Option<&str>) -> Result<ObjectHead> {
    head(engine, key, version_id).await.map_err(|error| {
        if !error.is_missing_object() {
            return error;
        }
        let service = ServiceError {
            code: "404".to_owned(),
            message: format!("Key \"{key}\" does not exist"),
            ..error.service_error().cloned().unwrap_or_default()
        };
        let renamed = Error::service(ErrorKind::NotFound, "HeadObject", service);
        match error.subject() {
            Some(subject) => renamed.with_subject(subject),
            None => renamed,
        }
    })
}
